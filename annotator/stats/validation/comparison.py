"""Comparison of two raters: their figures on the same units, the difference and its interval."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotator.domain.texts.estimate import Estimate
from annotator.stats.agreement.levels import Added, Measure, kappa_of
from annotator.stats.intervals.clustered import (
    Figure,
    Statistic,
    estimate,
    intervals,
    over,
    tallied,
    told,
)
from annotator.stats.intervals.coding import (
    MISSING,
    Codes,
    Floats,
    Values,
    Weighing,
    Weights,
    cluster_codes,
    coded,
    in_order,
    left_out,
    plain,
)
from annotator.stats.intervals.student import p_above, range_of_difference
from annotator.stats.validation.cells import CELL_FIGURES, CELLS, crossed
from annotator.stats.validation.classification import (
    NO_UNIT,
    RatingFigures,
    RatingSheet,
    checked_weights,
)


@dataclass(frozen=True, slots=True)
class RaterComparison:
    """Two raters against one truth, on the units that have all three values, and `one` less `other`."""

    one: RatingFigures
    other: RatingFigures
    difference: RatingFigures


def comparison(
    truth: Values,
    one: Values,
    other: Values,
    positive: Hashable,
    weights: Weighing | None = None,
    clusters: Values | None = None,
) -> RaterComparison:
    """The figures of two raters and their differences, paired: what leaves a cluster out leaves it out of both.

    Units without a value of all three are left out and counted; other arguments and errors as in `both_ways`.
    """
    sheet = RatingSheet(truth, [one, other], positive, weights, clusters)
    differences = [_less(figure.at(0), figure.at(CELLS)) for figure in CELL_FIGURES.values()]
    classified, found = sheet.told([sheet.heavy], differences)
    weighted, told_of = "" if weights is None else ", units weighted", {}
    for gap, (name, figure) in zip(found, CELL_FIGURES.items(), strict=True):
        reason = f"of one of the two: {figure.undefined}" if sheet.n else NO_UNIT
        method = f"difference of {figure.method}{weighted}, paired"
        told_of[name] = told(gap, method, sheet.n, sheet.notes, sheet.missing, reason)
    return RaterComparison(classified[0], classified[1], RatingFigures(**told_of))


def kappa_difference(
    truth: Values,
    one: Values,
    other: Values,
    weights: Weights = "none",
    categories: Sequence[Hashable] | None = None,
    clusters: Values | None = None,
) -> Estimate:
    """Cohen's κ of `one` with the truth less that of `other`, on the units that have all three, paired.

    Any number of categories; arguments and errors as in `cohen_kappa`.
    """
    in_order(weights, categories)
    known = coded([truth, one, other], categories)[1]
    measure = replace(
        kappa_of(len(known), weights),
        undefined="one of the two has no κ: with the truth it used one category only",
    )
    return difference(truth, one, other, measure, known, None, clusters)


def difference(
    truth: Values,
    one: Values,
    other: Values,
    measure: Measure,
    categories: Sequence[Hashable],
    weights: Weighing | None,
    clusters: Values | None,
) -> Estimate:
    """A measure of `one` with the truth less that of `other`, on the units that have all three, paired.

    `categories` are those of the measure, in their order; `weights` count a unit as so many. ValueError for values
    that do not fit together.
    """
    codes, _ = coded([truth, one, other], categories)
    groups = cluster_codes(clusters, codes.shape[1])
    used = (codes != MISSING).all(axis=0)
    n, units = int(used.sum()), codes.shape[1]
    weighted = "" if weights is None else ", units weighted"
    method, missing = f"difference of {measure.method}{weighted}, paired", int((codes == MISSING).sum())
    notes = left_out(units - n, units)
    if n == 0:
        return Estimate(None, missing=missing, method=method, note="; ".join([NO_UNIT, *notes]))
    heavy = None if weights is None else checked_weights(weights, units)[used]
    true, *said = codes[:, used]
    both = [measure.of_pairs(true, of_one, heavy) for of_one in said]
    width = both[0].rows.shape[1]
    tally = tallied(np.hstack([added.rows for added in both]), None if groups is None else groups[used])
    gap = _less(measure.statistic(both[0], 0, width), measure.statistic(both[1], width))
    told_gap = estimate(tally, gap, method, n, notes, missing)
    return told_gap or Estimate(
        None, n=n, missing=missing, method=method, note="; ".join([measure.undefined, *notes])
    )


def _less(one: Statistic, other: Statistic) -> Statistic:
    """The difference of two figures of one kind, which rests on what either does."""

    def classes(rows: Floats) -> Floats:
        return np.hstack([each.rests_on(rows) for each in (one, other) if each.rests_on is not None])

    return Statistic(
        lambda sums: one.of(sums) - other.of(sums),
        range_of_difference(one.within),
        None if one.rests_on is None else classes,
    )


@dataclass(frozen=True, slots=True)
class RatedPairs:
    """True values beside a rater's, with the cluster and the weight of each pair."""

    truth: Values
    said: Values
    clusters: Values
    weights: Weighing


@dataclass(frozen=True, slots=True)
class GroupDifference:
    """A figure of one group of pairs, of another, and the difference.

    `p_above` and `p_below` are one-sided p-values: of a true difference at the margin or below it, or above it. They
    have t of half as many items: far out, where the best of many judges lies, that of all is too sure of a variance
    that was seen in few.
    """

    one: Estimate
    other: Estimate
    difference: Estimate
    p_above: float | None = None
    p_below: float | None = None


def beside(
    one: RatedPairs,
    other: RatedPairs,
    figure: str | Measure,
    categories: Sequence[Hashable],
    positive: Hashable | None = None,
    margin: float = 0.0,
) -> GroupDifference:
    """A figure of two groups of pairs from the same clusters, and their difference, whose variance is that of both.

    Where agreement with people is held against that of people with one another, the pairs are others, the items the
    same. `figure` is a measure of the `categories`, one of `CELL_FIGURES` of a `positive` value, or without one
    accuracy, kappa or ac1 of all `categories`; the difference is tested against `margin`. ValueError for pairs that
    lack a value, and for values that do not fit together.
    """
    clusters = [*plain(one.clusters), *plain(other.clusters)]
    measure = figure if isinstance(figure, Measure) else _measure(figure, categories, positive)
    name, reason = measure.method, measure.undefined
    first, second = (_added(pairs, measure, categories) for pairs in (one, other))
    if not len(first.rows) or not len(second.rows):
        none = Estimate(None, method=name, note=NO_UNIT)
        return GroupDifference(none, none, replace(none, method=f"difference of {name}"))
    width = first.rows.shape[1]
    rows = np.zeros((len(clusters), width + second.rows.shape[1]))
    rows[: len(first.rows), :width], rows[len(first.rows) :, width:] = first.rows, second.rows
    both = measure.statistic(first, 0, width), measure.statistic(second, width)
    less = _less(*both)
    found = intervals(tallied(rows, cluster_codes(clusters, len(clusters))), [*both, less])
    gap, above = found[2], None
    if gap.value is not None and gap.low is not None:
        above = p_above(gap.value, gap.spread, max(2, (gap.clusters + 1) // 2), less.within, margin)
    return GroupDifference(
        told(found[0], name, len(first.rows), [], undefined=reason),
        told(found[1], name, len(second.rows), [], undefined=reason),
        told(gap, f"difference of {name}", len(first.rows), [], undefined=reason),
        above,
        None if above is None else 1 - above,
    )


def _added(pairs: RatedPairs, measure: Measure, categories: Sequence[Hashable]) -> Added:
    """What a group of pairs adds up to, and the figure of that."""
    heavy = checked_weights(pairs.weights, len(plain(pairs.truth)))
    codes, _ = coded([pairs.truth, pairs.said], categories)
    return measure.of_pairs(codes[0], codes[1], heavy)


def _measure(name: str, categories: Sequence[Hashable], positive: Hashable | None) -> Measure:
    """A figure of the cells of a positive value, or without one of the confusion of all categories."""
    cell, size = CELL_FIGURES[name], len(categories)
    unit = np.eye(size)
    is_positive = np.array([category == positive for category in categories], dtype=np.float64)

    def adds(first: Codes, second: Codes) -> Added:
        if positive is not None:
            return Added(crossed(is_positive[first], is_positive[second]), cell.of, cell.rests_on)
        both = unit[first][:, :, None] * unit[second][:, None, :]
        rests_on = others if name == "kappa" else None
        return Added(both.reshape(len(first), size * size), TABLE_FIGURES[name], rests_on)

    def others(rows: Floats) -> Floats:
        """How many units of each row have a category that is not each, on both sides."""
        whole, _, true, said = _shaped(rows)
        return whole[:, None] - true - said + rows[:, :: size + 1]

    return Measure(cell.method, cell.undefined, adds, within=cell.within)


def _shaped(sums: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """The whole, what is on the diagonal, and both margins of tables (draws × cells)."""
    size = round(sums.shape[1] ** 0.5)
    tables = sums.reshape(len(sums), size, size)
    return sums.sum(axis=1), np.trace(tables, axis1=1, axis2=2), tables.sum(axis=2), tables.sum(axis=1)


def _accuracy(sums: Floats) -> Floats:
    whole, same, _, _ = _shaped(sums)
    return over(same, whole)


def _kappa(sums: Floats) -> Floats:
    whole, same, true, said = _shaped(sums)
    chance = (true * said).sum(axis=1)
    return over(whole * same - chance, whole**2 - chance)


def _ac1(sums: Floats) -> Floats:
    whole, same, true, said = _shaped(sums)
    shares = over((true + said) / 2, whole[:, None] + np.zeros_like(true))
    chance = (shares * (1 - shares)).sum(axis=1) / (true.shape[1] - 1)
    return over(over(same, whole) - chance, 1 - chance)


# Of any number of categories.
TABLE_FIGURES: dict[str, Figure] = {"accuracy": _accuracy, "kappa": _kappa, "ac1": _ac1}
