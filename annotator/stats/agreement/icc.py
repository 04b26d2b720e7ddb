"""Intraclass correlation: the share of the variance of scores that lies between the objects scored."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.clustered import ResamplingPlan, estimate, over, tallied
from annotator.stats.intervals.coding import Values, cluster_codes, left_out, numbers
from annotator.stats.intervals.resampling import RESAMPLES, SEED, Floats
from annotator.stats.intervals.tails import Interval

Form = Literal["1,1", "2,1", "3,1", "1,k", "2,k", "3,k"]
# Below this share of the sum of squares, a sum of squares is what rounding left over.
ROUNDING = 1e-12


def icc(
    raters: Sequence[Values],
    form: Form = "2,1",
    clusters: Values | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    interval: Interval = "percentile",
) -> Estimate:
    """One of the six forms of Shrout & Fleiss (1979) over `raters` × units, with a bootstrap interval over clusters.

    1: each unit has raters of its own; 2: raters are a sample; 3: these raters only. k: the raters' mean, not one
    rater. A unit without a score of every rater is left out. ValueError for ragged rows, words or infinities.
    """
    if form not in ("1,1", "2,1", "3,1", "1,k", "2,k", "3,k"):
        raise ValueError(f"no form of the intraclass correlation: {form}")
    grid = numbers(raters).T
    complete = ~np.isnan(grid).any(axis=1)
    groups = cluster_codes(clusters, len(grid))
    scores, method = grid[complete], f"ICC({form})"
    n, k = scores.shape
    notes = left_out(len(grid) - n, len(grid), "a score is missing")
    missing = int(np.isnan(grid).sum())
    reason = "fewer than two units or raters"
    if min(n, k) > 1:
        # Counted from one of the scores: squares of scores far from zero would drown their differences.
        tally = tallied(moments(scores - scores.min()), None if groups is None else groups[complete])
        found = estimate(
            tally,
            lambda sums: of_moments(sums, form),
            ResamplingPlan(resamples, seed, interval),
            method,
            n,
            notes,
            missing,
        )
        if found:
            return found
        reason = "the units do not differ enough from one another"
    return Estimate(None, n=n, missing=missing, method=method, note="; ".join([reason, *notes]))


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
    noise = wms if form.startswith("1") else error
    of_one = 1 if form.endswith("k") else k
    # Raters who are a sample add their own variance.
    sampled = of_one * (jms - error) / n if form.startswith("2") else 0.0
    whole = bms + (of_one - 1) * noise + sampled
    found = over(bms - noise, np.where(whole > ROUNDING * (bms + noise + jms), whole, 0.0))
    # That of one rater ends at −1 / (k − 1); where raters differ by less than chance, the second form runs past it.
    return found if form.endswith("k") else np.maximum(found, -1 / (k - 1))
