"""What a correlation is."""

from fractions import Fraction
from itertools import combinations
from math import atanh, nan, sqrt, tanh

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.stats.agreement.correlation import kendall_tau_b, pearson, spearman
from tests.stats.agreement_oracles import needs_oracles, oracle

ALL = (pearson, spearman, kendall_tau_b)
X, Y = [1, 2, 3, 4, 5], [2, 1, 4, 3, 5]
# ResearcherBench, Table 7: mean response lengths and win rates of ten systems.
LENGTHS = [78857, 58453, 49335, 53189, 15183, 13113, 14132, 14380, 4850, 6718]
WIN_RATES = [90.09, 73.68, 68.55, 54.19, 41.88, 33.33, 26.67, 24.10, 6.84, 5.81]
small = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=30)


@pytest.mark.parametrize(
    ("figure", "value"),
    [
        (pearson, Fraction(8, 10)),
        (spearman, Fraction(8, 10)),  # 1 − 6 · 4 / (5 · 24)
        (kendall_tau_b, Fraction(6, 10)),  # 8 pairs rise, 2 fall
    ],
)
def test_five_pairs_by_hand(figure, value):
    found = figure(X, Y)
    assert found.value == pytest.approx(float(value))
    assert (found.n, found.note) == (5, "5 pairs only: the interval is rough")


@pytest.mark.parametrize(
    ("figure", "variance"),
    [(pearson, 1 / 2), (spearman, (1 + 0.8**2 / 2) / 2), (kendall_tau_b, 0.437 / 1)],
)
def test_the_interval_is_that_of_the_published_variance(figure, variance):
    found = figure(X, Y)
    half = 1.959964 * sqrt(variance)
    expected = tanh(atanh(found.value) - half), tanh(atanh(found.value) + half)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-6)


def test_ties_share_their_rank():
    # Ranks 1.5, 1.5, 3, 4 and 1 to 4: r = 4.5 / √(4.5 · 5). Of three pairs two rise, one is tied in x: 2 / √(2 · 3).
    assert spearman([1, 1, 2, 3], [1, 2, 3, 4]).value == pytest.approx(sqrt(0.9))
    assert kendall_tau_b([1, 1, 2], [1, 2, 3]).value == pytest.approx(2 / sqrt(6))


def test_length_and_win_rate_match_researcherbench():
    assert round(pearson(LENGTHS, WIN_RATES).value, 4) == 0.9487
    assert round(spearman(LENGTHS, WIN_RATES).value, 4) == 0.9273


@pytest.mark.parametrize("figure", ALL)
def test_missing_values_leave_the_pair_out(figure):
    found = figure([*X, None, 3], [*Y, 1, nan])
    assert found.value == figure(X, Y).value
    assert (found.n, found.missing) == (5, 2)
    assert "2 of 7 units left out: a value is missing" in found.note


@pytest.mark.parametrize("figure", ALL)
@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([], [], "0 pairs are too few"),
        ([1, 2], [2, 1], "2 pairs are too few"),
        ([1, 2, None], [2, 1, 3], "2 pairs are too few"),
        ([0.1, 0.1, 0.1], [1, 2, 3], "all values of the first series"),
        ([1, 2, 3], [7, 7, 7], "all values of the second series"),
        ([5, 5, 5], [7, 7, 7], "the first and the second series"),
    ],
)
def test_an_undefined_correlation_has_a_reason(figure, x, y, reason):
    found = figure(x, y)
    assert (found.value, found.low, found.high) == (None, None, None)
    assert reason in found.note


@pytest.mark.parametrize(("figure", "units"), [(pearson, 3), (spearman, 3), (kendall_tau_b, 4)])
def test_too_few_pairs_for_an_interval_still_have_a_value(figure, units):
    found = figure(X[:units], Y[:units])
    assert found.value is not None
    assert (found.low, found.high) == (None, None)
    assert f"{units} pairs give no interval" in found.note


@pytest.mark.parametrize("figure", ALL)
def test_a_perfect_order_is_exactly_1_and_has_no_interval(figure):
    found = figure([0.1 * i for i in range(9)], [0.3 * i + 0.7 for i in range(9)])
    assert (found.value, found.low) == (1, None)
    assert "perfect" in found.note
    assert figure(range(9), [-i for i in range(9)]).value == -1


def test_neither_large_nor_small_values_are_lost():
    for scale in (1e-200, 1e200):
        assert pearson([x * scale for x in X], Y).value == pytest.approx(0.8)
    assert pearson([1e12 + x for x in X], Y).value == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("x", "y"), [([1, 2, 3], [1, 2]), ([1, 2, float("inf")], [1, 2, 3]), (["a", "b", "c"], [1, 2, 3])]
)
@pytest.mark.parametrize("figure", ALL)
def test_what_does_not_fit_is_refused(figure, x, y):
    with pytest.raises(ValueError, match=r"inhomogeneous|infinite|could not convert"):
        figure(x, y)


@given(small)
def test_tau_b_counts_every_pair(pairs):
    found = kendall_tau_b(*zip(*pairs, strict=True))
    signs = [(np.sign(a[0] - b[0]), np.sign(a[1] - b[1])) for a, b in combinations(pairs, 2)]
    untied = [sum(sign[i] != 0 for sign in signs) for i in (0, 1)]
    if 0 in untied:
        assert found.value is None
    else:
        assert found.value == pytest.approx(sum(p * q for p, q in signs) / sqrt(untied[0] * untied[1]))


@pytest.mark.parametrize("figure", ALL)
@given(pairs=small, random=st.randoms(use_true_random=False))
def test_neither_swapping_nor_reordering_moves_a_correlation(figure, pairs, random):
    before = figure(*zip(*pairs, strict=True))
    random.shuffle(pairs)
    y, x = zip(*pairs, strict=True)
    assert before.value is None or figure(x, y).value == pytest.approx(before.value, abs=1e-12)
    assert (before.value is None) == (figure(x, y).value is None)


@pytest.mark.parametrize("figure", [spearman, kendall_tau_b])
@given(pairs=small)
def test_only_the_order_counts_for_ranks(figure, pairs):
    x, y = zip(*pairs, strict=True)
    assert figure([value**3 for value in x], y) == figure(x, y)


@needs_oracles
def test_nine_pairs_match_hollander_and_wolfe():
    published = oracle("hollander_wolfe_1973")
    found = pearson(published["x"], published["y"])
    assert found.value == pytest.approx(published["pearson_r"], abs=5e-8)
    assert (found.low, found.high) == pytest.approx(tuple(published["pearson_ci95"]), abs=5e-8)
    assert spearman(published["x"], published["y"]).value == pytest.approx(published["spearman_rho"])
    assert kendall_tau_b(published["x"], published["y"]).value == pytest.approx(
        published["kendall_tau"], abs=5e-8
    )


@pytest.mark.parametrize("figure", [spearman, kendall_tau_b, pearson])
def test_scores_that_differ_by_rounding_alone_are_tied(figure):
    # By shares of .5, .3 and .2 the ratings 0, 0, 3 and 0, 2, 0 are both .6; so are half of all scores of checklists.
    first, second = 0.2 * 3, 0.3 * 2
    assert first != second
    noisy = figure([first, second, 3.0, 2.5], [1, 2, 3, 4])
    assert noisy.value == pytest.approx(figure([0.6, 0.6, 3.0, 2.5], [1, 2, 3, 4]).value, abs=1e-12)
    assert figure([first, second, 0.6], [1, 2, 3]).note == "all values of the first series are the same"
    assert figure([1e15, 1e15 + 1, 1e15 + 2], [1, 2, 3]).value == 1
