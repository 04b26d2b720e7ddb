"""Correlations of what belongs to items: over all pairs, each item left out whole, and within items."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from annotator.domain.texts.estimate import CHANCE, Estimate, enough, few, settled
from annotator.stats.agreement.correlation import (
    FEWEST,
    kendall_tau_b,
    pearson,
    product_moment,
    rank_moment,
    spearman,
    tau_b,
    tied,
)
from annotator.stats.intervals.clustered import ONE_CLUSTER, jackknifed
from annotator.stats.intervals.coding import Floats, Values, group_codes, left_out, numbers
from annotator.stats.intervals.student import bounds_of, interval_name, mean_interval

Measure = Callable[[Floats, Floats], float]
MEASURES: dict[str, tuple[Callable[[Values, Values], Estimate], Measure, str]] = {
    "spearman": (spearman, rank_moment, "Spearman's ρ"),
    "pearson": (pearson, product_moment, "Pearson's r"),
    "kendall": (kendall_tau_b, tau_b, "Kendall's τ-b"),
}


def over_items(name: str, x: Values, y: Values, items: Values | None) -> Estimate:
    """A correlation of all pairs by the name of its measure, with its interval over items, each left out whole.

    None or NaN is missing. Without items it is that of `correlation`, which takes pairs as independent.
    """
    of, measure, title = MEASURES[name]
    found = of(x, y)
    if items is None or found.value is None:
        return found
    grid = numbers([x, y])
    given = ~(np.isnan(grid[0]) | np.isnan(grid[1]))
    known, place = np.unique(group_codes(items, len(given))[given], return_inverse=True)
    a, b = map(tied, grid[:, given])
    notes = left_out(len(given) - found.n, len(given), "a value is missing")
    bare = replace(found, low=None, high=None, method=title, note="; ".join(notes))
    if not enough(len(known)):
        return bare.remarked(few(len(known)))
    left = np.full(len(known), np.nan)
    for item in range(len(known)):
        rest = a[place != item], b[place != item]
        left[item] = measure(*rest) if all(map(_varies, rest)) else np.nan
    if np.isnan(left).any():
        return bare.remarked(ONE_CLUSTER)
    low, high = bounds_of(found.value, jackknifed(left), len(known), CHANCE)
    method = f"{title}; {interval_name(CHANCE)}, jackknife over {len(known):,} items"
    return settled(replace(bare, low=low, high=high, method=method), len(known))


def within_items(x: Sequence[float], y: Sequence[float], items: Sequence[str]) -> Estimate:
    """The mean over items of Spearman's ρ within each, of items with three pairs that are not all alike."""
    a, b, of = (*(tied(np.array(one, dtype=np.float64)) for one in (x, y)), np.array(items))
    found = [(a[of == item], b[of == item]) for item in np.unique(of)]
    own = [rank_moment(*pair) for pair in found if len(pair[0]) >= FEWEST and all(map(_varies, pair))]
    why = f"fewer than {FEWEST} responses that differ on both sides"
    if not own:
        reason = f"no item has {FEWEST} responses that differ on both sides"
        return Estimate(None, method="mean of Spearman's ρ within items", note=reason)
    mean = mean_interval(own, within=CHANCE)
    return replace(mean, method=f"Spearman's ρ within items: {mean.method}").remarked(
        *left_out(len(found) - len(own), len(found), why)
    )


def _varies(values: Floats) -> bool:
    return len(values) > 1 and bool((values != values[0]).any())
