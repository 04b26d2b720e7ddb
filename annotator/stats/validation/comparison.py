"""Comparison of two raters: their figures on the same units, the difference and its interval."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from annotator.domain.texts.estimate import CHANCE, SHARE, Estimate
from annotator.stats.agreement.levels import Added, Measure, kappa_of
from annotator.stats.intervals.clustered import (
    ClusterTally,
    Figure,
    IntervalEstimate,
    Statistic,
    benjamini_yekutieli,
    estimate,
    intervals,
    over,
    tallied,
    to_estimate,
)
from annotator.stats.intervals.coding import (
    MISSING,
    ONE_CATEGORY,
    Chosen,
    Codes,
    Floats,
    Values,
    Weighing,
    Weights,
    cluster_codes,
    coded,
    in_order,
    left_out,
    numbers,
    objects,
    plain,
)
from annotator.stats.intervals.student import Bounds, lower_tail, p_above, range_of_difference

# Sums (draws × 4): true positives, false positives, false negatives, true negatives, as counts or as weights.
CELLS = 4
WEIGHTLESS = "the units weigh nothing"


@dataclass(frozen=True, slots=True)
class CellFigure:
    """A figure of the cells, its name, the reason it may be undefined, its bounds and the classes it rests on."""

    method: str
    of: Figure
    undefined: str
    within: Bounds = SHARE
    rests_on: Callable[[Floats], Floats] | None = None

    def at(self, column: int) -> Statistic:
        """The figure of the four columns from `column` on."""
        return Statistic(self.of, self.within, self.rests_on).at(column, column + CELLS)


def _having(classes: tuple[tuple[int, ...], ...], cells: Floats) -> Floats:
    """The number of units each row has of each class, which is given by its cells (rows × classes)."""
    return np.stack([cells[:, list(each)].sum(axis=1) for each in classes], axis=1)


TRUE_CLASSES = partial(_having, ((0, 2), (1, 3)))
# Agreement beyond chance rests on units to which both give one class: if few have it, its spread may not be seen.
AGREED_CLASSES = partial(_having, ((0,), (3,)))


def accuracy(cells: Floats) -> Floats:
    """The share of units on which both agree."""
    return over(cells[:, 0] + cells[:, 3], cells.sum(axis=1))


def precision(cells: Floats) -> Floats:
    """The share of positive calls that are correct."""
    return over(cells[:, 0], cells[:, 0] + cells[:, 1])


def recall(cells: Floats) -> Floats:
    """The share of positive units that are called so."""
    return over(cells[:, 0], cells[:, 0] + cells[:, 2])


def specificity(cells: Floats) -> Floats:
    """The share of negative units that are called so."""
    return over(cells[:, 3], cells[:, 3] + cells[:, 1])


def f1(cells: Floats) -> Floats:
    """The harmonic mean of precision and recall."""
    return over(2 * cells[:, 0], 2 * cells[:, 0] + cells[:, 1] + cells[:, 2])


def balanced_accuracy(cells: Floats) -> Floats:
    """The mean of recall and specificity (Brodersen et al. 2010)."""
    return (recall(cells) + specificity(cells)) / 2


def mcc(cells: Floats) -> Floats:
    """Matthews' correlation of two series of two classes (Matthews 1975)."""
    tp, fp, fn, tn = cells.T
    return over(tp * tn - fp * fn, np.sqrt((tp + fp) * (fn + tn) * (tp + fn) * (fp + tn)))


def kappa(cells: Floats) -> Floats:
    """Cohen's κ of two classes (Cohen 1960); numerator and denominator are multiplied by the squared sum of the
    cells.
    """
    tp, fp, fn, tn = cells.T
    return over(2 * (tp * tn - fp * fn), (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))


def ac1(cells: Floats) -> Floats:
    """Gwet's AC1 of two classes: chance is 2 q (1 − q), q the share of positive judgements of both (Gwet 2008)."""
    tp, fp, fn, tn = cells.T
    whole, positive = cells.sum(axis=1), 2 * tp + fp + fn
    chance = positive * (2 * whole - positive) / 2
    return over(whole * (tp + tn) - chance, whole**2 - chance)


NO_CLASS = "only one class occurs among the true values"
CELL_FIGURES: dict[str, CellFigure] = {
    "accuracy": CellFigure("accuracy", accuracy, WEIGHTLESS),
    "precision": CellFigure(
        "precision", precision, "nothing was called positive", rests_on=partial(_having, ((0, 1),))
    ),
    "recall": CellFigure("recall", recall, "nothing is positive", rests_on=partial(_having, ((0, 2),))),
    "specificity": CellFigure(
        "specificity", specificity, "nothing is negative", rests_on=partial(_having, ((1, 3),))
    ),
    "f1": CellFigure(
        "f1", f1, "nothing is positive and nothing was called so", rests_on=partial(_having, ((0, 1, 2),))
    ),
    "balanced_accuracy": CellFigure("balanced accuracy", balanced_accuracy, NO_CLASS, SHARE, TRUE_CLASSES),
    "mcc": CellFigure("MCC", mcc, "one side used one class only", CHANCE, AGREED_CLASSES),
    "kappa": CellFigure(
        "Cohen's κ",
        kappa,
        "both used one class only, so chance alone agrees as often",
        CHANCE,
        AGREED_CLASSES,
    ),
    "ac1": CellFigure("Gwet's AC1", ac1, WEIGHTLESS, CHANCE),
}


def crossed(true: Floats, predicted: Floats) -> Floats:
    """The cells of each unit (units × 4), from whether it is positive and whether it was called so."""
    return np.column_stack(
        [true * predicted, (1 - true) * predicted, true * (1 - predicted), (1 - true) * (1 - predicted)]
    )


NO_UNIT = "no unit has both a true value and one that was said"


# A figure's name → its estimate.
Named = dict[str, Estimate]


def both_ways(
    truth: Values,
    predicted: Values,
    positive: Hashable,
    weights: Weighing,
    clusters: Values | None = None,
) -> tuple[Named, Named]:
    """The figures of the `predicted` values, unweighted and weighted, with their intervals over clusters.

    Values by unit, None or NaN if missing: such units are left out and counted. Everything but `positive` is
    negative. `weights` multiply units (ResearcherBench, Table 2); `clusters` names the item of each unit; without it
    each unit is its own cluster. ValueError for lengths that differ, and for weights that are negative or not finite.
    """
    sheet = RatingSheet(truth, [predicted], positive, weights, clusters)
    sums, tally = sheet.tally([None, sheet.heavy])
    statistics = [
        replace(figure.at(column), units=sheet.n if figure.within == SHARE else inf)
        for column in (0, CELLS)
        for figure in CELL_FIGURES.values()
    ]
    result, many = intervals(tally, statistics), len(CELL_FIGURES)
    return sheet.classified(sums[0], result[:many], None), sheet.classified(
        sums[1], result[many:], sheet.heavy
    )


class RatingSheet:
    """Units with a true value and one of every rater, as cells to be weighted and added up."""

    def __init__(
        self,
        truth: Values,
        raters: Sequence[Values],
        positive: Hashable,
        weights: Weighing | None,
        clusters: Values | None,
    ) -> None:
        """ValueError unless values, weights and clusters are of the same units."""
        listed = [objects(values) for values in (truth, *raters)]
        units = len(listed[0])
        self.heavy = None if weights is None else checked_weights(weights, units)
        if len({len(values) for values in listed}) > 1:
            raise ValueError("the true values and those that were said must be of the same units")
        given = [np.asarray(values != None) for values in listed]  # noqa: E711
        self.used: Chosen = np.logical_and.reduce(given)
        positive_code = objects([positive])
        true, *predicted = (np.asarray(values == positive_code, dtype=np.float64) for values in listed)
        self._cells = [crossed(true, of_one)[self.used] for of_one in predicted]
        # The missing values of a lone rater, as if all were wrong, and as if all were right.
        self._lost: Chosen = given[0] & ~given[-1]
        self._open = [crossed(true, of_all) for of_all in (1 - true, true)]
        self._groups: Codes | None = cluster_codes(clusters, units)
        self.n = len(self._cells[0])
        self.missing = sum(units - int(values.sum()) for values in given)
        self.notes = left_out(units - self.n, units)

    def tally(self, ways: Sequence[Floats | None]) -> tuple[Floats, ClusterTally]:
        """The cells of each rater in turn, weighted each way, the ways side by side: their sums, and by cluster."""
        factors = [np.ones(self.n) if heavy is None else heavy[self.used] for heavy in ways]
        rows = np.hstack([cells * factor[:, None] for factor in factors for cells in self._cells])
        groups = None if self._groups is None else self._groups[self.used]
        return rows.sum(axis=0).reshape(-1, CELLS), tallied(rows, groups)

    def classified(self, cells: Floats, estimates: Sequence[IntervalEstimate], heavy: Floats | None) -> Named:
        """A lone rater's figures from the sums of its cells, with the floor and ceiling that missing values leave."""
        weighted = "" if heavy is None else ", units weighted"
        one_class = [ONE_CATEGORY] if 0 < cells.sum() == max(cells[0], cells[3]) else []
        figures, own = Named(), dict(zip(CELL_FIGURES, estimates, strict=True))
        own["balanced_accuracy"] = halfway(own["balanced_accuracy"], own["recall"], own["specificity"])
        for name, figure in CELL_FIGURES.items():
            estimate = own[name]
            undefined = figure.undefined if self.n else NO_UNIT
            figures[name] = to_estimate(
                estimate,
                figure.method + weighted,
                self.n,
                self.notes,
                self.missing,
                undefined,
                value_notes=one_class,
            )
            if figure.within == SHARE and self._lost.any() and estimate.value is not None:
                lost = self._lost * (1.0 if heavy is None else heavy)
                floor, ceiling = (float(figure.of((cells + lost @ of)[None])[0]) for of in self._open)
                figures[name] = replace(figures[name], floor=floor, ceiling=ceiling)
        return figures


def halfway(mean: IntervalEstimate, estimate: IntervalEstimate, other: IntervalEstimate) -> IntervalEstimate:
    """The mean of two shares, with the interval from theirs and their correlation (Zou & Donner 2008)."""
    if estimate.value is None or estimate.low is None or estimate.high is None or mean.value is None:
        return replace(mean, low=None, high=None, warnings=mean.warnings or estimate.warnings)
    if other.value is None or other.low is None or other.high is None:
        return replace(mean, low=None, high=None, warnings=mean.warnings or other.warnings)
    apart = sqrt(estimate.spread * other.spread)
    alike = (4 * mean.spread - estimate.spread - other.spread) / (2 * apart) if apart else 0.0

    def reach(a: float, b: float) -> float:
        return sqrt(max(0.0, a * a + b * b + 2 * alike * a * b)) / 2

    low = mean.value - reach(estimate.value - estimate.low, other.value - other.low)
    high = mean.value + reach(estimate.high - estimate.value, other.high - other.value)
    return replace(mean, low=max(0.0, low), high=min(1.0, high))


def checked_weights(weights: Weighing, units: int, *, signed: bool = False) -> Floats:
    """The weights as numbers; ValueError unless each unit has a finite one, not negative unless `signed`."""
    heavy = np.asarray(weights, dtype=np.float64)
    if heavy.shape != (units,):
        raise ValueError(f"weights for {heavy.size} of {units} units")
    if not np.isfinite(heavy).all():
        raise ValueError("a weight is a finite number")
    if not signed and (heavy < 0).any():
        raise ValueError("a weight that counts units is not negative")
    return heavy


def cell_differences(
    truth: Values,
    one: Values,
    other: Values,
    positive: Hashable,
    weights: Weighing | None = None,
    clusters: Values | None = None,
) -> Named:
    """The figures of `one` less those of `other`, paired: a cluster is left out of both at once.

    Units without all three values are left out and counted; other arguments and errors as in `both_ways`.
    """
    sheet = RatingSheet(truth, [one, other], positive, weights, clusters)
    _, tally = sheet.tally([sheet.heavy])
    gaps = intervals(tally, [_less(figure.at(0), figure.at(CELLS)) for figure in CELL_FIGURES.values()])
    weighted, result = "" if weights is None else ", units weighted", Named()
    for gap, (name, figure) in zip(gaps, CELL_FIGURES.items(), strict=True):
        reason = f"of one of the two: {figure.undefined}" if sheet.n else NO_UNIT
        method = f"difference of {figure.method}{weighted}, paired"
        result[name] = to_estimate(gap, method, sheet.n, sheet.notes, sheet.missing, reason)
    return result


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

    `categories` are those of the measure, in their order; `weights` multiply units. ValueError for values that do not
    fit together.
    """
    codes, _ = coded([truth, one, other], categories)
    groups = cluster_codes(clusters, codes.shape[1])
    used = (codes != MISSING).all(axis=0)
    n, units = int(used.sum()), codes.shape[1]
    weighted = "" if weights is None else ", units weighted"
    method, missing = f"difference of {measure.method}{weighted}, paired", int((codes == MISSING).sum())
    notes = left_out(units - n, units)
    heavy = None if weights is None or not n else checked_weights(weights, units)[used]
    true, *predicted = codes[:, used]
    both = [measure.of_pairs(true, of_one, heavy) for of_one in predicted]
    width = both[0].rows.shape[1]
    tally = tallied(np.hstack([added.rows for added in both]), None if groups is None else groups[used])
    gap = _less(measure.statistic(both[0], 0, width), measure.statistic(both[1], width))
    return estimate(tally, gap, method, n, notes, missing, measure.undefined if n else NO_UNIT)


def _less(statistic: Statistic, other: Statistic) -> Statistic:
    """The difference of two figures of one kind; it rests on the classes of both."""

    def classes(rows: Floats) -> Floats:
        return np.hstack([each.rests_on(rows) for each in (statistic, other) if each.rests_on is not None])

    return Statistic(
        lambda sums: statistic.of(sums) - other.of(sums),
        range_of_difference(statistic.within),
        None if statistic.rests_on is None else classes,
    )


@dataclass(frozen=True, slots=True)
class RatedPairs:
    """True values and a rater's, with the item of each pair, which is its cluster, and its weight."""

    truth: NDArray[Any]
    verdicts: NDArray[Any]
    items: Codes
    weights: Floats


@dataclass(frozen=True, slots=True)
class GroupDifference:
    """A figure of one group of pairs, of another, and the difference.

    `p_above` and `p_below` are one-sided p-values: of a true difference at the margin or below it, or above it. Their
    t has the degrees of freedom of half as many items: far out, where the best of many judges lies, t of all items
    trusts a variance from few items too much.
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
    """A figure of two groups of pairs from the same clusters, and their difference with their joint variance.

    For comparing agreement with people to that of people with one another: the pairs differ, the items are the same.
    `figure` is a measure of the `categories`, one of `CELL_FIGURES` of a `positive` value, or without one accuracy,
    kappa or ac1 of all `categories`; the difference is tested against `margin`. ValueError for pairs that lack a
    value, and for values that do not fit together.
    """
    clusters = [*plain(one.items), *plain(other.items)]
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
    result = intervals(tallied(rows, cluster_codes(clusters, len(clusters))), [*both, less])
    gap, above = result[2], None
    if gap.value is not None and gap.low is not None:
        above = p_above(gap.value, gap.spread, max(2, (gap.clusters + 1) // 2), less.within, margin)
    return GroupDifference(
        to_estimate(result[0], name, len(first.rows), [], undefined=reason),
        to_estimate(result[1], name, len(second.rows), [], undefined=reason),
        to_estimate(gap, f"difference of {name}", len(first.rows), [], undefined=reason),
        above,
        None if above is None else 1 - above,
    )


def _added(pairs: RatedPairs, measure: Measure, categories: Sequence[Hashable]) -> Added:
    heavy = checked_weights(pairs.weights, len(plain(pairs.truth)))
    codes, _ = coded([pairs.truth, pairs.verdicts], categories)
    return measure.of_pairs(codes[0], codes[1], heavy)


def _measure(name: str, categories: Sequence[Hashable], positive: Hashable | None) -> Measure:
    """A figure of the cells of a positive value, or without one of the confusion table of all categories."""
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
        """The number of units of each row that have another category on both sides, per category."""
        whole, _, true, predicted = _shaped(rows)
        return whole[:, None] - true - predicted + rows[:, :: size + 1]

    return Measure(cell.method, cell.undefined, adds, within=cell.within)


def _shaped(sums: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """The total, the diagonal sum, and both margins of tables (draws × cells)."""
    size = round(sums.shape[1] ** 0.5)
    tables = sums.reshape(len(sums), size, size)
    return sums.sum(axis=1), np.trace(tables, axis1=1, axis2=2), tables.sum(axis=2), tables.sum(axis=1)


def _accuracy(sums: Floats) -> Floats:
    whole, same, _, _ = _shaped(sums)
    return over(same, whole)


def _kappa(sums: Floats) -> Floats:
    whole, same, true, predicted = _shaped(sums)
    chance = (true * predicted).sum(axis=1)
    return over(whole * same - chance, whole**2 - chance)


def _ac1(sums: Floats) -> Floats:
    whole, same, true, predicted = _shaped(sums)
    shares = over((true + predicted) / 2, whole[:, None] + np.zeros_like(true))
    chance = (shares * (1 - shares)).sum(axis=1) / (true.shape[1] - 1)
    return over(over(same, whole) - chance, 1 - chance)


# Of any number of categories.
TABLE_FIGURES: dict[str, Figure] = {"accuracy": _accuracy, "kappa": _kappa, "ac1": _ac1}


Scoring = Literal["accuracy", "neg_rmse"]
# The paper's minimum for a t test; its advice for ε is 0.2 for experts, 0.15 skilled people, 0.1 a crowd.
FEWEST_UNITS = 30
EPSILON = 0.2
FALSE_DISCOVERIES = 0.05
PASSING = 0.5

DEPARTURES = (
    "Units of one item are not independent: where items are given, the test's standard error is taken over items, "
    "with as many degrees of freedom as there are items but one.",
    "A person who shares fewer than 30 units with the judge and another person is left out and counted; the paper "
    "would then turn to Wilcoxon's test.",
    "The advantage probability has an interval over items; the paper gives none.",
)


@dataclass(frozen=True, slots=True)
class ReplacedPerson:
    """One person and the judge, each compared with all others: how often each is at least as close, and p.

    `beaten` tells whether the judge wins against this person, at a bounded false discovery rate over all persons.
    """

    person: Hashable
    n: int
    judge: float
    own: float
    p: float
    beaten: bool


@dataclass(frozen=True, slots=True)
class AltTest:
    """ω, the share of people the judge wins against, ρ, how often it is at least as close as a person, and each
    comparison.
    """

    winning_rate: Estimate
    advantage: Estimate
    passed: bool | None
    people: tuple[ReplacedPerson, ...]


def alt_test(
    people: Mapping[Hashable, Values],
    judge: Values,
    epsilon: float = EPSILON,
    scoring: Scoring = "accuracy",
    clusters: Values | None = None,
    fewest: int = FEWEST_UNITS,
) -> AltTest:
    """Leave out each person in turn and compare them and the judge with the rest (§3).

    `people` and `judge` hold a value per unit, None or NaN if missing: a person's unit counts if the judge and
    another person have it too. Scoring is the share of the others with the same value, or the negative root mean
    squared distance to them. ε is the value of a judge's lower cost. ValueError for values that do not fit together.
    """
    names = list(people)
    grid = _grid([*people.values(), judge], scoring)
    groups = cluster_codes(clusters, grid.shape[1])
    wins = [_wins(grid, i, scoring) for i in range(len(names))]
    tested = [i for i in range(len(names)) if wins[i].used.sum() >= max(2, fewest)]
    ps = [_p(wins[i], groups, epsilon) for i in tested]
    adjusted = benjamini_yekutieli(ps)
    result = tuple(
        ReplacedPerson(
            names[i], int(wins[i].used.sum()), *wins[i].rates(), p, (raised or 0.0) <= FALSE_DISCOVERIES
        )
        for i, p, raised in zip(tested, ps, adjusted, strict=True)
    )
    few = len(names) - len(tested)
    notes = (
        [f"{few:,} of {len(names):,} people left out: fewer than {fewest} units with another person"]
        if few
        else []
    )
    rate = _rate(result, epsilon, notes)
    advantage = _advantage([wins[i] for i in tested], groups, notes)
    return AltTest(rate, advantage, None if rate.value is None else rate.value >= PASSING, result)


@dataclass(frozen=True, slots=True)
class _Wins:
    """Per unit: whether it counts, whether the judge is at least as close as the person, and the reverse."""

    used: NDArray[np.bool_]
    judge: Floats
    own: Floats

    def rates(self) -> tuple[float, float]:
        return float(self.judge[self.used].mean()), float(self.own[self.used].mean())


def _grid(raters: Sequence[Values], scoring: Scoring) -> Floats:
    """The values as numbers (raters × units, the judge last, NaN for missing): codes if only equality counts."""
    if scoring not in ("accuracy", "neg_rmse"):
        raise ValueError(f"scoring is accuracy or neg_rmse, not {scoring}")
    if scoring == "neg_rmse":
        return numbers(raters)
    codes, _ = coded(raters)
    return np.where(codes == MISSING, np.nan, codes)


def _wins(grid: Floats, person: int, scoring: Scoring) -> _Wins:
    """The judge's row and the person's against all others: W of §3, equal scores being a win of both."""
    others = np.delete(grid[:-1], person, axis=0)
    given = ~np.isnan(others)
    used = given.any(axis=0) & ~np.isnan(grid[person]) & ~np.isnan(grid[-1])

    def distance(row: Floats) -> Floats:
        apart = np.where(given, others - row, 0.0)
        return np.asarray((apart != 0).sum(axis=0) if scoring == "accuracy" else (apart**2).sum(axis=0))

    # Both are compared with equally many others, so that sums order as means and their roots do.
    own, judge = distance(grid[person]), distance(grid[-1])
    return _Wins(used, (judge <= own).astype(np.float64), (own <= judge).astype(np.float64))


def _p(wins: _Wins, groups: Codes | None, epsilon: float) -> float:
    """The p of a lead of the person of at least ε, by a one-sided t test of the leads (§3)."""
    leads = (wins.own - wins.judge)[wins.used]
    mean = float(leads.mean())
    codes = np.arange(len(leads)) if groups is None else np.unique(groups[wins.used], return_inverse=True)[1]
    totals = np.bincount(codes, leads - mean)
    k = len(totals)
    error = sqrt(float(totals @ totals) * k / (k - 1)) / len(leads) if k > 1 else 0.0
    if error == 0:
        return 0.0 if mean < epsilon and k > 1 else 1.0
    return lower_tail((mean - epsilon) / error, k - 1)


def _rate(people: Sequence[ReplacedPerson], epsilon: float, notes: Sequence[str]) -> Estimate:
    method = f"winning rate, alternative annotator test, ε {epsilon:g}"
    if not people:
        return Estimate(None, method=method, note="; ".join(["no person can be tested", *notes]))
    value = sum(person.beaten for person in people) / len(people)
    return Estimate(value, n=len(people), method=method, note="; ".join(notes))


def _advantage(wins: Sequence[_Wins], groups: Codes | None, notes: Sequence[str]) -> Estimate:
    """The mean over people of how often the judge is at least as close as the person."""
    method = "advantage probability"
    if not wins:
        return Estimate(None, method=method, note="; ".join(["no person can be tested", *notes]))
    used = np.column_stack([win.used for win in wins]).astype(np.float64)
    rows = np.hstack([used * np.column_stack([win.judge for win in wins]), used])
    compared, people = used.any(axis=1), len(wins)

    def figure(sums: Floats) -> Floats:
        return np.asarray(over(sums[:, :people], sums[:, people:]).mean(axis=1))

    statistic = Statistic(figure, SHARE, lambda sums: sums[:, people:])
    tally = tallied(rows[compared], None if groups is None else groups[compared])
    return estimate(tally, statistic, method, int(compared.sum()), notes)
