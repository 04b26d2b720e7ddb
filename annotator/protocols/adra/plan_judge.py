"""How a judge is asked about a plan: one predicted sub-task against all gold ones (ADRA §3.1)."""

import re
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from annotator.domain.judgement import Status, Verdict
from annotator.domain.protocol import Ask, Case, Verdicts, missing_verdicts
from annotator.protocols.replies import Word, lines
from annotator.protocols.several import by_letter, listed, told_apart

PROMPTS = ("adra.plan",)
RELEVANT, NOT = "relevant", "not"
PREDICTED = "predicted sub-task"

# After the verdict the line must pause, so that “not irrelevant” and “relevant or not” are no verdicts.
_LINE = re.compile(
    r"[\s*_`>-]*(?P<id>g\d+)[*_`]*\s*[:.)–—-]+[\s*_`]*(?P<verdict>relevant|not)(?:(?<=not)[ \t]+relevant)?[*_`]*"
    r"(?=\s*(?:$|[.,:;(–—-]|because\b))[\s.,:;–—-]*(?P<reason>.*)",
    re.IGNORECASE,
)


class Cell(BaseModel):
    """What is said of one gold sub-task. The reason comes first, so that the verdict follows from it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: Annotated[str, Word] = Field(description="The name of the listed sub-task, such as g1")
    reason: str = Field(description="Why, in one short sentence")
    verdict: Annotated[Literal["relevant", "not"], Word] = Field(
        description="Whether the sub-task in question does work of the listed one"
    )


class Row(BaseModel):
    """What is said of one predicted sub-task: a line of the matrix."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text, one line for each listed sub-task and nothing else: its name, a colon, exactly relevant "
        "or not, a full stop, then your reason in one short sentence. Example of a line: g2: not. It is about costs."
    )
    cells: list[Cell] = Field(description="One entry for each listed sub-task")

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The plain text form: every line names a sub-task and its verdict; ValueError on any other line."""
        found = lines(text, _LINE, "a name, a colon and relevant or not")
        return cls(cells=[Cell.model_validate(line.groupdict()) for line in found])


async def judge(case: Case, ask: Ask) -> Verdicts:
    """One predicted sub-task against the gold ones of a case, each of which has a name of its own in the call."""
    names = by_letter(case.units, "g")
    fields = {"question": case.item.question, "subtask": case.given[PREDICTED], "list": listed(names)}
    answer = await ask(PROMPTS[0], fields, Row, fenced=("question", "subtask"))
    if answer.status is not Status.OK:
        return missing_verdicts(case, answer)
    flags = " ".join(answer.flags)
    return told_apart(
        names,
        answer.reply.cells,
        answer.flags,
        lambda cell: Verdict(value=cell.verdict, rationale=cell.reason, flags=flags),
    )


# No network: the floor under every judge (not in the paper).


def baseline(case: Case) -> Verdicts:
    """Relevant when two sub-tasks are as alike as two wordings of one criterion are; the same on every machine."""
    from annotator.stats.likeness import bare, likeness_among
    from annotator.stats.matching import THRESHOLD

    predicted, gold = case.given[PREDICTED], [unit.text for unit in case.units]
    alike = likeness_among((predicted,), gold)
    found = {}
    for unit in case.units:
        if not (bare(predicted) and bare(unit.text)):
            cause = "baseline: there are no words to compare"
            found[unit.id] = Verdict(value=None, status=Status.UNCLEAR, cause=cause)
            continue
        likeness = alike(predicted, unit.text)
        value, sign = (RELEVANT, "≥") if likeness >= THRESHOLD else (NOT, "<")
        found[unit.id] = Verdict(
            value=value, rationale=f"baseline: likeness {likeness:.2f} {sign} {THRESHOLD:.2f}"
        )
    return found
