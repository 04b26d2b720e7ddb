"""Means over units in clusters (items), and the difference of the means of two groups."""

import numpy as np

from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.clustered import Figure, ResamplingPlan, intervals, over, tallied, told
from annotator.stats.intervals.coding import Values, group_codes, left_out, numbers
from annotator.stats.intervals.resampling import RESAMPLES, SEED, Floats

NOTHING = "nothing was counted"


def cluster_mean(values: Values, clusters: Values, resamples: int = RESAMPLES, seed: int = SEED) -> Estimate:
    """The mean of numbers by unit with its percentile bootstrap interval over clusters.

    None or NaN for missing, which is left out and counted. ValueError for words, infinities or a unit without cluster.
    """
    grid = numbers([values])[0]
    given = ~np.isnan(grid)
    groups = group_codes(clusters, len(grid))[given]
    rows = np.stack([grid[given], np.ones(int(given.sum()))], axis=1)
    notes = left_out(int((~given).sum()), len(grid), "nothing is known of them")
    method, missing = "mean", int((~given).sum())
    if not len(rows):
        return Estimate(None, missing=missing, method=method, note="; ".join([NOTHING, *notes]))
    (found,) = intervals(tallied(rows, groups), [_mean_of(0)], ResamplingPlan(resamples, seed))
    return told(found, method, len(rows), notes, missing)


def cluster_gap(
    values: Values, inside: Values, clusters: Values, resamples: int = RESAMPLES, seed: int = SEED
) -> Estimate:
    """The mean over the units that are `inside` less that over the others, with its interval over clusters.

    Every draw takes the same clusters for both. Undefined where one of the two groups is empty; units of which either
    is missing (None or NaN) are left out and counted. ValueError as in `cluster_mean`, or where `inside` is no truth
    value.
    """
    grid, side = numbers([values, inside])
    given = ~np.isnan(grid) & ~np.isnan(side)
    if not np.isin(side[given], (0.0, 1.0)).all():
        raise ValueError("a unit is inside or it is not")
    groups = group_codes(clusters, len(grid))[given]
    within, told_of = side[given], grid[given]
    rows = np.stack([told_of * within, within, told_of * (1 - within), 1 - within], axis=1)
    missing = int((~given).sum())
    notes = left_out(missing, len(grid), "nothing is known of them")
    method = "difference of two means"
    if not within.any() or within.all():
        reason = NOTHING if not len(rows) else "one of the two groups is empty"
        return Estimate(None, n=len(rows), missing=missing, method=method, note="; ".join([reason, *notes]))
    one, other = _mean_of(0), _mean_of(2)

    def gap(sums: Floats) -> Floats:
        return one(sums) - other(sums)

    (found,) = intervals(tallied(rows, groups), [gap], ResamplingPlan(resamples, seed))
    return told(found, method, len(rows), notes, missing)


def _mean_of(column: int) -> Figure:
    return lambda sums: over(sums[:, column], sums[:, column + 1])
