"""Judge questions on a plan: one predicted sub-task against all gold ones (ADRA §3.1)."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from annotator.domain.judges.judgement import Status, Verdict
from annotator.domain.judges.protocol import Ask, Case, Verdicts
from annotator.protocols.replies import ModelReply, Word, values_by_name
from annotator.protocols.several import by_letter, listed, of_several

PROMPTS = ("adra.plan",)
RELEVANT, NOT = "relevant", "not"
PREDICTED = "predicted sub-task"


class Cell(ModelReply):
    """What is said of one gold sub-task. The reason comes first, so that the verdict follows from it."""

    id: Annotated[str, Word] = Field(description="The name of the listed sub-task, such as g1")
    reason: str = Field(description="Why, in one short sentence")
    verdict: Annotated[Literal["relevant", "not"], Word] = Field(
        description="Whether the sub-task in question does work of the listed one"
    )


class Row(ModelReply):
    """What is said of one predicted sub-task: a line of the matrix."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text, with two lines for each listed sub-task and nothing else: first its name, a colon and "
        "exactly relevant or not, such as g2: not. Then, on a line of its own, your reason in one short sentence."
    )
    cells: list[Cell] = Field(description="One entry for each listed sub-task")

    @property
    def answers(self) -> list[Cell]:
        """The answers by name."""
        return self.cells

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The plain text form: a sub-task's name and verdict alone on a line, then the reason; ValueError otherwise."""
        found = values_by_name(text, r"g\d+", RELEVANT, NOT)
        return cls.model_validate(
            {"cells": [{"id": name, "reason": why, "verdict": verdict} for name, verdict, why in found]}
        )


async def judge(case: Case, ask: Ask) -> Verdicts:
    """One predicted sub-task against the gold ones of a case, each of which has a name of its own in the call."""
    names = by_letter(case.units, "g")
    fields = {"question": case.item.question, "subtask": case.given[PREDICTED], "list": listed(names)}
    answer = await ask(PROMPTS[0], fields, Row, fenced=("question", "subtask"))
    return of_several(case, names, answer, _verdict)


def _verdict(cell: Cell, _case: Case, flags: tuple[str, ...]) -> Verdict:
    return Verdict(value=cell.verdict, rationale=cell.reason, flags=" ".join(flags))


# No network: the floor under every judge (not in the paper).


def baseline(case: Case) -> Verdicts:
    """Relevant when two sub-tasks are as alike as two wordings of one criterion are; the same on every machine."""
    from annotator.stats.matching.likeness import bare, likeness_among
    from annotator.stats.matching.matching import THRESHOLD

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
