"""Bootstrap interval limits: percentiles."""

import numpy as np

from annotator.domain.texts.estimate import NO_WIDTH
from annotator.stats.intervals.resampling import Floats

# Drawn values this near to the figure are equal to it: the rest is rounding.
ROUNDING = 1e-12


def percentile_bounds(drawn: Floats, level: float) -> tuple[float | None, float | None]:
    """The percentile interval of the drawn values that are no NaN, if any (Efron & Tibshirani 1993, §13.3)."""
    defined = drawn[~np.isnan(drawn)]
    if not len(defined):
        return None, None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return low, high


def remarks(drawn: Floats) -> list[str]:
    """What draws themselves say of an interval: how many leave the figure undefined, and that none differs."""
    undefined, found = int(np.isnan(drawn).sum()), []
    if undefined:
        found.append(f"undefined in {undefined:,} of {len(drawn):,} resamples, which are left out")
    if not np.isnan(drawn).all() and np.nanmax(drawn) - np.nanmin(drawn) < ROUNDING:
        found.append(f"no resample differs, so {NO_WIDTH}")
    return found
