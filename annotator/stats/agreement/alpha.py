"""Krippendorff's α, for any number of raters and with missing judgements."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from annotator.domain.texts.estimate import CHANCE, Estimate
from annotator.stats.agreement.chance import NO_SECOND
from annotator.stats.intervals.clustered import Figure, Statistic, estimate, over, tallied
from annotator.stats.intervals.coding import (
    Chosen,
    Floats,
    Values,
    category_counts,
    cluster_codes,
    left_out,
    numbers,
    other_classes,
)

Level = Literal["nominal", "ordinal", "interval"]
# Below this share of the sum of squares, squared distances are what rounding left over.
ROUNDING = 1e-12


def krippendorff_alpha(
    raters: Sequence[Values],
    level: Level = "nominal",
    categories: Sequence[Hashable] | None = None,
    clusters: Values | None = None,
) -> Estimate:
    """α of `raters` × units, None or NaN for missing (Krippendorff 2011), with its interval over clusters.

    Ordinal values need their `categories` in order; interval ones are numbers.
    `clusters` names the item of each unit, without which each stands for itself. A unit judged fewer than two
    times is left out. ValueError for values that do not fit together.
    """
    measured = added_up(raters, level, categories)
    units, paired = len(measured.judged), measured.judged > 1
    groups = cluster_codes(clusters, units)
    n, method = int(paired.sum()), f"Krippendorff's α, {level}"
    notes = left_out(units - n, units, "fewer than two judgements")
    if n == 0:
        return Estimate(None, method=method, note="; ".join([NO_SECOND, *notes]))
    tally = tallied(measured.rows(paired), None if groups is None else groups[paired])
    statistic = Statistic(measured.figure, CHANCE, measured.rests_on)
    found = estimate(tally, statistic, method, n, notes)
    undefined = f"all judgements of {n} units are the same, so chance would leave no disagreement"
    return found or Estimate(None, n=n, method=method, note="; ".join([undefined, *notes]))


@dataclass(frozen=True, slots=True)
class Measured:
    """The number of judgements of each unit, the columns that add up over a choice of units, and α from their sums.

    `rests_on` gives how many pairs of judgements each row has that are both of other values than each, where values are
    counted: where few are, nearly all of them may be missing by chance, and the spread of α with them.
    """

    judged: Floats
    rows: Callable[[Chosen], Floats]
    figure: Figure
    rests_on: Callable[[Floats], Floats] | None = None


def added_up(raters: Sequence[Values], level: Level, categories: Sequence[Hashable] | None) -> Measured:
    """What α of these judgements is read off; values and errors as in `krippendorff_alpha`."""
    if level == "interval":
        return _interval(numbers(raters))
    if level == "nominal":
        return _nominal(category_counts(raters, categories)[0])
    if level != "ordinal" or categories is None:
        raise ValueError("the level is nominal, ordinal with categories in their order, or interval")
    return _ordinal(category_counts(raters, categories)[0])


def _nominal(table: Floats) -> Measured:
    """Any two values are as far apart: each unit adds its counts of values and its disagreement."""
    judged, size = table.sum(axis=1), table.shape[1]
    squared, others = 1 - np.eye(size), _pairs_of_others(table)

    def rows(paired: Chosen) -> Floats:
        seen = _apart(table[paired], squared) / (judged[paired] - 1)
        return np.column_stack([table[paired], others[paired], seen])

    def figure(sums: Floats) -> Floats:
        values, seen = sums[:, :size], sums[:, -1]
        return 1 - over((values.sum(axis=1) - 1) * seen, _apart(values, squared))

    return Measured(judged, rows, figure, lambda sums: sums[:, size:-1])


def _pairs_of_others(table: Floats) -> Floats:
    """How many pairs of judgements of each unit are both of other values than each (units × values)."""
    others = other_classes(table)
    return others * (others - 1)


def _apart(values: Floats, squared: Floats) -> Floats:
    """The sum of squared distances over all ordered pairs of values, from the counts of each (rows × values)."""
    return np.asarray(((values @ squared) * values).sum(axis=1))


def _ordinal(table: Floats) -> Measured:
    """Distances are differences of mean ranks, which move with the units: these add their pairs of values."""
    table = table[:, table.any(axis=0)]
    judged, size, others = table.sum(axis=1), table.shape[1], _pairs_of_others(table)
    low, high = np.triu_indices(size, 1)

    def rows(paired: Chosen) -> Floats:
        met = table[paired][:, low] * table[paired][:, high]
        return np.hstack([table[paired], others[paired], met / (judged[paired] - 1)[:, None]])

    def figure(sums: Floats) -> Floats:
        values, met = sums[:, :size], sums[:, 2 * size :]
        ranks = values.cumsum(axis=1) - values / 2
        squared = (ranks[:, high] - ranks[:, low]) ** 2
        expected = (values[:, low] * values[:, high] * squared).sum(axis=1)
        return 1 - over((values.sum(axis=1) - 1) * (met * squared).sum(axis=1), expected)

    return Measured(judged, rows, figure, lambda sums: sums[:, size : 2 * size])


def _interval(grid: Floats) -> Measured:
    """Distances are differences: each unit adds the number, the sum and the squares of its values."""
    given = ~np.isnan(grid)
    # Counted from the least value: squares of values far from zero would drown their differences.
    grid = np.where(given, grid - np.min(grid, initial=np.inf, where=given), 0.0)
    judged = given.sum(axis=0).astype(np.float64)

    def rows(paired: Chosen) -> Floats:
        values = grid[:, paired]
        moments = np.stack([judged[paired], values.sum(axis=0), (values**2).sum(axis=0)], axis=1)
        return np.column_stack([moments, _spread(moments) / (judged[paired] - 1)])

    def figure(sums: Floats) -> Floats:
        return 1 - over((sums[:, 0] - 1) * sums[:, 3], _spread(sums))

    return Measured(judged, rows, figure)


def _spread(moments: Floats) -> Floats:
    """The sum of squared differences over all unordered pairs of values, from their number, sum and squares."""
    size = moments[:, 0] * moments[:, 2]
    spread = size - moments[:, 1] ** 2
    return np.where(spread > ROUNDING * size, spread, 0.0)
