"""Correlations: by value or by rank, with their intervals."""

from collections.abc import Callable
from math import atanh, copysign, sqrt, tanh
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotator.domain.texts.estimate import Estimate, settled
from annotator.stats.intervals.coding import Floats, Values, left_out, numbers
from annotator.stats.intervals.student import LEVEL, two_sided

FEWEST = 3
# A correlation this near to ±1 is ±1: the rest is rounding.
ROUNDING = 1e-12
# Scores that are no further apart, as a share of the largest, are tied: sums of the same parts differ by as much.
TIED = 4 * float(np.finfo(np.float64).eps)


class ZVariance(NamedTuple):
    """The variance of a correlation's inverse hyperbolic tangent: (constant + square · value²) / (n − lost)."""

    constant: float
    square: float
    lost: int


def pearson(x: Values, y: Values) -> Estimate:
    """r of two series, None or NaN for missing, with Fisher's z interval (Fisher 1921).

    ValueError for series of unequal length, words or infinities.
    """
    return _estimate("Pearson's r, Fisher's z interval (1921)", x, y, product_moment, ZVariance(1.0, 0.0, 3))


def spearman(x: Values, y: Values) -> Estimate:
    """ρ of two series, ties sharing their mean rank, with a z interval of variance (1 + ρ²/2) / (n − 3).

    Bonett & Wright (2000), Psychometrika 65, 23–28. Missing values and errors as in `pearson`.
    """
    method = "Spearman's ρ, z interval of Bonett and Wright (2000)"
    return _estimate(method, x, y, rank_moment, ZVariance(1.0, 0.5, 3))


def kendall_tau_b(x: Values, y: Values) -> Estimate:
    """τ-b of two series (Kendall 1945), with a z interval of variance 0.437 / (n − 4), which was found without ties.

    Fieller, Hartley & Pearson (1957), Biometrika 44, 470–481. Missing values and errors as in `pearson`.
    """
    method = "Kendall's τ-b, z interval of Fieller, Hartley and Pearson (1957)"
    return _estimate(method, x, y, tau_b, ZVariance(0.437, 0.0, 4))


def p_of(found: Estimate) -> float | None:
    """How often chance alone gives an r or a ρ so far from 0: two-sided, by t = r √((n − 2) / (1 − r²)).

    None where it is undefined; 0 for a perfect one.
    """
    if found.value is None or found.n < FEWEST:
        return None
    left = 1 - found.value**2
    return two_sided(abs(found.value) * sqrt((found.n - 2) / left), found.n - 2) if left > 0 else 0.0


def product_moment(a: Floats, b: Floats) -> float:
    """r of two series of which neither is constant."""
    return float(_direction(a) @ _direction(b))


def rank_moment(a: Floats, b: Floats) -> float:
    """ρ of two series of which neither is constant."""
    return product_moment(mean_ranks(a), mean_ranks(b))


def mean_ranks(values: Floats) -> Floats:
    """The ranks from 1 on, ties sharing their mean."""
    _, place, times = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(times) - (times - 1) / 2)[place])


def tied(values: Floats) -> Floats:
    """The values, each that differs from the next lower one by rounding alone made equal to it."""
    if not len(values):
        return values
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    new = np.flatnonzero(np.diff(ordered, prepend=-np.inf) > TIED * np.abs(values).max())
    found = np.empty_like(values)
    found[order] = np.repeat(ordered[new], np.diff(new, append=len(values)))
    return found


def tau_b(a: Floats, b: Floats) -> float:
    """τ-b of two series of which neither is constant, in n log n (after Knight 1966)."""
    order = np.lexsort((b, a))
    x, y = (np.unique(values[order], return_inverse=True)[1] for values in (a, b))
    pairs, tied_x, tied_y = len(x) * (len(x) - 1) // 2, _ties(x), _ties(y)
    balance = pairs - tied_x - tied_y + _ties(x * len(x) + y) - 2 * _inversions(y)
    return balance / sqrt((pairs - tied_x) * (pairs - tied_y))


def _estimate(
    method: str,
    x: Values,
    y: Values,
    measure: Callable[[Floats, Floats], float],
    variance: ZVariance,
) -> Estimate:
    grid = numbers([x, y])
    given = ~np.isnan(grid)
    a, b = map(tied, grid[:, given.all(axis=0)])
    n, units, missing = len(a), grid.shape[1], int((~given).sum())
    notes = left_out(units - n, units, "a value is missing")
    if reason := _undefined(a, b):
        return Estimate(None, n=n, missing=missing, method=method, note="; ".join([reason, *notes]))
    value = measure(a, b)
    value = copysign(1.0, value) if abs(value) > 1 - ROUNDING else value
    low, high = _interval(value, n, variance)
    if low is None:
        notes.append(
            "the order is perfect: no interval" if abs(value) == 1 else f"{n} pairs give no interval"
        )
    found = Estimate(value, low, high, n=n, missing=missing, method=method, note="; ".join(notes))
    return found if low is None else settled(found, n, "pairs")


def _undefined(a: Floats, b: Floats) -> str:
    """Why two series have no correlation, or nothing."""
    if len(a) < FEWEST:
        few = "1 pair is" if len(a) == 1 else f"{len(a):,} pairs are"
        return f"{few} too few: a correlation needs {FEWEST}"
    constant = [name for name, series in (("first", a), ("second", b)) if not _direction(series).any()]
    return f"all values of the {' and the '.join(constant)} series are the same" if constant else ""


def _interval(value: float, n: int, variance: ZVariance) -> tuple[float | None, float | None]:
    if n <= variance.lost or abs(value) == 1:
        return None, None
    spread = (variance.constant + variance.square * value**2) / (n - variance.lost)
    half = NormalDist().inv_cdf(0.5 + LEVEL / 2) * sqrt(spread)
    return tanh(atanh(value) - half), tanh(atanh(value) + half)


def _direction(values: Floats) -> Floats:
    """The deviations from the mean, of length 1; zeros for a constant series."""
    # Scaled by a power of two, so that no square overflows; counted from the least, so that little is rounded.
    _, exponent = np.frexp(np.max(np.abs(values)))
    scaled = np.ldexp(values, -exponent)
    deviations = scaled - scaled.min()
    if not (spread := deviations.max()):
        return np.asarray(deviations)
    deviations = (deviations - deviations.mean()) / spread
    return np.asarray(deviations / np.linalg.norm(deviations))


def _ties(codes: NDArray[np.intp]) -> int:
    """How many pairs have the same code."""
    _, times = np.unique(codes, return_counts=True)
    return int((times * (times - 1) // 2).sum())


def _inversions(codes: NDArray[np.intp]) -> int:
    """How many pairs stand in falling order.

    Codes sorted by all bits above one are in groups; within a group, a falling pair is a one before a zero.
    """
    found = 0
    for bit in reversed(range(int(codes.max()).bit_length())):
        group, ones = codes >> (bit + 1), (codes >> bit) & 1
        before = np.concatenate([[0], np.cumsum(ones)])
        starts = before[np.searchsorted(group, group)]
        found += int((before[:-1] - starts)[ones == 0].sum())
        codes = codes[np.argsort(codes >> bit, kind="stable")]
    return found
