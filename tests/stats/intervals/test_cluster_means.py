"""Means over units that come in clusters, and the gap between two groups of them, by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotator.stats.intervals.cluster_means import cluster_gap, cluster_mean

ITEMS = ["a", "a", "b", "b", "c"]


@pytest.mark.usefixtures("small_cases")
def test_a_mean_is_that_of_all_units() -> None:
    found = cluster_mean([1, 0, 1, 1, 0], ITEMS)
    assert (found.value, found.n, found.missing) == (pytest.approx(0.6), 5, 0)
    assert found.low is not None
    assert found.low <= 0.6 <= (found.high or 0)


def test_a_mean_leaves_out_what_is_missing_and_counts_it() -> None:
    found = cluster_mean([1, None, 1, float("nan"), 0], ITEMS)
    assert (found.value, found.n, found.missing) == (pytest.approx(2 / 3), 3, 2)
    assert "2 of 5 units left out" in found.note


def test_a_gap_is_the_difference_of_two_means() -> None:
    # Inside: 1, 0, 1 (2/3); outside: 0, 1 (1/2).
    found = cluster_gap([1, 0, 1, 0, 1], [True, True, True, False, False], ["a", "b", "c", "a", "b"])
    assert found.value == pytest.approx(2 / 3 - 1 / 2)
    assert found.n == 5


@pytest.mark.parametrize("inside", [[True] * 5, [False] * 5])
def test_without_one_of_the_groups_there_is_no_gap(inside: list[bool]) -> None:
    found = cluster_gap([1, 0, 1, 0, 1], inside, ITEMS)
    assert (found.value, found.note) == (None, "one of the two groups is empty")


def test_of_nothing_there_is_no_figure() -> None:
    assert cluster_mean([None], ["a"]).note.startswith("nothing was counted")
    assert cluster_gap([], [], []).note == "nothing was counted"


def test_one_cluster_gives_no_interval() -> None:
    found = cluster_gap([1, 0], [True, False], ["a", "a"])
    assert (found.value, found.low) == (1.0, None)
    assert "1 cluster is too few for an interval, which takes 5" in found.note


def test_a_side_is_a_truth_value() -> None:
    with pytest.raises(ValueError, match="inside or it is not"):
        cluster_gap([1.0], [0.5], ["a"])


@given(st.lists(st.tuples(st.integers(-1, 1), st.booleans(), st.integers(0, 4)), min_size=1, max_size=40))
@settings(max_examples=50)
def test_a_gap_turns_its_sign_with_its_groups(rows: list[tuple[int, bool, int]]) -> None:
    values, inside, items = (list(part) for part in zip(*rows, strict=True))
    one = cluster_gap(values, inside, items)
    other = cluster_gap(values, [not side for side in inside], items)
    if one.value is None:
        assert other.value is None
    else:
        assert other.value == pytest.approx(-one.value)
        means = [
            np.mean([v for v, i in zip(values, inside, strict=True) if i is side]) for side in (True, False)
        ]
        assert one.value == pytest.approx(means[0] - means[1])
