"""Comparison of two raters: their figures on the same units, the difference and its interval."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotator.domain.texts.estimate import Estimate
from annotator.stats.agreement.levels import Added, Measure, kappa_of
from annotator.stats.intervals.clustered import (
    ClusterTally,
    Figure,
    ResamplingPlan,
    intervals,
    over,
    tallied,
    told,
)
from annotator.stats.intervals.coding import (
    MISSING,
    Values,
    Weighing,
    Weights,
    cluster_codes,
    coded,
    in_order,
    left_out,
    plain,
)
from annotator.stats.intervals.resampling import RESAMPLES, SEED, Floats
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
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> RaterComparison:
    """The figures of two raters and their differences, paired: every draw takes the same items for both.

    Units without a value of all three are left out and counted; other arguments and errors as in `both_ways`.
    """
    sheet, at_one, at_other = RatingSheet(truth, [one, other], positive, weights, clusters), 0, CELLS
    rows = sheet.rows([sheet.heavy])
    if sheet.n and _later(sheet.tally(rows), sheet.tally(np.roll(rows, CELLS, axis=1))):
        sheet, at_one, at_other = RatingSheet(truth, [other, one], positive, weights, clusters), CELLS, 0
    differences = [_less(figure.at(at_one), figure.at(at_other)) for figure in CELL_FIGURES.values()]
    classified, found = sheet.told([sheet.heavy], ResamplingPlan(resamples, seed), differences)
    weighted, told_of = "" if weights is None else ", units weighted", {}
    for gap, (name, figure) in zip(found, CELL_FIGURES.items(), strict=True):
        reason = f"of one of the two: {figure.undefined}" if sheet.n else NO_UNIT
        method = f"difference of {figure.method}{weighted}, paired"
        told_of[name] = told(gap, method, sheet.n, sheet.notes, sheet.missing, reason)
    places = at_one // CELLS, at_other // CELLS
    return RaterComparison(classified[places[0]], classified[places[1]], RatingFigures(**told_of))


def _later(tally: ClusterTally, turned: ClusterTally) -> bool:
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
    return difference(truth, one, other, measure, known, None, clusters, ResamplingPlan(resamples, seed))


def difference(
    truth: Values,
    one: Values,
    other: Values,
    measure: Measure,
    categories: Sequence[Hashable],
    weights: Weighing | None,
    clusters: Values | None,
    draws: ResamplingPlan,
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
    group, width = None if groups is None else groups[used], both[0].rows.shape[1]
    tally, turned = (
        tallied(np.hstack([first.rows, second.rows]), group) for first, second in (both, both[::-1])
    )
    if swapped := _later(tally, turned):
        tally, width = turned, both[1].rows.shape[1]
    front, back = both[::-1] if swapped else both

    def of_front(sums: Floats) -> Floats:
        return front.of(sums[:, :width])

    def of_back(sums: Floats) -> Floats:
        return back.of(sums[:, width:])

    gap = _less(of_back, of_front) if swapped else _less(of_front, of_back)
    (found,) = intervals(tally, [gap], draws)
    return told(found, method, n, notes, missing, measure.undefined)


def _less(one: Figure, other: Figure) -> Figure:
    return lambda sums: one(sums) - other(sums)


@dataclass(frozen=True, slots=True)
class RatedPairs:
    """True values beside a rater's, with the cluster and the weight of each pair."""

    truth: Values
    said: Values
    clusters: Values
    weights: Weighing


@dataclass(frozen=True, slots=True)
class GroupDifference:
    """A figure of one group of pairs, of another, and the difference."""

    one: Estimate
    other: Estimate
    difference: Estimate


def beside(
    one: RatedPairs,
    other: RatedPairs,
    figure: str | Measure,
    categories: Sequence[Hashable],
    positive: Hashable | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> GroupDifference:
    """A figure of two groups of pairs from the same clusters, and their difference: every draw takes both.

    Where agreement with people is held against that of people with one another, the pairs are others, the items the
    same. `figure` is a measure of the `categories`, one of `CELL_FIGURES` of a `positive` value, or without one
    accuracy, kappa or ac1 of all `categories`. ValueError for pairs that lack a value, and for values that do not
    fit together.
    """
    clusters = [*plain(one.clusters), *plain(other.clusters)]
    first, second = (_added(pairs, figure, categories, positive) for pairs in (one, other))
    name, reason = (
        (figure.method, figure.undefined)
        if isinstance(figure, Measure)
        else (CELL_FIGURES[figure].method, CELL_FIGURES[figure].undefined)
    )
    if not len(first.rows) or not len(second.rows):
        none = Estimate(None, method=name, note=NO_UNIT)
        return GroupDifference(none, none, replace(none, method=f"difference of {name}"))
    width, others = first.rows.shape[1], np.zeros((len(first.rows), second.rows.shape[1]))
    rows = np.vstack([
        np.hstack([first.rows, others]),
        np.hstack([np.zeros((len(second.rows), width)), second.rows]),
    ])  # fmt: skip

    def of_one(sums: Floats) -> Floats:
        return first.of(sums[:, :width])

    def of_other(sums: Floats) -> Floats:
        return second.of(sums[:, width:])

    figures = [of_one, of_other, _less(of_one, of_other)]
    found = intervals(
        tallied(rows, cluster_codes(clusters, len(clusters))), figures, ResamplingPlan(resamples, seed)
    )
    names = name, name, f"difference of {name}"
    return GroupDifference(*(
        told(bounds, words, n, [], undefined=reason)
        for bounds, words, n in zip(
            found, names, (len(first.rows), len(second.rows), len(first.rows)), strict=True
        )
    ))  # fmt: skip


def _added(
    pairs: RatedPairs, figure: str | Measure, categories: Sequence[Hashable], positive: Hashable | None
) -> Added:
    """What a group of pairs adds up to, and the figure of that."""
    if not isinstance(figure, Measure):
        of = CELL_FIGURES[figure].of if positive is not None else TABLE_FIGURES[figure]
        return Added(_tables(pairs, categories, positive), of)
    heavy = checked_weights(pairs.weights, len(plain(pairs.truth)))
    codes, _ = coded([pairs.truth, pairs.said], categories)
    return figure.of_pairs(codes[0], codes[1], heavy)


def _tables(pairs: RatedPairs, categories: Sequence[Hashable], positive: Hashable | None) -> Floats:
    """The confusion of each pair, weighed: four cells of a positive value, or true × said of all categories."""
    heavy = checked_weights(pairs.weights, len(plain(pairs.truth)))[:, None]
    if positive is not None:
        true, said = (
            np.array([value == positive for value in plain(values)], dtype=np.float64)
            for values in (pairs.truth, pairs.said)
        )
        return np.asarray(crossed(true, said) * heavy)
    codes, known = coded([pairs.truth, pairs.said], categories)
    unit = np.eye(len(known))
    both = unit[codes[0]][:, :, None] * unit[codes[1]][:, None, :]
    return np.asarray(both.reshape(len(heavy), unit.size) * heavy)


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
