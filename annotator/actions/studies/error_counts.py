"""Errors in reports and origins of covered content, of a drawn sample: mean counts per response, by question type."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from sqlalchemy import select

from annotator.actions.labelling import label_sealing
from annotator.actions.labelling.label_rows import counted_rows
from annotator.actions.project import people
from annotator.actions.project.file import Project, change_setting
from annotator.actions.results import result_raters, results, scoring
from annotator.actions.results.result_sheets import (
    ResultSheet,
    SheetLine,
    SheetPicture,
    ViewChoice,
    columns,
    count,
    figure,
    key_of,
    picture,
    text,
)
from annotator.domain.judges.judge import InformedKind, RaterKind, Review, Status
from annotator.domain.judges.paper import SUBTOTAL, LabelledResponse, Taxonomy, due, mean_counts
from annotator.domain.texts.canonical import Change
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.refusal import Refusal
from annotator.domain.texts.words import counted, nested
from annotator.exchange import pictures
from annotator.protocols import PROTOCOLS, TAXONOMIES
from annotator.storage.tables import INFORMED, RESPONSE

# A response and who read it.
Reading = tuple[str, str]
NONE, EVERY = "(no type)", "All systems"
LOOKED_AT, JUDGED = "", "judged"


@dataclass(frozen=True, slots=True)
class TaxonomyCounts:
    """A taxonomy's mean label counts per response by question type, who judged, and which responses were taken."""

    taxonomy: Taxonomy
    rater: result_raters.ResultRater | None
    means: Mapping[str, Mapping[str, Estimate]]
    taken: str


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """Whose verdicts say what is to be labelled, of which system, and of which responses."""
    systems = results.systems_named(project).values()
    return (
        results.rater_choice(project),
        ViewChoice("system", "System", ((EVERY, ""), *((name, name) for name in systems))),
        ViewChoice("of", "Responses", (("Looked at", LOOKED_AT), ("All judged", JUDGED))),
        *results.cut_choices(project),
    )


@people.for_coordinators("can draw the responses whose errors are looked at")
def draw(project: Project, per_system: int, seed: int = 1, systems: Sequence[str] = ()) -> Change:
    """Draw so many responses of each system at random, to look again at their verdicts; in place of an earlier draw.

    Of each system those of the mode that counts in the results; the same seed draws the same.
    """
    there = results.systems_named(project)
    if unknown := set(systems) - set(there.values()):
        raise Refusal(f"There is no system “{min(unknown)}”.", f"There are: {', '.join(there.values())}.")
    if per_system < 1:
        raise Refusal("At least one response of each system must be drawn.", "Nothing was drawn.")
    items, r = results.items_named(project), RESPONSE.c
    question = select(r.id, r.item_id, r.system_id).where(r.mode == scoring.main_mode(project), r.trial == 1)
    result: dict[str, list[tuple[str, str]]] = {}
    for row in project.query(question):
        if row.item_id in items and (not systems or there[row.system_id] in systems):
            result.setdefault(there[row.system_id], []).append((items[row.item_id].key, row.id))
    chance = Random(seed)
    sample = [
        one
        for name in sorted(result)
        for one in chance.sample(sorted(result[name]), min(per_system, len(result[name])))
    ]
    after = {"seed": seed, "per_system": per_system, "responses": [response_id for _, response_id in sample]}
    before = project.get(label_sealing.SAMPLE)
    return change_setting(project, label_sealing.SAMPLE, "draw responses", before, after)


def report(
    project: Project, judge: str = "", system: str = "", of: str = LOOKED_AT, mode: str = "", among: str = ""
) -> tuple[TaxonomyCounts, ...]:
    """Every taxonomy over the responses that people looked at, labels by the person who gave them last.

    Of a judge's verdicts these are the drawn responses, or without a draw those of which anything was given a kind; of
    people's the responses they labelled. Where nobody looked, or with `of`, all that were judged. By default the mode
    that counts in the results; a response without any error counts with none.
    """
    kinds = dict(_responses(project, system, mode, among))
    return tuple(
        _counted(project, taxonomy, judge, kinds, of)
        for taxonomy in TAXONOMIES.values()
        if not taxonomy.beside
    )


def _counted(
    project: Project, taxonomy: Taxonomy, judge: str, kinds: Mapping[str, str], of: str
) -> TaxonomyCounts:
    there = [one for one in result_raters.everybody(project, taxonomy.of) if one.id != result_raters.COMPUTED]
    rater = result_raters.chosen(there, judge)
    verdicts = nested(
        ((response_id, who), unit_id, value)
        for response_id, who, unit_id, value in (
            result_raters.spoken(project, PROTOCOLS[taxonomy.of], rater.id) if rater else ()
        )
    )
    labels = _labels(project, taxonomy)
    taken, seen = _taken(project, rater, {response_id for response_id, _ in labels.get("", ())}, of)
    rejected = _rejected(project, taxonomy, rater)
    looked = []
    for (response_id, who), values in sorted(verdicts.items()):
        if response_id not in kinds or (seen and response_id not in seen):
            continue
        # A person's label is of their own verdict; a judge's verdict takes whatever label people gave the unit.
        own = labels.get(who) if rater is not None and result_raters.are_people(rater.id) else labels.get("")
        given = {
            unit: (own or {}).get((response_id, unit))
            for unit in due(taxonomy, values)
            if (response_id, unit) not in rejected
        }
        looked.append(LabelledResponse(response_id, kinds[response_id] or NONE, given))
    return TaxonomyCounts(taxonomy, rater, mean_counts(looked, taxonomy), taken)


def _rejected(
    project: Project, taxonomy: Taxonomy, rater: result_raters.ResultRater | None
) -> set[tuple[str, str]]:
    i = INFORMED.c
    question = select(i.response_id, i.unit_id).where(
        i.protocol == taxonomy.of, i.judge_id == (rater.id if rater else ""), i.kind == InformedKind.REVIEW.value,
        i.said == Review.DISAGREE.value, i.judge_value.in_(taxonomy.after),
    )  # fmt: skip
    return {(response_id, unit_id) for response_id, unit_id in project.query(question)}


def _taken(
    project: Project, rater: result_raters.ResultRater | None, labelled: Collection[str], of: str
) -> tuple[str, Collection[str]]:
    """Which responses are taken, in words, and their ids; none for all that were judged."""
    if of == JUDGED:
        return "all judged responses", ()
    if rater is not None and result_raters.are_people(rater.id):
        return "the responses that people labelled", ()
    if sample := label_sealing.sample(project):
        return (
            f"a draw of {sample.per_system} responses of each system (seed {sample.seed})",
            sample.responses,
        )
    if labelled:
        return (
            "the responses of which a verdict was given a kind; none without errors is among them",
            labelled,
        )
    return "all judged responses, as nobody has looked at any yet", ()


def _responses(project: Project, system: str, mode: str, among: str) -> list[tuple[str, str]]:
    items = results.items_named(project, among)
    names = results.systems_named(project)
    r = RESPONSE.c
    question = select(r.id, r.item_id, r.system_id).where(r.mode == (mode or scoring.main_mode(project)))
    rows = project.query(question).all()
    return [
        (row.id, items[row.item_id].question_type)
        for row in rows
        if row.item_id in items and system in ("", names[row.system_id])
    ]


def _labels(project: Project, taxonomy: Taxonomy) -> dict[str, dict[tuple[str, str], str]]:
    """What each person called each unit; under the empty name and that of the consensus, what was said last of it."""
    j = counted_rows().c
    question = select(j.rater_id, j.response_id, j.unit_id, j.value).where(
        j.protocol == taxonomy.name, j.rater_kind == RaterKind.PERSON.value, j.status == Status.OK.value
    )
    with project.store.read() as db:
        return nested(
            (who, (response_id, unit_id), value)
            for rater, response_id, unit_id, value in db.execute(question.order_by(j.at, j.id))
            for who in (rater, "", result_raters.CONSENSUS)
        )


def sheets(countses: tuple[TaxonomyCounts, ...]) -> tuple[ResultSheet, ...]:
    """A sheet for each taxonomy of which anything was judged: question types down, labels across."""
    return tuple(_sheet(counts) for counts in countses if counts.means)


def _sheet(counts: TaxonomyCounts) -> ResultSheet:
    labels = [*counts.taxonomy.values, *([SUBTOTAL] if counts.taxonomy.whole else [])]
    heads = columns(
        ("question_type", "Question type"),
        ("responses", "Responses", "Looked at, with or without errors; of people, once for each who labelled"),
        *((key_of(label), _words(label)) for label in labels),
        *([("without_a_label", "Without a label", "Units whose verdict needs a label that nobody "
        "gave")] if counts.taxonomy.whole else []),
    )  # fmt: skip
    lines = [
        SheetLine((
            text(kind), count(first.n), *(figure(means[label]) for label in labels),
            *([count(first.missing)] if counts.taxonomy.whole else []),
        ))
        for kind, means in counts.means.items()
        for first in [next(iter(means.values()))]
    ]  # fmt: skip
    judge = counts.rater.name if counts.rater else ""
    printed = f" ({counts.taxonomy.printed})" if counts.taxonomy.printed else ""
    notes = [
        f"Mean number per response{printed}; judged by {judge}, labelled by people. Counted: {counts.taken}."
    ]
    if missing := sum(next(iter(means.values())).missing for means in counts.means.values()):
        notes.append(
            f"{counted(missing, 'unit waits', 'units wait')} for a label; until then a label's mean has only a range, "
            "and the subtotal stands."
        )
    return ResultSheet(
        key_of(counts.taxonomy.name),
        counts.taxonomy.title,
        heads,
        tuple(lines),
        tuple(notes),
        (_picture(counts, labels),)
        if any(own.value for means in counts.means.values() for own in means.values())
        else (),
        counts.taxonomy.departures,
    )


def _words(label: str) -> str:
    return label.replace("_", " ").capitalize()


def _picture(counts: TaxonomyCounts, labels: list[str]) -> SheetPicture:
    kinds = list(counts.means)
    return picture(
        counts.taxonomy.name,
        f"{counts.taxonomy.title}: mean number per response",
        pictures.bars,
        kinds,
        {_words(label): [counts.means[kind][label].value for kind in kinds] for label in labels},
        "per response",
    )
