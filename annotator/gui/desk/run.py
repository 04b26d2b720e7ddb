"""Run in the background: an order in a process of its own, shown by panels and the status line."""

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from annotator.domain.judges.judge import RunState
from annotator.domain.texts.counting import usd
from annotator.domain.texts.refusal import Refusal
from annotator.gui.desk.child import Child
from annotator.gui.desk.desk import Desk

if TYPE_CHECKING:
    from annotator.actions.orders.orders import AnyOrder

REFUSED, CANCELLED = "refused", RunState.CANCELLED.value


class BackgroundRun(QObject):
    """One order at a time, of the widget that owns it. A refusal is told to the window."""

    changed = Signal()
    """It began, was paused or resumed, was asked to stop, or ended."""
    progressed = Signal(dict)
    ended = Signal(dict)
    """The last line, also of a run that was refused or stopped before it had begun."""

    def __init__(self, desk: Desk, what: str, page: str, owner: QWidget, **place: Any) -> None:
        """`what` is in progress, and `page` with its `place` shows what came of it."""
        super().__init__(owner)
        self._desk, self.owner = desk, owner
        self.what, self.page, self.place = what, page, place
        self._child = Child(desk, self)
        self._child.progressed.connect(self._progressed)
        self._child.ended.connect(self._ended)
        self.order: AnyOrder | None = None
        """What is in progress."""
        self.line: dict[str, Any] = {}
        """The newest line of progress; empty before the first one."""
        self.held = self.stopping = False

    @property
    def running(self) -> bool:
        """Whether a run is in progress."""
        return self._child.running

    @property
    def title(self) -> str:
        judge = getattr(self.order, "judge", "")
        return f"{self.what} · \u2068{judge}\u2069" if judge else self.what

    def start(self, order: "AnyOrder") -> bool:
        """Have an order carried out; whether that begins."""
        if not self._child.start(order):
            return False
        self.order, self.line, self.held, self.stopping = order, {}, False, False
        self._tell()
        return True

    def hold(self) -> None:
        """Let the run send no further question, or go on; what is in progress is answered."""
        if self.running and not self.stopping:
            self.held = not self.held
            self._child.hold(held=self.held)
            self._tell()

    def cancel(self) -> None:
        """Ask the run to stop; what is finished is kept."""
        if self.running:
            self.stopping = True
            self._child.cancel()
            self._tell()

    def stop(self) -> None:
        self._child.stop_now()

    def words(self) -> str:
        line, state = self.line, "stopping" if self.stopping else "paused" if self.held else ""
        counted = f"{line['done']:,} of {line['total']:,}" if line.get("total") else ""
        cost = usd(line["cost_usd"]) if line.get("cost_usd") else ""
        return " · ".join(filter(None, (self.what, counted, cost, state)))

    def _tell(self) -> None:
        self.changed.emit()
        self._desk.run_changed.emit(self)

    def _progressed(self, line: dict[str, Any]) -> None:
        self.line = line
        self.progressed.emit(line)
        self._desk.run_changed.emit(self)

    def _ended(self, line: dict[str, Any]) -> None:
        if line.get("event") == REFUSED and self.stopping:
            # Stopped before it had begun, it has no last word of its own; nobody need be told of that.
            line = {**line, "state": CANCELLED}
        elif line.get("event") == REFUSED:
            self._desk.refused.emit(Refusal(str(line["error"]), str(line.get("todo", ""))))
        elif not self.stopping:
            seen = self.owner if self.is_seen() else None
            self._desk.tell_end(f"{self.what} has ended.", self.page, seen, **self.place)
        self.order = None
        self._tell()
        self.ended.emit(line)

    def is_seen(self) -> bool:
        """Whether the widget that shows what came of it is in view."""
        return self.owner.isVisible()
