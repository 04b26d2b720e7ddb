"""Bradley–Terry strengths beside other programs, and what is known of them."""

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


def by_scipy(players, pairs, weight):
    def loss(strengths):
        apart = strengths[pairs.first] - strengths[pairs.second]
        said = pairs.value * np.logaddexp(0, -apart) + (1 - pairs.value) * np.logaddexp(0, apart)
        return (weight * said).sum() + bt.PRIOR / 2 * (strengths**2).sum()

    return minimize(loss, np.zeros(players), method="BFGS", options={"gtol": 1e-9}).x


def test_strengths_are_those_of_an_independent_optimisation():
    found = bt.fitted(40, drawn().together)
    assert np.allclose(found.theta, by_scipy(40, found.pairs, found.weight), atol=1e-4)


def test_strengths_are_those_of_choix_over_pairs_that_meet_once():
    choix = pytest.importorskip("choix")
    # Six rounds of a round robin of 40, in which nobody meets another twice.
    rows = [(at, 39 - (at + round_) % 20, 0.8 if at % 3 else 0.2) for round_ in range(6) for at in range(20)]
    won = [(one, other) if value > 0.5 else (other, one) for one, other, value in rows]
    # choix does not halve the prior.
    theirs = choix.opt_pairwise(40, won, alpha=bt.PRIOR / 2, tol=1e-12)
    assert np.allclose(bt.fitted(40, Matches.of(rows)).theta, theirs, atol=1e-4)


def test_two_players_have_the_strengths_that_a_hand_computes():
    # With the prior π both have ±θ where 1 − σ(2θ) = πθ; for a half that is 0.
    assert bt.fitted(2, Matches.of([(0, 1, 0.5)])).theta.tolist() == [0.0, 0.0]
    one, other = bt.fitted(2, Matches.of([(0, 1, 0.9)])).theta
    assert one == pytest.approx(-other)
    assert 1 - 1 / (1 + np.exp(-2 * one)) == pytest.approx(bt.PRIOR * one, abs=1e-9)


def test_who_always_wins_and_who_never_played_have_finite_strengths():
    strengths = bt.fitted(3, Matches.of([(0, 1, 1.0)] * 5)).theta
    assert np.isfinite(strengths).all()
    assert strengths[0] > 0 > strengths[1]
    assert strengths[2] == 0
    assert bt.points(strengths)[2] == 1200


def test_stated_confidence_plays_no_part_in_strengths_and_what_is_known_of_them():
    matches = drawn().together
    sure = Matches(matches.first, matches.second, np.where(matches.value > 0.5, 1.0, 0.0))
    one, other = (bt.uncertainty(bt.fitted(40, played), 4, 20) for played in (matches, sure))
    for name in ("low", "high", "in_top", "certain"):
        assert np.array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize(
    ("values", "matches", "weight"),
    [
        # Won again and again tells nothing new; won as often as lost are four.
        ((1, 1, 1, 1), 1, 1),
        ((1, 0, 1, 0), 4, 4),
        # Whichever way round the pair stands.
        ((1, -1, 1, -1), 1, 1),
        # Left open by its two orders: 1 − ¼ / ¼ of the variance, and never less than half of it.
        ((0.5,), 1, 2),
    ],
)
def test_matches_of_a_pair_count_as_one_as_far_as_they_come_out_alike(values, matches, weight):
    rows = [(0, 1, value) if value >= 0 else (1, 0, 1 + value) for value in values]
    found = bt.fitted(2, Matches.of(rows))
    assert found.matches.tolist() == pytest.approx([matches] * 2)
    assert found.weight.tolist() == pytest.approx([weight])


def test_draws_vary_as_the_inverse_of_the_information():
    found = bt.fitted(30, drawn(30, 12).together)
    apart = found.theta[found.pairs.first] - found.theta[found.pairs.second]
    design = np.zeros((len(apart), 30))
    design[np.arange(len(apart)), found.pairs.first] = 1
    design[np.arange(len(apart)), found.pairs.second] = -1
    curve = found.weight / (2 + np.exp(apart) + np.exp(-apart))
    centred = np.eye(30) - 1 / 30
    spread = centred @ np.linalg.inv(design.T @ (curve[:, None] * design) + bt.PRIOR * np.eye(30)) @ centred
    known = bt.uncertainty(found, 3, 2_000)
    assert known.high - known.low == pytest.approx(3.919928 * np.sqrt(np.diag(spread)) / bt.POINT, rel=0.08)


def test_places_among_the_best_add_up_and_the_same_seed_gives_the_same():
    strengths = bt.fitted(60, drawn(60, 10).together)
    found = bt.uncertainty(strengths, 12, 100)
    assert found.in_top.sum() == pytest.approx(12)
    assert (found.low <= found.high).all()
    assert np.array_equal(found.in_top, bt.uncertainty(strengths, 12, 100).in_top)
    assert found.in_top[np.argmax(strengths.theta)] > 0.9 > 0.1 > found.in_top[np.argmin(strengths.theta)]


def test_without_matches_every_place_is_as_likely():
    none = bt.fitted(4, Matches.of([]))
    assert bt.uncertainty(none, 1, 2_000).in_top == pytest.approx([0.25] * 4, abs=0.05)
    assert bt.uncertainty(none, 9, 2).in_top.tolist() == [1.0] * 4
