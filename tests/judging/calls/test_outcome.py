"""How a server's answer is read, whatever it holds."""

import json
import re
import sys
from datetime import UTC, datetime
from typing import Any

import pytest

from annotator.domain.judges.judgement import Status
from annotator.judging.calls.outcome import CallOutcome, CallTrouble, Usage, read
from tests.judging.odd_server import WAYS_OF_TELLING, Odd, Used, completion, error, prices

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def seen(odd: Odd) -> CallOutcome:
    return read(odd.status, odd.headers, str(odd.body), NOW)


def test_a_whole_completion_gives_its_content_and_what_the_server_said_of_it() -> None:
    outcome = seen(completion("yes"))
    assert (outcome.trouble, outcome.content, outcome.finish_reason) == (CallTrouble.NONE, "yes", "stop")
    assert (outcome.model, outcome.fingerprint) == ("test-model-2026", "fp_1")
    assert outcome.usage == Usage(input=100, cached=40, output=20, reasoning=5, beside=0)


@pytest.mark.parametrize("cost", [True, "1", -1, 1e300, None, [], {"total_cost": "1"}])
@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        "many",
        *({"prompt_tokens": count} for count in ("12", -1, 1.5, True, [1], 2**31, 2**64, 10**25)),
    ],
)
def test_usage_the_server_does_not_give_is_unknown_not_zero(usage: Any, cost: object) -> None:
    usage = usage | {"cost": cost} if isinstance(usage, dict) else usage
    tree = json.loads(str(completion("yes").body)) | {"usage": usage}
    assert seen(Odd(json.dumps(tree))).usage == Usage()


@pytest.mark.parametrize("way", WAYS_OF_TELLING)
@pytest.mark.parametrize("counts", [(1000, 300, 20, 400), (1000, 0, 400, 20), (50, 49, 1, 1)])
def test_a_bill_is_right_or_unknown_however_a_server_tells_of_tokens(
    counts: tuple[int, int, int, int], way: str
) -> None:
    used = Used(*counts)
    tree = json.loads(str(completion("yes").body)) | {"usage": used.told[way]}
    found = prices().bill(seen(Odd(json.dumps(tree))).usage, "test-model")
    assert found == (None if way in Used.UNTOLD else pytest.approx(used.cost_usd))


def test_a_reply_with_nothing_beside_its_text_is_not_searched_for_it() -> None:
    odd, called = completion("yes", annotations=[], reasoning=None), list[str]()
    sys.setprofile(
        lambda frame, event, _: called.append(frame.f_code.co_filename) if event == "call" else None
    )
    outcome = seen(odd)
    sys.setprofile(None)
    assert outcome.content == "yes"
    assert sum(name.endswith("reply_parts.py") for name in called) == 1


def test_content_in_parts_is_joined() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, {"type": "image"}]
    assert seen(completion(parts)).content == "ab"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("odd", "trouble", "status"),
    [
        (completion("par", "length"), CallTrouble.TRUNCATED, Status.TRUNCATED),
        (completion("", "content_filter"), CallTrouble.FILTERED, Status.FILTERED),
        (completion(None, refusal="I will not."), CallTrouble.REFUSED, Status.REFUSED),
        (error(400, "no", code="content_filter"), CallTrouble.FILTERED, Status.FILTERED),
        (
            error(400, "no", innererror={"code": "ResponsibleAIPolicyViolation"}),
            CallTrouble.FILTERED,
            Status.FILTERED,
        ),
        (error(400, "x", code="context_length_exceeded"), CallTrouble.TOO_LONG, Status.TOO_LONG),
        (error(400, "the request exceeds the available context size"), CallTrouble.TOO_LONG, Status.TOO_LONG),
        (error(400, "Prompt is too long: 9000 > 4096"), CallTrouble.TOO_LONG, Status.TOO_LONG),
        (Odd("", 413), CallTrouble.TOO_LONG, Status.TOO_LONG),
        (error(401, "bad key"), CallTrouble.KEY, Status.API_ERROR),
        (error(403, "not for you"), CallTrouble.KEY, Status.API_ERROR),
        (error(403, "Your input was flagged by moderation"), CallTrouble.FILTERED, Status.FILTERED),
        (error(429, "slow down"), CallTrouble.RATE, Status.API_ERROR),
        (
            Odd('[{"error": {"message": "no such model", "code": 404}}]', 404),
            CallTrouble.REJECTED,
            Status.API_ERROR,
        ),
        (completion('{"reason": "lo', "error"), CallTrouble.SERVER, Status.API_ERROR),
        (
            Odd('{"choices": [{"message": {"content": "ye"}, "error": {"code": 502, "message": "gone"}}]}'),
            CallTrouble.SERVER,
            Status.API_ERROR,
        ),
        (
            Odd('data: {"choices": [{"delta": {"content": "yes"}}]}', 200),
            CallTrouble.MALFORMED,
            Status.API_ERROR,
        ),
        (error(429, "pay first", code="insufficient_quota"), CallTrouble.QUOTA, Status.API_ERROR),
        (error(402, "pay first"), CallTrouble.QUOTA, Status.API_ERROR),
        (error(404, "no such model"), CallTrouble.REJECTED, Status.API_ERROR),
        (error(408, "late"), CallTrouble.SERVER, Status.API_ERROR),
        (Odd("<html>Bad gateway</html>", 502), CallTrouble.SERVER, Status.API_ERROR),
        (Odd("", 200), CallTrouble.MALFORMED, Status.API_ERROR),
        (Odd("<html>Welcome</html>", 200), CallTrouble.MALFORMED, Status.API_ERROR),
        (Odd('{"choices": [{"mess', 200), CallTrouble.MALFORMED, Status.API_ERROR),
        (Odd('{"choices": []}', 200), CallTrouble.MALFORMED, Status.API_ERROR),
        (Odd('{"choices": [{"message": "yes"}]}', 200), CallTrouble.MALFORMED, Status.API_ERROR),
        (Odd("[1, 2]", 200), CallTrouble.MALFORMED, Status.API_ERROR),
        (Odd("[" * 100_000, 200), CallTrouble.MALFORMED, Status.API_ERROR),
        (error(200, "upstream is down"), CallTrouble.SERVER, Status.API_ERROR),
        (error(200, "slow down", code=429), CallTrouble.RATE, Status.API_ERROR),
        (Odd('{"detail": [{"msg": "field required"}]}', 422), CallTrouble.REJECTED, Status.API_ERROR),
        (
            Odd('{"object": "error", "message": "max_model_len is 10"}', 400),
            CallTrouble.TOO_LONG,
            Status.TOO_LONG,
        ),
    ],
)
def test_each_trouble_is_told_apart(odd: Odd, trouble: CallTrouble, status: Status) -> None:
    outcome = seen(odd)
    assert (outcome.trouble, outcome.status) == (trouble, status)
    assert outcome.message


def test_the_servers_words_are_in_the_message() -> None:
    assert seen(error(404, "no such model")).message == "The server answered 404: no such model."


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"retry-after": "2"}, "Please try again in 8.64s.", 2.0),
        ({}, "Rate limit reached for requests per day. Please try again in 7m12s. Visit our site.", 432.0),
        ({}, "Too many requests, retry after 20 seconds", 20.0),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s"}, "slow down", 360.0),
        ({"x-ratelimit-remaining-tokens": "9", "x-ratelimit-reset-tokens": "6m0s"}, "slow down", None),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1764000000"}, "slow", None),
    ],
)
def test_a_server_that_is_asked_too_much_is_believed_when_it_can_be_asked_again(
    headers: dict[str, str], message: str, seconds: float | None
) -> None:
    odd = error(429, message)
    assert read(429, headers, str(odd.body), NOW).retry_after == seconds


def test_a_delay_among_the_details_of_an_error_is_found() -> None:
    details = [{"@type": "RetryInfo", "retryDelay": "34s"}]
    odd = error(429, "Quota exceeded", details=details)
    assert seen(odd).retry_after == 34.0


@pytest.mark.parametrize(
    "words",
    ["no such ", "no such  run\n", "no\r\n\tsuch run", "No!", "Why?", 'It says "no."', "", " ", "x" * 600],
)
def test_what_a_server_says_is_a_whole_sentence_in_one_line(words: str) -> None:
    outcomes = (
        seen(error(404, words)),
        CallOutcome(CallTrouble.CONNECTION, message=f"The connection failed: {words}"),
        seen(error(404, words)).without(("secret",)),
    )
    for outcome in outcomes:
        assert not re.search(r"\s\s|[^\S ]|^\s|\s$", outcome.message)
        assert re.search(r"[.!?…:][\"]?$", outcome.message)
