"""Intervals of figures over clusters: each figure is a function of sums, its variance comes from the sums without
each cluster.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import fsum, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.domain.texts.estimate import NO_WIDTH, SHARE, Estimate, enough, few
from annotator.stats.intervals.coding import Codes, Floats, Values, group_codes, left_out, numbers
from annotator.stats.intervals.student import (
    LEVEL,
    UNBOUNDED,
    Bounds,
    bounds_of,
    interval_name,
    range_of_difference,
)

# From sums (rows × columns) to values (rows), NaN if the figure is undefined.
Figure = Callable[[Floats], Floats]
# Values no further apart are the same: the rest is rounding.
ROUNDING = 1e-12
ONE_CLUSTER = "undefined without one of the clusters, so that it has no interval"


@dataclass(frozen=True, slots=True)
class ClusterTally:
    """Additive counts: the distinct rows (rows × columns), sorted, and the number of clusters with each.

    Sorted, so that a figure depends neither on the order of units nor on that of clusters. `what` names a cluster.
    """

    rows: Floats
    times: NDArray[np.int64]
    what: str = "units"

    @property
    def clusters(self) -> int:
        return int(self.times.sum())


def tallied(rows: Floats, clusters: Codes | None) -> ClusterTally:
    """The tally of units' rows (units × columns), added up within clusters if these are given."""
    if not len(rows):
        return ClusterTally(rows, np.zeros(0, dtype=np.int64))
    if clusters is None:
        return distinct(rows, np.ones(len(rows), dtype=np.int64))
    # Sorted first: a sum of fractions depends on their order.
    order = np.lexsort(rows.T[::-1])
    present, codes = np.unique(clusters[order], return_inverse=True)
    sums = [np.bincount(codes, weights=column, minlength=len(present)) for column in rows[order].T]
    return distinct(np.stack(sums, axis=1), np.ones(len(present), dtype=np.int64), "clusters")


def distinct(rows: Floats, times: NDArray[np.int64], what: str = "units") -> ClusterTally:
    """The tally of rows that each stand for `times` clusters."""
    order = np.lexsort(rows.T[::-1])
    rows = rows[order]
    first = np.ones(len(rows), dtype=bool)
    first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return ClusterTally(rows[first], np.add.reduceat(times[order], np.flatnonzero(first)), what)


@dataclass(frozen=True, slots=True)
class Statistic:
    """A figure of sums, its bounds, and how much each row has of the classes that the figure needs (rows × classes).

    Specificity needs negative units, κ units of two classes: each rests on the clusters that have any of the rarest,
    five at least, and its t has one degree of freedom less than these.
    """

    of: Figure
    within: Bounds = UNBOUNDED
    rests_on: Callable[[Floats], Floats] | None = None
    units: float = inf
    """For a share, its number of units: the effective sample size if clusters do not differ."""

    def at(self, start: int, stop: int | None = None) -> "Statistic":
        """The same figure of sums whose columns `start` to `stop` are its own."""

        def cut(of: Figure) -> Figure:
            return lambda sums: of(sums[:, start:stop])

        return replace(self, of=cut(self.of), rests_on=self.rests_on and cut(self.rests_on))


@dataclass(frozen=True, slots=True)
class IntervalEstimate:
    """A figure, None if undefined, with its bounds, their method, warnings, variance and the number of clusters
    behind it.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    how: str = ""
    warnings: tuple[str, ...] = ()
    spread: float = 0.0
    clusters: int = 0


def intervals(
    tally: ClusterTally, statistics: Sequence[Statistic], level: float = LEVEL
) -> list[IntervalEstimate]:
    """Each figure with the interval of `bounds_of` from its jackknife variance over clusters (Efron & Stein 1981).

    All are undefined if there is no cluster.
    """
    if not tally.clusters:
        return [IntervalEstimate(None)] * len(statistics)
    total = tally.times.astype(np.float64) @ tally.rows
    without = total - tally.rows
    return [_interval(tally, total, without, statistic, level) for statistic in statistics]


def _interval(
    tally: ClusterTally, total: Floats, without: Floats, statistic: Statistic, level: float
) -> IntervalEstimate:
    value = float(statistic.of(total[None])[0])
    if np.isnan(value):
        return IntervalEstimate(None)
    clusters, what = tally.clusters, tally.what
    bearing = clusters
    if statistic.rests_on is not None:
        bearing = int((tally.times @ (statistic.rests_on(tally.rows) > 0)).min())
    warnings = [few(bearing, what)] if few(bearing, what) else []
    if warnings and bearing < clusters:
        warnings.insert(0, f"{bearing:,} of {clusters:,} {what} have any of the rarest class that it needs")
    if not enough(bearing):
        return IntervalEstimate(value, warnings=tuple(warnings))
    left = statistic.of(without)
    if np.isnan(left).any():
        return IntervalEstimate(value, warnings=(*warnings, ONE_CLUSTER))
    spread = jackknifed(left, tally.times)
    most = inf if spread else statistic.units
    low, high = bounds_of(value, spread, bearing, statistic.within, level, most)
    if not spread:
        alike = f"so {NO_WIDTH}" if low == high else "so that each counts as one unit"
        warnings.append(f"no {what.removesuffix('s')} differs, {alike}")
    how = f"; {interval_name(statistic.within, level)}, jackknife over {clusters:,} {what}"
    return IntervalEstimate(value, low, high, how, tuple(warnings), spread, bearing)


def jackknifed(left: Floats, times: NDArray[np.int64] | None = None) -> float:
    """The jackknife variance of a figure from its values with each cluster left out; `times` counts the clusters of
    each.
    """
    if np.ptp(left) <= ROUNDING * max(1.0, float(np.abs(left).max())):
        return 0.0
    often = np.ones(len(left)) if times is None else times.astype(np.float64)
    many = float(often.sum())
    return float(often @ (left - often @ left / many) ** 2) * (many - 1) / many


def estimate(
    tally: ClusterTally,
    statistic: Statistic,
    method: str,
    n: int,
    notes: Sequence[str],
    missing: int = 0,
    undefined: str = "",
    *,
    value_notes: Sequence[str] = (),
) -> Estimate:
    """The figure with its interval over clusters; arguments as in `to_estimate`."""
    (result,) = intervals(tally, [statistic])
    return to_estimate(result, method, n, notes, missing, undefined, value_notes=value_notes)


def to_estimate(
    estimate: IntervalEstimate,
    method: str,
    n: int,
    notes: Sequence[str],
    missing: int = 0,
    undefined: str = "",
    *,
    value_notes: Sequence[str] = (),
) -> Estimate:
    """The estimate with its notes: if it has a value, `value_notes` come first; otherwise `undefined` gives the
    reason.
    """
    if estimate.value is None:
        return Estimate(None, n=n, missing=missing, method=method, note="; ".join([undefined, *notes]))
    note = "; ".join([*value_notes, *notes, *estimate.warnings])
    return Estimate(
        estimate.value, estimate.low, estimate.high, n, missing, method=method + estimate.how, note=note
    )


def over(top: Floats, bottom: Floats) -> Floats:
    """The ratios, NaN if the denominator is not positive."""
    ratios = np.full(bottom.shape, np.nan)
    np.divide(top, bottom, out=ratios, where=bottom > 0)
    return ratios


def rates(tops: Sequence[float], bottoms: Sequence[float], counts: Floats) -> Floats:
    """For each selection (row of `counts`) the sum of `tops` over that of `bottoms`; NaN if that is 0.

    `counts` says how often each selection includes each owner (column); `tops` and `bottoms` are what an owner adds.
    """
    return over(counts @ np.asarray(tops, dtype=np.float64), counts @ np.asarray(bottoms, dtype=np.float64))


def geometric_mean(values: Sequence[Any]) -> Any:
    """The n-th root of a product of numbers, or of arrays; 0 if a factor is 0, NaN if one is negative."""
    grid = np.asarray(values, dtype=np.float64)
    means = np.where((grid < 0).any(axis=0), np.nan, np.abs(np.prod(grid, axis=0)) ** (1 / len(grid)))
    return means if means.ndim else float(means)


NOTHING = "nothing was counted"
DRAWS = 10_000


def cluster_mean(
    values: Values, clusters: Values, within: Bounds = UNBOUNDED, *, name: str = "mean"
) -> Estimate:
    """The mean of numbers by unit, which lie `within`, with its interval over clusters.

    None or NaN is missing; such units are left out and counted. ValueError for words, infinities or a unit without
    cluster.
    """
    grid = numbers([values])[0]
    given = ~np.isnan(grid)
    groups = group_codes(clusters, len(grid))[given]
    rows = np.stack([grid[given], np.ones(int(given.sum()))], axis=1)
    missing = int((~given).sum())
    notes = left_out(missing, len(grid), "nothing is known of them")
    mean = Statistic(_mean_of(0), within, units=len(rows) if within == SHARE else inf)
    return estimate(tallied(rows, groups), mean, name, len(rows), notes, missing, NOTHING)


def clustered_wilson(holds: Values, clusters: Values) -> Estimate:
    """A share of units with its interval over clusters; truth values by unit, None or NaN if missing.

    Wilson's for the effective number of independent units (Korn & Graubard 1998; Dean & Pagano 2015). ValueError as
    in `cluster_mean`, and for values other than truth values.
    """
    grid = numbers([holds])[0]
    if not np.isin(grid[~np.isnan(grid)], SHARE).all():
        raise ValueError("a share is of units that are or are not so")
    return cluster_mean(grid, clusters, SHARE, name="share")


def cluster_gap(values: Values, inside: Values, clusters: Values, within: Bounds = UNBOUNDED) -> Estimate:
    """The mean over the units that are `inside` less that over the others, with its interval over clusters.

    Undefined if one of the two groups is empty; units of which either is missing (None or NaN) are left out and
    counted. ValueError as in `cluster_mean`, or if `inside` holds other than truth values.
    """
    grid, side = numbers([values, inside])
    given = ~np.isnan(grid) & ~np.isnan(side)
    if not np.isin(side[given], (0.0, 1.0)).all():
        raise ValueError("a unit is inside or it is not")
    groups = group_codes(clusters, len(grid))[given]
    share, known = side[given], grid[given]
    rows = np.stack([known * share, share, known * (1 - share), 1 - share], axis=1)
    missing = int((~given).sum())
    notes = left_out(missing, len(grid), "nothing is known of them")
    reason = "one of the two groups is empty" if len(rows) else NOTHING
    one, other = _mean_of(0), _mean_of(2)
    gap = Statistic(
        lambda sums: one(sums) - other(sums), range_of_difference(within), lambda sums: sums[:, [1, 3]]
    )
    return estimate(tallied(rows, groups), gap, "difference of two means", len(rows), notes, missing, reason)


def percentile_bounds(values: Sequence[float]) -> Bounds:
    """The percentile bootstrap interval (Efron 1979) of the mean of one value per item, as papers print it.

    With few items it covers the true mean less often than stated; `mean_interval` does not.
    """
    weights = np.random.default_rng(0).multinomial(len(values), [1 / len(values)] * len(values), DRAWS)
    low, high = np.quantile(weights @ np.asarray(values) / len(values), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _mean_of(column: int) -> Figure:
    return lambda sums: over(sums[:, column], sums[:, column + 1])


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Each p adjusted by Holm (1979): below α while the family-wise error is below α; None stays None.

    A None was not tested and does not count. ValueError unless the others are probabilities.
    """
    tested = _ranked(ps)
    raised = ((len(tested) - place) * p for place, (_, p) in enumerate(tested))
    return _placed(len(ps), [i for i, _ in tested], list(accumulate(raised, max)))


def benjamini_yekutieli(ps: Sequence[float | None]) -> list[float | None]:
    """Each p adjusted by Benjamini & Yekutieli (2001, theorem 1.3): the false discovery rate under any dependence.

    None and errors as in `holm`.
    """
    tested = _ranked(ps)
    factor = fsum(1 / k for k in range(1, len(tested) + 1)) * len(tested)
    raised = [factor / place * p for place, (_, p) in enumerate(tested, 1)]
    return _placed(len(ps), [i for i, _ in tested], list(accumulate(raised[::-1], min))[::-1])


def _ranked(ps: Sequence[float | None]) -> list[tuple[int, float]]:
    if not all(p is None or 0 <= p <= 1 for p in ps):
        raise ValueError("a p-value is a probability")
    return sorted(((i, p) for i, p in enumerate(ps) if p is not None), key=lambda pair: pair[1])


def _placed(size: int, places: Sequence[int], raised: Sequence[float]) -> list[float | None]:
    adjusted: list[float | None] = [None] * size
    for place, p in zip(places, raised, strict=True):
        adjusted[place] = min(1.0, p)
    return adjusted
