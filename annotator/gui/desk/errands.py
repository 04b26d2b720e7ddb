"""Background tasks: work on another thread, its result delivered on the window's own."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from threading import Event
from typing import Any

from PySide6.QtCore import QObject, QThreadPool, Signal
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from annotator.domain.texts.refusal import Refusal
from annotator.gui.desk.focus_keeper import Pressed, be_seen, keyboard_stays

Tell = Callable[[str, int, int], None]
"""Takes what is being done, how much of it is done, and of how much; 0 of 0 when nobody knows."""


class _Stopped(Exception):
    """The job was cancelled; what it was about to write is rolled back."""


@dataclass(frozen=True, slots=True)
class Hearers:
    """Listeners of a background task: its senders, then everyone else."""

    then: Callable[[Any], object] | None
    progress: Tell | None = None
    done: Callable[[Any], object] | None = None
    """For everyone, before `then`."""
    refused: Callable[[Refusal], object] | None = None
    over: Callable[[], object] | None = None
    """However it ended, last of all."""
    job: bool = False
    """Whether it is a job, no question: `then` hears None when it was refused, and the keyboard stays where it is."""


class Errands(QObject):
    """A queue of background tasks. Listeners that are gone when a task ends are not called."""

    free = Signal()
    """The last job has ended."""
    _heard = Signal(int, str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._threads = QThreadPool(self)
        self._threads.setMaxThreadCount(1)
        self._numbers = count()
        self._out: dict[int, Hearers] = {}
        self._stopping, self._said = Event(), ""
        self._heard.connect(self._tell)
        self._pressed = Pressed(self)

    def __len__(self) -> int:
        """How many are in progress, or home but not told of yet."""
        return len(self._out)

    def send(self, act: Callable[[Tell], Any], hearers: Hearers) -> None:
        """Do something on the other thread; it is given a function that tells how far it is."""
        number = next(self._numbers)
        self._out[number] = hearers
        stopping = self._stopping if hearers.job else Event()
        # The pool would keep every runnable for good; a function it lets go of.
        self._threads.start(lambda: _run(act, lambda what, of: self._heard.emit(number, what, of), stopping))

    @property
    def job(self) -> str:
        """What is said of the job that is in progress; empty while there is none."""
        return (self._said or "Work in progress") if self._jobs() else ""

    def stop_jobs(self) -> None:
        """Have jobs end at their next step; what they were about to write is taken back."""
        self._stopping.set()

    def _jobs(self) -> bool:
        return any(hearers.job for hearers in self._out.values())

    def wait(self) -> None:
        """Return when nothing is in progress; what came of it is told at the next idle."""
        self._threads.waitForDone()

    def forget_senders(self) -> None:
        """Those who sent what is in progress are being taken down; everyone else still hears of it."""
        for number, hearers in self._out.items():
            self._out[number] = replace(hearers, then=None, progress=None)

    def end(self) -> None:
        self.wait()
        self._out.clear()

    def _tell(self, number: int, what: str, of: Any) -> None:
        if number not in self._out:
            return
        hearers = self._out[number]
        if what == "over":
            del self._out[number]
            self._call(hearers, hearers.over)
            if hearers.job and not self._jobs():
                self._said = ""
                self._stopping.clear()
                self.free.emit()
        elif what == "progress":
            self._said = words(*of)
            self._call(hearers, hearers.progress, *of)
        elif what == "done":
            self._call(hearers, hearers.done, of)
            self._call(hearers, hearers.then, of)
        else:
            if hearers.job:
                self._call(hearers, hearers.then, None)
            if what == "refused":
                self._call(hearers, hearers.refused, of)

    def _call(self, hearers: Hearers, hearer: Callable[..., object] | None, *of: Any) -> None:
        owner = getattr(hearer, "__self__", None)
        if hearer is not None and not (isinstance(owner, QObject) and not isValid(owner)):
            with self._pressed.answered() if hearers.job else keyboard_stays(typing_only=True):
                hearer(*of)
            be_seen(QApplication.activeWindow())


def words(what: str, done: int, total: int) -> str:
    """What is being done, and how far it is where someone knows."""
    said = what[:1].upper() + what[1:]
    return f"{said}, {done:,} of {total:,}" if total else said


def _run(act: Callable[[Tell], Any], say: Callable[[str, object], None], stopping: Event) -> None:
    """Act, on the other thread, and tell what came of it."""

    def tell(*of: object) -> None:
        if stopping.is_set():
            raise _Stopped
        say("progress", of)

    try:
        say("done", act(tell))
    except _Stopped:
        say("stopped", None)
    except Refusal as refusal:
        say("refused", refusal)
    finally:
        say("over", None)
