"""What k tries are worth: the expected best of k runs drawn from n."""

from collections.abc import Sequence
from math import comb, fsum


def pass_at_k(n: int, passed: int, k: int) -> float:
    """1 − C(n − passed, k) / C(n, k): the chance that k of n runs hold one that passed (Chen et al. 2021, §2.1).

    Unbiased for k runs made anew. ValueError unless 0 ≤ passed ≤ n and 1 ≤ k ≤ n.
    """
    _check(n, k)
    if not 0 <= passed <= n:
        raise ValueError(f"{passed} of {n} runs passed")
    return 1 - comb(n - passed, k) / comb(n, k)


def expected_best(scores: Sequence[float], k: int) -> float:
    """The mean, over all k-subsets of the scores, of the greatest in it: Σ x₍ᵢ₎ · C(i − 1, k − 1) / C(n, k).

    x₍₁₎ ≤ … ≤ x₍ₙ₎. For scores of 0 and 1 it is `pass_at_k`. ValueError unless 1 ≤ k ≤ n.
    """
    n = len(scores)
    _check(n, k)
    subsets = comb(n, k)
    return fsum(x * (comb(i - 1, k - 1) / subsets) for i, x in enumerate(sorted(scores), start=1))


def _check(n: int, k: int) -> None:
    if not 1 <= k <= n:
        raise ValueError(f"the best of {k} of {n} runs")
