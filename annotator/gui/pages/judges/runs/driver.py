"""The driver of runs: one at a time, then the next in the queue."""

from typing import Any

from PySide6.QtCore import Signal

from annotator.actions.judging import judge_queue
from annotator.actions.judging.judge_offers import CHECKS, title
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judge import RunState
from annotator.domain.texts.change import Change
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.parted_page import PartedPage
from annotator.gui.desk.run import BackgroundRun

INTERRUPTED = RunState.INTERRUPTED.value


class Driver(BackgroundRun):
    """A run that takes the queue forward.

    After a run that was stopped the queue stands still. One that was interrupted (the endpoint is down, the budget
    is spent) holds its judge back: those of other judges go on.
    """

    began = Signal(object)
    """The order that was started."""
    queued = Signal()
    """The queue is another."""

    def __init__(self, desk: Desk, page: PartedPage) -> None:
        super().__init__(desk, "Judge run", "Judges", page, part="Runs")
        self._parts = page
        self._held_back: set[str] = set()
        self._closing = False

    @property
    def title(self) -> str:
        """Who judges what, of which systems."""
        order = self.order
        if not isinstance(order, RunRequest):
            return super().title
        scope = ", ".join(order.systems) or "all systems"
        return f"\u2068{order.judge}\u2069 · {title(order.protocol)} · {scope}"

    def start(self, order: Any) -> bool:
        """Start a run of its own; whether that was done."""
        if self.running:
            return False
        self.what = "Drift check" if order.protocol.startswith(CHECKS) else "Judge run"
        if not super().start(order):
            return False
        self.began.emit(order)
        return True

    def enqueue(self, order: RunRequest) -> bool:
        """Let an order wait for its turn; whether it does."""
        added = self._desk.do(judge_queue.add, order)
        self.queued.emit()
        return added is not None

    def start_queue(self) -> bool:
        """Start what waits, those of judges that were held back too; whether anything did."""
        self._held_back.clear()
        return self._next()

    def stop(self) -> None:
        self._closing = True
        super().stop()

    def _next(self) -> bool:
        while not self.running:
            order = self._desk.ask(judge_queue.take, frozenset(self._held_back))
            if order is None:
                return False
            self.queued.emit()
            if self.start(order):
                return True
            # A key that is not allowed yet, for example: it waits for its turn again, and keeps none from theirs.
            self._held_back.add(order.judge)
            self.enqueue(order)
        return False

    def _ended(self, line: dict[str, Any]) -> None:
        judge, stopped = getattr(self.order, "judge", ""), self.stopping
        self._desk.tell(Change("judge_run", str(line.get("run", "")), "judge"))
        super()._ended(line)
        if line.get("state") == INTERRUPTED:
            self._held_back.add(judge)
        if not stopped and not self._closing:
            self._next()

    def is_seen(self) -> bool:
        """Whether the part that shows it is in view."""
        here = self._parts.TABS[self._parts.tabs.currentIndex()]
        return super().is_seen() and here == self.place["part"]
