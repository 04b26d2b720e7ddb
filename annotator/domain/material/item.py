"""Items: a task, question or paper that a system must answer."""

import json
import re
from calendar import monthrange
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict
from sqlmodel import JSON, Field, SQLModel, String, text as in_sql

from annotator.domain.kinds.kind import Kind
from annotator.domain.texts.canonical import Text

_KNOWN = re.compile(r"(?:\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?)?")


class Stored(SQLModel):
    """An entity of the project as plain data, outside the database."""

    model_config = ConfigDict(frozen=True)  # type: ignore[assignment]
    id: str


def later_text(longest: int | None, description: str) -> Any:
    """A text field that records did not have at first: it is empty in those of older projects."""
    empty = {"server_default": in_sql("''")}
    return Field(default="", max_length=longest, description=description, sa_column_kwargs=empty)


def _known_day(text: str) -> str:
    if not _KNOWN.fullmatch(text):
        raise ValueError("should be a day, a month or a year, such as 2024-05")
    return text


# A day, a month or a year; empty if unknown.
KnownDay = Annotated[str, AfterValidator(_known_day)]


# The text before the last number, the number, and the text after it.
_NUMBERED = re.compile(r"(.*?)(\d*)(\D*)", re.DOTALL)
# The dataset under which transcripts and tasks of seminars are imported.
SEMINARS = "seminars"
QUESTION_TYPES = ("Technical Details", "Literature Review", "Open Consulting")


class ItemRole(StrEnum):
    """The role of an item in a benchmark."""

    QUESTION, PAPER, SEMINAR, TASK = "question", "paper", "seminar", "task"


@dataclass(frozen=True, slots=True)
class WhatFollows:
    """The consequences of a role: whether systems answer such an item (only then are there reports to label, judge
    and count), and which kinds of document experts write for it.
    """

    answered: bool
    kinds: frozenset[Kind]


_OF_SEMINARS = frozenset({Kind.INSPIRATIONS, Kind.TASKS})
FOLLOWS: Mapping[ItemRole, WhatFollows] = {
    # Without a transcript or a task, a question cannot be told from a seminar in preparation.
    ItemRole.QUESTION: WhatFollows(answered=True, kinds=frozenset(Kind)),
    ItemRole.PAPER: WhatFollows(answered=True, kinds=frozenset(Kind) - _OF_SEMINARS),
    ItemRole.SEMINAR: WhatFollows(answered=False, kinds=_OF_SEMINARS),
    ItemRole.TASK: WhatFollows(answered=True, kinds=frozenset(Kind) - _OF_SEMINARS),
}


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


class Item(Stored, ItemFields):
    """An item as plain data, outside the database."""


def free_key(like: str, taken: Collection[str]) -> str:
    """A free key: the wanted one, or one like it whose last number is raised until it is free.

    A key without a number gets one.
    """
    key = like
    while key in taken:
        head, number, tail = _NUMBERED.fullmatch(key).groups()  # type: ignore[union-attr]
        key = f"{head}{int(number) + 1:0{len(number)}}{tail}" if number else f"{like[:110]} 2"
    return key


# The ending of the title of a source in LaTeX, from which the exemplar was made.
LATEX = "(LaTeX)"
# The title of an exemplar that is read as a source.
EXEMPLAR_TITLE = "Exemplar"


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


class Source(Stored, SourceFields):
    """A source as plain data, outside the database."""


# How a system was asked: alone, with gold given for one step, or with a gold plan.
END_TO_END, ISOLATED, INJECTION = MODES = ("end-to-end", "isolated", "gold-plan injection")
# A text written by people that systems are to match; no system made it.
EXEMPLAR = "exemplar"
# A model's continuation of the first half of a task: no report, and counted only by the figures that ask for it.
CONTINUATION = "continuation"
KNOWN_MODES = (*MODES, EXEMPLAR, CONTINUATION)
# The usual names of a system's group; a project may use any other.
GROUPS = ("deep research", "LLM + search", "LLM", "open-source LLM")


def spelled(mode: str) -> str:
    """A known mode, whatever its case and the joining of its words; any other as it is."""

    def folded(words: str) -> str:
        return re.sub(r"[\W_]+", "", words).casefold()

    return next((known for known in KNOWN_MODES if folded(known) == folded(mode)), mode.strip())


class SystemFields(SQLModel):
    """A system under test. Raters never see its name while they label."""

    name: Text = Field(min_length=1, max_length=200)
    notes: Text = Field(default="", max_length=20_000)
    group: Text = later_text(120, "Kind of system, e.g. deep research")
    footnote: Text = later_text(2000, "What tables say of it below them")


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


class Response(Stored, ResponseFields):
    """A response as plain data, outside the database."""


@dataclass(frozen=True, slots=True)
class CatalogueWork:
    """A work as described by a catalogue; `published` is a day, a month or a year, empty if unknown."""

    identifier: str
    title: str
    abstract: str = ""
    published: str = ""
    authors: str = ""

    @property
    def year(self) -> int | None:
        return int(self.published[:4]) if self.published[:4].isdecimal() else None

    @property
    def key(self) -> str:
        """The key of the work: its identifier in its normal form, or its whole title."""
        from annotator.domain.texts.identifier import normal_title, work_named

        named = work_named(self.identifier)
        return str(named) if named else f"title {normal_title(self.title)}"

    def is_older(self, day: date) -> bool:
        """Whether it certainly appeared before a day; never if its date is unknown."""
        last = self._last_day()
        return last is not None and last < day

    def _last_day(self) -> date | None:
        try:
            year, month, day = (*map(int, self.published.split("-")), 0, 0)[:3]
            month = month or 12
            return date(year, month, day or monthrange(year, month)[1])
        except ValueError:
            return None


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


class Page(PageFields):
    """A page as plain data, outside the database."""

    model_config = ConfigDict(frozen=True)  # type: ignore[assignment]
    sha256: str = ""


IMPORT, SET = "import", "set:"


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


def by_set(name: str) -> str:
    return f"{SET}{name}"
