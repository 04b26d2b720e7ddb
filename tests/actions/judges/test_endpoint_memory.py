"""That what an endpoint turned down is not asked of it again at the next start."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.judges import endpoint_memory, judges
from annotator.actions.judging import judge_runs
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.texts.change import now
from annotator.judging.calls.client import Client, Endpoint
from annotator.judging.calls.limits import Limits
from annotator.judging.calls.prices import Prices
from annotator.judging.calls.sending import Sender
from tests.judging.odd_server import Odd, OddServer, error
from tests.projects.small_project import small_project
from tests.servers.served import JUDGE, add_judge, answering


@pytest.fixture
def server(server: OddServer) -> OddServer:
    yes = answering(lambda criterion: "yes")

    def picky(body: dict[str, Any], number: int) -> Odd:
        if "temperature" in body:
            return error(400, "Unsupported parameter: temperature", param="temperature")
        if body.get("response_format", {}).get("type") == "json_schema":
            return error(400, "json_schema is not known here", param="response_format")
        return yes(body, number)

    server.answer = picky
    return server


@pytest.fixture
def file(tmp_path: Path, server: OddServer) -> Path:
    project = small_project(tmp_path)
    add_judge(project, server, parameters='{"temperature": 0}')
    project.close()
    return project.path


def turned_down(file: Path, server: OddServer, system: str) -> int:
    """How many requests of a run the server turned down, in a program started anew."""
    server.bodies.clear()
    project = Project.open(file)
    ended = asyncio.run(judge_runs.run(project, RunRequest(JUDGE, systems=(system,), concurrency=1)))
    project.close()
    assert ended["missing"] == {}
    return sum("temperature" in body or "json_schema" in str(body) for body in server.bodies)


def test_what_was_turned_down_once_is_not_sent_at_the_next_start(file: Path, server: OddServer) -> None:
    assert turned_down(file, server, "Alpha") == 2
    assert turned_down(file, server, "Beta") == 0


def test_after_a_month_it_is_tried_again(
    file: Path, server: OddServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    turned_down(file, server, "Alpha")
    later = now() + timedelta(days=31)
    monkeypatch.setattr(endpoint_memory, "now", lambda: later)
    assert turned_down(file, server, "Beta") == 2


def test_thinking_that_is_billed_beside_the_cap_is_known_at_the_next_start(
    file: Path, server: OddServer
) -> None:
    def thinking(body: dict[str, Any], number: int) -> Odd:
        tree = json.loads(str(answering(lambda criterion: "yes")(body, number).body))
        tree["usage"] |= {"total_tokens": tree["usage"]["total_tokens"] + 700}
        return Odd(json.dumps(tree))

    server.answer = thinking
    project = Project.open(file)
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE, systems=("Alpha",))))
    sender = Sender(Client(Endpoint(server.url, "test-model")), Limits(1), Prices())
    endpoint_memory.recall(project, sender)
    project.close()
    assert sender.budget.beside == 700


def test_another_model_begins_with_everything(file: Path, server: OddServer) -> None:
    turned_down(file, server, "Alpha")
    project = Project.open(file)
    judges.add(project, "other", base_url=server.url, model="m-2", parameters='{"temperature": 0}')
    server.bodies.clear()
    asyncio.run(judge_runs.run(project, RunRequest("other", systems=("Alpha",), concurrency=1)))
    project.close()
    assert sum("temperature" in body for body in server.bodies) == 1


def test_an_endpoint_that_takes_everything_leaves_nothing_behind(file: Path, server: OddServer) -> None:
    server.answer = answering(lambda criterion: "yes")
    project = Project.open(file)
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE)))
    assert project.get(endpoint_memory.SETTING) is None
    project.close()
