"""Adjudication: a senior's ruling on each unit that two or more experts wrote, and the consensus it produces."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field, model_validator

from annotator.domain.common import FrozenRecord, Text
from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.documents import DOCUMENTS, KINDS, document_of
from annotator.domain.kinds.kind import Reason as Reason, Stage
from annotator.domain.texts.estimate import Estimate


class Figure(FrozenRecord):
    """A named estimate as it is kept: `value` is None when undefined, and `note` says why."""

    name: str = Field(description="match_f1, weight_kappa, label_kappa, order_tau, jaccard …")
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    method: str = ""
    note: str = ""


# Two experts who write the same in quite different words are not paired: rewordings with few words in common are
# missed.
LOWER_BOUND = "a lower bound under heavy rewording: the matcher pairs units by their words"


def bound_of(figure: Figure) -> str:
    """The kind of bound that a figure is; empty if it is none, or has no value."""
    return LOWER_BOUND if figure.name == "match_f1" and figure.value is not None else ""


def figure(name: str, estimate: Estimate) -> Figure:
    e = estimate
    return Figure(name=name, value=e.value, low=e.low, high=e.high, n=e.n, method=e.method, note=e.note)


def estimate(figure: Figure) -> Estimate:
    """The estimate of a stored figure."""
    return Estimate(**figure.model_dump(exclude={"name"}))


def under(prefix: str, figures: Iterable[Figure]) -> tuple[Figure, ...]:
    return tuple(each.model_copy(update={"name": f"{prefix}{each.name}"}) for each in figures)


class SealedInput(FrozenRecord):
    """The sealed revision of one rater that went into the figures."""

    person_id: str
    artifact_id: str
    revision: int
    sha256: str
    chain: str
    guideline: str
    form: str
    sealed_at: datetime


class Match(FrozenRecord):
    """Two units that the matcher holds for the same."""

    a: str
    b: str
    likeness: float


class DocumentComparison(FrozenRecord):
    """Two documents side by side: which of their units match, and how far these agree."""

    matched: tuple[Match, ...] = ()
    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()
    values: dict[str, tuple[tuple[Any, Any], ...]] = {}
    figures: tuple[Figure, ...] = ()


class PairAgreement(DocumentComparison):
    """How far two raters agree. `values` holds, field by field, the two values of each matched pair, in that order.

    None is a value that a rater did not give.
    """

    a: str = Field(description="A person's id; the lower one of the two")
    b: str


class AssistedPair(PairAgreement):
    """The same for units that a judge paired by meaning, computed after the agreement was frozen; it never replaces
    that.

    Its figures have the prefix “assisted_”.
    """

    id: str
    agreement_id: str
    judge_id: str
    model: str = Field(description="The model that was asked for")
    parameters: str = Field(default="{}", description="JSON object of what was sent with the request")
    answered_by: str = Field(default="", description="The model that answered, by the name it gave")
    prompt_sha256: str
    run_id: str
    at: datetime


class Agreement(FrozenRecord):
    """The agreement on one stage of one item, computed once when all seals were in, and never again."""

    id: str
    item_id: str
    stage: Stage
    matcher: str = Field(description="Version of the automatic matcher")
    program: str = Field(description="Version of the program that computed it")
    frozen_at: datetime = Field(description="The moment of the last seal that it waited for")
    inputs: tuple[SealedInput, ...]
    pairs: tuple[PairAgreement, ...]
    figures: tuple[Figure, ...] = Field(default=(), description="Figures over all raters at once")


# The choices of a ruling besides a letter (A, B …): all units, one's own wording, or none.
BOTH, OWN, DROP = "both", "own", "drop"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Confidence(StrEnum):
    """How sure the adjudicator is."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Origin(StrEnum):
    """Where a unit of the consensus comes from: one letter's alone, everyone's, changed, or the adjudicator's."""

    ONE = "one"
    BOTH = "both"
    EDITED = "edited"
    NEW = "new"


class RulingFields(FrozenRecord):
    """The part of a ruling that the adjudicator decides; `take` is empty while it is undecided."""

    take: str = Field(default="", description="A letter, both, own or drop; empty while undecided")
    own: dict[str, Any] = Field(default={}, description="The unit as the adjudicator worded it")
    reason: Reason | None = None
    rationale: Text = Field(default="", max_length=20_000)
    confidence: Confidence | None = None
    gap: Text = Field(
        default="", max_length=20_000, description="What the guideline leaves open, if anything"
    )
    first_vote: str = Field(default="", max_length=200, description="What was said before seeing the answers")


class Ruling(RulingFields):
    """One row of an adjudication: the matched units, by letter, and the ruling on them."""

    id: str
    adjudication_id: str
    position: int = Field(ge=0)
    members: dict[str, str] = Field(default={}, description="Letter → the unit's id; at most one per letter")
    unanimous: bool = Field(default=False, description="Everybody wrote it and nothing that counts differs")

    @property
    def open(self) -> bool:
        return not self.take


class AdjudicationState(StrEnum):
    """The progress of an adjudication."""

    OPEN = "open"
    CLOSED = "closed"
    REOPENED = "reopened"
    """Reopened by a dispute or a second look: the last version of the consensus is valid until the next is closed."""


class OpenedAdjudication(FrozenRecord):
    """The fixed part of an adjudication from its opening on. `letters` maps A, B … to people, shuffled by `seed` or
    elsewhere.
    """

    id: str
    item_id: str
    stage: Stage
    agreement_id: str
    adjudicator_id: str
    seed: int = Field(ge=0, description="Of the shuffle that dealt the letters")
    letters: dict[str, str] = Field(description="The letter under which the adjudicator saw whose answer")
    spot_check: bool = Field(default=False, description="Unanimous, but drawn to be looked at all the same")
    opened_at: datetime


class Adjudication(OpenedAdjudication):
    """The present state of the adjudication of one stage of one item."""

    state: AdjudicationState = AdjudicationState.OPEN
    version: int = Field(default=0, ge=0, description="Number of the last closed version; 0 before the first")
    consensus_id: str = Field(default="", description="The consensus artifact, once there is one")
    closed_at: datetime | None = None


class UnitOrigin(FrozenRecord):
    """Where one unit of a consensus comes from and why it reads as it does."""

    unit_id: str
    ruling_id: str
    origin: Origin
    reason: Reason | None = None
    rationale: Text = ""
    confidence: Confidence | None = None
    gap: Text = Field(default="", description="What the guideline leaves open, if anything")


class Provenance(UnitOrigin):
    """The same with letters in place of people, as the adjudicator saw them."""

    letter: str = Field(default="", description="Whose wording it is, when it is one letter's")
    sources: dict[str, str] = Field(default={}, description="Letter → the unit's id there")


class ConsensusVersion(FrozenRecord):
    """One closed version of a consensus; versions are only ever added."""

    id: str
    adjudication_id: str
    version: int
    artifact_id: str
    revision: int
    provenance: tuple[Provenance, ...]
    rulings: tuple[Ruling, ...] = Field(description="All rulings as they stood, dropped ones too")
    repaired: tuple[Figure, ...] = Field(
        default=(),
        description="Agreement by the adjudicator's pairing: a second figure, never the frozen one",
    )
    by: str
    at: datetime


class DisputeState(StrEnum):
    """What became of a dispute."""

    OPEN = "open"
    ANSWERED = "answered"


class Dispute(FrozenRecord):
    """An annotator's one reasoned objection to the consensus of an item."""

    id: str
    item_id: str
    person_id: str
    stage: Stage
    text: Text = Field(min_length=1, max_length=20_000)
    at: datetime
    state: DisputeState = DisputeState.OPEN
    answer: Text = ""
    answered_version: int = 0


FormAnswer = Literal["yes", "partly", "no"]
ANSWERS: tuple[FormAnswer, ...] = ("yes", "partly", "no")
_OF_LISTS = {
    "completeness": "Do they cover together what the answer needs?",
    "clarity": "Can each be read in one way only?",
    "independence": "Does each ask for something that no other does?",
    "discrimination": "Will good answers meet them and weak ones not?",
}
_OF_PLANS = {
    "feasibility": "Can each sub-task be carried out as it stands?",
    "order": "Does each come after what it builds on?",
    "level": "Are they at one level, neither too coarse nor too fine?",
}
_OF_OTHERS = {"completeness": "Is anything lacking?", "clarity": "Can it be read in one way only?"}
FORMS: Mapping[Kind, Mapping[str, str]] = {
    Kind.RUBRIC: _OF_LISTS,
    Kind.INSIGHTS: _OF_LISTS,
    Kind.PLAN: _OF_PLANS,
}


def form_of(kind: Kind) -> Mapping[str, str]:
    return FORMS.get(kind, _OF_OTHERS)


class DraftReview(FrozenRecord):
    """A stored review: the draft it began with, the answers to its form, and the author's reply."""

    artifact_id: Text = Field(max_length=36, description="The reviewer's document")
    item_id: Text = Field(max_length=36)
    kind: Kind
    author: Text = Field(description="The author's id; in a project made from a task their alias")
    revision: int = Field(ge=1, description="The author's sealed revision that was reviewed")
    draft: dict[str, Any]
    form: dict[str, FormAnswer] = Field(default_factory=dict)
    words: dict[str, Text] = Field(default_factory=dict)
    agreed: bool | None = Field(
        default=None, description="Whether the author agrees; empty before they answer"
    )
    answer: Text = ""
    answered_at: Text = ""

    @property
    def open_questions(self) -> list[str]:
        return [name for name in form_of(self.kind) if name not in self.form]


UNCHANGED, CHANGED, ADDED, REMOVED = "kept", "changed", "added", "removed"
# Fields of a unit that are shown elsewhere or mean nothing to people.
UNTOLD = {"id", "text", "note", "anchor", "more_anchors", "insight_id", "inspirations"}


@dataclass(frozen=True, slots=True)
class ReviewedUnit:
    """A unit of a draft and its state after the review, with the reviewer's comment."""

    unit_id: str
    before: str
    after: str
    comment: str
    change: str


def compared(draft: dict[str, Any], reviewed: Document[Any]) -> list[ReviewedUnit]:
    """The changes of a review to a draft, unit by unit in the review's order; then the removed units."""
    before = {unit.id: unit for unit in document_of(reviewed.KIND, draft).units}
    result = []
    for unit in reviewed.units:
        old = before.pop(unit.id, None)
        same = old is not None and old.model_copy(update={"note": unit.note}) == unit
        change = ADDED if old is None else UNCHANGED if same else CHANGED
        words = _words(old, reviewed.KIND), _words(unit, reviewed.KIND)
        result.append(ReviewedUnit(unit.id, *words, unit.note, change))
    return result + [
        ReviewedUnit(gone.id, _words(gone, reviewed.KIND), "", "", REMOVED) for gone in before.values()
    ]


def _words(unit: Any, kind: Kind) -> str:
    if unit is None:
        return ""
    more = unit.model_dump(mode="json", exclude=UNTOLD)
    values = (
        (KINDS[kind].called(name), value) for name, value in more.items() if value not in (None, "", [], ())
    )
    return "\n".join([unit.text, *(f"{name}: {value}" for name, value in values)])


class Fate(StrEnum):
    """The fate of a unit. If only a field changed, it is that field's name and “changed”."""

    KEPT = "kept"
    REWORDED = "reworded"
    MERGED = "merged"
    DROPPED = "dropped"
    ADDED = "added"


class DigestRow(FrozenRecord):
    """One's own unit, the consensus's, and the change; either unit is None if it does not exist.

    `change` is a Fate or, if the words stayed, “weight changed”, “label changed” …; `heading` says what a label is
    about.
    """

    own: dict[str, Any] | None
    consensus: dict[str, Any] | None
    change: str
    reason: Reason | None = None
    rationale: str = ""
    heading: str = ""


class DigestDispute(FrozenRecord):
    """One's own objection and its outcome."""

    text: str
    state: DisputeState
    answer: str = ""
    answered_version: int = 0


class StageDigest(FrozenRecord):
    """The fate of one's own work in the consensus of one stage of an item."""

    item_id: str
    stage: Stage
    version: int
    rows: tuple[DigestRow, ...]
    dispute: DigestDispute | None = None

    @model_validator(mode="after")
    def _of_units(self) -> "StageDigest":
        """Check that every unit is of the stage's kind, so that it has all fields to be shown."""
        if self.stage.kind is None:
            raise ValueError("this stage makes no document")
        unit = DOCUMENTS[self.stage.kind].UNIT
        for row in self.rows:
            for tree in (row.own, row.consensus):
                if tree is not None:
                    unit.model_validate(tree)
        return self
