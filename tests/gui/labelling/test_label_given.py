"""Labels that came in by a file on the Label page: finished, read-only, with the file they came from."""

import csv
from pathlib import Path

import pytest

from annotator.actions.imports import label_files
from annotator.actions.items import items
from annotator.actions.labelling import label_tasks, labels
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.gui.pages.labelling.label_queue import state_of
from tests.projects.labelling_project import labelling_project
from tests.windows.labelling_keys import press


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return labelling_project(tmp_path, criteria=2, reports=2, questions=1)


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


def test_a_report_of_which_all_came_in_is_shown_as_submitted(project, tmp_path, page_over):
    response_id = taken_in(project, tmp_path, 2)
    page = page_over(project, "Label")
    states = {task.response_id: state_of(task) for task in page.queue.tasks}
    assert states.pop(response_id) == "submitted"
    assert list(states.values()) == ["new"]
