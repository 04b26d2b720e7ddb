"""Agreement of two raters: observed, and beyond chance."""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from annotator.domain.texts.estimate import Estimate
from annotator.stats.agreement.confusion import CodePairs, meetings
from annotator.stats.intervals.clustered import ClusterTally, ResamplingPlan, distinct, estimate, over
from annotator.stats.intervals.coding import (
    ONE_CATEGORY,
    Values,
    Weights,
    disagreements,
    in_order,
    left_out,
    named,
    plain,
)
from annotator.stats.intervals.intervals import wilson
from annotator.stats.intervals.resampling import RESAMPLES, SEED, Floats
from annotator.stats.intervals.sample_size import clustered_wilson

NO_PAIR = "no unit was judged by both raters"


def percent_agreement(
    pairs: Iterable[tuple[Hashable, Hashable]], clusters: Sequence[Hashable] | None = None
) -> Estimate:
    """The share of units on which both gave the same value, with Wilson's interval; None and NaN are missing.

    `clusters` names the item of each unit, without which each stands for itself.
    """
    listed = list(pairs)
    a, b = plain(first for first, _ in listed), plain(second for _, second in listed)
    whole = [at for at, (x, y) in enumerate(zip(a, b, strict=True)) if x is not None and y is not None]
    both = [(a[at], b[at]) for at in whole]
    same = [float(x == y) for x, y in both]
    if clusters is None:
        share = wilson(int(sum(same)), len(both))
    else:
        share = clustered_wilson(same, [clusters[at] for at in whole])
    notes = [share.note if both else NO_PAIR] if share.note else []
    notes += left_out(len(listed) - len(both), len(listed))
    if len({value for pair in both for value in pair}) == 1:
        notes.insert(0, ONE_CATEGORY)
    return Estimate(
        share.value,
        share.low,
        share.high,
        n=len(both),
        missing=a.count(None) + b.count(None),
        method=f"percent agreement: {share.method}",
        note="; ".join(notes),
    )


def cohen_kappa(
    a: Values,
    b: Values,
    weights: Weights = "none",
    categories: Sequence[Hashable] | None = None,
    clusters: Values | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Estimate:
    """κ of two raters (Cohen 1960; weighted: Cohen 1968), with a percentile bootstrap interval over clusters.

    `a` and `b` hold a value per unit, None or NaN where it is missing; `weights` is "none", "linear", "quadratic",
    "ordinal" or a matrix of disagreements over `categories`, whose order weights need; `clusters` names the item of
    each unit, without which each stands for itself. No resamples, no interval. ValueError for values that do not fit.
    """
    in_order(weights, categories)
    met = meetings(a, b, categories, clusters)
    tally, apart = _orientated(met, disagreements(weights, len(met.categories)))
    size = len(apart)

    def figure(sums: Floats) -> Floats:
        first, second, observed = sums[:, :size], sums[:, size:-1], sums[:, -1]
        expected = ((first @ apart) * second).sum(axis=1)
        return 1 - over(first.sum(axis=1) * observed, expected)

    method = "Cohen's κ" + named(weights)
    notes = left_out(met.units - met.n, met.units)
    found = estimate(tally, figure, ResamplingPlan(resamples, seed), method, met.n, notes, met.missing)
    return found or Estimate(
        None, n=met.n, missing=met.missing, method=method, note="; ".join([_undefined(met), *notes])
    )


def _orientated(met: CodePairs, apart: Floats) -> tuple[ClusterTally, Floats]:
    """What adds up, and the weights, with the raters in an order of their own: swapping them moves no draw."""
    as_given = _tally(met, apart)
    swapped = _tally(met, apart.T, swap=True)
    return (as_given, apart) if as_given.key <= swapped.key else (swapped, apart.T)


def _tally(met: CodePairs, apart: Floats, swap: bool = False) -> ClusterTally:
    """For each row: the counts of each rater's categories, and the disagreements seen."""
    first, second = (met.second, met.first) if swap else (met.first, met.second)
    shape = len(met.times), len(apart)
    counted = [
        np.bincount(met.rows * shape[1] + codes, minlength=shape[0] * shape[1]).reshape(shape)
        for codes in (first, second)
    ]
    seen = np.bincount(met.rows, weights=apart[first, second], minlength=shape[0])
    rows = np.hstack([*counted, seen[:, None]]).astype(np.float64)
    return distinct(rows, met.times, met.what)


def _undefined(met: CodePairs) -> str:
    """Why there is no κ."""
    if not met.n:
        return NO_PAIR
    if len(set(met.first) | set(met.second)) == 1:
        return (
            f"both raters used one category only, so they agree on {met.n:,} of {met.n:,} units "
            "and chance alone would have them agree as often"
        )
    return "the weights hold no disagreement between the categories in use"
