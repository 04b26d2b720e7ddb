"""What an intraclass correlation is."""

import random
from math import nan

import pytest

from annotator.stats.agreement.icc import icc
from tests.stats.agreement_oracles import needs_oracles, oracle

FORMS = ("1,1", "2,1", "3,1", "1,k", "2,k", "3,k")
# Two raters, the second always 1 above: between units 4 (mean square 2), between raters 1.5, error 0.
SHIFTED = [[1, 2, 3], [2, 3, 4]]


@pytest.mark.parametrize(
    ("form", "value"),
    [
        # Mean squares: between units 2, within them 1/2, between raters 3/2, error 0.
        ("1,1", (2 - 0.5) / (2 + 0.5)),
        ("2,1", 2 / (2 + 2 * 1.5 / 3)),
        ("3,1", 1),
        ("1,k", (2 - 0.5) / 2),
        ("2,k", 2 / (2 + 1.5 / 3)),
        ("3,k", 1),
    ],
)
def test_each_form_by_hand(form, value):
    found = icc(SHIFTED, form)
    assert found.value == pytest.approx(value)
    assert (found.n, found.missing) == (3, 0)
    assert f"ICC({form})" in found.method


def test_scores_far_from_zero_keep_their_correlation():
    far = [[score + 1e8 for score in rater] for rater in SHIFTED]
    assert icc(far, "2,1").value == pytest.approx(icc(SHIFTED, "2,1").value)


def test_a_unit_without_every_score_is_left_out():
    found = icc([[1, 2, 3, 9], [2, 3, 4, None]], "1,1")
    assert found.value == pytest.approx(0.6)
    assert (found.n, found.missing) == (3, 1)
    assert "1 of 4 units left out" in found.note


@pytest.mark.parametrize(
    ("raters", "reason"),
    [
        ([], "fewer than two"),
        ([[1, 2, 3]], "fewer than two"),
        ([[1, nan], [1, 2]], "fewer than two"),
        ([[0.1, 0.1], [0.1, 0.1]], "do not differ"),
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_an_undefined_correlation_has_a_reason(raters, reason, form):
    found = icc(raters, form)
    assert (found.value, found.low, found.high) == (None, None, None)
    assert reason in found.note


def test_the_mean_of_raters_of_units_with_equal_means_is_undefined():
    assert icc([[1, 2], [2, 1]], "1,k").value is None
    assert icc([[0.1, 0.2, 0.6], [0.2, 0.1, -0.3]], "1,k").value is None
    assert icc([[1, 2], [2, 1]], "1,1").value == pytest.approx(-1)


def test_an_unknown_form_is_refused():
    with pytest.raises(ValueError, match="no form"):
        icc(SHIFTED, "4,1")


@needs_oracles
@pytest.mark.parametrize("form", FORMS)
def test_six_targets_match_shrout_and_fleiss(form):
    published = oracle("shrout_fleiss_1979")
    found = icc(list(zip(*published["data"], strict=True)), form)
    name = "ICC" + form.replace(",", "_")
    assert round(found.value, 2) == published["published"][name]
    assert found.value == pytest.approx(published["computed"][name], abs=5e-7)
    assert found.low < found.value < found.high


@pytest.mark.parametrize("form", ["1,1", "2,1", "3,1"])
def test_that_of_one_rater_ends_where_such_correlations_do(form):
    """Where raters differ by less than chance, the second form as printed gives −3 for these two."""
    chance = random.Random(form)
    assert icc([[1, 2, 3], [3, 2, 1]], form).value == pytest.approx(-1)
    for _ in range(300):
        raters, units = chance.choice((2, 3)), chance.choice((2, 3, 6))
        scores = [[chance.randint(0, 2) for _ in range(units)] for _ in range(raters)]
        found = icc(scores, form, resamples=20)
        for value in (found.value, found.low, found.high):
            assert value is None or -1 / (raters - 1) - 1e-12 <= value <= 1 + 1e-12, (scores, found)


def test_a_whole_that_is_rounding_alone_is_none():
    # Between units as much as raters take away: 1 / 0.
    chance = random.Random(1)
    for _ in range(2_000):
        scores = [[chance.randint(0, 2) for _ in range(chance.choice((2, 4)))] for _ in range(2)]
        if len(scores[0]) == len(scores[1]):
            value = icc(scores, "2,k", resamples=0).value
            assert value is None or abs(value) < 1e6, scores
