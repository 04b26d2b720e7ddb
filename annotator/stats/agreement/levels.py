"""Figures of ordered values: correlations, ratings, and measures built from additive columns of pairs of values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import atanh, copysign, fsum, sqrt, tanh
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotator.domain.judges.protocol import FIGURES, MOST_CROSSED, Level, Scale
from annotator.domain.kinds.question_types import BAR
from annotator.domain.kinds.selection import Selection
from annotator.domain.texts.estimate import CHANCE, Estimate, enough, few, settled
from annotator.stats.agreement import agreement as agreement_module
from annotator.stats.agreement.agreement import NO_PAIR
from annotator.stats.intervals.clustered import (
    ONE_CLUSTER,
    Figure,
    Statistic,
    estimate,
    jackknifed,
    over,
    tallied,
)
from annotator.stats.intervals.coding import (
    MISSING,
    ONE_CATEGORY,
    Codes,
    Floats,
    Values,
    Weighing,
    Weights,
    closeness,
    cluster_codes,
    coded,
    disagreements,
    group_codes,
    left_out,
    named,
    numbers,
)
from annotator.stats.intervals.student import (
    LEVEL,
    UNBOUNDED,
    Bounds,
    bounds_of,
    interval_name,
    mean_interval,
    two_sided,
)

FEWEST = 3
# A correlation this near to ±1 is ±1: the rest is rounding.
ROUNDING = 1e-12
# Scores no further apart than this share of the largest are tied: sums of the same parts differ by as much.
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
    """τ-b of two series (Kendall 1945), with a z interval of variance 0.437 / (n − 4), which was derived without ties.

    Fieller, Hartley & Pearson (1957), Biometrika 44, 470–481. Missing values and errors as in `pearson`.
    """
    method = "Kendall's τ-b, z interval of Fieller, Hartley and Pearson (1957)"
    return _estimate(method, x, y, tau_b, ZVariance(0.437, 0.0, 4))


def p_of(estimate: Estimate) -> float | None:
    """The two-sided p of an r or a ρ against 0, by t = r √((n − 2) / (1 − r²)).

    None if it is undefined; 0 for a perfect correlation.
    """
    if estimate.value is None or estimate.n < FEWEST:
        return None
    left = 1 - estimate.value**2
    return two_sided(abs(estimate.value) * sqrt((estimate.n - 2) / left), estimate.n - 2) if left > 0 else 0.0


def product_moment(a: Floats, b: Floats) -> float:
    """r of two series, neither of them constant."""
    return float(_direction(a) @ _direction(b))


def rank_moment(a: Floats, b: Floats) -> float:
    """ρ of two series, neither of them constant."""
    return product_moment(mean_ranks(a), mean_ranks(b))


def mean_ranks(values: Floats) -> Floats:
    """The ranks from 1 on, ties sharing their mean."""
    _, place, times = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(times) - (times - 1) / 2)[place])


def tied(values: Floats) -> Floats:
    """The values; each that differs from the next lower one by rounding alone is made equal to it."""
    if not len(values):
        return values
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    new = np.flatnonzero(np.diff(ordered, prepend=-np.inf) > TIED * np.abs(values).max())
    result = np.empty_like(values)
    result[order] = np.repeat(ordered[new], np.diff(new, append=len(values)))
    return result


def tau_b(a: Floats, b: Floats) -> float:
    """τ-b of two series, neither of them constant, in n log n (after Knight 1966)."""
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
    result = Estimate(value, low, high, n=n, missing=missing, method=method, note="; ".join(notes))
    return result if low is None else settled(result, n, "pairs")


def _undefined(a: Floats, b: Floats) -> str:
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
    """The deviations from the mean, scaled to length 1; zeros for a constant series."""
    # Scaled by a power of two, so that no square overflows; relative to the least, so that little is rounded.
    _, exponent = np.frexp(np.max(np.abs(values)))
    scaled = np.ldexp(values, -exponent)
    deviations = scaled - scaled.min()
    if not (spread := deviations.max()):
        return np.asarray(deviations)
    deviations = (deviations - deviations.mean()) / spread
    return np.asarray(deviations / np.linalg.norm(deviations))


def _ties(codes: NDArray[np.intp]) -> int:
    _, times = np.unique(codes, return_counts=True)
    return int((times * (times - 1) // 2).sum())


def _inversions(codes: NDArray[np.intp]) -> int:
    """The number of inversions: pairs in falling order.

    Codes sorted by all higher bits form groups; within a group, an inversion is a one before a zero.
    """
    result = 0
    for bit in reversed(range(int(codes.max()).bit_length())):
        group, ones = codes >> (bit + 1), (codes >> bit) & 1
        before = np.concatenate([[0], np.cumsum(ones)])
        starts = before[np.searchsorted(group, group)]
        result += int((before[:-1] - starts)[ones == 0].sum())
        codes = codes[np.argsort(codes >> bit, kind="stable")]
    return result


FEWEST_RATERS = 2

DEPARTURES = (
    "A question is kept only when at least two raters have rated every dimension of its type; the paper says that two "
    "rated each, and not how one that lacked a rating was treated.",
    "Where raters are more than two, agreement is given for each two of them and for all pairs together, in which each "
    "pair of scores counts both ways round, so that it does not matter who is named first. The paper does not say how "
    "its one figure came about.",
)


def rater_score(ratings: Selection, of_type: Sequence[str] = ()) -> Estimate:
    """The mean of one rater's 1–5 ratings over the dimensions of the question's type, `of_type` (appendix B.5).

    Undefined while a rating is missing: floor and ceiling then assume 1 and 5. A type without dimensions of its own
    is rated on those that the rater filled in. ValueError on a dimension rated twice or foreign to the type.
    """
    given = {unit.text: unit.rating for unit in ratings.units}
    dimensions = tuple(of_type) or tuple(given)
    if len(given) < len(ratings.units) or not set(given) <= set(dimensions):
        raise ValueError(f"each dimension is one of {', '.join(dimensions)}, and is rated once")
    known = [rating for dimension in dimensions if (rating := given.get(dimension)) is not None]
    missing = len(dimensions) - len(known)
    method = "mean over the dimensions of the type"
    if not dimensions:
        return Estimate(None, method=method, note="there are no dimensions to rate")
    return Estimate(
        None if missing else fsum(known) / len(known),
        n=len(known),
        missing=missing,
        floor=(fsum(known) + missing) / len(dimensions),
        ceiling=(fsum(known) + 5 * missing) / len(dimensions),
        method=method,
        note=f"{missing:,} of {len(dimensions):,} dimensions are not rated" if missing else "",
    )


@dataclass(frozen=True, slots=True)
class RatedQuestion:
    """The ratings of one question: its score, and whether it is kept (None while undecided)."""

    score: Estimate
    is_kept: bool | None


def item_score(scores: Sequence[Estimate], bar: float = BAR) -> RatedQuestion:
    """The mean over raters of their scores of a question, and whether it reaches the bar (appendix B.4).

    Undecided while fewer than two raters are done, unless the missing ratings could not change it.
    """
    done = [score.value for score in scores if score.value is not None]
    method = f"mean over raters of the mean over dimensions; kept at {bar:g} or more"
    missing = len(scores) - len(done)
    notes = [f"{missing:,} of {len(scores):,} raters are not done"] * bool(missing)
    notes += [f"{len(scores):,} of at least {FEWEST_RATERS} raters"] * (len(scores) < FEWEST_RATERS)
    if notes:
        score = Estimate(
            None,
            n=len(done),
            missing=missing,
            floor=_mean([score.floor for score in scores]),
            ceiling=_mean([score.ceiling for score in scores]),
            method=method,
            note="; ".join(notes),
        )
        return RatedQuestion(score, _settled(score, bar) if len(scores) >= FEWEST_RATERS else None)
    value = fsum(done) / len(done)
    return RatedQuestion(
        Estimate(value, n=len(done), floor=value, ceiling=value, method=method), value >= bar
    )


def _mean(ends: Sequence[float | None]) -> float | None:
    known = [end for end in ends if end is not None]
    return fsum(known) / len(known) if known and len(known) == len(ends) else None


def _settled(score: Estimate, bar: float) -> bool | None:
    """The decision that holds whatever the missing ratings turn out to be; None if they could change it."""
    if score.floor is not None and score.floor >= bar:
        return True
    return False if score.ceiling is not None and score.ceiling < bar else None


def agreement(scores: Mapping[str, Mapping[str, float]]) -> dict[tuple[str, str], Estimate]:
    """Pearson's r of the item scores of each pair of raters, on the items that both rated (appendix B.4)."""
    result: dict[tuple[str, str], Estimate] = {}
    for a, b in combinations(sorted(scores), 2):
        shared = sorted(scores[a].keys() & scores[b].keys())
        result[a, b] = pearson([scores[a][item] for item in shared], [scores[b][item] for item in shared])
    return result


def pooled(scores: Mapping[str, Mapping[str, float]]) -> Estimate:
    """Pearson's r over all pairs of scores that two raters gave the same item, each pair in both orders.

    It has no interval: one rater's scores occur in many pairs. `n` counts the pairs.
    """
    pairs = [
        (scores[a][item], scores[b][item])
        for a, b in combinations(sorted(scores), 2)
        for item in sorted(scores[a].keys() & scores[b].keys())
    ]
    both = [*pairs, *((b, a) for a, b in pairs)] if len(pairs) >= FEWEST else pairs
    result = pearson([a for a, _ in both], [b for _, b in both])
    return replace(
        result, n=len(pairs), low=None, high=None, method="Pearson's r of all pairs, both ways round"
    )


CorrelationMeasure = Callable[[Floats, Floats], float]
MEASURES: dict[str, tuple[Callable[[Values, Values], Estimate], CorrelationMeasure, str]] = {
    "spearman": (spearman, rank_moment, "Spearman's ρ"),
    "pearson": (pearson, product_moment, "Pearson's r"),
    "kendall": (kendall_tau_b, tau_b, "Kendall's τ-b"),
}


def over_items(name: str, x: Values, y: Values, items: Values | None) -> Estimate:
    """The named correlation over all pairs, with its interval over items, each left out whole.

    None or NaN is missing. Without items it is that of `correlation`, which assumes independent pairs.
    """
    of, measure, title = MEASURES[name]
    result = of(x, y)
    if items is None or result.value is None:
        return result
    grid = numbers([x, y])
    given = ~(np.isnan(grid[0]) | np.isnan(grid[1]))
    known, place = np.unique(group_codes(items, len(given))[given], return_inverse=True)
    a, b = map(tied, grid[:, given])
    notes = left_out(len(given) - result.n, len(given), "a value is missing")
    bare = replace(result, low=None, high=None, method=title, note="; ".join(notes))
    if not enough(len(known)):
        return bare.remarked(few(len(known)))
    left = np.full(len(known), np.nan)
    for item in range(len(known)):
        rest = a[place != item], b[place != item]
        left[item] = measure(*rest) if all(map(_varies, rest)) else np.nan
    if np.isnan(left).any():
        return bare.remarked(ONE_CLUSTER)
    low, high = bounds_of(result.value, jackknifed(left), len(known), CHANCE)
    method = f"{title}; {interval_name(CHANCE)}, jackknife over {len(known):,} items"
    return settled(replace(bare, low=low, high=high, method=method), len(known))


def within_items(x: Sequence[float], y: Sequence[float], items: Sequence[str]) -> Estimate:
    """The mean of Spearman's ρ within items, over items with three or more pairs that differ on both sides."""
    a, b, of = (*(tied(np.array(one, dtype=np.float64)) for one in (x, y)), np.array(items))
    result = [(a[of == item], b[of == item]) for item in np.unique(of)]
    own = [rank_moment(*pair) for pair in result if len(pair[0]) >= FEWEST and all(map(_varies, pair))]
    why = f"fewer than {FEWEST} responses that differ on both sides"
    if not own:
        reason = f"no item has {FEWEST} responses that differ on both sides"
        return Estimate(None, method="mean of Spearman's ρ within items", note=reason)
    mean = mean_interval(own, within=CHANCE)
    return replace(mean, method=f"Spearman's ρ within items: {mean.method}").remarked(
        *left_out(len(result) - len(own), len(result), why)
    )


def _varies(values: Floats) -> bool:
    return len(values) > 1 and bool((values != values[0]).any())


# Those of the six of Shrout & Fleiss (1979) that describe one rater: if each unit has raters of its own, and if
# raters are a sample that scores all units.
Form = Literal["1,1", "2,1"]

# Bland & Altman (1999): this many standard deviations about the mean hold 95 % of normal differences.
LIMITS = NormalDist().inv_cdf(0.975)
# κ belongs to a confusion table: with more distinct numbers than these none is reported.
FEW_VALUES = MOST_CROSSED[Level.ORDINAL]


@dataclass(frozen=True, slots=True)
class Added:
    """The additive columns of each pair of values (pairs × columns), and the figure as a function of their sums.

    `rests_on` gives the amount that rows have of each class that the figure needs, as in a `Statistic`.
    """

    rows: Floats
    of: Figure
    rests_on: Callable[[Floats], Floats] | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of pairs of values, given as codes of a scale, and the reason it may be undefined.

    `better` is 1 if more is better, −1 if less is, 0 if neither. `weighed`: pairs may be weighted. It lies `within`
    two bounds.
    """

    method: str
    undefined: str
    adds: Callable[[Codes, Codes], Added]
    better: int = 1
    weighed: bool = True
    within: Bounds = CHANCE

    def of_pairs(self, first: Codes, second: Codes, heavy: Floats | None = None) -> Added:
        """The additive columns of the pairs, each multiplied by its weight."""
        added = self.adds(first, second)
        return added if heavy is None else replace(added, rows=added.rows * heavy[:, None])

    def statistic(self, added: Added, start: int = 0, stop: int | None = None) -> Statistic:
        """The figure as a function of sums whose columns `start` to `stop` are those of `added`."""
        return Statistic(added.of, self.within, added.rests_on).at(start, stop)


def kappa_of(size: int, weights: Weights, gaps: Floats | None = None) -> Measure:
    """Cohen's κ of `size` categories, with these weights, or with the distances `gaps` of each two of them."""
    apart, unit = disagreements(weights, size) if gaps is None else gaps, np.eye(size)

    def adds(first: Codes, second: Codes) -> Added:
        others, seen = (1 - unit[first]) * (1 - unit[second]), apart[first, second][:, None]
        rows = np.hstack([unit[first], unit[second], others, seen])
        return Added(rows, figure, lambda sums: sums[:, 2 * size : -1])

    def figure(sums: Floats) -> Floats:
        of_first, of_second = sums[:, :size], sums[:, size : 2 * size]
        expected = ((of_first @ apart) * of_second).sum(axis=1)
        return 1 - over(of_first.sum(axis=1) * sums[:, -1], expected)

    return Measure(
        f"Cohen's κ{named(weights)}", "both used one value only, so chance alone agrees as often", adds
    )


def measures(scale: Scale, form: Form = "2,1") -> dict[str, Measure]:
    """The measures of an ordered scale by name, in the order of `FIGURES`; empty for a nominal one.

    `form` is that of the intraclass correlation: 1,1 if units have raters of their own.
    """
    if scale.level is Level.NOMINAL:
        return {}
    numbers = np.array([scale.number(name) for name in scale.names])
    made = _of_order(len(numbers)) if scale.level is Level.ORDINAL else _of_numbers(numbers, form)
    return {name: made[name] for name in FIGURES[scale.level] if name in made}


def figures(
    scale: Scale, first: Values, second: Values, clusters: Values | None = None, weights: Weighing | None = None,
    form: Form = "2,1",
) -> dict[str, Estimate]:  # fmt: skip
    """Every measure of an ordered scale, and of ordinal values ρ, with intervals over clusters.

    None is missing; `weights` multiply pairs, and measures that take no weights are then left out. Differences are
    the second value less the first. ValueError for values outside the scale.
    """
    codes, _ = coded([first, second], scale.names)
    groups = cluster_codes(clusters, codes.shape[1])
    both = (codes != MISSING).all(axis=0)
    pairs, group = codes[:, both], None if groups is None else groups[both]
    heavy = None if weights is None else np.asarray(weights, dtype=np.float64)[both]
    n, missing = int(both.sum()), int((codes == MISSING).sum())
    notes = left_out(len(both) - n, len(both))
    one_category = [ONE_CATEGORY] if n and (pairs == pairs[0, 0]).all() else []
    result = {}
    for name, measure in measures(scale, form).items():
        if heavy is not None and not measure.weighed:
            continue
        method = measure.method + ("" if heavy is None else ", units weighted")
        added, undefined = measure.of_pairs(pairs[0], pairs[1], heavy), measure.undefined if n else NO_PAIR
        result[name] = estimate(
            tallied(added.rows, group),
            measure.statistic(added),
            method,
            n,
            notes,
            missing,
            undefined,
            value_notes=one_category,
        )
    if scale.level is Level.ORDINAL and heavy is None:
        ranks = [[None if code == MISSING else code for code in row] for row in codes.tolist()]
        result["spearman"] = over_items("spearman", ranks[0], ranks[1], clusters)
    return {name: result[name] for name in FIGURES[scale.level] if name in result}


def alpha_of(scale: Scale, raters: Sequence[Values], clusters: Values | None = None) -> Estimate:
    """Krippendorff's α of any number of raters who gave values of an ordered scale, None for missing."""
    if scale.level is Level.ORDINAL:
        return agreement_module.krippendorff_alpha(raters, "ordinal", scale.names, clusters)
    numbers = {name: scale.number(name) for name in scale.names}
    values_by_rater = [
        [None if value is None else numbers[str(value)] for value in values] for values in raters
    ]
    return agreement_module.krippendorff_alpha(values_by_rater, "interval", clusters=clusters)


def _of_order(size: int) -> dict[str, Measure]:
    """The measures of values whose distances are unknown."""
    return {
        "kappa_quadratic": kappa_of(size, "quadratic"),
        "kappa_linear": kappa_of(size, "linear"),
        "ac2": _ac2(size, "quadratic"),
        "alpha": _alpha("ordinal", range(size), lambda codes: codes),
    }


def _of_numbers(numbers: Floats, form: Form) -> dict[str, Measure]:
    """The measures of values whose differences are known."""

    def gaps(first: Codes, second: Codes) -> Floats:
        return numbers[second] - numbers[first]

    def mean_of(what: Callable[[Floats], Floats], first: Codes, second: Codes) -> Added:
        apart = what(gaps(first, second))
        return Added(np.column_stack([apart, np.ones(len(apart))]), lambda sums: over(sums[:, 0], sums[:, 1]))

    def limit(sign: int, first: Codes, second: Codes) -> Added:
        apart = gaps(first, second)
        return Added(np.column_stack([apart, apart**2, np.ones(len(apart))]), partial(_limit, sign))

    def correlated(first: Codes, second: Codes) -> Added:
        rows = moments(np.column_stack([numbers[first], numbers[second]]) - numbers.min())
        return Added(rows, lambda sums: of_moments(sums, form))

    few, size, span = "a standard deviation takes two units", len(numbers), float(np.ptp(numbers))
    apart = (numbers[:, None] - numbers) ** 2
    kappa = {"kappa_quadratic": kappa_of(size, "quadratic", apart)} if size <= FEW_VALUES else {}
    return kappa | {
        "icc": Measure(f"ICC({form})", "the units do not differ enough from one another", correlated, weighed=False),
        "alpha": _alpha("interval", None, lambda codes: numbers[codes]),
        "absolute_difference": Measure(
            "mean absolute difference", NO_PAIR, partial(mean_of, np.abs), -1, within=(0.0, span)
        ),
        "mean_difference": Measure("mean difference", NO_PAIR, partial(mean_of, np.asarray), 0, within=(-span, span)),
        "lower_limit": Measure(
            "lower limit of agreement, mean − 1.96 SD", few, partial(limit, -1), 0, weighed=False, within=UNBOUNDED
        ),
        "upper_limit": Measure(
            "upper limit of agreement, mean + 1.96 SD", few, partial(limit, 1), 0, weighed=False, within=UNBOUNDED
        ),
    }  # fmt: skip


def _limit(sign: int, sums: Floats) -> Floats:
    total, squares, n = sums.T
    spread = np.maximum(squares - over(total**2, n), 0)
    return over(total, n) + sign * LIMITS * np.sqrt(over(spread, n - 1))


def _alpha(
    level: agreement_module.Level, categories: Sequence[int] | None, values: Callable[[Codes], Floats | Codes]
) -> Measure:
    def adds(first: Codes, second: Codes) -> Added:
        measured = agreement_module.added_up([values(first), values(second)], level, categories)
        return Added(measured.rows(np.ones(len(first), dtype=bool)), measured.figure, measured.rests_on)

    undefined = "all judgements are the same, so chance would leave no disagreement"
    return Measure(f"Krippendorff's α, {level}", undefined, adds, weighed=False)


def _ac2(size: int, weights: Weights) -> Measure:
    """Gwet's AC2 of two raters; `gwet_ac1` computes it for any number."""
    alike, unit = closeness(weights, size), np.eye(size)

    def adds(first: Codes, second: Codes) -> Added:
        shares = (unit[first] + unit[second]) / 2
        return Added(np.column_stack([shares, alike[first, second], np.ones(len(first))]), figure)

    def figure(sums: Floats) -> Floats:
        agreed, given = over(sums[:, -2], sums[:, -1]), sums[:, :size] / sums[:, -1:]
        chance = alike.sum() / (size * (size - 1)) * (given * (1 - given)).sum(axis=1)
        return over(agreed - chance, 1 - chance)

    return Measure(f"Gwet's AC2{named(weights)}", "all judgements are of one value, as by chance", adds)


def moments(scores: Floats) -> Floats:
    """The additive columns of units: their number, each rater's score, the squares, and the squared sum of raters."""
    columns = np.ones(len(scores)), scores, (scores**2).sum(axis=1), scores.sum(axis=1) ** 2
    return np.column_stack(columns)


def of_moments(sums: Floats, form: Form) -> Floats:
    """The intraclass correlations of sums (draws × columns) from the mean squares of an analysis of variance."""
    raters, squares, of_units = sums[:, 1:-2], sums[:, -2], sums[:, -1]
    # One unit has no variance between units.
    n = np.where(sums[:, 0] > 1, sums[:, 0], np.nan)
    k = raters.shape[1]
    middle = raters.sum(axis=1) ** 2 / (n * k)
    total, between, columns = squares - middle, of_units / k - middle, (raters**2).sum(axis=1) / n - middle
    total, between, columns = (
        np.where(part > ROUNDING * squares, part, 0) for part in (total, between, columns)
    )
    within = np.maximum(total - between, 0)
    error = np.maximum(within - columns, 0) / ((n - 1) * (k - 1))
    # The mean squares between units, within them and between raters, as named by Shrout & Fleiss.
    bms, wms, jms = between / (n - 1), within / (n * (k - 1)), columns / (k - 1)
    # If raters are a sample, they add their own variance.
    noise, sampled = (wms, 0.0) if form == "1,1" else (error, k * (jms - error) / n)
    whole = bms + (k - 1) * noise + sampled
    result = over(bms - noise, np.where(whole > ROUNDING * (bms + noise + jms), whole, 0.0))
    # The minimum is −1 / (k − 1); if raters differ by less than chance, the second form falls below that.
    return np.asarray(np.maximum(result, -1 / (k - 1)))
