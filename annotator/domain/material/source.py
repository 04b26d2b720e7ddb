"""Sources: the paper, transcript or page that gold is written from."""

from enum import StrEnum

from pydantic import ConfigDict
from sqlmodel import Field, SQLModel, String
from sqlmodel import text as in_sql

from annotator.domain.texts.canonical import Text


class SourceFormat(StrEnum):
    """How the source's content is to be shown."""

    MARKDOWN = "markdown"
    PLAIN = "plain"
    PDF = "pdf"


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
        sa_column_kwargs={"server_default": in_sql("''")},
        description="Of a text that a model drafted: which model, who confirmed it, and when; empty for any other",
    )


class Source(SourceFields):
    """A source as plain data, outside the database."""

    model_config = ConfigDict(frozen=True)  # type: ignore[assignment]
    id: str
