"""The assignment board: every assignment with state, due date, pair and time, and each person's totals."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from PySide6.QtCore import QDate, QItemSelectionModel, QPoint, Qt, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDateEdit,
    QFrame,
    QHeaderView,
    QMenu,
    QStackedWidget,
    QWidget,
)

from annotator.actions.assignments import assignments
from annotator.actions.labelling import board
from annotator.actions.labelling.board import AssignmentStatus
from annotator.actions.project import people
from annotator.domain.common import counted, local
from annotator.domain.experts.assignment import Stage
from annotator.gui import keys, theme
from annotator.gui.pages.people.roster import (
    INCOMPLETE,
    LOOKS,
    OVERDUE,
    PERSON,
    STATE,
    WAITED_FOR,
    WITH,
    BoardModel,
    TeamWork,
    TotalsTable,
)
from annotator.gui.session.page import TabPart
from annotator.gui.session.session import ProjectSession, end_of_day, named, title
from annotator.gui.widgets.bars import KeyButton, wrapping
from annotator.gui.widgets.basics import (
    PlainLabel,
    Stack,
    StretchSpace,
    column_of,
    horizontal,
    later,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import EmptyState, icon
from annotator.gui.widgets.columns import LinesTable, around
from annotator.gui.widgets.fields import ChoiceBox, offer, search_field, when_changed
from annotator.gui.widgets.splitter import Splitter

FORTNIGHT = 14
# From this width on, at 100 %, the assignments and the people's totals fit side by side.
BOTH = 960
_INSIDE = Qt.ShortcutContext.WidgetWithChildrenShortcut

SETTLE_MS = 80
ACROSS = {
    WAITED_FOR: ("clock", "state-incomplete"),
    OVERDUE: ("warning", "state-disagree"),
    INCOMPLETE: ("warning", "state-disagree"),
}

NOTHING_YET = (
    "Nothing is assigned yet",
    "Assign work, and all assignments are listed here with state, due date and pair.",
)
NOTHING_OF_MINE = (
    "Nothing is assigned to you",
    "Your assignments are listed here. Until you have any, every item is open to you.",
)
COMMANDS = {
    "withdraw": "Withdraw", "change_due": "Change due date", "reassign": "Reassign",
}  # fmt: skip


class BoardView(TabPart):
    def __init__(self, session: ProjectSession, team: TeamWork) -> None:
        super().__init__(session)
        self._team = team
        self.model = BoardModel(self)
        self.filters = BoardFilters(self.model)
        self.table = LinesTable(
            "Progress",
            self.model,
            self.model.widths,
            stretched=PERSON,
            opened=lambda index: self._go(self.model.at(index.row())),
        )
        self.table.customContextMenuRequested.connect(self._show_menu)
        with_properties(
            self.table, selectionMode=QAbstractItemView.SelectionMode.ExtendedSelection, sortingEnabled=True
        )
        self.table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.people = TotalsTable(self.filters.choose_person)
        self.due = DueBar(chosen=self.set_due, left=self.table.setFocus)
        self.filters.changed.connect(self._narrow)
        self.body = QStackedWidget()
        self.nothing = EmptyState("annotator", "Nothing is assigned yet")
        self.hand_out = self.nothing.add_action(
            "Assign work", lambda: self.session.go("People", part="Hand out"), primary=True
        )
        self.no_match = EmptyState("search", "No matches", "Remove a filter to see more.")
        self.no_match.add_action("Show all", self.filters.clear)
        self.middle = Stack(self.table, self.no_match)
        parts = Splitter(
            "people/who is where", parts=(self.middle, self.people), sizes=(790, 290), stretch=(3, 1)
        )
        self.acts = {
            "withdraw": self.withdraw,
            "change_due": self.open_due,
            "reassign": self.offer_people,
            "find": self.filters.search.seek,
            "next_open": self.next_trouble,
        }
        self.buttons = {
            act: KeyButton(words, act=act, press=self.acts[act]) for act, words in COMMANDS.items()
        }
        self.open = KeyButton(
            "Go to the item",
            "Return",
            role="primary",
            press=lambda: self._go(next(iter(self.chosen()), None)),
        )
        foot = horizontal((wrapping(*self.buttons.values(), gap=6), 1), self.open)
        work = column_of(self.filters, (parts, 1), self.due, foot, margins=(0, 10, 0, 0), spacing=8)
        self.answer.float_over(parts)
        self.body.addWidget(self.nothing)
        self.body.addWidget(work)
        vertical(self.body, on=self, margins=0)

    def focus_first(self) -> None:
        if self.body.currentIndex() == 1:
            self.table.setFocus()

    def fill(self) -> None:
        """Show the current board; the selection stays."""
        lines, coordinates = self._team.lines, self._team.coordinates
        selected = [line.assignment_id for line in self.chosen()]
        row = self.table.currentIndex().row()
        self.model.fill(lines)
        programs = self.session.ask(people.programs) if coordinates else None
        self.people.fill(lines, self.filters.person_id, programs)
        self.filters.fill([stage for stage in Stage if any(line.stage is stage for line in lines)])
        self._show_totals()
        for column in (PERSON, WITH):
            self.table.setColumnHidden(column, not coordinates)
        modes = QHeaderView.ResizeMode
        self.table.horizontalHeader().setSectionResizeMode(
            STATE, modes.Interactive if coordinates else modes.Stretch
        )
        self.table.fit()
        self.nothing.show_words(*(NOTHING_YET if coordinates else NOTHING_OF_MINE))
        self.hand_out.setVisible(coordinates)
        self.body.setCurrentIndex(1 if lines else 0)
        self._narrow(selected, row)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_totals()

    def _show_totals(self) -> None:
        """Show the people's totals beside the assignments if both fit."""
        self.people.setVisible(self._team.coordinates and self.width() >= theme.current().px(BOTH))
        if self.people.isHidden():
            self.filters.choose_person("")

    def chosen(self) -> list[AssignmentStatus]:
        rows = sorted({index.row() for index in self.table.selectionModel().selectedRows()})
        return [line for row in rows if (line := self.model.at(row)) is not None]

    def withdraw(self) -> None:
        """Withdraw the selected assignments; submitted ones stay."""
        lines = self.chosen()
        if not self._team.coordinates or not lines or self.session.project.readonly:
            return
        change = self.session.do(assignments.withdraw_all, [line.assignment_id for line in lines])
        if change is not None:
            gone = len(change.before["rows"])
            remaining = len(lines) - gone
            rest = f" {counted(remaining, 'piece')} stayed: handed in already." if remaining else ""
            self._say(
                f"Withdrew {counted(gone, 'piece')}.{rest}", "Existing work is kept; nobody else sees it."
            )

    def open_due(self) -> None:
        if self._team.coordinates and self.chosen() and not self.session.project.readonly:
            self.due.open_for(self.chosen())

    def offer_people(self) -> None:
        """Show a menu of the people who could take over the selected assignment."""
        lines = self.chosen()
        if not self._team.coordinates or not lines or self.session.project.readonly:
            return
        if len(lines) > 1:
            self.answer.show_message("info", "Pieces are reassigned one by one.", "Select a single row.")
            return
        table = self.table
        below = table.visualRect(table.currentIndex()).bottomLeft()
        self.people_menu(lines[0], self).popup(table.viewport().mapToGlobal(below))

    def next_trouble(self) -> None:
        """Go to the next assignment that is overdue or whose pair is incomplete, wrapping around."""
        for row in around(self.table.currentIndex().row(), self.model.rowCount()):
            line = self.model.rows[row]
            if self.model.troubled(line):
                # Not selectRow: it would add to the selection while Ctrl is held.
                self._choose([line.assignment_id], row)
                self.table.setFocus()
                return
        self.answer.show_message("success", "Nothing is overdue, and no pair is incomplete.")

    def go(self, place: Mapping[str, Any]) -> None:
        """Filter the board by a `state`."""
        if place.get("state"):
            self.filters.state.setCurrentIndex(max(0, self.filters.state.findData(place["state"])))

    def _narrow(self, selected: Sequence[str] = (), row: int = 0) -> None:
        selected = selected or [line.assignment_id for line in self.chosen()]
        self.model.narrow(self.filters.admits)
        shown, total = self.model.rowCount(), self.model.counted("")
        self.filters.count.setText(f"{shown:,} of {total:,}" if shown != total else counted(total, "piece"))
        self.middle.setCurrentIndex(0 if shown or not total else 1)
        self._choose(selected, row)
        self.people.show_person(self.filters.person_id)
        there = self.model.rowCount() > 0
        for button in self.buttons.values():
            button.setVisible(self._team.coordinates)
            button.setEnabled(there and not self.session.project.readonly)
        self.open.setEnabled(there)

    def _choose(self, selected: Sequence[str], row: int) -> None:
        places = [place for each in selected if (place := self.model.row_of(each)) >= 0]
        places = places or [max(0, min(row, self.model.rowCount() - 1))]
        if not self.model.rowCount():
            return
        flags = QItemSelectionModel.SelectionFlag
        first = self.model.index(places[0], STATE)
        self.table.selectionModel().setCurrentIndex(first, flags.ClearAndSelect | flags.Rows)
        for place in places[1:]:
            self.table.selectionModel().select(self.model.index(place, 0), flags.Select | flags.Rows)

    def _show_menu(self, at: QPoint) -> None:
        if self.chosen():
            menu = self.menu()
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(self.table.viewport().mapToGlobal(at))

    def menu(self) -> QMenu:
        lines, menu = self.chosen(), QMenu(self)
        menu.addAction("Go to the item", lambda: self._go(lines[0]))
        if self._team.coordinates and not self.session.project.readonly:
            pieces = "" if len(lines) == 1 else f" {counted(len(lines), 'piece')}"
            menu.addSeparator()
            menu.addAction(f"Withdraw{pieces}\t{keys.shown('withdraw')}", self.withdraw)
            menu.addAction(f"Change due date…\t{keys.shown('change_due')}", self.open_due)
            if len(lines) == 1:
                menu.addMenu(self.people_menu(lines[0], menu))
        return menu

    def _go(self, line: AssignmentStatus | None) -> None:
        if line is not None:
            self.session.go_to_work(line.item_id, line.stage)

    def set_due(self, due: datetime | None) -> None:
        ids = [line.assignment_id for line in self.chosen()]
        if ids and self.session.do(assignments.change_due, ids, due) is not None:
            self.answer.clear()

    def people_menu(self, line: AssignmentStatus, parent: QWidget) -> QMenu:
        menu = QMenu("Reassign to", parent)
        result = self.session.ask(assignments.candidates, line.assignment_id) or []
        for person in result if not line.handed_in else ():
            action = menu.addAction(named(person.alias, person.name).replace("&", "&&"))
            action.triggered.connect(lambda _, person=person: self.reassign(line, person.id, person.name))
        if menu.isEmpty():
            why = "It is handed in already" if line.handed_in else "Nobody else may do this piece"
            menu.addAction(why).setEnabled(False)
        return menu

    def reassign(self, line: AssignmentStatus, person_id: str, name: str) -> None:
        if self.session.do(assignments.reassign, line.assignment_id, person_id) is not None:
            self._say(f"Item {line.item_key} went to {name}.", f"{line.person}'s work on it stays theirs.")

    def _say(self, happened: str, todo: str) -> None:
        self.answer.show_message("success", happened, f"{todo} {keys.shown('undo')} undoes it.")


class BoardFilters(QWidget):
    changed = Signal()

    def __init__(self, model: BoardModel) -> None:
        super().__init__()
        self._model = model
        self._later = later(self, self.changed, SETTLE_MS)
        self.search = search_field("Find an item or a person…", "Find an item or a person", self._later.start)
        self.person_id = ""
        self.stage = ChoiceBox(letters=10, accessibleName="Stage")
        self.state = ChoiceBox(letters=16, accessibleName="State")
        when_changed(self.changed.emit, self.stage, self.state)
        self.count = PlainLabel("", "hint")
        self.setLayout(wrapping(self.search, self.stage, self.state, self.count))

    def admits(self, line: AssignmentStatus) -> bool:
        """Whether a line matches the filters; an empty filter matches every line."""
        return (
            self.person_id in ("", line.person_id)
            and (self.stage.currentData() or "") in ("", line.stage.value)
            and self._model.in_state(line, self.state.currentData() or "")
            and self.search.finds(f"{line.item_key} {line.person} {line.alias}")
        )

    def fill(self, stages: Sequence[Stage]) -> None:
        offer(self.stage, [("All stages", ""), *((title(stage), stage.value) for stage in stages)])
        counted = {state: self._model.counted(state) for state in (*ACROSS, *board.STATES)}
        states = [(f"{state}  {count}", state) for state, count in counted.items() if count]
        offer(self.state, [("All states", ""), *states])
        for place, (_, state) in enumerate(states, start=1):
            name, colour = ACROSS.get(state) or LOOKS[state]
            self.state.setItemIcon(place, icon(name, 15, colour))

    def choose_person(self, person_id: str) -> None:
        if person_id != self.person_id:
            self.person_id = person_id
            self.changed.emit()

    def clear(self) -> None:
        self.search.clear()
        for combo in (self.stage, self.state):
            combo.setCurrentIndex(0)
        self.choose_person("")


class DueBar(QFrame):
    """A line to choose another date; Enter sets it, Esc cancels."""

    def __init__(self, chosen: Callable[[datetime | None], object], left: Callable[[], object]) -> None:
        """`chosen` takes the date, or None for no date; `left` is called whenever the line closes."""
        super().__init__()
        self._chosen, self._left = chosen, left
        self.setProperty("role", "message")
        self.words, self.date = (
            PlainLabel("", "strong"),
            with_properties(
                QDateEdit(QDate.currentDate().addDays(FORTNIGHT)),
                accessibleName="Due by the end of",
                calendarPopup=True,
                displayFormat="ddd d MMM yyyy",
            ),
        )
        set_it = KeyButton("Set", "Return", role="primary", press=self._set)
        none = KeyButton("No date", press=lambda: self._tell(None))
        cancel = KeyButton("Leave unchanged", "Esc", role="quiet", press=self.close_bar)
        horizontal(
            self.words, self.date, set_it, none, StretchSpace(1), cancel, on=self, margins=(12, 6, 8, 6)
        )
        for key, slot in (("Return", self._set), ("Enter", self._set), ("Esc", self.close_bar)):
            QShortcut(QKeySequence(key), self, context=_INSIDE).activated.connect(slot)
        theme.set_role(self, level="info")
        self.hide()

    def open_for(self, lines: Sequence[AssignmentStatus]) -> None:
        if (due := next((line.due for line in lines if line.due), None)) is not None:
            date = local(due).date()
            self.date.setDate(QDate(date.year, date.month, date.day))
        self.words.setText(f"{counted(len(lines), 'piece')} due by the end of")
        self.show()
        self.date.setFocus()

    def close_bar(self) -> None:
        self.hide()
        self._left()

    def _set(self) -> None:
        self._tell(end_of_day(self.date.date()))

    def _tell(self, due: datetime | None) -> None:
        self.hide()
        self._chosen(due)
        self._left()
