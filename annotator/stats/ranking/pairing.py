"""Pairings: rounds of disjoint pairs from a seed, at random or near the cut."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotator.domain.common import sha256

Pair = tuple[str, str]

# The maximum difference in points of two paired near the cut, and of each from the cut.
NEAR = 40.0


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """Two players of a round, and the points of the first, out of one.

    `outcome` is the result without confidence: 1, 0 or a half; None if `value` is that itself.
    """

    round: int
    first: str
    second: str
    value: float
    outcome: float | None = None


@dataclass(frozen=True, slots=True)
class FurtherPair:
    """The number of open places among the best, and the most informative pair for them; None if no pair is left."""

    open: int
    pair: Pair | None


def permuted(ids: Iterable[str], seed: int, round_: int) -> list[str]:
    """The ids in an order that depends on the seed and the round alone, the same on every system."""
    return sorted(sorted(ids), key=lambda one: sha256(f"{seed}/{round_}/{one}"))


def random_round(ids: Iterable[str], seed: int, round_: int, resting: str = "") -> tuple[list[Pair], str]:
    """Disjoint pairs of all, and the one left over if their number is odd; never the one `resting` in the round
    before.
    """
    order = permuted(ids, seed, round_)
    if len(order) % 2 and len(order) > 1 and order[-1] == resting:
        order[-1], order[-2] = order[-2], order[-1]
    pairs = list(zip(order[::2], order[1::2], strict=False))
    return pairs, order[-1] if len(order) % 2 else ""


def ranked(ratings: Mapping[str, float], then: Mapping[str, float] | None = None) -> list[str]:
    """The ids by rating, then by the other rating, then by id."""
    second = then or {}
    return sorted(ratings, key=lambda one: (-ratings[one], -second.get(one, 0.0), one))


def near_round(
    ratings: Mapping[str, float], top: int, seed: int, round_: int, met: Mapping[Pair, int] | None = None
) -> list[Pair]:
    """Disjoint pairs of those within `NEAR` points of one another and of the cut below the `top` best.

    The cut lies midway between the last that is kept and the first that is not. Those who have `met` (id pairs in
    order) least often are paired first.
    """
    order = ranked(ratings)
    if not 0 < top < len(order):
        return []
    cut = (ratings[order[top - 1]] + ratings[order[top]]) / 2
    close = [one for one in permuted(ratings, seed, round_) if abs(ratings[one] - cut) <= NEAR]
    return _disjoint(close, ratings, met or {})


def _disjoint(close: Sequence[str], ratings: Mapping[str, float], met: Mapping[Pair, int]) -> list[Pair]:
    """Each with the first free one that it has met least and that is no further than `NEAR`."""
    free, pairs = dict.fromkeys(close), []
    while free:
        one = next(iter(free))
        del free[one]
        partner = _partner(one, free, ratings, met)
        if partner is not None:
            del free[partner]
            pairs.append((one, partner))
    return pairs


def _partner(
    one: str, free: Iterable[str], ratings: Mapping[str, float], met: Mapping[Pair, int]
) -> str | None:
    best, fewest = None, 0
    for other in free:
        if abs(ratings[one] - ratings[other]) > NEAR:
            continue
        times = met.get((min(one, other), max(one, other)), 0)
        if best is None or times < fewest:
            best, fewest = other, times
        if times == 0:
            break
    return best
