"""The people of the project (roles, joining, leaving, whom this window works as), and models of the board."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from annotator.actions.assignments import assignments
from annotator.actions.labelling import board
from annotator.actions.labelling.board import AssignmentStatus, StatusTotal
from annotator.actions.project import people
from annotator.domain.common import Change, counted, grouped, natural
from annotator.domain.experts.assignment import Person, Purpose, Role, Stage
from annotator.gui import theme
from annotator.gui.review.sheets import CellsModel, Column, Index, resetting
from annotator.gui.session.page import TabPart
from annotator.gui.session.session import ProjectSession, due_words, in_order, late_words, named, title
from annotator.gui.widgets.bars import KeyButton, wrapping
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, vertical, with_properties
from annotator.gui.widgets.columns import LinesTable, paint_bar
from annotator.gui.widgets.fields import LineField

ITEM, STAGE, PERSON, STATE, WITH, DUE, UNITS, TIME = range(8)
OVERDUE, WAITED_FOR, INCOMPLETE = "overdue", "not handed in", "pair incomplete"
# State → icon and colour; every state has its word beside them.
LOOKS = {
    board.NOT_BEGUN: ("new", "state-missing"),
    board.DRAFT: ("clock", "state-incomplete"),
    board.SUBMITTED: ("lock", "state-unconfirmed"),
    board.FROZEN: ("agreement", "state-missing"),
    board.ADJUDICATED: ("adjudicate", "state-incomplete"),
    board.CONSENSUS: ("check", "state-agreed"),
    board.DISPUTED: ("flag", "state-disagree"),
}
# Purpose → icon and words; plain work has neither.
PURPOSES = {
    Purpose.PILOT: ("annotator", "A pilot item, assigned to everyone"),
    Purpose.REVIEW: ("eye", "A review of another's draft, not blind"),
    Purpose.REPEAT: ("restore", "A silent repeat of this person's own labels"),
}


class BoardModel(CellsModel[AssignmentStatus]):
    def __init__(self, parent: QObject | None = None) -> None:
        pair = Column("With", self._with, 110, tip=self._explained_pair, look=self._look_of_pair)
        super().__init__((*COLUMNS[:WITH], pair, *COLUMNS[WITH:]), parent)
        self._all: list[AssignmentStatus] = []
        self._partners: dict[str, Partners] = {}
        self._admits: Callable[[AssignmentStatus], bool] = lambda _: True
        self._sorted: tuple[int, Qt.SortOrder] = (-1, Qt.SortOrder.AscendingOrder)

    def fill(self, lines: Sequence[AssignmentStatus]) -> None:
        self._all, self._partners = list(lines), partners(lines)
        self.narrow(self._admits)

    def narrow(self, admits: Callable[[AssignmentStatus], bool]) -> None:
        self._admits = admits
        with resetting(self):
            self._rows = self._arranged()

    def row_of(self, assignment_id: str) -> int:
        return self.place_of(lambda line: line.assignment_id == assignment_id)

    def counted(self, state: str) -> int:
        return sum(self.in_state(line, state) for line in self._all)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; the item column uses the project's own order."""
        self._sorted = (column, order)
        self.rearrange(self._arranged())

    def _arranged(self) -> list[AssignmentStatus]:
        lines = [line for line in self._all if self._admits(line)]
        column, order = self._sorted
        if column > ITEM:
            lines.sort(key=_KEYS[column])
        return lines[::-1] if order == Qt.SortOrder.DescendingOrder and column >= 0 else lines

    def in_state(self, line: AssignmentStatus, state: str) -> bool:
        """Whether a line is in a state of the board, or in one of those across states; empty for any."""
        if state == OVERDUE:
            return line.overdue
        if state == WAITED_FOR:
            return not line.handed_in
        if state == INCOMPLETE:
            there = self._partners.get(line.assignment_id)
            return there is not None and there.incomplete
        return state in ("", line.state)

    def troubled(self, line: AssignmentStatus) -> bool:
        """Whether a line is overdue, or its pair may never be complete."""
        return line.overdue or self.in_state(line, INCOMPLETE)

    def _with(self, line: AssignmentStatus) -> str:
        """Who else is on it, each with their state if it differs from this line's."""
        there = self._partners.get(line.assignment_id)
        if there is None:
            return ""
        partners = (
            each.alias if each.state == line.state else f"{each.alias} {each.state}" for each in there.others
        )
        return ", ".join(partners) or ("nobody" if there.alone else "")

    def _look_of_pair(self, line: AssignmentStatus) -> tuple[str, str]:
        """A pair in step has no icon."""
        there = self._partners.get(line.assignment_id)
        if there is None or not there.incomplete:
            return "", "text-muted"
        return ("warning", "state-disagree") if there.alone else ("clock", "state-incomplete")

    def _explained_pair(self, line: AssignmentStatus) -> str:
        there = self._partners.get(line.assignment_id)
        return there.explained if there else ""


def _units(line: AssignmentStatus) -> str:
    return f"{line.units:,} of {line.of:,}" if line.of else str(line.units or "")


def _due(line: AssignmentStatus) -> str:
    if line.due is None:
        return ""
    if line.overdue:
        return late_words(line.due)
    return due_words(line.due, overdue=False if line.handed_in else None)


def time_words(seconds: float) -> str:
    """Active time: “12 min”, “3 h 05”; empty if it is zero."""
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min" if minutes else ("< 1 min" if seconds else "")
    return f"{minutes // 60} h {minutes % 60:02}"


def _explained_stage(line: AssignmentStatus) -> str:
    stage_title = title(line.stage)
    return f"{stage_title}. {PURPOSES[line.purpose][1]}." if line.purpose in PURPOSES else stage_title


def _explained_state(line: AssignmentStatus) -> str:
    at = line.submitted_at
    state = f"Handed in on {due_words(at, overdue=False)}" if at else line.state
    rest = {"Units": _units(line), "Time": time_words(line.seconds)}
    return "\n".join([state, *(f"{name}: {words}" for name, words in rest.items() if words)])


def _explained_units(line: AssignmentStatus) -> str:
    if line.stage is Stage.ADJUDICATION:
        return "Adjudicated stages of the item, of those that two or more people answer"
    return _units(line)


COLUMNS: tuple[Column[AssignmentStatus], ...] = (
    Column("Item", lambda line: line.item_key, 88, firm=True),
    Column(
        "Stage",
        lambda line: title(line.stage),
        106,
        tip=_explained_stage,
        look=lambda line: (PURPOSES[line.purpose][0], "text-muted") if line.purpose in PURPOSES else None,
    ),
    Column("Person", lambda line: named(line.alias, line.person), 150),
    Column(
        "State",
        lambda line: line.state,
        112,
        tip=_explained_state,
        look=lambda line: LOOKS[line.state],
        firm=True,
    ),
    Column(
        "Due",
        _due,
        118,
        tip=lambda line: f"Due {due_words(line.due)}" if line.overdue and line.due else _due(line),
        look=lambda line: ("warning", "state-disagree") if line.overdue else None,
        firm=True,
    ),
    Column("Units", _units, 72, tip=_explained_units, number=True, room=700),
    Column("Time", lambda line: time_words(line.seconds), 62, number=True, room=900),
)
_ORDER = list(Stage)
_KEYS: dict[int, Callable[[AssignmentStatus], Any]] = {
    STAGE: lambda line: _ORDER.index(line.stage),
    PERSON: lambda line: natural(line.alias),
    STATE: lambda line: board.STATES.index(line.state),
    WITH: lambda line: line.item_key,
    # Overdue ones first, then by due date; submitted ones, and those without a date, last.
    DUE: lambda line: (
        not line.overdue,
        line.handed_in,
        line.due is None,
        line.due.timestamp() if line.due else 0,
    ),
    UNITS: lambda line: line.units,
    TIME: lambda line: line.seconds,
}


@dataclass(frozen=True, slots=True)
class Partners:
    """The others on the stage of an item. `alone`: there are none, although elsewhere two people do this stage.

    `incomplete`: they are alone, or some have submitted while others have not.
    """

    others: tuple[AssignmentStatus, ...]
    alone: bool
    incomplete: bool

    @property
    def explained(self) -> str:
        if self.alone:
            return (
                "Nobody else is assigned to this stage of this item, so there is no pair and no agreement "
                "figure."
            )
        sentences = [f"{named(each.alias, each.person)}: {each.state}" for each in self.others]
        return "\n".join([*sentences, *(["One has handed in, another has not."] if self.incomplete else [])])


def partners(lines: Sequence[AssignmentStatus]) -> dict[str, Partners]:
    """The partners of each assignment; adjudications and repeats are never paired."""
    paired = [line for line in lines if line.trial == 1 and line.stage is not Stage.ADJUDICATION]
    groups = grouped(((line.item_id, line.stage), line) for line in paired)
    shared = {
        stage
        for (_, stage), group in groups.items()
        if len(group) > 1 and not any(line.purpose is Purpose.PILOT for line in group)
    }
    result = {}
    for (_, stage), group in groups.items():
        alone = len(group) == 1 and stage in shared
        handed_in = {line.handed_in for line in group}
        group.sort(key=lambda line: natural(line.alias))
        for line in group:
            others = tuple(each for each in group if each is not line)
            result[line.assignment_id] = Partners(others, alone, alone or len(handed_in) > 1)
    return result


ALIASES = "Pseudonym in every export; the name is never exported."
NAME, _, _, _, _, WORK, STANDING = range(7)
ROLES = {2: Role.ANNOTATOR, 3: Role.ADJUDICATOR, 4: Role.COORDINATOR}


@dataclass(slots=True)
class TeamWork:
    """All people in order, and the assignments that the current person may see."""

    everybody: Sequence[Person] = ()
    lines: Sequence[AssignmentStatus] = ()
    coordinates: bool = False

    def read(self, session: ProjectSession) -> None:
        me = session.ask(people.someone)
        self.coordinates = me is not None and me.has(Role.COORDINATOR)
        self.everybody = in_order(session.ask(people.people) or [])
        self.lines = session.ask(board.board) or []


def add_named(
    session: ProjectSession, field: LineField, roles: tuple[Role, ...], alias: str = ""
) -> list[Change]:
    """Add the people named in a field, with these roles; refused names stay in the field."""
    names = people.names(field.text())
    # Emptied first: a change of people refills the page.
    field.clear()
    changes = [session.do(people.add_person, name, roles, alias) for name in names]
    field.setText("; ".join(name for name, change in zip(names, changes, strict=True) if change is None))
    return [change for change in changes if change is not None]


class PeopleTable(TabPart):
    """The table of people with a line to add one; `model.editable` says whether this person may change it."""

    def __init__(self, session: ProjectSession, team: TeamWork) -> None:
        super().__init__(session)
        self._team = team
        self._open: Mapping[str, StatusTotal] = {}
        self.acts = {"rename_person": self.begin_renaming, "leave_or_return": self.leave_or_return}
        self.model = PeopleModel(session)
        self.list = LinesTable(
            "People",
            self.model,
            self.model.widths,
            stretched=NAME,
            moved=self._offer,
            opened=lambda _: self.work_as(),
        )
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.name, self.alias = (
            LineField(
                placeholderText="Names: Ana Silva; Li Wei",
                accessibleName="Names of new people",
                returnPressed=self.add,
            ),
            LineField(
                placeholderText="Alias: next free",
                accessibleName="Alias of the new person; by default the next free one",
                maximumWidth=170,
                returnPressed=self.add,
            ),
        )
        # A click leaves the caret in the name, where a space would tick the box again.
        self.roles = {
            role: with_properties(QCheckBox(role.value), focusPolicy=Qt.FocusPolicy.TabFocus) for role in Role
        }
        self.roles[Role.ANNOTATOR].setChecked(True)
        # Adjudicators usually do not write; one more tick says that they do.
        self.roles[Role.ADJUDICATOR].clicked.connect(lambda on: self.roles[Role.ANNOTATOR].setChecked(not on))
        self.adding = QWidget()
        wrapping(
            self.name, self.alias, *self.roles.values(), KeyButton("Add", press=self.add), on=self.adding
        )
        self.rename = KeyButton("Rename", act="rename_person", press=self.begin_renaming)
        self.leaving = KeyButton("Deactivate", act="leave_or_return", press=self.leave_or_return)
        self.work = KeyButton("Work as this person", "Return", role="primary", press=self.work_as)
        about = PlainLabel(
            "Everyone sees their own work and the consensus, never another annotator's work. Names stay in "
            "this file; exports contain only the alias. When people leave, their work is kept.",
            "hint",
            wrap=True,
        )
        foot = horizontal(self.rename, self.leaving, StretchSpace(1), self.work)
        vertical(about, (self.list, 1), self.adding, foot, on=self, margins=(0, 10, 0, 0), spacing=8)
        self.focus_on = self.list
        self.answer.float_over(self.list)

    def fill(self) -> None:
        """Show all people; only coordinators may change them and see everybody's work."""
        coordinates = self._team.coordinates
        chosen, editable = self._person(), coordinates and not self.session.project.readonly
        self._open = {total.key: total for total in board.per_person(self._team.lines)}
        self.model.editable = editable
        self.model.fill(self._team.everybody, self._open)
        person_id = chosen.id if chosen else self.session.project.by
        if self.list.currentIndex().row() < 0 or chosen is None:
            self.list.setCurrentIndex(self.model.index(max(0, self.model.row_of(person_id)), NAME))
        for part in (self.adding, self.rename, self.leaving):
            part.setVisible(editable)
        self.list.setColumnHidden(WORK, not coordinates)
        self._offer()

    def add(self) -> None:
        roles = tuple(role for role, box in self.roles.items() if box.isChecked())
        if added := add_named(self.session, self.name, roles, self.alias.text().strip()):
            self.alias.clear()
            self.list.setCurrentIndex(self.model.index(self.model.row_of(added[-1].subject), NAME))
        self.name.setFocus()

    def begin_renaming(self) -> None:
        if self.model.editable and self._person() is not None:
            self.list.setFocus()
            self.list.edit(self.model.index(self.list.currentIndex().row(), NAME))

    def leave_or_return(self) -> None:
        person = self._person()
        if person is None or not self.model.editable:
            return
        verb = people.deactivate if person.active else people.reactivate
        self.answer.clear()
        if self.session.do(verb, person.id) is not None and person.active:
            self._offer_withdrawal(person)

    def _offer_withdrawal(self, person: Person) -> None:
        """Warn of open work of someone who left: it would never be submitted, nor its pairs complete."""
        work = self._open.get(person.id)
        left = work.assignments - work.handed_in if work else 0
        if left <= 0:
            return
        pieces = counted(left, "piece")
        self.answer.show_message(
            "warning",
            f"{person.name} left the project with {pieces} of work not handed in.",
            "Until these are withdrawn and handed out again, their pairs stay incomplete.",
        )
        self.answer.set_action(f"Withdraw {pieces}", lambda: self._withdraw(person.id))

    def _withdraw(self, person_id: str) -> None:
        if self.session.do(assignments.withdraw_open, person_id) is not None:
            self.answer.show_message(
                "success", "Withdrawn.", "Hand out the same plan again to fill the gaps with other people."
            )

    def work_as(self) -> None:
        person = self._person()
        if person is not None and person.active:
            self.session.person_wanted.emit(person.id)

    def _person(self) -> Person | None:
        return self.model.at(self.list.currentIndex().row())

    def _offer(self) -> None:
        person = self._person()
        here = person is not None and person.id == self.session.project.by
        self.leaving.set_words("Deactivate" if person is None or person.active else "Activate")
        self.leaving.setEnabled(person is not None and not here)
        self.leaving.set_hint("Work as somebody else first" if here else "All their work is kept")
        self.rename.setEnabled(person is not None)
        self.work.setEnabled(person is not None and person.active)
        self.list.setAccessibleDescription("Space ticks a role, Enter works as the person")


class PeopleModel(CellsModel[Person]):
    """Editable names and role check boxes, if `editable`."""

    def __init__(self, session: ProjectSession) -> None:
        roles = (("Annotator", 96), ("Adjudicator", 104), ("Coordinator", 108))
        super().__init__(
            (
                Column(
                    "Name",
                    lambda person: person.name,
                    260,
                    tip=lambda person: f"{person.name}\nid {person.id}",
                    look=_gone,
                ),
                Column("Alias", lambda person: person.alias, 110, tip=lambda _: ALIASES, look=_gone),
                *(Column(title, lambda _: "", width) for title, width in roles),
                Column("Handed in", self._handed_in, 130, tip=self._by_state, look=_gone),
                Column(
                    "Standing", self._standing, 120, tip=lambda _: "", look=self._look_of_standing, firm=True
                ),
            ),
            session,
        )
        self._session = session
        self._work: Mapping[str, StatusTotal] = {}
        self.editable = False

    def fill(self, everybody: Sequence[Person], work: Mapping[str, StatusTotal]) -> None:
        self._work = work
        same = [person.id for person in everybody] == [person.id for person in self._rows]
        self.take_over(list(everybody), in_place=same)

    def row_of(self, person_id: str) -> int:
        return self.place_of(lambda person: person.id == person_id)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if self.editable and index.column() == NAME:
            flags |= Qt.ItemFlag.ItemIsEditable
        if self.editable and index.column() in ROLES:
            flags |= Qt.ItemFlag.ItemIsUserCheckable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The data of a cell; roles are check boxes, names are editable."""
        person, held = self.at(index.row()), ROLES.get(index.column())
        if person is not None and held and role == Qt.ItemDataRole.CheckStateRole:
            return Qt.CheckState.Checked if person.has(held) else Qt.CheckState.Unchecked
        if person is not None and held and role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{self.columns[index.column()]}: {'yes' if person.has(held) else 'no'}"
        if person is not None and role == Qt.ItemDataRole.EditRole and index.column() == NAME:
            return person.name
        return super().data(index, role)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        person, column = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.EditRole and column == NAME:
            name = str(value).strip()
            return name != person.name and self._session.do(people.rename_person, person.id, name) is not None
        if role == Qt.ItemDataRole.CheckStateRole and column in ROLES:
            checked = Qt.CheckState(value) == Qt.CheckState.Checked
            held = {each for each in Role if person.has(each)} - {ROLES[column]}
            roles = tuple(held | {ROLES[column]}) if checked else tuple(held)
            return self._session.do(people.set_roles, person.id, roles) is not None
        return False

    def _handed_in(self, person: Person) -> str:
        work = self._work.get(person.id)
        return f"{work.handed_in:,} of {work.assignments:,}" if work else "nothing assigned"

    def _by_state(self, person: Person) -> str:
        work = self._work.get(person.id)
        return "\n".join(f"{state}: {count}" for state, count in work.states.items()) if work else ""

    def _standing(self, person: Person) -> str:
        if not person.active:
            return "left the project"
        return "You" if person.id == self._session.project.by else ""

    def _look_of_standing(self, person: Person) -> tuple[str, str] | None:
        if not person.active:
            return "minus", "state-missing"
        return ("annotator", "accent") if person.id == self._session.project.by else None


def _gone(person: Person) -> tuple[str, str] | None:
    return None if person.active else ("", "text-disabled")


PROGRESS_PERSON, HANDED_IN, LATE, PROGRESS_TIME, PROGRAM = range(5)
EVERYBODY = "Everybody"
VERSION = "The version of Goldsmith that a person's newest returned work was made with"

BAR = 4


class TotalsTable(LinesTable):
    def __init__(self, chosen: Callable[[str], object]) -> None:
        """`chosen` takes the id of the person selected; empty for everybody."""
        self._chosen = chosen
        self.totals = CellsModel[StatusTotal](columns({}))
        super().__init__(
            "People and their progress", self.totals, self.totals.widths, stretched=PROGRESS_PERSON
        )
        self.totals.setParent(self)
        self.setItemDelegate(_Bars(self))
        self._filling = False
        self.selectionModel().currentRowChanged.connect(self._tell)

    def fill(
        self, lines: Sequence[AssignmentStatus], person_id: str, programs: Mapping[str, str] | None = None
    ) -> None:
        """Show the totals of these lines; the person's row stays selected, if there is one."""
        aliases = {line.person_id: line.alias for line in lines}
        result = sorted(board.per_person(lines), key=lambda total: natural(aliases[total.key]))
        self._filling = True
        everybody = [board.total("", EVERYBODY, lines)] if lines else []
        self.totals.show([*everybody, *result], columns(aliases, programs))
        self._filling = False
        self.show_person(person_id)

    def show_person(self, person_id: str) -> None:
        """Select the row of a person, or that of everybody, without emitting."""
        self._filling = True
        self.setCurrentIndex(
            self.totals.index(
                max(0, self.totals.place_of(lambda total: total.key == person_id)), PROGRESS_PERSON
            )
        )
        self._filling = False

    def _tell(self, index: QModelIndex) -> None:
        if not self._filling:
            total = self.totals.at(index.row())
            self._chosen(total.key if total is not None else "")


class _Bars(QStyledItemDelegate):
    """Paints a thin bar under the submitted count."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        model = index.model()
        total = model.at(index.row()) if isinstance(model, CellsModel) else None
        if index.column() != HANDED_IN or not isinstance(total, StatusTotal) or not total.assignments:
            return
        px = theme.current().px
        bar = option.rect.adjusted(px(6), option.rect.height() - px(BAR + 2), -px(6), -px(2))
        whole = total.handed_in == total.assignments
        colour = theme.token("state-agreed" if whole else "accent")
        painter.save()
        paint_bar(painter, bar, total.handed_in / total.assignments if total.handed_in else None, colour)
        painter.restore()


def columns(
    aliases: Mapping[str, str], programs: Mapping[str, str] | None = None
) -> Sequence[Column[StatusTotal]]:
    """The columns of people's totals; tooltips count the work in each state.

    `programs` are the program versions that people worked with, by person id.
    """
    worked_with = programs or {}

    def person(total: StatusTotal) -> str:
        return named(aliases.get(total.key) or total.name, total.name)

    def states(total: StatusTotal) -> str:
        program = worked_with.get(total.key, "")
        versions = [f"works with Goldsmith {program}"] if program else []
        counts = (f"{state}: {count}" for state, count in total.states.items())
        return "\n".join((person(total), *counts, *versions))

    return (
        Column("Person", person, 150, tip=states),
        Column("Handed in", lambda total: f"{total.handed_in:,} of {total.assignments:,}", 92, tip=states),
        Column(
            "Late",
            lambda total: str(total.overdue or ""),
            68,
            tip=states,
            look=lambda total: ("warning", "state-disagree") if total.overdue else None,
        ),
        Column("Time", lambda total: time_words(total.seconds), 66, tip=states, number=True, room=350),
        Column(
            "Goldsmith", lambda total: worked_with.get(total.key, ""), 92, tip=states, about=VERSION, room=440
        ),
    )
