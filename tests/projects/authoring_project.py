"""A small project to write in: two items, one of them with a source, and the Author page over it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotator.actions.authoring import annotating, artifacts
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.kinds.artifact import Artifact, Document, Kind
from annotator.domain.kinds.rubric import Criterion, Rubric
from tests.templates import once

PAPER = (
    "# Residual networks\n\nA residual block adds its **input** to its output.\n\n"
    "Deep plain networks train badly. A residual block helps deep networks to train.\n"
)
TEXTS = (
    "Explains why deep plain networks train badly.",
    "Compares two placements of the normalisation.",
    "Identifies the cost of storing every activation.",
)


@once
def authoring_project(folder: Path) -> Project:
    """Items “1” (a Technical Details question with a Markdown source) and “2” (in Chinese, without one)."""
    project = people.new_project(folder / "authoring.goldsmith")
    people.someone(project)
    first = items.add(
        project, "Why do residual connections help?", "Technical Details", "Deep learning"
    ).subject
    items.add(project, "残差连接为什么有效？", "Open Consulting", "深度学习", language="zh-Hans")
    paper = folder / "paper.md"
    paper.write_text(PAPER, "utf-8")
    items.add_source(project, first, paper)
    return project


@once
def begun_project(folder: Path) -> Project:
    """The same with a rubric of the person's own, begun on item “1”."""
    project = authoring_project(folder)
    begin(project, Kind.RUBRIC, rubric())
    return project


def rubric(texts: Sequence[str] = TEXTS, weights: Sequence[int] = (3, 2, 1)) -> Rubric:
    return Rubric.model_validate(
        {"units": [Criterion(text=t, weight=w).model_dump() for t, w in zip(texts, weights, strict=True)]}
    )


def begin(project: Project, kind: Kind, document: Document[Any], item: int = 0) -> str:
    """The person's own artifact on an item; its id."""
    return artifacts.start(project, items.ids(project)[item], kind, document).subject


def mine(project: Project, kind: Kind = Kind.RUBRIC, item: int = 0) -> Artifact:
    """The artifact that the person sees first, as the file has it."""
    result = annotating.artifacts_of(project, items.ids(project)[item])
    return next(artifact for artifact in result if artifact.kind is kind)


def texts(project: Project, kind: Kind = Kind.RUBRIC, item: int = 0) -> list[str]:
    return [unit.text for unit in mine(project, kind, item).document.units]
