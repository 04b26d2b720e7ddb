"""Whether two raters or two systems differ on the same units: McNemar's tests and Student's paired t."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from statistics import fmean, stdev

import numpy as np

from annotator.domain.texts.estimate import Estimate, settled
from annotator.stats.intervals.coding import Values, left_out, numbers, plain
from annotator.stats.intervals.student import LEVEL, t_quantile, two_sided

TESTS = ("exact", "mid-p", "χ²", "χ² with Edwards' correction")
INDEPENDENT = "takes units for independent, which those of one item are not"


@dataclass(frozen=True, slots=True)
class McNemar:
    """How often only one of two was right, and the two-sided p of so uneven a split, by four tests.

    `mid` is the one to read: `exact` is too careful (Fagerland, Lydersen & Laake 2013). The χ² of the other two,
    with one degree of freedom, stand beside them; None where nothing differs.
    """

    only_one: int
    only_other: int
    exact: Estimate
    mid: Estimate
    plain: Estimate
    corrected: Estimate
    chi_squared: float | None
    chi_squared_corrected: float | None


def mcnemar(only_one: int, only_other: int) -> McNemar:
    """The tests of McNemar (1947) from the two counts of units on which exactly one of the two was right.

    Exact: binomial, 1/2. Mid-p: less half the chance of the split itself (Lancaster 1961). Corrected: by Edwards
    (1948). ValueError for counts below 0.
    """
    if min(only_one, only_other) < 0:
        raise ValueError(f"counts of {only_one} and {only_other}")
    n, gap = only_one + only_other, abs(only_one - only_other)
    if n == 0:
        exact, mid, chi_p, corrected_p = (_p(None, test, 0) for test in TESTS)
        return McNemar(0, 0, exact, mid, chi_p, corrected_p, None, None)
    tail, split = _tail(n, min(only_one, only_other))
    chi, corrected = gap**2 / n, max(gap - 1, 0) ** 2 / n
    ps = min(1.0, 2 * tail), min(1.0, 2 * tail - split), erfc(sqrt(chi / 2)), erfc(sqrt(corrected / 2))
    exact, mid, chi_p, corrected_p = (_p(p, test, n) for p, test in zip(ps, TESTS, strict=True))
    return McNemar(only_one, only_other, exact, mid, chi_p, corrected_p, chi, corrected)


def mcnemar_of(truth: Values, one: Values, other: Values) -> McNemar:
    """`mcnemar` of two raters on the units that have a value of both and a true one; ValueError for other lengths."""
    listed = [plain(values) for values in (truth, one, other)]
    rows = [row for row in zip(*listed, strict=True) if None not in row]
    right = [(a == true, b == true) for true, a, b in rows]
    return mcnemar(sum(a and not b for a, b in right), sum(b and not a for a, b in right))


def _tail(n: int, least: int) -> tuple[float, float]:
    """The chance of at most `least` heads in n throws, and of just as many, summed in whole numbers."""
    ways, total = 1, 1
    for k in range(least):
        ways = ways * (n - k) // (k + 1)
        total += ways
    return total / (1 << n), ways / (1 << n)


def _p(value: float | None, test: str, n: int) -> Estimate:
    note = INDEPENDENT if n else "the two were never right one without the other"
    return Estimate(value, n=n, method=f"two-sided p; McNemar, {test}", note=note)


@dataclass(frozen=True, slots=True)
class PairedT:
    """The mean difference with its interval, the p of so large a one, and t with its degrees of freedom."""

    difference: Estimate
    p: Estimate
    t: float | None
    df: int


def paired_t(a: Values, b: Values, level: float = LEVEL) -> PairedT:
    """Student's paired t (1908), two-sided, of a − b by item; None or NaN for missing, which leaves the item out.

    ValueError for lengths that differ, words or infinities.
    """
    grid = numbers([a, b])
    given = ~np.isnan(grid).any(axis=0)
    gaps = (grid[0] - grid[1])[given].tolist()
    n, items, missing = len(gaps), grid.shape[1], int(np.isnan(grid).sum())
    notes = left_out(items - n, items, "a value is missing")
    method = f"mean difference of pairs; {level:.0%} t interval"
    if n < 2:
        few = "one pair gives no interval" if n else "there is no pair"
        mean = Estimate(
            gaps[0] if n else None, n=n, missing=missing, method=method, note="; ".join([few, *notes])
        )
        return PairedT(mean, _t_p(None, n, missing, [few, *notes]), None, 0)
    middle, error = fmean(gaps), _error(gaps)
    half = t_quantile(level, n - 1) * error
    mean = Estimate(middle, middle - half, middle + half, n, missing, method=method, note="; ".join(notes))
    mean = settled(mean, n, "pairs")
    if not error:
        return PairedT(mean, _t_p(None, n, missing, ["all differences are equal", *notes]), None, n - 1)
    t = middle / error
    return PairedT(mean, _t_p(two_sided(t, n - 1), n, missing, notes), t, n - 1)


def _error(gaps: Sequence[float]) -> float:
    """The standard error of a mean of gaps; 0 where they differ by rounding only."""
    spread = stdev(gaps)
    return spread / sqrt(len(gaps)) if spread > 1e-12 * max(map(abs, gaps)) else 0.0


def _t_p(value: float | None, n: int, missing: int, notes: Sequence[str]) -> Estimate:
    return Estimate(
        value, n=n, missing=missing, method="two-sided p; Student's paired t", note="; ".join(notes)
    )
