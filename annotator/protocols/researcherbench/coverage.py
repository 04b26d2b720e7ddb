"""Coverage: the weighted share of the expert criteria that a report covers.

ResearcherBench: rubrics and the coverage score, §4.1; the judge and its validation, §4.3; how a criterion is asked,
appendices E.2 and E.3.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import fsum
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from annotator.domain.judges.judge import NO, YES, is_yes
from annotator.domain.judges.protocol import (
    Aim,
    Case,
    Material,
    Metric,
    OtherRule,
    Presentation,
    Protocol,
    RatedResponse,
    Target,
    Value,
    ValueLook,
    Verdicts,
    nominal,
)
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.rubric import Criterion
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.merging import at_least, by_passages
from annotator.protocols.several import ModelReply, QuotingReply, UnitQuestion, Word, missing_notes


def read(reply: str | None) -> str:
    """b_i as the published evaluator reads it; `reply` is None if the call brought none."""
    text = (reply or "").strip().lower()
    for word in (YES, NO):
        # Only these two characters end the word: “No, …” does not match.
        if text.startswith((f"{word}:", f"{word} ")):
            return word
    return YES if re.search(YES, reply or "", re.IGNORECASE | re.ASCII) else NO


PUBLIC_RULE = OtherRule(
    citation="ResearcherBench, appendix E.3, and its published evaluator",
    read=read,
    failed="a call that failed counts as not covered",
)


NAME = "researcherbench.coverage"
PROMPTS = (NAME, f"{NAME}.together")
NEEDS = (Kind.RUBRIC,)
DEPARTURES = (
    "The judge is not shown the weight of the criterion unless its settings say so (appendix E.3 shows it): importance "
    "is no evidence.",
    "One criterion is asked in one call. A judge may be asked several together, shuffled; that one is a judge of its "
    "own, whose agreement with the other can be measured.",
    "A yes must quote the report; a quote that is not found there is flagged for people, the verdict stands.",
    "A reply that is neither yes nor no is missing with its cause. It is not read for yes or no anywhere inside "
    "it, and it is never counted as no.",
    "Missing judgements are left out of a response's coverage score and counted; the range in which it must lie with "
    "them stands beside it.",
)

# The agreement of people, and of the chosen judge with people (§4.3.2).
AIMS = (
    Aim("kappa", 0.67, "§4.3.2"),
    Aim("accuracy", 0.76, "Table 2", "o3-mini"),
    Aim("precision", 0.85, "Table 2", "o3-mini"),
    Aim("recall", 0.76, "Table 2", "o3-mini"),
    Aim("f1", 0.80, "Table 2", "o3-mini"),
)

# Section 4.1.2: the coverage score.


DEFINITION = """\
$$S_c = \\frac{\\sum_i w_i b_i}{\\sum_i w_i}, \\qquad w_i \\in \\{1, 2, 3\\},\\ b_i \\in \\{0, 1\\}$$

The weight of the criteria that the report covers, over the weight of all criteria of its rubric (§4.1.2, Eq. 1 and 2).
A system's coverage is the mean over its items. Undefined where a rubric has no criteria or none was judged. With
judgements missing it is over the others, and the range is given in which it must lie. The paper's own code counts a
call that failed as not covered; here it is missing.

A criterion of negative weight says what a report must not do: met, it takes its weight away. The sum below is then
over the positive weights alone, all that can be reached: 1 is the best, and a score may lie below 0; it is not cut
there (as HealthBench scores a response, Arora et al. 2025, which cuts its mean). Undefined where no weight is above 0.
"""


def score(scored: RatedResponse, over_valid: bool = False) -> Estimate:
    """S_c of one response by one rater's verdicts, every criterion of its rubric counted (Eq. 2)."""
    units = scored.material.units(Kind.RUBRIC)
    return weighted([(weight(unit), scored.values.get(unit.id)) for unit in units], over_valid)


def weighted(pairs: Sequence[tuple[float, str | None]], over_valid: bool = False) -> Estimate:
    """S_c = Σ w_i·b_i / Σ max(w_i, 0), from (w_i, "yes" or "no" or None if missing) (Eq. 2 if none is negative).

    With any b_i missing the value is None, and `floor` and `ceiling` bound its possible values, whatever the signs;
    `over_valid` gives the value over the criteria that were judged. `n` counts those. ValueError on any other
    verdict.
    """
    # b_i of Eq. 1: whether the response meets the criterion.
    b = [is_yes(value) for _, value in pairs]
    missing, reach = b.count(None), fsum(max(w, 0) for w, _ in pairs)
    signed = any(w < 0 for w, _ in pairs)
    result = Estimate(
        None,
        n=len(b) - missing,
        missing=missing,
        method="S_c = Σ w·b / Σ max(w, 0)" if signed else "S_c = Σ w·b / Σ w",
    )
    if not reach:
        nothing = (
            "no criterion has a weight above 0: there is nothing to reach" if signed else "all weights are 0"
        )
        return replace(result, note=nothing if pairs else "the rubric has no criteria")
    # Each sum is rounded once, so that no possible value falls outside.
    covered, lost, won = (
        fsum(w for (w, _), b_i in zip(pairs, b, strict=True) if b_i or (b_i is None and counts(w)))
        for counts in (lambda _: False, lambda w: w < 0, lambda w: w > 0)
    )
    judged = fsum(max(w, 0) for (w, _), b_i in zip(pairs, b, strict=True) if b_i is not None)
    valued = bool(judged) and (over_valid or not missing)
    note = "; ".join(missing_notes(missing, len(b), valued))
    value = covered / judged if valued else None
    result = replace(result, value=value, floor=lost / reach, ceiling=won / reach, note=note)
    taken = fsum(min(w, 0) for (w, _), b_i in zip(pairs, b, strict=True) if b_i is not None)
    return replace(result, within=(taken / judged, 1.0)) if signed and judged else result


def cases(material: Material) -> Iterator[Case]:
    for criterion in material.units(Kind.RUBRIC):
        yield material.case(NAME, Kind.RUBRIC, criterion)


def weight(unit: Unit) -> float:
    if not isinstance(unit, Criterion):
        raise TypeError(f"{type(unit).__name__} is not a criterion")
    return float(unit.weight)


# Appendices E.2 and E.3: a criterion at a time, or several in one call.


class Coverage(QuotingReply, value="covered", unquoted=(NO,)):
    """What a judge replies about one criterion. The evidence comes first, so that the verdict follows from it."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The first line must be yes or no, in exactly those letters, and nothing else. On the "
        "next line, after a yes, copy the passage of the report that decided it between double quotes. On the last "
        "line give your reason in one or two sentences."
    )
    covered: Annotated[Literal["yes", "no"], Word] = Field(
        description="Whether the report covers the criterion"
    )


class CoverageOfOne(Coverage):
    """What a judge replies about one of several criteria."""

    id: str = Field(description="The id of the criterion, copied exactly")


class CoverageTogether(ModelReply):
    """What a judge replies about several criteria at once: once about each, by its id."""

    answers: list[CoverageOfOne] = Field(description="One answer for each criterion")


def _criterion(case: Case, unit: Unit) -> str:
    """The words of a criterion, with its weight if weights are shown."""
    own = getattr(unit, "weight", None)
    if not case.weights_shown or own is None:
        return unit.text
    low, high = min(case.weights.values), max(case.weights.values)
    if case.weights.usual:
        return f"{unit.text}\nIts weight: {own} (from {low}, nice to have, to {high}, core)"
    against = "; below 0 it says what a report must not do" if low < 0 else ""
    return f"{unit.text}\nIts weight: {own} (from {low} to {high}{against})"


# Judge(Q_k, Res, r_i) of Eq. 1.
QUESTION = UnitQuestion(
    PROMPTS,
    (Coverage, CoverageTogether),
    ("criterion", "criteria"),
    fenced=("question", "report"),
    words=_criterion,
)
judge, judge_together = QUESTION.judge, QUESTION.judge_together


# No network: the floor under every judge (not in the paper).

# At this threshold the five systems with public reports average 0.52, as they do in Table 3.
BASELINE_THRESHOLD = 0.42
FLOOR = (
    f"Its threshold for coverage, {BASELINE_THRESHOLD:.2f}, was set so that five public systems average the 0.52 that "
    "ResearcherBench, Table 3 gives them: the level is borrowed from there and no finding."
)
_EXCERPT = 60


def baseline(case: Case) -> Verdicts:
    """Covered if one passage of the report holds enough of the criterion's terms; the same on every machine."""
    return by_passages(case, "criterion", _verdict, unmet=NO)


def _verdict(share: float, passage: str) -> tuple[str, str]:
    """The verdict on a criterion, with the beginning of the passage."""
    value, rationale = at_least(BASELINE_THRESHOLD, YES, NO)(share, passage)
    excerpt = " ".join(passage[:_EXCERPT].split()) + ("…" if len(passage) > _EXCERPT else "")
    return value, f"{rationale} with “{excerpt}”" if passage else rationale


COVERAGE = Protocol(
    name=NAME,
    title="Coverage of expert criteria",
    citation="ResearcherBench, §4.1 and appendix E.3",
    needs=NEEDS,
    metrics=(Metric("coverage", "Coverage", DEFINITION, score, credit=lambda value: float(value == YES)),),
    scale=nominal(Value(YES, "Met", look=ValueLook.GOOD), Value(NO, "Not met", look=ValueLook.BAD)),
    presentation=Presentation(
        "Criteria", "Does the report meet each criterion? (ResearcherBench)", "criterion", "criteria"
    ),
    cases=cases,
    judge=judge,
    judge_together=judge_together,
    baseline=baseline,
    prompts=PROMPTS,
    weight=weight,
    target=Target(YES, "covered"),
    aims=AIMS,
    other_rule=PUBLIC_RULE,
    submitted=True,
    departures=DEPARTURES,
    floor=FLOOR,
)
