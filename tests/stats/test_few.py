"""One rule for the intervals of few items."""

import pytest

from annotator.domain.texts.estimate import SHARE, Estimate, cut, few, settled


def interval(count: int, low: float = 0.4, high: float = 0.6, **rest: object) -> Estimate:
    return settled(Estimate(0.5, low, high, n=count), count, **rest)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_fewer_than_five_items_give_no_interval_but_a_reason(count: int):
    found = interval(count)
    assert (found.value, found.low, found.high) == (0.5, None, None)
    assert found.note == few(count) != ""


@pytest.mark.parametrize("count", [5, 9])
def test_fewer_than_ten_items_give_a_rough_interval(count: int):
    found = interval(count)
    assert (found.low, found.high, found.note) == (0.4, 0.6, f"{count} items only: the interval is rough")


def test_ten_items_give_an_interval_without_a_remark():
    assert interval(10) == Estimate(0.5, 0.4, 0.6, n=10)


def test_an_interval_ends_where_its_figure_does_and_says_so():
    found = interval(10, -0.2, 1.3, within=SHARE)
    assert (found.low, found.high) == (0.0, 1.0)
    assert "cut at 0 and 1" in found.note


def test_the_interval_of_a_value_beyond_its_bounds_reaches_it():
    found = cut(Estimate(1.1, 0.9, 1.3), SHARE)
    assert (found.low, found.high) == (0.9, 1.1)


def test_what_is_undefined_keeps_its_own_reason():
    assert settled(Estimate(None, note="no label"), 2) == Estimate(None, note="no label")
