"""What k tries are worth."""

from itertools import combinations
from math import comb
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.domain.texts.estimate import Estimate
from annotator.stats.validation.attempts import best_of, expected_best, pass_at_k


def outcomes(n, passed):
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


def known(*values):
    return [Estimate(value, n=1, floor=value, ceiling=value) for value in values]


def missing(floor, ceiling):
    return Estimate(None, missing=1, floor=floor, ceiling=ceiling)


def test_table_7_best_of_three_runs_of_ten_items():
    # Retrieval, research papers, Perplexity: pass@1 70.00, pass@3 80.00. Seven items are found by every run, two by
    # none, one by no run but the last: the best of three runs of each is 8/10.
    runs = {f"found {n}": known(1, 1, 1) for n in range(7)}
    runs |= {f"not {n}": known(0, 0, 0) for n in range(2)} | {"late": known(0, 0, 1)}
    assert pass_at_k(runs, 3).value == 8 / 10
    # By its first run alone 7/10, as printed; any one of the three finds (7 + 1/3) / 10 on average.
    assert pass_at_k({item: own[:1] for item, own in runs.items()}, 1).value == 7 / 10
    assert pass_at_k(runs, 1).value == pytest.approx((7 + 1 / 3) / 10)


def test_scores_between_nought_and_one_take_the_mean_best_of_all_pairs():
    # Item a: pairs of .2, .4, .9 have bests .4, .9, .9; item b: .5, .5, .5. Mean ((2.2 / 3) + .5) / 2.
    found = pass_at_k({"a": known(0.2, 0.4, 0.9), "b": known(0.5, 0.5, 0.5)}, 2)
    assert found.value == pytest.approx((2.2 / 3 + 0.5) / 2)
    assert (found.n, found.missing) == (2, 0)


def test_a_run_that_is_not_fully_judged_leaves_a_range():
    # Of .5 and [.25, 1] the best is at least .5 and at most 1.
    found = best_of([*known(0.5), missing(0.25, 1.0)], 2)
    assert (found.value, found.floor, found.ceiling, found.missing) == (None, 0.5, 1.0, 1)
    assert found.note == "1 judgements of its runs are missing"


def test_a_run_with_nothing_to_score_is_no_run():
    found = best_of([*known(0.5), Estimate(None, note="no claims")], 1)
    assert (found.value, found.n) == (0.5, 1)


def test_too_few_runs_leave_an_item_out():
    found = pass_at_k({"a": known(0.5, 1.0), "b": known(1.0)}, 2)
    assert (found.value, found.n, found.note) == (
        1.0,
        1,
        "1 item is too few for an interval, which takes 5; 1 of 2 items left out: no defined score",
    )
    assert best_of(known(1.0), 2).note == "1 scored runs are fewer than 2"


def test_no_items_have_no_score():
    assert pass_at_k({}, 3).value is None


def test_k_is_at_least_one():
    with pytest.raises(ValueError, match="best of 0"):
        best_of(known(1.0), 0)
