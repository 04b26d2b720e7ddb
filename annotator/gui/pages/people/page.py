"""The People page: people, assignments and progress."""

from collections.abc import Callable
from functools import partial
from typing import Any

from annotator.actions.labelling import board
from annotator.actions.project import people
from annotator.domain.experts.person import Role
from annotator.domain.texts.change import Change
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.naming import in_order
from annotator.gui.desk.page import Page
from annotator.gui.pages.people.board_view import BoardView
from annotator.gui.pages.people.hand_out import HandOut
from annotator.gui.pages.people.roster import PeopleTable
from annotator.gui.widgets.bars.tabs import Tabs
from annotator.gui.widgets.later import later
from annotator.gui.widgets.layouts import vertical
from annotator.gui.widgets.plain import PlainLabel

# People: a coordinator who used to keep this in a spreadsheet and found out late that a pair was never complete.
TABS = ("Team", "Hand out", "Progress")
ROSTER, HAND_OUT, BOARD = range(3)
AT_ONCE = ("person", "assignment", "item", "import", "setting")
SOON = ("artifact", "agreement", "adjudication", "ruling", "dispute", "parcel", "tray")
SETTLE_MS = 400


class PeoplePage(Page):
    """Three tabs over the same people and the same assignments; the keys act on the one in view."""

    NAME = "People"
    ICON = "annotator"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.roster, self.out, self.board = PeopleTable(desk), HandOut(desk), BoardView(desk)
        self.tabs = Tabs()
        for words, pane in zip(TABS, (self.roster, self.out, self.board), strict=True):
            self.tabs.addTab(pane, words)
        self.tabs.currentChanged.connect(lambda _: self._fill())
        self._later = later(self, self._fill, SETTLE_MS)
        vertical(PlainLabel("People", "title"), (self.tabs, 1), on=self, margins=(20, 16, 20, 12), spacing=6)
        self._bind()

    def _bind(self) -> None:
        for act, tab, slot in (
            ("rename_person", ROSTER, self.roster.begin_renaming),
            ("leave_or_return", ROSTER, self.roster.leave_or_return),
            ("submit", HAND_OUT, self.out.submit),
            ("withdraw", BOARD, self.board.withdraw),
            ("change_due", BOARD, self.board.open_due),
            ("reassign", BOARD, self.board.offer_people),
            ("find", BOARD, self.board.seek),
            ("next_open", BOARD, self.board.next_trouble),
        ):
            self.bind(act, partial(self._in_tab, tab, slot))
        self.bind("other_pane", lambda: self._turn(1))

    def _in_tab(self, tab: int, slot: Callable[[], object]) -> None:
        """An act belongs to one part of the page."""
        if self.tabs.currentIndex() == tab:
            slot()

    def arrive(self, place: dict[str, Any]) -> None:
        """Show everything as it now is; `part` opens a tab by its name, `state` narrows who is where."""
        if place.get("part") in TABS:
            self.tabs.setCurrentIndex(TABS.index(place["part"]))
        self._fill()
        if place.get("state"):
            self.board.show_state(str(place["state"]))

    def focus_first(self) -> None:
        """Work begins in the part in view."""
        pane: Any = self.tabs.currentWidget()
        pane.focus_first()

    def on_change(self, change: Change) -> None:
        """People and assignments show at once, everybody's progress soon."""
        if not self.isVisible():
            return
        if change.kind in AT_ONCE:
            self._fill()
        elif change.kind in SOON:
            self._later.start()

    def stop(self) -> None:
        """Look at nothing any more."""
        self._later.stop()

    def rebind(self) -> None:
        """Take over keys that were changed, also on the buttons."""
        super().rebind()
        for pane in (self.roster, self.out, self.board):
            pane.rebind()

    def _turn(self, by: int) -> None:
        places = [place for place in range(len(TABS)) if self.tabs.isTabVisible(place)]
        here = places.index(self.tabs.currentIndex())
        self.tabs.setCurrentIndex(places[(here + by) % len(places)])
        self.focus_first()

    def _fill(self) -> None:
        self._later.stop()
        me = self.desk.ask(people.someone)
        coordinates = me is not None and me.has(Role.COORDINATOR)
        everybody = in_order(self.desk.ask(people.people) or [])
        lines = self.desk.ask(board.board) or []
        self.tabs.setTabVisible(HAND_OUT, coordinates)
        late = sum(line.overdue for line in lines)
        name = TABS[BOARD] if coordinates else "My work"
        self.tabs.setTabText(BOARD, f"{name}  {late} late" if late else name)
        tab = self.tabs.currentIndex()
        if tab == ROSTER:
            work = {total.key: total for total in board.per_person(lines)}
            self.roster.fill(everybody, work, coordinates=coordinates)
        elif tab == HAND_OUT:
            self.out.fill(everybody, lines)
        else:
            self.board.fill(lines, coordinates=coordinates)
