"""Pooled rates and composite figures, of several choices of what they are made of at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from annotator.stats.intervals.clustered import over
from annotator.stats.intervals.coding import Floats


def rates(tops: Sequence[float], bottoms: Sequence[float], counts: Floats) -> Floats:
    """Of every choice (row of `counts`) the sum of `tops` over that of `bottoms`; NaN where that is 0.

    `counts` says how often each choice took each owner (column), `tops` and `bottoms` what an owner adds.
    """
    return over(counts @ np.asarray(tops, dtype=np.float64), counts @ np.asarray(bottoms, dtype=np.float64))


def geometric_mean(values: Sequence[Any]) -> Any:
    """The n-th root of a product of numbers, or of arrays of choices; 0 where one is 0, NaN where one is below."""
    grid = np.asarray(values, dtype=np.float64)
    means = np.where((grid < 0).any(axis=0), np.nan, np.abs(np.prod(grid, axis=0)) ** (1 / len(grid)))
    return means if means.ndim else float(means)
