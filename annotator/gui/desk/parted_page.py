"""A page of several parts: tabs over the same material, each with its own acts."""

from functools import partial
from typing import Any, TypeVar

from PySide6.QtWidgets import QVBoxLayout, QWidget

from annotator.domain.texts.change import Change
from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.page import Page
from annotator.gui.desk.part import PagePart
from annotator.gui.widgets.bars.tabs import Tabs
from annotator.gui.widgets.basics import (
    PlainLabel,
    StretchSpace,
    column_of,
    horizontal,
    push_button,
    stacked,
    vertical,
)
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.later import later

SETTLE_MS = 500
P = TypeVar("P", bound=PagePart)


class PartedPage(Page):
    """A page with tabs; keys act on the current one, and `TURNS` names the act that goes to each.

    A part is made when it is first shown: heirs name in `PARTS` the cached property that makes each and `put`s it.
    """

    TABS: tuple[str, ...]
    PARTS: tuple[str, ...]
    TURNS: tuple[str, ...]
    ABOUT: tuple[str, str]
    """What the button at the head says, and the topic of the help that it opens."""
    DENIED: tuple[str, str]
    """What whoever may see no part is told: a title and a sentence."""
    AT_ONCE: frozenset[str] = frozenset()
    """Kinds of change that show at once; the others that the page hears of show when there was a pause."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.made: dict[int, PagePart] = {}
        """The parts that were shown already, by tab."""
        self._later = later(self, self._fill, SETTLE_MS)
        self._lay_out()
        self.tabs.currentChanged.connect(lambda _: self._fill())
        self._bind()

    def _lay_out(self) -> None:
        self.tabs = Tabs()
        self._holders = [QWidget() for _ in self.TABS]
        for words, holder in zip(self.TABS, self._holders, strict=True):
            QVBoxLayout(holder).setContentsMargins(0, 0, 0, 0)
            self.tabs.addTab(holder, words)
        words, topic = self.ABOUT
        about = push_button(words, lambda: self.desk.go("Help", topic=topic), "quiet")
        self._top = QWidget()
        self.head = horizontal(
            PlainLabel(self.NAME, "title"), StretchSpace(1), about, on=self._top, margins=0
        )
        work = column_of(self._top, (self.tabs, 1), margins=(20, 16, 20, 12), spacing=6)
        self.denied = EmptyState("lock", *self.DENIED)
        self.body = stacked(work, self.denied)
        vertical(self.body, on=self, margins=0)

    def wear(self) -> None:
        """The parts wear what is worn each by itself: only the one in view is dressed at once."""
        for widget in (self._top, self.tabs.tabBar(), self.denied):
            theme.wear(widget)

    def put(self, tab: int, part: P) -> P:
        """Put a part that was just made into its tab, with its keys."""
        for act in sorted(part.acts.keys() - self._shortcuts.keys()):
            self.bind(act, partial(self._act, act))
        self.made[tab] = part
        holder = self._holders[tab]
        if (layout := holder.layout()) is not None:
            layout.addWidget(part)
        # Where it stands, as a page is.
        theme.wear(part)
        if holder.isVisible():
            # By itself it would only be seen, and could only be given the focus, at the next idle.
            part.show()
        return part

    def _bind(self) -> None:
        for place, act in enumerate(self.TURNS):
            self.bind(act, partial(self.turn, place))
        self.bind("other_pane", self._next_part)

    def _act(self, act: str) -> None:
        slot = self.part.acts.get(act)
        if slot is not None and self.body.currentIndex() == 0:
            slot()

    def offered(self) -> frozenset[str]:
        """The tabs that the person working is shown; when there is none, the page says why."""
        return frozenset(self.TABS)

    @property
    def part(self) -> PagePart:
        """The part in view, made now if it was never shown."""
        made: PagePart = getattr(self, self.PARTS[self.tabs.currentIndex()])
        return made

    def arrive(self, place: dict[str, Any]) -> None:
        """Show everything as it now is; `part` opens a tab by its name, the rest is for that part."""
        offered = self.offered()
        self.body.setCurrentIndex(0 if offered else 1)
        for number, words in enumerate(self.TABS):
            self.tabs.setTabVisible(number, words in offered)
        if place.get("part") in offered:
            self.tabs.setCurrentIndex(self.TABS.index(place["part"]))
        self._fill()
        if offered and place:
            self.part.go(place)

    def leave(self) -> None:
        for part in self.made.values():
            part.keep()

    def focus_first(self) -> None:
        """Work begins in the part in view, if the person may see one."""
        if self.body.currentIndex() == 0:
            self.part.focus_first()
        else:
            super().focus_first()

    def on_change(self, change: Change) -> None:
        """Show what changed, at once or soon."""
        if self.body.currentIndex() == 1:
            return
        if change.kind in self.AT_ONCE:
            self.part.on_change(change)
        else:
            self._later.start()

    def rebind(self) -> None:
        """Take over keys that were changed, also on the buttons."""
        super().rebind()
        for part in self.made.values():
            part.rebind()

    def stop(self) -> None:
        self._later.stop()
        for part in self.made.values():
            part.stop()

    def turn(self, place: int) -> None:
        """Bring a tab into view and put the keyboard there, if it is offered."""
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
