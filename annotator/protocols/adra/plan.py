"""ADRA planning: each predicted sub-task compared with each gold one (§3.1, appendix F).

The matrix, its judge, and the two ways to count it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from annotator.domain.common import derived_id
from annotator.domain.judges.judge import Status, Verdict
from annotator.domain.judges.protocol import (
    Ask,
    Case,
    CaseLayout,
    Extracted,
    Extraction,
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
    extracting,
    nominal,
)
from annotator.domain.kinds.artifact import Anchor, Kind, Unit, cell_id
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.extract import ResponsePart
from annotator.domain.material.item import Response
from annotator.domain.texts.difference import find
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
from annotator.protocols.adra.reading import is_list_heading
from annotator.protocols.several import (
    QUOTE_MISSING,
    ModelReply,
    Word,
    by_letter,
    fields,
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


# The two readings. Both counts only grow if a cell turns from not to relevant: a matching stays one, and a row or a
# column that has a match keeps it. Every figure grows with them. So the missing cells, all not and all relevant, give
# the minimum and maximum of a score.


@lru_cache(maxsize=4096)
def one_to_one(cells: Matrix, gold: int) -> CountTally:
    """TP is the size of a maximum matching between the rows and the `gold` columns; a missing cell is no match."""
    from annotator.stats.matching.matching import maximum_matching

    pairs = maximum_matching([[bool(cell) for cell in row] for row in cells]) if cells else 0
    return CountTally(predicted=len(cells), right=pairs, gold=gold, found=pairs)


def any_match(cells: Matrix, gold: int) -> CountTally:
    """A predicted sub-task is right if its row has a match, a gold one is found if its column has."""
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

    `over_valid` leaves out the predicted sub-tasks with a missing cell, as if they had not been predicted; the value
    stays within the range of the whole matrix.
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
        # A sub-task left out may match a gold one: the value is clipped to the range of the whole matrix.
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
    """One predicted sub-task against the gold ones of a case, each of which has a short name in the call."""
    names = by_letter(case.units, "g")
    fields = {"question": case.item.question, "subtask": case.given[PREDICTED], "list": listed(names)}
    answer = await ask(PROMPTS[0], fields, Row, fenced=("question", "subtask"))
    return of_several(case, names, answer, _verdict)


def _verdict(cell: Cell, _case: Case, flags: tuple[str, ...]) -> Verdict:
    return Verdict(value=cell.verdict, rationale=cell.reason, flags=" ".join(flags))


# No network: the floor under every judge (not in the paper).


def baseline(case: Case) -> Verdicts:
    """Relevant if two sub-tasks are as similar as two wordings of one criterion; the same on every machine."""
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


# Plans extracted from reports, so that systems that show none can be scored on planning too (ADRA §3.1).

EXTRACTION_NAME = "adra.plan.draw"
LONGEST = 20_000


class Step(ModelReply):
    """One sub-task as a model drew it. The passage that shows it comes first."""

    passage: str = Field(description="Words of the report that show this sub-task, copied exactly")
    text: str = Field(description="The sub-task as one complete sentence of 8 to 20 words")


class DrawnPlan(ModelReply):
    """The sub-tasks that a report followed, in their order."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text, one line for each sub-task in its order and nothing else: words of the report that show "
        "it, copied exactly, then || between spaces, then the sub-task as one sentence."
    )
    subtasks: list[Step] = Field(description="The sub-tasks in their order; empty if the report shows none")

    @classmethod
    def from_text(cls, text: str) -> Self:
        return cls(subtasks=[Step(passage=passage, text=words) for passage, words in fields(text, 2)])


@extracting
async def extract(material: Material, ask: Ask) -> Extracted:
    """The plan that a model infers from a report, each sub-task anchored in the passage that shows it."""
    shown = {"question": material.item.question, "report": material.response.text}
    answer = await ask(EXTRACTION_NAME, shown, DrawnPlan, fenced=("question", "report"))
    result = [(" ".join(step.text.split()), step.passage) for step in answer.needed().subtasks]
    plan = _plan(material.response, ((text, passage) for text, passage in result if text))
    if not plan.units:
        return Extracted(None, Status.UNCLEAR, "the report shows no sub-tasks", answer.flags)
    unanchored = any(unit.anchor is None for unit in plan.units)
    return Extracted(plan, flags=(*answer.flags, QUOTE_MISSING) if unanchored else answer.flags)


def _plan(response: Response, steps: Iterable[tuple[str, str]]) -> Plan:
    """A plan of (sub-task, passage) whose ids are derived from the texts: the same texts are judged once."""
    seen: Counter[str] = Counter()
    units = []
    for text, passage in steps:
        text = text[:LONGEST]
        seen[text] += 1
        units.append(
            Subtask(
                id=derived_id(EXTRACTION_NAME, text, seen[text]), text=text, anchor=_anchor(response, passage)
            )
        )
    return Plan(units=tuple(units))


def _anchor(response: Response, passage: str) -> Anchor | None:
    """The anchor of a passage in the report; None if it is not there, or too long."""
    span = find(response.text, passage)
    if span is None or span[1] - span[0] > LONGEST:
        return None
    return Anchor.at(response.text, *span, response.id)


# No network: the headings of a report are the plan it followed (not in the paper).

FEWEST_HEADINGS = 3
BOLD = 7
_HEADING = re.compile(
    r"^ {0,3}(?P<level>#{1,6})[ \t]+(?P<text>\S.*)$|^(?:\*\*|__)(?P<bold>[^*_\n]+)(?:\*\*|__):?[ \t]*$",
    re.MULTILINE,
)
_NUMBER = re.compile(r"(?:(?P<number>\d+(?:\.\d+)*)[.):]?|[IVX]+[.)]|[A-Z][.)])\s+")
_MARKS = re.compile(r"[*_`]+|\s#+\s*$")


def headings_as_plan(material: Material) -> Extracted:
    """The headings of the highest level that has three or more, without those of a list of references."""
    headings = _headings(material.response.text)
    levels = Counter(level for level, _ in headings)
    fit = [level for level in sorted(levels) if levels[level] >= FEWEST_HEADINGS]
    steps = [text for level, text in headings if not fit or level == fit[0]]
    if not steps:
        return Extracted(None, Status.UNCLEAR, "baseline: the report has no headings")
    plan = _plan(material.response, ((text, text) for text in steps))
    return Extracted(plan.model_copy(update={"remark": "baseline: the headings of the report"}))


def _headings(report: str) -> list[tuple[tuple[int, int], str]]:
    """The headings of a report with their levels: marks, then depth of numbering; lines in bold are the lowest."""
    result = []
    for heading in _HEADING.finditer(report):
        bare = _MARKS.sub("", heading["text"] or heading["bold"]).strip()
        number = _NUMBER.match(bare)
        text = bare[number.end() if number else 0 :].rstrip(": ")
        depth = (number["number"] or "").count(".") if number else 0
        if text and not is_list_heading(text):
            result.append(((len(heading["level"] or "") or BOLD, depth), text))
    return result


EXTRACTION_DEPARTURES = (
    "The paper scores the plans that a system shows. Where a report alone is at hand, its plan is read from the "
    "headings and steps of the report; such a plan says what was done, not what was planned.",
)
EXTRACTION = Extraction(
    name=EXTRACTION_NAME,
    title="Plan of a report",
    citation="ADRA, §3.1 and §4.3",
    makes=ResponsePart.PLAN,
    prompts=(EXTRACTION_NAME,),
    extract=extract,
    baseline=headings_as_plan,
    departures=EXTRACTION_DEPARTURES,
)
