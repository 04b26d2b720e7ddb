"""The driver of runs: one child process at a time, then the next in the queue."""

from typing import Any

from PySide6.QtCore import QObject, Signal

from annotator.actions.judging import judge_queue
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judge import RunState
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal
from annotator.gui.desk.child import Child
from annotator.gui.desk.desk import Desk

CANCELLED, INTERRUPTED = RunState.CANCELLED.value, RunState.INTERRUPTED.value


class Driver(QObject):
    """Starts and cancels runs, and works through the queue.

    After a run that was cancelled the queue stands still. One that was interrupted (the endpoint is down, the budget
    is spent) holds its judge back: those of other judges go on.
    """

    began = Signal(object)
    """The Order that was started."""
    progressed = Signal(dict)
    ended = Signal(dict)
    """The last line of a run, also of one that was refused."""
    queued = Signal()
    """The queue is another."""

    def __init__(self, desk: Desk, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self._child = Child(desk, self)
        self._child.progressed.connect(self._progressed)
        self._child.ended.connect(self._ended)
        self._held: set[str] = set()
        self._cancelled = self._stopping = self.held = False
        self.order: RunRequest | None = None
        """What is under way."""

    @property
    def running(self) -> bool:
        """Whether a run is in progress."""
        return self._child.running

    def start(self, order: RunRequest) -> bool:
        """Start a run of its own; whether that was done."""
        if not self._child.start(order):
            return False
        self.order, self._cancelled, self.held = order, False, False
        self.began.emit(order)
        return True

    def cancel(self) -> None:
        """Stop the run; what is finished is kept."""
        if self.running:
            self._cancelled = True
            self._child.cancel()

    def hold(self) -> None:
        """Let the run begin no further question, or go on; what is in progress is answered."""
        if self.running:
            self.held = not self.held
            self._child.hold(held=self.held)

    def enqueue(self, order: RunRequest) -> bool:
        """Let an order wait for its turn; whether it does."""
        added = self._desk.do(judge_queue.add, order)
        self.queued.emit()
        return added is not None

    def start_queue(self) -> bool:
        """Start what waits, those of judges that were held back too; whether anything did."""
        self._held.clear()
        return self._next()

    def stop(self) -> None:
        """End the run before the window closes."""
        self._stopping = True
        self._child.stop_now()

    def _next(self) -> bool:
        while not self.running:
            order = self._desk.ask(judge_queue.take, frozenset(self._held))
            if order is None:
                return False
            self.queued.emit()
            if self.start(order):
                return True
        return False

    def _progressed(self, line: dict[str, Any]) -> None:
        self._tell_status(line)
        self.progressed.emit(line)

    def _ended(self, line: dict[str, Any]) -> None:
        order, cancelled = self.order, self._cancelled
        self.order = None
        self._tell_status(None)
        if cancelled and line.get("event") == "refused":
            # It was ended before it had begun.
            line = {"event": "ended", "state": CANCELLED, "cause": ""}
        if line.get("event") == "refused":
            self._desk.refused.emit(Refusal(str(line["error"]), str(line.get("todo", ""))))
        self._desk.tell(Change("judge_run", str(line.get("run", "")), "judge"))
        self.ended.emit(line)
        if order is not None and line.get("state") == INTERRUPTED:
            self._held.add(order.judge)
        if not cancelled and not self._stopping:
            self._next()

    def _tell_status(self, line: dict[str, Any] | None) -> None:
        page = self.parent()
        status = getattr(page.window(), "status", None) if page is not None else None  # type: ignore[attr-defined]
        if status is not None:
            status.show_run(line)
