"""Background runs: an order in a child process, with its progress for panels and the status line."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal
from PySide6.QtWidgets import QWidget

from annotator.actions.project.file import Project
from annotator.domain.common import Refusal, usd
from annotator.domain.judges.judge import RunState
from annotator.gui.session.session import ProjectSession, keyboard_stays
from annotator.gui.widgets.basics import later

if TYPE_CHECKING:
    from annotator.actions.judging.forecasts import CostEstimate
    from annotator.actions.orders.orders import AnyOrder
    from annotator.actions.runs.judge_cases import RunRequest

# Milliseconds after which a child that was asked to stop and has not is killed.
PATIENCE_MS = 5000


class Child(QObject):
    """An order in a child process, so that the window never waits; its lines of JSON become signals."""

    progressed = Signal(dict)
    """A line of progress: done, total, rate, left_s, cost_usd, missing …"""
    ended = Signal(dict)
    """The last line; with `error` and `todo` if the order was refused or the process stopped unexpectedly."""

    def __init__(self, session: ProjectSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.process = QProcess(self)
        self.process.readyReadStandardOutput.connect(self._read)
        self.process.finished.connect(self._finished)
        self.process.errorOccurred.connect(self._failed)
        self._rest = b""
        self._last: dict[str, Any] = {}

    def start(self, order: "AnyOrder", *, estimate: bool = False) -> bool:
        """Start the child with an order, or only estimate it; whether it was started.

        The order goes in as a line of JSON; API keys are passed in the environment, and only for endpoints that are
        asked.
        """
        # Imported late: most windows never place an order.
        from annotator.actions.orders import orders
        from annotator.actions.orders.orders import ChildRequest

        given = {} if estimate else self._session.ask(orders.handed_over, order)
        if given is None or self.running:
            return False
        self._last, self._rest = {}, b""
        project, environment = self._session.project, QProcessEnvironment.systemEnvironment()
        for name, value in given.items():
            environment.insert(name, value)
        self.process.setProcessEnvironment(environment)
        project.remember()
        program, first = command()
        self.process.start(program, [*first, "child"])
        readonly = project.readonly or estimate
        self.say(ChildRequest(project.path, order, project.by, readonly=readonly, estimate=estimate).line())
        return True

    @property
    def running(self) -> bool:
        return self.process.state() != QProcess.ProcessState.NotRunning

    def say(self, line: str) -> None:
        if self.running:
            self.process.write(f"{line}\n".encode())

    def hold(self, *, held: bool) -> None:
        """Pause or resume the run: while paused, it starts no further case."""
        self.say("pause" if held else "resume")

    def cancel(self) -> None:
        """Ask the child to stop; one that has not reported yet does not read commands, and is killed without loss."""
        if not self._last:
            self.kill()
            return
        self.say("cancel")
        process_id = self.process.processId()
        QTimer.singleShot(PATIENCE_MS, self, lambda: self._kill(process_id))

    def stop_now(self) -> None:
        """Stop the child before the window closes; its journal makes this safe."""
        self.say("cancel")
        if self.running and not self.process.waitForFinished(2000):
            self.kill()

    def kill(self) -> None:
        """Kill the child at once and wait until it is gone: a process must not outlive the object that reads it."""
        if self.running:
            self.process.kill()
            self.process.waitForFinished(2000)

    def _kill(self, process_id: int) -> None:
        """Kill the process that was asked to stop, unless another has been started since."""
        if self.running and self.process.processId() == process_id:
            self.process.kill()

    def _read(self) -> None:
        fresh = bytes(self.process.readAllStandardOutput().data())
        *lines, self._rest = (self._rest + fresh).split(b"\n")
        with keyboard_stays():
            for line in filter(bytes.strip, lines):
                self._last = json.loads(line)
                if self._last.get("event") == "progress":
                    self.progressed.emit(self._last)

    def _failed(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self._end("it could not be started")

    def _finished(self, code: int, _status: QProcess.ExitStatus) -> None:
        # The last lines may still be in the pipe when the process has exited.
        self._read()
        errors = bytes(self.process.readAllStandardError().data()).decode(errors="replace").strip()
        self._end(errors.rpartition("\n")[2] or f"it ended with code {code}")

    def _end(self, reason: str) -> None:
        if self._last.get("event") not in ("ended", "refused"):
            self._last = {
                "event": "refused",
                "error": f"The process behind it stopped unexpectedly: {reason}",
                "todo": "Nothing that was finished is lost; start it again to go on.",
            }
        # Settings that the child wrote apply in the window, too.
        self._session.ask(Project.reread)
        with keyboard_stays():
            self.ended.emit(self._last)


def command() -> tuple[str, list[str]]:
    """The program and arguments that start this program again: itself when frozen, otherwise through Python."""
    windows = os.name == "nt"
    if getattr(sys, "frozen", False):
        # A windowed program on Windows has no standard output; its console twin has.
        return (str(Path(sys.executable).with_name("goldsmith-cli.exe")) if windows else sys.executable), []
    python = PureWindowsPath(sys.executable)
    if windows and python.stem.lower() == "pythonw":
        # Only the file name: a folder of the path may contain the same word.
        return str(python.with_name("python.exe")), ["-m", "annotator"]
    return sys.executable, ["-m", "annotator"]


REFUSED, CANCELLED = "refused", RunState.CANCELLED.value


# Milliseconds without a change before an order that is still being edited is estimated.
SETTLE_MS = 400


class Estimating(QObject):
    """The estimate of an order, made in a child process because it must read every question.

    The order estimated last is not estimated again.
    """

    def __init__(
        self, session: ProjectSession, parent: QObject, show: Callable[[dict[str, Any]], object]
    ) -> None:
        """`show` takes the estimate of the order asked for last."""
        super().__init__(parent)
        self._session, self._show = session, show
        self._child: Child | None = None
        self.order: AnyOrder | None = None
        self._counted: tuple[AnyOrder | None, dict[str, Any]] = None, {}
        self._soon = later(self, self._start, SETTLE_MS)

    def ask(self, order: "AnyOrder") -> None:
        self.order = order
        counted, line = self._counted
        if order == counted:
            self._soon.stop()
            self._show(line)
        else:
            self._soon.start()

    def forget(self) -> None:
        """Discard the last estimate: something was judged, or a prompt changed."""
        self._counted = None, {}

    def _start(self) -> None:
        order = self.order
        self.stop()
        if order is not None:
            self.order, child = order, Child(self._session, self)
            self._child = child
            child.ended.connect(lambda line: self._ended(child, order, line))
            child.start(order, estimate=True)

    def _ended(self, child: Child, order: "AnyOrder", line: dict[str, Any]) -> None:
        if child is self._child and order == self.order:
            self._child = None
            child.deleteLater()
            self._counted = (None if "error" in line else order), line
            self._show(line)

    def stop(self) -> None:
        self._soon.stop()
        child, self._child, self.order = self._child, None, None
        if child is not None:
            child.kill()
            child.deleteLater()


class BackgroundRun(QObject):
    """One order at a time for the widget that owns it. A refusal is emitted by the session."""

    changed = Signal()
    """The run began, was paused or resumed, was asked to stop, or ended."""
    progressed = Signal(dict)
    ended = Signal(dict)
    """The last line, also of a run that was refused or stopped before it began."""

    def __init__(self, session: ProjectSession, what: str, page: str, owner: QWidget, **place: Any) -> None:
        """`what` names the run; `page` and `place` say where its result is shown."""
        super().__init__(owner)
        self._session, self.owner = session, owner
        self.what, self.page, self.place = what, page, place
        self._child = Child(session, self)
        self._child.progressed.connect(self._progressed)
        self._child.ended.connect(self._ended)
        self.order: AnyOrder | None = None
        """The order in progress, if any."""
        self.line: dict[str, Any] = {}
        """The latest line of progress; empty before the first one."""
        self.held = self.stopping = False

    @property
    def running(self) -> bool:
        return self._child.running

    @property
    def title(self) -> str:
        judge = getattr(self.order, "judge", "")
        return f"{self.what} · \u2068{judge}\u2069" if judge else self.what

    def start(self, order: "AnyOrder") -> bool:
        """Start an order; whether it was started."""
        if not self._child.start(order):
            return False
        self.order, self.line, self.held, self.stopping = order, {}, False, False
        self._tell()
        return True

    def hold(self) -> None:
        """Pause or resume the run: while paused no further question is sent, but those in progress are answered."""
        if self.running and not self.stopping:
            self.held = not self.held
            self._child.hold(held=self.held)
            self._tell()

    def cancel(self) -> None:
        """Ask the run to stop; what is finished stays stored."""
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
        self._session.run_changed.emit(self)

    def _progressed(self, line: dict[str, Any]) -> None:
        self.line = line
        self.progressed.emit(line)
        self._session.run_changed.emit(self)

    def _ended(self, line: dict[str, Any]) -> None:
        if line.get("event") == REFUSED and self.stopping:
            # Stopped before it began, it has no last line of its own, and no refusal to show.
            line = {**line, "state": CANCELLED}
        elif line.get("event") == REFUSED:
            self._session.refused.emit(Refusal(str(line["error"]), str(line.get("todo", ""))))
        elif not self.stopping:
            seen = self.owner if self.is_seen() else None
            self._session.tell_end(f"{self.what} has ended.", self.page, seen, **self.place)
        self.order = None
        self._tell()
        self.ended.emit(line)

    def is_seen(self) -> bool:
        """Whether the widget that shows the result is in view."""
        return self.owner.isVisible()


class OrderEstimate(QObject):
    """The estimate of the order set up in a widget's fields; an estimate of earlier values is dropped."""

    def __init__(
        self,
        session: ProjectSession,
        owner: QWidget,
        order: "Callable[[], RunRequest | None]",
        show: "Callable[[CostEstimate], object]",
    ) -> None:
        """`order` builds the order from the owner's fields; None while it is incomplete."""
        super().__init__(owner)
        self._session, self._owner, self._order, self._show = session, owner, order, show
        self._waited: RunRequest | None = None
        self._soon = later(self, self.count, SETTLE_MS)

    def count_soon(self) -> None:
        self._soon.start()

    def stop(self) -> None:
        self._soon.stop()
        self._waited = None

    def count(self) -> None:
        from annotator.actions.orders import orders

        request = self._order()
        if request is not None and self._owner.isVisible():
            self._waited = request
            self._session.ask_later(partial(self._tell, request), orders.forecast, request)

    def _tell(self, request: "RunRequest", estimate: "CostEstimate") -> None:
        now = self._order() if request is self._waited else None
        # The budget does not affect the estimate.
        if now is not None and replace(now, budget_usd=None) == replace(request, budget_usd=None):
            self._show(estimate)
