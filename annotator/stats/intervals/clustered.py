"""Bootstrap intervals of figures over clusters: sums are resampled, each figure computed from them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.domain.texts.estimate import Estimate, enough, few
from annotator.stats.intervals.coding import Codes
from annotator.stats.intervals.intervals import LEVEL
from annotator.stats.intervals.resampling import RESAMPLES, SEED, Floats, chunk_rows, counts, exactly_summable
from annotator.stats.intervals.tails import percentile_bounds, remarks

# Sums (draws × columns) to values (draws), NaN where a draw leaves the figure undefined.
Figure = Callable[[Floats], Floats]

# A binomial count takes about as long as this many draws of a cluster.
DRAWS_PER_BINOMIAL = 20


@dataclass(frozen=True, slots=True)
class ResamplingPlan:
    """The number of resamples, the seed, and the confidence level."""

    resamples: int = RESAMPLES
    seed: int = SEED
    level: float = LEVEL


@dataclass(frozen=True, slots=True)
class ClusterTally:
    """Additive counts: the distinct rows (rows × columns), sorted, and how many clusters have each.

    Sorted, because then neither the order of units nor that of clusters moves a draw. `what` names a cluster.
    """

    rows: Floats
    times: NDArray[np.int64]
    what: str = "units"

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return int(self.times.sum())

    @property
    def key(self) -> tuple[bytes, bytes]:
        """What puts two tallies into one order."""
        return self.rows.tobytes(), self.times.tobytes()


def tallied(rows: Floats, clusters: Codes | None) -> ClusterTally:
    """The tally of units' rows (units × columns), added up within clusters when these are given."""
    if clusters is None:
        return distinct(rows, np.ones(len(rows), dtype=np.int64))
    # Sorted first: a sum of fractions depends on their order.
    order = np.lexsort(rows.T[::-1])
    present, codes = np.unique(clusters[order], return_inverse=True)
    sums = [np.bincount(codes, weights=column, minlength=len(present)) for column in rows[order].T]
    return distinct(np.stack(sums, axis=1), np.ones(len(present), dtype=np.int64), "clusters")


def distinct(rows: Floats, times: NDArray[np.int64], what: str = "units") -> ClusterTally:
    """The tally of rows that each stand for some clusters."""
    order = np.lexsort(rows.T[::-1])
    rows = rows[order]
    first = np.ones(len(rows), dtype=bool)
    first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return ClusterTally(rows[first], np.add.reduceat(times[order], np.flatnonzero(first)), what)


@dataclass(frozen=True, slots=True)
class IntervalEstimate:
    """A figure, None where undefined, with its bounds, their method, and warnings."""

    value: float | None
    low: float | None = None
    high: float | None = None
    how: str = ""
    warnings: tuple[str, ...] = ()


def intervals(
    tally: ClusterTally, figures: Sequence[Figure], draws: ResamplingPlan
) -> list[IntervalEstimate]:
    """Each figure with its bootstrap interval over clusters, all of them read off one pass of draws.

    Resamples that leave a figure undefined are left out of its interval and counted among its warnings.
    """
    total = tally.times.astype(np.float64)[None] @ tally.rows
    values = [float(figure(total)[0]) for figure in figures]
    if not enough(tally.clusters) or not draws.resamples:
        alone = () if enough(tally.clusters) else (few(tally.clusters, tally.what),)
        return [
            IntervalEstimate(None) if np.isnan(value) else IntervalEstimate(value, warnings=alone)
            for value in values
        ]
    sums = np.concatenate(list(resampled(tally, draws)))
    return [
        IntervalEstimate(None) if np.isnan(value) else bounded(tally, value, figure(sums), draws)
        for figure, value in zip(figures, values, strict=True)
    ]


def estimate(
    tally: ClusterTally,
    figure: Figure,
    draws: ResamplingPlan,
    method: str,
    n: int,
    notes: list[str],
    missing: int = 0,
) -> Estimate | None:
    """The figure with its bootstrap interval over clusters; None where it is undefined."""
    (found,) = intervals(tally, [figure], draws)
    return None if found.value is None else told(found, method, n, notes, missing)


def told(
    found: IntervalEstimate, method: str, n: int, notes: Sequence[str], missing: int = 0, undefined: str = ""
) -> Estimate:
    """The estimate that says what was found; `undefined` is the reason when there is no value."""
    if found.value is None:
        return Estimate(None, n=n, missing=missing, method=method, note="; ".join([undefined, *notes]))
    note = "; ".join([*notes, *found.warnings])
    return Estimate(found.value, found.low, found.high, n, missing, method=method + found.how, note=note)


def over(top: Floats, bottom: Floats) -> Floats:
    """The ratios, NaN where nothing is to be divided by."""
    ratios = np.full(bottom.shape, np.nan)
    np.divide(top, bottom, out=ratios, where=bottom > 0)
    return ratios


def resampled(tally: ClusterTally, draws: ResamplingPlan) -> Iterator[Floats]:
    """Chunks (draws × columns) of the columns' sums over resamples of the clusters."""
    if len(tally.rows) * DRAWS_PER_BINOMIAL < tally.clusters:
        return (drawn @ tally.rows for drawn in _multinomials(tally, draws))
    grid = exactly_summable(np.repeat(tally.rows, tally.times, axis=0))
    return (drawn @ grid for drawn in counts(len(grid), draws.resamples, draws.seed))


def _multinomials(tally: ClusterTally, draws: ResamplingPlan) -> Iterator[Floats]:
    """Chunks (draws × rows) of how often each distinct row was drawn, without drawing cluster by cluster."""
    rng = np.random.Generator(np.random.SFC64(draws.seed))
    shares = tally.times / tally.clusters
    for start in range(0, draws.resamples, rows := chunk_rows(len(shares))):
        size = min(rows, draws.resamples - start)
        yield rng.multinomial(tally.clusters, shares, size=size).astype(np.float64)


def bounded(tally: ClusterTally, value: float, drawn: Floats, draws: ResamplingPlan) -> IntervalEstimate:
    """A defined value with the bounds that its draws give, and what a reader must know of them."""
    low, high = percentile_bounds(drawn, draws.level)
    how = (
        f"; {draws.level:.0%} percentile bootstrap over {tally.clusters} {tally.what}, "
        f"{draws.resamples:,} resamples, seed {draws.seed}"
    )
    warnings = [*filter(None, [few(tally.clusters, tally.what)]), *remarks(drawn)]
    return IntervalEstimate(value, low, high, how, tuple(warnings))
