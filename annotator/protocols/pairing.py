"""Pairing the units of two experts by meaning: two numbered lists in, pairs of numbers out.

No paper defines this: it stands beside the automatic matcher, which finds no pair where two experts use quite other
words.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, Self

from pydantic import Field

from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer, Ask
from annotator.protocols.replies import ModelReply
from annotator.protocols.several import numbered

NAME = "agreement.pairing"
PROMPTS = (NAME,)
NONE = "none"
_LINE = re.compile(r"\s*(\d{1,6})\s*=\s*(\d{1,6})\s*")


class Pair(ModelReply):
    """Two entries that mean the same, by their numbers."""

    first: int = Field(description="Number of the entry in the first list")
    second: int = Field(description="Number of the entry in the second list")


class Pairs(ModelReply):
    """The pairs that a judge found."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text, with one line for each pair and nothing else: the number in the first list, an equals "
        "sign and the number in the second list, such as 3 = 5. Reply with the one word none if there is no pair."
    )
    AGAIN: ClassVar[str] = "Give the same pairs again."
    pairs: list[Pair] = Field(description="One entry for each pair; empty if there is none")

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The plain text form; ValueError where a line is anything but two numbers."""
        lines = [] if text.strip().lower() == NONE else [line for line in text.splitlines() if line.strip()]
        found = [_LINE.fullmatch(line) for line in lines]
        if not all(found):
            raise ValueError("a line is not two numbers with an equals sign between them")
        return cls(pairs=[Pair(first=int(one[1]), second=int(one[2])) for one in found if one])


async def paired(question: str, first: Sequence[str], second: Sequence[str], ask: Ask) -> Answer:
    """An answer whose reply are pairs of places, counted from 0 and one to one; or its status and cause say why not.

    What does not fit is never fixed: a number that is not in its list, or stands there twice, spoils the whole reply.
    """
    listed = [numbered(" ".join(text.split()) for text in texts) for texts in (first, second)]
    fields = {"question": question, "first": listed[0], "second": listed[1]}
    answer = await ask(NAME, fields, Pairs, fenced=tuple(fields))
    if answer.status is not Status.OK:
        return answer
    pairs = [(one.first, one.second) for one in answer.reply.pairs]
    for name, of, numbers in zip(
        ("first", "second"), (first, second), zip(*pairs, strict=True), strict=False
    ):
        if fault := _fault(numbers, len(of)):
            return Answer(Status.INVALID, raw=answer.raw, cause=f"Of the {name} list {fault}.")
    return Answer(Status.OK, [(a - 1, b - 1) for a, b in pairs], answer.raw, flags=answer.flags)


def _fault(numbers: Sequence[int], size: int) -> str:
    strange = [number for number in numbers if not 1 <= number <= size]
    twice = [number for number, times in Counter(numbers).items() if times > 1]
    if strange:
        return f"the reply names number {strange[0]}, and it has {size}"
    return f"the reply uses number {twice[0]} twice" if twice else ""
