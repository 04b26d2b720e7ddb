"""How calls behave against a mock provider that judges its client's manners."""

import asyncio
from pathlib import Path

import pytest
from llmock.pytest_plugin import LLMock

from annotator.domain.judges.judgement import Status
from annotator.judging.calls.limits import Limits
from tests.judging.odd_server import NO_JSON, YES_JSON, Reply, asker, case

pytestmark = pytest.mark.anyio


async def verdicts(llmock: LLMock, folder: Path, cases: int = 1, **rest: object) -> list[Status]:
    async with asker(llmock.base_url(), folder, **rest) as factory:  # type: ignore[arg-type]
        fields = [{"criterion": f"Criterion {n}", "report": "Text."} for n in range(cases)]
        answers = await asyncio.gather(*(factory(case())("tiny", each, Reply) for each in fields))
    return [answer.status for answer in answers]


async def test_a_schema_is_answered_at_once(llmock: LLMock, folder: Path) -> None:
    assert await verdicts(llmock, folder, 3) == [Status.OK] * 3
    assert len(llmock.requests) == 3
    llmock.assert_resilient(strict=True)


async def test_retry_after_is_waited_for(llmock: LLMock, folder: Path) -> None:
    llmock.rate_limit(times=2, retry_after=0.3)
    assert await verdicts(llmock, folder) == [Status.OK]
    assert len(llmock.requests) == 3
    llmock.assert_resilient(strict=True)


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


async def test_an_outage_is_given_up_after_a_few_tries(llmock: LLMock, folder: Path) -> None:
    llmock.fail(503, times=None, retry_after=0.05)
    assert await verdicts(llmock, folder) == [Status.API_ERROR]
    assert len(llmock.requests) == 5
    llmock.assert_resilient(strict=True)


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_what_cannot_be_mended_is_not_retried(llmock: LLMock, folder: Path, status: int) -> None:
    llmock.fail(status, times=None)
    assert await verdicts(llmock, folder) == [Status.API_ERROR]
    assert len(llmock.requests) == 1


async def test_a_context_overflow_is_too_long_and_not_retried(llmock: LLMock, folder: Path) -> None:
    llmock.context_overflow()
    assert await verdicts(llmock, folder) == [Status.TOO_LONG]
    llmock.assert_resilient(strict=True)


async def test_a_slow_answer_is_timed_out_and_asked_for_again(llmock: LLMock, folder: Path) -> None:
    llmock.delay(4.0, times=1)
    assert await verdicts(llmock, folder, timeout_s=2.0) == [Status.OK]


async def test_prose_is_repaired_not_interpreted(llmock: LLMock, folder: Path) -> None:
    llmock.reply("Yes, everything is covered.").reply(NO_JSON)
    async with asker(llmock.base_url(), folder) as factory:
        ask = factory(case())
        answer = await ask("tiny", {"criterion": "c", "report": "Text."}, Reply)
    assert (answer.reply.covered, ask.calls[-1].repaired) == ("no", True)


async def test_scripted_json_is_taken_as_it_comes(llmock: LLMock, folder: Path) -> None:
    llmock.reply(YES_JSON)
    assert await verdicts(llmock, folder) == [Status.OK]
    assert llmock.last_request.body["response_format"]["json_schema"]["strict"] is True
