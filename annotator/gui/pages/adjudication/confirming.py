"""Bulk confirmation of the project's unanimous items, and opening those drawn for a spot check."""

from collections.abc import Callable

from PySide6.QtCore import QObject

from annotator.actions.adjudication import unanimity
from annotator.actions.adjudication.adjudicating import QueueLine
from annotator.actions.adjudication.unanimity import BulkCloseReport, Unanimous
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.adjudication.frame import Frame
from annotator.gui.review.adjudication_queue import AdjudicationQueue, LineFilter


class Confirming(QObject):
    """Bulk confirmation in the panel below the work."""

    def __init__(
        self,
        desk: Desk,
        frame: Frame,
        queue: AdjudicationQueue,
        fill_queue: Callable[[], object],
        open_line: Callable[[QueueLine], object],
    ) -> None:
        super().__init__(frame)
        self._desk, self._frame, self._queue = desk, frame, queue
        self._fill_queue, self._open_line = fill_queue, open_line
        frame.queue_pane.unanimous_wanted.connect(self.ask)
        frame.done.confirm.clicked.connect(self.ask)
        frame.done.look.clicked.connect(self.look_at_drawn)
        frame.unanimous.confirmed.connect(self._confirm)
        frame.unanimous.looked.connect(self._look_at)
        frame.unanimous.closed.connect(frame.focus_first)

    def ask(self) -> None:
        self._frame.unanimous.ask(sum(line.confirmable for line in self._queue.lines))

    def look_at_drawn(self) -> None:
        """Open the first item that was drawn."""
        self._frame.queue_pane.show_only(LineFilter.UNANIMOUS)
        line = next((each for each in self._queue.lines if each.spot_check and not each.closed), None)
        if line is not None:
            self._open_line(line)

    def _confirm(self, share: float) -> None:
        self._frame.unanimous.show_progress(0, sum(line.confirmable for line in self._queue.lines))
        self._desk.do_later(self._tell, self._show_progress, unanimity.auto_unanimous, share)

    def _show_progress(self, _what: str, done: int, total: int) -> None:
        self._frame.unanimous.show_progress(done, total)

    def _tell(self, report: BulkCloseReport | None) -> None:
        self._fill_queue()
        if report is None:
            self._frame.unanimous.hide()
        else:
            self._frame.unanimous.tell(report)
            said = "The unanimous documents are confirmed."
            self._desk.tell_end(said, "Adjudicate", self._frame.unanimous)

    def _look_at(self, drawn: Unanimous) -> None:
        line = self._queue.line((drawn.item_id, drawn.stage))
        if line is not None:
            self._open_line(line)
