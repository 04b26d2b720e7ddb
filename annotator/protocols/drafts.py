"""Drafts of experts' documents by a model: proposed criteria or statements that a person chooses from.

No paper defines this: ResearcherBench (appendix G) finds rubrics written by a model alone weaker than the experts',
so no part of a draft is gold before an expert has adopted it, line by line.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer, Ask, Extracted, Extraction, Material, extracting
from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.diagnostics import Aspect, Diagnostics, Statement
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.material.item import Source
from annotator.protocols.reports import LONGEST_SOURCES, NO_SOURCE, anchored, with_text
from annotator.protocols.several import QUOTE_MISSING, ModelReply, blocks, numbered, whole

RUBRIC, DIAGNOSTICS = "draft.rubric", "draft.diagnostics"
DRAFT = "draft"
NO_INSIGHTS = "There are none yet."


class DraftedCriterion(ModelReply):
    """A criterion as the model drafted it: first what it rests on."""

    quote: str = Field(
        max_length=4000, description="Words of the source, copied exactly; empty if there are none"
    )
    insight: int = Field(ge=0, description="Number of the key insight it was written from; 0 for none")
    text: str = Field(min_length=1, max_length=2000, description="The criterion in one sentence")
    weight: Literal[1, 2, 3] = Field(description="3 core, 2 supporting, 1 nice to have")


class DraftedRubric(ModelReply, again="Give the same draft again."):
    """The criteria that a model proposes."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. For each criterion write four lines that begin with QUOTE:, INSIGHT:, CRITERION: and "
        "WEIGHT:, and leave one empty line before the next."
    )
    criteria: list[DraftedCriterion] = Field(description="The criteria, the most important first")

    @classmethod
    def from_text(cls, text: str) -> Self:
        criteria = blocks(text, quote="QUOTE", insight="INSIGHT", text="CRITERION", weight="WEIGHT")
        return cls.model_validate({"criteria": [one | {"weight": whole(one["weight"])} for one in criteria]})


class DraftedStatement(ModelReply):
    """A statement as the model drafted it: first what decides it."""

    quote: str = Field(max_length=4000, description="Words of the source that decide it, copied exactly")
    text: str = Field(min_length=1, max_length=2000, description="The statement")
    label: bool = Field(description="Whether the source supports it")
    aspect: Aspect = Field(description="The part of the paper it is about")


class DraftedDiagnostics(ModelReply, again="Give the same draft again."):
    """The statements that a model proposes."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. For each statement write four lines that begin with QUOTE:, STATEMENT:, LABEL: and "
        "ASPECT:, and leave one empty line before the next."
    )
    statements: list[DraftedStatement] = Field(description="The statements")

    @classmethod
    def from_text(cls, text: str) -> Self:
        statements = blocks(text, quote="QUOTE", text="STATEMENT", label="LABEL", aspect="ASPECT")
        return cls.model_validate({"statements": statements})


@extracting
async def draft_rubric(material: Material, ask: Ask) -> Extracted:
    """Criteria for an item from its sources and the available key insights, to which they are linked."""
    sources = with_text(material)
    if not sources:
        return Extracted(None, Status.SKIPPED, NO_SOURCE)
    insights = [unit for unit in material.units(Kind.INSIGHTS) if unit.text.strip()]
    fields = {
        **_fields(material, sources),
        "insights": numbered(unit.text for unit in insights) or NO_INSIGHTS,
    }
    answer = await ask(RUBRIC, fields, DraftedRubric, fenced=("question", "insights", "sources"))
    drafted: list[DraftedCriterion] = answer.needed().criteria
    units = tuple(
        Criterion(
            text=criterion.text.strip(),
            weight=material.weights.of_three(criterion.weight),
            insight_id=insights[criterion.insight - 1].id if 0 < criterion.insight <= len(insights) else "",
            anchor=anchored(sources, criterion.quote),
        )
        for criterion in drafted
        if criterion.text.strip()
    )
    return _draft(Rubric(units=units), answer)


@extracting
async def draft_diagnostics(material: Material, ask: Ask) -> Extracted:
    """Statements about an item's sources, each with the label that the sources give it."""
    sources = with_text(material)
    if not sources:
        return Extracted(None, Status.SKIPPED, NO_SOURCE)
    answer = await ask(
        DIAGNOSTICS, _fields(material, sources), DraftedDiagnostics, fenced=("question", "sources")
    )
    drafted: list[DraftedStatement] = answer.needed().statements
    units = tuple(
        Statement(
            text=statement.text.strip(),
            label=statement.label,
            aspect=statement.aspect,
            anchor=anchored(sources, statement.quote),
        )
        for statement in drafted
        if statement.text.strip()
    )
    return _draft(Diagnostics(units=units), answer)


def _draft(document: Document[Any], answer: Answer) -> Extracted:
    if not document.units:
        return Extracted(None, Status.UNCLEAR, "The model drafted nothing.", answer.flags)
    unquoted = any(unit.anchor is None for unit in document.units)
    return Extracted(document, flags=(*answer.flags, DRAFT, *([QUOTE_MISSING] if unquoted else [])))


def _fields(material: Material, sources: Sequence[Source]) -> dict[str, str]:
    """The question and the sources one after the other, each cut at the end to its share of the room."""
    room = LONGEST_SOURCES // len(sources)
    shown = [f"Source {n}: {source.title}\n\n{source.text[:room]}" for n, source in enumerate(sources, 1)]
    cut = any(len(source.text) > room for source in sources)
    extent = f"Of each the first {room:,} characters are shown." if cut else "They are given whole."
    return {"question": material.item.question, "sources": "\n\n".join(shown), "extent": extent}


DEPARTURES = (
    "In both papers people write these; a model's draft is a proposal that counts only as far as a person takes it, "
    "unit by unit, and every unit that was taken is marked.",
)
DRAFTED_RUBRIC = Extraction(
    name=RUBRIC,
    title="Draft of a rubric",
    citation="none: a proposal for the expert",
    makes=Kind.RUBRIC,
    prompts=(RUBRIC,),
    extract=draft_rubric,
    departures=DEPARTURES,
)
DRAFTED_DIAGNOSTICS = Extraction(
    name=DIAGNOSTICS,
    title="Draft of diagnostics",
    citation="none: a proposal for the expert",
    makes=Kind.DIAGNOSTICS,
    prompts=(DIAGNOSTICS,),
    extract=draft_diagnostics,
    departures=DEPARTURES,
)
