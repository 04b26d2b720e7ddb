"""What a plan comes to item by item, as Qt shows it: items down, stages across, aliases in the cells."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt

from annotator.actions.assignments.planning import Line
from annotator.domain.experts.assignment import Purpose, Stage
from annotator.domain.texts.ordering import natural
from annotator.gui import theme
from annotator.gui.tables.rows import Index, RowsModel, resetting
from annotator.gui.widgets.icons import icon
from annotator.gui.widgets.plain import tooltip

AGAIN = "Repeat"


class PlanLinesModel(RowsModel[tuple[str, str]]):
    """Who is on each stage of each item; a cell with fewer people than wanted carries a mark and says so."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(("Item",), parent)
        self._stages: list[str] = []
        self._cells: dict[tuple[str, str], Line] = {}
        self._aliases: Mapping[str, str] = {}
        self._wanted = 1

    def show(self, lines: Sequence[Line], aliases: Mapping[str, str], wanted: int) -> None:
        """Show these lines; `wanted` people are to do each stage of each item."""
        with resetting(self):
            self._aliases, self._wanted = aliases, wanted
            self._rows = list(dict.fromkeys((line.item_id, line.item_key) for line in lines))
            there = {_column(line) for line in lines}
            order = [*(stage.value for stage in Stage), AGAIN]
            self._stages = [name for name in order if name in there]
            self.columns = ["Item", *(name.capitalize() for name in self._stages)]
            self._cells = {(line.item_id, _column(line)): line for line in lines}

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Who does a stage of an item."""
        if not index.isValid():
            return None
        item_id, key = self._rows[index.row()]
        if index.column() == 0:
            return key if role == Qt.ItemDataRole.DisplayRole else None
        line = self._cells.get((item_id, self._stages[index.column() - 1]))
        if role == Qt.ItemDataRole.DisplayRole:
            return self._words(line)
        if role == Qt.ItemDataRole.ForegroundRole and line is not None and not line.new:
            return theme.token("text-muted")
        if role == Qt.ItemDataRole.DecorationRole and self._short(line):
            return icon("warning", theme.current().px(14), "state-disagree")
        if role == Qt.ItemDataRole.ToolTipRole and line is not None:
            return tooltip(self._explained(line))
        return None

    def _words(self, line: Line | None) -> str:
        if line is None:
            return "–"
        said = self._named(line.people)
        return f"{said} and nobody else" if self._short(line) else said

    def _named(self, people: Iterable[str]) -> str:
        return ", ".join(sorted((self._aliases.get(person, "?") for person in people), key=natural))

    def _short(self, line: Line | None) -> bool:
        shared = line is not None and line.trial == 1 and line.stage is not Stage.ADJUDICATION
        return shared and line is not None and len(line.people) < self._wanted

    def _explained(self, line: Line) -> str:
        new = self._named(line.new)
        pilot = "A pilot item, assigned to everyone. " if line.purpose is Purpose.PILOT else ""
        return f"{pilot}{f'New: {new}.' if new else 'All of them have it already.'}"


def _column(line: Line) -> str:
    return AGAIN if line.trial > 1 else line.stage.value
