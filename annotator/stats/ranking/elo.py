"""Elo ratings with soft outcomes, as DeepResearch Arena prints them (equations 1 to 3)."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

START, K, SCALE = 1200.0, 32.0, 400.0


@dataclass(frozen=True, slots=True)
class Matches:
    """Matches as arrays: places of both sides, and what the first side got of the one point, between 0 and 1."""

    first: Places
    second: Places
    value: Floats

    @classmethod
    def of(cls, rows: Iterable[tuple[int, int, float]]) -> "Matches":
        """The same from rows."""
        held = list(rows)
        return cls(
            np.array([row[0] for row in held], dtype=np.intp),
            np.array([row[1] for row in held], dtype=np.intp),
            np.array([row[2] for row in held], dtype=np.float64),
        )

    def __len__(self) -> int:
        return len(self.value)


def expected(own: ArrayLike, other: ArrayLike) -> Floats:
    """e = 1 / (1 + 10^((other − own) / 400)), equation 1."""
    apart = np.asarray(other, dtype=np.float64) - np.asarray(own, dtype=np.float64)
    found: Floats = 1.0 / (1.0 + 10.0 ** (apart / SCALE))
    return found


def after_round(ratings: Floats, matches: Matches, k: float = K) -> Floats:
    """The ratings after a round of disjoint pairs, equation 3; all start from the ratings before it.

    ValueError where someone plays twice.
    """
    players = np.concatenate((matches.first, matches.second))
    if len(np.unique(players)) < len(players):
        raise ValueError("in a round nobody plays twice")
    moved = k * (matches.value - expected(ratings[matches.first], ratings[matches.second]))
    found = ratings.copy()
    found[matches.first] += moved
    found[matches.second] -= moved
    return found


def rated(players: int, rounds: Iterable[Matches], k: float = K) -> Floats:
    """The ratings after all rounds, from 1200 each."""
    found = np.full(players, START)
    for matches in rounds:
        found = after_round(found, matches, k)
    return found
