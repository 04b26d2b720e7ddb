"""Records of a Goldsmith release: one class per file, from which the published schemas are generated."""

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any, ClassVar, Self

import orjson
from pydantic import BaseModel, Field, SerializerFunctionWrapHandler, model_serializer

from annotator.domain.common import Text, canonical_json, sha256
from annotator.domain.experts.adjudication import (
    Adjudication,
    AdjudicationState,
    Agreement,
    AssistedPair,
    ConsensusVersion,
    Dispute,
    DisputeState,
    Figure,
    OpenedAdjudication,
    Provenance,
    Ruling,
    RulingFields,
    UnitOrigin,
)
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.publication import ItemChecks, Publication
from annotator.domain.judges.judge import Asking, JudgeKind, RaterKind, RunState, Status
from annotator.domain.judges.paper import DrawnPairs, ErrorSample
from annotator.domain.judges.validation import Content, FirstLabel
from annotator.domain.kinds.artifact import Document, DraftSource, Kind, State
from annotator.domain.material.extract import ResponsePart, class_of
from annotator.domain.material.item import SET, ExtractState, PageState, SourceFormat, SourceKind
from annotator.domain.stored import ContestFields, InformedKind

FORMAT = "goldsmith"
FORMAT_VERSION = "1.5"


class Record(BaseModel, frozen=True, extra="forbid", allow_inf_nan=False, strict=False, defer_build=True):
    """The common base of records: no unknown fields, no infinite numbers, frozen; `FILE` holds them."""

    FILE: ClassVar[str] = ""

    def __init_subclass__(cls, file: str = "", **how: Any) -> None:
        super().__init_subclass__(**how)
        cls.FILE = file or cls.FILE


class KnownRecord(Record):
    """A record with an id of its own."""

    id: str


class PersonRecord(KnownRecord, file="people.json"):
    """A person under a pseudonym; names never leave the project."""

    alias: Text
    roles: list[str]


# Fields added later: without them the bytes are those of an earlier release.
_LEFT_OUT_EMPTY = frozenset({
    "drafted", "licence", "description", "assisted", "over", "weights", "group", "footnote", "collected_on",
    "product_version", "settings", "collected_by", "cutoff", "kind", "published", "venue", "citations", "citations_on",
    "working_title", "origin", "contributor", "collected", "asked", "traits", "made_from", "transcript",
    "error_sample", "gold", "unadjudicated", "awaited", "final_pass", "drawn_pairs", "rubric_set", "floor", "ceiling",
    "group_by", "trials", "flip_rate", "run_tokens", "cost_part_usd", "publication", "test_items",
})  # fmt: skip
# Zero citations are a fact, so 0 is not empty.
_NOTHING: tuple[Any, ...] = (None, "", (), [], {})


class LaterFields(Record):
    """A record that leaves out later fields if they are empty: of drafts or pairs, of a licence, of its origin."""

    @model_serializer(mode="wrap")
    def _without_empty(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        tree: dict[str, Any] = whole(self)
        return {
            name: value
            for name, value in tree.items()
            if name not in _LEFT_OUT_EMPTY or value not in _NOTHING
        }


class RecordOfItem(KnownRecord):
    """A record of an item, with an id of its own."""

    item_id: str


class ItemRecord(KnownRecord, LaterFields, file="items.json"):
    """An item."""

    key: Text
    dataset: Text = ""
    question: Text
    question_type: Text = ""
    subject: Text = ""
    language: str = "en"
    position: int = 0
    working_title: Text = Field(
        default="",
        description="Working title: what stood for the question until its query was settled; left out when it is none",
    )
    origin: Text = Field(default="", description="Where the question was found; left out when not stated")
    contributor: Text = Field(default="", description="Alias of who contributed it; left out when not stated")
    traits: dict[str, Text] = Field(
        default_factory=dict,
        description="What else it is filed by, such as phase and difficulty; left out when there is nothing",
    )
    made_from: str = Field(
        default="", description="Id of the task of a seminar that it was made from; left out for any other"
    )
    collected: str = Field(
        default="",
        description="When it was collected, as YYYY, YYYY-MM or YYYY-MM-DD; left out when not stated",
    )


class SourceRecord(RecordOfItem, LaterFields, file="sources.json"):
    """A source of an item. A PDF's bytes are not part of a release, its text is."""

    title: Text
    format: SourceFormat = SourceFormat.MARKDOWN
    text: Text = ""
    identifier: Text = ""
    position: int = 0
    drafted: Text = Field(
        default="",
        description="Of a text that a model drafted: which model, who confirmed it, and when; left out for any other",
    )
    kind: SourceKind = Field(default=SourceKind.UNKNOWN, description="research or review")
    published: Text = Field(default="", description="A day, a month or a year")
    venue: Text = ""
    citations: int | None = Field(default=None, description="How often it had been cited on `citations_on`")
    citations_on: date | None = None
    transcript: Text = Field(
        default="",
        description="Of a transcript, as JSON: `speakers`, `segments` (start and end in ms, place in speakers, "
        "first and last character, marks), and `file`, the hash of its file; left out for any other",
    )


class SystemRecord(KnownRecord, LaterFields, file="systems.json"):
    """A system under test."""

    name: Text
    notes: Text = ""
    group: Text = Field(
        default="", description="Kind of system, e.g. deep research; left out when none is stated"
    )
    footnote: Text = Field(default="", description="What tables say of it below them; left out when empty")


class ResponseRecord(RecordOfItem, LaterFields, file="responses"):
    """A system's report on an item; one file per system lies under `responses/`."""

    system_id: str
    text: Text
    trial: int = 1
    mode: str = "end-to-end"
    latency_s: float | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    run_tokens: int | None = Field(default=None, description="Tokens of all calls that made the report")
    cost_part_usd: float | None = Field(
        default=None, description="US dollars of the calls that have a price, where others have none"
    )
    collected_on: date | None = Field(default=None, description="Day on which the report was collected")
    product_version: Text = Field(default="", description="Version of the product or model that answered")
    settings: Text = Field(default="", description="How it was asked: modes, options, standard replies")
    collected_by: Text = Field(default="", description="Who collected the report")
    cutoff: date | None = Field(
        default=None, description="Last day of publication that the system was asked to keep to"
    )
    asked: str = Field(
        default="",
        description="SHA-256 of the wording of the question that it answers; left out for the item's present one",
    )


class ArtifactRecord(RecordOfItem, LaterFields, file="artifacts"):
    """An artifact's newest sealed or consensus revision (or its draft, where drafts are asked for).

    One file per kind, e.g. `artifacts/rubric.json`; `document` is the kind's own shape, described by the
    schema of that kind.
    """

    kind: Kind
    author_id: str = Field(description="A person's id; empty when imported without an author")
    state: State
    revision: int = Field(ge=1)
    at: datetime
    sha256: str = Field(description="SHA-256 of the document's canonical JSON")
    document: dict[str, Any]
    drafted: dict[str, DraftSource] = Field(
        default_factory=dict,
        description="Unit's id → the model's draft that it came from; left out where there is none",
    )

    @classmethod
    def settled(cls, own: str, item_id: str, document: Document[Any], at: datetime) -> Self:
        return cls(
            id=own,
            item_id=item_id,
            kind=document.KIND,
            author_id="",
            state=State.CONSENSUS,
            revision=1,
            at=at,
            sha256=document.sha256(),
            document=document.tree(),
        )


class JudgeRecord(KnownRecord, file="judges.json"):
    """A judge's settings, without any key or the place of one."""

    name: Text
    kind: JudgeKind
    base_url: Text = Field(default="", description="Empty where the address of the endpoint was left out")
    model: Text = ""
    parameters: dict[str, Any] = Field(
        default_factory=dict,
        description="What is sent with each request; of a derived judge, whose votes it counts",
    )
    asking: Asking = Asking()


class RunRecord(KnownRecord, file="runs.json"):
    """A judge run: which judge, under which protocol and prompt, and how it ended."""

    judge_id: str
    protocol: str
    state: RunState
    total: int
    done: int
    prompt_sha256: str = ""
    started_at: datetime
    ended_at: datetime | None = None
    cost_usd: float | None = None


class JudgementRecord(Record, file="judgements.json"):
    """A judgement of a person or a judge; without a value its status and cause say why."""

    protocol: str
    item_id: str
    response_id: str
    artifact_id: str = ""
    unit_id: str
    rater_kind: RaterKind
    rater_id: str
    trial: int = 1
    run_id: str | None = None
    value: str | None = None
    status: Status
    rationale: Text = ""
    quote: Text = ""
    quote_start: int | None = None
    quote_end: int | None = None
    note: Text = ""
    flags: list[str] = Field(default_factory=list)
    cause: Text = ""
    seconds: float | None = None
    at: datetime


class ScoreRecord(LaterFields, file="scores.json"):
    """A figure of the results page: a metric of a system within a group, or of the project, with its interval."""

    metric: str = Field(description="`metrics.json` says what it is, and where it differs from its paper")
    protocol: str
    rater: Text = Field(description="The judge's name, or `people`")
    system: Text = Field(description="Empty for a figure of the whole project")
    group: Text = Field(description="`all`, a question type, a subject, or a facet of the units")
    group_by: str = Field(
        default="", description="What it is a group of; left out where the system has one group of that name"
    )
    value: float | None
    low: float | None
    high: float | None
    n: int
    missing: int
    floor: float | None = Field(
        default=None,
        description="The lowest it can be, whatever the missing judgements say; left out where none is missing",
    )
    ceiling: float | None = Field(
        default=None,
        description="The highest it can be, whatever the missing judgements say; left out where none is missing",
    )
    trials: int | None = Field(
        default=None,
        description="Of how many trials of the judge it is the mean; left out where there was one",
    )
    flip_rate: float | None = Field(
        default=None,
        description="On what share of the units that it judged more than once its verdict changes",
    )
    method: str = ""
    note: str = ""
    unfit: Text = Field(default="", description="Why it is not fit to be published; empty when it is")
    over: str = Field(
        default="",
        description="`system` for all of a system's reports together, `project` for the whole project; left out for a "
        "mean over items",
    )
    gold: Text = Field(default="", description="By whose gold it is; left out where it needs none")


class MetricRecord(LaterFields, file="metrics.json"):
    """What a figure of `scores.json` is, and where it is computed otherwise than in its paper."""

    metric: str = Field(description="Its name in `scores.json`")
    protocol: str
    title: Text
    unit: str = Field(description="Empty for a share")
    higher_is_better: bool
    definition: Text = Field(description="Markdown, with formulas")
    citation: Text = Field(description="The paper and its sections")
    departures: list[Text] = Field(description="Where it is computed otherwise than in the paper")


class MatchRecord(Record, ContestFields):
    """A pair of tasks as it was shown to a rater of the contest, the first before the second, and what was said."""

    FILE: ClassVar[str] = "contest_matches.json"
    first_key: Text
    second_key: Text
    rater_name: Text = Field(description="Name of a judge, or alias of a person")


class RatingRecord(Record, file="contest_ratings.json"):
    """A task's place in the standings of a contest, computed from `contest_matches.json`."""

    task: Text = Field(description="Its key")
    task_id: str
    rater: Text = Field(description="By whose matches; `people` for those of all people together")
    rank: int
    elo: float = Field(description="As the paper computes it, with the stated confidence as outcome")
    bradley_terry: float
    low: float | None = Field(description="Of the 95 % interval of `bradley_terry`")
    high: float | None
    p_top_k: float | None = Field(description="Chance to be among the best `k`")
    k: int
    certain: bool = Field(description="Whether it is certain to be among them")
    matches: int
    note: Text = ""


class DecisionRecord(Record, file="contest_decisions.json"):
    """Whether a task of the contest is kept as an item, or held back and why."""

    task: Text = Field(description="Its key")
    task_id: str
    kept: bool
    reason: Text = Field(default="", description="Why it is held back")
    rank: int = Field(default=0, description="When it was decided; 0 where it had none")
    by: str = Field(default="", description="Person's id")
    at: Text = ""
    by_hand: bool = False


class FileRecord(Record):
    """A file of a release, as its manifest lists it."""

    path: str
    sha256: str
    bytes: int
    records: int | None = None


class Manifest(LaterFields, file="manifest.json"):
    """The first file to read: which format, which project, and the checksum of every file of records."""

    format: str = FORMAT
    format_version: str = FORMAT_VERSION
    title: Text
    licence: Text = Field(
        default="", description="Under which the release may be used; left out when none is stated"
    )
    description: Text = Field(default="", description="What the project says of itself; left out when empty")
    publication: Publication = Field(
        default=Publication(),
        description="What the release says of itself, its corrections, and the string by which its copies are known",
    )
    weights: Text = Field(
        default="", description="Which weights criteria may have; left out where they are 1 to 3"
    )
    error_sample: ErrorSample | None = Field(
        default=None, description="Responses drawn to give kinds of errors to; left out where none were drawn"
    )
    unadjudicated: Text = Field(
        default="",
        description="Whose gold scores where several wrote it and nobody adjudicated; else left out",
    )
    rubric_set: Text = Field(
        default="",
        description="The rubric set that reports are scored by; left out where the experts' own count",
    )
    awaited: dict[str, list[str]] = Field(
        default_factory=dict,
        description="Kind → ids of items that another person is still to write for, so that no single document scores",
    )
    final_pass: dict[str, ItemChecks] = Field(
        default_factory=dict,
        description="Item's id → what was looked for before the release, what was found and who signed; left out where "
        "nobody signed",
    )
    drawn_pairs: dict[str, DrawnPairs] = Field(
        default_factory=dict,
        description="Protocol → the pairs of responses that were drawn to be compared; left out where all are",
    )
    test_items: str = Field(
        default="",
        description="`encrypted` where their texts are, which `decode.py` reads; `left-out` where they are not here; "
        "else left out",
    )
    number: int = Field(default=1, ge=1, description="The release's number in its project")
    app_version: str
    counts: dict[str, int]
    files: list[FileRecord]
    drafted: dict[str, int] = Field(
        default_factory=dict,
        description="Artifact's id → how many of its units came from a model's draft; left out where no model drafted",
    )


class GuidelineRecord(Record, file="guidelines.json"):
    """A version of a stage's guideline that a coordinator wrote; version 1 is the text that the program ships."""

    stage: Stage
    version: int = Field(ge=2)
    text: Text = Field(max_length=200_000, description="Markdown")
    at: datetime


class RevisionRecord(Record, file="revisions.json"):
    """A revision that leaves: that of an artifact's file, and each sealed one that agreement or consensus rests on.

    `chain` is the hash of the link before it and of this content's hash, from the first revision on; `skipped` are
    the hashes of the revisions between this one and the one before it here, whose content stayed with its author.
    """

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


class AgreementRecord(LaterFields, Agreement, file="agreement.json"):
    """The agreement on one stage of one item, frozen before anybody saw both; people by their ids in people.json."""

    assisted: tuple[AssistedRecord, ...] = Field(
        default=(),
        description="By judges' pairing, in the place of no frozen figure; left out where there is none",
    )

    def frozen(self) -> Agreement:
        return Agreement(**{name: getattr(self, name) for name in Agreement.model_fields})


class ProvenanceRecord(Record, UnitOrigin):
    """Where one unit of a consensus comes from and why it reads as it does."""

    wording_of: str = Field(default="", description="The person whose wording it is, when it is one's alone")
    sources: dict[str, str] = Field(default_factory=dict, description="Person's id → the unit's id there")


class RulingRecord(Record, RulingFields):
    """One row as it was ruled on, those that were dropped included."""

    id: str
    position: int = Field(ge=0)
    members: dict[str, str] = Field(default_factory=dict, description="Person's id → the unit's id there")
    unanimous: bool = False
    take: str = Field(min_length=1, description="A person's id, both, own or drop")


class DisputeRecord(KnownRecord):
    """An annotator's objection to a version of the consensus, and what came of it."""

    person_id: str
    text: Text = Field(min_length=1, max_length=20_000)
    at: datetime
    state: DisputeState
    answer: Text = ""
    answered_version: int = Field(default=0, ge=0, description="The version that answers it; 0 for none")


class AdjudicationRecord(Record, OpenedAdjudication, file="adjudications.json"):
    """One closed version of a consensus: who ruled on whose answers, and where every unit of it comes from."""

    adjudication_id: str
    version: int = Field(ge=1)
    artifact_id: str = Field(description="The consensus under `artifacts/`")
    revision: int = Field(ge=1)
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
    current: Adjudication, version: ConsensusVersion, disputes: Iterable[Dispute] = ()
) -> AdjudicationRecord:
    people = current.letters
    return AdjudicationRecord(
        **version.model_dump(include={"id", "adjudication_id", "version", "artifact_id", "revision", "repaired"}),
        **current.model_dump(
            include={"item_id", "stage", "agreement_id", "letters", "seed", "spot_check", "opened_at"}
        ),
        adjudicator_id=version.by,
        closed_at=version.at,
        provenance=[
            ProvenanceRecord(
                **one.model_dump(exclude={"letter", "sources"}), wording_of=people.get(one.letter, ""),
                sources={people[letter]: unit for letter, unit in one.sources.items()},
            )
            for one in version.provenance
        ],
        rulings=[
            RulingRecord(
                **ruling.model_dump(exclude={"adjudication_id", "take", "members"}),
                take=people.get(ruling.take, ruling.take),
                members={people[letter]: unit for letter, unit in ruling.members.items()},
            )
            for ruling in version.rulings
        ],
        disputes=[DisputeRecord(**dispute.model_dump(exclude={"item_id", "stage"})) for dispute in disputes],
    )  # fmt: skip


def consensus_version(record: AdjudicationRecord) -> ConsensusVersion:
    """The closed version of a record, with letters in place of people; ValueError names a person without one."""
    letters = {person: letter for letter, person in record.letters.items()}
    return ConsensusVersion(
        **record.model_dump(include={"id", "adjudication_id", "version", "artifact_id", "revision"}),
        provenance=tuple(
            Provenance(
                **one.model_dump(exclude={"wording_of", "sources"}),
                letter=_letter(letters, one.wording_of) if one.wording_of else "",
                sources=_lettered(one.sources, letters),
            )
            for one in record.provenance
        ),
        rulings=tuple(
            Ruling(
                **ruling.model_dump(exclude={"take", "members"}), adjudication_id=record.adjudication_id,
                take=letters.get(ruling.take, ruling.take), members=_lettered(ruling.members, letters),
            )
            for ruling in record.rulings
        ),
        repaired=tuple(record.repaired),
        by=record.adjudicator_id,
        at=record.closed_at,
    )  # fmt: skip


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
    return [Dispute(**dispute.model_dump(), **about) for dispute in record.disputes]


def _lettered(units: Mapping[str, str], letters: Mapping[str, str]) -> dict[str, str]:
    return {_letter(letters, person): unit for person, unit in units.items()}


def _letter(letters: Mapping[str, str], person: str) -> str:
    if person not in letters:
        raise ValueError(f"“{person[:36]}” is not one of its raters")
    return letters[person]


class ExtractRecord(RecordOfItem, file="extracts.json"):
    """What somebody drew from a response before it was judged: its plan, its references, or the claims it makes."""

    response_id: str
    kind: str
    origin: str = Field(
        description="judge:<id>, person:<id> or import; a person's version counts before the others. set:<name> of the "
        "rubrics of a named set, which are of an item and of no response"
    )
    state: ExtractState
    flags: list[str] = Field(default_factory=list)
    run_id: str | None = None
    by: str = ""
    at: datetime
    sha256: str = Field(description="SHA-256 of the document's canonical JSON")
    document: dict[str, Any]


class PageRecord(LaterFields, file="pages.json"):
    """The snapshot of a page that a claim or a reference cites: its text as judges read it, or why there is none.

    The text is its owner's: a release holds it only where that was asked for, and its hash in any case.
    """

    url: Text = Field(description="The normal spelling of the address")
    state: PageState
    text: Text = Field(
        default="", description="Empty too where the text of a page that was read stayed behind"
    )
    title: Text = ""
    final_url: Text = ""
    content_type: str = ""
    cause: Text = ""
    fetched_at: datetime
    by_reader: str = ""
    citations: int | None = None
    citations_on: date | None = None
    sha256: str = Field(
        description="SHA-256 of the text as judges read it, also where the text stayed behind"
    )


class WordingRecord(Record):
    """One version of a prompt. The first is as the program shipped it."""

    version: int = Field(ge=1)
    text: Text
    note: Text = ""
    at: datetime | None = None
    sha256: str = Field(description="SHA-256 of the text; runs name it")


class PromptRecord(Record, file="prompts.json"):
    """A prompt by which something was judged or drawn, in all its versions; the last was in force."""

    name: str
    versions: list[WordingRecord] = Field(min_length=1)


class LookRecord(KnownRecord):
    """A look at the test part of a set."""

    judges: list[str] = Field(description="The names of the judges that were shown")
    labels_sha256: str
    by: str
    at: datetime


class ValidationSetRecord(KnownRecord, file="validation_sets.json"):
    """A validation set whose labels are locked: how it was drawn, who labelled what, every look at its test part."""

    name: Text
    protocol: str
    by: str
    at: datetime
    locked_at: datetime
    content: Content
    sha256: str = Field(description="SHA-256 of the content's canonical JSON")
    first_labels: list[FirstLabel]
    labels_sha256: str = Field(description="SHA-256 of the first labels' canonical JSON")
    looks: list[LookRecord] = Field(default_factory=list)


class InformedRecord(KnownRecord, file="informed.json"):
    """What somebody said with a judge's verdict before them; never a blind label."""

    kind: InformedKind
    protocol: str
    item_id: str
    response_id: str
    unit_id: str
    judge_id: str
    judge_value: str
    label_of: str = Field(default="", description="Whose label a ruling is on; empty for a review")
    label_value: str = ""
    said: str
    reason: str = ""
    note: Text = ""
    by: str
    at: datetime


_SHA256 = re.compile("[0-9a-f]{64}")
# Without these files a release is the same as before they existed.
LEFT_OUT_EMPTY = tuple(
    record.FILE
    for record in (
        ExtractRecord,
        PageRecord,
        PromptRecord,
        MetricRecord,
        MatchRecord,
        RatingRecord,
        DecisionRecord,
        ValidationSetRecord,
        InformedRecord,
    )
)


def check(record: Record) -> None:
    """ValueError if a record does not match its checksums, or its document does not fit its kind."""
    if isinstance(record, ExtractRecord):
        of_item = record.origin.startswith(SET) or record.kind == ResponsePart.POOL
        if not record.response_id and not of_item:
            raise ValueError("it does not say which response it was drawn from")
        cls = class_of(record.kind, record.response_id)
        document = cls.model_validate_json(orjson.dumps(record.document), strict=True)
        if len({unit.id for unit in document.units}) != len(document.units):
            raise ValueError("two units have the same id")
        if document.sha256() != record.sha256:
            raise ValueError("the document is not the one its checksum was made of")
    elif isinstance(record, PageRecord):
        if record.state is PageState.OK and not record.text:
            if not _SHA256.fullmatch(record.sha256):
                raise ValueError("“sha256” should be the checksum of the text that stayed behind")
        elif sha256(record.text) != record.sha256:
            raise ValueError("the text is not the one its checksum was made of")
    elif isinstance(record, PromptRecord):
        if any(sha256(version.text) != version.sha256 for version in record.versions):
            raise ValueError("a wording is not the one its checksum was made of")
        if [version.version for version in record.versions] != list(range(1, len(record.versions) + 1)):
            raise ValueError("its versions are not counted from 1 on")
    elif isinstance(record, ValidationSetRecord):
        if content_sha256(record.content) != record.sha256:
            raise ValueError("the content is not the one its checksum was made of")
        if sha256(labels_text(record.first_labels)) != record.labels_sha256:
            raise ValueError("the first labels are not those their checksum was made of")


def content_sha256(content: Content) -> str:
    return sha256(content_text(content))


def content_text(content: Content) -> str:
    return canonical_json(content.model_dump(mode="json")).decode()


def labels_text(labels: list[FirstLabel]) -> str:
    return canonical_json([label.model_dump(mode="json") for label in labels]).decode()
