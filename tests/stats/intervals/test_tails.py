"""Where an interval ends."""

import numpy as np
import pytest

from annotator.stats.intervals.clustered import ResamplingPlan, estimate, intervals, over, tallied
from annotator.stats.intervals.tails import percentile_bounds
from tests.stats.agreement_oracles import needs_oracles, oracle

EVEN = np.arange(101) / 100


def mean(sums):
    return over(sums[:, 1], sums[:, 0])


def plug_in_variance(sums):
    return over(sums[:, 2], sums[:, 0]) - over(sums[:, 1], sums[:, 0]) ** 2


def moments(values):
    listed = np.asarray(values, dtype=np.float64)
    return tallied(np.column_stack([np.ones(len(listed)), listed, listed**2]), None)


def test_percentiles_leave_out_as_much_on_either_side():
    assert percentile_bounds(EVEN, 0.95) == pytest.approx((0.025, 0.975))


def test_many_figures_of_one_pass_are_those_of_many_passes():
    tally, draws = moments(np.random.default_rng(2).random(30)), ResamplingPlan(400, 3)
    together = intervals(tally, [mean, plug_in_variance], draws)
    assert together == [intervals(tally, [figure], draws)[0] for figure in (mean, plug_in_variance)]


def test_a_wider_level_gives_a_wider_interval():
    tally = moments(np.random.default_rng(2).random(30))
    usual, wider = (intervals(tally, [mean], ResamplingPlan(level=level))[0] for level in (0.9, 0.99))
    assert wider.low < usual.low < usual.high < wider.high
    assert "99% percentile" in wider.how


@needs_oracles
def test_the_spatial_test_matches_efron_and_tibshirani():
    published = oracle("bca_efron_tibshirani_1993_spatial_A")
    draws = ResamplingPlan(level=published["level"])
    found = estimate(moments(published["data"]), plug_in_variance, draws, "variance", 26, [])
    assert found.value == pytest.approx(published["theta"], abs=5e-7)
    for source in ("published_recalled_not_reread", "computed_scipy_10000_seed0"):
        assert (found.low, found.high) == pytest.approx(
            tuple(published[source]["percentile"]), abs=published["tolerance"]
        )
