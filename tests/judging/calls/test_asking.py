"""How a question is asked, how replies are read, and the cache of answers."""

import json
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from annotator.domain.common import escaped
from annotator.domain.judges.judge import Call, Status
from annotator.domain.judges.protocol import Answer
from annotator.judging.calls.asking import Asker, CaseAsk, Key, cache_key
from annotator.judging.calls.client import Client, Endpoint, Sender
from annotator.judging.calls.limits import Limits, RunHalt
from annotator.judging.calls.outcome import CallOutcome, CallTrouble, Usage, read
from annotator.judging.calls.prices import Budget, BudgetSpent
from annotator.judging.calls.reply_parts import (
    LONGEST,
    STRIKES,
    YES_NO,
    ReplyForm,
    ResponseFormats,
    UnreadableReply,
    below,
    in_words,
    parse,
    parted,
    repair,
    response_format,
    with_form,
)
from annotator.judging.messages import load
from annotator.protocols.reports import Report
from tests.common import expect_refusal
from tests.judging.odd_server import (
    NO_JSON,
    WAYS_OF_TELLING,
    YES_JSON,
    Odd,
    OddServer,
    Reply,
    Used,
    asker,
    case,
    completion,
    error,
    prices,
    streamed,
    tiny_judge,
)

pytestmark = pytest.mark.anyio


FIELDS = {"criterion": "Names the method", "report": "A report on Bayesian analysis."}


async def asked(odd: OddServer, folder: Path, **rest: Any) -> tuple[Answer, CaseAsk]:
    async with asker(odd.url, folder, **rest) as factory:
        ask = factory(case())
        return await ask("tiny", FIELDS, Reply, fenced=("report",)), ask


class Shelf:
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
    answer, ask = await asked(odd, folder, journal=Shelf(first.calls[0].model_copy(update={"raw": "yes"})))
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


REPORT = "# Report\n\nA model that thinks writes `<think>` first, and `</think>` when it is done.\n\n```\n<think>\n```"
THOUGHT = "They want a report. I begin."


def harmony(reply: str, begin: str = "<|channel|>", end: str = "") -> str:
    return (
        f"{begin}analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{reply}{end}"
    )


# Ways in which a server sends thinking beside or within a reply.
THINKING = {
    "in tags": lambda reply: f"<think>\n{THOUGHT}\n</think>\n\n{reply}",
    "in tags of other names": lambda reply: f"<Thinking>{THOUGHT}</Thinking><reflection>So.</reflection>{reply}",
    "seed": lambda reply: (
        f"<seed:think>{THOUGHT}<seed:cot_budget_reflect>5</seed:cot_budget_reflect></seed:think>{reply}"
    ),
    "magistral": lambda reply: f"[THINK]{THOUGHT}[/THINK]{reply}",
    "kimi": lambda reply: f"◁think▷{THOUGHT}◁/think▷{reply}",
    "sky": lambda reply: f"<|begin_of_thought|>{THOUGHT}<|end_of_thought|>{reply}",
    "only the end": lambda reply: f"{THOUGHT}</think>{reply}",
    "only the end, on a line": lambda reply: f"{THOUGHT}\n</think>\n\n{reply}",
    "nested": lambda reply: f"<think>Hm. <think>{THOUGHT}</think> Yes.</think>{reply}",
    "two begins and one end": lambda reply: f"<think>I use <think> for this. {THOUGHT}</think>{reply}",
    "a stray end": lambda reply: f"<think>{THOUGHT}</think>{reply}</think>",
    "after the reply": lambda reply: f"{reply}\n<think>{THOUGHT}</think>",
    "code left open": lambda reply: f"<think>```\n{THOUGHT}</think>{reply}",
    "harmony": harmony,
    "harmony, begun by the server": lambda reply: harmony(reply, "", "<|return|>"),
    "harmony, without its marks": lambda reply: f"analysisSo. {THOUGHT}assistantfinal{reply}",
    "reasoning_content": lambda reply: completion(reply, reasoning_content=f"{THOUGHT}</think>no"),
    "reasoning": lambda reply: completion(reply, reasoning=THOUGHT, reasoning_details=[{"text": THOUGHT}]),
    "parts": lambda reply: completion(
        [{"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}, {"type": "text", "text": reply}]  # type: ignore[arg-type]
    ),
    "in a field and in tags": lambda reply: completion(f"<think>{THOUGHT}</think>{reply}", reasoning=THOUGHT),
    "behind marks that are not seen": lambda reply: f"\ufeff<think>{THOUGHT}</think>\u200b{reply}\u2060",
}  # fmt: skip


def content(way: str, reply: str) -> str:
    made = THINKING[way](reply)
    outcome = read(200, {}, str((completion(made) if isinstance(made, str) else made).body))
    assert outcome.trouble is CallTrouble.NONE
    return outcome.content


@pytest.mark.parametrize("way", THINKING)
def test_thinking_is_neither_a_report_nor_an_answer_and_is_kept_with_the_reply(way: str) -> None:
    assert parse(content(way, REPORT), Report, ReplyForm.TEXT).text == REPORT
    assert parse(content(way, YES_JSON), Reply, ReplyForm.SCHEMA).covered == "yes"
    assert parse(content(way, "no\nNothing."), Reply, ReplyForm.TEXT).reason == "Nothing."
    assert THOUGHT in parted(content(way, REPORT)).thinking


@pytest.mark.parametrize(
    "text",
    ["<think>Never", "<think>\n# Report\n\nIt helps.", "Hm.</think>", harmony("")[:-30], "<think></think>"],
)
@pytest.mark.parametrize(("reply", "rung"), [(Report, ReplyForm.TEXT), (Reply, ReplyForm.SCHEMA)])
def test_a_reply_that_is_only_thinking_is_none(text: str, reply: type[Reply], rung: ReplyForm) -> None:
    with pytest.raises(UnreadableReply, match="only thinking"):
        parse(text, reply, rung)


@pytest.mark.parametrize(
    "text",
    [
        REPORT,
        "The model writes between <think> and </think> tags, never outside.",
        "Its template ends “</think>”.\n\nThe <think> token begins it.",
        "R1 emits <think> before it answers and </think>\nafterwards.",
        "```\n<|channel|>final<|message|>x\n```\nAbove is the format of harmony.",
    ],
)
def test_a_report_that_speaks_of_thinking_is_whole(text: str) -> None:
    assert parse(text, Report, ReplyForm.TEXT).text == text


def test_a_tag_in_the_string_of_an_answer_hides_nothing_of_it() -> None:
    quoting = '{"reason": "It says <think>no</think> and </think>so", "covered": "yes"}'
    for text in (quoting, f"<think>Hm.</think>{quoting}"):
        assert parse(text, Reply, ReplyForm.SCHEMA).reason == "It says <think>no</think> and </think>so"


@pytest.mark.parametrize(
    ("text", "rung"),
    [(f"{NO_JSON}</think>{YES_JSON}", ReplyForm.SCHEMA), ("no\nIt says: </think>\nyes", ReplyForm.TEXT)],
)
def test_of_two_answers_around_a_lone_end_of_thinking_none_is_taken(text: str, rung: ReplyForm) -> None:
    with pytest.raises(UnreadableReply, match="not separated"):
        parse(text, Reply, rung)


@pytest.mark.parametrize(
    "content",
    [
        YES_JSON,
        f"\n  {YES_JSON}  \n",
        f"```json\n{YES_JSON}\n```",
        f"```\n{YES_JSON}\n```",
        f"<think>Perhaps {NO_JSON}? No.</think>\n{YES_JSON}",
        f"<thought>Hm.</thought>\n<Thinking>Perhaps {NO_JSON}? No.</Thinking>\n{YES_JSON}",
    ],
)
def test_json_that_is_the_whole_reply_is_read(content: str) -> None:
    assert parse(content, Reply, ReplyForm.SCHEMA).covered == "yes"


@pytest.mark.parametrize(
    "content",
    [
        "No, the report never mentions the Bayesian analysis",
        "Yes.",
        "yes",
        "10/10",
        "10",
        "",
        "   ",
        "null",
        "true",
        f"[{YES_JSON}]",
        f"Sure! {YES_JSON}",
        f"{YES_JSON} I hope this helps.",
        f"{YES_JSON}\n{NO_JSON}",
        f"```json\n{YES_JSON}\n```\nas asked",
        '{"covered": "yes"}',
        '{"reason": "r", "covered": "yes", "score": 10}',
        '{"reason": "r", "covered": "Yes"}',
        '{"reason": "r", "covered": true}',
        '{"reason": 5, "covered": "yes"}',
        '{"reason": "r", "covered": "no", "covered": "yes"}',
        '{"reason": NaN, "covered": "yes"}',
        '{"reason": "r", "covered": "yes"',
        '{"reason": "r", "covered": "yes",}',
        '{"reason": "\\u0000", "covered": "yes"}',
        '{"reason": "\\ud800", "covered": "yes"}',
        '{"Reason": "r", "Covered": "yes"}',
        "{" * 50_000,
        "I'm sorry, I can't help with that.",
    ],
)
def test_anything_else_is_unreadable(content: str) -> None:
    with pytest.raises(UnreadableReply):
        parse(content, Reply, ReplyForm.SCHEMA)


def test_plain_text_goes_by_the_reply_classs_own_contract() -> None:
    assert parse("no\nNever mentions the Bayesian analysis.", Reply, ReplyForm.TEXT).covered == "no"
    assert parse("yes", Reply, ReplyForm.TEXT).covered == "yes"


@pytest.mark.parametrize(
    "content",
    ["No, the report never mentions the Bayesian analysis", "Maybe yes", "10/10", "yes\n\x00", "y", "yesno"],
)
def test_plain_text_outside_the_contract_is_unreadable(content: str) -> None:
    with pytest.raises(UnreadableReply):
        parse(content, Reply, ReplyForm.TEXT)


def test_a_reply_of_a_megabyte_is_no_verdict() -> None:
    long = f'{{"reason": "{"x" * LONGEST}", "covered": "yes"}}'
    with pytest.raises(UnreadableReply, match="too long"):
        parse(long, Reply, ReplyForm.SCHEMA)


def test_the_fault_says_what_does_not_fit_without_repeating_the_reply() -> None:
    with pytest.raises(UnreadableReply, match="covered") as caught:
        parse('{"reason": "SECRET", "covered": "perhaps"}', Reply, ReplyForm.SCHEMA)
    assert "perhaps" not in str(caught.value)


def test_what_the_store_refuses_is_written_out() -> None:
    assert (escaped("a\x00b\ud800c"), escaped("plain ü 語")) == ("a\\x00b\\ud800c", "plain ü 語")


A, B = "https://a.example/one", "https://b.example/two"
LINES = f"- [1] First. {A}\n- [2] {B}"
CITING = "Depth hurts [1], they say [2]."


def cited(url: str, place: str = "", **more: str) -> dict[str, object]:
    """An annotation of the text, at the place of a marker where one is named."""
    start = CITING.find(place) if place else None
    place_of = {"start_index": start, "end_index": start + len(place)} if start is not None else {}
    return {"type": "url_citation", "url_citation": {"url": url, **place_of, **more}}


@pytest.mark.parametrize(
    ("text", "beside", "within", "lines"),
    [
        (CITING, {"citations": [A, B], "search_results": [{"url": A, "title": "First"}]}, {}, LINES),
        (CITING, {"search_results": [{"url": A, "title": " First\n"}, {"link": B}]}, {}, LINES),
        (CITING, {}, {"citations": [{"url": A, "title": "First"}, B]}, LINES),
        (CITING, {}, {"annotations": [cited(A, title="First"), cited(B), cited(A)]}, LINES),
        (CITING, {}, {"annotations": [cited(B, "[2]"), cited(A, "[1]", title="First")]}, LINES),
        (CITING, {}, {"annotations": [{"type": "url_citation", "url": A, "title": "First"}, cited(B)]}, LINES),
        ("It hurts.", {"citations": [A]}, {}, f"- [1] {A}"),
        ("See [6].", {"citations": [A, "js:x", 5, None, "https://\ud83d", B]}, {}, f"- [1] {A}\n- [6] {B}"),
        ("See [7].", {}, {"annotations": [cited(A), None, {"url_citation": 3}]}, f"- {A}"),
        (CITING, {"citations": "all", "search_results": {}}, {"annotations": 5}, ""),
        (f"{CITING}\n\n## Sources\n\n1. {B}", {"citations": [A]}, {}, ""),
        (f"{CITING}\n\n[1]: {B}", {"citations": [A]}, {}, ""),
    ],
)  # fmt: skip
def test_the_sources_that_a_server_names_become_the_reports_list_with_their_numbers(
    text: str, beside: dict[str, object], within: dict[str, object], lines: str
) -> None:
    raw = read(200, {}, json.dumps(json.loads(str(completion(text, **within).body)) | beside)).content
    assert parse(raw, Report, ReplyForm.TEXT).text == (
        f"{text}\n\n## References\n\n{lines}" if lines else text
    )
    assert A in raw or not lines
    # To an answer they add nothing.
    judged = json.loads(str(completion(YES_JSON, **within).body)) | beside
    assert parse(read(200, {}, json.dumps(judged)).content, Reply, ReplyForm.SCHEMA).covered == "yes"


@pytest.mark.parametrize(
    "block", ["[1, 2]", "[[1]]", '[[1, "", "x"]]', "[", '[["1", "", "https://a.example"]]']
)
def test_a_block_of_sources_that_a_model_writes_itself_is_text(block: str) -> None:
    text = f"So.\n\n<sources-beside>\n{block}\n</sources-beside>"
    assert parse(text, Report, ReplyForm.TEXT).text == text


NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def seen(odd: Odd) -> CallOutcome:
    return read(odd.status, odd.headers, str(odd.body), NOW)


def test_a_whole_completion_gives_its_content_and_what_the_server_said_of_it() -> None:
    outcome = seen(completion("yes"))
    assert (outcome.trouble, outcome.content, outcome.finish_reason) == (CallTrouble.NONE, "yes", "stop")
    assert (outcome.model, outcome.fingerprint) == ("test-model-2026", "fp_1")
    assert outcome.usage == Usage(input=100, cached=40, output=20, reasoning=5, beside=0)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        "many",
        *({"prompt_tokens": count} for count in ("12", -1, 1.5, True, [1], 2**31, 2**64, 10**25)),
        *({"cost": cost} for cost in (True, "1", -1, 1e300, None, [], {"total_cost": "1"})),
    ],
)
def test_usage_the_server_does_not_give_is_unknown_not_zero(usage: Any) -> None:
    assert seen(Odd(json.dumps(json.loads(str(completion("yes").body)) | {"usage": usage}))).usage == Usage()


@pytest.mark.parametrize("way", WAYS_OF_TELLING)
@pytest.mark.parametrize("counts", [(1000, 300, 20, 400), (1000, 0, 400, 20), (50, 49, 1, 1)])
def test_a_bill_is_right_or_unknown_however_a_server_tells_of_tokens(
    counts: tuple[int, int, int, int], way: str
) -> None:
    used = Used(*counts)
    tree = json.loads(str(completion("yes").body)) | {"usage": used.told[way]}
    assert prices().bill(seen(Odd(json.dumps(tree))).usage, "test-model") == (
        None if way in Used.UNTOLD else pytest.approx(used.cost_usd)
    )


def test_a_reply_with_nothing_beside_its_text_is_not_searched_for_it() -> None:
    odd, called = completion("yes", annotations=[], reasoning=None), list[str]()
    sys.setprofile(
        lambda frame, event, _: called.append(frame.f_code.co_filename) if event == "call" else None
    )
    outcome = seen(odd)
    sys.setprofile(None)
    assert (outcome.content, sum(name.endswith("reply_parts.py") for name in called)) == ("yes", 1)


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
    assert read(429, headers, str(error(429, message).body), NOW).retry_after == seconds


def test_a_delay_among_the_details_of_an_error_is_found() -> None:
    odd = error(429, "Quota exceeded", details=[{"@type": "RetryInfo", "retryDelay": "34s"}])
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


MESSAGES = [{"role": "system", "content": "Judge."}, {"role": "user", "content": "This."}]


def test_the_rungs_go_down_from_schema_to_text() -> None:
    assert [below(rung) for rung in ReplyForm] == [ReplyForm.OBJECT, ReplyForm.TEXT, None]


SCHEMA, OBJECT, TEXT = ReplyForm
WELL, BADLY = partial(ResponseFormats.parsed, well=True), partial(ResponseFormats.parsed, well=False)
REJECTED, DOUBTFUL, ANSWERED = ResponseFormats.rejected, ResponseFormats.doubtful, ResponseFormats.answered


@pytest.mark.parametrize(
    ("top", "events", "result", "ends"),
    [
        (SCHEMA, [(REJECTED, SCHEMA)], OBJECT, OBJECT),
        (SCHEMA, [(DOUBTFUL, SCHEMA)], True, SCHEMA),
        (SCHEMA, [(DOUBTFUL, SCHEMA), (ANSWERED, OBJECT)], None, OBJECT),
        (SCHEMA, [(ANSWERED, SCHEMA), (DOUBTFUL, SCHEMA)], False, SCHEMA),
        (SCHEMA, [(ANSWERED, SCHEMA), (ANSWERED, TEXT)], None, SCHEMA),
        (SCHEMA, [(BADLY, SCHEMA)] * (STRIKES - 1), None, SCHEMA),
        (SCHEMA, [(BADLY, SCHEMA)] * STRIKES, None, OBJECT),
        (SCHEMA, [(WELL, SCHEMA), *[(BADLY, SCHEMA)] * 3 * STRIKES], None, SCHEMA),
        (TEXT, [*[(BADLY, TEXT)] * STRIKES, (REJECTED, TEXT)], None, TEXT),
    ],
    ids=[
        "turned down by name", "a failure that nothing explains", "which a lower form that answers explains",
        "a failure after an answer", "a lower form after an answer", "too few replies that do not fit",
        "no reply fits", "only later ones do not fit", "the last form is never left",
    ],
)  # fmt: skip
def test_the_form_that_is_asked_for_follows_what_came_of_those_before(
    top: ReplyForm, events: list[tuple[Any, ReplyForm]], result: object, ends: ReplyForm
) -> None:
    ladder = ResponseFormats(top=top)
    assert ([event(ladder, form) for event, form in events][-1], ladder.top) == (result, ends)


def test_a_schema_is_sent_strict_and_only_on_its_rung() -> None:
    form = response_format(Reply, ReplyForm.SCHEMA)
    assert form is not None
    sent = form["json_schema"]
    assert (sent["strict"], sent["schema"]["required"]) == (True, ["reason", "covered"])
    assert response_format(Reply, ReplyForm.OBJECT) == {"type": "json_object"}
    assert response_format(Reply, ReplyForm.TEXT) is None


def test_below_the_schema_the_form_is_said_in_words() -> None:
    assert with_form(MESSAGES, Reply, ReplyForm.SCHEMA) == MESSAGES
    assert "JSON Schema" in with_form(MESSAGES, Reply, ReplyForm.OBJECT)[0]["content"]
    assert with_form(MESSAGES, Reply, ReplyForm.TEXT)[0]["content"] == "Judge.\n\nBegin with yes or no."
    assert MESSAGES[0]["content"] == "Judge."


def test_a_class_without_a_text_form_is_asked_for_as_json_to_the_last() -> None:
    class Plain(BaseModel):
        score: int

    class Silent(Plain):
        @classmethod
        def from_text(cls, text: str) -> "Silent":
            return cls(score=len(text))

    assert "JSON Schema" in in_words(Plain, ReplyForm.TEXT)
    assert in_words(Silent, ReplyForm.TEXT) == YES_NO


def test_a_repair_shows_the_reply_its_fault_and_the_form() -> None:
    messages = repair(MESSAGES, "x" * 1_000_000, "it is prose", Reply, ReplyForm.OBJECT)
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert len(messages[2]["content"]) < 10_000
    assert re.search("it is prose.*JSON Schema", messages[3]["content"], re.DOTALL)
