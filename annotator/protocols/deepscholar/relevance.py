"""Relevance rate: how relevant the works are that a report names.

DeepScholar-Bench: relevance rate, §8.3.2; the judge's question, Box 2.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from annotator.domain.judges.judge import Status, Verdict
from annotator.domain.judges.protocol import (
    Aim,
    Ask,
    Case,
    Level,
    Material,
    Metric,
    Presentation,
    Protocol,
    RatedResponse,
    Scale,
    Value,
    Verdicts,
)
from annotator.domain.kinds.artifact import Unit
from annotator.domain.material.item import EXEMPLAR
from annotator.domain.material.part import ResponsePart
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.words import terms
from annotator.protocols.deepscholar.references import (
    BY_PEOPLE,
    NAMES_NOTHING,
    UNKNOWN_SET,
    retrieved,
    work_fields,
)
from annotator.protocols.several import ValueReply, mean_of_known, of_one

NAME = "deepscholar.relevance"
METHOD, RELEASED_METHOD = "RR = Σ rel / (2 · |S|)", "Σ rel / |S|"
GRADES = ("0", "1", "2")
# What is given of the section that people wrote.
SECTION = "exemplar"
NO_ABSTRACT = "Title and abstract of this work are not in this project; fetch them first."
DEPARTURES = (
    "Works are rated 0, 1 or 2, as the formula and Table 3 have it; Box 2 asks for 0 or 1.",
    "The sum is divided by twice the number of works; the public code leaves the 2 out, so that its figure reaches 2.",
    "A report that names no work on arXiv has a relevance rate of 0 and says so; a work whose abstract is not at hand "
    "is missing. The public code drops such works, and averages the second of two trials.",
)
DEFINITION = """\
$$RR = \\frac{\\sum_{s \\in S} rel(s)}{2\\,|S|}, \\qquad rel \\in \\{0, 1, 2\\}$$

How relevant the works on arXiv are that a report names (§8.3.2): 2 for the same problem or method, 1 for a related
area, 0 for off topic. Each work counts once, whatever its version. 0 for a report that names none. Undefined while the
references of the response are not known, and as long as a rating is missing; then the range is given in which it lies.
"""


def relevance_rate(scored: RatedResponse, over_valid: bool = False) -> Estimate:
    """RR of one report by one rater's ratings; `n` counts the works rated."""
    works = retrieved(scored.material)
    if works is None:
        return Estimate(None, method=METHOD, note=UNKNOWN_SET)
    if not works:
        return Estimate(0.0, floor=0.0, ceiling=0.0, method=METHOD, note=NAMES_NOTHING)
    grades = [scored.values.get(work.reference.id) for work in works]
    if odd := {value for value in grades if value is not None} - set(GRADES):
        raise ValueError(f"a relevance is 0, 1 or 2, not {odd.pop()!r}")
    known = [int(value) for value in grades if value is not None]
    missing = len(grades) - len(known)
    return mean_of_known(sum(known) / 2, len(known), missing, over_valid, "ratings are missing", METHOD)


def released_rate(scored: RatedResponse, over_valid: bool = False) -> Estimate:
    """The mean rating of one report, from 0 to 2, as the public code gives it."""
    result = relevance_rate(scored, over_valid)
    return replace(
        result,
        value=_twice(result.value),
        floor=_twice(result.floor),
        ceiling=_twice(result.ceiling),
        method=RELEASED_METHOD,
    )


def _twice(value: float | None) -> float | None:
    return None if value is None else 2 * value


def cases(material: Material) -> Iterator[Case]:
    """One case for each work that the report names, with its abstract and what people wrote on the same paper."""
    own = (material.response,) if material.response.mode == EXEMPLAR else material.facing
    exemplar = next((response.text for response in own), "")
    for work in (retrieved(material) or ()) if own else ():
        named = Unit(id=work.reference.id, text=work.title)
        given = work_fields(work.address, work.abstract) | {SECTION: exemplar}
        yield material.case(NAME, ResponsePart.REFERENCES, named, given=given)


AS_RELEASED = """\
The mean rating of the works on arXiv that a report names, from 0 to 2: the public code leaves out the 2 that divides.
0 for a report that names none. Undefined as the other is.
"""


class Relevance(ValueReply):
    """What a judge replies about one work. The ground comes first, so that the rating follows from it."""

    VALUE: ClassVar[str] = "relevance"
    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The first line must be 0, 1 or 2 and nothing else. On the next line give your reason in "
        "one sentence."
    )
    rationale: str = Field(description="Why, in one sentence")
    relevance: Annotated[Literal["0", "1", "2"], BeforeValidator(str)] = Field(
        description="2 same problem or method, 1 related area, 0 off topic"
    )


async def judge(case: Case, ask: Ask) -> Verdicts:
    """Task, exemplar, and title and abstract of the work are shown; nothing of the report, so that its rating is the
    same wherever it is named.
    """
    if not case.given["page"]:
        return {case.unit.id: Verdict(status=Status.SKIPPED, cause=NO_ABSTRACT)}
    fields = {
        "question": case.item.question,
        "exemplar": case.given[SECTION],
        "title": case.unit.text,
        "abstract": case.given["page"],
    }
    answer = await ask(NAME, fields, Relevance, fenced=("question", "exemplar", "title", "abstract"))
    return of_one(
        case,
        answer,
        lambda reply, _, flags: Verdict(
            value=reply.relevance, rationale=reply.rationale, flags=" ".join(flags)
        ),
    )


# No network: the share of the work's own terms that the task uses; not fitted to anything.
BASELINE_SAME, BASELINE_RELATED = 0.3, 0.15


def baseline(case: Case) -> Verdicts:
    """A rating by the share of the terms of title and abstract that stand in the task, too."""
    if not case.given["page"]:
        return {case.unit.id: Verdict(status=Status.SKIPPED, cause=NO_ABSTRACT)}
    own = terms(f"{case.unit.text} {case.given['page']}")
    share = len(own & terms(case.item.question)) / len(own) if own else 0.0
    rating = "2" if share >= BASELINE_SAME else "1" if share >= BASELINE_RELATED else "0"
    return {
        case.unit.id: Verdict(value=rating, rationale=f"baseline: {share:.2f} of its terms are the task's")
    }


RELEVANCE = Protocol(
    name=NAME,
    title="Relevance of the works that a report names",
    citation="DeepScholar-Bench, §8.3.2 and Box 2",
    needs=(),
    exemplar=True,
    parts=(ResponsePart.REFERENCES,),
    metrics=(
        Metric(
            "relevance_rate", "Relevance rate", DEFINITION, relevance_rate, parts=(ResponsePart.REFERENCES,)
        ),
        Metric(
            "relevance_rate.released",
            "Relevance rate (as released)",
            AS_RELEASED,
            released_rate,
            unit="of 2",
            parts=(ResponsePart.REFERENCES,),
            within=(0.0, 2.0),
        ),
    ),
    scale=Scale(
        Level.ORDINAL,
        (
            Value("0", "Off topic", "0: it deals with something else"),
            Value("1", "Related", "1: a related area"),
            Value("2", "Same problem", "2: the same problem or method"),
        ),
        of_numbers=True,
    ),
    presentation=Presentation(
        "Relevance",
        "How relevant is each work that a report names? (DeepScholar-Bench)",
        "work",
        "works",
        read="abstract",
        text=SECTION,
        called=BY_PEOPLE,
        waits="its abstract was never fetched",
        lacking=(
            "No works yet",
            "A report can be labelled once its references are known and its item has an exemplar.",
        ),
    ),
    cases=cases,
    judge=judge,
    baseline=baseline,
    prompts=(NAME,),
    aims=(Aim("accuracy", 0.70, "Table 3", "GPT-4o"),),
    departures=DEPARTURES,
)
