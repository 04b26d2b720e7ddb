"""Permutation tests of correlations: every order of few pairs, random orders of more, or a formula."""

from collections.abc import Iterator
from math import erfc, factorial, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from annotator.domain.texts.estimate import Estimate
from annotator.stats.agreement.correlation import kendall_tau_b, mean_ranks, pearson, spearman
from annotator.stats.intervals.coding import Values, numbers
from annotator.stats.intervals.resampling import RESAMPLES, SEED, Floats
from annotator.stats.intervals.student import two_sided

Which = Literal["pearson", "spearman", "kendall"]
Orders = NDArray[np.intp]

FIGURES = {"pearson": pearson, "spearman": spearman, "kendall": kendall_tau_b}
# 9! orders are enumerated in a blink; beyond the second size a formula errs less than random orders do.
MOST_ENUMERATED, MOST_SHUFFLED = 9, 100
# Orders held at once, times pairs.
CELLS = 400_000
ROUNDING = 1e-12


def permutation_p(
    x: Values, y: Values, which: Which = "spearman", resamples: int = RESAMPLES, seed: int = SEED
) -> Estimate:
    """The two-sided p of a correlation under random pairing: the share of orders of y with one as far from 0.

    Exact over all orders of up to 9 pairs; of up to 100 by `resamples` random orders, the one seen counting too
    (Phipson & Smyth 2010); of more by `asymptotic_p`. Values and errors as in `pearson`.
    """
    found, a, b = _paired(x, y, which)
    n = len(a)
    if found.value is None or n > MOST_SHUFFLED:
        return asymptotic_p(x, y, which)
    if n <= MOST_ENUMERATED:
        orders, total, seen = _every(n), factorial(n), 0
        how = f"exact, over all {total} orders"
    else:
        orders, total, seen = _shuffled(n, resamples, seed), resamples + 1, 1
        how = f"{resamples} random orders, seed {seed}"
    far = abs(_together(a, b, np.arange(n)[None], which)[0]) * (1 - ROUNDING)
    times = seen + sum(int((np.abs(_together(a, b, chunk, which)) >= far).sum()) for chunk in orders)
    return _p(times / total, how, found)


def asymptotic_p(x: Values, y: Values, which: Which = "pearson") -> Estimate:
    """The two-sided p of a correlation in large samples: Student's t of r and ρ, Kendall's normal one of τ-b.

    t = r √((n − 2) / (1 − r²)); the variance of the balance of pairs under ties is that of Kendall (1970, chapter 4).
    Values and errors as in `pearson`.
    """
    found, a, b = _paired(x, y, which)
    n, value = len(a), found.value
    if value is None:
        return _p(None, "", found)
    if which == "kendall":
        balance = float(_together(a, b, np.arange(n)[None], which)[0])
        return _p(erfc(abs(balance) / sqrt(2 * _tied_variance(a, b))), "normal", found)
    if abs(value) == 1:
        return _p(None, "Student's t", found)
    return _p(two_sided(value * sqrt((n - 2) / (1 - value**2)), n - 2), "Student's t", found)


def _paired(x: Values, y: Values, which: Which) -> tuple[Estimate, Floats, Floats]:
    """The correlation, and the pairs that are whole, ranked where ranks count."""
    if which not in FIGURES:
        raise ValueError(f"no correlation is called {which}")
    grid = numbers([x, y])
    a, b = grid[:, ~np.isnan(grid).any(axis=0)]
    found = FIGURES[which](x, y)
    return (found, a, b) if which == "pearson" else (found, mean_ranks(a), mean_ranks(b))


def _p(value: float | None, how: str, found: Estimate) -> Estimate:
    notes = [note for note in found.note.split("; ") if "left out" in note or found.value is None]
    if value is None and found.value is not None:
        notes.insert(0, "the order is perfect: take the p of random orders")
    method = "; ".join(part for part in (f"two-sided p of {found.method.split(',')[0]}", how) if part)
    return Estimate(value, n=found.n, missing=found.missing, method=method, note="; ".join(notes))


def _together(a: Floats, b: Floats, orders: Orders, which: Which) -> Floats:
    """What a correlation is proportional to, for each order of b (orders × pairs)."""
    if which == "kendall":
        balance = np.zeros(len(orders))
        for i in range(len(a) - 1):
            balance += np.sign(b[orders[:, i + 1 :]] - b[orders[:, i]][:, None]) @ np.sign(a[i + 1 :] - a[i])
        return balance
    return np.asarray((b - b.mean())[orders] @ (a - a.mean()))


def _every(n: int) -> Iterator[Orders]:
    """All orders of n, in chunks: those of one fewer, with the last put into each place."""
    orders = np.zeros((1, 1), dtype=np.intp)
    for size in range(2, n + 1):
        orders = np.vstack([np.insert(orders, place, size - 1, axis=1) for place in range(size)])
    step = max(1, CELLS // n)
    return (orders[start : start + step] for start in range(0, len(orders), step))


def _shuffled(n: int, resamples: int, seed: int) -> Iterator[Orders]:
    rng = np.random.Generator(np.random.SFC64(seed))
    step = max(1, CELLS // n)
    for start in range(0, resamples, step):
        yield rng.permuted(np.tile(np.arange(n), (min(step, resamples - start), 1)), axis=1)


def _tied_variance(a: Floats, b: Floats) -> float:
    """The variance of rising less falling pairs when b is paired with a at random, ties as they are."""
    n = len(a)
    ties = [np.unique(values, return_counts=True)[1].astype(np.float64) for values in (a, b)]
    spread = n * (n - 1) * (2 * n + 5) - sum(float((t * (t - 1) * (2 * t + 5)).sum()) for t in ties)
    pairs = [float((t * (t - 1)).sum()) for t in ties]
    triples = [float((t * (t - 1) * (t - 2)).sum()) for t in ties]
    return (
        spread / 18
        + pairs[0] * pairs[1] / (2 * n * (n - 1))
        + triples[0] * triples[1] / (9 * n * (n - 1) * (n - 2))
    )
