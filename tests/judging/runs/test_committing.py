"""What a run commits, and runs side by side."""

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from annotator.domain.judges.judge import Call, RunState, Status
from annotator.domain.texts.refusal import Refusal
from annotator.judging.calls import noting
from annotator.judging.calls.noting import CallNotes
from annotator.judging.runner import Finished, Progress, run, side_by_side
from tests.judging.odd_server import TINY, YES_JSON, Odd, OddServer, asker, case, completion

pytestmark = pytest.mark.anyio


LONG = 20.0


def reached(odd: OddServer, calls: int) -> bool:
    """Wait until so many calls came; whether they did."""
    end = time.monotonic() + LONG
    while len(odd.bodies) < calls and time.monotonic() < end:
        time.sleep(0.005)
    return len(odd.bodies) >= calls


async def test_calls_go_on_while_a_slow_disk_commits(odd: OddServer, folder: Path) -> None:
    """The first commit waits for ten calls, of which only two are under way at once."""
    waited: list[bool] = []

    def record(batch: list[Finished]) -> None:
        if not waited:
            waited.append(reached(odd, 10))

    async with asker(odd.url, folder, concurrency=2) as factory:
        ended = await run(TINY, map(case, range(30)), factory, record=record, concurrency=2)
    assert waited == [True]
    assert (ended.state, ended.progress.done) == (RunState.DONE, 30)


async def test_what_is_being_committed_when_the_run_is_cancelled_is_counted_and_told(
    odd: OddServer, folder: Path
) -> None:
    cancel, begun, go_on = asyncio.Event(), asyncio.Event(), threading.Event()
    loop, recorded, told = asyncio.get_running_loop(), list[Finished](), list[Progress]()

    def record(batch: list[Finished]) -> None:
        loop.call_soon_threadsafe(begun.set)
        assert go_on.wait(LONG)
        recorded.extend(batch)

    async with asker(odd.url, folder, concurrency=2) as factory:
        cases = map(case, range(1000))
        running = asyncio.ensure_future(
            run(TINY, cases, factory, record=record, progress=told.append, cancel=cancel, concurrency=2)
        )
        await begun.wait()
        cancel.set()
        await asyncio.sleep(0.05)
        assert not running.done()
        go_on.set()
        ended = await running
    assert ended.state is RunState.CANCELLED
    assert 0 < len(recorded) == ended.progress.done == told[-1].done


async def test_a_request_goes_out_once_it_and_the_answers_before_it_are_stored_in_one_commit(
    odd: OddServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(noting, "SOON_S", LONG)
    stored, seen, commits = dict[str, Status](), list[list[Status]](), list[set[Status]]()

    def keep(calls: list[Call]) -> None:
        commits.append({call.status for call in calls})
        stored.update({call.id: call.status for call in calls})

    def answer(body: dict[str, Any], number: int) -> Odd:
        seen.append(sorted(stored.values()))
        return completion(YES_JSON)

    odd.answer = answer
    async with asker(odd.url, folder, notes=CallNotes(keep, many=True)) as factory:
        await run(TINY, map(case, range(20)), factory, record=lambda _: None, concurrency=1)
        await factory.stored()
    assert seen == [[Status.OK] * number + [Status.SKIPPED] for number in range(20)]
    assert list(stored.values()) == [Status.OK] * 20
    assert {Status.OK, Status.SKIPPED} in commits


class Full(Exception):
    """A disk is."""


async def test_the_first_error_is_raised_by_itself_and_ends_the_others() -> None:
    ended: list[str] = []

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("waits")

    async def fails() -> None:
        await asyncio.sleep(0)
        raise Full

    async def both() -> None:
        async with side_by_side() as group:
            group.create_task(waits())
            group.create_task(fails())

    with pytest.raises(Full):
        await both()
    assert ended == ["waits"]


async def test_a_refusal_does_not_hide_an_error_of_the_program() -> None:
    together = asyncio.Event()

    async def fails(error: Exception) -> None:
        await together.wait()
        raise error

    async def both() -> None:
        async with side_by_side() as group:
            for error in (Refusal("No."), KeyError("a bug"), Full()):
                group.create_task(fails(error))
            await asyncio.sleep(0)
            together.set()

    with pytest.raises(KeyError) as raised:
        await both()
    group = raised.value.__cause__
    assert isinstance(group, ExceptionGroup)
    assert [type(error) for error in group.exceptions] == [Refusal, KeyError, Full]


async def test_those_who_end_well_are_waited_for() -> None:
    done: list[int] = []

    async def works(number: int) -> None:
        await asyncio.sleep(0)
        done.append(number)

    async with side_by_side() as group:
        for number in range(3):
            group.create_task(works(number))
    assert done == [0, 1, 2]
