"""Duels of systems: wins, order effects, length effects, and agreement with scores.

ResearcherBench, appendix E.7: both orders of each pair, E.7.1; the table of wins, E.7.3, Table 7; length, E.7.5.
ADRA, §5.4: whether scores prefer the report that experts prefer. The first gives no intervals. Comparisons on one
question, and the two verdicts of a pair, are not independent: intervals are Wilson's over questions, if these are
known.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb, fsum, isclose

from annotator.domain.common import counted, grouped
from annotator.domain.judges.contest import FIRST, SECOND, TIE, Choice, PairOutcome, outcome
from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.student import Bounds, mean_of_scores, wilson


@dataclass(frozen=True, slots=True)
class Duel:
    """Two systems on one item: the verdict with `a` shown first, and the one with `b` shown first; None is missing.

    Duels on one `question` form a cluster, such as those of several runs; without it each is its own cluster.
    """

    item_id: str
    a: str
    b: str
    a_first: str | None
    b_first: str | None
    question: str = ""

    @property
    def outcome(self) -> PairOutcome:
        return outcome(self.a_first, self.b_first)

    @property
    def mirrored(self) -> "Duel":
        """The same duel with the two systems exchanged."""
        return Duel(self.item_id, self.b, self.a, self.b_first, self.a_first, self.question)


@dataclass(frozen=True, slots=True)
class DuelRecord:
    """The outcomes of a system's comparisons. Table 7 has no column for the inconsistent.

    `win_rate` is wins / comparisons judged in both orders, as there.
    """

    system: str
    outcomes: Mapping[PairOutcome, int]
    win_rate: Estimate


def win_table(duels: Sequence[Duel]) -> list[DuelRecord]:
    """The record of every system, the highest win rate first, equal ones by name.

    ValueError if a system meets itself, or two systems meet twice on an item.
    """
    met = {(duel.item_id, frozenset((duel.a, duel.b))) for duel in duels}
    if len(met) < len(duels) or any(duel.a == duel.b for duel in duels):
        raise ValueError("every pair of different systems meets once on an item")
    sides_of = grouped((side.a, side) for duel in duels for side in (duel, duel.mirrored))
    rows = [_record(system, sides) for system, sides in sides_of.items()]
    return sorted(rows, key=lambda row: (-_height(row), row.system))


def _record(system: str, sides: Sequence[Duel]) -> DuelRecord:
    """The record of a system, from its duels with it as the first."""
    judged, missing = _judged(sides)
    rate = _share([duel.outcome is PairOutcome.WIN for duel in judged], judged)
    note = rate.note if judged else "no comparison was judged in both orders"
    remark = counted(missing, "comparison is missing", "comparisons are missing") if missing else ""
    rate = replace(rate, missing=missing, note=note).remarked(remark)
    return DuelRecord(system, Counter(duel.outcome for duel in sides), rate)


def _height(row: DuelRecord) -> float:
    """The sort key of a row: its win rate, below all others if it has none."""
    rate = row.win_rate.value
    return -1.0 if rate is None else rate


# Order effects.


def flip_rate(duels: Sequence[Duel]) -> Estimate:
    """Position bias: the share of pairs judged in both orders whose verdict changes with the order."""
    judged, missing = _judged(duels)
    rate = _share([duel.outcome is PairOutcome.INCONSISTENT for duel in judged], judged)
    return _noted(rate, missing, "pairs whose verdict changes with the order / pairs judged in both")


def first_slot_rate(duels: Sequence[Duel]) -> Estimate:
    """The share of the verdicts naming a winner that name the report shown first; 1/2 is no bias.

    Only pairs judged in both orders count, so that each report was first as often as second.
    """
    judged, missing = _judged(duels)
    decided = [
        (verdict == FIRST, duel)
        for duel in judged
        for verdict in (duel.a_first, duel.b_first)
        if verdict != TIE
    ]
    rate = _share([first for first, _ in decided], [duel for _, duel in decided])
    return _noted(rate, missing, "verdicts for the first shown / verdicts for either")


def _judged(duels: Sequence[Duel]) -> tuple[list[Duel], int]:
    """The duels judged in both orders, and the number of the others."""
    judged = [duel for duel in duels if duel.outcome is not PairOutcome.ERROR]
    return judged, len(duels) - len(judged)


def _share(holds: Sequence[bool], of: Sequence["Duel | ScoredPair"]) -> Estimate:
    """The share of those that hold, with Wilson's interval over their questions; over independent ones if any is
    unknown.
    """
    from annotator.stats.intervals.clustered import clustered_wilson

    questions = [one.question for one in of]
    if "" in questions:
        return wilson(sum(holds), len(holds))
    return clustered_wilson([float(hold) for hold in holds], questions)


def _noted(rate: Estimate, missing: int, method: str) -> Estimate:
    left_out = f"{counted(missing, 'pair')} left out: a verdict is missing" if missing else ""
    return replace(rate, missing=missing, method=f"{method}; {rate.method}").remarked(left_out)


# Length effects.


def length_bias(lengths: Mapping[str, float], win_rates: Mapping[str, float | None]) -> dict[str, Estimate]:
    """Pearson's r, Spearman's ρ and R² of mean report length and win rate over systems, by name (appendix E.7.5).

    A system without a win rate is left out. The interval of R² is that of r, squared. ValueError if a system has no
    length.
    """
    from annotator.stats.agreement.levels import pearson, spearman

    if lacking := win_rates.keys() - lengths.keys():
        raise ValueError(f"no length is known of {', '.join(sorted(lacking))}")
    systems = sorted(win_rates)
    x, y = [lengths[system] for system in systems], [win_rates[system] for system in systems]
    r = pearson(x, y)
    return {"Pearson's r": r, "Spearman's ρ": spearman(x, y), "R²": _squared(r)}


def _squared(r: Estimate) -> Estimate:
    """R² of a straight line: the square of Pearson's r."""
    method = "R², the square of Pearson's r"
    if r.value is None:
        return replace(r, method=method)
    if r.low is None or r.high is None:
        return replace(r, value=r.value**2, method=method)
    ends = sorted((r.low**2, r.high**2))
    return replace(
        r, value=r.value**2, low=0.0 if r.low < 0 < r.high else ends[0], high=ends[1], method=method
    )


# Agreement of scores with preferences.


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """Two reports on one item: their scores, None for undefined, and the preferred one, None if open.

    Pairs on one `question` form a cluster; without it each is its own cluster.
    """

    first: float | None
    second: float | None
    preferred: Choice | None
    question: str = ""


# What a pair is counted as.
OUTCOMES = ("agreed", "disagreed", "tied scores", "tied preferences", "tied both", "left out")


def better(first: float, second: float) -> Choice:
    """The higher score; a tie if they differ by rounding only."""
    if isclose(first, second, rel_tol=1e-9, abs_tol=1e-12):
        return TIE
    return FIRST if first > second else SECOND


def agreement(pairs: Iterable[ScoredPair]) -> tuple[Estimate, Counter[str]]:
    """The share of pairs, among those tied by neither, whose better score is the preferred report; and the number of
    pairs with each of the `OUTCOMES`.

    Pairs without a preference or without both scores are left out and counted. ValueError on another preference.
    """
    result = [(_outcome(pair), pair) for pair in pairs]
    decided = [(came == "agreed", pair) for came, pair in result if came in ("agreed", "disagreed")]
    share = _share([agreed for agreed, _ in decided], [pair for _, pair in decided])
    return share, Counter(came for came, _ in result)


def _outcome(pair: ScoredPair) -> str:
    if pair.preferred not in (FIRST, SECOND, TIE, None):
        raise ValueError(f"a preference is first, second or tie, not {pair.preferred!r}")
    if pair.preferred is None or pair.first is None or pair.second is None:
        return "left out"
    scored = better(pair.first, pair.second)
    if scored == pair.preferred:
        return "tied both" if scored == TIE else "agreed"
    if scored == TIE:
        return "tied scores"
    return "tied preferences" if pair.preferred == TIE else "disagreed"


DEPARTURES = (
    "With more than k runs of an item, the expected best of k of them is taken, which does not depend on the order of "
    "the runs; the paper does not say how it counts them.",
    "An item with fewer than k scored runs is left out and counted.",
)


def expected_best(scores: Sequence[float], k: int) -> float:
    """The mean, over all k-subsets of the scores, of the maximum in it: Σ x₍ᵢ₎ · C(i − 1, k − 1) / C(n, k).

    x₍₁₎ ≤ … ≤ x₍ₙ₎. Unbiased for the best of k new runs. For n scores of which c are 1 and the others 0 it is 1 − C(n
    − c, k) / C(n, k), pass@k (Chen et al. 2021, §2.1). ValueError unless 1 ≤ k ≤ n.
    """
    n = len(scores)
    if not 1 <= k <= n:
        raise ValueError(f"the best of {k} of {n} runs")
    subsets = comb(n, k)
    return fsum(x * (comb(i - 1, k - 1) / subsets) for i, x in enumerate(sorted(scores), start=1))


def best_of(runs: Collection[Estimate], k: int) -> Estimate:
    """The expected best of k runs of a system on one item, with its possible range; ValueError unless k ≥ 1.

    A run whose score lacks judgements leaves the value undefined and widens the range; one that can never be scored
    (nothing to score) does not count as a run. `n` counts the runs.
    """
    if k < 1:
        raise ValueError(f"the best of {k} runs")
    scored = [run for run in runs if run.floor is not None and run.ceiling is not None]
    missing = sum(run.missing for run in scored)
    method = f"expected best of {k:,} of {len(scored):,} runs"
    if len(scored) < k:
        note = f"{len(scored):,} scored runs are fewer than {k}"
        return Estimate(None, n=len(scored), missing=missing, method=method, note=note)
    values = [run.value for run in scored if run.value is not None]
    complete = len(values) == len(scored)
    return Estimate(
        expected_best(values, k) if complete else None,
        n=len(scored),
        missing=missing,
        floor=expected_best([run.floor for run in scored if run.floor is not None], k),
        ceiling=expected_best([run.ceiling for run in scored if run.ceiling is not None], k),
        method=method,
        note="" if complete else f"{counted(missing, 'judgement')} missing in its runs",
    )


def pass_at_k(runs_of: Mapping[str, Collection[Estimate]], k: int, within: Bounds | None = None) -> Estimate:
    """The mean over items of the expected best of k runs, with Student's t interval over items.

    `runs_of` gives a system's scores on each item, one for each run; the interval lies `within` the same bounds as
    the scores.
    """
    return mean_of_scores([best_of(runs, k) for runs in runs_of.values()], within=within)


Point = tuple[float, float]


def dominates(a: Point, b: Point) -> bool:
    """Whether a, as (score, cost), is at least as good as b on both and better on one: higher score, lower cost."""
    return a[0] >= b[0] and a[1] <= b[1] and a != b


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """A system's score and cost, None if unknown; `beaten_by` names those that dominate it."""

    system: str
    score: float | None
    cost: float | None
    beaten_by: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        return self.score is not None and self.cost is not None

    @property
    def on_front(self) -> bool:
        """Whether no other system is at least as good on both and better on one."""
        return self.known and not self.beaten_by


def standings(systems: Sequence[tuple[str, float | None, float | None]]) -> tuple[FrontPoint, ...]:
    """Each (system, score, cost) with the systems that are at least as good on both and better on one.

    The score should be high, the cost (latency, tokens or money) low. Unknown values neither beat nor are beaten.
    """
    known = {name: (score, cost) for name, score, cost in systems if score is not None and cost is not None}
    beaten_by = {
        name: tuple(other for other in known if dominates(known[other], own)) for name, own in known.items()
    }
    return tuple(FrontPoint(name, score, cost, beaten_by.get(name, ())) for name, score, cost in systems)
