"""Intervals of means, shares, groups and clusters; Student's t, paired differences and multiplicity."""

from collections.abc import Iterator
from itertools import chain, combinations
from math import ceil, copysign, exp, inf, sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from annotator.actions.results import results
from annotator.domain.material.item import Response
from annotator.domain.stored import END_TO_END, MODES
from annotator.domain.texts.estimate import CHANCE, NO_WIDTH, SHARE, Estimate, interval
from annotator.stats.agreement.agreement import cohen_kappa
from annotator.stats.intervals.clustered import (
    Statistic,
    benjamini_yekutieli,
    cluster_gap,
    cluster_mean,
    clustered_wilson,
    estimate,
    holm,
    intervals,
    over,
    rates,
    tallied,
)
from annotator.stats.intervals.student import (
    UNBOUNDED,
    Bounds,
    bounds_of,
    by_group,
    kish_effect,
    lower_tail,
    mean_bounds,
    mean_interval,
    mean_of_scores,
    p_above,
    paired_means,
    t_quantile,
    two_sided,
    wilson,
    wilson_bounds,
    wilson_size,
)
from annotator.stats.validation.comparison import both_ways
from benchmarks import coverage
from tests.stats.agreement_oracles import corrected_mean, needs_oracles, oracle

LABELS = np.random.default_rng(3)
TRUE = LABELS.random(120) < 0.8
SAID = np.where(LABELS.random(120) < 0.85, TRUE, ~TRUE)
ITEMS = np.arange(120) // 10


def scored(share: float, variance: float, items: int) -> tuple[float, float]:
    """Wilson (1927) for as many units as the variance is worth: the ends of |p − π| = t √(π (1 − π) / n)."""
    t, n = stats.t.ppf(0.975, items - 1), share * (1 - share) / variance
    low, high = np.roots([1 + t * t / n, -(2 * share + t * t / n), share * share])[::-1]
    return float(low), float(high)


def jackknifed(figure, items) -> float:
    """The jackknife variance by a loop that leaves each item out."""
    there = np.unique(items)
    left = [figure(items != one) for one in there]
    return (len(there) - 1) / len(there) * sum((one - np.mean(left)) ** 2 for one in left)


def test_the_coverage_of_every_figure_is_near_its_level():
    """The script's own table in small."""
    chosen = (
        "skewed",
        "0 or 1, .9",
        "share 0.9",
        "prevalence 0.5, right 0.9",
        "prevalence 0.98",
        "mean 0.95",
        "reports",
    )
    settings = [one for one in coverage.SETTINGS if one.name.startswith(chosen)]
    rows = list(coverage.table(100, (9,), settings, most=3_000))
    assert len({row.figure for row in rows}) > 30
    assert [row.words for row in rows if row.missed] == []
    assert [row.words for row in rows if row.balanced and row.shown < 0.92] == []


def test_a_scores_mean_has_students_interval_where_scores_have_no_bounds():
    values = np.random.default_rng(1).normal(3, 2, 12)
    result = mean_interval(values.tolist())
    expected = stats.t.interval(0.95, 11, values.mean(), stats.sem(values))
    assert (result.low, result.high) == pytest.approx(expected)
    assert result.method == "mean over items; 95% t interval"


def test_a_scores_mean_within_bounds_has_wilsons_interval_of_its_effective_size():
    values = np.array([0.0, 1.0, 0.5, 1.0, 0.0, 1.0, 1.0, 0.25, 0.75, 1.0, 0.5, 1.0])
    result = mean_interval(values.tolist(), within=SHARE)
    assert (result.low, result.high) == pytest.approx(scored(values.mean(), values.var(ddof=1) / 12, 12))
    # Scores of 0 to 10 are the same scores.
    wide = mean_interval((10 * values).tolist(), within=(0.0, 10.0))
    assert (wide.low, wide.high) == pytest.approx((10 * result.low, 10 * result.high))


def test_few_values_that_chance_made_alike_are_worth_ten_units_each_at_most():
    result = mean_interval([0.8, 0.8, 0.8, 0.8, 0.81], within=SHARE)
    assert (result.low, result.high) == pytest.approx(scored(0.802, 0.802 * 0.198 / 50, 5))


def test_values_that_are_all_alike_are_worth_as_much_and_no_more():
    result = mean_interval([0.9] * 12, within=SHARE)
    assert (result.low, result.high) == pytest.approx(scored(0.9, 0.09 / 144, 12))
    assert result.note == "all values are the same, so nothing is known of how they spread"


def test_values_that_are_all_at_an_end_count_one_unit_each():
    least = 8 / (8 + stats.t.ppf(0.975, 7) ** 2)
    full, none = (mean_interval([end] * 8, within=SHARE) for end in SHARE[::-1])
    assert (full.low, full.high) == pytest.approx((least, 1.0))
    assert (none.low, none.high) == pytest.approx((0.0, 1 - least))


@pytest.mark.parametrize("share", [0.5, 0.87, 0.999])
def test_a_bounded_interval_stays_within_and_is_students_where_it_is_narrow(share):
    low, high = bounds_of(share, 1e-9, 40, SHARE)
    half = stats.t.ppf(0.975, 39) * sqrt(1e-9)
    assert (low, high) == pytest.approx((share - half, share + half), abs=5e-6)
    for spread in (1e-4, 1e-2, 1.0):
        low, high = bounds_of(share, spread, 6, SHARE)
        assert 0 <= low < share < high <= 1


def test_what_lies_beyond_its_bounds_or_has_one_end_alone_has_students_interval():
    for value, within in ((1.2, SHARE), (0.4, (0.0, inf))):
        half = stats.t.ppf(0.975, 9) * 0.2
        assert bounds_of(value, 0.04, 10, within) == pytest.approx((value - half, value + half))


def test_a_kappa_has_the_interval_of_its_jackknife_over_items():
    def kappa(kept):
        true, said = TRUE[kept], SAID[kept]
        chance = true.mean() * said.mean() + (1 - true.mean()) * (1 - said.mean())
        return ((true == said).mean() - chance) / (1 - chance)

    value, variance = kappa(ITEMS >= 0), jackknifed(kappa, ITEMS)
    result = cohen_kappa(TRUE, SAID, clusters=ITEMS)
    # In some of the 12 items they agree on no negative.
    rests_on = len(np.unique(ITEMS[~TRUE & ~SAID]))
    assert 5 <= rests_on < 12 == len(np.unique(ITEMS[TRUE & SAID]))
    low, high = scored((value + 1) / 2, variance / 4, rests_on)
    assert (result.value, result.low, result.high) == pytest.approx((value, 2 * low - 1, 2 * high - 1))
    assert result.method == "Cohen's κ; 95% Wilson score interval, jackknife over 12 clusters"
    of_cells = both_ways(TRUE, SAID, True, np.ones(120), ITEMS)[0]["kappa"]
    assert (of_cells.low, of_cells.high) == pytest.approx((result.low, result.high))


@pytest.mark.parametrize(("share", "units"), [(0.98, 100), (0.015, 200), (0.999, 40)])
def test_towards_an_end_with_few_units_of_the_rarer_sort_the_bound_is_exact(share, units):
    # The variance with which so many items are worth so many units.
    variance = share * (1 - share) / units * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, 999)) ** 2
    low, high = bounds_of(share, variance, 1_000, SHARE)
    plain = scored(share, variance, 1_000)
    exact = (
        stats.beta.ppf(0.025, share * units, units * (1 - share) + 1),
        stats.beta.ppf(0.975, share * units + 1, units * (1 - share)),
    )
    expected = (plain[0], exact[1]) if share > 0.5 else (exact[0], plain[1])
    assert (low, high) == pytest.approx(expected, abs=1e-6)
    assert low < plain[0] or high > plain[1]


def test_balanced_accuracy_joins_the_intervals_of_recall_and_specificity():
    result = both_ways(TRUE, SAID, True, np.ones(120), ITEMS)[0]
    recall, specificity, both = (result[name] for name in ("recall", "specificity", "balanced_accuracy"))
    assert both.value == pytest.approx((recall.value + specificity.value) / 2)

    def of(true, said):
        return lambda kept: said[kept & true].mean()

    parts = of(TRUE, SAID), of(~TRUE, ~SAID)
    one, other, sum_of = (
        jackknifed(figure, ITEMS) for figure in (*parts, lambda kept: parts[0](kept) + parts[1](kept))
    )
    alike = (sum_of - one - other) / 2 / sqrt(one * other)
    for end, sign in (("low", -1), ("high", 1)):
        a, b = (abs(getattr(part, end) - part.value) for part in (recall, specificity))
        reach = sqrt(a * a + b * b + 2 * alike * a * b) / 2
        assert getattr(both, end) == pytest.approx(both.value + sign * reach)
    # Only one item has negatives: of them there is no interval, so of both there is none.
    lone = both_ways(ITEMS > 0, SAID, True, np.ones(120), ITEMS)[0]["balanced_accuracy"]
    assert (lone.value is None, lone.low) == (False, None)
    assert "1 of 12 clusters" in lone.note


def test_one_share_has_one_interval_wherever_it_stands():
    same = (TRUE == SAID).astype(float)
    both = both_ways(TRUE, SAID, True, np.ones(120), ITEMS)[0]["accuracy"]
    for result in (clustered_wilson(same, ITEMS), cluster_mean(same, ITEMS, SHARE), both):
        assert (result.value, result.low, result.high) == pytest.approx((both.value, both.low, both.high))
    variance = jackknifed(lambda kept: same[kept].mean(), ITEMS)
    assert (both.low, both.high) == pytest.approx(scored(same.mean(), variance, 12))


def test_a_figure_of_a_class_rests_on_the_items_that_have_it():
    true = np.ones(120, dtype=bool)
    true[[0, 11, 22, 33]] = False
    said = np.ones(120, dtype=bool)
    said[[0, 11, 50]] = False
    bare = both_ways(true, said, True, np.ones(120), ITEMS)[0]["specificity"]
    assert (bare.value, bare.low, bare.high) == (0.5, None, None)
    assert bare.note == (
        "4 of 12 clusters have any of the rarest class that it needs; 4 clusters are too few for an interval, which "
        "takes 5"
    )
    true[44] = False
    result = both_ways(true, said, True, np.ones(120), ITEMS)[0]["specificity"]

    # Without an item that is right 1 of 4 is, without one that is wrong 2 of 4; without any other nothing moves.
    assert (result.low, result.high) == pytest.approx(scored(0.4, 11 / 12 * (2 * 0.15**2 + 3 * 0.1**2), 5))
    assert "rough" in result.note


def test_a_difference_of_paired_means_is_that_of_its_items():
    one, other = np.random.default_rng(5).random((2, 10))
    names = [str(i) for i in range(10)]
    result = paired_means(
        *({name: Estimate(v) for name, v in zip(names, of.tolist(), strict=True)} for of in (one, other)),
        SHARE,
    ).mean
    gaps = other - one
    low, high = scored((gaps.mean() + 1) / 2, gaps.var(ddof=1) / 10 / 4, 10)
    assert (result.low, result.high) == pytest.approx((2 * low - 1, 2 * high - 1))


def test_a_gap_of_groups_leaves_an_item_out_of_both():
    rng = np.random.default_rng(6)
    values, inside = rng.random(120), rng.random(120) < 0.4

    def gap(kept):
        return values[kept & inside].mean() - values[kept & ~inside].mean()

    result = cluster_gap(values, inside, ITEMS)
    half = stats.t.ppf(0.975, 11) * sqrt(jackknifed(gap, ITEMS))
    assert (result.low, result.high) == pytest.approx((result.value - half, result.value + half))


def test_the_same_rows_many_times_are_as_many_clusters():
    rows = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 1.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    share = Statistic(lambda sums: over(sums[:, 0], sums[:, 1]), SHARE)
    (result,) = intervals(tallied(rows, None), [share])
    assert (result.low, result.high) == pytest.approx(scored(4 / 6, 4 / 6 * 2 / 6 / 5, 6))
    usual, wider = (intervals(tallied(rows, None), [share], level)[0] for level in (0.9, 0.99))
    assert wider.low < usual.low < usual.high < wider.high
    assert "99% Wilson score interval, jackknife over 6 units" in wider.how


def test_a_figure_that_one_cluster_alone_makes_has_no_interval_but_a_reason():
    rows = np.array([[1.0, 1.0], *[[0.0, 0.0]] * 6])
    result = estimate(
        tallied(rows, np.arange(7)), Statistic(lambda sums: over(sums[:, 0], sums[:, 1])), "x", 7, []
    )
    assert (result.value, result.low) == (1.0, None)
    assert result.note.endswith("undefined without one of the clusters, so that it has no interval")


def with_interval(value: float) -> Estimate:
    return results.with_interval(Estimate(value, n=6), np.full(6, value), 6, SHARE, "")


@pytest.mark.parametrize(
    "found",
    [
        mean_interval([0.75] * 6),
        mean_of_scores([Estimate(0.75, n=1)] * 6),
        cluster_mean([0.75] * 12, list("aabbccddeeff")),
        corrected_mean([0.75] * 6, [0.75] * 6).corrected,
        with_interval(0.75),
    ],
)
def test_an_interval_of_values_that_are_all_alike_is_called_so_and_no_certainty(found):
    assert (found.low, found.value, found.high) == pytest.approx((0.75, 0.75, 0.75))
    assert NO_WIDTH in found.note
    assert interval(found) == "no spread"


def test_an_interval_of_some_width_is_written_with_its_ends():
    result = mean_interval([0.7, 0.8] * 3)
    assert "width" not in result.note
    assert interval(result).startswith("[0.")


def test_no_defined_item_has_no_value_but_a_reason():
    result = mean_of_scores([Estimate(None)] * 2, CHANCE)
    assert (result.value, result.low, result.high, result.n) == (None, None, None, 0)
    assert result.note == "no item has a defined score; 2 of 2 items left out: no defined score"
    none = mean_of_scores([])
    assert (none.value, none.floor, none.note) == (None, None, "no item has a defined score")


def test_wilson_stays_between_zero_and_one():
    # Newcombe (1998), Table I: 0 of 20 gives 0 to 0.1611; 1 of 29, 0.0061 to 0.1718.
    ends = [(one.low, one.high) for one in (wilson(0, 20), wilson(1, 29))]
    assert ends == [pytest.approx((0.0, 0.1611), abs=5e-5), pytest.approx((0.0061, 0.1718), abs=5e-5)]
    assert wilson(20, 20).high == 1.0


def test_a_share_of_nothing_is_undefined():
    assert (wilson(0, 0).value, wilson(0, 0).note != "") == (None, True)


@pytest.mark.parametrize(("successes", "n"), [(-1, 3), (4, 3)])
def test_impossible_counts_are_refused(successes, n):
    with pytest.raises(ValueError, match="successes of"):
        wilson(successes, n)


@needs_oracles
def test_wilson_matches_every_published_interval():
    for successes, n, low, high in oracle("wilson_newcombe_1998"):
        result = wilson(successes, n)
        assert (round(result.low, 4), round(result.high, 4)) == (low, high)


def test_a_rate_is_the_sum_over_the_sum() -> None:
    result = rates([1, 3, 0], [4, 4, 0], np.array([[1, 1, 1], [2, 0, 1], [0, 0, 3]], dtype=np.float64))
    # 4 of 8, then 2 of 8; of the third alone nothing is to be divided by.
    assert result[:2].tolist() == [0.5, 0.25]
    assert np.isnan(result[2])


def certain(value: float, floor: float, ceiling: float) -> Estimate:
    return Estimate(value, floor=floor, ceiling=ceiling)


def open_between(floor: float, ceiling: float) -> Estimate:
    return Estimate(None, floor=floor, ceiling=ceiling, note="nothing came")


@pytest.mark.parametrize(
    ("scores", "bounds"),
    [
        # Of scores that are all there, the means of their bounds: (1/4 + 2/4) / 2 and (3/4 + 4/4) / 2.
        ([certain(0.5, 0.25, 0.75), certain(0.75, 0.5, 1.0)], (0.375, 0.875)),
        # An item without a value moves them outwards alone: with 0 the mean of 3/4 is 3/8, with 1 it is 7/8.
        ([certain(0.75, 0.75, 0.75), open_between(0.0, 1.0)], (0.375, 0.875)),
        # With 1/2 to 1/2 it can only lower the mean of 3/4, to 5/8.
        ([certain(0.75, 0.75, 0.75), open_between(0.5, 0.5)], (0.625, 0.75)),
        # What can never be defined bounds nothing.
        ([Estimate(None, note="no gold")], (None, None)),
        ([], (None, None)),
        ([certain(0.5, 0.5, 0.5), Estimate(None)], (0.5, 0.5)),
        # A value without bounds bounds itself.
        ([Estimate(0.5), certain(0.5, 0.0, 1.0)], (0.25, 0.75)),
        ([Estimate(0.5), Estimate(1.0)], (None, None)),
    ],
)
def test_the_bounds_of_a_mean_are_those_of_what_is_there_and_what_is_open(scores, bounds):
    assert mean_bounds(scores) == bounds


def test_no_way_to_fill_what_is_missing_leaves_the_bounds():
    for seed in range(200):
        chance = Random(seed)
        scores = [drawn(chance) for _ in range(chance.randint(1, 6))]
        ways = list(outcomes(scores))
        assert not ways or mean_bounds(scores) == pytest.approx((min(ways), max(ways))), seed


def drawn(chance: Random) -> Estimate:
    floor, value, ceiling = sorted(chance.random() for _ in range(3))
    return Estimate(value if chance.random() < 0.6 else None, floor=floor, ceiling=ceiling)


def outcomes(scores: list[Estimate]) -> Iterator[float]:
    """The extreme means: each open score left out or in, all at their floors or all at their ceilings."""
    open_ = [score for score in scores if score.value is None]
    for more in chain.from_iterable(combinations(open_, size) for size in range(len(open_) + 1)):
        counted = [score for score in scores if score.value is not None] + list(more)
        if counted:
            yield sum(one.floor for one in counted) / len(counted)
            yield sum(one.ceiling for one in counted) / len(counted)


def test_no_part_of_a_figure_is_a_zero_with_a_sign():
    result = Estimate(-0.0, low=-0.0, high=-0.0, floor=-0.0, ceiling=-0.0)
    parts = (result.value, result.low, result.high, result.floor, result.ceiling)
    assert [copysign(1, part) for part in parts] == [1] * 5
    assert (Estimate(None).value, Estimate(-0.5).value, Estimate(0).value) == (None, -0.5, 0)


# Table 10: mean accuracy and 95 % margin of twenty items each (200 instances, ten equal disciplines, §4.1).
TABLE_10 = {
    "Biology": (65.51, 7.92),
    "Medicine": (64.51, 7.73),
    "Environmental Science": (63.75, 9.50),
    "Energy": (61.35, 8.60),
    "Chemistry": (60.44, 8.64),
    "Building and Construction": (57.90, 8.27),
    "Earth Sciences": (57.00, 9.33),
    "Materials": (56.57, 8.23),
    "Computer Science": (54.25, 8.86),
    "Finance": (45.19, 10.07),
}
T_19 = 2.0930


def margin(mean: Estimate) -> float | None:
    return None if mean.high is None else mean.high - mean.value


def items():
    """Twenty scores for each domain, ten above and ten below its mean by what makes the printed margin."""
    scores, domains = {}, {}
    for domain, (mean, half) in TABLE_10.items():
        # s = d · √(20/19) and margin = t · s / √20, hence d = margin · √19 / t.
        distance = half * sqrt(19) / T_19
        for n in range(20):
            scores[f"{domain} {n}"] = Estimate(mean + (distance if n % 2 else -distance))
            domains[f"{domain} {n}"] = domain
    return scores, domains


def test_twenty_items_a_domain_reproduce_table_10_in_its_order():
    scores, domains = items()
    result = by_group(scores, domains)
    assert [(name, one.n) for name, one in result.items()] == [(name, 20) for name in TABLE_10]
    printed = [pytest.approx(pair, abs=5e-3) for pair in TABLE_10.values()]
    assert [(one.value, margin(one)) for one in result.values()] == printed
    # They average to what section 5.5 says.
    assert by_group(scores, {})[""].value == pytest.approx(58.65, abs=5e-3)


def test_a_domain_of_one_item_has_no_margin_and_an_undefined_one_comes_last():
    scores = {"a": Estimate(0.1), "b": Estimate(None, note="no statements"), "c": Estimate(0.3)}
    result = by_group(scores, {"a": "x", "b": "y", "c": "z"})
    assert [(name, margin(one)) for name, one in result.items()] == [("z", None), ("x", None), ("y", None)]
    undefined = "no item has a defined score; 1 of 1 items left out: no defined score"
    assert (result["y"].value, result["y"].note) == (None, undefined)


@pytest.mark.usefixtures("small_cases")
def test_a_hand_made_domain():
    # .2, .4, .6: mean .4, s = .2, margin 4.3027 · .2/√3 = .49683.
    scores = {"a": Estimate(0.2), "b": Estimate(0.4), "c": Estimate(0.6)}
    domain = by_group(scores, dict.fromkeys("abc", "x"))["x"]
    assert (domain.value, margin(domain)) == pytest.approx((0.4, 0.49683), abs=1e-5)
    assert by_group({}, {}) == {}


CLUSTERED_ITEMS = ["a", "a", "b", "b", "c"]


def test_a_mean_leaves_out_what_is_missing_and_counts_it() -> None:
    result = cluster_mean([1, None, 1, float("nan"), 0], CLUSTERED_ITEMS)
    assert (result.value, result.n, result.missing) == (pytest.approx(2 / 3), 3, 2)
    assert "2 of 5 units left out" in result.note


def test_a_gap_is_the_difference_of_two_means() -> None:
    # Inside: 1, 0, 1 (2/3); outside: 0, 1 (1/2).
    result = cluster_gap([1, 0, 1, 0, 1], [True, True, True, False, False], ["a", "b", "c", "a", "b"])
    assert (result.value, result.n) == (pytest.approx(2 / 3 - 1 / 2), 5)


@pytest.mark.parametrize(
    ("values", "inside", "clusters", "value", "note"),
    [
        ([1, 0, 1, 0, 1], [True] * 5, CLUSTERED_ITEMS, None, "one of the two groups is empty"),
        ([1, 0, 1, 0, 1], [False] * 5, CLUSTERED_ITEMS, None, "one of the two groups is empty"),
        ([], [], [], None, "nothing was counted"),
        ([1, 0], [True, False], ["a", "a"], 1.0, "1 cluster is too few for an interval, which takes 5"),
    ],
)
def test_without_two_groups_there_is_no_gap_and_over_one_cluster_no_interval(
    values: list[int], inside: list[bool], clusters: list[str], value: float | None, note: str
) -> None:
    result = cluster_gap(values, inside, clusters)
    assert (result.value, result.low, note in result.note) == (value, None, True)


def test_of_nothing_there_is_no_mean() -> None:
    assert cluster_mean([None], ["a"]).note.startswith("nothing was counted")


def test_a_side_is_a_truth_value() -> None:
    with pytest.raises(ValueError, match="inside or it is not"):
        cluster_gap([1.0], [0.5], ["a"])


@given(st.lists(st.tuples(st.integers(-1, 1), st.booleans(), st.integers(0, 4)), min_size=1, max_size=40))
@settings(max_examples=50)
def test_a_gap_turns_its_sign_with_its_groups(rows: list[tuple[int, bool, int]]) -> None:
    values, inside, items = (list(part) for part in zip(*rows, strict=True))
    one = cluster_gap(values, inside, items)
    other = cluster_gap(values, [not side for side in inside], items)
    if one.value is None:
        assert other.value is None
    else:
        assert other.value == pytest.approx(-one.value)
        means = [
            np.mean([v for v, i in zip(values, inside, strict=True) if i is side]) for side in (True, False)
        ]
        assert one.value == pytest.approx(means[0] - means[1])


# Fisher & Yates, Statistical Tables, table III (two-sided 5 %), as in every textbook.
@pytest.mark.parametrize(
    ("df", "t"),
    [
        (1, 12.706),
        (2, 4.303),
        (3, 3.182),
        (4, 2.776),
        (9, 2.262),
        (19, 2.093),
        (20, 2.086),
        (30, 2.042),
        (120, 1.980),
    ],
)
def test_quantiles_are_those_of_the_tables(df, t):
    assert t_quantile(0.95, df) == pytest.approx(t, abs=5e-4)


@pytest.mark.parametrize("df", [1, 2, 7, 8, 199])
@pytest.mark.parametrize("level", [0.1, 0.5, 0.95, 0.999])
def test_the_quantile_and_the_share_undo_each_other(df, level):
    assert two_sided(t_quantile(level, df), df) == pytest.approx(1 - level, rel=1e-12)


def test_one_value_has_no_interval_and_none_has_no_mean():
    one, none = mean_interval([0.5]), mean_interval([])
    assert one == Estimate(
        0.5, n=1, note="1 item is too few for an interval, which takes 5", method=one.method
    )
    assert none == Estimate(None, n=0, note="there are no values", method=none.method)


def test_undefined_scores_are_left_out_and_counted():
    result = mean_of_scores([Estimate(0.2), Estimate(None, note="no claims"), Estimate(0.4)])
    assert (result.value, result.n, result.floor) == (pytest.approx(0.3), 2, None)
    few = "2 items are too few for an interval, which takes 5"
    assert result.note == f"{few}; 1 of 3 items left out: no defined score"


def test_bounds_are_averaged_over_all_that_have_them():
    # Floors (1/2 + 1/4) / 2, ceilings (1/2 + 3/4) / 2.
    incomplete = Estimate(None, missing=2, floor=0.25, ceiling=0.75)
    result = mean_of_scores([Estimate(0.5, floor=0.5, ceiling=0.5), incomplete])
    assert (result.value, result.n, result.missing, result.floor, result.ceiling) == (0.5, 1, 2, 3 / 8, 5 / 8)


def test_tails_have_closed_forms():
    # One degree of freedom is Cauchy's: at 1 a half. Two: 1 − t / √(2 + t²).
    assert two_sided(1, 1) == pytest.approx(0.5, rel=1e-14)
    assert two_sided(3, 2) == pytest.approx(1 - 3 / sqrt(11), rel=1e-12)
    assert (two_sided(0, 7), two_sided(inf, 7)) == (1, 0)
    assert lower_tail(-1, 1) + lower_tail(1, 1) == pytest.approx(1)
    assert lower_tail(-1, 1) == pytest.approx(0.25)


def test_a_tail_far_out_is_not_rounded_to_0():
    # For many degrees of freedom nearly the normal tail, e^(−t²/2) √(2/π) / t, which is 4.9e-198 · … at 30.
    assert two_sided(30, 10**9) == pytest.approx(exp(-450) * sqrt(2 / 3.14159265) / 30, rel=2e-3)


@pytest.mark.parametrize("within", [UNBOUNDED, (-2.0, 2.0)])
@pytest.mark.parametrize(("value", "at"), [(0.1, -0.05), (-0.2, -0.05), (1.9, 1.0)])
def test_a_p_value_is_that_of_the_level_whose_interval_ends_there(
    within: Bounds, value: float, at: float
) -> None:
    p = p_above(value, 0.03, 12, within, at)
    assert p is not None
    side = 0 if value > at else 1
    assert bounds_of(value, 0.03, 12, within, level=1 - 2 * min(p, 1 - p))[side] == pytest.approx(at)
    assert (p < 0.5) is (value > at)


def test_without_a_variance_there_is_no_p_value() -> None:
    assert p_above(0.5, 0.0, 12, UNBOUNDED, 0.0) is None
    assert p_above(2.0, 0.1, 12, (-2.0, 2.0), 0.0) is None


Z = 1.959963985


def width(n, share):
    low, high = wilson_bounds(share, n, Z)
    return high - low


def test_for_a_half_the_size_has_a_closed_form():
    # z / √(n + z²) = .1 at n = z² (1/.01 − 1) = 380.3; units that are alike are needed more often.
    assert wilson_size(0.1) == ceil(Z * Z * 99) == 381
    assert wilson_size(0.1, design_effect=2) == ceil(2 * Z * Z * 99)


@pytest.mark.parametrize("share", [0.0, 0.03, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("wanted", [0.05, 0.1, 0.3, 0.9])
def test_it_is_the_fewest_units_that_reach_the_width(wanted, share):
    n = wilson_size(wanted, share)
    assert width(n, share) <= wanted + 1e-9
    assert n == 1 or width(n - 1, share) > wanted


@pytest.mark.parametrize(
    ("figure", "arguments", "words"),
    [
        (t_quantile, (0, 3), "degrees of freedom"),
        (t_quantile, (1, 3), "degrees of freedom"),
        (t_quantile, (0.95, 0), "degrees of freedom"),
        (two_sided, (1, 0), "degrees of freedom"),
        (wilson_size, (0,), "a width of"),
        (wilson_size, (1,), "a width of"),
        (wilson_size, (0.1, 1.2), "a width of"),
        (wilson_size, (0.1, 0.5, 0), "a width of"),
        (kish_effect, ([], 0.1), "clusters have units"),
        (kish_effect, ([0], 0.1), "clusters have units"),
        (kish_effect, ([3], -0.1), "clusters have units"),
        (kish_effect, ([3], 1.1), "clusters have units"),
    ],
)
def test_what_has_no_quantile_or_size_is_refused(figure, arguments, words):
    with pytest.raises(ValueError, match=words):
        figure(*arguments)


def test_the_design_effect_by_hand():
    assert kish_effect([10, 10, 10], 0.1) == pytest.approx(1.9)
    # Unequal: (25 + 225) / 20 = 12.5 units of one cluster, as a unit sees it.
    assert kish_effect([5, 15], 0.1) == pytest.approx(2.15)


@pytest.mark.usefixtures("small_cases")
def test_a_share_over_clusters_by_hand():
    # Four items of two like units: totals ±1, variance 4/64 · 4/3 = 1/12, so 1/4 ÷ 1/12 = 3 units; t of 3 is 3.18245.
    result = clustered_wilson([1, 1, 0, 0, 1, 1, 0, 0], [0, 0, 1, 1, 2, 2, 3, 3])
    half = 3.18245 / (2 * sqrt(3 + 3.18245**2))
    assert (result.value, result.n) == (0.5, 8)
    assert (result.low, result.high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-5)
    assert result.method == "share; 95% Wilson score interval, jackknife over 4 clusters"


def test_units_of_their_own_are_nearly_wilsons():
    result, plain = clustered_wilson([True] * 60 + [False] * 40, range(100)), wilson(60, 100)
    assert (result.low, result.high) == pytest.approx((plain.low, plain.high), abs=3e-3)


def test_units_all_alike_count_as_their_clusters():
    result = clustered_wilson([True] * 30, [i // 3 for i in range(30)])
    assert (result.high, result.low) == (1, pytest.approx(wilson_bounds(1.0, 10, 2.26216)[0], abs=1e-5))
    assert "so that each counts as one unit" in result.note


def test_the_interval_covers_as_often_as_it_says():
    # 400 samples of 20 items × 10 units, alike to 0.2; a sound interval misses 0.8 at most 32 times, p < .005.
    rng, missed = np.random.default_rng(9), 0
    for _ in range(400):
        holds = rng.random((20, 10)) < rng.beta(3.2, 0.8, (20, 1))
        result = clustered_wilson(holds.ravel(), np.arange(20).repeat(10))
        missed += not result.low <= 0.8 <= result.high
    assert missed <= 32


def test_missing_units_are_left_out_and_one_cluster_has_no_interval():
    result = clustered_wilson([True, None, False], ["p", "q", "p"])
    assert (result.value, result.n, result.missing, result.low) == (0.5, 2, 1, None)
    assert "1 cluster is too few for an interval" in result.note
    assert clustered_wilson([None], ["p"]).note.startswith("nothing was counted")


def test_a_share_is_of_yes_and_no():
    with pytest.raises(ValueError, match="are or are not so"):
        clustered_wilson([1, 2], ["p", "q"])


def known(**values):
    return {item: Estimate(value, n=1, floor=value, ceiling=value) for item, value in values.items()}


def test_a_response_is_end_to_end_unless_it_says_otherwise():
    assert Response.model_fields["mode"].default == END_TO_END
    assert MODES == ("end-to-end", "isolated", "gold-plan injection")


@pytest.mark.usefixtures("small_cases")
def test_modes_are_compared_item_by_item():
    # Differences .1, .2, .3: mean .2, s = .1, margin 4.3027 · .1/√3 = .24841.
    result = paired_means(known(a=0.5, b=0.4, c=0.3), known(a=0.6, b=0.6, c=0.6))
    gaps, mean = {item: one.value for item, one in result.differences.items()}, result.mean
    assert gaps == pytest.approx({"a": 0.1, "b": 0.2, "c": 0.3})
    assert (mean.value, mean.low, mean.high, mean.n) == pytest.approx((0.2, -0.04841, 0.44841, 3), abs=1e-5)


def test_section_5_5_gains_twelve_points():
    # OpenAI's reasoning accuracy: 58.65 end to end, 70.93 with gold plans (Table 3): 12.28.
    assert paired_means(known(a=0.5765, b=0.5965), known(a=0.6993, b=0.7193)).mean.value == pytest.approx(
        0.7093 - 0.5865
    )


def test_items_of_one_mode_only_are_named_and_not_compared():
    result = paired_means(known(a=0.5, b=0.5), known(b=1.0, c=1.0))
    assert (list(result.differences), result.only_one, result.only_other) == (["b"], ("a",), ("c",))
    assert result.mean.value == 0.5


def test_what_is_missing_in_either_widens_the_range():
    # [.2, .6] against 1: the gain is .4 … .8.
    mean = paired_means({"a": Estimate(None, missing=2, floor=0.2, ceiling=0.6)}, known(a=1.0)).mean
    assert (mean.value, mean.missing, mean.floor, mean.ceiling) == (None, 2, 0.4, pytest.approx(0.8))


def test_undefined_scores_have_no_difference_and_no_common_item_no_mean():
    one = paired_means({"a": Estimate(None)}, known(a=1.0)).differences["a"]
    undefined = "one of the two has no defined score"
    assert (one.value, one.floor, one.ceiling, one.note) == (None, None, None, undefined)
    assert paired_means(known(a=1.0), known(b=1.0)).mean.value is None


@pytest.mark.parametrize("adjust", [holm, benjamini_yekutieli])
def test_what_was_not_tested_neither_counts_nor_changes_and_no_p_exceeds_1(adjust):
    assert (adjust([None, 0.2, None]), adjust([])) == ([None, 0.2, None], [])
    assert max(adjust([0.9, 0.8, 0.7])) == 1


@pytest.mark.parametrize("adjust", [holm, benjamini_yekutieli])
@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_what_is_no_probability_is_refused(adjust, p):
    with pytest.raises(ValueError, match="probability"):
        adjust([p])
