"""Teams are drawn so that everybody serves equally often, with everybody equally often."""

from collections import Counter
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotator.domain.experts.teams import TeamSlot, draw

PEOPLE = [f"p{number:02}" for number in range(12)]


def slots(count: int, wanted: int, people: list[str]) -> list[TeamSlot]:
    return [TeamSlot(f"i{number:03}", frozenset(), wanted, frozenset(people)) for number in range(count)]


def loads(drawn: dict[str, list[str]], people: list[str]) -> list[int]:
    counted = Counter(person for team in drawn.values() for person in team)
    return [counted[person] for person in people]


def pairings(drawn: dict[str, list[str]], people: list[str]) -> list[int]:
    counted = Counter(pair for team in drawn.values() for pair in combinations(sorted(team), 2))
    return [counted[pair] for pair in combinations(people, 2)]


def spread(counts: list[int]) -> int:
    return max(counts) - min(counts)


@settings(max_examples=60)
@given(st.integers(2, 12), st.integers(1, 80), st.integers(0, 10**6))
def test_pairs_are_drawn_with_loads_and_pairings_that_differ_by_one_at_most(size, items, seed):
    people = PEOPLE[:size]
    drawn = draw(slots(items, 2, people), {}, {}, Random(seed))
    assert all(len(set(team)) == 2 for team in drawn.values())
    assert spread(loads(drawn, people)) <= 1
    assert spread(pairings(drawn, people)) <= 1


@settings(max_examples=40)
@given(st.integers(1, 9), st.integers(1, 40), st.integers(1, 4), st.integers(0, 10**6))
def test_teams_of_any_size_have_even_loads(size, items, wanted, seed):
    people = PEOPLE[:size]
    drawn = draw(slots(items, wanted, people), {}, {}, Random(seed))
    assert {len(team) for team in drawn.values()} == {min(size, wanted)}
    assert spread(loads(drawn, people)) <= 1


@pytest.mark.parametrize("seed", range(5))
def test_seven_teams_of_three_among_seven_hold_nobody_more_often_and_no_two_much_more_often(seed):
    drawn = draw(slots(7, 3, PEOPLE[:7]), {}, {}, Random(seed))
    assert loads(drawn, PEOPLE[:7]) == [3] * 7
    # 7 teams hold 21 pairs, as many as there are.
    assert max(pairings(drawn, PEOPLE[:7])) <= 2


def test_who_was_drawn_before_waits_until_the_others_have_caught_up():
    drawn = draw(slots(4, 1, ["a", "b", "c"]), {"a": 3}, {}, Random(0))
    assert loads(drawn, ["a", "b", "c"]) == [0, 2, 2]


def test_two_who_met_before_meet_again_only_when_everybody_else_has_met():
    met = {frozenset("ab"): 1, frozenset("cd"): 1}
    drawn = draw(slots(4, 2, ["a", "b", "c", "d"]), {}, met, Random(0))
    assert sorted(tuple(team) for team in drawn.values()) == [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")]


def test_a_load_is_handed_on_along_a_chain():
    # Only a may take the first, a or b the second and third, b or c the last two: a 1, b 2, c 2.
    made = [
        TeamSlot("1", frozenset(), 1, frozenset("a")),
        *(TeamSlot(key, frozenset(), 1, frozenset("ab")) for key in "23"),
        *(TeamSlot(key, frozenset(), 1, frozenset("bc")) for key in "45"),
    ]
    for seed in range(20):
        assert sorted(loads(draw(made, {}, {}, Random(seed)), ["a", "b", "c"])) == [1, 2, 2]


@pytest.mark.parametrize("seed", range(10))
def test_one_of_the_spared_stays_outside_as_long_as_the_team_is_filled_without(seed):
    spared = frozenset("ab")
    made = [TeamSlot(str(n), frozenset(), 2, frozenset("abc"), spared) for n in range(9)]
    drawn = draw(made, {}, {}, Random(seed))
    assert all(not spared <= set(team) for team in drawn.values())
    needed = draw([TeamSlot("x", frozenset(), 2, frozenset("ab"), spared)], {}, {}, Random(seed))
    assert needed == {"x": ["a", "b"]}


def test_members_are_not_drawn_again_and_count_as_met():
    made = [
        TeamSlot("1", frozenset("a"), 1, frozenset("abc")),
        TeamSlot("2", frozenset("a"), 1, frozenset("abc")),
    ]
    drawn = draw(made, {}, {}, Random(5))
    assert sorted(person for team in drawn.values() for person in team) == ["b", "c"]


def test_a_slot_nobody_may_fill_stays_short():
    assert draw([TeamSlot("1", frozenset("a"), 2, frozenset("ab"))], {}, {}, Random(0)) == {"1": ["b"]}
    assert draw([], {}, {}, Random(0)) == {}
