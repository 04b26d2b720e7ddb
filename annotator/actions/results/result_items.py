"""Scores of each system item by item."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import metrics, response_scores, result_pictures, scoring
from annotator.actions.results.metrics import USUAL_METRIC, MetricInfo
from annotator.actions.results.response_scores import ItemName, Scores
from annotator.actions.results.result_raters import COMPUTED, ResultRater
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
from annotator.domain.judges.protocol import Over
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS


@dataclass(frozen=True, slots=True)
class ItemScoresReport:
    """Mean scores of each system's runs by item, in the project's order of items."""

    metric: MetricInfo
    rater: ResultRater | None
    items: Mapping[str, ItemName]
    systems: Mapping[str, str]
    scores: Mapping[str, Mapping[str, Estimate]]
    responses: Mapping[tuple[str, str], str]
    """The first response of each item and system."""
    mode: str = ""


def report(
    project: Project, metric: str = USUAL_METRIC, judge: str = "", mode: str = "", among: str = ""
) -> ItemScoresReport:
    """Every system's score on every item, by default in the mode that counts in the results."""
    return _report(response_scores.of_metric(project, metric, judge, among), mode)


def _report(found: Scores, mode: str) -> ItemScoresReport:
    by_system = response_scores.by_item(found.of_mode(mode))
    scores = {
        item_id: {
            system_id: response_scores.mean_of_runs(by_system[system_id][item_id])
            for system_id in found.systems
            if item_id in by_system.get(system_id, {})
        }
        for item_id in found.items
    }
    answering = {system_id: name for system_id, name in found.systems.items() if system_id in by_system}
    first = {
        (item_id, system_id): runs[0].response_id
        for system_id, of in by_system.items()
        for item_id, runs in of.items()
    }
    return ItemScoresReport(found.metric, found.rater, found.items, answering, scores, first, mode)


def sheets(found: ItemScoresReport) -> tuple[ResultSheet, ...]:
    """Items down, systems across, and how far apart the systems are on each."""
    if not found.systems:
        return ()
    info = found.metric
    heads = columns(
        ITEM_COLUMN, QUESTION_COLUMN, ("type", "Type"),
        *((key_of("system", name), name) for name in found.systems.values()),
        ("mean", "Mean", "Over the systems"), ("gap", "Gap", "Best system minus worst system on this item"),
    )  # fmt: skip
    lines = [_line(found, item_id) for item_id, row in found.scores.items() if row]
    judge = f", judged by {found.rater.name}" if found.rater and info.judged else ""
    told = (f"{info.title}{judge}: item by item, several runs of a system averaged.",)
    return (ResultSheet("items", "Item by item", heads, tuple(lines), told, (_picture(found),)),)


def _line(found: ItemScoresReport, item_id: str) -> SheetLine:
    name, row = found.items[item_id], found.scores[item_id]
    known = [own.value for own in row.values() if own.value is not None]
    cells = (
        text(name.key), text(name.question, tip=name.question), text(name.question_type),
        *(_cell(found, item_id, system_id) for system_id in found.systems),
        count(sum(known) / len(known) if known else None, form=".3f"),
        count(max(known) - min(known) if len(known) > 1 else None, form=".3f"),
    )  # fmt: skip
    return SheetLine(cells, item_id=item_id, source=_source(found, item_id))


def _cell(found: ItemScoresReport, item_id: str, system_id: str) -> SheetCell:
    own = found.scores[item_id].get(system_id)
    if own is None:
        return missing("No response")
    return replace(figure(own), source=_source(found, item_id, system_id), metric=found.metric.name)


def _source(found: ItemScoresReport, item_id: str, system_id: str = "") -> FigureSource | None:
    if found.rater is None or found.rater.id == COMPUTED:
        return None
    return FigureSource(
        found.metric.protocol, found.rater.id, found.metric.name, system_id, item_id=item_id, mode=found.mode
    )


def _picture(found: ItemScoresReport) -> SheetPicture:
    info, systems = found.metric, list(found.systems.values())
    keys = [found.items[item_id].key for item_id, row in found.scores.items() if row]
    values = {
        (found.items[item_id].key, found.systems[system_id]): own.value
        for item_id, row in found.scores.items()
        for system_id, own in row.items()
    }
    title = f"{info.title}, item by item"
    return SheetPicture(
        "map", f"{title} (heat map)", partial(result_pictures.heat, title, keys, systems, values, info)
    )


def behind(project: Project, source: FigureSource) -> ResultSheet:
    """The reports that a figure is made of, each with its score and its gaps; lines lead to the judgements.

    A figure of many reports together has no score of a single one.
    """
    people.refuse_others(project, "can read the judgements behind a figure")
    info = metrics.named(source.metric)
    names, systems = response_scores.items_named(project), response_scores.systems_named(project)
    shape = PROTOCOLS[source.protocol]
    alone = info.over is Over.RESPONSE
    found = [
        score
        for one in scoring.heard(project, shape, source.rater_id, mode=source.mode)
        for score in (scoring.scores_of(shape, one) if alone else [scoring.counted(shape, one)])
        if score.metric in ("", source.metric)
        and _is_of(score, source, names)
        and source.system_id in ("", score.system_id)
    ]
    heads = columns(
        ITEM_COLUMN, QUESTION_COLUMN, SYSTEM_COLUMN, RUN_COLUMN, *([(key_of(info.name), info.title)] if alone else []),
        ("judged", "Judged", "Judgements with a verdict"), ("missing", "Missing", "Missing judgements"),
        ("range", "Range", "Range in which the score lies, whatever the missing judgements say"),
    )  # fmt: skip
    lines = []
    for score in found:
        name, own = names[score.item_id], score.estimate
        cells = (
            text(name.key), text(name.question, tip=name.question), text(systems[score.system_id]), count(score.trial),
            *([figure(own, info.unit)] if alone else []), count(score.judged), count(own.missing), _range(own),
        )  # fmt: skip
        lines.append(
            SheetLine(cells, score.item_id, response_id=score.response_id, source=_of(score, source))
        )
    defined = sum(score.estimate.value is not None for score in found)
    gaps = sum(score.estimate.missing for score in found)
    missing = f"{counted(gaps, 'judgement')} {'is' if gaps == 1 else 'are'} missing"
    scored = f"{defined:,} of {len(found):,} reports have a score" if alone else f"A figure {info.ranging}"
    return ResultSheet("reports", "Items", heads, tuple(lines), (f"{scored}; {missing}.",))


def _is_of(score: scoring.Score, source: FigureSource, names: Mapping[str, ItemName]) -> bool:
    """Whether a score is one of a group; tables also group by what results do not, such as the language."""
    if source.group_by in scoring.GROUPINGS:
        return (source.group_by, source.group) in score.groups
    return (scoring.ALL, scoring.ALL) in score.groups and names[score.item_id].filed(
        source.group_by
    ) == source.group


def _of(score: scoring.Score, source: FigureSource) -> FigureSource | None:
    if source.rater_id == COMPUTED:
        return None
    return replace(source, item_id=score.item_id, response_id=score.response_id, system_id=score.system_id)


def _range(own: Estimate) -> SheetCell:
    if not own.missing or own.floor is None or own.ceiling is None:
        return SheetCell("")
    return SheetCell(f"{own.floor:.3f} – {own.ceiling:.3f}", own.ceiling - own.floor, in_words(own))
