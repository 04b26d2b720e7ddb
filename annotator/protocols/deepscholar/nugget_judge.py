"""Judge questions on nuggets: one at a time, or several in one call.

DeepScholar-Bench, §8.3.1: nuggets after Pradeep et al. (2025), with up to ten in a call.
"""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from annotator.protocols.replies import ModelReply, QuotingReply, longest_quote, sole_value
from annotator.protocols.several import UnitQuestion

PROMPTS = ("deepscholar.nuggets", "deepscholar.nuggets.together")
NONE, PARTIAL, FULL = "not_support", "partial_support", "support"
# As a reply in words spells them.
_WORDS = {"not-supported": NONE, "partly-supported": PARTIAL, "supported": FULL}


class NuggetSupport(QuotingReply):
    """What a judge replies about one nugget. The evidence comes first, so that the label follows from it."""

    VALUE, UNQUOTED = "support", (NONE,)
    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The first line must be supported, partly supported or not supported, in exactly those "
        "letters, and nothing else. On the next line, unless it is not supported, copy the passage of the report that "
        "holds it between double quotes. On the last line give your reason in one sentence."
    )
    quote: str = Field(
        description="The report's own words that hold it, copied exactly; empty if there are none"
    )
    rationale: str = Field(description="Why, in one sentence")
    support: Annotated[
        Literal["support", "partial_support", "not_support"], Field(description="How far the report holds it")
    ]

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The plain text form: a label alone on the first line, then the reason; ValueError on anything else."""
        said, rest = sole_value(text, *_WORDS)
        return cls.model_validate({"support": _WORDS[said], "quote": longest_quote(rest), "rationale": rest})


class SupportOfOne(NuggetSupport):
    """What a judge replies about one of several nuggets."""

    id: str = Field(description="The id of the nugget, copied exactly")


class SupportTogether(ModelReply):
    """What a judge replies about several nuggets at once: once about each, by its id."""

    answers: list[SupportOfOne] = Field(description="One answer for each nugget")


QUESTION = UnitQuestion(PROMPTS, (NuggetSupport, SupportTogether), ("nugget", "nuggets"), empty=NONE)
judge, judge_together = QUESTION.judge, QUESTION.judge_together
