"""Contests of tasks: which of two is the better one, with what confidence, in which round and by whom."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import fsum

from sqlmodel import Field, SQLModel, String

from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.judges.pairs import FIRST
from annotator.domain.texts.canonical import Text
from annotator.domain.texts.change import derived_id
from annotator.domain.texts.refusal import Refusal

# All tasks of a project compete with one another.
POOL = "tasks"
# What is planned and was not asked yet; no status of a judgement says so.
NOT_ASKED = "not_asked"
SCORES_DISAGREE = "scores_disagree"
# How sure one may be, in five steps.
STEPS = (0.5, 0.6, 0.7, 0.8, 0.95)
LEAST, MOST = 0.5, 1.0


def showing_id(rater: str, round_: int, first: str, second: str) -> str:
    """The id of a showing, the same wherever it is imported."""
    return derived_id("contest", POOL, rater, round_, first, second)


class ContestFields(SQLModel):
    """One showing of a pair to a rater: the first task before the second."""

    pool: str = Field(default=POOL, max_length=80)
    round: int = Field(ge=1)
    first: str = Field(max_length=80, description="The task shown first, by its unit's id")
    second: str = Field(max_length=80)
    rater_kind: RaterKind = Field(sa_type=String)
    rater: str = Field(
        max_length=200, description="A judge's id or a person's, or the name of a judge elsewhere"
    )
    value: str | None = Field(default=None, max_length=20, description="first or second; None unless it came")
    confidence: float | None = Field(default=None, description="In the better one, from .5 to 1")
    status: str = Field(default=NOT_ASKED, max_length=40)
    cause: Text = Field(default="", description="In words, why there is no value")
    rationale: Text = Field(default="")
    flags: str = Field(default="")
    run_id: str | None = None
    call_id: str | None = None
    seconds: float | None = None
    at: datetime


@dataclass(frozen=True, slots=True)
class Showing:
    """What is known of one showing."""

    round: int
    first: str
    second: str
    value: str | None
    confidence: float | None
    status: str
    cause: str = ""
    flags: str = ""

    @property
    def came(self) -> bool:
        """Whether it was answered."""
        return self.status == Status.OK

    @property
    def of_first(self) -> float:
        """What the first gets of the one point."""
        sure = self.confidence or 0.0
        return sure if self.value == FIRST else 1 - sure


@dataclass(frozen=True, slots=True)
class Meeting:
    """A pair in a round, in the order of their ids; `value` is what the first gets, None while a showing lacks."""

    round: int
    first: str
    second: str
    value: float | None
    showings: tuple[Showing, ...]

    @property
    def outcome(self) -> float | None:
        """Who won, whatever the confidence: 1 the first, 0 the second, ½ where the orders or a tie leave it open."""
        if self.value is None:
            return None
        won = [one.of_first if one.first == self.first else 1 - one.of_first for one in self.showings]
        balance = sum((got > LEAST) - (got < LEAST) for got in won)
        return LEAST + ((balance > 0) - (balance < 0)) / 2


def meetings(showings: Iterable[Showing]) -> list[Meeting]:
    """The pairs of each round; of two orders the mean counts, C = (C_ab + 1 − C_ba) / 2."""
    held: dict[tuple[int, str, str], list[Showing]] = {}
    for one in showings:
        low, high = sorted((one.first, one.second))
        held.setdefault((one.round, low, high), []).append(one)
    return [
        Meeting(round_, low, high, _value(low, found), tuple(found))
        for (round_, low, high), found in sorted(held.items())
    ]


def _value(low: str, showings: list[Showing]) -> float | None:
    if not all(one.came for one in showings):
        return None
    return fsum(one.of_first if one.first == low else 1 - one.of_first for one in showings) / len(showings)


def checked_confidence(value: float) -> float:
    """A confidence from .5 to 1; Refusal names any other: below, it would reward the loser."""
    if not LEAST <= value <= MOST:
        raise Refusal(
            f"A confidence of {value:g} in the better task is not between 0.5 and 1.",
            "Below 0.5 the other task would be the better one.",
        )
    return value


def by_pair(found: Iterable[Meeting]) -> Mapping[tuple[str, str], float]:
    """What the first of each pair got on average, of the meetings that are whole."""
    held: dict[tuple[str, str], list[float]] = {}
    for one in found:
        if one.value is not None:
            held.setdefault((one.first, one.second), []).append(one.value)
    return {pair: fsum(values) / len(values) for pair, values in held.items()}
