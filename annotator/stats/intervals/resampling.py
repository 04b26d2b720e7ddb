"""Bootstrap of items: one seeded matrix of counts that all figures share."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

RESAMPLES = 10_000
SEED = 20_250_721
# Counts held at once. A chunk that fits the second-level cache is fastest, but a product wants some twenty rows:
# 770 resamples of 65 items, 20 of 10 000, fewer only where 20 would hold more than the second figure.
CACHED_CELLS = 50_000
MOST_CELLS = 200_000
GOOD_ROWS = 20
# Counts that are kept for the next figure of as many items: 16 MB.
KEPT_CELLS = 8_000_000
MANTISSA = 53


def counts(items: int, resamples: int = RESAMPLES, seed: int = SEED) -> Iterator[Floats]:
    """Chunks (rows × items) of how often each resample drew each item; every row sums to `items`.

    The seed is spawned for each chunk, so a chunk does not depend on those before it.
    """
    if items * resamples > KEPT_CELLS:
        return _drawn(items, resamples, seed)
    return (chunk.astype(np.float64) for chunk in _kept(items, resamples, seed))


@lru_cache(maxsize=1)
def _kept(items: int, resamples: int, seed: int) -> tuple[NDArray[Any], ...]:
    """The same in as few bytes as hold a count: one figure after the other is of the same items."""
    return tuple(chunk.astype(np.min_scalar_type(items)) for chunk in _drawn(items, resamples, seed))


def _drawn(items: int, resamples: int, seed: int) -> Iterator[Floats]:
    starts = range(0, resamples, rows := chunk_rows(items))
    for start, child in zip(starts, np.random.SeedSequence(seed).spawn(len(starts)), strict=True):
        yield _chunk(items, min(rows, resamples - start), np.random.Generator(np.random.SFC64(child)))


def chunk_rows(items: int) -> int:
    """How many resamples of that many items make one chunk."""
    return max(1, min(max(CACHED_CELLS // items, GOOD_ROWS), MOST_CELLS // items))


def _chunk(items: int, rows: int, rng: np.random.Generator) -> Floats:
    """Multinomial counts by tallying draws: some ten times faster than drawing them category by category."""
    draws = rng.integers(0, items, size=(rows, items), dtype=np.uint16 if items <= 4096 else np.uint32)
    cells = draws + np.arange(rows, dtype=np.int64)[:, None] * items
    return np.bincount(cells.ravel(), minlength=rows * items).reshape(rows, items).astype(np.float64)


def resampled_sums(columns: ArrayLike, resamples: int = RESAMPLES, seed: int = SEED) -> Floats:
    """The sums (resamples × columns) of `columns` (items × columns, finite) over every resample of the items.

    A column's sums are the same bits whatever columns stand beside it, and in whatever order.
    """
    grid = exactly_summable(np.asarray(columns, dtype=np.float64))
    if not len(grid):
        raise ValueError("there are no items to draw from")
    sums = np.empty((resamples, grid.shape[1]))
    start = 0
    for chunk in counts(len(grid), resamples, seed):
        np.matmul(chunk, grid, out=sums[start : start + len(chunk)])
        start += len(chunk)
    return sums


def exactly_summable(columns: Floats) -> Floats:
    """The columns rounded to so few bits that no sum over a resample rounds.

    A matrix product adds in an order that depends on its width and on the machine; sums that never round do
    not. With 65 items the rounding moves a value by less than 1e-13 of the column's largest.
    """
    spare = MANTISSA - 1 - max(1, len(columns)).bit_length()
    _, exponent = np.frexp(np.max(np.abs(columns), axis=0, initial=0.0))
    whole: Floats = np.rint(np.ldexp(columns, spare - exponent))
    rounded: Floats = np.ldexp(whole, exponent - spare)
    return rounded
