"""Certainty of a corrected leaderboard: differences, ranks and swaps."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf, sqrt

import numpy as np

from annotator.domain.texts.estimate import Estimate, enough, few, settled
from annotator.stats.intervals.clustered import ROUNDING
from annotator.stats.intervals.coding import Floats, Values, group_codes, plain
from annotator.stats.intervals.student import (
    LEVEL,
    UNBOUNDED,
    Bounds,
    bounds_of,
    interval_name,
    lower_tail,
    range_of_difference,
)
from annotator.stats.validation.correction import (
    CorrectedMean,
    CorrectionUnits,
    corrected_mean,
    parts_of,
    units_of,
    variance,
)


@dataclass(frozen=True, slots=True)
class SystemUnits:
    """One system's units as `units_of` takes them; `items` are its clusters, named alike for all systems.

    Its score lies `within` two bounds.
    """

    labels: Values
    said: Values
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

    Each system has its own λ (or `tuning`). Where less is better, the lowest comes first. ValueError as in `units_of`.
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
    """Each system's units with clusters that mean the same item for all, and how many items there are."""
    items = [item for system in systems for item in plain(system.items)]
    codes = group_codes(items, len(items))
    units, start = [], 0
    for system in systems:
        own = codes[start : start + len(system.items)]
        start += len(own)
        found = units_of(system.labels, system.said, system.weights, own, system.strata)
        units.append(replace(found, clusters=own[found.places]))
    return units, int(codes.max(initial=-1)) + 1


def _errors(units: CorrectionUnits, score: CorrectedMean, items: int) -> Floats:
    """What each item adds to the error of a corrected score (items); nothing where there is none."""
    errors = np.zeros(items)
    if score.tuning is not None:
        errors[np.unique(units.clusters)] = parts_of(units).errors(score.tuning)
    return errors


@dataclass(frozen=True, slots=True)
class _Order:
    """The corrected scores, what each item adds to the error of each, and over how many labelled items each is."""

    scores: Sequence[CorrectedMean]
    errors: Sequence[Floats]
    labelled: Sequence[int]
    within: Sequence[Bounds]
    sign: int
    level: float

    def rank(self, i: int) -> Estimate:
        """A system's rank from the best corrected score on, ties sharing the mean, with all that it may be.

        It is below those that are better beyond chance, and above those that are worse: as many comparisons as there
        are other systems hold together at the level (Bonferroni).
        """
        method, ranked = "rank by corrected score", self._ranked()
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
        """Of two systems, the judge's better one first: the corrected difference, and the chance of the other order."""
        difference, flip = "difference of corrected scores", "chance of the other order"
        absent = next(
            (one.corrected for k in (i, j) if (one := self.scores[k]).corrected.value is None), None
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
        found = settled(replace(bare, low=low, high=high, method=method), items, within=within)
        if tied:
            return found, Estimate(None, n=items, method=flip, note=tied)
        error = sqrt(self._spread(i, j))
        ahead = self._gap(i, j)
        share = lower_tail(-ahead / error, items - 1) if error else 0.5 - 0.5 * float(np.sign(ahead))
        return found, Estimate(share, n=items, method=f"{flip}; by t over {items:,} items").remarked(
            few(items)
        )

    def _ranked(self) -> list[int]:
        return [i for i, one in enumerate(self.scores) if one.corrected.value is not None]

    def _gap(self, i: int, j: int) -> float:
        """How much better a system is than another."""
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
