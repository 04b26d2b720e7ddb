"""The label page at work: labels by key, moving on, taking back, notes, evidence, and the queue."""

import pytest
from PySide6.QtCore import QEvent, QSettings, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication
from sqlalchemy import select

from annotator.actions.assignments import assignments
from annotator.actions.items import items
from annotator.actions.labelling import labels
from annotator.actions.labelling.label_tasks import LabelTask
from annotator.gui import theme
from annotator.gui.pages.labelling.label_queue import LINE_ROLE, ItemGroup, LabelQueue, ReportFilter
from annotator.storage.tables import JUDGEMENT
from tests.projects.labelling_project import REPORT, SYSTEMS, add_report, labelling_project
from tests.windows.labelling_keys import focus, press, type_words

PROJECT = labelling_project


@pytest.fixture
def page(project, page_over):
    return page_over(project, "Label")


def number(page) -> int:
    """Which criterion is at hand, counted from 1."""
    return [unit.id for unit in page.bench.units].index(page.bench.unit_id) + 1


def report(page) -> tuple[str, str]:
    task = page.queue.line(page.bench.response_id)
    return task.item_key, task.name


def kept(page) -> list[tuple[str, str | None]]:
    """The labels of the open report as the file has them, in the criteria's order."""
    result = labels.sheet(page.session.project, page.bench.response_id).labels
    return [(unit.id[-2:], result[unit.id].value) for unit in page.bench.units if unit.id in result]


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


def test_undo_reaches_into_the_report_that_was_left(page):
    press("1")
    press("Ctrl+PgDown")
    assert report(page) == ("1", "Report B")
    press("Ctrl+Z")
    assert (report(page), number(page)) == (("1", "Report A"), 1)


def test_a_note_goes_with_its_report_when_a_button_leads_on(page, qtbot):
    for _ in range(3):
        press("1")
    first = page.bench.response_id
    press("Ctrl+M")
    type_words("about the first")
    qtbot.mouseClick(page.bar.buttons["submit"], Qt.MouseButton.LeftButton)
    assert page.bench.response_id != first
    assert page.bench.sheet.labels == {}
    noted = labels.sheet(page.session.project, first).labels
    assert [label.note for label in noted.values()].count("about the first") == 1


def test_buttons_of_the_bar_do_as_the_keys_and_leave_the_focus(page, qtbot):
    qtbot.mouseClick(page.bar.buttons["not_met"], Qt.MouseButton.LeftButton)
    assert kept(page) == [("c1", "no")]
    assert focus() is page.criteria.row


def test_choosing_a_report_in_the_queue_opens_it(page, qtbot):
    press("Ctrl+B")
    third = page.queue.lines[2]
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


def test_page_keys_scroll_the_report_while_a_criterion_has_the_focus(page, qtbot):
    bar = page.report_pane.report.verticalScrollBar()
    page.report_pane.report.show_plain("line\n" * 400)
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    press("PgDown")
    assert bar.value() > 0
    assert focus() is page.criteria.row


def test_arriving_for_an_item_without_reports_says_what_it_lacks(page):
    item_id = items.add(page.session.project, "A question nobody has answered").subject
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
    with page.session.project.store.read() as db:
        seconds = db.execute(select(JUDGEMENT.c.seconds)).scalar_one()
    assert seconds == 30
    assert assignments.spent(page.session.project, response_id) == 42


def evidence_label(page, place=0):
    unit_id = page.bench.units[place].id
    return labels.sheet(page.session.project, page.bench.response_id).labels[unit_id]


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
    label = evidence_label(page)
    assert label.quote == "Attribution ties each **claim** to a source"
    assert REPORT[label.quote_start : label.quote_end] == label.quote
    assert marked(page) == ["Attribution ties each claim to a source"]
    assert page.report_pane.report.selected_text() == ("", -1, -1)


def test_nothing_selected_says_what_to_do_and_keeps_nothing(page):
    press("Ctrl+E")
    assert "No text is selected" in page.messages.text()
    assert page.bench.label(page.bench.unit_id) is None


def test_clearing_takes_the_passage_away_and_undo_brings_it_back(page, qtbot):
    select_by_keys(2)
    press("Ctrl+E")
    qtbot.mouseClick(page.criteria.details.clear_evidence, Qt.MouseButton.LeftButton)
    assert (evidence_label(page).quote, evidence_label(page).quote_start, marked(page)) == ("", None, [])
    press("Esc")
    press("Ctrl+Z")
    assert marked(page) == ["Attribution ties"]


def test_evidence_far_down_is_scrolled_to_when_its_criterion_is_taken_up(page, qtbot):
    long = "A paragraph of filling.\n\n" * 300 + "The needle stands here.\n"
    item_id = page.queue.lines[3].item_id
    response_id = add_report(page.session.project, item_id, SYSTEMS[0] + "-long", long)
    start = long.index("needle")
    labels.set_evidence(page.session.project, response_id, f"{item_id}/c2", "needle", start, start + 6)
    page.window().show_page("Label", response_id=response_id)
    bar = page.report_pane.report.verticalScrollBar()
    assert bar.value() == 0
    press("Down")
    qtbot.waitUntil(lambda: bar.value() > bar.maximum() // 2)
    assert marked(page) == ["needle"]


def test_evidence_beyond_the_first_plane_keeps_its_place(page):
    text = "Before 😀😀 comes 证据归因 and after."
    item_id = page.queue.lines[3].item_id
    response_id = add_report(page.session.project, item_id, SYSTEMS[0] + "-wide", text)
    page.window().show_page("Label", response_id=response_id)
    at = text.index("证据归因")
    page.report_pane.report.select(at, at + 4)
    press("Ctrl+E")
    assert (evidence_label(page).quote, evidence_label(page).quote_start) == ("证据归因", at)


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
    assert (evidence_label(page).quote, marked(page)) == ("Attribution ties", ["Attribution ties"])


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


def task(item: int, letter: str, labelled: int = 0, unsure: int = 0, units: int = 4) -> LabelTask:
    question = f"Question {item} on attribution" if item % 2 else f"Frage {item} zur Zuschreibung"
    return LabelTask(
        f"i{item}", str(item), question, f"{item}{letter}", f"Report {letter}", units, labelled, unsure
    )


@pytest.fixture
def queue(qapp):
    made = LabelQueue()
    made.fill([task(1, "A", 4), task(1, "B", 2), task(2, "A", 4, 1), task(2, "B"), task(3, "A")])
    return made


def shown(queue: LabelQueue) -> list[str]:
    rows = [queue.index(n).data(LINE_ROLE) for n in range(queue.rowCount())]
    return [row.item_key if isinstance(row, ItemGroup) else row.response_id for row in rows]


def test_reports_stand_under_their_items(queue):
    assert shown(queue) == ["1", "1A", "1B", "2", "2A", "2B", "3", "3A"]
    assert queue.left == 3


@pytest.mark.parametrize(
    ("show", "expected"),
    [
        (ReportFilter.TO_DO, ["1", "1B", "2", "2B", "3", "3A"]),
        (ReportFilter.UNSURE, ["2", "2A"]),
        (ReportFilter.DONE, ["1", "1A", "2", "2A"]),
    ],
)
def test_a_filter_leaves_reports_in_its_state_and_their_items(queue, show, expected):
    queue.narrow(show, "", "")
    assert shown(queue) == expected


def test_search_looks_at_the_items_words_in_any_case_and_order(queue):
    queue.narrow(ReportFilter.ALL, "ATTRIBUTION question 3", "")
    assert shown(queue) == ["3", "3A"]


def test_the_open_report_stays_whatever_the_filter(queue):
    queue.narrow(ReportFilter.DONE, "", "3A")
    assert shown(queue) == ["1", "1A", "2", "2A", "3", "3A"]


def test_a_report_that_is_done_keeps_its_line_until_the_list_is_narrowed_anew(queue, qtbot):
    queue.narrow(ReportFilter.TO_DO, "", "")
    with qtbot.waitSignal(queue.dataChanged):
        queue.count("1B", 4, 0)
    assert "1B" in shown(queue)
    queue.narrow(ReportFilter.TO_DO, "", "")
    assert "1B" not in shown(queue)


def test_next_open_wraps_around_and_ignores_the_filter(queue):
    queue.narrow(ReportFilter.DONE, "", "")
    assert [queue.next_open(at).response_id for at in ("1A", "2A", "3A")] == ["1B", "2B", "1B"]


def test_neighbours_are_those_that_are_shown_and_end_at_the_ends(queue):
    queue.narrow(ReportFilter.TO_DO, "", "")
    assert queue.neighbour("1B", 1).response_id == "2B"
    assert queue.neighbour("1B", -1) is None
    assert queue.neighbour("3A", 1) is None


def test_a_question_that_looks_like_markup_is_shown_letter_by_letter(qapp):
    queue = LabelQueue()
    queue.fill([LabelTask("i", "1", '<img src="file:///x">', "r", "Report A", 1, 0, 0)])
    assert (
        queue.index(0).data(Qt.ItemDataRole.ToolTipRole) == "<qt>&lt;img src=&quot;file:///x&quot;&gt;</qt>"
    )


def test_the_list_folds_where_there_is_no_room_for_it_at_this_size(project, page_over, qtbot):
    # The version before kept this at every start.
    QSettings().setValue("label/queue", True)
    page = page_over(project, "Label")
    for wide, shown in ((1000, False), (1700, True)):
        page.window().resize(wide, 800)
        qtbot.waitUntil(lambda shown=shown: page.queue_pane.isVisible() is shown)
    theme.zoom_to(150)
    assert not page.queue_pane.isVisible()
    theme.zoom(0)
    assert page.queue_pane.isVisible()
