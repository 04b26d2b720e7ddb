"""The base class of pages: one step of the work, with its own acts and a count of waiting work."""

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
from annotator.domain.experts.assignment import Role
from annotator.domain.texts.canonical import Change
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
# Where a page stands in the window, if that is not its own name.
STANDS = {"Material": "Reports", "Contest": "Tasks", "Exchange": "Send & receive"}


def way_to(page: str) -> str:
    """What a button that leads to a page says."""
    return f"Go to {STANDS.get(page, page)}"


def may_choose_uses(session: ProjectSession) -> bool:
    """Whether the person working may choose what the project uses."""
    project, person = session.project, session.project.person
    return not (project.readonly or project.from_task) and bool(person and person.has(Role.COORDINATOR))


def another_kind(session: ProjectSession) -> QPushButton:
    """The end of a list of what the project uses: it leads to where that is chosen, by those who may choose it."""
    button = push_button(ANOTHER_KIND, lambda: session.go("Project", part="uses"), "quiet")
    if not may_choose_uses(session):
        button.hide()
    return button


class Page(QWidget):
    """A page: one step of the work, made at its first visit, alive as long as its project is open."""

    NAME: ClassVar[str]
    ICON: ClassVar[str]
    # The kinds of change that the page hears of while it is in view, and those that it hears of also out of view.
    HEARS: ClassVar[Collection[str]] = ()
    BEHIND: ClassVar[Collection[str]] = ()
    # The acts whose keys, held down, act on one subject, not on one after the other.
    ONCE: ClassVar[Collection[str]] = ()

    def __init__(self, session: ProjectSession) -> None:
        super().__init__()
        self.session = session
        self._shortcuts: dict[str, list[QShortcut]] = {}
        session.listen(self._hear, self.HEARS)

    def navigate(self, place: dict[str, Any]) -> None:
        """The page has come into view; `place` says where on it to go (item_id, unit_id …)."""

    ABOUT: tuple[str, str] | None = None
    """What the question mark beside the tabs says of the page, and the topic of the help that it opens."""
    part_tabs: Tabs | None = None
    """The parts of the page; the window shows their names beside those of other pages of its place."""
    TABS: Sequence[str] = ()
    focus_on: QWidget | None = None
    """Where work on the page begins, with the keyboard; the page itself where nothing is named."""

    def part_name(self) -> str:
        """The part in view; empty for a page of one part."""
        return self.TABS[self.part_tabs.currentIndex()] if self.part_tabs is not None else ""

    def part_words(self, part: str, words: str) -> str:
        """What a part is called now, in place of `words`: with a count, where it has one; empty when not offered."""
        if self.part_tabs is None or part not in self.TABS:
            return words
        number = self.TABS.index(part)
        shown = self.part_tabs.tabText(number)
        counted = f"{words}{shown.removeprefix(part)}" if shown.startswith(part) else shown
        return counted if self.part_tabs.isTabVisible(number) else ""

    def place(self) -> dict[str, str]:
        """Where on the page the person is, in the words of `navigate`; empty where nothing is kept of it."""
        return {}

    def leave(self) -> None:
        """The page is about to go out of view, or the window to close: keep what is being typed."""

    def apply_theme(self) -> None:
        theme.apply_theme(self)

    def stop(self) -> None:
        """End what the page started: it is about to be taken down, and no question of it will be answered."""
        for timer in below(self, QTimer):
            timer.stop()

    def _hear(self, change: Change) -> None:
        if self.isVisible() or change.kind in self.BEHIND:
            self.on_change(change)

    def on_change(self, change: Change) -> None:
        self.navigate({})

    def focus_first(self) -> None:
        (self.focus_on or self).setFocus(Qt.FocusReason.OtherFocusReason)

    def event(self, event: QEvent) -> bool:
        """Leave to the field that is written in what deletes a word or line, where the page says so, and codes."""
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
        """Whether that key deletes a word in this field, although elsewhere on the page it removes something.

        On macOS, where it deletes to the start of the line, every field keeps it.
        """
        return True

    def bind(self, act: str, slot: Callable[[], object], widget: QWidget | None = None) -> None:
        """Let the act's keys call `slot` while the focus is inside `widget` (by default this page).

        A text field that has the focus keeps plain letters, digits and arrows for itself.
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
        """Do an act of this page as its key would; whether the page has it."""
        shortcuts = self._shortcuts.get(act, [])
        for shortcut in shortcuts[:1]:
            shortcut.activated.emit()
        return bool(shortcuts)

    def bound(self) -> Collection[str]:
        """The acts that have keys here."""
        return self._shortcuts.keys()

    def rebind(self) -> None:
        """Take over keys that were changed since the page was made."""
        for act, shortcuts in self._shortcuts.items():
            for shortcut, sequence in zip(shortcuts, keys.sequences(act), strict=False):
                shortcut.setKey(sequence)


def _deletes(event: QKeyEvent) -> bool:
    """Whether the key deletes the word before the cursor, or on macOS the line."""
    return event.key() == Qt.Key.Key_Backspace and event.modifiers() == Qt.KeyboardModifier.ControlModifier


def _types_a_code(event: QKeyEvent) -> bool:
    """Whether the key is a digit of a character's code, as Windows takes them from the number pad under Alt."""
    code = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.KeypadModifier
    return WINDOWS and event.modifiers() == code


class TabPart(Pane):
    """What stands in a tab of a page. `acts` maps acts of the key table to methods; `focus_on` is where work begins."""

    focus_on: QWidget | None = None

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.acts: Mapping[str, Callable[[], object]] = {}

    @cached_property
    def answer(self) -> MessageBar:
        """What came of an act; whoever uses it floats it over what it is about."""
        return MessageBar(self)

    def fill(self) -> None:
        """Show everything as it now is."""

    def go(self, place: Mapping[str, Any]) -> None:
        """Go to a place in this part."""

    def on_change(self, change: Change) -> None:
        self.fill()

    def focus_first(self) -> None:
        """Put the keyboard where work in this part begins."""
        if self.focus_on is not None:
            self.focus_on.setFocus()

    def keep(self) -> None:
        """Keep what is being typed."""

    def stop(self) -> None:
        """End child processes: the page stops timers, and no question is answered after it."""


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
    """A part of a page by the module and name of its class: imported and made when it is first asked for.

    `more` names what of the page the part is made with, beside the session.
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

    A part is made when it is first shown: heirs name in `PARTS` the `Tab` that makes each, or a cached property that
    `put`s it.
    """

    PARTS: tuple[str, ...]
    TURNS: tuple[str, ...] = ()
    DENIED = ("", "")
    """What whoever may see no part is told: a title and a sentence."""
    OPEN: Collection[str] | None = None
    """The tabs that people without the role of coordinator are shown; None where they are shown all."""
    INTRODUCTION = ""
    """What stands above the parts."""
    ABOVE = 10
    """The room above the parts, in pixels."""
    AT_ONCE: frozenset[str] = frozenset()
    """Kinds of change that show at once; the others that the page hears of show when there was a pause."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.made: dict[int, TabPart] = {}
        """The parts that were shown already, by tab."""
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
        """The parts wear what is worn each by itself: only the one in view is dressed at once."""
        for widget in (self.introduction, self.tabs.tabBar(), self.denied):
            theme.apply_theme(widget)

    def put(self, tab: int, part: P) -> P:
        """Put a part that was just made into its tab, with its keys."""
        for act in sorted(part.acts.keys() - self._shortcuts.keys()):
            self.bind(act, partial(self._act, act))
        self.made[tab] = part
        holder = self._holders[tab]
        if (layout := holder.layout()) is not None:
            layout.addWidget(part)
        # Where it stands, as a page is.
        theme.apply_theme(part)
        if holder.isVisible():
            # By itself it would only be seen, and could only be given the focus, at the next idle.
            part.show()
        return part

    def _act(self, act: str) -> None:
        slot = self.part.acts.get(act)
        if slot is not None and self.body.currentIndex() == 0:
            slot()

    def offered(self) -> frozenset[str]:
        """The tabs that the person working is shown; when there is none, the page says why."""
        if self.OPEN is None or people.someone(self.session.project).has(Role.COORDINATOR):
            return frozenset(self.TABS)
        return frozenset(self.OPEN)

    @property
    def part(self) -> TabPart:
        """The part in view, made now if it was never shown."""
        made: TabPart = getattr(self, self.PARTS[self.tabs.currentIndex()])
        return made

    def navigate(self, place: dict[str, Any]) -> None:
        """Show everything as it now is; `part` opens a tab by its name, the rest is for that part."""
        offered, before = self.offered(), self.tabs.currentIndex()
        self.body.setCurrentIndex(0 if offered else 1)
        self._offer(offered)
        if place.get("part") in offered:
            self.tabs.setCurrentIndex(self.TABS.index(place["part"]))
        # Another tab was filled as it came into view.
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
    """Base class of automatic advance; pages say where to go.

    Where nothing is left to go to, the subject decided last stays at hand, and further keys do not decide it anew:
    whoever types ahead would change an answer unseen. Moving there, or taking the answer back, opens it again.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.decided: Any = ""
        """What was decided last, until the person touches anything else; automatic advance touches nothing."""
        self._by_itself = False

    def is_spent(self, subject: Any) -> bool:
        """Whether a key has decided this subject already, and the person has touched nothing since."""
        return bool(subject) and subject == self.decided

    def touched(self) -> None:
        """Another subject is at hand; where a person brought it there, the last decision is behind them."""
        if not self._by_itself:
            self.decided = ""

    def advance(self) -> None:
        self._by_itself = True
        try:
            self._go_on()
        finally:
            self._by_itself = False

    def _go_on(self) -> None:
        """Go on to what is open."""


PROJECT, TASK, WORK = ".goldsmith", ".goldsmith-task", ".goldsmith-work"
PACKAGES = (TASK, WORK)


def form_of(path: Path) -> str:
    """Which of our endings a file has, or an empty text; some mail programs put “.zip” behind it."""
    name = path.name.lower().removesuffix(".zip")
    return next((form for form in (PROJECT, *PACKAGES) if name.endswith(form)), "")


def files(event: QDropEvent) -> list[Path]:
    """The files of this computer that are being dragged or dropped."""
    return [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]


def ours(event: QDropEvent) -> list[Path]:
    """Those among them that this program opens: projects, tasks and returned work."""
    return [path for path in files(event) if form_of(path)]


def with_contents(paths: Sequence[Path]) -> list[Path]:
    """The files themselves, and in place of a folder the returned work in it, each once."""
    result: dict[Path, None] = {}
    for path in paths:
        inside = [path]
        if path.is_dir():
            inside = [one for one in sorted(path.iterdir()) if form_of(one) == WORK]
        result |= dict.fromkeys(inside)
    return list(result)


class TypedFields(QObject):
    """Typed text that is not kept yet, by its subject and field; it is kept from time to time, and when asked."""

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
        """Keep what was typed; whether everything is kept now."""
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
