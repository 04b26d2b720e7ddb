"""How far certain raters agree beyond chance."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from annotator.stats.agreement.agreement import cohen_kappa
from annotator.stats.agreement.conger import conger_kappa
from tests.stats.agreement_oracles import needs_oracles, oracle, two_raters

THREE = [list("aabbcabca"), list("aabbcacca"), list("abbbcabcb")]


def test_of_two_raters_it_is_cohens():
    raters = two_raters([[20, 5], [10, 15]])
    assert conger_kappa(raters).value == pytest.approx(2 / 5)
    ordered = [[0, 0, 1, 2], [0, 1, 1, 0]]
    for weights in ("linear", "quadratic"):
        cohens = cohen_kappa(*ordered, weights, [0, 1, 2], resamples=0).value
        assert conger_kappa(ordered, weights, [0, 1, 2], resamples=0).value == pytest.approx(cohens)


def test_of_three_raters_both_parts_are_means_over_pairs():
    pairs = list(combinations(THREE, 2))
    agreed = sum(Fraction(sum(x == y for x, y in zip(a, b, strict=True)), 9) for a, b in pairs) / 3
    chance = sum(Fraction(a.count(k) * b.count(k), 81) for a, b in pairs for k in "abc") / 3
    assert conger_kappa(THREE).value == pytest.approx(float((agreed - chance) / (1 - chance)))


def test_a_rater_of_nothing_is_left_out():
    alone, beside = conger_kappa(THREE), conger_kappa([*THREE, [None] * 9])
    assert (beside.value, beside.n) == (alone.value, alone.n)


def test_it_has_an_interval_over_items():
    found = conger_kappa(
        [np.repeat(row, 4) for row in THREE], clusters=np.arange(9).repeat(4), interval="bca"
    )
    assert "BCa bootstrap over 9 clusters" in found.method
    assert found.low < found.value < found.high


@pytest.mark.parametrize(
    ("raters", "reason"),
    [
        ([["a", None], [None, "b"]], "no unit was judged by two"),
        ([["a", "a"], ["a", "a"]], "one category"),
        ([], "no unit was judged by two"),
    ],
)
def test_an_undefined_one_has_a_reason(raters, reason):
    found = conger_kappa(raters)
    assert (found.value, found.low) == (None, None)
    assert reason in found.note


def test_one_category_of_two_is_undefined_too():
    assert "one category" in conger_kappa([["a"] * 3, ["a"] * 3], categories=["a", "b"]).note


@needs_oracles
def test_four_raters_match_gwets_handbook():
    data = oracle("gwet_handbook_4raters")
    found = conger_kappa(list(zip(*data["data"], strict=True)))
    assert round(found.value, 5) == data["published_and_computed"]["conger"]
