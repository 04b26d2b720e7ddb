"""Agreement of two or more raters: observed, and beyond chance."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from annotator.domain.texts.estimate import CHANCE, Estimate
from annotator.stats.intervals.clustered import (
    ClusterTally,
    Figure,
    Statistic,
    clustered_wilson,
    distinct,
    estimate,
    over,
    tallied,
)
from annotator.stats.intervals.coding import (
    MISSING,
    ONE_CATEGORY,
    Categories,
    Chosen,
    Codes,
    Floats,
    Values,
    Weights,
    category_counts,
    closeness,
    cluster_codes,
    coded,
    disagreements,
    in_order,
    left_out,
    named,
    numbers,
    plain,
)
from annotator.stats.intervals.student import wilson

Counts = NDArray[np.int64]

# Integers of no wider range, and none larger than the second figure, are counted without coding them.
WIDEST_RANGE = 256
LARGEST = 1 << 32

NO_PAIR = "no unit was judged by both raters"


def percent_agreement(
    pairs: Iterable[tuple[Hashable, Hashable]], clusters: Sequence[Hashable] | None = None
) -> Estimate:
    """The share of units on which both gave the same value, with Wilson's interval; None and NaN are missing.

    `clusters` names the item of each unit; without it each unit is its own cluster.
    """
    listed = list(pairs)
    a, b = plain(first for first, _ in listed), plain(second for _, second in listed)
    whole = [at for at, (x, y) in enumerate(zip(a, b, strict=True)) if x is not None and y is not None]
    both = [(a[at], b[at]) for at in whole]
    same = [float(x == y) for x, y in both]
    if clusters is None:
        share = wilson(int(sum(same)), len(both))
    else:
        share = clustered_wilson(same, [clusters[at] for at in whole])
    notes = [share.note if both else NO_PAIR] if share.note else []
    notes += left_out(len(listed) - len(both), len(listed))
    if len({value for pair in both for value in pair}) == 1:
        notes.insert(0, ONE_CATEGORY)
    return Estimate(
        share.value,
        share.low,
        share.high,
        n=len(both),
        missing=a.count(None) + b.count(None),
        method=f"percent agreement: {share.method}",
        note="; ".join(notes),
    )


def cohen_kappa(
    a: Values,
    b: Values,
    weights: Weights = "none",
    categories: Sequence[Hashable] | None = None,
    clusters: Values | None = None,
) -> Estimate:
    """κ of two raters (Cohen 1960; weighted: Cohen 1968), with its interval over clusters.

    `a` and `b` hold a value per unit, None or NaN if it is missing; `weights` is "none", "linear", "quadratic",
    "ordinal" or a matrix of disagreements over `categories`, whose order weights need; `clusters` names the item of
    each unit; without it each unit is its own cluster. ValueError for values that do not fit.
    """
    in_order(weights, categories)
    met = meetings(a, b, categories, clusters)
    apart = disagreements(weights, len(met.categories))
    size = len(apart)

    def figure(sums: Floats) -> Floats:
        first, second, observed = sums[:, :size], sums[:, size : 2 * size], sums[:, -1]
        expected = ((first @ apart) * second).sum(axis=1)
        return 1 - over(first.sum(axis=1) * observed, expected)

    method = "Cohen's κ" + named(weights)
    notes = left_out(met.units - met.n, met.units)
    statistic = Statistic(figure, CHANCE, lambda rows: rows[:, 2 * size : -1])
    return estimate(_tally(met, apart), statistic, method, met.n, notes, met.missing, _undefined(met))


@dataclass(frozen=True, slots=True)
class CodePairs:
    """Pairs of codes (`first`, `second`), the row that each belongs to, and the number of clusters per row.

    Without clusters a row is one cell of the confusion table, standing for as many units as are in it. `n` of `units`
    have both judgements; `missing` counts the judgements that are missing.
    """

    first: Codes
    second: Codes
    rows: Codes
    times: Counts
    what: str
    categories: Categories
    n: int
    units: int
    missing: int


def meetings(
    a: Values, b: Values, categories: Sequence[Hashable] | None = None, clusters: Values | None = None
) -> CodePairs:
    """The pairs of two raters, by cell or by cluster; ValueError for values that do not fit together."""
    groups = cluster_codes(clusters, len(a))
    if groups is None:
        table, known, missing = _crossed(a, b, categories)
        first, second = np.nonzero(table)
        times = table[first, second]
        rows = np.arange(len(times))
        return CodePairs(first, second, rows, times, "units", known, int(times.sum()), len(a), missing)
    codes, known = coded([a, b], categories)
    both = (codes != MISSING).all(axis=0)
    present, rows = np.unique(groups[both], return_inverse=True)
    first, second = codes[:, both]
    times = np.ones(len(present), dtype=np.int64)
    missing = int((codes == MISSING).sum())
    return CodePairs(first, second, rows, times, "clusters", known, len(rows), len(a), missing)


def _crossed(a: Values, b: Values, categories: Sequence[Hashable] | None) -> tuple[Counts, Categories, int]:
    """The confusion table, its categories, and the number of missing judgements."""
    if categories is None and (result := _in_place(a, b)) is not None:
        return *result, 0
    codes, known = coded([a, b], categories)
    first, second = codes[:, (codes != MISSING).all(axis=0)]
    cells = np.bincount(first * len(known) + second, minlength=len(known) ** 2)
    return cells.reshape(len(known), len(known)), known, int((codes == MISSING).sum())


def _in_place(a: Values, b: Values) -> tuple[Counts, Categories] | None:
    """The table of two arrays of integers of a narrow range; None for other values, which need coding."""
    if not (_integers(a) and _integers(b)) or len(a) != len(b) or not len(a):
        return None
    x, y = np.asarray(a), np.asarray(b)
    low, high = int(min(x.min(), y.min())), int(max(x.max(), y.max()))
    if (span := high - low + 1) > WIDEST_RANGE or max(-low, high) > LARGEST:
        return None
    # One byte holds a cell of up to 16 categories; intermediate overflow cancels with the last step.
    small = span <= 16
    kind = np.uint8 if small else np.int64
    cells = np.multiply(x, kind(span), dtype=kind, casting="unsafe")
    np.add(cells, y, out=cells, dtype=kind, casting="unsafe")
    cells -= kind(low * (span + 1) % 256 if small else low * (span + 1))
    counts = _counted_bytes(cells) if small else np.bincount(cells, minlength=span * span)
    table = counts[: span * span].reshape(span, span)
    used = np.flatnonzero(table.any(axis=0) | table.any(axis=1))
    return table[np.ix_(used, used)], tuple((used + low).tolist())


def _counted_bytes(cells: NDArray[np.uint8]) -> Counts:
    """The frequency of each byte, counted two at a time: half the additions, with fewer stalls between them."""
    even = len(cells) // 2 * 2
    twos = np.bincount(cells[:even].view(np.uint16), minlength=1 << 16).reshape(256, 256)
    return np.asarray(twos.sum(axis=0) + twos.sum(axis=1) + np.bincount(cells[even:], minlength=256))


def _integers(values: Values) -> bool:
    return isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iub"


def _tally(met: CodePairs, apart: Floats) -> ClusterTally:
    """Each row's counts of both raters' categories, of pairs with neither in a category, and of disagreements."""
    size, same = (len(met.times), len(apart)), met.first == met.second
    counted = [
        np.bincount(rows * size[1] + codes, minlength=size[0] * size[1]).reshape(size)
        for rows, codes in ((met.rows, met.first), (met.rows, met.second), (met.rows[same], met.first[same]))
    ]
    counted[2] += counted[0].sum(axis=1, keepdims=True) - counted[0] - counted[1]
    seen = np.bincount(met.rows, weights=apart[met.first, met.second], minlength=size[0])
    rows = np.hstack([*counted, seen[:, None]]).astype(np.float64)
    return distinct(rows, met.times, met.what)


def _undefined(met: CodePairs) -> str:
    if not met.n:
        return NO_PAIR
    if (np.append(met.first, met.second) == met.first[0]).all():
        return (
            f"both raters used one category only, so they agree on {met.n:,} of {met.n:,} units "
            "and chance alone would have them agree as often"
        )
    return "the weights hold no disagreement between the categories in use"


NO_SECOND = "no unit was judged by two raters"


def gwet_ac1(
    raters: Sequence[Values],
    weights: Weights = "none",
    categories: Sequence[Hashable] | None = None,
    clusters: Values | None = None,
) -> Estimate:
    """AC1 of any number of raters (Gwet 2008), AC2 with weights (Gwet 2014), with its interval over clusters.

    `raters` × units, None or NaN for missing; `weights` are disagreements over `categories`, whose order they need;
    `clusters` names the item of each unit; without it each unit is its own cluster. A unit judged once counts for
    chance only. ValueError for values that do not fit together.
    """
    in_order(weights, categories)
    table, _ = category_counts(raters, categories)
    ratings, size = table.sum(axis=1), table.shape[1]
    name = "Gwet's AC1" if isinstance(weights, str) and weights == "none" else "Gwet's AC2"
    n, method = int((ratings > 1).sum()), name + named(weights)
    groups = cluster_codes(clusters, len(table))
    notes = [f"{len(table) - n:,} of {len(table):,} units judged fewer than twice"] * (n < len(table))
    one_category = [ONE_CATEGORY] if np.count_nonzero(table.any(axis=0)) == 1 else []
    if n == 0 or size < 2:
        reason = NO_SECOND if n == 0 else "only one category was used: the figure needs the others named"
        return Estimate(None, n=n, method=method, note="; ".join([reason, *notes]))
    alike, judged = closeness(weights, size), ratings > 0
    shares = table / np.maximum(ratings, 1)[:, None]
    rows = np.column_stack([shares, judged, ratings > 1, _agreeing_pairs(table, alike)])[judged]
    tally = tallied(rows, None if groups is None else groups[judged])

    def figure(sums: Floats) -> Floats:
        agreed, given = over(sums[:, -1], sums[:, -2]), sums[:, :size] / sums[:, [size]]
        chance = alike.sum() / (size * (size - 1)) * (given * (1 - given)).sum(axis=1)
        return over(agreed - chance, 1 - chance)

    undefined = f"all judgements of {len(table):,} units are of one category, as they would be by chance"
    statistic = Statistic(figure, CHANCE)
    return estimate(tally, statistic, method, n, notes, undefined=undefined, value_notes=one_category)


def ac1_of_pairs(
    a: Values, b: Values, categories: Sequence[Hashable] | None = None, clusters: Values | None = None
) -> Estimate:
    """AC1 of two raters on the units that both judged, comparable to their κ; arguments as in `gwet_ac1`."""
    first, second = plain(a), plain(b)
    whole = [at for at, values in enumerate(zip(first, second, strict=True)) if None not in values]
    of = None if clusters is None else [clusters[at] for at in whole]
    raters = [[values[at] for at in whole] for values in (first, second)]
    result = gwet_ac1(raters, categories=categories, clusters=of)
    missing = first.count(None) + second.count(None)
    return replace(result, missing=missing).remarked(*left_out(len(first) - len(whole), len(first)))


def _agreeing_pairs(table: Floats, alike: Floats) -> Floats:
    """The share of agreeing pairs of judgements on each unit, 0 if it has no pair (Fleiss 1971)."""
    ratings = table.sum(axis=1)
    agreeing = (table * (table @ alike - 1)).sum(axis=1)
    return np.asarray(agreeing / np.maximum(ratings * (ratings - 1), 1))


SKEWED = 0.80
KAPPA_PARADOX = (
    "Nearly all judgements are of one category, so chance alone would give much agreement and κ can be low though "
    "the raters seldom differ (Feinstein & Cicchetti 1990); AC1 is less moved by this."
)


def prevalence(
    raters: Sequence[Values], categories: Sequence[Hashable] | None = None
) -> dict[Hashable, float]:
    """The share of each category among all judgements of `raters` × units; empty if there is no judgement."""
    table, known = category_counts(raters, categories)
    total = float(table.sum())
    return dict(zip(known, (table.sum(axis=0) / total).tolist(), strict=True)) if total else {}


def prevalence_skewed(shares: Iterable[float]) -> bool:
    """Whether a category has more than 80 % of the judgements, as one of two does when the other has below 20 %.

    `shares` covers all categories; ValueError unless they add up to 1 or are empty.
    """
    listed = list(shares)
    if listed and not (min(listed) >= 0 and abs(sum(listed) - 1) < 1e-9):
        raise ValueError("shares of categories add up to 1")
    return max(listed, default=0.0) > SKEWED


ONCE = "judged fewer than twice"


def flip_rate(trials: Sequence[Values], clusters: Values | None = None) -> Estimate:
    """The share of units whose trials do not all agree, with Wilson's interval, over `clusters` if given.

    `trials` × units, None or NaN if a trial has no value; a unit with fewer than two is left out and counted. The
    rate rises with the number of trials, so compare only rates of equal numbers. ValueError for trials of unequal
    length.
    """
    table, _ = category_counts(trials)
    twice = table.sum(axis=1) > 1
    flips = np.where(twice, (table > 0).sum(axis=1) > 1, np.nan)
    units, n = len(table), int(twice.sum())
    share = wilson(int(np.nansum(flips)), n) if clusters is None else clustered_wilson(flips, clusters)
    notes = [note for note in share.note.split("; ") if note and "left out" not in note]
    return Estimate(
        share.value,
        share.low,
        share.high,
        n=n,
        missing=sum(plain(values).count(None) for values in trials),
        method=f"flip rate of {len(trials):,} trials: {share.method}",
        note="; ".join([*notes, *left_out(units - n, units, ONCE)]),
    )


Level = Literal["nominal", "ordinal", "interval"]
# Squared distances below this share of the sum of squares are rounding errors.
ROUNDING = 1e-12


def krippendorff_alpha(
    raters: Sequence[Values],
    level: Level = "nominal",
    categories: Sequence[Hashable] | None = None,
    clusters: Values | None = None,
) -> Estimate:
    """α of `raters` × units, None or NaN for missing (Krippendorff 2011), with its interval over clusters.

    Ordinal values need their `categories` in order; interval ones are numbers. `clusters` names the item of each
    unit; without it each unit is its own cluster. A unit judged less than twice is left out. ValueError for values
    that do not fit together.
    """
    measured = added_up(raters, level, categories)
    units, paired = len(measured.judged), measured.judged > 1
    groups = cluster_codes(clusters, units)
    n, method = int(paired.sum()), f"Krippendorff's α, {level}"
    notes = left_out(units - n, units, "fewer than two judgements")
    tally = tallied(measured.rows(paired), None if groups is None else groups[paired])
    statistic = Statistic(measured.figure, CHANCE, measured.rests_on)
    alike = f"all judgements of {n} units are the same, so chance would leave no disagreement"
    return estimate(tally, statistic, method, n, notes, undefined=alike if n else NO_SECOND)


@dataclass(frozen=True, slots=True)
class Measured:
    """The number of judgements of each unit, additive columns for any selection of units, and α as a function of
    their sums.

    `rests_on` gives, per row and value, the number of pairs of judgements that are both of other values, if values
    are counted: if few rows have any, nearly all of them may be missing by chance, and the spread of α with them.
    """

    judged: Floats
    rows: Callable[[Chosen], Floats]
    figure: Figure
    rests_on: Callable[[Floats], Floats] | None = None


def added_up(raters: Sequence[Values], level: Level, categories: Sequence[Hashable] | None) -> Measured:
    """The additive columns behind α of these judgements; values and errors as in `krippendorff_alpha`."""
    if level == "interval":
        return _interval(numbers(raters))
    if level == "nominal":
        return _nominal(category_counts(raters, categories)[0])
    if level != "ordinal" or categories is None:
        raise ValueError("the level is nominal, ordinal with categories in their order, or interval")
    return _ordinal(category_counts(raters, categories)[0])


def _nominal(table: Floats) -> Measured:
    """Nominal distances, all equal: each unit adds its counts of values and its disagreement."""
    judged, size = table.sum(axis=1), table.shape[1]
    squared, others = 1 - np.eye(size), _pairs_of_others(table)

    def rows(paired: Chosen) -> Floats:
        seen = _apart(table[paired], squared) / (judged[paired] - 1)
        return np.column_stack([table[paired], others[paired], seen])

    def figure(sums: Floats) -> Floats:
        values, seen = sums[:, :size], sums[:, -1]
        return 1 - over((values.sum(axis=1) - 1) * seen, _apart(values, squared))

    return Measured(judged, rows, figure, lambda sums: sums[:, size:-1])


def _pairs_of_others(table: Floats) -> Floats:
    """The number of pairs of judgements of each unit that are both of other values than each (units × values)."""
    others = table.sum(axis=1, keepdims=True) - table
    return np.asarray(others * (others - 1))


def _apart(values: Floats, squared: Floats) -> Floats:
    """The sum of squared distances over all ordered pairs of values, from the counts of each (rows × values)."""
    return np.asarray(((values @ squared) * values).sum(axis=1))


def _ordinal(table: Floats) -> Measured:
    """Ordinal distances, differences of mean ranks, which depend on the units: each unit adds its pairs of values."""
    table = table[:, table.any(axis=0)]
    judged, size, others = table.sum(axis=1), table.shape[1], _pairs_of_others(table)
    low, high = np.triu_indices(size, 1)

    def rows(paired: Chosen) -> Floats:
        met = table[paired][:, low] * table[paired][:, high]
        return np.hstack([table[paired], others[paired], met / (judged[paired] - 1)[:, None]])

    def figure(sums: Floats) -> Floats:
        values, met = sums[:, :size], sums[:, 2 * size :]
        ranks = values.cumsum(axis=1) - values / 2
        squared = (ranks[:, high] - ranks[:, low]) ** 2
        expected = (values[:, low] * values[:, high] * squared).sum(axis=1)
        return 1 - over((values.sum(axis=1) - 1) * (met * squared).sum(axis=1), expected)

    return Measured(judged, rows, figure, lambda sums: sums[:, size : 2 * size])


def _interval(grid: Floats) -> Measured:
    """Interval distances, differences of numbers: each unit adds the number, the sum and the squares of its values."""
    given = ~np.isnan(grid)
    # Relative to the least value: squares of values far from zero would drown their differences.
    grid = np.where(given, grid - np.min(grid, initial=np.inf, where=given), 0.0)
    judged = given.sum(axis=0).astype(np.float64)

    def rows(paired: Chosen) -> Floats:
        values = grid[:, paired]
        moments = np.stack([judged[paired], values.sum(axis=0), (values**2).sum(axis=0)], axis=1)
        return np.column_stack([moments, _spread(moments) / (judged[paired] - 1)])

    def figure(sums: Floats) -> Floats:
        return 1 - over((sums[:, 0] - 1) * sums[:, 3], _spread(sums))

    return Measured(judged, rows, figure)


def _spread(moments: Floats) -> Floats:
    """The sum of squared differences over all unordered pairs of values, from their number, sum and squares."""
    size = moments[:, 0] * moments[:, 2]
    spread = size - moments[:, 1] ** 2
    return np.where(spread > ROUNDING * size, spread, 0.0)
