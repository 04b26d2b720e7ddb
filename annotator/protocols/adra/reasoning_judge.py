"""How a judge is asked about statements: it reads the report alone, one statement at a time or several (ADRA §3.3)."""

import re
from typing import ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator

from annotator.domain.judgement import Status, Verdict
from annotator.domain.protocol import Ask, Case, Verdicts, missing_verdicts
from annotator.domain.quotation import find
from annotator.domain.words import terms
from annotator.protocols.adra.naming import listed, named, told_apart
from annotator.protocols.lexical import best_passage

PROMPTS = ("adra.reasoning", "adra.reasoning.together")
TRUE, FALSE, CANNOT_TELL = "true", "false", "cannot-tell"
QUOTE_MISSING = "quote_missing"

_FIRST_WORD = re.compile(
    r"[\s*_`\"'“‘#>]*(?P<verdict>true|false|cannot[- ]tell)"
    r"(?![^\W_]|[-'’/]\w|[\s,]*(?:and|or|/)\s*(?:true|false|cannot)\b)[*_`\"'”’]*"
    r"[\s.,:;!：，。–—-]*(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_IN_QUOTES = re.compile(r"[\"“„«](?P<words>[^\"”“«»]{3,})[\"”»]")


class Told(BaseModel):
    """What a judge replies about one statement. The evidence comes first, so that the verdict follows from it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. Begin with exactly true, false or cannot-tell. After a true or a false, copy the passage "
        "of the report that decided it between double quotes. Then give your reason in one or two sentences."
    )
    quote: str = Field(
        description="The report's own words that decide it, copied exactly; empty if there are none"
    )
    rationale: str = Field(description="Why, in one or two sentences")
    verdict: Literal["true", "false", "cannot-tell"] = Field(
        description="What the report lets its reader say of the statement"
    )

    @field_validator("verdict", mode="before")
    @classmethod
    def _plain(cls, value: object) -> object:
        return re.sub(r"[\s_]", "-", value.strip().lower()) if isinstance(value, str) else value

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The plain text form: the verdict as the first word, the rationale after it, a quotation somewhere in it.

        ValueError unless it begins with one of the three verdicts.
        """
        found = _FIRST_WORD.match(text)
        if not found:
            raise ValueError("it begins with neither true nor false nor cannot-tell")
        quotes = [quote["words"].strip() for quote in _IN_QUOTES.finditer(found["rest"])]
        said = {"verdict": found["verdict"], "quote": max(quotes, key=len, default="")}
        return cls.model_validate(said | {"rationale": found["rest"].strip()})


class OneTold(BaseModel):
    """What a judge replies about one of several statements."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: str = Field(description="The name of the listed statement, such as s1")
    told: Told = Field(description="What is said of it")


class Together(BaseModel):
    """What a judge replies about several statements at once."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    answers: list[OneTold] = Field(description="One entry for each listed statement")


async def judge(case: Case, ask: Ask) -> Verdicts:
    """One statement and the report, and nothing else."""
    fields = {"statement": case.unit.text, "report": case.response.text}
    answer = await ask(PROMPTS[0], fields, Told, fenced=("report",))
    if answer.status is not Status.OK:
        return missing_verdicts(case, answer)
    return {case.unit.id: _verdict(answer.reply, case.response.text, answer.flags)}


async def judge_together(case: Case, ask: Ask) -> Verdicts:
    """Several statements in one call, each with a name of its own in it."""
    names = named(case.units, "s")
    fields = {"statements": listed(names), "report": case.response.text}
    answer = await ask(PROMPTS[1], fields, Together, fenced=("report",))
    if answer.status is not Status.OK:
        return missing_verdicts(case, answer)
    return told_apart(
        names,
        answer.reply.answers,
        answer.flags,
        lambda one: _verdict(one.told, case.response.text, answer.flags),
    )


def _verdict(reply: Told, report: str, flags: tuple[str, ...]) -> Verdict:
    """The reply as a verdict whose quote, where it is found, is the report's own wording with its place."""
    span = find(report, reply.quote)
    if span is None and reply.verdict != CANNOT_TELL:
        flags = (*flags, QUOTE_MISSING)
    return Verdict(
        value=reply.verdict,
        rationale=reply.rationale,
        quote=report[span[0] : span[1]] if span else reply.quote,
        quote_start=span[0] if span else None,
        quote_end=span[1] if span else None,
        flags=" ".join(flags),
    )


# No network: the floor under every judge (not in the paper).

# Half of a statement's words: there are no public verdicts to set it by.
BASELINE_THRESHOLD = 0.5


def baseline(case: Case) -> Verdicts:
    """True when one passage of the report holds enough of the statement's terms, cannot-tell otherwise.

    It never says false: words alone cannot contradict.
    """
    wanted = terms(case.unit.text)
    if not wanted:
        cause = "baseline: the statement has no words to look for"
        return {case.unit.id: Verdict(value=None, status=Status.UNCLEAR, cause=cause)}
    best = best_passage(case.response.text, wanted)
    if best.share < BASELINE_THRESHOLD:
        rationale = f"baseline: overlap {best.share:.2f} < {BASELINE_THRESHOLD:.2f}"
        return {case.unit.id: Verdict(value=CANNOT_TELL, rationale=rationale)}
    verdict = Verdict(
        value=TRUE,
        rationale=f"baseline: overlap {best.share:.2f} ≥ {BASELINE_THRESHOLD:.2f}",
        quote=case.response.text[best.start : best.end],
        quote_start=best.start,
        quote_end=best.end,
    )
    return {case.unit.id: verdict}
