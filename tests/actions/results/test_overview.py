"""All figures side by side: what is shown of each, which are not publishable, and how they are told apart."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.results import overview, publishing, result_pictures
from annotator.actions.results.result_sheets import ResultSheet, SheetCell
from tests.projects import adra_project as adra


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Two items of two subjects; Alpha's plan finds 3 of 4 and 1 of 4, one of its 16 cells is missing."""
    project = adra.adra_project(tmp_path, 2)
    one, two = items.ids(project)
    rows = [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]
    adra.fill_matrix(project, one, adra.response_of(one), rows)
    adra.fill_matrix(project, two, adra.response_of(two), [[1, 0, 0, 0], [0, 0, 0, None]])
    yield project
    project.close()


def cell(sheet: ResultSheet, column: str, row: int = 0) -> SheetCell:
    return sheet.lines[row].cells[[one.title for one in sheet.columns].index(column)]


def shown(project: Project, **how: str) -> ResultSheet:
    (sheet,) = overview.sheets(overview.report(project), **how)
    return sheet


def test_all_metrics_stand_beside_one_another_with_n(project: Project) -> None:
    sheet = shown(project)
    recall = cell(sheet, "Plan recall (one-to-one)")
    assert recall.estimate is not None
    # Of the second plan the whole row alone counts: 1 of 4; 3 of 4 in the first.
    assert recall.estimate.value == pytest.approx((3 / 4 + 1 / 4) / 2)
    assert (recall.estimate.n, recall.estimate.missing) == (2, 1)
    head = next(one for one in sheet.columns if one.title == "Plan recall (one-to-one)")
    assert head.beside == "n = 2"


def test_what_is_missing_is_counted_once_however_many_metrics_stand_on_it(project: Project) -> None:
    assert "1 judgement is missing behind these figures; none is counted as an answer." in shown(project).told


def test_a_figure_above_the_limit_is_marked_and_says_why(project: Project) -> None:
    # 1 of 20 cells is 5 %, not more than the limit of 5 %.
    assert cell(shown(project), "Plan recall (one-to-one)").state == "incomplete"
    publishing.set_limit(project, 0.04)
    found = cell(shown(project), "Plan recall (one-to-one)")
    assert found.state == "unfit"
    assert "5.0 % of the judgements are missing, more than 4.0 %" in found.tip
    assert any("8 figures are not publishable" in words for words in shown(project).told)


def test_one_metric_is_set_out_with_everything_that_belongs_to_it(project: Project) -> None:
    sheet = shown(project, metric="plan.recall", by="subject")
    rows = [[one.words for one in line.cells] for line in sheet.lines]
    assert [one.title for one in sheet.columns] == [
        "Subject", "System", "Plan recall (one-to-one)", "95 % interval", "Items", "Missing", "Share missing",
        "At least", "At most", "Publishable",
    ]  # fmt: skip
    # Item 1 is on NLP, item 2 on Vision: 1 of 8 cells missing; a second match would make it 2 of 4.
    assert rows == [
        ["NLP", "Alpha", "0.750", "–", "1", "0", "0.0 %", "–", "–", "yes"],
        ["Vision", "Alpha", "0.250", "–", "1", "1", "12.5 %", "0.250", "0.500", "no"],
    ]


def test_aspects_are_told_apart(project: Project) -> None:
    one = items.ids(project)[0]
    said = {"s1": "true", "s2": "true", "s3": "true", "s4": "false"}
    adra.say(project, "adra.reasoning", one, adra.response_of(one), said)
    sheet = shown(project, metric="reasoning.accuracy", by="facet")
    found = {line.cells[0].words: line.cells[2].value for line in sheet.lines}
    # Background: 1 of 1 right; problem: 0 of 1; results: 2 of 2.
    assert found == {"background": 1.0, "problem": 0.0, "results": 1.0}


def test_every_figure_names_what_it_stands_on_and_its_picture(project: Project) -> None:
    sheet = shown(project)
    found = cell(sheet, "Plan recall (one-to-one)")
    assert found.source is not None
    assert (found.source.metric, found.source.rater_id) == ("plan.recall", adra.JUDGE)
    picture = next(one for one in sheet.pictures if one.name == found.picture)
    assert result_pictures.dots(project, picture, result_pictures.PRINTED, 50).width == 360


def test_a_rater_who_judged_nothing_leaves_only_what_is_computed(project: Project) -> None:
    adra.answer(project, items.ids(project)[0], "Timed", latency_s=3.0)
    assert {row.metric for row in overview.report(project, "nobody").rows} == {"latency"}


def test_an_empty_project_has_no_figures(tmp_path: Path) -> None:
    project = new_project(tmp_path / "none.goldsmith")
    assert overview.sheets(overview.report(project)) == ()
    project.close()
