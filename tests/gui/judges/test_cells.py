"""Tables whose columns are told one by one."""

from PySide6.QtCore import QAbstractItemModel, Qt

from annotator.gui.tables.cells import CellsModel, Column
from annotator.gui.tables.cells_table import CellsTable

COLUMNS = (
    Column("Word", lambda word: word, 60, fitted=True),
    Column("Length", lambda word: str(len(word)), 60, number=True, tip=lambda word: f"{len(word)} letters"),
    Column("Upper", str.upper, 60, look=lambda word: ("check", "state-agreed") if word.isupper() else None),
)


def model_of(*words: str) -> CellsModel[str]:
    made = CellsModel[str](COLUMNS)
    made.show(words)
    return made


def test_the_model_is_one_as_qt_wants_it(qtmodeltester):
    model = model_of("a", "bc")
    assert isinstance(model, QAbstractItemModel)
    qtmodeltester.check(model)


def test_cells_show_words_tips_and_looks():
    model = model_of("one\ntwo", "B")
    assert [model.index(0, column).data() for column in range(3)] == ["one two", "7", "ONE TWO"]
    assert "7 letters" in model.index(0, 1).data(Qt.ItemDataRole.ToolTipRole)
    assert model.index(0, 2).data(Qt.ItemDataRole.DecorationRole) is None
    assert model.index(1, 2).data(Qt.ItemDataRole.DecorationRole) is not None


def test_markup_in_a_tip_is_shown_letter_by_letter():
    model = model_of("<b>bold</b>")
    assert "&lt;b&gt;" in model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)


def test_as_many_rows_as_before_leave_the_choice_alone(qtbot):
    model = model_of("a", "b")
    view = CellsTable("Words", model, stretched=2)
    qtbot.addWidget(view)
    view.selectRow(1)
    model.show(["c", "d"])
    assert view.currentIndex().data() == "d"
    assert model.place_of(lambda word: word == "d") == 1


def test_columns_can_be_called_otherwise():
    model = model_of("a")
    model.retitle({0: "Mot"})
    shown = [model.headerData(column, Qt.Orientation.Horizontal) for column in range(3)]
    assert shown == ["Mot", "Length", "Upper"]


def test_a_fitted_column_is_as_wide_as_what_it_shows(qtbot):
    model = model_of("a")
    view = CellsTable("Words", model, stretched=2)
    qtbot.addWidget(view)
    view.resize(600, 200)
    before = view.columnWidth(0)
    model.show(["norm-placement", "b"])
    assert view.columnWidth(0) > before
