"""Checklists drafted by a model from the task alone, before any report is seen.

DeepResearch Arena: the first stage of ACE, and its prompt in appendix D.
"""

from math import fsum
from typing import ClassVar, Self

from pydantic import Field

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Ask, Extracted, Extraction, Material
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.checklist import POINTS, Checklist, CheckPoint, unequal
from annotator.protocols.arena.checklist import described, trait
from annotator.protocols.several import ModelReply, blocks

NAME = "arena.checklist.make"
NORMALIZED = "shares_normalized"
DEPARTURES = (
    "A draft is a proposal: what a person takes of it is theirs, and nothing of it is gold before that.",
    "Weights that sum to 0.98 to 1.02 are divided by their sum and "
    "the draft is flagged; other sums, and fewer than 3 or more than 6 points, spoil the draft.",
)


class DraftedPoint(ModelReply):
    """A point as the model drafted it."""

    title: str = Field(min_length=1, max_length=200, description="What is rated, in a few words")
    description: str = Field(
        min_length=1, max_length=2000, description="What a report must do to be rated high on it"
    )
    weight: float = Field(gt=0, le=1, description="Its part of the whole; all weights sum to 1")


class DraftedChecklist(ModelReply):
    """The points that a model proposes."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. For each point write three lines that begin with TITLE:, DESCRIPTION: and WEIGHT:, and "
        "leave one empty line before the next."
    )
    AGAIN: ClassVar[str] = "Give the same checklist again."
    points: list[DraftedPoint] = Field(description="The points, that with the greatest weight first")

    @classmethod
    def from_text(cls, text: str) -> Self:
        points = blocks(text, title="TITLE", description="DESCRIPTION", weight="WEIGHT")
        return cls.model_validate({"points": points})


async def make(material: Material, ask: Ask) -> Extracted:
    """3 to 6 weighted points for a task."""
    item = material.item
    fields = {"question": item.question, "phase": trait(item, "phase"), **described(item)}
    answer = await ask(NAME, fields, DraftedChecklist, fenced=tuple(fields))
    if answer.status is not Status.OK:
        return Extracted(None, answer.status, answer.cause, answer.flags)
    points: list[DraftedPoint] = answer.reply.points
    least, most = POINTS
    if not least <= len(points) <= most:
        cause = f"The draft has {len(points):,} points; a checklist has {least} to {most}."
        return Extracted(None, Status.INVALID, cause, answer.flags)
    total = fsum(point.weight for point in points)
    if fault := unequal(total):
        return Extracted(None, Status.INVALID, fault, answer.flags)
    units = tuple(
        CheckPoint(title=one.title.strip(), text=one.description.strip(), share=one.weight / total)
        for one in sorted(points, key=lambda point: -point.weight)
    )
    exact = abs(total - 1) < 1e-6
    return Extracted(Checklist(units=units), flags=(*answer.flags, *([] if exact else [NORMALIZED])))


CHECKLIST_MADE = Extraction(
    name=NAME,
    title="Checklist for a task",
    citation="DeepResearch Arena, Evaluation Methodology and appendix D",
    makes=Kind.CHECKLIST,
    prompts=(NAME,),
    extract=make,
    sources=False,
    departures=DEPARTURES,
)
