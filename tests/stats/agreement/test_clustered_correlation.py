"""Correlations of what belongs to items: the values of other packages, intervals over items, and within items."""

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from annotator.stats.agreement.clustered_correlation import MEASURES, over_items, within_items

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
    found = over_items(name, x, y, items)
    assert found.value == pytest.approx(PEERS[name](x, y).statistic)
    assert -1 <= found.low < found.value < found.high <= 1
    assert "jackknife over 12 items" in found.method
    assert over_items(name, x, y, items) == found


def test_items_are_drawn_whole() -> None:
    x, y, items = made()
    apart = over_items("pearson", x, y, [f"{n}" for n in range(len(x))])
    whole = over_items("pearson", x, y, items)
    # Of five alike reports an item there are twelve independent things and not sixty.
    assert whole.high - whole.low > apart.high - apart.low


def test_few_items_give_no_interval_and_say_so() -> None:
    found = over_items("spearman", [1, 2, 3, 4], [1, 2, 4, 3], ["a", "a", "b", "b"])
    assert (found.value, found.low) == (pytest.approx(0.8), None)
    assert "2 items are too few" in found.note


def test_what_does_not_vary_has_no_correlation() -> None:
    found = over_items("kendall", [1, 1, 1], [1, 2, 3], ["a", "b", "c"])
    assert (found.value, found.note) == (None, "all values of the first series are the same")


def test_within_items_is_the_mean_of_each_items_own() -> None:
    # +1 in a, −1 in b, .5 in c; d has two pairs and e is all alike.
    x = [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 1, 1, 1]
    y = [10, 20, 30, 3, 2, 1, 5, 9, 7, 1, 2, 1, 2, 3]
    found = within_items(x, y, list("aaabbbcccddeee"))
    assert (found.value, found.n) == (pytest.approx((1 - 1 + 0.5) / 3), 3)


def test_a_spread_between_items_alone_shows_pooled_and_not_within() -> None:
    rng = np.random.default_rng(2)
    level = np.repeat(np.arange(12.0) * 10, 5)
    x, y = ((level + rng.normal(0, 1, 60)).tolist() for _ in range(2))
    items = [f"i{n // 5}" for n in range(60)]
    assert over_items("spearman", x, y, items).value > 0.9
    within = within_items(x, y, items)
    assert within.low < 0 < within.high


def test_without_enough_responses_of_an_item_there_is_nothing_within() -> None:
    found = within_items([1, 2], [1, 2], ["a", "a"])
    assert (found.value, found.note) == (None, "no item has 3 responses that differ on both sides")


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
