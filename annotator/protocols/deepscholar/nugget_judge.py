"""Judge questions on nuggets: one at a time, or several in one call.

DeepScholar-Bench, §8.3.1: nuggets after Pradeep et al. (2025), with up to ten in a call.
"""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from annotator.domain.judges.judgement import Verdict
from annotator.domain.judges.protocol import Ask, Case, Verdicts
from annotator.protocols.replies import ModelReply, longest_quote, sole_value, with_quote
from annotator.protocols.several import by_id, of_empty, of_one, of_several

PROMPTS = ("deepscholar.nuggets", "deepscholar.nuggets.together")
NONE, PARTIAL, FULL = "not_support", "partial_support", "support"
# As a reply in words spells them.
_WORDS = {"not-supported": NONE, "partly-supported": PARTIAL, "supported": FULL}


class NuggetSupport(ModelReply):
    """What a judge replies about one nugget. The evidence comes first, so that the label follows from it."""

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


async def judge(case: Case, ask: Ask) -> Verdicts:
    """Question, nugget and report are shown; not what the nugget weighs."""
    if empty := of_empty(case, NONE):
        return empty
    fields = {"question": case.item.question, "nugget": case.unit.text, "report": case.response.text}
    answer = await ask(PROMPTS[0], fields, NuggetSupport, fenced=("question", "nugget", "report"))
    return of_one(case, answer, _verdict)


async def judge_together(case: Case, ask: Ask) -> Verdicts:
    """Several nuggets in one call; what is said of each is known by its id alone."""
    if empty := of_empty(case, NONE):
        return empty
    words = "\n\n".join(f"id: {unit.id}\n{unit.text}" for unit in case.units)
    fields = {"question": case.item.question, "nuggets": words, "report": case.response.text}
    answer = await ask(PROMPTS[1], fields, SupportTogether, fenced=("question", "nuggets", "report"))
    return of_several(case, by_id(case.units), answer, _verdict)


def _verdict(reply: NuggetSupport, case: Case, flags: tuple[str, ...]) -> Verdict:
    owed = reply.support != NONE
    return with_quote(reply.support, reply.rationale, reply.quote, case.response.text, flags, owed=owed)
