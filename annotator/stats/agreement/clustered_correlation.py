"""Correlations of what belongs to items: over all pairs, with items resampled, and within items."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from annotator.domain.texts.estimate import Estimate, enough, settled
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
from annotator.stats.intervals.coding import left_out
from annotator.stats.intervals.intervals import LEVEL
from annotator.stats.intervals.resampling import SEED, Floats, counts
from annotator.stats.intervals.tails import percentile_bounds, remarks

Measure = Callable[[Floats, Floats], float]
DRAWS = 1_000
MEASURES: dict[str, tuple[Callable[[Sequence[float], Sequence[float]], Estimate], Measure, str]] = {
    "spearman": (spearman, rank_moment, "Spearman's ρ"),
    "pearson": (pearson, product_moment, "Pearson's r"),
    "kendall": (kendall_tau_b, tau_b, "Kendall's τ-b"),
}
BOUNDS = (-1.0, 1.0)


def over_items(name: str, x: Sequence[float], y: Sequence[float], items: Sequence[str]) -> Estimate:
    """A correlation of all pairs by the name of its measure, with an interval over items, each drawn whole."""
    of, measure, title = MEASURES[name]
    found = replace(of(x, y), low=None, high=None, method=f"{title}, bootstrap over items, seed {SEED}")
    if found.value is None:
        return found
    known, place = np.unique(np.array(items), return_inverse=True)
    a, b = (tied(np.array(one, dtype=np.float64)) for one in (x, y))
    values = []
    for chunk in counts(len(known), DRAWS):
        for times in chunk:
            drawn = np.repeat(np.arange(len(a)), times[place].astype(np.int64))
            varies = _varies(a[drawn]) and _varies(b[drawn])
            values.append(measure(a[drawn], b[drawn]) if varies else np.nan)
    return _bounded(replace(found, note=""), np.array(values), len(known))


def within_items(x: Sequence[float], y: Sequence[float], items: Sequence[str]) -> Estimate:
    """The mean over items of Spearman's ρ within each, of items with three pairs that are not all alike."""
    method = f"mean of Spearman's ρ within items, bootstrap over items, seed {SEED}"
    a, b, of = (*(tied(np.array(one, dtype=np.float64)) for one in (x, y)), np.array(items))
    found = [(a[of == item], b[of == item]) for item in np.unique(of)]
    own = np.array(
        [rank_moment(*pair) for pair in found if len(pair[0]) >= FEWEST and all(map(_varies, pair))]
    )
    if not len(own):
        return Estimate(None, method=method, note=f"no item has {FEWEST} responses that differ on both sides")
    values = np.concatenate([chunk @ own / len(own) for chunk in counts(len(own), DRAWS)])
    out = left_out(
        len(found) - len(own), len(found), f"fewer than {FEWEST} responses that differ on both sides"
    )
    mean = Estimate(float(own.mean()), n=len(own), method=method, note="; ".join(out))
    return _bounded(mean, values, len(own))


def _varies(values: Floats) -> bool:
    return bool((values != values[0]).any())


def _bounded(found: Estimate, drawn: Floats, items: int) -> Estimate:
    low, high = percentile_bounds(np.clip(drawn, *BOUNDS), LEVEL)
    if low is not None and enough(items):
        found = replace(found, low=low, high=high).remarked(*remarks(drawn))
    return settled(found, items, within=BOUNDS)
