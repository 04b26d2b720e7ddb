"""What is said beside a figure of agreement."""

import pytest

from annotator.stats.agreement.verdicts import KAPPA_PARADOX, prevalence, prevalence_skewed


def test_prevalence_is_over_all_raters_and_leaves_missing_out():
    assert prevalence([["a", "a", "b"], ["a", None, "b"]]) == {"a": 0.6, "b": 0.4}
    assert prevalence([["a", None]], categories=["a", "b"]) == {"a": 1.0, "b": 0.0}
    assert prevalence([[None]]) == {}


@pytest.mark.parametrize(
    ("shares", "skewed"),
    [
        ([0.81, 0.19], True),
        ([0.19, 0.81], True),
        ([0.8, 0.2], False),
        ([0.5, 0.5], False),
        ([1.0], True),
        ([0.1, 0.1, 0.4, 0.4], False),
        ([0.05, 0.1, 0.85], True),
        ([], False),
    ],
)
def test_prevalence_is_skewed_above_80_percent(shares, skewed):
    assert prevalence_skewed(shares) is skewed


@pytest.mark.parametrize("shares", [[0.9], [0.7, 0.7], [1.2, -0.2]])
def test_what_are_no_shares_of_a_whole_are_refused(shares):
    with pytest.raises(ValueError, match="add up to 1"):
        prevalence_skewed(shares)


def test_the_paradox_is_told_in_one_sentence():
    assert KAPPA_PARADOX.count(". ") == 0
    assert KAPPA_PARADOX.endswith(".")
