"""Intervals from a variance over items: Student's t and Wilson's score interval; of means, groups and differences."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, cos, exp, fsum, inf, isfinite, isinf, lgamma, log, pi, sin, sqrt, tan
from statistics import NormalDist, fmean, stdev, variance

from annotator.domain.common import grouped
from annotator.domain.texts.estimate import NO_WIDTH, Estimate, enough, settled, without_width


def mean_bounds(scores: Collection[Estimate]) -> tuple[float | None, float | None]:
    """The minimum and maximum that the mean of `scores` could have, whatever the missing judgements turn out to be.

    A score with a value always counts in the mean. One without a value but with bounds may come to count, or stay
    undefined, so it counts if it moves the bound. The mean of the values lies between the bounds exactly. None if no
    score has bounds.
    """
    if all(score.floor is None for score in scores):
        return None, None
    certain = [score for score in scores if score.value is not None]
    open_ = [score for score in scores if score.value is None]
    floor = _least(
        [_of(estimate.floor, estimate.value) for estimate in certain],
        [x.floor for x in open_ if x.floor is not None],
    )
    ceiling = _least(
        [-_of(estimate.ceiling, estimate.value) for estimate in certain],
        [-x.ceiling for x in open_ if x.ceiling is not None],
    )
    return floor, None if ceiling is None else 0.0 - ceiling


def mean_range(
    scores: Collection[Estimate], within: tuple[float, float] | None = None
) -> tuple[float, float] | None:
    """The range of the mean of the scores that have a value, each `within` these bounds unless it has its own."""
    ranges = [score.within or within for score in scores if score.value is not None]
    known = [each for each in ranges if each is not None]
    return (fmean(low for low, _ in known), fmean(high for _, high in known)) if known else within


def _of(bound: float | None, value: float | None) -> float:
    """The bound of a score that has a value; without a bound of its own it is the value."""
    return next(x for x in (bound, value) if x is not None)


def _least(certain: Sequence[float], open_: Sequence[float]) -> float | None:
    """The minimum mean of all certain values and any of the open ones; None if there are none."""
    taken, total = list(certain), fsum(certain)
    for bound in sorted(open_):
        if taken and bound * len(taken) >= total:
            break
        taken.append(bound)
        total += bound
    # Sums are rounded once, so that a mean of lower values is never above one of higher ones.
    return min((fsum(part) / len(part) for part in (certain, taken) if part), default=None)


LEVEL = 0.95
# A continued fraction has converged when a step moves it by less; in its middle it takes some 2 √df steps.
RESTING, STEPS, TINY = 1e-15, 10_000, 1e-300
# Halving [0, π/2] this often leaves neighbouring floating-point numbers.
HALVINGS = 60
# Differences that spread by less than this share of their mean are the same: the rest is rounding.
ROUNDING = 1e-12
Bounds = tuple[float, float]
UNBOUNDED = (-inf, inf)
# Fewer items than these are worth at most ten yes/no units each: chance alone makes so few values look alike.
WORTH_TEN = 10
# With fewer units of the rarer kind, and these a tenth at most, Wilson's bound towards the end covers too seldom: 84
# times in 100 at worst.
RARE, TENTH = 4.0, 0.1


@lru_cache(maxsize=4096)
def t_quantile(level: float, df: int) -> float:
    """The t such that −t … t contains the share `level` of Student's t with `df` degrees of freedom.

    ValueError unless 0 < level < 1 and df ≥ 1.
    """
    if not 0 < level < 1 or df < 1:
        raise ValueError(f"a level of {level} with {df} degrees of freedom")
    return sqrt(df) * tan(_bisected(0.0, pi / 2, lambda angle: _share(angle, df) < level)[1])


def _bisected(low: float, high: float, falls_short: Callable[[float], bool]) -> Bounds:
    """Two neighbouring numbers by bisection: the lower falls short, the higher does not."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if falls_short(middle) else (low, middle)
    return low, high


def _share(angle: float, df: int) -> float:
    """A(t | df) at t = √df · tan(angle), by its finite series (Abramowitz & Stegun 1964, 26.7.3 and 26.7.4)."""
    odd = df % 2
    square, term, total = cos(angle) ** 2, cos(angle) if odd else 1.0, 0.0
    for place in range(2 + odd, df + 1, 2):
        total += term
        term *= square * (place - 1) / place
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


def two_sided(t: float, df: int) -> float:
    """The two-sided tail of Student's t with `df` degrees of freedom beyond ±t, accurate far out too.

    I_x(df/2, 1/2) at x = df / (df + t²) (Abramowitz & Stegun 1964, 26.7.1). ValueError unless df ≥ 1.
    """
    if df < 1:
        raise ValueError(f"{df} degrees of freedom")
    return 0.0 if isinf(t) else _beta_share(df / (df + t * t), t * t / (df + t * t), df / 2, 0.5)


def lower_tail(t: float, df: int) -> float:
    """The share of Student's t with `df` degrees of freedom below t; ValueError unless df ≥ 1."""
    half = two_sided(t, df) / 2
    return half if t < 0 else 1 - half


def _beta_share(x: float, rest: float, a: float, b: float) -> float:
    """The incomplete beta ratio I_x(a, b), rest being 1 − x, by its continued fraction (DLMF 8.17.22)."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_share(rest, x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(rest))
    return front / a * _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """1 / (1 + d₁ / (1 + d₂ / …)) of DLMF 8.17.22, from the front (Lentz 1976)."""
    top, bottom, value = 1.0, 0.0, 1.0
    for step in range(STEPS):
        m = step // 2
        if step == 0:
            d = 1.0
        elif step % 2:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        bottom = 1 / ((1 + d * bottom) or TINY)
        top = (1 + d / top) or TINY
        value *= top * bottom
        if abs(top * bottom - 1) < RESTING:
            break
    return value - 1.0


def wilson_bounds(p: float, n: float, z: float) -> Bounds:
    """The bounds of Wilson's score interval for a share p of n units, z standard errors either side."""
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # At the ends the bound is 0 or 1 exactly; floating point misses it by a hair.
    return 0.0 if p == 0 else centre - half, 1.0 if p == 1 else centre + half


def wilson(successes: int, n: int, level: float = LEVEL) -> Estimate:
    """The share `successes` / `n` with Wilson's score interval (Wilson 1927); ValueError unless 0 ≤ successes ≤ n."""
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}")
    method = f"share; {level:.0%} Wilson score interval"
    if n == 0:
        return Estimate(None, method=method, note="nothing was counted")
    low, high = wilson_bounds(successes / n, n, _z(level))
    return settled(Estimate(successes / n, low, high, n=n, method=method), n, "units")


def bounds_of(
    value: float,
    spread: float,
    items: int,
    within: Bounds = UNBOUNDED,
    level: float = LEVEL,
    most: float = inf,
) -> Bounds:
    """The interval of a figure from its variance, `spread`, over `items` items, by t with one degree of freedom less.

    A figure `within` two finite bounds is scaled to a share between them: Wilson's score interval for the number of
    yes/no units of that variance, share · (1 − share) / variance, `most` at most (Korn & Graubard 1998; Dean & Pagano
    2015). At an end, where the variance is zero, an item counts as one unit; if few units are of the rarer kind, the
    bound towards the end is at least Clopper & Pearson's (Brown, Cai & DasGupta 2001). Any other figure has Student's
    t interval. Without variance away from an end the interval has no width unless `most` is given. ValueError for one
    item.
    """
    t, (least, greatest) = t_quantile(level, items - 1), within
    width = greatest - least
    share = (value - least) / width if 0 < width < inf else inf
    if not -ROUNDING <= share <= 1 + ROUNDING:
        half = t * sqrt(spread)
        return value - half, value + half
    if min(share, 1 - share) <= ROUNDING:
        share, worth = float(round(share)), float(items)
    elif spread or most < inf:
        worth = min(most, share * (1 - share) * width**2 / spread if spread else inf)
    else:
        return value, value
    low, high = wilson_bounds(share, worth, t)
    units = worth * (_z(level) / t) ** 2
    rarer = min(share, 1 - share) * units
    if 0 < rarer < min(RARE, TENTH * units):
        end = exact_lower(rarer, units, level)
        low, high = (min(low, end), high) if share < 0.5 else (low, max(high, 1 - end))
    return least + width * low, least + width * high


def exact_lower(successes: float, units: float, level: float = LEVEL) -> float:
    """Clopper & Pearson's lower bound of a share, for numbers that need not be whole."""
    tail, failures = (1 - level) / 2, units - successes
    return _bisected(
        0.0, successes / units, lambda share: _beta_share(share, 1 - share, successes, failures + 1) < tail
    )[0]


def _z(level: float) -> float:
    return NormalDist().inv_cdf(0.5 + level / 2)


def p_above(value: float, spread: float, items: int, within: Bounds, at: float) -> float | None:
    """The one-sided p of a true value of `at` or less; `at` is the lower end of `bounds_of` at a level of 1 − 2p.

    None without variance.
    """
    if not spread:
        return None
    (least, greatest), variance_at = within, spread
    if isfinite(greatest - least):
        here, there = (value - least) * (greatest - value), (at - least) * (greatest - at)
        if here <= 0 or there <= 0:
            return None
        variance_at = spread * there / here
    return lower_tail((at - value) / sqrt(variance_at), items - 1)


def interval_name(within: Bounds, level: float = LEVEL) -> str:
    return f"{level:.0%} {'Wilson score' if all(map(isfinite, within)) else 't'} interval"


def mean_interval(
    values: Sequence[float], level: float = LEVEL, within: Bounds | None = None, *, capped: bool = True,
    what: str = "items",
) -> Estimate:  # fmt: skip
    """The mean of finite values, one per item, that lie `within`, with the interval of `bounds_of`.

    Scores may be skewed, so the effective units of an item are `capped`; differences hardly are. `what` names the
    values' owners.
    """
    bounds, n, method = within or UNBOUNDED, len(values), f"mean over {what}"
    if not n:
        return Estimate(None, method=method, note="there are no values")
    mean = fmean(values)
    if not enough(n):
        return settled(Estimate(mean, n=n, method=method), n, what)
    spread = 0.0 if max(values) - min(values) <= ROUNDING * abs(mean) else variance(values) / n
    low, high = bounds_of(mean, spread, n, bounds, level, n * max(WORTH_TEN, n) if capped else inf)
    method = f"{method}; {interval_name(bounds, level)}"
    result = settled(Estimate(mean, low, high, n=n, method=method), n, what, bounds)
    alike = NO_WIDTH if without_width(result) else "nothing is known of how they spread"
    return result if spread else result.remarked(f"all values are the same, so {alike}")


def mean_of_scores(
    scores: Collection[Estimate], within: Bounds | None = None, *, capped: bool = True
) -> Estimate:
    """The mean of the scores that are defined, with its interval; the others are counted in the note.

    `missing` adds up the missing judgements behind all of them; `floor` and `ceiling` bound the mean they could give.
    """
    values = [score.value for score in scores if score.value is not None]
    result = mean_interval(values, within=mean_range(scores, within), capped=capped)
    floor, ceiling = mean_bounds(scores)
    out = len(scores) - result.n
    left_out = f"{out:,} of {len(scores):,} items left out: no defined score" if out else ""
    reason = result.note if values else "no item has a defined score"
    return Estimate(
        result.value,
        result.low,
        result.high,
        n=result.n,
        missing=sum(score.missing for score in scores),
        floor=floor,
        ceiling=ceiling,
        method=result.method,
        note="; ".join(note for note in (reason, left_out) if note),
    )


def by_group(
    scores: Mapping[str, Estimate], group_of: Mapping[str, str], within: Bounds | None = None
) -> dict[str, Estimate]:
    """The mean score of each group's items with its interval, the best group first, undefined ones last.

    The intervals lie `within` the same bounds as the scores. `scores` and `group_of` are by item; items without a
    group have the empty name.
    """
    members = grouped((group_of.get(item, ""), score) for item, score in scores.items())
    means = [(group, mean_of_scores(own, within=within)) for group, own in members.items()]
    return dict(sorted(means, key=lambda pair: (pair[1].value is None, -(pair[1].value or 0.0), pair[0])))


@dataclass(frozen=True, slots=True)
class PairedMeans:
    """A paired comparison: each item's difference, their mean, and the items that only one side has."""

    differences: Mapping[str, Estimate]
    mean: Estimate
    only_one: tuple[str, ...]
    only_other: tuple[str, ...]


def range_of_difference(within: Bounds) -> Bounds:
    """The bounds of the difference of two values that lie `within`."""
    return within[0] - within[1], within[1] - within[0]


def paired_means(
    estimates: Mapping[str, Estimate], other: Mapping[str, Estimate], within: Bounds | None = None
) -> PairedMeans:
    """The gain of the other side over the first, item by item (other − one), and on average with its interval.

    Each maps an item to its score, which lies `within`. Paired, so that hard and easy items weigh alike on both
    sides.
    """
    both = [item for item in estimates if item in other]
    differences = {item: _difference(estimates[item], other[item], within or UNBOUNDED) for item in both}
    return PairedMeans(
        differences,
        mean_of_scores(list(differences.values()), capped=False),
        tuple(item for item in estimates if item not in other),
        tuple(item for item in other if item not in estimates),
    )


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Student's paired t of the mean difference, its degrees of freedom and two-sided p; None if undefined."""

    t: float | None
    df: int
    p: float | None


def paired_test(differences: Sequence[float]) -> PairedTest:
    """The paired t-test of finite differences; t is infinite if all are the same, p is 1 if all are 0.

    Undefined for fewer than two.
    """
    n = len(differences)
    if n < 2:
        return PairedTest(None, max(0, n - 1), None)
    mean, spread = fmean(differences), stdev(differences)
    if spread <= ROUNDING * abs(mean):
        return PairedTest(inf * mean if mean else None, n - 1, 0.0 if mean else 1.0)
    t = mean / (spread / sqrt(n))
    return PairedTest(t, n - 1, two_sided(t, n - 1))


def _difference(estimate: Estimate, other: Estimate, within: Bounds) -> Estimate:
    """Other − one; undefined if either is."""
    (least, most), (lowest, highest) = estimate.within or within, other.within or within
    value = other.value - estimate.value if estimate.value is not None and other.value is not None else None
    floor = (
        other.floor - estimate.ceiling if other.floor is not None and estimate.ceiling is not None else None
    )
    ceiling = (
        other.ceiling - estimate.floor if other.ceiling is not None and estimate.floor is not None else None
    )
    note = "" if value is not None else "one of the two has no defined score"
    return Estimate(
        value,
        n=int(value is not None),
        missing=estimate.missing + other.missing,
        floor=floor,
        ceiling=ceiling,
        method="paired difference",
        note=note,
        within=(lowest - most, highest - least),
    )


def wilson_size(width: float, share: float = 0.5, design_effect: float = 1.0, level: float = LEVEL) -> int:
    """The minimum number of units whose Wilson interval is no wider than `width` if the share turns out to be `share`.

    Units of one item count 1 / `design_effect` each. Solved from Wilson (1927) for n: the width is 2 z √(n p (1 − p)
    + z²/4) / (n + z²). ValueError unless 0 < width < 1, 0 ≤ share ≤ 1 and the effect is positive.
    """
    if not 0 < width < 1 or not 0 <= share <= 1 or design_effect <= 0:
        raise ValueError(f"a width of {width} about {share} with a design effect of {design_effect}")
    z = NormalDist().inv_cdf(0.5 + level / 2)
    spread, square = share * (1 - share), z * z
    # width² (n + z²)² = 4 z² (n p (1 − p) + z²/4), the greater root.
    half = square * (2 * spread / width**2 - 1)
    rest = square * square * (1 - 1 / width**2)
    return max(1, ceil(design_effect * (half + sqrt(max(half * half - rest, 0.0))) - 1e-9))


def kish_effect(sizes: Sequence[float], likeness: float) -> float:
    """The design effect 1 + (m̄ − 1) ρ of clusters of these sizes (Kish 1965, §5.4; m̄ = Σm² / Σm for unequal ones).

    `likeness` is ρ, the intraclass correlation. ValueError for no clusters, or ρ outside 0 … 1.
    """
    if not sizes or min(sizes) <= 0 or not 0 <= likeness <= 1:
        raise ValueError("clusters have units, and ρ lies in 0 … 1")
    return 1 + (sum(size * size for size in sizes) / sum(sizes) - 1) * likeness
