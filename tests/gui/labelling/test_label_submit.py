"""Submitting the labels of an item: when, what is missing, locked afterwards, open again on request."""

from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from annotator.actions.assignments import assignments
from annotator.actions.items import items
from annotator.actions.labelling import label_sealing, label_tasks, labels
from annotator.actions.project import people
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Kind
from annotator.gui.pages.labelling.action_bar import SEALED
from tests.projects.labelling_project import labelling_project
from tests.windows.labelling_keys import press


@pytest.fixture
def project(tmp_path):
    return labelling_project(tmp_path, criteria=2, reports=2, questions=2)


@pytest.fixture
def show(project, page_over):
    def make(page: str = "Label", **place: object):
        return page_over(project, page, **place)

    return make


def item(project, place: int = 0) -> str:
    return items.ids(project)[place]


def label_item(project, place: int, but: int = 0) -> None:
    missing = label_sealing.missing(project, item(project, place))
    for response_id, unit_id in missing[: len(missing) - but]:
        labels.set_label(project, response_id, unit_id, "yes")


def state(project, place: int = 0) -> str:
    return label_sealing.state(project, item(project, place)).state


def open_report(page) -> tuple[str, str]:
    task = page.queue.line(page.bench.response_id)
    return task.item_key, task.name


def test_done_at_the_last_report_submits_the_item_says_so_and_goes_on(project, show):
    page = show()
    press("1", 2)
    assert page.bar.buttons["submit"].text().startswith("Done")
    press("Ctrl+Return")
    assert (state(project), open_report(page)) == ("open", ("1", "Report B"))
    press("1", 2)
    assert page.bar.buttons["submit"].text().startswith("Submit")
    press("Ctrl+Return")
    assert (state(project), open_report(page)) == ("sealed", ("2", "Report A"))
    assert "Your labels of item 1 (4 criteria in 2 reports) are submitted." in page.messages.text()


def test_the_last_labels_freeze_the_agreement_and_say_so_to_a_coordinator(project, show):
    me, other = people.people(project)
    for place, person in ((0, me), (0, other), (1, me)):
        assignments.assign_one(project, item(project, place), person.id, Stage.LABELLING)
    project.person = other
    label_item(project, 0)
    label_sealing.submit(project, item(project))
    project.person = me
    label_item(project, 0)
    page = show()
    page.submission.submit(item(project))
    assert state(project) == "sealed"
    assert "Agreement on 1 is frozen: " in page.messages.text()


def test_what_is_missing_is_said_and_gone_to(project, show):
    label_item(project, 0, but=1)
    last = label_tasks.queue(project)[1].response_id
    page = show(response_id=label_tasks.queue(project)[0].response_id)
    press("Ctrl+Return")
    assert page.bench.response_id == last
    press("Ctrl+Return")
    assert state(project) == "open"
    assert page.bench.unit_id == page.bench.units[1].id
    assert page.criteria.open_list.said() == "One criterion is still open:"


def test_a_label_taken_back_elsewhere_is_missed_before_anything_is_sealed(project, show):
    label_item(project, 0)
    page = show(response_id=label_tasks.queue(project)[0].response_id)
    with project.store.write() as db:
        db.exec_driver_sql("UPDATE judgement SET status = 'skipped', value = NULL WHERE unit_id LIKE '%c2'")
    page.submission.submit(item(project))
    assert state(project) == "open"
    assert "2 labels are still missing" in page.messages.text()
    assert page.bench.unit_id.endswith("c2")


def test_submitted_labels_are_locked_and_say_why(project, show):
    label_item(project, 0)
    label_sealing.submit(project, item(project))
    page = show(item_id=item(project))
    assert "Your labels of item 1 are submitted" in page.sealed.words.text()
    details = page.criteria.details
    for button in (
        *details.verdicts.buttons,
        details.flag,
        page.bar.buttons["met"],
        page.bar.buttons["note"],
    ):
        assert not button.isEnabled()
        assert SEALED in button.toolTip()
    assert details.note.isReadOnly()
    press("2")
    assert page.criteria.row.chip.words() == "Met"
    assert "Reopen them first" in page.window().messages.text()


def test_reopening_unlocks_and_submitting_again_makes_another_revision(project, show):
    label_item(project, 0)
    label_sealing.submit(project, item(project))
    page = show(item_id=item(project))
    press("Ctrl+R")
    assert not page.sealed.isVisible()
    press("2")
    assert page.criteria.rows[page.bench.units[0].id].chip.words() == "Not met"
    press("Ctrl+Return")
    standing = label_sealing.state(project, item(project))
    assert (standing.state, standing.revision) == ("sealed", 3)


def test_labels_given_but_not_submitted_are_offered_at_the_end(project, show):
    label_item(project, 0)
    label_item(project, 1)
    page = show()
    assert page.done.isVisible()
    submit = next(
        button for button in page.done.findChildren(QPushButton) if button.text().startswith("Submit")
    )
    assert submit.text() == "Submit the labels of 2 items"
    submit.click()
    assert [state(project, place) for place in (0, 1)] == ["sealed", "sealed"]
    assert page.done.isVisible()
    assert not submit.isVisible()


def test_only_what_is_assigned_is_offered_and_due_dates_show(project, show):
    due = datetime.now(UTC) + timedelta(days=1)
    assignments.assign_one(project, item(project, 1), project.by, Stage.LABELLING, due=due)
    page = show()
    assert {task.item_key for task in page.queue.lines} == {"2"}
    tooltip = page.queue.place(page.bench.response_id).data(Qt.ItemDataRole.ToolTipRole)
    assert tooltip.startswith("0 of 2 labelled · due tomorrow")


def test_the_author_page_offers_only_what_is_assigned_with_its_date(project, show):
    second = item(project, 1)
    due = datetime.now(UTC) - timedelta(days=2)
    assignments.assign_one(project, second, project.by, Stage.PLAN, due=due)
    assignments.assign_one(project, second, project.by, Stage.QUERY)
    page = show("Author")
    assert (page.item.id, page.header.place.text()) == (second, "1 of 1")
    assert "2 days late" in page.header.due.text()
    shown = [kind for kind in Kind if kind is not Kind.LABELS and page.tabs.isTabVisible(_place(page, kind))]
    # The rubric is there because this person has sealed one already.
    assert set(shown) == {Kind.QUERY, Kind.RUBRIC, Kind.PLAN}
    assert page.sheet.kind is Kind.QUERY
    page.go_on()
    assert page.sheet.kind is Kind.PLAN


def _place(page, kind: Kind) -> int:
    from annotator.domain.kinds.documents import WRITTEN

    return WRITTEN.index(kind)
