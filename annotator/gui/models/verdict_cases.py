"""Verdicts to be ruled on or reviewed as Qt shows them: a line for each, with what both sides say and what was said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, Qt

from annotator.actions.validation_units import Place
from annotator.gui.models.rows import Index

CASE_ROLE = int(Qt.ItemDataRole.UserRole) + 1
# What a case is known by.
Key = tuple[str, ...]


class Show(Enum):
    """Which cases the list is narrowed to."""

    OPEN = "Open"
    DONE = "Done"
    ALL = "All"

    def admits(self, case: "VerdictCase") -> bool:
        """Whether a case is shown under this filter."""
        return self is Show.ALL or bool(case.said) == (self is Show.DONE)


@dataclass(frozen=True, slots=True)
class Voice:
    """What one side says: who it is, its value, why, its quote and where that begins in the report.

    `mark` is the kind of mark that its quote has in what is read.
    """

    who: str
    value: str
    why: str = ""
    quote: str = ""
    start: int | None = None
    flags: tuple[str, ...] = ()
    mark: str = "judge"


@dataclass(frozen=True, slots=True)
class VerdictCase:
    """A verdict with whoever differs from it, and what this person has said of it; `said` is empty while it is open."""

    key: Key
    protocol: str
    place: Place
    voices: tuple[Voice, ...]
    said: str = ""
    reason: str = ""
    note: str = ""

    @property
    def words(self) -> str:
        """What is asked, in a line."""
        return self.place.words or "Which report is better?"


class VerdictCases(QAbstractListModel):
    """All cases in their order; the rows are those that the filter and the search admit."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cases: dict[Key, VerdictCase] = {}
        self._rows: list[VerdictCase] = []
        self._places: dict[Key, int] = {}
        self.faces: Mapping[str, tuple[str, str, str]] = {}
        """What was said → its words, icon and state."""

    @property
    def cases(self) -> Sequence[VerdictCase]:
        """Every case, shown or not."""
        return list(self._cases.values())

    def case(self, key: Key) -> VerdictCase | None:
        """A case by its key."""
        return self._cases.get(key)

    def counted(self, show: Show) -> int:
        """How many cases a filter admits."""
        return sum(show.admits(case) for case in self._cases.values())

    def fill(self, cases: Sequence[VerdictCase]) -> None:
        """Take over the cases as they now are; which are shown is said by `narrow`."""
        self._cases = {case.key: case for case in cases}

    def narrow(self, show: Show, words: str, keep: Key) -> None:
        """Show only what matches; the case in `keep` stays whatever the filter, so that no one loses their place."""
        sought = words.casefold().split()
        self.beginResetModel()
        self._rows = [
            case
            for case in self._cases.values()
            if case.key == keep or (show.admits(case) and _matches(case, sought))
        ]
        self._places = {case.key: row for row, case in enumerate(self._rows)}
        self.endResetModel()

    def say(self, key: Key, said: str, reason: str, note: str) -> None:
        """Something was said of a case; it stays where it is until the list is narrowed anew."""
        case = replace(self._cases[key], said=said, reason=reason, note=note)
        self._cases[key] = case
        row = self._places.get(key)
        if row is not None:
            self._rows[row] = case
            self.dataChanged.emit(self.index(row), self.index(row))

    def place(self, key: Key) -> QModelIndex:
        """Where a case is shown; an invalid index when it is not."""
        row = self._places.get(key)
        return QModelIndex() if row is None else self.index(row)

    def neighbour(self, key: Key, step: int) -> VerdictCase | None:
        """The case shown next (1) or before (-1); None at the ends."""
        row = self._places.get(key, -1 if step > 0 else 0) + step
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def next_open(self, key: Key) -> VerdictCase | None:
        """The next open case, shown or not, from the top again after the last; None when all are done."""
        keys = list(self._cases)
        at = keys.index(key) + 1 if key in self._cases else 0
        return next((self._cases[one] for one in (*keys[at:], *keys[:at]) if not self._cases[one].said), None)

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        """How many lines are shown."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a line shows; the delegate takes the case itself."""
        if not index.isValid():
            return None
        case = self._rows[index.row()]
        if role == CASE_ROLE:
            return case
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{case.place.item_key}  {case.words}"
        if role == Qt.ItemDataRole.AccessibleTextRole:
            said = self.faces[case.said][0] if case.said in self.faces else "open"
            return f"Item {case.place.item_key}, {said}: {case.words}"
        return None


def _matches(case: VerdictCase, sought: Sequence[str]) -> bool:
    words = f"{case.place.item_key} {case.words}".casefold()
    return all(word in words for word in sought)
