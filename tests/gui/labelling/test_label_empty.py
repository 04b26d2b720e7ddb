"""The label page with nothing to label, with nothing left, in a file that may only be read, and with odd reports."""

from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from annotator.actions.items import items
from annotator.actions.labelling import label_rows, label_sealing, label_tasks, labels
from annotator.actions.project.file import Project
from annotator.gui.pages.labelling.units.locking import LOCKED
from annotator.gui.widgets.basics import PlainLabel
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


def test_an_empty_project_leads_to_the_items(tmp_path, show):
    page = show(project_with(tmp_path))
    assert headline(page) == "No items yet"
    page.whole.currentWidget().findChildren(QPushButton)[0].click()
    assert page.window().page.NAME == "Items"


def test_items_without_reports_lead_to_the_import(tmp_path, show, qtbot):
    project = project_with(tmp_path)
    items.add(project, "A question")
    page = show(project)
    assert headline(page) == "No reports yet"
    with qtbot.waitSignal(page.desk.wanted) as wanted:
        page.whole.currentWidget().findChildren(QPushButton)[0].click()
    assert wanted.args[0] == "Import"


def test_reports_without_a_rubric_lead_to_the_author_page(tmp_path, show):
    project = project_with(tmp_path)
    item_id = items.add(project, "A question").subject
    add_report(project, item_id, SYSTEMS[0])
    page = show(project)
    assert headline(page) == "No rubric to label by"
    seal_rubric(project, item_id)
    page.window().show_page("Label")
    assert page.whole.currentWidget() is page.labelling
    assert page.queue.tasks[0].name == "Report A"


def test_the_last_label_and_done_lead_to_all_labelled(project, show):
    page = show(project)
    for _ in range(2):
        press("1")
        press("-")
        press("Ctrl+Return")
    assert page.done.isVisible()
    words = [label.text() for label in page.done.findChildren(PlainLabel)]
    assert words[:2] == [
        "All labelled and submitted",
        "4 criteria in 2 reports. Thank you. 2 are marked unsure. They count as missing, never as an answer.",
    ]
    assert not page.bar.isVisible()


def test_all_labelled_leads_to_the_unsure_ones(project, show):
    label_all(project)
    unsure = label_tasks.queue(project)[1]
    labels.set_label(project, unsure.response_id, f"{unsure.item_id}/c2", label_rows.UNSURE)
    page = show(project)
    page.done.findChildren(QPushButton)[0].click()
    assert (page.bench.response_id, page.bench.unit_id) == (unsure.response_id, f"{unsure.item_id}/c2")
    assert page.work.isVisible()


def test_undo_after_all_is_labelled_returns_to_the_work(project, show):
    page = show(project)
    for _ in range(2):
        press("1")
        press("2")
        press("Ctrl+Return")
    label_sealing.reopen(project, items.ids(project)[0])
    page.desk.undo()
    assert page.work.isVisible()
    assert page.bench.unit_id == page.bench.units[1].id


def test_a_finished_report_offers_the_next(project, show):
    page = show(project)
    press("1")
    press("1")
    assert "All 2 criteria of this report are labelled." in page.messages.text()


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
        with qtbot.waitSignal(page.desk.refused) as refused:
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
