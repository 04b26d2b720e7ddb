"""What lies in the tray, beside what is here: which units belong together, and what stays unseen."""

from pathlib import Path

import pytest
from sqlalchemy import update

from annotator.actions.assignments import assignments
from annotator.actions.authoring.annotating import artifacts_of
from annotator.actions.items import items
from annotator.actions.labelling import label_sealing, label_tasks, labels
from annotator.actions.parcels import packing, returning, tasking, tray, unpacking
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.parcel import TrayState
from annotator.domain.experts.person import Role
from annotator.storage.tables import ARTIFACT
from tests.material.sent_apart import annotators, coordinated, project_in, returned, second_copy, write_rubric
from tests.projects.labelling_project import labelling_project


def clashing(project: Project, folder: Path, *texts: str) -> tray.TraySheet:
    """Work on the first item from a second copy of Ana's task, taken in after that of the first."""
    ana = annotators(project)[0]
    unpacking.take_in(project, [returned(project, ana.id, folder / "one")])
    theirs = second_copy(project, ana.id, project_in(folder / "one"), folder / "two")
    write_rubric(theirs, items.ids(theirs)[0], *texts)
    path = returning.work(theirs).path
    theirs.close()
    unpacking.take_in(project, [path])
    return only(project)


def only(project: Project) -> tray.TraySheet:
    (found,) = tray.sheets(project)
    return tray.sheet(project, found)


def words(sheet: tray.TraySheet) -> list[tuple[str, str]]:
    return [(came.text if came else "", here.text if here else "") for came, here in sheet.rows]


def test_units_of_two_copies_are_paired_by_likeness(tmp_path: Path) -> None:
    project = coordinated(tmp_path)
    sheet = clashing(project, tmp_path, "Names a mine in Peru", "Explains the weight of pure gold")
    assert words(sheet) == [
        ("Names a mine in Peru", ""),
        ("Explains the weight of pure gold", "Explains the weight of gold"),
    ]
    assert sheet.here_revision == 2


def test_what_is_here_only_stands_last(tmp_path: Path) -> None:
    sheet = clashing(coordinated(tmp_path), tmp_path, "Names a mine in Peru")
    assert words(sheet) == [("Names a mine in Peru", ""), ("", "Explains the weight of gold")]


def test_the_adjudicator_of_an_item_decides_without_seeing_its_annotators_work(tmp_path: Path) -> None:
    project = coordinated(tmp_path)
    people.add_person(project, "Senior", (Role.ADJUDICATOR, Role.COORDINATOR), "S")
    senior = next(one for one in people.people(project) if one.alias == "S")
    assignments.assign_one(project, items.ids(project)[0], senior.id, Stage.ADJUDICATION)
    clashing(project, tmp_path, "Names a mine in Peru")
    project.work_as(senior)
    sheet = only(project)
    assert "You adjudicate this item" in sheet.withheld
    assert (sheet.came, sheet.here, sheet.rows) == (None, None, ())
    tray.accept(project, sheet.entry.id)
    assert tray.sheets(project) == []


def test_a_decided_entry_may_be_accepted_only_when_it_was_set_aside(tmp_path: Path) -> None:
    project = coordinated(tmp_path)
    entry = clashing(project, tmp_path, "Names a mine in Peru").entry
    tray.set_aside(project, entry.id)
    (aside,) = tray.sheets(project, TrayState.SET_ASIDE)
    assert aside.may_be_accepted
    tray.accept(project, entry.id)
    (accepted,) = tray.sheets(project, TrayState.ACCEPTED)
    assert not accepted.may_be_accepted


@pytest.fixture
def labelled(tmp_path: Path) -> Project:
    """One item with a settled rubric and two reports, to be labelled by Rater 2."""
    project = labelling_project(tmp_path, criteria=2, reports=2, questions=1)
    item_id = items.ids(project)[0]
    with project.store.write() as db:
        rubric = artifacts_of(project, item_id)[0].id
        db.execute(update(ARTIFACT).where(ARTIFACT.c.id == rubric).values(author_id="", state="consensus"))
    rater = next(one for one in people.people(project) if one.name == "Rater 2")
    assignments.assign_one(project, item_id, rater.id, Stage.LABELLING)
    return project


def labels_from(theirs: Project, value: str) -> Path:
    """The rater's file in which every criterion got the same label."""
    for task in label_tasks.queue(theirs):
        for unit in labels.sheet(theirs, task.response_id).units:
            labels.set_label(theirs, task.response_id, unit.id, value)
    label_sealing.submit(theirs, items.ids(theirs)[0])
    path = returning.work(theirs).path
    theirs.close()
    return path


def test_labels_are_told_by_criterion_and_report_number_never_by_system(
    labelled: Project, tmp_path: Path
) -> None:
    rater = next(one for one in people.people(labelled) if one.name == "Rater 2")
    theirs = tasking.take_task(
        packing.task(labelled, rater.id, tmp_path).path, tmp_path / "first.goldsmith"
    ).project
    second = second_copy(labelled, rater.id, theirs.path, tmp_path / "two")
    for copy, value in ((theirs, "yes"), (second, "no")):
        unpacking.take_in(labelled, [labels_from(copy, value)])
    sheet = only(labelled)
    assert sorted(sheet.reports.values()) == [1, 2]
    assert {came.unit_id for came, _ in sheet.rows if came} <= set(sheet.headings)
    assert {(came.value, here.value) for came, here in sheet.rows if came and here} == {("no", "yes")}
    assert "Canary" not in repr(sheet)
