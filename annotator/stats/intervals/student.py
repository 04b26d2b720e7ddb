"""Student's t intervals: of all items, of groups of them, and of paired differences."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import cos, exp, inf, isinf, lgamma, log, pi, sin, sqrt, tan
from statistics import fmean, stdev

from annotator.domain.texts.estimate import NO_WIDTH, Estimate, settled, without_width
from annotator.stats.intervals.bounds import mean_bounds

LEVEL = 0.95
# A continued fraction has come to rest when a step moves it by less; in its middle it takes some 2 √df steps.
RESTING, STEPS, TINY = 1e-15, 10_000, 1e-300
# Halving [0, π/2] this often leaves neighbouring floating-point numbers.
HALVINGS = 60
# Differences that spread by less than this share of their mean are the same: the rest is rounding.
ROUNDING = 1e-12
Bounds = tuple[float, float]


@lru_cache(maxsize=4096)
def t_quantile(level: float, df: int) -> float:
    """The t for which −t … t holds the share `level` of Student's t with `df` degrees of freedom.

    ValueError unless 0 < level < 1 and df ≥ 1.
    """
    if not 0 < level < 1 or df < 1:
        raise ValueError(f"a level of {level} with {df} degrees of freedom")
    low, high = 0.0, pi / 2
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _share(middle, df) < level:
            low = middle
        else:
            high = middle
    return sqrt(df) * tan(high)


def _share(angle: float, df: int) -> float:
    """A(t | df) at t = √df · tan(angle), by its finite series (Abramowitz & Stegun 1964, 26.7.3 and 26.7.4)."""
    odd = df % 2
    square, term, total = cos(angle) ** 2, cos(angle) if odd else 1.0, 0.0
    for place in range(2 + odd, df + 1, 2):
        total += term
        term *= square * (place - 1) / place
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


def two_sided(t: float, df: int) -> float:
    """The share of Student's t with `df` degrees of freedom beyond ±t, exact far out too.

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


def mean_interval(values: Sequence[float], level: float = LEVEL, within: Bounds | None = None) -> Estimate:
    """The mean of finite values with Student's t interval, mean ± t · s / √n, cut to what values lie `within`."""
    method = f"mean; {level:.0%} t interval"
    n = len(values)
    if not n:
        return Estimate(None, method=method, note="there are no values")
    mean = fmean(values)
    margin = t_quantile(level, n - 1) * stdev(values) / sqrt(n) if n > 1 else 0.0
    found = settled(Estimate(mean, mean - margin, mean + margin, n=n, method=method), n, "values", within)
    return found.remarked(f"all values are the same, so {NO_WIDTH}") if without_width(found) else found


def mean_of_scores(scores: Collection[Estimate], within: Bounds | None = None) -> Estimate:
    """The mean of the scores that are defined, with Student's t interval; the others are counted in the note.

    `missing` adds up what is missing behind all of them; `floor` and `ceiling` bound what it could make of the mean.
    """
    found = mean_interval([score.value for score in scores if score.value is not None], within=within)
    floor, ceiling = mean_bounds(scores)
    out = len(scores) - found.n
    left_out = f"{out:,} of {len(scores):,} left out: no defined score" if out else ""
    return Estimate(
        found.value,
        found.low,
        found.high,
        n=found.n,
        missing=sum(score.missing for score in scores),
        floor=floor,
        ceiling=ceiling,
        method=found.method,
        note="; ".join(note for note in (found.note, left_out) if note),
    )


def by_group(
    scores: Mapping[str, Estimate], group_of: Mapping[str, str], within: Bounds | None = None
) -> dict[str, Estimate]:
    """The mean score of each group's items with Student's t interval, the best group first, undefined ones last.

    What scores lie `within`, the intervals do too. `scores` and `group_of` are by item; items without a group stand
    under the empty name.
    """
    members: dict[str, list[Estimate]] = defaultdict(list)
    for item, score in scores.items():
        members[group_of.get(item, "")].append(score)
    found = {group: mean_of_scores(own, within=within) for group, own in members.items()}
    return dict(sorted(found.items(), key=lambda entry: _place(*entry)))


def _place(group: str, mean: Estimate) -> tuple[bool, float, str]:
    return mean.value is None, -(mean.value or 0.0), group


@dataclass(frozen=True, slots=True)
class PairedMeans:
    """A paired comparison: each item's difference, their mean, and items that only one side has."""

    differences: Mapping[str, Estimate]
    mean: Estimate
    only_one: tuple[str, ...]
    only_other: tuple[str, ...]


def paired_means(one: Mapping[str, Estimate], other: Mapping[str, Estimate]) -> PairedMeans:
    """What the other side gains over the one, item by item (other − one), and on average with a t interval.

    Each maps an item to its score. Paired, so that hard and easy items weigh alike on both sides.
    """
    both = [item for item in one if item in other]
    differences = {item: _difference(one[item], other[item]) for item in both}
    return PairedMeans(
        differences,
        mean_of_scores(list(differences.values())),
        tuple(item for item in one if item not in other),
        tuple(item for item in other if item not in one),
    )


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Student's paired t of the mean difference, its degrees of freedom and two-sided p; None where there is none."""

    t: float | None
    df: int
    p: float | None


def paired_test(differences: Sequence[float]) -> PairedTest:
    """The paired t-test of finite differences; t is infinite where all are the same, p is 1 where all are 0.

    There is none over fewer than two.
    """
    n = len(differences)
    if n < 2:
        return PairedTest(None, max(0, n - 1), None)
    mean, spread = fmean(differences), stdev(differences)
    if spread <= ROUNDING * abs(mean):
        return PairedTest(inf * mean if mean else None, n - 1, 0.0 if mean else 1.0)
    t = mean / (spread / sqrt(n))
    return PairedTest(t, n - 1, two_sided(t, n - 1))


def _difference(one: Estimate, other: Estimate) -> Estimate:
    """Other − one; undefined when either is."""
    value = other.value - one.value if one.value is not None and other.value is not None else None
    floor = other.floor - one.ceiling if other.floor is not None and one.ceiling is not None else None
    ceiling = other.ceiling - one.floor if other.ceiling is not None and one.floor is not None else None
    note = "" if value is not None else "one of the two has no defined score"
    return Estimate(
        value,
        n=int(value is not None),
        missing=one.missing + other.missing,
        floor=floor,
        ceiling=ceiling,
        method="paired difference",
        note=note,
    )
