"""The first half of a task, handed to a model to go on with, and the half that is held back.

DeepResearch Arena, appendix A: whether a model that gets the first half of a task writes the second.
"""

import re
from typing import ClassVar, Self

from pydantic import Field

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer, Ask
from annotator.domain.material.item import Item
from annotator.protocols.several import ModelReply

PROMPT = "respond.continuation"
PARAMETERS = '{"temperature": 0.1, "max_tokens": 500}'
NO_MARK = "The task has no punctuation mark between its words."
_MARK = re.compile(r"[.,;:!?…。，、；：！？．､｡]")
_WORD = re.compile(r"\w")


class Continuation(ModelReply):
    """What a model writes after a prefix, as it came."""

    PLAIN: ClassVar[bool] = True
    ENDS_AT_CAP: ClassVar[bool] = True
    TEXT_FORM: ClassVar[str] = "Reply with the words that follow, and nothing else."
    AGAIN: ClassVar[str] = "Continue the text."
    TOKENS: ClassVar[int] = 500
    text: str = Field(min_length=1)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The reply itself; ValueError where there is none."""
        if not text.strip():
            raise ValueError("the continuation is empty")
        return cls(text=text)


def split(task: str) -> tuple[str, str] | None:
    """Prefix and suffix at the mark nearest the middle, with which the suffix begins; of two as near the first.

    None where no mark has words on either side.
    """
    words = [result.start() for result in _WORD.finditer(task)]
    inner = (
        result.start() for result in _MARK.finditer(task) if words and words[0] < result.start() < words[-1]
    )
    place = min(inner, key=lambda at: abs(at - len(task) / 2), default=None)
    return None if place is None else (task[:place], task[place:])


async def ask_to_continue(item: Item, ask: Ask) -> Answer:
    """What a model writes after the first half of a task."""
    halves = split(item.question)
    if halves is None:
        return Answer(Status.SKIPPED, cause=NO_MARK)
    return await ask(PROMPT, {"prefix": halves[0]}, Continuation)
