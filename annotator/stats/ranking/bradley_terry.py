"""Bradley–Terry strengths of wins, losses and halves by Newton's method, and what is known of them.

P(i beats j) = 1 / (1 + e^(θj − θi)). The unit is the pair: its matches are one mean outcome s, which adds
w · (s·log P(i beats j) + (1 − s)·log P(j beats i)). How sure somebody said to be of a match plays no part.
A weak normal prior keeps those finite who always win, or are not tied to the others by any match.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from annotator.stats.ranking.elo import SCALE, START, Floats, Matches

# One point of Elo in units of θ, and the prior: strengths spread by 1 200 points.
POINT = float(np.log(10.0)) / SCALE
PRIOR = 1.0 / (1_200.0 * POINT) ** 2
DRAWS = 1_000
SEED = 20_261_122
# The error of “certain” over all tasks of a contest, and what a 95 % interval reaches in standard errors.
ERROR = 0.05
_REACH = NormalDist().inv_cdf(0.975)
# Of a whole fit, and to which share a draw is solved.
EXACT, ROUGHLY = 1e-9, 0.02
# The least variance of a match in both orders, as a share of that in one: it tells at most as much as two matches.
_LEAST_SHARE = 0.5
_MOST_STEPS, _MOST_TURNS = 60, 400


@dataclass(frozen=True, slots=True)
class Strengths:
    """Strengths θ, and the pairs that they rest on: each with its mean outcome, its weight, and for how many
    independent matches it counts."""

    theta: Floats
    pairs: Matches
    weight: Floats
    counts: Floats

    @property
    def matches(self) -> Floats:
        """How many independent matches each has."""
        players, pairs = len(self.theta), self.pairs
        found: Floats = np.zeros(players)
        found += np.bincount(pairs.first, self.counts, players) + np.bincount(
            pairs.second, self.counts, players
        )
        return found


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """The 95 % interval of each strength in points, how often each was among the top k, and who certainly is."""

    low: Floats
    high: Floats
    in_top: Floats
    certain: NDArray[np.bool_]


def points(strengths: Floats) -> Floats:
    """Strengths on the scale of Elo ratings."""
    found: Floats = START + strengths / POINT
    return found


def fitted(players: int, matches: Matches) -> Strengths:
    """The strengths with the highest posterior; those without a match have 0.

    Matches of one pair count as one as far as they come out alike; a match that its two orders leave open varies
    less than one that is won, since s(1 − s) is taken off p(1 − p).
    """
    pairs, times, within, open_ = _by_pair(players, matches)
    fit = _Fit(players, pairs)
    _, spread = fit.expected(fit.solved(np.ones(len(pairs))))
    share = max(_LEAST_SHARE, 1.0 - _ratio(open_, float(times @ spread)))
    alike = 1.0 - min(1.0, _ratio(within, share * float((times - 1.0) @ spread)))
    counts = times / (1.0 + (times - 1.0) * alike)
    weight = counts / share
    return Strengths(fit.solved(weight), pairs, weight, counts)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _by_pair(players: int, matches: Matches) -> tuple[Matches, Floats, float, float]:
    """Each pair once with its mean outcome and how often it met; Σ (s − mean)² within pairs, and Σ s(1 − s)."""
    turned = matches.first > matches.second
    won = (np.sign(matches.value - 0.5) * np.where(turned, -1.0, 1.0) + 1.0) / 2.0
    low, high = np.minimum(matches.first, matches.second), np.maximum(matches.first, matches.second)
    known, at, often = np.unique(low * players + high, return_inverse=True, return_counts=True)
    times = often.astype(np.float64)
    mean = np.bincount(at, won, len(known)) / times
    pairs = Matches(known // max(1, players), known % max(1, players), mean)
    return pairs, times, float(np.sum((won - mean[at]) ** 2)), float(won @ (1.0 - won))


def uncertainty(found: Strengths, top: int, draws: int = DRAWS, seed: int = SEED) -> Uncertainty:
    """What is known of strengths beside one another, by draws from their joint normal approximation."""
    players = len(found.theta)
    cut = max(0, players - top)
    drawn, in_top = np.empty((draws, players), dtype=np.float32), np.zeros(players)
    for place, one in enumerate(_drawn(found, draws, seed)):
        drawn[place] = one
        in_top += found.theta + one >= np.partition(found.theta + one, cut)[cut]
    error = drawn.std(axis=0, dtype=np.float64)
    low, high = (points(found.theta + sign * _REACH * error) for sign in (-1.0, 1.0))
    return Uncertainty(low, high, in_top / draws, _certain(found.theta, drawn, error, top))


def _drawn(found: Strengths, draws: int, seed: int) -> Iterator[Floats]:
    """Errors of the strengths, around none on average: the inverse of the information, without ever holding it."""
    rng = np.random.Generator(np.random.SFC64(seed))
    fit = _Fit(len(found.theta), found.pairs)
    _, spread = fit.expected(found.theta)
    curve = found.weight * spread
    for _ in range(draws):
        moved = fit.summed(np.sqrt(curve) * rng.standard_normal(len(curve)))
        moved += np.sqrt(PRIOR) * rng.standard_normal(len(moved))
        error = fit.step(moved, curve, ROUGHLY)
        yield error - error.mean()


def _certain(theta: Floats, drawn: NDArray[np.float32], error: Floats, top: int) -> NDArray[np.bool_]:
    """Who is better than so many that fewer than `top` are left, each by a one-sided test at ERROR / top.

    Whoever is not among the best passes only by beating one of the `top` who are better.
    """
    found = np.zeros(len(theta), dtype=np.bool_)
    limit = NormalDist().inv_cdf(1.0 - ERROR / top)
    for at in np.argsort(-theta)[:top]:
        shared = drawn[:, at] @ drawn / len(drawn)
        apart = np.sqrt(np.maximum(error[at] ** 2 + error**2 - 2.0 * shared, 0.0))
        found[at] = np.sum(theta[at] - theta > limit * apart) >= len(theta) - top
    return found


class _Fit:
    """Matches sorted once by who plays, so that all that is said of a player stands together."""

    def __init__(self, players: int, matches: Matches) -> None:
        self._players, self._first, self._second = players, matches.first, matches.second
        self._value = matches.value

    def expected(self, strengths: Floats) -> tuple[Floats, Floats]:
        """The chance p that the first beats the second, and p(1 − p)."""
        found: Floats = 1.0 / (1.0 + np.exp(strengths[self._second] - strengths[self._first]))
        return found, found * (1.0 - found)

    def solved(self, weight: Floats) -> Floats:
        """Newton's steps from 0, each solved by conjugate gradients."""
        found = np.zeros(self._players)
        for _ in range(_MOST_STEPS):
            chance, spread = self.expected(found)
            slope = self.summed(weight * (self._value - chance)) - PRIOR * found
            step = self.step(slope, weight * spread, 1e-3)
            # Far from the end a whole step may overshoot.
            largest = float(np.max(np.abs(step), initial=0.0))
            found += step if largest <= 4.0 else step * (4.0 / largest)
            if largest <= EXACT:
                break
        return found

    def summed(self, moved: Floats) -> Floats:
        """What each player gets: that of the matches where it stands first, less that where it stands second."""
        found = np.zeros(self._players)
        found += np.bincount(self._first, moved, self._players)
        found -= np.bincount(self._second, moved, self._players)
        return found

    def step(self, slope: Floats, curve: Floats, within: float) -> Floats:
        """The solution of (Laplacian of the curves + prior) · step = slope, to a share `within` of its size."""
        scale = np.full(self._players, PRIOR)
        scale += np.bincount(self._first, curve, self._players)
        scale += np.bincount(self._second, curve, self._players)
        step, left = np.zeros(self._players), slope.copy()
        ahead = left / scale
        way, size = ahead.copy(), float(left @ ahead)
        wanted = size * within**2
        for _ in range(_MOST_TURNS):
            if size <= wanted or size == 0.0:
                break
            bent = self.summed(curve * (way[self._first] - way[self._second])) + PRIOR * way
            far = size / float(way @ bent)
            step += far * way
            left -= far * bent
            ahead = left / scale
            before, size = size, float(left @ ahead)
            way = ahead + (size / before) * way
        return step
