"""What k tries are worth: the expected best of k runs drawn from n."""

from collections.abc import Sequence
from math import comb, fsum


def expected_best(scores: Sequence[float], k: int) -> float:
    """The mean, over all k-subsets of the scores, of the greatest in it: Σ x₍ᵢ₎ · C(i − 1, k − 1) / C(n, k).

    x₍₁₎ ≤ … ≤ x₍ₙ₎. Unbiased for the best of k runs made anew. For n scores of which c are 1 and the others 0 it is
    1 − C(n − c, k) / C(n, k), pass@k (Chen et al. 2021, §2.1). ValueError unless 1 ≤ k ≤ n.
    """
    n = len(scores)
    if not 1 <= k <= n:
        raise ValueError(f"the best of {k} of {n} runs")
    subsets = comb(n, k)
    return fsum(x * (comb(i - 1, k - 1) / subsets) for i, x in enumerate(sorted(scores), start=1))
