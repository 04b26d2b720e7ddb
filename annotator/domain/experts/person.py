"""People: a stable id, a display name, and the roles they may take."""

from enum import StrEnum

from pydantic import ConfigDict
from sqlmodel import Field, SQLModel

from annotator.domain.texts.canonical import Text


class Role(StrEnum):
    """What a person may do in a project."""

    ANNOTATOR = "annotator"
    ADJUDICATOR = "adjudicator"
    COORDINATOR = "coordinator"


class PersonFields(SQLModel):
    """A person of the project. The id decides who they are; the name is only shown."""

    name: Text = Field(min_length=1, max_length=200, description="The name shown in the window")
    alias: Text = Field(min_length=1, max_length=60, description="The pseudonym used in every export")
    roles: str = Field(default="annotator", description="Roles, separated by spaces, in alphabetical order")
    active: bool = Field(default=True, description="False once the person has left the project")


class Person(PersonFields):
    """A person as plain data, outside the database."""

    model_config = ConfigDict(frozen=True)  # type: ignore[assignment]
    id: str

    def has(self, role: Role) -> bool:
        """Whether the person holds the role."""
        return role.value in self.roles.split()
