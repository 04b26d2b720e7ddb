"""Assignments: one person asked to do one stage of one item; people, guidelines, and returned work."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field as Value

from annotator.domain.common import FrozenRecord, Text
from annotator.domain.kinds.kind import Role, Stage, stage_of
from annotator.domain.stored import AssignmentFields, GuidelineFields, PersonFields, Purpose, Stored

__all__ = ["Purpose", "Role", "Stage", "stage_of"]


class Assignment(Stored, AssignmentFields):
    """An assignment as plain data, outside the database."""


class Person(Stored, PersonFields):
    """A person as plain data, outside the database."""

    def has(self, role: Role) -> bool:
        return role.value in self.roles.split()


# The version of the fields that each kind asks for; it rises whenever a kind gains or changes a field.
FORM = "1"


class Guideline(Stored, GuidelineFields):
    """A guideline as plain data, outside the database."""


# The prefix of the settings that hold an annotator's received digests of a consensus.
RECEIVED = "digest:"


class ParcelOutcome(StrEnum):
    """The relation of a returned package, or one piece of work in it, to this project."""

    NEW = "new"
    NEWER = "newer"
    DUPLICATE = "duplicate"
    CONFLICT = "conflicting"
    LATE = "late"
    FOREIGN = "foreign"
    DOUBTFUL = "doubtful"
    OTHER_KEY = "other key"
    DAMAGED = "damaged"


# Outcomes whose work waits in the tray for the coordinator's decision.
TRAYED = (ParcelOutcome.CONFLICT, ParcelOutcome.LATE, ParcelOutcome.FOREIGN, ParcelOutcome.DOUBTFUL)
# Outcomes of packages that are rejected whole.
REFUSED = (ParcelOutcome.OTHER_KEY, ParcelOutcome.DAMAGED)


class Signed(StrEnum):
    """The signer of a returned package."""

    KNOWN = "signed with the person's key"
    FIRST = "signed with a key seen for the first time"
    OTHER = "signed with another key than before"
    NOBODY = "not signed by a person"


class TrayState(StrEnum):
    """The coordinator's decision about a piece of work in the tray."""

    WAITING = "waiting"
    ACCEPTED = "accepted"
    SET_ASIDE = "set aside"


def numbered(stage: Stage | None) -> str:
    """The name of a stage's numbered pieces: those of an adjudication are versions of its consensus."""
    return "version" if stage is Stage.ADJUDICATION else "revision"


class ReturnedPiece(FrozenRecord):
    """One piece of returned work: a sealed revision, a dispute or a repeat, and its relation to this project."""

    outcome: ParcelOutcome
    item_key: str = ""
    stage: Stage | None = None
    revision: int = 0
    words: Text = Value(default="", description="In one sentence, what it is and why it goes where it goes")


class Arrival(FrozenRecord, extra="ignore"):
    """A returned package as the inbox shows it, before or after it was imported.

    Extra fields are ignored: older projects store here the versions of the program that the tasks asked for.
    """

    file: str
    outcome: ParcelOutcome
    person_id: str = ""
    person_name: str = ""
    receipt: str = ""
    pieces: tuple[ReturnedPiece, ...] = ()
    reason: Text = Value(default="", description="Why a damaged or foreign package was not taken in")
    signed: Signed | None = Value(default=None, description="None where nobody's key could be asked for")
    key: str = Value(default="", description="The public key that signed it, in hexadecimal")
    words: str = Value(default="", description="The six words of that key")
    at: datetime | None = Value(default=None, description="When it was taken in; None before")
    program: str = Value(
        default="", description="The versions of the program it was made with, the last one last"
    )


class TrayEntry(FrozenRecord):
    """A piece of work set aside, with its content, until the coordinator decides."""

    id: str
    reason: ParcelOutcome
    person_id: str
    item_id: str = ""
    stage: Stage | None = None
    revision: int = 0
    content: str = Value(description="Canonical JSON of the piece as it came")
    sha256: str
    state: TrayState = TrayState.WAITING
    at: datetime
