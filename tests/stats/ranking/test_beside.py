"""A judge beside people: hand-computed accuracy, κ, Brier score and calibration."""

import random

import pytest

from annotator.stats.ranking.beside import beside

# What the judge and what people gave the first: right, right, wrong, right; a tie of people, a tie of the judge.
PAIRS = [(0.8, 0.95), (0.2, 0.1), (0.6, 0.2), (0.9, 0.7), (0.7, 0.5), (0.5, 0.9)]


def test_accuracy_and_kappa_are_over_pairs_that_neither_ties():
    found = beside(PAIRS)
    assert (found.accuracy.value, found.accuracy.n, found.ties) == (0.75, 4, 2)
    # The judge says first in 3 of 4, people in 2: chance agrees in ½, so κ = (¾ − ½) / ½.
    assert found.kappa.value == pytest.approx(0.5)


def test_the_brier_score_counts_also_the_judges_ties():
    # .04 + .04 + .36 + .01 + .25 over five pairs.
    assert beside(PAIRS).brier.value == pytest.approx(0.70 / 5)
    assert beside([(0.5, 1.0), (0.5, 0.0)]).brier.value == 0.25


def test_calibration_is_how_far_confidence_lies_from_being_right():
    # .8 twice, right twice: 1.6 against 2; .6 wrong: .6 against 0; .9 right: .9 against 1, over four.
    assert beside(PAIRS).calibration.value == pytest.approx((0.4 + 0.6 + 0.1) / 4)


def test_ratings_are_correlated_over_what_both_rated():
    mine, theirs = (
        dict(zip("abcdef", range(6), strict=True)),
        dict(zip("abcdeg", [0, 1, 2, 4, 3, 9], strict=True)),
    )
    found = beside([], mine, theirs).ratings
    # One neighbouring swap of five: 1 − 6·2 / (5·24).
    assert (found.value, found.n) == (pytest.approx(0.9), 5)


def test_nothing_to_compare_is_undefined_and_says_why():
    found = beside([])
    assert [found.accuracy.value, found.kappa.value, found.brier.value, found.calibration.value] == [None] * 4
    assert "no pair" in found.brier.note
    assert found.ratings.value is None
    assert found.ratings.note


def test_no_figure_hangs_on_which_task_is_called_the_first():
    chance = random.Random(1)
    for many in (1, 2, 4, 5, 9, 12):
        pairs = [(chance.choice((0.2, 0.5, 0.8)), chance.choice((0.1, 0.5, 0.9, 0.95))) for _ in range(many)]
        turned = [pair if chance.random() < 0.5 else (1 - pair[0], 1 - pair[1]) for pair in pairs]
        one, other = beside(pairs), beside(turned)
        for name in ("accuracy", "kappa", "brier", "calibration"):
            own, again = getattr(one, name), getattr(other, name)
            for end in ("value", "low", "high", "n"):
                assert getattr(own, end) == pytest.approx(getattr(again, end)), (name, pairs)
            assert own.low is not None or own.note
            assert own.low is None or own.n >= 5
