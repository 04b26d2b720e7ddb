"""The tables of this page: told columns whose widths follow the zoom and the room."""

from typing import Any

from PySide6.QtGui import QResizeEvent

from annotator.gui import theme
from annotator.gui.models.cells import CellsModel
from annotator.gui.widgets.lines_table import LinesTable

# The stretched column gets at least this; it is taken from columns that are wider than the second.
_LEAST, _WIDE = 120, 88
# A fitted column is not wider than this, and measured by so many rows.
_MOST, _MEASURED = 118, 300


class CellsTable(LinesTable):
    """A table over told columns, whose widths follow the zoom and the room until somebody moves them."""

    def __init__(self, name: str, model: CellsModel[Any], stretched: int) -> None:
        self._model, self._stretched = model, stretched
        self._sized: dict[int, int] = {}
        self._height = 30
        super().__init__(name, model, stretched=stretched)
        self._dress()
        model.modelReset.connect(self.fit)
        theme.watch(self, self._dress)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep room for the stretched column."""
        super().resizeEvent(event)
        self.fit()

    def fit(self) -> None:
        """Give the columns their widths, less where there is not room for all."""
        px = theme.current().px
        fixed = {
            place: px(width)
            for place, width in enumerate(self._model.widths)
            if place != self._stretched and not self.isColumnHidden(place)
        }
        for place in self._model.fitted:
            fixed[place] = min(max(fixed[place], self._widest(place)), px(_MOST))
        giving = fixed.keys() - self._model.firm
        wide = {place: fixed[place] for place in giving if fixed[place] > px(_WIDE)}
        lacking = sum(fixed.values()) + px(_LEAST) - self.viewport().width()
        if lacking > 0 and wide:
            share = min(0.45, lacking / sum(wide.values()))
            fixed |= {place: round(width * (1 - share)) for place, width in wide.items()}
        if fixed != self._sized:
            self._sized = fixed
            for place, width in fixed.items():
                self.horizontalHeader().resizeSection(place, width)

    def _widest(self, place: int) -> int:
        shown = range(min(_MEASURED, self._model.rowCount()))
        words = {str(self._model.index(row, place).data()) for row in shown}
        metrics, px = self.fontMetrics(), theme.current().px
        return max(map(metrics.horizontalAdvance, words), default=0) + px(22)

    def hide_columns(self, hidden: dict[int, bool]) -> None:
        """Hide columns that have nothing to say."""
        for place, without in hidden.items():
            self.setColumnHidden(place, without)
        self.fit()

    @property
    def row_height(self) -> int:
        """How high a row is, in pixels of the design."""
        return self._height

    @row_height.setter
    def row_height(self, height: int) -> None:
        self._height = height
        self._dress()

    def _dress(self) -> None:
        px = theme.current().px
        self.setMinimumWidth(px(160))
        self.verticalHeader().setDefaultSectionSize(px(self._height))
        self.horizontalHeader().setMinimumSectionSize(px(34))
        self.fit()
