"""What comes next: after a label, when a report is done, and when something is left anywhere."""

from PySide6.QtCore import Signal

from annotator.gui import flow
from annotator.gui.models.label_queue import LabelQueue
from annotator.gui.pages.label.bench import Bench


class Flow(flow.Flow):
    """Moves on over the criteria of a report and over the reports of the queue."""

    paused = Signal()
    """Every criterion of the report is labelled; nothing moves until the person says so."""
    still_open = Signal()
    """The report was to be done, but criteria are open."""
    ready = Signal(str)
    """Every report of an item is labelled and its labels are not submitted yet: its id."""
    finished = Signal()
    """Nothing is left to label in any report."""

    def __init__(self, bench: Bench, queue: LabelQueue, moment_ms: int, *, readonly: bool = False) -> None:
        super().__init__(moment_ms)
        self.readonly = readonly
        self._bench, self._queue = bench, queue
        bench.moved.connect(lambda _: self.stop())

    def say(self, place: int) -> None:
        """Label the criterion at hand, and go on after a moment.

        Within the moment another key corrects the label that is still in view.
        """
        if self._bench.say(place):
            self.go_on_soon()

    def step(self, by: int) -> None:
        """The criterion below or above."""
        self.stop()
        self._bench.step(by)

    def next_open(self) -> None:
        """The next open criterion, in this report and then in the ones that follow, around the end."""
        self.stop()
        unit_id = self._bench.next_open()
        if unit_id and self._is_after(unit_id):
            self._bench.move_to(unit_id)
            return
        task = self._queue.next_open(self._bench.response_id)
        if task is None:
            self.finished.emit()
        elif task.response_id != self._bench.response_id:
            self._bench.open(task.response_id)
        else:
            self._bench.move_to(unit_id)

    def neighbour(self, by: int) -> None:
        """The report shown below (1) or above (-1) in the queue."""
        self.stop()
        task = self._queue.neighbour(self._bench.response_id, by)
        if task is not None:
            self._bench.open(task.response_id)

    def submit(self) -> None:
        """Done with this report: on to the item's next, or its labels are ready; or say what is still open here."""
        self.stop()
        waiting = self._bench.open_units
        if waiting:
            self._bench.move_to(waiting[0])
            self.still_open.emit()
            return
        here = self._queue.task(self._bench.response_id)
        beside = self._queue.open_beside(self._bench.response_id)
        if beside is not None:
            self._bench.open(beside.response_id)
        elif here is not None and not here.sealed and not self.readonly:
            self.ready.emit(here.item_id)
        else:
            self.go_on()

    def go_on(self) -> None:
        """On to the next report that has open criteria, or say that there is none."""
        task = self._queue.next_open(self._bench.response_id)
        if task is None:
            self.finished.emit()
        else:
            self._bench.open(task.response_id)

    def _go_on(self) -> None:
        unit_id = self._bench.next_open()
        if unit_id:
            self._bench.move_to(unit_id)
        else:
            self.paused.emit()

    def _is_after(self, unit_id: str) -> bool:
        ids = [unit.id for unit in self._bench.units]
        return ids.index(unit_id) > ids.index(self._bench.unit_id)
