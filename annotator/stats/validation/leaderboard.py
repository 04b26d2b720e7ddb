"""Certainty of a corrected leaderboard: differences, ranks and swaps."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf

import numpy as np

from annotator.domain.texts.estimate import Estimate, settled
from annotator.stats.intervals.clustered import (
    ClusterTally,
    Figure,
    ResamplingPlan,
    bounded,
    over,
    resampled,
    tallied,
    told,
)
from annotator.stats.intervals.coding import Values, group_codes, plain
from annotator.stats.intervals.intervals import LEVEL
from annotator.stats.intervals.resampling import RESAMPLES, SEED, Floats
from annotator.stats.intervals.tails import ROUNDING
from annotator.stats.validation.correction import CorrectedMean, CorrectionUnits, corrected_mean, units_of


@dataclass(frozen=True, slots=True)
class SystemUnits:
    """One system's units as `units_of` takes them; `items` are its clusters, named alike for all systems."""

    labels: Values
    said: Values
    items: Values
    weights: Sequence[float] | None = None
    strata: Values | None = None


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
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = LEVEL,
    *,
    higher_is_better: bool = True,
) -> Leaderboard:
    """The corrected scores of systems, and their order over resamples of the items, which all systems share.

    Each system has its own λ (or `tuning`), held fast while items are resampled. Where less is better, the lowest
    comes first. ValueError as in `units_of`.
    """
    sign = 1 if higher_is_better else -1
    names = sorted(systems, key=lambda name: (type(name).__name__, repr(name)))
    units, items = _over_common_items([systems[name] for name in names])
    scores = [corrected_mean(of_one, tuning, level) for of_one in units]
    table = _Drawn.of(units, scores, items, ResamplingPlan(resamples, seed, level=level), sign)
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


def _columns(units: CorrectionUnits, items: int) -> Floats:
    """What adds up over items (items × 4 strata + 2): reach, that of labelled ones, weighted labels and judgements.

    The last two columns are the reach and the weighted judgements of all units.
    """
    layers = int(units.strata.max(initial=0)) + 1
    cells, labelled = units.clusters * layers + units.strata, units.labelled
    known = units.weights * labelled
    parts = (
        units.reach,
        units.reach * labelled,
        known * np.where(labelled, units.labels, 0),
        known * units.said,
    )
    by_layer = [np.bincount(cells, part, items * layers).reshape(items, layers) for part in parts]
    whole = [np.bincount(units.clusters, part, items) for part in (units.reach, units.weights * units.said)]
    return np.column_stack([*by_layer, *whole])


def _score(columns: slice, trust: float | None) -> Figure:
    """The corrected score of the sums of `_columns`, with a λ held fast; undefined without one."""

    def figure(sums: Floats) -> Floats:
        if trust is None:
            return np.full(len(sums), np.nan)
        *by_layer, heavy, judged = np.split(sums[:, columns], [-2, -1], axis=1)
        reach, known, labels, said = np.split(by_layer[0], 4, axis=1)
        reached = np.where(known > 0, reach, 0.0)
        total = reached.sum(axis=1)
        people, there = (
            over((reached * np.nan_to_num(over(part, known))).sum(axis=1), total) for part in (labels, said)
        )
        return people + trust * (over(judged[:, 0], heavy[:, 0]) - there)

    return figure


@dataclass(frozen=True, slots=True)
class _Drawn:
    """The corrected scores as they are (systems), and over resamples of the items (resamples × systems)."""

    points: Floats
    scores: Floats
    raws: tuple[float | None, ...]
    reasons: tuple[str, ...]
    tally: ClusterTally | None
    draws: ResamplingPlan
    sign: int = 1
    """−1 where less is better."""

    @staticmethod
    def of(
        units: Sequence[CorrectionUnits],
        scores: Sequence[CorrectedMean],
        items: int,
        draws: ResamplingPlan,
        sign: int,
    ) -> "_Drawn":
        points = np.array([np.nan if s.corrected.value is None else s.corrected.value for s in scores])
        raws, reasons = tuple(s.raw.value for s in scores), tuple(s.corrected.note for s in scores)
        if items < 2 or not draws.resamples or not units:
            return _Drawn(points, np.full((0, len(units)), np.nan), raws, reasons, None, draws, sign)
        blocks = [_columns(of_one, items) for of_one in units]
        ends = np.cumsum([block.shape[1] for block in blocks])
        figures = [
            _score(slice(end - block.shape[1], end), score.tuning)
            for end, block, score in zip(ends.tolist(), blocks, scores, strict=True)
        ]
        tally = tallied(np.hstack(blocks), np.arange(items))
        chunks = [np.column_stack([figure(sums) for figure in figures]) for sums in resampled(tally, draws)]
        return _Drawn(points, np.vstack(chunks), raws, reasons, tally, draws, sign)

    @property
    def _how(self) -> str:
        items = self.tally.clusters if self.tally else 0
        return f"over {items:,} items, {self.draws.resamples:,} resamples, seed {self.draws.seed}"

    def rank(self, i: int) -> Estimate:
        """A system's rank from the best corrected score on, ties sharing the mean, and where it mostly lies."""
        method = "rank by corrected score"
        ranked = ~np.isnan(self.points)
        if not ranked[i]:
            return Estimate(None, n=int(ranked.sum()), method=method, note=self.reasons[i])
        value = float(_places(self.sign * self.points[None, ranked], int(ranked[:i].sum()))[0])
        whole = self.scores[~np.isnan(self.scores[:, ranked]).any(axis=1)][:, ranked]
        if not len(whole):
            return Estimate(value, n=int(ranked.sum()), method=method, note="no resamples were drawn")
        drawn = _places(self.sign * whole, int(ranked[:i].sum()))
        tails = [(1 - self.draws.level) / 2, (1 + self.draws.level) / 2]
        low, high = np.quantile(drawn, tails, method="inverted_cdf").tolist()
        method = f"{method}; {self.draws.level:.0%} percentile bootstrap {self._how}"
        note, n = _dropped(self.scores, whole), int(ranked.sum())
        items = self.tally.clusters if self.tally else 0
        return settled(Estimate(value, low, high, n=n, method=method, note=note), items)

    def pair(self, i: int, j: int) -> tuple[Estimate, Estimate]:
        """Of two systems, the judge's better one first: the corrected difference, and the chance of the other order."""
        difference, flip = (
            "difference of corrected scores",
            "share of resamples in the other order, ties half",
        )
        gap = float(self.points[i] - self.points[j])
        if np.isnan(gap) or self.tally is None:
            undefined = self.reasons[i if np.isnan(self.points[i]) else j]
            reason, value = (undefined, None) if np.isnan(gap) else ("no resamples were drawn", gap)
            return Estimate(value, method=difference, note=reason), Estimate(None, method=flip, note=reason)
        drawn = self.scores[:, i] - self.scores[:, j]
        found = bounded(self.tally, gap, drawn, self.draws)
        told_gap = told(found, difference, self.tally.clusters, [])
        defined = drawn[~np.isnan(drawn)]
        if self.raws[i] == self.raws[j] or not len(defined):
            reason = "the judge puts neither first" if len(defined) else "undefined in every resample"
            return told_gap, Estimate(None, n=len(defined), method=flip, note=reason)
        share = float(np.mean(self.sign * defined < -ROUNDING) + np.mean(np.abs(defined) <= ROUNDING) / 2)
        method = f"{flip}; {self._how}"
        return told_gap, Estimate(share, n=len(defined), method=method, note="; ".join(found.warnings))


def _places(scores: Floats, i: int) -> Floats:
    """The rank of one system (draws) among scores (draws × systems), 1 for the highest, ties sharing the mean."""
    own = scores[:, [i]]
    above, equal = scores > own + ROUNDING, np.abs(scores - own) <= ROUNDING
    return np.asarray(above.sum(axis=1) + (equal.sum(axis=1) + 1) / 2)


def _dropped(drawn: Floats, whole: Floats) -> str:
    out = len(drawn) - len(whole)
    return f"undefined in {out:,} of {len(drawn):,} resamples, which are left out" if out else ""
