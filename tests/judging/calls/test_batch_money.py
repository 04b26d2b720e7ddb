"""What batches cost, and that what is out counts."""

import asyncio
import json
from pathlib import Path
from typing import ClassVar

import pytest

from annotator.domain.judges.judge import RunState
from annotator.judging.batches.batch_files import BatchFileWriter, BatchLimits
from annotator.judging.batches.batching import BatchProgress
from annotator.judging.calls.budget import Budget
from annotator.judging.calls.client import Client, Endpoint
from annotator.judging.calls.limits import Limits
from annotator.judging.calls.sending import Sender
from annotator.judging.calls.settling import KeyedQuestion
from annotator.judging.prompts.messages import Prompt
from tests.judging.batch_server import BatchServer, Results, Shelf, answered, batched
from tests.judging.odd_server import (
    YES_JSON,
    Odd,
    Reply,
    completion,
    prices,
)

pytestmark = pytest.mark.anyio


async def test_an_answer_costs_half_the_price_and_is_recorded_with_its_batch(
    provider: BatchServer, folder: Path
) -> None:
    shelf = Shelf()
    found, _, _ = await batched(provider, folder, shelf, cases=3)
    # 60 tokens at 1 000, 40 cached at 100, 20 out at 2 000 dollars per million are 0.104; half of it is 0.052.
    assert found.spent_usd == pytest.approx(2 * 0.052)
    live, *others = sorted(shelf.calls.values(), key=lambda call: -(call.cost_usd or 0))
    assert live.cost_usd == pytest.approx(0.104)
    assert [call.cost_usd for call in others] == pytest.approx([0.052, 0.052])
    assert json.loads(others[0].parameters) == {"response_format": "json_schema", "batch": "batch_1"}
    assert (others[0].run_id, others[0].judge_id, others[0].latency_s) == ("run-1", "judge-1", None)
    assert (others[0].returned_model, others[0].tokens_reasoning) == ("test-model-2026", 5)


async def test_what_is_out_counts_against_the_budget(provider: BatchServer, folder: Path) -> None:
    # The first question, live, is set aside at some 9 dollars (a cap of 4 096 tokens out at 0.002, and no more tokens
    # in than its some 810 bytes) and costs 0.104; in a batch each is set aside at some 4.5 and costs 0.052. Three
    # fit into the first batch within 15 dollars, and three more into each after it.
    shelf, seen = Shelf(), []
    budget = Budget(15.0)

    def tell(progress: BatchProgress) -> None:
        seen.append((progress.questions, budget.room_usd))

    _, ended, _ = await batched(provider, folder, shelf, cases=9, budget=budget, tell=tell)
    assert [len(made.requests) for made in provider.made.values()] == [3, 3, 2]
    assert all(room < 4.5 for questions, room in seen if questions == 3)
    assert ended.progress.by_status == {"ok": 9}
    assert budget.spent_usd == pytest.approx(0.104 + 8 * 0.052)


async def test_a_batch_still_out_after_a_restart_counts_against_the_new_budget(
    provider: BatchServer, folder: Path
) -> None:
    shelf, cancel = Shelf(), asyncio.Event()
    provider.looks = 10**9

    async def nap(seconds: float) -> None:
        cancel.set()
        await asyncio.sleep(0.001)

    await batched(provider, folder, shelf, cases=4, nap=nap, cancel=cancel, budget=Budget(30.0))
    budget, rooms = Budget(30.0), []
    provider.looks = 0
    await batched(
        provider, folder, shelf, cases=4, budget=budget, tell=lambda told: rooms.append(budget.room_usd)
    )
    assert rooms[0] == pytest.approx(30.0 - 3 * 4.5, abs=0.1)
    assert budget.spent_usd == pytest.approx(3 * 0.052)


async def test_a_budget_that_holds_no_more_batch_is_used_up_by_single_calls_and_leaves_the_rest_unjudged(
    provider: BatchServer, folder: Path
) -> None:
    budget = Budget(0.95)
    found, ended, _ = await batched(
        provider, folder, Shelf(), cases=14, budget=budget, parameters={"max_tokens": 50}
    )
    assert found.halt is None
    # Nothing is left that another call could be had for: it costs 0.104.
    assert 0.95 - 0.2 < budget.spent_usd <= 0.95
    assert ended.state is RunState.INTERRUPTED
    assert "budget" in ended.cause
    assert 1 < ended.progress.done < 14
    assert ended.progress.done + ended.progress.skipped == 14


async def test_an_answer_without_counts_of_tokens_is_charged_at_the_most(
    provider: BatchServer, folder: Path
) -> None:
    tree = json.loads(str(completion(YES_JSON).body))
    del tree["usage"]
    provider.work = lambda requests: Results(
        [answered(request["custom_id"], Odd(json.dumps(tree))) for request in requests]
    )
    shelf, budget = Shelf(), Budget(15.0)
    await batched(provider, folder, shelf, cases=2, budget=budget)
    assert [call.cost_usd for call in shelf.calls.values()] == pytest.approx([0.104, 4.5], abs=0.02)
    assert budget.spent_usd == pytest.approx(0.104 + 4.5, abs=0.02)


class Long(Reply):
    """A kind of reply that says how long it may be."""

    TOKENS: ClassVar[int] = 5_000


async def test_a_long_kind_of_reply_is_set_aside_at_its_length(folder: Path) -> None:
    sender = Sender(Client(Endpoint("http://localhost/v1", "test-model")), Limits(1), prices())
    messages = [{"role": "system", "content": ""}, {"role": "user", "content": ""}]
    question = KeyedQuestion(Prompt("p", "", "", "0" * 64), messages, Long, "k" * 64, "judge-1")
    request = BatchFileWriter(folder / "requests.jsonl", BatchLimits(), sender).request(question, trial=1)
    # 5 000 tokens out at 2 000 dollars per million are 10, and its bytes at 1 000 at most; half of it in a batch.
    assert request.most_usd == pytest.approx(5.0 + len(request.line) / 2_000, abs=0.1)
