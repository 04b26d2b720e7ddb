"""Qt model of a result table: sortable, and filtered by words."""

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Qt

from annotator.actions.results.result_sheets import ResultSheet, SheetCell, SheetLine
from annotator.gui import theme
from annotator.gui.tables.rows import RIGHT, Index, RowsModel, resetting
from annotator.gui.widgets.basics import tooltip
from annotator.gui.widgets.icons import STATE_ICONS, icon

WARNED = ("unfit", "flat")
# Figures whose state goes without a picture: “–” says it.
PLAIN = ("missing",)


class SheetModel(RowsModel[SheetLine]):
    """The lines of a sheet; `whole` is the sheet, `shown` the filtered lines in their order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent=parent)
        self.whole = ResultSheet("", "", (), ())
        self._sought = ""
        self._sorted = (-1, Qt.SortOrder.AscendingOrder)
        self._numbers: frozenset[int] = frozenset()

    def show(self, sheet: ResultSheet) -> None:
        """Show another sheet; of one with the same columns the order stays."""
        with resetting(self):
            if sheet.keys != self.whole.keys:
                self._sorted = (-1, Qt.SortOrder.AscendingOrder)
            self.whole = sheet
            self.columns = [column.head for column in sheet.columns]
            self._numbers = frozenset(place for place in range(len(self.columns)) if _is_number(sheet, place))
            self._rows = self._arranged()

    def seek(self, words: str) -> None:
        """Show only the lines in which all the words stand."""
        with resetting(self):
            self._sought = words.casefold()
            self._rows = self._arranged()

    @property
    def shown(self) -> ResultSheet:
        """The sheet with the lines in view, in their order."""
        return replace(self.whole, lines=tuple(self._rows))

    @property
    def sorted_by(self) -> tuple[int, Qt.SortOrder]:
        """The column that lines are sorted by, -1 for the sheet's own order."""
        return self._sorted

    def cell(self, index: Index) -> SheetCell | None:
        line = self.at(index.row()) if index.isValid() else None
        return line.cells[index.column()] if line is not None else None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """A column's title, and in its tip what stands below it."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        column = self.whole.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.head
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(column.tip) or None
        if role == Qt.ItemDataRole.TextAlignmentRole and section in self._numbers:
            return RIGHT
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A cell in words, with the picture of its state, and where it comes from in its tip."""
        cell = self.cell(index)
        if cell is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return " ".join(cell.words.split()) if "\n" in cell.words else cell.words
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(cell.tip) or None
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in self._numbers:
            return RIGHT
        if role == Qt.ItemDataRole.ForegroundRole and cell.words.startswith("–"):
            return theme.token("text-muted")
        if role == Qt.ItemDataRole.DecorationRole and cell.state and cell.state not in PLAIN:
            side = theme.current().px(14)
            if cell.state in WARNED:
                return icon("warning", side, "level-warning")
            return icon(STATE_ICONS[cell.state], side, f"state-{cell.state}")
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column, what is undefined last; a column of -1 gives the sheet's own order back."""
        self.layoutAboutToBeChanged.emit()
        held = [(index, self._rows[index.row()]) for index in self.persistentIndexList()]
        self._sorted = (column, order)
        self._rows = self._arranged()
        places = {id(line): place for place, line in enumerate(self._rows)}
        for index, line in held:
            self.changePersistentIndex(index, self.index(places[id(line)], index.column()))
        self.layoutChanged.emit()

    def _arranged(self) -> list[SheetLine]:
        words = self._sought.split()
        lines = [line for line in self.whole.lines if not words or _has(line, words)]
        column, order = self._sorted
        if not 0 <= column < len(self.columns):
            return lines
        known = [line for line in lines if line.cells[column].worth is not None]
        rest = [line for line in lines if line.cells[column].worth is None]
        known.sort(key=lambda line: _key(line.cells[column]), reverse=order == Qt.SortOrder.DescendingOrder)
        return known + rest


def _is_number(sheet: ResultSheet, place: int) -> bool:
    """Whether a column holds bare numbers, which stand at the right; figures with intervals are read from the left."""
    told = (line.cells[place] for line in sheet.lines)
    first = next((cell for cell in told if cell.worth is not None or cell.estimate is not None), None)
    return first is not None and first.estimate is None and isinstance(first.value, int | float)


def _key(cell: SheetCell) -> tuple[bool, float, str]:
    worth = cell.worth
    return (True, 0.0, worth) if isinstance(worth, str) else (False, float(worth or 0.0), "")


def _has(line: SheetLine, words: list[str]) -> bool:
    whole = " ".join(cell.words for cell in line.cells).casefold()
    return all(word in whole for word in words)
