"""Tree table: titles, first widths, and one column that takes the rest."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QTreeWidget, QTreeWidgetItem

from annotator.gui import theme
from annotator.gui.widgets.basics import tooltip
from annotator.gui.widgets.later import later
from annotator.gui.widgets.lists.columns import LEAST, Columns, wanted
from annotator.gui.widgets.lists.lines_table import PICTURE


class RowsTree(QTreeWidget):
    """A tree used as a table; `several` rows may be selected at a time, `nested` shows how rows belong together.

    The `firm` columns spare nothing for the others; the stretched one has at `least` so much, at 100 %.
    """

    def __init__(
        self,
        name: str,
        columns: Sequence[str],
        widths: Sequence[int],
        stretched: int,
        *,
        several: bool = False,
        nested: bool = False,
        firm: Collection[int] = (),
        least: int = LEAST,
    ) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setColumnCount(len(columns))
        self.setHeaderLabels(list(columns))
        self.setRootIsDecorated(nested)
        self.setUniformRowHeights(True)
        self.setAllColumnsShowFocus(True)
        self.setAlternatingRowColors(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        mode = QAbstractItemView.SelectionMode
        self.setSelectionMode(mode.ExtendedSelection if several else mode.SingleSelection)
        header = self.header()
        header.setSectionsMovable(False)
        header.setHighlightSections(False)
        # The stretched column takes what is left, whichever it is.
        header.setStretchLastSection(False)
        self._widths, self._columns, self._firm = tuple(widths), Columns(stretched, least), firm
        self._soon = later(self, self._size, 0)
        self.model().rowsInserted.connect(self._soon.start)
        self._size()
        theme.watch(self, self._size)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._size()

    def _size(self) -> None:
        px = theme.current().px
        self.setIconSize(QSize(1, 1) * px(PICTURE))
        widths = {place: px(width) for place, width in enumerate(self._widths)}
        self._columns.fit(self.header(), widths, self.viewport().width(), self._firm, wanted(self))

    def row(self) -> int:
        """The current row of the first level, or -1."""
        line = self.currentItem()
        while line is not None and line.parent() is not None:
            line = line.parent()
        return self.indexOfTopLevelItem(line) if line is not None else -1

    def choose(self, row: int) -> None:
        """Make a row of the first level the current one, if there is such a row."""
        line = self.topLevelItem(row)
        if line is not None:
            self.setCurrentItem(line)

    def chosen(self) -> list[int]:
        """The rows of the first level that are selected, or of which a row underneath is."""
        rows = {self.indexOfTopLevelItem(line.parent() or line) for line in self.selectedItems()}
        return sorted(rows)


def line(cells: Sequence[str]) -> QTreeWidgetItem:
    """A row of these cells, each shown whole in its tooltip."""
    made = QTreeWidgetItem(list(cells))
    for column, words in enumerate(cells):
        made.setToolTip(column, tooltip(words))
    return made
