"""Progress of a child process: status, cost, a stop button, and how it ended."""

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from annotator.domain.texts.refusal import Refusal
from annotator.gui.desk.child import Child
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.bars.progress_row import ProgressRow
from annotator.gui.widgets.layouts import vertical

if TYPE_CHECKING:
    from annotator.actions.orders.orders import AnyOrder


class ChildProgress(QWidget):
    """Progress of a child, hidden while none runs. Refusals go to the window; `ended` always comes last."""

    ended = Signal(dict)
    progressed = Signal(dict)

    def __init__(self, desk: Desk, what: str, page: str, **place: Any) -> None:
        """`what` is in progress, and `page` with its `place` shows what came of it."""
        super().__init__()
        self._desk = desk
        self._what, self._page, self._place = what, page, place
        self._cancelled = False
        self._child = Child(desk, self)
        self._child.progressed.connect(self._progressed)
        self._child.ended.connect(self._ended)
        self.row = ProgressRow()
        self.row.cancelled.connect(self.cancel)
        vertical(self.row, on=self, margins=0)
        self.hide()

    @property
    def running(self) -> bool:
        """Whether a run is in progress."""
        return self._child.running

    def start(self, order: "AnyOrder", what: str) -> bool:
        """Have an order carried out; `what` is said until the first line of progress comes."""
        if not self._child.start(order):
            return False
        self._cancelled = False
        self.show()
        self.row.show_progress(what, 0, 0)
        return True

    def cancel(self) -> None:
        """Ask the run to stop; what is finished is kept."""
        self._cancelled = True
        self.row.show_stopping()
        self._child.cancel()

    def stop(self) -> None:
        """End the run before the window closes."""
        self._child.stop_now()

    def _progressed(self, line: dict[str, Any]) -> None:
        self.row.show_progress(in_words(line), int(line["done"]), int(line["total"]), line.get("left_s"))
        self.progressed.emit(line)

    def _ended(self, line: dict[str, Any]) -> None:
        self.hide()
        # One that was cancelled before it had begun has no last word of its own; nobody need be told of that.
        if line.get("event") == "refused" and not self._cancelled:
            self._desk.refused.emit(Refusal(str(line["error"]), str(line.get("todo", ""))))
        elif not self._cancelled:
            self._desk.tell_end(f"{self._what} has ended.", self._page, self.parentWidget(), **self._place)
        self.ended.emit(line)


def in_words(line: dict[str, Any]) -> str:
    """A line of progress: what the run waits for, or how many are in progress, what it cost, what did not come."""
    if line.get("paused"):
        return str(line["paused"])
    parts = []
    if running := line.get("running"):
        parts.append(f"{running} in progress")
    if line.get("cost_usd"):
        parts.append(f"${line['cost_usd']:.2f}")
    if missing := sum((line.get("missing") or {}).values()):
        parts.append(f"{missing} did not come")
    unread = sum(count for state, count in (line.get("by_state") or {}).items() if state != "ok")
    if unread:
        parts.append(f"{unread} could not be read")
    return " · ".join(parts) or "Under way"
