"""Artifacts: an expert's typed document for an item, kept as a chain of revisions."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny, ValidatorFunctionWrapHandler, WrapValidator

from annotator.domain.kinds.unit import Unit
from annotator.domain.texts.canonical import Text, canonical_json, sha256


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
