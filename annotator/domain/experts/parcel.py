"""Returned work: what came back from an annotator, and the outcome of each piece."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from annotator.domain.experts.assignment import Stage
from annotator.domain.texts.canonical import FrozenRecord, Text

# The settings that hold what an annotator was sent of a consensus begin with it.
RECEIVED = "digest:"


class ParcelOutcome(StrEnum):
    """What a returned package, or one piece of work in it, is to this project."""

    NEW = "new"
    NEWER = "newer"
    DUPLICATE = "duplicate"
    CONFLICT = "conflicting"
    LATE = "late"
    FOREIGN = "foreign"
    DOUBTFUL = "doubtful"
    OTHER_KEY = "other key"
    DAMAGED = "damaged"


# Outcomes whose work waits in the tray until the coordinator says what becomes of it.
TRAYED = (ParcelOutcome.CONFLICT, ParcelOutcome.LATE, ParcelOutcome.FOREIGN, ParcelOutcome.DOUBTFUL)
# Outcomes of packages that are left out whole.
REFUSED = (ParcelOutcome.OTHER_KEY, ParcelOutcome.DAMAGED)


class Signed(StrEnum):
    """By whom a returned package was signed."""

    KNOWN = "signed with the person's key"
    FIRST = "signed with a key seen for the first time"
    OTHER = "signed with another key than before"
    NOBODY = "not signed by a person"


class TrayState(StrEnum):
    """What the coordinator said about a piece of work in the tray."""

    WAITING = "waiting"
    ACCEPTED = "accepted"
    SET_ASIDE = "set aside"


def numbered(stage: Stage | None) -> str:
    """What the pieces of a stage count: an adjudication's are versions of its consensus."""
    return "version" if stage is Stage.ADJUDICATION else "revision"


class ReturnedPiece(FrozenRecord):
    """One piece of returned work: a sealed revision, a dispute or a repeat, and what it is to this project."""

    outcome: ParcelOutcome
    item_key: str = ""
    stage: Stage | None = None
    revision: int = 0
    words: Text = Field(default="", description="In one sentence, what it is and why it goes where it goes")


class Arrival(FrozenRecord, extra="ignore"):
    """A returned package as the inbox shows it, before or after it was imported.

    What is ignored: older projects say here which versions of the program the tasks asked for.
    """

    file: str
    outcome: ParcelOutcome
    person_id: str = ""
    person_name: str = ""
    receipt: str = ""
    pieces: tuple[ReturnedPiece, ...] = ()
    reason: Text = Field(default="", description="Why a damaged or foreign package was not taken in")
    signed: Signed | None = Field(default=None, description="None where nobody's key could be asked for")
    key: str = Field(default="", description="The public key that signed it, in hexadecimal")
    words: str = Field(default="", description="The six words of that key")
    at: datetime | None = Field(default=None, description="When it was taken in; None before")
    program: str = Field(
        default="", description="The versions of the program it was made with, the last one last"
    )


class TrayEntry(FrozenRecord):
    """A piece of work that was kept apart, with its content, until the coordinator decides."""

    id: str
    reason: ParcelOutcome
    person_id: str
    item_id: str = ""
    stage: Stage | None = None
    revision: int = 0
    content: str = Field(description="Canonical JSON of the piece as it came")
    sha256: str
    state: TrayState = TrayState.WAITING
    at: datetime
