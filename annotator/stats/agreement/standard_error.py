"""How far a figure of agreement errs in large samples: standard errors in closed form, for independent units."""

from collections.abc import Hashable, Sequence
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from annotator.stats.agreement.chance import agreeing_pairs, by_doubt, by_shares, evenly
from annotator.stats.intervals.coding import Values, Weights, category_counts, closeness, in_order
from annotator.stats.intervals.resampling import Floats

Figure = Literal["cohen", "scott", "brennan_prediger", "gwet"]


def kappa_se(table: ArrayLike, weights: Weights = "none", figure: Figure = "cohen") -> float | None:
    """The standard error of κ, or of another figure of two raters, from their confusion table (a's × b's counts).

    Fleiss, Cohen & Everitt (1969) for κ; the others by the same expansion (Gwet 2008). None where it is undefined.
    """
    counts = np.asarray(table, dtype=np.float64)
    if not (total := float(counts.sum())) or len(counts) < 2:
        return None
    cells, alike = counts / total, closeness(weights, len(counts))
    chance, slopes = _by_chance(cells, alike, figure)
    if chance >= 1:
        return None
    agreed = float((cells * alike).sum())
    moves = alike - (1 - agreed) / (1 - chance) * slopes
    variance = float((cells * (moves - (cells * moves).sum()) ** 2).sum()) / total
    return sqrt(variance) / (1 - chance)


def gwet_se(
    raters: Sequence[Values], weights: Weights = "none", categories: Sequence[Hashable] | None = None
) -> float | None:
    """The standard error of AC1 or AC2 of any number of raters × units (Gwet 2008).

    It divides by n (n − 1), where `kappa_se` divides by n². None where AC1 is undefined or there is one unit.
    """
    in_order(weights, categories)
    table, _ = category_counts(raters, categories)
    table = table[table.any(axis=1)]
    ratings, (units, size) = table.sum(axis=1), table.shape
    paired = ratings > 1
    if not paired.any() or size < 2 or units < 2:
        return None
    alike = closeness(weights, size)
    agreeing, each = agreeing_pairs(table, alike), table / ratings[:, None]
    shares = each.mean(axis=0)
    chance = float(by_doubt(shares[None], alike)[0])
    ac1 = (agreeing[paired].mean() - chance) / (1 - chance)
    own_chance = alike.sum() / (size * (size - 1)) * (each @ (1 - shares))
    own = units / paired.sum() * (agreeing - chance * paired) / (1 - chance)
    own -= 2 * (1 - ac1) * (own_chance - chance) / (1 - chance)
    return sqrt(float(((own - ac1) ** 2).sum()) / (units * (units - 1)))


def _by_chance(cells: Floats, alike: Floats, figure: Figure) -> tuple[float, Floats]:
    """The agreement by chance, and its slope in the share of each cell."""
    first, second = cells.sum(axis=1), cells.sum(axis=0)
    shares = (first + second) / 2
    if figure == "cohen":
        return float(first @ alike @ second), (alike @ second)[:, None] + first @ alike
    if figure == "scott":
        pull = alike @ shares
        return float(by_shares(shares[None], alike)[0]), pull[:, None] + pull
    if figure == "brennan_prediger":
        return float(evenly(shares[None], alike)[0]), np.zeros_like(cells)
    size = len(cells)
    slope = alike.sum() / (size * (size - 1))
    return float(by_doubt(shares[None], alike)[0]), slope * (1 - shares[:, None] - shares)
