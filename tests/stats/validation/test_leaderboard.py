"""How sure the order of systems is once people's labels correct the judge."""

from dataclasses import replace
from math import nan, sqrt

import numpy as np
import pytest
from scipy import stats

from annotator.stats.validation.correction import NO_LABEL, NO_REACH
from annotator.stats.validation.leaderboard import SystemUnits, standings
from tests.stats.corrections import corrected_mean

ITEMS = ["p", "p", "q", "q", "r", "r"]
# All units labelled: the corrected scores are the labels' own means, 4/6 and 3/6; the judge has it the other way.
HIGH = SystemUnits([1, 1, 1, 0, 1, 0], [1, 0, 0, 0, 1, 0], ITEMS)
LOW = SystemUnits([1, 0, 0, 1, 0, 1], [1, 1, 1, 1, 0, 1], ITEMS)


def system(seed, share, items=40, each=8, labelled=0.5):
    rng = np.random.default_rng(seed)
    truth = (rng.random((items, each)) < share).astype(float)
    said = np.where(rng.random((items, each)) < 0.85, truth, 1.0)
    labels = np.where((rng.random(items) < labelled)[:, None], truth, nan)
    names = [f"item {i}" for i in range(items) for _ in range(each)]
    return SystemUnits(labels.ravel().tolist(), said.ravel().tolist(), names, [1, 2] * (items * each // 2))


def test_each_system_has_its_corrected_mean():
    systems = {"a": system(1, 0.4), "b": system(2, 0.6)}
    found = standings(systems)
    for name, one in systems.items():
        assert found.scores[name] == corrected_mean(one.labels, one.said, one.weights, one.items)


def test_units_of_negative_weight_spread_as_they_are_scored():
    signed = replace(system(1, 0.6), weights=[2, -1] * 160)
    found = standings({"a": signed, "b": system(2, 0.4)})
    score, single = found.scores["a"], found.pairs[0]
    assert score == corrected_mean(signed.labels, signed.said, signed.weights, signed.items)
    apart = abs(score.corrected.value - found.scores["b"].corrected.value)
    assert abs(single.difference.value) == pytest.approx(apart)
    # Two independent systems: the interval of the difference is as wide as theirs are together.
    widths = [one.corrected.high - one.corrected.low for one in found.scores.values()]
    assert single.difference.high - single.difference.low == pytest.approx(np.hypot(*widths), rel=0.3)


def test_a_system_with_nothing_to_reach_says_so_wherever_it_has_no_place():
    found = standings({"a": HIGH, "b": replace(LOW, weights=[-1] * 6)})
    assert found.scores["b"].raw.note == NO_REACH.format("judged")
    assert "nothing to reach" in found.ranks["b"].note
    assert "nothing to reach" in found.pairs[0].difference.note


def test_a_pair_stands_in_the_judges_order_with_the_corrected_difference():
    (pair,) = standings({"high": HIGH, "low": LOW}).pairs
    assert (pair.first, pair.second) == ("low", "high")
    assert pair.difference.value == pytest.approx(3 / 6 - 4 / 6)


@pytest.mark.usefixtures("small_cases")
def test_the_chance_of_the_other_order_is_that_of_t_over_items():
    # Labels of low less those of high by item: 1 − 2, 1 − 1 and 1 − 1 of 6; the judge has low first.
    errors = [(gap + 1 / 3) / 6 for gap in (-1, 0, 0)]
    # Two λ were tuned, which takes one of two degrees of freedom.
    t = (-1 / 6) / sqrt(sum(one**2 for one in errors) * 3 / 2 * 2)
    (pair,) = standings({"high": HIGH, "low": LOW}).pairs
    assert (pair.first, pair.flip.value) == ("low", pytest.approx(stats.t.cdf(-t, 2)))
    half = stats.t.ppf(0.975, 2) * (-1 / 6) / t
    assert (pair.difference.low, pair.difference.high) == pytest.approx((-1 / 6 - half, -1 / 6 + half))


def test_over_few_items_there_is_an_order_without_intervals_but_a_reason():
    found = standings({"high": HIGH, "low": LOW})
    assert (found.ranks["high"].value, found.ranks["high"].low) == (1, None)
    for one in (found.ranks["high"], found.pairs[0].difference, found.pairs[0].flip):
        assert "3 items are too few for an interval" in one.note
    assert standings({}).pairs == ()


def test_a_rank_is_above_those_that_are_worse_beyond_chance_and_below_those_that_are_better():
    board = standings({"a": system(1, 0.2), "b": system(2, 0.5), "c": system(3, 0.5), "d": system(4, 0.9)})
    spans = {name: (one.low, one.high) for name, one in board.ranks.items()}
    assert spans == {"a": (4, 4), "b": (2, 3), "c": (2, 3), "d": (1, 1)}
    assert "95% interval by differences from the others over" in board.ranks["a"].method


def test_the_difference_from_nothing_spreads_as_the_score_does():
    # Against a system of zeros only, the difference is the score itself.
    one = system(3, 0.5)
    zeros = SystemUnits([0] * 320, [0] * 320, one.items)
    found = standings({"one": one, "zeros": zeros})
    score, gap = found.scores["one"].corrected, found.pairs[0].difference
    assert gap.high - gap.low == pytest.approx(score.high - score.low, rel=0.1)


@pytest.mark.usefixtures("small_cases")
def test_ranks_are_those_of_the_corrected_scores_ties_sharing():
    found = standings({"low": LOW, "high": HIGH, "again": HIGH})
    assert [found.ranks[name].value for name in ("low", "high", "again")] == [3, 1.5, 1.5]


def test_systems_far_apart_keep_their_places():
    found = standings({"a": system(1, 0.1), "b": system(2, 0.5), "c": system(4, 0.9)})
    assert [(pair.first, pair.second) for pair in found.pairs] == [("c", "b"), ("c", "a"), ("b", "a")]
    assert all(pair.flip.value < 1e-4 for pair in found.pairs)
    assert (found.ranks["c"].low, found.ranks["c"].value, found.ranks["c"].high) == (1, 1, 1)


def test_the_order_in_which_systems_are_given_moves_nothing():
    systems = {name: system(seed, 0.5) for seed, name in enumerate("abc")}
    there, back = standings(systems), standings(dict(reversed(systems.items())))
    assert (there.pairs, there.ranks, there.scores) == (back.pairs, back.ranks, back.scores)


def test_where_less_is_better_all_is_told_as_of_what_is_left_to_1():
    systems = {
        name: system(seed, share) for seed, (name, share) in enumerate({"a": 0.2, "b": 0.5, "c": 0.5}.items())
    }
    turned = {
        name: replace(one, labels=[1 - x for x in one.labels], said=[1 - x for x in one.said])
        for name, one in systems.items()
    }
    few_, less = standings(turned), standings(systems, higher_is_better=False)
    assert [(pair.first, pair.second) for pair in less.pairs] == [(p.first, p.second) for p in few_.pairs]
    for own, other in zip(less.pairs, few_.pairs, strict=True):
        assert own.flip.value == pytest.approx(other.flip.value)
        assert own.difference.value == pytest.approx(-other.difference.value)
    assert less.pairs[0].first == "a"
    for name in systems:
        assert less.ranks[name].value == few_.ranks[name].value


def test_strata_belong_to_their_items():
    one = system(5, 0.5)
    layered = SystemUnits(one.labels, one.said, one.items, one.weights, ["easy", "hard"] * 160)
    zeros = SystemUnits([0] * 320, [0] * 320, one.items)
    found = standings({"one": layered, "zeros": zeros})
    score, gap = found.scores["one"].corrected, found.pairs[0].difference
    assert gap.high - gap.low == pytest.approx(score.high - score.low, rel=0.1)


def test_a_system_without_labels_has_neither_rank_nor_difference_but_reasons():
    blank = SystemUnits([None] * 6, [1, 0, 1, 0, 1, 0], ITEMS)
    found = standings({"high": HIGH, "blank": blank})
    assert (found.ranks["blank"].value, found.ranks["blank"].note) == (None, NO_LABEL)
    assert found.ranks["high"].value == 1
    assert (found.pairs[0].flip.value, found.pairs[0].flip.note) == (None, NO_LABEL)


def test_systems_that_the_judge_ties_cannot_change_places():
    tied = SystemUnits(LOW.labels, HIGH.said, ITEMS)
    (pair,) = standings({"high": HIGH, "tied": tied}).pairs
    assert (pair.flip.value, pair.flip.note) == (None, "the judge puts neither first")
    assert pair.difference.value is not None
