"""Judges leave in a release with how they are asked, and come back as they were."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from annotator.actions.imports import imports
from annotator.actions.items.extracts import NewExtract
from annotator.actions.judges import judges
from annotator.actions.judging import derived_judges, judge_runs
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.results import results
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.part import ResponsePart
from tests.judging.odd_server import OddServer
from tests.material import drawn_extracts
from tests.projects.small_project import small_project
from tests.servers.served import JUDGE, add_judge
from tests.storage import sql


@pytest.fixture
def project(tmp_path: Path, server: OddServer) -> Iterator[Project]:
    project = small_project(tmp_path)
    add_judge(project, server, asking='{"weights_shown": true}')
    for order in (RunRequest(JUDGE, trials=3), RunRequest(JUDGE, together=2)):
        asyncio.run(judge_runs.run(project, order))
    derived_judges.add(project, "vote", [JUDGE])
    asyncio.run(judge_runs.run(project, RunRequest("vote")))
    yield project
    project.close()


def test_judges_come_back_as_they_were_asked(project: Project, tmp_path: Path) -> None:
    releases.export(project, tmp_path / "out")
    with closing(Project.create(tmp_path / "taken.goldsmith", "small")) as taken:
        imports.run(taken, "goldsmith", [tmp_path / "out"], warm=False)
        there, here = (
            {judge.name: (judge.kind, judge.asked, judge.parameters) for judge in judges.all_of(each)}
            for each in (taken, project)
        )
        assert there["distant, 2 together"][1].together == 2
        assert there["vote"][0] == JudgeKind.DERIVED
        assert there == here
        assert str(imports.run(taken, "goldsmith", [tmp_path / "out"], warm=False)[1]) == "nothing new"
        assert len(results.rows(taken, judges.named(taken, "vote").id)) == len(
            results.rows(project, judges.named(project, "vote").id)
        )


def test_judgements_on_what_was_drawn_leave_with_it(project: Project, tmp_path: Path) -> None:
    item_id, response_id = sql.first(project, "SELECT item_id, id FROM response")
    plan = Plan(units=(Subtask(id="s1", text="Search."),))
    drawn = drawn_extracts.keep(
        project, NewExtract(item_id, response_id, ResponsePart.PLAN, plan, "import")
    ).subject
    sql.alter(project, "UPDATE judgement SET artifact_id = ?, unit_id = 's1' WHERE rowid = 1", [drawn])
    bundle, notes = releases.gather(project)
    assert notes == []
    assert [record.unit_id for record in bundle.judgements if record.artifact_id == drawn] == ["s1"]


def test_judgements_on_what_is_no_longer_drawn_stay_behind_and_are_counted(
    project: Project, tmp_path: Path
) -> None:
    sql.alter(project, "UPDATE judgement SET artifact_id = 'gone' WHERE rowid = 1")
    bundle, notes = releases.gather(project)
    assert notes == ["1 judgements on units that are not part of the release were left out."]
    assert all(record.artifact_id != "gone" for record in bundle.judgements)
