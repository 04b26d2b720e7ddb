"""What counts as an answer, and what does not."""

import pytest

from annotator.domain.texts.canonical import escaped
from annotator.judging.calls.ladder import ReplyForm
from annotator.judging.calls.replies import LONGEST, UnreadableReply, parse
from tests.judging.odd_server import NO_JSON, YES_JSON, Reply


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
