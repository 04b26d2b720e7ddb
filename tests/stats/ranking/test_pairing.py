"""Who meets whom: disjoint, by seed alone, and near the cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.stats.ranking import pairing

NAMES = [f"t{number}" for number in range(9)]


def test_the_same_seed_gives_the_same_pairs_whatever_the_order_of_the_ids():
    one = pairing.random_round(NAMES, 7, 1)
    assert one == pairing.random_round(reversed(NAMES), 7, 1)
    assert one != pairing.random_round(NAMES, 8, 1)
    assert one != pairing.random_round(NAMES, 7, 2)


def test_a_seed_gives_these_pairs_on_every_system():
    # SHA-256 of “1/1/a” … “1/1/d” begin with 3, 7, c, a.
    pairs, rests = pairing.random_round("abcd", 1, 1)
    assert (pairs, rests) == ([("a", "b"), ("d", "c")], "")


@given(st.integers(1, 30), st.integers(0, 5))
def test_everybody_plays_once_and_an_odd_one_never_rests_twice_running(players, seed):
    names, rested = [f"p{number}" for number in range(players)], ""
    for round_ in range(1, 6):
        pairs, resting = pairing.random_round(names, seed, round_, rested)
        assert sorted([*(one for pair in pairs for one in pair), *filter(None, [resting])]) == sorted(names)
        assert bool(resting) == bool(players % 2)
        assert players == 1 or not resting or resting != rested
        rested = resting


def test_near_the_cut_only_those_meet_who_are_close_to_it_and_to_each_other():
    ratings = {"a": 1300.0, "b": 1235.0, "c": 1210.0, "d": 1195.0, "e": 1150.0, "f": 1100.0}
    # The cut below three lies at 1202.5: b, c, d are near it, a, e and f are not.
    (pair,) = pairing.near_round(ratings, 3, 1, 1)
    assert set(pair) < {"b", "c", "d"}


def test_those_who_met_meet_others_first():
    ratings = dict.fromkeys("abcd", 1200.0)
    met = {("a", "b"): 1, ("c", "d"): 1, ("a", "c"): 1, ("b", "d"): 1}
    pairs = pairing.near_round(ratings, 2, 5, 1, met)
    assert {tuple(sorted(pair)) for pair in pairs} == {("a", "d"), ("b", "c")}


@pytest.mark.parametrize("top", [0, 4, 9])
def test_without_a_cut_there_is_nothing_near_it(top):
    assert pairing.near_round(dict.fromkeys("abcd", 1200.0), top, 1, 1) == []
