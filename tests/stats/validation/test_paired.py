"""Whether two raters or two systems differ on the same units."""

from math import exp, inf, nan, sqrt

import pytest

from annotator.stats.intervals.student import lower_tail, two_sided
from annotator.stats.validation.paired import INDEPENDENT, mcnemar, mcnemar_of, paired_t
from tests.stats.agreement_oracles import needs_oracles, oracle


def test_mcnemar_by_hand():
    # Of six throws, at most one head: (1 + 6) / 64, one just so: 6 / 64. χ² (5 − 1)² / 6 and (4 − 1)² / 6.
    found = mcnemar(1, 5)
    assert found.exact.value == pytest.approx(14 / 64)
    assert found.mid.value == pytest.approx(14 / 64 - 6 / 64)
    assert (found.chi_squared, found.chi_squared_corrected) == pytest.approx((16 / 6, 9 / 6))
    assert (found.exact.n, found.exact.note) == (6, INDEPENDENT)


def test_an_even_split_is_no_difference():
    found = mcnemar(2, 2)
    assert (found.exact.value, found.mid.value, found.plain.value) == (1, 1, 1)


def test_which_of_the_two_comes_first_does_not_matter():
    assert mcnemar(3, 11).mid == mcnemar(11, 3).mid
    assert mcnemar(3, 11).plain == mcnemar(11, 3).plain


def test_raters_that_are_never_right_alone_have_no_test_but_a_reason():
    found = mcnemar(0, 0)
    assert (found.exact.value, found.mid.value, found.chi_squared) == (None, None, None)
    assert "never right one without the other" in found.mid.note


def test_a_count_below_0_is_refused():
    with pytest.raises(ValueError, match="-1"):
        mcnemar(-1, 2)


def test_thousands_of_units_neither_overflow_nor_vanish():
    # Nearly normal: 2 (1 − Φ(z)) with z = 200 / √10 000 = 2 and half a unit off is .0466.
    assert mcnemar(4900, 5100).exact.value == pytest.approx(0.0466, abs=1e-4)


def test_raters_are_compared_where_both_judged_a_unit_with_a_true_value():
    truth = ["y", "y", "n", "n", "y", None]
    one = ["y", "n", "n", "y", None, "y"]
    other = ["n", "n", "n", "n", "y", "n"]
    # Unit 1: one alone is right; units 2 and 3: both alike; unit 4: the other alone; the rest lack a value.
    found = mcnemar_of(truth, one, other)
    assert (found.only_one, found.only_other) == (1, 1)


def test_right_of_several_categories_is_right():
    assert mcnemar_of(["a", "b"], ["a", "c"], ["b", "a"]).only_one == 1


@pytest.mark.usefixtures("small_cases")
def test_paired_t_by_hand():
    # Differences 1, 2, 3: t = 2 / (1/√3); with two degrees of freedom p = 1 − t / √(2 + t²).
    found = paired_t([2, 4, 6], [1, 2, 3])
    t = 2 * sqrt(3)
    assert (found.t, found.df) == (pytest.approx(t), 2)
    assert found.p.value == pytest.approx(1 - t / sqrt(2 + t * t))
    assert (found.difference.low, found.difference.high) == pytest.approx((2 - 2.4841, 2 + 2.4841), abs=1e-4)


def test_an_item_that_one_system_lacks_is_left_out():
    found = paired_t([2, None, 4, 6], [1, 9, 2, nan])
    assert (found.difference.n, found.difference.missing, found.difference.value) == (2, 2, 1.5)
    assert "2 of 4 units left out" in found.p.note


def test_equal_differences_have_no_t_but_a_reason():
    found = paired_t([1.1, 2.1, 3.1], [1.0, 2.0, 3.0])
    assert (found.t, found.p.value, found.p.note) == (None, None, "all differences are equal")
    assert found.difference.value == pytest.approx(0.1)


def test_too_few_pairs_say_so():
    one, none = paired_t([2], [1]), paired_t([], [])
    assert (one.difference.value, one.difference.low, one.p.value, one.p.note) == (
        1,
        None,
        None,
        "one pair gives no interval",
    )
    assert (none.difference.value, none.p.note) == (None, "there is no pair")


def test_tails_have_closed_forms():
    # One degree of freedom is Cauchy's: at 1 a half. Two: 1 − t / √(2 + t²).
    assert two_sided(1, 1) == pytest.approx(0.5, rel=1e-14)
    assert two_sided(3, 2) == pytest.approx(1 - 3 / sqrt(11), rel=1e-12)
    assert (two_sided(0, 7), two_sided(inf, 7)) == (1, 0)
    assert lower_tail(-1, 1) + lower_tail(1, 1) == pytest.approx(1)
    assert lower_tail(-1, 1) == pytest.approx(0.25)


def test_a_tail_far_out_is_not_rounded_to_0():
    # For many degrees of freedom nearly the normal tail, e^(−t²/2) √(2/π) / t, which is 4.9e-198 · … at 30.
    assert two_sided(30, 10**9) == pytest.approx(exp(-450) * sqrt(2 / 3.14159265) / 30, rel=2e-3)


def test_tails_need_a_degree_of_freedom():
    with pytest.raises(ValueError, match="degrees of freedom"):
        two_sided(1, 0)


@needs_oracles
def test_mcnemar_matches_the_published_tables():
    approval, symptoms = oracle("mcnemar")
    for published in (approval, symptoms):
        (_, only_one), (only_other, _) = published["data"]
        found = mcnemar(only_one, only_other)
        assert found.chi_squared == pytest.approx(published["chi2_uncorrected"], abs=5e-7)
        assert f"{found.plain.value:.4e}" == f"{published['p']:.4e}"
    assert found.chi_squared_corrected == pytest.approx(symptoms["chi2_corrected"], abs=5e-7)
    assert f"{found.corrected.value:.4e}" == f"{symptoms['p_corrected']:.4e}"
    assert f"{found.exact.value:.4e}" == f"{symptoms['p_exact']:.4e}"


@needs_oracles
def test_the_sleepers_match_student():
    published = oracle("student_sleep_1908")
    found = paired_t(published["a"], published["b"])
    assert (round(found.t, 7), found.df) == (published["t"], published["df"])
    assert round(found.p.value, 7) == published["p"]
    assert (found.difference.low, found.difference.high) == pytest.approx(tuple(published["ci95"]), abs=5e-8)
