"""The keys of the Adjudicate page: every act has one, and none fires where something is being typed."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from annotator.domain.experts.adjudication import Confidence, Reason
from annotator.gui import keys
from annotator.gui.review.ruling_words import REASONS
from tests.projects.adjudication_project import scripts_project
from tests.projects.pairs_project import ADA, BEN, pairs_project, rubric, rubrics_project, submit, work_as
from tests.windows.adjudicating_window import (
    COMPARES,
    COST,
    NAMES,
    OPEN,
    adjudicate,
    go,
    key_of,
    letter,
    row_of,
)
from tests.windows.labelling_keys import press, type_words


@pytest.fixture
def page(tmp_path, window_over, qtbot):
    return adjudicate(rubrics_project(tmp_path), window_over, qtbot)


@pytest.mark.parametrize(
    ("key", "take"), [("1", "A"), ("2", "B"), ("3", "both"), ("4", "own"), ("0", "drop")]
)
def test_a_digit_rules(page, key, take):
    here = page.bench.ruling_id
    press(key)
    assert page.bench.rows[here].ruling.take == take


@pytest.mark.parametrize(("act", "reason", "_"), REASONS)
def test_every_reason_has_one_key(page, act, reason, _):
    here = page.bench.ruling_id
    press("1")
    press(keys.shown(act))
    assert page.bench.rows[here].ruling.reason is reason


def test_the_same_reason_again_takes_it_back(page):
    press("Alt+1")
    press("Alt+1")
    assert page.bench.row.ruling.reason is None


@pytest.mark.parametrize(("number", "confidence"), list(enumerate(Confidence, start=1)))
def test_confidence_has_keys(page, number, confidence):
    press(f"Alt+Shift+{number}")
    assert page.bench.row.ruling.confidence is confidence


def test_digits_typed_into_a_field_rule_nothing(page):
    press("Ctrl+M")
    type_words("1 of 2, not 0")
    press("Esc")
    assert page.bench.row.ruling.open
    assert page.bench.row.ruling.rationale == "1 of 2, not 0"


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


def test_a_ruling_is_taken_back_by_its_key(page):
    go(page, NAMES)
    press("1")
    press("Alt+0")
    assert page.bench.row.ruling.open


def test_a_key_held_down_rules_on_one_row(page):
    go(page, COST)
    for act in ("take_a", "take_b", "drop_unit"):
        assert not any(shortcut.autoRepeat() for shortcut in page._shortcuts[act])


def test_arrows_go_from_row_to_row(page):
    number = page.bench.row.number
    press("Down")
    assert page.bench.row.number == number + 1
    press("Up", 9)
    assert page.bench.row.number == 1


def test_the_next_unresolved_row_is_found_around_the_end(page):
    page.bench.move_to(list(page.bench.rows)[-1])
    press("Ctrl+J")
    assert page.bench.row.number == 2


def test_next_open_stays_in_an_item_while_a_row_of_it_is_open(tmp_path, window_over, qtbot):
    page = adjudicate(scripts_project(tmp_path), window_over, qtbot)
    page._open(page.queue.lines[2])
    while (
        len([each for each in page.bench.unresolved(contested=True) if page.bench.rows[each].ruling.open]) > 1
    ):
        press("3" if len(page.bench.row.units) == 2 else "0")
        press("Alt+2")
    assert list(page.bench.lacking) == [page.bench.ruling_id]
    press("Ctrl+J")
    assert page.bench.sheet.item_key == "3"


def test_after_the_last_row_comes_the_next_item(tmp_path, window_over, qtbot):
    page = adjudicate(scripts_project(tmp_path), window_over, qtbot)
    page._open(page.queue.lines[2])
    while page.bench.unresolved(contested=True):
        press("3" if len(page.bench.row.units) == 2 else "0")
        if page.bench.lacks(page.bench.ruling_id):
            press("Alt+2")
    assert page.bench.sheet.item_key == "3"
    press("Ctrl+J")
    assert page.bench.sheet.item_key == "1"


def test_a_row_is_paired_by_key_with_the_most_alike_first(page):
    go(page, COST)
    press("Ctrl+P")
    pairing = page.acts.pairing
    assert len(page.bench.rows[pairing.partner].units) == 1
    assert page.rows.cards[pairing.partner]._aimed
    while pairing.partner != row_of(page, OPEN).ruling.id:
        press("Down")
    assert "“Identifies open problems" in page.messages.text()
    press("Return")
    assert page.bench.row.units.keys() == {"A", "B"}
    assert not pairing.active


def test_esc_leaves_rows_apart(page):
    go(page, COST)
    press("Ctrl+P")
    press("Esc")
    assert not page.acts.pairing.active
    assert page.messages.text() == ""
    assert len(row_of(page, COST).units) == 1


def test_a_row_is_split_by_key(page):
    go(page, COMPARES)
    press("Ctrl+Shift+P")
    assert [row.units.keys() for row in page.bench.rows.values()][1:3] == [{"A"}, {"B"}]


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


def test_rows_are_moved_by_key(page):
    go(page, NAMES)
    press("Alt+Up")
    assert row_of(page, NAMES).number == 2
    press("Alt+Down", 2)
    assert row_of(page, NAMES).number == 4
    assert page.bench.row.number == 4


def test_an_act_keeps_what_is_being_typed(page):
    here = page.bench.ruling_id
    press("Ctrl+M")
    type_words("Shorter")
    press("Ctrl+J")
    assert page.bench.rows[here].ruling.rationale == "Shorter"


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


def test_f6_goes_round_the_panes_and_esc_comes_back(page):
    press("F6")
    assert page.frame.consensus.list.hasFocus()
    press("F6")
    assert page.frame.queue_pane.list.hasFocus()
    press("Esc")
    assert page.rows.card.hasFocus()


def test_the_source_toggle_is_remembered(tmp_path, window_over, qtbot):
    project = rubrics_project(tmp_path)
    page = adjudicate(project, window_over, qtbot)
    press("F4")
    assert page.side.shown == "source"
    window = page.window()
    window.choose_person(project.person.id)
    assert window.page.side.shown == "source"
    press("F4")
    assert window.page.side.shown == ""


def test_changed_keys_act_and_are_printed(page):
    assert keys.rebind("drop_unit", "9") is None
    page.window().rebind()
    assert page.frame.bar.buttons["drop_unit"].text().endswith("9")
    assert page.rows.controls.takes["drop"].text().endswith("9")
    here = page.bench.ruling_id
    press("9")
    assert page.bench.rows[here].ruling.take == "drop"


def test_reasons_print_what_their_keys_share_once(page):
    reasons = page.rows.controls.reasons
    assert reasons._asked.words() == ["Why?  Alt+"]
    assert [button.text() for button in reasons.buttons][:2] == ["1 Wording", "2 Scope"]


def test_a_click_on_a_card_takes_the_row_up(page):
    card = page.rows.cards[row_of(page, COST).ruling.id]
    page.rows.area.ensureWidgetVisible(card)
    QTest.mouseClick(card, Qt.MouseButton.LeftButton, pos=card.number.geometry().center())
    assert page.bench.row.number == row_of(page, COST).number
