"""The keys of the Adjudicate page: none fires where something is typed, and looking changes nothing."""

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from annotator.actions.project import people
from annotator.domain.experts.adjudication import Confidence, Reason
from annotator.domain.experts.assignment import Role
from annotator.gui import keys
from annotator.gui.review.field_chips import REASONS
from tests.material.content_hash import content_hash
from tests.projects.adjudication_project import scripts_project
from tests.projects.pairs_project import ADA, BEN, pairs_project, rubric, rubrics_project, submit, work_as
from tests.windows.adjudicating_window import (
    COMPARES,
    COST,
    NAMES,
    adjudicate,
    go,
    key_of,
    letter,
    row_of,
)
from tests.windows.labelling_keys import press, type_words
from tests.windows.settling import settle


@pytest.fixture
def page(tmp_path, window_over, qtbot):
    return adjudicate(rubrics_project(tmp_path), window_over, qtbot)


def test_every_act_on_a_row_has_its_key_and_is_taken_back(page):
    here = page.bench.ruling_id
    for key, take in (("1", "A"), ("2", "B"), ("3", "both"), ("4", "own"), ("0", "drop")):
        press(key)
        assert page.bench.rows[here].ruling.take == take
        press("Esc")
        page.bench.move_to(here)
        press("Backspace")
        assert page.bench.rows[here].ruling.open
    for act, reason, _ in REASONS:
        press(keys.shown(act))
        assert page.bench.row.ruling.reason is reason
        press(keys.shown(act))
        assert page.bench.row.ruling.reason is None
    for number, confidence in enumerate(Confidence, start=1):
        press(f"Alt+Shift+{number}")
        assert page.bench.row.ruling.confidence is confidence


def test_a_digit_on_the_weight_of_an_own_wording_chooses_the_weight(page):
    press("4")
    press("Tab")
    press("1")
    assert page.bench.row.ruling.take == "own"
    assert page.bench.row.ruling.own["weight"] == 1
    press("Esc")
    here = page.bench.ruling_id
    press("1")
    assert page.bench.rows[here].ruling.take == "A"


def test_enter_in_an_own_wording_goes_to_its_next_field(page):
    press("4")
    field = QApplication.focusWidget()
    press("Return")
    assert page.rows.own.isAncestorOf(QApplication.focusWidget())
    assert QApplication.focusWidget() is not field
    assert "\n" not in field.toPlainText()


def test_an_own_wording_and_its_rationale_are_checked_for_spelling(page):
    page.frame.speller._start.setInterval(0)
    press("4")
    own, rationale = QApplication.focusWidget(), page.rows.controls.rationale
    press("Ctrl+A")
    type_words("It recieves and ")
    rationale.setFocus()
    type_words("A raport is ")
    settle(page)
    for field, word in ((own, "recieves"), (rationale, "raport")):
        assert [one.cursor.selectedText() for one in field.extraSelections()] == [word]


@pytest.mark.parametrize("key", ["1", "Alt+1", "Ctrl+J", "Ctrl+U"])
def test_no_key_fires_while_an_input_method_composes(page, key):
    agreed = go(page, "Explains").ruling.id
    press("Alt+0")
    go(page, COMPARES)
    press("4")
    here, before = page.bench.ruling_id, page.bench.row.ruling
    QApplication.sendEvent(QApplication.focusWidget(), QInputMethodEvent("ni", []))
    press(key)
    assert page.bench.ruling_id == here
    assert (page.bench.row.ruling.take, page.bench.row.ruling.reason) == (before.take, before.reason)
    assert page.bench.unconfirmed == [agreed]


def test_the_next_unresolved_row_is_found_around_the_end(page):
    page.bench.move_to(list(page.bench.rows)[-1])
    press("Ctrl+J")
    assert page.bench.row.number == 2


def test_next_open_stays_in_an_item_while_a_row_of_it_is_open(tmp_path, window_over, qtbot):
    page = adjudicate(scripts_project(tmp_path), window_over, qtbot)
    bench = page.bench
    page._open(page.queue.lines[2])
    while len(bench.lacking) > 1:
        press("3" if len(bench.row.units) == 2 else "0")
        press("Alt+2")
    press("Ctrl+J")
    assert bench.sheet.item_key == "3"
    press("0")
    press("Alt+2")
    assert bench.sheet.item_key == "3"
    press("Ctrl+J")
    assert bench.sheet.item_key == "1"


def test_of_three_the_key_of_a_letter_says_which_stands_alone(tmp_path, window_over, qtbot):
    project = pairs_project(tmp_path)
    submit(project, {"Ada": rubric(ADA, "a"), "Ben": rubric(BEN, "b"), "Dan": rubric(ADA[:2], "d")})
    page = adjudicate(work_as(project, "Cleo"), window_over, qtbot)
    go(page, COMPARES)
    press("Ctrl+Shift+P")
    assert "1 A, 2 B, 5 C" in page.messages.text()
    press("5")
    assert page.bench.row.units.keys() == {"A", "B"}
    assert page.bench.row.ruling.open


def test_a_new_row_is_worded_at_once(page):
    go(page, NAMES)
    number = page.bench.row.number
    press("Ctrl+N")
    type_words("States 1 limit of the study")
    press("Esc")
    assert page.bench.row.number == number + 1
    assert page.bench.row.made[0][0].text == "States 1 limit of the study"
    assert page.bench.row.ruling.reason is Reason.MISSING


def test_a_reason_given_while_typing_does_not_move_on(page):
    here = page.bench.ruling_id
    press("1")
    press("Up")
    press("Ctrl+M")
    type_words("Short")
    press("Alt+1")
    type_words("er")
    press("Esc")
    assert page.bench.ruling_id == here
    assert page.bench.row.ruling.rationale == "Shorter"


def test_keys_typed_past_the_last_row_rule_on_none_again(page):
    while any(page.bench.rows[each].ruling.open for each in page.bench.unresolved(contested=True)):
        press("0")
    here = page.bench.ruling_id
    press("3")
    assert page.bench.row.ruling.take == "drop"
    assert "still lack a reason" in page.messages.text()
    press("Backspace")
    assert (page.bench.ruling_id, page.bench.row.ruling.open) == (here, True)
    press("0")
    assert page.bench.rows[here].ruling.take == "drop"


def test_a_letter_that_wrote_nothing_cannot_be_taken(page):
    go(page, COST)
    press(key_of(page, "Ben"))
    assert page.bench.row.ruling.open
    assert f"{letter(page, 'Ben')} is not available" in page.window().messages.text()


def test_a_click_on_a_card_takes_the_row_up(page):
    card = page.rows.cards[row_of(page, COST).ruling.id]
    page.rows.area.ensureWidgetVisible(card)
    QTest.mouseClick(card, Qt.MouseButton.LeftButton, pos=card.number.geometry().center())
    assert page.bench.row.number == row_of(page, COST).number


def test_stepping_through_the_queue_changes_nothing(sample, window_over, qtbot):
    sample.work_as(next(person for person in people.people(sample) if person.has(Role.ADJUDICATOR)))
    before = content_hash(sample)
    page = adjudicate(sample, window_over, qtbot)
    waiting = [line.state for line in page.queue.lines]
    assert waiting.count("not begun") > 1
    for line in page.queue.lines:
        page._open(line)
        assert page.bench.rows
        for _ in page.bench.rows:
            page.bench.step(1)
        page.bench.show_votes(True)
        page.bench.show_votes(False)
        page.leave()
    assert [line.state for line in page.queue.lines] == waiting
    assert content_hash(sample) == before


def test_nothing_of_the_page_is_ever_a_window_of_its_own(qapp, tmp_path, window_over, qtbot):
    shown = []

    class Watch(QObject):
        def eventFilter(self, watched, event):
            if event.type() == QEvent.Type.Show and watched.isWidgetType() and watched.isWindow():
                shown.append(type(watched).__name__)
            return False

    watch = Watch()
    qapp.installEventFilter(watch)
    page = adjudicate(scripts_project(tmp_path), window_over, qtbot)
    for key in (
        "1",
        "Alt+1",
        "4",
        "Esc",
        "Ctrl+J",
        "Ctrl+P",
        "Esc",
        "F9",
        "F9",
        "F4",
        "F8",
        "F4",
        "Ctrl+Return",
    ):
        press(key)
    page._open(page.queue.lines[2])
    qapp.removeEventFilter(watch)
    assert shown == ["Window"]
