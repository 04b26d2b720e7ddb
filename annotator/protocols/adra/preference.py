"""ADRA trust: scores must prefer the report that blinded experts prefer (§5.4), and so must judges (A.5)."""

from functools import partial
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from annotator.domain.judges.contest import FIRST, SECOND, TIE, preferred
from annotator.domain.judges.judge import Verdict
from annotator.domain.judges.paper import Taxonomy
from annotator.domain.judges.protocol import (
    PAIR,
    Case,
    CaseLayout,
    Metric,
    Presentation,
    Protocol,
    RatedResponse,
    Target,
    Value,
    Verdicts,
)
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import several

NAME = "adra.preference"
ASPECTS = ("factuality", "comprehensiveness", "coherence")

DEPARTURES = (
    "The paper gives 86.23 % agreement on 100 pairs, which no count of 100 can give, and does not say what becomes of "
    "ties. Here pairs in which the experts or the scores see no difference are counted apart.",
    "The baseline counts marks of sources, which no paper proposes: a floor.",
    "The share in which a response is preferred is not in the paper; it says what the preferences were.",
    "An expert or judge who is asked both ways round and does not prefer the same report has no preference.",
    "Judges are asked every pair both ways round; the paper does not say in which order they saw it, nor what becomes "
    "of the three respects. Here a judge names them before the whole, in its reasons.",
)

# The experts' question: two reports on an item, without names, in random order.

DEFINITION = """\
`preferred / comparisons`: of the comparisons of this response with the other systems' responses on the item, the share
in which the blinded experts preferred it (ADRA §5.4). A tie prefers neither. The paper gives no such figure; what it
gives is how often its scores agree with the preferences. Undefined where there is no other response. With comparisons
missing it is over the others, and the range is given in which it must lie.
"""


def share(scored: RatedResponse, over_valid: bool = False) -> Estimate:
    """The share of a response's comparisons in which it was preferred; `n` counts those with a preference or a tie."""
    method = "preferred / comparisons"
    others = scored.material.rivals(NAME)
    result = [
        preferred(scored.values.get(response.id), scored.reverse.get(response.id)) for response in others
    ]
    if not result:
        return Estimate(None, method=method, note="there is no other response to compare with")
    wins, missing = result.count(FIRST), result.count(None)
    return several.mean_of_known(
        wins, len(result) - missing, missing, over_valid, "comparisons are missing", method
    )


# The judge's question (A.5): three aspects separately, then the whole.

Chosen = Annotated[Literal["first", "second", "tie"], several.Word]


class Preferred(several.ModelReply):
    """What a judge replies about two reports: the grounds, the respects, then the whole."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text: five lines that begin with FACTUALITY:, COMPREHENSIVENESS:, COHERENCE:, BETTER: and "
        "WHY:. Behind each of the first four stands first, second or tie, in exactly those letters; behind the last, "
        "your grounds."
    )
    rationale: str = Field(description="What decided it, in two to four sentences")
    factuality: Chosen = Field(description="Which report is right more often, or tie")
    comprehensiveness: Chosen = Field(description="Which report covers more of the answer, or tie")
    coherence: Chosen = Field(description="Which report holds together better, or tie")
    better: Chosen = Field(description="Which report is better as a whole, or tie")

    @classmethod
    def from_text(cls, text: str) -> Self:
        result = several.blocks(
            text, **{name: name.upper() for name in (*ASPECTS, "better")}, rationale="WHY"
        )
        if len(result) != 1:
            raise ValueError("the five lines are not there once")
        return cls.model_validate(result[0])


def _reason(reply: Preferred) -> str:
    respects = ", ".join(f"{name}: {getattr(reply, name)}" for name in ASPECTS)
    return f"{reply.rationale} ({respects})"


judge = partial(several.judged, NAME, Preferred, reason=_reason)


# No network (not in the paper): the report that gives more sources.

_MARKS = ("http://", "https://", "doi.org", "[1]", "[2]", "[3]", "[4]", "[5]", "[6]", "[7]", "[8]", "[9]")


def baseline(case: Case) -> Verdicts:
    """The report with more marks of sources is better, equal ones are a tie; a floor that every judge should beat."""
    first, second = (sum(text.count(mark) for mark in _MARKS) for text in several.both_texts(case))
    value = TIE if first == second else FIRST if first > second else SECOND
    return {
        case.unit.id: Verdict(value=value, rationale=f"baseline: {first} marks of sources against {second}")
    }


# The aspects asked beside the overall choice, each separately.
_RESPECTS = {
    "factuality": "is right more often, and borne out by its sources",
    "comprehensiveness": "covers more of what an answer needs",
    "coherence": "holds together better",
}


def _respect(name: str, better: str) -> Taxonomy:
    kinds = (
        Value(FIRST, "First", f"The first report {better}"),
        Value(SECOND, "Second", f"The second report {better}"),
        Value(TIE, "Equal", "There is no difference in this respect"),
    )
    after = (FIRST, SECOND, TIE)
    return Taxonomy(f"{NAME}.{name}", name.capitalize(), NAME, after, name.capitalize(), kinds, beside=True)


RESPECTS = tuple(_respect(name, _RESPECTS[name]) for name in ASPECTS)

PREFERENCE = Protocol(
    name=NAME,
    title="Which of two reports the expert prefers",
    citation="ADRA, §5.4",
    needs=(),
    metrics=(Metric("preference", "Preferred", DEFINITION, share),),
    scale=PAIR,
    presentation=Presentation(
        "Preferred report, by aspect",
        "Which of two reports do you prefer? (ADRA)",
        "pair",
        "pairs",
        ask="Which report do you prefer?",
        line="pair",
        layout=CaseLayout.PAIR,
    ),
    cases=partial(several.with_rivals, NAME),
    judge=judge,
    baseline=baseline,
    prompts=(NAME,),
    paired=True,
    target=Target(FIRST, "better"),
    departures=DEPARTURES,
)
