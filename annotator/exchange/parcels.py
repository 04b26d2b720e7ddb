"""What a task and returned work hold, entry by entry: an allow-list, so that nothing else can leave by accident."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from annotator.domain.assignment import Stage
from annotator.domain.canonical import Text
from annotator.domain.refusal import Refusal
from annotator.domain.source import SourceFormat
from annotator.exchange.bundle import in_words
from annotator.exchange.package_manifest import AGAIN, Package

PDFS = "sources/"


class _Entry(BaseModel):
    """A record of a package; fields that a later minor version added are kept."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)


class TaskPerson(_Entry):
    """Whom a task is for."""

    id: str
    name: Text
    alias: Text


class TaskItem(_Entry):
    """An item as its annotator sees it."""

    id: str
    key: Text
    question: Text
    question_type: Text = ""
    subject: Text = ""
    language: str = "en"
    position: int = Field(default=0, ge=0)


class TaskSource(_Entry):
    """A source; the bytes of a PDF lie beside it under `sources/`."""

    id: str
    item_id: str
    title: Text
    format: SourceFormat
    text: Text = ""
    identifier: Text = ""
    position: int = Field(default=0, ge=0)
    drafted: Text = ""


class TaskReport(_Entry):
    """A report to be labelled, under an alias that only the coordinator can resolve."""

    id: str
    item_id: str
    text: Text


class TaskDocument(_Entry):
    """A settled document that reports are labelled by, without notes."""

    id: str
    item_id: str
    kind: str
    document: dict[str, Any]


class TaskAssignment(_Entry):
    """What is asked for by when. A silent repeat looks like any other."""

    item_id: str
    stage: Stage
    pilot: bool = False
    due: datetime | None = None


class TaskGuideline(_Entry):
    """The guideline in force for a stage."""

    stage: Stage
    version: int = Field(ge=1)
    text: Text
    at: datetime


class TaskFeedback(_Entry):
    """What became of this person's work on an item."""

    item_id: str
    digest: list[dict[str, Any]]


class WorkRevision(_Entry):
    """A sealed revision. `skipped` holds the hashes of the unsealed ones between it and the sealed one before."""

    number: int = Field(ge=1)
    content: dict[str, Any]
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    chain: str = Field(pattern=r"^[0-9a-f]{64}$")
    skipped: tuple[str, ...] = ()
    guideline: str = Field(max_length=40)
    form: str = Field(max_length=40)
    reason: Text = ""
    at: datetime


class DraftedUnit(_Entry):
    """A unit that its author took from a model's draft: of which draft, judge and model."""

    unit_id: str = Field(min_length=1, max_length=80)
    draft: Text = Field(max_length=80)
    judge: Text = Field(default="", max_length=120)
    model: Text = Field(default="", max_length=400)


class WorkArtifact(_Entry):
    """All sealed revisions of one of the person's artifacts, the active seconds spent on it, and what was drafted."""

    id: str = Field(min_length=1, max_length=36)
    item_id: str
    kind: str
    revisions: tuple[WorkRevision, ...]
    seconds: float = Field(default=0.0, ge=0)
    drafted: tuple[DraftedUnit, ...] = ()


class WorkDispute(_Entry):
    """The person's objection to the consensus of an item."""

    item_id: str
    stage: Stage
    text: Text = Field(min_length=1, max_length=20_000)
    at: datetime


TASK_ENTRIES: dict[str, type[_Entry]] = {
    "person.json": TaskPerson,
    "items.json": TaskItem,
    "sources.json": TaskSource,
    "reports.json": TaskReport,
    "documents.json": TaskDocument,
    "assignments.json": TaskAssignment,
    "guidelines.json": TaskGuideline,
    "feedback.json": TaskFeedback,
}
WORK_ENTRIES: dict[str, type[_Entry]] = {"artifacts.json": WorkArtifact, "disputes.json": WorkDispute}
E = TypeVar("E", bound=_Entry)


def packed(records: Mapping[str, list[_Entry]]) -> dict[str, bytes]:
    """The entries of a package: each list as JSON with sorted keys, one record a line."""
    return {name: _lines([r.model_dump(mode="json") for r in listed]) for name, listed in records.items()}


def _lines(trees: list[dict[str, Any]]) -> bytes:
    lines = (orjson.dumps(tree, option=orjson.OPT_SORT_KEYS) for tree in trees)
    return b"[\n" + b",\n".join(lines) + b"\n]\n"


def unpacked(package: Package, classes: Mapping[str, type[_Entry]]) -> dict[str, list[Any]]:
    """The records of a package by entry; Refusal names the entry, the record and what does not fit."""
    trees = package.trees()
    return {name: _records(package.name, name, trees.get(name, []), cls) for name, cls in classes.items()}


def _records(file: str, entry: str, trees: Any, cls: type[E]) -> list[E]:
    if not isinstance(trees, list):
        raise Refusal(f"“{file}”: “{entry}” is not a list.", AGAIN)
    made = []
    for place, tree in enumerate(trees):
        try:
            made.append(cls.model_validate(tree))
        except ValidationError as error:
            raise Refusal(f"“{file}”: {entry}[{place}]: {in_words(error)}.", AGAIN) from None
    return made
