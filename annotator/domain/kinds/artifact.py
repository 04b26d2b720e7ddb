"""Artifacts: their kinds and states, and documents of units, the smallest parts that are agreed on or judged."""

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny, ValidatorFunctionWrapHandler, WrapValidator

from annotator.domain.texts.canonical import Text, canonical_json, sha256
from annotator.domain.texts.change import new_id


class Anchor(BaseModel):
    """A quotation and where it stands: characters of a source's or a report's text, half-open [start, end).

    `text_sha256` is the hash of the whole text, so that an anchor into a text that has changed is noticed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)
    quote: Text = Field(min_length=1, max_length=20_000)
    source_id: str = ""
    start: int = Field(default=-1, ge=-1)
    end: int = Field(default=-1, ge=-1)
    page: int | None = Field(default=None, ge=1)
    text_sha256: str = ""
    said: Text = Field(
        default="",
        max_length=12,
        exclude_if=operator.not_,
        description="When it was said in a recording, as 1:02:03; left out where that is not known",
    )

    @classmethod
    def at(cls, text: str, start: int, end: int, source_id: str = "", said: str = "") -> "Anchor":
        """The anchor of text[start:end]; ValidationError when that is empty or too long."""
        quote, own = text[start:end], _hash_of(text)
        return cls(quote=quote, source_id=source_id, start=start, end=end, text_sha256=own, said=said)

    @property
    def place(self) -> str:
        """Its page or its moment, behind the quotation; empty where neither is known."""
        return f" — p. {self.page}" if self.page else f" — {self.said}" if self.said else ""


@lru_cache(maxsize=8)
def _hash_of(text: str) -> str:
    """A text's hash; kept, since hundreds of anchors may lie in one report."""
    return sha256(text)


@dataclass(frozen=True, slots=True)
class DraftSource:
    """The model's draft that a unit came from: its extract, judge and model."""

    draft: Text
    judge: Text
    model: Text

    @property
    def name(self) -> str:
        """The model; the judge's name where no model was asked."""
        return self.model or self.judge


def _is_empty(anchors: tuple[Anchor, ...]) -> bool:
    return not anchors


class Unit(BaseModel):
    """What every unit has: an id that never changes, its words, a private note, and quotations to lean on."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)
    id: str = Field(default_factory=new_id, min_length=1, max_length=80)
    text: Text = Field(default="", max_length=20_000)
    note: Text = Field(default="", max_length=20_000)
    anchor: Anchor | None = None
    # Left out where there are none: a unit with one quotation or none is written as it always was.
    more_anchors: tuple[Anchor, ...] = Field(default=(), max_length=99, exclude_if=_is_empty)

    @property
    def anchors(self) -> tuple[Anchor, ...]:
        return (self.anchor, *self.more_anchors) if self.anchor else ()

    def quoting(self, anchors: Sequence[Anchor]) -> dict[str, Any]:
        """The fields, as JSON, with which the unit would lean on these quotations."""
        trees = [anchor.model_dump(mode="json") for anchor in anchors]
        return {"anchor": trees[0] if trees else None, "more_anchors": trees[1:]}


def blind(unit: Unit) -> Unit:
    """The unit as a rater sees it: its words, without what it weighs and what was noted of it."""
    return Unit(id=unit.id, text=unit.text)


# Ids of the cells of a matrix: at most 80 characters, the same whenever they are made.
_LONGEST_SIDE = 39


def cell_id(row: str, column: str) -> str:
    return f"{side_of_cell(row)}~{side_of_cell(column)}"


def side_of_cell(unit_id: str) -> str:
    """What a unit is called within the ids of cells."""
    plain = len(unit_id) <= _LONGEST_SIDE and "~" not in unit_id
    return unit_id if plain else sha256(unit_id)[:_LONGEST_SIDE]


class Kind(StrEnum):
    """The kinds of document the papers ask experts for."""

    QUERY = "query"
    RUBRIC = "rubric"
    PLAN = "plan"
    EVIDENCE = "evidence"
    DIAGNOSTICS = "diagnostics"
    NUGGETS = "nuggets"
    CHECKLIST = "checklist"
    INSIGHTS = "insights"
    INSPIRATIONS = "inspirations"
    TASKS = "tasks"
    SELECTION = "selection"
    LABELS = "labels"


class Stage(StrEnum):
    """A step of the work that can be handed out."""

    SELECTION = "selection"
    QUERY = "query"
    PLAN = "plan"
    EVIDENCE = "evidence"
    DIAGNOSTICS = "diagnostics"
    RUBRIC = "rubric"
    NUGGETS = "nuggets"
    CHECKLIST = "checklist"
    INSIGHTS = "insights"
    INSPIRATIONS = "inspirations"
    TASKS = "tasks"
    LABELLING = "labelling"
    ADJUDICATION = "adjudication"

    @property
    def kind(self) -> Kind | None:
        """The kind of artifact that this stage makes; None for adjudication, which works on all of them."""
        if self is Stage.ADJUDICATION:
            return None
        return Kind.LABELS if self is Stage.LABELLING else Kind(self.value)


def stage_of(kind: Kind) -> Stage:
    return Stage.LABELLING if kind is Kind.LABELS else Stage(kind.value)


class State(StrEnum):
    """How far an artifact has come."""

    DRAFT = "draft"
    SEALED = "sealed"
    CONSENSUS = "consensus"


U = TypeVar("U", bound=Unit)


class Document(BaseModel, Generic[U]):
    """An artifact's content: a list of units of one class, and little else.

    A kind is one subclass; `UNIT` names its unit class, so that one set of verbs edits them all.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)
    KIND: ClassVar[Kind]
    UNIT: ClassVar[type[Unit]]
    units: tuple[U, ...] = ()
    remark: Text = Field(default="", max_length=20_000, description="A note on the whole artifact")

    def unit(self, unit_id: str) -> U:
        """The unit with that id; KeyError when there is none."""
        for unit in self.units:
            if unit.id == unit_id:
                return unit
        raise KeyError(unit_id)

    def with_units(self, units: tuple[U, ...]) -> Self:
        """The same document with other units of its class, each of which was validated when it was made."""
        return self.model_copy(update={"units": units})

    def fault(self) -> str:
        """Why the document as a whole cannot be submitted, in one sentence; empty when it can."""
        return ""

    def tree(self) -> dict[str, Any]:
        return self.model_dump(mode="json")

    def sha256(self) -> str:
        return sha256(canonical_json(self.tree()))


class Revision(BaseModel):
    """One state of an artifact. `chain` hashes the content together with the chain of the revision before."""

    model_config = ConfigDict(frozen=True, defer_build=True)
    id: str
    artifact_id: str
    number: int
    content: dict[str, Any]
    sha256: str
    chain: str
    sealed: bool
    by: str
    at: datetime
    verb: str


def as_it_is(document: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    """A typed document itself: validating it again as Document[Any] would lose its class."""
    return document if isinstance(document, Document) else handler(document)


class Artifact(BaseModel):
    """An artifact as plain data, outside the database: whose it is, of which kind, and its newest document."""

    model_config = ConfigDict(frozen=True, defer_build=True)
    id: str
    item_id: str
    kind: Kind
    author_id: str
    state: State
    revision: int
    document: Annotated[SerializeAsAny[Document[Any]], WrapValidator(as_it_is)]
    sealed_at: datetime | None = None


def chain(previous: str, content_sha256: str) -> str:
    """The link of a revision: the hash of the previous link and this content's hash."""
    return sha256(f"{previous}\n{content_sha256}")
