"""How many units must be labelled, and what units of one item are worth."""

from math import ceil, sqrt

import numpy as np
import pytest

from annotator.stats.intervals.cluster_means import clustered_wilson
from annotator.stats.intervals.sample_size import kish_effect, wilson_size
from annotator.stats.intervals.student import wilson, wilson_bounds

Z = 1.959963985


def width(n, share):
    low, high = wilson_bounds(share, n, Z)
    return high - low


def test_for_a_half_the_size_has_a_closed_form():
    # z / √(n + z²) = .1 at n = z² (1/.01 − 1) = 380.3.
    assert wilson_size(0.1) == ceil(Z * Z * 99) == 381


@pytest.mark.parametrize("share", [0.0, 0.03, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("wanted", [0.05, 0.1, 0.3, 0.9])
def test_it_is_the_fewest_units_that_reach_the_width(wanted, share):
    n = wilson_size(wanted, share)
    assert width(n, share) <= wanted + 1e-9
    assert n == 1 or width(n - 1, share) > wanted


def test_units_that_are_alike_are_needed_more_often():
    assert wilson_size(0.1, design_effect=2) == ceil(2 * Z * Z * 99)


@pytest.mark.parametrize("arguments", [(0,), (1,), (0.1, 1.2), (0.1, 0.5, 0)])
def test_an_impossible_wish_is_refused(arguments):
    with pytest.raises(ValueError, match="a width of"):
        wilson_size(*arguments)


def test_the_design_effect_by_hand():
    assert kish_effect([10, 10, 10], 0.1) == pytest.approx(1.9)
    # Unequal: (25 + 225) / 20 = 12.5 units of one cluster, as a unit sees it.
    assert kish_effect([5, 15], 0.1) == pytest.approx(2.15)


@pytest.mark.parametrize(("sizes", "likeness"), [([], 0.1), ([0], 0.1), ([3], -0.1), ([3], 1.1)])
def test_what_has_no_design_effect_is_refused(sizes, likeness):
    with pytest.raises(ValueError, match="clusters have units"):
        kish_effect(sizes, likeness)


@pytest.mark.usefixtures("small_cases")
def test_a_share_over_clusters_by_hand():
    # Four items of two like units: totals ±1, variance 4/64 · 4/3 = 1/12, so 1/4 ÷ 1/12 = 3 units; t of 3 is 3.18245.
    found = clustered_wilson([1, 1, 0, 0, 1, 1, 0, 0], [0, 0, 1, 1, 2, 2, 3, 3])
    half = 3.18245 / (2 * sqrt(3 + 3.18245**2))
    assert (found.value, found.n) == (0.5, 8)
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-5)
    assert found.method == "share; 95% Wilson score interval, jackknife over 4 clusters"


def test_units_of_their_own_are_nearly_wilsons():
    holds = [True] * 60 + [False] * 40
    found, plain = clustered_wilson(holds, range(100)), wilson(60, 100)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high), abs=3e-3)


def test_units_all_alike_count_as_their_clusters():
    found = clustered_wilson([True] * 30, [i // 3 for i in range(30)])
    assert found.high == 1
    assert found.low == pytest.approx(wilson_bounds(1.0, 10, 2.26216)[0], abs=1e-5)
    assert "so that each counts as one unit" in found.note


def test_the_interval_covers_as_often_as_it_says():
    # 400 samples of 20 items × 10 units, alike to 0.2; a sound interval misses 0.8 at most 32 times, p < .005.
    rng, missed = np.random.default_rng(9), 0
    for _ in range(400):
        holds = rng.random((20, 10)) < rng.beta(3.2, 0.8, (20, 1))
        found = clustered_wilson(holds.ravel(), np.arange(20).repeat(10))
        missed += not found.low <= 0.8 <= found.high
    assert missed <= 32


def test_missing_units_are_left_out_and_one_cluster_has_no_interval():
    found = clustered_wilson([True, None, False], ["p", "q", "p"])
    assert (found.value, found.n, found.missing, found.low) == (0.5, 2, 1, None)
    assert "1 cluster is too few for an interval" in found.note
    assert clustered_wilson([None], ["p"]).note.startswith("nothing was counted")


def test_a_share_is_of_yes_and_no():
    with pytest.raises(ValueError, match="are or are not so"):
        clustered_wilson([1, 2], ["p", "q"])
