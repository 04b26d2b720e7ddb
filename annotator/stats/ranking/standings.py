"""Standings: every player's rating, strength and chance to be among the best, and whether more rounds are worth it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from annotator.domain.texts.estimate import Estimate, enough, few, settled
from annotator.stats.ranking import bradley_terry, elo, pairing
from annotator.stats.ranking.elo import Floats, Matches
from annotator.stats.ranking.pairing import FurtherPair, Pair, PlayedMatch

# Which change of the best between rounds is none.
STEADY = 0.02
# What a count of independent matches may lack of a whole one by rounding.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Standing:
    """A player's place: rating, strength in points with its 95 % interval, chance to be among the best, matches.

    Over fewer independent matches of its own than an interval takes there is none, as `note` says, and nobody is
    certain to be among the best; over fewer in all, there is no chance.
    """

    id: str
    rank: int
    elo: float
    bradley_terry: float
    low: float | None
    high: float | None
    p_top: float | None
    matches: int
    note: str = ""
    certain: bool = False


@dataclass(frozen=True, slots=True)
class Ranking:
    """All standings, the best first; `changed` is the share of the best that the last round replaced."""

    rows: tuple[Standing, ...]
    top: int
    rounds: int
    matches: int
    changed: float | None
    independent: int

    @property
    def certain(self) -> int:
        """How many of the best are certain to be among them."""
        return sum(row.certain for row in self.rows[: self.top])

    @property
    def converged(self) -> bool:
        """Whether the last round left the best as they were, but for less than two in a hundred."""
        return self.changed is not None and self.changed < STEADY

    @property
    def too_few(self) -> str:
        """Why there is no chance to be among the best; empty where there is."""
        return (
            "" if enough(self.independent) else few(self.independent, _named(self.independent, self.matches))
        )

    @property
    def elos(self) -> dict[str, float]:
        """The rating of each."""
        return {row.id: row.elo for row in self.rows}


def ranking(
    ids: Iterable[str],
    played: Iterable[PlayedMatch],
    top: int,
    draws: int = bradley_terry.DRAWS,
    seed: int = bradley_terry.SEED,
) -> Ranking:
    """Rank the players by Elo rating, then by strength, then by id. ValueError where one plays twice in a round."""
    names = sorted(ids)
    rounds, won = _rounds(names, played)
    before = elo.rated(len(names), rounds[:-1])
    now = elo.after_round(before, rounds[-1]) if rounds else before
    strengths = bradley_terry.fitted(len(names), won)
    places = bradley_terry.points(strengths.theta)
    known = bradley_terry.uncertainty(strengths, top, draws, seed)
    times = np.bincount(np.concatenate((won.first, won.second)), minlength=len(names))
    own, independent = strengths.matches, int(strengths.counts.sum() + ROUNDING)
    order = _order(names, now, places)
    rows = tuple(
        _standing(
            names[at],
            rank,
            float(now[at]),
            Estimate(
                float(places[at]), float(known.low[at]), float(known.high[at]), n=int(own[at] + ROUNDING)
            ),
            float(known.in_top[at]) if enough(independent) else None,
            int(times[at]),
            bool(known.certain[at]),
        )
        for rank, at in enumerate(order, start=1)
    )
    lost = len(set(_order(names, before, places)[:top]) - set(order[:top]))
    changed = lost / max(1, min(top, len(names))) if len(rounds) > 1 else None
    return Ranking(rows, top, len(rounds), len(won), changed, independent)


def _standing(
    name: str, rank: int, rating: float, strength: Estimate, chance: float | None, matches: int, certain: bool
) -> Standing:
    own = strength.n
    found = settled(strength, own, _named(own, matches))
    return Standing(
        name,
        rank,
        rating,
        found.value or 0.0,
        found.low,
        found.high,
        chance,
        matches,
        found.note,
        certain and enough(own),
    )


def _named(independent: int, matches: int) -> str:
    """What is counted: of matches of one pair that come out alike, one."""
    return "matches" if independent == matches else "independent matches"


def _order(names: Sequence[str], first: Floats, second: Floats) -> list[int]:
    """Places by one rating, then by the other, then by name; what differs by rounding is equal."""
    return sorted(
        range(len(names)),
        key=lambda at: (-round(float(first[at]), 6), -round(float(second[at]), 6), names[at]),
    )


def ratings(ids: Sequence[str], played: Iterable[PlayedMatch]) -> dict[str, float]:
    """The Elo ratings alone."""
    names = sorted(ids)
    return dict(zip(names, elo.rated(len(names), _rounds(names, played)[0]).tolist(), strict=True))


def met(played: Iterable[PlayedMatch]) -> Mapping[Pair, int]:
    """How often each two met, by their ids in order."""
    found: dict[Pair, int] = {}
    for one in played:
        pair = min(one.first, one.second), max(one.first, one.second)
        found[pair] = found.get(pair, 0) + 1
    return found


def near(ids: Sequence[str], played: Sequence[PlayedMatch], top: int, seed: int, round_: int) -> list[Pair]:
    """The pairs of another round near the cut."""
    return pairing.near_round(ratings(ids, played), top, seed, round_, met(played))


def further(ids: Sequence[str], played: Sequence[PlayedMatch], top: int, draws: int = 200) -> FurtherPair:
    """Whether another pair may change the order of the `top` best by strength, and which.

    A place is open while the 95 % intervals of who holds it and of the next overlap; who has no interval yet may stand
    anywhere. Of pairs that have not met, overlap, and of which one is among the best, the nearest is chosen.
    """
    rows = sorted(ranking(ids, played, top, draws).rows, key=lambda row: (-row.bradley_terry, row.id))
    known = met(played)
    pairs = (
        (rows[at], rows[at + apart])
        for apart in range(1, len(rows))
        for at in range(min(top, len(rows) - apart))
    )
    open_ = sum(_overlap(*pair) for pair in pairwise(rows[: top + 1]))
    names = ((min(one.id, other.id), max(one.id, other.id)) for one, other in pairs if _overlap(one, other))
    return FurtherPair(open_, next((pair for pair in names if pair not in known), None) if open_ else None)


def _overlap(better: Standing, other: Standing) -> bool:
    return better.low is None or other.high is None or better.low <= other.high


def _rounds(names: Sequence[str], played: Iterable[PlayedMatch]) -> tuple[list[Matches], Matches]:
    """The matches of each round in their order, with confidence; and all together, as they were won."""
    at = {name: place for place, name in enumerate(names)}
    by_round: dict[int, list[tuple[int, int, float]]] = {}
    won = []
    for one in played:
        first, second = at[one.first], at[one.second]
        by_round.setdefault(one.round, []).append((first, second, one.value))
        won.append((first, second, one.value if one.outcome is None else one.outcome))
    return [Matches.of(by_round[number]) for number in sorted(by_round)], Matches.of(won)
