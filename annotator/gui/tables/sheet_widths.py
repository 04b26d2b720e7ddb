"""Column widths of result tables, so that no row is cut off while there is room."""

from collections.abc import Collection

from PySide6.QtWidgets import QHeaderView

from annotator.gui import theme
from annotator.gui.tables.sheets import SheetModel
from annotator.gui.widgets.lists.lines_table import LinesTable

# A sentence may end in “…”; what stands in the first rows is measured.
WIDEST, MEASURED, LETTERS = 300, 60, 80
PAD, PICTURE = 24, 22


def fit(table: LinesTable, model: SheetModel) -> None:
    """Give every column its width; what is left goes to the sentences that were cut off."""
    header, px = table.horizontalHeader(), theme.current().px
    header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
    room, cut, used = px(WIDEST), dict[int, int](), 0
    for place in range(model.columnCount()):
        if table.isColumnHidden(place):
            continue
        wanted = _wanted(table, model, place)
        given = max(header.sectionSizeHint(place) + px(6), min(room, wanted))
        header.resizeSection(place, given)
        used += given
        cut |= {place: wanted} if wanted > given else {}
    left = max(0, table.viewport().width() - used)
    for place, wanted in cut.items():
        header.resizeSection(place, room + min(wanted - room, left // len(cut)))


def _wanted(table: LinesTable, model: SheetModel, place: int) -> int:
    measure, px = table.fontMetrics().horizontalAdvance, theme.current().px
    cells = [line.cells[place] for line in model.shown.lines[:MEASURED]]
    widest = max(map(measure, {cell.words[:LETTERS] for cell in cells}), default=0)
    picture = px(PICTURE) if any(cell.state for cell in cells) else 0
    return widest + picture + px(PAD)


def hide_alike(table: LinesTable, model: SheetModel, keys: Collection[str]) -> None:
    """Leave out the columns, among those named, in which every line says the same."""
    for place, key in enumerate(model.whole.keys):
        said = {line.cells[place].words for line in model.shown.lines}
        table.setColumnHidden(place, key in keys and len(said) < 2)
