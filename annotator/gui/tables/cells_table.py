"""Tables with declared columns, whose widths follow zoom and available room."""

from typing import Any

from annotator.gui import theme
from annotator.gui.tables.cells import CellsModel
from annotator.gui.widgets.lists.columns import wanted
from annotator.gui.widgets.lists.lines_table import LinesTable

# A fitted column is not wider than this, and measured by so many rows.
_MOST, _MEASURED = 118, 300


class CellsTable(LinesTable):
    """A table with declared columns, sized by zoom and room until a person moves them."""

    def __init__(self, name: str, model: CellsModel[Any], stretched: int) -> None:
        self._model = model
        super().__init__(name, model, stretched=stretched)
        self.firm = model.firm
        self.row_height = 30
        model.modelReset.connect(self.fit)

    def fit(self) -> None:
        """Give the columns the widths of what stands in them."""
        px = theme.current().px
        widths = {place: px(width) for place, width in enumerate(self._model.widths)}
        for place in self._model.fitted:
            widths[place] = min(max(widths[place], self._widest(place)), px(_MOST))
        self._columns.fit(self.horizontalHeader(), widths, self.viewport().width(), self.firm, wanted(self))

    def _widest(self, place: int) -> int:
        shown = range(min(_MEASURED, self._model.rowCount()))
        words = {str(self._model.index(row, place).data()) for row in shown}
        metrics, px = self.fontMetrics(), theme.current().px
        return max(map(metrics.horizontalAdvance, words), default=0) + px(22)

    def hide_columns(self, hidden: dict[int, bool]) -> None:
        for place, without in hidden.items():
            self.setColumnHidden(place, without)
        self.fit()

    def _dress(self) -> None:
        px = theme.current().px
        self.setMinimumWidth(px(160))
        self.horizontalHeader().setMinimumSectionSize(px(34))
        super()._dress()
