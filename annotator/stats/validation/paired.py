"""McNemar's test: do two raters differ on the same units?"""

from dataclasses import dataclass

from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.coding import Values, plain

INDEPENDENT = "takes units for independent, which those of one item are not"


@dataclass(frozen=True, slots=True)
class McNemar:
    """How often only one of two was right, and the two-sided p of so uneven a split, by two tests.

    `mid` is the one to read: `exact` is too careful (Fagerland, Lydersen & Laake 2013).
    """

    only_one: int
    only_other: int
    exact: Estimate
    mid: Estimate


def mcnemar(only_one: int, only_other: int) -> McNemar:
    """The tests of McNemar (1947) from the two counts of units on which exactly one of the two was right.

    Exact: binomial, 1/2. Mid-p: less half the chance of the split itself (Lancaster 1961).
    ValueError for counts below 0.
    """
    if min(only_one, only_other) < 0:
        raise ValueError(f"counts of {only_one} and {only_other}")
    n = only_one + only_other
    if n == 0:
        return McNemar(0, 0, _p(None, "exact", 0), _p(None, "mid-p", 0))
    tail, split = _tail(n, min(only_one, only_other))
    exact, mid = _p(min(1.0, 2 * tail), "exact", n), _p(min(1.0, 2 * tail - split), "mid-p", n)
    return McNemar(only_one, only_other, exact, mid)


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
