"""How likely so large a correlation is by chance."""

from math import nan

import numpy as np
import pytest

from annotator.stats.agreement.permutation import asymptotic_p, permutation_p
from tests.stats.agreement_oracles import needs_oracles, oracle

ALL = ("pearson", "spearman", "kendall")


@pytest.mark.parametrize("which", ALL)
def test_a_perfect_order_of_four_is_two_of_24(which):
    found = permutation_p([1, 2, 3, 4], [1, 2, 3, 4], which)
    assert found.value == pytest.approx(2 / 24)
    assert found.method.endswith("exact, over all 24 orders")


@pytest.mark.parametrize("which", ALL)
def test_one_swap_of_four_is_eight_of_24(which):
    # As far from 0: the perfect order, three with one neighbouring swap, and the four reversed ones.
    assert permutation_p([1, 2, 3, 4], [1, 2, 4, 3], which).value == pytest.approx(8 / 24)


@pytest.mark.parametrize("which", ALL)
def test_ties_share_their_orders(which):
    # The one 1 is at either end in half of the orders.
    assert permutation_p([1, 2, 3, 4], [0, 0, 0, 1], which).value == pytest.approx(1 / 2)


@pytest.mark.parametrize("which", ALL)
def test_random_orders_come_near_the_exact_share(which, monkeypatch):
    x, y = [3, 1, 4, 1, 5, 9, 2], [2, 7, 1, 8, 2, 8, 1]
    exact = permutation_p(x, y, which).value
    monkeypatch.setattr("annotator.stats.agreement.permutation.MOST_ENUMERATED", 3)
    found = permutation_p(x, y, which, resamples=20_000)
    assert found.value == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 20_000) ** 0.5)
    assert "20000 random orders, seed" in found.method
    assert found == permutation_p(x, y, which, resamples=20_000)


def test_a_p_of_random_orders_is_never_0():
    rng = np.random.default_rng(1)
    x = rng.random(40)
    assert permutation_p(x, x, "pearson", resamples=999).value == pytest.approx(1 / 1000)


def test_many_pairs_are_taken_by_formula():
    rng = np.random.default_rng(1)
    x, y = rng.random(101), rng.random(101)
    assert permutation_p(x, y, "kendall") == asymptotic_p(x, y, "kendall")


@pytest.mark.parametrize("which", ALL)
def test_a_pair_with_a_value_missing_is_left_out(which):
    found = permutation_p([1, 2, 3, 4, None, 6], [1, 2, 4, 3, 5, nan], which)
    assert (found.value, found.n, found.missing) == (pytest.approx(8 / 24), 4, 2)
    assert "2 of 6 units left out" in found.note


@pytest.mark.parametrize("test", [permutation_p, asymptotic_p])
@pytest.mark.parametrize("which", ALL)
def test_without_a_correlation_there_is_no_p_but_a_reason(test, which):
    assert test([1, 2], [2, 1], which).value is None
    assert "2 pairs are too few" in test([1, 2], [2, 1], which).note
    assert "all values of the second series" in test([1, 2, 3], [5, 5, 5], which).note


def test_a_perfect_order_has_no_t():
    found = asymptotic_p([1, 2, 3, 4], [2, 4, 6, 8], "pearson")
    assert found.value is None
    assert "take the p of random orders" in found.note


def test_an_unknown_correlation_is_refused():
    with pytest.raises(ValueError, match="called cosine"):
        permutation_p([1, 2, 3], [1, 3, 2], "cosine")


@needs_oracles
def test_nine_pairs_match_hollander_and_wolfe():
    published = oracle("hollander_wolfe_1973")
    x, y = published["x"], published["y"]
    assert round(asymptotic_p(x, y, "pearson").value, 7) == published["pearson_p"]
    assert round(asymptotic_p(x, y, "spearman").value, 7) == published["spearman_p_scipy_t_approx"]
    assert round(permutation_p(x, y, "spearman").value, 4) == published["spearman_p_exact_R"]
    assert round(permutation_p(x, y, "kendall").value, 7) == published["kendall_p_exact"]
