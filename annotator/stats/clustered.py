"""How a figure over clusters gets its interval: what adds up is drawn anew, the figure read off its sums."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.domain.estimate import Estimate
from annotator.stats.coding import Codes
from annotator.stats.intervals import LEVEL
from annotator.stats.resampling import RESAMPLES, SEED, Floats, chunk_rows, counts, exactly_summable

# Sums (draws × columns) to values (draws), NaN where a draw leaves the figure undefined.
Figure = Callable[[Floats], Floats]

# A binomial count takes about as long as this many draws of a cluster.
DRAWS_PER_BINOMIAL = 20
# A percentile interval over fewer clusters is too narrow as a rule (Cameron, Gelbach & Miller 2008, on few clusters).
FEW_CLUSTERS = 10
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Draws:
    """How often, and from which seed, clusters are drawn anew."""

    resamples: int = RESAMPLES
    seed: int = SEED


@dataclass(frozen=True, slots=True)
class Tally:
    """What adds up: the distinct rows (rows × columns), sorted, and how many clusters have each.

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


def tallied(rows: Floats, clusters: Codes | None) -> Tally:
    """The tally of units' rows (units × columns), added up within clusters when these are given."""
    if clusters is None:
        return distinct(rows, np.ones(len(rows), dtype=np.int64))
    # Sorted first: a sum of fractions depends on their order.
    order = np.lexsort(rows.T[::-1])
    present, codes = np.unique(clusters[order], return_inverse=True)
    sums = [np.bincount(codes, weights=column, minlength=len(present)) for column in rows[order].T]
    return distinct(np.stack(sums, axis=1), np.ones(len(present), dtype=np.int64), "clusters")


def distinct(rows: Floats, times: NDArray[np.int64], what: str = "units") -> Tally:
    """The tally of rows that each stand for some clusters."""
    order = np.lexsort(rows.T[::-1])
    rows = rows[order]
    first = np.ones(len(rows), dtype=bool)
    first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return Tally(rows[first], np.add.reduceat(times[order], np.flatnonzero(first)), what)


def estimate(
    tally: Tally, figure: Figure, draws: Draws, method: str, n: int, notes: list[str], missing: int = 0
) -> Estimate | None:
    """The figure with its percentile bootstrap interval over clusters; None where it is undefined.

    Resamples that leave the figure undefined are left out of the interval and counted in the note.
    """
    (value,) = figure(tally.times.astype(np.float64)[None] @ tally.rows).tolist()
    if np.isnan(value):
        return None
    if tally.clusters < 2 or not draws.resamples:
        reason = [f"one {tally.what.removesuffix('s')} gives no interval"] if tally.clusters < 2 else []
        return Estimate(value, n=n, missing=missing, method=method, note="; ".join([*notes, *reason]))
    drawn = np.concatenate([figure(sums) for sums in _resampled(tally, draws)])
    defined = drawn[~np.isnan(drawn)]
    low, high = _tails(defined)
    method += (
        f"; {LEVEL:.0%} percentile bootstrap over {tally.clusters} {tally.what}, "
        f"{draws.resamples} resamples, seed {draws.seed}"
    )
    note = "; ".join([*notes, *_warnings(tally, drawn)])
    return Estimate(value, low, high, n=n, missing=missing, method=method, note=note)


def over(top: Floats, bottom: Floats) -> Floats:
    """The ratios, NaN where nothing is to be divided by."""
    ratios = np.full(bottom.shape, np.nan)
    np.divide(top, bottom, out=ratios, where=bottom > 0)
    return ratios


def _resampled(tally: Tally, draws: Draws) -> Iterator[Floats]:
    """Chunks (draws × columns) of the columns' sums over resamples of the clusters."""
    if len(tally.rows) * DRAWS_PER_BINOMIAL < tally.clusters:
        return (drawn @ tally.rows for drawn in _multinomials(tally, draws))
    grid = exactly_summable(np.repeat(tally.rows, tally.times, axis=0))
    return (drawn @ grid for drawn in counts(len(grid), draws.resamples, draws.seed))


def _multinomials(tally: Tally, draws: Draws) -> Iterator[Floats]:
    """Chunks (draws × rows) of how often each distinct row was drawn, without drawing cluster by cluster."""
    rng = np.random.Generator(np.random.SFC64(draws.seed))
    shares = tally.times / tally.clusters
    for start in range(0, draws.resamples, rows := chunk_rows(len(shares))):
        size = min(rows, draws.resamples - start)
        yield rng.multinomial(tally.clusters, shares, size=size).astype(np.float64)


def _tails(drawn: Floats) -> tuple[float | None, float | None]:
    if not len(drawn):
        return None, None
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    return low, high


def _warnings(tally: Tally, drawn: Floats) -> list[str]:
    """What a reader must know of an interval."""
    undefined, warnings = int(np.isnan(drawn).sum()), []
    if tally.clusters < FEW_CLUSTERS:
        warnings.append(f"{tally.clusters} {tally.what} only: the interval is rough")
    if undefined:
        warnings.append(f"undefined in {undefined} of {len(drawn)} resamples, which are left out")
    if not np.isnan(drawn).all() and np.nanmax(drawn) - np.nanmin(drawn) < ROUNDING:
        warnings.append("no resample differs, so the interval has no width; that is no certainty")
    return warnings
