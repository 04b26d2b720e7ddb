"""A project in which several people answer the same items: who they are, and how each seals a document."""

from pathlib import Path
from typing import Any

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Person, Role
from annotator.domain.kinds.artifact import Document
from annotator.domain.kinds.documents import Label, Labels, label_id
from annotator.domain.kinds.rubric import Criterion, Rubric
from tests.templates import once

COVERAGE = "researcherbench.coverage"
# Sentences that no matcher takes for one another.
SENTENCES = (
    "Explains how residual connections carry gradients",
    "Names two public benchmarks of translation",
    "Compares the price of storing hydrogen with batteries",
    "Describes who funded the excavation at Ur",
    "Discusses whether coral reefs recover after bleaching",
    "Outlines the treaty on fishing quotas of 1995",
)


@once
def paired_project(path: Path, annotators: int = 2, questions: int = 1) -> Project:
    """A project of a coordinator “Me”, annotators with the aliases A, B, C …, and questions."""
    project = people.new_project(path / "pairs.goldsmith")
    for alias in "ABCDEFGH"[:annotators]:
        people.add_person(project, f"Expert {alias}", (Role.ANNOTATOR,), alias)
    for number in range(1, questions + 1):
        items.add(project, f"Question {number}?")
    return project


def person(project: Project, alias: str) -> Person:
    """The person of that alias; the coordinator has R1."""
    return next(result for result in people.people(project) if result.alias == alias)


def in_order(project: Project, first: Any, second: Any) -> tuple[Any, Any]:
    """What belongs to A and to B in the order in which a record names these two: the lower id first."""
    a, b = person(project, "A").id, person(project, "B").id
    return (first, second) if a < b else (second, first)


def sealed_by(project: Project, alias: str, document: Document[Any], item: int = 0) -> str:
    """The person writes the document for an item and seals it; afterwards the coordinator works again."""
    project.work_as(person(project, alias))
    artifact_id = artifacts.start(project, items.ids(project)[item], document.KIND, document).subject
    assignments.seal(project, artifact_id)
    project.work_as(person(project, "R1"))
    return artifact_id


def rubric(*weights: int, sentences: tuple[str, ...] = SENTENCES) -> Rubric:
    """A rubric of the first sentences with these weights."""
    pairs = zip(sentences, weights, strict=False)
    return Rubric(units=tuple(Criterion(text=text, weight=weight) for text, weight in pairs))  # type: ignore[arg-type]


def labels(*reports: str) -> Labels:
    """Labels report by report: y, n or ? (unsure) for the criteria c0, c1 …"""
    values = {"y": "yes", "n": "no", "?": "unsure"}
    return Labels(
        units=tuple(
            Label(
                id=label_id(COVERAGE, f"report {number}", f"c{place}"), protocol=COVERAGE,
                response_id=f"report {number}", unit_id=f"c{place}", value=values[letter],
            )
            for number, said in enumerate(reports)
            for place, letter in enumerate(said)
        )
    )  # fmt: skip
