"""That a judge that has changed is noticed, and that judges come back from a release as they were."""

import asyncio
import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.imports import imports
from annotator.actions.items.extracts import NewExtract
from annotator.actions.judges import judges
from annotator.actions.judging import derived_judges, drift, judge_runs
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.results import results
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.extract import ResponsePart
from annotator.protocols import USUAL
from tests.judging.odd_server import Odd, OddServer, completion, error
from tests.material import drawn_extracts
from tests.projects.attacked_project import judged_project
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import small_project
from tests.servers.served import JUDGE, add_judge, answering
from tests.storage import sql

# Two items with three criteria, two systems.
ALL = 12
DATASET = "Names one dataset"


@pytest.fixture
def project(tmp_path: Path, server: OddServer) -> Project:
    """A project in which the judge has said yes to everything, and all of it is frozen."""
    project = judged_project(tmp_path, server, "yes")
    drift.anchor(project, JUDGE)
    return project


def check(project: Project, **how: Any) -> dict[str, Any]:
    return asyncio.run(drift.check(project, RunRequest(JUDGE, **how)))


def test_a_judge_that_stayed_the_same_agrees_with_itself_and_is_asked_afresh_each_time(
    project: Project, server: OddServer
) -> None:
    result = check(project)["drift"]
    assert (result["units"], result["compared"], result["agreement"]["value"]) == (ALL, ALL, 1.0)
    assert (result["changed"], result["differences"], result["missing"]) == ((), {}, {})
    assert len(server.bodies) == ALL
    check(project)
    assert len(server.bodies) == 2 * ALL
    assert len(drift.reports(project)) == 2


def test_changes_are_listed_and_make_no_result(project: Project, server: OddServer) -> None:
    assert not drift.sheets(drift.report(project))
    before = [results.plain(row) for row in results.rows(project)]
    server.answer = answering(lambda criterion: "no" if criterion == DATASET else "yes")
    check(project)
    (result,) = drift.reports(project, JUDGE)
    # One of the three criteria of each of four reports.
    assert result.agreement.value == pytest.approx(8 / 12)
    assert {(one.item, one.system, one.before, one.after) for one in result.changed} == {
        (item, system, "yes", "no") for item in "12" for system in ("Alpha", "Beta")
    }
    assert "4 verdicts changed." in result.words()[0]
    assert [results.plain(row) for row in results.rows(project)] == before
    drift.anchor(project, JUDGE, again=True)
    check(project)
    whole, changed = (
        [[cell.words for cell in line.cells] for line in sheet.lines]
        for sheet in drift.sheets(drift.report(project, judge=JUDGE))
    )
    assert [(line[1], line[5:9]) for line in whole] == 2 * [(JUDGE, ["4", "12", "none", "nothing"])]
    assert ({tuple(line[4:]) for line in changed}, len(changed)) == ({(DATASET, "yes", "no")}, 8)


def test_another_model_behind_the_same_name_is_named_and_what_does_not_come_again_counted(
    project: Project, server: OddServer
) -> None:
    yes = answering(lambda criterion: "yes")

    def renewed(body: dict[str, Any], number: int) -> Odd:
        odd = yes(body, number)
        tree = json.loads(odd.body) | {"model": "test-model-2", "system_fingerprint": "fp-2"}
        return replace(odd, body=json.dumps(tree))

    server.answer = renewed
    result = check(project)["drift"]
    assert (result["differences"]["returned_model"][1], result["agreement"]["value"]) == (
        ("test-model-2",), 1.0,
    )  # fmt: skip
    server.answer = lambda body, number: completion(None, refusal="No.")
    result = check(project)["drift"]
    assert (result["compared"], result["missing"], result["agreement"]["value"]) == (
        0, {"refused": ALL}, None,
    )  # fmt: skip


def test_a_check_that_was_stopped_is_gone_on_with_and_asks_nothing_twice(
    project: Project, server: OddServer
) -> None:
    daily = replace(error(429, "daily quota"), headers={"retry-after": "86400"})
    yes = answering(lambda criterion: "yes")
    server.answer = lambda body, number: yes(body, number) if len(server.bodies) <= 5 else daily
    stopped = check(project, concurrency=1)
    assert (stopped["state"], "drift" in stopped) == ("interrupted", False)
    assert drift.reports(project) == []
    rest = asyncio.run(orders.foreseen(project, RunRequest(JUDGE, drift.PREFIX + USUAL)))
    assert (rest.calls, rest.in_journal) == (ALL - 5, 5)
    server.answer, asked = yes, len(server.bodies)
    ended = asyncio.run(orders.carry_out(project, orders.unfinished(project, JUDGE)))
    assert ended["drift"]["compared"] == ALL
    assert len(server.bodies) - asked == ALL - 5


def test_anchor_sets_are_frozen_for_what_is_there(project: Project) -> None:
    expect_refusal("no system “Gamma”", drift.anchor, project, JUDGE, again=True, systems=["Gamma"])
    expect_refusal("no item “9”", drift.anchor, project, JUDGE, again=True, items=["9"])
    drift.anchor(project, JUDGE, again=True, systems=["Beta"], items=["2"])
    frozen = drift.anchored(project, JUDGE)
    assert (len(frozen.units), len({unit.item_id for unit in frozen.units})) == (3, 1)
    before = drift.anchored(project, JUDGE)
    expect_refusal("has an anchor set", drift.anchor, project, JUDGE, size=3)
    assert drift.anchored(project, JUDGE) == before
    drift.anchor(project, JUDGE, size=3, again=True)
    assert len(drift.anchored(project, JUDGE).units) == 3


def test_only_anchored_units_are_asked_and_priced_and_whole_reports_where_several_are_asked_together(
    project: Project, server: OddServer
) -> None:
    drift.anchor(project, JUDGE, size=4, again=True)
    result = asyncio.run(orders.foreseen(project, RunRequest(JUDGE, drift.PREFIX + USUAL)))
    assert (result.units, result.calls, result.in_journal, result.calls_afresh) == (4, 4, 0, 4)
    assert server.bodies == []
    result = check(project)["drift"]
    assert (result["units"], result["compared"], len(server.bodies)) == (4, 4, 4)
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE, together=3)))
    name = f"{JUDGE}, 3 together"
    assert len(drift.anchor(project, name, size=4).after["units"]) == 6
    server.bodies.clear()
    result = asyncio.run(drift.check(project, RunRequest(name)))["drift"]
    assert (result["compared"], len(server.bodies)) == (6, 2)


def test_without_verdicts_there_is_no_anchor_and_without_an_anchor_nothing_is_asked(
    project: Project, server: OddServer
) -> None:
    add_judge(project, server, "new")
    expect_refusal("calls no model", drift.anchor, project, "baseline")
    expect_refusal("has no verdicts", drift.anchor, project, "new")
    expect_refusal("has no anchor set", asyncio.run, drift.check(project, RunRequest("new")))
    assert server.bodies == []
    assert judge_runs.title(drift.PREFIX + USUAL) == "Drift check: Coverage of expert criteria"


@pytest.fixture
def asked_project(tmp_path: Path, server: OddServer) -> Project:
    asked_project = small_project(tmp_path)
    add_judge(asked_project, server, asking='{"weights_shown": true}')
    for order in (RunRequest(JUDGE, trials=3), RunRequest(JUDGE, together=2)):
        asyncio.run(judge_runs.run(asked_project, order))
    derived_judges.add(asked_project, "vote", [JUDGE])
    asyncio.run(judge_runs.run(asked_project, RunRequest("vote")))
    return asked_project


def test_judges_come_back_as_they_were_asked(asked_project: Project, tmp_path: Path) -> None:
    releases.export(asked_project, tmp_path / "out")
    with closing(Project.create(tmp_path / "taken.goldsmith", "small")) as taken:
        imports.run(taken, "goldsmith", [tmp_path / "out"], warm=False)
        there, here = (
            {judge.name: (judge.kind, judge.settings, judge.parameters) for judge in judges.all_of(each)}
            for each in (taken, asked_project)
        )
        assert there["distant, 2 together"][1].together == 2
        assert there["vote"][0] == JudgeKind.DERIVED
        assert there == here
        assert str(imports.run(taken, "goldsmith", [tmp_path / "out"], warm=False)[1]) == "nothing new"
        assert len(results.rows(taken, judges.named(taken, "vote").id)) == len(
            results.rows(asked_project, judges.named(asked_project, "vote").id)
        )


def test_judgements_on_what_was_drawn_leave(asked_project: Project, tmp_path: Path) -> None:
    sql.alter(asked_project, "UPDATE judgement SET artifact_id = 'gone' WHERE rowid = 1")
    bundle, notes = releases.gather(asked_project)
    assert notes == ["Left out: 1 judgement on units that are not part of the release."]
    assert all(record.artifact_id != "gone" for record in bundle.judgements)
    item_id, response_id = sql.first(asked_project, "SELECT item_id, id FROM response")
    plan = Plan(units=(Subtask(id="s1", text="Search."),))
    drawn = drawn_extracts.keep(
        asked_project, NewExtract(item_id, response_id, ResponsePart.PLAN, plan, "import")
    ).subject
    sql.alter(asked_project, "UPDATE judgement SET artifact_id = ?, unit_id = 's1' WHERE rowid = 1", [drawn])
    bundle, notes = releases.gather(asked_project)
    assert notes == []
    assert [record.unit_id for record in bundle.judgements if record.artifact_id == drawn] == ["s1"]
