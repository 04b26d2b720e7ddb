"""Assignments: one person asked to do one stage of one item."""

from datetime import datetime
from enum import StrEnum

from sqlmodel import Field, SQLModel, String

from annotator.domain.kinds.kind import Role, Stage, stage_of
from annotator.domain.material.item import Stored, later_text
from annotator.domain.texts.canonical import Text

__all__ = ["Assignment", "AssignmentFields", "Purpose", "Role", "Stage", "stage_of"]


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


class Assignment(Stored, AssignmentFields):
    """An assignment as plain data, outside the database."""


class PersonFields(SQLModel):
    """A person of the project. The id decides who they are; the name is only shown."""

    name: Text = Field(min_length=1, max_length=200, description="The name shown in the window")
    alias: Text = Field(min_length=1, max_length=60, description="The pseudonym used in every export")
    roles: str = Field(default="annotator", description="Roles, separated by spaces, in alphabetical order")
    active: bool = Field(default=True, description="False once the person has left the project")


class Person(Stored, PersonFields):
    """A person as plain data, outside the database."""

    def has(self, role: Role) -> bool:
        return role.value in self.roles.split()


# The version of the fields that each kind asks for; it goes up whenever a kind gains or changes a field.
FORM = "1"


class GuidelineFields(SQLModel):
    """One version of one stage's guideline; versions are only ever added."""

    stage: Stage = Field(sa_type=String, description="The stage it is for")
    version: int = Field(ge=1)
    text: Text = Field(max_length=200_000, description="Markdown")
    by: str = Field(default="", max_length=36)
    at: datetime


class Guideline(Stored, GuidelineFields):
    """A guideline as plain data, outside the database."""
