"""What ADRA says of planning."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotator.domain.judges.protocol import RatedResponse
from annotator.domain.kinds.artifact import Kind, cell_id
from annotator.domain.material.part import ResponsePart
from annotator.protocols.adra.plan import PLAN, any_match, one_to_one
from tests.protocols.adra.adra_material import material, metric, plan, plans, scored_matrix

FIGURES = ("precision", "recall", "f1", "jaccard")
CELLS = st.sampled_from([True, False, None])
ORACLE = [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]


def scores(rows, prefix="plan", over_valid=False, gold=None):
    scored = scored_matrix(rows, gold)
    return [metric(PLAN, f"{prefix}.{name}").score(scored, over_valid) for name in FIGURES]


def values(*args, **kwargs):
    return [found.value for found in scores(*args, **kwargs)]


# The oracle of the protocols page: 3 predicted, 4 gold, matching 3.


def test_the_oracle_one_to_one():
    # TP 3, FP 0, FN 1: P 3/3, R 3/4, F1 6/7 = .8571, J 3/4.
    assert values(ORACLE) == [1, 3 / 4, 6 / 7, 3 / 4]
    assert values(ORACLE)[2] == pytest.approx(0.8571, abs=5e-5)


def test_the_oracle_any_match():
    # All three rows have a match, columns 1, 2 and 4 have one.
    assert values(ORACLE, "plan_any") == [1, 3 / 4, pytest.approx(6 / 7), 3 / 4]


def test_the_two_readings_differ_where_two_sub_tasks_do_one_work():
    # Both rows match only the first of three columns: matching 1, P 1/2, R 1/3, F1 2/5, J 1/4.
    rows = [[1, 0, 0], [1, 0, 0]]
    assert values(rows) == [1 / 2, 1 / 3, 2 / 5, 1 / 4]
    # Any: both rows are right, one column found: P 1, R 1/3, F1 1/2, J 1 / (1 + 0 + 2).
    assert values(rows, "plan_any") == [1, 1 / 3, pytest.approx(1 / 2), 1 / 3]


def test_one_broad_sub_task_counts_once_one_to_one_and_covers_all_in_any_match():
    # One row matching three columns: TP 1, FN 2; any: P 1, R 1, F1 1, J 1.
    assert values([[1, 1, 1]]) == [1, 1 / 3, 2 / 4, 1 / 3]
    assert values([[1, 1, 1]], "plan_any") == [1, 1, 1, 1]


@pytest.mark.parametrize("prefix", ["plan", "plan_any"])
def test_no_overlap_is_nought(prefix):
    assert values([[0, 0], [0, 0], [0, 0]], prefix) == [0, 0, 0, 0]


@pytest.mark.parametrize("prefix", ["plan", "plan_any"])
def test_the_same_plan_is_one(prefix):
    assert values([[1, 0], [0, 1]], prefix) == [1, 1, 1, 1]


@pytest.mark.parametrize("prefix", ["plan", "plan_any"])
def test_an_empty_plan_finds_nothing(prefix):
    found = scores([], prefix, gold=3)
    assert [one.value for one in found] == [None, 0, 0, 0]
    assert found[0].note == "nothing was predicted"
    assert (found[1].floor, found[1].ceiling, found[1].missing) == (0, 0, 0)


@pytest.mark.parametrize("over_valid", [False, True])
def test_without_a_gold_plan_nothing_is_defined(over_valid):
    found = metric(PLAN, "plan.f1").score(RatedResponse(plans(3, 0), {}), over_valid)
    assert (found.value, found.floor, found.note) == (None, None, "the item has no gold plan")


def test_a_plan_that_is_not_known_is_no_empty_plan():
    found = metric(PLAN, "plan.recall").score(RatedResponse(plans(None, 3), {}), True)
    assert (found.value, found.floor, found.ceiling) == (None, None, None)
    assert found.note == "the plan of this response is not known"


# Missing cells


def test_a_missing_cell_leaves_a_range_and_no_value():
    # Not: matching 1 of 2 and 2; relevant: 2. F1 2/4 … 4/4.
    found = metric(PLAN, "plan.f1").score(scored_matrix([[1, 0], [0, None]]), False)
    assert (found.value, found.floor, found.ceiling) == (None, 1 / 2, 1)
    assert (found.n, found.missing) == (3, 1)
    assert found.note == "1 of 4 judgements are missing"


def test_over_valid_a_sub_task_with_a_missing_cell_is_left_out():
    # Of the first row alone: TP 1, FP 0, FN 1: P 1, R 1/2, F1 2/3, J 1/2.
    found = scores([[1, 0], [0, None]], over_valid=True)
    assert [one.value for one in found] == [1, 1 / 2, 2 / 3, 1 / 2]
    assert "over 1 of 2 predicted sub-tasks only" in found[0].note
    assert (found[0].floor, found[0].ceiling) == (1 / 2, 1)


@pytest.mark.parametrize("over_valid", [False, True])
def test_with_nothing_judged_anything_is_possible(over_valid):
    for found in scores([[None, None], [None, None]], over_valid=over_valid):
        assert (found.value, found.floor, found.ceiling, found.n, found.missing) == (None, 0, 1, 0, 4)


@settings(max_examples=60)
@given(
    st.integers(1, 3).flatmap(
        lambda gold: st.lists(st.lists(CELLS, min_size=gold, max_size=gold), min_size=1, max_size=3)
    )
)
@pytest.mark.parametrize("prefix", ["plan", "plan_any"])
def test_the_range_is_that_of_all_ways_to_fill_what_is_missing(prefix, rows):
    places = [(i, j) for i, row in enumerate(rows) for j, cell in enumerate(row) if cell is None]
    could_be = [[] for _ in FIGURES]
    for filling in product([True, False], repeat=len(places)):
        full = [list(row) for row in rows]
        for (i, j), cell in zip(places, filling, strict=True):
            full[i][j] = cell
        for own, value in zip(could_be, values(full, prefix), strict=True):
            own.append(value)
    for own, found in zip(could_be, scores(rows, prefix), strict=True):
        assert (found.floor, found.ceiling) == (min(own), max(own))


def test_another_value_is_refused():
    with pytest.raises(ValueError, match="relevant or not"):
        metric(PLAN, "plan.f1").score(RatedResponse(plans(1, 1), {"p1~g1": "yes"}), False)


def test_the_readings_count_a_missing_cell_as_no_match():
    cells = ((None, True), (None, None))
    assert (one_to_one(cells, 2).right, any_match(cells, 2).right, any_match(cells, 2).found) == (1, 1, 1)


# Cases


def test_a_case_is_a_predicted_sub_task_and_a_unit_a_gold_one():
    drawn, gold = plan("p", ["Do this.", "Do that."]), plan("g", ["One.", "Two.", "Three."])
    found = list(PLAN.cases(material(documents={Kind.PLAN: gold}, parts={ResponsePart.PLAN: drawn})))
    assert [case.given for case in found] == [
        {"predicted sub-task": "Do this."},
        {"predicted sub-task": "Do that."},
    ]
    assert [unit.id for unit in found[1].units] == ["p2~g1", "p2~g2", "p2~g3"]
    assert [unit.text for unit in found[1].units] == ["One.", "Two.", "Three."]
    assert {case.artifact_id for case in found} == {"artifact of plan"}


@pytest.mark.parametrize(("predicted", "gold"), [(None, 2), (0, 2), (2, 0)])
def test_where_a_plan_is_lacking_there_is_nothing_to_ask(predicted, gold):
    assert list(PLAN.cases(plans(predicted, gold))) == []


def test_ids_of_cells_fit_whatever_the_ids_of_sub_tasks():
    uuid, long = "9d6d5c0e-57a5-5b7e-9b0a-0f6f3e0d6a11", "x" * 80
    assert cell_id(uuid, uuid) == f"{uuid}~{uuid}"
    assert len(cell_id(long, long)) <= 80
    assert len({cell_id(long, "a"), cell_id(long[1:], "a"), cell_id("a", long)}) == 3
    assert cell_id("a~b", "c") != cell_id("a", "b~c")


def test_what_an_item_lacks_is_said():
    assert PLAN.lacks({}, 1, ()) == ["a plan", "the plan of a response"]
    assert PLAN.unit_kind is Kind.PLAN
