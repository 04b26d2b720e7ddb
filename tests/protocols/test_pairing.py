"""How a judge's pairs of two lists are read: whole or not at all."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest
from pydantic import BaseModel

from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer
from annotator.judging.calls.ladder import ReplyForm
from annotator.judging.calls.replies import UnreadableReply, parse
from annotator.protocols.pairing import Pairs, paired

FIRST, SECOND = ("One", "Two\n lines", "Three"), ("Eins", "Zwei")


def answered(*pairs: tuple[int, int]) -> tuple[Answer, dict[str, str]]:
    """What comes of a reply with these numbers, and what was filled into the prompt."""
    filled: dict[str, str] = {}

    async def ask(
        prompt: str, fields: Mapping[str, str], reply: type[BaseModel], fenced: Sequence[str] = ()
    ) -> Answer:
        filled.update(fields)
        assert set(fenced) == fields.keys()
        said = {"pairs": [{"first": first, "second": second} for first, second in pairs]}
        return Answer(Status.OK, reply.model_validate(said), raw="{}")

    return asyncio.run(paired("Which?", FIRST, SECOND, ask)), filled


def test_both_lists_are_numbered_line_by_line() -> None:
    filled = answered()[1]
    assert (filled["first"], filled["second"]) == ("1. One\n2. Two lines\n3. Three", "1. Eins\n2. Zwei")


@pytest.mark.parametrize("pairs", [(), ((3, 1),), ((1, 2), (2, 1))])
def test_pairs_of_numbers_are_pairs_of_places(pairs: tuple[tuple[int, int], ...]) -> None:
    answer, _ = answered(*pairs)
    assert (answer.status, answer.reply) == (Status.OK, [(a - 1, b - 1) for a, b in pairs])


@pytest.mark.parametrize(
    ("pairs", "cause"),
    [
        (((4, 1),), "Of the first list the reply names number 4, and it has 3."),
        (((1, 3),), "Of the second list the reply names number 3, and it has 2."),
        (((0, 1),), "Of the first list the reply names number 0, and it has 3."),
        (((1, 1), (1, 2)), "Of the first list the reply uses number 1 twice."),
        (((1, 2), (3, 2)), "Of the second list the reply uses number 2 twice."),
        (((1, 1), (1, 1)), "Of the first list the reply uses number 1 twice."),
    ],
)
def test_a_number_that_is_strange_or_used_twice_spoils_the_reply(
    pairs: tuple[tuple[int, int], ...], cause: str
) -> None:
    answer, _ = answered(*pairs)
    assert (answer.status, answer.reply, answer.cause) == (Status.INVALID, None, cause)


@pytest.mark.parametrize(
    ("text", "found"), [("1 = 2\n\n 3=1 ", [(1, 2), (3, 1)]), ("none", []), ("None\n", [])]
)
def test_the_plain_text_form_is_a_line_for_each_pair(text: str, found: list[tuple[int, int]]) -> None:
    assert [(one.first, one.second) for one in parse(text, Pairs, ReplyForm.TEXT).pairs] == found


@pytest.mark.parametrize(
    "text", ["1 = 2, I think", "1 and 2", "none of them", "1 = 2\nThese agree.", "-1 = 2"]
)
def test_prose_is_no_pair(text: str) -> None:
    with pytest.raises(UnreadableReply, match="not two numbers"):
        parse(text, Pairs, ReplyForm.TEXT)


@pytest.mark.parametrize(
    "content",
    ['{"pairs": [{"first": "1", "second": 2}]}', '{"pairs": [{"first": 1}]}', '{"pairs": [[1, 2]]}'],
)
def test_what_is_no_pair_of_numbers_is_not_read(content: str) -> None:
    with pytest.raises(UnreadableReply):
        parse(content, Pairs, ReplyForm.SCHEMA)
