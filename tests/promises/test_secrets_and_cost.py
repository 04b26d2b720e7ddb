"""What Goldsmith promises about money and secrets."""

import asyncio
import json
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from annotator.actions.attacks import attacking
from annotator.actions.attacks.attacking import AttackRequest
from annotator.actions.attacks.attacking import run as attack
from annotator.actions.judges import judges
from annotator.actions.judging import derived_judges, drift, forecasts, judge_runs
from annotator.actions.material import extracting
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.texts.refusal import Refusal
from annotator.judging.calls.prices import Budget
from annotator.judging.runner import run
from annotator.protocols import EXTRACTIONS
from tests.judging.batch_server import BatchServer, Results, Shelf, answered, batched
from tests.judging.odd_server import (
    TINY,
    WAYS_OF_TELLING,
    YES_JSON,
    Odd,
    OddServer,
    Used,
    asker,
    at_work,
    case,
    completion,
    error,
)
from tests.material.extraction import TINY_PLAN
from tests.projects.small_project import small_project
from tests.servers.served import JUDGE, asked_about

pytestmark = pytest.mark.anyio


class Meter:
    """Answers of any length, cut where a request says so, and what they come to by the server's own count.

    What is thought is cut as well only where it is told of as a part of what is written.
    """

    def __init__(self, seed: int, way: str = WAYS_OF_TELLING[0]) -> None:
        self._chance, self._way = Random(seed), way
        self.bills: list[float] = []

    def answer(self, body: dict[str, Any], number: int = 0, share: float = 1.0) -> Odd:
        wanted = int(10 ** self._chance.uniform(1, 4.5))
        cap = body.get("max_completion_tokens", body.get("max_tokens", wanted))
        asked, least = len(json.dumps(body)) // 3, int(self._way in Used.UNTOLD)
        thought = self._chance.choice((least, 1, wanted // 2))
        inside = not self._way.startswith(("thinking beside", "thinking in the total"))
        said = min(wanted, cap - min(thought, cap // 2) if inside else cap)
        used = Used(asked, asked // 4, said, min(thought, cap // 2) if inside else thought)
        tree = json.loads(str(completion(YES_JSON).body))
        tree["usage"] = used.told[self._way]
        self.bills.append(share * used.cost_usd)
        return Odd(json.dumps(tree), delay=0.002)

    def keeps(self, budget_usd: float) -> bool:
        return sum(self.bills) <= budget_usd + max(self.bills)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    words = "# system\nJudge the report.\n\n# user\nCriterion: {{criterion}}\nReport: {{report}}\n"
    (tmp_path / "tiny.md").write_text(words, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("way", "budget_usd", "at_once"),
    [
        *((way, 30.0, 64) for way in WAYS_OF_TELLING),
        *(
            (way, *sizes)
            for way in ("thinking inside", "thinking beside")
            for sizes in ((0.1, 8), (0.6, 2), (30.0, 1), (90.0, 16))
        ),
    ],
)
async def test_a_bill_is_right_or_unknown_and_no_budget_is_passed_by_more_than_one_call(
    folder: Path, way: str, budget_usd: float, at_once: int
) -> None:
    meter = Meter(at_once, way)
    with at_work(OddServer()) as server:
        server.answer = meter.answer
        async with asker(server.url, folder, concurrency=at_once, budget=Budget(budget_usd)) as asks:
            ended = await run(TINY, map(case, range(60)), asks, concurrency=at_once, record=lambda _: None)
    assert bool(meter.bills) is (budget_usd > 0.5)
    assert not meter.bills or meter.keeps(budget_usd)
    told = ended.progress
    if way in Used.UNTOLD:
        assert (told.spent_usd, told.unpriced) == (0, told.calls)
    else:
        assert (told.spent_usd, told.unpriced) == (pytest.approx(sum(meter.bills)), 0)


@pytest.mark.parametrize(
    ("way", "budget_usd"),
    [("thinking inside", 400.0), ("cached at the top", 400.0), ("thinking beside", 2_000.0)],
)
async def test_calls_go_side_by_side_while_the_end_of_a_budget_is_far(
    folder: Path, way: str, budget_usd: float
) -> None:
    # By their caps alone each may cost some 9 dollars, with thinking on top some 75.
    meter, out = Meter(3, way), list[int]()
    with at_work(OddServer()) as server:
        async with asker(server.url, folder, concurrency=16, budget=Budget(budget_usd)) as asks:

            def answer(body: dict[str, Any], number: int) -> Odd:
                out.append(asks.sender.limits.active)
                return meter.answer(body)

            server.answer = answer
            await run(TINY, map(case, range(40)), asks, concurrency=16, record=lambda _: None)
    assert max(out[20:]) >= 8


@pytest.mark.parametrize(
    ("budget_usd", "way"),
    [
        *((30.0, way) for way in WAYS_OF_TELLING),
        *((budget, "thinking beside") for budget in (10.0, 90.0, 400.0)),
    ],
)
async def test_a_budget_is_never_passed_by_more_than_one_call_in_a_batch(
    folder: Path, budget_usd: float, way: str
) -> None:
    meter = Meter(7, way)
    with at_work(BatchServer()) as server:
        server.answer = meter.answer
        server.work = lambda requests: Results(
            [answered(request["custom_id"], meter.answer(request["body"], share=0.5)) for request in requests]
        )
        await batched(server, folder, Shelf(), cases=60, budget=Budget(budget_usd))
    assert meter.bills
    assert meter.keeps(budget_usd)


class Till:
    """A server that counts what it charges: for all that it answers, be the answer cut or never fetched."""

    # At 0.15 and 0.60 dollars per million tokens in and out.
    CALL_USD = 100_000 * 0.15e-6 + 1_000 * 0.60e-6

    def __init__(self) -> None:
        self.charged = 0
        self.holds = False
        self.held = threading.Semaphore(0)

    def answer(self, body: dict[str, Any], number: int) -> Odd:
        if number == 0:
            return error(500, "try again")
        self.charged += 1
        if self.holds and number % 3:
            self.held.release()
            return Odd(held=True)
        return replace(self._said(body, number), delay=0.03, cut=number == 2)

    def _said(self, body: dict[str, Any], number: int) -> Odd:
        fields = body["response_format"]["json_schema"]["schema"]["properties"]
        said: dict[str, Any] = {"quote": "", "rationale": "So.", "covered": "yes"}
        if "step" in fields:
            said = {"step": "It looks"}
        tree = json.loads(str(completion("{" if number == 4 else json.dumps(said)).body))
        tree["usage"] = {"prompt_tokens": 100_000, "completion_tokens": 1_000}
        return Odd(json.dumps(tree))


@pytest.fixture
def paid(tmp_path: Path) -> Any:
    project, till = small_project(tmp_path), Till()
    with at_work(OddServer()) as server:
        server.answer = till.answer
        judges.add(project, JUDGE, base_url=server.url, model="gpt-4o-mini")
        yield project, till
    project.close()


@pytest.mark.slow
def test_costs_equal_the_servers_own_count(
    paid: tuple[Project, Till], monkeypatch: pytest.MonkeyPatch
) -> None:
    project, till = paid
    monkeypatch.setitem(EXTRACTIONS, TINY_PLAN.name, TINY_PLAN)
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE, systems=("Alpha",))))
    _killed_halfway(project, till)
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE, systems=("Beta",))))
    drift.anchor(project, JUDGE, size=4)
    asyncio.run(drift.check(project, RunRequest(JUDGE)))
    asyncio.run(attack(project, attacking.order(AttackRequest(JUDGE, attacks=("padding",), size=4))))
    asyncio.run(extracting.run(project, RunRequest(JUDGE, TINY_PLAN.name)))
    asyncio.run(derived_judges.test(project, JUDGE))
    wanted = till.charged * till.CALL_USD
    for by in forecasts.BY:
        result = [cost.cost_usd for cost in forecasts.costs(project, by) if cost.cost_usd]
        assert sum(result) == pytest.approx(wanted, abs=0.005), by
    purposes = {cost.name for cost in forecasts.costs(project, "purpose")}
    assert purposes == {"judging", "drift checks", "attacks", "drawing", "test calls"}


def _killed_halfway(project: Project, till: Till) -> None:
    till.holds = True
    words = ("judge", "run", str(project.path), "--judge", JUDGE, "--system", "Beta", "--concurrency", "4")
    child = subprocess.Popen([sys.executable, "-m", "annotator", *words], stdout=subprocess.DEVNULL)
    for _ in range(4):
        assert till.held.acquire(timeout=60)
    child.kill()
    child.wait()
    till.holds = False


@pytest.mark.parametrize("at_once", [1, 16])
def test_what_has_arrived_is_on_disk_before_the_next_answer_is_awaited(tmp_path: Path, at_once: int) -> None:
    project, behind = small_project(tmp_path), list[int]()

    def answer(body: dict[str, Any], number: int) -> Odd:
        with sqlite3.connect(project.path, timeout=30) as file:
            (kept,) = file.execute("SELECT count(*) FROM call WHERE status = 'ok'").fetchone()
        file.close()
        # With this one no more than so many are under way; every other answer has arrived.
        behind.append(number + 1 - at_once - kept)
        said = {"quote": "", "rationale": asked_about(body)[0][1], "covered": "yes"}
        return replace(completion(json.dumps(said)), delay=0.03)

    with at_work(OddServer()) as server:
        server.answer = answer
        judges.add(project, JUDGE, base_url=server.url, model="test-model")
        asyncio.run(judge_runs.run(project, RunRequest(JUDGE, trials=4, concurrency=at_once)))
    project.close()
    assert len(behind) == 48
    assert max(behind) <= 0


def test_a_variable_that_is_named_and_not_set_is_told_before_anything_is_sent(tmp_path: Path) -> None:
    project = small_project(tmp_path)
    with at_work(OddServer()) as server:
        judges.add(project, "j", base_url=server.url, model="m", key_env="GOLDSMITH_NOT_SET")
        with pytest.raises(Refusal, match="GOLDSMITH_NOT_SET"):
            asyncio.run(judge_runs.run(project, RunRequest("j")))
    assert server.bodies == []
    project.close()
