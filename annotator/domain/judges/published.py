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
class OtherRule:
    """Another published way to read a judge's replies; no score goes by it unless it is chosen.

    `read` gives the value of a reply, None standing for a call that brought none; `failed` says in words what that
    counts as.
    """

    citation: str
    read: Callable[[str | None], str]
    failed: str
