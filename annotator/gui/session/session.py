"""The project session: run actions, answer queries, and announce every change to all pages."""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import count
from threading import Event
from typing import Any, Concatenate, ParamSpec, TypeVar

from PySide6.QtCore import QDate, QDateTime, QEvent, QLocale, QObject, Qt, QThreadPool, QTime, Signal
from PySide6.QtGui import QWindow
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)
from shiboken6 import isValid

from annotator.actions.project import file
from annotator.actions.project.file import Project
from annotator.actions.undo import history
from annotator.domain.common import Change, Refusal, counted, local, natural
from annotator.domain.experts.assignment import Person, Stage
from annotator.gui.parts import application, below, focused
from annotator.gui.widgets.basics import RoleFrame, later

TYPED = (QLineEdit, QPlainTextEdit, QTextEdit, QAbstractSpinBox)


@contextmanager
def keyboard_stays(*, typing_only: bool = False) -> Iterator[None]:
    """Keep the focus on the focused widget throughout the block, if it is still visible and enabled afterwards.

    With `typing_only`, only where someone types: from a list or a button, a late answer may move the focus on.
    """
    held = QApplication.focusWidget()
    yield
    if held is None or not isValid(held) or QApplication.focusWidget() is held:
        return
    if typing_only and not isinstance(held, TYPED):
        return
    if _usable(held):
        held.setFocus(Qt.FocusReason.OtherFocusReason)


class Pressed(QObject):
    """Remembers the button that was pressed and then disabled, until the focus moves."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._button: QAbstractButton | None = None
        self._standing: QWidget | None = None
        application().focusChanged.connect(self._moved)

    @contextmanager
    def answered(self) -> Iterator[None]:
        """Focus the button again after the block, unless the block moved the focus; without one, keep the focus."""
        button, standing = self._button, self._standing
        if button is None or not self._waits(button):
            with keyboard_stays():
                yield
            return
        yield
        if QApplication.focusWidget() is standing and isValid(button) and _usable(button):
            button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _waits(self, button: QAbstractButton) -> bool:
        """Whether the focus is where the button left it, on the same page, and nobody types there."""
        standing = self._standing
        page = button.parentWidget() if isValid(button) else None
        here = page is not None and page.isVisible()
        return here and QApplication.focusWidget() is standing and not isinstance(standing, TYPED)

    def _moved(self, left: QWidget | None, reached: QWidget | None) -> None:
        """Remember a button that lost the focus because it was disabled, not because the user left it."""
        if isinstance(left, QAbstractButton) and isValid(left) and not _usable(left):
            self._button, self._standing = left, reached
        elif reached is not self._standing:
            self._button = self._standing = None


class FocusKeeper(QObject):
    """Keeps a window's focus on something visible, also when the clicked widget is hidden."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._line: list[QWidget] = []
        """The widget that has or last had the focus, then its ancestors, innermost first."""
        self._later = later(self, self._look, 0)
        application().focusChanged.connect(self._moved)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Check the focus when the focused widget is hidden, after the click has been handled."""
        if event.type() == QEvent.Type.Hide:
            self._later.start()
        return super().eventFilter(watched, event)

    def _moved(self, left: QWidget | None, reached: QWidget | None) -> None:
        if left is not None and isValid(left):
            left.removeEventFilter(self)
        if reached is None:
            self._later.start()
        elif self._window.isAncestorOf(reached):
            reached.installEventFilter(self)
            self._line = list(_line(reached))

    def _look(self) -> None:
        window = self._window
        if not self._line or not window.isVisible() or not window.isActiveWindow():
            return
        held, left = focused(window), self._line[0]
        if held is not None:
            be_seen(window)
        elif not isValid(left) or not left.isVisible():
            _go_on_in(next((each for each in self._line if isValid(each) and each.isVisible()), None))


def be_seen(window: QWidget | None) -> None:
    """Move the window's focus from a hidden widget to the first usable one in its nearest visible ancestor."""
    # In a window that is not shown yet no widget is visible.
    held = focused(window) if window is not None and window.isVisible() else None
    if held is not None and not held.isVisible():
        _go_on_in(next((each for each in _line(held) if each.isVisible()), None))


def _line(widget: QWidget) -> Iterator[QWidget]:
    each: QWidget | None = widget
    while each is not None:
        yield each
        each = each.parentWidget()


def _go_on_in(around: QWidget | None) -> None:
    """Focus the first usable part of a widget that takes Tab focus, otherwise the widget itself."""
    if around is None:
        return
    reached = next(
        (
            part
            for part in below(around, QWidget)
            if (bool(part.focusPolicy() & Qt.FocusPolicy.TabFocus) and _usable(part))
        ),
        around,
    )
    reached.setFocus(Qt.FocusReason.OtherFocusReason)


def _usable(widget: QWidget) -> bool:
    return widget.isVisible() and widget.isEnabled()


Tell = Callable[[str, int, int], None]
"""Takes the name of the step, the number of units done, and the total; 0 of 0 if unknown."""


class _Stopped(Exception):
    """The job was cancelled; its open transaction is rolled back."""


@dataclass(frozen=True, slots=True)
class TaskCallbacks:
    """Callbacks of a background task: `then` and `progress` of the widget that sent it, the others of everyone else."""

    then: Callable[[Any], object] | None
    progress: Tell | None = None
    done: Callable[[Any], object] | None = None
    """Called before `then`, also if the sender has been taken down."""
    refused: Callable[[Refusal], object] | None = None
    over: Callable[[], object] | None = None
    """Called last, however the task ended."""
    job: bool = False
    """Whether it is a job, not a query: `then` gets None if it was refused, and the keyboard focus stays."""


class BackgroundTasks(QObject):
    """A queue of background tasks on one thread. Callbacks of owners deleted before the end are not called."""

    free = Signal()
    """Emitted when the last job has ended."""
    _reported = Signal(int, str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._threads = QThreadPool(self)
        self._threads.setMaxThreadCount(1)
        self._numbers = count()
        self._out: dict[int, TaskCallbacks] = {}
        self._stopping, self._message = Event(), ""
        self._reported.connect(self._tell)
        self._pressed = Pressed(self)

    def __len__(self) -> int:
        """The number of tasks in progress, or ended but not yet reported."""
        return len(self._out)

    def send(self, act: Callable[[Tell], Any], callbacks: TaskCallbacks, priority: int = 0) -> None:
        """Run `act` on the other thread, passing it a function that reports progress.

        Tasks of a lower priority start after all others that are waiting.
        """
        number = next(self._numbers)
        self._out[number] = callbacks
        stopping = self._stopping if callbacks.job else Event()
        # The pool would keep every QRunnable alive for good; a function it releases.
        self._threads.start(
            lambda: _run(act, lambda what, of: self._reported.emit(number, what, of), stopping), priority
        )

    @property
    def job(self) -> str:
        """The progress message of the running job; empty if there is none."""
        return (self._message or "Work in progress") if self._jobs() else ""

    def stop_jobs(self) -> None:
        """Stop jobs at their next step; uncommitted changes are rolled back."""
        self._stopping.set()

    def _jobs(self) -> bool:
        return any(callbacks.job for callbacks in self._out.values())

    def wait(self) -> None:
        """Block until no task is running; results are delivered by the event loop afterwards."""
        self._threads.waitForDone()

    def forget_senders(self) -> None:
        """Drop `then` and `progress` of all tasks, because the pages that sent them are taken down."""
        for number, callbacks in self._out.items():
            self._out[number] = replace(callbacks, then=None, progress=None)

    def forget(self, askers: Collection[object]) -> None:
        """Drop the answers to queries of these widgets or methods; jobs are not affected."""
        for number, callbacks in self._out.items():
            asker = getattr(callbacks.then, "__self__", None)
            if not callbacks.job and (callbacks.then in askers or asker in askers):
                self._out[number] = replace(callbacks, then=None)

    def end(self) -> None:
        self.wait()
        self._out.clear()

    def _tell(self, number: int, what: str, of: Any) -> None:
        if number not in self._out:
            return
        callbacks = self._out[number]
        if what == "over":
            del self._out[number]
            self._call(callbacks, callbacks.over)
            if callbacks.job and not self._jobs():
                self._message = ""
                self._stopping.clear()
                self.free.emit()
        elif what == "progress":
            self._message = progress_words(*of)
            self._call(callbacks, callbacks.progress, *of)
        elif what == "done":
            self._call(callbacks, callbacks.done, of)
            self._call(callbacks, callbacks.then, of)
        else:
            if callbacks.job:
                self._call(callbacks, callbacks.then, None)
            if what == "refused":
                self._call(callbacks, callbacks.refused, of)

    def _call(self, callbacks: TaskCallbacks, callback: Callable[..., object] | None, *of: Any) -> None:
        owner = getattr(callback, "__self__", None)
        if callback is not None and not (isinstance(owner, QObject) and not isValid(owner)):
            with self._pressed.answered() if callbacks.job else keyboard_stays(typing_only=True):
                callback(*of)
            be_seen(QApplication.activeWindow())


def progress_words(what: str, done: int, total: int) -> str:
    """The name of the step, with its progress if the total is known."""
    title = what[:1].upper() + what[1:]
    return f"{title}, {done:,} of {total:,}" if total else title


def _run(act: Callable[[Tell], Any], say: Callable[[str, object], None], stopping: Event) -> None:
    """Run `act` on the other thread and report its result, refusal or end."""

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


P = ParamSpec("P")
T = TypeVar("T")


# The subject of listeners to every kind of change.
ANY = ""


class Subject(QObject):
    changed = Signal(object)


class ProjectSession(QObject):
    """The pages' only access to the open project, for reading and for changes."""

    refused = Signal(object)
    """The Refusal of the last action or query."""
    saved = Signal(object)
    """The time at which the last commit returned."""
    wanted = Signal(str, dict)
    """A page to open: its name and the place on it."""
    run_changed = Signal(object)
    """A BackgroundRun that began, progressed, was paused, resumed or asked to stop, or ended."""
    ended = Signal(str, str, dict)
    """A job has ended: the message, the page that shows its result, and the place on it."""
    reset_wanted = Signal()
    """The sample project is to be created again."""
    restore_wanted = Signal(object)
    """The path of a backup that is to replace the project."""
    person_wanted = Signal(str)
    """The id of the person to work as from now on."""
    rebound = Signal()
    """Key bindings were changed."""
    turned = Signal(str, str, dict)
    """A change was undone or redone: the message, the page that shows it, and the place on it."""

    def __init__(self, project: Project, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.project = project
        self._subjects = defaultdict[str, Subject](partial(Subject, self))
        self._tasks_behind = BackgroundTasks(self)
        self.free = self._tasks_behind.free
        self.stop_jobs = self._tasks_behind.stop_jobs
        self._ended = self.turning = False
        """`turning`: whether the change being announced is an undo or a redo."""
        file.watch(project.path)

    def do(self, verb: Callable[Concatenate[Project, P], T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """Run an action; announce its change on success, emit the refusal otherwise (then None is returned)."""
        if self._ended:
            return None
        try:
            return self._done(verb(self.project, *args, **kwargs))
        except Refusal as refusal:
            self.refused.emit(refusal)
            return None

    def ask(
        self, question: Callable[Concatenate[Project, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T | None:
        """Run a query; emit the refusal and return None if it is refused."""
        if self._ended:
            return None
        try:
            return question(self.project, *args, **kwargs)
        except Refusal as refusal:
            self.refused.emit(refusal)
            return None

    def attempt(self, act: Callable[[], T]) -> T | None:
        """Run what a menu, key or page triggers; emit the refusal and return None if it is refused."""
        try:
            return act()
        except Refusal as refusal:
            self.refused.emit(refusal)
            return None

    def ask_later(
        self, then: Callable[[Any], None], question: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> None:
        """Run a slow query on another thread, over a read-only connection of its own, and pass its answer to `then`."""
        callbacks = TaskCallbacks(then, refused=self.refused.emit)
        self._send(lambda project, _: question(project, *args, **kwargs), callbacks, readonly=True)

    def prepare(self, question: Callable[..., Any], *args: Any) -> None:
        """Fill the cache of a query before it is needed, once no other task is waiting."""
        self._send(
            lambda project, _: question(project, *args), TaskCallbacks(None), readonly=True, priority=-1
        )

    def ask_newest(
        self, then: Callable[[Any], None], question: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> None:
        """Like `ask_later`, but drop the answers to earlier queries with the same `then`."""
        self.forget(then)
        self.ask_later(then, question, *args, **kwargs)

    def forget(self, *askers: QObject | Callable[..., object]) -> None:
        """Drop the answers to pending queries of these widgets or methods."""
        self._tasks_behind.forget(askers)

    def do_later(
        self,
        then: Callable[[Any], None],
        progress: Callable[[str, int, int], None],
        verb: Callable[..., Any],
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Run a long action on another thread over a connection of its own, passing it `progress=` to call.

        `then` gets the action's result, or None if it was refused (the refusal is emitted as usual).
        """
        callbacks = TaskCallbacks(then, progress, self._done_elsewhere, self.refused.emit, job=True)
        self._send(
            lambda project, tell: verb(project, *args, **kwargs, progress=tell), callbacks, readonly=False
        )

    def _send(
        self,
        act: Callable[[Project, Tell], Any],
        callbacks: TaskCallbacks,
        *,
        readonly: bool,
        priority: int = 0,
    ) -> None:
        if self._ended:
            return
        path, person = self.project.path, self.project.person

        def over_its_own(tell: Tell) -> Any:
            with closing(Project.open(path, readonly=readonly)) as project:
                project.person = person
                return act(project, tell)

        self._tasks_behind.send(over_its_own, callbacks, priority)

    @property
    def job(self) -> str:
        """The progress message of the running job; empty if there is none."""
        return self._tasks_behind.job

    def wait(self) -> None:
        """Block until no background task is running; for tests."""
        self._tasks_behind.wait()

    def forget_pages(self) -> None:
        """Drop the callbacks of the pages, which are being taken down."""
        self._tasks_behind.forget_senders()

    def end(self) -> None:
        """Wait for background tasks and close the file; from now on actions and queries do nothing."""
        self._ended = True
        self._tasks_behind.end()
        file.forget(self.project.path)
        self.project.close()

    def _done_elsewhere(self, result: T) -> T:
        self.project.reread()
        return self._done(result)

    def _done(self, result: T) -> T:
        self.saved.emit(datetime.now().astimezone())
        first = result[0] if isinstance(result, tuple) and result else result
        if isinstance(first, Change):
            self.tell(first)
        return result

    def listen(self, slot: Callable[[Change], None], kinds: Iterable[str]) -> None:
        """Call a widget's method, for as long as the widget lives, after every committed change of these kinds only.

        The change may come from this window or from a judging child process.
        """
        for kind in kinds:
            self._subjects[kind].changed.connect(slot)

    def tell(self, change: Change) -> None:
        for kind in (ANY, change.kind):
            self._subjects[kind].changed.emit(change)

    def tell_material(self) -> None:
        """Announce material that a run brought as an import, so that pages count the reports again."""
        self.tell(Change("import", "", "bring material"))

    def undo(self) -> None:
        """Undo the person's latest change, whichever item or page it was made on."""
        self._turn(history.undo, "Undid")

    def redo(self) -> None:
        self._turn(history.redo, "Redid")

    def take_back(self, page: str) -> None:
        from annotator.actions.undo import undo_places

        change = self.ask(history.latest)
        seen = self.ask(undo_places.seen, change) if change is not None else None
        if seen is not None and seen.page == page:
            self.undo()
        else:
            todo = "Undo in the Edit menu takes back your latest change, wherever it was made."
            self.refused.emit(Refusal("There is nothing to take back on this page.", todo))

    def _turn(self, verb: Callable[[Project], Change], title: str) -> None:
        from annotator.actions.undo import undo_places

        self.turning = True
        try:
            change = self.do(verb)
        finally:
            self.turning = False
        seen = self.ask(undo_places.seen, change) if change is not None else None
        if seen is not None:
            self.turned.emit(f"{title}: {seen.words}.", seen.page, seen.place)

    def tell_end(self, words: str, page: str, seen: QWidget | None = None, **place: Any) -> None:
        """Announce that a job has ended and where to see it, unless `seen`, the widget that shows it, is in view."""
        if not self._ended and (seen is None or not seen.isVisible()):
            self.ended.emit(words, page, place)

    def go(self, page: str, **place: Any) -> None:
        self.wanted.emit(page, place)

    def go_to_work(self, item_id: str, stage: Stage) -> None:
        """Go to where the work of a stage on an item is done."""
        if stage.kind is not None and stage is not Stage.LABELLING:
            self.go("Author", item_id=item_id, kind=stage.kind.value)
        else:
            self.go("Adjudicate" if stage is Stage.ADJUDICATION else "Label", item_id=item_id)


def or_refusal(project: Project, question: Callable[..., T], *about: Any) -> T | Refusal:
    """The answer to a query, or the refusal."""
    try:
        return question(project, *about)
    except Refusal as refusal:
        return refusal


class Pane(RoleFrame):
    """A part of a page with access to the session; `role` selects its style in the style sheet."""

    def __init__(self, session: ProjectSession, role: str = "") -> None:
        super().__init__(role)
        self.session = session


def in_order(everybody: Iterable[Person]) -> list[Person]:
    """Active people by alias, then those who have left."""
    return sorted(everybody, key=lambda person: (not person.active, natural(person.alias)))


def title(stage: Stage) -> str:
    return stage.value.capitalize()


def named(alias: str, name: str) -> str:
    """A person as “alias · name”; once if both are the same."""
    name = " ".join(name.split())
    return alias if name == alias else f"{alias} · {name}"


# A date at most this many days ahead is also shown as a distance.
NEAR = 7


def day(at: datetime) -> str:
    """A day in local time, with its year unless it is this year."""
    date = local(at).date()
    this_year = date.year == datetime.now().astimezone().year
    return QLocale().toString(QDate(date.year, date.month, date.day), "d MMM" if this_year else "d MMM yyyy")


def due_words(due: datetime, *, overdue: bool | None = None) -> str:
    """A due date in words: “12 May, in 3 days”, “today”, “12 May, 2 days late”.

    Submitted work is never late (`overdue` is False); None decides by the clock.
    """
    now = datetime.now().astimezone()
    days = (local(due).date() - now.date()).days
    if overdue if overdue is not None else due < now:
        return f"{day(due)}, {late_words(due)}"
    if overdue is False or not 0 <= days <= NEAR:
        return day(due)
    return ("today", "tomorrow")[days] if days < 2 else f"{day(due)}, in {counted(days, 'day')}"


def late_words(due: datetime) -> str:
    """How late work is: “3 days late”."""
    days = (datetime.now().astimezone().date() - local(due).date()).days
    return f"{counted(days, 'day')} late" if days else "late since today"


def end_of_day(date: QDate) -> datetime:
    """The last minute of a local day, in UTC: work due on a day may be handed in until the day is over."""
    return datetime.fromtimestamp(QDateTime(date, QTime(23, 59)).toSecsSinceEpoch(), UTC)


# The stages in which documents are written.
AUTHORING = tuple(stage for stage in Stage if stage not in (Stage.LABELLING, Stage.ADJUDICATION))


def due_of_items(session: ProjectSession, stages: Collection[Stage]) -> dict[str, str]:
    """Item → the due date of the person's open work in these stages, in words; the earliest if there are several."""
    from annotator.actions.assignments import assignments

    first: dict[str, datetime] = {}
    me = session.project.by
    for assignment in (session.ask(assignments.of_person, me) or []) if me else []:
        if (
            assignment.stage in stages
            and assignment.due
            and assignment.submitted_at is None
            and assignment.trial == 1
        ):
            first[assignment.item_id] = min(assignment.due, first.get(assignment.item_id, assignment.due))
    return {item_id: due_words(due) for item_id, due in first.items()}


# Reading is work too: without typing or scrolling, a person counts as reading for at most this long.
READING_S = 60.0
_SIGNS = frozenset(
    (QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress, QEvent.Type.MouseMove, QEvent.Type.Wheel)
)


class Clock:
    """A stopwatch of active seconds since the last `take`; it does not run before the first activity."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._last: float | None = None
        self._sum = 0.0

    def touch(self) -> None:
        """Record activity: count the time since the last one, up to READING_S."""
        self._add()
        self._last = self._now()

    def stop(self) -> None:
        """Pause because the person turned to something else; the next activity starts a new stretch."""
        self._add()
        self._last = None

    def take(self) -> float:
        """Return the active seconds so far and reset them; a running clock goes on."""
        self._add()
        if self._last is not None:
            self._last = self._now()
        taken, self._sum = self._sum, 0.0
        return taken

    def _add(self) -> None:
        if self._last is not None:
            self._sum += min(self._now() - self._last, READING_S)


class Attention(QObject):
    """Feeds a clock with activity in a page's window while the page is in view."""

    def __init__(self, page: QWidget, clock: Clock) -> None:
        super().__init__(page)
        self._page, self._clock = page, clock
        self._window: QWindow | None = None
        application().focusWindowChanged.connect(self._turned)

    def begin(self) -> None:
        window = self._page.window().windowHandle()
        if window is not None and window is not self._window:
            self.end()
            self._window = window
            window.installEventFilter(self)
        self._clock.touch()

    def end(self) -> None:
        if self._window is not None and isValid(self._window):
            self._window.removeEventFilter(self)
        self._window = None
        self._clock.stop()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Count keys, wheel and mouse as activity; no event is filtered out."""
        if event.type() in _SIGNS:
            self._clock.touch()
        return False

    def _turned(self, window: QWindow | None) -> None:
        if window is None or window is not self._window:
            self._clock.stop()
        elif self._page.isVisible():
            self._clock.touch()
