"""Submission of an item's labels when all its reports are labelled, and reopening."""

from PySide6.QtCore import QObject, Signal

from annotator.actions.labelling import label_sealing
from annotator.actions.labelling.label_cases import presentation_of
from annotator.domain.texts.counting import counted
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.labelling.bench import LabellingBench
from annotator.gui.pages.labelling.label_queue import LabelQueue


class LabelSubmission(QObject):
    """Submits labels and updates the queue; the page decides what to show next."""

    missing = Signal(str, str, int)
    """Labels are still missing: the report and the unit of the first, and how many there are."""
    submitted = Signal(str)
    """What was submitted, in a sentence."""
    reopened = Signal(str)

    def __init__(self, desk: Desk, queue: LabelQueue, bench: LabellingBench) -> None:
        super().__init__(bench)
        self._desk, self._queue, self._bench = desk, queue, bench

    def standing(self) -> label_sealing.SealingStatus | None:
        """How the open report's item stands, while its labels are submitted."""
        if self._bench.sheet is None or not self._bench.sheet.sealed:
            return None
        return self._desk.ask(label_sealing.state, self._bench.sheet.item.id, self._bench.protocol)

    def submit(self, item_id: str) -> None:
        """Submit the labels of an item, or tell what is missing."""
        whole, protocol = self._queue.submits, self._bench.protocol
        missing = (self._desk.ask(label_sealing.missing, item_id, protocol) if whole else None) or []
        if missing:
            self.missing.emit(*missing[0], len(missing))
        elif self._seal(item_id):
            self.submitted.emit(f"Your labels of {self._words([item_id])} are submitted.")

    def submit_all(self) -> None:
        """Submit the labels of every item of which all reports are labelled."""
        done = [item_id for item_id in self._queue.unsubmitted() if self._seal(item_id)]
        if done:
            self.submitted.emit(f"Your labels of {self._words(done)} are submitted.")

    def reopen(self) -> None:
        """Let the labels of the open report's item be changed again."""
        sheet = self._bench.sheet
        if sheet is None or not sheet.sealed:
            return
        if self._desk.do(label_sealing.reopen, sheet.item.id) is not None:
            self._queue.seal(sheet.item.id, sealed=False)
            self._bench.open(sheet.id, self._bench.unit_id)
            self.reopened.emit(f"Your labels of item {sheet.item.key} are open again.")

    def _seal(self, item_id: str) -> bool:
        sealed = self._desk.do(label_sealing.submit, item_id, self._bench.protocol) is not None
        if sealed:
            self._queue.seal(item_id, sealed=True)
        return sealed

    def _words(self, item_ids: list[str]) -> str:
        tasks = [task for task in self._queue.tasks if task.item_id in item_ids]
        called = presentation_of(self._bench.protocol)
        units, reports = called.counted(sum(task.units for task in tasks)), counted(len(tasks), "report")
        what = f"item {tasks[0].item_key}" if len(item_ids) == 1 and tasks else counted(len(item_ids), "item")
        return f"{what} ({units} in {reports})"
