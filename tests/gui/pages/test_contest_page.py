"""The Contest page: pairs ranked blind by key, a judge's rounds, and which tasks are kept."""

import json

import pytest
from llmock.pytest_plugin import LLMock

from annotator.actions.contests import contest_rows
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.project import people
from tests.actions.contests.contest_project import contest_project
from tests.windows.using import Typed, be_active, press, settle


@pytest.fixture
def window(tmp_path, window_over):
    return window_over(contest_project(tmp_path), "Contest")


def ranked(page):
    project = page.session.project
    return contest_rows.showings(project, people.someone(project).id)


def test_the_last_one_is_taken_back_and_shown_again_and_nothing_that_was_done_elsewhere(window, qtbot):
    be_active(window, qtbot)
    page = window.page.ranking
    shown = "".join(field.toPlainText() for field in page.texts.values())
    assert "Difficulty: " in shown
    # Which seminar a task is of is told nowhere.
    assert "s1" not in shown
    assert "Seminar" not in shown
    before = page.texts["first"].toPlainText()
    for key in ("Backspace", "Ctrl+Z"):
        page.buttons["second", 4].click()
        page.focus_first()
        press(key)
        assert (ranked(page), page.texts["first"].toPlainText()) == ([], before)
        assert not page.bar.buttons["take_back"].isEnabled()
    page.buttons["second", 4].click()
    (item_id, *_) = items.ids(page.session.project)
    page.session.do(items.change, item_id, subject="Hydrogen")
    page.focus_first()
    press("Backspace")
    assert "nothing to take back on this page" in window.messages.text()
    assert (len(ranked(page)), items.read(page.session.project, item_id).subject) == (1, "Hydrogen")


def test_after_the_pairs_agreed_on_further_ones_are_offered_and_digits_in_top_rank_nothing(window, qtbot):
    be_active(window, qtbot)
    page = window.page.ranking
    for _ in range(5):
        page.buttons["first", 3].click()
    assert (page.summary.isHidden(), page.bar.progress.text()) == (True, "5 ranked, 1 left")
    page.buttons["first", 3].click()
    assert not page.summary.isHidden()
    assert (
        "Further pairs still help: of your top 1, 1 cannot be told from the one below" in page.summary.text()
    )
    assert (page.bar.progress.text(), page.top.value()) == ("6 ranked", 1)
    page.top.setValue(4)
    assert "of your top 4, 4 cannot" in page.summary.text()
    assert page.top.maximum() == 11
    before = page.texts["first"].toPlainText()
    page.buttons["second", 2].click()
    page.focus_first()
    press("Backspace")
    assert (len(ranked(page)), page.texts["first"].toPlainText()) == (6, before)
    page.top.setFocus()
    page.top.selectAll()
    press("3")
    assert len(ranked(page)) == 6
    press("Return")
    assert (page.top.value(), "of your top 3" in page.summary.text(), page.top.hasFocus()) == (3, True, False)


MATCHES = "first,second,winner,confidence,rater\nt01,t07,t01,0.9,m\nt02,t08,t02,0.8,m\nt03,t09,t03,0.7,m\n"


@pytest.fixture
def project(tmp_path):
    project = contest_project(tmp_path)
    (tmp_path / "m.csv").write_text(MATCHES, "utf-8")
    contest_rows.import_matches(project, tmp_path / "m.csv")
    return project


@pytest.fixture
def page(project, window_over, qtbot):
    window = be_active(window_over(project, "Contest"), qtbot)
    press("Alt+3")
    settle(window.page)
    return window.page


def test_a_reason_that_is_being_typed_stays_while_something_else_changes(page, project):
    press("Ctrl+L", Typed("Needs a lic"))
    page.session.do(items.change, items.ids(project)[0], subject="Hydrogen")
    settle(page)
    assert page.keeping.reason.text() == "Needs a lic"
    press("Down", at=page.keeping.table)
    assert page.keeping.reason.text() == ""


SCORES = {"clarity": 4, "actionability": 4, "novelty": 3, "depth_fit": 4, "consistency": 5}


def test_a_model_compares_what_is_estimated_before_and_its_missing_answers_are_told(
    tmp_path, window_over, llmock: LLMock, qtbot
):
    project = contest_project(tmp_path)
    judges.add(project, "mock", base_url=llmock.base_url(), model="gpt-4o-mini")
    window = be_active(window_over(project, "Contest"), qtbot)
    press("Alt+2")
    settle(window.page)
    part = window.page.comparing
    assert part.judge.currentText() == "mock"
    part.rounds.setValue(1)
    qtbot.waitUntil(lambda: "12 comparisons" in part.words.text())
    # Less sure than even: nobody can read it.
    says = {"first": SCORES, "second": SCORES, "reason": "So.", "better": "first", "confidence": 0.3}
    llmock.reply(json.dumps(says), times=None)
    qtbot.waitUntil(part.bar.buttons["start_contest"].isEnabled)
    with qtbot.waitSignal(part.run.ended, timeout=60_000):
        press("Ctrl+Shift+Return")
    settle(window.page)
    # Such a judge is not asked to the end; how many are under way by then hangs on the machine.
    assert "reply not readable" in part.answer.text()
    showings = contest_rows.showings(project, contest_rows.rater_named(project, "mock").id)
    assert 1 <= [showing.status for showing in showings].count("invalid") <= 12
    assert not [showing for showing in showings if showing.value]
