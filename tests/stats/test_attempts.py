"""What k tries are worth."""

from itertools import combinations
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.stats.attempts import expected_best, pass_at_k


def test_of_five_runs_of_which_two_passed_three_draws_miss_once_in_ten():
    # 1 − C(3, 3) / C(5, 3) = 1 − 1/10
    assert pass_at_k(5, 2, 3) == 1 - 1 / 10


def test_one_try_is_worth_the_share_that_passed():
    assert pass_at_k(4, 1, 1) == 1 / 4


def test_more_tries_than_failures_cannot_miss():
    assert pass_at_k(3, 1, 3) == 1
    assert pass_at_k(3, 0, 3) == 0


def test_the_expected_best_of_two_of_three():
    # Pairs of 0.1, 0.4, 0.9: best 0.4, 0.9, 0.9.
    assert expected_best([0.9, 0.1, 0.4], 2) == pytest.approx((0.4 + 0.9 + 0.9) / 3)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.data())
def test_the_expected_best_is_the_mean_over_all_subsets(scores, data):
    k = data.draw(st.integers(1, len(scores)))
    assert expected_best(scores, k) == pytest.approx(fmean(map(max, combinations(scores, k))))


@given(st.integers(1, 8), st.data())
def test_for_passed_or_failed_both_say_the_same(n, data):
    passed, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    assert expected_best([1.0] * passed + [0.0] * (n - passed), k) == pytest.approx(pass_at_k(n, passed, k))


@pytest.mark.parametrize(("n", "passed", "k"), [(2, 1, 3), (2, 1, 0), (2, 3, 1), (0, 0, 1)])
def test_impossible_counts_are_refused(n, passed, k):
    with pytest.raises(ValueError, match="of"):
        pass_at_k(n, passed, k)


def test_the_best_of_more_runs_than_there_are_is_refused():
    with pytest.raises(ValueError, match="best of 2 of 1"):
        expected_best([0.5], 2)
