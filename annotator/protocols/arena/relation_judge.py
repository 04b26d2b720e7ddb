"""Judge questions on how a report relates to key points: one at a time, or several in one call.

DeepResearch Arena: KEY_POINT_RELEVANCE_PROMPT.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from annotator.domain.judges.judgement import Verdict
from annotator.domain.judges.protocol import Ask, Case, Verdicts
from annotator.protocols.replies import ModelReply, ValueReply, Word, with_quote
from annotator.protocols.several import by_letter, listed, of_empty, of_one, of_several

PROMPTS = ("arena.keypoints", "arena.keypoints.together")
SUPPORTS, OMITS, CONTRADICTS = RELATIONS = ("supports", "omits", "contradicts")


class Relation(ValueReply):
    """What a judge replies about one key point. The evidence comes first, so that the relation follows from it."""

    VALUE: ClassVar[str] = "relation"
    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The first line must be supports, omits or contradicts, in exactly those letters, and "
        "nothing else. On the next line, unless it is omits, copy the passage of the report that decided it between "
        "double quotes. On the last line give your reason in one or two sentences."
    )
    quote: str = Field(
        description="The report's own words that decide it, copied exactly; empty if there are none"
    )
    rationale: str = Field(description="Why, in one or two sentences")
    aspects: list[str] = Field(default=[], description="What decided it, in a few words each")
    relation: Annotated[Literal["supports", "omits", "contradicts"], Word] = Field(
        description="What the report does with the key point"
    )
    confidence: float | None = Field(default=None, ge=0, le=1, description="How sure you are, from 0 to 1")


class RelationOfOne(Relation):
    """What a judge replies about one of several key points."""

    id: str = Field(description="The name of the listed key point, such as k1")


class RelationsTogether(ModelReply):
    """What a judge replies about several key points at once: once about each, by its name."""

    answers: list[RelationOfOne] = Field(description="One answer for each listed key point")


async def judge(case: Case, ask: Ask) -> Verdicts:
    """Task, key point and report are shown; neither the page nor who cites it."""
    if empty := of_empty(case, OMITS):
        return empty
    fields = {"question": case.item.question, "point": case.unit.text, "report": case.response.text}
    answer = await ask(PROMPTS[0], fields, Relation, fenced=tuple(fields))
    return of_one(case, answer, _verdict)


async def judge_together(case: Case, ask: Ask) -> Verdicts:
    """Several key points in one call; what is said of each is known by its name alone."""
    if empty := of_empty(case, OMITS):
        return empty
    names = by_letter(case.units, "k")
    fields = {"question": case.item.question, "points": listed(names), "report": case.response.text}
    answer = await ask(PROMPTS[1], fields, RelationsTogether, fenced=tuple(fields))
    return of_several(case, names, answer, _verdict)


def _verdict(reply: Relation, case: Case, flags: tuple[str, ...]) -> Verdict:
    """The reply as a verdict; how sure the judge is and what decided it stand in its note."""
    owed = reply.relation != OMITS
    found = with_quote(reply.relation, reply.rationale, reply.quote, case.response.text, flags, owed=owed)
    sure = [] if reply.confidence is None else [f"confidence {reply.confidence:.2f}"]
    return found.model_copy(update={"note": "; ".join([*sure, *reply.aspects])})
