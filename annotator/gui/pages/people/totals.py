"""How far each person is as Qt shows it: a row for everybody together, then one for each person."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt

from annotator.actions.labelling.board import Total
from annotator.gui import theme
from annotator.gui.desk.naming import named
from annotator.gui.pages.people.board import time_words
from annotator.gui.tables.rows import RIGHT, Index, RowsModel, resetting
from annotator.gui.widgets.icons import icon
from annotator.gui.widgets.plain import tooltip

COLUMNS = ("Person", "Handed in", "Late", "Time")
PERSON, HANDED_IN, LATE, TIME = range(len(COLUMNS))
TOTAL_ROLE = int(Qt.ItemDataRole.UserRole) + 1
EVERYBODY = "Everybody"


class TotalsModel(RowsModel[Total]):
    """The totals in the order given; the first row, for everybody, has an empty key."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, parent)
        self._aliases: dict[str, str] = {}

    def fill(self, totals: Sequence[Total], aliases: dict[str, str]) -> None:
        """Show these totals, and above them what they come to together."""
        with resetting(self):
            self._aliases = aliases
            self._rows = [_together(totals), *totals] if totals else []

    def key(self, row: int) -> str:
        """The person of a row; empty for everybody."""
        return self._rows[row].key if 0 <= row < len(self._rows) else ""

    def row_of(self, person_id: str) -> int:
        """The row of a person, that of everybody for an empty id, or -1."""
        return next((row for row, total in enumerate(self._rows) if total.key == person_id), -1)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell shows."""
        if not index.isValid():
            return None
        total, column = self._rows[index.row()], index.column()
        if role == TOTAL_ROLE:
            return total
        if role == Qt.ItemDataRole.DisplayRole:
            return self._words(total, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            states = "\n".join(f"{state}: {count}" for state, count in total.states.items())
            return tooltip(f"{self._words(total, PERSON)}\n{states}")
        if column == LATE and total.overdue:
            if role == Qt.ItemDataRole.ForegroundRole:
                return theme.token("state-disagree")
            if role == Qt.ItemDataRole.DecorationRole:
                return icon("warning", theme.current().px(14), "state-disagree")
        if role == Qt.ItemDataRole.TextAlignmentRole and column == TIME:
            return RIGHT
        return None

    def _words(self, total: Total, column: int) -> str:
        if column == PERSON:
            return named(self._aliases.get(total.key) or total.name, total.name)
        if column == HANDED_IN:
            return f"{total.handed_in} of {total.assignments}"
        if column == LATE:
            return str(total.overdue or "")
        return time_words(total.seconds)


def _together(totals: Sequence[Total]) -> Total:
    return Total(
        key="",
        name=EVERYBODY,
        assignments=sum(total.assignments for total in totals),
        states=_states(totals),
        handed_in=sum(total.handed_in for total in totals),
        overdue=sum(total.overdue for total in totals),
        units=sum(total.units for total in totals),
        seconds=sum(total.seconds for total in totals),
    )


def _states(totals: Sequence[Total]) -> dict[str, int]:
    found: dict[str, int] = {}
    for total in totals:
        for state, count in total.states.items():
            found[state] = found.get(state, 0) + count
    return found
