"""That a question which several cases put at the same time is asked, and paid for, once."""

import asyncio
from pathlib import Path

import pytest

from annotator.domain.judges.judge import Call
from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer
from annotator.judging.calls.asking import Asker, CaseAsk
from annotator.judging.calls.cache import Key
from tests.judging.odd_server import YES_JSON, Odd, OddServer, Reply, asker, completion

pytestmark = pytest.mark.anyio
FIELDS = {"criterion": "Explains it", "report": "It is explained."}


class Empty:
    """A journal that has nothing yet: its calls are still on their way to the file."""

    def find(self, cache_key: str) -> Call | None:
        return None

    def finished(self, run: str) -> set[Key]:
        return set()


async def put(factory: Asker, trial: int = 1) -> tuple[Answer, CaseAsk]:
    ask = CaseAsk(factory, trial)
    return await ask("tiny", FIELDS, Reply, fenced=("report",)), ask


async def test_the_same_question_at_the_same_time_is_asked_once(odd: OddServer, folder: Path) -> None:
    odd.answer = lambda body, number: Odd(completion(YES_JSON).body, delay=0.1)
    async with asker(odd.url, folder, journal=Empty()) as factory:
        found = await asyncio.gather(*(put(factory) for _ in range(5)))
    assert len(odd.bodies) == 1
    assert {answer.status for answer, _ in found} == {Status.OK}
    assert len({ask.call_id for _, ask in found}) == 1
    assert sorted(len(ask.calls) for _, ask in found) == [0, 0, 0, 0, 1]
    assert sorted(len(ask.reused) for _, ask in found) == [0, 1, 1, 1, 1]


async def test_an_answer_is_at_hand_before_the_journal_has_it(odd: OddServer, folder: Path) -> None:
    async with asker(odd.url, folder, journal=Empty()) as factory:
        await put(factory)
        answer, ask = await put(factory)
    assert (len(odd.bodies), answer.status, len(ask.reused)) == (1, Status.OK, 1)


async def test_each_trial_is_a_question_of_its_own(odd: OddServer, folder: Path) -> None:
    async with asker(odd.url, folder, journal=Empty()) as factory:
        await asyncio.gather(*(put(factory, trial) for trial in (1, 2, 3)))
    assert len(odd.bodies) == 3


async def test_what_failed_for_one_is_asked_by_the_next(odd: OddServer, folder: Path) -> None:
    odd.script(completion(None, refusal="No."), completion(YES_JSON))
    async with asker(odd.url, folder, journal=Empty()) as factory:
        found = await asyncio.gather(*(put(factory) for _ in range(3)))
    assert len(odd.bodies) == 2
    assert sorted(answer.status for answer, _ in found) == [Status.OK, Status.OK, Status.REFUSED]


async def test_whoever_waits_goes_on_when_the_one_who_asks_is_cancelled(odd: OddServer, folder: Path) -> None:
    odd.script(Odd("{}", held=True), completion(YES_JSON))
    async with asker(odd.url, folder, journal=Empty()) as factory:
        first = asyncio.ensure_future(put(factory))
        while not odd.bodies:
            await asyncio.sleep(0.01)
        second = asyncio.ensure_future(put(factory))
        await asyncio.sleep(0.01)
        first.cancel()
        answer, _ = await second
    assert (answer.status, len(odd.bodies)) == (Status.OK, 2)


async def test_without_a_journal_nothing_is_shared(odd: OddServer, folder: Path) -> None:
    async with asker(odd.url, folder) as factory:
        await asyncio.gather(put(factory), put(factory))
    assert len(odd.bodies) == 2
