"""The bounds of a mean, against every way in which what is open can turn out."""

from collections.abc import Iterator
from itertools import chain, combinations
from math import copysign
from random import Random

import pytest

from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.bounds import mean_bounds


def certain(value: float, floor: float, ceiling: float) -> Estimate:
    return Estimate(value, floor=floor, ceiling=ceiling)


def open_between(floor: float, ceiling: float) -> Estimate:
    return Estimate(None, floor=floor, ceiling=ceiling, note="nothing came")


def test_the_bounds_of_scores_that_are_all_there_are_the_means_of_their_bounds():
    # (1/4 + 2/4) / 2 and (3/4 + 4/4) / 2
    assert mean_bounds([certain(0.5, 0.25, 0.75), certain(0.75, 0.5, 1.0)]) == (0.375, 0.875)


def test_an_item_without_a_value_moves_the_bounds_only_outwards():
    # Undefined it leaves 3/4; with 0 the mean is 3/8, with 1 it is 7/8.
    assert mean_bounds([certain(0.75, 0.75, 0.75), open_between(0.0, 1.0)]) == (0.375, 0.875)
    # With 1/2 to 1/2 it can only lower the mean of 3/4, to 5/8.
    assert mean_bounds([certain(0.75, 0.75, 0.75), open_between(0.5, 0.5)]) == (0.625, 0.75)


def test_what_can_never_be_defined_bounds_nothing():
    assert mean_bounds([Estimate(None, note="no gold")]) == (None, None)
    assert mean_bounds([]) == (None, None)
    assert mean_bounds([certain(0.5, 0.5, 0.5), Estimate(None)]) == (0.5, 0.5)


def test_a_value_without_bounds_bounds_itself():
    assert mean_bounds([Estimate(0.5), certain(0.5, 0.0, 1.0)]) == (0.25, 0.75)
    assert mean_bounds([Estimate(0.5), Estimate(1.0)]) == (None, None)


@pytest.mark.parametrize("seed", range(200))
def test_no_way_to_fill_what_is_missing_leaves_the_bounds(seed: int):
    chance = Random(seed)
    scores = [drawn(chance) for _ in range(chance.randint(1, 6))]
    floor, ceiling = mean_bounds(scores)
    ways = list(outcomes(scores))
    if ways:
        assert floor == pytest.approx(min(ways))
        assert ceiling == pytest.approx(max(ways))


def drawn(chance: Random) -> Estimate:
    floor, value, ceiling = sorted(chance.random() for _ in range(3))
    return Estimate(value if chance.random() < 0.6 else None, floor=floor, ceiling=ceiling)


def outcomes(scores: list[Estimate]) -> Iterator[float]:
    """The extreme means: each open score left out or in, all at their floors or all at their ceilings."""
    open_ = [one for one in scores if one.value is None]
    some = chain.from_iterable(combinations(open_, size) for size in range(len(open_) + 1))
    for more in some:
        counted = [one for one in scores if one.value is not None] + list(more)
        if counted:
            yield sum(one.floor for one in counted) / len(counted)
            yield sum(one.ceiling for one in counted) / len(counted)


def test_no_part_of_a_figure_is_a_zero_with_a_sign():
    found = Estimate(-0.0, low=-0.0, high=-0.0, floor=-0.0, ceiling=-0.0)
    parts = (found.value, found.low, found.high, found.floor, found.ceiling)
    assert [copysign(1, part) for part in parts] == [1] * 5
    assert (Estimate(None).value, Estimate(-0.5).value, Estimate(0).value) == (None, -0.5, 0)
