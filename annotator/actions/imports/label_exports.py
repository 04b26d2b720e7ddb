"""Export of labels: as a table, or in a benchmark's own layout."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import FromClause, Row, false, select
from sqlalchemy.engine import Connection

from annotator import files
from annotator.actions.imports.label_matching import AskedUnit, asked_units
from annotator.actions.items import materials
from annotator.actions.judges import judges, kept_keys
from annotator.actions.labelling.label_origins import Origins
from annotator.actions.labelling.label_rows import (
    IMPORTED,
    SAID,
    UNSURE,
    come_to,
    counted_rows,
    is_given,
    is_waiting,
    sealed_by,
    submits,
    to_give_again,
    to_submit,
)
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.exchange import folders
from annotator.exchange.formats import label_files, layouts
from annotator.exchange.formats.layout import GivenLabel, LabelLayout, Labelled, LabelledReport, LabelledUnit
from annotator.exchange.release.records import ItemRecord
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import ITEM, JUDGEMENT, PERSON, RESPONSE, SYSTEM

CSV, JSON = "csv", "json"
TABLES = {CSV: "CSV (*.csv)", JSON: "JSON (*.json)"}
OPEN, SUBMITTED_STATE, GIVEN = "open", "submitted", "given"


@dataclass(frozen=True, slots=True)
class LabelSelection:
    """Labels to export: by protocols, people (ids or aliases) and systems; empty means all.

    With `everything` also those that their rater has yet to submit. `judge` adds that judge's verdicts to a
    benchmark's own layout, for its meta-evaluation holds one against the other.
    """

    protocols: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    everything: bool = False
    judge: str = ""


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export: labels, people, and what was left out."""

    path: Path
    files: int
    labels: int
    raters: tuple[str, ...]
    notes: tuple[str, ...] = ()


class Leaving(NamedTuple):
    """An exported label with its unit (None when it is gone), its state, and the file it came from."""

    row: Row[Any]
    unit: AskedUnit | None
    state: str
    origin: str = ""


@dataclass(slots=True)
class _Chosen:
    """The labels to export, item by item."""

    labels: list[Leaving] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def notes(self) -> list[str]:
        """What was left out, and what could not be told."""
        found = [f"{counted(number, 'label')} left out: {reason}" for reason, number in self.left_out.items()]
        lost = sum(label.unit is None for label in self.labels)
        return found + ([f"{counted(lost, 'label')} of units that are no longer asked about"] if lost else [])


def offered() -> dict[str, str]:
    """What labels can be written as, by name, in words to choose by."""
    return TABLES | {
        name: f"{title}'s layout, a folder (*)" for name, (title, _) in layouts.of_labels().items()
    }


def known_files() -> str:
    return " or ".join(f"{title}'s files ({one.example} …)" for title, one in layouts.of_labels().values())


def export(project: Project, to: Path, form: str = "", choice: LabelSelection = LabelSelection()) -> Exported:
    """Write labels to a file (.csv, .json) or, in a benchmark's own layout, to a folder; whole or not at all.

    Only labels that are submitted, or came in by a file, unless everything is asked for. People leave by alias.
    """
    people.refuse_others(project, "can export other people's labels")
    own = layouts.of_labels()
    form = form or {".csv": CSV, ".json": JSON}.get(to.suffix.lower(), "") or next(iter(own))
    if form not in offered():
        raise Refusal(f"“{form}” is not a format for labels.", f"Choose one of {', '.join(offered())}.")
    if choice.judge and form in TABLES:
        raise Refusal(
            "A table of labels cannot contain a judge.", f"Omit the judge, or  choose {' or '.join(own)}."
        )
    if form not in TABLES:
        choice = _held_by(*own[form], choice)
    chosen = _chosen(project, choice)
    if not chosen.labels:
        why = "; ".join(chosen.notes()) or "nobody has labelled any of this"
        raise Refusal(f"There are no labels to export: {why}.", "Include unsubmitted labels, or label first.")
    raters = tuple(sorted({label.row.alias for label in chosen.labels}))
    if form not in TABLES:
        parts, notes = own[form][1].write(_labelled(project, own[form][1], chosen.labels, choice.judge))
        kept_keys.refuse_in_files(project, parts)
        folders.write(to, folders.with_sums(parts))
        return Exported(to, len(parts), len(chosen.labels), raters, (*chosen.notes(), *notes))
    rows = (_row(label) for label in chosen.labels)
    content = b"".join(label_files.as_csv(rows)) if form == CSV else label_files.as_json(rows)
    kept_keys.refuse_in_files(project, {to.name: content})
    files.save(to, content)
    return Exported(to, 1, len(chosen.labels), raters, tuple(chosen.notes()))


def _held_by(title: str, layout: LabelLayout, choice: LabelSelection) -> LabelSelection:
    if set(choice.protocols) - {layout.protocol}:
        raise Refusal(
            f"{title}'s layout holds {layout.protocol} alone.",
            f"Choose {' or '.join(TABLES)} for the others.",
        )
    return replace(choice, protocols=(layout.protocol,))


def _labelled(project: Project, layout: LabelLayout, labels: Iterable[Leaving], judge: str) -> Labelled:
    """The labels as a layout is given them: with every item in use, and every report that can be labelled."""
    listed = select(ITEM).where(ITEM.c.retired.is_(False)).order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)
    reports = select(RESPONSE, SYSTEM.c.name).join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
    with project.store.read() as db:
        items = {
            row.id: ItemRecord(id=row.id, key=row.key, dataset=row.dataset, question=row.question)
            for row in db.execute(listed)
        }
        rows = {row.id: row for row in db.execute(reports)}
    asked = {
        response_id: LabelledReport(
            items[rows[response_id].item_id],
            rows[response_id].name,
            rows[response_id].trial,
            rows[response_id].mode,
            [LabelledUnit(unit.id, unit.words, unit.weight) for unit in units],
        )
        for response_id, units in asked_units(project, PROTOCOLS[layout.protocol], list(items))
    }
    people_say = [
        GivenLabel(
            row.response_id,
            row.unit_id,
            row.alias,
            row.rater_id,
            None if row.status == Status.UNCLEAR.value else row.value,
        )
        for row, *_ in labels
    ]
    return Labelled(
        list(items.values()), asked, people_say, list(_judged(project, layout, judge)) if judge else ()
    )


def _judged(project: Project, layout: LabelLayout, name: str) -> Iterator[GivenLabel]:
    """What a judge says under the layout's protocol; of several trials what they come to."""
    judge, j = judges.named(project, name), JUDGEMENT.c
    question = select(j.response_id, j.unit_id, j.value, j.rationale, j.status).where(
        j.protocol == layout.protocol, j.rater_id == judge.id, j.value.is_not(None)
    )
    trials: dict[tuple[str, str], list[Any]] = defaultdict(list)
    with project.store.read() as db:
        for row in db.execute(question.order_by(j.trial)):
            trials[row.response_id, row.unit_id].append(row)
    for unit, rows in trials.items():
        value, row = come_to(PROTOCOLS[layout.protocol].scale, rows)
        if value is not None:
            yield GivenLabel(*unit, judge.name, judge.id, value, row.rationale)


def _chosen(project: Project, choice: LabelSelection) -> _Chosen:
    protocols = choice.protocols or tuple(name for name, shape in PROTOCOLS.items() if shape.values)
    if unknown := set(protocols) - set(PROTOCOLS):
        raise Refusal(f"There is no protocol “{min(unknown)}”.", f"Available: {', '.join(PROTOCOLS)}.")
    persons = [people.known(project, one).id for one in choice.people]
    found = _Chosen()
    ids = materials.item_ids(project)
    for protocol in protocols:
        with project.store.read() as db:
            every = rows = _rows(db, protocol, persons, choice.systems, JUDGEMENT)
            if not choice.everything:
                rows = _rows(db, protocol, persons, choice.systems, counted_rows())
            whose, origins = {row.rater_id for row in rows}, Origins(db)
            sealed = {person: sealed_by(db, person, protocol) for person in whose}
            gone = {one for person in whose for one in to_give_again(db, person, protocol)}
        open_ = {row.id for row in every} - {row.id for row in rows} - gone
        if open_:
            found.left_out["not yet submitted"] += len(open_)
        units = _units(project, protocol, ids, {row.response_id for row in rows}) if rows else {}
        for row in rows:
            state = OPEN if row.id in gone else _state(row, sealed, whole=choice.everything)
            if state == OPEN and not choice.everything:
                found.left_out["of another wording"] += 1
            else:
                unit, origin = units.get((row.response_id, row.unit_id)), origins.of(row.flags, row.at)
                found.labels.append(Leaving(row, unit, state, origin))
    order = {item_id: place for place, item_id in enumerate(ids)}
    found.labels.sort(key=lambda label: _place(order, label))
    return found


def _place(order: Mapping[str, int], label: Leaving) -> tuple[Any, ...]:
    row, number = label.row, label.unit.number if label.unit else 10**9
    report = (row.protocol, order[row.item_id], row.system, row.report_trial, row.mode, row.response_id)
    return (*report, number, row.unit_id, row.alias)


def _rows(
    db: Connection, protocol: str, persons: Sequence[str], systems: Sequence[str], source: FromClause
) -> Sequence[Any]:
    """What people said under a protocol of the items in use; of `source` all of it, or what counts."""
    known = dict(db.execute(select(SYSTEM.c.name, SYSTEM.c.id)).all())
    if unknown := [name for name in systems if name not in known]:
        raise Refusal(
            f"There is no system “{unknown[0]}” in this project.", f"Available: {', '.join(known)}."
        )
    j = source.c
    to_be = to_submit() if source is JUDGEMENT else false()
    told = (
        j.id, j.protocol, j.item_id, j.response_id, j.unit_id, j.rater_id, j.value, j.status, j.quote, j.note, j.flags,
        j.at, ITEM.c.key, ITEM.c.dataset, SYSTEM.c.name.label("system"), RESPONSE.c.trial.label("report_trial"),
        RESPONSE.c.mode, PERSON.c.alias, to_be.label("to_submit"),
    )  # fmt: skip
    question = (
        select(*told)
        .join(ITEM, ITEM.c.id == j.item_id)
        .join(RESPONSE, RESPONSE.c.id == j.response_id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .join(PERSON, PERSON.c.id == j.rater_id)
        .where(
            j.protocol == protocol, j.rater_kind == RaterKind.PERSON.value, j.trial == 1, j.status.in_(SAID),
            ITEM.c.retired.is_(False),
        )
    )  # fmt: skip
    if persons:
        question = question.where(j.rater_id.in_(persons))
    if systems:
        question = question.where(SYSTEM.c.name.in_(systems))
    return db.execute(question).all()


def _units(
    project: Project, protocol: str, ids: Sequence[str], responses: set[str]
) -> dict[tuple[str, str], AskedUnit]:
    found = asked_units(project, PROTOCOLS[protocol], ids)
    return {
        (response_id, unit.id): unit
        for response_id, units in found
        if response_id in responses
        for unit in units
    }


def _state(row: Row[Any], sealed: Mapping[str, set[str]], *, whole: bool) -> str:
    """How final a label is: submitted by its rater, come in by a file, given where nothing is submitted, or open."""
    if row.item_id in sealed[row.rater_id]:
        return SUBMITTED_STATE
    if is_given(row.flags):
        return IMPORTED
    if whole:
        return OPEN if row.to_submit or is_waiting(row.flags) else GIVEN
    # What counts of labels that are open again is what was submitted.
    return SUBMITTED_STATE if submits(row.protocol) else GIVEN


def _row(label: Leaving) -> dict[str, Any]:
    row, unit = label.row, label.unit
    return {
        "item": row.key, "item_id": row.item_id, "dataset": row.dataset, "system": row.system,
        "trial": row.report_trial, "mode": row.mode, "protocol": row.protocol, "unit_id": row.unit_id,
        "unit": unit.words if unit else "", "number": unit.number if unit else None, "rater": row.alias,
        "rater_id": row.rater_id, "value": UNSURE if row.status == Status.UNCLEAR.value else row.value,
        "quote": row.quote, "note": row.note, "weight": unit.weight if unit else None, "state": label.state,
        "origin": label.origin,
        "at": row.at.isoformat(timespec="seconds"),
    }  # fmt: skip
