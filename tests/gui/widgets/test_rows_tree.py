"""A table of rows: how its columns share the room there is."""

import pytest

from annotator.gui import theme
from annotator.gui.pages.people.totals_table import ROOM_FOR_TIME, TIME, TotalsTable
from annotator.gui.widgets.lists.rows_tree import RowsTree, line

WIDTHS = (300, 100, 60)


@pytest.fixture
def tree(qtbot):
    """A table of three columns, the last of which takes what is left."""
    made = RowsTree("Rows", ("Name", "State", "Why"), WIDTHS, stretched=2)
    qtbot.addWidget(made)
    made.addTopLevelItem(line(["a < b & c", "new", "because"]))
    return made


def widths(tree, width):
    tree.resize(width, 200)
    tree.show()
    return [tree.columnWidth(column) for column in range(3)]


def test_where_there_is_room_columns_are_as_wide_as_asked_for(tree):
    name, state, why = widths(tree, 900)
    assert (name, state) == (300, 100)
    assert why == tree.viewport().width() - 400


def test_wide_columns_give_way_before_the_last_one_vanishes(tree):
    name, state, why = widths(tree, 480)
    assert name < 300
    assert state >= 0.55 * 100
    assert why >= 120


def test_what_has_no_room_is_scrolled_to(tree):
    assert widths(tree, 200)[2] >= 120
    assert tree.horizontalScrollBar().maximum() > 0


def test_columns_grow_with_the_zoom(tree):
    theme.zoom_to(150)
    assert widths(tree, 1400)[:2] == [450, 150]
    theme.zoom_to(100)
    assert widths(tree, 1400)[:2] == [300, 100]


def test_a_cell_is_told_whole_in_its_tooltip_and_never_read_as_markup(tree):
    assert "a &lt; b &amp; c" in tree.topLevelItem(0).toolTip(0)


def test_a_row_underneath_stands_for_the_one_above(tree):
    child = line(["piece", "", ""])
    tree.topLevelItem(0).addChild(child)
    tree.expandAll()
    tree.setCurrentItem(child)
    assert tree.row() == 0
    assert tree.chosen() == [0]


def test_a_hidden_column_takes_nothing_from_the_others(tree):
    tree.setColumnHidden(2, True)
    assert widths(tree, 460)[:2] == [300, 100]


def test_what_is_left_out_for_want_of_room_leaves_its_room_to_the_others(qtbot):
    table = TotalsTable()
    qtbot.addWidget(table)
    table.show()
    table.resize(700, 200)
    table.resize(ROOM_FOR_TIME - 2, 200)
    assert table.isColumnHidden(TIME)
    shared = [table.columnWidth(column) for column in range(TIME)]
    table.fit()
    assert [table.columnWidth(column) for column in range(TIME)] == shared
