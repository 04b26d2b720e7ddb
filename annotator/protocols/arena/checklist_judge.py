"""Judge questions on points of a checklist: one at a time, or several in one call."""

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from annotator.domain.judges.judgement import Verdict
from annotator.domain.judges.protocol import Ask, Case, Verdicts
from annotator.protocols.arena.traits import described
from annotator.protocols.replies import ModelReply, ValueReply, with_quote
from annotator.protocols.several import by_letter, listed, of_empty, of_one, of_several

PROMPTS = ("arena.checklist", "arena.checklist.together")
RATINGS = tuple(str(rating) for rating in range(11))


class Rating(ValueReply):
    """What a judge replies about one point. The ground comes first, so that the rating follows from it."""

    VALUE: ClassVar[str] = "rating"
    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The first line must be a whole number from 0 to 10 and nothing else. On the next line, "
        "if a passage of the report decided it, copy that between double quotes. On the last line give your reason in "
        "one or two sentences."
    )
    quote: str = Field(
        description="The report's own words that tell most, copied exactly; empty if there are none"
    )
    rationale: str = Field(description="What is there and what is lacking, in one or two sentences")
    rating: Annotated[
        Literal["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"], BeforeValidator(str)
    ] = Field(description="A whole number from 0, nothing on this point, to 10, mastery")


class RatingOfOne(Rating):
    """What a judge replies about one of several points."""

    id: str = Field(description="The name of the listed point, such as p1")


class RatingsTogether(ModelReply):
    """What a judge replies about several points at once: once about each, by its name."""

    answers: list[RatingOfOne] = Field(description="One answer for each listed point")


async def judge(case: Case, ask: Ask) -> Verdicts:
    """Task with its traits, point and report are shown; not what the point weighs."""
    if empty := of_empty(case, RATINGS[0]):
        return empty
    answer = await ask(PROMPTS[0], _fields(case) | {"point": case.unit.text}, Rating, fenced=FENCED)
    return of_one(case, answer, _verdict)


async def judge_together(case: Case, ask: Ask) -> Verdicts:
    """Several points in one call, each with a name of its own in it."""
    if empty := of_empty(case, RATINGS[0]):
        return empty
    names = by_letter(case.units, "p")
    answer = await ask(PROMPTS[1], _fields(case) | {"point": listed(names)}, RatingsTogether, fenced=FENCED)
    return of_several(case, names, answer, _verdict)


FENCED = ("question", "category", "family", "difficulty", "point", "report")


def _fields(case: Case) -> dict[str, str]:
    return {"question": case.item.question, **described(case.item), "report": case.response.text}


def _verdict(reply: Rating, case: Case, flags: tuple[str, ...]) -> Verdict:
    return with_quote(reply.rating, reply.rationale, reply.quote, case.response.text, flags, owed=False)
