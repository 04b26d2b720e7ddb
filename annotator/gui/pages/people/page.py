"""The People page: people, assignments and progress."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QWidget

from annotator.actions.assignments import assignments, planning
from annotator.actions.items import items
from annotator.actions.labelling import board
from annotator.actions.labelling.board import AssignmentStatus
from annotator.actions.project import people
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Person, Role
from annotator.domain.texts.change import Change
from annotator.domain.texts.counting import counted
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.naming import in_order
from annotator.gui.desk.page import Page
from annotator.gui.pages.people.board_view import BoardView
from annotator.gui.pages.people.plan_form import PlanForm
from annotator.gui.pages.people.plan_preview import PlanPreview
from annotator.gui.pages.people.roster import PeopleTable
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.bars.tabs import Tabs
from annotator.gui.widgets.basics import PlainLabel, stacked, vertical
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.later import later
from annotator.gui.widgets.plain_area import PlainArea

PLAN_SETTLE_MS = 150

# People: a coordinator who used to keep this in a spreadsheet and found out late that a pair was never complete.
TABS = ("Team", "Hand out", "Progress")
ROSTER, HAND_OUT, BOARD = range(3)
AT_ONCE = ("person", "assignment", "item", "import", "setting")
SETTLE_MS = 400


class PeoplePage(Page):
    """Three tabs over the same people and the same assignments; the keys act on the one in view."""

    NAME = "People"
    ICON = "annotator"
    HEARS = (*AT_ONCE, "artifact", "agreement", "adjudication", "ruling", "dispute", "parcel", "tray")

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
        pane: Any = self.tabs.currentWidget()
        pane.focus_first()

    def on_change(self, change: Change) -> None:
        """People and assignments show at once, everybody's progress soon."""
        if change.kind in AT_ONCE:
            self._fill()
        else:
            self._later.start()

    def stop(self) -> None:
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


class HandOut(QWidget):
    """The form, its live preview, and the bar that assigns."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._people: Sequence[Person] = ()
        self.answer = MessageBar()
        self.form, self.preview = PlanForm(desk, self.answer), PlanPreview()
        self._later = later(self, self.work_out, PLAN_SETTLE_MS)
        self.form.changed.connect(self._later.start)
        self.assign = KeyButton("Assign", role="primary")
        self.assign.clicked.connect(self.submit)
        self.nothing = EmptyState(
            "items",
            "No items to hand out",
            "Work is handed out item by item. Import a benchmark, or write the first item yourself.",
        )
        self.nothing.add_action("Import…", lambda: desk.go("Import"), primary=True)
        self.nothing.add_action("Go to Items", lambda: desk.go("Items"))
        self.body = stacked(self.nothing, self._work())
        vertical(self.body, on=self, margins=0)
        self.rebind()

    def _work(self) -> QWidget:
        area = PlainArea("Work to hand out", self.form)
        parts = Splitter("people/hand out", parts=(area, self.preview), sizes=(470, 600), stretch=(2, 3))
        foot = QHBoxLayout()
        foot.addWidget(PlainLabel(
            "Existing assignments stay and are counted; the adjudicator of an item is never one of its "
            "annotators.", "hint", wrap=True,
        ), 1)  # fmt: skip
        foot.addWidget(self.assign)
        work = QWidget()
        column = vertical((parts, 1), on=work, margins=(0, 6, 0, 0), spacing=6)
        self.answer.float_over(parts)
        column.addLayout(foot)
        return work

    def rebind(self) -> None:
        """Print the keys as they now are on the buttons."""
        self.assign.set_key(keys.shown("submit"))

    def focus_first(self) -> None:
        if self.body.currentIndex() == 1:
            self.form.focus_first()

    def fill(self, everybody: Sequence[Person], lines: Sequence[AssignmentStatus]) -> None:
        """Take over the people, items and assignments there are now."""
        self._people = everybody
        taken: defaultdict[Stage, set[str]] = defaultdict(set)
        for line in lines:
            taken[line.stage].add(line.item_id)
        self.body.setCurrentIndex(1 if self._desk.ask(items.count) else 0)
        self.form.fill(everybody, taken)
        self.work_out()

    def work_out(self) -> None:
        """Work the plan out as the form now has it."""
        self._later.stop()
        plan = self.form.plan()
        found = self._desk.ask(planning.preview, plan)
        if found is not None:
            self.preview.show_preview(plan, found, self._people)
            # One that cannot be met may be pressed, too: it then says why.
            wanted = bool(found.new or found.refusals)
            self.assign.setEnabled(wanted and not self._desk.project.readonly)

    def submit(self) -> None:
        """Assign the plan; one that cannot be met says why, where it is shown."""
        if self._later.isActive():
            self.work_out()
        if self.body.currentIndex() == 0 or not self.assign.isEnabled():
            return
        self.answer.clear()
        change = self._desk.do(assignments.assign, self.form.plan())
        self.work_out()
        if change is not None:
            made = counted(len(change.after["rows"]), "piece")
            self.answer.show_message(
                "success", f"Assigned {made} of work.", f"{keys.shown('undo')} undoes it."
            )
            self.answer.set_action("See progress", lambda: self._desk.go("People", part="Progress"))
