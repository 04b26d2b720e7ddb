"""A matrix on the label page: four directions, digits, the rest by one key, and both readings."""

import pytest
from PySide6.QtCore import Qt

from annotator.actions.labelling import labels
from annotator.actions.labelling.labels import UnitGroup
from annotator.domain.kinds.artifact import Unit
from annotator.gui.pages.labelling.units.matrix_model import CELL_ROLE, Matrix
from tests.projects.labelled_protocols import GOLD, PLAN, PREDICTED, kept, one_item
from tests.windows.labelling_keys import focus, press, type_words

PROJECT = one_item


@pytest.fixture
def page(project, page_over):
    return page_over(project, "Label", protocol=PLAN)


def at(page) -> str:
    return page.bench.unit_id


def test_gold_goes_down_predicted_across_and_the_one_at_hand_is_in_full(page):
    matrix = page.criteria.matrix
    assert (matrix.model.rowCount(), matrix.model.columnCount()) == (3, 3)
    assert [matrix.model.index(n, 0).data() for n in range(3)] == list(GOLD)
    assert (matrix.predicted.text(), matrix.words.text()) == ("Predicted 1 of 2", PREDICTED[0])
    assert focus() is matrix.table


def test_the_model_keeps_qts_contract(page, qtmodeltester):
    qtmodeltester.check(page.criteria.matrix.model)


def test_the_arrows_go_in_four_directions_and_stop_at_the_words(page):
    press("Down")
    press("Right")
    assert at(page) == "p2~g2"
    assert page.criteria.matrix.words.text() == PREDICTED[1]
    press("Left", 3)
    press("Up", 5)
    assert at(page) == "p1~g1"


def test_digits_fill_the_column_and_go_on_to_the_next(page):
    for key in ("1", "2", "-"):
        press(key)
    assert kept(page) == {"p1~g1": "relevant", "p1~g2": "not", "p1~g3": None}
    assert at(page) == "p2~g1"
    press("4")
    assert len(kept(page)) == 3


def test_the_rest_of_a_column_is_not_relevant_by_one_key_and_undone_by_one(page):
    press("Down")
    press("1")
    assert page.bar.buttons["say_rest"].text().startswith("Rest not relevant")
    press("0")
    assert kept(page) == {"p1~g1": "not", "p1~g2": "relevant", "p1~g3": "not"}
    assert at(page) == "p2~g1"
    press("Ctrl+Z")
    assert kept(page) == {"p1~g2": "relevant"}
    assert page.queue.tasks[0].labelled == 1


def test_both_readings_are_named_and_counted_when_all_is_decided(page):
    words = page.criteria.matrix.readings
    assert "one-to-one" in words.text()
    assert "any-match" in words.text()
    press("1")
    press("0")
    press("2")
    press("1")
    press("1")
    assert (
        "One-to-one (each sub-task matches at most one): 2 of 2 predicted right, 2 of 3 gold" in words.text()
    )
    assert "Any-match (any relevant cell counts): 2 of 2 predicted right, 3 of 3 gold found" in words.text()


def test_a_note_belongs_to_the_cell_it_was_typed_at(page):
    press("Ctrl+M")
    type_words("12 alike")
    press("Ctrl+J")
    found = labels.sheet(page.desk.project, page.bench.response_id, PLAN).labels
    assert {unit: label.note for unit, label in found.items()} == {"p1~g1": "12 alike"}
    assert (at(page), page.criteria.details.note.toPlainText()) == ("p1~g2", "")


def test_the_report_comes_and_goes_with_its_key(page):
    assert not page.report_pane.isVisible()
    press("F4")
    assert page.report_pane.isVisible()
    press("F4")
    assert not page.report_pane.isVisible()


def test_pressing_a_cell_goes_to_it_and_pressing_words_does_not(page, qtbot):
    table = page.criteria.matrix.table
    for column, there in ((2, "p2~g3"), (0, "p2~g3")):
        place = table.visualRect(table.model().index(2, column)).center()
        qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert at(page) == there


def test_done_too_early_says_how_many_cells_are_open(page):
    press("1")
    press("Ctrl+Return")
    assert page.criteria.open_list.said() == "5 cells are still open:"


def test_a_cell_shows_that_a_flag_or_a_note_stands_beside_it(page):
    press("Ctrl+G")
    press("Down")
    press("Ctrl+M")
    type_words("alike")
    press("Esc")
    model = page.criteria.matrix.model
    assert [model.index(row, 1).data(CELL_ROLE).marked for row in range(3)] == ["flag", "note", ""]
    assert focus() is page.criteria.matrix.table


def test_a_plan_drawn_from_a_report_is_never_read_as_markup(qapp):
    model = Matrix()
    unit = Unit(id="c", text="Gold")
    group = UnitGroup((unit,), {"predicted": "<img src='file:///secret.png'>"}, ())
    model.lay_out(PLAN, [group], lambda _: "", lambda _: "")
    tip = model.headerData(1, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert "&lt;img" in tip
    assert "<img" not in tip
