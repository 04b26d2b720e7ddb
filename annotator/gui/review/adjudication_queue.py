"""Qt model of the adjudication queue: a line per stage of an item, most contested first."""

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from html import escape
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, Qt

from annotator.actions.adjudication.adjudicating import UNOPENED, AdjudicationSheet, QueueLine
from annotator.domain.experts.adjudication import AdjudicationState, Figure, bound_of
from annotator.domain.experts.assignment import Stage
from annotator.gui.review.sheets import Index, resetting

LINE_ROLE = int(Qt.ItemDataRole.UserRole) + 1
# Item and stage: what a line is known by.
Place = tuple[str, Stage]
NOWHERE: Place = ("", Stage.RUBRIC)
# From which value on an agreement is called that.
LEVELS = ((0.8, "high"), (0.5, "medium"), (-1.0, "low"))
MEASURES = {
    "f1": "F1",
    "kappa": "κ",
    "alpha": "α",
    "ac1": "AC1",
    "tau": "τ",
    "pi": "π",
    "icc": "ICC",
    "jaccard": "Jaccard",
}


class LineFilter(Enum):
    CONFLICTS = "Conflicts"
    UNANIMOUS = "Unanimous"
    CLOSED = "Closed"
    ALL = "All"

    def admits(self, line: QueueLine) -> bool:
        match self:
            case LineFilter.CONFLICTS:
                return line.conflict
            case LineFilter.UNANIMOUS:
                return not line.conflict and not line.closed
            case LineFilter.CLOSED:
                return line.closed
            case _:
                return True


class AdjudicationQueue(QAbstractListModel):
    """All lines in order; rows are those that match filter and search."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: dict[Place, QueueLine] = {}
        self._rows: list[QueueLine] = []
        self._show, self._words, self._kept = LineFilter.CONFLICTS, "", NOWHERE

    @property
    def lines(self) -> Sequence[QueueLine]:
        return list(self._lines.values())

    def counted(self, show: LineFilter) -> int:
        return sum(show.admits(line) for line in self._lines.values())

    def line(self, place: Place) -> QueueLine | None:
        return self._lines.get(place)

    def fill(self, lines: Sequence[QueueLine]) -> None:
        self._lines = {place_of(line): line for line in lines}
        self.narrow(self._show, self._words, self._kept)

    def narrow(self, show: LineFilter, words: str, keep: Place) -> None:
        """Show only what matches; the line in `keep` stays whatever the filter, so that no one loses their place."""
        self._show, self._words, self._kept = show, words, keep
        sought = words.casefold().split()
        with resetting(self):
            self._rows = [
                line
                for line in self._lines.values()
                if place_of(line) == keep or (show.admits(line) and _matches(line, sought))
            ]

    def follow(self, sheet: AdjudicationSheet, *, begun: bool) -> None:
        """How far a line is has changed; it stays where it is until the queue is filled again.

        What is only looked at is begun by nobody.
        """
        place = sheet.item_id, sheet.stage
        line = self._lines.get(place)
        if line is None:
            return
        new = replace(
            line,
            adjudication_id=sheet.adjudication_id if begun else line.adjudication_id,
            rows=len(sheet.rows),
            contested=sum(row.contested for row in sheet.rows),
            decided=sum(not row.ruling.open for row in sheet.rows),
            state=sheet.state.value if begun else line.state,
            version=sheet.version,
            disputes=len(sheet.disputes),
        )
        self._lines[place] = new
        row = self.row_of(place)
        if row >= 0:
            self._rows[row] = new
            self.dataChanged.emit(self.index(row), self.index(row))

    def row_of(self, place: Place) -> int:
        return next((row for row, line in enumerate(self._rows) if place_of(line) == place), -1)

    def neighbour(self, place: Place, step: int) -> QueueLine | None:
        """The line shown below (1) or above (-1); None at the ends."""
        at = self.row_of(place)
        wanted = at + step if at >= 0 else 0
        return self._rows[wanted] if 0 <= wanted < len(self._rows) else None

    def next_conflict(self, place: Place) -> QueueLine | None:
        """The conflict after a line, shown or not, from the top again after the last; None when none is left."""
        lines = list(self._lines.values())
        at = next((n for n, line in enumerate(lines) if place_of(line) == place), -1)
        return next((line for line in (*lines[at + 1 :], *lines[: at + 1]) if line.conflict), None)

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a line shows; the delegate takes the line itself."""
        if not index.isValid():
            return None
        line = self._rows[index.row()]
        if role == LINE_ROLE:
            return line
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{line.item_key}  {' '.join(line.question.split())}"
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"Item {line.item_key}, {line.stage.value}, {words_of(line)}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"<qt>{escape(line.question[:600])}<br><br>{escape(words_of(line))}</qt>"
        return None


def place_of(line: QueueLine) -> Place:
    return line.item_id, line.stage


def state_of(line: QueueLine) -> tuple[str, str, str]:
    if line.disputes:
        return "flag", "disagree", "disputed"
    if line.closed:
        return "check", "agreed", "closed"
    if line.spot_check and not line.conflict:
        return "eye", "unconfirmed", "spot check"
    if not line.conflict:
        return "question", "unconfirmed", "agreed, not yet confirmed"
    if line.state == AdjudicationState.REOPENED.value:
        return "restore", "incomplete", "reopened"
    if line.state == UNOPENED:
        return "new", "missing", "not begun"
    return "clock", "incomplete", "in work"


def words_of(line: QueueLine) -> str:
    return (
        f"{state_of(line)[2]}; {agreement_words(line.agreement)}{_bound(line.agreement)}; "
        f"{line.decided:,} of {line.rows:,} rows decided"
    )


def measure_of(figure: Figure) -> str:
    """A figure's name for people: “match F1”, “weight κ linear”."""
    *before, last = figure.name.removeprefix("repaired_").split("_")
    linear = " linear" if last == "kappa" and ", linear weights" in figure.method else ""
    return " ".join([*before, MEASURES.get(last, last)]) + linear


def agreement_words(figure: Figure | None) -> str:
    if figure is None or figure.value is None:
        return "no figure"
    return f"{measure_of(figure)} {figure.value:.2f} · {level(figure.value)}"


def _bound(figure: Figure | None) -> str:
    bound = bound_of(figure) if figure is not None else ""
    return f" ({bound})" if bound else ""


def level(value: float) -> str:
    return next((word for least, word in LEVELS if value >= least), "low")


def _matches(line: QueueLine, sought: Sequence[str]) -> bool:
    words = f"{line.item_key} {line.question} {line.stage.value}".casefold()
    return all(word in words for word in sought)
