"""Bootstrap interval limits: percentiles, plain or corrected for bias and skewness."""

from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from annotator.domain.texts.estimate import NO_WIDTH
from annotator.stats.intervals.resampling import Floats

Interval = Literal["percentile", "bca"]
Bounds = tuple[float, float]

# Drawn values this near to the figure are equal to it: the rest is rounding.
ROUNDING = 1e-12


def percentile_bounds(drawn: Floats, level: float) -> Bounds:
    """The percentile interval of drawn values, none of them NaN (Efron & Tibshirani 1993, §13.3)."""
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return low, high


def remarks(drawn: Floats) -> list[str]:
    """What draws themselves say of an interval: how many leave the figure undefined, and that none differs."""
    undefined, found = int(np.isnan(drawn).sum()), []
    if undefined:
        found.append(f"undefined in {undefined:,} of {len(drawn):,} resamples, which are left out")
    if not np.isnan(drawn).all() and np.nanmax(drawn) - np.nanmin(drawn) < ROUNDING:
        found.append(f"no resample differs, so {NO_WIDTH}")
    return found


def bca_bounds(
    value: float, drawn: Floats, without_one: Floats, times: NDArray[np.int64], level: float
) -> Bounds | None:
    """The bias-corrected and accelerated interval (Efron & Tibshirani 1993, §14.3, equations 14.9 to 14.15).

    `without_one` holds the figure without each distinct cluster, `times` how many clusters are alike. None where
    the correction has no meaning: no drawn value on one side of the figure, or a figure that hangs on one cluster.
    """
    normal = NormalDist()
    # Draws equal to the figure lie half on either side.
    below = float(np.mean(drawn < value - ROUNDING) + np.mean(np.abs(drawn - value) <= ROUNDING) / 2)
    if not 0 < below < 1 or np.isnan(without_one).any():
        return None
    bias, speed = normal.inv_cdf(below), _acceleration(without_one, times)
    tails = []
    for share in ((1 - level) / 2, (1 + level) / 2):
        moved = bias + normal.inv_cdf(share)
        if speed * moved >= 1:
            return None
        tails.append(normal.cdf(bias + moved / (1 - speed * moved)))
    low, high = np.quantile(drawn, tails).tolist()
    return low, high


def _acceleration(without_one: Floats, times: NDArray[np.int64]) -> float:
    """How fast the standard error moves with the figure: a sixth of the jackknife's skewness (equation 14.15)."""
    fall = float(times @ without_one) / float(times.sum()) - without_one
    spread = float(times @ fall**2)
    return float(times @ fall**3) / (6 * spread**1.5) if spread > ROUNDING**2 else 0.0
