"""What a score is when few units have people's labels and all have a judge's."""

from fractions import Fraction
from math import nan, sqrt

import pytest

from annotator.stats.validation.ppi import ppi_mean
from tests.stats.agreement_oracles import needs_oracles, oracle

LABELS, SAID, ELSEWHERE = [1, 0, 1, 1], [1, 0, 0, 1], [1, 1, 1, 0, 1, 0]


@pytest.mark.usefixtures("small_cases")
def test_fully_trusted_the_judges_mean_moves_by_its_mean_error():
    found = ppi_mean(LABELS, SAID, ELSEWHERE, tuning=1.0).corrected
    # 2/3 + (3/4 − 1/2); variances 2/9 over 6 and 3/16 over 4.
    half = 1.959964 * sqrt((2 / 9) / 6 + (3 / 16) / 4)
    assert found.value == pytest.approx(2 / 3 + 1 / 4)
    assert (found.low, found.high) == pytest.approx((found.value - half, found.value + half), abs=1e-6)


def test_the_tuned_trust_by_hand():
    # Covariance 1/2 − 3/8; of all ten judgements six are 1, variance 10/9 · 24/100: λ = (1/8) / (5/3 · 4/15).
    found = ppi_mean(LABELS, SAID, ELSEWHERE)
    assert found.tuning == pytest.approx(9 / 32)
    assert found.corrected.value == pytest.approx(float(Fraction(3, 4) + Fraction(9, 32) * Fraction(1, 6)))
    assert "λ 0.281, tuned" in found.corrected.method


def test_untrusted_only_the_labels_count():
    found = ppi_mean(LABELS, SAID, ELSEWHERE, tuning=0.0)
    assert found.corrected.value == found.labelled.value == 3 / 4
    assert (found.corrected.low, found.corrected.high) == (found.labelled.low, found.labelled.high)
    assert found.raw.value == pytest.approx(2 / 3)


def test_a_judge_that_says_the_opposite_is_not_trusted():
    assert ppi_mean([1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1]).tuning == 0


def test_a_judge_that_always_says_the_same_adds_nothing():
    found = ppi_mean(LABELS, [1, 1, 1, 1], [1, 1])
    assert (found.tuning, found.corrected.value) == (0, 3 / 4)


@pytest.mark.parametrize(("labels", "elsewhere"), [([], ELSEWHERE), ([1], ELSEWHERE), (LABELS, [1])])
def test_too_few_units_say_so(labels, elsewhere):
    found = ppi_mean(labels, SAID[: len(labels)], elsewhere)
    assert (found.corrected.value, found.tuning) == (None, None)
    assert "fewer than two units" in found.corrected.note


@pytest.mark.parametrize(("labels", "said"), [([1, 0], [1]), ([1, nan], [1, 0])])
def test_what_does_not_fit_is_refused(labels, said):
    with pytest.raises(ValueError, match="each labelled unit"):
        ppi_mean(labels, said, ELSEWHERE)


@needs_oracles
def test_it_matches_the_package_of_the_papers_authors():
    published = oracle("ppi_mean_cross_check")
    assert published["Yhat_unlabeled"] == "[1,1,0,1,1,1,0,1] repeated 25 times"
    for name, tuning in (("lam1", 1.0), ("tuned", None)):
        found = ppi_mean(published["Y"], published["Yhat"], [1, 1, 0, 1, 1, 1, 0, 1] * 25, tuning).corrected
        assert found.value == pytest.approx(published[name]["theta"], abs=5e-9)
        assert (found.low, found.high) == pytest.approx(tuple(published[name]["ci"]), abs=5e-9)
