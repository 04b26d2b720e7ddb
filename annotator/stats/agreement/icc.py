"""Intraclass correlation: the share of the variance of scores that lies between the objects scored."""

from typing import Literal

import numpy as np

from annotator.stats.intervals.clustered import over
from annotator.stats.intervals.resampling import Floats

# Of the six of Shrout & Fleiss (1979) those of one rater: where each unit has raters of its own, and where raters are
# a sample that scores all units.
Form = Literal["1,1", "2,1"]
# Below this share of the sum of squares, a sum of squares is what rounding left over.
ROUNDING = 1e-12


def moments(scores: Floats) -> Floats:
    """What adds up over units: their number, each rater's score, the squares, and the squared sum of raters."""
    columns = np.ones(len(scores)), scores, (scores**2).sum(axis=1), scores.sum(axis=1) ** 2
    return np.column_stack(columns)


def of_moments(sums: Floats, form: Form) -> Floats:
    """The intraclass correlations of sums (draws × columns) by the mean squares of an analysis of variance."""
    raters, squares, of_units = sums[:, 1:-2], sums[:, -2], sums[:, -1]
    # One unit has no variance between units.
    n = np.where(sums[:, 0] > 1, sums[:, 0], np.nan)
    k = raters.shape[1]
    middle = raters.sum(axis=1) ** 2 / (n * k)
    total, between, columns = squares - middle, of_units / k - middle, (raters**2).sum(axis=1) / n - middle
    total, between, columns = (
        np.where(part > ROUNDING * squares, part, 0) for part in (total, between, columns)
    )
    within = np.maximum(total - between, 0)
    error = np.maximum(within - columns, 0) / ((n - 1) * (k - 1))
    # The mean squares between units, within them and between raters, as Shrout & Fleiss name them.
    bms, wms, jms = between / (n - 1), within / (n * (k - 1)), columns / (k - 1)
    # Raters who are a sample add their own variance.
    noise, sampled = (wms, 0.0) if form == "1,1" else (error, k * (jms - error) / n)
    whole = bms + (k - 1) * noise + sampled
    found = over(bms - noise, np.where(whole > ROUNDING * (bms + noise + jms), whole, 0.0))
    # It ends at −1 / (k − 1); where raters differ by less than chance, the second form runs past that.
    return np.asarray(np.maximum(found, -1 / (k - 1)))
