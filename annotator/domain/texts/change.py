"""Changes, and the ids and moments that they carry."""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

NAMESPACE = uuid.UUID("9d6d5c0e-57a5-5b7e-9b0a-0f6f3e0d6a11")


def new_id() -> str:
    return str(uuid.uuid4())


def derived_id(*parts: str | int) -> str:
    """The same UUID for the same parts, so that importing a thing twice finds it again."""
    return str(uuid.uuid5(NAMESPACE, "\x1f".join(str(part) for part in parts)))


def now() -> datetime:
    """The present moment, with its zone (UTC): naive times are refused by the store."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Change:
    """The result of every action, as stored in the audit and announced to every view.

    `kind` is the noun of the subject ("artifact", "judgement", "item" …), `subject` its id; `before` and
    `after` are JSON trees, enough to put the subject back.
    """

    kind: str
    subject: str
    verb: str
    before: Any = None
    after: Any = None
    by: str = ""
    at: datetime | None = None
    seq: int = 0

    @property
    def undoable(self) -> bool:
        """Whether there is a before-image to go back to."""
        return self.before is not None
