"""The label page: labels by key, notes, evidence, queue, submitting; and nothing tells whose a report is."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtCore import QEvent, QSettings, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QPushButton,
    QWidget,
)
from sqlalchemy import insert

from annotator.actions.assignments import assignments
from annotator.actions.imports import label_files
from annotator.actions.items import items, materials
from annotator.actions.labelling import label_rows, label_sealing, labels
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.sets import reviews
from annotator.domain.common import Change, new_id, now
from annotator.domain.kinds.documents import WRITTEN
from annotator.domain.kinds.kind import Kind, Stage
from annotator.gui import theme
from annotator.gui.pages.labelling.bench import LINE_ROLE, ItemGroup, LabelQueue, ReportFilter
from annotator.gui.pages.labelling.unit_card import LOCKED, SEALED
from annotator.gui.pages.labelling.units_pane import CELL_ROLE
from annotator.protocols import USUAL
from annotator.protocols.researcherbench.taxonomy import MISSES
from annotator.storage.tables import JUDGE, JUDGEMENT
from tests.common import once
from tests.material.bundles import written
from tests.projects.small_projects import (
    ALL,
    PAIRS,
    PLAN,
    PREFERENCE,
    REASONING,
    REPORT,
    SYSTEMS,
    add_report,
    labelling_project,
    one_item,
    project_with,
    seal_rubric,
)
from tests.storage import sql
from tests.windows.using import Typed, all_words, focus, press

PROJECT = labelling_project


@pytest.fixture
def page(project, page_over):
    return page_over(project, "Label")


def number(page) -> int:
    return [unit.id for unit in page.bench.units].index(page.bench.current_id) + 1


def report(page) -> tuple[str, str]:
    task = page.queue.line(page.bench.response_id)
    return task.item_key, task.name


def kept(page) -> list[tuple[str, str | None]]:
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
    press(*"2121")
    assert kept(page) == [("c1", "yes"), ("c2", "no"), ("c3", "yes")]
    press("Backspace", "2")
    assert kept(page)[-1] == ("c3", "no")


def test_whoever_labelled_by_the_old_order_is_told_once_what_changed(project, page_over):
    task = labels.queue(project)[0]
    labels.set_label(project, task.response_id, labels.sheet(project, task.response_id).units[0].id, "yes")
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
    for there, back in (("F1", "F1"), ("F1", "Esc"), ("", "Esc")):
        if there:
            press(there)
        else:
            window.show_page("Help", topic="about")
        assert window.page is not page
        press(back)
        assert (window.page, (report(page), number(page)), focus()) == (page, at, page.criteria.cards.current)
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
    assert report(page) == ("1", "Report A")


def test_buttons_do_as_the_keys_and_a_note_goes_with_its_report(page, qtbot):
    for _ in range(3):
        qtbot.mouseClick(page.criteria.details.verdicts.buttons[1], Qt.MouseButton.LeftButton)
        assert focus() is page.criteria.cards.current
    first = page.bench.response_id
    press("Ctrl+M", Typed("about the first"))
    qtbot.mouseClick(page.bar.buttons["submit"], Qt.MouseButton.LeftButton)
    assert page.bench.response_id != first
    assert page.bench.sheet.labels == {}
    noted = labels.sheet(page.session.project, first).labels.values()
    assert [(label.value, label.note) for label in noted] == [
        ("no", ""),
        ("no", ""),
        ("no", "about the first"),
    ]


def test_a_report_is_chosen_in_the_queue_where_digits_label_nothing_and_scrolled_from_its_criteria(
    page, qtbot
):
    press("Ctrl+B")
    page.queue_pane.list.setCurrentIndex(page.queue.place(page.queue.lines[2].response_id))
    press("1", at=page.queue_pane.list)
    assert kept(page) == []
    press("Return")
    assert (report(page), page.criteria.isAncestorOf(focus())) == (("1", "Report C"), True)
    row, bar = page.criteria.cards.rows[page.bench.units[0].id], page.report_pane.report.verticalScrollBar()
    assert not row.weight.isVisible()
    page.criteria.weights.setChecked(True)
    assert row.weight.isVisible()
    page.report_pane.report.show_plain("line\n" * 400)
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    press("PgDown")
    assert bar.value() > 0
    assert focus() is page.criteria.cards.current


def test_active_time_goes_to_the_label_and_to_the_report(page):
    page.clock.stop()
    page.clock._now = lambda: 0.0
    page.clock._sum = 30.0
    press("1")
    page.clock._sum = 12.0
    response_id = page.bench.response_id
    page.window().show_page("Items")
    (seconds,) = sql.first(page.session.project, "SELECT seconds FROM judgement")
    assert (seconds, assignments.spent(page.session.project, response_id)) == (30, 42)


def evidence_label(page):
    return labels.sheet(page.session.project, page.bench.response_id).labels[page.bench.units[0].id]


def marked(page, kind: str = "evidence") -> list[str]:
    text = page.report_pane.report.text()
    return [text[mark.start : mark.end] for mark in page.report_pane.report.marks(kind)]


def select_by_keys(words: int) -> None:
    press("F6", "Ctrl+Home", "Down", "Home", "Ctrl+Shift+Right", words)


def test_words_selected_by_keyboard_are_kept_as_they_stand_in_the_reports_own_text(page, qtbot):
    press("Ctrl+E")
    assert page.bench.label(page.bench.current_id) is None
    page.messages.clear()
    select_by_keys(7)
    press("Ctrl+E")
    label = evidence_label(page)
    assert label.quote == "Attribution ties each **claim** to a source"
    assert REPORT[label.quote_start : label.quote_end] == label.quote
    assert marked(page) == ["Attribution ties each claim to a source"]
    assert (page.report_pane.report.selected_text(), page.messages.text()) == (("", -1, -1), "")
    press("Ctrl+Home", "Ctrl+Shift+Right", 2, "Ctrl+E")
    assert marked(page) == ["Evidence in"]
    qtbot.mouseClick(page.messages._act, Qt.MouseButton.LeftButton)
    assert (evidence_label(page).quote, marked(page)) == (
        label.quote,
        ["Attribution ties each claim to a source"],
    )
    qtbot.mouseClick(page.criteria.details.clear_evidence, Qt.MouseButton.LeftButton)
    assert (evidence_label(page).quote, evidence_label(page).quote_start, marked(page)) == ("", None, [])


def test_evidence_far_down_is_scrolled_to_and_counts_letters_beyond_the_first_plane_once(page, qtbot):
    long = "A paragraph of filling 😀😀.\n\n" * 300 + "The needle stands here.\n"
    item_id = page.queue.lines[3].item_id
    response_id = add_report(page.session.project, item_id, SYSTEMS[0] + "-long", long)
    start = long.index("needle")
    labels.set_evidence(page.session.project, response_id, f"{item_id}/c2", "needle", start, start + 6)
    page.window().show_page("Label", response_id=response_id)
    bar = page.report_pane.report.verticalScrollBar()
    press("Down")
    qtbot.waitUntil(lambda: bar.value() > bar.maximum() // 2)
    assert marked(page) == ["needle"]


def test_evidence_of_other_criteria_stays_marked_and_is_stepped_through(page):
    select_by_keys(2)
    press("Ctrl+E", "Esc")
    steps, first, second = page.report_pane.first.steps, *page.bench.units[:2]
    press("Down", "F6", "Ctrl+Home", "Ctrl+Shift+Right", 2, "Ctrl+E")
    assert (marked(page), marked(page, "kept")) == (["Evidence in"], ["Attribution ties"])
    assert steps.count.text() == "Passage 1 of 2"
    press("Alt+PgDown")
    assert page.bench.current_id == first.id
    assert (marked(page), marked(page, "kept")) == (["Attribution ties"], ["Evidence in"])
    press("Alt+PgDown")
    assert page.bench.current_id == second.id


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
    assert (shown(queue), queue.counted(ReportFilter.TO_DO)) == (expected, 3)


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
    assert (queue.neighbour("1B", 1).response_id, queue.neighbour("1B", -1)) == ("2B", None)
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
            groups = labels.sheet(project, task.response_id, protocol, task.other_id).groups
            for value, unit in ((group.values[-1], unit) for group in groups for unit in group.units):
                labels.set_label(project, task.response_id, unit.id, value, protocol=protocol)
                labels.set_note(project, task.response_id, unit.id, OTHERS[0], protocol)
                if protocol == USUAL:
                    label_sealing.give(project, task.response_id, unit.id, MISSES.name, "partial_missing")
    judge_protocols(project)
    project.work_as(me)
    return project


def judge_protocols(project) -> None:
    """A judge with a telling name has judged what Rater 2 labelled, and drew the parts."""
    with project.store.write() as db:
        db.execute(insert(JUDGE).values(id="judge", name=OTHERS[1], kind="baseline"))
        db.exec_driver_sql("UPDATE extract SET flags = ?, origin = ?", (OTHERS[2], f"judge:{OTHERS[1]}"))
        for row in db.exec_driver_sql("SELECT * FROM judgement").mappings().all():
            copied = {**row, "id": new_id(), "rater_kind": "judge", "rater_id": "judge", "at": now()}
            copied |= {"rationale": OTHERS[2], "note": ""}
            db.execute(insert(JUDGEMENT).values(**copied))


def test_under_no_protocol_anything_tells_a_system_a_judge_or_another_rater(tmp_path, page_over):
    blind_page = page_over(every_protocol(tmp_path), "Label")
    blind_page.queue_pane.left.setToolTip(f"by {SYSTEMS[0]}")
    assert leaks(blind_page) == [f"by {SYSTEMS[0]}"]
    blind_page.queue_pane.left.setToolTip("")
    # Labels of others neither count nor show, nor does what a run tells.
    image = {"rater_kind": "judge", "rater_id": "judge", "response_id": blind_page.bench.response_id}
    blind_page.session.tell(
        Change("judgement", "j", "judge", {}, image | {"unit_id": blind_page.bench.current_id})
    )
    blind_page.session.tell(
        Change("judgement", "j", "label", {}, image | {"rater_kind": "person", "unit_id": "x"})
    )
    assert blind_page.bar.progress.text() == "0 of 2 · 2 reports left"
    assert {row.chip.accessibleName() for row in blind_page.criteria.cards.rows.values()} == {"Open"}
    for protocol in ALL:
        blind_page.window().show_page("Label", protocol=protocol)
        sheet = blind_page.bench.sheet
        assert (blind_page.bench.protocol, sheet.labels) == (protocol, {})
        assert blind_page.queue.counted(ReportFilter.TO_DO) == len(blind_page.queue.lines)
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
    label_all(blind_page.session.project)
    blind_page.window().show_page("Label", protocol=USUAL)
    assert (blind_page.done.isVisible(), leaks(blind_page)) == (True, [])


@pytest.fixture
def labelled_twice(tmp_path):
    return labelling_project(tmp_path, criteria=2, reports=2, questions=1)


def label_all(project, value="yes") -> None:
    for task in labels.queue(project):
        for unit in labels.sheet(project, task.response_id).units:
            labels.set_label(project, task.response_id, unit.id, value)


def test_reports_without_a_rubric_lead_to_the_author_page(tmp_path, page_over):
    project = project_with(tmp_path)
    item_id = items.add(project, "A question").subject
    add_report(project, item_id, SYSTEMS[0])
    page = page_over(project, "Label")
    assert page.whole.currentWidget() is not page.labelling
    seal_rubric(project, item_id)
    page.window().show_page("Label")
    assert (page.whole.currentWidget(), page.queue.lines[0].name) == (page.labelling, "Report A")


def test_all_labelled_leads_to_the_unsure_ones(labelled_twice, page_over):
    label_all(labelled_twice)
    unsure = labels.queue(labelled_twice)[1]
    labels.set_label(labelled_twice, unsure.response_id, f"{unsure.item_id}/c2", label_rows.UNSURE)
    page = page_over(labelled_twice, "Label")
    page.done.findChildren(QPushButton)[0].click()
    assert (page.bench.response_id, page.bench.current_id) == (unsure.response_id, f"{unsure.item_id}/c2")
    assert page.work.isVisible()


def test_a_file_that_may_only_be_read_shows_everything_changes_nothing_and_says_why(
    labelled_twice, page_over, qtbot
):
    label_all(labelled_twice, "no")
    path = labelled_twice.path
    labelled_twice.close()
    page = page_over(Project.open(path, readonly=True), "Label")
    page.report_pane.report.select(0, 8)
    for key in ("1", "Ctrl+G", "Ctrl+E"):
        with qtbot.waitSignal(page.session.refused) as refused:
            press(key)
        assert "is read-only" in refused.args[0].happened
    assert {row.chip.accessibleName() for row in page.criteria.cards.rows.values()} == {"Not met"}
    details = page.criteria.details
    for button in (*details.verdicts.buttons, details.flag, page.bar.buttons["evidence"]):
        assert not button.isEnabled()
        assert LOCKED in button.toolTip()
    assert details.note.isReadOnly()


def test_a_report_that_cannot_be_rendered_is_plain_text_with_the_reason(labelled_twice, page_over):
    response_id = add_report(
        labelled_twice, labels.queue(labelled_twice)[0].item_id, SYSTEMS[2], "> " * 200 + "deep"
    )
    page = page_over(labelled_twice, "Label")
    page.window().show_page("Label", response_id=response_id)
    assert page.report_pane.banner.text().startswith("This report is shown as plain text.")
    assert page.report_pane.report.text().endswith("deep")


def test_markup_is_shown_letter_by_letter_and_arabic_written_from_the_right(tmp_path, page_over):
    project = project_with(tmp_path)
    question = "كيف يُنسب <b>الدليل</b> & <img src='file:///etc/passwd'>?"
    item_id = items.add(project, question, language="ar").subject
    add_report(project, item_id, SYSTEMS[0])
    seal_rubric(project, item_id)
    page = page_over(project, "Label")
    asked = page.report_pane.question
    assert (asked.text(), asked.textFormat()) == (question, Qt.TextFormat.PlainText)
    assert asked.layoutDirection() == Qt.LayoutDirection.RightToLeft
    rows = [row.words for row in page.criteria.cards.rows.values()]
    assert {words.textFormat() for words in rows} == {Qt.TextFormat.PlainText}


def test_a_label_that_came_in_is_locked_and_names_its_file(labelled_twice, tmp_path, page_over):
    response_id = labels.queue(labelled_twice)[0].response_id
    named = "SELECT s.name FROM response r JOIN system s ON s.id = r.system_id WHERE r.id = ?"
    (system,) = sql.first(labelled_twice, named, [response_id])
    first, second = labels.sheet(labelled_twice, response_id).units
    row = {"system": system, "unit": first.id, "rater": people.someone(labelled_twice).alias}
    label_files.run(labelled_twice, [written(tmp_path, row, name="spring.csv")])
    page = page_over(labelled_twice, "Label")
    page.bench.open(response_id, first.id)
    details = page.criteria.details
    assert details.origin.text() == "Given elsewhere, file spring.csv"
    assert details.note.isReadOnly()
    press("2")
    assert page.criteria.cards.current.chip.accessibleName() == "Met"
    page.bench.move_to(second.id)
    press("2")
    assert labels.sheet(labelled_twice, response_id).labels[second.id].value == "no"


NEW = "Worded so that nobody can misread it"


def item(project, place: int = 0) -> str:
    return items.ids(project)[place]


def word(project) -> str:
    unit_id = f"{item(project)}/c2"
    reviews.word(project, USUAL, item(project), unit_id, NEW)
    return unit_id


def test_a_reworded_criterion_says_so_and_a_key_says_it_again(labelled_twice, page_over):
    label_all(labelled_twice)
    unit_id = word(labelled_twice)
    page = page_over(labelled_twice, "Label")
    card = page.criteria.cards.rows[unit_id]
    assert (page.bench.current_id, card.words.text(), card.chip.accessibleName()) == (
        unit_id,
        NEW,
        "Reworded",
    )
    assert "since you said “Met”" in card.details.outdated.text()
    assert not any(button.isChecked() for button in card.details.verdicts.buttons)
    press("1")
    assert (card.chip.accessibleName(), card.details.outdated.isVisible()) == ("Met", False)
    assert page.queue.line(page.bench.task_id).labelled == 2


def test_what_is_submitted_keeps_its_label_and_says_why_it_no_longer_counts(labelled_twice, page_over):
    label_all(labelled_twice)
    label_sealing.submit(labelled_twice, item(labelled_twice))
    unit_id = word(labelled_twice)
    response_id = labels.queue(labelled_twice)[0].response_id
    page = page_over(labelled_twice, "Label", response_id=response_id, unit_id=unit_id)
    details = page.criteria.cards.rows[unit_id].details
    assert [button.isChecked() for button in details.verdicts.buttons] == [True, False, False]
    assert "Reopen your labels to label it again." in details.outdated.text()


def test_the_cells_of_a_gold_sub_task_say_so_too(tmp_path, page_over):
    project = one_item(tmp_path)
    response_id = labels.queue(project, PLAN)[0].response_id
    cells = [unit.id for unit in labels.sheet(project, response_id, PLAN).units]
    labels.set_labels(project, response_id, cells, "not", protocol=PLAN)
    reviews.word(project, PLAN, materials.item_ids(project)[0], cells[0], NEW)
    page = page_over(project, "Label", protocol=PLAN, response_id=response_id, unit_id=cells[0])
    matrix = page.criteria.matrix
    marked = {cell: matrix.model.place(cell).data(CELL_ROLE)[1] for cell in cells}
    assert {cell for cell, mark in marked.items() if mark} == set(page.bench.open_units) != set()
    assert "since you said “Not relevant”" in matrix.details.outdated.text()


@pytest.fixture
def two_items(tmp_path):
    return labelling_project(tmp_path, criteria=2, reports=2, questions=2)


def label_item(two_items, place: int, but: int = 0) -> None:
    missing = label_sealing.missing(two_items, item(two_items, place))
    for response_id, unit_id in missing[: len(missing) - but]:
        labels.set_label(two_items, response_id, unit_id, "yes")


def state(two_items, place: int = 0) -> str:
    submission = label_sealing.submission(two_items, item(two_items, place))
    return submission.state if submission else "open"


def test_done_at_the_last_report_submits_the_item_says_so_and_goes_on(two_items, page_over):
    page = page_over(two_items, "Label")
    press("1", 2, "Ctrl+Return")
    assert (state(two_items), report(page)) == ("open", ("1", "Report B"))
    press("1", 2, "Ctrl+Return")
    assert (state(two_items), report(page)) == ("sealed", ("2", "Report A"))
    assert "Your labels of item 1 (4 criteria in 2 reports) are submitted." in page.messages.text()


def test_the_last_labels_freeze_the_agreement_and_say_so_to_a_coordinator(two_items, page_over):
    me, other = people.people(two_items)
    for place, person in ((0, me), (0, other), (1, me)):
        assignments.assign_one(two_items, item(two_items, place), person.id, Stage.LABELLING)
    two_items.person = other
    label_item(two_items, 0)
    label_sealing.submit(two_items, item(two_items))
    two_items.person = me
    label_item(two_items, 0)
    page = page_over(two_items, "Label")
    page.submit_item(item(two_items))
    assert "Agreement on 1 is frozen: " in page.messages.text()


def test_what_is_missing_is_said_and_gone_to_also_when_it_was_taken_back_elsewhere(two_items, page_over):
    label_item(two_items, 0, but=1)
    first, last, *_ = (task.response_id for task in labels.queue(two_items))
    page = page_over(two_items, "Label", response_id=first)
    press("Ctrl+Return")
    assert page.bench.response_id == last
    press("Ctrl+Return")
    assert (state(two_items), page.bench.current_id) == ("open", page.bench.units[1].id)
    press("1")
    sql.alter(two_items, "UPDATE judgement SET status = 'skipped', value = NULL WHERE unit_id LIKE '%c2'")
    page.submit_item(item(two_items))
    assert state(two_items) == "open"
    assert page.bench.current_id.endswith("c2")


def test_submitted_labels_are_locked_say_why_and_are_submitted_again_once_reopened(two_items, page_over):
    label_item(two_items, 0)
    label_sealing.submit(two_items, item(two_items))
    page = page_over(two_items, "Label", item_id=item(two_items))
    details = page.criteria.details
    for button in (*details.verdicts.buttons, details.flag, page.bar.buttons["note"]):
        assert not button.isEnabled()
        assert SEALED in button.toolTip()
    assert details.note.isReadOnly()
    press("2")
    assert page.criteria.cards.current.chip.accessibleName() == "Met"
    assert "Reopen them first" in page.window().messages.text()
    press("Ctrl+R", "2")
    assert not page.sealed.isVisible()
    assert page.criteria.cards.rows[page.bench.units[0].id].chip.accessibleName() == "Not met"
    press("Ctrl+Return")
    submission = label_sealing.submission(two_items, item(two_items))
    assert (submission.state, submission.revision) == ("sealed", 3)


def test_labels_given_but_not_submitted_are_offered_at_the_end(two_items, page_over):
    label_item(two_items, 0)
    label_item(two_items, 1)
    page = page_over(two_items, "Label")
    assert page.done.isVisible()
    submit = next(
        button for button in page.done.findChildren(QPushButton) if button.text().startswith("Submit")
    )
    submit.click()
    assert [state(two_items, place) for place in (0, 1)] == ["sealed", "sealed"]
    assert (page.done.isVisible(), submit.isVisible()) == (True, False)


def test_only_what_is_assigned_is_offered_with_its_date_to_label_and_to_write(two_items, page_over):
    due = datetime.now(UTC) + timedelta(days=1)
    assignments.assign_one(two_items, item(two_items, 1), two_items.by, Stage.LABELLING, due=due)
    page = page_over(two_items, "Label")
    assert {task.item_key for task in page.queue.lines} == {"2"}
    assert "due tomorrow" in page.queue.place(page.bench.response_id).data(Qt.ItemDataRole.ToolTipRole)
    second = item(two_items, 1)
    due = datetime.now(UTC) - timedelta(days=2)
    assignments.assign_one(two_items, second, two_items.by, Stage.PLAN, due=due)
    assignments.assign_one(two_items, second, two_items.by, Stage.QUERY)
    page = page.window().show_page("Author")
    assert (page.item.id, page.header.place.text()) == (second, "1 of 1")
    assert "2 days late" in page.header.due.text()
    shown = [kind for kind in Kind if kind is not Kind.LABELS and page.tabs.isTabVisible(WRITTEN.index(kind))]
    # The rubric is there because this person has sealed one already.
    assert (set(shown), page.sheet.kind) == ({Kind.QUERY, Kind.RUBRIC, Kind.PLAN}, Kind.QUERY)
    page.go_on()
    assert page.sheet.kind is Kind.PLAN
