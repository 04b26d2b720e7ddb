"""What trying out a judge shows."""

import json
import re
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock

from annotator.domain.judges.judgement import Status
from annotator.judging.calls.client import Endpoint
from annotator.judging.calls.ladder import ReplyForm
from annotator.judging.calls.probe import Probe, probe
from tests.judging.odd_server import KEY, Odd, OddServer, completion, error, prices

pytestmark = pytest.mark.anyio


async def probed(odd: OddServer, **parameters: Any) -> Probe:
    return await probe(Endpoint(odd.url, "test-model", KEY, parameters, timeout_s=5), prices())


def codes(body: dict[str, Any], window: int | None = None) -> dict[str, str]:
    """The code words a model would see that reads only the last `window` characters of the page."""
    page = body["messages"][1]["content"][-window if window else 0 :]
    found = {
        end: re.search(rf"code word at the {end} is ([a-z]+-[0-9a-f]+)", page) for end in ("beginning", "end")
    }
    return {
        "first_word": found["beginning"][1] if found["beginning"] else "none",
        "last_word": found["end"][1] if found["end"] else "none",
    }


async def test_a_good_endpoint_shows_all_it_can_in_one_call(odd: OddServer) -> None:
    odd.answer = lambda body, number: completion(json.dumps(codes(body)))
    shown = await probed(odd)
    assert (shown.ok, shown.form, shown.enforced) == (True, ReplyForm.SCHEMA, True)
    assert (shown.first_arrived, shown.last_arrived) == (True, True)
    assert shown.returned_model == "test-model-2026"
    assert shown.cost_usd == pytest.approx(0.104)
    assert shown.price is not None
    assert shown.latency_s is not None
    assert len(odd.bodies) == 1
    assert len(odd.bodies[0]["messages"][1]["content"]) > 40_000
    assert "JSON Schema" in shown.sentence


async def test_a_context_that_is_cut_in_silence_is_found_out(odd: OddServer) -> None:
    odd.answer = lambda body, number: completion(json.dumps(codes(body, window=16_000)))
    shown = await probed(odd)
    assert (shown.ok, shown.status) == (False, Status.OK)
    assert (shown.first_arrived, shown.last_arrived) == (False, True)
    assert "beginning of a long prompt did not reach it" in shown.sentence


async def test_an_endpoint_with_plain_text_only_is_usable(odd: OddServer) -> None:
    def answer(body: dict[str, Any], number: int) -> Odd:
        if "response_format" in body:
            return error(400, "response_format is unknown")
        return completion(" ".join(codes(body).values()))

    odd.answer = answer
    shown = await probed(odd)
    assert (shown.ok, shown.form) == (True, ReplyForm.TEXT)
    assert "plain text only" in shown.sentence


async def test_parameters_an_endpoint_turns_down_are_named(odd: OddServer) -> None:
    def answer(body: dict[str, Any], number: int) -> Odd:
        odd_one = "temperature" in body
        return error(400, "temperature?") if odd_one else completion(json.dumps(codes(body)))

    odd.answer = answer
    shown = await probed(odd, temperature=0)
    assert (shown.ok, shown.rejected) == (True, ("temperature",))


async def test_a_model_that_answers_with_prose_is_not_called_working(odd: OddServer) -> None:
    odd.script(completion("Hello! How can I help?"))
    shown = await probed(odd)
    assert (shown.ok, shown.status, shown.form) == (False, Status.INVALID, None)


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (error(401, f"Incorrect API key provided: {KEY}"), "401"),
        (error(404, "The model does not exist"), "does not exist"),
        (error(400, "context length is 2048"), "context length"),
        (Odd("<html>A web page</html>"), "not a chat completion"),
    ],
)
async def test_a_failure_is_said_in_a_sentence_without_the_key(
    odd: OddServer, trouble: Odd, words: str
) -> None:
    odd.script(trouble)
    shown = await probed(odd)
    assert not shown.ok
    assert words in shown.sentence
    assert KEY not in repr(shown)


async def test_a_quota_that_is_spent_is_not_waited_for(odd: OddServer) -> None:
    odd.script(Odd("{}", 429, {"retry-after": "3600"}))
    shown = await probed(odd)
    assert len(odd.bodies) == 1
    assert "asks to wait until" in shown.sentence


async def test_a_mock_provider_that_makes_its_words_up_is_not_called_working(llmock: LLMock) -> None:
    shown = await probe(Endpoint(llmock.base_url(), "gpt-4o", KEY, timeout_s=5), prices())
    assert (shown.ok, shown.form, shown.first_arrived) == (False, ReplyForm.SCHEMA, False)
