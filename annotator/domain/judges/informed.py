"""Informed labels: reviews of a judge's verdict, and rulings on a verdict and a person's label."""

from datetime import datetime
from enum import StrEnum

from pydantic import ConfigDict
from sqlmodel import Field, SQLModel, String

from annotator.domain.texts.canonical import Text


class InformedKind(StrEnum):
    """Neither ever enters a figure of blind labels."""

    REVIEW = "review"
    RULING = "ruling"


class Review(StrEnum):
    """What an expert says of a judge's verdict, in the order of the keys 1, 2, 3."""

    AGREE = "agree"
    DISAGREE = "disagree"
    UNSURE = "unsure"


class InformedRuling(StrEnum):
    """Who is wrong where a judge and a person differ, in the order of the keys 1, 2, 3."""

    JUDGE_WRONG = "judge wrong"
    PERSON_WRONG = "person wrong"
    UNCLEAR = "criterion unclear"


class Fault(StrEnum):
    """Why a judge's verdict is not accepted."""

    MISSED = "missed what the report says"
    INVENTED = "saw what the report does not say"
    QUOTE = "the quote does not bear it out"
    CRITERION = "misread the criterion"
    STRICT = "too strict"
    LENIENT = "too lenient"
    OTHER = "other"


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


class Informed(InformedFields):
    """An informed label as plain data, outside the database."""

    model_config = ConfigDict(frozen=True)  # type: ignore[assignment]
    id: str
