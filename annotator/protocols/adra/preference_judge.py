"""A judge's preference between two reports: three respects by themselves, then the whole.

ADRA: what reports are compared by, §5.4; two judges asked the same of 100 pairs, appendix A.5.
"""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from annotator.domain.judges.judgement import Status, Verdict
from annotator.domain.judges.pairs import FIRST, SECOND, TIE
from annotator.domain.judges.protocol import Ask, Case, Verdicts, missing_verdicts
from annotator.protocols.replies import Word, blocks

PROMPTS = ("adra.preference",)
ASPECTS = ("factuality", "comprehensiveness", "coherence")
Chosen = Annotated[Literal["first", "second", "tie"], Word]


class Preferred(BaseModel):
    """What a judge replies about two reports: the grounds, the respects, then the whole."""

    model_config = ConfigDict(frozen=True, extra="forbid")
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
        """The plain text form; ValueError on anything but the five lines."""
        found = blocks(text, *(name.upper() for name in (*ASPECTS, "better", "why")))
        if len(found) != 1:
            raise ValueError("the five lines are not there once")
        return cls.model_validate(dict(zip((*ASPECTS, "better", "rationale"), found[0], strict=True)))


async def judge(case: Case, ask: Ask) -> Verdicts:
    """Query and both reports are shown, no name; ValueError for a case without a second report."""
    if case.other is None:
        raise ValueError("a comparison needs a second report")
    fields = {"question": case.item.question, "first": case.response.text, "second": case.other.text}
    answer = await ask(PROMPTS[0], fields, Preferred, fenced=("question", "first", "second"))
    if answer.status is not Status.OK:
        return missing_verdicts(case, answer)
    reply: Preferred = answer.reply
    respects = ", ".join(f"{name}: {getattr(reply, name)}" for name in ASPECTS)
    rationale = f"{reply.rationale} ({respects})"
    return {case.unit.id: Verdict(value=reply.better, rationale=rationale, flags=" ".join(answer.flags))}


# No network (not in the paper): the report that gives more sources.

_MARKS = ("http://", "https://", "doi.org", "[1]", "[2]", "[3]", "[4]", "[5]", "[6]", "[7]", "[8]", "[9]")


def baseline(case: Case) -> Verdicts:
    """The report with more marks of sources is better, equal ones are a tie; a floor that no judge should share."""
    if case.other is None:
        raise ValueError("a comparison needs a second report")
    first, second = (
        sum(text.count(mark) for mark in _MARKS) for text in (case.response.text, case.other.text)
    )
    value = TIE if first == second else FIRST if first > second else SECOND
    return {
        case.unit.id: Verdict(value=value, rationale=f"baseline: {first} marks of sources against {second}")
    }
