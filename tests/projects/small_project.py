"""A small project for tests of the actions: two items, two systems, a settled rubric each."""

from pathlib import Path

from sqlalchemy import insert

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.authoring.annotating import artifacts_of
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project, response_hash
from annotator.actions.project.people import new_project
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.canonical import new_id
from annotator.storage.tables import RESPONSE, SYSTEM
from tests.templates import once

CRITERIA = (
    ("Explains residual connections", 3),
    ("Compares training stability", 2),
    ("Names one dataset", 1),
)


def empty_project(folder: Path) -> Project:
    return new_project(folder / "p.goldsmith")


@once
def small_project(folder: Path) -> Project:
    """Items “1” and “2” of two types, systems Alpha and Beta, four reports, and one sealed rubric an item."""
    project = new_project(folder / "small.goldsmith")
    people.someone(project)
    for question, question_type in (
        ("What do residual connections do?", "Technical Details"),
        ("Who?", "Open Consulting"),
    ):
        item_id = items.add(project, question, question_type, "Deep learning").subject
        units = tuple(Criterion(text=text, weight=weight) for text, weight in CRITERIA)  # type: ignore[arg-type]
        rubric = artifacts.start(project, item_id, Kind.RUBRIC, Rubric(units=units)).subject
        assignments.seal(project, rubric)
    for name in ("Alpha", "Beta"):
        answer(project, name)
    return project


def answer(project: Project, system: str) -> None:
    system_id = new_id()
    with project.store.write() as db:
        db.execute(insert(SYSTEM).values(id=system_id, name=system, notes=""))
        for item_id in items.ids(project):
            text = f"# {system}\n\nIt explains residual connections, and compares the stability of training."
            db.execute(
                insert(RESPONSE).values(
                    id=new_id(), item_id=item_id, system_id=system_id, text=text, trial=1, mode="end-to-end",
                    sha256=response_hash(text),
                )
            )  # fmt: skip


def units_of(project: Project, item_id: str) -> list[str]:
    rubric = next(a for a in artifacts_of(project, item_id) if a.kind is Kind.RUBRIC)
    return [unit.id for unit in rubric.document.units]
