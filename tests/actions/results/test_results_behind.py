"""The way down from a figure: its items, and behind each of them the judgements."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import result_items, results_behind
from annotator.actions.results.result_sheets import FigureSource
from annotator.domain.experts.person import Role
from annotator.domain.texts.refusal import Refusal
from tests.projects import adra_project as adra

PLAN = "adra.plan"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Alpha and Beta on two items; Alpha's plans are judged, one cell of the second item is missing."""
    project = adra.adra_project(tmp_path, 2, ("Alpha", "Beta"))
    one, two = items.ids(project)
    adra.fill_matrix(project, one, adra.response_of(one), [[1, 0, 0, 0], [0, 1, 0, 0]])
    adra.fill_matrix(project, two, adra.response_of(two), [[1, 0, 0, None]])
    yield project
    project.close()


def words(project: Project, source: FigureSource) -> list[list[str]]:
    return [[cell.words for cell in line.cells] for line in result_items.behind(project, source).lines]


def test_behind_a_figure_stand_its_items_with_what_came_and_what_is_missing(project: Project) -> None:
    alpha = adra.derived_id("system", "Alpha")
    found = words(project, FigureSource(PLAN, adra.JUDGE, "plan.recall", alpha))
    # Two of four gold sub-tasks; of the second item the one row that is whole has none to count.
    assert [(row[0], row[2], row[5], row[6]) for row in found] == [
        ("1", "Alpha", "8", "0"),
        ("2", "Alpha", "3", "1"),
    ]
    assert found[0][4] == "0.500"
    # All missing not relevant: one of four found; relevant: still one row, so one of four.
    assert found[1][7] == "0.250 – 0.250"


def test_a_line_leads_to_the_judgements_of_its_response(project: Project) -> None:
    alpha = adra.derived_id("system", "Alpha")
    sheet = result_items.behind(project, FigureSource(PLAN, adra.JUDGE, "plan.recall", alpha))
    source = sheet.lines[1].source
    assert source is not None
    lines = results_behind.of_source(project, source)
    assert [(line.unit, line.judgement.value) for line in lines] == [
        (adra.GOLD_PLAN[0], "relevant"), (adra.GOLD_PLAN[1], "not"), (adra.GOLD_PLAN[2], "not"),
        (adra.GOLD_PLAN[3], None),
    ]  # fmt: skip


def test_one_unit_of_one_response_is_found(project: Project) -> None:
    one = items.ids(project)[0]
    source = FigureSource(PLAN, adra.JUDGE, item_id=one, response_id=adra.response_of(one), unit_id="p2~g2")
    assert [line.judgement.value for line in results_behind.of_source(project, source)] == ["relevant"]


def test_of_a_pair_both_orders_are_behind_it(project: Project) -> None:
    one = items.ids(project)[0]
    a, b = adra.response_of(one), adra.response_of(one, "Beta")
    adra.say(project, "researcherbench.pairwise", one, a, {b: "first"})
    adra.say(project, "researcherbench.pairwise", one, b, {a: "second"})
    source = FigureSource("researcherbench.pairwise", adra.JUDGE, item_id=one, response_id=a, unit_id=b)
    found = results_behind.of_source(project, source)
    assert [(line.system, line.unit, line.judgement.value) for line in found] == [
        ("Alpha", "Beta", "first"), ("Beta", "Alpha", "second"),
    ]  # fmt: skip


def test_what_was_computed_has_items_and_no_judgements(project: Project) -> None:
    sheet = result_items.behind(project, FigureSource("adra.efficiency", "computed", "tokens"))
    assert [line.source for line in sheet.lines] == [None] * 4
    assert "0 of 4 reports have a score" in sheet.told[0]


def test_only_a_coordinator_looks_behind(project: Project) -> None:
    people.add_person(project, "Ada", (Role.ANNOTATOR,))
    project.work_as(next(person for person in people.people(project) if person.name == "Ada"))
    with pytest.raises(Refusal, match="Only a coordinator"):
        result_items.behind(project, FigureSource(PLAN, adra.JUDGE, "plan.recall"))
