"""Means over units in clusters (items), shares of them, and the difference of the means of two groups."""

from collections.abc import Sequence
from math import inf

import numpy as np

from annotator.domain.texts.estimate import SHARE, Estimate
from annotator.stats.intervals.clustered import Figure, Statistic, intervals, over, tallied, told
from annotator.stats.intervals.coding import Values, group_codes, left_out, numbers
from annotator.stats.intervals.student import LEVEL, UNBOUNDED, Bounds, range_of_difference

NOTHING = "nothing was counted"
DRAWS = 10_000


def cluster_mean(
    values: Values, clusters: Values, within: Bounds = UNBOUNDED, *, name: str = "mean"
) -> Estimate:
    """The mean of numbers by unit, which lie `within`, with its interval over clusters.

    None or NaN for missing, which is left out and counted. ValueError for words, infinities or a unit without cluster.
    """
    grid = numbers([values])[0]
    given = ~np.isnan(grid)
    groups = group_codes(clusters, len(grid))[given]
    rows = np.stack([grid[given], np.ones(int(given.sum()))], axis=1)
    missing = int((~given).sum())
    notes = left_out(missing, len(grid), "nothing is known of them")
    if not len(rows):
        return Estimate(None, missing=missing, method=name, note="; ".join([NOTHING, *notes]))
    (found,) = intervals(
        tallied(rows, groups), [Statistic(_mean_of(0), within, units=len(rows) if within == SHARE else inf)]
    )
    return told(found, name, len(rows), notes, missing)


def clustered_wilson(holds: Values, clusters: Values) -> Estimate:
    """A share of units with its interval over clusters; truth values by unit, None or NaN where missing.

    Wilson's for as many independent units as those of the clusters are worth (Korn & Graubard 1998; Dean & Pagano
    2015). ValueError as in `cluster_mean`, and for what is no truth value.
    """
    grid = numbers([holds])[0]
    if not np.isin(grid[~np.isnan(grid)], SHARE).all():
        raise ValueError("a share is of units that are or are not so")
    return cluster_mean(grid, clusters, SHARE, name="share")


def cluster_gap(values: Values, inside: Values, clusters: Values, within: Bounds = UNBOUNDED) -> Estimate:
    """The mean over the units that are `inside` less that over the others, with its interval over clusters.

    Undefined where one of the two groups is empty; units of which either is missing (None or NaN) are left out and
    counted. ValueError as in `cluster_mean`, or where `inside` is no truth value.
    """
    grid, side = numbers([values, inside])
    given = ~np.isnan(grid) & ~np.isnan(side)
    if not np.isin(side[given], (0.0, 1.0)).all():
        raise ValueError("a unit is inside or it is not")
    groups = group_codes(clusters, len(grid))[given]
    share, told_of = side[given], grid[given]
    rows = np.stack([told_of * share, share, told_of * (1 - share), 1 - share], axis=1)
    missing = int((~given).sum())
    notes = left_out(missing, len(grid), "nothing is known of them")
    method = "difference of two means"
    if not share.any() or share.all():
        reason = NOTHING if not len(rows) else "one of the two groups is empty"
        return Estimate(None, n=len(rows), missing=missing, method=method, note="; ".join([reason, *notes]))
    one, other = _mean_of(0), _mean_of(2)
    gap = Statistic(
        lambda sums: one(sums) - other(sums), range_of_difference(within), lambda sums: sums[:, [1, 3]]
    )
    (found,) = intervals(tallied(rows, groups), [gap])
    return told(found, method, len(rows), notes, missing)


def percentile_bounds(values: Sequence[float]) -> Bounds:
    """The percentile bootstrap interval (Efron 1979) of the mean of one value of each item, as papers print it.

    Of few items it holds the true mean less often than it says; `mean_interval` does not.
    """
    drawn = np.random.default_rng(0).multinomial(len(values), [1 / len(values)] * len(values), DRAWS)
    low, high = np.quantile(drawn @ np.asarray(values) / len(values), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _mean_of(column: int) -> Figure:
    return lambda sums: over(sums[:, column], sums[:, column + 1])
