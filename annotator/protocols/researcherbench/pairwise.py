"""Pairwise comparison: which of two reports on an item is better, asked in both orders.

ResearcherBench, appendix E.7: method, E.7.1; the aspects the judge is asked to weigh, E.7.2; win rates, E.7.3, Table
7.
"""

from functools import partial
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from annotator.domain.judges.contest import FIRST, SECOND, TIE, PairOutcome, may_win, outcome
from annotator.domain.judges.judge import Verdict
from annotator.domain.judges.protocol import (
    PAIR,
    Case,
    CaseLayout,
    Metric,
    Presentation,
    Protocol,
    RatedResponse,
    Target,
    Verdicts,
)
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import several

NAME = "researcherbench.pairwise"

DEPARTURES = (
    "Both orders are always asked, and a win is one in both. The paper aggregates both directions and does not say "
    "how. A pair on which they disagree is called inconsistent; it counts as a tie in the win rate, and is told apart "
    "everywhere else.",
    "A comparison that failed in either order is an error of the pair. It is never counted as a tie.",
    "A rate over the items of a system gives every item the same weight; where all systems answered all items that "
    "is the paper's wins over all comparisons.",
)

# Appendix E.7.3: the win rate.

WIN_RATE = """\
$$\\text{win rate} = \\frac{\\text{wins}}{\\text{comparisons}}$$

Of the comparisons of this response with the other systems' responses on the same item, the share that it wins in both
orders (appendix E.7.3, Table 7). A tie, and a pair whose verdict changes with the order, is no win. A system's win rate
is the mean over its items. Undefined where there is no other response. With comparisons missing it is over the others,
and the range is given in which it must lie.
"""


def win_rate(scored: RatedResponse, over_valid: bool = False) -> Estimate:
    """Wins / comparisons of one response with its rivals on its item, by one rater's verdicts in both orders.

    `n` counts the pairs judged in both orders. With others missing the value is None, or with `over_valid` that of
    the pairs whose outcome is known: one order can rule out a win. Floor assumes all others lost, ceiling won.
    """
    method = "wins / comparisons, a win being one in both orders"
    orders = [
        (scored.values.get(other.id), scored.reverse.get(other.id)) for other in scored.material.rivals(NAME)
    ]
    if not orders:
        return Estimate(None, method=method, note="there is no other response to compare with")
    outcomes = [outcome(*order) for order in orders]
    wins, missing = outcomes.count(PairOutcome.WIN), outcomes.count(PairOutcome.ERROR)
    judged = len(orders) - missing
    open_ = sum(may_win(*order) for order in orders) - wins
    value = wins / (len(orders) - open_) if judged and (over_valid or not missing) else None
    return Estimate(
        value,
        n=judged,
        missing=missing,
        floor=wins / len(orders),
        ceiling=(wins + open_) / len(orders),
        method=method,
        note="; ".join(
            several.missing_notes(missing, len(orders), value is not None, "comparisons are missing")
        ),
    )


# Appendices E.7.1 and E.7.2: one pair at a time, in one order.


class Preference(several.ValueReply, value="better"):
    """What a judge replies about two reports. The grounds come first, so that the verdict follows from them."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The first line must be first, second or tie, in exactly those letters, and nothing "
        "else. On the next line give your grounds in two to four sentences."
    )
    rationale: str = Field(description="What decided it, in two to four sentences")
    better: Annotated[Literal["first", "second", "tie"], several.Word] = Field(
        description="Which report is better, or tie"
    )


judge = partial(several.judged, NAME, Preference)


# No network: the floor under every judge (appendix E.7.5 finds that length alone predicts the verdicts).

# Reports whose lengths differ by less, as a share of the longer one, are a tie.
BASELINE_MARGIN = 0.1


def baseline(case: Case) -> Verdicts:
    """The longer report is better: a judge that agrees with this too well has weighed length. Never inconsistent."""
    first, second = map(len, several.both_texts(case))
    rationale = f"baseline: {first:,} characters against {second:,}"
    if abs(first - second) <= BASELINE_MARGIN * max(first, second):
        return {case.unit.id: Verdict(value=TIE, rationale=rationale)}
    return {case.unit.id: Verdict(value=FIRST if first > second else SECOND, rationale=rationale)}


PAIRWISE = Protocol(
    name=NAME,
    title="Which of two reports is better",
    citation="ResearcherBench, appendix E.7",
    needs=(),
    metrics=(Metric("win_rate", "Win rate", WIN_RATE, win_rate),),
    scale=PAIR,
    presentation=Presentation(
        "Preferred report",
        "Which of two reports is better? (ResearcherBench)",
        "pair",
        "pairs",
        ask="Which report would help a researcher in the field more?",
        line="pair",
        layout=CaseLayout.PAIR,
    ),
    cases=partial(several.with_rivals, NAME),
    judge=judge,
    baseline=baseline,
    floor="Of two reports it prefers the longer, and reads neither.",
    prompts=(NAME,),
    paired=True,
    target=Target(FIRST, "better"),
    departures=DEPARTURES,
)
