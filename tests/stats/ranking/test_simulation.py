"""What rounds are worth, by simulation: how many of the truly best a contest keeps."""

import numpy as np
import pytest

from tests.stats.ranking.simulated import Contest, kept_its_word

TASKS, TOP = 1_000, 100


def kept(rounds, calls=0, seeds=(11, 12, 13)):
    shares = []
    for seed in seeds:
        contest = Contest(TASKS, seed)
        contest.at_random(rounds)
        contest.near_the_cut(TOP, calls)
        shares.append(contest.kept(TOP))
    return np.mean(shares)


# Single draws of a hundred differ by some .045 (the share's standard deviation), the mean of three by .026.
@pytest.mark.parametrize(("rounds", "share"), [(2, 0.22), (5, 0.42), (10, 0.52), (20, 0.70)])
def test_random_rounds_keep_about_what_the_design_says(rounds, share):
    assert kept(rounds) == pytest.approx(share, abs=0.13)


def test_more_rounds_keep_more():
    shares = [kept(rounds) for rounds in (2, 5, 10, 20)]
    assert shares == sorted(shares)
    assert shares[-1] - shares[0] > 0.3


def test_rounds_near_the_cut_keep_ten_points_more_for_the_same_calls():
    assert kept(5, calls=10 * TASKS // 2) >= kept(10) + 0.10


# Six runs of 20 tasks: 120 intervals, of which 93 % are 112, and 12 places among the best; the benchmark has more.
@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize(("rounds", "least", "most"), [(5, 0.0, 0.1), (40, 0.8, 1.0)])
def test_intervals_cover_and_certain_holds_whatever_confidence_is_stated(rounds, least, most, both):
    found = kept_its_word(20, rounds, 6, both=both, best=True, draws=100)
    assert found["coverage"] >= 0.9
    assert found["wrong"] == 0
    assert least <= found["certain"] <= most
