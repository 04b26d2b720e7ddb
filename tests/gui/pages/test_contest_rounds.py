"""The Compare tab of the Contest page: a judge's rounds by keyboard, matches from a file, and who has compared."""

import json

import pytest
from llmock.pytest_plugin import LLMock

from annotator.actions.contests import contest_rows
from annotator.actions.judges import judges
from tests.actions.contests.contest_project import contest_project
from tests.windows.judges_window import choose
from tests.windows.labelling_keys import be_active, press
from tests.windows.settling import settle

SCORES = {"clarity": 4, "actionability": 4, "novelty": 3, "depth_fit": 4, "consistency": 5}
SAYS = {"first": SCORES, "second": SCORES, "reason": "So.", "better": "first", "confidence": 0.8}


@pytest.fixture
def project(tmp_path, llmock: LLMock):
    project = contest_project(tmp_path)
    judges.add(project, "mock", base_url=llmock.base_url(), model="gpt-4o-mini")
    return project


@pytest.fixture
def page(project, window_over, qtbot):
    window = window_over(project, "Contest")
    be_active(window, qtbot)
    press("Alt+2")
    settle(window.page)
    return window.page


def compared(page, qtbot):
    """The rounds are held; what the message says."""
    part = page.comparing
    qtbot.waitUntil(part.bar.buttons["start_contest"].isEnabled)
    with qtbot.waitSignal(part.run.ended, timeout=60_000):
        press("Ctrl+Shift+Return")
    settle(page)
    return part.answer.text()


def lines(part):
    return [[cell.words for cell in line.cells] for line in part.model.whole.lines]


def rounds_of(project, name):
    rater = contest_rows.rater_named(project, name)
    return [one.round for one in contest_rows.showings(project, rater.id)]


def test_the_baseline_holds_two_rounds_then_one_near_the_cut_by_keys(page, project, qtbot):
    part = page.comparing
    choose(part.judge, next(one.id for one in judges.all_of(project) if one.name == "baseline"))
    assert "All rounds are held" in compared(page, qtbot)
    # Twelve tasks meet in six pairs, each in both orders, in two rounds.
    assert lines(part) == [["baseline", "judge", "24", "2", "0", "0"]]
    qtbot.waitUntil(lambda: "has held these" in part.words.text())
    assert not part.bar.buttons["start_contest"].isEnabled()
    choose(part.pairs, "near")
    part.both.setChecked(False)
    part.top.setValue(3)
    part.rounds.setValue(3)
    assert "All rounds are held" in compared(page, qtbot)
    third = rounds_of(project, "baseline").count(3)
    assert 1 <= third <= 6
    assert set(rounds_of(project, "baseline")) == {1, 2, 3}


def test_a_model_compares_what_is_estimated_before_and_its_missing_answers_are_told(
    page, project, llmock, qtbot
):
    part = page.comparing
    assert part.judge.currentText() == "mock"
    part.rounds.setValue(1)
    qtbot.waitUntil(lambda: "12 comparisons" in part.words.text())
    llmock.reply(json.dumps({**SAYS, "confidence": 0.3}), times=None)
    # A judge that nobody can read is not asked to the end; how many are under way by then hangs on the machine.
    assert "reply not readable" in compared(page, qtbot)
    showings = contest_rows.showings(project, contest_rows.rater_named(project, "mock").id)
    assert 1 <= [one.status for one in showings].count("invalid") <= 12
    assert not [one for one in showings if one.value]


def test_matches_come_in_from_a_file_once_and_a_bad_one_brings_none(page, project, tmp_path, qtbot):
    part = page.comparing
    file = tmp_path / "m.csv"
    head = "first,second,winner,confidence,rater\n"
    file.write_text(f"{head}t01,t02,t01,0.8,gpt\nt03,t04,t04,0.3,gpt\n", "utf-8")
    part.import_file(file)
    settle(page)
    assert lines(part) == []
    assert "row 3: A confidence of 0.3" in page.window().messages.text()
    file.write_text(f"{head}t01,t02,t01,0.8,gpt\n", "utf-8")
    for words in ("Imported 1 match (by gpt 1).", "were imported before"):
        part.import_file(file)
        settle(page)
        assert words in part.answer.text()
        assert lines(part) == [["gpt", "judge", "1", "1", "0", "0"]]
    press("Alt+3")
    settle(page)
    assert page.keeping.model.rowCount() == 12
