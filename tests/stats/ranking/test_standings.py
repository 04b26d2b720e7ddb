"""Standings: order, certainty, and when a contest has converged."""

import pytest

from annotator.actions.contests import contest_rows
from annotator.domain.judges.contest import Showing, meetings
from annotator.stats.ranking.pairing import FurtherPair, PlayedMatch
from annotator.stats.ranking.standings import further, met, near, ranking


def test_rank_goes_by_rating_then_strength_then_id():
    found = ranking("dcba", [PlayedMatch(1, "a", "b", 0.8), PlayedMatch(2, "a", "b", 0.8)], 2, draws=20)
    assert [row.id for row in found.rows] == ["a", "c", "d", "b"]
    assert [round(row.elo, 4) for row in found.rows] == [1218.3167, 1200, 1200, 1181.6833]
    assert [row.matches for row in found.rows] == [2, 0, 0, 2]
    assert found.rows[1].low is None
    assert {row.p_top for row in found.rows} == {None}


def test_of_equal_ratings_the_higher_strength_goes_first():
    # Both gain 9.6 in one match; b beat someone who also won.
    played = [
        PlayedMatch(1, "a", "x", 0.8),
        PlayedMatch(1, "b", "y", 0.8),
        PlayedMatch(2, "y", "z", 0.8),
        PlayedMatch(2, "w", "x", 0.8),
    ]
    found = ranking("abxyzw", played, 2, draws=20)
    assert [row.id for row in found.rows if row.id in "ab"] == ["b", "a"]
    assert found.rows[0].elo == pytest.approx(found.rows[1].elo, abs=0.6)


def test_a_contest_has_converged_when_a_round_leaves_the_best_as_they_were():
    first = [PlayedMatch(1, "a", "b", 0.9), PlayedMatch(1, "c", "d", 0.6)]
    same = ranking("abcd", [*first, PlayedMatch(2, "a", "c", 0.9)], 1, draws=5)
    assert (same.changed, same.converged, same.rounds, same.matches) == (0.0, True, 2, 3)
    other = ranking("abcd", [*first, PlayedMatch(2, "c", "a", 1.0)], 1, draws=5)
    assert (other.changed, other.converged) == (1.0, False)
    assert ranking("abcd", first, 1, draws=5).converged is False


def test_certain_is_who_beat_enough_others_and_nobody_by_the_same_match_again():
    alike = [PlayedMatch(number, "a", other, 1.0) for number, other in enumerate("bcdbcdbcd")]
    found = ranking("abcd", alike, 1, draws=200)
    assert (found.certain, found.rows[0].matches) == (0, 9)
    assert found.rows[0].note == "3 independent matches are too few for an interval, which takes 5"
    assert ranking("abcd", [], 1, draws=20).certain == 0


def all_meet(ids, times, but=()):
    """Everybody meets everybody so often, and who comes first in the alphabet always wins."""
    pairs = [(one, other) for one in ids for other in ids if one < other and (one, other) not in but]
    return [PlayedMatch(1 + place, *pair, 1.0) for place, pair in enumerate(pairs * times)]


def test_who_has_no_interval_may_stand_anywhere_and_the_nearest_pair_comes_first():
    played = [PlayedMatch(1, "a", "b", 0.9), PlayedMatch(1, "c", "d", 0.9)]
    found = further("abcd", played, 2)
    assert (found.open, found.pair) == (2, ("a", "c"))
    assert further("ab", played[:1], 1).pair is None


def test_nothing_is_open_once_the_intervals_of_neighbours_part():
    # The best wins nine of ten, the others one of two against one another; all but one pair have met.
    pairs = [
        (one, other) for one in "abcdef" for other in "abcdef" if one < other and (one, other) != ("a", "b")
    ]
    played = [
        PlayedMatch(1 + number * 14 + place, *pair, float(number % 10 > 0 if pair[0] == "a" else number % 2))
        for number in range(40)
        for place, pair in enumerate(pairs)
    ]
    assert further("abcdef", played, 1) == FurtherPair(0, None)
    # The second place is open; of the pairs that overlap every one has met, and that which has not is decided.
    assert further("abcdef", played, 2) == FurtherPair(1, None)


def test_a_pair_that_met_is_never_chosen_again():
    ids = "abcdef"
    found = further(ids, all_meet(ids, 1, but={("a", "e")}), 2)
    assert found.open == 2
    assert found.pair in {("a", "e"), None}
    assert further(ids, all_meet(ids, 1), 2).pair is None


def test_near_the_cut_goes_by_the_ratings_so_far():
    played = [
        PlayedMatch(1, "a", "b", 1.0),
        PlayedMatch(1, "c", "d", 1.0),
        PlayedMatch(2, "a", "c", 1.0),
        PlayedMatch(3, "a", "d", 1.0),
    ]
    pairs = near("abcd", played, 2, 1, 4)
    assert pairs
    assert met(played)["a", "b"] == 1


@pytest.mark.parametrize(
    ("many", "sort"), [(1, "too few"), (4, "too few"), (5, "rough"), (9, "rough"), (10, "")]
)
def test_a_strength_has_an_interval_only_over_enough_matches_of_its_own(many, sort):
    # The others meet often; a never meets more than so many.
    others = "bcdefghijk"
    played = [PlayedMatch(number, "a", others[number], 0.8 - number % 3 / 10) for number in range(many)]
    played += [PlayedMatch(100 + number, "b", others[number % 9 + 1], number % 2) for number in range(12)]
    one = next(row for row in ranking("a" + others, played, 1, draws=50).rows if row.id == "a")
    assert (one.low is None, one.high is None) == (sort == "too few",) * 2
    assert sort in one.note
    assert bool(one.note) == bool(sort)


def test_nobody_is_certain_after_matches_that_no_resample_can_tell_apart():
    # Every resample of one match is that match.
    for many in (1, 4):
        found = ranking("ab", [PlayedMatch(number, "a", "b", 0.55) for number in range(many)], 1, draws=20)
        assert found.certain == 0
        assert [row.p_top for row in found.rows] == [None, None]
        assert found.too_few
    # In all there are enough, and the best has two of its own.
    pairs = [("a", "b"), ("c", "d"), ("e", "f"), ("a", "c"), ("b", "e"), ("d", "f")]
    found = ranking("abcdef", [PlayedMatch(at, *pair, 1.0) for at, pair in enumerate(pairs)], 3, draws=200)
    assert found.rows[0].p_top is not None
    assert found.certain == 0


@pytest.mark.parametrize(
    ("answers", "value", "outcome"),
    [
        # The surer of two orders that disagree does not win; ratings as printed take what it said.
        ([("a", "b", "first", 0.95), ("b", "a", "first", 0.6)], 0.675, 0.5),
        ([("a", "b", "first", 0.95), ("b", "a", "second", 0.6)], 0.775, 1.0),
        # A guess leaves it to the other order.
        ([("a", "b", "first", 0.5), ("b", "a", "first", 0.6)], 0.45, 0.0),
        ([("a", "b", "second", 0.5)], 0.5, 0.5),
        ([("b", "a", "first", 0.55)], 0.45, 0.0),
    ],
)
def test_a_match_is_won_lost_or_left_open_whatever_its_confidence(answers, value, outcome):
    (one,) = contest_rows.played(meetings(Showing(1, *answer, "ok") for answer in answers))
    assert (one.value, one.outcome) == (pytest.approx(value), outcome)
