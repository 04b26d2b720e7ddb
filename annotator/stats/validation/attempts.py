"""Best of k runs: the expected maximum of k runs drawn from n, and its mean over items.

As ADRA has it, where a system may try several times and its best run counts (§5.6, Table 7).
"""

from collections.abc import Collection, Mapping, Sequence
from math import comb, fsum

from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.student import Bounds, mean_of_scores

DEPARTURES = (
    "With more than k runs of an item, the expected best of k of them is taken, which does not depend on the order of "
    "the runs; the paper does not say how it counts them.",
    "An item with fewer than k scored runs is left out and counted.",
)


def expected_best(scores: Sequence[float], k: int) -> float:
    """The mean, over all k-subsets of the scores, of the greatest in it: Σ x₍ᵢ₎ · C(i − 1, k − 1) / C(n, k).

    x₍₁₎ ≤ … ≤ x₍ₙ₎. Unbiased for the best of k runs made again. For n scores of which c are 1 and the others 0 it is
    1 − C(n − c, k) / C(n, k), pass@k (Chen et al. 2021, §2.1). ValueError unless 1 ≤ k ≤ n.
    """
    n = len(scores)
    if not 1 <= k <= n:
        raise ValueError(f"the best of {k} of {n} runs")
    subsets = comb(n, k)
    return fsum(x * (comb(i - 1, k - 1) / subsets) for i, x in enumerate(sorted(scores), start=1))


def best_of(runs: Collection[Estimate], k: int) -> Estimate:
    """The expected best of k runs of a system on one item, with what it could be; ValueError unless k ≥ 1.

    A run whose score is undefined for want of judgements leaves the value undefined and widens the range; one that is
    undefined for good (nothing to score) is no run. `n` counts the runs.
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
        note="" if complete else f"{missing:,} judgements of its runs are missing",
    )


def pass_at_k(runs_of: Mapping[str, Collection[Estimate]], k: int, within: Bounds | None = None) -> Estimate:
    """The mean over items of the expected best of k runs, with Student's t interval over items.

    `runs_of` gives a system's scores on each item, one for each run; what scores lie `within`, the
    interval does too.
    """
    return mean_of_scores([best_of(runs, k) for runs in runs_of.values()], within=within)
