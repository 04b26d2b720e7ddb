"""Claims on the label page: each with its context and the page it cites, answered by keys."""

import pytest
from PySide6.QtWidgets import QPushButton

from annotator.actions.results import result_raters
from annotator.gui.pages.labelling.units.unit_card import CardQuestion, UnitCard
from annotator.gui.widgets.basics import PlainLabel
from tests.projects.labelled_protocols import CLAIMS, GOOD, PAGE, kept, one_item
from tests.projects.labelling_project import REPORT
from tests.windows.labelling_keys import focus, press, type_words

PROJECT = one_item


@pytest.fixture
def page(project, page_over):
    return page_over(project, "Label", protocol=CLAIMS)


def test_claim_context_and_page_are_in_view_together(page):
    card = page.criteria.row
    assert card.words.text() == "The first study measured 75 %."
    assert card.context.isVisible()
    assert card.context.text() == "“The *first* study measured 75 % citation accuracy.”"
    assert page.report_pane.beside.isVisible()
    assert page.report_pane.beside.report.text() == PAGE
    assert page.report_pane.beside.head.text() == f"Cited page: {GOOD}"


def test_the_claims_place_in_the_report_is_marked(page):
    view = page.report_pane.report
    (mark,) = view.marks("other")
    assert view.text()[mark.start : mark.end] == "The first study measured 75 % citation accuracy."


def test_keys_give_the_three_answers_and_unsure(page):
    press("1")
    press("-")
    assert kept(page) == {"c1": "yes", "c2": None}
    assert page.criteria.rows["c2"].chip.words() == "Unsure"
    assert page.bench.unit_id == "c3"


def test_a_page_that_could_not_be_read_says_so_and_leaves_one_answer(page):
    press("Down", 2)
    assert page.report_pane.beside.banner.text() == "This page could not be read: not there. 404"
    enabled = [button.isEnabled() for button in page.criteria.details.verdicts.buttons]
    assert enabled == [False, False, True, True]
    assert page.bar.buttons["say_rest"].isVisible()
    press("0")
    assert kept(page) == {"c3": "unknown"}


@pytest.mark.parametrize("way", ["key", "button"])
def test_the_button_says_the_rest_as_its_key_does(page, way):
    press("Down", 2)
    press("0") if way == "key" else page.bar.buttons["say_rest"].click()
    assert kept(page) == {"c3": "unknown"}


def test_nothing_is_said_of_the_rest_of_a_page_that_can_be_read(page):
    assert not page.bar.buttons["say_rest"].isVisible()
    press("0")
    assert kept(page) == {}


def test_words_of_the_page_are_marked_as_evidence(page):
    press("F6", 2)
    assert focus() is page.report_pane.beside.report
    press("Ctrl+F")
    type_words("75 %")
    press("Return")
    press("Ctrl+E")
    label = page.bench.label("c1")
    assert (label.quote, label.quote_start) == ("75 %", None)
    beside = page.report_pane.beside.report
    assert [beside.text()[mark.start : mark.end] for mark in beside.marks("evidence")] == ["75 %"]
    assert page.report_pane.report.marks("evidence") == []


def test_words_of_the_report_keep_their_place(page):
    start = page.report_pane.report.text().index("Verified")
    page.report_pane.report.select(start, start + 8)
    press("Ctrl+E")
    label = page.bench.label("c1")
    assert REPORT[label.quote_start : label.quote_end] == label.quote == "Verified"


def test_page_keys_turn_the_page_that_decides(page, qtbot):
    beside = page.report_pane.beside.report
    beside.show_plain("line\n" * 400)
    qtbot.waitUntil(lambda: beside.verticalScrollBar().maximum() > 0)
    press("PgDown")
    assert beside.verticalScrollBar().value() > 0
    assert page.report_pane.report.verticalScrollBar().value() == 0


def test_what_was_not_handed_out_is_submitted_report_by_report_and_stays_open(page):
    press("1", 2)
    press("3")
    assert "All 3 claims of this report are labelled." in page.messages.text()
    assert page.bar.buttons["submit"].text().startswith("Submit")
    assert "people" not in [one.name for one in result_raters.raters(page.desk.project, CLAIMS)]
    press("Ctrl+Return")
    assert [one.name for one in result_raters.raters(page.desk.project, CLAIMS)] == ["people"]
    assert page.done.isVisible()
    words = [label.text() for label in page.done.findChildren(PlainLabel)]
    assert words[:2] == ["All labelled and submitted", "3 claims in 1 report. Thank you."]
    assert not any(b.isVisible() and "Submit" in b.text() for b in page.done.findChildren(QPushButton))


def test_surroundings_that_say_no_more_than_the_claim_are_left_out(page):
    assert page.criteria.rows["c2"]._context() == "“A closing remark on cost”"
    same = page.bench.units[1].model_copy(update={"context": "Cost doubled.[3]"})
    assert UnitCard(CardQuestion(CLAIMS, same, 1, 1, ()), "").context.text() == ""
