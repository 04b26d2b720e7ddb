"""How two raters differ: their figures on the same units, one less the other, with the interval of the difference."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from annotator.domain.estimate import Estimate
from annotator.stats.cells import CELL_FIGURES, CELLS
from annotator.stats.classification import NO_UNIT, Classification, Figures, Sheet
from annotator.stats.clustered import Draws, Figure, Tally, intervals, over, tallied, told
from annotator.stats.coding import (
    MISSING,
    Values,
    Weights,
    cluster_codes,
    coded,
    disagreements,
    in_order,
    left_out,
    named,
)
from annotator.stats.resampling import RESAMPLES, SEED, Floats
from annotator.stats.tails import Interval


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two raters against one truth, on the units that have a value of all three, and `one` less `other`."""

    one: Classification
    other: Classification
    difference: Figures


def comparison(
    truth: Values,
    one: Values,
    other: Values,
    positive: Hashable,
    weights: Sequence[float] | None = None,
    clusters: Values | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    interval: Interval = "percentile",
) -> Comparison:
    """The figures of two raters and their differences, paired: every draw takes the same items for both.

    Units without a value of all three are left out and counted; other arguments and errors as in `classification`.
    """
    sheet, at_one, at_other = Sheet(truth, [one, other], positive, weights, clusters), 0, CELLS
    rows = sheet.rows([sheet.heavy])
    if sheet.n and _later(sheet.tally(rows), sheet.tally(np.roll(rows, CELLS, axis=1))):
        sheet, at_one, at_other = Sheet(truth, [other, one], positive, weights, clusters), CELLS, 0
    differences = [_less(figure.at(at_one), figure.at(at_other)) for figure in CELL_FIGURES.values()]
    classified, found = sheet.told([sheet.heavy], Draws(resamples, seed, interval), differences)
    weighted, told_of = "" if weights is None else ", units weighted", {}
    for gap, (name, figure) in zip(found, CELL_FIGURES.items(), strict=True):
        reason = f"of one of the two: {figure.undefined}" if sheet.n else NO_UNIT
        method = f"difference of {figure.method}{weighted}, paired"
        told_of[name] = told(gap, method, sheet.n, sheet.notes, sheet.missing, reason)
    places = at_one // CELLS, at_other // CELLS
    return Comparison(classified[places[0]], classified[places[1]], Figures(**told_of))


def _later(tally: Tally, turned: Tally) -> bool:
    """Whether the raters stand in the second of their two orders: swapping them then moves no draw."""
    return turned.key < tally.key


def kappa_difference(
    truth: Values,
    one: Values,
    other: Values,
    weights: Weights = "none",
    categories: Sequence[Hashable] | None = None,
    clusters: Values | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    interval: Interval = "percentile",
) -> Estimate:
    """Cohen's κ of `one` with the truth less that of `other`, on the units that have all three, paired.

    Any number of categories; arguments and errors as in `cohen_kappa`.
    """
    in_order(weights, categories)
    codes, known = coded([truth, one, other], categories)
    groups = cluster_codes(clusters, codes.shape[1])
    used = (codes != MISSING).all(axis=0)
    n, units, size = int(used.sum()), codes.shape[1], len(known)
    method, missing = f"difference of Cohen's κ{named(weights)}, paired", int((codes == MISSING).sum())
    notes = left_out(units - n, units)
    if n == 0:
        return Estimate(None, missing=missing, method=method, note="; ".join([NO_UNIT, *notes]))
    true, *said = codes[:, used]
    apart, unit = disagreements(weights, size), np.eye(size)
    first, second = (np.hstack([unit[of_one], apart[true, of_one][:, None]]) for of_one in said)
    group = None if groups is None else groups[used]
    tally, at_one, at_other = tallied(np.hstack([unit[true], first, second]), group), size, 2 * size + 1
    turned = tallied(np.hstack([unit[true], second, first]), group)
    if _later(tally, turned):
        tally, at_one, at_other = turned, at_other, at_one

    def kappa_of(column: int) -> Figure:
        def figure(sums: Floats) -> Floats:
            of_truth, of_one = sums[:, :size], sums[:, column : column + size]
            expected = ((of_truth @ apart) * of_one).sum(axis=1)
            return 1 - over(of_truth.sum(axis=1) * sums[:, column + size], expected)

        return figure

    difference = _less(kappa_of(at_one), kappa_of(at_other))
    (found,) = intervals(tally, [difference], Draws(resamples, seed, interval))
    reason = "one of the two has no κ: with the truth it used one category only"
    return told(found, method, n, notes, missing, reason)


def _less(one: Figure, other: Figure) -> Figure:
    return lambda sums: one(sums) - other(sums)
