"""Qt model of the items: row count at once, rows fetched by the screenful."""

from array import array
from typing import Any

from PySide6.QtCore import QModelIndex, Qt

from annotator.actions.items import items
from annotator.domain.material.item import ItemRole
from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.tables.rows import RIGHT, Index, RowsModel, resetting
from annotator.gui.widgets.icons import icon
from annotator.gui.widgets.later import later

COLUMNS = ("Key", "Question", "Type", "Subject", "State", "Reports", "Labelled")
FIELDS = ("key", "question", "question_type", "subject", "state", "responses", "labelled")
QUESTION, TYPE, NUMBERS = 1, 2, (5, 6)
BLOCK = 64
# So many rows are there at once; what a very long list has beyond them is fetched while it is already shown.
FIRST = 10_000
# Typing goes on for this long before the rest of a long list is fetched.
PAUSE_MS = 150
# Lines kept in memory; more than any screen shows.
KEPT = 4096
STATE_ICONS = {"new": "new", "in progress": "author", "submitted": "lock", "settled": "check"}


class ItemsModel(RowsModel[int]):
    """Items that match a filter, in the project's order."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(COLUMNS, desk)
        self._desk = desk
        self._narrowed = items.Filter()
        self._rows: array[int] = array("q")
        self._lines: dict[int, items.ItemLine] = {}
        self._rest = later(self, self._fetch_rest, PAUSE_MS)

    def narrow(self, narrowed: items.Filter) -> None:
        """Show what matches; asked at every keystroke."""
        with resetting(self):
            self._narrowed = narrowed
            self._rows = self._desk.ask(items.numbers, narrowed, FIRST) or array("q")
            self._lines.clear()
        self._rest.stop()
        if len(self._rows) == FIRST:
            self._rest.start()

    def _fetch_rest(self) -> None:
        narrowed = self._narrowed
        self._desk.ask_later(lambda found: self._complete(narrowed, found), items.numbers, narrowed)

    def _complete(self, narrowed: items.Filter, found: "array[int]") -> None:
        """Put the rest behind what is shown, unless something else is shown by now."""
        if narrowed is not self._narrowed or len(found) <= FIRST:
            return
        if found[:FIRST] != self._rows:
            self.narrow(narrowed)
            return
        self.beginInsertRows(QModelIndex(), FIRST, len(found) - 1)
        self._rows = found
        self.endInsertRows()

    def refresh(self) -> None:
        self._lines.clear()
        if self._rows:
            last = self.index(len(self._rows) - 1, len(COLUMNS) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def id_at(self, row: int) -> str:
        return self.line(row).id

    def row_of(self, item_id: str) -> int:
        """The row of an item, or -1."""
        number = self._desk.ask(items.number, item_id) if item_id else 0
        return self._rows.index(number) if number and number in self._rows else -1

    def line(self, row: int) -> items.ItemLine:
        """The line of a row, read with its neighbours when first shown."""
        if row not in self._lines:
            if len(self._lines) > KEPT:
                self._lines.clear()
            start = row - row % BLOCK
            block = self._rows[start : start + BLOCK]
            for place, line in enumerate(self._desk.ask(items.lines_at, block) or [], start=start):
                self._lines[place] = line
        return self._lines[row]

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        aligned = role == Qt.ItemDataRole.TextAlignmentRole and section in NUMBERS
        if aligned and orientation == Qt.Orientation.Horizontal:
            return RIGHT
        return super().headerData(section, orientation, role)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        line = self.line(index.row())
        if role == Qt.ItemDataRole.DisplayRole:
            return self._words(line, index.column())
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == QUESTION:
            return f"<qt>{_escaped(line.question[:1000])}</qt>"
        if role == Qt.ItemDataRole.DecorationRole and index.column() == 4:
            return icon(STATE_ICONS[line.state], theme.current().px(16))
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in NUMBERS:
            return RIGHT
        return None

    def _words(self, line: items.ItemLine, column: int) -> str:
        words = str(getattr(line, FIELDS[column]) or "")
        if column == TYPE and not words and line.role is not ItemRole.QUESTION:
            return line.role.value
        return " ".join(words.split()) if column == QUESTION else words


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
