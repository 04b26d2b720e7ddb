"""Qt model of a plan matrix: gold sub-tasks down, predicted ones across."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt

from annotator.actions.labelling.labels import UnitGroup
from annotator.gui.tables.rows import Index, resetting
from annotator.gui.widgets.basics import tooltip

CELL_ROLE = int(Qt.ItemDataRole.UserRole) + 1


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A predicted sub-task against a gold one, its label, and an icon."""

    protocol: str
    unit_id: str
    predicted: str
    gold: str
    said: str
    marked: str = ""


class Matrix(QAbstractTableModel):
    """Column 0 holds the gold sub-tasks' words; every further column is one predicted sub-task."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._protocol = ""
        self._groups: Sequence[UnitGroup] = ()
        self._said: Callable[[str], str] = lambda _: ""
        self._marked: Callable[[str], str] = lambda _: ""
        self._places: dict[str, tuple[int, int]] = {}

    def lay_out(
        self,
        protocol: str,
        groups: Sequence[UnitGroup],
        said: Callable[[str], str],
        marked: Callable[[str], str],
    ) -> None:
        """Show other sub-tasks; `said` tells what is said of a cell by its id, `marked` what stands beside it."""
        with resetting(self):
            self._protocol, self._groups, self._said, self._marked = protocol, groups, said, marked
            self._places = {
                unit.id: (row, column)
                for column, group in enumerate(groups, start=1)
                for row, unit in enumerate(group.units)
            }

    def tell(self, unit_id: str) -> None:
        index = self.place(unit_id)
        self.dataChanged.emit(index, index)

    def place(self, unit_id: str) -> QModelIndex:
        return self.index(*self._places[unit_id]) if unit_id in self._places else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() or not self._groups else len(self._groups[0].units)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        """One for the gold sub-tasks' words, and one for each predicted sub-task."""
        return 0 if parent.isValid() else 1 + len(self._groups)

    def flags(self, index: Index) -> Qt.ItemFlag:
        cell = index.isValid() and index.column() > 0
        flag = Qt.ItemFlag
        return flag.ItemIsEnabled | flag.ItemIsSelectable if cell else flag.NoItemFlags

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """The predicted sub-tasks by number, in full in their tooltips."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return f"P{section}" if section else "Gold sub-tasks"
        if role == Qt.ItemDataRole.ToolTipRole and section:
            return tooltip(predicted_of(self._groups[section - 1]))
        if role == Qt.ItemDataRole.TextAlignmentRole and not section:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A gold sub-task's words, or what is said of a cell."""
        if not index.isValid():
            return None
        if not index.column():
            return self._groups[0].units[index.row()].text if role == Qt.ItemDataRole.DisplayRole else None
        group = self._groups[index.column() - 1]
        unit = group.units[index.row()]
        words, said = predicted_of(group), self._said(unit.id)
        cell = MatrixCell(self._protocol, unit.id, words, unit.text, said, self._marked(unit.id))
        if role == CELL_ROLE:
            return cell
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"P{index.column()} against gold {index.row() + 1}: {cell.said or 'open'}"
        return None


def predicted_of(group: UnitGroup) -> str:
    """The words of the predicted sub-task that a group of cells is about."""
    return next(iter(group.given.values()), "")
