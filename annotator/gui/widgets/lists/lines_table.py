"""Table for reading line by line: fixed rows, no grid, single selection, Tab leaves it."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import QAbstractItemModel, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QTableView

from annotator.gui import theme
from annotator.gui.widgets.later import later
from annotator.gui.widgets.lists.columns import NOTHING, ColumnNeeds, Columns, wanted

ROW, PICTURE = 32, 16


class LinesTable(QTableView):
    """A model's rows. `widths` are the columns' widths; the column `stretched` takes what is left."""

    def __init__(
        self,
        name: str,
        model: QAbstractItemModel,
        widths: Sequence[int] = (),
        stretched: int = -1,
        *,
        cells: bool = False,
    ) -> None:
        super().__init__()
        self.setModel(model)
        self.setAccessibleName(name)
        whole = (
            QAbstractItemView.SelectionBehavior.SelectItems
            if cells
            else QAbstractItemView.SelectionBehavior.SelectRows
        )
        self.setSelectionBehavior(whole)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        for titles in (self.verticalHeader(), self.horizontalHeader()):
            titles.setTextElideMode(Qt.TextElideMode.ElideRight)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.widths, self._columns = dict(enumerate(widths)), Columns(stretched)
        self.firm: Collection[int] = ()
        """The columns that spare nothing for the others."""
        self._soon = later(self, self.fit, 0)
        self._measured: tuple[float, ColumnNeeds] | None = None
        """What the rows ask for, and the size of letters it was measured at."""
        changes = (model.modelReset, model.rowsInserted, model.rowsRemoved, model.dataChanged)
        for told in (*changes, model.layoutChanged):
            told.connect(self._forget)
        for told in (model.modelReset, model.rowsInserted):
            told.connect(self._soon.start)
        self._height = ROW
        self._dress()
        theme.watch(self, self._dress)

    @property
    def row_height(self) -> int:
        """How high a row is, in pixels of the design."""
        return self._height

    @row_height.setter
    def row_height(self, height: int) -> None:
        self._height = height
        self._dress()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def fit(self) -> None:
        px = theme.current().px
        widths = {place: px(width) for place, width in self.widths.items()}
        found = self._needs() if self.widths else NOTHING
        self._columns.fit(self.horizontalHeader(), widths, self.viewport().width(), self.firm, found)

    def _needs(self) -> ColumnNeeds:
        """What the rows ask for, measured once for all the sizes that a layout tries."""
        points = self.font().pointSizeF()
        if self._measured is None or self._measured[0] != points or not self.isVisible():
            found = wanted(self)
            self._measured = (points, found) if self.isVisible() else None
            return found
        return self._measured[1]

    def _forget(self) -> None:
        self._measured = None

    def _dress(self) -> None:
        self.verticalHeader().setDefaultSectionSize(theme.current().px(self._height))
        self.setIconSize(QSize(1, 1) * theme.current().px(PICTURE))
        self.fit()
