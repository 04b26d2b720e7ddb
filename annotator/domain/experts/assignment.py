"""Assignments: one person asked to do one stage of one item."""

from datetime import datetime
from enum import StrEnum

from pydantic import ConfigDict
from sqlmodel import Field, SQLModel, String

from annotator.domain.kinds.artifact import Stage, stage_of
from annotator.domain.material.fields import later_text

__all__ = ["Assignment", "AssignmentFields", "Purpose", "Stage", "stage_of"]


class Purpose(StrEnum):
    """Why something was handed out."""

    WORK = "work"
    PILOT = "pilot"
    """A calibration item that everyone does, with feedback."""
    REPEAT = "repeat"
    """A person's own item served again without saying so, to see how far they agree with themselves."""
    REVIEW = "review"
    """Another's draft, refined openly; nobody is blind."""


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


class Assignment(AssignmentFields):
    """An assignment as plain data, outside the database."""

    model_config = ConfigDict(frozen=True)  # type: ignore[assignment]
    id: str
