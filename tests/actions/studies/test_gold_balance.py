"""How many gold statements are true, and how long gold plans are."""

from pathlib import Path

import pytest

from annotator.actions.project.people import new_project
from annotator.actions.studies import gold_balance
from tests.projects import adra_project as adra


def test_the_share_of_true_statements_and_the_mean_plan_length(tmp_path: Path) -> None:
    project = adra.adra_project(tmp_path, 2)
    found = gold_balance.report(project)
    # Two of four statements of each item are true; both plans have four steps.
    assert (found.balance.overall.value, found.balance.overall.n) == (0.5, 8)
    assert found.plan_length.value == pytest.approx(4.0)
    (sheet,) = gold_balance.sheets(found)
    assert [cell.words for cell in sheet.lines[0].cells[2:]] == ["4", "0.500", "4"]
    project.close()


def test_without_gold_there_is_nothing_to_balance(tmp_path: Path) -> None:
    project = new_project(tmp_path / "none.goldsmith")
    assert gold_balance.sheets(gold_balance.report(project)) == ()
    project.close()
