"""Which of several are worth their cost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.stats.validation.front import dominates, pareto_front, standings

POINTS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


def test_better_on_one_and_as_good_on_the_other_dominates():
    assert dominates((2, 1), (1, 1))
    assert dominates((1, 0), (1, 1))
    assert not dominates((1, 1), (1, 1))
    assert not dominates((2, 2), (1, 1))


def test_the_front_runs_from_the_cheapest_up():
    # Score, cost: (5, 9) and (1, 1) and (3, 2) are on it; (3, 4) and (2, 2) are beaten by (3, 2).
    assert pareto_front([(5, 9), (3, 4), (1, 1), (2, 2), (3, 2)]) == (2, 4, 0)


def test_equal_points_are_on_the_front_together():
    assert pareto_front([(1, 1), (1, 1)]) == (0, 1)


def test_of_one_price_only_the_best_is_on_the_front():
    assert pareto_front([(1, 1), (3, 1), (2, 1)]) == (1,)


def test_nothing_has_an_empty_front():
    assert pareto_front([]) == ()


@given(POINTS)
def test_the_front_is_what_nobody_dominates(points):
    free = {i for i, one in enumerate(points) if not any(dominates(other, one) for other in points)}
    assert set(pareto_front(points)) == free


# The front: Table 2 (Avg. accuracy) against Table 11 (dollars a task)

RETRIEVAL = [("OpenAI", 31.35, 1.76), ("Perplexity", 34.82, 0.68), ("Grok", 39.81, 0.36)]
REASONING = [("OpenAI", 59.18, 1.76), ("Perplexity", 44.60, 0.68), ("Grok", 31.42, 0.36)]


def test_grok_alone_is_on_the_front_of_retrieval():
    # §5.3: Grok dominates the others in retrieval.
    found = standings(RETRIEVAL)
    assert [one.system for one in found if one.on_front] == ["Grok"]
    assert found[0].beaten_by == ("Perplexity", "Grok")


def test_all_are_on_the_front_of_reasoning():
    # §5.3: in reasoning who costs more scores more.
    assert all(one.on_front for one in standings(REASONING))


@pytest.mark.parametrize("unknown", [("Gemini", 59.76, None), ("Gemini", None, 0.1)])
def test_who_is_not_known_neither_beats_nor_is_beaten(unknown):
    *known, gemini = standings([*RETRIEVAL, unknown])
    assert known == list(standings(RETRIEVAL))
    assert (gemini.known, gemini.on_front, gemini.beaten_by) == (False, False, ())


def test_equals_share_the_front():
    assert [one.on_front for one in standings([("a", 1.0, 1.0), ("b", 1.0, 1.0)])] == [True, True]
