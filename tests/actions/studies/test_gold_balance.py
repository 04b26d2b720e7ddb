"""How many gold statements are true, and how long gold plans are."""

from pathlib import Path

import pytest

from annotator.actions.project.people import new_project
from annotator.actions.studies import gold_balance
from annotator.actions.studies.gold_balance import balance, mean_plan_length
from annotator.domain.kinds.diagnostics import Diagnostics
from tests.projects import adra_project as adra
from tests.protocols.adra.adra_material import plan, statements


def test_the_share_of_true_statements_and_the_mean_plan_length(tmp_path: Path) -> None:
    project = adra.adra_project(tmp_path, 2)
    found = gold_balance.report(project)
    # Two of four statements of each item are true; both plans have four steps.
    assert (found.balance.overall.value, found.balance.overall.n) == (0.5, 8)
    assert found.plan_length.value == pytest.approx(4.0)
    sheet, types, subjects = gold_balance.sheets(found)
    # Beside each type stands what it is; of the other two there is no question.
    assert [line.cells[2].value for line in types.lines] == [2, 0, 0]
    assert [types.lines[0].cells[place].value for place in (0, 3)] == ["Technical Details", 1.0]
    assert [line.cells[0].value for line in subjects.lines] == ["NLP", "Vision"]
    assert [cell.words for cell in sheet.lines[0].cells[2:]] == ["4", "0.500", "4"]
    project.close()


def test_without_gold_there_is_nothing_to_balance(tmp_path: Path) -> None:
    project = new_project(tmp_path / "none.goldsmith")
    assert gold_balance.sheets(gold_balance.report(project)) == ()
    project.close()


def test_the_share_of_the_paper():
    # H.1: 3 400 statements over 200 items, 17 each; 2 200 are true, 11 each: 64.71 %.
    found = balance({str(n): statements(*[True] * 11, *[False] * 6) for n in range(200)})
    assert (found.overall.value, found.overall.n) == (2200 / 3400, 3400)
    assert found.overall.value == pytest.approx(0.6471, abs=5e-5)
    assert {one.value for one in found.of_item.values()} == {11 / 17}


def test_the_overall_share_weighs_statements_not_items():
    # 1/1 and 0/3: overall 1/4, not 1/2.
    found = balance({"a": statements(True), "b": statements(False, False, False)})
    assert (found.of_item["a"].value, found.of_item["b"].value, found.overall.value) == (1, 0, 1 / 4)


def test_undecided_statements_are_missing():
    # Of the others 1/2; with the two undecided 1/4 … 3/4.
    one = balance({"a": statements(True, False, None, None)}).of_item["a"]
    assert (one.value, one.n, one.missing, one.floor, one.ceiling) == (1 / 2, 2, 2, 1 / 4, 3 / 4)
    assert one.note == "2 of 4 statements have no label"


def test_where_nothing_is_decided_there_is_no_share():
    found = balance({"a": statements(None), "b": Diagnostics()})
    assert (found.of_item["a"].value, found.of_item["a"].floor, found.of_item["a"].ceiling) == (None, 0, 1)
    assert (found.of_item["b"].value, found.of_item["b"].floor) == (None, None)
    assert found.overall.note == "no statement has a label"
    assert balance({}).overall.value is None


def test_the_mean_plan_length_of_the_paper():
    # H.1: 9.01 steps; 198 plans of nine and two of ten are 1 802 steps over 200.
    plans = {str(n): plan("g", ["x"] * (10 if n < 2 else 9)) for n in range(200)}
    assert mean_plan_length(plans).value == pytest.approx(1802 / 200) == pytest.approx(9.01)


@pytest.mark.usefixtures("small_cases")
def test_plans_of_five_and_ten_steps_are_seven_and_a_half_long():
    found = mean_plan_length({"a": plan("g", ["x"] * 5), "b": plan("h", ["x"] * 10)})
    # s = 5/√2, margin 12.7062 · 2.5.
    assert (found.value, found.n) == (7.5, 2)
    assert found.high == pytest.approx(7.5 + 12.7062 * 2.5, abs=1e-3)


def test_no_plans_have_no_length():
    assert mean_plan_length({}).value is None
