"""Bootstrap of pooled rates, medians and composite figures, all resamples at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from annotator.stats.intervals.clustered import over
from annotator.stats.intervals.resampling import Floats

# Cells of the largest table that is held at once: 16 MB.
CELLS = 2_000_000


def rates(tops: Sequence[float], bottoms: Sequence[float], counts: Floats) -> Floats:
    """Of every draw (row of `counts`) the sum of `tops` over that of `bottoms`; NaN where nothing is to be divided by.

    `counts` says how often each draw took each owner (column), `tops` and `bottoms` what an owner adds.
    """
    return over(counts @ np.asarray(tops, dtype=np.float64), counts @ np.asarray(bottoms, dtype=np.float64))


def medians(values: Sequence[float], owners: Sequence[int], counts: Floats) -> Floats:
    """Of every draw the median of the values whose owners (columns of `counts`) it took; NaN where there is none.

    An owner that was drawn twice brings its values twice; of an even number the middle two are averaged.
    """
    order = np.argsort(np.asarray(values, dtype=np.float64), kind="stable")
    ordered = np.asarray(values, dtype=np.float64)[order]
    columns = np.asarray(owners, dtype=np.intp)[order]
    found = np.full(len(counts), np.nan)
    step = max(1, CELLS // max(1, len(ordered)))
    for start in range(0, len(counts) if len(ordered) else 0, step):
        reached = counts[start : start + step][:, columns].cumsum(axis=1)
        total = reached[:, -1]
        lower, upper = ((reached < wanted[:, None]).sum(axis=1) for wanted in (total / 2, total // 2 + 1))
        there = total > 0
        middle = (ordered[lower[there]] + ordered[upper[there]]) / 2
        found[start : start + step][there] = middle
    return found


def geometric_mean(values: Sequence[Any]) -> Any:
    """The n-th root of a product of numbers, or of arrays draw by draw; 0 where one is 0, NaN where one is below."""
    grid = np.asarray(values, dtype=np.float64)
    means = np.where((grid < 0).any(axis=0), np.nan, np.abs(np.prod(grid, axis=0)) ** (1 / len(grid)))
    return means if means.ndim else float(means)
