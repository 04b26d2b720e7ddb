"""Agreement of two raters: observed, and beyond chance."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.domain.texts.estimate import CHANCE, Estimate
from annotator.stats.intervals.cluster_means import clustered_wilson
from annotator.stats.intervals.clustered import ClusterTally, Statistic, distinct, estimate, over
from annotator.stats.intervals.coding import (
    MISSING,
    ONE_CATEGORY,
    Categories,
    Codes,
    Floats,
    Values,
    Weights,
    cluster_codes,
    coded,
    disagreements,
    in_order,
    left_out,
    named,
    plain,
)
from annotator.stats.intervals.student import wilson

Counts = NDArray[np.int64]

# Integers over a range no wider than this, none beyond the second figure, are counted without coding them.
WIDEST_RANGE = 256
LARGEST = 1 << 32

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
) -> Estimate:
    """κ of two raters (Cohen 1960; weighted: Cohen 1968), with its interval over clusters.

    `a` and `b` hold a value per unit, None or NaN where it is missing; `weights` is "none", "linear", "quadratic",
    "ordinal" or a matrix of disagreements over `categories`, whose order weights need; `clusters` names the item of
    each unit, without which each stands for itself. ValueError for values that do not fit.
    """
    in_order(weights, categories)
    met = meetings(a, b, categories, clusters)
    apart = disagreements(weights, len(met.categories))
    size = len(apart)

    def figure(sums: Floats) -> Floats:
        first, second, observed = sums[:, :size], sums[:, size : 2 * size], sums[:, -1]
        expected = ((first @ apart) * second).sum(axis=1)
        return 1 - over(first.sum(axis=1) * observed, expected)

    method = "Cohen's κ" + named(weights)
    notes = left_out(met.units - met.n, met.units)
    statistic = Statistic(figure, CHANCE, lambda rows: rows[:, 2 * size : -1])
    found = estimate(_tally(met, apart), statistic, method, met.n, notes, met.missing) if met.n else None
    return found or Estimate(
        None, n=met.n, missing=met.missing, method=method, note="; ".join([_undefined(met), *notes])
    )


@dataclass(frozen=True, slots=True)
class CodePairs:
    """Pairs of codes (`first`, `second`), the row in which each counts, and how many clusters each row stands for.

    Without clusters a row is one cell of the confusion table, standing for as many units as are in it. `n` of
    `units` have both judgements; `missing` counts the judgements that did not come.
    """

    first: Codes
    second: Codes
    rows: Codes
    times: Counts
    what: str
    categories: Categories
    n: int
    units: int
    missing: int


def meetings(
    a: Values, b: Values, categories: Sequence[Hashable] | None = None, clusters: Values | None = None
) -> CodePairs:
    """The pairs of two raters, by cell or by cluster; ValueError for values that do not fit together."""
    groups = cluster_codes(clusters, len(a))
    if groups is None:
        table, known, missing = _crossed(a, b, categories)
        first, second = np.nonzero(table)
        times = table[first, second]
        rows = np.arange(len(times))
        return CodePairs(first, second, rows, times, "units", known, int(times.sum()), len(a), missing)
    codes, known = coded([a, b], categories)
    both = (codes != MISSING).all(axis=0)
    present, rows = np.unique(groups[both], return_inverse=True)
    first, second = codes[:, both]
    times = np.ones(len(present), dtype=np.int64)
    missing = int((codes == MISSING).sum())
    return CodePairs(first, second, rows, times, "clusters", known, len(rows), len(a), missing)


def _crossed(a: Values, b: Values, categories: Sequence[Hashable] | None) -> tuple[Counts, Categories, int]:
    """The confusion table, its categories, and how many judgements are missing."""
    if categories is None and (found := _in_place(a, b)) is not None:
        return *found, 0
    codes, known = coded([a, b], categories)
    first, second = codes[:, (codes != MISSING).all(axis=0)]
    cells = np.bincount(first * len(known) + second, minlength=len(known) ** 2)
    return cells.reshape(len(known), len(known)), known, int((codes == MISSING).sum())


def _in_place(a: Values, b: Values) -> tuple[Counts, Categories] | None:
    """The table of two arrays of integers of a narrow range; None for other values, which need coding."""
    if not (_integers(a) and _integers(b)) or len(a) != len(b) or not len(a):
        return None
    x, y = np.asarray(a), np.asarray(b)
    low, high = int(min(x.min(), y.min())), int(max(x.max(), y.max()))
    if (span := high - low + 1) > WIDEST_RANGE or max(-low, high) > LARGEST:
        return None
    # One byte holds a cell of up to 16 categories; what overflows it on the way comes back with the last step.
    small = span <= 16
    kind = np.uint8 if small else np.int64
    cells = np.multiply(x, kind(span), dtype=kind, casting="unsafe")
    np.add(cells, y, out=cells, dtype=kind, casting="unsafe")
    cells -= kind(low * (span + 1) % 256 if small else low * (span + 1))
    counts = _counted_bytes(cells) if small else np.bincount(cells, minlength=span * span)
    table = counts[: span * span].reshape(span, span)
    used = np.flatnonzero(table.any(axis=0) | table.any(axis=1))
    return table[np.ix_(used, used)], tuple((used + low).tolist())


def _counted_bytes(cells: NDArray[np.uint8]) -> Counts:
    """How often each byte occurs, counted two at a time: half the additions, and they wait less for each other."""
    even = len(cells) // 2 * 2
    twos = np.bincount(cells[:even].view(np.uint16), minlength=1 << 16).reshape(256, 256)
    return np.asarray(twos.sum(axis=0) + twos.sum(axis=1) + np.bincount(cells[even:], minlength=256))


def _integers(values: Values) -> bool:
    return isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iub"


def _tally(met: CodePairs, apart: Floats) -> ClusterTally:
    """For each row: the counts of each rater's categories, of pairs that have neither's, and of disagreements."""
    size, same = (len(met.times), len(apart)), met.first == met.second
    counted = [
        np.bincount(rows * size[1] + codes, minlength=size[0] * size[1]).reshape(size)
        for rows, codes in ((met.rows, met.first), (met.rows, met.second), (met.rows[same], met.first[same]))
    ]
    counted[2] += counted[0].sum(axis=1, keepdims=True) - counted[0] - counted[1]
    seen = np.bincount(met.rows, weights=apart[met.first, met.second], minlength=size[0])
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
