"""Judgements as codes: categories in a fixed order, missing values apart."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Values = Sequence[Hashable] | NDArray[Any]
Weighing = Sequence[float] | NDArray[np.float64]
Categories = tuple[Hashable, ...]
Codes = NDArray[np.intp]
# A mask of units, or of pairs of values in their order.
Chosen = NDArray[np.bool_]
# Disagreement: "none" (of categories without order), "linear", "quadratic", "ordinal", or a matrix over the categories.
Weights = str | Sequence[Sequence[float]] | Floats

MISSING = -1
# The note beside full agreement on one category.
ONE_CATEGORY = "all judgements are of one category, which tells nothing of the others"
POWERS = {"none": 0, "linear": 1, "quadratic": 2}


def coded(raters: Sequence[Values], categories: Sequence[Hashable] | None = None) -> tuple[Codes, Categories]:
    """The codes (raters × units, MISSING for None and NaN) and the categories, by default those in use.

    ValueError if raters differ in length, a category is named twice, or a value is not among the categories.
    """
    rows = [plain(values) for values in raters]
    if len({len(row) for row in rows}) > 1:
        raise ValueError("raters were given different numbers of units")
    known = _in_use(rows) if categories is None else tuple(categories)
    index: dict[Hashable, int] = {category: code for code, category in enumerate(known)}
    if len(index) < len(known):
        raise ValueError("a category is named twice")
    index[None] = MISSING
    codes = np.empty((len(rows), len(rows[0]) if rows else 0), dtype=np.intp)
    for code, row in zip(codes, rows, strict=True):
        code[:] = [index.get(value, len(known)) for value in row]
    if (codes == len(known)).any():
        raise ValueError("a value is none of the categories")
    return codes, known


def category_counts(
    raters: Sequence[Values], categories: Sequence[Hashable] | None = None
) -> tuple[Floats, Categories]:
    """The number of raters that put each unit into each category (units × categories), and the categories in that
    order.
    """
    codes, known = coded(raters, categories)
    units = codes.shape[1]
    cells = (codes + np.arange(units) * len(known))[codes != MISSING]
    table = np.bincount(cells, minlength=units * len(known)).reshape(units, len(known))
    return table.astype(np.float64), known


def plain(values: Iterable[Hashable] | NDArray[Any]) -> list[Hashable]:
    """The values as plain Python ones, with None for missing ones."""
    listed = cast("list[Hashable]", values.tolist()) if isinstance(values, np.ndarray) else list(values)
    # Only NaN differs from itself.
    return [None if value != value else value for value in listed]


def objects(values: Values) -> NDArray[Any]:
    """The values as an object array, with None for missing ones."""
    listed = np.fromiter(values, dtype=object, count=len(values))
    # Only NaN differs from itself.
    listed[listed != listed] = None
    return listed


def _in_use(rows: Iterable[Iterable[Hashable]]) -> Categories:
    """The categories that occur, in an order that does not depend on their positions."""
    result = {value for row in rows for value in row if value is not None}
    return tuple(sorted(result, key=lambda value: (type(value).__name__, repr(value))))


def cluster_codes(clusters: Values | None, units: int) -> Codes | None:
    """The code of each unit's cluster, None without clusters; ValueError if a unit has none."""
    return None if clusters is None else group_codes(clusters, units)


def group_codes(clusters: Values, units: int) -> Codes:
    """The code of each unit's group; ValueError if a unit has none."""
    if isinstance(clusters, np.ndarray) and clusters.dtype == np.intp:
        codes: Codes = clusters
    else:
        codes = coded([clusters])[0][0]
    if len(codes) != units or (codes == MISSING).any():
        raise ValueError("every unit needs its cluster")
    return codes


def numbers(raters: Sequence[Values]) -> Floats:
    """The judgements as numbers (raters × units, NaN for missing); ValueError for words, infinities, ragged rows."""
    grid = np.asarray([plain(values) for values in raters], dtype=np.float64)
    if np.isinf(grid).any():
        raise ValueError("a value is infinite")
    return grid.reshape(len(raters), len(raters[0]) if len(raters) else 0)


def disagreements(weights: Weights, categories: int) -> Floats:
    """The disagreement of two categories (categories × categories): 0 or 1, d = |i − j|, d², d (d + 1) / 2, or as
    given.

    Ordinal weights count the pairs among the categories from i to j (Gwet 2014, chapter 3). ValueError unless a given
    matrix fits, is finite and not negative, with a diagonal of zeros.
    """
    if isinstance(weights, str):
        ranks = np.arange(categories, dtype=np.float64)
        apart: Floats = np.abs(ranks[:, None] - ranks)
        if weights == "ordinal":
            return np.asarray(apart * (apart + 1) / 2)
        if weights not in POWERS:
            raise ValueError(f"weights are none, linear, quadratic, ordinal or a matrix, not {weights}")
        return np.minimum(apart, 1.0) if weights == "none" else np.asarray(apart ** POWERS[weights])
    matrix = np.asarray(weights, dtype=np.float64)
    if matrix.shape != (categories, categories):
        raise ValueError(f"the weights are not {categories} × {categories}")
    if not np.isfinite(matrix).all() or (matrix < 0).any() or np.diagonal(matrix).any():
        raise ValueError(
            "weights are finite disagreements, none negative, none between a category and itself"
        )
    return matrix


def closeness(weights: Weights, categories: int) -> Floats:
    """The agreement of two categories (categories × categories), 1 for equal ones and 0 for those furthest apart.

    ValueError for weights that depend on which rater gave which category, or that distinguish no categories.
    """
    apart = disagreements(weights, categories)
    if (apart != apart.T).any() or not apart.any():
        raise ValueError("the weights are not symmetric, or hold no disagreement")
    return np.asarray(1 - apart / apart.max())


def in_order(weights: Weights, categories: Sequence[Hashable] | None) -> None:
    """ValueError if weights need an order of categories that was not given."""
    unordered = isinstance(weights, str) and weights == "none"
    if categories is None and not unordered:
        raise ValueError("weights need the categories in their order")


def named(weights: Weights) -> str:
    """The part of a figure's method that names its weights."""
    if not isinstance(weights, str):
        return ", given weights"
    return "" if weights == "none" else f", {weights} weights"


def left_out(units: int, of: int, why: str = "a judgement is missing") -> list[str]:
    """The note on units that a figure could not use."""
    return [f"{units:,} of {of:,} units left out: {why}"] if units else []
