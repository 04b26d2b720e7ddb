"""Scores corrected by people's labels: prediction-powered means over clusters, by stratum and weight."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from annotator.domain.texts.estimate import NO_WIDTH, Estimate, enough, settled, without_width
from annotator.stats.intervals.clustered import ROUNDING
from annotator.stats.intervals.coding import Codes, Floats, Values, group_codes, left_out, numbers
from annotator.stats.intervals.student import LEVEL, UNBOUNDED, WORTH_TEN, Bounds, bounds_of, interval_name
from annotator.stats.validation.classification import checked_weights

NO_LABEL = "no unit has both a label and a judgement"
NO_REACH = "no {} unit has a weight above 0: there is nothing to reach"


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    """The judge's mean over all units, people's over those they labelled, and the two together.

    `tuning` is λ: how far the judge is trusted, 0 not at all, 1 fully; None where nothing was corrected.
    """

    raw: Estimate
    labelled: Estimate
    corrected: Estimate
    tuning: float | None


@dataclass(frozen=True, slots=True)
class CorrectionUnits:
    """Units that the judge judged: labels (NaN where there is none), judgements, weights, clusters and strata.

    A unit of negative weight takes away: it is the sign of its values that is turned here, and its `reach`, what it
    adds to the whole of which a mean is a share, is 0; that of others is their weight. `places` says which of the
    given units these are; `missing` counts those without a judgement, which are left out, labelled or not.
    """

    labels: Floats
    said: Floats
    weights: Floats
    reach: Floats
    clusters: Codes
    strata: Codes
    places: Codes
    missing: int

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Which units have a label."""
        return ~np.isnan(self.labels)


def units_of(
    labels: Values,
    said: Values,
    weights: Sequence[float] | None = None,
    clusters: Values | None = None,
    strata: Values | None = None,
) -> CorrectionUnits:
    """The units of a correction; ValueError for values, weights, clusters and strata that do not fit together.

    Values by unit, None or NaN where there is no label, or no judgement, which leaves the unit out. `weights` say what
    a unit counts in the mean (of 0: nothing); a negative one takes away, and the mean is then Σ w·x / Σ max(w, 0).
    Within a stratum, units must be labelled at random.
    """
    grid = numbers([labels, said])
    size = grid.shape[1]
    heavy = np.ones(size) if weights is None else checked_weights(weights, size, signed=True)
    groups = np.arange(size) if clusters is None else group_codes(clusters, size)
    layers = np.zeros(size, dtype=np.intp) if strata is None else group_codes(strata, size)
    absent = np.isnan(grid[1])
    used = np.flatnonzero(~absent & (heavy != 0))
    heavy, layers = heavy[used], layers[used]
    labels_there, said_there = grid[:, used] * np.sign(heavy)
    weighed, reach = np.abs(heavy), np.maximum(heavy, 0.0)
    return CorrectionUnits(
        labels_there, said_there, weighed, reach, groups[used], layers, used, int(absent.sum())
    )


@dataclass(frozen=True, slots=True)
class CorrectionParts:
    """The means behind a corrected score, and each cluster's contribution to their errors (clusters).

    `people` and `judge_there` are over labelled units, each stratum counting what it weighs among all units;
    `judge` is over all units. The corrected score is people + λ (judge − judge_there).
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
        """The λ of the least variance over clusters, kept within 0 … 1; 0 where the judge adds nothing."""
        gap, size = self.of_judge_there - self.of_judge, float(self.of_judge @ self.of_judge)
        if gap @ gap <= ROUNDING**2 * size:
            return 0.0
        return float(np.clip(self.of_people @ gap / (gap @ gap), 0, 1))

    def errors(self, trust: float) -> Floats:
        """What each cluster adds to the error of the corrected score (clusters)."""
        return self.of_people - trust * (self.of_judge_there - self.of_judge)

    def value(self, trust: float) -> float:
        """The corrected score."""
        return self.people + trust * (self.judge - self.judge_there)


def parts_of(units: CorrectionUnits) -> CorrectionParts:
    """The parts of a corrected score; there must be a label of a unit that has reach.

    Errors are linearised (Särndal, Swensson & Wretman 1992, §5.5 and §7.6): a ratio of sums, post-stratified.
    """
    labelled, layers, heavy, reach = units.labelled, units.strata, units.weights, units.reach
    adds, size = reach > 0, int(layers.max()) + 1
    whole = np.bincount(layers, reach, size)
    known = np.bincount(layers, reach * labelled, size)
    # A stratum without a label is corrected as the others are on the mean.
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
    judge_there, of_judge_there = mean_there(units.said)
    judge = float(heavy @ units.said / reach.sum())
    of_judge = by_cluster(heavy * (units.said - adds * judge) / reach.sum())
    reached_clusters = int((np.bincount(groups, labelled, len(present)) > 0).sum())
    errors = of_people, of_judge_there, of_judge
    return CorrectionParts(people, judge_there, judge, *errors, reached_clusters, len(present))


def corrected_mean(
    units: CorrectionUnits, tuning: float | None = None, level: float = LEVEL, within: Bounds = UNBOUNDED
) -> CorrectedMean:
    """The judge's mean over all units + people's less the judge's over labelled ones, the judge's parts times λ.

    PPI++ (Angelopoulos, Duchi & Zrnic 2023, §6) for units in clusters: λ is `tuning`, or the one of the least
    variance over clusters; the interval is that of `bounds_of`, over labelled clusters, of means that lie `within`.
    """
    n, whole = int(units.labelled.sum()), len(units.said)
    notes = left_out(units.missing, whole + units.missing, "the judge gave no judgement")
    if not (units.reach * units.labelled).any():
        return _uncorrected(units, notes, level, within)
    parts = parts_of(units)
    trust = parts.best_tuning() if tuning is None else tuning
    there, all_over = parts.labelled_clusters, parts.clusters
    missing, name = (
        units.missing,
        f"prediction-powered mean; λ {trust:.3f}, {'tuned' if tuning is None else 'given'}",
    )
    return CorrectedMean(
        _spread(
            "the judge's mean", parts.judge, parts.of_judge, all_over, whole, missing, notes, level, within
        ),
        _spread("mean of labels by unit", parts.people, parts.of_people, there, n, 0, [], level, within),
        _spread(name, parts.value(trust), parts.errors(trust), there, n, missing, notes, level, within),
        trust,
    )


def _uncorrected(units: CorrectionUnits, notes: list[str], level: float, within: Bounds) -> CorrectedMean:
    """The judge's mean alone, when nothing is labelled that has reach."""
    reason = NO_REACH.format("labelled") if units.labelled.any() else NO_LABEL
    absent = Estimate(None, missing=units.missing, method="prediction-powered mean", note=reason)
    if not units.reach.any():
        reason = NO_REACH.format("judged") if len(units.said) else "no unit was judged"
        nothing = Estimate(None, missing=units.missing, method="the judge's mean", note=reason)
        return CorrectedMean(nothing, absent, absent, None)
    as_if = parts_of(replace(units, labels=units.said))
    size = len(units.said)
    raw = _spread(
        "the judge's mean",
        as_if.judge,
        as_if.of_judge,
        as_if.clusters,
        size,
        units.missing,
        notes,
        level,
        within,
    )
    return CorrectedMean(raw, replace(absent, method="mean of labels by unit"), absent, None)


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
    """The estimate with the interval that the clusters' errors give, as many as carry it."""
    found = Estimate(value, n=n, missing=missing, method=name, note="; ".join(notes))
    if enough(clusters):
        most = clusters * max(WORTH_TEN, clusters)
        low, high = bounds_of(value, variance(errors, clusters), clusters, within, level, most)
        method = f"{name}; {interval_name(within, level)} over {clusters:,} clusters"
        found = replace(found, low=low, high=high, method=method)
    found = settled(found, clusters, "clusters", within)
    return found.remarked(f"no cluster differs, so {NO_WIDTH}") if without_width(found) else found


def variance(errors: Floats, clusters: int) -> float:
    """The variance of a mean from what each cluster adds to its error, as many as carry it, two at least."""
    found = float(errors @ errors) * clusters / (clusters - 1)
    return found if found > ROUNDING**2 else 0.0
