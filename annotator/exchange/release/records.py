"""Records of a Goldsmith release: one class per file, from which the published schemas are generated."""

from datetime import date, datetime
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from annotator.domain.experts.final_pass import ItemChecks
from annotator.domain.judges.contest import ContestFields
from annotator.domain.judges.judge import Asking, JudgeKind, RunState
from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.judges.taxonomy import DrawnPairs, ErrorSample
from annotator.domain.kinds.artifact import Document, DraftSource, Kind, State
from annotator.domain.material.source import SourceFormat, SourceKind
from annotator.domain.texts.canonical import Text

FORMAT = "goldsmith"
FORMAT_VERSION = "1.4"


class Record(BaseModel):
    """What all records share: nothing unknown, nothing infinite, nothing changed after reading."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=False)
    FILE: ClassVar[str]


class PersonRecord(Record):
    """A person under a pseudonym; names never leave the project."""

    FILE: ClassVar[str] = "people.json"
    id: str
    alias: Text
    roles: list[str]


# Fields that came later: without them the bytes are those of an earlier release.
_LEFT_OUT_EMPTY = frozenset({
    "drafted", "licence", "description", "assisted", "over", "weights", "group", "footnote", "collected_on",
    "product_version", "settings", "collected_by", "cutoff", "kind", "published", "venue", "citations", "citations_on",
    "working_title", "origin", "contributor", "collected", "asked", "traits", "made_from", "transcript",
    "error_sample", "gold", "unadjudicated", "awaited", "final_pass", "drawn_pairs", "rubric_set", "floor", "ceiling",
    "group_by", "trials", "flip_rate", "run_tokens", "cost_part_usd",
})  # fmt: skip
# Zero citations are a fact.
_NOTHING: tuple[Any, ...] = (None, "", (), [], {})


class LaterFields(Record):
    """What leaves a field out where it has nothing to say in it: of drafts or pairs, of a licence, of its origin."""

    @model_serializer(mode="wrap")
    def _told(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        tree: dict[str, Any] = whole(self)
        return {
            name: value
            for name, value in tree.items()
            if name not in _LEFT_OUT_EMPTY or value not in _NOTHING
        }


class ItemRecord(LaterFields):
    """An item."""

    FILE: ClassVar[str] = "items.json"
    id: str
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


class SourceRecord(LaterFields):
    """A source of an item. A PDF's bytes are not part of a release, its text is."""

    FILE: ClassVar[str] = "sources.json"
    id: str
    item_id: str
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


class SystemRecord(LaterFields):
    """A system under test."""

    FILE: ClassVar[str] = "systems.json"
    id: str
    name: Text
    notes: Text = ""
    group: Text = Field(
        default="", description="Kind of system, e.g. deep research; left out when none is stated"
    )
    footnote: Text = Field(default="", description="What tables say of it below them; left out when empty")


class ResponseRecord(LaterFields):
    """A system's report on an item; one file per system lies under `responses/`."""

    FILE: ClassVar[str] = "responses"
    id: str
    item_id: str
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


class ArtifactRecord(LaterFields):
    """An artifact's newest sealed or consensus revision (or its draft, where drafts are asked for).

    One file per kind, e.g. `artifacts/rubric.json`; `document` is the kind's own shape, described by the
    schema of that kind.
    """

    FILE: ClassVar[str] = "artifacts"
    id: str
    item_id: str
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
        """A consensus that nobody is named as the author of."""
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


class JudgeRecord(Record):
    """A judge's settings, without any key or the place of one."""

    FILE: ClassVar[str] = "judges.json"
    id: str
    name: Text
    kind: JudgeKind
    base_url: Text = Field(default="", description="Empty where the address of the endpoint was left out")
    model: Text = ""
    parameters: dict[str, Any] = Field(
        default_factory=dict,
        description="What is sent with each request; of a derived judge, whose votes it counts",
    )
    asking: Asking = Asking()


class RunRecord(Record):
    """A judge run: which judge, under which protocol and prompt, and how it ended."""

    FILE: ClassVar[str] = "runs.json"
    id: str
    judge_id: str
    protocol: str
    state: RunState
    total: int
    done: int
    prompt_sha256: str = ""
    started_at: datetime
    ended_at: datetime | None = None
    cost_usd: float | None = None


class JudgementRecord(Record):
    """A judgement of a person or a judge; without a value its status and cause say why."""

    FILE: ClassVar[str] = "judgements.json"
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


class ScoreRecord(LaterFields):
    """A figure of the results page: a metric of a system within a group, or of the project, with its interval."""

    FILE: ClassVar[str] = "scores.json"
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


class MetricRecord(LaterFields):
    """What a figure of `scores.json` is, and where it is computed otherwise than in its paper."""

    FILE: ClassVar[str] = "metrics.json"
    metric: str = Field(description="Its name in `scores.json`")
    protocol: str
    title: Text
    unit: str = Field(description="Empty for a share")
    higher_is_better: bool
    definition: Text = Field(description="Markdown, with formulas")
    citation: Text = Field(description="The paper and its sections")
    departures: list[Text] = Field(description="Where it is computed otherwise than in the paper")


class MatchRecord(Record, ContestFields):  # type: ignore[misc]
    """A pair of tasks as it was shown to a rater of the contest, the first before the second, and what was said."""

    FILE: ClassVar[str] = "contest_matches.json"
    first_key: Text
    second_key: Text
    rater_name: Text = Field(description="Name of a judge, or alias of a person")


class RatingRecord(Record):
    """A task's place in the standings of a contest, computed from `contest_matches.json`."""

    FILE: ClassVar[str] = "contest_ratings.json"
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


class DecisionRecord(Record):
    """Whether a task of the contest is kept as an item, or held back and why."""

    FILE: ClassVar[str] = "contest_decisions.json"
    task: Text = Field(description="Its key")
    task_id: str
    kept: bool
    reason: Text = Field(default="", description="Why it is held back")
    rank: int = Field(default=0, description="When it was decided; 0 where it had none")
    by: str = Field(default="", description="Person's id")
    at: Text = ""
    by_hand: bool = False


class FileRecord(BaseModel):
    """A file of a release, as its manifest lists it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    path: str
    sha256: str
    bytes: int
    records: int | None = None


class Manifest(LaterFields):
    """The first file to read: which format, which project, and the checksum of every other file."""

    FILE: ClassVar[str] = "manifest.json"
    format: str = FORMAT
    format_version: str = FORMAT_VERSION
    title: Text
    licence: Text = Field(
        default="", description="Under which the release may be used; left out when none is stated"
    )
    description: Text = Field(default="", description="What the project says of itself; left out when empty")
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
    number: int = Field(default=1, ge=1, description="The release's number in its project")
    app_version: str
    counts: dict[str, int]
    files: list[FileRecord]
    drafted: dict[str, int] = Field(
        default_factory=dict,
        description="Artifact's id → how many of its units came from a model's draft; left out where no model drafted",
    )
