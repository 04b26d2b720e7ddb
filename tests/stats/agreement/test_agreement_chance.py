"""What chance is: Scott's, Brennan and Prediger's, Gwet's and Fleiss' figures, and standard errors in closed form."""

from fractions import Fraction

import numpy as np
import pytest

from annotator.stats.agreement.agreement import cohen_kappa, percent_agreement
from annotator.stats.agreement.chance import brennan_prediger, fleiss_kappa, gwet_ac1, pabak, scott_pi
from annotator.stats.agreement.standard_error import gwet_se, kappa_se
from annotator.stats.intervals.student import t_quantile
from tests.stats.agreement_oracles import needs_oracles, oracle, two_raters

# 35 of 50 agree; of 100 judgements 55 and 45 are of either category.
TABLE = [[20, 5], [10, 15]]
ALL = (scott_pi, brennan_prediger, gwet_ac1)


@pytest.mark.parametrize(
    ("figure", "value"),
    [
        (scott_pi, Fraction(13, 33)),  # chance .55² + .45² = .505
        (brennan_prediger, Fraction(2, 5)),  # chance 1/2
        (gwet_ac1, Fraction(41, 101)),  # chance 2 · .55 · .45 = .495
    ],
)
def test_two_raters_by_hand(figure, value):
    found = figure(two_raters(TABLE))
    assert found.value == pytest.approx(float(value))
    assert (found.n, found.note) == (50, "")
    assert found.low < found.value < found.high


def test_three_raters_with_a_missing_judgement_by_hand():
    # Agreeing pairs: 1/3, 1, 1 (of two raters), 7/9 on the mean; shares (2/3 + 0 + 1) / 3 and 4/9: chance 40/81.
    raters = [["a", "b", "a"], ["a", "b", None], ["b", "b", "a"]]
    assert gwet_ac1(raters).value == pytest.approx(
        float((Fraction(7, 9) - Fraction(40, 81)) / Fraction(41, 81))
    )
    assert scott_pi(raters).value == pytest.approx(
        float((Fraction(7, 9) - Fraction(41, 81)) / Fraction(40, 81))
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
    # Of three categories, guessing evenly agrees in 1/3; by Gwet's doubt in .495 / 2.
    assert brennan_prediger(raters, categories=[0, 1, 2]).value == pytest.approx((0.7 - 1 / 3) / (2 / 3))
    assert gwet_ac1(raters, categories=[0, 1, 2]).value == pytest.approx((0.7 - 0.2475) / 0.7525)


@pytest.mark.parametrize("figure", ALL)
def test_weights_of_two_categories_change_nothing(figure):
    raters = two_raters(TABLE)
    assert figure(raters, "quadratic", [0, 1]).value == pytest.approx(figure(raters).value)


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


def test_pabak_is_twice_the_agreement_less_1():
    found = pabak(two_raters(TABLE))
    assert found.value == pytest.approx(2 * 0.7 - 1)
    assert found.value == pytest.approx(brennan_prediger(two_raters(TABLE)).value)
    assert found.method.startswith("PABAK; 95% percentile bootstrap")


def test_pabak_is_of_two_categories():
    with pytest.raises(ValueError, match="two categories, not of 3"):
        pabak([[0, 1, 2], [0, 1, 2]])
    assert "needs the others named" in pabak([["a", "a"], ["a", "a"]]).note


@pytest.mark.parametrize("figure", [brennan_prediger, gwet_ac1])
def test_full_agreement_on_one_category_is_never_bare(figure):
    found = figure([["a"] * 30, ["a"] * 30], categories=["a", "b"])
    assert found.value == 1
    assert found.note.startswith("all judgements are of one category")


@pytest.mark.parametrize("figure", ALL)
def test_nobody_judging_a_unit_twice_is_undefined(figure):
    for raters in ([], [[], []], [["a", None], [None, "b"]]):
        found = figure(raters)
        assert (found.value, found.low, found.n) == (None, None, 0)
        assert "no unit was judged by two raters" in found.note


@pytest.mark.parametrize("figure", ALL)
def test_one_category_in_use_says_what_is_lacking(figure):
    found = figure([["a", "a"], ["a", "a"]])
    assert found.value is None
    assert "needs the others named" in found.note


def test_one_category_of_two_is_full_agreement_for_all_but_scott():
    raters = [["a"] * 4, ["a"] * 4]
    assert gwet_ac1(raters, categories=["a", "b"]).value == 1
    assert brennan_prediger(raters, categories=["a", "b"]).value == 1
    assert scott_pi(raters, categories=["a", "b"]).value is None
    assert "one category" in scott_pi(raters, categories=["a", "b"]).note


def test_weights_between_raters_who_are_alike_are_symmetric():
    with pytest.raises(ValueError, match="not symmetric"):
        gwet_ac1(two_raters(TABLE), [[0, 1], [2, 0]], [0, 1])


def test_fleiss_by_hand():
    # Three raters, agreeing pairs 1, 1/3 and 1/3: mean 5/9; shares 5/9 and 4/9: chance 41/81.
    found = fleiss_kappa([[3, 0], [1, 2], [1, 2]])
    assert found.value == pytest.approx(float((Fraction(5, 9) - Fraction(41, 81)) / Fraction(40, 81)))
    assert found.n == 3


def test_fleiss_needs_as_many_raters_for_each_unit():
    found = fleiss_kappa([[2, 0], [1, 2]])
    assert found.value is None
    assert "2 to 3 raters" in found.note


@pytest.mark.parametrize("counts", [np.empty((0, 2)), [[1, 0], [0, 1]], [[3, 0], [3, 0]], [[3], [3]]])
def test_fleiss_is_undefined_without_a_pair_or_a_second_category(counts):
    found = fleiss_kappa(counts)
    assert found.value is None
    assert found.note


@pytest.mark.parametrize("counts", [[3, 0], [[3, -1]], [[1.5, 1.5]]])
def test_fleiss_refuses_what_is_no_count(counts):
    with pytest.raises(ValueError, match="whole and not negative"):
        fleiss_kappa(counts)


# Fleiss (1971), Psychological Bulletin 76, Table 1: 30 patients, 6 psychiatrists; depression, personality disorder,
# schizophrenia, neurosis, other.
DIAGNOSES = """00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"""


def test_fleiss_matches_his_own_example():
    counts = [[int(digit) for digit in unit] for unit in DIAGNOSES.split()]
    assert round(fleiss_kappa(counts).value, 3) == 0.430


@needs_oracles
def test_fleiss_matches_his_own_example_to_six_places():
    counts = [[int(digit) for digit in unit] for unit in DIAGNOSES.split()]
    published = oracle("fleiss_1971")
    assert round(fleiss_kappa(counts).value, 6) == published["computed"]
    assert round(fleiss_kappa(counts).value, 3) == published["published"]


def test_the_standard_error_of_kappa_by_hand():
    # κ = .4, chance .5; each cell's share times its move sum to .1, its squared move to .2116.
    assert kappa_se(TABLE) ** 2 == pytest.approx((0.2116 - 0.1**2) / 50 / 0.5**2)


def test_guessing_evenly_has_the_standard_error_of_a_share():
    assert kappa_se(TABLE, figure="brennan_prediger") == pytest.approx(2 * (0.7 * 0.3 / 50) ** 0.5)


def test_full_agreement_has_a_standard_error_of_0():
    assert kappa_se([[3, 0], [0, 4]]) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("table", [[[0, 0], [0, 0]], [[5, 0], [0, 0]], [[5]], np.empty((0, 0))])
def test_an_undefined_kappa_has_no_standard_error(table):
    assert kappa_se(table) is None


@pytest.mark.parametrize("raters", [[], [["a"], ["b"]], [["a", "a"], ["a", "a"]], [["a", "b"], [None, None]]])
def test_an_undefined_ac1_has_no_standard_error(raters):
    assert gwet_se(raters) is None


def test_gwets_two_standard_errors_differ_by_their_divisor_only():
    assert gwet_se(two_raters(TABLE)) == pytest.approx(kappa_se(TABLE, figure="gwet") * (50 / 49) ** 0.5)


def test_the_bootstrap_of_units_comes_near_the_closed_form():
    table = [[800, 200], [300, 700]]
    found, error = cohen_kappa(*two_raters(table)), kappa_se(table)
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.05)


@needs_oracles
def test_four_raters_match_gwets_handbook():
    data = oracle("gwet_handbook_4raters")
    published, raters = data["published_and_computed"], list(zip(*data["data"], strict=True))
    assert round(gwet_ac1(raters).value, 5) == published["AC1"]
    assert round(gwet_se(raters), 5) == published["AC1_se"]
    # The published interval: t with one degree of freedom less than the twelve units, cut at 1.
    half = t_quantile(0.95, 11) * gwet_se(raters)
    low, high = gwet_ac1(raters).value - half, min(1.0, gwet_ac1(raters).value + half)
    assert [round(low, 5), high] == published["AC1_ci"]
    assert round(scott_pi(raters).value, 5) == published["fleiss_generalised"]
    assert round(brennan_prediger(raters).value, 5) == published["brennan_prediger"]
    assert round(gwet_ac1(raters, "quadratic", [1, 2, 3, 4, 5]).value, 3) == published["AC2_quadratic"]


@needs_oracles
def test_the_abstractors_match_gwets_figures_and_errors():
    published = oracle("gwet_abstractors_3x3")
    table, raters = published["data"], two_raters(published["data"])
    assert round(gwet_ac1(raters).value, 5) == published["AC1"]
    assert round(scott_pi(raters).value, 7) == published["scott_pi"]
    assert round(brennan_prediger(raters).value, 5) == published["BP_PABAK"]
    assert kappa_se(table) == pytest.approx(published["kappa_se"], abs=5e-9)
    assert kappa_se(table, figure="scott") == pytest.approx(published["scott_se"], abs=5e-9)
    assert kappa_se(table, figure="gwet") == pytest.approx(published["AC1_se"], abs=5e-6)


@needs_oracles
def test_paradoxical_tables_match_the_published_figures():
    for published in [oracle("gwet_2008_2x2"), *oracle("feinstein_cicchetti_1990")]:
        raters = two_raters(published["data"])
        assert gwet_ac1(raters).value == pytest.approx(published["AC1"], abs=5e-6)
        assert brennan_prediger(raters).value == pytest.approx(published["PABAK"])
        assert pabak(raters).value == pytest.approx(published["PABAK"])


@needs_oracles
def test_fleiss_matches_the_ten_units_of_fourteen_raters():
    published = oracle("fleiss_wikipedia")
    assert fleiss_kappa(published["data"]).value == pytest.approx(published["computed"], abs=5e-7)


@needs_oracles
def test_the_standard_error_matches_fleiss_cohen_and_everitt():
    published = oracle("cohen_1960_1968")
    assert kappa_se(published["data"]) == pytest.approx(published["se_FCE1969"], abs=5e-8)


@needs_oracles
def test_cohens_first_standard_error_follows_from_agreement_and_chance():
    # Cohen (1960): √(p (1 − p) / N) / (1 − p_e), which Fleiss, Cohen & Everitt (1969) put right: the room
    # has theirs. Of his rounded figures the interval is [.384, .599].
    published = oracle("cohen_1960_1968")
    a, b = two_raters(published["data"])
    agreed, kappa = percent_agreement(zip(a, b, strict=True)).value, cohen_kappa(a, b, resamples=0).value
    chance = 1 - (1 - agreed) / (1 - kappa)
    error = (agreed * (1 - agreed) / len(a)) ** 0.5 / (1 - chance)
    assert (agreed, round(chance, 2), round(kappa, 3)) == (
        published["po"],
        published["pe"],
        published["kappa"],
    )
    assert round(error, 4) == published["se_cohen1960"]
    assert [round(kappa - 1.96 * error, 3), round(kappa + 1.96 * error, 3)] == published["ci_cohen1960"]
