"""Student's t, sample sizes, paired differences and multiplicity."""

from math import ceil, exp, inf, sqrt

import numpy as np
import pytest

from annotator.domain.material.item import END_TO_END, MODES, Response
from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.clustered import benjamini_yekutieli, clustered_wilson, holm
from annotator.stats.intervals.student import (
    UNBOUNDED,
    Bounds,
    bounds_of,
    kish_effect,
    lower_tail,
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


@pytest.mark.parametrize(
    ("figure", "arguments"),
    [(t_quantile, (0, 3)), (t_quantile, (1, 3)), (t_quantile, (0.95, 0)), (two_sided, (1, 0))],
)
def test_what_has_no_quantile_is_refused(figure, arguments):
    with pytest.raises(ValueError, match="degrees of freedom"):
        figure(*arguments)


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
    ends = bounds_of(value, 0.03, 12, within, level=1 - 2 * min(p, 1 - p))
    assert ends[side] == pytest.approx(at)
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
def test_an_impossible_wish_is_refused(figure, arguments, words):
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
    holds = [True] * 60 + [False] * 40
    result, plain = clustered_wilson(holds, range(100)), wilson(60, 100)
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
    result = paired_means(known(a=0.5765, b=0.5965), known(a=0.6993, b=0.7193))
    assert result.mean.value == pytest.approx(0.7093 - 0.5865)


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
