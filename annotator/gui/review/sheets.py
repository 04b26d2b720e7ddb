"""Qt models and tables of rows and of result sheets: sortable, filtered by words."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)

from annotator.actions.results.result_sheets import ResultSheet, SheetCell, SheetLine
from annotator.gui import theme
from annotator.gui.widgets.basics import tooltip
from annotator.gui.widgets.chips import STATE_ICONS, icon
from annotator.gui.widgets.columns import LinesTable, column_needs, levelled

Index = QModelIndex | QPersistentModelIndex
Row = TypeVar("Row")
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@contextmanager
def resetting(model: QAbstractItemModel) -> Iterator[None]:
    """Reset a model around a change; a failing change ends the reset too, or views would raise from then on."""
    model.beginResetModel()
    try:
        yield
    finally:
        model.endResetModel()


class RowsModel(QAbstractTableModel, Generic[Row]):
    def __init__(self, columns: Sequence[str] = (), parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns = columns
        self._rows: Sequence[Row] = ()

    def at(self, row: int) -> Row | None:
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def take_over(self, rows: Sequence[Row], *, in_place: bool) -> None:
        """Replace the rows; `in_place` if each stands for the old one at its index, which keeps the selection."""
        if in_place:
            self._rows = rows
            self.tell_all()
            return
        with resetting(self):
            self._rows = rows

    def rearrange(self, rows: Sequence[Row]) -> None:
        """Show the same rows in another order; the selection moves with its rows."""
        self.layoutAboutToBeChanged.emit()
        before = [(index, self._rows[index.row()]) for index in self.persistentIndexList()]
        self._rows = rows
        places = {id(row): place for place, row in enumerate(rows)}
        for index, row in before:
            self.changePersistentIndex(index, self.index(places[id(row)], index.column()))
        self.layoutChanged.emit()

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


SHORT_TITLE = 11
# Figures in these states have no icon: “–” is enough.
PLAIN = ("missing",)


class SheetModel(RowsModel[SheetLine]):
    """The lines of a sheet; `whole` is the sheet, `shown` the filtered lines in display order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent=parent)
        self.whole = ResultSheet("", "", (), ())
        self._query = ""
        self.sorted_by = (-1, Qt.SortOrder.AscendingOrder)
        """The sorted column and its order; column -1 for the sheet's own order."""
        self._numbers = self.figures = frozenset[int]()
        """The columns of bare numbers, and the columns of numbers or figures with intervals."""

    def show(self, sheet: ResultSheet) -> None:
        """Show another sheet; if its columns are the same, the sorting stays."""
        with resetting(self):
            if sheet.keys != self.whole.keys:
                self.sorted_by = (-1, Qt.SortOrder.AscendingOrder)
            self.whole = sheet
            self.columns = [_title(sheet, place) for place in range(len(sheet.columns))]
            places = range(len(self.columns))
            self._numbers = frozenset(place for place in places if _is_number(sheet, place))
            self.figures = self._numbers | {
                place
                for place in places
                if any(line.cells[place].estimate is not None for line in sheet.lines)
            }
            self._rows = self._arranged()

    def seek(self, words: str) -> None:
        with resetting(self):
            self._query = words.casefold()
            self._rows = self._arranged()

    @property
    def shown(self) -> ResultSheet:
        return replace(self.whole, lines=tuple(self._rows))

    def cell(self, index: Index) -> SheetCell | None:
        line = self.at(index.row()) if index.isValid() else None
        return line.cells[index.column()] if line is not None else None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        column = self.whole.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return self.columns[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(column.tip) or None
        if role == Qt.ItemDataRole.TextAlignmentRole and section in self._numbers:
            return RIGHT
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A cell's text, with the icon of its state, and its source as tooltip."""
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
            if cell.state in ("unfit", "flat"):
                return icon("warning", side, "level-warning")
            return icon(STATE_ICONS[cell.state], side, f"state-{cell.state}")
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column, undefined values last; column -1 restores the sheet's own order."""
        self.sorted_by = (column, order)
        self.rearrange(self._arranged())

    def _arranged(self) -> list[SheetLine]:
        words = self._query.split()
        lines = [line for line in self.whole.lines if not words or _has(line, words)]
        column, order = self.sorted_by
        if not 0 <= column < len(self.columns):
            return lines
        known = [line for line in lines if line.cells[column].worth is not None]
        rest = [line for line in lines if line.cells[column].worth is None]
        known.sort(key=lambda line: _key(line.cells[column]), reverse=order == Qt.SortOrder.DescendingOrder)
        return known + rest


def _title(sheet: ResultSheet, place: int) -> str:
    """A column's title, on two lines if it is longer than every figure below it."""
    title = sheet.columns[place].head
    blanks = [number for number, letter in enumerate(title) if letter == " "]
    below = max((len(_figure(line.cells[place].words)) for line in sheet.lines), default=0)
    if not blanks or len(title) <= max(below, SHORT_TITLE):
        return title
    middle = min(blanks, key=lambda number: abs(2 * number - len(title)))
    return f"{title[:middle]}\n{title[middle + 1 :]}"


def _is_number(sheet: ResultSheet, place: int) -> bool:
    """Whether a column holds bare numbers, which are right-aligned; figures with intervals are left-aligned."""
    cells = (line.cells[place] for line in sheet.lines)
    first = next((cell for cell in cells if cell.worth is not None or cell.estimate is not None), None)
    return first is not None and first.estimate is None and isinstance(first.value, int | float)


def _key(cell: SheetCell) -> tuple[bool, float, str]:
    worth = cell.worth
    return (True, 0.0, worth) if isinstance(worth, str) else (False, float(worth or 0.0), "")


def _has(line: SheetLine, words: list[str]) -> bool:
    whole = " ".join(cell.words for cell in line.cells).casefold()
    return all(word in whole for word in words)


_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """A column: `words` of a row, `tip` for more, `look` for icon and colour.

    `about` explains the title; a `number` is right-aligned; `width` and `side`, the width of an icon, are in design
    pixels; a `firm` column does not shrink when space is short. A column is left out of a table narrower than its
    `room`, in pixels at 100 %.
    """

    title: str
    words: Callable[[Row], str]
    width: int = 100
    tip: Callable[[Row], str] | None = None
    look: Callable[[Row], tuple[str, str] | None] | None = None
    number: bool = False
    about: str = ""
    firm: bool = False
    room: int = 0
    side: int = 15


_ANSWERED = frozenset(
    (
        Qt.ItemDataRole.DisplayRole,
        Qt.ItemDataRole.AccessibleTextRole,
        Qt.ItemDataRole.ToolTipRole,
        Qt.ItemDataRole.TextAlignmentRole,
        Qt.ItemDataRole.DecorationRole,
        Qt.ItemDataRole.ForegroundRole,
    )
)


class CellsModel(RowsModel[Row]):
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
        return [column.width for column in self._columns]

    def show(self, rows: Sequence[Row], columns: Sequence[Column[Row]] | None = None) -> None:
        """Show other rows, and other columns if given; the selection stays if the number of rows does."""
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
    def rooms(self) -> dict[int, int]:
        return {place: column.room for place, column in enumerate(self._columns) if column.room}

    def retitle(self, titles: Mapping[int, str]) -> None:
        self.columns = [titles.get(place, title) for place, title in enumerate(self.columns)]
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self.columns) - 1)

    def place_of(self, matches: Callable[[Row], bool]) -> int:
        """The index of the first matching row, -1 if there is none."""
        return next((place for place, row in enumerate(self._rows) if matches(row)), -1)

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
        # A table asks for eight roles of each cell that it paints.
        row = self.at(index.row()) if role in _ANSWERED and index.isValid() else None
        if row is None:
            return None
        column = self._columns[index.column()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return " ".join(column.words(row)[:_LONGEST].split())
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip((column.tip or column.words)(row))
        if role == Qt.ItemDataRole.TextAlignmentRole and column.number:
            return RIGHT
        look = column.look(row) if column.look else None
        if look is not None and role == Qt.ItemDataRole.DecorationRole and look[0]:
            return icon(look[0], theme.current().px(column.side), look[1])
        if look is not None and role == Qt.ItemDataRole.ForegroundRole:
            return theme.token(look[1])
        return None


class CellsTable(LinesTable):
    """A table with declared columns, sized by zoom and available width until a person resizes them."""

    def __init__(
        self,
        name: str,
        model: CellsModel[Any],
        stretched: int,
        moved: Callable[[], object] | None = None,
        opened: Callable[[QModelIndex], object] | None = None,
        row_height: int = 30,
    ) -> None:
        self._model = model
        super().__init__(name, model, stretched=stretched, moved=moved, opened=opened, row_height=row_height)
        model.modelReset.connect(self.fit)

    def fit(self) -> None:
        px = theme.current().px
        widths = {place: px(width) for place, width in enumerate(self._model.widths)}
        self._columns.fit(
            self.horizontalHeader(), widths, self.viewport().width(), self._model.firm, column_needs(self)
        )

    def hide_columns(self, hidden: dict[int, bool]) -> None:
        for place, without in hidden.items():
            self.setColumnHidden(place, without)
        self.fit()

    def _restyle(self) -> None:
        px = theme.current().px
        self.setMinimumWidth(px(160))
        self.horizontalHeader().setMinimumSectionSize(px(34))
        super()._restyle()


# A sentence may be elided and gets at most WIDEST; if space is short, words get at least WORDS. Only the first MEASURED
# rows are measured.
WIDEST, WORDS, MEASURED, LETTERS = 300, 120, 60, 80
PAD, PICTURE = 24, 22


class SheetTable(LinesTable):
    """A sheet's lines: every column gets its width, and columns of elided sentences share what is left or lacking."""

    def __init__(
        self,
        name: str,
        sheet: SheetModel,
        *,
        cells: bool = False,
        moved: Callable[[], object] | None = None,
        opened: Callable[[QModelIndex], object] | None = None,
    ) -> None:
        self._sheet = sheet
        self._given = dict[int, int]()
        super().__init__(name, sheet, cells=cells, moved=moved, opened=opened)
        # An elided title of two lines would be measured as one.
        self.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideNone)

    def fit(self) -> None:
        header, px = self.horizontalHeader(), theme.current().px
        shown = [place for place in range(self._sheet.columnCount()) if not self.isColumnHidden(place)]
        wanted = {place: self._widest(place) for place in shown}
        titles = {place: header.sectionSizeHint(place) + px(6) for place in shown}
        given = {place: max(titles[place], min(px(WIDEST), width)) for place, width in wanted.items()}
        cut = [place for place in shown if wanted[place] > given[place]]
        left = self.viewport().width() - sum(given.values())
        for place in cut if left > 0 else ():
            given[place] = max(titles[place], min(wanted[place], given[place] + left // len(cut)))
        if left < 0:
            # Figures with intervals are never elided; words get less.
            floors = {
                place: self._widest(place, _figure) if place in self._sheet.figures else px(WORDS)
                for place in shown
            }
            floors = {place: max(titles[place], min(given[place], least)) for place, least in floors.items()}
            given = levelled(given, floors, self.viewport().width())
        if given != self._given:
            self._given = given
            for place, width in given.items():
                header.resizeSection(place, width)

    def _widest(self, place: int, part: Callable[[str], str] = str) -> int:
        measure, px = self.fontMetrics().horizontalAdvance, theme.current().px
        cells = [line.cells[place] for line in self._sheet.shown.lines[:MEASURED]]
        widest = max(map(measure, {part(cell.words)[:LETTERS] for cell in cells}), default=0)
        picture = px(PICTURE) if any(cell.state for cell in cells) else 0
        return widest + picture + px(PAD)


def _figure(words: str) -> str:
    """A cell's value with its interval, or the number of missing judgements, without the notes after it."""
    short = "  ".join(words.split("; ")[0].split("  ")[:2])
    return short if short == words else f"{short} …"


def hide_alike(table: LinesTable, model: SheetModel, keys: Collection[str]) -> None:
    for place, key in enumerate(model.whole.keys):
        texts = {line.cells[place].words for line in model.shown.lines}
        table.setColumnHidden(place, key in keys and len(texts) < 2)
