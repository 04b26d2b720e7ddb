"""A judge's preference between two reports: three respects by themselves, then the whole.

ADRA: what reports are compared by, §5.4; two judges asked the same of 100 pairs, appendix A.5.
"""

from functools import partial
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from annotator.domain.judges.judgement import Verdict
from annotator.domain.judges.pairs import FIRST, SECOND, TIE
from annotator.domain.judges.protocol import Case, Verdicts
from annotator.protocols import report_pairs
from annotator.protocols.replies import Word, blocks

PROMPTS = ("adra.preference",)
ASPECTS = ("factuality", "comprehensiveness", "coherence")
Chosen = Annotated[Literal["first", "second", "tie"], Word]


class Preferred(BaseModel):
    """What a judge replies about two reports: the grounds, the respects, then the whole."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
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


def _reason(reply: Preferred) -> str:
    respects = ", ".join(f"{name}: {getattr(reply, name)}" for name in ASPECTS)
    return f"{reply.rationale} ({respects})"


judge = partial(report_pairs.judged, PROMPTS[0], Preferred, reason=_reason)


# No network (not in the paper): the report that gives more sources.

_MARKS = ("http://", "https://", "doi.org", "[1]", "[2]", "[3]", "[4]", "[5]", "[6]", "[7]", "[8]", "[9]")


def baseline(case: Case) -> Verdicts:
    """The report with more marks of sources is better, equal ones are a tie; a floor that no judge should share."""
    first, second = (sum(text.count(mark) for mark in _MARKS) for text in report_pairs.both_texts(case))
    value = TIE if first == second else FIRST if first > second else SECOND
    return {
        case.unit.id: Verdict(value=value, rationale=f"baseline: {first} marks of sources against {second}")
    }
