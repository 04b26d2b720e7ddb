"""The table of results: systems down, groups across, each cell a figure with its interval."""

from typing import Any

from PySide6.QtCore import QObject, Qt

from annotator.actions.results import ALL, ResultRow
from annotator.domain.estimate import Estimate
from annotator.gui.models.rows import Index, RowsModel


class ResultsModel(RowsModel[tuple[str, str]]):
    """Figures of one way of grouping; the first column of figures is always all items."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(("System",), parent)
        self._groups: list[str] = []
        self._cells: dict[tuple[str, str], ResultRow] = {}

    def show(self, rows: list[ResultRow], group_by: str) -> None:
        """Show the figures over all items and those of one way of grouping, the best system first."""
        self.beginResetModel()
        chosen = [row for row in rows if row.group_by in (ALL, group_by)]
        self._cells = {(row.system_id, row.group): row for row in chosen}
        self._groups = [ALL, *sorted({row.group for row in chosen if row.group_by == group_by} - {ALL})]
        overall = [row for row in chosen if row.group_by == ALL]
        overall.sort(key=lambda row: (not row.estimate.complete, -(row.estimate.value or 0), row.system))
        self._rows = [(row.system_id, row.system) for row in overall]
        self.columns = ["System", *map(self._title, self._groups)]
        self.endResetModel()

    def row_at(self, index: Index) -> ResultRow | None:
        """The figure of a cell; that of all items for the system's name."""
        if not index.isValid():
            return None
        group = self._groups[max(0, index.column() - 1)]
        return self._cells.get((self._rows[index.row()][0], group))

    def of_group(self, column: int) -> list[ResultRow]:
        """All systems' figures in the group of a column."""
        group = self._groups[max(0, column - 1)] if self._groups else ALL
        return [self._cells[system, group] for system, _ in self._rows if (system, group) in self._cells]

    def _title(self, group: str) -> str:
        """A group's name with its number of items."""
        n = max((cell.estimate.n for (_, name), cell in self._cells.items() if name == group), default=0)
        return f"{'All items' if group == ALL else group} ({n})"

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A figure in words, and in full as the tip."""
        row = self.row_at(index)
        if row is None:
            return "–" if role == Qt.ItemDataRole.DisplayRole else None
        if role == Qt.ItemDataRole.DisplayRole:
            return row.system if index.column() == 0 else in_words(row.estimate)
        if role == Qt.ItemDataRole.ToolTipRole:
            return explained(row.estimate)
        return None


def in_words(estimate: Estimate) -> str:
    """A figure with its interval as offsets, and what is missing."""
    if estimate.value is None:
        return "–"
    words = f"{estimate.value:.3f}"
    if estimate.low is not None and estimate.high is not None:
        words += f"  [{estimate.low - estimate.value:+.3f}, {estimate.high - estimate.value:+.3f}]"
    return f"{words}  {estimate.missing} missing" if estimate.missing else words


def explained(estimate: Estimate) -> str:
    """Where a figure comes from: n, method, missing judgements and the range they leave."""
    lines = [f"n = {estimate.n} items", estimate.method]
    if estimate.missing and estimate.floor is not None and estimate.ceiling is not None:
        lines.append(
            f"{estimate.missing} judgements did not come; with them it lies between "
            f"{estimate.floor:.3f} and {estimate.ceiling:.3f}"
        )
    if estimate.note:
        lines.append(estimate.note)
    return "\n".join(line for line in lines if line)
