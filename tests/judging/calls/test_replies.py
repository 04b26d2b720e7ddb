"""How replies are read: outcomes, and the ladder of formats."""

import json
import re
import sys
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from pydantic import BaseModel

from annotator.domain.judges.judge import Status
from annotator.domain.texts.canonical import escaped
from annotator.judging.calls.outcome import CallOutcome, CallTrouble, Usage, read
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
from annotator.protocols.reports import Report
from tests.judging.odd_server import (
    NO_JSON,
    WAYS_OF_TELLING,
    YES_JSON,
    Odd,
    Reply,
    Used,
    completion,
    error,
    prices,
)

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
    told = json.loads(str(completion(text, **within).body)) | beside
    raw = read(200, {}, json.dumps(told)).content
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
    tree = json.loads(str(completion("yes").body)) | {"usage": usage}
    assert seen(Odd(json.dumps(tree))).usage == Usage()


@pytest.mark.parametrize("way", WAYS_OF_TELLING)
@pytest.mark.parametrize("counts", [(1000, 300, 20, 400), (1000, 0, 400, 20), (50, 49, 1, 1)])
def test_a_bill_is_right_or_unknown_however_a_server_tells_of_tokens(
    counts: tuple[int, int, int, int], way: str
) -> None:
    used = Used(*counts)
    tree = json.loads(str(completion("yes").body)) | {"usage": used.told[way]}
    result = prices().bill(seen(Odd(json.dumps(tree))).usage, "test-model")
    assert result == (None if way in Used.UNTOLD else pytest.approx(used.cost_usd))


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
    results = [event(ladder, form) for event, form in events]
    assert (results[-1], ladder.top) == (result, ends)


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
