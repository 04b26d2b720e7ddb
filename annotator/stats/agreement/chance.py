"""What chance is: the agreement of raters who guess, as Scott, Brennan and Prediger, and Gwet each take it."""

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.clustered import Draws, estimate, over, tallied
from annotator.stats.intervals.coding import (
    ONE_CATEGORY,
    Values,
    Weights,
    category_counts,
    closeness,
    cluster_codes,
    in_order,
    named,
)
from annotator.stats.intervals.resampling import RESAMPLES, SEED, Floats
from annotator.stats.intervals.tails import Interval

# From the shares of categories (draws × categories) and how alike these are to the agreement by chance (draws).
Chance = Callable[[Floats, Floats], Floats]

NO_SECOND = "no unit was judged by two raters"


def scott_pi(
    raters: Sequence[Values],
    weights: Weights = "none",
    categories: Sequence[Hashable] | None = None,
    clusters: Values | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    interval: Interval = "percentile",
) -> Estimate:
    """π of two raters (Scott 1955), of more the generalised κ of Fleiss (Gwet 2014), with missing values.

    `raters` × units; guessing draws from the shares of categories over all raters. Other arguments, interval and
    errors as in `gwet_ac1`.
    """
    return _rated(
        "Scott's π", by_shares, raters, weights, categories, clusters, Draws(resamples, seed, interval)
    )


def brennan_prediger(
    raters: Sequence[Values],
    weights: Weights = "none",
    categories: Sequence[Hashable] | None = None,
    clusters: Values | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    interval: Interval = "percentile",
) -> Estimate:
    """Agreement beyond guessing evenly (Brennan & Prediger 1981): PABAK for two categories (Byrt et al. 1993).

    Depends on how many categories there are: name them, lest it count those in use. Arguments as in `gwet_ac1`.
    """
    name = "Brennan and Prediger's κ"
    return _rated(name, evenly, raters, weights, categories, clusters, Draws(resamples, seed, interval))


def pabak(
    raters: Sequence[Values],
    categories: Sequence[Hashable] | None = None,
    clusters: Values | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    interval: Interval = "percentile",
) -> Estimate:
    """Twice the agreement less 1: κ as it were without prevalence and bias (Byrt, Bishop & Carlin 1993).

    Of two `categories`; ValueError for more. Other arguments as in `gwet_ac1`.
    """
    table, known = category_counts(raters, categories)
    if len(known) > 2:
        raise ValueError(f"PABAK is of two categories, not of {len(known)}")
    return _corrected("PABAK", evenly, table, "none", clusters, Draws(resamples, seed, interval))


def gwet_ac1(
    raters: Sequence[Values],
    weights: Weights = "none",
    categories: Sequence[Hashable] | None = None,
    clusters: Values | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    interval: Interval = "percentile",
) -> Estimate:
    """AC1 of any number of raters (Gwet 2008), AC2 with weights (Gwet 2014), with a bootstrap interval.

    `raters` × units, None or NaN for missing; `weights` are disagreements over `categories`, whose order they
    need; `clusters` names the item of each unit, without which each stands for itself. A unit judged once counts
    for chance only. No resamples, no interval. ValueError for values that do not fit together.
    """
    name = "Gwet's AC1" if isinstance(weights, str) and weights == "none" else "Gwet's AC2"
    return _rated(name, by_doubt, raters, weights, categories, clusters, Draws(resamples, seed, interval))


def fleiss_kappa(
    counts: ArrayLike,
    clusters: Values | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    interval: Interval = "percentile",
) -> Estimate:
    """κ of as many raters for each unit (Fleiss 1971), from how many chose each category (units × categories).

    Undefined when units differ in their number of raters; ValueError for counts that are none.
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or (table < 0).any() or (table != np.rint(table)).any():
        raise ValueError("counts are units × categories, whole and not negative")
    raters = table.sum(axis=1)
    if len(raters) and raters.min() != raters.max():
        reason = f"units were judged by {raters.min():.0f} to {raters.max():.0f} raters, not each by as many"
        return Estimate(None, n=len(table), method="Fleiss' κ", note=f"{reason}: take Krippendorff's α")
    return _corrected("Fleiss' κ", by_shares, table, "none", clusters, Draws(resamples, seed, interval))


def by_shares(shares: Floats, alike: Floats) -> Floats:
    """Guessing from the shares of categories (Scott 1955)."""
    return np.asarray(((shares @ alike) * shares).sum(axis=1))


def evenly(shares: Floats, alike: Floats) -> Floats:
    """Guessing any category as often as another (Brennan & Prediger 1981)."""
    return np.full(len(shares), alike.mean())


def by_doubt(shares: Floats, alike: Floats) -> Floats:
    """Guessing only where a unit is hard to judge (Gwet 2008; weighted: Gwet 2014)."""
    size = len(alike)
    return np.asarray(alike.sum() / (size * (size - 1)) * (shares * (1 - shares)).sum(axis=1))


def agreeing_pairs(table: Floats, alike: Floats) -> Floats:
    """The share of agreeing pairs of judgements on each unit, 0 where there is no pair (Fleiss 1971)."""
    ratings = table.sum(axis=1)
    agreeing = (table * (table @ alike - 1)).sum(axis=1)
    return np.asarray(agreeing / np.maximum(ratings * (ratings - 1), 1))


def _rated(
    name: str,
    chance: Chance,
    raters: Sequence[Values],
    weights: Weights,
    categories: Sequence[Hashable] | None,
    clusters: Values | None,
    draws: Draws,
) -> Estimate:
    in_order(weights, categories)
    table, _ = category_counts(raters, categories)
    return _corrected(name, chance, table, weights, clusters, draws)


def _corrected(
    name: str, chance: Chance, table: Floats, weights: Weights, clusters: Values | None, draws: Draws
) -> Estimate:
    """Agreement beyond chance from counts (units × categories); all of it adds up over units."""
    ratings, size = table.sum(axis=1), table.shape[1]
    n, method = int((ratings > 1).sum()), name + named(weights)
    groups = cluster_codes(clusters, len(table))
    notes = [f"{len(table) - n} of {len(table)} units judged fewer than twice"] * (n < len(table))
    one_category = [ONE_CATEGORY] if np.count_nonzero(table.any(axis=0)) == 1 else []
    if n == 0 or size < 2:
        reason = NO_SECOND if n == 0 else "only one category was used: the figure needs the others named"
        return Estimate(None, n=n, method=method, note="; ".join([reason, *notes]))
    alike, judged = closeness(weights, size), ratings > 0
    shares = table / np.maximum(ratings, 1)[:, None]
    rows = np.column_stack([shares, judged, ratings > 1, agreeing_pairs(table, alike)])[judged]
    tally = tallied(rows, None if groups is None else groups[judged])

    def figure(sums: Floats) -> Floats:
        agreed = over(sums[:, -1], sums[:, -2])
        by_chance = chance(sums[:, :size] / sums[:, [size]], alike)
        return over(agreed - by_chance, 1 - by_chance)

    undefined = f"all judgements of {len(table)} units are of one category, as they would be by chance"
    return estimate(tally, figure, draws, method, n, [*one_category, *notes]) or Estimate(
        None, n=n, method=method, note="; ".join([undefined, *notes])
    )
