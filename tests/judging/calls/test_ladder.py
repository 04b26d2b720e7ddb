"""How an endpoint's forms of answering are learned."""

from pydantic import BaseModel

from annotator.judging.calls.ladder import (
    STRIKES,
    YES_NO,
    Ladder,
    ReplyForm,
    asked_for,
    below,
    in_words,
    repair,
    response_format,
)
from tests.judging.odd_server import Reply

MESSAGES = [{"role": "system", "content": "Judge."}, {"role": "user", "content": "This."}]


def test_the_rungs_go_down_from_schema_to_text() -> None:
    assert [below(rung) for rung in ReplyForm] == [ReplyForm.OBJECT, ReplyForm.TEXT, None]


def test_a_form_turned_down_by_name_is_not_asked_for_again() -> None:
    ladder = Ladder()
    assert ladder.rejected(ReplyForm.SCHEMA) is ReplyForm.OBJECT
    assert ladder.top is ReplyForm.OBJECT


def test_an_unexplained_failure_teaches_nothing_until_a_lower_rung_answers() -> None:
    ladder = Ladder()
    assert ladder.doubtful(ReplyForm.SCHEMA)
    assert ladder.top is ReplyForm.SCHEMA
    ladder.answered(ReplyForm.OBJECT)
    assert ladder.top is ReplyForm.OBJECT


def test_a_rung_that_has_answered_is_kept_through_later_failures() -> None:
    ladder = Ladder()
    ladder.answered(ReplyForm.SCHEMA)
    assert not ladder.doubtful(ReplyForm.SCHEMA)
    ladder.answered(ReplyForm.TEXT)
    assert ladder.top is ReplyForm.SCHEMA


def test_a_server_that_pays_the_schema_no_heed_is_taken_a_rung_down() -> None:
    ladder = Ladder()
    for _ in range(STRIKES):
        assert ladder.top is ReplyForm.SCHEMA
        ladder.parsed(ReplyForm.SCHEMA, well=False)
    assert ladder.top is ReplyForm.OBJECT


def test_a_rung_that_was_read_once_is_not_given_up_for_later_prose() -> None:
    ladder = Ladder()
    ladder.parsed(ReplyForm.SCHEMA, well=True)
    for _ in range(3 * STRIKES):
        ladder.parsed(ReplyForm.SCHEMA, well=False)
    assert ladder.top is ReplyForm.SCHEMA


def test_the_foot_of_the_ladder_is_never_left() -> None:
    ladder = Ladder(top=ReplyForm.TEXT)
    for _ in range(STRIKES):
        ladder.parsed(ReplyForm.TEXT, well=False)
    assert ladder.rejected(ReplyForm.TEXT) is None
    assert ladder.top is ReplyForm.TEXT


def test_a_schema_is_sent_strict_and_only_on_its_rung() -> None:
    form = response_format(Reply, ReplyForm.SCHEMA)
    assert form is not None
    assert form["json_schema"]["strict"] is True
    assert form["json_schema"]["schema"]["required"] == ["reason", "covered"]
    assert response_format(Reply, ReplyForm.OBJECT) == {"type": "json_object"}
    assert response_format(Reply, ReplyForm.TEXT) is None


def test_below_the_schema_the_form_is_said_in_words() -> None:
    assert asked_for(MESSAGES, Reply, ReplyForm.SCHEMA) == MESSAGES
    assert "JSON Schema" in asked_for(MESSAGES, Reply, ReplyForm.OBJECT)[0]["content"]
    assert asked_for(MESSAGES, Reply, ReplyForm.TEXT)[0]["content"] == "Judge.\n\nBegin with yes or no."
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
    assert "it is prose" in messages[3]["content"]
    assert "JSON Schema" in messages[3]["content"]
