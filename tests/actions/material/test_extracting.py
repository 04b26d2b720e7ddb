"""How parts are drawn from responses by the same run as judging."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.material import extracting
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Extracted
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.material.part import ResponsePart
from annotator.protocols import EXTRACTIONS
from tests.judging.odd_server import OddServer, completion, error
from tests.material import drawn_extracts
from tests.material.extraction import TINY_PLAN
from tests.projects.refusals import expect_refusal
from tests.projects.small_project import small_project
from tests.servers.served import JUDGE, add_judge
from tests.storage import sql

STEP = completion('{"step": "Search."}')


@pytest.fixture
def server(server: OddServer) -> OddServer:
    server.script(STEP)
    return server


@pytest.fixture
def project(tmp_path: Path, server: OddServer, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setitem(EXTRACTIONS, TINY_PLAN.name, TINY_PLAN)
    project = small_project(tmp_path)
    add_judge(project, server)
    return project


def run(project: Project, judge: str = JUDGE, **how: Any) -> dict[str, Any]:
    return asyncio.run(extracting.run(project, RunRequest(judge, TINY_PLAN.name, **how)))


def steps(project: Project) -> list[list[str]]:
    rows = sql.rows(project, "SELECT content FROM extract ORDER BY rowid")
    return [[unit["text"] for unit in json.loads(content)["units"]] for (content,) in rows]


def test_every_response_is_drawn_from_with_as_many_calls_as_it_takes(
    project: Project, server: OddServer
) -> None:
    ended = run(project)
    assert (ended["state"], ended["done"], ended["total"], ended["missing"]) == ("done", 4, 4, {})
    # Each of the four reports has a title and one paragraph.
    assert (len(server.bodies), steps(project)) == (8, [["Search.", "Search."]] * 4)
    (origin, run_id, flags) = sql.first(project, "SELECT origin, run_id, flags FROM extract")
    assert (origin.split(":")[0], run_id, flags) == ("judge", ended["run"], "noted")
    assert sql.first(project, "SELECT count(*) FROM call")[0] == ended["calls"]
    assert sql.first(project, "SELECT count(*) FROM judgement")[0] == 0
    assert checking.check(project).problems == []


def test_a_finished_one_is_not_asked_again(project: Project, server: OddServer) -> None:
    run(project, systems=("Alpha",))
    asked = len(server.bodies)
    plan = extracting.plan(project, RunRequest(JUDGE, TINY_PLAN.name))
    assert (plan.total, plan.to_do, plan.things) == (4, 2, "reports")
    assert run(project)["judged_now"] == 2
    assert len(server.bodies) == 2 * asked


def test_what_fails_leaves_its_calls_and_is_drawn_by_the_next_run(
    project: Project, server: OddServer
) -> None:
    server.answer = lambda body, number: (
        STEP if number != 1 else error(400, "too much", code="context_length_exceeded")
    )
    assert (run(project, concurrency=1)["missing"], len(steps(project))) == ({"too_long": 1}, 3)
    (line,) = run_records.runs(project)
    assert (line.done, line.total, line.open) == (3, 4, True)
    server.script(STEP)
    again = run(project)
    assert (again["judged_now"], again["reused"], len(steps(project))) == (1, 1, 4)


def test_a_run_that_was_stopped_is_gone_on_with(project: Project, server: OddServer) -> None:
    daily = replace(error(429, "daily quota"), headers={"retry-after": "86400"})
    server.answer = lambda body, number: STEP if number < 3 else daily
    assert run(project, concurrency=1)["state"] == "interrupted"
    server.script(STEP)
    before = len(server.bodies)
    ended = asyncio.run(orders.carry_out(project, orders.unfinished(project, concurrency=1)))
    assert (ended["state"], ended["reused"], len(steps(project))) == ("done", 1, 4)
    # Of eight steps three were drawn before.
    assert len(server.bodies) - before == 5
    assert [line.state for line in run_records.runs(project)] == ["done"]


def test_the_baseline_draws_without_a_call_and_whoever_corrects_it_has_the_last_word(
    project: Project, server: OddServer
) -> None:
    run(project, "baseline")
    assert server.bodies == []
    assert steps(project)[0][0] == "# Alpha"
    response = sql.first(project, "SELECT response_id FROM extract")[0]
    drawn = drawn_extracts.parts_of(project, response)[ResponsePart.PLAN].document
    drawn_extracts.write(project, response, ResponsePart.PLAN, drawn.with_units(drawn.units[:1]))
    run(project)
    assert len(drawn_extracts.parts_of(project, response)[ResponsePart.PLAN].document.units) == 1


def test_what_is_drawn_from_items_is_drawn_once_each(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def insight(material: Any) -> Extracted:
        return Extracted(Insights(units=(Insight(text=material.item.question),)))

    of_items = replace(TINY_PLAN, name="tiny.insights", makes=Kind.INSIGHTS, baseline=insight)
    monkeypatch.setitem(EXTRACTIONS, of_items.name, of_items)
    order = RunRequest("baseline", of_items.name)
    ended = asyncio.run(extracting.run(project, order))
    assert (ended["done"], ended["deed"]) == (2, "items read for steps")
    assert steps(project) == [["What do residual connections do?"], ["Who?"]]
    assert extracting.plan(project, order).to_do == 0


def test_what_cannot_be_drawn_is_refused_or_missing_with_its_cause(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = replace(TINY_PLAN, baseline=lambda _: Extracted(None, Status.UNCLEAR, "There is no plan in it."))
    monkeypatch.setitem(EXTRACTIONS, TINY_PLAN.name, empty)
    assert run(project, "baseline")["missing"] == {"unclear": 4}
    assert steps(project) == []
    expect_refusal(
        "There is no extraction “nowhere”", asyncio.run, extracting.run(project, RunRequest(JUDGE, "nowhere"))
    )
    monkeypatch.setitem(EXTRACTIONS, TINY_PLAN.name, replace(TINY_PLAN, baseline=None))
    expect_refusal("no baseline", run, project, "baseline")
