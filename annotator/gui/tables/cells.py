"""Tables with declared columns: words, tooltip, icon and colour of a row."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from PySide6.QtCore import QObject, Qt

from annotator.gui import theme
from annotator.gui.tables.rows import RIGHT, Index, Row, RowsModel, resetting
from annotator.gui.widgets.basics import tooltip
from annotator.gui.widgets.icons import icon

_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """A column: `words` of a row, `tip` for more, `look` for icon and colour.

    `about` explains the title; a `number` stands at the right; `width` is in pixels of the design, and a `firm` one
    does not give way where there is little room. A `fitted` one is as wide as what it shows.
    """

    title: str
    words: Callable[[Row], str]
    width: int = 100
    tip: Callable[[Row], str] | None = None
    look: Callable[[Row], tuple[str, str] | None] | None = None
    number: bool = False
    about: str = ""
    firm: bool = False
    fitted: bool = False


class CellsModel(RowsModel[Row]):
    """Rows under declared columns."""

    def __init__(self, columns: Sequence[Column[Row]], parent: QObject | None = None) -> None:
        super().__init__(parent=parent)
        self._call(columns)

    def _call(self, columns: Sequence[Column[Row]]) -> None:
        self._columns, self.columns = columns, [column.title for column in columns]

    @property
    def rows(self) -> Sequence[Row]:
        return self._rows

    @property
    def widths(self) -> list[int]:
        """The columns' first widths, in pixels of the design."""
        return [column.width for column in self._columns]

    def show(self, rows: Sequence[Row], columns: Sequence[Column[Row]] | None = None) -> None:
        """Show other rows, under other columns too; where there are as many as before, what is chosen stays chosen."""
        if columns is not None:
            with resetting(self):
                self._call(columns)
                self._rows = list(rows)
            return
        self.take_over(list(rows), in_place=len(rows) == len(self._rows) and bool(rows))

    @property
    def firm(self) -> set[int]:
        return {place for place, column in enumerate(self._columns) if column.firm}

    @property
    def fitted(self) -> list[int]:
        """The columns that are as wide as what they show."""
        return [place for place, column in enumerate(self._columns) if column.fitted]

    def retitle(self, titles: Mapping[int, str]) -> None:
        self.columns = [titles.get(place, title) for place, title in enumerate(self.columns)]
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self.columns) - 1)

    def place_of(self, wanted: Callable[[Row], bool]) -> int:
        """Where the first such row stands, -1 when there is none."""
        return next((place for place, row in enumerate(self._rows) if wanted(row)), -1)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and 0 <= section < len(self._columns):
            column = self._columns[section]
            if role == Qt.ItemDataRole.ToolTipRole and column.about:
                return tooltip(column.about)
            if role == Qt.ItemDataRole.TextAlignmentRole and column.number:
                return RIGHT
        return super().headerData(section, orientation, role)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], self._columns[index.column()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return " ".join(column.words(row)[:_LONGEST].split())
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip((column.tip or column.words)(row))
        if role == Qt.ItemDataRole.TextAlignmentRole and column.number:
            return RIGHT
        look = column.look(row) if column.look else None
        if look is not None and role == Qt.ItemDataRole.DecorationRole and look[0]:
            return icon(look[0], theme.current().px(15), look[1])
        if look is not None and role == Qt.ItemDataRole.ForegroundRole:
            return theme.token(look[1])
        return None
