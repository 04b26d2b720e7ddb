"""Sources: the paper, transcript or page that gold is written from."""

import re
from datetime import date
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, ConfigDict
from sqlmodel import Field, SQLModel, String
from sqlmodel import text as in_sql

from annotator.domain.texts.canonical import Text


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


# A year, a month or a day, as far as it is known.
_PUBLISHED = re.compile(r"(?:\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?)?")


def _a_date(text: str) -> str:
    if not _PUBLISHED.fullmatch(text):
        raise ValueError("should be a day, a month or a year, such as 2024-05")
    return text


PublicationDate = Annotated[Text, AfterValidator(_a_date)]
_EMPTY = {"server_default": in_sql("''")}


class SourceFields(SQLModel):
    """A source of one item. A PDF's bytes lie apart; `text` then holds its extracted text."""

    item_id: str = Field(index=True, foreign_key="item.id", ondelete="RESTRICT")
    title: Text = Field(min_length=1, max_length=1000)
    format: SourceFormat = Field(default=SourceFormat.MARKDOWN, sa_type=String)
    text: Text = Field(default="", description="The source's words")
    identifier: Text = Field(
        default="", max_length=1000, description="DOI, arXiv id or address, when it has one"
    )
    position: int = Field(default=0, ge=0)
    drafted: Text = Field(
        default="",
        max_length=1000,
        sa_column_kwargs=_EMPTY,
        description="Of a text that a model drafted: which model, who confirmed it, and when; empty for any other",
    )
    kind: SourceKind = Field(
        default=SourceKind.UNKNOWN,
        sa_type=String,
        sa_column_kwargs=_EMPTY,
        description="research or review; empty for unknown",
    )
    published: PublicationDate = Field(
        default="",
        max_length=10,
        sa_column_kwargs=_EMPTY,
        description="When it was first published: a day, a month or a year",
    )
    venue: Text = Field(
        default="", max_length=500, sa_column_kwargs=_EMPTY, description="Journal, conference or archive"
    )
    citations: int | None = Field(default=None, ge=0, description="How often it had been cited by then")
    citations_on: date | None = Field(default=None, description="Day on which its citations were counted")
    transcript: Text = Field(
        default="",
        sa_column_kwargs=_EMPTY,
        description="Of a transcript: its speakers, its segments with times and doubts, and its file's hash, as JSON",
    )


class Source(SourceFields):
    """A source as plain data, outside the database."""

    model_config = ConfigDict(frozen=True)  # type: ignore[assignment]
    id: str
