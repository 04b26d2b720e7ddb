"""Factual assessment: how many claims cite a source, and how many of those their source supports.

ResearcherBench: citation support verification, §4.2.1, stage 2; faithfulness and groundedness, §4.2.2, Eq. 4; three
verdicts and one batch for each address, appendix E.2.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from annotator.domain.common import grouped
from annotator.domain.judges.judge import NO, YES, Status, Verdict
from annotator.domain.judges.protocol import (
    CITED_PAGE,
    Ask,
    Case,
    Material,
    Metric,
    Presentation,
    Protocol,
    RatedResponse,
    Value,
    ValueLook,
    Verdicts,
    nominal,
)
from annotator.domain.kinds.artifact import Unit
from annotator.domain.material.extract import Claim, ResponsePart
from annotator.domain.material.item import Page, PageState
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.citations import normal
from annotator.protocols.merging import at_least, by_passage
from annotator.protocols.reports import excerpt
from annotator.protocols.researcherbench import claims
from annotator.protocols.several import (
    ModelReply,
    Word,
    by_id,
    longest_quote,
    missing_notes,
    of_several,
    values_by_name,
    with_quote,
)

PROMPTS = ("researcherbench.claims",)
UNKNOWN = "unknown"
# The prefix of flags for the state of an unreadable page, or for a page that was cut.
PAGE = "page_"
PAGE_CUT = f"{PAGE}cut"
# In place of a page's state: it was read, but its text was not part of the release.
NOT_HERE = "absent"
# The shown length of a claim's context, in characters.
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
        return self.claims

    @classmethod
    def from_text(cls, text: str) -> Self:
        result = values_by_name(text, _ID, YES, NO, UNKNOWN)
        return cls.model_validate(
            {
                "claims": [
                    {"id": name, "quote": longest_quote(rest), "rationale": rest, "supported": value}
                    for name, value, rest in result
                ]
            }
        )


_ID = r"[\w~-]{1,80}"


async def judge(case: Case, ask: Ask) -> Verdicts:
    """Judge(text, context, SourceText(url)) for all claims of a case; no call if the page could not be read."""
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
    """The reply as a verdict; its quote, if found, in the page's own words, without a position in the report."""
    owed = reply.supported == YES
    result = with_quote(reply.supported, reply.rationale, reply.quote, case.given["page"], flags, owed=owed)
    return result.model_copy(update={"quote_start": None, "quote_end": None})


# No network: the floor under every judge (not in the paper).

# Half of a claim's terms must be in one passage. No labelled pages are public to fit this to.
BASELINE_THRESHOLD = 0.5


def baseline(case: Case) -> Verdicts:
    """Supported if one passage of the page holds enough of the claim's terms; the same on every machine."""
    if "page_state" in case.given:
        return {unit.id: _unreadable(case) for unit in case.units}
    return {unit.id: _by_words(unit.text, case.given["page"]) for unit in case.units}


def _by_words(claim: str, page: str) -> Verdict:
    """The verdict on a claim; its quote from the page has no position, since positions refer to the report."""
    result = by_passage("claim", claim, page, at_least(BASELINE_THRESHOLD, YES, NO), unmet=NO)
    return result.model_copy(update={"quote_start": None, "quote_end": None})


NAME = "researcherbench.claims"
SUPPORT = nominal(
    Value(YES, "Supported", "The page says what the claim says", ValueLook.GOOD),
    Value(NO, "Not supported", "The page can be read, and does not say it or denies it", ValueLook.BAD),
    Value(UNKNOWN, "Not known", "The page cannot tell: it has no words of its own", ValueLook.NEITHER),
)
UNREADABLE = "The page could not be read: it supports nothing and contradicts nothing."
# With more claims the reply would be truncated.
MOST_CLAIMS = 20
ABSENT = "Its text is not in this project; fetch the page first."

DEPARTURES = (
    *claims.DEPARTURES,
    f"Claims that share an address are verified together, at most {MOST_CLAIMS} in one call.",
    "A page that is too long is cut to the passages nearest in wording to the claims; the judge is told, and its "
    "verdicts are flagged. The paper sends the whole text.",
    "A claim whose page could not be read is unknown without asking a judge; one whose page was never fetched, or came "
    "from a release without its text, is missing. An unknown enters neither side of faithfulness, as in appendix E.2; "
    "Eq. 4 would count it as unfaithful.",
    "Groundedness asks whether a claim cites a source, not whether it could be verified, so an unknown claim counts on "
    "both sides, as in Eq. 4. Appendix E.2 leaves unknown claims out of the “final metrics” and does not say of which; "
    "groundedness without unknown claims is the reading that leaves them out here too.",
    "The public code counts each claim with each of its sources, takes one whose page cannot be read for uncited in "
    "groundedness, and gives 0 where nothing could be told or no claim was made: faithfulness and groundedness “as "
    "released”.",
    "A claim that the page bears out in part is a yes, as in appendix E.5. A second wording of the prompt, “strict”, "
    "wants the part that the claim turns on, and another number or subject is a no.",
    "A yes must quote the page; a quote that is not found there is flagged for people, the verdict stands.",
)

# Section 4.2.2: the two scores.

FAITHFULNESS = """\
$$S_f = \\frac{N_{yes}}{N_{yes} + N_{no}}$$

Of the claims that cite a source, the share that their source supports (§4.2.2, Eq. 4), claims whose support is unknown
left out of both sides (appendix E.2). A claim that cites several sources counts once for each. Undefined, and not 0,
where the report cites nothing or nothing could be told. With judgements missing it is over the others, and the range
is given in which it must lie. A system's faithfulness is the mean over the items on which it is defined.
"""

GROUNDEDNESS = """\
$$S_g = \\frac{N_{c}}{N}$$

Of all claims of the report, the share that cites a source, whatever that source says, also where its support is
unknown (§4.2.2, Eq. 4). A claim that cites several sources counts once. It needs the claims alone, no judgement.
Undefined where the report makes no claim or its claims have not been drawn. A system's groundedness is the mean over
the items on which it is defined.
"""


GROUNDEDNESS_KNOWN = """\
$$S_g' = \\frac{N_{c} - N_{u}}{N - N_{u}}$$

Groundedness with the claims left out of both sides whose support is unknown, as appendix E.2 can be read: claims that
cite a source and none of whose sources says yes or no. It needs the verdicts; as long as one is missing that could
decide whether a claim is known, the range is given in which it must lie. Undefined where no claim is left.
"""


FAITHFULNESS_RELEASED = """\
Faithfulness as the public code gives it: 0 for a report of which no source says yes or no, so that it counts in a
system's mean. Undefined where claims have not been drawn. With judgements missing it is over the others.
"""


GROUNDEDNESS_RELEASED = """\
$$S_g'' = \\frac{N_{r}}{N_{t}}$$

Groundedness as the public code gives it, over claims with each of their sources (N_t): cited are those alone whose page
could be read (N_r), whatever it says. 0 for a report without claims. Undefined where claims have not been drawn; as
long as a page was never fetched, the range is given in which it must lie.
"""


def faithfulness(scored: RatedResponse, over_valid: bool = False) -> Estimate:
    """S_f = yes / (yes + no) over a response's cited claims, by one rater's verdicts (Eq. 4, appendix E.2).

    `n` counts yes and no. With judgements missing the value is None, or with `over_valid` that of the others; floor
    and ceiling assume all missing to be no, then yes. ValueError on any other verdict.
    """
    method = "S_f = yes / (yes + no)"
    if ResponsePart.CLAIMS not in scored.material.parts:
        return Estimate(None, method=method, note="the report's claims have not been drawn")
    cited = [claim for claim in scored.material.units(ResponsePart.CLAIMS) if claim.url]
    if not cited:
        return Estimate(None, method=method, note="no claim cites a source")
    counts = Counter(scored.values.get(claim.id) for claim in cited)
    if odd := set(counts) - {*SUPPORT.names, None}:
        raise ValueError(f"a claim's verdict is yes, no or unknown, not {odd.pop()!r}")
    yes, known, missing = counts[YES], counts[YES] + counts[NO], counts[None]
    notes = [f"{counts[UNKNOWN]:,} of {len(cited):,} unknown"] * bool(counts[UNKNOWN])
    value = yes / known if known and (over_valid or not missing) else None
    notes += missing_notes(missing, len(cited), value is not None)
    notes += ["no source says yes or no"] * (not known and not missing)
    return Estimate(
        value,
        n=known,
        missing=missing,
        floor=yes / (known + missing) if known + missing else None,
        ceiling=(yes + missing) / (known + missing) if known + missing else None,
        method=method,
        note="; ".join(notes),
    )


def groundedness(scored: RatedResponse, _: bool = False) -> Estimate:
    """S_g = cited / all claims of a response (Eq. 4); several triplets of one claim are one. `n` counts claims."""
    method, cites = "S_g = cited / all claims", _cites(scored)
    if ResponsePart.CLAIMS not in scored.material.parts:
        return Estimate(None, method=method, note="the report's claims have not been drawn")
    if not cites:
        return Estimate(None, method=method, note="the report makes no claim")
    share = sum(map(bool, cites)) / len(cites)
    return Estimate(share, n=len(cites), floor=share, ceiling=share, method=method)


def groundedness_known(scored: RatedResponse, over_valid: bool = False) -> Estimate:
    """The same without claims all of whose sources are unknown (appendix E.2). `n` counts the remaining claims."""
    method, cites = "S_g = (cited − unknown) / (claims − unknown)", _cites(scored)
    if ResponsePart.CLAIMS not in scored.material.parts:
        return Estimate(None, method=method, note="the report's claims have not been drawn")
    verdicts = [{scored.values.get(name) for name in claim} for claim in cites if claim]
    known = sum(bool(values & {YES, NO}) for values in verdicts)
    open_ = sum(None in values and not values & {YES, NO} for values in verdicts)
    bare, unknown = len(cites) - len(verdicts), len(verdicts) - known - open_
    left = known + bare
    notes = [
        *([f"{unknown:,} of {len(cites):,} claims unknown"] * bool(unknown)),
        *([f"{open_:,} of {len(cites):,} claims without a verdict"] * bool(open_)),
        *(["no claim is left"] * (not left and not open_)),
    ]
    return Estimate(
        known / left if left and (not open_ or (over_valid and open_ < len(verdicts))) else None,
        n=left,
        missing=open_,
        floor=known / left if left else None,
        ceiling=(known + open_) / (left + open_) if left + open_ else None,
        method=method,
        note="; ".join(notes),
    )


def faithfulness_released(scored: RatedResponse, over_valid: bool = False) -> Estimate:
    """S_f as in the public code: 0 if it is undefined and no judgement is missing."""
    result = faithfulness(scored, over_valid)
    if ResponsePart.CLAIMS in scored.material.parts and result.value is None and not result.missing:
        return replace(result, value=0.0, floor=0.0, ceiling=0.0)
    return result


def groundedness_released(scored: RatedResponse, over_valid: bool = False) -> Estimate:
    """S_g as in the public code: a triplet counts as cited if its page could be read. `n` counts triplets."""
    method = "S_g = triplets with a readable page / all triplets"
    if ResponsePart.CLAIMS not in scored.material.parts:
        return Estimate(None, method=method, note="the report's claims have not been drawn")
    claimed = scored.material.units(ResponsePart.CLAIMS)
    read = [_readable(scored, claim) for claim in claimed if claim.url]
    cited, open_, all_ = read.count(True), read.count(None), max(1, len(claimed))
    return Estimate(
        None
        if open_ and (not over_valid or open_ == len(claimed))
        else cited / (max(1, len(claimed) - open_)),
        n=len(claimed) - open_,
        missing=open_,
        floor=cited / all_,
        ceiling=(cited + open_) / all_,
        method=method,
        note=f"{open_:,} of {len(claimed):,} with a page that was never fetched" if open_ else "",
    )


def _readable(scored: RatedResponse, claim: Claim) -> bool | None:
    """Whether the page that a claim cites could be read; None while nobody has tried."""
    page = scored.material.pages.get(normal(claim.url))
    judged = scored.values.get(claim.id) in (YES, NO)
    return True if judged else None if page is None else page.state is PageState.OK


def _cites(scored: RatedResponse) -> list[list[str]]:
    """For each claim the ids of its triplets that cite a source; several triplets of one claim are one."""
    triplets = scored.material.units(ResponsePart.CLAIMS)
    claims = grouped(((one.section, one.text, one.context), one) for one in triplets)
    return [[one.id for one in same if one.url] for same in claims.values()]


# Section 4.2.1, stage 2: one batch for each address.


def cases(material: Material) -> Iterator[Case]:
    """The claims that share an address, in batches, with the text of its page; none for a page never fetched."""
    claims_of = grouped(
        (normal(claim.url), claim) for claim in material.units(ResponsePart.CLAIMS) if claim.url
    )
    for address, units in claims_of.items():
        page = material.pages.get(address)
        for start in range(0, len(units) if page else 0, MOST_CLAIMS):
            given = _given(address, page) if page else {}
            batch = units[start : start + MOST_CLAIMS]
            case = material.case(NAME, ResponsePart.CLAIMS, *batch, given=given)
            yield replace(case, allowed=(UNKNOWN,), why=UNREADABLE) if "page_state" in given else case


def _given(address: str, page: Page) -> dict[str, str]:
    """The fields of a case about a page: its text, or why there is none."""
    if page.state is PageState.OK and page.text.strip():
        return {"address": address, "page": page.text}
    state, cause = str(page.state), page.cause
    if page.state is PageState.OK:
        state, cause = (PageState.NOT_TEXT, cause) if page.text else (NOT_HERE, ABSENT)
    return {"address": address, "page": "", "page_state": state, "page_cause": cause}


FACTUAL = Protocol(
    name=NAME,
    title="Claims borne out by their sources",
    citation="ResearcherBench, §4.2 and appendix E.5",
    needs=(),
    parts=(ResponsePart.CLAIMS,),
    metrics=(
        Metric("faithfulness", "Faithfulness", FAITHFULNESS, faithfulness, parts=(ResponsePart.CLAIMS,)),
        Metric("groundedness", "Groundedness", GROUNDEDNESS, groundedness, parts=(ResponsePart.CLAIMS,)),
        Metric(
            "groundedness_known",
            "Groundedness without unknown claims",
            GROUNDEDNESS_KNOWN,
            groundedness_known,
            parts=(ResponsePart.CLAIMS,),
        ),
        Metric(
            "faithfulness.released",
            "Faithfulness (as released)",
            FAITHFULNESS_RELEASED,
            faithfulness_released,
            parts=(ResponsePart.CLAIMS,),
        ),
        Metric(
            "groundedness.released",
            "Groundedness (as released)",
            GROUNDEDNESS_RELEASED,
            groundedness_released,
            parts=(ResponsePart.CLAIMS,),
        ),
    ),
    scale=SUPPORT,
    presentation=Presentation(
        "Claims",
        "Does the cited page support each claim? (ResearcherBench)",
        "claim",
        "claims",
        read=CITED_PAGE,
        rest=UNKNOWN,
        waits="the cited page was never fetched",
    ),
    cases=cases,
    judge=judge,
    baseline=baseline,
    prompts=PROMPTS,
    departures=DEPARTURES,
)
