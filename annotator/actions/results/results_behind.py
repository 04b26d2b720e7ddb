"""Items and judgements behind a figure of the results."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sqlalchemy import select

from annotator.actions.items import materials
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import results, scoring
from annotator.actions.results.result_raters import COMPUTED, CONSENSUS, judgements
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
    QUESTION_COLUMN,
    RUN_COLUMN,
    SYSTEM_COLUMN,
    FigureSource,
    ResultSheet,
    SheetCell,
    SheetLine,
    SheetPicture,
    columns,
    count,
    figure,
    in_words,
    key_of,
    missing,
    text,
)
from annotator.actions.results.scoring import ALL, FACET, MODE, USUAL_METRIC
from annotator.domain.common import counted
from annotator.domain.judges.judge import Judgement, RaterKind
from annotator.domain.judges.protocol import Case, Over, Protocol
from annotator.domain.kinds.artifact import Unit
from annotator.domain.texts.estimate import Estimate
from annotator.exchange import pictures
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import JUDGE, SYSTEM


@dataclass(frozen=True, slots=True)
class JudgementBehind:
    """A judgement behind a figure, with its words; for a pair `unit` names the other system."""

    item_key: str
    question: str
    system: str
    unit: str
    weight: float
    judgement: Judgement
    rater: str = ""


@people.for_coordinators("can read the judgements behind a figure")
def of_source(project: Project, source: FigureSource) -> list[JudgementBehind]:
    """The judgements that a cell or a line is based on, each report's in the order of its units.

    Only a coordinator may read how others judged.
    """
    protocol = PROTOCOLS[source.protocol]
    with project.store.read() as db:
        systems = {row.id: row.name for row in db.execute(select(SYSTEM.c.id, SYSTEM.c.name))}
        judges = dict(db.execute(select(JUDGE.c.id, JUDGE.c.name)).all())
    names = judges | {person.id: person.alias for person in people.people(project)} | {CONSENSUS: CONSENSUS}
    result: list[JudgementBehind] = []
    ids = [source.item_id] if source.item_id else materials.item_ids(project)
    for at_hand in materials.each(project, materials.for_counting(protocol), ids):
        item = at_hand.item
        if source.group_by not in (ALL, MODE, FACET) and scoring.filed(item, source.group_by) != source.group:
            continue
        cases = dict(_cases(project, protocol, source, at_hand))
        places = {key: place for place, key in enumerate(cases)}
        unit_id = source.unit_id if not protocol.paired else ""
        rows = judgements(project, protocol, source.rater_id, item.id, unit_id)
        for row in sorted(
            [row for row in rows if _key(row) in cases],
            key=lambda row: (places[_key(row)], names.get(row["rater_id"], ""), row["trial"]),
        ):
            case, unit = cases[_key(row)]
            words = unit.text if case.other is None else systems[case.other.system_id]
            who, weight = names.get(row["rater_id"], row["rater_id"]), protocol.weight(unit)
            system = systems[case.response.system_id]
            result.append(
                JudgementBehind(item.key, item.question, system, words, weight, Judgement(**row), who)
            )
    return result


Key = tuple[str, str]


def _key(row: dict[str, Any]) -> Key:
    return row["response_id"], row["unit_id"]


def _cases(
    project: Project, protocol: Protocol, source: FigureSource, at_hand: materials.MaterialAtHand
) -> Iterator[tuple[Key, tuple[Case, Unit]]]:
    """The cases of an item that a source covers, each unit once, by response and unit."""
    modes = (source.group,) if source.group_by == MODE else scoring.counted_modes(project, source.mode)
    for material in at_hand.responses:
        response = material.response
        if response.mode not in modes and not source.response_id:
            continue
        for case in protocol.cases(material):
            for unit in case.units:
                if _is_meant(protocol, source, case, unit):
                    yield (response.id, unit.id), (case, unit)


def _is_meant(protocol: Protocol, source: FigureSource, case: Case, unit: Unit) -> bool:
    """Whether a unit belongs to the source; a pair belongs to both of its systems, in either order."""
    shown = [case.response] + ([case.other] if case.other is not None else [])
    turned = case.other is not None and {case.response.id, unit.id} == {source.response_id, source.unit_id}
    return (
        (source.group_by != FACET or protocol.facet(unit) == source.group)
        and (not source.system_id or source.system_id in {response.system_id for response in shown})
        and (not source.response_id or source.response_id in {response.id for response in shown})
        and (source.unit_id in ("", unit.id) or turned)
    )


def by_person(behind: JudgementBehind) -> bool:
    """Whether a person judged, so that there is no reply to read."""
    return behind.judgement.rater_kind == RaterKind.PERSON.value


def items(
    project: Project, metric: str = USUAL_METRIC, judge: str = "", mode: str = "", among: str = ""
) -> tuple[ResultSheet, ...]:
    """Every system's score on every item, its runs averaged, by default in the mode that counts in the results."""
    scores = results.of_metric(project, metric, judge, among)
    info, rater, by_system = scores.metric, scores.rater, results.by_item(scores.of_mode(mode))
    systems = {system_id: name for system_id, name in scores.systems.items() if system_id in by_system}
    if not systems:
        return ()
    judged = rater is not None and rater.id != COMPUTED
    behind_all = FigureSource(info.protocol, rater.id, info.name, mode=mode) if rater and judged else None
    lines: list[SheetLine] = []
    values: dict[tuple[str, str], float | None] = {}
    for item_id, name in scores.items.items():
        own = {
            system_id: results.item_means_of_runs(by_system[system_id][item_id])
            for system_id in systems
            if item_id in by_system[system_id]
        }
        if not own:
            continue
        source = behind_all and replace(behind_all, item_id=item_id)
        known = [estimate.value for estimate in own.values() if estimate.value is not None]
        cells = (
            text(name.key), text(name.question, tip=name.question), text(name.question_type),
            *(
                replace(figure(own[system]), source=source and replace(source, system_id=system), metric=info.name)
                if system in own else missing("No response")
                for system in systems
            ),
            count(sum(known) / len(known) if known else None, form=".3f"),
            count(max(known) - min(known) if len(known) > 1 else None, form=".3f"),
        )  # fmt: skip
        lines.append(SheetLine(cells, item_id=item_id, source=source))
        values |= {(name.key, systems[system_id]): estimate.value for system_id, estimate in own.items()}
    heads = columns(
        ITEM_COLUMN, QUESTION_COLUMN, ("type", "Type"), *((key_of("system", name), name) for name in systems.values()),
        ("mean", "Mean", "Over the systems"), ("gap", "Gap", "Best system minus worst system on this item"),
    )  # fmt: skip
    title, keys = f"{info.title}, item by item", [line.cells[0].words for line in lines]
    draw = partial(pictures.heat, title, keys, list(systems.values()), values, info.axis)
    by = f", judged by {rater.name}" if rater and info.judged else ""
    notes = (f"{info.title}{by}: item by item, several runs of a system averaged.",)
    picture = SheetPicture("map", f"{title} (heat map)", draw)
    return (ResultSheet("items", "Item by item", heads, tuple(lines), notes, (picture,), rater=rater),)


@people.for_coordinators("can read the judgements behind a figure")
def behind(project: Project, source: FigureSource) -> ResultSheet:
    """The reports behind a figure, each with its score and its gaps; lines lead to the judgements.

    A figure of many reports together has no score for a single one.
    """
    info = scoring.named(source.metric)
    names, systems = results.items_named(project), results.systems_named(project)
    protocol = PROTOCOLS[source.protocol]
    alone = info.over is Over.RESPONSE
    result = [
        score
        for response in scoring.judged_responses(project, protocol, source.rater_id, mode=source.mode)
        for score in (
            scoring.scores_of(protocol, response) if alone else [scoring.counted(protocol, response)]
        )
        if score.metric in ("", source.metric)
        and _is_of(score, source, names)
        and source.system_id in ("", score.system_id)
    ]
    heads = columns(
        ITEM_COLUMN, QUESTION_COLUMN, SYSTEM_COLUMN, RUN_COLUMN, *([(key_of(info.name), info.title)] if alone else []),
        ("judged", "Judged", "Judgements with a verdict"), ("missing", "Missing", "Missing judgements"),
        ("range", "Range", "Range in which the score lies, whatever the missing judgements say"),
    )  # fmt: skip
    lines = [
        SheetLine((
            text(name.key), text(name.question, tip=name.question), text(systems[score.system_id]), count(score.trial),
            *([figure(score.estimate, info.unit)] if alone else []), count(score.judged),
            count(score.estimate.missing), _range(score.estimate),
        ), score.item_id, response_id=score.response_id, source=_of(score, source))
        for score in result
        for name in [names[score.item_id]]
    ]  # fmt: skip
    defined = sum(score.estimate.value is not None for score in result)
    gaps = sum(score.estimate.missing for score in result)
    missing = f"{counted(gaps, 'judgement')} {'is' if gaps == 1 else 'are'} missing"
    scored = f"{defined:,} of {len(result):,} reports have a score" if alone else f"A figure {info.ranging}"
    return ResultSheet("reports", "Items", heads, tuple(lines), (f"{scored}; {missing}.",))


def _is_of(score: scoring.Score, source: FigureSource, names: Mapping[str, scoring.ItemRow]) -> bool:
    """Whether a score belongs to the source's group; tables have groupings that results lack, such as the language."""
    if source.group_by in scoring.GROUPINGS:
        return (source.group_by, source.group) in score.groups
    filed = scoring.filed(names[score.item_id], source.group_by)
    return (scoring.ALL, scoring.ALL) in score.groups and filed == source.group


def _of(score: scoring.Score, source: FigureSource) -> FigureSource | None:
    if source.rater_id == COMPUTED:
        return None
    return replace(source, item_id=score.item_id, response_id=score.response_id, system_id=score.system_id)


def _range(own: Estimate) -> SheetCell:
    if not own.missing or own.floor is None or own.ceiling is None:
        return SheetCell("")
    return SheetCell(f"{own.floor:.3f} – {own.ceiling:.3f}", own.ceiling - own.floor, in_words(own))
