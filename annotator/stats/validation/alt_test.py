"""The alternative annotator test of Calderon, Reichart and Dror: may a judge stand in for a person?

Calderon, Reichart & Dror (2025), “The Alternative Annotator Test for LLM-as-a-Judge”, ACL 2025, §3.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from annotator.domain.texts.estimate import SHARE, Estimate
from annotator.stats.intervals.clustered import Statistic, intervals, over, tallied, told
from annotator.stats.intervals.coding import MISSING, Codes, Floats, Values, cluster_codes, coded, numbers
from annotator.stats.intervals.multiplicity import benjamini_yekutieli
from annotator.stats.intervals.student import lower_tail

Scoring = Literal["accuracy", "neg_rmse"]
# What the paper calls enough for a t test; its advice for ε is 0.2 for experts, 0.15 skilled people, 0.1 a crowd.
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
    """One person against the judge, each compared with all others: how often each is as close, and p.

    `beaten` tells whether the judge wins against this person, false discoveries among all persons kept in bounds.
    """

    person: Hashable
    n: int
    judge: float
    own: float
    p: float
    beaten: bool


@dataclass(frozen=True, slots=True)
class AltTest:
    """ω, the share of people the judge wins against, ρ, how often it is at least as close as a person, and each one."""

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
    """Each person in turn is left out and, with the judge, compared with the rest (§3).

    `people` and `judge` hold a value per unit, None or NaN where missing: a person's unit counts when the judge and
    another person have it too. Scoring is the share of the others that say the same, or less their root mean
    squared distance. ε is what a judge's lower cost is worth. ValueError for values that do not fit together.
    """
    names = list(people)
    grid = _grid([*people.values(), judge], scoring)
    groups = cluster_codes(clusters, grid.shape[1])
    wins = [_wins(grid, i, scoring) for i in range(len(names))]
    tested = [i for i in range(len(names)) if wins[i].used.sum() >= max(2, fewest)]
    ps = [_p(wins[i], groups, epsilon) for i in tested]
    adjusted = benjamini_yekutieli(ps)
    found = tuple(
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
    rate = _rate(found, epsilon, notes)
    advantage = _advantage([wins[i] for i in tested], groups, notes)
    return AltTest(rate, advantage, None if rate.value is None else rate.value >= PASSING, found)


@dataclass(frozen=True, slots=True)
class _Wins:
    """Of each unit: whether it counts, whether the judge is at least as close as the person, and the other way."""

    used: NDArray[np.bool_]
    judge: Floats
    own: Floats

    def rates(self) -> tuple[float, float]:
        return float(self.judge[self.used].mean()), float(self.own[self.used].mean())


def _grid(raters: Sequence[Values], scoring: Scoring) -> Floats:
    """The values as numbers (raters × units, the judge last, NaN for missing): codes when only equality counts."""
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

    # Both are compared with as many others, so that sums compare as means and their roots do.
    own, judge = distance(grid[person]), distance(grid[-1])
    return _Wins(used, (judge <= own).astype(np.float64), (own <= judge).astype(np.float64))


def _p(wins: _Wins, groups: Codes | None, epsilon: float) -> float:
    """The p of the person's lead being ε at least, by a one-sided t test of the leads (§3)."""
    leads = (wins.own - wins.judge)[wins.used]
    mean = float(leads.mean())
    codes = np.arange(len(leads)) if groups is None else np.unique(groups[wins.used], return_inverse=True)[1]
    totals = np.bincount(codes, leads - mean)
    k = len(totals)
    error = sqrt(float(totals @ totals) * k / (k - 1)) / len(leads) if k > 1 else 0.0
    if error == 0:
        return 0.0 if mean < epsilon and k > 1 else 1.0
    return lower_tail((mean - epsilon) / error, k - 1)


def _rate(found: Sequence[ReplacedPerson], epsilon: float, notes: Sequence[str]) -> Estimate:
    method = f"winning rate, alternative annotator test, ε {epsilon:g}"
    if not found:
        return Estimate(None, method=method, note="; ".join(["no person can be tested", *notes]))
    value = sum(one.beaten for one in found) / len(found)
    return Estimate(value, n=len(found), method=method, note="; ".join(notes))


def _advantage(wins: Sequence[_Wins], groups: Codes | None, notes: Sequence[str]) -> Estimate:
    """The mean over people of how often the judge is at least as close as the person."""
    method = "advantage probability"
    if not wins:
        return Estimate(None, method=method, note="; ".join(["no person can be tested", *notes]))
    used = np.column_stack([one.used for one in wins]).astype(np.float64)
    rows = np.hstack([used * np.column_stack([one.judge for one in wins]), used])
    kept, people = used.any(axis=1), len(wins)

    def figure(sums: Floats) -> Floats:
        return np.asarray(over(sums[:, :people], sums[:, people:]).mean(axis=1))

    statistic = Statistic(figure, SHARE, lambda sums: sums[:, people:])
    (found,) = intervals(tallied(rows[kept], None if groups is None else groups[kept]), [statistic])
    return told(found, method, int(kept.sum()), notes)
