"""Evidence: words selected in the report are kept with their place in its own text, and shown again."""

import pytest
from PySide6.QtCore import Qt

from annotator.actions.labelling import labels
from annotator.gui.widgets.reading import report_pages
from tests.projects.labelling_project import REPORT, SYSTEMS, add_report, labelling_project
from tests.windows.labelling_keys import focus, press, type_words

PROJECT = labelling_project


@pytest.fixture
def page(project, page_over):
    return page_over(project, "Label")


def kept(page, place=0):
    unit_id = page.bench.units[place].id
    return labels.sheet(page.desk.project, page.bench.response_id).labels[unit_id]


def marked(page) -> list[str]:
    text = page.report_pane.report.text()
    return [text[mark.start : mark.end] for mark in page.report_pane.report.marks("evidence")]


def select_by_keys(words: int) -> None:
    """From the criterion into the report, to the second paragraph, and over some words."""
    press("F6")
    press("Ctrl+Home")
    press("Down")
    press("Home")
    press("Ctrl+Shift+Right", words)


def test_words_selected_by_keyboard_are_kept_as_they_stand_in_the_reports_own_text(page):
    select_by_keys(7)
    press("Ctrl+E")
    label = kept(page)
    assert label.quote == "Attribution ties each **claim** to a source"
    assert REPORT[label.quote_start : label.quote_end] == label.quote


def test_marking_shows_the_passage_and_leaves_nothing_selected(page):
    select_by_keys(4)
    press("Ctrl+E")
    assert marked(page) == ["Attribution ties each claim"]
    assert page.report_pane.report.selected_text() == ("", -1, -1)
    assert page.criteria.details.show_evidence.text() == "“Attribution ties each claim”"


def test_a_long_report_with_evidence_comes_in_slices_and_is_marked_once_it_is_there(page, qtbot, monkeypatch):
    select_by_keys(4)
    press("Ctrl+E")
    monkeypatch.setattr(report_pages, "AT_ONCE", 0)
    page.report_pane._show_texts()
    page.report_pane._show_unit()
    report = page.report_pane.report
    assert (report.loading, report.marks()) == (True, [])
    qtbot.waitUntil(lambda: bool(report.marks("evidence")))
    assert marked(page) == ["Attribution ties each claim"]


def test_marking_again_replaces_the_passage(page):
    select_by_keys(2)
    press("Ctrl+E")
    press("Ctrl+Home")
    press("Ctrl+Shift+Right", 2)
    press("Ctrl+E")
    assert kept(page).quote == "Evidence in"
    assert marked(page) == ["Evidence in"]


def test_words_found_by_searching_can_be_marked_without_selecting_them(page):
    press("Ctrl+F")
    type_words("verified PASSAGES")
    press("Return")
    press("Ctrl+E")
    assert kept(page).quote == "Verified passages"


def test_closing_the_search_leaves_what_it_found_selected(page):
    press("Ctrl+F")
    type_words("synthetic")
    press("Return")
    press("Esc")
    assert focus() is page.report_pane.report
    press("Ctrl+Shift+Right", 2)
    press("Ctrl+E")
    assert kept(page).quote == "Synthetic questions"


def test_nothing_selected_says_what_to_do_and_keeps_nothing(page):
    press("Ctrl+E")
    assert "No text is selected" in page.messages.text()
    assert page.bench.label(page.bench.unit_id) is None


def test_the_evidence_of_the_criterion_at_hand_is_the_one_that_is_marked(page):
    select_by_keys(2)
    press("Ctrl+E")
    press("Esc")
    press("Down")
    assert marked(page) == []
    press("Up")
    assert marked(page) == ["Attribution ties"]


def test_clearing_takes_the_passage_away_and_undo_brings_it_back(page, qtbot):
    select_by_keys(2)
    press("Ctrl+E")
    qtbot.mouseClick(page.criteria.details.clear_evidence, Qt.MouseButton.LeftButton)
    assert (kept(page).quote, kept(page).quote_start, marked(page)) == ("", None, [])
    press("Esc")
    press("Ctrl+Z")
    assert marked(page) == ["Attribution ties"]


def test_evidence_far_down_is_scrolled_to_when_its_criterion_is_taken_up(page, qtbot):
    long = "A paragraph of filling.\n\n" * 300 + "The needle stands here.\n"
    item_id = page.queue.tasks[3].item_id
    response_id = add_report(page.desk.project, item_id, SYSTEMS[0] + "-long", long)
    start = long.index("needle")
    labels.set_evidence(page.desk.project, response_id, f"{item_id}/c2", "needle", start, start + 6)
    page.window().show_page("Label", response_id=response_id)
    bar = page.report_pane.report.verticalScrollBar()
    assert bar.value() == 0
    press("Down")
    qtbot.waitUntil(lambda: bar.value() > bar.maximum() // 2)
    assert marked(page) == ["needle"]


def test_a_repeated_passage_is_marked_where_it_was_selected(page):
    text = "The same words. Again the same words. And the same words."
    item_id = page.queue.tasks[3].item_id
    response_id = add_report(page.desk.project, item_id, SYSTEMS[0] + "-same", text)
    page.window().show_page("Label", response_id=response_id)
    at = text.index("same words", 20)
    page.report_pane.report.select(at, at + 10)
    press("Ctrl+E")
    assert (kept(page).quote_start, kept(page).quote_end) == (at, at + 10)
    assert [mark.start for mark in page.report_pane.report.marks("evidence")] == [at]


def test_evidence_beyond_the_first_plane_keeps_its_place(page):
    text = "Before 😀😀 comes 证据归因 and after."
    item_id = page.queue.tasks[3].item_id
    response_id = add_report(page.desk.project, item_id, SYSTEMS[0] + "-wide", text)
    page.window().show_page("Label", response_id=response_id)
    at = text.index("证据归因")
    page.report_pane.report.select(at, at + 4)
    press("Ctrl+E")
    assert (kept(page).quote, kept(page).quote_start) == ("证据归因", at)


def steps_told(page) -> str:
    return page.report_pane.first.steps.told.text()


def kept_marks(page) -> list[str]:
    text = page.report_pane.report.text()
    return [text[mark.start : mark.end] for mark in page.report_pane.report.marks("kept")]


def test_the_passage_that_gives_way_is_named_and_can_be_put_back(page, qtbot):
    select_by_keys(2)
    press("Ctrl+E")
    assert page.messages.text() == ""
    press("Ctrl+Home")
    press("Ctrl+Shift+Right", 2)
    press("Ctrl+E")
    assert "“Attribution ties” was replaced by this passage as evidence" in page.messages.text()
    qtbot.mouseClick(page.messages._act, Qt.MouseButton.LeftButton)
    assert (kept(page).quote, marked(page)) == ("Attribution ties", ["Attribution ties"])


def test_evidence_of_other_criteria_stays_marked_and_is_stepped_through(page):
    select_by_keys(2)
    press("Ctrl+E")
    press("Esc")
    assert page.report_pane.first.steps.isHidden()
    press("Down")
    press("F6")
    press("Ctrl+Home")
    press("Ctrl+Shift+Right", 2)
    press("Ctrl+E")
    assert (marked(page), kept_marks(page)) == (["Evidence in"], ["Attribution ties"])
    assert steps_told(page) == "Passage 1 of 2"
    press("Alt+PgDown")
    assert page.bench.unit_id == page.bench.units[0].id
    assert (marked(page), kept_marks(page)) == (["Attribution ties"], ["Evidence in"])
    assert steps_told(page) == "Passage 2 of 2"
    press("Alt+PgDown")
    assert page.bench.unit_id == page.bench.units[1].id
