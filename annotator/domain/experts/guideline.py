"""Guidelines: the instructions for one stage, kept version by version."""

from datetime import datetime

from pydantic import ConfigDict
from sqlmodel import Field, SQLModel, String

from annotator.domain.experts.assignment import Stage
from annotator.domain.texts.canonical import Text

# The version of the fields that each kind asks for; it goes up whenever a kind gains or changes a field.
FORM = "1"


class GuidelineFields(SQLModel):
    """One version of one stage's guideline; versions are only ever added."""

    stage: Stage = Field(sa_type=String, description="The stage it is for")
    version: int = Field(ge=1)
    text: Text = Field(max_length=200_000, description="Markdown")
    by: str = Field(default="", max_length=36)
    at: datetime


class Guideline(GuidelineFields):
    """A guideline as plain data, outside the database."""

    model_config = ConfigDict(frozen=True)  # type: ignore[assignment]
    id: str
