"""That a commit holds up no call, and that what is being committed when a run ends is counted."""

import asyncio
import threading
import time
from pathlib import Path

import pytest

from annotator.domain.judges.judge import RunState
from annotator.judging.runs.progress import Finished, Progress
from annotator.judging.runs.runner import run
from tests.judging.odd_server import TINY, OddServer, asker, case

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


async def test_nothing_is_told_before_its_commit_has_returned(odd: OddServer, folder: Path) -> None:
    committed, early = 0, list[int]()

    def record(batch: list[Finished]) -> None:
        nonlocal committed
        threading.Event().wait(0.03)
        committed += len(batch)

    def progress(told: Progress) -> None:
        if told.done > committed:
            early.append(told.done)

    async with asker(odd.url, folder) as factory:
        await run(TINY, map(case, range(20)), factory, record=record, progress=progress, concurrency=4)
    assert (committed, early) == (20, [])
