"""Labelling reports unit by unit, blind to the system and to other raters: the queue, its sheets, the labels."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache, partial
from itertools import groupby
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating
from annotator.actions.items import materials
from annotator.actions.labelling import label_cases, label_rows
from annotator.actions.labelling.label_rows import (
    ANSWERED as SAID,
    FLAGGED as FLAGGED,
    TAKEN_BACK,
    UNSURE as UNSURE,
    WAITS,
    finished,
    given_by,
    in_utc,
    is_given,
    is_sealed,
    is_waiting,
    labels_by,
    labels_of,
    lock,
    lock_given,
    mine,
    own_marks,
    pending,
    sealed_by,
    submitted,
    taken_back,
    tally,
    to_give_again,
    waiting_by,
    what_counts,
    worded_since,
)
from annotator.actions.project import people
from annotator.actions.project.file import Project, judgement_hash, record
from annotator.domain.common import Change, Refusal, new_id, now, required
from annotator.domain.judges.judge import Judgement, RaterKind, Status
from annotator.domain.judges.protocol import Case, Material, Protocol
from annotator.domain.kinds.artifact import Unit
from annotator.domain.kinds.documents import KINDS
from annotator.domain.material.item import Item
from annotator.protocols import PROTOCOLS, USUAL
from annotator.storage.connection import PreparedStatement
from annotator.storage.tables import AUDIT, ITEM, JUDGEMENT, RESPONSE

Fields = dict[str, Any]
# The key of the images of a change of several labels, by their ids.
SEVERAL = "several"


class LabelPlace(NamedTuple):
    """The subject of a label; for an error kind, `protocol` is the name of a taxonomy."""

    protocol: str
    response_id: str
    unit_id: str


# Built once: a label is saved hundreds of times an hour, and building a statement costs more than running it.
_BESIDE = {"sealed": submitted(), "worded": worded_since()}
_ONE = PreparedStatement(
    select(JUDGEMENT, *(column.label(name) for name, column in _BESIDE.items())).where(
        JUDGEMENT.c.protocol == bindparam("protocol"),
        JUDGEMENT.c.response_id == bindparam("response_id"),
        JUDGEMENT.c.unit_id == bindparam("unit_id"),
        JUDGEMENT.c.rater_kind == RaterKind.PERSON.value,
        JUDGEMENT.c.rater_id == bindparam("rater"),
        JUDGEMENT.c.trial == 1,
    )
)
_COUNTS = select(finished()).where(JUDGEMENT.c.id == bindparam("row"))
_NEW = PreparedStatement(insert(JUDGEMENT))
_CHANGED = PreparedStatement(update(JUDGEMENT).where(JUDGEMENT.c.id == bindparam("row")))
# The columns that say what a label is about: never updated, which leaves their indexes alone.
_SUBJECT = frozenset({"id", *LabelPlace._fields, "item_id", "rater_kind", "rater_id", "trial"})


def stored(
    db: Connection, place: LabelPlace, rater: str, *, by_file: bool = False
) -> tuple[Fields | None, bool]:
    """A person's row on a unit, or None, and whether it must be given again because the unit was reworded.

    Raises Refusal if it is submitted. A label imported as finished work is changed only by a file, unless its unit was
    reworded since.
    """
    row = _ONE.first(db, {**place._asdict(), "rater": rater})
    if row and row["sealed"]:
        raise lock()
    if row is None:
        return None, False
    reworded = not by_file and bool(
        row["worded"] and to_give_again(db, rater, place.protocol, JUDGEMENT.c.id == row["id"])
    )
    if not by_file and not reworded and is_given(row["flags"]):
        raise lock_given()
    result = {key: value for key, value in row.items() if key not in ("sha256", *_BESIDE)}
    # A label that does not count yet must not start to count because it is changed.
    unchanged = is_waiting(row["flags"]) or db.execute(_COUNTS, {"row": row["id"]}).scalar()
    return result | {"flags": row["flags"] if unchanged else f"{row['flags']} {WAITS}".strip()}, reworded


def write(db: Connection, judgement: Fields, *, new: bool) -> None:
    row = {**judgement, "sha256": judgement_hash(judgement)}
    if new:
        _NEW.execute(db, row)
    else:
        _CHANGED.execute(db, {"row": row["id"]} | {name: row[name] for name in row if name not in _SUBJECT})


def put(db: Connection, before: Fields | None, after: Fields | None) -> Fields | None:
    """Write a label, or remove it (None); return the remaining row, which awaits submission, or None."""
    row = pending(before, after)
    if row is not None:
        row = Judgement(**row).model_dump()
        write(db, row, new=before is None)
    elif before is not None:
        db.execute(delete(JUDGEMENT).where(JUDGEMENT.c.id == before["id"]))
    return row


def image(judgement: Fields | None) -> Fields:
    """A row as a JSON tree; empty for none."""
    return Judgement(**judgement).model_dump(mode="json") if judgement else {}


def restore(_project: Project, db: Connection, judgement_id: str, present: Any, goal: Any) -> None:
    """Restore the subject of a change from one image to another; raises Refusal if it has changed since."""
    if SEVERAL not in present:
        _restore_one(db, judgement_id, present, goal)
        return
    for one, current in present[SEVERAL].items():
        _restore_one(db, one, current, goal[SEVERAL][one])


def _restore_one(db: Connection, judgement_id: str, present: Any, goal: Any) -> None:
    result = db.execute(select(JUDGEMENT).where(JUDGEMENT.c.id == judgement_id)).mappings().first()
    row = {key: value for key, value in result.items() if key != "sha256"} if result else None
    if _unmarked(image(row)) != _unmarked(present):
        raise Refusal("This label was changed elsewhere since.", "Look at it again; nothing was undone.")
    about = goal or present
    if is_sealed(db, about["item_id"], about["rater_id"], about["protocol"]):
        raise lock()
    after = Judgement(**goal).model_dump() if goal else None
    if what_counts(present) == what_counts(goal):
        # A value submitted since keeps counting, whatever is restored.
        put(db, row, after)
    elif after is None:
        db.execute(delete(JUDGEMENT).where(JUDGEMENT.c.id == judgement_id))
    else:
        write(db, after, new=row is None)


def _unmarked(image: Fields) -> Fields:
    """An image without the flags of submission; empty for a removed label."""
    if not image or (image["status"] == Status.SKIPPED and image["cause"] == TAKEN_BACK):
        return {}
    return {**image, "flags": own_marks(image["flags"])}


ELSEWHERE = "given elsewhere"
# At most this many files are named if an import does not tell them apart.
NAMED = 3


def moments(at: datetime, files: Sequence[str]) -> dict[str, datetime]:
    """The times of the labels of each file of an import: a microsecond apart, to identify the file later."""
    return {name: at + timedelta(microseconds=place) for place, name in enumerate(files)}


class Origins:
    def __init__(self, db: Connection) -> None:
        imports = (AUDIT.c.kind == "import") & (AUDIT.c.verb == "import labels")
        rows = db.execute(select(AUDIT.c.at, AUDIT.c.after).where(imports).order_by(AUDIT.c.at)).all()
        self._ends = [in_utc(row.at) for row in rows]
        self._changes: list[Mapping[str, Any]] = [orjson.loads(row.after) for row in rows]

    def of(self, flags: str, at: datetime) -> str:
        """“given elsewhere, file NAME” for a label with these flags and this time; empty for one given here."""
        if not is_given(flags):
            return ""
        # An import is written to the audit right after its labels.
        place = bisect_left(self._ends, in_utc(at))
        files = _files(self._changes[place], in_utc(at)) if place < len(self._changes) else ""
        return f"{ELSEWHERE}, {files}" if files else ELSEWHERE


def _files(details: Mapping[str, Any], at: datetime) -> str:
    sources = details.get("sources", ())
    if sources:
        place = (at - in_utc(datetime.fromisoformat(details["at"]))) // timedelta(microseconds=1)
        if 0 <= place < len(sources):
            return f"file {sources[place]}"
    names = details.get("files", ())
    rest = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"{'file' if len(names) == 1 else 'files'} {', '.join(names[:NAMED])}{rest}" if names else ""


# A function from the previous row of a unit to its new fields.
Make = Callable[[Fields], Fields]


@dataclass(frozen=True, slots=True)
class UnitGroup:
    """Units that are asked about together, with their context and possible values.

    `why` is the reason if values of the protocol are left out.
    """

    units: tuple[Unit, ...]
    given: Mapping[str, str]
    values: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class LabelSheet:
    """One report, or two side by side, with everything a blind rater may see and their labels so far.

    `name` stands in for the system's name, assigned anew for each person and item. If `sealed`, this person's labels of
    the item are submitted and cannot be changed. `values` are all values of the protocol; a group may allow fewer.
    `other` is the report of a pair that is shown second. `outdated` are, by unit, the labels given before the unit was
    reworded: in `labels` they are withdrawn, or unchanged if submitted. `given` are, by unit, the labels imported as
    finished work, which cannot be changed either, each with the file it came from.
    """

    protocol: str
    response_id: str
    name: str
    item: Item
    report: str
    artifact_id: str
    groups: tuple[UnitGroup, ...]
    labels: dict[str, Judgement]
    values: tuple[str, ...]
    sealed: bool = False
    other_id: str = ""
    other_name: str = ""
    other: str = ""
    outdated: Mapping[str, Judgement] = field(default_factory=dict)
    given: Mapping[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return task_id(self.response_id, self.other_id)

    @property
    def units(self) -> tuple[Unit, ...]:
        return tuple(unit for group in self.groups for unit in group.units)

    def as_it_counts(self, label: Judgement) -> Judgement:
        """The label, withdrawn again if it was restored but given before its unit was reworded."""
        old = self.outdated.get(label.unit_id)
        return taken_back(label) if old and not self.sealed and label.at <= old.at else label


def sheet(project: Project, response_id: str, protocol: str = USUAL, other_id: str = "") -> LabelSheet:
    """All that is needed to label one report, or a pair; raises Refusal if there is nothing to label."""
    definition = label_cases.protocol_of(project, protocol)
    cases = label_cases.of_report(project, definition, response_id, materials.for_judging(definition))
    if definition.paired:
        cases = [case for case in cases if case.unit.id == other_id]
    if not cases:
        raise _nothing(definition)
    me, first = people.someone(project).id, cases[0]
    with project.store.read() as db:
        reports = label_cases.reports_for(db, me, [first.item.id], protocol)[first.item.id]
        result = {label.unit_id: label for label in labels_of(db, me, response_id, protocol)}
        submitted = is_sealed(db, first.item.id, me, protocol)
        own = JUDGEMENT.c.rater_id == me, JUDGEMENT.c.response_id == response_id
        late = label_rows.outdated(db, *own, JUDGEMENT.c.status.in_(SAID))
        given = (
            _given(db, result.values())
            if any(is_given(judgement.flags) for judgement in result.values())
            else {}
        )
    if response_id not in reports:
        raise _nothing(definition)
    outdated = {unit_id: label for unit_id, label in result.items() if label.id in late}
    if not submitted:
        result |= {unit_id: taken_back(label) for unit_id, label in outdated.items()}
    names = label_cases.dealt(reports, me)
    second = (
        {"other_id": other_id, "other_name": names[other_id], "other": first.other.text}
        if first.other
        else {}
    )
    return LabelSheet(
        protocol,
        response_id,
        names[response_id],
        first.item,
        label_cases.text_of(first),
        first.artifact_id,
        tuple(_grouped(definition, cases)),
        {unit.id: result[unit.id] for unit in _units(cases) if unit.id in result},
        definition.values,
        submitted,
        **second,
        outdated=outdated,
        given={unit_id: words for unit_id, words in given.items() if unit_id not in outdated},
    )


def _given(db: Connection, judgements: Iterable[Judgement]) -> dict[str, str]:
    """Unit → the file its label came from, for labels given elsewhere."""
    origins = Origins(db)
    return {
        judgement.unit_id: origins.of(judgement.flags, judgement.at)
        for judgement in judgements
        if is_given(judgement.flags)
    }


def _grouped(protocol: Protocol, cases: Sequence[Case]) -> list[UnitGroup]:
    """Cases with context of their own are a group each; units that need only the report are grouped together."""
    plain = [not case.given for case in cases]
    result = []
    for together, run in groupby(zip(plain, cases, strict=True), key=lambda one: one[0]):
        of_run = [case for _, case in run]
        for some in [of_run] if together else [[case] for case in of_run]:
            values = label_cases.values_of(protocol, some[0])
            result.append(UnitGroup(tuple(_units(some)), some[0].given, values, some[0].why))
    return result


def _units(cases: Sequence[Case]) -> list[Unit]:
    return [unit for case in cases for unit in case.units]


def _nothing(protocol: Protocol) -> Refusal:
    if protocol.submitted:
        gold = KINDS[label_cases.labelled_by(protocol.name)].title.lower()
        return Refusal(
            f"This item has no submitted {gold} to label by.", "Submit one on the Author page first."
        )
    return Refusal(f"{protocol.title}: nothing can be asked about this report.", "Choose another one.")


def set_label(
    project: Project,
    response_id: str,
    unit_id: str,
    value: str,
    *,
    protocol: str = USUAL,
    seconds: float | None = None,
) -> Change:
    """Label a unit of a report with a value of the protocol or “unsure”; of a pair, the unit is the second report."""
    cases = _cases(project, protocol, response_id, [unit_id])
    fields = _checked(protocol, value, cases)
    if seconds is not None:
        fields["seconds"] = round(seconds, 1)
    return _change_label(
        project, LabelPlace(protocol, response_id, unit_id), f"label {value}", _marked(fields), cases
    )


def set_labels(
    project: Project, response_id: str, unit_ids: Sequence[str], value: str, *, protocol: str = USUAL
) -> Change:
    if not unit_ids:
        raise Refusal("None of them is open.", "Nothing was changed.")
    cases = _cases(project, protocol, response_id, unit_ids)
    make = _marked(_checked(protocol, value, cases))
    before, after = dict[str, Fields](), dict[str, Fields]()
    with project.store.write() as db:
        # Looked up for the first unit, it serves all.
        ground = cache(partial(_ground, project, db, LabelPlace(protocol, response_id, unit_ids[0]), cases))
        for unit_id in unit_ids:
            old, row = _put(project, db, LabelPlace(protocol, response_id, unit_id), make, ground)
            before[row["id"]], after[row["id"]] = old, image(row)
        change = Change("judgement", next(iter(after)), f"label {value}", {SEVERAL: before}, {SEVERAL: after})
        return record(project, db, change)


def set_evidence(
    project: Project, response_id: str, unit_id: str, quote: str, start: int | None, end: int | None,
    protocol: str = USUAL,
) -> Change:  # fmt: skip
    """Mark the passage that decides the unit; offsets are characters of the report's text, None for a page's."""
    fields = {"quote": quote, "quote_start": start, "quote_end": end}
    return _change_label(
        project, LabelPlace(protocol, response_id, unit_id), "mark evidence", lambda _: fields
    )


def set_note(project: Project, response_id: str, unit_id: str, note: str, protocol: str = USUAL) -> Change:
    """Set the note beside the label; it travels to the adjudicator and never counts as disagreement."""
    return _change_label(
        project, LabelPlace(protocol, response_id, unit_id), "note", lambda _: {"note": note}
    )


def set_flag(
    project: Project,
    response_id: str,
    unit_id: str,
    flagged: bool,
    protocol: str = USUAL,
) -> Change:
    def fields(before: Fields) -> Fields:
        others = [flag for flag in before["flags"].split() if flag != FLAGGED]
        return {"flags": " ".join([*others, FLAGGED] if flagged else others)}

    return _change_label(project, LabelPlace(protocol, response_id, unit_id), "flag", fields)


# Unit → the case in which it is asked about.
Cases = Mapping[str, Case]


def _cases(project: Project, protocol: str, response_id: str, unit_ids: Sequence[str]) -> Cases:
    """The cases of these units, empty for a submitted protocol; raises Refusal if one no longer exists."""
    definition = label_cases.protocol_of(project, protocol)
    if definition.submitted:
        return {}
    # The allowed values depend on whether a page has text, never on a report's text.
    material = replace(materials.for_judging(definition), texts=False)
    cases = label_cases.of_report(project, definition, response_id, material)
    result = {unit.id: case for case in cases for unit in case.units}
    if not set(unit_ids) <= result.keys():
        raise _gone(protocol)
    return {unit_id: result[unit_id] for unit_id in unit_ids}


def _checked(protocol: str, value: str, cases: Cases) -> Fields:
    """The fields that a value sets; raises Refusal if it is not allowed. `flags` are those of the cases themselves."""
    definition = PROTOCOLS[protocol]
    if value not in (*definition.values, UNSURE):
        raise Refusal(
            f"“{value}” is not a value of {definition.title}.", f"Use one of {', '.join(definition.values)}."
        )
    for case in cases.values():
        if value not in (allowed := (*label_cases.values_of(definition, case), UNSURE)):
            raise Refusal(case.why, f"Use one of {', '.join(allowed)}.")
    if value == UNSURE:
        return {"value": None, "status": Status.UNCLEAR.value, "cause": "the rater is unsure", "flags": ""}
    flags = " ".join(sorted({label_cases.flags_of(case) for case in cases.values()} - {""}))
    return {"value": value, "status": Status.OK.value, "cause": "", "flags": flags}


def _marked(fields: Fields) -> Make:
    """The fields with the flags of the case, and the person's own flag if set."""

    def make(before: Fields) -> Fields:
        own = FLAGGED if FLAGGED in before["flags"].split() else ""
        return fields | {"flags": " ".join(filter(None, (fields["flags"], own)))}

    return make


def _gone(protocol: str) -> Refusal:
    return Refusal(
        f"That {label_cases.presentation_of(protocol).one} is no longer part of what is labelled.",
        "Open the report again.",
    )


def _change_label(
    project: Project, place: LabelPlace, verb: str, make: Make, cases: Cases | None = None
) -> Change:
    with project.store.write() as db:
        before, after = _put(project, db, place, make, partial(_ground, project, db, place, cases))
        return record(project, db, Change("judgement", after["id"], verb, before, image(after)))


def _put(
    project: Project,
    db: Connection,
    place: LabelPlace,
    make: Make,
    ground: Callable[[], tuple[str, Mapping[str, str]]],
) -> tuple[Fields, Fields]:
    me = people.someone(project).id
    before, reworded = stored(db, place, me)
    current = before or _blank(place, me, *ground())
    if reworded:
        # The previous label was given on another wording: it neither stays nor keeps counting.
        current = taken_back(Judgement(**current)).model_dump()
    after = put(db, current if before else None, current | make(before or current) | {"at": now()})
    return image(before), after or {}


def _ground(
    project: Project, db: Connection, place: LabelPlace, cases: Cases | None
) -> tuple[str, Mapping[str, str]]:
    """The item of a report that may be labelled, and unit → the artifact it belongs to."""
    item_id = required(
        db.execute(select(RESPONSE.c.item_id).where(RESPONSE.c.id == place.response_id)).scalar(),
        "That report is no longer in the project.",
        "Open another one.",
    )
    if is_sealed(db, item_id, people.someone(project).id, place.protocol):
        raise lock()
    if not PROTOCOLS[place.protocol].submitted:
        known = cases or _cases(project, place.protocol, place.response_id, [place.unit_id])
        return item_id, {unit_id: case.artifact_id for unit_id, case in known.items()}
    artifact = annotating.judged_artifact(db, item_id, label_cases.labelled_by(place.protocol))
    return item_id, {unit.id: artifact.id for unit in artifact.document.units} if artifact else {}


def _blank(place: LabelPlace, rater: str, item_id: str, artifact_ids: Mapping[str, str]) -> Fields:
    if place.unit_id not in artifact_ids:
        raise _gone(place.protocol)
    return {
        "id": new_id(), **place._asdict(), "item_id": item_id, "artifact_id": artifact_ids[place.unit_id],
        "rater_kind": RaterKind.PERSON.value, "rater_id": rater, "value": None,
        "status": Status.SKIPPED.value, "cause": "not yet labelled", "flags": "",
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class MatrixReading:
    """One way to count a matrix, with its counts; None while a cell is open or unsure.

    `predicted` counts the columns' sub-tasks that are right, `gold` the gold plan's sub-tasks that are matched.
    """

    title: str
    predicted: int | None = None
    gold: int | None = None


def readings(sheet: LabelSheet) -> Sequence[MatrixReading]:
    """The matrix of one report in each reading; empty under a protocol without one."""
    spec = PROTOCOLS[sheet.protocol].matrix
    if spec is None:
        return ()
    values = {unit_id: label.value for unit_id, label in sheet.labels.items()}
    cells = tuple(tuple(spec.cell(values.get(unit.id)) for unit in group.units) for group in sheet.groups)
    gold = len(sheet.groups[0].units)
    if any(cell is None for row in cells for cell in row):
        return tuple(map(MatrixReading, spec.readings))
    return tuple(MatrixReading(title, *counts(cells, gold)) for title, counts in spec.readings.items())


# From this many items on, all are read: a query takes no more ids.
_MANY = 10_000


@dataclass(frozen=True, slots=True)
class LabelTask:
    """One line of the queue: a report of an item, or a pair, with its number of units and labels.

    `sealed` if this person has submitted their labels of the item. Of a pair, `response_id` is shown first and
    `other_id` second. `given` if all labels were given elsewhere and are finished; `waits` if some are not submitted,
    for reports submitted one by one.
    """

    item_id: str
    item_key: str
    question: str
    response_id: str
    name: str
    units: int
    labelled: int
    unsure: int
    sealed: bool = False
    other_id: str = ""
    given: bool = False
    waits: bool = False

    @property
    def id(self) -> str:
        """The key of the line: the report, or both of a pair in their order."""
        return task_id(self.response_id, self.other_id)


def task_id(response_id: str, other_id: str = "") -> str:
    return f"{response_id}~{other_id}" if other_id else response_id


@dataclass(frozen=True, slots=True)
class LabelTasks:
    tasks: list[LabelTask]
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelDecision:
    unit_id: str
    item_key: str
    name: str
    words: str
    value: str
    task_id: str


def queue(project: Project, protocol: str = USUAL) -> list[LabelTask]:
    """Every report this person may label, item by item, each item's reports in this person's own order.

    For submitted protocols, once anything is assigned to them, only the items assigned for labelling; for any other,
    once it is handed out to them, only the items it is handed out for. The number of queries does not depend on the
    number of items; labels of units since removed from the artifact are not counted.
    """
    return outlook(project, protocol).tasks


def outlook(project: Project, protocol: str = USUAL) -> LabelTasks:
    definition = label_cases.protocol_of(project, protocol)
    if definition.submitted:
        with project.store.read() as db:
            return LabelTasks(_handed_out(project, protocol, _assigned(project, db, protocol)))
    me, tasks = people.someone(project).id, list[LabelTask]()
    with project.store.read() as db:
        statuses, sealed = labels_by(db, me, protocol), sealed_by(db, me, protocol)
        waiting = set(waiting_by(db, me, protocol))
        dealt = {
            item_id for item_id, names in label_cases.protocols_by_item(db, me).items() if protocol in names
        }
        sampled = label_cases.narrowed(db, me, protocol)
    report_cases: list[tuple[Material, Sequence[Case]]] = []
    for at_hand in label_cases.walk(project, definition):
        item_id = at_hand.item.id
        if dealt and item_id not in dealt:
            continue
        of_item = [
            response
            for response in at_hand.responses
            if response.response.id in sampled.get(item_id, {response.response.id})
        ]
        result = {
            material.response.id: label_cases.cases_of(project, definition, material) for material in of_item
        }
        report_cases += [(material, result[material.response.id]) for material in of_item]
        for line in _of_item(definition, at_hand, result, me, statuses):
            units = [line.other_id] if line.other_id else statuses.get(line.response_id, ())
            waits = item_id not in dealt and any((line.response_id, unit) in waiting for unit in units)
            tasks.append(replace(line, sealed=item_id in sealed, waits=waits))
    return LabelTasks(tasks, label_cases.gaps(definition, report_cases))


def first_assigned(project: Project, protocols: Sequence[str]) -> str:
    """The first of these protocols by which there is something to label; empty if there is none.

    Protocols that can be asked of any two reports come last. Empty for people assigned other work.
    """
    if lacking(project) == label_cases.ASSIGNMENTS:
        return ""
    any_two = [name for name in protocols if PROTOCOLS[name].paired and not PROTOCOLS[name].exemplar]
    ordered = [*(name for name in protocols if name not in any_two), *any_two]
    return next((name for name in ordered if queue(project, name)), "")


def left(project: Project) -> int:
    """The number of unfinished queue lines of the person working, over the usual protocol and all handed out."""
    with project.store.read() as db:
        of_items = label_cases.protocols_by_item(db, people.someone(project).id).values()
    names = dict.fromkeys([USUAL, *(name for one in of_items for name in one)])
    return sum(_left(project, name) for name in names)


def _left(project: Project, protocol: str) -> int:
    """The same for one protocol; if everything is offered, units are read only of items with labels by this person."""
    if not label_cases.protocol_of(project, protocol).submitted:
        return sum(map(_is_open, queue(project, protocol)))
    me, kind, untouched = people.someone(project).id, label_cases.labelled_by(protocol), 0
    with project.store.read() as db:
        items = _assigned(project, db, protocol)
        if items is None:
            of_item = RESPONSE.c.item_id
            items = set(db.execute(mine(me, protocol).with_only_columns(JUDGEMENT.c.item_id)).scalars())
            items |= label_cases.narrowed(db, me, protocol).keys() | annotating.of_several(db, kind)
            reports = label_cases.LABELLED.where(
                of_item.in_(annotating.judged_items(db, kind, with_units=True)),
                of_item.not_in(annotating.among(items | annotating.withheld(db, me, kind))),
                of_item.not_in(select(ITEM.c.id).where(ITEM.c.retired)),
            )
            untouched = db.execute(reports.with_only_columns(func.count())).scalar_one()
    return untouched + sum(map(_is_open, _handed_out(project, protocol, items)))


def _is_open(task: LabelTask) -> bool:
    return task.labelled < task.units


def seen(project: Project, protocol: str) -> tuple[str, str, object]:
    """The key under which a queue is unchanged: protocol, person, and what others have written to the file.

    Changes made here are announced.
    """
    return protocol, people.someone(project).id, project.store.watch.by_others()


def _handed_out(project: Project, protocol: str, items: AbstractSet[str] | None) -> list[LabelTask]:
    """The queue lines of these items; of all items if None."""
    if items is not None and not items:
        return []
    me, kind = people.someone(project).id, label_cases.labelled_by(protocol)
    few = items if items is not None and len(items) < _MANY else None
    with project.store.read() as db:
        units, reports = label_cases.judged_units(db, kind, few), label_cases.reports_for(db, me, few)
        statuses, sealed = labels_by(db, me, protocol), sealed_by(db, me, protocol)
        hidden, given = annotating.withheld(db, me, kind), given_by(db, me, protocol)
        question = select(ITEM.c.id, ITEM.c.key, ITEM.c.question).where(ITEM.c.retired.is_(False))
        if items is not None:
            question = question.where(ITEM.c.id.in_(annotating.among(items)))
        rows = db.execute(question.order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)).all()
    tasks = []
    for item_id, key, words in rows:
        judged = units.get(item_id, {}) if item_id not in hidden else {}
        for response_id, name in label_cases.dealt(reports[item_id] if judged else (), me).items():
            counts = tally(judged, statuses.get(response_id, {}))
            about = (item_id, key, words, response_id, name, len(judged), *counts, item_id in sealed)
            tasks.append(LabelTask(*about, given=given[response_id] >= len(judged)))
    return tasks


def _of_item(
    protocol: Protocol, at_hand: materials.MaterialAtHand, cases_of: Mapping[str, Sequence[Case]], me: str,
    statuses: Mapping[str, Mapping[str, str]],
) -> list[LabelTask]:  # fmt: skip
    item, names = at_hand.item, label_cases.dealt(cases_of, me)
    if not protocol.paired:
        lines = [(response_id, "", cases_of[response_id]) for response_id in names]
    else:
        pairs = label_cases.shuffled([case for cases in cases_of.values() for case in cases], me)
        lines = [(case.response.id, case.unit.id, [case]) for case in pairs]
    tasks = []
    for response_id, other_id, cases in lines:
        units = [unit.id for case in cases for unit in case.units]
        if units:
            name = (
                label_cases.together(names[response_id], names[other_id]) if other_id else names[response_id]
            )
            counts = tally(units, statuses.get(response_id, {}))
            about = (item.id, item.key, item.question, response_id, name, len(units))
            tasks.append(LabelTask(*about, *counts, other_id=other_id))
    return tasks


def lacking(project: Project, protocol: str = USUAL) -> str:
    """The name (see `label_cases`) of what must exist before anything can be labelled; empty if nothing is missing.

    “assignments” if other work is assigned to this person, and no labelling.
    """
    definition = label_cases.protocol_of(project, protocol)
    if not definition.submitted:
        return label_cases.lack(project, definition)
    kind, me = label_cases.labelled_by(protocol), people.someone(project).id
    with project.store.read() as db:
        assigned = _assigned(project, db, protocol)
        result = set(db.execute(select(ITEM.c.id).where(ITEM.c.retired.is_(False))).scalars())
        items = {item_id for item_id in result if assigned is None or item_id in assigned}
        answered = items & label_cases.reports(db).keys()
        judged = answered & label_cases.judged_units(db, kind).keys()
        seen = judged - annotating.withheld(db, me, kind)
    if not items:
        return label_cases.ASSIGNMENTS if result else label_cases.ITEMS
    if not answered:
        return label_cases.RESPONSES
    if not judged:
        return kind.value
    return "" if seen else label_cases.WRITING


def recent(project: Project, limit: int = 10, protocol: str = USUAL) -> list[LabelDecision]:
    """This person's latest labels, newest first, without those of units no longer asked about or reworded since."""
    me, definition = people.someone(project).id, label_cases.protocol_of(project, protocol)
    question = mine(me, protocol).where(JUDGEMENT.c.status.in_(SAID))
    rows = project.query(question.order_by(JUDGEMENT.c.at.desc(), JUDGEMENT.c.id).limit(limit)).all()
    if not rows:
        return []
    keys, words, names = dict[str, str](), dict[tuple[str, str], str](), dict[str, str]()
    with project.store.read() as db:
        sampled = label_cases.narrowed(db, me, protocol)
        gone = to_give_again(db, me, protocol, JUDGEMENT.c.id.in_([row.id for row in rows]))
    for at_hand in label_cases.walk(project, definition, sorted({row.item_id for row in rows})):
        keys[at_hand.item.id] = at_hand.item.key
        ids = {response.response.id for response in at_hand.responses}
        names |= label_cases.dealt(ids & sampled.get(at_hand.item.id, ids), me)
        for response in at_hand.responses:
            for case in label_cases.cases_of(project, definition, response):
                words |= {(response.response.id, unit.id): _words(case, unit.text) for unit in case.units}
    return [
        LabelDecision(
            row.unit_id, keys[row.item_id],
            label_cases.together(names[row.response_id], names[row.unit_id])
            if definition.paired
            else names[row.response_id],
            words[row.response_id, row.unit_id], row.value or UNSURE,
            task_id(row.response_id, row.unit_id if definition.paired else ""),
        )
        for row in rows
        if (row.response_id, row.unit_id) in words and row.response_id in names and row.id not in gone
    ]  # fmt: skip


def _words(case: Case, text: str) -> str:
    """The name of a unit shown alone: both sides of a matrix cell, the question of a pair."""
    if case.other is not None:
        return case.item.question
    return " → ".join([*label_cases.beside(case), text])


def _assigned(project: Project, db: Connection, protocol: str) -> set[str] | None:
    """The items that the person working is asked to label by a protocol; None if everything is offered to them."""
    if assignments.offered(project) is None:
        return None
    of_items = label_cases.protocols_by_item(db, people.someone(project).id)
    return {item_id for item_id, names in of_items.items() if protocol in names}
