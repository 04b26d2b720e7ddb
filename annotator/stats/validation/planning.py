"""Further labels needed to narrow a corrected score to a given width."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.clustered import ROUNDING
from annotator.stats.intervals.coding import Values
from annotator.stats.intervals.student import LEVEL, WORTH_TEN, bounds_of
from annotator.stats.validation.correction import (
    CorrectionUnits,
    corrected_mean,
    parts_of,
    units_of,
    variance,
)


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """A number of further labels, and the interval width to expect.

    `more` is None where there is no answer, and `note` says why; `least` is the width with every unit labelled.
    """

    now: Estimate
    wanted: float
    more: int | None
    width_now: float | None
    width_then: float | None
    least: float | None
    note: str = ""


def plan_labels(
    labels: Values,
    said: Values,
    width: float,
    weights: Sequence[float] | None = None,
    clusters: Values | None = None,
    tuning: float | None = None,
    level: float = LEVEL,
    bounds: tuple[float, float] = (-inf, inf),
) -> LabelPlan:
    """The fewest further labels after which the corrected mean's interval is expected to be `width` wide.

    From the variance of `corrected_mean` itself (PPI++, §6), its part from labels falling with their number and, for
    what units of one cluster share, with that of the labelled clusters (Kish 1965). Further labels must be of units
    drawn at random, as those there are. Intervals end at `bounds`. Other arguments as in `units_of` and
    `corrected_mean`. ValueError unless the width is positive.
    """
    if width <= 0:
        raise ValueError(f"a width of {width}")
    units = units_of(labels, said, weights, clusters)
    found = corrected_mean(units, tuning, level, bounds)
    now = found.corrected
    if now.low is None or now.high is None or found.tuning is None:
        return LabelPlan(now, width, None, None, None, None, now.note)
    outlook = _Outlook(units, found.tuning, level, found.corrected.value or 0.0, bounds)
    if not outlook.spread:
        note = "labels and judge never differed yet"
        return LabelPlan(now, width, None, now.high - now.low, None, None, note)
    return outlook.plan(now, width)


class _Outlook:
    """The width of a corrected mean's interval as a function of the number of labels."""

    def __init__(
        self, units: CorrectionUnits, trust: float, level: float, value: float, bounds: tuple[float, float]
    ) -> None:
        parts = parts_of(units)
        self.level, self.value, self.bounds = level, value, bounds
        self.size, self.given = len(units.said), int(units.labelled.sum())
        self.there, self.clusters = parts.labelled_clusters, parts.clusters
        whole = variance(parts.errors(trust), self.there)
        self.of_labels = variance(parts.errors(trust) - trust * parts.of_judge, self.there)
        self.fixed = max(0.0, whole - self.of_labels)
        alone, each = _independent(units, trust), self.given / self.there
        self.spread = alone * self.given > ROUNDING
        excess = (self.of_labels / alone - 1) / (each - 1) if self.spread and each > 1 else 0.0
        self.likeness = float(np.clip(excess, 0.0, 1.0))

    def _each(self, n: int) -> float:
        """What n labels leave of the variance of one: fewer where units of one cluster are alike.

        Every labelled cluster has as many labels as now, while clusters last.
        """
        reached = min(float(self.clusters), self.there * n / self.given)
        return (1 + self.likeness * (n / reached - 1)) / n

    def width(self, n: int) -> float:
        """The width of the interval with n labels."""
        left = self.fixed + self.of_labels * self._each(n) / self._each(self.given)
        reached = max(2, round(min(self.clusters, self.there * n / self.given)))
        most = reached * max(WORTH_TEN, reached)
        low, high = bounds_of(self.value, left, reached, self.bounds, self.level, most)
        return min(high, self.bounds[1]) - max(low, self.bounds[0])

    def plan(self, now: Estimate, wanted: float) -> LabelPlan:
        """As many labels as reach the width, or why none do."""
        width_now, least = (now.high or 0.0) - (now.low or 0.0), self.width(self.size)
        if width_now <= wanted:
            return LabelPlan(now, wanted, 0, width_now, width_now, least, "it is narrow enough")
        if least > wanted:
            note = "even with every unit labelled it is wider: that takes more items"
            return LabelPlan(now, wanted, None, width_now, None, least, note)
        enough = range(self.given, self.size)
        n = self.given + bisect_left(enough, True, key=lambda n: self.width(n) <= wanted)
        return LabelPlan(now, wanted, n - self.given, width_now, self.width(n), least)


def _independent(units: CorrectionUnits, trust: float) -> float:
    """The variance that labels would leave in the weighted mean, were units independent."""
    heavy, reach = units.weights[units.labelled], units.reach[units.labelled]
    gaps = (units.labels - trust * units.said)[units.labelled]
    apart = heavy * (gaps - (reach > 0) * (heavy * gaps).sum() / reach.sum()) / reach.sum()
    return variance(apart, len(apart)) if len(apart) > 1 else 0.0
