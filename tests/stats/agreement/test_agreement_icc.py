"""What an intraclass correlation is."""

import random

import pytest

from tests.stats.agreement_oracles import needs_oracles, oracle
from tests.stats.intraclass import icc

FORMS = ("1,1", "2,1")
# Two raters, the second always 1 above: between units 4 (mean square 2), between raters 1.5, error 0.
SHIFTED = [[1, 2, 3], [2, 3, 4]]


@pytest.mark.parametrize(
    ("form", "value"),
    [
        # Mean squares: between units 2, within them 1/2, between raters 3/2, error 0.
        ("1,1", (2 - 0.5) / (2 + 0.5)),
        ("2,1", 2 / (2 + 2 * 1.5 / 3)),
    ],
)
def test_each_form_by_hand(form, value):
    assert icc(SHIFTED, form) == pytest.approx(value)


def test_scores_far_from_zero_keep_their_correlation():
    far = [[score + 1e8 for score in rater] for rater in SHIFTED]
    assert icc(far, "2,1") == pytest.approx(icc(SHIFTED, "2,1"))


@pytest.mark.parametrize("form", FORMS)
def test_units_that_do_not_differ_have_no_correlation(form):
    assert icc([[0.1, 0.1], [0.1, 0.1]], form) is None


@needs_oracles
@pytest.mark.parametrize("form", FORMS)
def test_six_targets_match_shrout_and_fleiss(form):
    published = oracle("shrout_fleiss_1979")
    found = icc(list(zip(*published["data"], strict=True)), form)
    name = "ICC" + form.replace(",", "_")
    assert round(found, 2) == published["published"][name]
    assert found == pytest.approx(published["computed"][name], abs=5e-7)


@pytest.mark.parametrize("form", FORMS)
def test_it_ends_where_correlations_of_one_rater_do(form):
    """Where raters differ by less than chance, the second form as printed gives −3 for these two."""
    chance = random.Random(form)
    assert icc([[1, 2, 3], [3, 2, 1]], form) == pytest.approx(-1)
    for _ in range(300):
        raters, units = chance.choice((2, 3)), chance.choice((2, 3, 6))
        scores = [[chance.randint(0, 2) for _ in range(units)] for _ in range(raters)]
        value = icc(scores, form)
        assert value is None or -1 / (raters - 1) - 1e-12 <= value <= 1 + 1e-12, (scores, value)


def test_a_whole_that_is_rounding_alone_is_none():
    # Between units as much as raters take away: 1 / 0.
    chance = random.Random(1)
    for _ in range(2_000):
        scores = [[chance.randint(0, 2) for _ in range(chance.choice((2, 4)))] for _ in range(2)]
        if len(scores[0]) == len(scores[1]):
            value = icc(scores, "2,1")
            assert value is None or abs(value) < 1e6, scores
