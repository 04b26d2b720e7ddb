"""Advance after a ruling: to the next conflict, the next item, or the end."""

from PySide6.QtCore import Signal

from annotator.actions.adjudication import closing, ruling
from annotator.actions.adjudication.adjudication_sheets import SheetRow
from annotator.domain.experts.adjudication import OWN, Reason
from annotator.gui.desk import flow
from annotator.gui.pages.adjudication.bench import AdjudicationBench
from annotator.gui.review.adjudication_queue import AdjudicationQueue, place_of


class AdjudicationFlow(flow.Flow):
    """Advances over the rows of an item and the items of the queue."""

    leaving = Signal()
    """The row at hand is about to be left for the next open one."""
    own_wanted = Signal()
    """The own wording is to be typed now."""
    settled = Signal()
    """Every contested row of the item is ruled on; nothing moves until the person says so."""
    spent = Signal()
    """A key was pressed on a row that a key has ruled on already: it does not rule on it again."""
    still_open = Signal()
    """The item was to be closed, but something is missing."""
    closed = Signal()
    """The item was closed just now; it still lies open."""
    finished = Signal()
    """No conflict is left in any item."""

    def __init__(self, bench: AdjudicationBench, queue: AdjudicationQueue) -> None:
        super().__init__(bench)
        self._bench, self._queue = bench, queue
        bench.moved.connect(lambda _: self.touched())

    def take(self, take: str) -> None:
        """Rule on the current row, and go on to the next that nobody has ruled on."""
        row = self._bench.row
        if row is None:
            return
        if row.ruling.take != take and not self._bench.do(ruling.rule, row.ruling.id, take):
            return
        self.said = "" if take == OWN else self._bench.ruling_id
        if take == OWN:
            self.own_wanted.emit()
        elif not self._bench.rows[self.said].ruling.open:
            self.advance()

    def give_reason(self, reason: Reason) -> bool:
        """Say why the row last ruled on is ruled so; the same again undoes it. Whether it lacks nothing now."""
        row = self.last
        if row is None:
            return False
        again = row.ruling.reason is reason
        return self._bench.do(ruling.explain, row.ruling.id, reason="" if again else reason) and not again

    @property
    def last(self) -> SheetRow | None:
        """The row last ruled on until another is touched, else the current one."""
        return self._bench.rows.get(self.said) or self._bench.row

    def go_on_when_done(self) -> None:
        """Go on, unless the current row lacks something."""
        row = self._bench.row
        if row is not None and not row.ruling.open and not self._bench.lacks(row.ruling.id):
            self.advance()

    def step(self, by: int) -> None:
        self._bench.step(by)

    def next_open(self) -> None:
        """The next row that lacks something, around the end; when this item lacks nothing, the next conflict."""
        here = self._bench.ruling_id
        for contested in (True, False):
            waiting = [name for name in self._bench.unresolved(contested=contested) if name != here]
            if waiting:
                self.leaving.emit()
                self._bench.move_to(self._after(waiting) or waiting[0])
                return
        if here in self._bench.lacking:
            # This key does not leave an item of which a row lacks something, be it the one at hand.
            return
        line = self._queue.next_conflict(self._bench.place)
        if line is not None and place_of(line) != self._bench.place:
            self._bench.open(line)
        elif line is None and not self._bench.lacking:
            self.finished.emit()
        elif not self._bench.lacking:
            self.settled.emit()

    def neighbour(self, by: int) -> None:
        """The item shown below (1) or above (-1) in the queue."""
        line = self._queue.neighbour(self._bench.place, by)
        if line is not None:
            self._bench.open(line)

    def submit(self) -> None:
        """Close this item and go to the next, or say what is missing; a closed one is only left."""
        if self._bench.sheet is None or self._bench.locked:
            self.leave_closed()
        elif self._bench.lacking:
            self.still_open.emit()
        elif self._bench.do(closing.close, self._bench.sheet.adjudication_id):
            self.closed.emit()

    def leave_closed(self) -> None:
        """On to the next conflict, or say that there is none."""
        line = self._queue.next_conflict(self._bench.place)
        if line is None or place_of(line) == self._bench.place:
            self.finished.emit()
        else:
            self._bench.open(line)

    def _go_on(self) -> None:
        """A row that was ruled on and lacks a reason is not gone to: the next key would rule on it again."""
        waiting = [
            each for each in self._bench.unresolved(contested=True) if self._bench.rows[each].ruling.open
        ]
        wanted = self._after(waiting) or next(iter(waiting), "")
        if wanted and wanted != self._bench.ruling_id:
            self.leaving.emit()
            self._bench.move_to(wanted)
        elif not waiting:
            self.settled.emit()

    def _after(self, wanted: list[str]) -> str:
        """The first of the rows named that stands below the current one."""
        ids = list(self._bench.rows)
        at = ids.index(self._bench.ruling_id) + 1 if self._bench.ruling_id in ids else 0
        below = set(ids[at:])
        return next((ruling_id for ruling_id in wanted if ruling_id in below), "")
