"""Changes: one action on one subject, with the state before and after."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any


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
