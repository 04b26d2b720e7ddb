"""Gwet's AC1 and AC2: agreement beyond guessing where a unit is hard to judge."""

from fractions import Fraction

import pytest

from annotator.stats.agreement.chance import gwet_ac1
from tests.stats.agreement_oracles import needs_oracles, oracle, two_raters

# 35 of 50 agree; of 100 judgements 55 and 45 are of either category.
TABLE = [[20, 5], [10, 15]]


def test_two_raters_by_hand():
    # Chance 2 · .55 · .45 = .495.
    found = gwet_ac1(two_raters(TABLE))
    assert found.value == pytest.approx(41 / 101)
    assert (found.n, found.note) == (50, "")
    assert found.low < found.value < found.high


def test_three_raters_with_a_missing_judgement_by_hand():
    # Agreeing pairs: 1/3, 1, 1 (of two raters), 7/9 on the mean; shares (2/3 + 0 + 1) / 3 and 4/9: chance 40/81.
    raters = [["a", "b", "a"], ["a", "b", None], ["b", "b", "a"]]
    assert gwet_ac1(raters).value == pytest.approx(
        float((Fraction(7, 9) - Fraction(40, 81)) / Fraction(41, 81))
    )


def test_a_unit_judged_once_counts_for_chance_only():
    # The last unit moves the shares from 1/2 and 1/2 to 5/8 and 3/8; 3/4 agree.
    raters = [["a", "a", "b", "b", "a"], ["a", "a", "b", "a", None]]
    found = gwet_ac1(raters)
    chance = 2 * Fraction(7, 10) * Fraction(3, 10)  # shares: (1 + 1 + 0 + 1/2 + 1) / 5
    assert found.value == pytest.approx(float((Fraction(3, 4) - chance) / (1 - chance)))
    assert found.n == 4
    assert "1 of 5 units judged fewer than twice" in found.note


def test_chance_depends_on_how_many_categories_there_are():
    raters = two_raters(TABLE)
    # Of three categories guessing agrees in .495 / 2.
    assert gwet_ac1(raters, categories=[0, 1, 2]).value == pytest.approx((0.7 - 0.2475) / 0.7525)


def test_weights_of_two_categories_change_nothing():
    raters = two_raters(TABLE)
    assert gwet_ac1(raters, "quadratic", [0, 1]).value == pytest.approx(gwet_ac1(raters).value)


def test_ordinal_weights_by_hand():
    # Of categories 0, 1, 2 those a step apart are 1 − 1/3 alike, those two apart not at all.
    found = gwet_ac1([[0, 0, 1, 2], [0, 1, 1, 0]], "ordinal", [0, 1, 2])
    agreed = (1 + Fraction(2, 3) + 1) / 4
    table = Fraction(3) + 4 * Fraction(2, 3)
    shares = [Fraction(4, 8), Fraction(3, 8), Fraction(1, 8)]
    chance = table / 6 * sum(share * (1 - share) for share in shares)
    assert found.value == pytest.approx(float((agreed - chance) / (1 - chance)))
    assert found.method.startswith("Gwet's AC2, ordinal weights")


def test_ordinal_weights_lie_between_linear_and_quadratic_ones():
    raters = [[0, 1, 2, 3, 4, 4], [1, 1, 3, 3, 3, 4]]
    values = [gwet_ac1(raters, weights, range(5)).value for weights in ("linear", "ordinal", "quadratic")]
    assert values == sorted(values)


def test_full_agreement_on_one_category_is_never_bare():
    found = gwet_ac1([["a"] * 30, ["a"] * 30], categories=["a", "b"])
    assert found.value == 1
    assert found.note.startswith("all judgements are of one category")


def test_nobody_judging_a_unit_twice_is_undefined():
    for raters in ([], [[], []], [["a", None], [None, "b"]]):
        found = gwet_ac1(raters)
        assert (found.value, found.low, found.n) == (None, None, 0)
        assert "no unit was judged by two raters" in found.note


def test_one_category_in_use_says_what_is_lacking():
    found = gwet_ac1([["a", "a"], ["a", "a"]])
    assert found.value is None
    assert "needs the others named" in found.note


def test_weights_between_raters_who_are_alike_are_symmetric():
    with pytest.raises(ValueError, match="not symmetric"):
        gwet_ac1(two_raters(TABLE), [[0, 1], [2, 0]], [0, 1])


# Fleiss (1971), Psychological Bulletin 76, Table 1: 30 patients, 6 psychiatrists; depression, personality disorder,
# schizophrenia, neurosis, other.


@needs_oracles
def test_four_raters_match_gwets_handbook():
    data = oracle("gwet_handbook_4raters")
    published, raters = data["published_and_computed"], list(zip(*data["data"], strict=True))
    assert round(gwet_ac1(raters).value, 5) == published["AC1"]
    assert round(gwet_ac1(raters, "quadratic", [1, 2, 3, 4, 5]).value, 3) == published["AC2_quadratic"]


@needs_oracles
def test_the_abstractors_match_gwets_figure():
    published = oracle("gwet_abstractors_3x3")
    assert round(gwet_ac1(two_raters(published["data"])).value, 5) == published["AC1"]


@needs_oracles
def test_paradoxical_tables_match_the_published_figures():
    for published in [oracle("gwet_2008_2x2"), *oracle("feinstein_cicchetti_1990")]:
        raters = two_raters(published["data"])
        assert gwet_ac1(raters).value == pytest.approx(published["AC1"], abs=5e-6)
