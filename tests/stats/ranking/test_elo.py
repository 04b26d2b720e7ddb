"""Elo with soft outcomes: printed and hand-computed figures, and what a round leaves as it was."""

import numpy as np
import pytest

from annotator.stats.ranking import elo
from annotator.stats.ranking.elo import Matches
from tests.stats.ranking.simulated import Contest


def met(first, second, value, times=1):
    ratings = np.array([first, second], dtype=float)
    for _ in range(times):
        ratings = elo.after_round(ratings, Matches.of([(0, 1, value)]))
    return ratings.round(4).tolist()


@pytest.mark.parametrize(
    ("before", "value", "times", "after"),
    [
        ((1200, 1200), 0.8, 1, [1209.6, 1190.4]),
        ((1200, 1200), 0.8, 2, [1218.3167, 1181.6833]),
        ((1400, 1200), 0.55, 1, [1393.2881, 1206.7119]),
        ((1200, 1200), 0.5, 1, [1200.0, 1200.0]),
        ((1200, 1200), 1.0, 1, [1216.0, 1184.0]),
        ((1200, 1200), 0.55, 1, [1201.6, 1198.4]),
    ],
)
def test_a_match_moves_ratings_as_printed(before, value, times, after):
    assert met(*before, value, times) == after


def test_the_sum_of_ratings_is_conserved_over_twenty_rounds_of_ten_thousand():
    contest = Contest(10_000, 3)
    contest.at_random(20)
    assert abs(contest.ratings.sum() - 10_000 * 1200) < 1e-6
    assert contest.ratings.std() > 50


def test_a_round_goes_by_the_ratings_before_it_and_nobody_plays_twice_in_it():
    with pytest.raises(ValueError, match="nobody plays twice"):
        elo.after_round(np.full(3, 1200.0), Matches.of([(0, 1, 0.8), (1, 2, 0.8)]))


def test_without_rounds_everybody_has_the_rating_of_the_start():
    assert elo.rated(2, []).tolist() == [1200.0, 1200.0]
