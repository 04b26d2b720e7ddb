"""Advance after a label: to the next unit, the next report, or the end."""

from PySide6.QtCore import Signal

from annotator.gui.desk import flow
from annotator.gui.pages.labelling.bench import LabellingBench
from annotator.gui.pages.labelling.label_queue import LabelQueue
from annotator.gui.review.verdicts import ZERO, places


class LabellingFlow(flow.Flow):
    """Advances over the units of a report and the reports of the queue."""

    paused = Signal()
    """Every unit of the report is labelled; nothing moves until the person says so."""
    kind_missing = Signal()
    """A key was pressed while the unit at hand waits for the kind of its error."""
    still_open = Signal()
    """The report was to be done, but units are open."""
    ready = Signal(str)
    """Labels of an item can be submitted, and the person says so: its id."""
    finished = Signal()
    """Nothing is left to label in any report."""

    def __init__(self, bench: LabellingBench, queue: LabelQueue, *, readonly: bool = False) -> None:
        super().__init__(bench)
        self.readonly = readonly
        self.waits_for_kinds = False
        """Whether an error stays at hand until its kind is said."""
        self._bench, self._queue = bench, queue
        bench.moved.connect(lambda _: self.touched())

    def say(self, place: int) -> None:
        if self._bench.say(place):
            self.said = self._bench.unit_id
            self._go_on_unless_asked()

    def answer(self, act: str) -> None:
        """Give the answer that an act stands for under the protocol in hand, if there is one."""
        place = places(self._bench.protocol).get(act)
        if place is None:
            return
        unit_id = self._bench.unit_id
        if not (self.is_spent(unit_id) and self._bench.said(unit_id)):
            self.say(place)
        elif self.waits_for_kinds and self._bench.kinds.waits(unit_id):
            self.kind_missing.emit()
        else:
            self.advance()

    def say_rest(self) -> None:
        """Label all that is open beside the current unit, and go on; of numbers the key is that of 0."""
        if ZERO in places(self._bench.protocol):
            self.answer(ZERO)
        elif self._bench.say_rest():
            self.advance()

    def look_again(self, place: int) -> None:
        """Say of what kind the label given last is; whoever waited for it goes on.

        Another unit takes it only once the person touches it: automatic advance does not take the key away.
        """
        unit_id = self.said or self._bench.unit_id
        given = self._bench.kinds.give(unit_id, place)
        if given and self.waits_for_kinds and unit_id == self._bench.unit_id:
            self._go_on_unless_asked()

    def look_again_here(self, place: int) -> None:
        """A kind was pressed on the card of the current unit, and is meant for that one."""
        self.touched()
        self.look_again(place)

    def step(self, by: int) -> None:
        """The unit below (1) or above (-1), no further than the ends."""
        ids, here = self._ids, self._bench.unit_id
        if here in ids:
            self._bench.move_to(ids[max(0, min(len(ids) - 1, ids.index(here) + by))])

    def next_open(self) -> None:
        """The next open unit, in this report and then in the ones that follow, around the end."""
        unit_id = self._next_in_report()
        if unit_id and self._is_after(unit_id):
            self._bench.move_to(unit_id)
            return
        task = self._queue.next_open(self._bench.task_id)
        if task is None:
            self.finished.emit()
        elif task.id != self._bench.task_id:
            self._bench.open(task.id)
        else:
            self._bench.move_to(unit_id)

    def neighbour(self, by: int) -> None:
        """The report shown below (1) or above (-1) in the queue."""
        task = self._queue.neighbour(self._bench.task_id, by)
        if task is not None:
            self._bench.open(task.id)

    def submit(self) -> None:
        """Done with this report: on to the item's next, or its labels are ready; or say what is still open here."""
        waiting = self._bench.open_units
        if waiting:
            self._bench.move_to(waiting[0])
            self.still_open.emit()
            return
        here = self._queue.task(self._bench.task_id)
        beside = self._queue.open_beside(self._bench.task_id) if self._queue.submits else None
        if beside is not None:
            self._bench.open(beside.id)
        elif here is not None and here.item_id in self._queue.unsubmitted() and not self.readonly:
            self.ready.emit(here.item_id)
        else:
            self.go_on()

    def go_on(self) -> None:
        """On to the next report that has open units, or say that there is none."""
        task = self._queue.next_open(self._bench.task_id)
        if task is None:
            self.finished.emit()
        else:
            self._bench.open(task.id)

    def _go_on_unless_asked(self) -> None:
        kinds, unit_id = self._bench.kinds, self._bench.unit_id
        if not (self.waits_for_kinds and kinds.waits(unit_id)):
            self.advance()

    def _go_on(self) -> None:
        unit_id = self._next_in_report()
        if unit_id:
            self._bench.move_to(unit_id)
        elif self._bench.sheet is not None and self._bench.sheet.other_id:
            # A pair has nothing more to be asked; the person who would say more goes back to it.
            self.go_on()
        else:
            self.paused.emit()

    def _next_in_report(self) -> str:
        """The open unit after the current one, from the top again after the last; nothing when none is left."""
        ids, here = self._ids, self._bench.unit_id
        at = ids.index(here) + 1 if here in ids else 0
        waiting = set(self._bench.open_units)
        return next((unit_id for unit_id in (*ids[at:], *ids[:at]) if unit_id in waiting), "")

    def _is_after(self, unit_id: str) -> bool:
        return self._ids.index(unit_id) > self._ids.index(self._bench.unit_id)

    @property
    def _ids(self) -> list[str]:
        return [unit.id for unit in self._bench.units]
