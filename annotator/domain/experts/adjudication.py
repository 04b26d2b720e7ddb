"""Adjudication: a senior's ruling on each unit that two or more experts wrote, and the consensus it produces."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import Field

from annotator.domain.experts.agreement import Figure
from annotator.domain.experts.assignment import Stage
from annotator.domain.texts.canonical import Text
from annotator.domain.texts.frozen_record import FrozenRecord

# What a ruling may take in addition to a letter (A, B …): everything, one's own wording, or nothing.
BOTH, OWN, DROP = "both", "own", "drop"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Reason(StrEnum):
    """Why a ruling departs from what an annotator wrote."""

    WORDING = "wording"
    SCOPE = "scope"
    WEIGHT = "weight"
    ERROR = "error"
    DUPLICATE = "duplicate"
    MISSING = "missing"
    GUIDELINE_GAP = "guideline gap"
    OTHER = "other"


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
    """The part of a ruling that the adjudicator decides; `take` is empty while it is open."""

    take: str = Field(default="", description="A letter, both, own or drop; empty while undecided")
    own: dict[str, Any] = Field(default={}, description="Fields of the unit as the adjudicator wants them")
    reason: Reason | None = None
    rationale: Text = Field(default="", max_length=20_000)
    confidence: Confidence | None = None
    gap: Text = Field(
        default="", max_length=20_000, description="What the guideline leaves open, if anything"
    )
    first_vote: str = Field(
        default="", max_length=200, description="What the senior said before seeing A and B"
    )


class Ruling(RulingFields):
    """One row of an adjudication: the units held for the same, by letter, and what becomes of them."""

    id: str
    adjudication_id: str
    position: int = Field(ge=0)
    members: dict[str, str] = Field(default={}, description="Letter → the unit's id; at most one per letter")
    unanimous: bool = Field(default=False, description="Everybody wrote it and nothing that counts differs")

    @property
    def open(self) -> bool:
        """Whether nothing has been decided yet."""
        return not self.take


class AdjudicationState(StrEnum):
    """How far an adjudication has come."""

    OPEN = "open"
    CLOSED = "closed"
    REOPENED = "reopened"
    """A dispute or a second look: the consensus of the last version stands until the next is closed."""


class Adjudication(FrozenRecord):
    """The adjudication of one stage of one item. `letters` maps A, B … to people, shuffled by `seed`."""

    id: str
    item_id: str
    stage: Stage
    agreement_id: str
    adjudicator_id: str
    seed: int
    letters: dict[str, str] = Field(description="Letter → person's id; never shown to the adjudicator")
    state: AdjudicationState = AdjudicationState.OPEN
    version: int = Field(default=0, ge=0, description="Number of the last closed version; 0 before the first")
    spot_check: bool = Field(default=False, description="Unanimous, but drawn to be looked at all the same")
    consensus_id: str = Field(default="", description="The consensus artifact, once there is one")
    opened_at: datetime
    closed_at: datetime | None = None


class Provenance(FrozenRecord):
    """Where one unit of a consensus comes from and why it reads as it does."""

    unit_id: str
    ruling_id: str
    origin: Origin
    letter: str = Field(default="", description="Whose wording it is, when it is one letter's")
    sources: dict[str, str] = Field(default={}, description="Letter → the unit's id there")
    reason: Reason | None = None
    rationale: Text = ""
    confidence: Confidence | None = None
    gap: Text = ""


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
