"""Key insights by type of question, and reference material for experts, drawn from a question's sources.

ResearcherBench: stage 1 of making a rubric, §4.1.1; what to look for by type, and how it is asked, appendix C.1. The
experts review, correct and add to what comes of it before they write criteria (§4.1.1, appendix C.1.2).
"""

import re
from collections import Counter
from typing import ClassVar, Self

from pydantic import Field

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Ask, Extracted, Extraction, Material
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.insights import COUNT, Insight, Insights
from annotator.domain.material.item import Source
from annotator.domain.material.part import Passage, Reference, WriterAid
from annotator.domain.texts.canonical import derived_id
from annotator.domain.texts.words import terms
from annotator.protocols.reports import NO_SOURCE, anchored, excerpt_of, placed, sentences, with_text
from annotator.protocols.several import QUOTE_MISSING, ModelReply, blocks, numbered

NAME = "researcherbench.insights"
REFERENCE_NAME = "researcherbench.reference"
# What is looked for about a question whose type says nothing of its own (appendix C.1).
FOCUS = (
    "what the sources say that is specific to this question: facts and figures, mechanisms, comparisons, "
    "reasons, limits and consequences",
)
COUNT_FLAG = "insight_count"

DEPARTURES = (
    "An insight must quote the source it was drawn from; one whose quote is not found there stands without a place.",
    "The paper asks for 8 to 15 insights. Another number is flagged, and not asked for again: a short source holds "
    "fewer.",
    "Reference material keeps what the sources say apart from what the model adds, in two parts; the paper asks for "
    "the distinction within one text.",
    "Reference material that a model drafted is no source to draw from, though it lies beside the sources.",
    "Sources that are too long are cut to the passages nearest in wording to the question; the model is told.",
)


class DrawnInsight(ModelReply):
    """An insight as the model drew it: first the source's words, then what they come to."""

    quote: str = Field(
        max_length=4000,
        description="The source's words it was drawn from, copied exactly; empty if there are none",
    )
    text: str = Field(min_length=1, max_length=2000, description="The insight, in one to three sentences")
    explanation: str = Field(
        max_length=4000, description="Why it matters for the question, in one or two sentences"
    )


class DrawnInsights(ModelReply):
    """The key insights of one item's sources."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. For each insight write three lines that begin with QUOTE:, INSIGHT: and WHY:, and leave "
        "one empty line before the next."
    )
    insights: list[DrawnInsight] = Field(description="The insights, the most valuable first")

    @classmethod
    def from_text(cls, text: str) -> Self:
        return cls.model_validate(
            {"insights": blocks(text, quote="QUOTE", text="INSIGHT", explanation="WHY")}
        )


async def extract(material: Material, ask: Ask) -> Extracted:
    """The key insights of an item's sources, each with its place in them; skipped where there is no source."""
    sources = with_text(material)
    if not sources:
        return Extracted(None, Status.SKIPPED, NO_SOURCE)
    shown = excerpt_of(sources, material.item.question)
    fields = {"question": material.item.question, "sources": shown.text, "extent": shown.extent}
    fields["focus"] = "\n".join(f"- {one}" for one in _focus(material))
    answer = await ask(NAME, fields, DrawnInsights, fenced=("question", "sources"))
    if answer.status is not Status.OK:
        return Extracted(None, answer.status, answer.cause, answer.flags)
    insights: list[DrawnInsight] = [insight for insight in answer.reply.insights if insight.text.strip()]
    placed = [anchored(sources, one.quote) for one in insights]
    units = tuple(
        Insight(text=one.text.strip(), note=one.explanation.strip(), anchor=anchor)
        for one, anchor in zip(insights, placed, strict=True)
    )
    flags = [
        *answer.flags,
        *([QUOTE_MISSING] if None in placed else []),
        *([] if COUNT[0] <= len(units) <= COUNT[1] else [COUNT_FLAG]),
    ]
    return Extracted(Insights(units=units), flags=tuple(flags))


def _focus(material: Material) -> tuple[str, ...]:
    """What insights into the item's question are about: what the project says of its type."""
    result = (one.focus for one in material.types if one.name == material.item.question_type)
    return next(result, ()) or FOCUS


# Reference material.


class DrawnReference(ModelReply):
    """What a model writes for the experts: what the sources say, and apart from it what it adds."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text: a line FROM THE SOURCES:, then that part, then a line BEYOND THE SOURCES:, then the "
        "other part or the single word nothing."
    )
    from_sources: str = Field(
        min_length=1,
        max_length=14_000,
        description="The answer to the question as far as the sources give it",
    )
    beyond_sources: str = Field(
        max_length=5000, description="What is needed besides and is not in the sources; empty if nothing is"
    )

    @classmethod
    def from_text(cls, text: str) -> Self:
        result = re.fullmatch(r"\s*FROM THE SOURCES:(.*)\n[ \t]*BEYOND THE SOURCES:(.*)", text, re.DOTALL)
        if not result:
            raise ValueError("the two parts FROM THE SOURCES and BEYOND THE SOURCES are not both there")
        beyond = result[2].strip()
        return cls(
            from_sources=result[1].strip(), beyond_sources="" if beyond.lower() == "nothing" else beyond
        )


async def refer(material: Material, ask: Ask) -> Extracted:
    """Reference material on the question, in its two parts; skipped where there are no insights or no sources."""
    insights, sources = material.documents.get(Kind.INSIGHTS), with_text(material)
    if not isinstance(insights, Insights) or not insights.units or not sources:
        return Extracted(None, Status.SKIPPED, "There are no insights yet." if sources else NO_SOURCE)
    shown = excerpt_of(sources, material.item.question)
    fields = {
        "question": material.item.question,
        "insights": numbered(" ".join(insight.text.split()) for insight in insights.units),
        "sources": shown.text,
        "extent": shown.extent,
    }
    answer = await ask(REFERENCE_NAME, fields, DrawnReference, fenced=("question", "insights", "sources"))
    if answer.status is not Status.OK:
        return Extracted(None, answer.status, answer.cause, answer.flags)
    reply: DrawnReference = answer.reply
    parts = ((reply.from_sources.strip(), False), (reply.beyond_sources.strip(), True))
    units = tuple(Passage(text=words, beyond=beyond) for words, beyond in parts if words)
    return Extracted(Reference(units=units), flags=answer.flags)


# No network (not in the paper).

BASELINE_COUNT = 10


def baseline(material: Material) -> Extracted:
    """The sentences of the sources that share most with the question, rare words counting more, in their order."""
    sources = with_text(material)
    if not sources:
        return Extracted(None, Status.SKIPPED, NO_SOURCE)
    result = list(sentences(sources))
    held = [terms(source.text[start:end]) & terms(material.item.question) for source, start, end in result]
    times = Counter(term for sentence in held for term in sentence)
    worth = [sum(1 / times[term] for term in sentence) for sentence in held]
    best = sorted((i for i in range(len(result)) if worth[i]), key=lambda i: (-worth[i], i))[:BASELINE_COUNT]
    return Extracted(Insights(units=tuple(_quoted(*result[i]) for i in sorted(best))))


def _quoted(source: Source, start: int, end: int) -> Insight:
    anchor = placed(source, start, end)
    return Insight(
        id=derived_id("insight", source.id, start, anchor.quote),
        text=" ".join(anchor.quote.split()),
        note="baseline: quoted from the source",
        anchor=anchor,
    )


INSIGHTS = Extraction(
    name=NAME,
    title="Key insights of the sources",
    citation="ResearcherBench, §4.1.1 and appendix C.1",
    makes=Kind.INSIGHTS,
    prompts=(NAME,),
    extract=extract,
    baseline=baseline,
    departures=DEPARTURES,
)
# No baseline: without a model there is nobody to write.
REFERENCE = Extraction(
    name=REFERENCE_NAME,
    title="Reference material for the experts",
    citation="ResearcherBench, §4.1.1 and appendix C.1.1",
    makes=WriterAid.REFERENCE,
    prompts=(REFERENCE_NAME,),
    extract=refer,
    needs=(Kind.INSIGHTS,),
    departures=DEPARTURES,
)
