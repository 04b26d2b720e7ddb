"""Organization: a report compared with the section that people wrote, asked in both orders.

DeepScholar-Bench: organization and coherence, §8.3.1; the aspects the judge is asked to weigh, Box 1.
"""

from functools import partial
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from annotator.domain.judges.contest import FIRST, SECOND, TIE, PairOutcome, credit, outcome
from annotator.domain.judges.judge import Verdict
from annotator.domain.judges.protocol import (
    PAIR,
    Aim,
    Case,
    CaseLayout,
    Metric,
    Presentation,
    Protocol,
    RatedResponse,
    Target,
    Verdicts,
)
from annotator.domain.material.item import EXEMPLAR
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import several

NAME = "deepscholar.organization"
METHOD = "(w₁ + w₂) / 2, wins over the exemplar in both orders"
DEPARTURES = (
    "A comparison that failed in either order leaves the score open between its bounds. The public code counts it as "
    "lost.",
    "A verdict that changes with the order gives one half, which the paper calls a tie (Table 3), and is told as "
    "inconsistent. A person may also say that the two are equal, which gives one half in that order.",
    "Where an item has several exemplars the score is the mean over them; the paper has one.",
    "A report without any source is compared too; the public code leaves it out of every metric.",
)
DEFINITION = """\
$$\\text{Org} = \\frac{w_1 + w_2}{2}$$

Whether a report is better organized than the section that people wrote for the same paper, asked twice with the places
changed (§8.3.1, Box 1); each w is 1 where the report is preferred, 0 where the exemplar is, and ½ for a tie of a
person. A system's figure is the mean over its items. The exemplar itself is at .500 by definition. Undefined without
an exemplar, and while none was compared in both orders; then the range is given in which it must lie.
"""


def organization(scored: RatedResponse, over_valid: bool = False) -> Estimate:
    """Org of one report by one rater's verdicts in both orders; `n` counts the exemplars compared with."""
    if scored.material.response.mode == EXEMPLAR:
        return Estimate(0.5, n=1, floor=0.5, ceiling=0.5, method=METHOD, note="by definition, not judged")
    orders = [
        (scored.values.get(response.id), scored.reverse.get(response.id))
        for response in scored.material.facing
    ]
    if not orders:
        return Estimate(None, method=METHOD, note="the item has no exemplar")
    wins = [(credit(first, FIRST), credit(second, SECOND)) for first, second in orders]
    known = [(a + b) / 2 for a, b in wins if a is not None and b is not None]
    missing = len(wins) - len(known)
    usable = not missing or (over_valid and bool(known))
    turned = sum(outcome(*order) is PairOutcome.INCONSISTENT for order in orders)
    notes = several.missing_notes(missing, len(wins), usable, "comparisons are missing")
    notes += ["the verdict changed with the order"] * bool(turned)
    # A pair known in one order alone bounds the mean, too.
    floor, ceiling = (
        sum((open_ if w is None else w) for pair in wins for w in pair) / (2 * len(wins))
        for open_ in (0.0, 1.0)
    )
    return Estimate(
        min(max(sum(known) / len(known), floor), ceiling) if usable else None,
        n=len(known),
        missing=missing,
        floor=floor,
        ceiling=ceiling,
        method=METHOD,
        note="; ".join(notes),
    )


class BetterOrganized(several.ValueReply, value="better"):
    """What a judge replies about two sections. The ground comes first, so that the verdict follows from it."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The first line must be first or second, in exactly those letters, and nothing else. On "
        "the next line give your reason in one sentence."
    )
    rationale: str = Field(description="What decided it, in one sentence")
    better: Annotated[Literal["first", "second"], several.Word] = Field(
        description="Which one is better organized"
    )


judge = partial(several.judged, NAME, BetterOrganized)


# No network (not in the paper): a judge that looks at length alone.


def baseline(case: Case) -> Verdicts:
    """The section with more words is better, equal ones are a tie; a floor that every judge should beat."""
    first, second = (len(text.split()) for text in several.both_texts(case))
    value = TIE if first == second else FIRST if first > second else SECOND
    return {case.unit.id: Verdict(value=value, rationale=f"baseline: {first} words against {second}")}


ORGANIZATION = Protocol(
    name=NAME,
    title="Organization beside the exemplar",
    citation="DeepScholar-Bench, §8.3.1 and Box 1",
    needs=(),
    metrics=(Metric("organization", "Organization", DEFINITION, organization),),
    scale=PAIR,
    presentation=Presentation(
        "Organization",
        "Which of two sections is better organized? (DeepScholar-Bench)",
        "pair",
        "pairs",
        ask="Which section is better organized and easier to follow?",
        line="pair",
        layout=CaseLayout.PAIR,
        lacking=(
            "No exemplar yet",
            "A report can be compared once its item has a section that people wrote.",
        ),
    ),
    cases=partial(several.with_exemplars, NAME),
    judge=judge,
    baseline=baseline,
    prompts=(NAME,),
    paired=True,
    exemplar=True,
    target=Target(FIRST, "better"),
    aims=(Aim("accuracy", 0.78, "Table 3", "GPT-4o"),),
    departures=DEPARTURES,
)
