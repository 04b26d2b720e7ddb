"""Correlations, plain and clustered."""

from fractions import Fraction
from math import atanh, nan, sqrt, tanh

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import kendalltau, pearsonr, spearmanr

from annotator.stats.agreement.levels import (
    MEASURES,
    kendall_tau_b,
    over_items,
    pearson,
    spearman,
    within_items,
)
from tests.stats.agreement_oracles import needs_oracles, oracle

ALL = (pearson, spearman, kendall_tau_b)
X, Y = [1, 2, 3, 4, 5], [2, 1, 4, 3, 5]
small = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=30)


@pytest.mark.parametrize(
    ("figure", "value", "variance"),
    [
        (pearson, Fraction(8, 10), 1 / 2),
        # 1 − 6 · 4 / (5 · 24)
        (spearman, Fraction(8, 10), (1 + 0.8**2 / 2) / 2),
        # 8 pairs rise, 2 fall.
        (kendall_tau_b, Fraction(6, 10), 0.437 / 1),
    ],
)
def test_five_pairs_by_hand_have_the_interval_of_the_published_variance(figure, value, variance):
    result, half = figure(X, Y), 1.959964 * sqrt(variance)
    assert (result.n, result.note) == (5, "5 pairs only: the interval is rough")
    low, high = tanh(atanh(value) - half), tanh(atanh(value) + half)
    assert (result.value, result.low, result.high) == pytest.approx((float(value), low, high), abs=1e-6)


@pytest.mark.parametrize("figure", ALL)
def test_missing_values_leave_the_pair_out(figure):
    result = figure([*X, None, 3], [*Y, 1, nan])
    assert result.value == figure(X, Y).value
    assert (result.n, result.missing) == (5, 2)
    assert "2 of 7 units left out: a value is missing" in result.note


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
    result = figure(x, y)
    assert (result.value, result.low, result.high) == (None, None, None)
    assert reason in result.note


@pytest.mark.parametrize(("figure", "units"), [(pearson, 3), (spearman, 3), (kendall_tau_b, 4)])
def test_too_few_pairs_for_an_interval_still_have_a_value(figure, units):
    result = figure(X[:units], Y[:units])
    assert result.value is not None
    assert (result.low, result.high) == (None, None)
    assert f"{units} pairs give no interval" in result.note


@pytest.mark.parametrize("figure", ALL)
def test_a_perfect_order_is_exactly_1_and_has_no_interval(figure):
    result = figure([0.1 * i for i in range(9)], [0.3 * i + 0.7 for i in range(9)])
    assert (result.value, result.low) == (1, None)
    assert "perfect" in result.note
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
    result = pearson(published["x"], published["y"])
    assert result.value == pytest.approx(published["pearson_r"], abs=5e-8)
    assert (result.low, result.high) == pytest.approx(tuple(published["pearson_ci95"]), abs=5e-8)
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


PEERS = {"spearman": spearmanr, "pearson": pearsonr, "kendall": kendalltau}


def made(seed: int = 1, items: int = 12, systems: int = 5) -> tuple[list[float], list[float], list[str]]:
    """Scores of items that differ a lot, and of systems that differ little and noisily."""
    rng = np.random.default_rng(seed)
    level = np.repeat(rng.normal(0, 3, items), systems)
    quality = np.tile(np.arange(systems) / 4, items)
    x, y = (np.round(level + quality + rng.normal(0, 0.6, items * systems), 1) for _ in range(2))
    return x.tolist(), y.tolist(), [f"i{n // systems}" for n in range(items * systems)]


@pytest.mark.parametrize("name", MEASURES)
def test_values_are_those_of_another_package_and_intervals_hold_them(name: str) -> None:
    x, y, items = made()
    result = over_items(name, x, y, items)
    assert result.value == pytest.approx(PEERS[name](x, y).statistic)
    assert -1 <= result.low < result.value < result.high <= 1
    assert "jackknife over 12 items" in result.method
    assert over_items(name, x, y, items) == result


def test_items_are_drawn_whole() -> None:
    x, y, items = made()
    apart = over_items("pearson", x, y, [f"{n}" for n in range(len(x))])
    whole = over_items("pearson", x, y, items)
    # Of five alike reports an item there are twelve independent things and not sixty.
    assert whole.high - whole.low > apart.high - apart.low


def test_few_items_give_no_interval_and_say_so() -> None:
    result = over_items("spearman", [1, 2, 3, 4], [1, 2, 4, 3], ["a", "a", "b", "b"])
    assert (result.value, result.low) == (pytest.approx(0.8), None)
    assert "2 items are too few" in result.note


def test_what_does_not_vary_has_no_correlation_but_a_reason() -> None:
    over = over_items("kendall", [1, 1, 1], [1, 2, 3], ["a", "b", "c"])
    within = within_items([1, 2], [1, 2], ["a", "a"])
    assert [(one.value, one.note) for one in (over, within)] == [
        (None, "all values of the first series are the same"),
        (None, "no item has 3 responses that differ on both sides"),
    ]


def test_within_items_is_the_mean_of_each_items_own() -> None:
    # +1 in a, −1 in b, .5 in c; d has two pairs and e is all alike.
    x = [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 1, 1, 1]
    y = [10, 20, 30, 3, 2, 1, 5, 9, 7, 1, 2, 1, 2, 3]
    result = within_items(x, y, list("aaabbbcccddeee"))
    assert (result.value, result.n) == (pytest.approx((1 - 1 + 0.5) / 3), 3)


def test_a_spread_between_items_alone_shows_pooled_and_not_within() -> None:
    rng = np.random.default_rng(2)
    level = np.repeat(np.arange(12.0) * 10, 5)
    x, y = ((level + rng.normal(0, 1, 60)).tolist() for _ in range(2))
    items = [f"i{n // 5}" for n in range(60)]
    assert over_items("spearman", x, y, items).value > 0.9
    within = within_items(x, y, items)
    assert within.low < 0 < within.high


def test_a_perfect_order_and_one_that_hangs_on_one_item_say_so() -> None:
    items = list("abcdef")
    perfect = over_items("spearman", [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6], items)
    # Six items that all agree: as Wilson's of 6 of 6, on the way from −1 to 1.
    assert (perfect.low, perfect.high) == pytest.approx((2 * 6 / (6 + 2.5705818**2) - 1, 1))
    rare = over_items("spearman", [0, 0, 0, 0, 0, 1], [0, 1, 2, 3, 4, 5], items)
    assert (rare.low, "undefined without one of the" in rare.note) == (None, True)
    x = [1, 2, 3, 1, 2]
    assert "1 of 2 units left out" in within_items(x, x, list("aaabb")).note


@pytest.mark.parametrize("name", MEASURES)
def test_means_of_the_same_ratings_tie_whatever_order_they_were_added_in(name: str) -> None:
    first, second = 0.2 * 3, 0.3 * 2
    x, y, items = [first, second, 3.0, 2.5, first, 0.5], [1, 2, 3, 4, 5, 6], list("aaabbb")
    even = [0.6 if value in (first, second) else value for value in x]
    assert over_items(name, x, y, items).value == pytest.approx(over_items(name, even, y, items).value)
    assert within_items(x, y, items).value == pytest.approx(within_items(even, y, items).value)
