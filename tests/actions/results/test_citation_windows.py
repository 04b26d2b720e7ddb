"""Sentences drawn, judged outwards and shown window by window, from a report in a project."""

import asyncio
from pathlib import Path

import pytest

from annotator.actions.authoring import settings
from annotator.actions.items import items, pages
from annotator.actions.judges import judges
from annotator.actions.judging import forecasts, judge_runs
from annotator.actions.judging.judge_runs import JudgeRun
from annotator.actions.material import extracting
from annotator.actions.papers import paper_tables
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.results import results, scoring
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.studies import result_views
from annotator.domain.material.item import Page, PageState
from annotator.domain.texts.canonical import now
from annotator.domain.texts.refusal import Refusal
from tests.projects.labelling_project import add_report

COVERAGE = "deepscholar.coverage"
# The second sentence is borne out by the source of the first, the last by that two sentences away.
REPORT = """\
Oaks shade pavements [1]. Oaks cool playgrounds. Quarks collide [2]. Pigeons nest everywhere.

[1]: http://a.org/oaks
[2]: http://a.org/elms
"""
TEXTS = {
    "http://a.org/oaks": "Oaks shade pavements and cool playgrounds.",
    "http://a.org/elms": "Elms rustle.",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = new_project(tmp_path / "windows.gold")
    add_report(made, items.add(made, "Write on trees.").subject, "Alpha", REPORT)
    for url, text in TEXTS.items():
        pages.take_in(made, Page(url=url, state=PageState.OK, text=text, fetched_at=now()))
    asyncio.run(extracting.run(made, RunRequest("baseline", "deepscholar.sentences")))
    return made


def covered(project: Project) -> dict[str, float | None]:
    (sheet,) = result_views.show(project, "windows", {}, among=paper_tables.VIEWS).sheets
    (line,) = sheet.lines
    return dict(zip(sheet.keys[1:], (cell.worth for cell in line.cells[1:]), strict=True))


def test_what_is_judged_once_is_shown_for_every_window_and_a_wider_one_asks_only_for_what_is_new(
    project: Project,
) -> None:
    order = RunRequest("baseline", COVERAGE)
    assert asyncio.run(judge_runs.run(project, order))["state"] == "done"
    assert covered(project) == {"w0": 1 / 4, "w1": 2 / 4}
    rows = results.rows(project, protocol=COVERAGE)
    value = {row.metric: row.estimate.value for row in rows if row.group_by == scoring.ALL}
    assert value["claim_coverage"] == 2 / 4
    assert judge_runs.plan(project, order).to_do == 0
    assert not any(run_records.runs(project)[0].lacking.values())
    settings.widen(project, 2)
    # The first and the third sentence with each other's sources.
    assert judge_runs.plan(project, order).to_do == 2
    asyncio.run(judge_runs.run(project, order))
    assert judge_runs.plan(project, order).to_do == 0
    assert list(covered(project)) == ["w0", "w1", "w2"]


def test_reports_are_counted_by_system(project: Project) -> None:
    (sheet,) = result_views.show(project, "report-statistics", {}, among=paper_tables.VIEWS).sheets
    (line,) = sheet.lines
    assert [cell.worth for cell in line.cells[3:]] == [len(REPORT.partition("\n\n")[0].split()), 4, 2, 2]


@pytest.mark.parametrize("width", [0, 6])
def test_no_other_window_is_taken(project: Project, width: int) -> None:
    with pytest.raises(Refusal, match="1 to 5"):
        settings.widen(project, width)
    assert settings.width(project) == 1


def test_a_forecast_says_that_fewer_calls_may_do(project: Project) -> None:
    judges.add(project, "model", base_url="http://127.0.0.1:9/v1", model="gpt-4o-mini")
    result = asyncio.run(forecasts.of(JudgeRun(project, RunRequest("model", COVERAGE))))
    # One and two places of four sentences: its own sources or the task, and those of the sentence beside it that cites.
    assert result.calls == 1 + 3 + 1 + 2
    assert "by at most 7 calls" in result.words()[0]


def test_views_of_one_part_stand_together() -> None:
    parts = [view.part for view in paper_tables.VIEWS]
    assert len([at for at, part in enumerate(parts) if not at or parts[at - 1] != part]) == len(set(parts))
