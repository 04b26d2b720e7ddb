"""What ADRA says of trust in its scores: they must prefer the report that blinded experts prefer (§5.4)."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from math import isclose
from typing import Literal

from annotator.domain.judges.protocol import Metric, Protocol, Scored, cases_of_pairs
from annotator.domain.judges.scale import PAIR
from annotator.domain.texts.estimate import Estimate

NAME = "adra.preference"
Choice = Literal["first", "second", "tie"]
FIRST: Choice = "first"
SECOND: Choice = "second"
TIE: Choice = "tie"

DEPARTURES = (
    "The paper gives 86.23 % agreement on 100 pairs, which no count of 100 can give, and does not say what becomes of "
    "ties. Here pairs in which the experts or the scores see no difference are counted apart.",
    "The share in which a response is preferred is not in the paper; it says what the preferences were.",
    "An expert who is asked both ways round and does not prefer the same report has no preference.",
)

# What experts are asked: two reports on an item, without names, in an order that is chance.


def preferred(shown_first: str | None, shown_second: str | None) -> Choice | None:
    """Which report an expert prefers, seen from that response: by what was said with it first, and with it second.

    FIRST is that response, SECOND the other. None when nothing was said in either order; one order alone counts.
    ValueError on another value.
    """
    turned: dict[str | None, str] = {FIRST: SECOND, SECOND: FIRST}
    said = [shown_first, turned.get(shown_second, shown_second)]
    if odd := set(said) - {FIRST, SECOND, TIE, None}:
        raise ValueError(f"a preference is first, second or tie, not {odd.pop()!r}")
    known = {value for value in said if value is not None}
    if not known:
        return None
    if len(known) > 1 or TIE in known:
        return TIE
    return FIRST if FIRST in known else SECOND


DEFINITION = """\
`preferred / comparisons`: of the comparisons of this response with the other systems' responses on the item, the share
in which the blinded experts preferred it (ADRA §5.4). A tie prefers neither. The paper gives no such figure; what it
gives is how often its scores agree with the preferences. Undefined where there is no other response, and as long as a
comparison is missing; then the range is given in which it must lie.
"""


def share(scored: Scored, over_valid: bool = False) -> Estimate:
    """Of a response's comparisons, the share in which it was preferred; `n` counts those with a preference or a tie."""
    method = "preferred / comparisons"
    others = scored.material.others
    found = [preferred(scored.values.get(one.id), scored.reverse.get(one.id)) for one in others]
    if not found:
        return Estimate(None, method=method, note="there is no other response to compare with")
    wins, missing = found.count(FIRST), found.count(None)
    judged = len(found) - missing
    notes = [f"{missing} of {len(found)} comparisons are missing"] * bool(missing)
    value = wins / judged if judged and (over_valid or not missing) else None
    notes += ["over the others only"] * (missing > 0 and value is not None)
    return Estimate(
        value,
        n=judged,
        missing=missing,
        floor=wins / len(found),
        ceiling=(wins + missing) / len(found),
        method=method,
        note="; ".join(notes),
    )


PREFERENCE = Protocol(
    name=NAME,
    title="Which of two reports the expert prefers",
    citation="ADRA, §5.4",
    needs=(),
    metrics=(Metric("preference", "Preferred", DEFINITION, share),),
    scale=PAIR,
    cases=partial(cases_of_pairs, NAME),
    paired=True,
    departures=DEPARTURES,
)

# How far a score agrees with them.


@dataclass(frozen=True, slots=True)
class Pair:
    """Two reports on one item: their scores, None for undefined, and which the expert preferred, None for unsaid."""

    first: float | None
    second: float | None
    preferred: Choice | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often the better score is the preferred report, and the pairs that say nothing about it."""

    share: Estimate
    agreed: int
    disagreed: int
    tied_scores: int
    tied_preferences: int
    tied_both: int
    left_out: int


def better(first: float, second: float) -> Choice:
    """Which score is higher; a tie when they differ by rounding only."""
    if isclose(first, second, rel_tol=1e-9, abs_tol=1e-12):
        return TIE
    return FIRST if first > second else SECOND


def agreement(pairs: Iterable[Pair]) -> Agreement:
    """The share of pairs, among those where neither ties, whose better score is the preferred report (Wilson 95 %).

    The interval takes pairs as independent, also those that share a report. Pairs without a preference or without
    both scores are left out and counted. ValueError on another preference.
    """
    from annotator.stats.intervals.intervals import wilson

    outcomes = Counter(_outcome(pair) for pair in pairs)
    agreed, disagreed = outcomes["agreed"], outcomes["disagreed"]
    return Agreement(
        wilson(agreed, agreed + disagreed),
        agreed,
        disagreed,
        outcomes["tied scores"],
        outcomes["tied preferences"],
        outcomes["tied both"],
        outcomes["left out"],
    )


def _outcome(pair: Pair) -> str:
    if pair.preferred not in (FIRST, SECOND, TIE, None):
        raise ValueError(f"a preference is first, second or tie, not {pair.preferred!r}")
    if pair.preferred is None or pair.first is None or pair.second is None:
        return "left out"
    scored = better(pair.first, pair.second)
    if scored == pair.preferred:
        return "tied both" if scored == TIE else "agreed"
    if scored == TIE:
        return "tied scores"
    return "tied preferences" if pair.preferred == TIE else "disagreed"
