"""How many more labels narrow a corrected score to a wanted width, and in which strata they tell most."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace
from math import inf, sqrt

import numpy as np

from annotator.domain.estimate import Estimate
from annotator.stats.coding import Values, plain
from annotator.stats.correction import Parts, Units, corrected_of, parts_of, units_of, variance
from annotator.stats.intervals import LEVEL
from annotator.stats.resampling import Floats
from annotator.stats.student import t_quantile
from annotator.stats.tails import ROUNDING

# A stratum of few labels has the spread of all of them, as if of this many labels more.
LENT = 2
# A stratum without a label is as uncertain as with half of one.
NONE_YET = 0.5


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """What more labels would bring: how many, where, and the width of the interval then.

    `more` is None where there is no answer, and `note` says why; `least` is the width with every unit labelled.
    """

    now: Estimate
    wanted: float
    more: int | None
    by_stratum: dict[Hashable, int]
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
    strata: Values | None = None,
    tuning: float | None = None,
    level: float = LEVEL,
) -> LabelPlan:
    """The fewest further labels after which the corrected mean's interval is expected to be `width` wide.

    From the variance of the prediction-powered mean (PPI++, §6), its part from labels falling with their number
    and, for what units of one cluster share, with that of the labelled clusters (Kish 1965). Each label goes where
    it lowers that part most (Neyman 1934, label by label). Arguments as in `corrected_mean`. ValueError unless the
    width is positive.
    """
    if width <= 0:
        raise ValueError(f"a width of {width}")
    units = units_of(labels, said, weights, clusters, strata)
    found = corrected_of(units, tuning, level)
    now = found.corrected
    if now.low is None or now.high is None or found.tuning is None:
        return LabelPlan(now, width, None, {}, None, None, None, now.note)
    names = ["all"] if strata is None else _named(strata, units)
    outlook = _Outlook(units, parts_of(units), found.tuning, level)
    if not outlook.spread:
        return LabelPlan(
            now, width, None, {}, now.high - now.low, None, None, "labels and judge never differed yet"
        )
    return outlook.plan(now, width, names)


def _named(strata: Values, units: Units) -> list[Hashable]:
    """The name of each stratum, by its code."""
    listed = plain(strata)
    found = {int(code): listed[place] for code, place in zip(units.strata, units.places, strict=True)}
    return [found.get(code) for code in range(int(units.strata.max()) + 1)]


class _Outlook:
    """The variance of a corrected mean as a function of the labels in each stratum."""

    def __init__(self, units: Units, parts: Parts, trust: float, level: float) -> None:
        self.level = level
        self.places: Floats = np.bincount(units.strata).astype(np.float64)
        self.given: Floats = np.bincount(units.strata, units.labelled, len(self.places)).astype(np.float64)
        self.terms = _terms(units, trust)
        self.spread = bool((self.terms > 0).any())
        self.there, self.clusters = parts.labelled_clusters, parts.clusters
        of_labels = parts.errors(trust) - trust * parts.of_judge
        whole, alone = variance(parts.errors(trust), self.there), variance(of_labels, self.there)
        self.fixed = max(0.0, whole - alone)
        alike = self._independent(self.given)
        units_each = float(self.given.sum()) / self.there
        excess = (alone / alike - 1) / (units_each - 1) if alike and units_each > 1 else 0.0
        self.likeness = float(np.clip(excess, 0.0, 1.0))
        # What the model leaves unexplained of the variance now, it leaves unexplained then.
        self.scale = 1.0
        self.scale = alone / self._of_labels(self.given) if self.spread else 1.0

    def _independent(self, given: Floats) -> float:
        """The variance from labels, were units independent."""
        return float((self.terms / np.maximum(given, NONE_YET)).sum())

    def _of_labels(self, given: Floats) -> float:
        """The variance from labels, units of one cluster being alike."""
        n = float(given.sum())
        return self.scale * self._independent(given) * (1 + self.likeness * (n / self._reached(n) - 1))

    def _reached(self, n: float) -> float:
        """How many clusters have labels when there are n: as many of each cluster as now, while clusters last."""
        return min(float(self.clusters), self.there * n / float(self.given.sum()))

    def width(self, given: Floats) -> float:
        """The width of the interval with so many labels in each stratum."""
        degrees = max(1, int(self._reached(float(given.sum())) + ROUNDING) - 1)
        return 2 * t_quantile(self.level, degrees) * sqrt(self.fixed + self._of_labels(given))

    def plan(self, now: Estimate, wanted: float, names: Sequence[Hashable]) -> LabelPlan:
        """Label by label, each where it tells most, until the width is reached or every unit is labelled."""
        width_now, least = (now.high or 0.0) - (now.low or 0.0), self.width(self.places)
        if min(width_now, least) > wanted:
            note = "even with every unit labelled it is wider: that takes more items"
            return LabelPlan(now, wanted, None, {}, width_now, None, least, note)
        if width_now <= wanted:
            return LabelPlan(now, wanted, 0, {}, width_now, width_now, least, "it is narrow enough")
        given = self._filled(wanted)
        added = {name: int(k) for name, k in zip(names, given - self.given, strict=True) if k}
        return LabelPlan(now, wanted, sum(added.values()), added, width_now, self.width(given), least)

    def _filled(self, wanted: float) -> Floats:
        given = self.given.copy()
        gains = [(-self._gain(h, given), h) for h in range(len(given))]
        heapify(gains)
        while self.width(given) > wanted:
            stratum = gains[0][1]
            given[stratum] += 1
            heapreplace(gains, (-self._gain(stratum, given), stratum))
        return given

    def _gain(self, stratum: int, given: Floats) -> float:
        """What one more label takes off the variance; nothing where every unit has one."""
        n = float(given[stratum])
        if n >= self.places[stratum]:
            return -inf
        return float(self.terms[stratum]) * (1 / max(n, NONE_YET) - 1 / (n + 1))


def _terms(units: Units, trust: float) -> Floats:
    """What each stratum adds to the variance from labels, times its labels: its squared share times its variance."""
    size, labelled = int(units.strata.max()) + 1, units.labelled
    layers, heavy = units.strata[labelled], units.weights[labelled]
    gaps = units.labels[labelled] - trust * units.said[labelled]
    n, known = np.bincount(layers, minlength=size), np.bincount(layers, heavy, size)
    means = np.divide(np.bincount(layers, heavy * gaps, size), known, out=np.zeros(size), where=known > 0)
    # Of a weighted mean, the variance of one label: n Σ w² (e − ē)² / (Σ w)², by the degrees of freedom.
    squares = np.bincount(layers, (heavy * (gaps - means[layers])) ** 2, size)
    own = np.divide(squares * n**2, known**2, out=np.zeros(size), where=known > 0)
    pooled = float(own.sum()) / max(1, int(np.maximum(n - 1, 0).sum()))
    lent = (own + LENT * pooled) / (np.maximum(n - 1, 0) + LENT)
    shares = np.bincount(units.strata, units.weights, size) / units.weights.sum()
    return np.asarray(shares**2 * np.where(lent > ROUNDING, lent, 0.0))
