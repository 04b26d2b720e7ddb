"""Judge questions on statements: the judge reads the report alone, for one statement or several (ADRA §3.3)."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from annotator.domain.judges.judgement import Verdict
from annotator.domain.judges.protocol import Ask, Case, Verdicts
from annotator.protocols.lexical import at_least, by_passages
from annotator.protocols.replies import ModelReply, ValueReply, Word, with_quote
from annotator.protocols.several import by_letter, listed, of_one, of_several

PROMPTS = ("adra.reasoning", "adra.reasoning.together")
TRUE, FALSE, CANNOT_TELL = "true", "false", "cannot-tell"


class Told(ValueReply):
    """What a judge replies about one statement. The evidence comes first, so that the verdict follows from it."""

    VALUE: ClassVar[str] = "verdict"
    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The first line must be true, false or cannot-tell, in exactly those letters, and "
        "nothing else. On the next line, after a true or a false, copy the passage of the report that decided it "
        "between double quotes. On the last line give your reason in one or two sentences."
    )
    quote: str = Field(
        description="The report's own words that decide it, copied exactly; empty if there are none"
    )
    rationale: str = Field(description="Why, in one or two sentences")
    verdict: Annotated[Literal["true", "false", "cannot-tell"], Word] = Field(
        description="What the report lets its reader say of the statement"
    )


class OneTold(ModelReply):
    """What a judge replies about one of several statements."""

    id: str = Field(description="The name of the listed statement, such as s1")
    told: Told = Field(description="What is said of it")


class Together(ModelReply):
    """What a judge replies about several statements at once."""

    answers: list[OneTold] = Field(description="One entry for each listed statement")


async def judge(case: Case, ask: Ask) -> Verdicts:
    """One statement and the report, and nothing else."""
    fields = {"statement": case.unit.text, "report": case.response.text}
    answer = await ask(PROMPTS[0], fields, Told, fenced=("report",))
    return of_one(case, answer, _verdict)


async def judge_together(case: Case, ask: Ask) -> Verdicts:
    """Several statements in one call, each with a name of its own in it."""
    names = by_letter(case.units, "s")
    fields = {"statements": listed(names), "report": case.response.text}
    answer = await ask(PROMPTS[1], fields, Together, fenced=("report",))
    return of_several(case, names, answer, lambda one, *call: _verdict(one.told, *call))


def _verdict(reply: Told, case: Case, flags: tuple[str, ...]) -> Verdict:
    owed = reply.verdict != CANNOT_TELL
    return with_quote(reply.verdict, reply.rationale, reply.quote, case.response.text, flags, owed=owed)


# No network: the floor under every judge (not in the paper).

# Half of a statement's words: there are no public verdicts to set it by.
BASELINE_THRESHOLD = 0.5


def baseline(case: Case) -> Verdicts:
    """True when one passage of the report holds enough of the statement's terms, cannot-tell otherwise.

    It never says false: words alone cannot contradict.
    """
    said = at_least(BASELINE_THRESHOLD, TRUE, CANNOT_TELL)
    return by_passages(case, "statement", said, unmet=CANNOT_TELL)
