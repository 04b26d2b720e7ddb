"""How steady a rater is."""

import pytest

from annotator.stats.agreement.repeats import flip_rate
from annotator.stats.intervals.student import wilson

# Three trials of five units: two are mixed, two agree, one was judged once.
TRIALS = [["y", "y", "n", "n", None], ["y", "n", "n", None, "y"], ["y", "y", "n", "y", None]]


def test_a_unit_flips_when_its_trials_do_not_all_agree():
    found = flip_rate(TRIALS)
    plain = wilson(2, 4)
    assert (found.value, found.n, found.missing) == (0.5, 4, 3)
    assert (found.low, found.high) == (plain.low, plain.high)
    assert (
        found.note
        == "4 units are too few for an interval, which takes 5; 1 of 5 units left out: judged fewer than twice"
    )
    assert found.method.startswith("flip rate of 3 trials: share; 95% Wilson")


def test_an_interval_over_items():
    trials = [["y"] * 20, ["y", "y", "y", "n"] * 5]
    items = [i // 4 for i in range(20)]
    assert "jackknife over 5 clusters" in flip_rate(trials, items).method
    assert flip_rate(trials, items).value == 0.25


def test_a_rater_that_never_flips_is_not_said_to_be_certain():
    found = flip_rate([["y"] * 10, ["y"] * 10], [i // 2 for i in range(10)])
    assert found.value == 0
    assert found.high > 0.4
    assert "so that each counts as one unit" in found.note


@pytest.mark.parametrize("trials", [[], [["y", "n"]], [["y", None], [None, "n"]]])
def test_without_repeats_there_is_no_rate_but_a_reason(trials):
    found = flip_rate(trials)
    assert (found.value, found.low, found.n) == (None, None, 0)
    assert found.note
