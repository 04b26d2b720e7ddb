"""Cited pages: the text found at an address on a day, or why it could not be read."""

from datetime import date, datetime
from enum import StrEnum

from pydantic import ConfigDict
from sqlmodel import Field, SQLModel, String

from annotator.domain.texts.canonical import Text


class PageState(StrEnum):
    """Whether a cited page could be read, and if not, why."""

    OK = "ok"
    PAYWALL = "paywall"
    FORBIDDEN = "forbidden"
    DEAD = "dead"
    NOT_TEXT = "not_text"
    TOO_LONG = "too_long"


class PageFields(SQLModel):
    """A snapshot of what an address showed. An unreadable page supports nothing and contradicts nothing."""

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
