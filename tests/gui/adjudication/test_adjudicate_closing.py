"""How adjudicating ends: what is missing, closed and reopened, agreed in one go, and pages with nothing on them."""

import pytest

from annotator.actions.adjudication import feedback
from annotator.domain.experts.assignment import Stage
from annotator.gui.review.adjudication_queue import LineFilter
from tests.projects.pairs_project import (
    ADA,
    BEN,
    item,
    pairs_project,
    rubric,
    rubrics_project,
    submit,
    work_as,
)
from tests.windows.adjudicating_window import adjudicate, letter
from tests.windows.labelling_keys import press, type_words


@pytest.fixture
def page(tmp_path, window_over, qtbot):
    """Five criteria of Ada's against six of Ben's; the first is the same."""
    return adjudicate(rubrics_project(tmp_path), window_over, qtbot)


def settle_all(page) -> None:
    while page.bench.unresolved(contested=True):
        press("Ctrl+J")
        press("1" if "A" in page.bench.row.units else "2")
        if page.bench.lacks(page.bench.ruling_id):
            press("Alt+1")


def test_what_is_missing_is_listed_and_leads_to_its_row(page):
    press("1")
    press("Ctrl+Return")
    panel = page.frame.close_panel
    words = [panel.entries.item(row).text() for row in range(panel.entries.count())]
    assert words[0].startswith("Row 2 needs a reason.  Compares synthetic")
    assert not panel.confirm.isVisible()
    press("Down")
    press("Return")
    assert page.bench.row.number == 3
    press("Up", 2)
    press("Alt+0")
    press("Ctrl+Return")
    assert panel.confirm.text().startswith("Confirm 1 agreed row")
    press("Esc")
    assert not panel.isVisible()
    assert page.rows.card.hasFocus()


def test_closing_says_both_figures_each_by_its_name(page):
    settle_all(page)
    press("Ctrl+Return")
    # Four of five and six are matched: 8/11.
    assert "Frozen: match F1 0.73; by your pairing: match F1 0.73." in page.messages.text()
    page._open(page.queue.lines[0])
    standing = page.frame.standing
    assert standing.said.text().startswith("Closed as version 1: 7 criteria (1 from all, 6 from one)")
    frozen, by_hand = standing.figures.text().splitlines()
    assert frozen.startswith("Frozen before adjudication: match F1 0.73")
    assert by_hand.startswith("By your pairing: match F1 0.73")


def test_a_closed_item_is_reopened_only_with_a_reason(page):
    settle_all(page)
    press("Ctrl+Return")
    page._open(page.queue.lines[0])
    assert page.bench.locked
    page.frame.standing.reopen.click()
    assert page.bench.locked
    page.frame.standing.reason.setFocus()
    type_words("A second look")
    page.frame.standing.reopen.click()
    assert not page.bench.locked
    assert page.queue.lines[0].state == "reopened"


def test_a_dispute_stands_under_its_letter_until_it_is_answered(page):
    settle_all(page)
    press("Ctrl+Return")
    project = page.desk.project
    feedback.dispute(work_as(project, "Ben"), item(project), Stage.RUBRIC, "Weight 3 was meant.")
    page.window().show_page("Items")
    work_as(project, "Cleo")
    page.window().show_page("Adjudicate")
    (row,) = page.frame.standing.disputes.values()
    assert row.text.text() == f"{letter(page, 'Ben')} objects: Weight 3 was meant."
    row.answer.setFocus()
    type_words("It is a nice to have")
    row.send.click()
    assert page.frame.standing.disputes == {}
    assert page.queue.counted(LineFilter.CONFLICTS) == 0


def test_unanimous_items_are_confirmed_in_one_go_but_for_the_drawn_ones(tmp_path, window_over, qtbot):
    project = pairs_project(tmp_path, 4)
    for place in range(3):
        submit(project, {"Ada": rubric(ADA, "a"), "Ben": rubric(ADA, "b")}, place)
    submit(project, {"Ada": rubric(ADA, "a"), "Ben": rubric(BEN, "b")}, 3)
    page = adjudicate(work_as(project, "Cleo"), window_over, qtbot)
    page.frame.queue_pane.unanimous.click()
    panel = page.frame.unanimous
    assert panel.explained.text().startswith("1 is drawn at random")
    panel.confirm.click()
    qtbot.waitUntil(lambda: panel.said.text() == "2 confirmed and closed, 1 drawn for a spot check.")
    assert len(panel.drawn) == 1
    assert page.queue.counted(LineFilter.CLOSED) == 2
    panel.drawn[0].click()
    assert page.bench.sheet.spot_check
    assert page.frame.head.signs.words() == ["drawn for a spot check"]


@pytest.mark.parametrize(
    ("name", "headline"),
    [("Cleo", "Nobody has submitted anything yet"), ("Dan", "You are not an adjudicator of this project")],
)
def test_an_empty_page_says_what_comes_first(tmp_path, window_over, qtbot, name, headline):
    page = adjudicate(work_as(pairs_project(tmp_path), name), window_over, qtbot, begin=False)
    assert page.frame.currentWidget()._headline.text() == headline


def test_nothing_is_frozen_while_one_side_is_missing(tmp_path, window_over, qtbot):
    project = pairs_project(tmp_path)
    submit(project, {"Ada": rubric(ADA, "a")})
    page = adjudicate(work_as(project, "Cleo"), window_over, qtbot, begin=False)
    assert page.frame.currentWidget()._headline.text() == "No agreement is frozen yet"


def test_whoever_answered_everything_is_told_so(tmp_path, window_over, qtbot):
    project = pairs_project(tmp_path)
    submit(project, {"Ada": rubric(ADA, "a"), "Cleo": rubric(BEN, "b")})
    page = adjudicate(work_as(project, "Cleo"), window_over, qtbot, begin=False)
    assert page.frame.currentWidget()._headline.text() == "You have answered all of these items yourself"


def test_all_done_says_how_much(page):
    settle_all(page)
    press("Ctrl+Return")
    assert page.frame.middle.currentWidget() is page.frame.done
    assert page.frame.done._words.text().startswith("1 is closed")


def test_the_queue_keeps_qts_contract_and_the_open_line(page, qtmodeltester):
    qtmodeltester.check(page.queue)
    page.frame.queue_pane.show_only(LineFilter.CLOSED)
    assert page.queue.rowCount() == 1
    page.frame.queue_pane.search.setText("nothing of the kind")
    assert page.queue.row_of(page.bench.place) == 0
    page.frame.queue_pane.search.setText("")


def test_the_consensus_keeps_qts_contract(page, qtmodeltester):
    press("3")
    qtmodeltester.check(page.frame.consensus.model)
