"""Scores, their intervals, what is missing, and the judgements behind them."""

import asyncio

import pytest

from annotator.actions.judging import judge_runs
from annotator.actions.labelling import label_tasks, labels
from annotator.actions.project.file import Project
from annotator.actions.results import result_raters, results, results_behind
from annotator.actions.results.result_sheets import FigureSource
from annotator.actions.runs import judge_cases
from annotator.protocols import USUAL
from tests.projects.labelling_project import submit_labels
from tests.projects.small_project import units_of
from tests.storage import sql


def label_all(project: Project, verdicts: dict[str, list[str]]) -> None:
    """Label each report, blind name first, with verdicts in the order of the rubric."""
    for task in label_tasks.queue(project):
        units = units_of(project, task.item_id)
        for unit, verdict in zip(units, verdicts[system_of(project, task.response_id)], strict=True):
            labels.set_label(project, task.response_id, unit, verdict)
    submit_labels(project)


def system_of(project: Project, response_id: str) -> str:
    question = "SELECT s.name FROM system s JOIN response r ON r.system_id = s.id WHERE r.id = ?"
    return str(sql.first(project, question, [response_id])[0])


def figure(project: Project, system: str, group: str = "all") -> results.ResultRow:
    return next(r for r in results.rows(project) if r.system == system and r.group == group)


def test_a_score_is_the_covered_weight_over_all_weight(project: Project) -> None:
    label_all(project, {"Alpha": ["yes", "no", "yes"], "Beta": ["no", "yes", "no"]})
    assert figure(project, "Alpha").estimate.value == pytest.approx((3 + 1) / (3 + 2 + 1))
    assert figure(project, "Beta").estimate.value == pytest.approx(2 / 6)


def test_figures_stand_for_all_items_each_type_and_each_subject(project: Project) -> None:
    label_all(project, {"Alpha": ["yes", "no", "yes"], "Beta": ["no", "yes", "no"]})
    groups = {
        (row.group_by, row.group): row.estimate.n for row in results.rows(project) if row.system == "Alpha"
    }
    assert groups == {
        ("all", "all"): 2,
        ("question_type", "Open Consulting"): 1,
        ("question_type", "Technical Details"): 1,
        ("subject", "Deep learning"): 2,
    }


def test_an_unsure_label_is_missing_and_bounds_the_score(project: Project) -> None:
    label_all(project, {"Alpha": ["yes", "no", "unsure"], "Beta": ["no", "no", "no"]})
    found = figure(project, "Alpha").estimate
    assert found.missing == 2
    assert found.value == pytest.approx(3 / 5)
    assert (found.floor, found.ceiling) == (pytest.approx(3 / 6), pytest.approx(4 / 6))
    assert figure(project, "Beta").estimate.value == 0


def test_people_are_averaged_and_a_judge_is_told_apart(project: Project) -> None:
    label_all(project, {"Alpha": ["yes", "yes", "yes"], "Beta": ["no", "no", "no"]})
    asyncio.run(judge_runs.run(project, judge_cases.RunRequest("baseline")))
    assert [rater.name for rater in result_raters.raters(project)] == ["baseline", "people"]
    assert {row.rater for row in results.rows(project)} == {"baseline"}
    assert {row.rater for row in results.rows(project, "people")} == {"people"}


def test_behind_a_figure_stand_its_judgements_in_the_order_of_the_rubric(project: Project) -> None:
    label_all(project, {"Alpha": ["yes", "no", "yes"], "Beta": ["no", "yes", "no"]})
    row = figure(project, "Alpha", "Technical Details")
    lines = results_behind.of_source(
        project, FigureSource(USUAL, row.rater_id, "", row.system_id, row.group_by, row.group)
    )
    assert [(line.unit, line.weight, line.judgement.value) for line in lines] == [
        ("Explains residual connections", 3, "yes"),
        ("Compares training stability", 2, "no"),
        ("Names one dataset", 1, "yes"),
    ]


def test_without_judgements_there_are_no_rows(project: Project) -> None:
    assert results.rows(project) == []
