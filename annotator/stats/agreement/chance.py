"""Gwet's AC1 and AC2: agreement beyond chance that only occurs on units that are hard to judge."""

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from annotator.domain.texts.estimate import CHANCE, Estimate
from annotator.stats.intervals.clustered import Statistic, estimate, over, tallied
from annotator.stats.intervals.coding import (
    ONE_CATEGORY,
    Floats,
    Values,
    Weights,
    category_counts,
    closeness,
    cluster_codes,
    in_order,
    left_out,
    named,
    plain,
)

NO_SECOND = "no unit was judged by two raters"


def gwet_ac1(
    raters: Sequence[Values],
    weights: Weights = "none",
    categories: Sequence[Hashable] | None = None,
    clusters: Values | None = None,
) -> Estimate:
    """AC1 of any number of raters (Gwet 2008), AC2 with weights (Gwet 2014), with its interval over clusters.

    `raters` × units, None or NaN for missing; `weights` are disagreements over `categories`, whose order they
    need; `clusters` names the item of each unit, without which each stands for itself. A unit judged once counts
    for chance only. ValueError for values that do not fit together.
    """
    in_order(weights, categories)
    table, _ = category_counts(raters, categories)
    ratings, size = table.sum(axis=1), table.shape[1]
    name = "Gwet's AC1" if isinstance(weights, str) and weights == "none" else "Gwet's AC2"
    n, method = int((ratings > 1).sum()), name + named(weights)
    groups = cluster_codes(clusters, len(table))
    notes = [f"{len(table) - n:,} of {len(table):,} units judged fewer than twice"] * (n < len(table))
    one_category = [ONE_CATEGORY] if np.count_nonzero(table.any(axis=0)) == 1 else []
    if n == 0 or size < 2:
        reason = NO_SECOND if n == 0 else "only one category was used: the figure needs the others named"
        return Estimate(None, n=n, method=method, note="; ".join([reason, *notes]))
    alike, judged = closeness(weights, size), ratings > 0
    shares = table / np.maximum(ratings, 1)[:, None]
    rows = np.column_stack([shares, judged, ratings > 1, _agreeing_pairs(table, alike)])[judged]
    tally = tallied(rows, None if groups is None else groups[judged])

    def figure(sums: Floats) -> Floats:
        agreed, drawn = over(sums[:, -1], sums[:, -2]), sums[:, :size] / sums[:, [size]]
        chance = alike.sum() / (size * (size - 1)) * (drawn * (1 - drawn)).sum(axis=1)
        return over(agreed - chance, 1 - chance)

    undefined = f"all judgements of {len(table):,} units are of one category, as they would be by chance"
    return estimate(tally, Statistic(figure, CHANCE), method, n, [*one_category, *notes]) or Estimate(
        None, n=n, method=method, note="; ".join([undefined, *notes])
    )


def ac1_of_pairs(
    a: Values, b: Values, categories: Sequence[Hashable] | None = None, clusters: Values | None = None
) -> Estimate:
    """AC1 of two raters on the units that both judged, as their κ is; arguments as in `gwet_ac1`."""
    first, second = plain(a), plain(b)
    whole = [at for at, values in enumerate(zip(first, second, strict=True)) if None not in values]
    of = None if clusters is None else [clusters[at] for at in whole]
    raters = [[values[at] for at in whole] for values in (first, second)]
    found = gwet_ac1(raters, categories=categories, clusters=of)
    missing = first.count(None) + second.count(None)
    return replace(found, missing=missing).remarked(*left_out(len(first) - len(whole), len(first)))


def _agreeing_pairs(table: Floats, alike: Floats) -> Floats:
    """The share of agreeing pairs of judgements on each unit, 0 where there is no pair (Fleiss 1971)."""
    ratings = table.sum(axis=1)
    agreeing = (table * (table @ alike - 1)).sum(axis=1)
    return np.asarray(agreeing / np.maximum(ratings * (ratings - 1), 1))
