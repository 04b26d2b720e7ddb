"""Rubric sets that a model writes alone, to be compared with the experts'.

ResearcherBench, appendix G.1: by four general dimensions of quality, from the question alone; and by reference, from
what the experts had before them and by what they were told, with a review of its own. What both come to, G.2 to G.4.
"""

import json
from collections.abc import Mapping
from typing import ClassVar, Literal, Self

from pydantic import Field

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer, Ask, Extracted, Extraction, Material
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.protocols.reports import NO_SOURCE, excerpt_of
from annotator.protocols.several import ModelReply, blocks, numbered, whole

DIMENSIONS, REFERENCE = "researcherbench.rubric.dimensions", "researcherbench.rubric.reference"
REVIEW = "researcherbench.rubric.review"

DEPARTURES = (
    "The paper describes how its two sets were written and does not print the prompts: these are in our own words, and "
    "any model may write by them.",
)

NO_INSIGHTS = "There are none."
# 931 criteria of 65 questions.
PUBLIC_MEAN = 14


class SetCriterion(ModelReply):
    """A criterion as the model wrote it: first what it rests on."""

    basis: str = Field(max_length=2000, description="What it rests on: a dimension, or words of the material")
    text: str = Field(min_length=1, max_length=2000, description="The criterion in one sentence")
    weight: Literal[1, 2, 3] = Field(description="3 core, 2 supporting, 1 nice to have")


class SetCriteria(ModelReply):
    """The criteria of one item."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. For each criterion write three lines that begin with BASIS:, CRITERION: and WEIGHT:, and "
        "leave one empty line before the next."
    )
    criteria: list[SetCriterion] = Field(description="The criteria")

    @classmethod
    def assumed(cls, _fields: Mapping[str, str]) -> Self:
        """What an estimate of the review goes by: as many criteria as the public rubrics have on average."""
        return cls(criteria=[SetCriterion(basis="basis " * 10, text="word " * 20, weight=2)] * PUBLIC_MEAN)

    @classmethod
    def from_text(cls, text: str) -> Self:
        criteria = blocks(text, basis="BASIS", text="CRITERION", weight="WEIGHT")
        return cls.model_validate({"criteria": [one | {"weight": whole(one["weight"])} for one in criteria]})


async def by_dimensions(material: Material, ask: Ask) -> Extracted:
    """Criteria for a question by general dimensions of quality, without any source (appendix G.1, first baseline)."""
    fields = {"question": material.item.question}
    return _made(material, await ask(DIMENSIONS, fields, SetCriteria, fenced=("question",)))


async def by_reference(material: Material, ask: Ask) -> Extracted:
    """Criteria from the material that experts are given, then reviewed by the model itself (second baseline)."""
    sources = [source for source in material.sources if source.text.strip()]
    if not sources:
        return Extracted(None, Status.SKIPPED, NO_SOURCE)
    shown = excerpt_of(sources, material.item.question)
    insights = (unit.text.strip() for unit in material.units(Kind.INSIGHTS))
    given = {
        "question": material.item.question,
        "insights": numbered(filter(None, insights)) or NO_INSIGHTS,
        "sources": shown.text,
        "extent": shown.extent,
    }
    fenced = ("question", "insights", "sources")
    first = await ask(REFERENCE, given, SetCriteria, fenced=fenced)
    if first.status is not Status.OK:
        return _made(material, first)
    draft = json.dumps(
        [criterion.model_dump() for criterion in first.reply.criteria], ensure_ascii=False, indent=1
    )
    return _made(
        material, await ask(REVIEW, {**given, "draft": draft}, SetCriteria, fenced=(*fenced, "draft"))
    )


def _made(material: Material, answer: Answer) -> Extracted:
    if answer.status is not Status.OK:
        return Extracted(None, answer.status, answer.cause, answer.flags)
    units = tuple(
        Criterion(
            text=criterion.text.strip(),
            weight=material.weights.of_three(criterion.weight),
            note=criterion.basis.strip(),
        )
        for criterion in answer.reply.criteria
        if criterion.text.strip()
    )
    if not units:
        return Extracted(None, Status.UNCLEAR, "The model wrote no criteria.", answer.flags)
    return Extracted(Rubric(units=units), flags=answer.flags)


BY_DIMENSIONS = Extraction(
    name=DIMENSIONS,
    title="Rubric set by dimensions",
    citation="ResearcherBench, appendix G.1",
    makes=Kind.RUBRIC,
    prompts=(DIMENSIONS,),
    extract=by_dimensions,
    rubric_set="by dimensions",
    sources=False,
    departures=DEPARTURES,
)
BY_REFERENCE = Extraction(
    name=REFERENCE,
    title="Rubric set by reference, reviewed by the model",
    citation="ResearcherBench, appendix G.1",
    makes=Kind.RUBRIC,
    prompts=(REFERENCE, REVIEW),
    extract=by_reference,
    needs=(Kind.INSIGHTS,),
    rubric_set="by reference",
    departures=DEPARTURES,
)
