"""ADRA planning: each predicted sub-task compared with each gold one (§3.1, appendix F).

What the matrix is, how it is judged, and the two ways to read it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from annotator.domain.judges.judge import Status, Verdict
from annotator.domain.judges.protocol import (
    Ask,
    Case,
    CaseLayout,
    Material,
    Matrix,
    MatrixSpec,
    Metric,
    Presentation,
    Protocol,
    RatedResponse,
    Value,
    ValueLook,
    Verdicts,
    nominal,
)
from annotator.domain.kinds.artifact import Kind, Unit, cell_id
from annotator.domain.material.part import ResponsePart
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.adra.counts import (
    F1,
    JACCARD,
    PRECISION,
    RECALL,
    CountFigure,
    CountTally,
    estimate,
)
from annotator.protocols.several import (
    ModelReply,
    Word,
    by_letter,
    listed,
    missing_notes,
    of_several,
    values_by_name,
)

PROMPTS = ("adra.plan",)
RELEVANT, NOT = "relevant", "not"
PREDICTED = "predicted sub-task"

NAME = "adra.plan"

DEPARTURES = (
    "The paper does not say how a matrix with several matches in a row or a column is counted. Both readings are "
    "given: one-to-one (a maximum matching, the default) and any-match.",
    "Its planning tables (2, 4 and 12) print an accuracy equal to precision. The formula it gives, TP / (TP + FP + "
    "FN), cannot do that unless nothing gold is lacking; the formula is followed.",
    "One call asks about one predicted sub-task and all gold ones. Replies are matched by the names the gold sub-tasks "
    "were given in that call, never by their order; what is named twice or not at all is missing.",
    "The plan of a system that shows none may be drawn from its report; the paper scores only the one that shows it.",
)

# The matrix: a case is a row, a unit a cell.


def cases(material: Material) -> Iterator[Case]:
    """One case for each predicted sub-task, with a unit for each gold one."""
    gold = material.units(Kind.PLAN)
    for predicted in material.units(ResponsePart.PLAN) if gold else ():
        cells = (Unit(id=cell_id(predicted.id, one.id), text=one.text) for one in gold)
        yield material.case(NAME, Kind.PLAN, *cells, given={PREDICTED: predicted.text})


# The two readings. Both counts only grow when a cell turns from not to relevant: a matching stays one, and a row or
# a column that has a match keeps it. Every figure grows with them. So the missing cells, all not and all relevant,
# give the least and the most a score can be.


@lru_cache(maxsize=4096)
def one_to_one(cells: Matrix, gold: int) -> CountTally:
    """TP is the size of a maximum matching between the rows and the `gold` columns; a missing cell is no match."""
    from annotator.stats.matching.matching import maximum_matching

    pairs = maximum_matching([[bool(cell) for cell in row] for row in cells]) if cells else 0
    return CountTally(predicted=len(cells), right=pairs, gold=gold, found=pairs)


def any_match(cells: Matrix, gold: int) -> CountTally:
    """A predicted sub-task is right if its row has a match, a gold one found if its column has."""
    rows = sum(any(row) for row in cells)
    columns = sum(any(column) for column in zip(*cells, strict=True))
    return CountTally(predicted=len(cells), right=rows, gold=gold, found=columns)


@dataclass(frozen=True, slots=True)
class MatrixCount:
    """A way to count a matrix, with the names of its metrics and a remark."""

    prefix: str
    title: str
    count: Callable[[Matrix, int], CountTally]
    meaning: str


ONE_TO_ONE = MatrixCount(
    "plan",
    "one-to-one",
    one_to_one,
    "*One-to-one* (the default): TP is the size of a maximum matching between predicted and gold sub-tasks along "
    "the cells that are relevant, FP the predicted and FN the gold sub-tasks outside it.",
)
ANY_MATCH = MatrixCount(
    "plan_any",
    "any-match",
    any_match,
    "*Any-match*: a predicted sub-task is right if any cell of its row is relevant, a gold one is found if any cell of "
    "its column is. Precision is the share of right rows, recall that of found columns; in the Jaccard index TP "
    "counts the found columns, FP the rows and FN the columns without a match.",
)


def _counts(reading: MatrixCount, cells: Matrix, gold: int) -> tuple[int, int]:
    result = reading.count(cells, gold)
    return result.right, result.found


MATRIX = MatrixSpec(
    rows=ResponsePart.PLAN,
    columns=Kind.PLAN,
    match=RELEVANT,
    none=NOT,
    readings={reading.title: partial(_counts, reading) for reading in (ONE_TO_ONE, ANY_MATCH)},
    about="One-to-one counts a maximum matching; any-match counts every row and column with a match. The paper leaves "
    "open which is meant, so both are given.",
)


def score(reading: MatrixCount, figure: CountFigure, scored: RatedResponse, over_valid: bool) -> Estimate:
    """A figure of the matrix in one reading; `n` counts the cells that were judged.

    `over_valid` leaves out the predicted sub-tasks of which a cell is missing, as if they had not been predicted; the
    value stays within what the whole matrix could give.
    """
    gold = len(scored.material.units(Kind.PLAN))
    method = f"{figure.formula}, {reading.title}"
    if not gold:
        return Estimate(None, method=method, note="the item has no gold plan")
    if ResponsePart.PLAN not in scored.material.parts:
        return Estimate(None, method=method, note="the plan of this response is not known")
    extracted, planned = scored.material.units(ResponsePart.PLAN), scored.material.units(Kind.PLAN)
    return _estimate(
        reading, figure, MATRIX.cells(extracted, planned, scored.values), gold, over_valid, method
    )


def _estimate(
    reading: MatrixCount, figure: CountFigure, cells: Matrix, gold: int, over_valid: bool, method: str
) -> Estimate:
    total = len(cells) * gold
    missing = sum(row.count(None) for row in cells)
    judged = tuple(row for row in cells if None not in row)
    usable = not missing or (over_valid and judged)
    value = figure.of(reading.count(judged, gold)) if usable else None
    over = f"{len(judged):,} of {len(cells):,} predicted sub-tasks"
    notes = missing_notes(missing, total, bool(usable), over=over)
    notes += [figure.undefined] * bool(usable and value is None)
    extremes = (_filled(cells, by=False), _filled(cells, by=True))
    could_be = [figure.of(reading.count(filled, gold)) for filled in extremes]
    known = [bound for bound in could_be if bound is not None]
    if value is not None and known:
        # A sub-task left out may well meet a gold one: no value that the whole matrix cannot give.
        value = min(max(value, min(known)), max(known))
    return estimate(value, could_be, n=total - missing, missing=missing, method=method, note="; ".join(notes))


def _filled(cells: Matrix, *, by: bool) -> Matrix:
    return tuple(tuple(by if cell is None else cell for cell in row) for row in cells)


_UNDEFINED = {
    PRECISION: "Undefined when the plan of the response is empty.",
    RECALL: "Defined whenever there is a gold plan: 0 for an empty plan.",
    F1: "Defined whenever there is a gold plan: 0 for an empty plan.",
    JACCARD: "Defined whenever there is a gold plan: 0 for an empty plan. The paper calls it accuracy.",
}


def _metric(reading: MatrixCount, figure: CountFigure) -> Metric:
    definition = (
        f"`{figure.formula}` over the sub-tasks of one plan (ADRA §3.1, appendix F). Each predicted sub-task is judged "
        f"relevant or not to each gold one. {reading.meaning} The paper leaves open whether matches are one-to-one. "
        f"{_UNDEFINED[figure]} Undefined without a gold plan, and while the "
        "plan of the response is not known."
    )
    title = f"Plan {figure.title} ({reading.title})"
    return Metric(
        f"{reading.prefix}.{figure.name}",
        title,
        definition,
        partial(score, reading, figure),
        parts=(ResponsePart.PLAN,),
    )


METRICS = tuple(
    _metric(reading, figure)
    for reading in (ONE_TO_ONE, ANY_MATCH)
    for figure in (PRECISION, RECALL, F1, JACCARD)
)


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
        return self.cells

    @classmethod
    def from_text(cls, text: str) -> Self:
        result = values_by_name(text, r"g\d+", RELEVANT, NOT)
        return cls.model_validate(
            {"cells": [{"id": name, "reason": why, "verdict": verdict} for name, verdict, why in result]}
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
    from annotator.stats.matching.matching import THRESHOLD, bare, likeness_among

    predicted, gold = case.given[PREDICTED], [unit.text for unit in case.units]
    alike = likeness_among((predicted,), gold)
    result = {}
    for unit in case.units:
        if not (bare(predicted) and bare(unit.text)):
            cause = "baseline: there are no words to compare"
            result[unit.id] = Verdict(value=None, status=Status.UNCLEAR, cause=cause)
            continue
        likeness = alike(predicted, unit.text)
        value, sign = (RELEVANT, "≥") if likeness >= THRESHOLD else (NOT, "<")
        result[unit.id] = Verdict(
            value=value, rationale=f"baseline: likeness {likeness:.2f} {sign} {THRESHOLD:.2f}"
        )
    return result


PLAN = Protocol(
    name=NAME,
    title="Plan against the gold plan",
    citation="ADRA, §3.1, §4.3 and appendix F",
    needs=(Kind.PLAN,),
    parts=(ResponsePart.PLAN,),
    metrics=METRICS,
    scale=nominal(
        Value(RELEVANT, "Relevant", "It does the work that the gold sub-task asks for", ValueLook.GOOD),
        Value(NOT, "Not relevant", "It does other work", ValueLook.NONE),
    ),
    presentation=Presentation(
        "Plans",
        "Does each predicted sub-task do the work of a gold one? (ADRA)",
        "cell",
        "cells",
        heading="Plan against gold plan",
        layout=CaseLayout.MATRIX,
        rest=NOT,
    ),
    cases=cases,
    judge=judge,
    baseline=baseline,
    prompts=PROMPTS,
    matrix=MATRIX,
    departures=DEPARTURES,
)
