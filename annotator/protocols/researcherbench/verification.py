"""Verification of claims against the page they cite: by a judge, several in one call, or by words alone.

ResearcherBench: citation support verification, §4.2.1, stage 2; how claims are put to the judge, appendix E.5.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from annotator.domain.judges.judgement import NO, YES, Status, Verdict
from annotator.domain.judges.protocol import Ask, Case, Verdicts
from annotator.domain.kinds.artifact import Unit
from annotator.protocols.lexical import at_least, by_passage
from annotator.protocols.passages import excerpt
from annotator.protocols.replies import ModelReply, Word, longest_quote, values_by_name, with_quote
from annotator.protocols.several import by_id, of_several

PROMPTS = ("researcherbench.claims",)
UNKNOWN = "unknown"
# Of a page that could not be read the flag tells its state; of one that was cut, that it was.
PAGE = "page_"
PAGE_CUT = f"{PAGE}cut"
# In the place of a page's state: it was read, and its text stayed where it was released.
NOT_HERE = "absent"
# Of a claim's context, in characters.
_CONTEXT_SHOWN = 1500


class Verified(ModelReply):
    """What a judge replies about one claim. The evidence comes first, so that the verdict follows from it."""

    id: str = Field(description="The claim's id, copied exactly")
    quote: str = Field(
        description="The page's own words that decide it, copied exactly; empty if there are none"
    )
    rationale: str = Field(description="Why, in one sentence")
    supported: Annotated[Literal["yes", "no", "unknown"], Word] = Field(
        description="Whether the page supports the claim"
    )


class Verification(ModelReply):
    """What a judge replies about all claims of one page."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text, with two lines for each claim and nothing else: first its id, a colon and yes, no or "
        "unknown in exactly those letters. Then, on a line of its own, the page's deciding words between double "
        "quotes, if there are any, and your reason."
    )
    claims: list[Verified] = Field(description="One entry for each claim, by its id")

    @property
    def answers(self) -> list[Verified]:
        """The answers by id."""
        return self.claims

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The plain text form: a claim's id and verdict alone on a line, then the rest; ValueError otherwise."""
        found = values_by_name(text, _ID, YES, NO, UNKNOWN)
        return cls.model_validate(
            {
                "claims": [
                    {"id": name, "quote": longest_quote(rest), "rationale": rest, "supported": value}
                    for name, value, rest in found
                ]
            }
        )


_ID = r"[\w~-]{1,80}"


async def judge(case: Case, ask: Ask) -> Verdicts:
    """Judge(text, context, SourceText(url)) for all claims of a case; no call where the page could not be read."""
    if "page_state" in case.given:
        return {unit.id: _unreadable(case) for unit in case.units}
    shown = excerpt(case.given["page"], [unit.text for unit in case.units])
    fields = {"claims": _listed(case.units), "page": shown.text, "extent": shown.extent}
    answer = await ask(PROMPTS[0], fields, Verification, fenced=("claims", "page"))
    if answer.status is Status.OK and shown.cut:
        answer = replace(answer, flags=(*answer.flags, PAGE_CUT))
    return of_several(case, by_id(case.units), answer, _verdict)


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
    return Verdict(value=UNKNOWN, rationale=rationale, flags=f"{PAGE}{state}")


def _verdict(reply: Verified, case: Case, flags: tuple[str, ...]) -> Verdict:
    """The reply as a verdict; its quote, where it is found, in the page's own words. Its place is not the report's."""
    owed = reply.supported == YES
    found = with_quote(reply.supported, reply.rationale, reply.quote, case.given["page"], flags, owed=owed)
    return found.model_copy(update={"quote_start": None, "quote_end": None})


# No network: the floor under every judge (not in the paper).

# Half of what a claim speaks of must stand together. No labelled pages are public to set it by.
BASELINE_THRESHOLD = 0.5


def baseline(case: Case) -> Verdicts:
    """Supported when one passage of the page holds enough of the claim's terms; the same on every machine."""
    if "page_state" in case.given:
        return {unit.id: _unreadable(case) for unit in case.units}
    return {unit.id: _by_words(unit.text, case.given["page"]) for unit in case.units}


def _by_words(claim: str, page: str) -> Verdict:
    """A quote of a page is kept without its place, which is of the report everywhere else."""
    found = by_passage("claim", claim, page, at_least(BASELINE_THRESHOLD, YES, NO), unmet=NO)
    return found.model_copy(update={"quote_start": None, "quote_end": None})
