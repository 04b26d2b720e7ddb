"""Whether two raters or two systems differ on the same units."""

from math import exp, inf, sqrt

import pytest

from annotator.stats.intervals.student import lower_tail, two_sided
from annotator.stats.validation.paired import INDEPENDENT, mcnemar, mcnemar_of
from tests.stats.agreement_oracles import needs_oracles, oracle


def test_mcnemar_by_hand():
    # Of six throws, at most one head: (1 + 6) / 64, one just so: 6 / 64.
    found = mcnemar(1, 5)
    assert found.exact.value == pytest.approx(14 / 64)
    assert found.mid.value == pytest.approx(14 / 64 - 6 / 64)
    assert (found.exact.n, found.exact.note) == (6, INDEPENDENT)


def test_an_even_split_is_no_difference():
    found = mcnemar(2, 2)
    assert (found.exact.value, found.mid.value) == (1, 1)


def test_which_of_the_two_comes_first_does_not_matter():
    assert mcnemar(3, 11).mid == mcnemar(11, 3).mid
    assert mcnemar(3, 11).exact == mcnemar(11, 3).exact


def test_raters_that_are_never_right_alone_have_no_test_but_a_reason():
    found = mcnemar(0, 0)
    assert (found.exact.value, found.mid.value) == (None, None)
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
def test_mcnemar_matches_the_published_table():
    _, published = oracle("mcnemar")
    (_, only_one), (only_other, _) = published["data"]
    assert f"{mcnemar(only_one, only_other).exact.value:.4e}" == f"{published['p_exact']:.4e}"
