"""How a judge is asked whether a report covers a criterion: one at a time, or several in one call.

ResearcherBench: how a criterion is put to the judge, appendices E.2 and E.3.
"""

import re
from collections import Counter
from typing import ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator

from annotator.domain.judgement import YES, Status, Verdict
from annotator.domain.protocol import Ask, Case, Verdicts, missing_verdicts
from annotator.domain.quotation import find
from annotator.domain.rubric import WEIGHTS
from annotator.domain.unit import Unit

PROMPTS = ("researcherbench.coverage", "researcherbench.coverage.together")
QUOTE_MISSING = "quote_missing"

_FIRST_WORD = re.compile(
    r"[\s*_`\"'“‘#>]*(?P<verdict>yes|no)(?![^\W_]|[-'’/]\w|[\s,]*(?:and|or|/)\s*(?:yes|no)\b)[*_`\"'”’]*"
    r"[\s.,:;!：，。–—-]*(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_IN_QUOTES = re.compile(r"[\"“„«](?P<words>[^\"”“«»]{3,})[\"”»]")


class Coverage(BaseModel):
    """What a judge replies about one criterion. The evidence comes first, so that the verdict follows from it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The very first word must be yes or no, in exactly those letters. After a yes, copy the "
        "passage of the report that decided it between double quotes. Then give your reason in one or two sentences."
    )
    quote: str = Field(
        description="The report's own words that decide it, copied exactly; empty if there are none"
    )
    rationale: str = Field(description="Why, in one or two sentences")
    covered: Literal["yes", "no"] = Field(description="Whether the report covers the criterion")

    @field_validator("covered", mode="before")
    @classmethod
    def _plain(cls, value: object) -> object:
        return value.strip().lower() if isinstance(value, str) else value

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The plain text form: yes or no as the first word, the rationale after it, a quotation somewhere in it.

        ValueError unless the first word is exactly yes or no.
        """
        found = _FIRST_WORD.match(text)
        if not found:
            raise ValueError("the first word is neither yes nor no")
        quotes = [quote["words"].strip() for quote in _IN_QUOTES.finditer(found["rest"])]
        verdict = found["verdict"].lower()
        return cls.model_validate(
            {
                "covered": verdict,
                "quote": max(quotes, key=len, default=""),
                "rationale": found["rest"].strip(),
            }
        )


class CoverageOfOne(Coverage):
    """What a judge replies about one of several criteria."""

    id: str = Field(description="The id of the criterion, copied exactly")


class CoverageTogether(BaseModel):
    """What a judge replies about several criteria at once: once about each, by its id."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    answers: list[CoverageOfOne] = Field(description="One answer for each criterion")


async def judge(case: Case, ask: Ask) -> Verdicts:
    """Judge(Q_k, Res, r_i) of Eq. 1: question, criterion and report are shown, the weight only where it is wanted."""
    words = _criterion(case.unit, weights_shown=case.weights_shown)
    fields = {"question": case.item.question, "criterion": words, "report": case.response.text}
    answer = await ask(PROMPTS[0], fields, Coverage, fenced=("question", "report"))
    if answer.status is not Status.OK:
        return missing_verdicts(case, answer)
    return {case.unit.id: _verdict(answer.reply, case.response.text, answer.flags)}


async def judge_together(case: Case, ask: Ask) -> Verdicts:
    """Several criteria in one call, in the order of the case; what is said of each is known by its id alone."""
    words = "\n\n".join(
        f"id: {unit.id}\n{_criterion(unit, weights_shown=case.weights_shown)}" for unit in case.units
    )
    fields = {"question": case.item.question, "criteria": words, "report": case.response.text}
    answer = await ask(PROMPTS[1], fields, CoverageTogether, fenced=("question", "report"))
    if answer.status is not Status.OK:
        return missing_verdicts(case, answer)
    said = {one.id: one for one in answer.reply.answers}
    times = Counter(one.id for one in answer.reply.answers)
    stranger = bool(said.keys() - {unit.id for unit in case.units})
    return {
        unit.id: _verdict(said[unit.id], case.response.text, answer.flags)
        if times[unit.id] == 1
        else _unanswered(times[unit.id], stranger=stranger)
        for unit in case.units
    }


def _unanswered(times: int, *, stranger: bool) -> Verdict:
    cause = (
        "The reply answers this criterion more than once."
        if times
        else "The reply leaves this criterion out."
    )
    if stranger:
        cause += " It answers for an id that was not asked for."
    return Verdict(status=Status.INVALID, cause=cause)


def _criterion(unit: Unit, *, weights_shown: bool) -> str:
    weight = getattr(unit, "weight", None)
    if not weights_shown or weight is None:
        return unit.text
    return f"{unit.text}\nIts weight: {weight} (from {min(WEIGHTS)}, nice to have, to {max(WEIGHTS)}, core)"


def _verdict(reply: Coverage, report: str, flags: tuple[str, ...]) -> Verdict:
    """The reply as a verdict whose quote, where it is found, is the report's own wording with its place."""
    span = find(report, reply.quote)
    if span is None and reply.covered == YES:
        flags = (*flags, QUOTE_MISSING)
    return Verdict(
        value=reply.covered,
        rationale=reply.rationale,
        quote=report[span[0] : span[1]] if span else reply.quote,
        quote_start=span[0] if span else None,
        quote_end=span[1] if span else None,
        flags=" ".join(flags),
    )
