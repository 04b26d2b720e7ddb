"""A model's drafts: insights and reference material from a question's sources, its type, and whole rubric sets.

ResearcherBench: stage 1 of making a rubric, §4.1.1; what to look for by type, and how it is asked, appendix C.1. The
experts review, correct and extend the drafts before they write criteria (§4.1.1, appendix C.1.2).
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import ClassVar, Literal, Self

from pydantic import Field

from annotator.domain.common import derived_id
from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer, Ask, Extracted, Extraction, Material, extracting
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.insights import COUNT, Insight, Insights
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.material.extract import ItemClassification, Passage, ProposedType, Reference, WriterAid
from annotator.domain.material.item import Source
from annotator.domain.texts.words import terms
from annotator.protocols.reports import NO_SOURCE, anchored, excerpt_of, placed, sentences, with_text
from annotator.protocols.several import QUOTE_MISSING, ModelReply, blocks, numbered, whole

NAME = "researcherbench.insights"
REFERENCE_NAME = "researcherbench.reference"
# The focus of a question whose type defines none (appendix C.1).
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


@extracting
async def extract(material: Material, ask: Ask) -> Extracted:
    """The key insights of an item's sources, each with its anchor in them; skipped if there is no source."""
    sources = with_text(material)
    if not sources:
        return Extracted(None, Status.SKIPPED, NO_SOURCE)
    shown = excerpt_of(sources, material.item.question)
    fields = {"question": material.item.question, "sources": shown.text, "extent": shown.extent}
    fields["focus"] = "\n".join(f"- {one}" for one in _focus(material))
    answer = await ask(NAME, fields, DrawnInsights, fenced=("question", "sources"))
    insights: list[DrawnInsight] = [insight for insight in answer.needed().insights if insight.text.strip()]
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
    """The focus of insights into the item's question: that of its type in the project, or the default."""
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


@extracting
async def refer(material: Material, ask: Ask) -> Extracted:
    """Reference material on the question, in its two parts; skipped if there are no insights or no sources."""
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
    reply: DrawnReference = answer.needed()
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
# No baseline: nothing but a model could write it.
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


# Type and subject of a question, drafted with a reason from the project's definitions of its types. ResearcherBench:
# a model classified the questions collected, and people reviewed the result (§3.1, appendix B.2).

CLASSIFICATION_NAME = "researcherbench.classification"
NO_TYPES = "The project defines no question types."
NO_SUBJECTS = "There are none yet."

CLASSIFICATION_DEPARTURES = (
    "The paper does not print its prompt: this one is in our own words, with the project's own definitions of types.",
    "The subjects in use are shown to the model, so that one subject keeps one name; it may name another.",
    "Nothing is set before a person confirms it, item by item.",
)


class DrawnType(ModelReply):
    """How the model files a question: first why."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text, in three lines that begin with REASON:, TYPE: and SUBJECT:, and nothing else."
    )
    reason: str = Field(min_length=1, max_length=2000, description="Why, in one or two sentences")
    question_type: str = Field(min_length=1, max_length=120, description="The name of the type")
    subject: str = Field(min_length=1, max_length=200, description="The subject, in one to four words")

    @classmethod
    def from_text(cls, text: str) -> Self:
        (values,) = blocks(text, reason="REASON", question_type="TYPE", subject="SUBJECT")
        return cls.model_validate(values)


@extracting
async def classify(material: Material, ask: Ask) -> Extracted:
    """The type and the subject; unclear if the model names a type that the project does not have."""
    if not material.types:
        return Extracted(None, Status.SKIPPED, NO_TYPES)
    fields = {
        "question": material.item.question,
        "types": "\n".join(f"- {one.name}: {' '.join(one.definition.split())}" for one in material.types),
        "subjects": "\n".join(f"- {subject}" for subject in material.subjects) or NO_SUBJECTS,
    }
    answer = await ask(CLASSIFICATION_NAME, fields, DrawnType, fenced=("question", "types", "subjects"))
    reply: DrawnType = answer.needed()
    known = {one.name.casefold(): one.name for one in material.types}
    name = known.get(reply.question_type.strip().casefold())
    if name is None:
        cause = f"The model named “{reply.question_type.strip()}”, which is none of the project's types."
        return Extracted(None, Status.UNCLEAR, cause, answer.flags)
    unit = ProposedType(text=reply.reason.strip(), question_type=name, subject=reply.subject.strip())
    return Extracted(ItemClassification(units=(unit,)), flags=answer.flags)


CLASSIFICATION = Extraction(
    name=CLASSIFICATION_NAME,
    title="Type and subject of a question",
    citation="ResearcherBench, §3.1 and appendix B.2",
    makes=WriterAid.CLASSIFICATION,
    prompts=(CLASSIFICATION_NAME,),
    extract=classify,
    sources=False,
    departures=CLASSIFICATION_DEPARTURES,
)


# Rubric sets that a model writes alone, to be compared with the experts'. ResearcherBench, appendix G.1: by four
# general dimensions of quality, from the question alone; and by reference, from the experts' material and
# instructions, with a review of its own. Results of both, G.2 to G.4.

DIMENSIONS, RUBRIC_BY_REFERENCE = "researcherbench.rubric.dimensions", "researcherbench.rubric.reference"
REVIEW = "researcherbench.rubric.review"

RUBRICS_DEPARTURES = (
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
        """The reply that an estimate of the review assumes: as many criteria as the public rubrics have on average."""
        return cls(criteria=[SetCriterion(basis="basis " * 10, text="word " * 20, weight=2)] * PUBLIC_MEAN)

    @classmethod
    def from_text(cls, text: str) -> Self:
        criteria = blocks(text, basis="BASIS", text="CRITERION", weight="WEIGHT")
        return cls.model_validate({"criteria": [one | {"weight": whole(one["weight"])} for one in criteria]})


@extracting
async def by_dimensions(material: Material, ask: Ask) -> Extracted:
    """Criteria for a question by general dimensions of quality, without any source (appendix G.1, first baseline)."""
    fields = {"question": material.item.question}
    return _made(material, await ask(DIMENSIONS, fields, SetCriteria, fenced=("question",)))


@extracting
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
    first = await ask(RUBRIC_BY_REFERENCE, given, SetCriteria, fenced=fenced)
    draft = json.dumps(
        [criterion.model_dump() for criterion in first.needed().criteria], ensure_ascii=False, indent=1
    )
    return _made(
        material, await ask(REVIEW, {**given, "draft": draft}, SetCriteria, fenced=(*fenced, "draft"))
    )


def _made(material: Material, answer: Answer) -> Extracted:
    units = tuple(
        Criterion(
            text=criterion.text.strip(),
            weight=material.weights.of_three(criterion.weight),
            note=criterion.basis.strip(),
        )
        for criterion in answer.needed().criteria
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
    departures=RUBRICS_DEPARTURES,
)
BY_REFERENCE = Extraction(
    name=RUBRIC_BY_REFERENCE,
    title="Rubric set by reference, reviewed by the model",
    citation="ResearcherBench, appendix G.1",
    makes=Kind.RUBRIC,
    prompts=(RUBRIC_BY_REFERENCE, REVIEW),
    extract=by_reference,
    needs=(Kind.INSIGHTS,),
    rubric_set="by reference",
    departures=RUBRICS_DEPARTURES,
)
