"""How the figures of ordered values are computed, and what of each pair of values they add up."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist
from typing import Literal

import numpy as np

from annotator.domain.judges.level_figures import FIGURES, MOST_CROSSED
from annotator.domain.judges.scale import Level, Scale
from annotator.domain.texts.estimate import CHANCE, Estimate
from annotator.stats.agreement import alpha
from annotator.stats.agreement.agreement import NO_PAIR
from annotator.stats.agreement.clustered_correlation import over_items
from annotator.stats.intervals.clustered import Figure, Statistic, estimate, over, tallied
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
    left_out,
    named,
)
from annotator.stats.intervals.student import UNBOUNDED, Bounds

# Of the six of Shrout & Fleiss (1979) those of one rater: where each unit has raters of its own, and where raters are
# a sample that scores all units.
Form = Literal["1,1", "2,1"]
# Below this share of the sum of squares, a sum of squares is what rounding left over.
ROUNDING = 1e-12

# Bland & Altman (1999): so many standard deviations about the mean hold 95 % of differences that are normal.
LIMITS = NormalDist().inv_cdf(0.975)
# κ is a figure of a table: of more numbers than these, none is read.
FEW_VALUES = MOST_CROSSED[Level.ORDINAL]


@dataclass(frozen=True, slots=True)
class Added:
    """What of each pair of values adds up (pairs × columns), and the figure that is read off the sums.

    `rests_on` gives how much rows have of each class that the figure needs, as in a `Statistic`.
    """

    rows: Floats
    of: Figure
    rests_on: Callable[[Floats], Floats] | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of pairs of values, which are codes of a scale, and why it is undefined where it is.

    `better` is 1 where more is better, −1 where less is, 0 where neither. `weighed`: pairs may count by weight. It lies
    `within` two bounds.
    """

    method: str
    undefined: str
    adds: Callable[[Codes, Codes], Added]
    better: int = 1
    weighed: bool = True
    within: Bounds = CHANCE

    def of_pairs(self, first: Codes, second: Codes, heavy: Floats | None = None) -> Added:
        """What the pairs add up to, each counting as many times as it weighs."""
        added = self.adds(first, second)
        return added if heavy is None else replace(added, rows=added.rows * heavy[:, None])

    def statistic(self, added: Added, start: int = 0, stop: int | None = None) -> Statistic:
        """The figure of sums of which those columns hold what was added."""

        def cut(of: Figure) -> Figure:
            return lambda sums: of(sums[:, start:stop])

        return Statistic(cut(added.of), self.within, added.rests_on and cut(added.rests_on))


def kappa_of(size: int, weights: Weights, gaps: Floats | None = None) -> Measure:
    """Cohen's κ of so many categories, with these weights, or by how far apart each two of them are."""
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
    """The measures of an ordered scale by name, in the order of `FIGURES`; none of one without an order.

    `form` is that of the intraclass correlation: 1,1 where units have raters of their own.
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

    None is missing; `weights` count a pair as so many, and leave out what cannot be weighed. Differences are those
    of the second value less the first. ValueError for values that are none of the scale's.
    """
    codes, _ = coded([first, second], scale.names)
    groups = cluster_codes(clusters, codes.shape[1])
    both = (codes != MISSING).all(axis=0)
    pairs, group = codes[:, both], None if groups is None else groups[both]
    heavy = None if weights is None else np.asarray(weights, dtype=np.float64)[both]
    n, missing = int(both.sum()), int((codes == MISSING).sum())
    notes = left_out(len(both) - n, len(both))
    one_category = [ONE_CATEGORY] if n and (pairs == pairs[0, 0]).all() else []
    found = {}
    for name, measure in measures(scale, form).items():
        if heavy is not None and not measure.weighed:
            continue
        method = measure.method + ("" if heavy is None else ", units weighted")
        added, told = measure.of_pairs(pairs[0], pairs[1], heavy), None
        if n:
            tally = tallied(added.rows, group)
            told = estimate(tally, measure.statistic(added), method, n, [*one_category, *notes], missing)
        undefined = "; ".join([measure.undefined if n else NO_PAIR, *notes])
        found[name] = told or Estimate(None, n=n, missing=missing, method=method, note=undefined)
    if scale.level is Level.ORDINAL and heavy is None:
        ranks = [[None if code == MISSING else code for code in row] for row in codes.tolist()]
        found["spearman"] = over_items("spearman", ranks[0], ranks[1], clusters)
    return {name: found[name] for name in FIGURES[scale.level] if name in found}


def alpha_of(scale: Scale, raters: Sequence[Values], clusters: Values | None = None) -> Estimate:
    """Krippendorff's α of any number of raters who gave values of an ordered scale, None for missing."""
    if scale.level is Level.ORDINAL:
        return alpha.krippendorff_alpha(raters, "ordinal", scale.names, clusters)
    numbers = {name: scale.number(name) for name in scale.names}
    said = [[None if value is None else numbers[str(value)] for value in values] for values in raters]
    return alpha.krippendorff_alpha(said, "interval", clusters=clusters)


def _of_order(size: int) -> dict[str, Measure]:
    """What fits values whose distances nobody knows."""
    return {
        "kappa_quadratic": kappa_of(size, "quadratic"),
        "kappa_linear": kappa_of(size, "linear"),
        "ac2": _ac2(size, "quadratic"),
        "alpha": _alpha("ordinal", range(size), lambda codes: codes),
    }


def _of_numbers(numbers: Floats, form: Form) -> dict[str, Measure]:
    """What fits values whose differences can be told."""

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
    level: alpha.Level, categories: Sequence[int] | None, values: Callable[[Codes], Floats | Codes]
) -> Measure:
    def adds(first: Codes, second: Codes) -> Added:
        measured = alpha.added_up([values(first), values(second)], level, categories)
        return Added(measured.rows(np.ones(len(first), dtype=bool)), measured.figure, measured.rests_on)

    undefined = "all judgements are the same, so chance would leave no disagreement"
    return Measure(f"Krippendorff's α, {level}", undefined, adds, weighed=False)


def _ac2(size: int, weights: Weights) -> Measure:
    """Gwet's AC2 of two raters, as `gwet_ac1` has it of any number."""
    alike, unit = closeness(weights, size), np.eye(size)

    def adds(first: Codes, second: Codes) -> Added:
        shares = (unit[first] + unit[second]) / 2
        return Added(np.column_stack([shares, alike[first, second], np.ones(len(first))]), figure)

    def figure(sums: Floats) -> Floats:
        agreed, drawn = over(sums[:, -2], sums[:, -1]), sums[:, :size] / sums[:, -1:]
        chance = alike.sum() / (size * (size - 1)) * (drawn * (1 - drawn)).sum(axis=1)
        return over(agreed - chance, 1 - chance)

    return Measure(f"Gwet's AC2{named(weights)}", "all judgements are of one value, as by chance", adds)


def moments(scores: Floats) -> Floats:
    """What adds up over units: their number, each rater's score, the squares, and the squared sum of raters."""
    columns = np.ones(len(scores)), scores, (scores**2).sum(axis=1), scores.sum(axis=1) ** 2
    return np.column_stack(columns)


def of_moments(sums: Floats, form: Form) -> Floats:
    """The intraclass correlations of sums (draws × columns) by the mean squares of an analysis of variance."""
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
    # The mean squares between units, within them and between raters, as Shrout & Fleiss name them.
    bms, wms, jms = between / (n - 1), within / (n * (k - 1)), columns / (k - 1)
    # Raters who are a sample add their own variance.
    noise, sampled = (wms, 0.0) if form == "1,1" else (error, k * (jms - error) / n)
    whole = bms + (k - 1) * noise + sampled
    found = over(bms - noise, np.where(whole > ROUNDING * (bms + noise + jms), whole, 0.0))
    # It ends at −1 / (k − 1); where raters differ by less than chance, the second form runs past that.
    return np.asarray(np.maximum(found, -1 / (k - 1)))
