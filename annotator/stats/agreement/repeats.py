"""How steady a rater is: how often its repeated judgements of one unit differ."""

from collections.abc import Sequence

import numpy as np

from annotator.domain.texts.estimate import Estimate
from annotator.stats.agreement.chance import agreeing_pairs
from annotator.stats.intervals.clustered import Draws, intervals, over, tallied, told
from annotator.stats.intervals.coding import Values, category_counts, cluster_codes, left_out, plain
from annotator.stats.intervals.intervals import wilson
from annotator.stats.intervals.resampling import RESAMPLES, SEED, Floats
from annotator.stats.intervals.sample_size import clustered_wilson

ONCE = "judged fewer than twice"


def flip_rate(trials: Sequence[Values], clusters: Values | None = None) -> Estimate:
    """The share of units whose trials do not all agree, with Wilson's interval, over `clusters` when given.

    `trials` × units, None or NaN where a trial gave nothing; a unit with fewer than two is left out and counted. It
    rises with the number of trials, so compare rates of as many only. ValueError for trials of unequal length.
    """
    table, _ = category_counts(trials)
    twice = table.sum(axis=1) > 1
    flips = np.where(twice, (table > 0).sum(axis=1) > 1, np.nan)
    units, n = len(table), int(twice.sum())
    share = wilson(int(np.nansum(flips)), n) if clusters is None else clustered_wilson(flips, clusters)
    notes = [note for note in share.note.split("; ") if note and "left out" not in note]
    return Estimate(
        share.value,
        share.low,
        share.high,
        n=n,
        missing=sum(plain(values).count(None) for values in trials),
        method=f"flip rate of {len(trials)} trials: {share.method}",
        note="; ".join([*notes, *left_out(units - n, units, ONCE)]),
    )


def disagreement_rate(
    trials: Sequence[Values],
    clusters: Values | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Estimate:
    """How often two trials of one unit differ, whatever their number, with a bootstrap interval over clusters.

    The mean over units of the share of pairs that differ. Arguments and errors as in `flip_rate`.
    """
    table, known = category_counts(trials)
    groups, twice = cluster_codes(clusters, len(table)), table.sum(axis=1) > 1
    n, method = int(twice.sum()), "share of pairs of trials that differ"
    notes = left_out(len(table) - n, len(table), ONCE)
    if n == 0:
        return Estimate(None, method=method, note="; ".join(["no unit was judged twice", *notes]))
    agreeing = agreeing_pairs(table, np.eye(len(known)))[twice]
    tally = tallied(np.column_stack([1 - agreeing, np.ones(n)]), None if groups is None else groups[twice])

    def figure(sums: Floats) -> Floats:
        return over(sums[:, 0], sums[:, 1])

    (found,) = intervals(tally, [figure], Draws(resamples, seed))
    return told(found, method, n, notes)
