"""Predicted plans against gold plans: the matrix of each report under both readings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from annotator.actions.items import materials
from annotator.actions.project.file import Project
from annotator.actions.results import response_scores, result_pictures, result_raters, scoring
from annotator.actions.results.result_raters import ResultRater
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
    RUN_COLUMN,
    SYSTEM_COLUMN,
    FigureSource,
    ResultSheet,
    SheetCell,
    SheetLine,
    SheetPicture,
    ViewChoice,
    columns,
    count,
    figure,
    key_of,
    text,
)
from annotator.domain.judges.matrix import Matrix, MatrixSpec
from annotator.domain.judges.protocol import Material, Protocol, RatedResponse
from annotator.domain.kinds.artifact import cell_id
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS
from annotator.stats.matching.matching import maximum_pairs

# The protocols whose verdicts make a matrix.
FILLED: dict[str, MatrixSpec] = {name: shape.matrix for name, shape in PROTOCOLS.items() if shape.matrix}
USUALLY = next(iter(FILLED))
STATES = {True: "agreed", False: "", None: "missing"}


@dataclass(frozen=True, slots=True)
class PlanMatch:
    """The plan of one response against the gold plan, as one rater filled the matrix; `scores` are by metric."""

    item_id: str
    item_key: str
    system: str
    trial: int
    response_id: str
    predicted: tuple[tuple[str, str], ...]
    gold: tuple[tuple[str, str], ...]
    cells: Matrix
    scores: Mapping[str, Estimate]
    by: str = ""
    protocol: str = USUALLY


@dataclass(frozen=True, slots=True)
class PlanMatricesReport:
    """The plans of all responses on items with a gold plan, in the project's order."""

    protocol: str
    rater: ResultRater | None
    met: tuple[PlanMatch, ...]
    unknown: int
    """Responses whose plan is not known."""


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """Whose judgements, and which report's matrix."""
    names, systems = response_scores.items_named(project), response_scores.systems_named(project)
    asked = ViewChoice("protocol", "Matrix", tuple((PROTOCOLS[name].title, name) for name in FILLED))
    found = [asked] if len(FILLED) > 1 else []
    for name, spec in FILLED.items():
        only_if = ("protocol", (name,)) if len(FILLED) > 1 else None
        judges = response_scores.rater_choice(project, name)
        single = tuple(value for value in judges.values if value[1] != result_raters.PEOPLE)
        there = tuple(
            (f"{names[one.item.id].key}, {systems[material.response.system_id]}", material.response.id)
            for one, material in _materials(project, PROTOCOLS[name], spec)
            if spec.rows in material.parts
        )
        found += [
            ViewChoice(judges.name, judges.words, single, only_if),
            ViewChoice("of", "Matrix of", there, only_if),
        ]
    return tuple(found)


def _materials(
    project: Project, shape: Protocol, spec: MatrixSpec
) -> Iterator[tuple[materials.MaterialAtHand, Material]]:
    mode = scoring.main_mode(project)
    wanted = materials.for_counting(shape)
    for at_hand in materials.each(project, wanted, materials.item_ids(project)):
        for material in at_hand.responses if at_hand.own.units(spec.columns) else ():
            if material.response.mode == mode:
                yield at_hand, material


def report(project: Project, judge: str = "", protocol: str = USUALLY) -> PlanMatricesReport:
    """Every response whose plan is known; a cell that nobody filled is missing, not irrelevant."""
    shape, spec = PROTOCOLS[protocol], FILLED[protocol]
    # Of people each one by themselves: two people fill two matrices.
    each = (one for one in result_raters.everybody(project, protocol) if one.id != result_raters.PEOPLE)
    rater = result_raters.chosen(each, judge)
    said: dict[str, dict[str, str]] = {}
    for response_id, _, unit_id, value in result_raters.spoken(project, shape, rater.id) if rater else ():
        said.setdefault(response_id, {})[unit_id] = value
    systems, found, unknown = response_scores.systems_named(project), [], 0
    for at_hand, material in _materials(project, shape, spec):
        response, values = material.response, said.get(material.response.id, {})
        if spec.rows not in material.parts:
            unknown += 1
            continue
        found.append(
            PlanMatch(
                at_hand.item.id,
                at_hand.item.key,
                systems[response.system_id],
                response.trial,
                response.id,
                tuple((unit.id, unit.text) for unit in material.units(spec.rows)),
                tuple((unit.id, unit.text) for unit in material.units(spec.columns)),
                spec.cells(material.units(spec.rows), material.units(spec.columns), values),
                {
                    metric.name: metric.score(RatedResponse(material, values), True)
                    for metric in shape.metrics
                },
                rater.id if rater else "",
                protocol,
            )
        )
    return PlanMatricesReport(protocol, rater, tuple(found), unknown)


def sheets(found: PlanMatricesReport, of: str = "") -> tuple[ResultSheet, ...]:
    """All reports by both readings, and the matrix of one of them."""
    if not found.met:
        return ()
    chosen = next((one for one in found.met if one.response_id == of), found.met[0])
    return (_readings(found), _matrix(chosen))


def _readings(found: PlanMatricesReport) -> ResultSheet:
    metrics, spec = PROTOCOLS[found.protocol].metrics, FILLED[found.protocol]
    heads = columns(
        ITEM_COLUMN, SYSTEM_COLUMN, RUN_COLUMN, ("predicted", "Predicted", "Sub-tasks of the report's plan"),
        ("gold", "Gold", "Sub-tasks of the gold plan"),
        *((key_of(metric.name), metric.title) for metric in metrics),
    )  # fmt: skip
    lines = [
        SheetLine(
            (
                text(one.item_key), text(one.system), count(one.trial), count(len(one.predicted)), count(len(one.gold)),
                *(replace(figure(one.scores[metric.name]), metric=metric.name) for metric in metrics),
            ),
            one.item_id, response_id=one.response_id, source=_source(one), picture=one.response_id,
        )
        for one in found.met
    ]  # fmt: skip
    judge = f"Judged by {found.rater.name}. " if found.rater else ""
    told = [f"{judge}{spec.about}"]
    if found.unknown:
        told.append(f"Without a known plan, not counted as zero: {counted(found.unknown, 'report')}.")
    return ResultSheet(
        "readings", "Both readings", heads, tuple(lines), tuple(told), tuple(map(_picture, found.met))
    )


def _source(one: PlanMatch) -> FigureSource:
    return FigureSource(one.protocol, one.by, item_id=one.item_id, response_id=one.response_id)


def _matrix(one: PlanMatch) -> ResultSheet:
    pairs = _matching(one)
    gold = [(f"G{place}", words) for place, (_, words) in enumerate(one.gold, start=1)]
    heads = columns(
        ("predicted", "Predicted sub-task"), *((place.lower(), place, words) for place, words in gold)
    )
    lines = []
    for i, (unit_id, words) in enumerate(one.predicted):
        cells = [_cell(one, i, j, (i, j) in pairs) for j in range(len(one.gold))]
        head = SheetCell(f"P{i + 1}  {words}", f"{i:04}", words, value=words)
        lines.append(SheetLine((head, *cells), one.item_id, unit_id, response_id=one.response_id))
    told = (
        f"Item {one.item_key}, {one.system}: predicted sub-tasks down, gold ones across; ◉ belongs to the matching.",
        "  ".join(f"{place} {words}" for place, words in gold),
    )
    return ResultSheet("matrix", "Matrix", heads, tuple(lines), told, (_picture(one),))


def _cell(one: PlanMatch, i: int, j: int, matched: bool) -> SheetCell:
    spec, held = FILLED[one.protocol], one.cells[i][j]
    words, state = {True: spec.match, False: spec.none, None: "missing"}[held], STATES[held]
    said = f"P{i + 1} and G{j + 1}: {words}{', matched' if matched else ''}\n{one.predicted[i][1]}\n{one.gold[j][1]}"
    shown = f"◉ {words}" if matched else f"● {words}" if held else words
    unit = cell_id(one.predicted[i][0], one.gold[j][0])
    source = replace(_source(one), unit_id=unit)
    return SheetCell(shown, words, said, state, source, value=words)


def _matching(one: PlanMatch) -> list[tuple[int, int]]:
    return maximum_pairs([[bool(cell) for cell in row] for row in one.cells]) if one.cells else []


def _picture(one: PlanMatch) -> SheetPicture:
    title = f"{one.item_key}, {one.system}: full relevant, ringed matched, ? missing"
    rows = [f"P{n} {words}" for n, (_, words) in enumerate(one.predicted, start=1)]
    heads = [f"G{n} {words}" for n, (_, words) in enumerate(one.gold, start=1)]
    return SheetPicture(
        one.response_id, title, partial(result_pictures.matrix, title, rows, heads, one.cells, _matching(one))
    )
