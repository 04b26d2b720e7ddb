"""That a run by way of a provider's batches outlives the program, is paid for once, and can be withdrawn."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest

from annotator.actions.judging import judge_runs
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.runs import run_kind, run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.judging.batches import batching
from tests.judging.batch_server import BatchServer, Results, answered, failed
from tests.judging.odd_server import Odd, completion, error
from tests.projects.refusals import expect_refusal
from tests.servers.served import JUDGE, serving_batches
from tests.storage import sql

pytestmark = pytest.mark.usefixtures("distant_judge")

# Two items with three criteria, two systems.
ALL = 12


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    monkeypatch.setattr(batching, "FIRST_LOOK_S", 0.01)
    with serving_batches() as server:
        yield server


def run(project: Project, **how: Any) -> dict[str, Any]:
    return asyncio.run(judge_runs.run(project, RunRequest(JUDGE, **{"batch": True} | how)))


def left_with_the_provider(project: Project, server: BatchServer) -> dict[str, Any]:
    """A run that is cancelled as soon as its batch is out and was looked at."""

    def lines() -> Iterator[str]:
        while not (server.posts("batches") > 0 and server.seen[-1][0] == "GET"):
            time.sleep(0.005)
        yield "cancel\n"

    server.looks = 10**9
    ended = asyncio.run(judge_runs.run(project, RunRequest(JUDGE, batch=True), listen=lines()))
    server.looks = 0
    return ended


def statuses(project: Project) -> dict[str, int]:
    return dict(sql.rows(project, "SELECT status, count(*) FROM judgement GROUP BY status"))


def test_a_run_goes_by_one_batch_but_for_its_first_question_and_is_told_line_by_line(
    project: Project, server: BatchServer
) -> None:
    server.looks, told = 3, list[dict[str, Any]]()
    ended = asyncio.run(judge_runs.run(project, RunRequest(JUDGE, batch=True), tell=told.append))
    assert (ended["state"], ended["done"], ended["total"], ended["missing"]) == ("done", ALL, ALL, {})
    assert (len(server.bodies), len(server.made), len(server.named())) == (1, 1, ALL - 1)
    assert (statuses(project), run_kind.out(project)) == ({"ok": ALL}, [])
    waiting = [line for line in told if "batches" in line]
    assert (waiting[0]["batches"]["out"], waiting[0]["batches"]["questions"]) == (1, ALL - 1)
    assert waiting[-1]["batches"]["fates"] == {"answered": ALL - 1}
    assert {line["event"] for line in waiting} == {"progress"}


def test_a_batch_that_is_out_is_listed_not_asked_live_beside_and_fetched_by_the_next_start(
    project: Project, server: BatchServer
) -> None:
    assert left_with_the_provider(project, server)["state"] == "cancelled"
    (out,) = run_kind.out(project)
    assert (out.judge, out.questions, out.stage, out.status) == (JUDGE, ALL - 1, "sent", "validating")
    assert "11 questions, validating, to be answered by" in out.words()
    expect_refusal("still with the provider", run, project, batch=False)
    expect_refusal("still with the provider", run, project, systems=("Alpha",))
    ended = asyncio.run(orders.carry_out(project, orders.unfinished(project)))
    assert (ended["state"], ended["done"], len(server.made), len(server.bodies)) == ("done", ALL, 1, 1)
    assert statuses(project) == {"ok": ALL}


def test_what_a_batch_leaves_over_is_asked_live(project: Project, server: BatchServer) -> None:
    server.work = lambda requests: Results(
        [answered(each["custom_id"], server.answer(each["body"], 0)) for each in requests[3:]],
        [failed(requests[0]["custom_id"]), failed(requests[1]["custom_id"], "batch_expired")],
    )
    ended = run(project)
    assert (ended["done"], ended["missing"]) == (ALL, {})
    # The first question, one that failed, one that expired, one that is in neither file.
    assert len(server.bodies) == 4
    assert statuses(project) == {"ok": ALL}


def test_a_withdrawn_batch_gives_what_it_has_and_the_rest_stays_unjudged(
    project: Project, server: BatchServer
) -> None:
    left_with_the_provider(project, server)
    server.looks = 2
    server.work = lambda requests: Results(
        [answered(requests[0]["custom_id"], server.answer(requests[0]["body"], 0))]
    )
    assert asyncio.run(run_kind.withdraw(project, JUDGE)) == 1
    ended = asyncio.run(orders.carry_out(project, orders.unfinished(project)))
    assert (ended["state"], len(server.bodies), "cancelled" in ended["cause"]) == ("interrupted", 1, True)
    assert statuses(project) == {"ok": 2}
    assert asyncio.run(orders.carry_out(project, orders.unfinished(project)))["done"] == ALL


def test_a_unit_that_a_batched_reply_leaves_out_is_not_served_from_it_again(
    project: Project, server: BatchServer
) -> None:
    whole = server.answer
    server.work = lambda requests: Results(
        [answered(each["custom_id"], completion('{"answers": []}')) for each in requests]
    )
    assert run(project, together=3)["missing"] == {"invalid": ALL - 3}
    server.work = lambda requests: Results(
        [answered(each["custom_id"], whole(each["body"], 0)) for each in requests]
    )
    assert run(project, together=3)["missing"] == {}
    assert statuses(project) == {"ok": ALL}


def test_batches_of_a_provider_that_is_gone_are_given_up_and_asked_anew(
    project: Project, server: BatchServer
) -> None:
    left_with_the_provider(project, server)
    server.fault = lambda method, path, number: error(401, "no such account")
    expect_refusal("cannot be reached or used", asyncio.run, run_kind.withdraw(project))
    assert run_kind.forget(project, JUDGE) == 1
    assert run_kind.out(project) == []
    assert run(project, batch=False)["done"] == ALL


def test_what_takes_no_batches_says_so_and_the_run_can_be_begun_again(
    project: Project, server: BatchServer
) -> None:
    expect_refusal("asks no model", asyncio.run, judge_runs.run(project, RunRequest("baseline", batch=True)))
    assert run_records.runs(project) == []

    def no_session(method: str, path: str, number: int) -> Odd | None:
        return error(404, "no such path") if path == "/v1/files" else None

    server.fault = no_session
    expect_refusal("takes no batches", run, project)
    assert [line.state for line in run_records.runs(project)] == ["interrupted"]
    assert (run(project, batch=False)["done"], len(server.bodies)) == (ALL, ALL)
