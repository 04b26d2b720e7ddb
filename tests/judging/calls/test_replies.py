"""What counts as an answer, and what does not."""

import json

import pytest

from annotator.domain.texts.canonical import escaped
from annotator.judging.calls.ladder import ReplyForm
from annotator.judging.calls.outcome import CallTrouble, read
from annotator.judging.calls.replies import LONGEST, UnreadableReply, parse
from annotator.judging.calls.reply_parts import parted
from annotator.protocols.reports import Report
from tests.judging.odd_server import NO_JSON, YES_JSON, Reply, completion

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
@pytest.mark.parametrize("rung", [ReplyForm.SCHEMA, ReplyForm.OBJECT])
def test_anything_else_is_unreadable(content: str, rung: ReplyForm) -> None:
    with pytest.raises(UnreadableReply):
        parse(content, Reply, rung)


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
    with pytest.raises(UnreadableReply) as caught:
        parse('{"reason": "SECRET", "covered": "perhaps"}', Reply, ReplyForm.SCHEMA)
    assert "covered" in str(caught.value)
    assert "perhaps" not in str(caught.value)


def test_what_the_store_refuses_is_written_out() -> None:
    assert escaped("a\x00b\ud800c") == "a\\x00b\\ud800c"
    assert escaped("plain ü 語") == "plain ü 語"


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
