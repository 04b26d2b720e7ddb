"""Child processes: the command line runs orders for the window and reports progress."""

import json
import os
import sys
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal

from annotator.gui.desk.desk import Desk
from annotator.gui.desk.focus_keeper import keyboard_stays

if TYPE_CHECKING:
    from annotator.actions.orders.orders import AnyOrder

# A child that has been asked to stop and has not is ended after this many milliseconds.
PATIENCE_MS = 5000


class Child(QObject):
    """An order in a child process, so that the window never waits; its JSON lines become signals."""

    progressed = Signal(dict)
    """A line of progress: done, total, rate, left_s, cost_usd, missing …"""
    ended = Signal(dict)
    """The last line; with `error` and `todo` when the order was refused or the process stopped unexpectedly."""

    def __init__(self, desk: Desk, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self.process = QProcess(self)
        self.process.readyReadStandardOutput.connect(self._read)
        self.process.finished.connect(self._finished)
        self.process.errorOccurred.connect(self._failed)
        self._rest = b""
        self._last: dict[str, Any] = {}

    def start(self, order: "AnyOrder", *, estimate: bool = False) -> bool:
        """Run an order, or say what it would take; whether that begins.

        The order goes in as a line of JSON; keys of endpoints travel in the environment, and only where one is asked.
        """
        # Most windows never order anything.
        from annotator.actions.orders import orders
        from annotator.actions.orders.requests import ChildRequest

        given = {} if estimate else self._desk.ask(orders.handed_over, order)
        if given is None or self.running:
            return False
        self._last, self._rest = {}, b""
        project, environment = self._desk.project, QProcessEnvironment.systemEnvironment()
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
        """Whether the child is alive."""
        return self.process.state() != QProcess.ProcessState.NotRunning

    def say(self, line: str) -> None:
        if self.running:
            self.process.write(f"{line}\n".encode())

    def hold(self, *, held: bool) -> None:
        """Let the run begin no further case until it is let go on."""
        self.say("pause" if held else "resume")

    def cancel(self) -> None:
        """Ask the child to stop; one that has not begun listens to nobody yet, and loses nothing by being ended."""
        if not self._last:
            self.kill()
            return
        self.say("cancel")
        asked = self.process.processId()
        QTimer.singleShot(PATIENCE_MS, self, lambda: self._kill(asked))

    def stop_now(self) -> None:
        """End the child before the window closes; its journal makes this safe."""
        self.say("cancel")
        if self.running and not self.process.waitForFinished(2000):
            self.kill()

    def kill(self) -> None:
        """End the child at once, and see it gone: a process must not outlive the one who listens to it."""
        if self.running:
            self.process.kill()
            self.process.waitForFinished(2000)

    def _kill(self, asked: int) -> None:
        """End the process that was asked to stop; another may have been started since."""
        if self.running and self.process.processId() == asked:
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
        # The last lines may still lie in the pipe when the process is already gone.
        self._read()
        said = bytes(self.process.readAllStandardError().data()).decode(errors="replace").strip()
        self._end(said.rpartition("\n")[2] or f"it ended with code {code}")

    def _end(self, reason: str) -> None:
        if self._last.get("event") not in ("ended", "refused"):
            self._last = {
                "event": "refused",
                "error": f"The process behind it stopped unexpectedly: {reason}",
                "todo": "Nothing that was finished is lost; start it again to go on.",
            }
        with keyboard_stays():
            self.ended.emit(self._last)


def command() -> tuple[str, list[str]]:
    """How this very program is started again: itself when frozen, otherwise through Python."""
    windows = os.name == "nt"
    if getattr(sys, "frozen", False):
        # A windowed program of Windows has no standard output: its twin for the terminal has.
        return (str(Path(sys.executable).with_name("goldsmith-cli.exe")) if windows else sys.executable), []
    python = PureWindowsPath(sys.executable)
    if windows and python.stem.lower() == "pythonw":
        # A part of its path may be called so too.
        return str(python.with_name("python.exe")), ["-m", "annotator"]
    return sys.executable, ["-m", "annotator"]
