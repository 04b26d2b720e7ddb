"""The label page at work: labels by key, notes, evidence, the queue; and nothing that tells whose a report is."""

import re

import pytest
from PySide6.QtCore import QEvent, QSettings, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QWidget,
)
from sqlalchemy import insert, select

from annotator.actions.assignments import assignments
from annotator.actions.items import items
from annotator.actions.labelling import label_sealing, labels
from annotator.actions.project import people
from annotator.domain.texts.canonical import Change, new_id, now
from annotator.gui import theme
from annotator.gui.pages.labelling.label_queue import LINE_ROLE, ItemGroup, LabelQueue, ReportFilter
from annotator.protocols import USUAL
from annotator.protocols.researcherbench.taxonomy import MISSES
from annotator.storage.tables import JUDGE, JUDGEMENT
from tests.projects.small_projects import (
    ALL,
    PAIRS,
    PREFERENCE,
    REASONING,
    REPORT,
    SYSTEMS,
    add_report,
    labelling_project,
    one_item,
)
from tests.templates import once
from tests.windows.using import all_words, focus, press, type_words

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


def test_each_key_labels_one_criterion_and_none_past_the_last_and_backspace_takes_it_back(page):
    press("1")
    held = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_1, Qt.KeyboardModifier.NoModifier, "1", True)
    QApplication.sendEvent(focus(), held)
    assert kept(page) == [("c1", "yes")]
    acts = ("met", "not_met", "third", "unsure")
    assert not any(shortcut.autoRepeat() for act in acts for shortcut in page._shortcuts[act])
    press("2", "Backspace")
    assert (kept(page), number(page)) == ([("c1", "yes")], 2)
    for key in "2121":
        press(key)
    assert kept(page) == [("c1", "yes"), ("c2", "no"), ("c3", "yes")]
    assert "Backspace takes the last label back" in page.messages.text()
    press("Backspace", "2")
    assert kept(page)[-1] == ("c3", "no")


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


def test_the_report_and_criterion_that_were_left_are_come_back_to(page):
    press("1", "2", "Ctrl+PgDown", "Down")
    window = page.window()
    at = (report(page), number(page))
    assert at == (("1", "Report B"), 2)
    window.show_page("Items")
    window.show_page("Label")
    assert (report(page), number(page)) == at
    for there, back in (("F1", "F1"), ("F1", "Esc"), ("", "Esc")):
        if there:
            press(there)
        else:
            window.show_page("Help", topic="about")
        assert window.page is not page
        press(back)
        assert window.page is page
        assert ((report(page), number(page)), focus()) == (at, page.criteria.row)
    press("-")
    menu = page.recent()
    assert [act.text().split(" — ")[0] for act in menu.actions()] == ["Unsure", "Not met", "Met"]
    menu.actions()[1].trigger()
    assert (report(page), number(page)) == (("1", "Report A"), 2)
    press("Ctrl+PgDown")
    # Undo reaches into a report that was left.
    press("Ctrl+Z", "Ctrl+Z")
    assert (report(page), number(page)) == (("1", "Report A"), 2)
    item_id = items.add(page.session.project, "A question nobody has answered").subject
    window.show_page("Label", item_id=item_id)
    assert page.messages.text().startswith("That item has nothing to label yet.")
    assert report(page) == ("1", "Report A")


def test_buttons_do_as_the_keys_and_a_note_goes_with_its_report(page, qtbot):
    for _ in range(3):
        qtbot.mouseClick(page.criteria.details.verdicts.buttons[1], Qt.MouseButton.LeftButton)
        assert focus() is page.criteria.row
    first = page.bench.response_id
    press("Ctrl+M")
    type_words("about the first")
    qtbot.mouseClick(page.bar.buttons["submit"], Qt.MouseButton.LeftButton)
    assert page.bench.response_id != first
    assert page.bench.sheet.labels == {}
    noted = labels.sheet(page.session.project, first).labels
    assert [label.note for label in noted.values()].count("about the first") == 1
    assert [label.value for label in noted.values()] == ["no"] * 3


def test_a_report_is_chosen_in_the_queue_where_digits_label_nothing_and_scrolled_from_its_criteria(
    page, qtbot
):
    press("Ctrl+B")
    third = page.queue.lines[2]
    page.queue_pane.list.setCurrentIndex(page.queue.place(third.response_id))
    page.queue_pane.list.setFocus()
    press("1")
    assert kept(page) == []
    press("Return")
    assert report(page) == ("1", "Report C")
    assert page.criteria.isAncestorOf(focus())
    row, bar = page.criteria.rows[page.bench.units[0].id], page.report_pane.report.verticalScrollBar()
    assert not row.weight.isVisible()
    page.criteria.weights.setChecked(True)
    assert (row.weight.isVisible(), row.weight.text()) == (True, "weight 2")
    page.report_pane.report.show_plain("line\n" * 400)
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    press("PgDown")
    assert bar.value() > 0
    assert focus() is page.criteria.row


def test_active_time_goes_to_the_label_and_to_the_report(page):
    page.clock.stop()
    page.clock._now = lambda: 0.0
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


def marked(page, kind: str = "evidence") -> list[str]:
    text = page.report_pane.report.text()
    return [text[mark.start : mark.end] for mark in page.report_pane.report.marks(kind)]


def select_by_keys(words: int) -> None:
    """From the criterion into the report, to the second paragraph, and over some words."""
    press("F6", "Ctrl+Home", "Down", "Home", "Ctrl+Shift+Right", words)


def test_words_selected_by_keyboard_are_kept_as_they_stand_in_the_reports_own_text(page, qtbot):
    press("Ctrl+E")
    assert "No text is selected" in page.messages.text()
    assert page.bench.label(page.bench.unit_id) is None
    page.messages.clear()
    select_by_keys(7)
    press("Ctrl+E")
    label = evidence_label(page)
    assert label.quote == "Attribution ties each **claim** to a source"
    assert REPORT[label.quote_start : label.quote_end] == label.quote
    assert marked(page) == ["Attribution ties each claim to a source"]
    assert page.report_pane.report.selected_text() == ("", -1, -1)
    assert page.messages.text() == ""
    press("Ctrl+Home", "Ctrl+Shift+Right", 2, "Ctrl+E")
    assert marked(page) == ["Evidence in"]
    assert "was replaced by this passage as evidence" in page.messages.text()
    qtbot.mouseClick(page.messages._act, Qt.MouseButton.LeftButton)
    assert (evidence_label(page).quote, marked(page)) == (
        label.quote,
        ["Attribution ties each claim to a source"],
    )
    qtbot.mouseClick(page.criteria.details.clear_evidence, Qt.MouseButton.LeftButton)
    assert (evidence_label(page).quote, evidence_label(page).quote_start, marked(page)) == ("", None, [])
    press("Esc", "Ctrl+Z")
    assert evidence_label(page).quote == label.quote


def test_evidence_far_down_is_scrolled_to_and_counts_letters_beyond_the_first_plane_once(page, qtbot):
    long = "A paragraph of filling 😀😀.\n\n" * 300 + "The needle 证据归因 stands here.\n"
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
    at = page.report_pane.report.text().index("证据归因")
    page.report_pane.report.select(at, at + 4)
    press("Ctrl+E")
    label = evidence_label(page, 1)
    assert (label.quote, label.quote_start) == ("证据归因", long.index("证据归因"))


def test_evidence_of_other_criteria_stays_marked_and_is_stepped_through(page):
    select_by_keys(2)
    press("Ctrl+E", "Esc")
    steps, first, second = page.report_pane.first.steps, *page.bench.units[:2]
    assert steps.isHidden()
    press("Down", "F6", "Ctrl+Home", "Ctrl+Shift+Right", 2, "Ctrl+E")
    assert (marked(page), marked(page, "kept")) == (["Evidence in"], ["Attribution ties"])
    assert steps.count.text() == "Passage 1 of 2"
    press("Alt+PgDown")
    assert page.bench.unit_id == first.id
    assert (marked(page), marked(page, "kept")) == (["Attribution ties"], ["Evidence in"])
    assert steps.count.text() == "Passage 2 of 2"
    press("Alt+PgDown")
    assert page.bench.unit_id == second.id


def task(item: int, letter: str, labelled: int = 0, unsure: int = 0, units: int = 4) -> labels.LabelTask:
    question = f"Question {item} on attribution" if item % 2 else f"Frage {item} zur Zuschreibung"
    return labels.LabelTask(
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


@pytest.mark.parametrize(
    ("show", "words", "keep", "expected"),
    [
        (ReportFilter.ALL, "", "", ["1", "1A", "1B", "2", "2A", "2B", "3", "3A"]),
        (ReportFilter.TO_DO, "", "", ["1", "1B", "2", "2B", "3", "3A"]),
        (ReportFilter.UNSURE, "", "", ["2", "2A"]),
        (ReportFilter.DONE, "", "", ["1", "1A", "2", "2A"]),
        (ReportFilter.DONE, "", "3A", ["1", "1A", "2", "2A", "3", "3A"]),
        (ReportFilter.ALL, "ATTRIBUTION question 3", "", ["3", "3A"]),
    ],
)
def test_reports_stand_under_their_items_and_are_narrowed_by_state_and_words(
    queue, show, words, keep, expected
):
    queue.narrow(show, words, keep)
    assert shown(queue) == expected
    assert queue.left == 3


def test_a_report_that_is_done_keeps_its_line_until_the_list_is_narrowed_anew(queue, qtbot):
    queue.narrow(ReportFilter.TO_DO, "", "")
    with qtbot.waitSignal(queue.dataChanged):
        queue.count("1B", 4, 0)
    assert "1B" in shown(queue)
    queue.narrow(ReportFilter.TO_DO, "", "")
    assert "1B" not in shown(queue)


def test_neighbours_are_those_that_are_shown_and_the_next_open_is_found_among_all(queue):
    queue.narrow(ReportFilter.DONE, "", "")
    assert [queue.next_open(at).response_id for at in ("1A", "2A", "3A")] == ["1B", "2B", "1B"]
    queue.narrow(ReportFilter.TO_DO, "", "")
    assert queue.neighbour("1B", 1).response_id == "2B"
    assert queue.neighbour("1B", -1) is None
    assert queue.neighbour("3A", 1) is None


def test_a_question_that_looks_like_markup_is_shown_letter_by_letter(qapp):
    queue = LabelQueue()
    queue.fill([labels.LabelTask("i", "1", '<img src="file:///x">', "r", "Report A", 1, 0, 0)])
    assert (
        queue.index(0).data(Qt.ItemDataRole.ToolTipRole) == "<qt>&lt;img src=&quot;file:///x&quot;&gt;</qt>"
    )


def test_the_list_folds_where_there_is_no_room_for_it_at_this_size(project, page_over, qtbot):
    # The version before kept this at every start.
    QSettings().setValue("label/queue", True)
    page = page_over(project, "Label")
    page.window().resize(1280, 800)
    qtbot.waitUntil(lambda: not page.queue_pane.isVisible() and page.report_pane.width() >= 0.55 * 1280)
    page.window().resize(1700, 800)
    qtbot.waitUntil(page.queue_pane.isVisible)
    theme.zoom_to(150)
    assert not page.queue_pane.isVisible()
    theme.zoom(0)
    assert page.queue_pane.isVisible()


OTHERS = ("Canary-Rater-Note-9000", "Canary-Judge-9000", "Canary-Rationale-9000", "Rater 2")
TELLING = re.compile("|".join((*SYSTEMS, *OTHERS)))


def leaks(blind_page: QWidget) -> list[str]:
    words = [*all_words(blind_page), *(action.text() for action in blind_page.recent().actions())]
    assert any("Report A" in word or "Report B" in word for word in words), "the walk sees nothing"
    return [word for word in words if TELLING.search(word)]


@once
def every_protocol(folder):
    """One item, labelled by another rater and judged under every protocol."""
    project = one_item(folder)
    me = project.person
    project.work_as(next(person for person in people.people(project) if person.name == "Rater 2"))
    for protocol in ALL:
        for task in labels.queue(project, protocol):
            say_all(project, protocol, task)
    judge_protocols(project)
    project.work_as(me)
    return project


def say_all(project, protocol, task) -> None:
    shown = labels.sheet(project, task.response_id, protocol, task.other_id)
    for group in shown.groups:
        for unit in group.units:
            labels.set_label(project, task.response_id, unit.id, group.values[-1], protocol=protocol)
            labels.set_note(project, task.response_id, unit.id, OTHERS[0], protocol)
            if protocol == USUAL:
                label_sealing.give(project, task.response_id, unit.id, MISSES.name, "partial_missing")


def judge_protocols(project) -> None:
    """A judge with a telling name has judged what Rater 2 labelled, and drew the parts."""
    with project.store.write() as db:
        db.execute(insert(JUDGE).values(id="judge", name=OTHERS[1], kind="baseline"))
        db.exec_driver_sql("UPDATE extract SET flags = ?, origin = ?", (OTHERS[2], f"judge:{OTHERS[1]}"))
        rows = db.exec_driver_sql("SELECT * FROM judgement").mappings().all()
        for row in rows:
            copied = {**row, "id": new_id(), "rater_kind": "judge", "rater_id": "judge", "at": now()}
            copied |= {"rationale": OTHERS[2], "note": ""}
            db.execute(insert(JUDGEMENT).values(**copied))


def test_under_no_protocol_anything_tells_a_system_a_judge_or_another_rater(tmp_path, page_over):
    """With a judge run, another rater and telling origins behind it."""
    blind_page = page_over(every_protocol(tmp_path), "Label")
    blind_page.queue_pane.left.setToolTip(f"by {SYSTEMS[0]}")
    assert leaks(blind_page) == [f"by {SYSTEMS[0]}"]
    blind_page.queue_pane.left.setToolTip("")
    # Labels of others neither count nor show, nor does what a run tells.
    image = {"rater_kind": "judge", "rater_id": "judge", "response_id": blind_page.bench.response_id}
    blind_page.session.tell(
        Change("judgement", "j", "judge", {}, image | {"unit_id": blind_page.bench.unit_id})
    )
    blind_page.session.tell(
        Change("judgement", "j", "label", {}, image | {"rater_kind": "person", "unit_id": "x"})
    )
    assert blind_page.bar.progress.text() == "0 of 2 · 2 reports left"
    assert {row.chip.words() for row in blind_page.criteria.rows.values()} == {"Open"}
    for protocol in ALL:
        blind_page.window().show_page("Label", protocol=protocol)
        sheet = blind_page.bench.sheet
        assert (blind_page.bench.protocol, sheet.labels) == (protocol, {})
        assert blind_page.queue.left == len(blind_page.queue.lines)
        if protocol in (PAIRS, PREFERENCE):
            # Nor do the ids of the reports behind a pair.
            assert not any(name in repr(sheet) for name in (*SYSTEMS, *OTHERS))
            heads = {pane.head.text().split(" — ")[1] for pane in blind_page.report_pane.panes}
            assert heads == {"Report A", "Report B"}
        if protocol == REASONING:
            assert {unit.label for unit in blind_page.bench.units} == {None}
        for key in (
            "", "Down", "F2", "F4", "1", "Up", "Alt+1", "0", "Ctrl+M", "Esc", "Ctrl+PgDown", "3", "Ctrl+Return",
        ):  # fmt: skip
            if key:
                press(key)
            assert leaks(blind_page) == [], protocol
    blind_page.window().show_page("Label", protocol=USUAL)
    blind_page.navigate({"protocol": USUAL, "response_id": blind_page.queue.lines[1].response_id})
    press("2", "Up")
    assert not any(button.isChecked() for button in blind_page.criteria.details.kinds.buttons)
    project = blind_page.session.project
    for task in labels.queue(project):
        for unit in labels.sheet(project, task.response_id).units:
            labels.set_label(project, task.response_id, unit.id, "yes")
    blind_page.window().show_page("Label", protocol=USUAL)
    assert blind_page.done.isVisible()
    assert leaks(blind_page) == []
