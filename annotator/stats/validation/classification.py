"""Classification of units by a rater: figures of the confusion matrix, plain and weighted."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np

from annotator.domain.texts.estimate import SHARE, Estimate
from annotator.stats.intervals.clustered import (
    IntervalEstimate,
    Statistic,
    intervals,
    tallied,
    told,
)
from annotator.stats.intervals.coding import (
    ONE_CATEGORY,
    Chosen,
    Codes,
    Floats,
    Values,
    Weighing,
    cluster_codes,
    left_out,
    objects,
)
from annotator.stats.validation.cells import CELL_FIGURES, CELLS, crossed

NO_UNIT = "no unit has both a true value and one that was said"


@dataclass(frozen=True, slots=True)
class RatingFigures:
    """Figures of a rater against the truth, or the difference of two raters."""

    accuracy: Estimate
    precision: Estimate
    recall: Estimate
    specificity: Estimate
    f1: Estimate
    balanced_accuracy: Estimate
    mcc: Estimate
    kappa: Estimate
    ac1: Estimate


@dataclass(frozen=True, slots=True)
class BothWays:
    """One rater's figures, unweighted and weighted."""

    plain: RatingFigures
    weighted: RatingFigures


def both_ways(
    truth: Values,
    said: Values,
    positive: Hashable,
    weights: Weighing,
    clusters: Values | None = None,
) -> BothWays:
    """The figures of what was `said`, unweighted and weighted, with their intervals over clusters.

    Values by unit, None or NaN where missing: such units are left out and counted. Everything but `positive` is
    negative. `weights` count a unit as so many (ResearcherBench, Table 2); `clusters` names the item of each unit,
    without which each stands for itself. ValueError for lengths that differ, and for weights that are negative or
    not finite.
    """
    sheet = RatingSheet(truth, [said], positive, weights, clusters)
    (unweighted, weighted), _ = sheet.told([None, sheet.heavy])
    return BothWays(unweighted, weighted)


class RatingSheet:
    """Units with a true value and one of every rater, as cells to weigh and add up."""

    def __init__(
        self,
        truth: Values,
        raters: Sequence[Values],
        positive: Hashable,
        weights: Weighing | None,
        clusters: Values | None,
    ) -> None:
        """ValueError for values, weights and clusters that are not of the same units."""
        listed = [objects(values) for values in (truth, *raters)]
        units = len(listed[0])
        self.heavy = None if weights is None else checked_weights(weights, units)
        if len({len(values) for values in listed}) > 1:
            raise ValueError("the true values and those that were said must be of the same units")
        given = [np.asarray(values != None) for values in listed]  # noqa: E711
        self.used: Chosen = np.logical_and.reduce(given)
        wanted = objects([positive])
        true, *said = (np.asarray(values == wanted, dtype=np.float64) for values in listed)
        self._cells = [crossed(true, of_one)[self.used] for of_one in said]
        # What a lone rater did not say, as if all of it were wrong, and right.
        self._lost: Chosen = given[0] & ~given[-1]
        self._open = [crossed(true, of_all) for of_all in (1 - true, true)]
        self._groups: Codes | None = cluster_codes(clusters, units)
        self.n = len(self._cells[0])
        self.missing = sum(units - int(values.sum()) for values in given)
        self.notes = left_out(units - self.n, units)

    def rows(self, ways: Sequence[Floats | None]) -> Floats:
        """The cells of each rater in turn, weighed each way (units × 4 · raters · ways), the ways side by side."""
        factors = [np.ones(self.n) if heavy is None else heavy[self.used] for heavy in ways]
        return np.hstack([cells * factor[:, None] for factor in factors for cells in self._cells])

    def told(
        self, ways: Sequence[Floats | None], more: Sequence[Statistic] = ()
    ) -> tuple[list[RatingFigures], list[IntervalEstimate]]:
        """The figures of each way to weigh, and within it of each rater; and `more` figures of the same `rows`."""
        rows = self.rows(ways)
        sums = rows.sum(axis=0).reshape(-1, CELLS)
        figures = [
            replace(figure.at(CELLS * i), units=self.n if figure.within == SHARE else inf)
            for i in range(len(sums))
            for figure in CELL_FIGURES.values()
        ]
        wanted = [*figures, *more]
        groups = None if self._groups is None else self._groups[self.used]
        found = intervals(tallied(rows, groups), wanted) if self.n else [IntervalEstimate(None)] * len(wanted)
        raters = len(self._cells)
        own = [found[i : i + len(CELL_FIGURES)] for i in range(0, len(figures), len(CELL_FIGURES))]
        classified = [
            self._classified(*one, ways[i // raters]) for i, one in enumerate(zip(sums, own, strict=True))
        ]
        return classified, found[len(figures) :]

    def _classified(
        self, cells: Floats, found: Sequence[IntervalEstimate], heavy: Floats | None
    ) -> RatingFigures:
        weighted = "" if heavy is None else ", units weighted"
        one_class = [ONE_CATEGORY] if 0 < cells.sum() == max(cells[0], cells[3]) else []
        figures, own = {}, dict(zip(CELL_FIGURES, found, strict=True))
        own["balanced_accuracy"] = halfway(own["balanced_accuracy"], own["recall"], own["specificity"])
        for name, figure in CELL_FIGURES.items():
            one = own[name]
            notes = self.notes if one.value is None else [*one_class, *self.notes]
            undefined = figure.undefined if self.n else NO_UNIT
            figures[name] = told(one, figure.method + weighted, self.n, notes, self.missing, undefined)
            if (
                figure.within == SHARE
                and len(self._cells) == 1
                and self._lost.any()
                and one.value is not None
            ):
                lost = self._lost * (1.0 if heavy is None else heavy)
                floor, ceiling = (float(figure.of((cells + lost @ of)[None])[0]) for of in self._open)
                figures[name] = replace(figures[name], floor=floor, ceiling=ceiling)
        return RatingFigures(**figures)


def halfway(mean: IntervalEstimate, one: IntervalEstimate, other: IntervalEstimate) -> IntervalEstimate:
    """The mean of two shares, with the interval that theirs and their correlation make (Zou & Donner 2008)."""
    if one.value is None or one.low is None or one.high is None or mean.value is None:
        return replace(mean, low=None, high=None, warnings=mean.warnings or one.warnings)
    if other.value is None or other.low is None or other.high is None:
        return replace(mean, low=None, high=None, warnings=mean.warnings or other.warnings)
    apart = sqrt(one.spread * other.spread)
    alike = (4 * mean.spread - one.spread - other.spread) / (2 * apart) if apart else 0.0

    def reach(a: float, b: float) -> float:
        return sqrt(max(0.0, a * a + b * b + 2 * alike * a * b)) / 2

    low = mean.value - reach(one.value - one.low, other.value - other.low)
    high = mean.value + reach(one.high - one.value, other.high - other.value)
    return replace(mean, low=max(0.0, low), high=min(1.0, high))


def checked_weights(weights: Weighing, units: int, *, signed: bool = False) -> Floats:
    """The weights as numbers; ValueError unless each unit has one that is finite, and not negative but if `signed`."""
    heavy = np.asarray(weights, dtype=np.float64)
    if heavy.shape != (units,):
        raise ValueError(f"weights for {heavy.size} of {units} units")
    if not np.isfinite(heavy).all():
        raise ValueError("a weight is a finite number")
    if not signed and (heavy < 0).any():
        raise ValueError("a weight that counts units is not negative")
    return heavy
