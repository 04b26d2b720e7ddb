"""A project whose people work in files of their own: tasks that went out, and work that came back."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.authoring.annotating import artifacts_of
from annotator.actions.items import items
from annotator.actions.parcels import packing, tasking, tray
from annotator.actions.parcels.known_keys import SIGNING_KEY
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.kinds.rubric import Criterion, Rubric
from tests.templates import once

QUESTIONS = ("What do residual connections do?", "How is early warning of earthquakes judged?")
NAMES = ("Ana Silva", "李明")


@once
def coordinated(folder: Path, names: Sequence[str] = NAMES, questions: Sequence[str] = QUESTIONS) -> Project:
    """A coordinator's project in which each of these people is to write the rubric of each of these items."""
    folder.mkdir(parents=True, exist_ok=True)
    project = people.new_project(folder / "study.goldsmith", "Study of gold")
    people.someone(project)
    for question in questions:
        items.add(project, question, "Technical Details", "Deep learning")
    for name in names:
        people.add_person(project, name, (Role.ANNOTATOR,))
    for person in annotators(project):
        for item_id in items.ids(project):
            assignments.assign_one(project, item_id, person.id, Stage.RUBRIC)
    return project


def annotators(project: Project) -> list:
    return [person for person in people.people(project) if not person.has(Role.COORDINATOR)]


def task_for(project: Project, person_id: str, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return packing.task(project, person_id, folder).path


def write_rubric(project: Project, item_id: str, *texts: str, seal: bool = True) -> str:
    """A rubric of these criteria by the person working, sealed unless it is to stay a draft; its id."""
    units = tuple(Criterion(text=text, weight=2) for text in texts)
    artifact_id = artifacts.start(project, item_id, Kind.RUBRIC, Rubric(units=units)).subject
    if seal:
        assignments.seal(project, artifact_id)
    return artifact_id


def settled(project: Project) -> list[str]:
    """The criteria of the consensus of the first item."""
    found = [one for one in artifacts_of(project, items.ids(project)[0]) if one.state is State.CONSENSUS]
    return [unit.text for one in found for unit in one.document.units]


def edit_rubric(project: Project, item_id: str, text: str) -> None:
    """Reopen the person's rubric, word its first criterion anew and seal it again."""
    own = next(a for a in artifacts_of(project, item_id) if a.kind is Kind.RUBRIC)
    assignments.reopen(project, own.id)
    artifacts.change_unit(project, own.id, own.document.units[0].id, text=text)
    assignments.seal(project, own.id)


def returned(
    project: Project, person_id: str, folder: Path, text: str = "Explains the weight of gold"
) -> Path:
    """What a person sends back after having written a rubric of one criterion for each of their items."""
    theirs = tasking.take_task(task_for(project, person_id, folder)).project
    for item_id in items.ids(theirs):
        write_rubric(theirs, item_id, text)
    path = tray.work(theirs).path
    theirs.close()
    return path


def second_copy(project: Project, person_id: str, first: Path, folder: Path) -> Project:
    """A second project of a person's task, open, with the key of the first, as if its file had been copied."""
    theirs = tasking.take_task(task_for(project, person_id, folder), folder / "second.goldsmith").project
    with closing(Project.open(first, readonly=True)) as known:
        theirs.set(SIGNING_KEY, known.get(SIGNING_KEY))
    return theirs


def project_in(folder: Path) -> Path:
    (result,) = folder.glob("*.goldsmith")
    return result
