"""Confusion matrices: how often each category of one rater met each category of another."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.stats.intervals.coding import MISSING, Categories, Codes, Values, cluster_codes, coded

Counts = NDArray[np.int64]

# Integers over a range no wider than this, none beyond the second figure, are counted without coding them.
WIDEST_RANGE = 256
LARGEST = 1 << 32


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
