"""Judge questions on coverage: one criterion at a time, or several in one call.

ResearcherBench: how a criterion is put to the judge, appendices E.2 and E.3.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from annotator.domain.judges.judgement import YES, Verdict
from annotator.domain.judges.protocol import Ask, Case, Verdicts
from annotator.domain.kinds.unit import Unit
from annotator.protocols.replies import ModelReply, ValueReply, Word, with_quote
from annotator.protocols.several import by_id, of_one, of_several

PROMPTS = ("researcherbench.coverage", "researcherbench.coverage.together")


class Coverage(ValueReply):
    """What a judge replies about one criterion. The evidence comes first, so that the verdict follows from it."""

    VALUE: ClassVar[str] = "covered"
    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The first line must be yes or no, in exactly those letters, and nothing else. On the "
        "next line, after a yes, copy the passage of the report that decided it between double quotes. On the last "
        "line give your reason in one or two sentences."
    )
    quote: str = Field(
        description="The report's own words that decide it, copied exactly; empty if there are none"
    )
    rationale: str = Field(description="Why, in one or two sentences")
    covered: Annotated[Literal["yes", "no"], Word] = Field(
        description="Whether the report covers the criterion"
    )


class CoverageOfOne(Coverage):
    """What a judge replies about one of several criteria."""

    id: str = Field(description="The id of the criterion, copied exactly")


class CoverageTogether(ModelReply):
    """What a judge replies about several criteria at once: once about each, by its id."""

    answers: list[CoverageOfOne] = Field(description="One answer for each criterion")


async def judge(case: Case, ask: Ask) -> Verdicts:
    """Judge(Q_k, Res, r_i) of Eq. 1: question, criterion and report are shown, the weight only where it is wanted."""
    words = _criterion(case, case.unit)
    fields = {"question": case.item.question, "criterion": words, "report": case.response.text}
    answer = await ask(PROMPTS[0], fields, Coverage, fenced=("question", "report"))
    return of_one(case, answer, _verdict)


async def judge_together(case: Case, ask: Ask) -> Verdicts:
    """Several criteria in one call, in the order of the case; what is said of each is known by its id alone."""
    words = "\n\n".join(f"id: {unit.id}\n{_criterion(case, unit)}" for unit in case.units)
    fields = {"question": case.item.question, "criteria": words, "report": case.response.text}
    answer = await ask(PROMPTS[1], fields, CoverageTogether, fenced=("question", "report"))
    return of_several(case, by_id(case.units), answer, _verdict)


def _criterion(case: Case, unit: Unit) -> str:
    weight = getattr(unit, "weight", None)
    if not case.weights_shown or weight is None:
        return unit.text
    low, high = min(case.weights.values), max(case.weights.values)
    if case.weights.usual:
        return f"{unit.text}\nIts weight: {weight} (from {low}, nice to have, to {high}, core)"
    against = "; below 0 it says what a report must not do" if low < 0 else ""
    return f"{unit.text}\nIts weight: {weight} (from {low} to {high}{against})"


def _verdict(reply: Coverage, case: Case, flags: tuple[str, ...]) -> Verdict:
    owed = reply.covered == YES
    return with_quote(reply.covered, reply.rationale, reply.quote, case.response.text, flags, owed=owed)
