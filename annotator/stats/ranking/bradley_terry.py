"""Bradley–Terry strengths of soft outcomes by Newton's method, and their bootstrap over matches.

P(i beats j) = 1 / (1 + e^(θj − θi)); a match adds s·log P(i beats j) + (1 − s)·log P(j beats i), 0 ≤ s ≤ 1.
A weak normal prior keeps those finite who always win, or are not tied to the others by any match.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from annotator.stats.ranking.elo import SCALE, START, Floats, Matches

# One point of Elo in units of θ, and the prior: strengths spread by 400 points.
POINT = float(np.log(10.0)) / SCALE
PRIOR = 1.0 / (400.0 * POINT) ** 2
RESAMPLES = 1_000
SEED = 20_261_122
# Of a whole fit, and of a resample, which begins where the fit ended.
EXACT, ROUGHLY = 1e-9, 2e-2
_MOST_STEPS, _MOST_TURNS = 60, 400


@dataclass(frozen=True, slots=True)
class Resampled:
    """The 95 % interval of each strength in points, and how often each was among the top k."""

    low: Floats
    high: Floats
    in_top: Floats
    resamples: int


def points(strengths: Floats) -> Floats:
    """Strengths on the scale of Elo ratings."""
    found: Floats = START + strengths / POINT
    return found


def fitted(players: int, matches: Matches) -> Floats:
    """The strengths θ with the highest posterior; those without a match have 0."""
    return _Fit(players, matches).solved(np.zeros(players), np.ones(len(matches)), EXACT, _MOST_STEPS, 1e-3)


def resampled(
    players: int, matches: Matches, strengths: Floats, top: int, resamples: int = RESAMPLES, seed: int = SEED
) -> Resampled:
    """Fits of so many resamples of the matches, each from the strengths of all; those tied at the cut share a place."""
    drawn = np.empty((resamples, players), dtype=np.float32)
    in_top = np.zeros(players)
    for place, found in enumerate(_refitted(players, matches, strengths, resamples, seed)):
        drawn[place] = found
        in_top += _shares(found, top)
    low, high = np.empty(players), np.empty(players)
    # Stretch by stretch, since quantiles take a second copy.
    for start in range(0, players, 1_000):
        ends = np.quantile(drawn[:, start : start + 1_000], (0.025, 0.975), axis=0)
        low[start : start + 1_000], high[start : start + 1_000] = ends
    return Resampled(points(low), points(high), in_top / resamples, resamples)


def _refitted(
    players: int, matches: Matches, strengths: Floats, resamples: int, seed: int
) -> Iterator[Floats]:
    rng = np.random.Generator(np.random.SFC64(seed))
    many = len(matches)
    for _ in range(resamples):
        often = np.bincount(rng.integers(0, many, size=many), minlength=many) if many else np.zeros(0)
        # More than a third were not drawn, and take no part.
        drawn = np.flatnonzero(often)
        fit = _Fit(players, Matches(matches.first[drawn], matches.second[drawn], matches.value[drawn]))
        yield fit.refined(strengths, often[drawn].astype(np.float64))


def _shares(strengths: Floats, top: int) -> Floats:
    """1 for those above the cut, 0 for those below it; those exactly on it share the places that are left."""
    if top >= len(strengths):
        return np.ones(len(strengths))
    cut = np.partition(strengths, len(strengths) - top)[len(strengths) - top]
    above, on = strengths > cut, strengths == cut
    found: Floats = above + on * ((top - above.sum()) / on.sum())
    return found


class _Fit:
    """Matches sorted once by who plays, so that all that is said of a player stands together."""

    def __init__(self, players: int, matches: Matches) -> None:
        self._players, self._first, self._second = players, matches.first, matches.second
        self._value = matches.value

    def solved(self, start: Floats, often: Floats, within: float, most: int, close: float) -> Floats:
        """Newton's steps, each solved by conjugate gradients to a share `close` of what it has to move."""
        found = start.copy()
        for _ in range(most):
            said = 1.0 / (1.0 + np.exp(found[self._second] - found[self._first]))
            slope = self._summed(often * (self._value - said)) - PRIOR * found
            step = self._step(slope, often * said * (1.0 - said), close)
            # Far from the end a whole step may overshoot.
            largest = float(np.max(np.abs(step), initial=0.0))
            found += step if largest <= 4.0 else step * (4.0 / largest)
            if largest <= within:
                break
        return found

    def refined(self, start: Floats, often: Floats) -> Floats:
        """Two steps from where the fit of all ends: an error of some hundredths of what a resample differs by."""
        return self.solved(start, often, ROUGHLY, 2, 0.2)

    def _summed(self, moved: Floats) -> Floats:
        """What each player gets: that of the matches where it stands first, less that where it stands second."""
        found = np.zeros(self._players)
        found += np.bincount(self._first, moved, self._players)
        found -= np.bincount(self._second, moved, self._players)
        return found

    def _step(self, slope: Floats, curve: Floats, within: float) -> Floats:
        """The solution of (Laplacian of the curves + prior) · step = slope."""
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
            bent = self._summed(curve * (way[self._first] - way[self._second])) + PRIOR * way
            far = size / float(way @ bent)
            step += far * way
            left -= far * bent
            ahead = left / scale
            before, size = size, float(left @ ahead)
            way = ahead + (size / before) * way
        return step
