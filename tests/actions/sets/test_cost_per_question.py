"""What a question costs: the last column of the table by which a judge is chosen."""

import pytest

from annotator.actions.sets.validation_ground import mean_cost


def test_the_mean_cost_leaves_out_what_is_not_known_and_counts_it():
    # (0.1 + 0.2) / 2; not (0.1 + 0.2 + 0) / 3
    found = mean_cost([0.1, None, 0.2])
    assert found.value == pytest.approx(0.15)
    assert (found.n, found.missing) == (2, 1)
    assert "1 of 3" in found.note


def test_a_judge_that_costs_nothing_costs_0():
    # (0 + 0.3) / 2
    assert mean_cost([0.0, 0.3]).value == 0.15


@pytest.mark.parametrize("costs", [[], [None, None]])
def test_no_known_cost_is_not_0(costs):
    assert mean_cost(costs).value is None
