"""What counts come to (ADRA, appendix F)."""

import pytest

from annotator.protocols.adra.counts import CountTally, estimate, f1, jaccard, precision, recall


def test_the_four_figures_of_one_tally():
    # TP 3, FP 2, FN 1: P 3/5, R 3/4, F1 6/9, J 3/6.
    tally = CountTally(predicted=5, right=3, gold=4, found=3)
    assert (precision(tally), recall(tally), f1(tally), jaccard(tally)) == (3 / 5, 3 / 4, 6 / 9, 3 / 6)


def test_f1_is_the_harmonic_mean_where_right_and_found_differ():
    # P 2/4, R 3/3: 2 · ½ · 1 / (3/2) = 2/3; J: found 3, FP 2, FN 0: 3/5.
    tally = CountTally(predicted=4, right=2, gold=3, found=3)
    assert f1(tally) == pytest.approx(2 / 3)
    assert jaccard(tally) == 3 / 5


def test_nothing_predicted_finds_nothing_and_has_no_precision():
    tally = CountTally(predicted=0, right=0, gold=4, found=0)
    assert (precision(tally), recall(tally), f1(tally), jaccard(tally)) == (None, 0, 0, 0)


def test_no_overlap_is_nought():
    tally = CountTally(predicted=3, right=0, gold=4, found=0)
    assert (precision(tally), recall(tally), f1(tally), jaccard(tally)) == (0, 0, 0, 0)


def test_nothing_at_all_is_undefined():
    tally = CountTally(0, 0, 0, 0)
    assert (precision(tally), recall(tally), f1(tally), jaccard(tally)) == (None, None, None, None)


def test_what_is_undefined_bounds_nothing():
    found = estimate(None, [None, 0.5, 0.25], n=1, missing=2, method="m", note="why")
    assert (found.floor, found.ceiling) == (0.25, 0.5)
    assert estimate(None, [None], n=0, missing=0, method="m", note="why").floor is None


# Table 2, planning, Gemini, Avg.: P 27.91, R 28.23, F1 27.56 and Table 12, Avg.: the paper averages over items, so
# the F1 of its averages is not its F1; but its accuracy equals its precision, which Eq. 13 forbids:
def test_the_papers_planning_accuracy_cannot_equal_its_precision():
    # J = P only when FN = 0, that is R = 1; with P and R as printed J = 1 / (1/P + 1/R − 1) = .1633, not .2791.
    p, r = 0.2791, 0.2823
    found = jaccard(CountTally(predicted=28230, right=7879, gold=27910, found=7879))
    assert found == pytest.approx(1 / (1 / p + 1 / r - 1), abs=1e-4)
    assert found == pytest.approx(0.1633, abs=1e-4)
