"""What is published beside a protocol: agreement to measure judges against, and another rule of reading replies."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Aim:
    """A published figure of agreement, by the name it has on Validate; `place` is where the paper prints it.

    It is of a judge with people, or of people with one another where no `judge` is named.
    """

    figure: str
    value: float
    place: str
    judge: str = ""

    @property
    def whose(self) -> str:
        """Between whom it is, in words."""
        return f"{self.judge} with people" if self.judge else "people with one another"


@dataclass(frozen=True, slots=True)
class ScoreAim:
    """Published correlations of a metric's automatic scores with people's, and where the paper prints them."""

    metric: str
    spearman: float
    pearson: float
    kendall: float
    place: str


@dataclass(frozen=True, slots=True)
class RuleReading:
    """What a rule makes of a reply: the value, why, and the word that decided it.

    `at` is where the deciding letters stand in the reply.
    """

    value: str
    how: str
    shown: str = ""
    at: int | None = None


@dataclass(frozen=True, slots=True)
class OtherRule:
    """Another published way to read a judge's replies; it stands beside the protocol's own, and no score goes by it.

    `read` is given None for a call that brought no reply; `failed` says in words what that counts as. `plain_text` is
    set where the rule was made for replies in plain text, and reads JSON as it stands.
    """

    citation: str
    read: Callable[[str | None], RuleReading]
    failed: str
    plain_text: bool = False
