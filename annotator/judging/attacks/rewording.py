"""Rewording attacks: a report reworded by a model, and a check that nothing was lost."""

import re
from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field

from annotator.domain.judges.attack import Pieces
from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer, Ask
from annotator.domain.texts.canonical import Text
from annotator.judging.attacks.shape import Attack, AttackNeeds

PARAPHRASE = "paraphrase"
PROMPTS = ("attack.paraphrase",)
# What a copy must keep of the report's numbers and addresses, and how long it may be beside it.
KEEPS, SHORTEST, LONGEST = 0.9, 0.5, 2.0
_FIXED = re.compile(r"https?://[^\s)\]>\"']+|\d+(?:[.,]\d+)*")


class Reworded(BaseModel):
    """What a model replies that was given a report to reword."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    TEXT_FORM: ClassVar[str] = "Reply with the reworded report and nothing else, in plain Markdown."
    report: Text = Field(description="The whole report in other words, as Markdown")

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The plain text form: the reply is the report."""
        return cls(report=text)


async def reworded(report: str, ask: Ask) -> tuple[Pieces | None, Answer]:
    """The pieces of a copy in other words, or None and an answer whose status and cause say why not."""
    answer = await ask(PROMPTS[0], {"report": report}, Reworded, fenced=("report",))
    if answer.status is not Status.OK:
        return None, answer
    words = answer.reply.report
    if lost := unfaithful(report, words):
        return None, Answer(Status.INVALID, raw=answer.raw, cause=lost)
    return (words,), answer


def unfaithful(report: str, words: str) -> str:
    """In words, what shows that a rewording is no copy of the report; empty when nothing does."""
    size = len(words) / max(1, len(report))
    if not SHORTEST <= size <= LONGEST:
        return f"The rewording is {size:.0%} as long as the report."
    fixed = set(_FIXED.findall(report))
    kept = sum(one in words for one in fixed)
    if kept < KEEPS * len(fixed):
        return f"The rewording keeps {kept:,} of {len(fixed):,} numbers and addresses."
    return ""


REWORDING = Attack(
    PARAPHRASE,
    "In other words",
    "A model says the whole report in other words, keeping every statement, number and address. A copy that loses more "
    "than a tenth of its numbers and addresses is not used. Whether every statement was kept is for you to see: read "
    "some of the cases.",
    needs=AttackNeeds.WRITER,
)
