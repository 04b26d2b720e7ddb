"""Scores corrected by people's labels: prediction-powered means over clusters, by stratum and weight."""

from bisect import bisect_left
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, combinations
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from annotator.domain.texts.estimate import NO_WIDTH, Estimate, enough, few, settled, without_width
from annotator.stats.intervals.clustered import ROUNDING
from annotator.stats.intervals.coding import Codes, Floats, Values, group_codes, left_out, numbers, plain
from annotator.stats.intervals.student import (
    LEVEL,
    UNBOUNDED,
    WORTH_TEN,
    Bounds,
    bounds_of,
    interval_name,
    lower_tail,
    range_of_difference,
)
from annotator.stats.validation.comparison import checked_weights

NO_LABEL = "no unit has both a label and a judgement"
NO_REACH = "no {} unit has a weight above 0: there is nothing to reach"


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    """The judge's mean over all units, people's over those they labelled, and both combined.

    `tuning` is λ: how far the judge is trusted, 0 not at all, 1 fully; None if nothing was corrected.
    """

    raw: Estimate
    labelled: Estimate
    corrected: Estimate
    tuning: float | None


@dataclass(frozen=True, slots=True)
class CorrectionUnits:
    """Units with a judgement: labels (NaN if there is none), judgements, weights, clusters and strata.

    A unit of negative weight subtracts: the sign of its values is flipped, and its `reach`, what it adds to the
    denominator of the mean, is 0; the reach of others is their weight. `missing` counts the units without a judgement,
    which are left out, labelled or not.
    """

    labels: Floats
    verdicts: Floats
    weights: Floats
    reach: Floats
    clusters: Codes
    strata: Codes
    missing: int

    @property
    def labelled(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.labels)


def units_of(
    labels: Values,
    predicted: Values,
    weights: Sequence[float] | None = None,
    clusters: Values | None = None,
    strata: Values | None = None,
) -> CorrectionUnits:
    """The units of a correction; ValueError for values, weights, clusters and strata that do not fit together.

    Values by unit, None or NaN if there is no label, or no judgement, which leaves the unit out. `weights` are the
    units' weights in the mean (0 leaves a unit out); a negative one subtracts, and the mean is then Σ w·x / Σ max(w,
    0). Within a stratum, units must be labelled at random.
    """
    grid = numbers([labels, predicted])
    size = grid.shape[1]
    heavy = np.ones(size) if weights is None else checked_weights(weights, size, signed=True)
    groups = np.arange(size) if clusters is None else group_codes(clusters, size)
    layers = np.zeros(size, dtype=np.intp) if strata is None else group_codes(strata, size)
    absent = np.isnan(grid[1])
    used = np.flatnonzero(~absent & (heavy != 0))
    heavy, layers = heavy[used], layers[used]
    labels_there, verdicts_there = grid[:, used] * np.sign(heavy)
    weighed, reach = np.abs(heavy), np.maximum(heavy, 0.0)
    return CorrectionUnits(
        labels_there, verdicts_there, weighed, reach, groups[used], layers, int(absent.sum())
    )


@dataclass(frozen=True, slots=True)
class CorrectionParts:
    """The means behind a corrected score, and each cluster's contribution to their errors (clusters).

    `people` and `judge_there` are over labelled units, each stratum with its weight among all units; `judge` is over
    all units. The corrected score is people + λ (judge − judge_there).
    """

    people: float
    judge_there: float
    judge: float
    of_people: Floats
    of_judge_there: Floats
    of_judge: Floats
    labelled_clusters: int
    clusters: int

    def best_tuning(self) -> float:
        """The λ of the minimum variance over clusters, clipped to 0 … 1; 0 if the judge adds nothing."""
        gap, size = self.of_judge_there - self.of_judge, float(self.of_judge @ self.of_judge)
        if gap @ gap <= ROUNDING**2 * size:
            return 0.0
        return float(np.clip(self.of_people @ gap / (gap @ gap), 0, 1))

    def errors(self, trust: float) -> Floats:
        """Each cluster's contribution to the error of the corrected score (clusters)."""
        return self.of_people - trust * (self.of_judge_there - self.of_judge)

    def value(self, trust: float) -> float:
        return self.people + trust * (self.judge - self.judge_there)


def parts_of(units: CorrectionUnits) -> CorrectionParts:
    """The parts of a corrected score; at least one unit with reach must have a label.

    Errors are linearised (Särndal, Swensson & Wretman 1992, §5.5 and §7.6): a ratio of sums, post-stratified.
    """
    labelled, layers, heavy, reach = units.labelled, units.strata, units.weights, units.reach
    adds, size = reach > 0, int(layers.max()) + 1
    whole = np.bincount(layers, reach, size)
    known = np.bincount(layers, reach * labelled, size)
    # A stratum without a label gets the average correction of the others.
    reached = known > 0
    scale = np.divide(whole, known, out=np.zeros(size), where=reached)[layers] * heavy * labelled
    total = float(whole[reached].sum())
    present, groups = np.unique(units.clusters, return_inverse=True)

    def by_cluster(errors: Floats) -> Floats:
        return np.bincount(groups, errors, len(present)).astype(np.float64)

    def mean_there(values: Floats) -> tuple[float, Floats]:
        filled = np.where(labelled, values, 0.0)
        sums = np.bincount(layers, heavy * labelled * filled, size)
        of_layer = np.divide(sums, known, out=np.zeros(size), where=reached)
        mean = float(scale @ filled) / total
        errors = scale * (filled - adds * of_layer[layers])
        errors += (reach * reached[layers]) * (of_layer[layers] - mean)
        return mean, by_cluster(errors / total)

    people, of_people = mean_there(units.labels)
    judge_there, of_judge_there = mean_there(units.verdicts)
    judge = float(heavy @ units.verdicts / reach.sum())
    of_judge = by_cluster(heavy * (units.verdicts - adds * judge) / reach.sum())
    reached_clusters = int((np.bincount(groups, labelled, len(present)) > 0).sum())
    errors = of_people, of_judge_there, of_judge
    return CorrectionParts(people, judge_there, judge, *errors, reached_clusters, len(present))


def corrected_mean(
    units: CorrectionUnits, tuning: float | None = None, level: float = LEVEL, within: Bounds = UNBOUNDED
) -> CorrectedMean:
    """The judge's mean over all units + people's less the judge's over labelled ones, the judge's parts times λ.

    PPI++ (Angelopoulos, Duchi & Zrnic 2023, §6) for units in clusters: λ is `tuning`, or that of the minimum variance
    over clusters; the interval is that of `bounds_of`, over labelled clusters, of means that lie `within`.
    """
    n, whole, missing = int(units.labelled.sum()), len(units.verdicts), units.missing
    notes = left_out(missing, whole + missing, "the judge gave no judgement")
    reason = NO_REACH.format("labelled") if n else NO_LABEL
    absent = Estimate(None, missing=missing, method="prediction-powered mean", note=reason)
    if not units.reach.any():
        reason = NO_REACH.format("judged") if whole else "no unit was judged"
        nothing = Estimate(None, missing=missing, method="the judge's mean", note=reason)
        return CorrectedMean(nothing, absent, absent, None)
    corrects = (units.reach * units.labelled).any()
    parts = parts_of(units if corrects else replace(units, labels=units.verdicts))
    there, all_over, of = parts.labelled_clusters, parts.clusters, (level, within)
    raw = _spread("the judge's mean", parts.judge, parts.of_judge, all_over, whole, missing, notes, *of)
    if not corrects:
        return CorrectedMean(raw, replace(absent, method="mean of labels by unit"), absent, None)
    trust = parts.best_tuning() if tuning is None else tuning
    name = f"prediction-powered mean; λ {trust:.3f}, {'tuned' if tuning is None else 'given'}"
    return CorrectedMean(
        raw,
        _spread("mean of labels by unit", parts.people, parts.of_people, there, n, 0, [], *of),
        _spread(name, parts.value(trust), parts.errors(trust), there, n, missing, notes, *of),
        trust,
    )


def _spread(
    name: str,
    value: float,
    errors: Floats,
    clusters: int,
    n: int,
    missing: int,
    notes: list[str],
    level: float,
    within: Bounds,
) -> Estimate:
    """The estimate with the interval from the clusters' errors, over `clusters` clusters."""
    result = Estimate(value, n=n, missing=missing, method=name, note="; ".join(notes))
    if enough(clusters):
        most = clusters * max(WORTH_TEN, clusters)
        low, high = bounds_of(value, variance(errors, clusters), clusters, within, level, most)
        method = f"{name}; {interval_name(within, level)} over {clusters:,} clusters"
        result = replace(result, low=low, high=high, method=method)
    result = settled(result, clusters, "clusters", within)
    return result.remarked(f"no cluster differs, so {NO_WIDTH}") if without_width(result) else result


def variance(errors: Floats, clusters: int) -> float:
    """The variance of a mean from each cluster's contribution to its error, over `clusters` clusters, two at least."""
    result = float(errors @ errors) * clusters / (clusters - 1)
    return result if result > ROUNDING**2 else 0.0


@dataclass(frozen=True, slots=True)
class SystemUnits:
    """One system's units as `units_of` takes them; `items` are its clusters, with the same names for all systems.

    Its score lies `within` two bounds.
    """

    labels: Values
    verdicts: Values
    items: Values
    weights: Sequence[float] | None = None
    strata: Values | None = None
    within: Bounds = UNBOUNDED


@dataclass(frozen=True, slots=True)
class SystemPair:
    """Two systems, the judge's better one first: corrected difference, and probability of a swap."""

    first: Hashable
    second: Hashable
    difference: Estimate
    flip: Estimate


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Every system's scores, the rank of its corrected one with its interval, and every pair."""

    scores: dict[Hashable, CorrectedMean]
    ranks: dict[Hashable, Estimate]
    pairs: tuple[SystemPair, ...]


def standings(
    systems: Mapping[Hashable, SystemUnits],
    tuning: float | None = None,
    level: float = LEVEL,
    *,
    higher_is_better: bool = True,
) -> Leaderboard:
    """The corrected scores of systems, and how certain their order is, over the items that systems share.

    Each system has its own λ (or `tuning`). If less is better, the lowest comes first. ValueError as in `units_of`.
    """
    sign = 1 if higher_is_better else -1
    names = sorted(systems, key=lambda name: (type(name).__name__, repr(name)))
    given = [systems[name] for name in names]
    units, items = _over_common_items(given)
    scores = [
        corrected_mean(of_one, tuning, level, one.within) for of_one, one in zip(units, given, strict=True)
    ]
    table = _Order(
        scores, [_errors(*one, items) for one in zip(units, scores, strict=True)],
        [len(np.unique(of_one.clusters[of_one.labelled])) for of_one in units],
        [one.within for one in given], sign, level,
    )  # fmt: skip
    place = {name: i for i, name in enumerate(names)}
    order = sorted(range(len(names)), key=lambda i: (-_height(scores[i].raw, sign), i))
    return Leaderboard(
        {name: scores[place[name]] for name in systems},
        {name: table.rank(place[name]) for name in systems},
        tuple(SystemPair(names[i], names[j], *table.pair(i, j)) for i, j in combinations(order, 2)),
    )


def _height(score: Estimate, sign: int) -> float:
    return -inf if score.value is None else sign * score.value


def _over_common_items(systems: Sequence[SystemUnits]) -> tuple[list[CorrectionUnits], int]:
    """Each system's units with clusters coded alike for all systems, and the number of items."""
    items = [item for system in systems for item in plain(system.items)]
    codes = group_codes(items, len(items))
    ends = accumulate(len(system.items) for system in systems)
    units = [
        units_of(one.labels, one.verdicts, one.weights, codes[end - len(one.items) : end], one.strata)
        for one, end in zip(systems, ends, strict=True)
    ]
    return units, int(codes.max(initial=-1)) + 1


def _errors(units: CorrectionUnits, score: CorrectedMean, items: int) -> Floats:
    """Each item's contribution to the error of a corrected score (items); 0 if it has none."""
    errors = np.zeros(items)
    if score.tuning is not None:
        errors[np.unique(units.clusters)] = parts_of(units).errors(score.tuning)
    return errors


@dataclass(frozen=True, slots=True)
class _Order:
    """The corrected scores, each item's contribution to the error of each, and the number of labelled items of each."""

    scores: Sequence[CorrectedMean]
    errors: Sequence[Floats]
    labelled: Sequence[int]
    within: Sequence[Bounds]
    sign: int
    level: float

    def rank(self, i: int) -> Estimate:
        """A system's rank by corrected score, ties sharing the mean, with the range of ranks it may have.

        It is below those that are better beyond chance, and above those that are worse: as many comparisons as there
        are other systems hold together at the level (Bonferroni).
        """
        method = "rank by corrected score"
        ranked = [j for j, mean in enumerate(self.scores) if mean.corrected.value is not None]
        own, n = self.scores[i].corrected, len(ranked)
        if own.value is None:
            return Estimate(None, n=n, method=method, note=own.note)
        gaps = [self._gap(i, j) for j in ranked if j != i]
        value = 1 + sum(gap < -ROUNDING for gap in gaps) + sum(abs(gap) <= ROUNDING for gap in gaps) / 2
        items = min(self.labelled[j] for j in ranked)
        if not enough(items):
            return Estimate(value, n=n, method=method).remarked(few(items))
        level = 1 - (1 - self.level) / max(1, n - 1)
        bounds = [self._bounds(i, j, level) for j in ranked if j != i]
        low, high = 1 + sum(high < 0 for _, high in bounds), n - sum(low > 0 for low, _ in bounds)
        method = f"{method}; {self.level:.0%} interval by differences from the others over {items:,} items"
        return settled(Estimate(value, low, high, n=n, method=method), items)

    def pair(self, i: int, j: int) -> tuple[Estimate, Estimate]:
        """Of two systems, the judge's better one first: the corrected difference, and the probability of the other
        order.
        """
        difference, flip = "difference of corrected scores", "chance of the other order"
        absent = next(
            (mean.corrected for k in (i, j) if (mean := self.scores[k]).corrected.value is None), None
        )
        if absent is not None:
            none = Estimate(None, method=difference, note=absent.note)
            return none, replace(none, method=flip)
        gap, items = self.sign * self._gap(i, j), min(self.labelled[i], self.labelled[j])
        bare = Estimate(gap, n=items, method=difference)
        tied = "the judge puts neither first" if self.scores[i].raw.value == self.scores[j].raw.value else ""
        if not enough(items):
            reason = few(items)
            return bare.remarked(reason), Estimate(None, n=items, method=flip, note=tied or reason)
        low, high = sorted(self.sign * end for end in self._bounds(i, j, self.level))
        within = self._range(i, j)
        method = f"{difference}; {interval_name(within, self.level)} over {items:,} items"
        result = settled(replace(bare, low=low, high=high, method=method), items, within=within)
        if tied:
            return result, Estimate(None, n=items, method=flip, note=tied)
        error = sqrt(self._spread(i, j))
        ahead = self._gap(i, j)
        share = lower_tail(-ahead / error, items - 1) if error else 0.5 - 0.5 * float(np.sign(ahead))
        return result, Estimate(share, n=items, method=f"{flip}; by t over {items:,} items").remarked(
            few(items)
        )

    def _gap(self, i: int, j: int) -> float:
        one, other = self.scores[i].corrected.value, self.scores[j].corrected.value
        return self.sign * ((one or 0.0) - (other or 0.0))

    def _range(self, i: int, j: int) -> Bounds:
        lows, highs = zip(
            range_of_difference(self.within[i]), range_of_difference(self.within[j]), strict=True
        )
        return min(lows), max(highs)

    def _bounds(self, i: int, j: int, level: float) -> Bounds:
        items = min(self.labelled[i], self.labelled[j])
        return bounds_of(self._gap(i, j), self._spread(i, j), items, self._range(i, j), level)

    def _spread(self, i: int, j: int) -> float:
        """The variance of a difference; the two λ, tuned on the same items, take one degree of freedom from it."""
        items = min(self.labelled[i], self.labelled[j])
        return variance(self.errors[i] - self.errors[j], items) * (items - 1) / max(1, items - 2)


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """A number of further labels, and the interval width to expect.

    `more` is None if no number suffices, and `note` says why; `least` is the width with every unit labelled.
    """

    now: Estimate
    more: int | None
    width_now: float | None
    width_then: float | None
    least: float | None
    note: str = ""


def plan_labels(
    labels: Values,
    predicted: Values,
    width: float,
    weights: Sequence[float] | None = None,
    clusters: Values | None = None,
    tuning: float | None = None,
    level: float = LEVEL,
    bounds: tuple[float, float] = (-inf, inf),
) -> LabelPlan:
    """The minimum number of further labels after which the corrected mean's interval is expected to be `width` wide.

    From the variance of `corrected_mean` itself (PPI++, §6): its part from labels falls with their number and, as far
    as units of one cluster are alike, with that of the labelled clusters (Kish 1965). Further labels must be of units
    sampled at random, like the present ones. Intervals end at `bounds`. Other arguments as in `units_of` and
    `corrected_mean`. ValueError unless the width is positive.
    """
    if width <= 0:
        raise ValueError(f"a width of {width}")
    units = units_of(labels, predicted, weights, clusters)
    result = corrected_mean(units, tuning, level, bounds)
    now = result.corrected
    if now.low is None or now.high is None or result.tuning is None:
        return LabelPlan(now, None, None, None, None, now.note)
    parts, trust, width_now = parts_of(units), result.tuning, now.high - now.low
    size, given = len(units.verdicts), int(units.labelled.sum())
    there, all_over = parts.labelled_clusters, parts.clusters
    of_labels = variance(parts.errors(trust) - trust * parts.of_judge, there)
    fixed = max(0.0, variance(parts.errors(trust), there) - of_labels)
    alone, each = _independent(units, trust), given / there
    if alone * given <= ROUNDING:
        return LabelPlan(now, None, width_now, None, None, "labels and judge never differed yet")
    likeness = float(np.clip((of_labels / alone - 1) / (each - 1), 0.0, 1.0)) if each > 1 else 0.0

    def relative(n: int) -> float:
        """The variance with n labels relative to that with one: it falls more slowly if units of one cluster are alike.

        Every labelled cluster has as many labels as now, while clusters last.
        """
        reached = min(float(all_over), there * n / given)
        return (1 + likeness * (n / reached - 1)) / n

    def width_with(n: int) -> float:
        left = fixed + of_labels * relative(n) / relative(given)
        reached = max(2, round(min(all_over, there * n / given)))
        most = reached * max(WORTH_TEN, reached)
        low, high = bounds_of(now.value or 0.0, left, reached, bounds, level, most)
        return min(high, bounds[1]) - max(low, bounds[0])

    least = width_with(size)
    if width_now <= width:
        return LabelPlan(now, 0, width_now, width_now, least, "it is narrow enough")
    if least > width:
        note = "even with every unit labelled it is wider: that takes more items"
        return LabelPlan(now, None, width_now, None, least, note)
    n = given + bisect_left(range(given, size), True, key=lambda n: width_with(n) <= width)
    return LabelPlan(now, n - given, width_now, width_with(n), least)


def _independent(units: CorrectionUnits, trust: float) -> float:
    """The variance of the weighted mean from the labels, if units were independent."""
    heavy, reach = units.weights[units.labelled], units.reach[units.labelled]
    gaps = (units.labels - trust * units.verdicts)[units.labelled]
    apart = heavy * (gaps - (reach > 0) * (heavy * gaps).sum() / reach.sum()) / reach.sum()
    return variance(apart, len(apart)) if len(apart) > 1 else 0.0
