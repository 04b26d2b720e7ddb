"""How the window judges: it starts the command line's own commands and listens to what they print."""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal

from annotator.gui.desk.staying import keyboard_stays

# How far a child stands back behind the window where both want the processor.
NICENESS = 5
_BELOW_NORMAL = 0x4000
_SET_INFORMATION = 0x0200
# A child that has been asked to stop and has not is ended after this many milliseconds.
PATIENCE_MS = 5000


class Child(QObject):
    """One run of the command line in a process of its own, so that the window never waits for it."""

    said = Signal(bytes)
    """A line of its standard output."""
    ended = Signal(bytes, int, QProcess.ExitStatus)
    """Everything it printed, its exit code, and whether it crashed."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.process = QProcess(self)
        self.process.readyReadStandardOutput.connect(self._read)
        self.process.finished.connect(self._finished)
        self.process.errorOccurred.connect(self._failed)
        self.process.started.connect(lambda: stand_back(self.process.processId()))
        self._whole, self._rest = b"", b""

    def start(self, words: list[str], environment: dict[str, str] | None = None) -> None:
        """Run `goldsmith WORDS…`; keys of endpoints travel in `environment`, never in the words."""
        inherited = QProcessEnvironment.systemEnvironment()
        for name, value in (environment or {}).items():
            inherited.insert(name, value)
        self.process.setProcessEnvironment(inherited)
        program, first = command()
        self.process.start(program, [*first, *words])

    @property
    def running(self) -> bool:
        """Whether the child is alive."""
        return self.process.state() != QProcess.ProcessState.NotRunning

    def say(self, word: str) -> None:
        """Give the child a word of a line: “pause” or “resume”."""
        if self.running:
            self.process.write(f"{word}\n".encode())

    def cancel(self) -> None:
        """Ask the child to stop; what it has finished stays."""
        if self.running:
            self.process.write(b"cancel\n")
            asked = self.process.processId()
            QTimer.singleShot(PATIENCE_MS, self, lambda: self._kill(asked))

    def stop_now(self) -> None:
        """End the child before the window closes; its journal makes this safe."""
        if self.running:
            self.process.write(b"cancel\n")
            if not self.process.waitForFinished(2000):
                self.process.kill()
                self.process.waitForFinished(2000)

    def kill(self) -> None:
        """End the child at once, and see it gone: a process must not outlive the one who listens to it."""
        if self.running:
            self.process.kill()
            self.process.waitForFinished(2000)

    def errors(self) -> str:
        """The last line of its error stream that says something; the frame around a message says nothing."""
        words = bytes(self.process.readAllStandardError().data()).decode(errors="replace")
        lines = (line.strip(" │╭╰╮╯─┌└┐┘\r") for line in reversed(words.splitlines()))
        return next((line for line in lines if line), "")

    def _kill(self, asked: int) -> None:
        """End the process that was asked to stop; another may have been started since."""
        if self.running and self.process.processId() == asked:
            self.process.kill()

    def _read(self) -> None:
        fresh = bytes(self.process.readAllStandardOutput().data())
        self._whole += fresh
        *lines, self._rest = (self._rest + fresh).split(b"\n")
        with keyboard_stays():
            for line in lines:
                if line.strip():
                    self.said.emit(line)

    def _failed(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            with keyboard_stays():
                self.ended.emit(b"", 127, QProcess.ExitStatus.CrashExit)

    def _finished(self, code: int, status: QProcess.ExitStatus) -> None:
        # The last lines may still lie in the pipe when the process is already gone.
        self._read()
        with keyboard_stays():
            self.ended.emit(self._whole, code, status)


class JudgingChild(QObject):
    """A `judge run` whose JSON lines become signals."""

    progressed = Signal(dict)
    """A line of progress: done, total, rate, left_s, cost_usd, missing …"""
    ended = Signal(dict)
    """The last line, with `state`; or `error` and `todo` when it was refused or stopped unexpectedly."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._child = Child(self)
        self._child.said.connect(self._hear)
        self._child.ended.connect(self._finished)
        self._last: dict[str, Any] = {}

    def start(self, words: list[str], environment: dict[str, str] | None = None) -> None:
        """Run `goldsmith judge run …` with its progress as JSON lines."""
        self._last = {}
        self._child.start([*words, "--progress", "json"], environment)

    @property
    def running(self) -> bool:
        """Whether the run is under way."""
        return self._child.running

    def cancel(self) -> None:
        """Ask the run to stop; one that has not begun listens to nobody yet, and loses nothing by being ended."""
        if self._last:
            self._child.cancel()
        else:
            self._child.kill()

    def hold(self, *, held: bool) -> None:
        """Let the run begin no further case until it is let go on."""
        self._child.say("pause" if held else "resume")

    def stop_now(self) -> None:
        """End the run before the window closes."""
        self._child.stop_now()

    def _hear(self, line: bytes) -> None:
        self._last = json.loads(line)
        if self._last.get("event") == "progress":
            self.progressed.emit(self._last)

    def _finished(self, _whole: bytes, code: int, status: QProcess.ExitStatus) -> None:
        if self._last.get("event") not in ("ended", "refused"):
            reason = self._child.errors() or f"it ended with code {code}"
            self._last = {
                "event": "refused",
                "error": f"The judging process stopped unexpectedly: {reason}",
                "todo": "Nothing that was finished is lost; start the run again to go on.",
            }
        self.ended.emit(self._last)


def stand_back(pid: int) -> None:
    """Give a process a lower priority than the window has; one that has already ended needs none."""
    if sys.platform == "win32":
        import ctypes

        kernel = ctypes.windll.kernel32
        handle = kernel.OpenProcess(_SET_INFORMATION, False, pid)
        if handle:
            kernel.SetPriorityClass(handle, _BELOW_NORMAL)
            kernel.CloseHandle(handle)
        return
    with suppress(ProcessLookupError, PermissionError):
        os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, 0) + NICENESS)


def command() -> tuple[str, list[str]]:
    """How this very program is started again: itself when frozen, otherwise through Python."""
    windows = os.name == "nt"
    if getattr(sys, "frozen", False):
        # A windowed program of Windows has no standard output: its twin for the terminal has.
        return (str(Path(sys.executable).with_name("goldsmith-cli.exe")) if windows else sys.executable), []
    python = sys.executable.replace("pythonw", "python") if windows else sys.executable
    return python, ["-m", "annotator"]
