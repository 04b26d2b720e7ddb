"""How far certain raters agree beyond chance, each of whom guesses in an own way: Cohen's κ of any number of them."""

from collections.abc import Hashable, Sequence

import numpy as np

from annotator.domain.texts.estimate import Estimate
from annotator.stats.agreement.chance import NO_SECOND, agreeing_pairs
from annotator.stats.intervals.clustered import Draws, intervals, over, tallied, told
from annotator.stats.intervals.coding import (
    MISSING,
    Values,
    Weights,
    closeness,
    cluster_codes,
    coded,
    in_order,
    left_out,
    named,
)
from annotator.stats.intervals.resampling import RESAMPLES, SEED, Floats
from annotator.stats.intervals.tails import Interval

ONE_ONLY = "all judgements are of one category, as they would be by chance"


def conger_kappa(
    raters: Sequence[Values],
    weights: Weights = "none",
    categories: Sequence[Hashable] | None = None,
    clusters: Values | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    interval: Interval = "percentile",
) -> Estimate:
    """κ of `raters` × units (Conger 1980; with missing values and weights: Gwet 2014, chapter 2); of two, Cohen's.

    Chance is the mean over pairs of raters, each guessing with the shares of categories of all that it judged.
    Other arguments, interval and errors as in `gwet_ac1`; weights are symmetric. A rater of nothing is left out.
    """
    in_order(weights, categories)
    codes, known = coded(raters, categories)
    codes = codes[(codes != MISSING).any(axis=1)]
    people, units, size = len(codes), codes.shape[1], len(known)
    each = (codes[:, :, None] == np.arange(size)).astype(np.float64)
    table = each.sum(axis=0)
    judged = table.sum(axis=1)
    groups = cluster_codes(clusters, units)
    n, method = int((judged > 1).sum()), "Conger's κ" + named(weights)
    notes = left_out(units - n, units, "judged fewer than twice, so it counts for chance only")
    if n == 0 or size < 2:
        reason = NO_SECOND if n == 0 else ONE_ONLY
        return Estimate(None, n=n, method=method, note="; ".join([reason, *notes]))
    alike, used = closeness(weights, size), judged > 0
    own = each.transpose(1, 0, 2).reshape(units, people * size)
    rows = np.column_stack([own, judged > 1, agreeing_pairs(table, alike)])[used]
    tally = tallied(rows, None if groups is None else groups[used])

    def figure(sums: Floats) -> Floats:
        counts = sums[:, :-2].reshape(len(sums), people, size)
        chance = _by_pairs(counts, alike)
        return over(over(sums[:, -1], sums[:, -2]) - chance, 1 - chance)

    (found,) = intervals(tally, [figure], Draws(resamples, seed, interval))
    return told(found, method, n, notes, undefined=ONE_ONLY)


def _by_pairs(counts: Floats, alike: Floats) -> Floats:
    """The mean agreement by chance of two different raters (draws), from each one's counts (draws × raters × k)."""
    people = counts.shape[1]
    shares = over(counts, np.broadcast_to(counts.sum(axis=2, keepdims=True), counts.shape))
    whole = shares.sum(axis=1)
    together = ((whole @ alike) * whole).sum(axis=1)
    alone = ((shares @ alike) * shares).sum(axis=(1, 2))
    return np.asarray((together - alone) / (people * (people - 1)))
