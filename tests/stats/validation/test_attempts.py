"""What k tries are worth."""

from itertools import combinations
from math import comb
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.stats.validation.attempts import expected_best


def outcomes(n, passed):
    """So many runs, of which so many passed."""
    return [1.0] * passed + [0.0] * (n - passed)


def test_of_five_runs_of_which_two_passed_three_draws_miss_once_in_ten():
    # 1 − C(3, 3) / C(5, 3) = 1 − 1/10
    assert expected_best(outcomes(5, 2), 3) == pytest.approx(1 - 1 / 10)


def test_one_try_is_worth_the_share_that_passed():
    assert expected_best(outcomes(4, 1), 1) == 1 / 4


def test_more_tries_than_failures_cannot_miss():
    assert expected_best(outcomes(3, 1), 3) == 1
    assert expected_best(outcomes(3, 0), 3) == 0


def test_the_expected_best_of_two_of_three():
    # Pairs of 0.1, 0.4, 0.9: best 0.4, 0.9, 0.9.
    assert expected_best([0.9, 0.1, 0.4], 2) == pytest.approx((0.4 + 0.9 + 0.9) / 3)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.data())
def test_the_expected_best_is_the_mean_over_all_subsets(scores, data):
    k = data.draw(st.integers(1, len(scores)))
    assert expected_best(scores, k) == pytest.approx(fmean(map(max, combinations(scores, k))))


@given(st.integers(1, 8), st.data())
def test_for_passed_or_failed_it_is_the_estimator_of_chen_and_others(n, data):
    # Chen et al. 2021, §2.1: 1 − C(n − c, k) / C(n, k).
    passed, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    assert expected_best(outcomes(n, passed), k) == pytest.approx(1 - comb(n - passed, k) / comb(n, k))


@pytest.mark.parametrize(("n", "k"), [(2, 3), (2, 0), (0, 1)])
def test_the_best_of_more_runs_than_there_are_or_of_none_is_refused(n, k):
    with pytest.raises(ValueError, match=f"best of {k} of {n}"):
        expected_best([0.5] * n, k)
