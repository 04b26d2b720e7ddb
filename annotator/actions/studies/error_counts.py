"""Errors in reports and origins of covered content: mean counts per response, by question type."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from sqlalchemy import select

from annotator.actions.project.file import Project
from annotator.actions.results import response_scores, result_pictures, result_raters, scoring
from annotator.actions.results.response_scores import RESPONSE
from annotator.actions.results.result_raters import ResultRater
from annotator.actions.results.result_sheets import (
    ResultSheet,
    SheetLine,
    SheetPicture,
    ViewChoice,
    columns,
    count,
    figure,
    key_of,
    text,
)
from annotator.actions.runs.journal import JUDGEMENT
from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.judges.taxonomy import SUBTOTAL, LabelledResponse, Taxonomy, due, mean_counts
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS, TAXONOMIES

# A response and who read it.
Reading = tuple[str, str]
NONE, EVERY = "(no type)", "All systems"


@dataclass(frozen=True, slots=True)
class TaxonomyCounts:
    """A taxonomy's mean label counts per response by question type, and who judged and labelled."""

    taxonomy: Taxonomy
    rater: ResultRater | None
    means: Mapping[str, Mapping[str, Estimate]]


@dataclass(frozen=True, slots=True)
class ErrorCountsReport:
    """Errors of criteria and of claims, and origins of covered content."""

    counted: tuple[TaxonomyCounts, ...]
    system: str


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """Whose verdicts say what is to be labelled, and of which system."""
    systems = response_scores.systems_named(project).values()
    return (
        response_scores.rater_choice(project),
        ViewChoice("system", "System", ((EVERY, ""), *((name, name) for name in systems))),
    )


def report(project: Project, judge: str = "", system: str = "") -> ErrorCountsReport:
    """Every taxonomy over all responses that were judged, labels by the person who gave them last.

    The mode that counts in the results; a response without any error counts with none.
    """
    return ErrorCountsReport(
        tuple(_counted(project, one, judge, system) for one in TAXONOMIES.values()), system
    )


def _counted(project: Project, taxonomy: Taxonomy, judge: str, system: str) -> TaxonomyCounts:
    there = [one for one in result_raters.everybody(project, taxonomy.of) if one.id != result_raters.COMPUTED]
    rater = result_raters.chosen(there, judge)
    verdicts: dict[Reading, dict[str, str]] = {}
    for response_id, who, unit_id, value in (
        result_raters.spoken(project, PROTOCOLS[taxonomy.of], rater.id) if rater else ()
    ):
        verdicts.setdefault((response_id, who), {})[unit_id] = value
    kinds, labels = dict(_responses(project, system)), _labels(project, taxonomy)
    looked = []
    for (response_id, who), said in sorted(verdicts.items()):
        if response_id not in kinds:
            continue
        # A person's label is of their own verdict; a judge's verdict takes whatever label people gave the unit.
        own = labels.get(who) if rater is not None and result_raters.are_people(rater.id) else labels.get("")
        given = {unit: (own or {}).get((response_id, unit)) for unit in due(taxonomy, said)}
        looked.append(LabelledResponse(response_id, kinds[response_id] or NONE, given))
    return TaxonomyCounts(taxonomy, rater, mean_counts(looked, taxonomy))


def _responses(project: Project, system: str) -> list[tuple[str, str]]:
    items = response_scores.items_named(project)
    names = response_scores.systems_named(project)
    r = RESPONSE.c
    question = select(r.id, r.item_id, r.system_id).where(r.mode == scoring.main_mode(project))
    with project.store.read() as db:
        rows = db.execute(question).all()
    return [
        (row.id, items[row.item_id].question_type)
        for row in rows
        if row.item_id in items and system in ("", names[row.system_id])
    ]


def _labels(project: Project, taxonomy: Taxonomy) -> dict[str, dict[tuple[str, str], str]]:
    """What each person called each unit; under the empty name and that of the consensus, what was said last of it."""
    j = JUDGEMENT.c
    question = select(j.rater_id, j.response_id, j.unit_id, j.value).where(
        j.protocol == taxonomy.name, j.rater_kind == RaterKind.PERSON.value, j.status == Status.OK.value
    )
    found: dict[str, dict[tuple[str, str], str]] = {}
    with project.store.read() as db:
        for rater, response_id, unit_id, value in db.execute(question.order_by(j.at, j.id)):
            for who in (rater, "", result_raters.CONSENSUS):
                found.setdefault(who, {})[response_id, unit_id] = value
    return found


def sheets(found: ErrorCountsReport) -> tuple[ResultSheet, ...]:
    """A sheet for each taxonomy of which anything was judged: question types down, labels across."""
    return tuple(_sheet(one) for one in found.counted if one.means)


def _sheet(one: TaxonomyCounts) -> ResultSheet:
    labels = [*one.taxonomy.values, *([SUBTOTAL] if one.taxonomy.whole else [])]
    heads = columns(
        ("question_type", "Question type"),
        ("responses", "Responses", "Judged, with or without errors; of people, once for each who labelled"),
        *((key_of(label), _words(label)) for label in labels),
        *([("without_a_label", "Without a label", "Units whose verdict needs a label that nobody "
        "gave")] if one.taxonomy.whole else []),
    )  # fmt: skip
    lines = []
    for kind, means in one.means.items():
        first = next(iter(means.values()))
        gaps = [count(first.missing)] if one.taxonomy.whole else []
        cells = (text(kind), count(first.n), *(figure(means[label]) for label in labels), *gaps)
        lines.append(SheetLine(cells))
    judge = one.rater.name if one.rater else ""
    printed = f" ({one.taxonomy.printed})" if one.taxonomy.printed else ""
    told = [f"Mean number per response{printed}; judged by {judge}, labelled by people."]
    if missing := sum(next(iter(means.values())).missing for means in one.means.values()):
        told.append(
            f"{counted(missing, 'unit waits', 'units wait')} for a label; until then a label's mean has only a range, "
            "and the subtotal stands."
        )
    pictures = (_picture(one, labels),) if _is_drawn(one) else ()
    return ResultSheet(
        key_of(one.taxonomy.name),
        one.taxonomy.title,
        heads,
        tuple(lines),
        tuple(told),
        pictures,
        one.taxonomy.departures,
    )


def _words(label: str) -> str:
    return label.replace("_", " ").capitalize()


def _is_drawn(one: TaxonomyCounts) -> bool:
    return any(own.value for means in one.means.values() for own in means.values())


def _picture(one: TaxonomyCounts, labels: list[str]) -> SheetPicture:
    title = f"{one.taxonomy.title}: mean number per response"
    kinds = list(one.means)
    series = {_words(label): [one.means[kind][label].value for kind in kinds] for label in labels}
    return SheetPicture(
        one.taxonomy.name, title, partial(result_pictures.bars, title, kinds, series, "per response")
    )
