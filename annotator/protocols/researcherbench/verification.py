"""How a page is held against the claims that cite it: by a judge, in one call for several, or by words alone.

ResearcherBench: citation support verification, §4.2.1, stage 2; how claims are put to the judge, appendix E.5.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator

from annotator.domain.judgement import NO, YES, Status, Verdict
from annotator.domain.protocol import Answer, Ask, Case, Verdicts, missing_verdicts
from annotator.domain.quotation import find
from annotator.domain.taxonomy import UNKNOWN
from annotator.domain.unit import Unit
from annotator.domain.words import terms
from annotator.protocols.lexical import best_passage
from annotator.protocols.researcherbench.passages import excerpt

PROMPTS = ("researcherbench.claims",)
QUOTE_MISSING = "quote_missing"
PAGE_CUT = "page_cut"
# In the place of a page's state: it was read, and its text stayed where it was released.
NOT_HERE = "absent"
# Of a claim's context, in characters.
_CONTEXT_SHOWN = 1500


class Verified(BaseModel):
    """What a judge replies about one claim. The evidence comes first, so that the verdict follows from it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: str = Field(description="The claim's id, copied exactly")
    quote: str = Field(
        description="The page's own words that decide it, copied exactly; empty if there are none"
    )
    rationale: str = Field(description="Why, in one sentence")
    supported: Literal["yes", "no", "unknown"] = Field(description="Whether the page supports the claim")

    @field_validator("supported", mode="before")
    @classmethod
    def _plain(cls, value: object) -> object:
        return value.strip().lower() if isinstance(value, str) else value


class Verification(BaseModel):
    """What a judge replies about all claims of one page."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text, one line for each claim and nothing else: its id, a colon, then yes, no or unknown in "
        "exactly those letters, then the page's deciding words between double quotes, if there are any, then "
        "your reason."
    )
    claims: list[Verified] = Field(description="One entry for each claim, by its id")

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The plain text form; ValueError on a line that does not begin with an id and a verdict."""
        lines = [line for line in text.splitlines() if line.strip()]
        found = [_LINE.fullmatch(line) for line in lines]
        if not found or None in found:
            line = lines[found.index(None)][:80] if found else ""
            raise ValueError(f"a line is not an id, a colon and yes, no or unknown: {line!r}")
        return cls(claims=[_verified(match) for match in found if match])


_LINE = re.compile(
    r"[\s*`\"-]*(?P<id>[\w~-]{1,80})[*`\"]*\s*:\s*[*`\"]*(?P<verdict>yes|no|unknown)(?![\w'’/-])[*`\"]*[\s.,:;–—-]*(?P<rest>.*)",
    re.IGNORECASE,
)
_IN_QUOTES = re.compile(r"[\"“„«](?P<words>[^\"”“«»]{3,})[\"”»]")


def _verified(match: re.Match[str]) -> Verified:
    quotes = [quote["words"].strip() for quote in _IN_QUOTES.finditer(match["rest"])]
    return Verified.model_validate(
        {
            "id": match["id"],
            "quote": max(quotes, key=len, default=""),
            "rationale": match["rest"].strip(),
            "supported": match["verdict"],
        }
    )


async def judge(case: Case, ask: Ask) -> Verdicts:
    """Judge(text, context, SourceText(url)) for all claims of a case; no call where the page could not be read."""
    if "page_state" in case.given:
        return {unit.id: _unreadable(case) for unit in case.units}
    shown = excerpt(case.given["page"], [unit.text for unit in case.units])
    fields = {"claims": _listed(case.units), "page": shown.text, "extent": shown.extent}
    answer = await ask(PROMPTS[0], fields, Verification, fenced=("claims", "page"))
    if answer.status is not Status.OK:
        return missing_verdicts(case, answer)
    return _by_id(case, answer, (*answer.flags, *([PAGE_CUT] if shown.cut else [])))


def _listed(units: Sequence[Unit]) -> str:
    """The claims as JSON, so that no claim can pass for the beginning of another."""
    listed = [
        {"id": unit.id, "claim": unit.text, "context": getattr(unit, "context", "")[:_CONTEXT_SHOWN]}
        for unit in units
    ]
    return json.dumps(listed, ensure_ascii=False, indent=1)


def _unreadable(case: Case) -> Verdict:
    state, cause = case.given["page_state"], case.given.get("page_cause", "")
    if state == NOT_HERE:
        return Verdict(status=Status.SKIPPED, cause=cause)
    rationale = f"The page could not be read ({state}){': ' + cause if cause else ''}"
    return Verdict(value=UNKNOWN, rationale=rationale, flags=f"page_{state}")


def _by_id(case: Case, answer: Answer, flags: tuple[str, ...]) -> dict[str, Verdict]:
    """The verdict of each claim that was answered once, by its id; the others are invalid."""
    replies: list[Verified] = answer.reply.claims
    times = Counter(reply.id for reply in replies)
    given = {reply.id: reply for reply in replies}
    stranger = bool(given.keys() - {unit.id for unit in case.units})
    return {
        unit.id: _verdict(given[unit.id], case.given["page"], flags)
        if times[unit.id] == 1
        else _unanswered(times[unit.id], flags, stranger=stranger)
        for unit in case.units
    }


def _unanswered(times: int, flags: tuple[str, ...], *, stranger: bool) -> Verdict:
    cause = "The reply answers this claim more than once." if times else "The reply leaves this claim out."
    if stranger:
        cause += " It answers for an id that was not asked for."
    return Verdict(value=None, status=Status.INVALID, cause=cause, flags=" ".join(flags))


def _verdict(reply: Verified, page: str, flags: tuple[str, ...]) -> Verdict:
    """The reply as a verdict; its quote, where it is found, in the page's own words. Its place is not the report's."""
    span = find(page, reply.quote)
    if span is None and reply.supported == YES:
        flags = (*flags, QUOTE_MISSING)
    quote = page[span[0] : span[1]] if span else reply.quote
    return Verdict(value=reply.supported, rationale=reply.rationale, quote=quote, flags=" ".join(flags))


# No network: the floor under every judge (not in the paper).

# Half of what a claim speaks of must stand together. No labelled pages are public to set it by.
BASELINE_THRESHOLD = 0.5


def baseline(case: Case) -> Verdicts:
    """Supported when one passage of the page holds enough of the claim's terms; the same on every machine."""
    if "page_state" in case.given:
        return {unit.id: _unreadable(case) for unit in case.units}
    return {unit.id: _by_words(unit.text, case.given["page"]) for unit in case.units}


def _by_words(claim: str, page: str) -> Verdict:
    wanted = terms(claim)
    if not wanted:
        return Verdict(
            value=None, status=Status.UNCLEAR, cause="baseline: the claim has no words to look for"
        )
    best = best_passage(page, wanted)
    if best.share < BASELINE_THRESHOLD:
        return Verdict(value=NO, rationale=f"baseline: overlap {best.share:.2f} < {BASELINE_THRESHOLD:.2f}")
    rationale = f"baseline: overlap {best.share:.2f} ≥ {BASELINE_THRESHOLD:.2f}"
    return Verdict(value=YES, rationale=rationale, quote=page[best.start : best.end])
