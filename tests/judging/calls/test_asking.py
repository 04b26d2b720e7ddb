"""How a question is asked, and the cache of answers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotator.domain.judges.judge import Call, Status
from annotator.domain.judges.protocol import Answer
from annotator.judging.calls.asking import Asker, CaseAsk, Key, cache_key
from annotator.judging.calls.client import Client, Endpoint, Sender
from annotator.judging.calls.limits import Limits, RunHalt
from annotator.judging.calls.prices import Budget, BudgetSpent
from annotator.judging.calls.reply_parts import ReplyForm
from annotator.judging.messages import load
from tests.judging.odd_server import (
    NO_JSON,
    YES_JSON,
    Odd,
    OddServer,
    Reply,
    asker,
    case,
    completion,
    error,
    prices,
    streamed,
    tiny_judge,
)
from tests.projects.refusals import expect_refusal

pytestmark = pytest.mark.anyio


FIELDS = {"criterion": "Names the method", "report": "A report on Bayesian analysis."}


async def asked(odd: OddServer, folder: Path, **rest: Any) -> tuple[Answer, CaseAsk]:
    async with asker(odd.url, folder, **rest) as factory:
        ask = factory(case())
        return await ask("tiny", FIELDS, Reply, fenced=("report",)), ask


class Shelf:
    """A journal in memory."""

    def __init__(self, *calls: Call) -> None:
        self.calls = {call.cache_key: call for call in calls}

    def find(self, cache_key: str) -> Call | None:
        return self.calls.get(cache_key)

    def finished(self, run: str) -> set[Key]:
        return set()


async def test_a_good_reply_is_an_answer_and_a_complete_record(odd: OddServer, folder: Path) -> None:
    answer, ask = await asked(odd, folder, run_id="run-1", parameters={"temperature": 0})
    assert (answer.status, answer.reply.covered, answer.raw) == (Status.OK, "yes", YES_JSON)
    (call,) = ask.calls
    assert (call.run_id, call.judge_id, call.status, call.attempts) == ("run-1", "judge-1", Status.OK, 1)
    assert (call.requested_model, call.returned_model) == ("test-model", "test-model-2026")
    counts = (call.tokens_input, call.tokens_cached, call.tokens_output, call.tokens_reasoning)
    assert counts == (100, 40, 20, 5)
    # 60 tokens at 1 000, 40 cached at 100, 20 out at 2 000 dollars per million: 0.060 + 0.004 + 0.040
    assert call.cost_usd == pytest.approx(0.104)
    assert json.loads(call.parameters) == {"temperature": 0, "response_format": "json_schema"}
    assert (call.prompt_sha256, ask.call_id) == (load("tiny", folder).sha256, call.id)


async def test_nothing_is_sent_that_was_not_set(odd: OddServer, folder: Path) -> None:
    await asked(odd, folder)
    assert set(odd.bodies[0]) == {"model", "messages", "response_format"}


async def test_each_call_has_its_own_fence_but_one_cache_key(odd: OddServer, folder: Path) -> None:
    async with asker(odd.url, folder) as factory:
        first, second = factory(case()), factory(case())
        await first("tiny", FIELDS, Reply, fenced=("report",))
        await second("tiny", FIELDS, Reply, fenced=("report",))
    assert odd.bodies[0]["messages"] != odd.bodies[1]["messages"]
    assert first.calls[0].cache_key == second.calls[0].cache_key


@pytest.mark.parametrize(
    "content",
    [
        "No, the report never mentions the Bayesian analysis",
        "10/10",
        "Great report!",
        "",
        '{"covered": "yes"}',
        '{"reason": "r", "covered": "yes", "extra": 1}',
        '{"verdict": "yes"}',
        '{"reason": "r", "covered": "y',
        "yes" * 350_000,
    ],
    ids=["bayes", "10/10", "prose", "empty", "missing key", "extra key", "other schema", "cut", "1 MB"],
)
async def test_a_reply_that_is_no_verdict_is_invalid_with_its_words_kept(
    odd: OddServer, folder: Path, content: str
) -> None:
    odd.script(completion(content))
    answer, ask = await asked(odd, folder)
    assert (answer.status, answer.reply) == (Status.INVALID, None)
    assert answer.cause.startswith("The reply could not be used")
    assert content in answer.raw
    assert ([call.repaired for call in ask.calls], len(odd.bodies)) == ([False, True], 2)


async def test_one_repair_request_can_save_a_reply_and_is_counted(odd: OddServer, folder: Path) -> None:
    odd.script(completion("It is covered."), completion(NO_JSON))
    answer, ask = await asked(odd, folder)
    assert (answer.status, answer.reply.covered) == (Status.OK, "no")
    assert [(call.status, call.repaired) for call in ask.calls] == [
        (Status.INVALID, False),
        (Status.OK, True),
    ]
    assert ask.calls[0].raw == "It is covered."
    assert odd.bodies[1]["messages"][2] == {"role": "assistant", "content": "It is covered."}


@pytest.mark.parametrize(
    ("odd_answer", "status"),
    [
        (completion(None, refusal="I cannot help with that."), Status.REFUSED),
        (completion("", "content_filter"), Status.FILTERED),
        (error(400, "filtered", code="content_filter"), Status.FILTERED),
        (error(400, "too much", code="context_length_exceeded"), Status.TOO_LONG),
        (error(401, "bad key"), Status.API_ERROR),
        (error(403, "forbidden"), Status.API_ERROR),
        (error(404, "no such model"), Status.API_ERROR),
    ],
)
async def test_what_no_retry_can_mend_is_asked_once(
    odd: OddServer, folder: Path, odd_answer: Odd, status: Status
) -> None:
    odd.script(odd_answer)
    answer, ask = await asked(odd, folder)
    assert (answer.status, answer.reply) == (status, None)
    assert answer.cause
    assert len(odd.bodies) == len(ask.calls) == 1


@pytest.mark.parametrize(
    "trouble",
    [
        Odd("", 200),
        Odd("<html></html>", 200),
        Odd('{"choices": [{"mes', 200),
        error(200, "overloaded"),
        error(500, "oops"),
        error(503, "busy"),
        Odd(completion(YES_JSON).body, cut=True),
    ],
    ids=["empty", "html", "cut JSON", "error under 200", "500", "503", "cut connection"],
)
async def test_what_may_pass_is_tried_again(odd: OddServer, folder: Path, trouble: Odd) -> None:
    odd.script(trouble, completion(YES_JSON))
    answer, ask = await asked(odd, folder)
    assert (answer.status, ask.calls[0].attempts) == (Status.OK, 2)


async def test_what_does_not_pass_is_given_up_with_the_servers_words(odd: OddServer, folder: Path) -> None:
    odd.script(error(503, "the model is loading"))
    answer, ask = await asked(odd, folder)
    words = "The server answered 503: the model is loading."
    assert (answer.status, answer.cause) == (Status.API_ERROR, words)
    assert ask.calls[0].attempts == len(odd.bodies) == 5
    assert "loading" in ask.calls[0].raw


@pytest.mark.parametrize("status", [400, 422, 500])
@pytest.mark.parametrize("words", ["response_format is not supported", "Something went wrong"])
async def test_a_server_that_knows_no_schema_is_asked_for_json(
    odd: OddServer, folder: Path, status: int, words: str
) -> None:
    odd.answer = lambda body, number: (
        error(status, words)
        if body.get("response_format", {}).get("type") == "json_schema"
        else completion(YES_JSON)
    )
    async with asker(odd.url, folder) as factory:
        for number in (1, 2):
            fields = FIELDS | {"criterion": str(number)}
            assert (await factory(case())("tiny", fields, Reply)).status is Status.OK
    assert odd.forms()[-2:] == ["json_object", "json_object"]
    assert odd.forms().count("json_schema") <= 2
    assert "JSON Schema" in odd.bodies[-1]["messages"][0]["content"]


async def test_a_server_that_knows_no_format_is_asked_in_plain_text(odd: OddServer, folder: Path) -> None:
    odd.answer = lambda body, number: (
        error(400, "Unknown field response_format", param="response_format")
        if "response_format" in body
        else completion("no\nIt never mentions the Bayesian analysis.")
    )
    reply, ask = await asked(odd, folder)
    assert (reply.status, reply.reply.covered) == (Status.OK, "no")
    assert odd.forms() == ["json_schema", "json_object", "text"]
    assert json.loads(ask.calls[0].parameters) == {"response_format": "text"}
    assert odd.bodies[-1]["messages"][0]["content"].endswith("Begin with yes or no.")


async def test_an_outage_is_not_taken_for_a_missing_schema(odd: OddServer, folder: Path) -> None:
    odd.script(*[error(500, "oops")] * 9, completion(YES_JSON))
    async with asker(odd.url, folder) as factory:
        assert (await factory(case())("tiny", FIELDS, Reply)).status is Status.API_ERROR
        assert factory.sender.ladder.top is ReplyForm.SCHEMA
        assert (await factory(case())("tiny", FIELDS, Reply)).status is Status.OK
    assert odd.forms()[-1] == "json_schema"


async def test_a_rejected_parameter_is_dropped_remembered_and_not_recorded(
    odd: OddServer, folder: Path
) -> None:
    unsupported = error(400, "Unsupported value: 'temperature' does not support 0", param="temperature")
    odd.answer = lambda body, number: unsupported if "temperature" in body else completion(YES_JSON)
    async with asker(odd.url, folder, parameters={"temperature": 0, "seed": 1}) as factory:
        asks = [factory(case()), factory(case(2))]
        for ask in asks:
            assert (await ask("tiny", FIELDS, Reply)).status is Status.OK
    assert ["temperature" in body for body in odd.bodies] == [True, False, False]
    assert [ask.calls[0].attempts for ask in asks] == [2, 1]
    assert json.loads(asks[1].calls[0].parameters) == {"seed": 1, "response_format": "json_schema"}


async def test_a_cut_reply_is_asked_for_once_more_with_a_larger_cap(odd: OddServer, folder: Path) -> None:
    odd.script(completion('{"reason": "lo', "length"), completion(YES_JSON))
    answer, ask = await asked(odd, folder, parameters={"max_tokens": 2_000})
    assert (answer.status, [body["max_tokens"] for body in odd.bodies]) == (Status.OK, [2_000, 8_000])
    assert [call.status for call in ask.calls] == [Status.TRUNCATED, Status.OK]


async def test_a_reply_cut_twice_is_truncated_even_when_it_could_be_read(
    odd: OddServer, folder: Path
) -> None:
    odd.script(completion(YES_JSON, "length"))
    answer, _ = await asked(odd, folder)
    assert (answer.status, answer.reply) == (Status.TRUNCATED, None)
    assert [body.get("max_tokens") for body in odd.bodies] == [None, 4_096]


async def test_a_missing_count_of_tokens_leaves_the_most_that_it_may_have_cost(
    odd: OddServer, folder: Path
) -> None:
    tree = json.loads(str(completion(YES_JSON).body))
    del tree["usage"]
    odd.script(Odd(json.dumps(tree)))
    _, ask = await asked(odd, folder)
    # No more tokens in than the request's some 800 bytes at 0.001, and 1 000 out at 0.002 dollars.
    assert (ask.calls[0].tokens_input, ask.calls[0].cost_usd) == (None, pytest.approx(2.8, abs=0.1))


async def test_a_nul_in_a_reply_is_kept_in_a_form_the_store_takes(odd: OddServer, folder: Path) -> None:
    odd.script(completion("a\x00b"))
    answer, ask = await asked(odd, folder)
    assert (answer.status, ask.calls[0].raw) == (Status.INVALID, "a\\x00b")


async def test_a_journalled_answer_is_read_again_without_a_call(odd: OddServer, folder: Path) -> None:
    _, first = await asked(odd, folder)
    answer, ask = await asked(odd, folder, journal=Shelf(*first.calls))
    assert (answer.status, answer.reply.covered) == (Status.OK, "yes")
    assert (ask.calls, ask.reused, ask.call_id) == ([], first.calls, first.calls[0].id)
    assert len(odd.bodies) == 1


async def test_an_error_is_never_served_again(odd: OddServer, folder: Path) -> None:
    odd.script(error(404, "no such model"), completion(YES_JSON))
    _, first = await asked(odd, folder)
    answer, ask = await asked(odd, folder, journal=Shelf(*first.calls))
    assert (answer.status, ask.reused) == (Status.OK, [])


async def test_a_plain_text_answer_is_read_again_as_plain_text(odd: OddServer, folder: Path) -> None:
    odd.answer = lambda body, number: (
        error(400, "response_format?") if "response_format" in body else completion("yes\nSection 2.")
    )
    _, first = await asked(odd, folder)
    answer, _ = await asked(odd, folder, journal=Shelf(*first.calls))
    assert answer.reply.reason == "Section 2."


def test_a_budget_needs_a_known_price() -> None:
    client = Client(Endpoint("http://127.0.0.1:9/v1", "unheard-of"))
    expect_refusal("price", Asker, Sender(client, Limits(1), prices(), Budget(1.0)), "judge-1")


async def test_a_journalled_reply_that_no_longer_fits_is_asked_for_anew(odd: OddServer, folder: Path) -> None:
    _, first = await asked(odd, folder)
    spoiled = first.calls[0].model_copy(update={"raw": "yes"})
    answer, ask = await asked(odd, folder, journal=Shelf(spoiled))
    assert (answer.status, ask.reused, len(ask.calls)) == (Status.OK, [], 1)


async def test_no_larger_cap_is_tried_where_caps_are_turned_down(odd: OddServer, folder: Path) -> None:
    odd.answer = lambda body, number: (
        error(400, "max_tokens?") if "max_tokens" in body else completion("{", "length")
    )
    reply, ask = await asked(odd, folder, parameters={"max_tokens": 10})
    assert (reply.status, len(ask.calls), len(odd.bodies)) == (Status.TRUNCATED, 1, 2)


async def test_a_budget_stops_before_the_call_that_could_exceed_it(odd: OddServer, folder: Path) -> None:
    # Before the first answer a reply is taken to have the 150 tokens that it is told to have, at 0.002 dollars each.
    async with asker(odd.url, folder, budget=Budget(0.4)) as factory:
        await factory(case())("tiny", FIELDS, Reply)
        assert factory.sender.budget.spent_usd == pytest.approx(0.104)
        with pytest.raises(
            BudgetSpent, match=r"budget of \$0\.40 .* \$0\.10 is spent, and it is likely to cost"
        ):
            await factory(case())("tiny", FIELDS | {"criterion": "x" * 1600}, Reply)
    assert len(odd.bodies) == 1


def other(model: str) -> str:
    """Why a model may not answer: only the usual one of these tests may."""
    return "" if model == "test-model-2026" else f"It is {model}."


async def test_a_model_that_may_not_answer_ends_the_run_and_its_call_is_kept_unused(
    odd: OddServer, folder: Path
) -> None:
    odd.script(Odd(str(completion(YES_JSON).body).replace("test-model-2026", "zzz-9")))
    async with asker(odd.url, folder, refused=other) as factory:
        ask = factory(case())
        with pytest.raises(RunHalt, match="It is zzz-9"):
            await ask("tiny", FIELDS, Reply)
    (kept,) = ask.calls
    assert (kept.status, kept.cause, kept.raw) == (Status.SKIPPED, "It is zzz-9.", YES_JSON)


async def test_an_answer_of_a_model_that_may_not_answer_is_not_served_from_the_journal(
    odd: OddServer, folder: Path
) -> None:
    _, ask = await asked(odd, folder)
    shelf = Shelf(ask.calls[0].model_copy(update={"returned_model": "zzz-9"}))
    _, again = await asked(odd, folder, journal=shelf, refused=other)
    assert (len(again.calls), again.reused) == (1, [])
    _, free = await asked(odd, folder, journal=shelf)
    assert (free.calls, len(free.reused)) == ([], 1)


SAID = completion('{"reason": "Section\u20282 says so.", "covered": "yes"}')


def once_right(
    refusal: Odd, right: Callable[[dict[str, Any]], bool], answer: Odd = SAID
) -> Callable[..., Odd]:
    return lambda body, number: answer if right(body) else refusal


def without_system(body: dict[str, Any]) -> bool:
    first, *others = body["messages"]
    return first["role"] == "user" and not others and "Criterion 1" in first["content"]


SERVERS = {
    **{
        f"no system role: {words}": once_right(error(status, words, param=parameter), without_system)
        for status, words, parameter in (
            (400, "Unsupported value: 'messages[0].role' does not support 'system'.", "messages[0].role"),
            (500, "System role not supported", None),
            (400, "Developer instruction is not enabled for models/gemma-3-27b-it", None),
            (400, "Conversation roles must alternate user/assistant/user/assistant/...", None),
            (500, "Only user and assistant roles are supported!", None),
            (422, "messages.0.role: Input should be 'user' or 'assistant'", None),
        )
    },
    "answers in a stream": lambda body, number: streamed(SAID),
    **{
        f"answers in a stream only: {words}": once_right(
            error(400, words), lambda body: body.get("stream") is True, streamed(SAID)
        )
        for words in (
            "This model only support stream mode, please enable the stream parameter to access the model.",
            "parameter.enable_thinking must be set to false for non-streaming calls",
        )
    },
    "a stream without options": lambda body, number: (
        error(400, "Extra inputs are not permitted", param="stream_options")
        if "stream_options" in body
        else streamed(SAID) if body.get("stream") else error(400, "stream must be true")
    ),
    "a mark of byte order": lambda body, number: Odd(f"\ufeff{SAID.body}"),
    "marks around the content": lambda body, number: completion(f"\ufeff{YES_JSON}\u200b"),
    "a fence around a mark": lambda body, number: completion(f"\u200b```json\n\ufeff{YES_JSON}\n```\n"),
}  # fmt: skip


@pytest.mark.parametrize("server", SERVERS)
async def test_a_server_that_wants_to_be_asked_in_another_manner_is_and_what_it_wants_is_remembered(
    server: str, odd: OddServer, folder: Path
) -> None:
    odd.answer = SERVERS[server]
    async with asker(odd.url, folder) as judge:
        for number in (1, 2):
            ask = judge(case(number))
            answer = await tiny_judge(case(1), ask)
            assert {verdict.value for verdict in answer.values()} == {"yes"}
            assert [(call.status, call.tokens_output) for call in ask.calls] == [(Status.OK, 20)]
            asked = len(odd.bodies)
            odd.bodies.clear()
    assert asked == 1


async def test_a_stream_that_breaks_off_is_no_answer(odd: OddServer, folder: Path) -> None:
    odd.script(streamed(completion(YES_JSON), done=False))
    answer, _ = await asked(odd, folder)
    assert (answer.status, answer.reply) == (Status.API_ERROR, None)


SAME: dict[str, Any] = {
    "endpoint": "http://host/v1",
    "model": "m",
    "params": {"temperature": 0, "seed": 1},
    "prompt_sha256": "abc",
    "messages": [{"role": "user", "content": "Question"}],
    "schema": {"type": "object"},
    "trial": 1,
}


def test_the_key_does_not_depend_on_the_order_of_parameters() -> None:
    assert cache_key(**SAME) == cache_key(**SAME | {"params": {"seed": 1, "temperature": 0}})
    assert len(cache_key(**SAME)) == 64


@pytest.mark.parametrize(
    "change",
    [
        {"endpoint": "http://other/v1"},
        {"model": "n"},
        {"params": {"temperature": 1, "seed": 1}},
        {"prompt_sha256": "abd"},
        {"messages": [{"role": "user", "content": "Question?"}]},
        {"schema": {"type": "string"}},
        {"trial": 2},
    ],
)
def test_whatever_could_change_the_answer_changes_the_key(change: dict[str, Any]) -> None:
    assert cache_key(**SAME | change) != cache_key(**SAME)
