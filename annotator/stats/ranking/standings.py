"""Standings: every player's rating, strength and chance to be among the best, and whether more rounds are worth it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotator.domain.texts.estimate import Estimate, enough, few, settled
from annotator.stats.ranking import bradley_terry, elo, pairing
from annotator.stats.ranking.elo import Floats, Matches
from annotator.stats.ranking.pairing import Pair, PlayedMatch

# From which chance on a place among the best is called certain, and which change of them between rounds is none.
CERTAIN, STEADY = 0.9, 0.02


@dataclass(frozen=True, slots=True)
class Standing:
    """A player's place: rating, strength in points with its 95 % interval, chance to be among the best, matches.

    Over fewer matches of its own than an interval takes there is none, as `note` says; over fewer in all, no chance.
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

    @property
    def certain(self) -> bool:
        """Whether it is nearly always among the best, by enough matches of its own."""
        return self.p_top is not None and self.p_top >= CERTAIN and enough(self.matches)


@dataclass(frozen=True, slots=True)
class Ranking:
    """All standings, the best first; `changed` is the share of the best that the last round replaced."""

    rows: tuple[Standing, ...]
    top: int
    rounds: int
    matches: int
    changed: float | None

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
        return "" if enough(self.matches) else few(self.matches, "matches")

    @property
    def elos(self) -> dict[str, float]:
        """The rating of each."""
        return {row.id: row.elo for row in self.rows}


def ranking(
    ids: Iterable[str],
    played: Iterable[PlayedMatch],
    top: int,
    resamples: int = bradley_terry.RESAMPLES,
    seed: int = bradley_terry.SEED,
) -> Ranking:
    """Rank the players by Elo rating, then by strength, then by id. ValueError where one plays twice in a round."""
    names = sorted(ids)
    rounds, together = _rounds(names, played)
    before = elo.rated(len(names), rounds[:-1])
    now = elo.after_round(before, rounds[-1]) if rounds else before
    strengths = bradley_terry.fitted(len(names), together)
    places = bradley_terry.points(strengths)
    again = bradley_terry.resampled(len(names), together, strengths, top, resamples, seed)
    times = np.bincount(np.concatenate((together.first, together.second)), minlength=len(names))
    order = _order(names, now, places)
    rows = tuple(
        _standing(
            names[at],
            rank,
            float(now[at]),
            _strength(places, again, at, int(times[at])),
            _chance(again, together, at),
        )
        for rank, at in enumerate(order, start=1)
    )
    lost = len(set(_order(names, before, places)[:top]) - set(order[:top]))
    changed = lost / max(1, min(top, len(names))) if len(rounds) > 1 else None
    return Ranking(rows, top, len(rounds), len(together), changed)


def _standing(name: str, rank: int, rating: float, strength: Estimate, chance: float | None) -> Standing:
    return Standing(
        name,
        rank,
        rating,
        strength.value or 0.0,
        strength.low,
        strength.high,
        chance,
        strength.n,
        strength.note,
    )


def _strength(places: Floats, again: bradley_terry.Resampled, at: int, own: int) -> Estimate:
    """A player's strength; its interval was drawn over its own matches, of which it takes some."""
    found = Estimate(float(places[at]), float(again.low[at]), float(again.high[at]), n=own)
    return settled(found, own, "matches")


def _chance(again: bradley_terry.Resampled, together: Matches, at: int) -> float | None:
    return float(again.in_top[at]) if enough(len(together)) else None


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


def _rounds(names: Sequence[str], played: Iterable[PlayedMatch]) -> tuple[list[Matches], Matches]:
    """The matches of each round in their order, and all together."""
    at = {name: place for place, name in enumerate(names)}
    by_round: dict[int, list[tuple[int, int, float]]] = {}
    for one in played:
        by_round.setdefault(one.round, []).append((at[one.first], at[one.second], one.value))
    rounds = [Matches.of(by_round[number]) for number in sorted(by_round)]
    return rounds, Matches.of(row for number in sorted(by_round) for row in by_round[number])
