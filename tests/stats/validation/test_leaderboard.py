"""How sure the order of systems is once people's labels correct the judge."""

from dataclasses import replace
from itertools import product
from math import nan

import numpy as np
import pytest

from annotator.stats.validation.correction import NO_LABEL, NO_REACH
from annotator.stats.validation.leaderboard import SystemUnits, standings
from tests.stats.corrections import corrected_mean

ITEMS = ["p", "p", "q", "q", "r", "r"]
# All units labelled: the corrected scores are the labels' own means, 4/6 and 3/6; the judge has it the other way.
HIGH = SystemUnits([1, 1, 1, 0, 1, 0], [1, 0, 0, 0, 1, 0], ITEMS)
LOW = SystemUnits([1, 0, 0, 1, 0, 1], [1, 1, 1, 1, 0, 1], ITEMS)
few = {"resamples": 200}


def system(seed, share, items=40, each=8, labelled=0.5):
    rng = np.random.default_rng(seed)
    truth = (rng.random((items, each)) < share).astype(float)
    said = np.where(rng.random((items, each)) < 0.85, truth, 1.0)
    labels = np.where((rng.random(items) < labelled)[:, None], truth, nan)
    names = [f"item {i}" for i in range(items) for _ in range(each)]
    return SystemUnits(labels.ravel().tolist(), said.ravel().tolist(), names, [1, 2] * (items * each // 2))


def test_each_system_has_its_corrected_mean():
    systems = {"a": system(1, 0.4), "b": system(2, 0.6)}
    found = standings(systems, **few)
    for name, one in systems.items():
        assert found.scores[name] == corrected_mean(one.labels, one.said, one.weights, one.items)


def test_units_of_negative_weight_are_drawn_as_they_are_scored():
    signed = replace(system(1, 0.6), weights=[2, -1] * 160)
    found = standings({"a": signed, "b": system(2, 0.4)}, resamples=2000)
    score, single = found.scores["a"], found.pairs[0]
    assert score == corrected_mean(signed.labels, signed.said, signed.weights, signed.items)
    apart = abs(score.corrected.value - found.scores["b"].corrected.value)
    assert abs(single.difference.value) == pytest.approx(apart)
    # Two independent systems: the interval of the difference is as wide as theirs are together.
    widths = [one.corrected.high - one.corrected.low for one in found.scores.values()]
    assert single.difference.high - single.difference.low == pytest.approx(np.hypot(*widths), rel=0.3)


def test_a_system_with_nothing_to_reach_says_so_wherever_it_has_no_place():
    found = standings({"a": HIGH, "b": replace(LOW, weights=[-1] * 6)}, **few)
    assert found.scores["b"].raw.note == NO_REACH.format("judged")
    assert "nothing to reach" in found.ranks["b"].note
    assert "nothing to reach" in found.pairs[0].difference.note


def test_a_pair_stands_in_the_judges_order_with_the_corrected_difference():
    (pair,) = standings({"high": HIGH, "low": LOW}).pairs
    assert (pair.first, pair.second) == ("low", "high")
    assert pair.difference.value == pytest.approx(3 / 6 - 4 / 6)


def test_the_chance_of_the_other_order_is_that_of_all_27_resamples():
    # Labels of low less those of high by item: 1 − 2, 1 − 1, 1 − 1. It is below in all draws that hold item p.
    gaps = [sum(draw) for draw in product([-1, 0, 0], repeat=3)]
    expected = sum((gap < 0) + (gap == 0) / 2 for gap in gaps) / 27
    (pair,) = standings({"high": HIGH, "low": LOW}).pairs
    assert pair.flip.value == pytest.approx(expected, abs=4 * (expected * (1 - expected) / 10_000) ** 0.5)
    assert (pair.difference.low, pair.difference.high) == pytest.approx((-3 / 6, 0))


def test_the_resampled_scores_spread_as_their_interval_says():
    # Against a system of zeros only, the difference is the score itself.
    one = system(3, 0.5)
    zeros = SystemUnits([0] * 320, [0] * 320, one.items)
    found = standings({"one": one, "zeros": zeros})
    score, gap = found.scores["one"].corrected, found.pairs[0].difference
    assert gap.high - gap.low == pytest.approx(score.high - score.low, rel=0.1)


@pytest.mark.usefixtures("small_cases")
def test_ranks_are_those_of_the_corrected_scores_ties_sharing():
    found = standings({"low": LOW, "high": HIGH, "again": HIGH}, **few)
    assert [found.ranks[name].value for name in ("low", "high", "again")] == [3, 1.5, 1.5]
    assert found.ranks["high"].low == 1.5
    assert "3 items, 200 resamples" in found.ranks["low"].method


def test_systems_far_apart_keep_their_places():
    found = standings({"a": system(1, 0.1), "b": system(2, 0.5), "c": system(4, 0.9)}, **few)
    assert [(pair.first, pair.second) for pair in found.pairs] == [("c", "b"), ("c", "a"), ("b", "a")]
    assert [pair.flip.value for pair in found.pairs] == [0, 0, 0]
    assert (found.ranks["c"].low, found.ranks["c"].value, found.ranks["c"].high) == (1, 1, 1)


def test_the_order_in_which_systems_are_given_moves_nothing():
    systems = {name: system(seed, 0.5) for seed, name in enumerate("abc")}
    there, back = standings(systems, **few), standings(dict(reversed(systems.items())), **few)
    assert (there.pairs, there.ranks, there.scores) == (back.pairs, back.ranks, back.scores)


def test_where_less_is_better_all_is_told_as_of_what_is_left_to_1():
    systems = {
        name: system(seed, share) for seed, (name, share) in enumerate({"a": 0.2, "b": 0.5, "c": 0.5}.items())
    }
    turned = {
        name: replace(one, labels=[1 - x for x in one.labels], said=[1 - x for x in one.said])
        for name, one in systems.items()
    }
    few_, less = standings(turned, **few), standings(systems, **few, higher_is_better=False)
    assert [(pair.first, pair.second) for pair in less.pairs] == [(p.first, p.second) for p in few_.pairs]
    for own, other in zip(less.pairs, few_.pairs, strict=True):
        # Other draws of the same items.
        assert own.flip.value == pytest.approx(other.flip.value, abs=0.15)
        assert own.difference.value == pytest.approx(-other.difference.value)
    assert less.pairs[0].first == "a"
    for name in systems:
        assert less.ranks[name].value == few_.ranks[name].value


def test_strata_are_drawn_with_their_items():
    one = system(5, 0.5)
    layered = SystemUnits(one.labels, one.said, one.items, one.weights, ["easy", "hard"] * 160)
    zeros = SystemUnits([0] * 320, [0] * 320, one.items)
    found = standings({"one": layered, "zeros": zeros})
    score, gap = found.scores["one"].corrected, found.pairs[0].difference
    assert gap.high - gap.low == pytest.approx(score.high - score.low, rel=0.1)


def test_a_system_without_labels_has_neither_rank_nor_difference_but_reasons():
    blank = SystemUnits([None] * 6, [1, 0, 1, 0, 1, 0], ITEMS)
    found = standings({"high": HIGH, "blank": blank}, **few)
    assert (found.ranks["blank"].value, found.ranks["blank"].note) == (None, NO_LABEL)
    assert found.ranks["high"].value == 1
    assert (found.pairs[0].flip.value, found.pairs[0].flip.note) == (None, NO_LABEL)


def test_systems_that_the_judge_ties_cannot_change_places():
    tied = SystemUnits(LOW.labels, HIGH.said, ITEMS)
    (pair,) = standings({"high": HIGH, "tied": tied}, **few).pairs
    assert (pair.flip.value, pair.flip.note) == (None, "the judge puts neither first")
    assert pair.difference.value is not None


def test_resamples_without_a_label_are_left_out_and_counted():
    # Only item p is labelled; (2/3)³ of the resamples miss it.
    sparse = SystemUnits([1, 0, None, None, None, None], [1, 1, 0, 0, 1, 0], ITEMS)
    found = standings({"high": HIGH, "sparse": sparse}, resamples=2000)
    out = int(found.pairs[0].flip.note.split("undefined in ")[1].split()[0])
    assert out == pytest.approx(2000 * 8 / 27, abs=85)  # four deviations
    assert "left out" in found.ranks["high"].note


def test_nothing_drawn_leaves_values_without_intervals():
    found = standings({"high": HIGH, "low": LOW}, resamples=0)
    assert (found.ranks["high"].value, found.ranks["high"].low) == (1, None)
    assert found.pairs[0].flip.note == "no resamples were drawn"
    assert standings({}).pairs == ()
