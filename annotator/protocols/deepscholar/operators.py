"""The three semantic operators of the reference system: filter, top-k and aggregate, each over an `Ask`.

DeepScholar-Bench, §8.5: DeepScholar-base runs the operators of LOTUS (Patel et al., 2025).
"""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import Field

from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer, Ask
from annotator.domain.material.work import CatalogueWork
from annotator.domain.texts.canonical import sha256
from annotator.protocols.replies import ValueReply, Word
from annotator.protocols.reports import Report

FILTER, COMPARE, NOTES, SECTION = (
    "deepscholar.filter",
    "deepscholar.compare",
    "deepscholar.notes",
    "deepscholar.section",
)
# In characters: as many works as fit are shown in one call.
LONGEST_WORKS = 120_000
T = TypeVar("T")
_YES, _FIRST = "yes", "first"


class RelevantWork(ValueReply):
    """What a model replies about one work."""

    VALUE: ClassVar[str] = "relevant"
    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The first line must be yes or no and nothing else. On the next line give your reason in "
        "one sentence."
    )
    TOKENS: ClassVar[int] = 80
    rationale: str = Field(description="Why, in one sentence")
    relevant: Annotated[Literal["yes", "no"], Word] = Field(description="yes or no")

    @classmethod
    def assumed(cls, _fields: Mapping[str, str]) -> Self:
        """What an estimate goes by: every work is kept."""
        return cls.model_validate({"relevant": _YES, "rationale": ""})


class BetterWork(ValueReply):
    """What a model replies about two works."""

    VALUE: ClassVar[str] = "better"
    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The first line must be first or second and nothing else. On the next line give your "
        "reason in one sentence."
    )
    TOKENS: ClassVar[int] = 80
    rationale: str = Field(description="Why, in one sentence")
    better: Annotated[Literal["first", "second"], Word] = Field(description="first or second")

    @classmethod
    def assumed(cls, fields: Mapping[str, str]) -> Self:
        """What an estimate goes by: either is as likely."""
        side = ("first", "second")[int(sha256("/".join(fields.values()))[:2], 16) % 2]
        return cls.model_validate({"better": side, "rationale": ""})


class Notes(Report):
    """What a model notes of some works before it writes about all of them."""

    TEXT_FORM: ClassVar[str] = "Reply with the notes themselves."
    AGAIN: ClassVar[str] = "Write the whole notes."
    TOKENS: ClassVar[int] = 1_500

    @classmethod
    def assumed(cls, _fields: Mapping[str, str]) -> Self:
        """What an estimate goes by: notes of some 1,000 tokens."""
        return cls(text="note " * 800)


class SectionText(Report):
    """The section as the model wrote it."""

    TEXT_FORM: ClassVar[str] = "Reply with the section itself, in Markdown."
    AGAIN: ClassVar[str] = "Write the whole section."
    TOKENS: ClassVar[int] = 3_000

    @classmethod
    def assumed(cls, _fields: Mapping[str, str]) -> Self:
        """What an estimate goes by; nothing is asked after it."""
        return cls(text="Section.")


@dataclass(frozen=True, slots=True)
class KeptWorks:
    """What an operator kept, in its order; `unanswered` counts the verdicts that did not come."""

    works: tuple[CatalogueWork, ...]
    unanswered: int = 0


async def filtered(question: str, works: Sequence[CatalogueWork], ask: Ask) -> KeptWorks:
    """The works of which a model says that they belong to the task.

    Those without a verdict are asked about once more; a work of which nothing is known then is kept.
    """

    async def verdict(work: CatalogueWork) -> str:
        fields = {"question": question, "title": work.title, "abstract": work.abstract}
        answer = await ask(FILTER, fields, RelevantWork, fenced=("title", "abstract"))
        return answer.reply.relevant if answer.status is Status.OK else ""

    said = dict(zip(works, await together(map(verdict, works)), strict=True))
    aside = [work for work, word in said.items() if not word]
    said |= dict(zip(aside, await together(map(verdict, aside)), strict=True))
    kept = tuple(work for work in works if said[work] in (_YES, ""))
    return KeptWorks(kept, sum(not word for word in said.values()))


async def top(question: str, works: Sequence[CatalogueWork], count: int, ask: Ask, seed: str) -> KeptWorks:
    """So many of the works, given in search order, those that a model prefers; nothing is asked where all fit.

    Quickselect: each round puts every work beside one pivot, drawn by the seed. A comparison that does not come goes by
    the search order.
    """
    left, kept, draw, unanswered = list(works), list[CatalogueWork](), Random(seed), 0
    while len(left) > count - len(kept) > 0:
        pivot = left.pop(draw.randrange(len(left)))
        place = {work: number for number, work in enumerate(works)}
        said = await together(_beats(question, work, pivot, ask, seed) for work in left)
        unanswered += said.count(None)
        wins = [
            place[work] < place[pivot] if word is None else word
            for work, word in zip(left, said, strict=True)
        ]
        above = [work for work, won in zip(left, wins, strict=True) if won]
        if len(above) >= count - len(kept):
            left = above
        else:
            kept += [*above, pivot]
            left = [work for work, won in zip(left, wins, strict=True) if not won]
    return KeptWorks(tuple(kept + left[: count - len(kept)]), unanswered)


async def _beats(
    question: str, work: CatalogueWork, pivot: CatalogueWork, ask: Ask, seed: str
) -> bool | None:
    """Whether a work is preferred to the pivot, which is shown first by chance; None where nobody says it."""
    swapped = Random(f"{seed}/{work.key}/{pivot.key}").random() < 0.5
    first, second = (pivot, work) if swapped else (work, pivot)
    fields = {"question": question, "first": described(first), "second": described(second)}
    answer = await ask(COMPARE, fields, BetterWork, fenced=("first", "second"))
    return None if answer.status is not Status.OK else (answer.reply.better == _FIRST) is not swapped


async def aggregated(
    question: str, works: Sequence[CatalogueWork], length: str, ask: Ask, room: int = LONGEST_WORKS
) -> Answer:
    """A section on numbered works, in one call where they fit; else from notes, taken chunk by chunk.

    Where the model says that the whole was too long, it is asked for notes of halves. An answer without a reply is that
    of the call that failed.
    """
    told = [f"[{number}] {described(work)}" for number, work in enumerate(works, start=1)]
    chunks = _chunks(told, room)
    if len(chunks) == 1:
        answer = await _section(question, told, length, ask)
        if answer.status is not Status.TOO_LONG or len(told) < 2:
            return answer
        chunks = [told[: len(told) // 2], told[len(told) // 2 :]]
    fields = [{"question": question, "works": "\n\n".join(chunk)} for chunk in chunks]
    notes = await together(ask(NOTES, each, Notes, fenced=("works",)) for each in fields)
    failed = next((answer for answer in notes if answer.status is not Status.OK), None)
    return failed or await _section(question, [answer.reply.text for answer in notes], length, ask)


async def _section(question: str, told: Sequence[str], length: str, ask: Ask) -> Answer:
    fields = {"question": question, "works": "\n\n".join(told), "length": length}
    return await ask(SECTION, fields, SectionText, fenced=("works",))


def _chunks(told: Iterable[str], room: int) -> list[list[str]]:
    """The works in their order, as many together as there is room for."""
    chunks: list[list[str]] = []
    left = 0
    for one in told:
        if len(one) > left:
            chunks.append([])
            left = room
        chunks[-1].append(one)
        left -= len(one)
    return chunks


def described(work: CatalogueWork) -> str:
    """A work as a model reads it: its title, and its abstract where that is known."""
    return f"{work.title}\n{work.abstract}".strip()


async def together(asked: Iterable[Awaitable[Any]]) -> list[Any]:
    """What comes of questions that are put side by side, in their order; the first error ends them all."""
    tasks = [asyncio.ensure_future(one) for one in asked]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
