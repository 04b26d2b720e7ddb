"""Limits, waits and resilience of calls, and how runs share them."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from llmock.pytest_plugin import LLMock

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer
from annotator.judging.calls.asking import Asker, CaseAsk
from annotator.judging.calls.limits import Breaker, Limits, MinuteWindow, RunHalt, backoff
from annotator.judging.calls.outcome import CallOutcome, CallTrouble, duration, retry_after
from tests.judging.batch_server import Shelf
from tests.judging.odd_server import YES_JSON, Odd, OddServer, Reply, asker, case, completion

pytestmark = pytest.mark.anyio


ANSWER = CallOutcome(CallTrouble.NONE)


class Clock:
    """A clock that only sleeping moves, by the longest of those who sleep at once."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        wakes = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, wakes)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def limits(clock: Clock, concurrency: int = 4, **rest: object) -> Limits:
    return Limits(concurrency, clock=clock, sleep=clock.sleep, chance=lambda: 0.5, **rest)  # type: ignore[arg-type]


def rate(wait: float | None = None) -> CallOutcome:
    return CallOutcome(CallTrouble.RATE, retry_after=wait)


def test_back_off_doubles_up_to_its_cap_and_is_spread_by_a_fifth() -> None:
    assert [backoff(n, 0.5) for n in (1, 2, 3, 10)] == [0.5, 1.0, 2.0, 30.0]
    assert [backoff(1, chance) for chance in (0.0, 1.0)] == pytest.approx([0.4, 0.6])


async def test_no_more_run_at_once_than_asked(clock: Clock) -> None:
    gate, most = limits(clock, 3), 0

    async def call() -> None:
        nonlocal most
        async with gate.slot():
            most = max(most, gate.active)
            await asyncio.sleep(0)

    await asyncio.gather(*(call() for _ in range(20)))
    assert (most, gate.active) == (3, 0)


async def test_a_429_halves_once_for_all_that_were_out_and_answers_win_it_back(clock: Clock) -> None:
    gate = limits(clock, 8)
    for _ in range(5):
        gate.record_outcome(rate(), clock.now - 1)
    assert gate.allowed == 4
    for allowed in (2, 1, 1):
        gate.record_outcome(rate(), clock.now)
        assert gate.allowed == allowed
        clock.now += 1
    gate.settled(1, Status.OK, 200, "", [""])
    for _ in range(200):
        gate.record_outcome(ANSWER, clock.now)
    assert gate.allowed == 8


@pytest.mark.parametrize("trouble", [CallTrouble.RATE, CallTrouble.SERVER])
async def test_retry_after_holds_back_every_call_for_that_long(trouble: CallTrouble, clock: Clock) -> None:
    gate = limits(clock)
    gate.record_outcome(CallOutcome(trouble, retry_after=7.5), clock.now)
    assert gate.waiting_until() is not None
    async with gate.slot() as granted:
        assert granted == pytest.approx(1007.5)
    assert gate.waiting_until() is None


async def test_a_quota_of_a_day_halts_with_the_moment_it_ends(clock: Clock) -> None:
    gate = limits(clock)
    with pytest.raises(RunHalt) as caught:
        gate.record_outcome(rate(86_400), clock.now)
    assert caught.value.until is not None
    with pytest.raises(RunHalt):
        async with gate.slot():
            pass
    assert gate.active == 0


async def test_an_endpoint_that_says_nothing_but_429_is_given_up_after_half_an_hour(clock: Clock) -> None:
    gate = limits(clock)
    for minute in range(31):
        clock.now = 1000.0 + 60 * minute
        gate.record_outcome(rate(), clock.now)
    clock.now += 60
    with pytest.raises(RunHalt, match="31 minutes"):
        gate.record_outcome(rate(), clock.now)


async def test_one_answer_in_between_restores_the_patience(clock: Clock) -> None:
    gate = limits(clock)
    for _ in range(6):
        gate.record_outcome(rate(), clock.now)
        clock.now += 1200
        gate.record_outcome(ANSWER, clock.now)
    assert gate.waiting_until() is None


async def test_those_who_wait_are_told_of_a_halt(clock: Clock) -> None:
    gate = limits(clock)
    gate.record_outcome(rate(600), clock.now)
    waiting = asyncio.ensure_future(gate.back_off(20))
    await asyncio.sleep(0)
    with pytest.raises(RunHalt):
        gate.record_outcome(rate(86_400), clock.now)
    with pytest.raises(RunHalt):
        await waiting


async def test_a_cancelled_waiter_passes_its_turn_on() -> None:
    gate = Limits(1)
    order: list[str] = []

    async def call(name: str) -> None:
        async with gate.slot():
            order.append(name)
            await asyncio.sleep(0.01)

    tasks = [asyncio.ensure_future(call(name)) for name in "abc"]
    await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert order == ["a", "c"]


async def test_requests_per_minute_are_kept_in_every_minute(clock: Clock) -> None:
    gate, granted = limits(clock, requests_per_minute=3), []
    for _ in range(7):
        async with gate.slot() as moment:
            granted.append(moment - 1000)
    assert granted == pytest.approx([0, 0, 0, 60, 60, 60, 120])


async def test_tokens_per_minute_are_kept_and_one_too_large_goes_alone(clock: Clock) -> None:
    gate, granted = limits(clock, tokens_per_minute=100), []
    for tokens in (60, 30, 20, 500, 10):
        async with gate.slot(tokens) as moment:
            granted.append(moment - 1000)
    assert granted == pytest.approx([0, 0, 60, 120, 180])


def test_a_window_without_a_limit_never_waits() -> None:
    window = MinuteWindow(None)
    window.add(0, 1e9)
    assert window.delay(0, 1e9) == 0


DOWN = CallOutcome(CallTrouble.CONNECTION, message="The connection failed: refused")


def halts_at(number: int, outcome: CallOutcome, words: str | None = None) -> None:
    """A run is given up at the so many-th outcome of a kind, and not before it."""
    breaker = Breaker(threshold=3)
    for _ in range(number - 1):
        breaker.record_outcome(outcome, 0, 0)
    with pytest.raises(RunHalt, match=words):
        breaker.record_outcome(outcome, 0, 0)


def test_an_endpoint_that_never_answered_is_given_up_at_once() -> None:
    halts_at(3, DOWN, "refused")


def test_an_endpoint_that_has_answered_is_left_to_rest_longer_each_time() -> None:
    breaker = Breaker(threshold=4, rest_s=30, rests=2)
    breaker.record_outcome(ANSWER, 0, 0)
    breaker.record_outcome(DOWN, 0, 0)
    assert breaker.delay(0) == 0
    breaker.record_outcome(DOWN, 0, 0)
    assert (breaker.delay(0), breaker.delay(30), breaker.delay(30)) == (30, 0, 30)
    breaker.record_outcome(DOWN, 30, 31)
    assert breaker.delay(31) == 60
    with pytest.raises(RunHalt):
        breaker.record_outcome(DOWN, 91, 91)


def test_one_good_trial_ends_the_rest() -> None:
    breaker = Breaker(threshold=2, rest_s=30)
    breaker.record_outcome(ANSWER, 0, 0)
    breaker.record_outcome(DOWN, 0, 0)
    assert (breaker.delay(0), breaker.delay(30)) == (30, 0)
    breaker.record_outcome(ANSWER, 30, 31)
    assert (breaker.delay(31), breaker.delay(31)) == (0, 0)


def test_what_was_under_way_when_the_rest_began_does_not_lengthen_it() -> None:
    breaker = Breaker(threshold=2, rest_s=30)
    breaker.record_outcome(ANSWER, 0, 0)
    breaker.record_outcome(DOWN, 5, 10)
    breaker.record_outcome(DOWN, 5, 11)
    assert breaker.rests_until == 40


@pytest.mark.parametrize(
    "outcome",
    [CallOutcome(CallTrouble.KEY), CallOutcome(CallTrouble.REJECTED, http=404)],
    ids=["key", "model"],
)
def test_what_every_call_would_meet_ends_the_run_after_three(outcome: CallOutcome) -> None:
    halts_at(3, outcome)


def test_an_account_that_is_used_up_ends_the_run_at_once() -> None:
    halts_at(1, CallOutcome(CallTrouble.QUOTA), "used up")


def test_an_answer_between_refusals_keeps_the_run_going() -> None:
    breaker = Breaker()
    for _ in range(9):
        breaker.settled(1, Status.OK, 200, "", [""])
        breaker.record_outcome(CallOutcome(CallTrouble.KEY), 0, 0)
        breaker.record_outcome(ANSWER, 0, 0)
    assert breaker.delay(0) == 0


NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Sun, 01 Mar 2026 12:01:30 GMT"}, 90.0),
        ({"retry-after": "Mon, 02 Mar 2026 12:00:00 GMT"}, 86_400.0),
        ({"retry-after": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e300"}, 366 * 86_400.0),
        ({"retry-after": "Mon, 02 Mar 2026 12:00:00 +" + "9" * 30}, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("6m0s", 360.0), ("20ms", 0.02), ("1s", 1.0), ("2m59.56s", 179.56), ("1h30m", 5400.0),
        ("1.5 seconds", 1.5), ("7 minutes", 420.0), ("1d", 86_400.0), ("12", None), ("", None), ("soon", None),
        ("3 samples", None), ("9" * 400 + " days", 366 * 86_400.0),
    ],
)  # fmt: skip
def test_a_span_of_time_is_read_with_its_unit_only(text: str, seconds: float | None) -> None:
    assert duration(text) == (None if seconds is None else pytest.approx(seconds))


async def verdicts(llmock: LLMock, folder: Path, cases: int = 1, **rest: object) -> list[Status]:
    async with asker(llmock.base_url(), folder, **rest) as factory:  # type: ignore[arg-type]
        fields = [{"criterion": f"Criterion {n}", "report": "Text."} for n in range(cases)]
        answers = await asyncio.gather(*(factory(case())("tiny", each, Reply) for each in fields))
    return [answer.status for answer in answers]


async def test_retry_after_holds_back_the_calls_beside_it(llmock: LLMock, folder: Path) -> None:
    llmock.rate_limit(times=3, retry_after=0.3)
    assert await verdicts(llmock, folder, 12, concurrency=4) == [Status.OK] * 12
    llmock.assert_resilient(strict=True)


async def test_real_quotas_are_lived_with(llmock: LLMock, folder: Path) -> None:
    llmock.limits(rpm=600)
    gate = Limits(8, backoff_s=0.06, requests_per_minute=10_000)
    assert await verdicts(llmock, folder, 30, limits=gate) == [Status.OK] * 30
    llmock.assert_resilient()


@pytest.mark.parametrize("status", [500, 502, 503])
async def test_server_errors_are_retried_with_growing_waits(
    llmock: LLMock, folder: Path, status: int
) -> None:
    # The first answer proves the schema, so that the errors after it cannot be the schema's fault.
    async with asker(llmock.base_url(), folder) as factory:
        await factory(case())("tiny", {"criterion": "first", "report": "Text."}, Reply)
        llmock.fail(status, times=3, retry_after=0.05 if status == 503 else None)
        answer = await factory(case())("tiny", {"criterion": "second", "report": "Text."}, Reply)
    assert answer.status is Status.OK
    llmock.assert_resilient(strict=True)


FIELDS = {"criterion": "Explains it", "report": "It is explained."}


async def put(factory: Asker) -> tuple[Answer, CaseAsk]:
    ask = CaseAsk(factory, 1)
    return await ask("tiny", FIELDS, Reply, fenced=("report",)), ask


# In these tests the journal has nothing yet: calls are still on their way to the file.


async def test_the_same_question_at_the_same_time_is_asked_once(odd: OddServer, folder: Path) -> None:
    odd.answer = lambda body, number: Odd(completion(YES_JSON).body, delay=0.1)
    async with asker(odd.url, folder, journal=Shelf()) as factory:
        result = await asyncio.gather(*(put(factory) for _ in range(5)))
    assert (len(odd.bodies), {answer.status for answer, _ in result}) == (1, {Status.OK})
    assert len({ask.call_id for _, ask in result}) == 1
    assert sorted(len(ask.calls) for _, ask in result) == [0, 0, 0, 0, 1]
    assert sorted(len(ask.reused) for _, ask in result) == [0, 1, 1, 1, 1]


async def test_an_answer_is_at_hand_before_the_journal_has_it(odd: OddServer, folder: Path) -> None:
    async with asker(odd.url, folder, journal=Shelf()) as factory:
        await put(factory)
        answer, ask = await put(factory)
    assert (len(odd.bodies), answer.status, len(ask.reused)) == (1, Status.OK, 1)


async def test_what_failed_for_one_is_asked_by_the_next(odd: OddServer, folder: Path) -> None:
    odd.script(completion(None, refusal="No."), completion(YES_JSON))
    async with asker(odd.url, folder, journal=Shelf()) as factory:
        result = await asyncio.gather(*(put(factory) for _ in range(3)))
    assert len(odd.bodies) == 2
    assert sorted(answer.status for answer, _ in result) == [Status.OK, Status.OK, Status.REFUSED]


async def test_whoever_waits_goes_on_when_the_one_who_asks_is_cancelled(odd: OddServer, folder: Path) -> None:
    odd.script(Odd("{}", held=True), completion(YES_JSON))
    async with asker(odd.url, folder, journal=Shelf()) as factory:
        first = asyncio.ensure_future(put(factory))
        while not odd.bodies:
            await asyncio.sleep(0.01)
        second = asyncio.ensure_future(put(factory))
        await asyncio.sleep(0.01)
        first.cancel()
        answer, _ = await second
    assert (answer.status, len(odd.bodies)) == (Status.OK, 2)
