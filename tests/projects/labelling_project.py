"""A small real project to be labelled: two items, three reports each, one rubric sealed per item."""

from pathlib import Path

from sqlalchemy import insert

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.labelling import label_sealing
from annotator.actions.project import people
from annotator.actions.project.file import Project, response_hash
from annotator.actions.project.people import new_project
from annotator.domain.experts.assignment import Role
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.material.item import END_TO_END
from annotator.domain.texts.canonical import derived_id
from annotator.storage.tables import RESPONSE, SYSTEM
from tests.templates import once

# Names that must never come before a rater's eyes.
SYSTEMS = ("Canary-Alpha-9000", "Canary-Beta-9000", "Canary-Gamma-9000")
REPORT = """# Evidence in long answers

Attribution ties each **claim** to a source. The *first* study measured 75 % citation accuracy.

- Synthetic questions help.
- Verified passages help more.

A closing remark on [cost](https://example.org/cost) ends the report.
"""


@once
def project_with(path: Path, people_added: int = 1) -> Project:
    """An empty project, with a coordinator and further annotators named “Rater 2” and so on."""
    project = new_project(path / "labels.goldsmith", "Labels")
    people.someone(project)
    for number in range(people_added):
        people.add_person(project, f"Rater {number + 2}", (Role.ANNOTATOR,))
    return project


@once
def labelling_project(path: Path, criteria: int = 3, reports: int = 3, questions: int = 2) -> Project:
    """Items with a sealed rubric of so many criteria and as many reports, all by canary systems."""
    project = project_with(path)
    for number in range(1, questions + 1):
        item_id = items.add(project, f"Question {number}: how is evidence attributed?").subject
        seal_rubric(project, item_id, criteria)
        for system in SYSTEMS[:reports]:
            add_report(project, item_id, system)
    return project


def add_report(
    project: Project, item_id: str, system: str = SYSTEMS[0], text: str = REPORT, mode: str = END_TO_END
) -> str:
    """A system's report on an item, the system being added when it is new; the report's id."""
    response_id, system_id = derived_id("response", item_id, system), derived_id("system", system)
    with project.store.write() as db:
        db.execute(insert(SYSTEM).prefix_with("OR IGNORE").values(id=system_id, name=system, notes=""))
        db.execute(
            insert(RESPONSE).values(
                id=response_id, item_id=item_id, system_id=system_id, text=text, trial=1, mode=mode,
                sha256=response_hash(text),
            )
        )  # fmt: skip
    return response_id


def rubric(item_id: str, criteria: int) -> Rubric:
    return Rubric(
        units=tuple(
            Criterion(id=f"{item_id}/c{n}", text=f"Explains point {n} of the question", weight=2)
            for n in range(1, criteria + 1)
        )
    )


def seal_rubric(project: Project, item_id: str, criteria: int = 3) -> str:
    """The rubric of the person working, sealed; the artifact's id."""
    artifact_id = artifacts.start(project, item_id, Kind.RUBRIC, rubric(item_id, criteria)).subject
    assignments.seal(project, artifact_id)
    return artifact_id


def submit_labels(project: Project) -> None:
    """Everybody submits what they have labelled, whatever is missing; who works goes on working."""
    working = project.person
    for person in people.people(project):
        project.work_as(person)
        label_sealing.submit_all(project, [person.id], partial=True)
    if working is not None:
        project.work_as(working)


def as_second_rater(project: Project) -> None:
    project.work_as(next(person for person in people.people(project) if person.name == "Rater 2"))
