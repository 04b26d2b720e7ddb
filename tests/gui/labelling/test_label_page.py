"""The label page at work: labels by key, moving on, taking back, notes and flags."""

import pytest
from PySide6.QtCore import QEvent, QSettings, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication
from sqlalchemy import select

from annotator.actions.assignments import times
from annotator.actions.items import items
from annotator.actions.labelling import labels
from annotator.gui.pages.labelling import LabelPage
from annotator.storage.tables import JudgementRow, table
from tests.projects.labelling_project import labelling_project
from tests.storage import sql
from tests.windows.labelling_keys import be_active, focus, press, type_words

PROJECT = labelling_project


@pytest.fixture
def page(project, page_over):
    return page_over(project, "Label")


def number(page) -> int:
    """Which criterion is at hand, counted from 1."""
    return [unit.id for unit in page.bench.units].index(page.bench.unit_id) + 1


def report(page) -> tuple[str, str]:
    task = page.queue.task(page.bench.response_id)
    return task.item_key, task.name


def kept(page) -> list[tuple[str, str | None]]:
    """The labels of the open report as the file has them, in the criteria's order."""
    found = labels.sheet(page.desk.project, page.bench.response_id).labels
    return [(unit.id[-2:], found[unit.id].value) for unit in page.bench.units if unit.id in found]


def test_work_begins_at_the_first_open_criterion_of_the_first_report(page):
    assert (report(page), number(page)) == (("1", "Report A"), 1)
    assert page.criteria.isAncestorOf(focus())


def test_the_digits_label_and_the_next_open_criterion_takes_the_focus(page):
    press("1")
    press("2")
    assert kept(page) == [("c1", "yes"), ("c2", "no")]
    assert number(page) == 3
    assert focus() is page.criteria.row


def test_unsure_is_no_value(page):
    press("-")
    assert kept(page) == [("c1", None)]
    assert page.criteria.rows[page.bench.units[0].id].chip.words() == "Unsure"


def test_backspace_takes_the_last_label_back_and_shows_its_criterion(page):
    press("1")
    press("2")
    press("Backspace")
    assert (kept(page), number(page)) == ([("c1", "yes")], 2)
    press("1")
    assert kept(page) == [("c1", "yes"), ("c2", "yes")]


def test_whoever_labelled_by_the_old_order_is_told_once_what_changed(project, page_over):
    task = labels.queue(project)[0]
    unit = labels.sheet(project, task.response_id).units[0]
    labels.set_label(project, task.response_id, unit.id, "yes")
    page = page_over(project, "Label")
    assert page.messages.text().startswith("The keys have changed: 1 is the best answer")
    page.messages.clear()
    page.window().show_page("Items")
    page.window().show_page("Label")
    assert page.messages.text() == ""


@pytest.mark.parametrize(("there", "back"), [("F1", "F1"), ("F1", "Esc"), ("help", "Esc")])
def test_f1_and_esc_come_back_to_the_place_that_keys_or_help_were_opened_from(page, there, back):
    press("Ctrl+PgDown")
    press("Down")
    window, at = page.window(), (page.bench.response_id, page.bench.unit_id)
    if there == "help":
        window.show_page("Help", topic="about")
    else:
        press(there)
    assert window.page is not page
    press(back)
    assert window.page is page
    assert ((page.bench.response_id, page.bench.unit_id), focus()) == (at, page.criteria.row)


def test_keys_typed_past_the_last_criterion_change_no_label(page):
    for key in "12121":
        press(key)
    assert kept(page) == [("c1", "yes"), ("c2", "no"), ("c3", "yes")]
    assert "Backspace takes the last label back" in page.messages.text()
    press("Backspace")
    press("2")
    assert kept(page)[-1] == ("c3", "no")


def test_a_key_held_down_labels_one_criterion(page, qtbot):
    press("1")
    held = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_1, Qt.KeyboardModifier.NoModifier, "1", True)
    QApplication.sendEvent(focus(), held)
    assert kept(page) == [("c1", "yes")]
    assert all(
        not shortcut.autoRepeat()
        for act in ("met", "not_met", "third", "unsure")
        for shortcut in page._shortcuts[act]
    )


def test_the_arrows_move_among_criteria_and_stop_at_the_ends(page):
    press("Down", 5)
    assert number(page) == 3
    press("Up", 1)
    assert number(page) == 2
    press("Up", 5)
    assert number(page) == 1


def test_after_the_last_criterion_the_first_open_one_is_next(page):
    press("Down", 2)
    press("1")
    assert number(page) == 1


def test_relabelling_overwrites(page):
    press("1")
    press("Up")
    press("2")
    assert kept(page) == [("c1", "no")]


def test_the_same_label_again_writes_nothing_new(page):
    press("1")
    press("Up")
    before = sql.first(page.desk.project, "SELECT count(*) FROM audit")
    press("1")
    assert sql.first(page.desk.project, "SELECT count(*) FROM audit") == before


def test_undo_takes_the_label_back_and_returns_to_its_criterion(page):
    press("1")
    press("Ctrl+Z")
    assert kept(page) == []
    assert number(page) == 1
    assert page.criteria.row.chip.words() == "Open"


def test_redo_gives_it_again(page):
    press("2")
    press("Ctrl+Z")
    press("Ctrl+Shift+Z")
    assert kept(page) == [("c1", "no")]
    assert page.criteria.row.chip.words() == "Not met"


def test_undo_reaches_into_the_report_that_was_left(page):
    press("1")
    press("Ctrl+PgDown")
    assert report(page) == ("1", "Report B")
    press("Ctrl+Z")
    assert (report(page), number(page)) == (("1", "Report A"), 1)


def test_a_change_of_one_label_touches_only_its_row(page, monkeypatch):
    shown = []
    for unit_id, row in page.criteria.rows.items():
        monkeypatch.setattr(row, "show_label", lambda *_, unit_id=unit_id: shown.append(unit_id))
    press("1")
    assert shown == [page.bench.units[0].id]


def test_digits_in_a_note_are_text_and_no_label(page):
    press("Ctrl+M")
    type_words("123 of 4")
    press("Esc")
    label = page.bench.label(page.bench.units[0].id)
    assert (label.note, label.value) == ("123 of 4", None)
    assert focus() is page.criteria.row


def test_arrows_in_a_note_stay_in_the_note(page):
    press("Ctrl+M")
    type_words("one line")
    press("Down")
    assert number(page) == 1
    assert focus() is page.criteria.details.note


def test_a_note_being_typed_is_kept_when_the_report_is_left(page):
    first = page.bench.units[0].id
    response_id = page.bench.response_id
    press("Ctrl+M")
    type_words("half a thou")
    press("Ctrl+PgDown")
    assert labels.sheet(page.desk.project, response_id).labels[first].note == "half a thou"


def test_a_note_goes_with_its_report_when_a_button_leads_on(page, qtbot):
    for _ in range(3):
        press("1")
    first = page.bench.response_id
    press("Ctrl+M")
    type_words("about the first")
    qtbot.mouseClick(page.bar.buttons["submit"], Qt.MouseButton.LeftButton)
    assert page.bench.response_id != first
    assert page.bench.sheet.labels == {}
    noted = labels.sheet(page.desk.project, first).labels
    assert [label.note for label in noted.values()].count("about the first") == 1


def test_a_label_given_while_reading_brings_the_focus_back(page):
    press("F6")
    press("1")
    assert kept(page) == [("c1", "yes")]
    assert focus() is page.criteria.row


def test_ctrl_g_flags_and_unflags(page):
    press("Ctrl+G")
    assert "flagged" in page.bench.label(page.bench.unit_id).flags
    assert page.criteria.details.flag.isChecked()
    press("Ctrl+G")
    assert "flagged" not in page.bench.label(page.bench.unit_id).flags


def test_next_open_goes_on_into_later_reports_and_around_the_end(page):
    for _ in range(3):
        press("1")
    press("Ctrl+J")
    assert (report(page), number(page)) == (("1", "Report B"), 1)
    press("Ctrl+PgDown", 4)
    assert report(page) == ("2", "Report C")
    press("Down", 2)
    press("Ctrl+J")
    assert (report(page), number(page)) == (("1", "Report B"), 1)


def test_done_with_open_criteria_lists_them_and_goes_to_the_first(page, qtbot):
    press("Down")
    press("1")
    press("Ctrl+Return")
    assert number(page) == 1
    assert page.criteria.open_list.said() == "2 criteria are still open:"
    assert [button.text() for button in page.criteria.open_list.buttons.values()] == ["1", "3"]
    qtbot.mouseClick(page.criteria.open_list.buttons[page.bench.units[2].id], Qt.MouseButton.LeftButton)
    assert number(page) == 3


def test_the_list_of_open_criteria_shrinks_and_goes(page):
    press("Ctrl+Return")
    press("1")
    assert page.criteria.open_list.said() == "2 criteria are still open:"
    press("1")
    press("1")
    assert not page.criteria.open_list.isVisible()


def test_done_with_everything_labelled_goes_to_the_next_unfinished_report(page):
    for _ in range(3):
        press("1")
    press("Ctrl+Return")
    assert (report(page), number(page)) == (("1", "Report B"), 1)


def test_the_action_bar_says_how_far_the_work_is(page):
    assert page.bar.progress.text() == "0 of 3 · 6 reports left"
    for _ in range(3):
        press("1")
    assert page.bar.progress.text() == "3 of 3 · 5 reports left"


def test_the_action_bar_is_in_view_however_long_the_report(page):
    assert page.bar.isVisible()
    assert page.bar.mapTo(page, page.bar.rect().bottomLeft()).y() == page.height() - 1


def test_buttons_of_the_bar_do_as_the_keys_and_leave_the_focus(page, qtbot):
    qtbot.mouseClick(page.bar.buttons["not_met"], Qt.MouseButton.LeftButton)
    assert kept(page) == [("c1", "no")]
    assert focus() is page.criteria.row


def test_choosing_a_report_in_the_queue_opens_it(page, qtbot):
    press("Ctrl+B")
    third = page.queue.tasks[2]
    page.queue_pane.list.setCurrentIndex(page.queue.place(third.response_id))
    page.queue_pane.list.setFocus()
    press("Return")
    assert report(page) == ("1", "Report C")
    assert page.criteria.isAncestorOf(focus())


def test_digits_in_the_queue_label_nothing(page):
    press("Ctrl+B")
    page.queue_pane.list.setFocus()
    press("1")
    assert kept(page) == []


def test_recent_labels_lead_back_to_their_criterion(page):
    press("1")
    press("2")
    press("Ctrl+PgDown")
    press("-")
    menu = page.recent()
    words = [action.text() for action in menu.actions()]
    assert [word.split(" — ")[0] for word in words] == ["Unsure", "Not met", "Met"]
    menu.actions()[1].trigger()
    assert (report(page), number(page)) == (("1", "Report A"), 2)


def test_weights_are_hidden_until_they_are_asked_for(page):
    row = page.criteria.rows[page.bench.units[0].id]
    assert not row.weight.isVisible()
    page.criteria.weights.setChecked(True)
    assert (row.weight.isVisible(), row.weight.text()) == (True, "weight 2")


@pytest.mark.parametrize("key", ["Y", "7"])
def test_changed_keys_work_and_are_printed_on_the_buttons(page, key):
    # Also one that was chosen before there was a seventh answer.
    QSettings().setValue("keys/met", key)
    page.window().rebind()
    page.window().show_page("Label")
    assert page.bar.buttons["met"].text().endswith(key)
    assert page.criteria.details.verdicts.buttons[0].text().endswith(key)
    press("1")
    assert kept(page) == []
    press(key)
    assert kept(page) == [("c1", "yes")]


def test_esc_in_the_report_leads_back_to_the_criterion(page):
    press("F6")
    assert focus() is page.report_pane.report
    press("Esc")
    assert focus() is page.criteria.row


def test_page_keys_scroll_the_report_while_a_criterion_has_the_focus(page, qtbot):
    bar = page.report_pane.report.verticalScrollBar()
    page.report_pane.report.show_plain("line\n" * 400)
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    press("PgDown")
    assert bar.value() > 0
    assert focus() is page.criteria.row


def test_the_guideline_comes_and_goes_with_its_key(page):
    press("F2")
    assert page.guideline.isVisible()
    assert "You decide" in page.guideline.text.toPlainText()
    press("F2")
    assert not page.guideline.isVisible()


def test_the_queue_can_be_folded_away_and_stays_so(page, window_over):
    page.report_pane.queue_shown.setChecked(False)
    assert not page.queue_pane.isVisible()
    assert not LabelPage(page.desk).report_pane.queue_shown.isChecked()


def test_arriving_for_an_item_opens_its_first_open_report(page):
    item_id = page.queue.tasks[3].item_id
    page.window().show_page("Label", item_id=item_id)
    assert report(page) == ("2", "Report A")


def test_arriving_for_an_item_without_reports_says_what_it_lacks(page):
    item_id = items.add(page.desk.project, "A question nobody has answered").subject
    page.window().show_page("Label", item_id=item_id)
    assert page.messages.text().startswith("The previous item has nothing to label yet.")
    assert report(page) == ("1", "Report A")


def test_coming_back_finds_the_report_and_criterion_that_were_left(page):
    press("Ctrl+PgDown")
    press("Down")
    page.window().show_page("Items")
    page.window().show_page("Label")
    assert (report(page), number(page)) == (("1", "Report B"), 2)


def stand_still(clock) -> None:
    clock.stop()
    clock._now = lambda: 0.0


def test_active_time_goes_to_the_label_and_to_the_report(page):
    stand_still(page.clock)
    page.clock._sum = 30.0
    press("1")
    page.clock._sum = 12.0
    response_id = page.bench.response_id
    page.window().show_page("Items")
    with page.desk.project.store.read() as db:
        seconds = db.execute(select(table(JudgementRow).c.seconds)).scalar_one()
    assert seconds == 30
    assert times.spent(page.desk.project, response_id) == 42


def test_relabelling_adds_to_the_time_already_spent(page):
    stand_still(page.clock)
    page.clock._sum = 30.0
    press("1")
    press("Up")
    page.clock._sum = 10.0
    press("2")
    assert page.bench.label(page.bench.units[0].id).seconds == 40


def test_the_page_is_made_without_a_stray_window_that_takes_the_keyboard(project, window_over, qtbot, qapp):
    window = window_over(project)
    be_active(window, qtbot)
    window.show_page("Label")
    qapp.processEvents()
    assert qapp.activeWindow() is window
    assert window.page.criteria.isAncestorOf(focus())
