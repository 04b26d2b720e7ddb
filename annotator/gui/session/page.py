"""Base classes of pages and their parts: keys, tabs, automatic advance, dropped files."""

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QDropEvent, QKeyEvent, QShortcut
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from annotator.actions.project import people
from annotator.domain.common import Change
from annotator.domain.experts.assignment import Role
from annotator.gui import keys, theme
from annotator.gui.parts import below
from annotator.gui.session.session import Pane, ProjectSession
from annotator.gui.widgets.bars import ActsBar, Tabs
from annotator.gui.widgets.basics import PlainLabel, Stack, column_of, later, push_button, vertical
from annotator.gui.widgets.chips import EmptyState
from annotator.gui.widgets.message_bar import MessageBar

WINDOWS = sys.platform == "win32"
KEEP_EVERY_MS = 20_000


ANOTHER_KIND = "Add another kind of document…"
# The name of a page's place in the window, if it differs from the page's own.
STANDS = {"Material": "Reports", "Contest": "Tasks", "Exchange": "Send & receive"}


def way_to(page: str) -> str:
    """The label of a button that leads to a page."""
    return f"Go to {STANDS.get(page, page)}"


def may_choose_uses(session: ProjectSession) -> bool:
    """Whether the person working may choose what the project uses."""
    project, person = session.project, session.project.person
    return not (project.readonly or project.from_task) and bool(person and person.has(Role.COORDINATOR))


def another_kind(session: ProjectSession) -> QPushButton:
    """A button at the end of a list of document kinds; it opens the choice of kinds, for those who may change it."""
    button = push_button(ANOTHER_KIND, lambda: session.go("Project", part="uses"), "quiet")
    if not may_choose_uses(session):
        button.hide()
    return button


class Page(QWidget):
    """A page: one step of the work, built at its first visit, alive as long as its project is open."""

    NAME: ClassVar[str]
    # Kinds of change the page listens to while it is in view, and those it listens to out of view, too.
    HEARS: ClassVar[Collection[str]] = ()
    BEHIND: ClassVar[Collection[str]] = ()
    # Acts that are not repeated while their keys are held down.
    ONCE: ClassVar[Collection[str]] = ()

    def __init__(self, session: ProjectSession) -> None:
        super().__init__()
        self.session = session
        self._shortcuts: dict[str, list[QShortcut]] = {}
        session.listen(self._on_committed, self.HEARS)

    def navigate(self, place: dict[str, Any]) -> None:
        """Show the page, which has come into view; `place` names the place on it (item_id, unit_id …)."""

    ABOUT: tuple[str, str] | None = None
    """The tip of the question mark beside the tabs, and the help topic it opens."""
    part_tabs: Tabs | None = None
    """The tabs of the page; the window shows their names beside those of other pages of its place."""
    TABS: Sequence[str] = ()
    focus_on: QWidget | None = None
    """The widget that gets the focus first; the page itself if None."""

    def part_name(self) -> str:
        """The name of the part in view; empty for a page without parts."""
        return self.TABS[self.part_tabs.currentIndex()] if self.part_tabs is not None else ""

    def part_words(self, part: str, words: str) -> str:
        """The current title of a part, `words` with its count if it has one; empty if the part is not offered."""
        if self.part_tabs is None or part not in self.TABS:
            return words
        number = self.TABS.index(part)
        shown = self.part_tabs.tabText(number)
        counted = f"{words}{shown.removeprefix(part)}" if shown.startswith(part) else shown
        return counted if self.part_tabs.isTabVisible(number) else ""

    def place(self) -> dict[str, str]:
        """The current location on the page, as `navigate` takes it; empty if the page has none to remember."""
        return {}

    def leave(self) -> None:
        """Store what is being typed: the page is about to go out of view, or the window to close."""

    def apply_theme(self) -> None:
        theme.apply_theme(self)

    def stop(self) -> None:
        """End what the page started: it is about to be taken down, and its pending queries will not be answered."""
        for timer in below(self, QTimer):
            timer.stop()

    def _on_committed(self, change: Change) -> None:
        if self.isVisible() or change.kind in self.BEHIND:
            self.on_change(change)

    def on_change(self, change: Change) -> None:
        self.navigate({})

    def focus_first(self) -> None:
        (self.focus_on or self).setFocus(Qt.FocusReason.OtherFocusReason)

    def event(self, event: QEvent) -> bool:
        """Leave keys that delete a word or line, and typed character codes, to the text field being edited."""
        field = QApplication.focusWidget()
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and isinstance(field, QLineEdit | QPlainTextEdit | QAbstractSpinBox)
            and not field.isReadOnly()
            and (_types_a_code(event) or (_deletes(event) and (keys.MAC or self.keeps_words(field))))
        ):
            event.accept()
            return True
        return super().event(event)

    def keeps_words(self, _field: QWidget) -> bool:
        """Whether Ctrl+Backspace deletes a word in this field, although elsewhere on the page it removes something.

        On macOS, where it deletes to the start of the line, every field keeps it.
        """
        return True

    def bind(self, act: str, slot: Callable[[], object], widget: QWidget | None = None) -> None:
        """Let the act's keys call `slot` while the focus is inside `widget` (by default this page).

        A focused text field keeps plain letters, digits and arrows for itself.
        """
        made = []
        for sequence in keys.sequences(act):
            inside = Qt.ShortcutContext.WidgetWithChildrenShortcut
            shortcut = QShortcut(sequence, widget or self, context=inside, autoRepeat=act not in self.ONCE)
            shortcut.activated.connect(partial(self.session.attempt, slot))
            made.append(shortcut)
        self._shortcuts[act] = made

    def bind_all(self, acts: Mapping[str, Callable[[], object]]) -> None:
        for act, slot in acts.items():
            self.bind(act, slot)

    def press(self, act: str) -> bool:
        """Trigger an act of this page as its key would; whether the page has the act."""
        shortcuts = self._shortcuts.get(act, [])
        for shortcut in shortcuts[:1]:
            shortcut.activated.emit()
        return bool(shortcuts)

    def bound(self) -> Collection[str]:
        """The acts that have keys on this page."""
        return self._shortcuts.keys()

    def rebind(self) -> None:
        """Apply key bindings that were changed since the page was built."""
        for act, shortcuts in self._shortcuts.items():
            for shortcut, sequence in zip(shortcuts, keys.sequences(act), strict=False):
                shortcut.setKey(sequence)


def _deletes(event: QKeyEvent) -> bool:
    """Whether the key deletes the word before the cursor, or on macOS to the start of the line."""
    return event.key() == Qt.Key.Key_Backspace and event.modifiers() == Qt.KeyboardModifier.ControlModifier


def _types_a_code(event: QKeyEvent) -> bool:
    """Whether the key is a digit of a character code, entered under Windows on the number pad with Alt."""
    code = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.KeypadModifier
    return WINDOWS and event.modifiers() == code


class TabPart(Pane):
    """The content of a tab of a page. `acts` maps acts of the key table to methods; `focus_on` gets the focus first."""

    focus_on: QWidget | None = None

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.acts: Mapping[str, Callable[[], object]] = {}

    @cached_property
    def answer(self) -> MessageBar:
        """The message bar for results of acts; its user floats it over the relevant widget."""
        return MessageBar(self)

    def fill(self) -> None:
        """Show the current state."""

    def go(self, place: Mapping[str, Any]) -> None:
        """Go to a place in this part."""

    def on_change(self, change: Change) -> None:
        self.fill()

    def focus_first(self) -> None:
        """Focus the widget where work in this part begins."""
        if self.focus_on is not None:
            self.focus_on.setFocus()

    def keep(self) -> None:
        """Store what is being typed."""

    def stop(self) -> None:
        """End child processes; the page itself stops timers, and no query is answered afterwards."""


class PagePart(TabPart):
    """A tab with messages above its body and a bar of commands below it."""

    def __init__(self, session: ProjectSession, bar: ActsBar) -> None:
        super().__init__(session)
        self.bar = bar
        bar.asked.connect(lambda act: self.acts[act]())

    def lay_out(self, body: QWidget) -> None:
        vertical((body, 1), self.bar, on=self, margins=(0, 8, 0, 0), spacing=8)
        self.answer.float_over(body, below=False)


SETTLE_MS = 400
P = TypeVar("P", bound=TabPart)


class Tab:
    """A part of a page, given by module and class name: imported and built when it is first accessed.

    `more` names the page's attributes that are passed to the part after the session.
    """

    def __init__(self, module: str, made_by: str, *more: str) -> None:
        self._module, self._made_by, self._more = module, made_by, more

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    def __get__(self, page: "PartedPage", _owner: type) -> Any:
        make = getattr(import_module(self._module), self._made_by)
        part: TabPart = make(page.session, *(getattr(page, name) for name in self._more))
        vars(page)[self._name] = part
        return page.put(page.PARTS.index(self._name), part)


class PartedPage(Page):
    """A page with tabs; keys act on the current one, and `TURNS` names the act that goes to each.

    A part is built when it is first shown: subclasses list in `PARTS` the `Tab` that builds each, or a cached property
    that `put`s it.
    """

    PARTS: tuple[str, ...]
    TURNS: tuple[str, ...] = ()
    DENIED = ("", "")
    """The title and sentence shown to people who may see no part."""
    OPEN: Collection[str] | None = None
    """The tabs offered to people without the role of coordinator; None if they may see all."""
    INTRODUCTION = ""
    """The text above the parts."""
    ABOVE = 10
    """The space above the parts, in pixels."""
    AT_ONCE: frozenset[str] = frozenset()
    """Kinds of change that show at once; the others show after a pause without changes."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.made: dict[int, TabPart] = {}
        """The parts built so far, by tab index."""
        self._later = later(self, self._fill, SETTLE_MS)
        self._lay_out()
        self.tabs.currentChanged.connect(lambda _: self._fill())
        for place, act in enumerate(self.TURNS):
            self.bind(act, partial(self.turn, place))
        self.bind("other_pane", self._next_part)

    def _lay_out(self) -> None:
        self.tabs = self.part_tabs = Tabs()
        self._holders = [QWidget() for _ in self.TABS]
        for words, holder in zip(self.TABS, self._holders, strict=True):
            QVBoxLayout(holder).setContentsMargins(0, 0, 0, 0)
            self.tabs.addTab(holder, words)
        self.introduction = PlainLabel(role="hint", wrap=True)
        work = column_of(self.introduction, (self.tabs, 1), margins=(20, self.ABOVE, 20, 12))
        self.introduction.show_words(self.INTRODUCTION)
        self.denied = EmptyState("lock", *self.DENIED)
        self.body = Stack(work, self.denied)
        vertical(self.body, on=self, margins=0)

    def apply_theme(self) -> None:
        """Restyle only the widgets around the parts: each part is restyled by itself, only the visible one at once."""
        for widget in (self.introduction, self.tabs.tabBar(), self.denied):
            theme.apply_theme(widget)

    def put(self, tab: int, part: P) -> P:
        """Put a newly built part into its tab, and bind its keys."""
        for act in sorted(part.acts.keys() - self._shortcuts.keys()):
            self.bind(act, partial(self._act, act))
        self.made[tab] = part
        holder = self._holders[tab]
        if (layout := holder.layout()) is not None:
            layout.addWidget(part)
        # Like a page, a part is styled once it is in its place.
        theme.apply_theme(part)
        if holder.isVisible():
            # Left to Qt, it would be visible and focusable only when the event loop runs again.
            part.show()
        return part

    def _act(self, act: str) -> None:
        slot = self.part.acts.get(act)
        if slot is not None and self.body.currentIndex() == 0:
            slot()

    def offered(self) -> frozenset[str]:
        """The tabs offered to the person working; if there are none, the page says why."""
        if self.OPEN is None or people.someone(self.session.project).has(Role.COORDINATOR):
            return frozenset(self.TABS)
        return frozenset(self.OPEN)

    @property
    def part(self) -> TabPart:
        """The part in view, built now if it was never shown."""
        made: TabPart = getattr(self, self.PARTS[self.tabs.currentIndex()])
        return made

    def navigate(self, place: dict[str, Any]) -> None:
        """Show the current state; `part` opens a tab by its name, the rest of `place` is passed to that part."""
        offered, before = self.offered(), self.tabs.currentIndex()
        self.body.setCurrentIndex(0 if offered else 1)
        self._offer(offered)
        if place.get("part") in offered:
            self.tabs.setCurrentIndex(self.TABS.index(place["part"]))
        # If the tab has changed, it was filled as it came into view.
        if self.tabs.currentIndex() == before:
            self._fill()
        if offered and place:
            self.part.go(place)

    def _offer(self, offered: frozenset[str]) -> None:
        for number, words in enumerate(self.TABS):
            self.tabs.setTabVisible(number, words in offered)

    def leave(self) -> None:
        for part in self.made.values():
            part.keep()

    def focus_first(self) -> None:
        if self.body.currentIndex() == 0:
            self.part.focus_first()
        else:
            super().focus_first()

    def on_change(self, change: Change) -> None:
        if self.body.currentIndex() == 1:
            return
        if change.kind in self.AT_ONCE:
            self.part.on_change(change)
        else:
            self._later.start()

    def stop(self) -> None:
        super().stop()
        for part in self.made.values():
            part.stop()

    def turn(self, place: int) -> None:
        if self.tabs.isTabVisible(place):
            self.tabs.setCurrentIndex(place)
            self.part.focus_first()

    def go_to(self, tab: int, place: dict[str, Any]) -> None:
        self.tabs.setCurrentIndex(tab)
        self.part.go(place)
        self.part.focus_first()

    def _next_part(self) -> None:
        count = len(self.TABS)
        here = self.tabs.currentIndex()
        self.turn(next(
            (p % count for p in range(here + 1, here + count) if self.tabs.isTabVisible(p % count)), here
        ))  # fmt: skip

    def fill(self) -> None:
        self.part.fill()

    def _fill(self) -> None:
        self._later.stop()
        if self.body.currentIndex() == 0:
            self.fill()


class Flow(QObject):
    """Automatic advance; subclasses decide where to go next.

    If there is nowhere left to go, the subject decided last stays current, and further keys do not decide it again:
    someone typing ahead would change an answer unseen. Selecting it or undoing its answer opens it again.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.decided: Any = ""
        """The subject decided last, until the person touches anything else; automatic advance does not count."""
        self._by_itself = False

    def is_spent(self, subject: Any) -> bool:
        """Whether a key has already decided this subject, and the person has touched nothing since."""
        return bool(subject) and subject == self.decided

    def touched(self) -> None:
        """Note that another subject is current; if a person selected it, the last decision is over."""
        if not self._by_itself:
            self.decided = ""

    def advance(self) -> None:
        self._by_itself = True
        try:
            self._go_on()
        finally:
            self._by_itself = False

    def _go_on(self) -> None:
        """Go to the next open subject."""


PROJECT, TASK, WORK = ".goldsmith", ".goldsmith-task", ".goldsmith-work"
PACKAGES = (TASK, WORK)


def form_of(path: Path) -> str:
    """The file's Goldsmith extension, or an empty string; a “.zip” that a mail program appended is ignored."""
    name = path.name.lower().removesuffix(".zip")
    return next((form for form in (PROJECT, *PACKAGES) if name.endswith(form)), "")


def files(event: QDropEvent) -> list[Path]:
    """The local files being dragged or dropped."""
    return [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]


def ours(event: QDropEvent) -> list[Path]:
    """Those of them that this program opens: projects, tasks and returned work."""
    return [path for path in files(event) if form_of(path)]


def with_contents(paths: Sequence[Path]) -> list[Path]:
    """The files, with each folder replaced by the returned work in it; each file once."""
    result: dict[Path, None] = {}
    for path in paths:
        inside = [path]
        if path.is_dir():
            inside = [one for one in sorted(path.iterdir()) if form_of(one) == WORK]
        result |= dict.fromkeys(inside)
    return list(result)


class TypedFields(QObject):
    """Typed text that is not stored yet, by subject and field; stored at intervals and on demand."""

    def __init__(self, session: ProjectSession, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self.typed: dict[str, dict[str, Any]] = {}
        self._timer = later(self, self.keep, KEEP_EVERY_MS)

    def type(self, subject: str, field: str, value: Any) -> None:
        self.typed.setdefault(subject, {})[field] = value
        if not self._timer.isActive():
            self._timer.start()

    def keep(self) -> bool:
        """Store the typed text; whether all of it is stored now."""
        self._timer.stop()
        taken, self.typed = self.typed, {}
        for subject, fields in taken.items():
            if not self._keep_fields(subject, fields):
                self.typed[subject] = fields | self.typed.get(subject, {})
        if self.typed:
            self._timer.start()
        return not self.typed

    def _keep_fields(self, subject: str, fields: dict[str, Any]) -> bool:
        raise NotImplementedError
