"""What Goldsmith promises about money and secrets."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from annotator.judging.budget import Budget
from annotator.judging.runner import run
from tests.judging.batch_server import BatchServer, Results, Shelf, answered, batched
from tests.judging.odd_server import TINY, YES_JSON, Odd, OddServer, asker, at_work, case, completion

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Meter:
    """Answers of any length, cut where a request says so, and what they come to by the server's own count."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)
        self.bills: list[float] = []

    def answer(self, body: dict[str, Any], number: int = 0, share: float = 1.0) -> Odd:
        wanted = int(10 ** self._chance.uniform(1, 4.5))
        cap = body.get("max_completion_tokens", body.get("max_tokens", wanted))
        tokens_in, tokens_out = len(json.dumps(body)) // 3, min(wanted, cap)
        tree = json.loads(str(completion(YES_JSON).body))
        tree["usage"] = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
        # One dollar per thousand tokens in, two per thousand out.
        self.bills.append(share * (tokens_in + 2 * tokens_out) / 1000)
        return Odd(json.dumps(tree), delay=0.002)

    def keeps(self, budget_usd: float) -> bool:
        return sum(self.bills) <= budget_usd + max(self.bills)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    words = "# system\nJudge the report.\n\n# user\nCriterion: {{criterion}}\nReport: {{report}}\n"
    (tmp_path / "tiny.md").write_text(words, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("at_once", [1, 2, 8, 16, 64])
@pytest.mark.parametrize("budget_usd", [0.5, 30.0, 90.0])
async def test_a_budget_is_never_passed_by_more_than_one_call(
    folder: Path, at_once: int, budget_usd: float
) -> None:
    meter = Meter(at_once)
    with at_work(OddServer()) as server:
        server.answer = meter.answer
        async with asker(server.url, folder, concurrency=at_once, budget=Budget(budget_usd)) as asks:
            await run(TINY, map(case, range(100)), asks, concurrency=at_once, record=lambda _: None)
    assert meter.bills or budget_usd < 1
    assert not meter.bills or meter.keeps(budget_usd)


@pytest.mark.parametrize("budget_usd", [10.0, 30.0, 90.0])
async def test_a_budget_is_never_passed_by_more_than_one_call_in_a_batch(
    folder: Path, budget_usd: float
) -> None:
    meter = Meter(7)
    with at_work(BatchServer()) as server:
        server.answer = meter.answer
        server.work = lambda requests: Results(
            [answered(one["custom_id"], meter.answer(one["body"], share=0.5)) for one in requests]
        )
        await batched(server, folder, Shelf(), cases=60, budget=Budget(budget_usd))
    assert meter.bills
    assert meter.keeps(budget_usd)
