"""The label page at its ends: nothing to label, labels from elsewhere or reworded, and submitting."""

import csv
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from annotator.actions.assignments import assignments
from annotator.actions.imports import label_files
from annotator.actions.items import items, materials
from annotator.actions.labelling import label_rows, label_sealing, labels
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.sets import reviews
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import WRITTEN
from annotator.gui.pages.labelling.unit_card import LOCKED, SEALED
from annotator.gui.pages.labelling.units_pane import CELL_ROLE
from annotator.gui.widgets.basics import PlainLabel
from annotator.protocols import USUAL
from tests.gui.labelling.test_label_page import report
from tests.projects.small_projects import (
    PLAN,
    SYSTEMS,
    add_report,
    labelling_project,
    one_item,
    project_with,
    seal_rubric,
)
from tests.windows.using import press


@pytest.fixture
def project(tmp_path):
    return labelling_project(tmp_path, criteria=2, reports=2, questions=1)


@pytest.fixture
def show(page_over):
    return partial(page_over, page="Label")


def headline(page) -> str:
    return page.whole.currentWidget().findChildren(PlainLabel)[0].text()


def label_all(project, value="yes") -> None:
    for task in labels.queue(project):
        for unit in labels.sheet(project, task.response_id).units:
            labels.set_label(project, task.response_id, unit.id, value)


def test_reports_without_a_rubric_lead_to_the_author_page(tmp_path, show):
    project = project_with(tmp_path)
    item_id = items.add(project, "A question").subject
    add_report(project, item_id, SYSTEMS[0])
    page = show(project)
    assert headline(page) == "No rubric to label by"
    seal_rubric(project, item_id)
    page.window().show_page("Label")
    assert page.whole.currentWidget() is page.labelling
    assert page.queue.lines[0].name == "Report A"


def test_all_labelled_leads_to_the_unsure_ones(project, show):
    label_all(project)
    unsure = labels.queue(project)[1]
    labels.set_label(project, unsure.response_id, f"{unsure.item_id}/c2", label_rows.UNSURE)
    page = show(project)
    page.done.findChildren(QPushButton)[0].click()
    assert (page.bench.response_id, page.bench.unit_id) == (unsure.response_id, f"{unsure.item_id}/c2")
    assert page.work.isVisible()


def test_a_file_that_may_only_be_read_shows_everything_changes_nothing_and_says_why(project, show, qtbot):
    label_all(project, "no")
    path = project.path
    project.close()
    page = show(Project.open(path, readonly=True))
    page.report_pane.report.select(0, 8)
    for key in ("1", "Ctrl+G", "Ctrl+E"):
        with qtbot.waitSignal(page.session.refused) as refused:
            press(key)
        assert "is read-only" in refused.args[0].happened
    assert {row.chip.words() for row in page.criteria.rows.values()} == {"Not met"}
    details = page.criteria.details
    for button in (*details.verdicts.buttons, details.flag, page.bar.buttons["evidence"]):
        assert not button.isEnabled()
        assert LOCKED in button.toolTip()
    assert details.note.isReadOnly()


def test_a_report_that_cannot_be_rendered_is_plain_text_with_the_reason(project, show):
    task = labels.queue(project)[0]
    response_id = add_report(project, task.item_id, SYSTEMS[2], "> " * 200 + "deep")
    page = show(project)
    page.window().show_page("Label", response_id=response_id)
    assert page.report_pane.banner.text().startswith("This report is shown as plain text.")
    assert page.report_pane.report.text().endswith("deep")
    page.window().show_page("Label", response_id=task.response_id)
    assert page.report_pane.banner.text() == ""


def test_markup_is_shown_letter_by_letter_and_arabic_written_from_the_right(tmp_path, show):
    project = project_with(tmp_path)
    question = "كيف يُنسب <b>الدليل</b> & <img src='file:///etc/passwd'>?"
    item_id = items.add(project, question, language="ar").subject
    add_report(project, item_id, SYSTEMS[0])
    seal_rubric(project, item_id)
    page = show(project)
    asked = page.report_pane.question
    assert (asked.text(), asked.textFormat()) == (question, Qt.TextFormat.PlainText)
    assert asked.layoutDirection() == Qt.LayoutDirection.RightToLeft
    rows = [row.words for row in page.criteria.rows.values()]
    assert {words.textFormat() for words in rows} == {Qt.TextFormat.PlainText}
    assert {words.layoutDirection() for words in rows} == {Qt.LayoutDirection.LeftToRight}


def taken_in(project: Project, folder: Path, units: int) -> str:
    """Take in “yes” of so many criteria of the report that stands first; its id."""
    (task, _) = labels.queue(project)
    sheet = labels.sheet(project, task.response_id)
    with project.store.read() as db:
        (system,) = db.exec_driver_sql(
            "SELECT s.name FROM response r JOIN system s ON s.id = r.system_id WHERE r.id = ?",
            (task.response_id,),
        ).one()
    alias = people.someone(project).alias
    with (folder / "spring.csv").open("w", encoding="utf-8", newline="") as table:
        writer = csv.writer(table)
        writer.writerow(("item_id", "system", "unit_id", "rater", "value"))
        for unit in sheet.units[:units]:
            writer.writerow((items.ids(project)[0], system, unit.id, alias, "yes"))
    label_files.run(project, [folder / "spring.csv"])
    return task.response_id


def test_a_label_that_came_in_is_locked_and_names_its_file(project, tmp_path, page_over):
    response_id = taken_in(project, tmp_path, 1)
    page = page_over(project, "Label")
    first, second = labels.sheet(project, response_id).units
    page.bench.open(response_id, first.id)
    details = page.criteria.details
    assert details.origin.text() == "Given elsewhere, file spring.csv"
    for button in (*details.verdicts.buttons, details.flag, page.bar.buttons["note"]):
        assert not button.isEnabled()
    assert details.note.isReadOnly()
    press("2")
    assert page.criteria.row.chip.words() == "Met"
    assert "finished work" in page.window().messages.text()
    page.bench.move_to(second.id)
    assert page.criteria.details.origin.isHidden()
    assert page.bar.buttons["note"].isEnabled()
    press("2")
    assert labels.sheet(project, response_id).labels[second.id].value == "no"


NEW = "Worded so that nobody can misread it"


@pytest.fixture
def all_met(tmp_path):
    """One item of two reports, each with two criteria, all labelled as met; then the second is worded anew."""
    opened = labelling_project(tmp_path, criteria=2, reports=2, questions=1)
    for response_id, unit_id in label_sealing.missing(opened, item(opened)):
        labels.set_label(opened, response_id, unit_id, "yes")
    return opened


def item(project, place: int = 0) -> str:
    return items.ids(project)[place]


def word(project) -> str:
    unit_id = f"{item(project)}/c2"
    reviews.word(project, USUAL, item(project), unit_id, NEW)
    return unit_id


def test_a_reworded_criterion_says_so_and_a_key_says_it_again(all_met, page_over):
    unit_id = word(all_met)
    page = page_over(all_met, "Label")
    card = page.criteria.rows[unit_id]
    assert (page.bench.unit_id, card.words.text(), card.chip.words()) == (unit_id, NEW, "Reworded")
    assert "since you said “Met”" in card.details.outdated.text()
    assert not any(button.isChecked() for button in card.details.verdicts.buttons)
    assert page.criteria.count.text() == "1 of 2"
    press("1")
    assert (card.chip.words(), card.details.outdated.isVisible()) == ("Met", False)
    assert (page.criteria.count.text(), page.queue.line(page.bench.task_id).labelled) == ("2 of 2", 2)


def test_what_is_submitted_keeps_its_label_and_says_why_it_no_longer_counts(all_met, page_over):
    label_sealing.submit(all_met, item(all_met))
    unit_id = word(all_met)
    page = page_over(all_met, "Label", response_id=labels.queue(all_met)[0].response_id, unit_id=unit_id)
    details = page.criteria.rows[unit_id].details
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
    marked = {cell: matrix.model.place(cell).data(CELL_ROLE).marked for cell in cells}
    assert {cell for cell, mark in marked.items() if mark} == set(page.bench.open_units) != set()
    assert "since you said “Not relevant”" in matrix.details.outdated.text()


@pytest.fixture
def two_items(tmp_path):
    return labelling_project(tmp_path, criteria=2, reports=2, questions=2)


@pytest.fixture
def show_page(two_items, page_over):
    return partial(page_over, two_items, "Label")


def label_item(two_items, place: int, but: int = 0) -> None:
    missing = label_sealing.missing(two_items, item(two_items, place))
    for response_id, unit_id in missing[: len(missing) - but]:
        labels.set_label(two_items, response_id, unit_id, "yes")


def state(two_items, place: int = 0) -> str:
    return label_sealing.state(two_items, item(two_items, place)).state


def test_done_at_the_last_report_submits_the_item_says_so_and_goes_on(two_items, show_page):
    page = show_page()
    press("1", 2)
    assert page.bar.buttons["submit"].text().startswith("Done")
    press("Ctrl+Return")
    assert (state(two_items), report(page)) == ("open", ("1", "Report B"))
    press("1", 2)
    assert page.bar.buttons["submit"].text().startswith("Submit")
    press("Ctrl+Return")
    assert (state(two_items), report(page)) == ("sealed", ("2", "Report A"))
    assert "Your labels of item 1 (4 criteria in 2 reports) are submitted." in page.messages.text()


def test_the_last_labels_freeze_the_agreement_and_say_so_to_a_coordinator(two_items, show_page):
    me, other = people.people(two_items)
    for place, person in ((0, me), (0, other), (1, me)):
        assignments.assign_one(two_items, item(two_items, place), person.id, Stage.LABELLING)
    two_items.person = other
    label_item(two_items, 0)
    label_sealing.submit(two_items, item(two_items))
    two_items.person = me
    label_item(two_items, 0)
    page = show_page()
    page.submit_item(item(two_items))
    assert state(two_items) == "sealed"
    assert "Agreement on 1 is frozen: " in page.messages.text()


def test_what_is_missing_is_said_and_gone_to_also_when_it_was_taken_back_elsewhere(two_items, show_page):
    label_item(two_items, 0, but=1)
    first, last, *_ = (task.response_id for task in labels.queue(two_items))
    page = show_page(response_id=first)
    press("Ctrl+Return")
    assert page.bench.response_id == last
    press("Ctrl+Return")
    assert state(two_items) == "open"
    assert page.bench.unit_id == page.bench.units[1].id
    assert page.criteria.open_list.summary() == "One criterion is still open:"
    press("1")
    with two_items.store.write() as db:
        db.exec_driver_sql("UPDATE judgement SET status = 'skipped', value = NULL WHERE unit_id LIKE '%c2'")
    page.submit_item(item(two_items))
    assert state(two_items) == "open"
    assert "2 labels are still missing" in page.messages.text()
    assert page.bench.unit_id.endswith("c2")


def test_submitted_labels_are_locked_say_why_and_are_submitted_again_once_reopened(two_items, show_page):
    label_item(two_items, 0)
    label_sealing.submit(two_items, item(two_items))
    page = show_page(item_id=item(two_items))
    assert "Your labels of item 1 are submitted" in page.sealed.words.text()
    details = page.criteria.details
    for button in (*details.verdicts.buttons, details.flag, page.bar.buttons["note"]):
        assert not button.isEnabled()
        assert SEALED in button.toolTip()
    assert details.note.isReadOnly()
    press("2")
    assert page.criteria.row.chip.words() == "Met"
    assert "Reopen them first" in page.window().messages.text()
    press("Ctrl+R")
    assert not page.sealed.isVisible()
    press("2")
    assert page.criteria.rows[page.bench.units[0].id].chip.words() == "Not met"
    press("Ctrl+Return")
    standing = label_sealing.state(two_items, item(two_items))
    assert (standing.state, standing.revision) == ("sealed", 3)


def test_labels_given_but_not_submitted_are_offered_at_the_end(two_items, show_page):
    label_item(two_items, 0)
    label_item(two_items, 1)
    page = show_page()
    assert page.done.isVisible()
    submit = next(
        button for button in page.done.findChildren(QPushButton) if button.text().startswith("Submit")
    )
    assert submit.text() == "Submit the labels of 2 items"
    submit.click()
    assert [state(two_items, place) for place in (0, 1)] == ["sealed", "sealed"]
    assert page.done.isVisible()
    assert not submit.isVisible()


def test_only_what_is_assigned_is_offered_with_its_date_to_label_and_to_write(two_items, show_page):
    due = datetime.now(UTC) + timedelta(days=1)
    assignments.assign_one(two_items, item(two_items, 1), two_items.by, Stage.LABELLING, due=due)
    page = show_page()
    assert {task.item_key for task in page.queue.lines} == {"2"}
    tooltip = page.queue.place(page.bench.response_id).data(Qt.ItemDataRole.ToolTipRole)
    assert tooltip.startswith("0 of 2 labelled · due tomorrow")
    second = item(two_items, 1)
    due = datetime.now(UTC) - timedelta(days=2)
    assignments.assign_one(two_items, second, two_items.by, Stage.PLAN, due=due)
    assignments.assign_one(two_items, second, two_items.by, Stage.QUERY)
    page = page.window().show_page("Author")
    assert (page.item.id, page.header.place.text()) == (second, "1 of 1")
    assert "2 days late" in page.header.due.text()
    shown = [kind for kind in Kind if kind is not Kind.LABELS and page.tabs.isTabVisible(WRITTEN.index(kind))]
    # The rubric is there because this person has sealed one already.
    assert set(shown) == {Kind.QUERY, Kind.RUBRIC, Kind.PLAN}
    assert page.sheet.kind is Kind.QUERY
    page.go_on()
    assert page.sheet.kind is Kind.PLAN
