"""Bradley–Terry strengths beside other programs, and the bootstrap over matches."""

import numpy as np
import pytest
from scipy.optimize import minimize

from annotator.stats.ranking import bradley_terry as bt
from annotator.stats.ranking.elo import Matches
from tests.stats.ranking.simulated import Contest


def drawn(players=40, rounds=6, seed=1):
    contest = Contest(players, seed)
    contest.at_random(rounds)
    return contest


def by_scipy(players, matches):
    def loss(strengths):
        apart = strengths[matches.first] - strengths[matches.second]
        said = matches.value * np.logaddexp(0, -apart) + (1 - matches.value) * np.logaddexp(0, apart)
        return said.sum() + bt.PRIOR / 2 * (strengths**2).sum()

    return minimize(loss, np.zeros(players), method="BFGS", options={"gtol": 1e-9}).x


def test_strengths_are_those_of_an_independent_optimisation():
    matches = drawn().together
    assert np.allclose(bt.fitted(40, matches), by_scipy(40, matches), atol=1e-5)


def test_strengths_are_those_of_choix_where_a_win_of_eight_tenths_is_four_of_five():
    choix = pytest.importorskip("choix")
    contest = drawn()
    matches = contest.together
    won = matches.value > 0.5
    winners = np.where(won, matches.first, matches.second).tolist()
    losers = np.where(won, matches.second, matches.first).tolist()
    pairs = list(zip(winners, losers, strict=True))
    # Five games in the place of a match take five times the prior, which choix does not halve.
    theirs = choix.opt_pairwise(
        40, [*pairs * 4, *((b, a) for a, b in pairs)], alpha=2.5 * bt.PRIOR, tol=1e-12
    )
    assert np.allclose(bt.fitted(40, matches), theirs, atol=1e-5)


def test_two_players_have_the_strengths_that_a_hand_computes():
    # With the prior π both have ±θ where s − σ(2θ) = πθ; for s = ½ that is 0.
    assert bt.fitted(2, Matches.of([(0, 1, 0.5)])).tolist() == [0.0, 0.0]
    one, other = bt.fitted(2, Matches.of([(0, 1, 0.9)]))
    assert one == pytest.approx(-other)
    assert 0.9 - 1 / (1 + np.exp(-2 * one)) == pytest.approx(bt.PRIOR * one, abs=1e-9)


def test_who_always_wins_and_who_never_played_have_finite_strengths():
    strengths = bt.fitted(3, Matches.of([(0, 1, 1.0)] * 5))
    assert np.isfinite(strengths).all()
    assert strengths[0] > 0 > strengths[1]
    assert strengths[2] == 0
    assert bt.points(strengths)[2] == 1200


def test_a_resample_begun_at_the_fit_ends_where_a_fit_from_the_start_does():
    matches, rng = drawn(200, 8).together, np.random.default_rng(5)
    fit, whole = bt._Fit(200, matches), bt.fitted(200, matches)
    often = np.bincount(rng.integers(0, len(matches), len(matches)), minlength=len(matches)).astype(float)
    warm = fit.refined(whole, often)
    again = Matches(
        *(np.repeat(part, often.astype(int)) for part in (matches.first, matches.second, matches.value))
    )
    cold = bt.fitted(200, again)
    assert np.sqrt(np.mean((warm - cold) ** 2)) < 0.05 * np.sqrt(np.mean((cold - whole) ** 2))


def test_places_among_the_best_add_up_and_the_same_seed_gives_the_same():
    matches = drawn(60, 10).together
    strengths = bt.fitted(60, matches)
    found = bt.resampled(60, matches, strengths, 12, resamples=100)
    assert found.in_top.sum() == pytest.approx(12)
    assert (found.low <= found.high).all()
    assert np.array_equal(found.in_top, bt.resampled(60, matches, strengths, 12, resamples=100).in_top)
    assert found.in_top[np.argmax(strengths)] > 0.9 > 0.1 > found.in_top[np.argmin(strengths)]


def test_without_matches_every_place_is_as_likely():
    none = Matches.of([])
    found = bt.resampled(4, none, bt.fitted(4, none), 1, resamples=10)
    assert found.in_top.tolist() == [0.25] * 4
    assert bt.resampled(4, none, np.zeros(4), 9, resamples=2).in_top.tolist() == [1.0] * 4
