"""Where an interval ends."""

from statistics import NormalDist

import numpy as np
import pytest

from annotator.stats.intervals.clustered import ResamplingPlan, estimate, intervals, over, tallied
from annotator.stats.intervals.tails import bca_bounds, percentile_bounds
from tests.stats.agreement_oracles import needs_oracles, oracle

EVEN = np.arange(101) / 100
ONES = np.ones(3, dtype=np.int64)
SYMMETRIC = np.array([-1.0, 0.0, 1.0])


def mean(sums):
    return over(sums[:, 1], sums[:, 0])


def plug_in_variance(sums):
    return over(sums[:, 2], sums[:, 0]) - over(sums[:, 1], sums[:, 0]) ** 2


def moments(values):
    listed = np.asarray(values, dtype=np.float64)
    return tallied(np.column_stack([np.ones(len(listed)), listed, listed**2]), None)


def test_percentiles_leave_out_as_much_on_either_side():
    assert percentile_bounds(EVEN, 0.95) == pytest.approx((0.025, 0.975))


def test_without_bias_and_skewness_the_corrected_interval_is_the_percentile_one():
    assert bca_bounds(0.5, EVEN, SYMMETRIC, ONES, 0.95) == pytest.approx((0.025, 0.975))


def test_bias_moves_both_tails():
    # 30 draws below .3 and one equal to it: z0 = Φ⁻¹(30.5 / 101), tails Φ(2 z0 ∓ 1.96).
    normal = NormalDist()
    bias = normal.inv_cdf(30.5 / 101)
    expected = normal.cdf(2 * bias - 1.959964), normal.cdf(2 * bias + 1.959964)
    assert bca_bounds(0.3, EVEN, SYMMETRIC, ONES, 0.95) == pytest.approx(expected, abs=1e-6)


def test_skewness_moves_both_tails_the_same_way():
    # Without one cluster each 0, 0 and 3: falls 1, 1, −2, so a = (1 + 1 − 8) / (6 · 6^1.5) = −1 / 6^1.5.
    normal, speed = NormalDist(), -(6**-1.5)
    expected = [normal.cdf(z / (1 - speed * z)) for z in (-1.959964, 1.959964)]
    assert bca_bounds(0.5, EVEN, np.array([0.0, 0.0, 3.0]), ONES, 0.95) == pytest.approx(expected, abs=1e-6)


def test_clusters_that_are_alike_count_as_often_as_they_are():
    apart = bca_bounds(0.5, EVEN, np.array([0.0, 0.0, 3.0]), ONES, 0.95)
    together = bca_bounds(0.5, EVEN, np.array([0.0, 3.0]), np.array([2, 1]), 0.95)
    assert together == pytest.approx(apart)


@pytest.mark.parametrize("value", [-0.1, 1.1])
def test_a_figure_beyond_all_draws_has_no_corrected_interval(value):
    assert bca_bounds(value, EVEN, SYMMETRIC, ONES, 0.95) is None


def test_a_figure_that_hangs_on_one_cluster_has_no_corrected_interval():
    assert bca_bounds(0.5, EVEN, np.array([0.0, np.nan, 1.0]), ONES, 0.95) is None


@pytest.mark.usefixtures("small_cases")
def test_where_there_is_no_corrected_interval_the_plain_one_is_named():
    # Without its last unit the figure is undefined.
    tally = moments([0.0, 0.0, 0.0, 1.0])
    found = estimate(
        tally, lambda sums: np.where(sums[:, 1] > 0, 1.0, np.nan), ResamplingPlan(500, 1, "bca"), "any", 4, []
    )
    assert "percentile bootstrap" in found.method
    assert "no BCa interval" in found.note


def test_the_corrected_interval_of_a_skewed_mean_lies_to_the_right():
    tally = moments([0, 0, 1, 1, 1, 2, 2, 3, 5, 30])
    plain, corrected = (
        estimate(tally, mean, ResamplingPlan(interval=kind), "mean", 10, []) for kind in ("percentile", "bca")
    )
    assert corrected.low > plain.low
    assert corrected.high > plain.high
    assert corrected.method.startswith("mean; 95% BCa bootstrap over 10 units")


def test_many_figures_of_one_pass_are_those_of_many_passes():
    tally, draws = moments(np.random.default_rng(2).random(30)), ResamplingPlan(400, 3, "bca")
    together = intervals(tally, [mean, plug_in_variance], draws)
    assert together == [intervals(tally, [figure], draws)[0] for figure in (mean, plug_in_variance)]


def test_a_wider_level_gives_a_wider_interval():
    tally = moments(np.random.default_rng(2).random(30))
    usual, wider = (intervals(tally, [mean], ResamplingPlan(level=level))[0] for level in (0.9, 0.99))
    assert wider.low < usual.low < usual.high < wider.high
    assert "99% percentile" in wider.how


@needs_oracles
@pytest.mark.parametrize("kind", ["percentile", "bca"])
def test_the_spatial_test_matches_efron_and_tibshirani(kind):
    published = oracle("bca_efron_tibshirani_1993_spatial_A")
    draws = ResamplingPlan(interval=kind, level=published["level"])
    found = estimate(moments(published["data"]), plug_in_variance, draws, "variance", 26, [])
    assert found.value == pytest.approx(published["theta"], abs=5e-7)
    for source in ("published_recalled_not_reread", "computed_scipy_10000_seed0"):
        assert (found.low, found.high) == pytest.approx(
            tuple(published[source][kind]), abs=published["tolerance"]
        )
