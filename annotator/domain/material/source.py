"""Sources: the paper, transcript or page that gold is written from."""

from datetime import date
from enum import StrEnum

from pydantic import ConfigDict
from sqlmodel import Field, SQLModel, String
from sqlmodel import text as in_sql

from annotator.domain.material.fields import KnownDay, later_text
from annotator.domain.texts.canonical import Text

# With what the title of a source ends whose words are LaTeX, beside the exemplar that was made of it.
LATEX = "(LaTeX)"
# What an exemplar is called where it is read as a source.
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
    """A source of one item. A PDF's bytes lie apart; `text` then holds its extracted text."""

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


class Source(SourceFields):
    """A source as plain data, outside the database."""

    model_config = ConfigDict(frozen=True)  # type: ignore[assignment]
    id: str
