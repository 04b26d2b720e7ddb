"""Judgements: one rater's value on one unit, or the cause of its absence."""

from datetime import datetime
from enum import StrEnum

from pydantic import ConfigDict
from sqlmodel import Field, SQLModel, String

from annotator.domain.texts.canonical import Text


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


# What leaves nothing to be asked: the judgement came, or another of the same case decided first.
SETTLED = (Status.OK, Status.NOT_NEEDED)


class RaterKind(StrEnum):
    """A person or a judge."""

    PERSON = "person"
    JUDGE = "judge"


YES = "yes"
NO = "no"


def said_yes(value: str | None) -> bool | None:
    """Whether a verdict is yes; None where it is missing, ValueError where it is neither yes nor no."""
    if value not in (YES, NO, None):
        raise ValueError(f"a verdict is yes or no, not {value!r}")
    return None if value is None else value == YES


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
    """Who judged what. A unit is named by protocol, response and the id inside the artifact."""

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


class Verdict(VerdictFields):
    """A verdict on its way from a rater to the store."""

    model_config = ConfigDict(frozen=True)  # type: ignore[assignment]


class Judgement(JudgementFields):
    """A judgement as plain data, outside the database."""

    model_config = ConfigDict(frozen=True)  # type: ignore[assignment]
    id: str
