"""A project in which Ada and Ben have answered the same items, Cleo adjudicates and Cora coordinates."""

from pathlib import Path
from typing import Any

from sqlalchemy import insert

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts, settings
from annotator.actions.consensus import ruling_rows
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.adjudication import Reason
from annotator.domain.experts.assignment import Person, Role, Stage
from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.diagnostics import Aspect, Diagnostics, Statement
from annotator.domain.kinds.documents import Label, Labels, label_id
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.kinds.selection import DimensionRating, Selection
from annotator.domain.texts.canonical import new_id
from annotator.storage.tables import ASSIGNMENT
from tests.projects import small_projects
from tests.storage import sql
from tests.templates import once

COVERAGE = "researcherbench.coverage"
ROLES = {
    "Cora": Role.COORDINATOR,
    "Ada": Role.ANNOTATOR,
    "Ben": Role.ANNOTATOR,
    "Cleo": Role.ADJUDICATOR,
    "Dan": Role.ANNOTATOR,
}
# Four of these mean the same as one of Ben's: the first is the same, the second differs in words and weight, the
# third in weight, the fourth in words.
ADA = (
    ("Explains how attribution ties each claim to a source", 3),
    ("Compares synthetic questions with questions written by experts", 2),
    ("Names at least one dataset of long answers", 1),
    ("Describes how citation accuracy is measured", 2),
    ("Discusses the cost of verification by people", 1),
)
BEN = (
    ("Explains how attribution ties each claim to a source", 3),
    ("Compares synthetic questions with questions that experts wrote", 3),
    ("Names at least one dataset of long answers", 2),
    ("Describes the way citation accuracy is measured", 2),
    ("Identifies open problems in multilingual evaluation", 2),
    ("Outlines future directions for retrieval", 1),
)


# Of each type that the program ships, the dimensions in their order.
DIMENSIONS = {one.name: tuple(each.name for each in one.dimensions) for one in settings.shipped_types()}
TYPE, ORIGINS = "Literature Review", ("laboratory", "interviews", "forum")


@once
def pairs_project(folder: Path, questions: int = 1) -> Project:
    """The people and so many items, nothing answered yet; Cora works."""
    project = Project.create(folder / "pairs.goldsmith")
    for name, role in ROLES.items():
        people.add_person(project, name, (role,))
    work_as(project, "Cora")
    for number in range(1, questions + 1):
        items.add(project, f"Question {number}: how is evidence attributed?")
    return project


@once
def rubrics_project(folder: Path) -> Project:
    """One item with both rubrics sealed and their agreement frozen; Cleo works."""
    project = pairs_project(folder)
    submit(project, {"Ada": rubric(ADA, "a"), "Ben": rubric(BEN, "b")})
    return work_as(project, "Cleo")


@once
def opened_project(folder: Path) -> Project:
    project = rubrics_project(folder)
    opened(project)
    return project


def candidates(project: Project, *given: tuple[int, int] | None) -> list[str]:
    """Questions of the three origins in turn, each rated by two people, the same on every dimension."""
    made = []
    for number, ratings in enumerate(given):
        more = {"origin": ORIGINS[number % 3], "contributor": "K", "collected": "2025-03"}
        made.append(items.add(project, f"Question {number}?", TYPE, "AI", more=more).subject)
        for name, rating in zip(("Ada", "Ben"), ratings or (), strict=False):
            work_as(project, name)
            units = tuple(DimensionRating(text=text, rating=rating) for text in DIMENSIONS[TYPE])
            document = Selection(units=units)
            assignments.seal(project, artifacts.start(project, made[-1], Selection.KIND, document).subject)
        work_as(project, "Cora")
    return made


def person(project: Project, name: str) -> Person:
    return next(each for each in people.people(project) if each.name == name)


def who(project: Project, name: str) -> str:
    return person(project, name).id


def work_as(project: Project, name: str) -> Project:
    project.work_as(person(project, name))
    return project


def item(project: Project, place: int = 0) -> str:
    return items.ids(project)[place]


def submit(project: Project, documents: dict[str, Document[Any]], place: int = 0) -> dict[str, str]:
    """Everybody begins and then seals a document of one kind for an item; name → artifact's id."""
    made = {}
    for name, document in documents.items():
        work_as(project, name)
        made[name] = artifacts.start(project, item(project, place), document.KIND, document).subject
    for name, artifact_id in made.items():
        assignments.seal(work_as(project, name), artifact_id)
    return made


def rubric(criteria: tuple[tuple[str, int], ...], prefix: str) -> Rubric:
    """A rubric whose units are named prefix1, prefix2 …"""
    units = (
        Criterion(id=f"{prefix}{n}", text=text, weight=weight) for n, (text, weight) in enumerate(criteria, 1)
    )  # type: ignore[arg-type]
    return Rubric(units=tuple(units))


def diagnostics(labels: tuple[bool, ...], prefix: str) -> Diagnostics:
    """Statements on five subjects with these labels, the words being the same for everybody."""
    subjects = ("attribution", "retrieval", "citation accuracy", "synthetic data", "human verification")
    return Diagnostics(
        units=tuple(
            Statement(
                id=f"{prefix}{n}", text=f"The paper measures {subject}.", label=label, aspect=Aspect.RESULTS
            )
            for n, (subject, label) in enumerate(zip(subjects, labels, strict=False), 1)
        )
    )


def add_report(project: Project, system: str = "Canary-System-9000", place: int = 0) -> str:
    """A system's report on an item; its id."""
    return small_projects.add_report(project, item(project, place), system, "It explains attribution.")


def labels(response_id: str, values: dict[str, str]) -> Labels:
    """One rater's labels of a report: unit judged by → value."""
    return Labels(
        units=tuple(
            Label(
                id=label_id(COVERAGE, response_id, unit), protocol=COVERAGE, response_id=response_id, unit_id=unit,
                value=value,
            )
            for unit, value in values.items()
        )
    )  # fmt: skip


def opened(project: Project, stage: Stage = Stage.RUBRIC, place: int = 0) -> str:
    """The adjudication of a stage, opened by Cleo; its id."""
    work_as(project, "Cleo")
    return adjudicating.open_(project, item(project, place), stage).id


def settled_labels(folder: Path) -> Project:
    """A report by two criteria of weights 3 and 1, of which adjudication settled a yes and a no; Cora works."""
    project = pairs_project(folder)
    submit(project, {"Cora": rubric((("Explains it", 3), ("Names it", 1)), "c")})
    report, values = add_report(project, "Alpha"), {"Ada": ("yes", "yes"), "Ben": ("yes", "no")}
    submit(
        project,
        {name: labels(report, dict(zip(("c1", "c2"), own, strict=True))) for name, own in values.items()},
    )
    adjudication_id = opened(project, Stage.LABELLING)
    first, second = adjudicating.sheet(project, adjudication_id).rows
    ruling.rule(project, first.ruling.id, "both")
    ruling.rule(project, second.ruling.id, letter_of(project, adjudication_id, "Ben"), reason=Reason.ERROR)
    ruling.close(project, adjudication_id)
    return work_as(project, "Cora")


def assign(project: Project, name: str, stage: Stage, place: int = 0, **more: object) -> None:
    """Put an assignment for an item into the file, whether or not who works might give it."""
    row = {
        "id": new_id(),
        "item_id": item(project, place),
        "person_id": who(project, name),
        "stage": stage,
        **more,
    }
    with project.store.write() as db:
        db.execute(insert(ASSIGNMENT).values(**row))


def adjudication(project: Project) -> str:
    """The id of the adjudication that waits first."""
    return adjudicating.queue(project)[0].adjudication_id


def row(project: Project, unit_id: str) -> adjudicating.SheetRow:
    """The row of that adjudication that holds a unit; the unit's id is a1, b3 …"""
    rows = adjudicating.sheet(project, adjudication(project)).rows
    return next(each for each in rows if unit_id in each.ruling.members.values())


def letter_of(project: Project, adjudication_id: str, name: str) -> str:
    with project.store.read() as db:
        letters = ruling_rows.adjudication(db, adjudication_id).letters
    return next(letter for letter, result in letters.items() if result == person(project, name).id)


def kept(project: Project, kind: Kind, name: str) -> list[tuple[Any, ...]]:
    """Every stored value of a person's artifacts of a kind and of their revisions."""
    question = (
        "SELECT a.*, r.* FROM artifact a JOIN revision r ON r.artifact_id = a.id "
        "WHERE a.kind = ? AND a.author_id = ? ORDER BY a.id, r.number"
    )
    return sql.rows(project, question, [kind.value, person(project, name).id])
