"""Release records of double annotation: guidelines, sealed revisions, frozen agreement, adjudication."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, ClassVar

from pydantic import Field

from annotator.domain.experts.adjudication import (
    Adjudication,
    AdjudicationState,
    Confidence,
    ConsensusVersion,
    Dispute,
    DisputeState,
    Origin,
    Provenance,
    Reason,
    Ruling,
)
from annotator.domain.experts.agreement import Agreement, AssistedPair, Figure
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.canonical import Text
from annotator.exchange.release.records import LaterFields, Record


class GuidelineRecord(Record):
    """A version of a stage's guideline that a coordinator wrote; version 1 is the text that the program ships."""

    FILE: ClassVar[str] = "guidelines.json"
    stage: Stage
    version: int = Field(ge=2)
    text: Text = Field(max_length=200_000, description="Markdown")
    at: datetime


class RevisionRecord(Record):
    """A revision that leaves: that of an artifact's file, and each sealed one that agreement or consensus rests on.

    `chain` is the hash of the link before it and of this content's hash, from the first revision on; `skipped` are
    the hashes of the revisions between this one and the one before it here, whose content stayed with its author.
    """

    FILE: ClassVar[str] = "revisions.json"
    artifact_id: str
    item_id: str
    kind: Kind
    author_id: str = Field(description="A person's id; empty when imported without an author")
    revision: int = Field(ge=1)
    sealed: bool
    at: datetime
    sha256: str = Field(description="SHA-256 of the document's canonical JSON")
    chain: str
    skipped: list[str] = Field(default_factory=list)
    guideline: str = Field(default="1", max_length=40, description="Version of the guideline in force")
    form: str = Field(default="1", max_length=40, description="Version of the fields that were asked for")
    reason: Text = Field(default="", description="Why warnings were overridden when sealing")
    document: dict[str, Any] | None = Field(
        default=None, description="None when it is the document under `artifacts/`"
    )


class AssistedRecord(Record, AssistedPair):
    """What two raters wrote as a judge paired it by meaning, once the agreement was frozen: figures of their own."""

    FILE: ClassVar[str] = ""


class AgreementRecord(LaterFields, Agreement):
    """The agreement on one stage of one item, frozen before anybody saw both; people by their ids in people.json."""

    FILE: ClassVar[str] = "agreement.json"
    assisted: tuple[AssistedRecord, ...] = Field(
        default=(),
        description="By judges' pairing, in the place of no frozen figure; left out where there is none",
    )

    def frozen(self) -> Agreement:
        return Agreement(**{name: getattr(self, name) for name in Agreement.model_fields})


class ProvenanceRecord(Record):
    """Where one unit of a consensus comes from and why it reads as it does."""

    unit_id: str
    ruling_id: str
    origin: Origin
    wording_of: str = Field(default="", description="The person whose wording it is, when it is one's alone")
    sources: dict[str, str] = Field(default_factory=dict, description="Person's id → the unit's id there")
    reason: Reason | None = None
    rationale: Text = ""
    confidence: Confidence | None = None
    gap: Text = Field(default="", description="What the guideline leaves open, if anything")


class RulingRecord(Record):
    """One row as it was ruled on, those that were dropped included."""

    id: str
    position: int = Field(ge=0)
    members: dict[str, str] = Field(default_factory=dict, description="Person's id → the unit's id there")
    unanimous: bool = False
    take: str = Field(min_length=1, description="A person's id, both, own or drop")
    own: dict[str, Any] = Field(default_factory=dict, description="The unit as the adjudicator worded it")
    reason: Reason | None = None
    rationale: Text = Field(default="", max_length=20_000)
    confidence: Confidence | None = None
    gap: Text = Field(default="", max_length=20_000)
    first_vote: str = Field(default="", max_length=200, description="What was said before seeing the answers")


class DisputeRecord(Record):
    """An annotator's objection to a version of the consensus, and what came of it."""

    id: str
    person_id: str
    text: Text = Field(min_length=1, max_length=20_000)
    at: datetime
    state: DisputeState
    answer: Text = ""
    answered_version: int = Field(default=0, ge=0, description="The version that answers it; 0 for none")


class AdjudicationRecord(Record):
    """One closed version of a consensus: who ruled on whose answers, and where every unit of it comes from."""

    FILE: ClassVar[str] = "adjudications.json"
    id: str
    adjudication_id: str
    version: int = Field(ge=1)
    item_id: str
    stage: Stage
    agreement_id: str
    artifact_id: str = Field(description="The consensus under `artifacts/`")
    revision: int = Field(ge=1)
    adjudicator_id: str
    letters: dict[str, str] = Field(description="The letter under which the adjudicator saw whose answer")
    seed: int = Field(ge=0, description="Of the shuffle that dealt the letters")
    spot_check: bool = Field(default=False, description="Unanimous, but drawn to be looked at all the same")
    opened_at: datetime
    closed_at: datetime
    provenance: list[ProvenanceRecord]
    rulings: list[RulingRecord]
    repaired: list[Figure] = Field(
        default_factory=list,
        description="Agreement by the adjudicator's pairing: a second figure, never the frozen one",
    )
    disputes: list[DisputeRecord] = Field(
        default_factory=list, description="Objections raised while this version stood"
    )


def adjudication_record(
    found: Adjudication, version: ConsensusVersion, disputes: Iterable[Dispute] = ()
) -> AdjudicationRecord:
    """A closed version with people in the place of letters."""
    people = found.letters
    return AdjudicationRecord(
        **version.model_dump(include={"id", "adjudication_id", "version", "artifact_id", "revision", "repaired"}),
        **found.model_dump(include={"item_id", "stage", "agreement_id", "letters", "seed", "spot_check", "opened_at"}),
        adjudicator_id=version.by,
        closed_at=version.at,
        provenance=[_provenance_record(one, people) for one in version.provenance],
        rulings=[_ruling_record(one, people) for one in version.rulings],
        disputes=[DisputeRecord(**one.model_dump(exclude={"item_id", "stage"})) for one in disputes],
    )  # fmt: skip


def consensus_version(record: AdjudicationRecord) -> ConsensusVersion:
    """The closed version of a record, with letters in the place of people; ValueError names the person who has none."""
    letters = {person: letter for letter, person in record.letters.items()}
    return ConsensusVersion(
        **record.model_dump(include={"id", "adjudication_id", "version", "artifact_id", "revision"}),
        provenance=tuple(_provenance(one, letters) for one in record.provenance),
        rulings=tuple(_ruling(one, record.adjudication_id, letters) for one in record.rulings),
        repaired=tuple(record.repaired),
        by=record.adjudicator_id,
        at=record.closed_at,
    )


def adjudication(last: AdjudicationRecord) -> Adjudication:
    return Adjudication(
        **last.model_dump(
            include={
                "item_id", "stage", "agreement_id", "adjudicator_id", "seed", "letters", "version", "spot_check",
                "opened_at", "closed_at",
            }
        ),
        id=last.adjudication_id,
        state=AdjudicationState.CLOSED,
        consensus_id=last.artifact_id,
    )  # fmt: skip


def disputes(record: AdjudicationRecord) -> list[Dispute]:
    about = {"item_id": record.item_id, "stage": record.stage}
    return [Dispute(**one.model_dump(), **about) for one in record.disputes]


def _provenance_record(one: Provenance, people: Mapping[str, str]) -> ProvenanceRecord:
    kept = one.model_dump(exclude={"letter", "sources"})
    sources = {people[letter]: unit for letter, unit in one.sources.items()}
    return ProvenanceRecord(**kept, wording_of=people.get(one.letter, ""), sources=sources)


def _provenance(one: ProvenanceRecord, letters: Mapping[str, str]) -> Provenance:
    kept = one.model_dump(exclude={"wording_of", "sources"})
    letter = _letter(letters, one.wording_of) if one.wording_of else ""
    return Provenance(**kept, letter=letter, sources=_lettered(one.sources, letters))


def _ruling_record(one: Ruling, people: Mapping[str, str]) -> RulingRecord:
    kept = one.model_dump(exclude={"adjudication_id", "take", "members"})
    members = {people[letter]: unit for letter, unit in one.members.items()}
    return RulingRecord(**kept, take=people.get(one.take, one.take), members=members)


def _ruling(one: RulingRecord, adjudication_id: str, letters: Mapping[str, str]) -> Ruling:
    kept = one.model_dump(exclude={"take", "members"})
    take = letters.get(one.take, one.take)
    return Ruling(**kept, adjudication_id=adjudication_id, take=take, members=_lettered(one.members, letters))


def _lettered(units: Mapping[str, str], letters: Mapping[str, str]) -> dict[str, str]:
    return {_letter(letters, person): unit for person, unit in units.items()}


def _letter(letters: Mapping[str, str], person: str) -> str:
    if person not in letters:
        raise ValueError(f"“{person[:36]}” is not one of its raters")
    return letters[person]
