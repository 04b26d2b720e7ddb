"""That a run through batches outlives every stop: nothing is made twice, nothing is lost."""

import asyncio
from pathlib import Path

import pytest

from annotator.domain.judges.judge import RunState
from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Ask, Case, Verdicts
from annotator.judging.batches.batch_results import QuestionFate
from annotator.judging.batches.batch_state import BatchStage
from annotator.judging.batches.batching import through, withdraw
from tests.judging.batch_server import BatchServer, Results, Shelf, answered, batched, soon
from tests.judging.odd_server import Odd, asker, case, error, tiny_judge

pytestmark = pytest.mark.anyio


async def test_stopping_leaves_the_batch_with_the_provider_and_a_restart_takes_it_up(
    provider: BatchServer, folder: Path
) -> None:
    provider.looks = 10**9
    shelf, cancel = Shelf(), asyncio.Event()

    async def nap(seconds: float) -> None:
        if provider.made and ("GET", "/v1/batches/batch_1") in provider.seen:
            cancel.set()
        await asyncio.sleep(0.001)

    _, ended, _ = await batched(provider, folder, shelf, nap=nap, cancel=cancel)
    assert ended.state is not RunState.DONE
    assert [state.stage for state in shelf.batches()] == [BatchStage.SENT]
    assert len(provider.bodies) == 1
    provider.looks = 0
    sent = provider.named()
    _, ended, _ = await batched(provider, folder, shelf)
    assert ended.progress.by_status == {"ok": 6}
    assert provider.named() == sent
    assert shelf.batches() == []


async def test_names_stay_the_same_from_start_to_start(provider: BatchServer, folder: Path) -> None:
    await batched(provider, folder, Shelf())
    first = provider.named()
    provider.made.clear()
    await batched(provider, folder, Shelf())
    assert provider.named() == first
    assert all(len(name) <= 64 for name in first)


STEPS = ["files", "batches", "batches/batch_1", "files/file-2/content"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("kept", [True, False])
async def test_killed_at_any_step_no_batch_is_made_twice_and_no_answer_lost(
    provider: BatchServer, folder: Path, step: str, kept: bool
) -> None:
    """The program dies while a request is under way, which the provider carries out (`kept`) or does not."""
    reached = asyncio.Event()
    loop = asyncio.get_running_loop()

    def fault(method: str, path: str, number: int) -> Odd | None:
        if path.removeprefix("/v1/") != step or number or (method == "GET") != (step in STEPS[2:]):
            return None
        loop.call_soon_threadsafe(reached.set)
        return Odd(held=True)

    provider.fault, provider.done_all_the_same = fault, kept
    shelf = Shelf()
    await batched(provider, folder, shelf, cancel=reached)
    provider.fault = lambda method, path, number: None
    _, ended, _ = await batched(provider, folder, shelf)
    assert ended.progress.by_status == {"ok": 6}
    assert len(provider.made) == 1
    assert len(shelf.calls) == len({call.cache_key for call in shelf.calls.values()}) == 6


async def test_a_batch_whose_confirmation_was_lost_is_found_and_not_made_again(
    provider: BatchServer, folder: Path
) -> None:
    provider.fault = lambda method, path, number: (
        error(502, "bad gateway") if (method, path, number) == ("POST", "/v1/batches", 0) else None
    )
    provider.done_all_the_same = True
    _, ended, _ = await batched(provider, folder, Shelf())
    assert (len(provider.made), ended.progress.by_status) == (1, {"ok": 6})


async def test_reading_the_same_results_twice_makes_no_second_call(
    provider: BatchServer, folder: Path
) -> None:
    shelf = Shelf()
    await batched(provider, folder, shelf)
    before, (name, text) = dict(shelf.calls), next(iter(shelf.states.items()))
    shelf.states[name] = text.replace('"stage":"settled"', '"stage":"sent"')
    await batched(provider, folder, shelf)
    assert shelf.calls == before


async def test_a_withdrawn_batch_gives_what_it_has_and_nothing_is_asked_at_the_full_price(
    provider: BatchServer, folder: Path
) -> None:
    provider.looks = 3
    provider.work = lambda requests: Results([answered(requests[0]["custom_id"])])
    shelf, cancel = Shelf(), asyncio.Event()

    async def nap(seconds: float) -> None:
        cancel.set()
        await asyncio.sleep(0.001)

    await batched(provider, folder, shelf, nap=nap, cancel=cancel)
    async with asker(provider.url, folder) as factory:
        assert await withdraw(factory, shelf) == 1
    found, ended, _ = await batched(provider, folder, shelf)
    assert found.fates == {QuestionFate.ANSWERED: 1, QuestionFate.WITHDRAWN: 4}
    assert (ended.state, ended.progress.by_status) == (RunState.INTERRUPTED, {"ok": 2})
    assert "cancelled" in ended.cause
    assert len(provider.bodies) == 1


async def test_a_question_that_changed_meanwhile_is_journalled_for_its_cost_and_not_used(
    provider: BatchServer, folder: Path
) -> None:
    shelf, cancel = Shelf(), asyncio.Event()
    provider.looks = 10**9

    async def nap(seconds: float) -> None:
        cancel.set()
        await asyncio.sleep(0.001)

    await batched(provider, folder, shelf, cases=3, nap=nap, cancel=cancel)
    provider.looks = 0
    found, ended, _ = await batched(provider, folder, shelf, cases=2)
    assert found.fates == {QuestionFate.ANSWERED: 1, QuestionFate.CHANGED: 1}
    skipped = [call for call in shelf.calls.values() if call.status is Status.SKIPPED]
    assert [call.cost_usd for call in skipped] == [pytest.approx(0.052)]
    assert ended.progress.by_status == {"ok": 2}


async def test_results_that_are_there_at_once_wait_until_it_is_known_what_is_still_asked(
    provider: BatchServer, folder: Path
) -> None:
    async def slow(case: Case, ask: Ask) -> Verdicts:
        await asyncio.sleep(0.03)
        return await tiny_judge(case, ask)

    shelf = Shelf()
    await batched(provider, folder, shelf)
    for name, text in shelf.states.items():
        shelf.states[name] = text.replace('"stage":"settled"', '"stage":"sent"')
    shelf.calls.clear()
    async with asker(provider.url, folder, journal=shelf) as factory:
        found = await through(slow, lambda: map(case, range(6)), factory, shelf, nap=soon)
    assert found.fates == {QuestionFate.ANSWERED: 5}


async def test_a_batch_that_ended_meanwhile_is_not_withdrawn(provider: BatchServer, folder: Path) -> None:
    provider.looks = 2
    shelf, cancel = Shelf(), asyncio.Event()

    async def nap(seconds: float) -> None:
        cancel.set()
        await asyncio.sleep(0.001)

    await batched(provider, folder, shelf, nap=nap, cancel=cancel)
    provider.looks = 0
    provider.fault = lambda method, path, number: (
        error(409, "Cannot cancel a batch that has ended") if path.endswith("/cancel") else None
    )
    async with asker(provider.url, folder) as factory:
        assert await withdraw(factory, shelf, nap=soon) == 0
    found, ended, _ = await batched(provider, folder, shelf)
    assert (found.fates, ended.progress.by_status) == ({QuestionFate.ANSWERED: 5}, {"ok": 6})


async def test_a_batch_whose_file_the_provider_no_longer_has_is_filed_anew(
    provider: BatchServer, folder: Path
) -> None:
    shelf = Shelf()
    provider.fault = lambda method, path, number: error(401, "no") if path == "/v1/batches" else None
    await batched(provider, folder, shelf)
    assert [state.stage for state in shelf.batches()] == [BatchStage.FILED]
    provider.files.clear()
    provider.fault = lambda method, path, number: (
        error(404, "no list of batches") if (method, path) == ("GET", "/v1/batches?limit=100") else None
    )
    _, ended, _ = await batched(provider, folder, shelf)
    assert (len(provider.made), ended.progress.by_status) == (1, {"ok": 6})
