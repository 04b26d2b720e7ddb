"""Contests of tasks: which of two is better, with what confidence, in which round and by whom."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import fsum
from typing import Literal

from annotator.domain.common import Refusal, derived_id, grouped
from annotator.domain.stored import POOL, Status

Choice = Literal["first", "second", "tie"]
FIRST: Choice = "first"
SECOND: Choice = "second"
TIE: Choice = "tie"


class PairOutcome(StrEnum):
    """The outcome of both orders for a response against another."""

    WIN = "win"
    LOSS = "loss"
    TIE = "tie"
    INCONSISTENT = "inconsistent"
    ERROR = "error"


_OUTCOMES = {1.0: PairOutcome.WIN, 0.5: PairOutcome.TIE, 0.0: PairOutcome.LOSS}


def credit(value: str | None, own: str) -> float | None:
    """The credit that one order's verdict gives the report at the position `own`, ½ for a tie; None if it is missing.

    ValueError for anything but first, second, tie.
    """
    if value not in (FIRST, SECOND, TIE, None):
        raise ValueError(f"a comparison's verdict is first, second or tie, not {value!r}")
    return None if value is None else 0.5 if value == TIE else float(value == own)


def outcome(shown_first: str | None, shown_second: str | None) -> PairOutcome:
    """The outcome of a response's verdicts in both orders: shown first, and shown second.

    The same verdict in both orders is the outcome; different ones are inconsistent; a missing one (None) is an error.
    """
    one, two = credit(shown_first, FIRST), credit(shown_second, SECOND)
    if one is None or two is None:
        return PairOutcome.ERROR
    return _OUTCOMES[one] if one == two else PairOutcome.INCONSISTENT


def may_win(shown_first: str | None, shown_second: str | None) -> bool:
    """Whether a response has won, or still can once the missing verdicts come."""
    return {credit(shown_first, FIRST), credit(shown_second, SECOND)} <= {1.0, None}


def preferred(shown_first: str | None, shown_second: str | None) -> Choice | None:
    """The preferred report from the view of one response: by the verdicts with it first, and with it second.

    FIRST is that response, SECOND the other. None if there is no verdict in either order; one order alone counts.
    """
    known = {credit(shown_first, FIRST), credit(shown_second, SECOND)} - {None}
    if not known:
        return None
    return FIRST if known == {1.0} else SECOND if known == {0.0} else TIE


SCORES_DISAGREE = "scores_disagree"
# The confidence, in five steps.
STEPS = (0.5, 0.6, 0.7, 0.8, 0.95)
LEAST, MOST = 0.5, 1.0


def showing_id(rater: str, round_: int, first: str, second: str) -> str:
    """The id of a showing, the same wherever it is imported."""
    return derived_id("contest", POOL, rater, round_, first, second)


@dataclass(frozen=True, slots=True)
class Showing:
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
        return self.status == Status.OK

    @property
    def of_first(self) -> float:
        sure = self.confidence or 0.0
        return sure if self.value == FIRST else 1 - sure


@dataclass(frozen=True, slots=True)
class Meeting:
    """A pair in a round, in the order of their ids; `value` is the first's share, None while a showing is missing."""

    round: int
    first: str
    second: str
    value: float | None
    showings: tuple[Showing, ...]

    @property
    def outcome(self) -> float | None:
        """The winner, whatever the confidence: 1 the first, 0 the second, ½ if the orders or a tie leave it open."""
        if self.value is None:
            return None
        won = [
            showing.of_first if showing.first == self.first else 1 - showing.of_first
            for showing in self.showings
        ]
        balance = sum((got > LEAST) - (got < LEAST) for got in won)
        return LEAST + ((balance > 0) - (balance < 0)) / 2


def meetings(showings: Iterable[Showing]) -> list[Meeting]:
    """The pairs of each round; the value is the mean of both orders, C = (C_ab + 1 − C_ba) / 2."""
    met = grouped(
        ((one.round, min(one.first, one.second), max(one.first, one.second)), one) for one in showings
    )
    return [
        Meeting(round_, low, high, _value(low, met[round_, low, high]), tuple(met[round_, low, high]))
        for round_, low, high in sorted(met)
    ]


def _value(low: str, showings: list[Showing]) -> float | None:
    if not all(showing.came for showing in showings):
        return None
    return fsum(
        showing.of_first if showing.first == low else 1 - showing.of_first for showing in showings
    ) / len(showings)


def checked_confidence(value: float) -> float:
    """A confidence from .5 to 1; Refusal for any other: below .5, it would reward the loser."""
    if not LEAST <= value <= MOST:
        raise Refusal(
            f"A confidence of {value:g} in the better task is not between 0.5 and 1.",
            "Below 0.5 the other task would be the better one.",
        )
    return value


def by_pair(meetings: Iterable[Meeting]) -> Mapping[tuple[str, str], float]:
    """The mean value of the first of each pair, over the complete meetings."""
    values_of = grouped(((one.first, one.second), one.value) for one in meetings if one.value is not None)
    return {pair: fsum(values) / len(values) for pair, values in values_of.items()}
