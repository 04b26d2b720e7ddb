"""The stored fields of items, people, judges and what they say, from which tables take their columns, and the values
that some may have.

The classes with an id and methods are in their subjects' modules, so that opening a project does not load those.
"""

import json
import re
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict
from sqlmodel import JSON, Field, SQLModel, String, text as in_sql

from annotator.domain.common import Text
from annotator.domain.kinds.kind import Stage


class Stored(SQLModel):
    """An entity of the project as plain data, outside the database."""

    model_config = ConfigDict(frozen=True)  # type: ignore[assignment]
    id: str


def later_text(longest: int | None, description: str) -> Any:
    """A text field that records did not have at first: it is empty in those of older projects."""
    empty = {"server_default": in_sql("''")}
    return Field(default="", max_length=longest, description=description, sa_column_kwargs=empty)


_KNOWN = re.compile(r"(?:\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?)?")


def _known_day(text: str) -> str:
    if not _KNOWN.fullmatch(text):
        raise ValueError("should be a day, a month or a year, such as 2024-05")
    return text


# A day, a month or a year; empty if unknown.
KnownDay = Annotated[str, AfterValidator(_known_day)]


def traits_read(stored: Any) -> Any:
    """Traits from a project file's JSON, or unchanged."""
    return json.loads(stored) if isinstance(stored, str) else stored


class ItemFields(SQLModel):
    """An item's own words and how it is filed."""

    key: Text = Field(
        min_length=1, max_length=120, index=True, description="Short name, unique in the project"
    )
    dataset: Text = Field(default="", max_length=120, description="The collection it was imported from")
    question: Text = Field(min_length=1, max_length=200_000, description="What the system is asked")
    question_type: Text = Field(
        default="", max_length=120, description="Question type, e.g. Literature Review"
    )
    subject: Text = Field(default="", max_length=200, description="Subject or domain")
    language: str = Field(default="en", max_length=35, description="BCP 47 language tag of the question")
    position: int = Field(default=0, ge=0, description="Place in the project's order, from 0")
    retired: bool = Field(default=False, description="True when the item is set aside; nothing is deleted")
    working_title: Text = later_text(200_000, "The question before the query was settled; empty until then")
    origin: Text = later_text(200, "Where it was found, e.g. interviews")
    contributor: Text = later_text(120, "Alias of who contributed it")
    traits: Annotated[dict[str, str], BeforeValidator(traits_read)] = Field(
        default_factory=dict,
        sa_type=JSON,
        description="What else it is filed by, by name: of a task its phase and difficulty",
        sa_column_kwargs={"server_default": in_sql("'{}'")},
    )
    made_from: str = later_text(80, "Id of the task of a seminar that it was made from; empty for any other")
    collected: KnownDay = later_text(10, "When it was collected: YYYY, YYYY-MM or YYYY-MM-DD")


class SourceFormat(StrEnum):
    """How the source's content is to be shown."""

    MARKDOWN = "markdown"
    PLAIN = "plain"
    PDF = "pdf"
    TRANSCRIPT = "transcript"


class SourceKind(StrEnum):
    """What a source is in the literature: its gold evidence is the source itself, or all that it cites."""

    UNKNOWN = ""
    RESEARCH = "research"
    REVIEW = "review"


class SourceFields(SQLModel):
    """A source of one item. A PDF's bytes are stored apart; `text` then holds its extracted text."""

    item_id: str = Field(index=True, foreign_key="item.id", ondelete="RESTRICT")
    title: Text = Field(min_length=1, max_length=1000)
    format: SourceFormat = Field(default=SourceFormat.MARKDOWN, sa_type=String)
    text: Text = Field(default="", description="The source's words")
    identifier: Text = Field(
        default="", max_length=1000, description="DOI, arXiv id or address, when it has one"
    )
    position: int = Field(default=0, ge=0)
    drafted: Text = later_text(
        1000, "Of a text that a model drafted: which model, who confirmed it, and when; empty for any other"
    )
    kind: SourceKind = Field(
        default=SourceKind.UNKNOWN,
        sa_type=String,
        sa_column_kwargs={"server_default": in_sql("''")},
        description="research or review; empty for unknown",
    )
    published: KnownDay = later_text(10, "When it was first published: a day, a month or a year")
    venue: Text = later_text(500, "Journal, conference or archive")
    citations: int | None = Field(default=None, ge=0, description="How often it had been cited by then")
    citations_on: date | None = Field(default=None, description="Day on which its citations were counted")
    transcript: Text = later_text(
        None,
        "Of a transcript: its speakers, its segments with times and doubts, and its file's hash, as JSON",
    )


class SystemFields(SQLModel):
    """A system under test. Raters never see its name while they label."""

    name: Text = Field(min_length=1, max_length=200)
    notes: Text = Field(default="", max_length=20_000)
    group: Text = later_text(120, "Kind of system, e.g. deep research")
    footnote: Text = later_text(2000, "What tables say of it below them")


# How a system was asked: alone, with gold given for one step, or with a gold plan.
END_TO_END, ISOLATED, INJECTION = MODES = ("end-to-end", "isolated", "gold-plan injection")


class ResponseFields(SQLModel):
    """A system's report on one item; `None` means unknown, never zero."""

    item_id: str = Field(index=True, foreign_key="item.id", ondelete="RESTRICT")
    system_id: str = Field(index=True, foreign_key="system.id", ondelete="RESTRICT")
    text: Text = Field(description="The report, as Markdown")
    trial: int = Field(default=1, ge=1, description="Which run of the system on this item")
    mode: str = Field(
        default=END_TO_END, max_length=40, description="end-to-end, isolated or gold-plan injection"
    )
    latency_s: float | None = Field(default=None, ge=0, description="Seconds the system took")
    tokens: int | None = Field(default=None, ge=0, description="Tokens of the report")
    cost_usd: float | None = Field(default=None, ge=0, description="US dollars the report cost")
    run_tokens: int | None = Field(default=None, ge=0, description="Tokens of all calls that made the report")
    cost_part_usd: float | None = Field(
        default=None, ge=0, description="US dollars of the calls that have a price, where others have none"
    )
    collected_on: date | None = Field(default=None, description="Day on which the report was collected")
    product_version: Text = later_text(200, "Version of the product or model that answered")
    settings: Text = later_text(2000, "How it was asked: modes, options, standard replies")
    collected_by: Text = later_text(200, "Who collected the report")
    cutoff: date | None = Field(
        default=None, description="Last day of publication that the system was asked to keep to"
    )
    asked: str = later_text(
        64, "SHA-256 of the question's wording that it answers; empty for the item's present one"
    )


class PageState(StrEnum):
    """Whether a cited page could be read, and if not, why."""

    OK = "ok"
    PAYWALL = "paywall"
    FORBIDDEN = "forbidden"
    DEAD = "dead"
    NOT_TEXT = "not_text"
    TOO_LONG = "too_long"


class PageFields(SQLModel):
    """A snapshot of the content of an address. An unreadable page supports nothing and contradicts nothing."""

    url: Text = Field(max_length=2000, description="The normal spelling of the address")
    state: PageState = Field(sa_type=String)
    text: Text = ""
    title: Text = ""
    final_url: Text = Field(default="", description="Where redirects led")
    content_type: str = ""
    cause: Text = Field(default="", description="In words, why there is no text")
    fetched_at: datetime
    by_reader: str = Field(default="", description="The reader service it came through; empty for none")
    citations: int | None = Field(default=None, ge=0, description="How often the work had been cited by then")
    citations_on: date | None = Field(default=None, description="Day on which its citations were counted")


class ExtractState(StrEnum):
    """Whether a person has looked at an extract and let it stand."""

    PROPOSED = "proposed"
    CONFIRMED = "confirmed"
    REFUSED = "refused"
    """Unwanted: nothing more is extracted; it stays stored."""


class ExtractFields(SQLModel):
    """The origin and subject of an extract. An item has one of each kind from each origin, and so has each of its
    responses.
    """

    item_id: str = Field(foreign_key="item.id", ondelete="RESTRICT")
    response_id: str = Field(default="", max_length=36, description="Empty when it was drawn from the item")
    kind: str = Field(
        max_length=40,
        description="What it is: a part of a response, a kind of artifact, or an aid for experts",
    )
    origin: str = Field(
        max_length=80,
        description="judge:<id>, judge:<id>:<mark> of a draft for one person, person:<id>, import, or set:<name> of a "
        "rubric set",
    )
    state: ExtractState = Field(default=ExtractState.PROPOSED, sa_type=String)
    flags: str = Field(default="", description="Marks separated by spaces")
    run_id: str | None = None
    by: str = Field(default="", max_length=36, description="Id of the person who wrote or confirmed it last")
    at: datetime


class PersonFields(SQLModel):
    """A person of the project. The id is their identity; the name is only shown."""

    name: Text = Field(min_length=1, max_length=200, description="The name shown in the window")
    alias: Text = Field(min_length=1, max_length=60, description="The pseudonym used in every export")
    roles: str = Field(default="annotator", description="Roles, separated by spaces, in alphabetical order")
    active: bool = Field(default=True, description="False once the person has left the project")


class Purpose(StrEnum):
    """The purpose of an assignment."""

    WORK = "work"
    PILOT = "pilot"
    """A calibration item that everyone does, with feedback."""
    REPEAT = "repeat"
    """A person's own item served again unannounced, to measure their agreement with themselves."""
    REVIEW = "review"
    """Another's draft, revised openly; nobody is blind."""


class AssignmentFields(SQLModel):
    """An assignment's fields: person, stage, item and due date."""

    item_id: str = Field(index=True, foreign_key="item.id", ondelete="RESTRICT")
    person_id: str = Field(index=True, foreign_key="person.id", ondelete="RESTRICT")
    stage: Stage = Field(sa_type=String)
    trial: int = Field(
        default=1,
        ge=1,
        description="2 for a silent repeat of the person's own work",
        sa_column_kwargs={"server_default": "1"},
    )
    purpose: Purpose = Field(
        default=Purpose.WORK, sa_type=String, sa_column_kwargs={"server_default": "work"}
    )
    not_before: datetime | None = Field(default=None, description="A repeat is not handed out earlier")
    due: datetime | None = None
    protocols: str = later_text(
        400, "Of labelling what is labelled, names separated by spaces; empty for the usual"
    )
    submitted_at: datetime | None = None


class GuidelineFields(SQLModel):
    """One version of one stage's guideline; versions are only ever added."""

    stage: Stage = Field(sa_type=String, description="The stage it is for")
    version: int = Field(ge=1)
    text: Text = Field(max_length=200_000, description="Markdown")
    by: str = Field(default="", max_length=36)
    at: datetime


class JudgeKind(StrEnum):
    """How a judge comes to its verdict."""

    BASELINE = "baseline"
    ENDPOINT = "endpoint"
    DERIVED = "derived"
    WRITER = "writer"
    """Gives no verdicts: it is the endpoint behind a system, and writes that system's reports."""


class JudgeFields(SQLModel):
    """A judge's settings. The key is never among them: only where to find it."""

    name: Text = Field(min_length=1, max_length=120)
    kind: JudgeKind = Field(default=JudgeKind.ENDPOINT, sa_type=String)
    base_url: Text = Field(default="", max_length=2000)
    model: Text = Field(default="", max_length=400)
    key_env: Text = Field(
        default="", max_length=200, description="Environment variable that may hold the key"
    )
    parameters: Text = Field(
        default="{}",
        description="JSON object of request parameters (empty: send none), or of whose verdicts a derived one counts",
    )
    asking: Text = Field(
        default="{}",
        description="JSON object of how it is asked; empty: unit by unit, weights not shown",
        sa_column_kwargs={"server_default": "{}"},
    )
    retired: bool = False


class Status(StrEnum):
    """Whether a judgement came, and if not, why. Only OK enters a score; NOT_NEEDED is no gap in one either."""

    OK = "ok"
    UNCLEAR = "unclear"
    INVALID = "invalid"
    REFUSED = "refused"
    FILTERED = "filtered"
    TRUNCATED = "truncated"
    TOO_LONG = "too_long"
    TIMEOUT = "timeout"
    API_ERROR = "api_error"
    SKIPPED = "skipped"
    NOT_NEEDED = "not_needed"


class CallFields(SQLModel):
    """One finished call to an endpoint, as journalled. `None` means that the server did not say."""

    run_id: str | None = Field(default=None, index=True)
    judge_id: str
    cache_key: str = Field(max_length=64)
    status: Status = Field(sa_type=String)
    raw: Text = Field(default="", description="The reply as it came")
    cause: Text = ""
    requested_model: Text = ""
    returned_model: Text = ""
    fingerprint: Text = ""
    finish_reason: str = ""
    parameters: Text = "{}"
    prompt_sha256: str = Field(default="", max_length=64)
    app_version: str = ""
    attempts: int = 1
    repaired: bool = Field(default=False, description="True when one repair request was needed")
    tokens_input: int | None = None
    tokens_cached: int | None = None
    tokens_output: int | None = None
    tokens_reasoning: int | None = None
    latency_s: float | None = None
    cost_usd: float | None = Field(
        default=None, description="US dollars; without counts of tokens the most that it may have cost"
    )


class RaterKind(StrEnum):
    """A person or a judge."""

    PERSON = "person"
    JUDGE = "judge"


class VerdictFields(SQLModel):
    """The part of a judgement that a rater decides."""

    value: str | None = Field(
        default=None, max_length=200, description="The verdict; None unless status is ok"
    )
    status: Status = Field(default=Status.OK, sa_type=String)
    rationale: Text = Field(default="")
    quote: Text = Field(default="", description="Evidence quoted from the report")
    quote_start: int | None = Field(
        default=None, ge=0, description="First character of the quote in the report"
    )
    quote_end: int | None = Field(default=None, ge=0)
    note: Text = Field(default="")
    flags: str = Field(
        default="", description="Marks separated by spaces: flagged, quote_missing, injection …"
    )
    cause: Text = Field(default="", description="In words, why there is no value")


class JudgementFields(VerdictFields):
    """Rater and subject of a judgement. A unit is named by protocol, response and the id inside the artifact."""

    protocol: str = Field(max_length=80)
    item_id: str = Field(foreign_key="item.id", ondelete="RESTRICT")
    response_id: str = Field(foreign_key="response.id", ondelete="RESTRICT")
    artifact_id: str = Field(default="", description="The artifact the unit belongs to")
    unit_id: str = Field(max_length=80)
    rater_kind: RaterKind = Field(sa_type=String)
    rater_id: str = Field(description="A person's id or a judge's")
    trial: int = Field(default=1, ge=1)
    run_id: str | None = Field(default=None, index=True)
    call_id: str | None = Field(default=None, description="The journalled call it was read from")
    seconds: float | None = Field(default=None, ge=0, description="Active time a person spent on it")
    at: datetime


class InformedKind(StrEnum):
    """Neither ever enters a figure of blind labels."""

    REVIEW = "review"
    RULING = "ruling"


class InformedFields(SQLModel):
    """An informed label's fields; `label_of` is the author of the label ruled on, empty for a review."""

    kind: InformedKind = Field(sa_type=String)
    protocol: str = Field(max_length=80)
    item_id: str = Field(index=True, foreign_key="item.id", ondelete="RESTRICT")
    response_id: str = Field(foreign_key="response.id", ondelete="RESTRICT")
    unit_id: str = Field(max_length=80)
    judge_id: str = Field(foreign_key="judge.id", ondelete="RESTRICT")
    judge_value: str = Field(max_length=200, description="The verdict that was shown")
    label_of: str = Field(default="", max_length=36)
    label_value: str = Field(default="", max_length=200)
    said: str = Field(max_length=40)
    reason: str = Field(default="", max_length=80, description="A fault of the judge's")
    note: Text = Field(default="", max_length=20_000)
    by: str = Field(max_length=36)
    at: datetime


class SetFields(SQLModel):
    """A set's name, the protocol it is labelled under, and when its labels were locked."""

    name: Text = Field(min_length=1, max_length=120)
    protocol: str = Field(max_length=80)
    by: str = Field(default="", max_length=36)
    at: datetime
    locked_at: datetime | None = None


class OpeningFields(SQLModel):
    """One look at the test part of a set: by whom, at which judges, with which labels."""

    set_id: str = Field(index=True, foreign_key="validation_set.id", ondelete="RESTRICT")
    judges: str = Field(default="[]", description="JSON: the names of the judges that were shown")
    labels_sha256: str = Field(default="", max_length=64)
    by: str = Field(default="", max_length=36)
    at: datetime


class AttackTestFields(SQLModel):
    """A test of a judge: which attacks, on which of its verdicts; `run_id` is the run that asks."""

    judge_id: str = Field(index=True, foreign_key="judge.id", ondelete="RESTRICT")
    run_id: str = Field(foreign_key="run.id", ondelete="RESTRICT")
    protocol: str = Field(max_length=80)
    by: str = Field(default="", max_length=36)
    at: datetime


class AttackCopyFields(SQLModel):
    """A copy of a report under attack. It is no response of the project, and never becomes one."""

    test_id: str = Field(index=True, foreign_key="attack_test.id", ondelete="RESTRICT")
    response_id: str = Field(foreign_key="response.id", ondelete="RESTRICT")
    attack: str = Field(max_length=80)
    variant: str = Field(max_length=80)
    text_sha256: str = Field(max_length=64, description="The hash of the report that the pieces cut up")
    pieces: Text = Field(description="JSON: from where to where of the report, or words that were put in")
    status: Status = Field(
        default=Status.OK, sa_type=String, description="Whether a model that was to write it did"
    )
    cause: Text = Field(default="", description="In words, why it did not")


class AttackVerdictFields(VerdictFields):
    """A judge's verdict on a copy, and `before`, its own verdict on the report. Never a judgement."""

    test_id: str = Field(index=True, foreign_key="attack_test.id", ondelete="RESTRICT")
    copy_id: str = Field(foreign_key="attack_copy.id", ondelete="RESTRICT")
    item_id: str = Field(foreign_key="item.id", ondelete="RESTRICT")
    unit_id: str = Field(max_length=80)
    before: str = Field(max_length=200)
    asked: str = Field(default="", description="JSON: the units in the order asked, where several were")
    call_id: str | None = None
    at: datetime


# All tasks of a project compete with one another.
POOL = "tasks"
# A showing that is planned but not asked yet; no status of a judgement means that.
NOT_ASKED = "not_asked"


class ContestFields(SQLModel):
    """One showing of a pair to a rater: the first task before the second."""

    pool: str = Field(default=POOL, max_length=80)
    round: int = Field(ge=1)
    first: str = Field(max_length=80, description="The task shown first, by its unit's id")
    second: str = Field(max_length=80)
    rater_kind: RaterKind = Field(sa_type=String)
    rater: str = Field(
        max_length=200, description="A judge's id or a person's, or the name of a judge elsewhere"
    )
    value: str | None = Field(default=None, max_length=20, description="first or second; None unless it came")
    confidence: float | None = Field(default=None, description="In the better one, from .5 to 1")
    status: str = Field(default=NOT_ASKED, max_length=40)
    cause: Text = Field(default="", description="In words, why there is no value")
    rationale: Text = Field(default="")
    flags: str = Field(default="")
    run_id: str | None = None
    call_id: str | None = None
    seconds: float | None = None
    at: datetime
