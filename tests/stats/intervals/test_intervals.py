"""What an interval means."""

from itertools import product
from math import nan

import numpy as np
import pytest

from annotator.actions.results import pools
from annotator.domain.texts.estimate import NO_WIDTH, SHARE, Estimate, interval
from annotator.stats.intervals.cluster_means import cluster_mean
from annotator.stats.intervals.intervals import bootstrap_means, resampled_means, wilson
from annotator.stats.intervals.student import mean_interval, mean_of_scores
from tests.stats.agreement_oracles import needs_oracles, oracle
from tests.stats.corrections import corrected_mean


def scores(systems=4):
    return np.random.default_rng(11).random((65, systems))


def test_the_value_is_the_mean_over_items():
    (estimate,) = bootstrap_means([[0.25], [0.5], [0.75]])
    assert estimate.value == 0.5
    assert estimate.n == 3


@pytest.mark.usefixtures("small_cases")
def test_the_bounds_are_those_of_all_27_resamples_of_three_items():
    # Each of the 3³ resamples is equally likely: the mean is 0 with 1/27 > 2.5 % and 1 with 1/27.
    means = sorted(sum(draw) / 3 for draw in product([0.0, 0.5, 1.0], repeat=3))
    (estimate,) = bootstrap_means([[0.0], [0.5], [1.0]])
    assert (estimate.low, estimate.high) == (means[0], means[-1])


def test_the_interval_is_as_wide_as_the_normal_one_for_many_items():
    values = scores(1)
    (estimate,) = bootstrap_means(values)
    half = 1.96 * values.std() / 65**0.5
    assert estimate.high - estimate.low == pytest.approx(2 * half, rel=0.04)


def with_interval(value: float) -> Estimate:
    return pools.with_interval(Estimate(value, n=6), np.full(50, value), 6, SHARE, "")


@pytest.mark.parametrize(
    "found",
    [
        bootstrap_means([[0.75]] * 6)[0],
        mean_interval([0.75] * 6),
        mean_of_scores([Estimate(0.75, n=1)] * 6),
        cluster_mean([0.75] * 12, list("aabbccddeeff"), resamples=50),
        corrected_mean([0.75] * 6, [0.75] * 6).corrected,
        with_interval(0.75),
    ],
)
def test_an_interval_of_values_that_are_all_alike_is_called_so_and_no_certainty(found):
    assert (found.low, found.value, found.high) == pytest.approx((0.75, 0.75, 0.75))
    assert found.note.endswith(NO_WIDTH)
    assert interval(found) == "no spread"


def test_an_interval_of_some_width_is_written_with_its_ends():
    found = mean_interval([0.7, 0.8] * 3)
    assert "width" not in found.note
    assert interval(found).startswith("[0.")


def test_a_wider_level_gives_a_wider_interval():
    (usual,), (wider,) = bootstrap_means(scores(1)), bootstrap_means(scores(1), level=0.99)
    assert wider.low < usual.low
    assert usual.high < wider.high
    assert "99%" in wider.method


def test_the_same_call_gives_the_same_estimates():
    assert bootstrap_means(scores()) == bootstrap_means(scores())


def test_a_system_does_not_depend_on_the_others_or_their_order():
    values = scores()
    values[3, 1] = values[9, 2] = nan
    together = bootstrap_means(values)
    assert bootstrap_means(values[:, ::-1]) == together[::-1]
    assert [bootstrap_means(values[:, [i]])[0] for i in range(4)] == together


def test_an_undefined_item_is_left_out_and_counted():
    (estimate,) = bootstrap_means([[0.2], [nan], [0.6], [nan]])
    assert estimate.value == pytest.approx(0.4)
    assert estimate.n == 2
    assert "2 of 4 items left out" in estimate.note


def test_undefined_items_do_not_pull_a_resampled_mean():
    means = resampled_means([[1.0], [nan], [1.0]], resamples=200)
    assert set(means[~np.isnan(means)]) == {1.0}
    assert np.isnan(means).any()  # a resample of undefined items only has probability 1/27


def test_no_defined_item_has_no_value_but_a_reason():
    estimate = bootstrap_means([[nan, 1.0], [nan, 0.0]])[0]
    assert (estimate.value, estimate.low, estimate.high, estimate.n) == (None, None, None, 0)
    assert "no item has a defined score" in estimate.note


def test_no_items_at_all_have_no_value_but_a_reason():
    assert [estimate.value for estimate in bootstrap_means(np.empty((0, 2)))] == [None, None]


def test_one_item_has_a_value_and_no_interval():
    (estimate,) = bootstrap_means([[0.7], [nan]])
    assert (estimate.value, estimate.low, estimate.high, estimate.n) == (0.7, None, None, 1)
    assert "1 item is too few for an interval, which takes 5" in estimate.note


def test_equal_items_give_an_interval_without_width():
    (estimate,) = bootstrap_means(np.full((5, 1), 0.1))
    assert estimate.value == 0.1
    assert (estimate.low, estimate.high) == pytest.approx((0.1, 0.1), abs=1e-12)


def test_the_method_names_resamples_and_seed():
    (estimate,) = bootstrap_means([[0.0], [1.0]], resamples=500, seed=42)
    assert "500 resamples" in estimate.method
    assert "seed 42" in estimate.method


@pytest.mark.parametrize("values", [[0.1, 0.2], [[float("inf")]]])
def test_values_of_another_shape_or_infinite_are_refused(values):
    with pytest.raises(ValueError, match=r"items × systems|infinite"):
        bootstrap_means(values)


def test_a_difference_of_systems_comes_from_shared_resamples():
    values = scores(1)
    means = resampled_means(np.hstack([values, values + 0.25]), resamples=100)
    assert means[:, 1] - means[:, 0] == pytest.approx(np.full(100, 0.25))


def test_wilson_matches_newcombes_published_interval():
    # Newcombe (1998), Statistics in Medicine 17, Table I: 81 of 263 and 15 of 148.
    for successes, n, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605)):
        estimate = wilson(successes, n)
        assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=5e-5)


def test_wilson_stays_between_zero_and_one():
    # Newcombe (1998), Table I: 0 of 20 gives 0 to 0.1611; 1 of 29, 0.0061 to 0.1718.
    assert (wilson(0, 20).low, wilson(0, 20).high) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert (wilson(1, 29).low, wilson(1, 29).high) == pytest.approx((0.0061, 0.1718), abs=5e-5)
    assert wilson(20, 20).high == 1.0


def test_a_share_of_nothing_is_undefined():
    assert wilson(0, 0).value is None
    assert wilson(0, 0).note


@pytest.mark.parametrize(("successes", "n"), [(-1, 3), (4, 3)])
def test_impossible_counts_are_refused(successes, n):
    with pytest.raises(ValueError, match="successes of"):
        wilson(successes, n)


@needs_oracles
def test_wilson_matches_every_published_interval():
    for successes, n, low, high in oracle("wilson_newcombe_1998"):
        found = wilson(successes, n)
        assert (round(found.low, 4), round(found.high, 4)) == (low, high)
