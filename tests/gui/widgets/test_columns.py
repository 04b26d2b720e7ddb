"""Columns are as wide as what stands in them, as far as there is room."""

from PySide6.QtGui import QStandardItem, QStandardItemModel

from annotator.gui.widgets.icons import icon
from annotator.gui.widgets.lists.lines_table import LinesTable

WIDTHS = (300, 80, 80)


def table_of(qtbot, width: int, *cells: QStandardItem) -> LinesTable:
    model = QStandardItemModel()
    model.appendRow(list(cells))
    made = LinesTable("Sets", model, WIDTHS, stretched=0)
    model.setParent(made)
    qtbot.addWidget(made)
    made.resize(width, 200)
    made.show()
    return made


def needs(table: LinesTable, column: int) -> int:
    return table.fontMetrics().horizontalAdvance(table.model().index(0, column).data())


def test_what_is_over_goes_to_columns_whose_words_would_be_cut(qtbot):
    table = table_of(qtbot, 1000, *map(QStandardItem, ("A", "Coverage of expert criteria", "two")))
    assert table.columnWidth(1) > needs(table, 1)
    assert table.columnWidth(0) > 300


def test_what_comes_later_is_measured_too(qtbot):
    table = table_of(qtbot, 1000, *map(QStandardItem, ("A", "B", "two")))
    table.model().appendRow(list(map(QStandardItem, ("A", "Coverage of expert criteria", "two"))))
    longest = table.fontMetrics().horizontalAdvance("Coverage of expert criteria")
    qtbot.waitUntil(lambda: table.columnWidth(1) > 150)
    assert table.columnWidth(1) > longest


def test_a_column_gives_what_it_does_not_need_before_words_are_cut(qtbot):
    table = table_of(qtbot, 500, *map(QStandardItem, ("A", "B", "Annotator A and B")))
    assert table.columnWidth(2) > needs(table, 2)


def test_a_state_is_whole_even_where_there_is_no_room(qtbot):
    state = QStandardItem(icon("check"), "submitted and closed")
    table = table_of(qtbot, 260, QStandardItem("A"), state, QStandardItem("two"))
    assert table.columnWidth(1) > needs(table, 1) + 16
