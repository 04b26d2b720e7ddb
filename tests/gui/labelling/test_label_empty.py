"""The label page with nothing to label, with labels that came in or lost their words, or only to be read."""

import csv
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from annotator.actions.imports import label_files
from annotator.actions.items import items, materials
from annotator.actions.labelling import label_rows, label_sealing, label_tasks, labels
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.sets import reviews
from annotator.gui.pages.labelling.action_bar import LOCKED
from annotator.gui.pages.labelling.units_pane import CELL_ROLE
from annotator.gui.widgets.basics import PlainLabel
from annotator.protocols import USUAL
from tests.projects.labelled_protocols import PLAN, one_item
from tests.projects.labelling_project import SYSTEMS, add_report, labelling_project, project_with, seal_rubric
from tests.windows.labelling_keys import press


@pytest.fixture
def project(tmp_path):
    return labelling_project(tmp_path, criteria=2, reports=2, questions=1)


@pytest.fixture
def show(page_over):
    return partial(page_over, page="Label")


def headline(page) -> str:
    return page.whole.currentWidget().findChildren(PlainLabel)[0].text()


def label_all(project, value="yes") -> None:
    for task in label_tasks.queue(project):
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
    unsure = label_tasks.queue(project)[1]
    labels.set_label(project, unsure.response_id, f"{unsure.item_id}/c2", label_rows.UNSURE)
    page = show(project)
    page.done.findChildren(QPushButton)[0].click()
    assert (page.bench.response_id, page.bench.unit_id) == (unsure.response_id, f"{unsure.item_id}/c2")
    assert page.work.isVisible()


def test_a_file_that_may_only_be_read_shows_everything_and_changes_nothing(project, show):
    label_all(project, "no")
    path = project.path
    project.close()
    page = show(Project.open(path, readonly=True))
    assert {row.chip.words() for row in page.criteria.rows.values()} == {"Not met"}
    press("1")
    assert {row.chip.words() for row in page.criteria.rows.values()} == {"Not met"}
    details = page.criteria.details
    for button in (
        *details.verdicts.buttons,
        details.flag,
        *(page.bar.buttons[act] for act in ("met", "evidence")),
    ):
        assert not button.isEnabled()
        assert LOCKED in button.toolTip()
    assert details.note.isReadOnly()


def test_keys_that_would_change_a_file_that_may_only_be_read_say_why_not(project, show, qtbot):
    path = project.path
    project.close()
    page = show(Project.open(path, readonly=True))
    page.report_pane.report.select(0, 8)
    for key in ("1", "Ctrl+G", "Ctrl+E"):
        with qtbot.waitSignal(page.session.refused) as refused:
            press(key)
        assert "is read-only" in refused.args[0].happened


def test_a_report_that_cannot_be_rendered_is_plain_text_with_the_reason(project, show):
    task = label_tasks.queue(project)[0]
    response_id = add_report(project, task.item_id, SYSTEMS[2], "> " * 200 + "deep")
    page = show(project)
    page.window().show_page("Label", response_id=response_id)
    assert page.report_pane.banner.text().startswith("This report is shown as plain text.")
    assert page.report_pane.report.text().endswith("deep")
    page.window().show_page("Label", response_id=task.response_id)
    assert page.report_pane.banner.text() == ""


def test_markup_in_questions_and_criteria_is_shown_letter_by_letter(tmp_path, show):
    project = project_with(tmp_path)
    question = "<b>Why</b> & <img src='file:///etc/passwd'>?"
    item_id = items.add(project, question).subject
    add_report(project, item_id, SYSTEMS[0])
    seal_rubric(project, item_id)
    page = show(project)
    assert page.report_pane.question.text() == question
    assert page.report_pane.question.textFormat() == Qt.TextFormat.PlainText
    assert all(row.words.textFormat() == Qt.TextFormat.PlainText for row in page.criteria.rows.values())


def test_arabic_is_written_from_the_right(tmp_path, show):
    project = project_with(tmp_path)
    item_id = items.add(project, "كيف يُنسب الدليل؟", language="ar").subject
    add_report(project, item_id, SYSTEMS[0])
    seal_rubric(project, item_id)
    page = show(project)
    assert page.report_pane.question.layoutDirection() == Qt.LayoutDirection.RightToLeft
    assert next(iter(page.criteria.rows.values())).words.layoutDirection() == Qt.LayoutDirection.LeftToRight


def taken_in(project: Project, folder: Path, units: int) -> str:
    """Take in “yes” of so many criteria of the report that stands first; its id."""
    (task, _) = label_tasks.queue(project)
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
    for button in (*details.verdicts.buttons, details.flag, page.bar.buttons["met"]):
        assert not button.isEnabled()
    assert details.note.isReadOnly()
    press("2")
    assert page.criteria.row.chip.words() == "Met"
    assert "finished work" in page.window().messages.text()
    page.bench.move_to(second.id)
    assert page.criteria.details.origin.isHidden()
    assert page.bar.buttons["met"].isEnabled()
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


def item(project) -> str:
    return items.ids(project)[0]


def word(project) -> str:
    unit_id = f"{item(project)}/c2"
    reviews.word(project, USUAL, item(project), unit_id, NEW)
    return unit_id


def test_the_card_says_so_and_a_key_says_it_again(all_met, page_over):
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
    page = page_over(all_met, "Label", response_id=label_tasks.queue(all_met)[0].response_id, unit_id=unit_id)
    details = page.criteria.rows[unit_id].details
    assert [button.isChecked() for button in details.verdicts.buttons] == [True, False, False]
    assert "Reopen your labels to label it again." in details.outdated.text()


def test_the_cells_of_a_gold_sub_task_say_so_too(tmp_path, page_over):
    project = one_item(tmp_path)
    response_id = label_tasks.queue(project, PLAN)[0].response_id
    cells = [unit.id for unit in labels.sheet(project, response_id, PLAN).units]
    labels.set_labels(project, response_id, cells, "not", protocol=PLAN)
    reviews.word(project, PLAN, materials.item_ids(project)[0], cells[0], NEW)
    page = page_over(project, "Label", protocol=PLAN, response_id=response_id, unit_id=cells[0])
    matrix = page.criteria.matrix
    marked = {cell: matrix.model.place(cell).data(CELL_ROLE).marked for cell in cells}
    assert {cell for cell, mark in marked.items() if mark} == set(page.bench.open_units) != set()
    assert "since you said “Not relevant”" in matrix.details.outdated.text()
