"""Qt model of the assignment board: a row per assignment, filtered and sorted."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Qt

from annotator.actions.labelling import board
from annotator.actions.labelling.board import AssignmentStatus
from annotator.domain.experts.assignment import Purpose, Stage
from annotator.domain.texts.ordering import natural
from annotator.gui.desk.due import due_words, late_words
from annotator.gui.desk.naming import named, title
from annotator.gui.tables.cells import CellsModel, Column
from annotator.gui.tables.rows import resetting

ITEM, STAGE, PERSON, STATE, WITH, DUE, UNITS, TIME = range(8)
OVERDUE, WAITED_FOR, INCOMPLETE = "overdue", "not handed in", "pair incomplete"
# State → icon and colour; every state has its word beside them.
LOOKS = {
    board.NOT_BEGUN: ("new", "state-missing"),
    board.DRAFT: ("clock", "state-incomplete"),
    board.SUBMITTED: ("lock", "state-unconfirmed"),
    board.FROZEN: ("agreement", "state-unconfirmed"),
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


@dataclass(frozen=True, slots=True)
class BoardFilter:
    """Filter of the board; empty values match everything.

    `state` is one of the board's states or “overdue”, “not handed in”, “pair incomplete”.
    """

    words: str = ""
    person_id: str = ""
    stage: str = ""
    state: str = ""


class BoardModel(CellsModel[AssignmentStatus]):
    """The filtered and sorted lines of the board."""

    def __init__(self, parent: QObject | None = None) -> None:
        pair = Column("With", self._with, 110, tip=self._explained_pair, look=self._look_of_pair)
        super().__init__((*COLUMNS[:WITH], pair, *COLUMNS[WITH:]), parent)
        self._all: list[AssignmentStatus] = []
        self._partners: dict[str, Partners] = {}
        self._narrowed = BoardFilter()
        self._sorted: tuple[int, Qt.SortOrder] = (-1, Qt.SortOrder.AscendingOrder)

    def fill(self, lines: Sequence[AssignmentStatus]) -> None:
        self._all, self._partners = list(lines), partners(lines)
        self.narrow(self._narrowed)

    def narrow(self, narrowed: BoardFilter) -> None:
        """Show only what matches."""
        self._narrowed = narrowed
        with resetting(self):
            self._rows = self._in_order([line for line in self._all if self._admits(line)])

    def row_of(self, assignment_id: str) -> int:
        """The row of an assignment, or -1."""
        return self.place_of(lambda line: line.assignment_id == assignment_id)

    def counted(self, state: str) -> int:
        """How many lines of the whole board one of the filters of state admits."""
        return sum(self._in_state(line, state) for line in self._all)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; by item it is the project's own order."""
        self._sorted = (column, order)
        self.layoutAboutToBeChanged.emit()
        before = self._rows
        self._rows = self._in_order([line for line in self._all if self._admits(line)])
        self._keep_places(before)
        self.layoutChanged.emit()

    def _keep_places(self, before: Sequence[AssignmentStatus]) -> None:
        """What is selected stays selected, wherever it now stands."""
        places = {line.assignment_id: row for row, line in enumerate(self._rows)}
        old = self.persistentIndexList()
        new = [self.index(places[before[each.row()].assignment_id], each.column()) for each in old]
        self.changePersistentIndexList(old, new)

    def _in_order(self, lines: list[AssignmentStatus]) -> list[AssignmentStatus]:
        column, order = self._sorted
        if column > ITEM:
            lines.sort(key=_KEYS[column])
        return lines[::-1] if order == Qt.SortOrder.DescendingOrder and column >= 0 else lines

    def _admits(self, line: AssignmentStatus) -> bool:
        wanted = self._narrowed
        return (
            wanted.person_id in ("", line.person_id)
            and wanted.stage in ("", line.stage.value)
            and self._in_state(line, wanted.state)
            and all(
                word in f"{line.item_key} {line.person} {line.alias}".casefold() for word in _words(wanted)
            )
        )

    def _in_state(self, line: AssignmentStatus, state: str) -> bool:
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
        return line.overdue or self._in_state(line, INCOMPLETE)

    def _with(self, line: AssignmentStatus) -> str:
        """Who else is on it; how far they are only where that is not as far as this one."""
        there = self._partners.get(line.assignment_id)
        if there is None:
            return ""
        said = (
            each.alias if each.state == line.state else f"{each.alias} {each.state}" for each in there.others
        )
        return ", ".join(said) or ("nobody" if there.alone else "")

    def _look_of_pair(self, line: AssignmentStatus) -> tuple[str, str]:
        """Nothing is said of a pair that goes on together."""
        there = self._partners.get(line.assignment_id)
        if there is None or not there.incomplete:
            return "", "text-muted"
        return ("warning", "state-disagree") if there.alone else ("clock", "state-incomplete")

    def _explained_pair(self, line: AssignmentStatus) -> str:
        there = self._partners.get(line.assignment_id)
        return there.explained if there else ""


def _words(wanted: BoardFilter) -> list[str]:
    return wanted.words.casefold().split()


def _units(line: AssignmentStatus) -> str:
    return f"{line.units:,} of {line.of:,}" if line.of else str(line.units or "")


def _due(line: AssignmentStatus) -> str:
    if line.due is None:
        return ""
    if line.overdue:
        return late_words(line.due)
    return due_words(line.due, overdue=False if line.handed_in else None)


def time_words(seconds: float) -> str:
    """Active time: “12 min”, “3 h 05”; empty when there is none to speak of."""
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min" if minutes else ("< 1 min" if seconds else "")
    return f"{minutes // 60} h {minutes % 60:02}"


def _explained_stage(line: AssignmentStatus) -> str:
    said = title(line.stage)
    return f"{said}. {PURPOSES[line.purpose][1]}." if line.purpose in PURPOSES else said


def _look_of_stage(line: AssignmentStatus) -> tuple[str, str] | None:
    return (PURPOSES[line.purpose][0], "text-muted") if line.purpose in PURPOSES else None


def _explained_state(line: AssignmentStatus) -> str:
    at = line.submitted_at
    return f"Handed in on {due_words(at, overdue=False)}" if at else line.state


def _explained_units(line: AssignmentStatus) -> str:
    if line.stage is Stage.ADJUDICATION:
        return "Adjudicated stages of the item, of those that two or more people answer"
    return _units(line)


COLUMNS: tuple[Column[AssignmentStatus], ...] = (
    Column("Item", lambda line: line.item_key, 88, firm=True),
    Column("Stage", lambda line: title(line.stage), 106, tip=_explained_stage, look=_look_of_stage),
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
    ),
    Column("Units", _units, 72, tip=_explained_units, number=True),
    Column("Time", lambda line: time_words(line.seconds), 62, number=True),
)
_ORDER = list(Stage)
_KEYS: dict[int, Callable[[AssignmentStatus], Any]] = {
    STAGE: lambda line: _ORDER.index(line.stage),
    PERSON: lambda line: natural(line.alias),
    STATE: lambda line: board.STATES.index(line.state),
    WITH: lambda line: line.item_key,
    # What is overdue first, then what is due next; what is handed in, and what has no date, last.
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
    """The others on the stage of an item. `alone`: there are none, though elsewhere two people do this stage.

    `incomplete`: they are alone, or some have handed in while others have not.
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
        said = [f"{named(each.alias, each.person)}: {each.state}" for each in self.others]
        return "\n".join([*said, *(["One has handed in, another has not."] if self.incomplete else [])])


def partners(lines: Sequence[AssignmentStatus]) -> dict[str, Partners]:
    """Assignment by assignment, who else is on it; adjudications and repeats are nobody's pair."""
    groups: defaultdict[tuple[str, Stage], list[AssignmentStatus]] = defaultdict(list)
    for line in lines:
        if line.trial == 1 and line.stage is not Stage.ADJUDICATION:
            groups[line.item_id, line.stage].append(line)
    shared = {
        stage
        for (_, stage), group in groups.items()
        if len(group) > 1 and not any(line.purpose is Purpose.PILOT for line in group)
    }
    found = {}
    for (_, stage), group in groups.items():
        alone = len(group) == 1 and stage in shared
        handed_in = {line.handed_in for line in group}
        group.sort(key=lambda line: natural(line.alias))
        for line in group:
            others = tuple(each for each in group if each is not line)
            found[line.assignment_id] = Partners(others, alone, alone or len(handed_in) > 1)
    return found
