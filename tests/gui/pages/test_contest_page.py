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


def rank_all(page):
    """The task that comes first in the alphabet is always the better; how many were ranked until none is left."""
    for _ in range(200):
        if page.stack.currentIndex() == 1:
            break
        first, second = (page.texts[side].toPlainText() for side in ("first", "second"))
        page.buttons["first" if first < second else "second", 4].click()
    return len(ranked(page))


def test_after_the_pairs_agreed_on_further_ones_are_offered_and_the_page_says_so(window):
    page = window.page.ranking
    for _ in range(5):
        page.buttons["first", 3].click()
    assert page.told.isHidden()
    assert page.bar.progress.text() == "5 ranked, 1 left"
    page.buttons["first", 3].click()
    assert not page.told.isHidden()
    assert "Further pairs still help: of your top 1, 1 cannot be told from the one below" in page.told.text()
    assert (page.bar.progress.text(), page.top.value()) == ("6 ranked", 1)
    page.top.setValue(4)
    assert "of your top 4, 4 cannot" in page.told.text()
    assert page.top.maximum() == 11


def test_a_further_pair_is_taken_back_and_digits_in_top_rank_nothing(window, qtbot):
    page = window.page.ranking
    for _ in range(6):
        page.buttons["first", 3].click()
    before = page.texts["first"].toPlainText()
    page.buttons["second", 2].click()
    page.focus_first()
    qtbot.keyClick(page, Qt.Key.Key_Backspace)
    assert (len(ranked(page)), page.texts["first"].toPlainText()) == (6, before)
    page.top.setFocus()
    page.top.selectAll()
    qtbot.keyClick(page.top, Qt.Key.Key_3)
    assert len(ranked(page)) == 6
    qtbot.keyClick(page.top, Qt.Key.Key_Return)
    assert (page.top.value(), "of your top 3" in page.told.text(), page.top.hasFocus()) == (3, True, False)


def test_when_no_pair_tells_more_the_page_says_where_the_standings_are(window):
    page = window.page.ranking
    many = rank_all(page)
    assert 6 < many <= 66
    words = page.empty._words.text()
    assert words.startswith(f"You have ranked {many}; no further pair would tell more about the order")
    page._say("first", 3)
    assert len(ranked(page)) == many
    assert (page.told.isHidden(), page.top.isHidden(), page.top.value()) == (True, False, 1)
    page.top.setValue(8)
    assert page.stack.currentIndex() == 0
    assert "of your top 8" in page.told.text()


def test_without_tasks_the_page_says_what_is_lacking(tmp_path, window_over):
    page = window_over(labelling_project(tmp_path), "Contest").page.ranking
    assert page.stack.currentIndex() == 1
    assert not page.bar.buttons["take_back"].isEnabled()
    assert page.window().messages.text() == ""
