"""Intra-rater stability: how often repeated judgements of one unit differ."""

from collections.abc import Sequence

import numpy as np

from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.cluster_means import clustered_wilson
from annotator.stats.intervals.coding import Values, category_counts, left_out, plain
from annotator.stats.intervals.student import wilson

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
        method=f"flip rate of {len(trials):,} trials: {share.method}",
        note="; ".join([*notes, *left_out(units - n, units, ONCE)]),
    )
