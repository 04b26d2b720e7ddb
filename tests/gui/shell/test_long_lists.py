"""A list longer than what is fetched at once: shown at its beginning first, whole soon after, places kept."""

import pytest

from annotator.actions.items import items
from annotator.gui.pages.items import items_model as models
from annotator.gui.pages.items.items_model import ItemsModel


@pytest.fixture
def many(small, monkeypatch):
    for number in range(3, 13):
        items.add(small, f"How many grains make heap {number}?")
    monkeypatch.setattr(models, "FIRST", 5)
    return small


def keys(model):
    return [model.line(row).key for row in range(model.rowCount())]


def test_the_rest_of_a_long_list_comes_after_its_beginning(many, window_over, qtbot):
    model = ItemsModel(window_over(many).desk)
    model.narrow(items.Filter())
    assert model.rowCount() == 5
    qtbot.waitUntil(lambda: model.rowCount() == 12)
    assert keys(model) == [str(number) for number in range(1, 13)]


def test_a_list_that_grew_keeps_qts_contract(many, window_over, qtbot, qtmodeltester):
    page = window_over(many).page
    qtbot.waitUntil(lambda: page._model.rowCount() == 12)
    qtmodeltester.check(page._model)
    assert page.count.text() == "12 items"


def test_the_rest_of_what_is_no_longer_asked_for_is_let_be(many, window_over, qtbot):
    window = window_over(many)
    model = ItemsModel(window.desk)
    model.narrow(items.Filter())
    model._fetch_rest()
    model.narrow(items.Filter(words="residual"))
    qtbot.waitUntil(lambda: not window.desk._errands)
    assert keys(model) == ["1"]


def test_an_item_chosen_far_down_is_chosen_again_when_the_page_is_shown_anew(many, window_over, qtbot):
    page = window_over(many).page
    qtbot.waitUntil(lambda: page._model.rowCount() == 12)
    page.table.selectRow(10)
    page.arrive({})
    qtbot.waitUntil(lambda: page._row() == 10)
    assert page._model.id_at(page._row()) == items.ids(many)[10]


def test_an_unknown_item_has_no_row(many, window_over):
    model = ItemsModel(window_over(many).desk)
    model.narrow(items.Filter())
    assert model.row_of("nowhere") == -1
    assert model.row_of(items.ids(many)[3]) == 3
