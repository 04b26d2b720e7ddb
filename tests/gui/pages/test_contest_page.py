"""The Contest page: one key a pair, blind, taken back, and words where there is nothing to rank."""

import pytest
from PySide6.QtCore import Qt

from annotator.actions.contests import contest_rows
from annotator.actions.project import people
from tests.actions.contests.contest_project import contest_project
from tests.projects.labelling_project import labelling_project


@pytest.fixture
def window(tmp_path, window_over):
    return window_over(contest_project(tmp_path), "Contest")


def ranked(page):
    project = page.desk.project
    return contest_rows.showings(project, people.someone(project).id)


@pytest.mark.parametrize(
    ("key", "value", "confidence"),
    [("1", "first", 0.95), ("5", "first", 0.5), ("6", "second", 0.5), ("0", "second", 0.95)],
)
def test_one_key_ranks_a_pair_and_shows_the_next(window, qtbot, key, value, confidence):
    page = window.page.ranking
    before = page.texts["first"].toPlainText()
    page.focus_first()
    qtbot.keyClick(page, getattr(Qt.Key, f"Key_{key}"))
    (row,) = ranked(page)
    assert (row.value, row.confidence) == (value, confidence)
    assert page.texts["first"].toPlainText() != before
    assert page.bar.progress.text() == "1 ranked, 5 left"


@pytest.mark.parametrize(
    ("key", "modifier"),
    [
        (Qt.Key.Key_Backspace, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier),
    ],
)
def test_the_last_one_is_taken_back_and_shown_again(window, qtbot, key, modifier):
    page = window.page.ranking
    before = page.texts["first"].toPlainText()
    page.buttons["second", 4].click()
    page.focus_first()
    qtbot.keyClick(page, key, modifier)
    assert ranked(page) == []
    assert page.texts["first"].toPlainText() == before
    assert not page.bar.buttons["take_back"].isEnabled()


def test_nothing_on_the_page_names_a_seminar(window):
    page = window.page.ranking
    shown = "".join(field.toPlainText() for field in page.texts.values())
    assert "Difficulty: " in shown
    assert "s1" not in shown
    assert "Seminar" not in shown


def test_when_all_is_ranked_the_page_says_where_the_standings_are(window):
    page = window.page.ranking
    for _ in range(6):
        page.buttons["first", 3].click()
    assert page.stack.currentIndex() == 1
    assert len(ranked(page)) == 6
    page._say("first", 3)
    assert len(ranked(page)) == 6


def test_without_tasks_the_page_says_what_is_lacking(tmp_path, window_over):
    page = window_over(labelling_project(tmp_path), "Contest").page.ranking
    assert page.stack.currentIndex() == 1
    assert not page.bar.buttons["take_back"].isEnabled()
    assert page.window().messages.text() == ""
