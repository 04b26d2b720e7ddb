"""The desk: actions are done, queries asked, and every change announced to all pages."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import datetime
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from annotator.actions.project import keeping
from annotator.actions.project.file import Project
from annotator.actions.undo import history
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal
from annotator.gui.desk.errands import Errands, Hearers, Tell

P = ParamSpec("P")
T = TypeVar("T")


# Stands for every kind of change.
ANY = ""


class Subject(QObject):
    changed = Signal(object)


class Desk(QObject):
    """The only access of pages to the open project, for reading and for changes."""

    refused = Signal(object)
    """A Refusal that answered the last verb or question."""
    saved = Signal(object)
    """The moment the last commit returned."""
    wanted = Signal(str, dict)
    """A page by name, and where on it to go."""
    run_changed = Signal(object)
    """A BackgroundRun that began, is further, was paused or resumed, was asked to stop, or ended."""
    ended = Signal(str, str, dict)
    """A job has ended: what is said of it, the page that shows what came of it, and where on it."""
    turned = Signal(str, str, dict)
    """A change was taken back or done again: which, the page that shows it, and where on it."""

    def __init__(self, project: Project, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.project = project
        self._subjects = defaultdict[str, Subject](partial(Subject, self))
        self._errands = Errands(self)
        self.free = self._errands.free
        self.stop_jobs = self._errands.stop_jobs
        self._ended = self.turning = False
        """`turning`: whether the change that is told just now is taken back or done again."""
        keeping.watch(project.path)

    def do(self, verb: Callable[Concatenate[Project, P], T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """Do a verb: its change is told to everyone; a refusal is told instead and None returned."""
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
        """Ask a question; a refusal is told and None returned."""
        if self._ended:
            return None
        return self.attempt(lambda: question(self.project, *args, **kwargs))

    def attempt(self, act: Callable[[], T]) -> T | None:
        """Do what a menu, a key or a page asks for; a refusal is told and None returned."""
        try:
            return act()
        except Refusal as refusal:
            self.refused.emit(refusal)
            return None

    def ask_later(
        self, then: Callable[[Any], None], question: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> None:
        """Ask a question that takes its time on another thread, over a read-only connection of its own."""
        hearers = Hearers(then, refused=self.refused.emit)
        self._send(lambda project, _: question(project, *args, **kwargs), hearers, readonly=True)

    def do_later(
        self,
        then: Callable[[Any], None],
        progress: Callable[[str, int, int], None],
        verb: Callable[..., Any],
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Do a long verb on another thread over a connection of its own; it is given `progress=` to call.

        `then` gets the verb's result, or None when it was refused (the refusal is told as usual).
        """
        hearers = Hearers(then, progress, self._done_elsewhere, self.refused.emit, job=True)
        self._send(
            lambda project, tell: verb(project, *args, **kwargs, progress=tell), hearers, readonly=False
        )

    def _send(self, act: Callable[[Project, Tell], Any], hearers: Hearers, *, readonly: bool) -> None:
        if self._ended:
            return
        path, person = self.project.path, self.project.person

        def over_its_own(tell: Tell) -> Any:
            with closing(Project.open(path, readonly=readonly)) as project:
                project.person = person
                return act(project, tell)

        self._errands.send(over_its_own, hearers)

    @property
    def job(self) -> str:
        """What is said of the job that is in progress; empty while there is none."""
        return self._errands.job

    def wait(self) -> None:
        """Return when no background task is in progress; for tests."""
        self._errands.wait()

    def forget_pages(self) -> None:
        """The pages are being taken down: what they asked is answered to nobody."""
        self._errands.forget_senders()

    def end(self) -> None:
        """Give the file back once no background task is in progress; nothing is asked, done or told any more."""
        self._ended = True
        self._errands.end()
        keeping.forget(self.project.path)
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
        """Call a widget's method, as long as it lives, after every committed change of these kinds, and no other.

        The change may be this window's or a judging child's.
        """
        for kind in kinds:
            self._subjects[kind].changed.connect(slot)

    def tell(self, change: Change) -> None:
        for kind in (ANY, change.kind):
            self._subjects[kind].changed.emit(change)

    def undo(self) -> None:
        """Take back the person's latest change, in whatever item or page it was made."""
        self._turn(history.undo, "Undid")

    def redo(self) -> None:
        self._turn(history.redo, "Redid")

    def take_back(self, page: str) -> None:
        """Take back the person's latest change if it was made on this page."""
        from annotator.actions.undo import undo_places

        change = self.ask(history.latest)
        seen = self.ask(undo_places.seen, change) if change is not None else None
        if seen is not None and seen.page == page:
            self.undo()
        else:
            todo = "Undo in the Edit menu takes back your latest change, wherever it was made."
            self.refused.emit(Refusal("There is nothing to take back on this page.", todo))

    def _turn(self, verb: Callable[[Project], Change], said: str) -> None:
        from annotator.actions.undo import undo_places

        self.turning = True
        try:
            change = self.do(verb)
        finally:
            self.turning = False
        seen = self.ask(undo_places.seen, change) if change is not None else None
        if seen is not None:
            self.turned.emit(f"{said}: {seen.words}.", seen.page, seen.place)

    def tell_end(self, words: str, page: str, seen: QWidget | None = None, **place: Any) -> None:
        """Say that a job has ended and where to see it, unless the widget that says so itself is in view."""
        if not self._ended and (seen is None or not seen.isVisible()):
            self.ended.emit(words, page, place)

    def go(self, page: str, **place: Any) -> None:
        """Ask the window for a page and a place on it."""
        self.wanted.emit(page, place)
