"""Confidence intervals of a mean over items, or of a share."""

from math import fsum, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from annotator.domain.texts.estimate import Estimate, settled
from annotator.stats.intervals.resampling import RESAMPLES, SEED, Floats, resampled_sums
from annotator.stats.intervals.tails import remarks

LEVEL = 0.95


def bootstrap_means(
    values: ArrayLike, resamples: int = RESAMPLES, seed: int = SEED, level: float = LEVEL
) -> list[Estimate]:
    """The mean of each system with its percentile bootstrap interval over items (ResearcherBench, Table 3).

    `values` is items × systems; NaN marks an item on which a system has no defined score: it is left out of
    that system's mean and counted in the note. A system's estimate does not depend on the other systems.
    """
    grid = _table(values)
    means = resampled_means(grid, resamples, seed)
    method = (
        f"mean over items; {level:.0%} percentile bootstrap over items, {resamples:,} resamples, seed {seed}"
    )
    bounds = _percentiles(means, [(1 - level) / 2, (1 + level) / 2])
    return [
        _estimate(column, drawn, tails, method)
        for column, drawn, tails in zip(grid.T, means.T, bounds, strict=True)
    ]


def resampled_means(values: ArrayLike, resamples: int = RESAMPLES, seed: int = SEED) -> Floats:
    """The means (resamples × systems) of `values` (items × systems, NaN for undefined) over shared resamples.

    Differences and ranks of systems come from its rows. NaN where a resample drew no defined item.
    """
    grid = _table(values)
    if not len(grid):
        return np.full((resamples, grid.shape[1]), np.nan)
    defined = ~np.isnan(grid)
    partial = np.flatnonzero(~defined.all(axis=0))
    columns = np.hstack([np.where(defined, grid, 0.0), defined[:, partial].astype(np.float64)])
    means, drawn = np.hsplit(resampled_sums(columns, resamples, seed), [grid.shape[1]])
    size = np.full_like(means, len(grid))
    size[:, partial] = drawn
    with np.errstate(invalid="ignore"):
        return means / size


def wilson(successes: int, n: int, level: float = LEVEL) -> Estimate:
    """The share `successes` / `n` with Wilson's score interval (Wilson 1927); ValueError unless 0 ≤ successes ≤ n."""
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}")
    method = f"share; {level:.0%} Wilson score interval"
    if n == 0:
        return Estimate(None, method=method, note="nothing was counted")
    low, high = wilson_bounds(successes / n, n, NormalDist().inv_cdf(0.5 + level / 2))
    return settled(Estimate(successes / n, low, high, n=n, method=method), n, "units")


def wilson_bounds(p: float, n: float, z: float) -> tuple[float, float]:
    """The bounds of Wilson's score interval for a share p of n units, z standard errors either side."""
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # At the ends the bound is 0 or 1 exactly; floating point misses it by a hair.
    return 0.0 if p == 0 else centre - half, 1.0 if p == 1 else centre + half


def _table(values: ArrayLike) -> Floats:
    """The values as items × systems; ValueError for another shape or an infinite value."""
    grid = np.asarray(values, dtype=np.float64)
    if grid.ndim != 2:
        raise ValueError("values must be items × systems")
    if np.isinf(grid).any():
        raise ValueError("a value is infinite")
    return grid


def _percentiles(means: Floats, tails: list[float]) -> Floats:
    """The tails (systems × 2) of each system's resampled means, over those that are defined."""
    if not len(means):
        return np.full((means.shape[1], 2), np.nan)
    bounds = np.quantile(means, tails, axis=0).T
    for system in np.flatnonzero(np.isnan(means).any(axis=0)):
        drawn = means[~np.isnan(means[:, system]), system]
        bounds[system] = np.quantile(drawn, tails) if len(drawn) else np.nan
    return bounds


def _estimate(column: Floats, drawn: Floats, bounds: Floats, method: str) -> Estimate:
    scores = column[~np.isnan(column)].tolist()
    n = len(scores)
    notes = (
        [f"{len(column) - n:,} of {len(column):,} items left out: no defined score"]
        if n < len(column)
        else []
    )
    if n == 0:
        return Estimate(None, method=method, note="; ".join(["no item has a defined score", *notes]))
    low, high = bounds.tolist()
    found = settled(Estimate(fsum(scores) / n, low, high, n=n, method=method, note="; ".join(notes)), n)
    return found if found.low is None else found.remarked(*remarks(drawn))
