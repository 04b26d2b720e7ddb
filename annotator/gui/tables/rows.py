"""Base model of tables that list rows under titles."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)

Index = QModelIndex | QPersistentModelIndex
Row = TypeVar("Row")
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@contextmanager
def resetting(model: QAbstractItemModel) -> Iterator[None]:
    """All that a model shows is changed; a change that fails has its end too, or its views would raise permanently."""
    model.beginResetModel()
    try:
        yield
    finally:
        model.endResetModel()


class RowsModel(QAbstractTableModel, Generic[Row]):
    """Base model; subclasses say what a cell shows."""

    def __init__(self, columns: Sequence[str] = (), parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns = columns
        self._rows: Sequence[Row] = ()

    def at(self, row: int) -> Row | None:
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def take_over(self, rows: Sequence[Row], *, in_place: bool) -> None:
        """Show other rows, `in_place` where each stands for what stood there: then what is chosen stays chosen."""
        if in_place:
            self._rows = rows
            self.tell_all()
            return
        with resetting(self):
            self._rows = rows

    def tell_all(self) -> None:
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(self.columns) - 1))

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self.columns[section]
        return None
