"""How people label reports: unit by unit, blind to the system and to every other rater."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, bindparam, delete, exists, insert, select, update
from sqlalchemy.engine import Connection

from annotator.actions import annotating, assignments, dealing, people
from annotator.actions.hashing import judgement_hash
from annotator.actions.history import restores
from annotator.actions.items import item_of
from annotator.actions.project import Project
from annotator.actions.recording import record
from annotator.domain.artifact import Artifact, Kind, State
from annotator.domain.assignment import Stage
from annotator.domain.change import Change
from annotator.domain.identity import new_id, now
from annotator.domain.item import Item
from annotator.domain.judgement import Judgement, RaterKind, Status
from annotator.domain.protocol import Protocol
from annotator.domain.refusal import Refusal
from annotator.protocols import PROTOCOLS
from annotator.storage.ready import Ready
from annotator.storage.tables import ArtifactRow, ItemRow, JudgementRow, ResponseRow, table

ITEM, RESPONSE, JUDGEMENT = table(ItemRow), table(ResponseRow), table(JudgementRow)
ARTIFACT = table(ArtifactRow)
COVERAGE = "researcherbench.coverage"
UNSURE = "unsure"
SAID = (Status.OK.value, Status.UNCLEAR.value)


@dataclass(frozen=True, slots=True)
class Sheet:
    """One report to be labelled: what a blind rater may see of it, and what they have said so far.

    `name` is the report's stand-in for its system's name, dealt anew for each person and item. While `sealed`, this
    person's labels of the item are submitted and cannot be changed.
    """

    response_id: str
    name: str
    item: Item
    report: str
    artifact: Artifact
    labels: dict[str, Judgement]
    values: tuple[str, ...]
    sealed: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """One line of the queue: a report of an item, how many of its units this person has labelled, and whether they
    have submitted their labels of the item.
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


def queue(project: Project, protocol: str = COVERAGE) -> list[Task]:
    """Every report this person may label, item by item, each item's reports in this person's own order.

    Once anything is assigned to them, only the items whose labelling is. A handful of questions for the whole
    project, however many items there are; labels of units that have since been taken out of the artifact are not
    counted.
    """
    me, shape = people.someone(project).id, PROTOCOLS[protocol]
    with project.store.read() as db:
        units, reports = dealing.judged_units(db, shape.unit_kind), dealing.reports(db)
        said, sealed, asked = _said(db, me, protocol), _sealed_by(db, me), assignments.offered(project)
        question = select(ITEM.c.id, ITEM.c.key, ITEM.c.question).where(ITEM.c.retired.is_(False))
        rows = db.execute(question.order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)).all()
    tasks = []
    for item_id, key, words in rows:
        judged = units.get(item_id, {}) if _is_asked(asked, item_id) else {}
        for name, response_id in dealing.dealt(reports[item_id], me) if judged else ():
            counted = _tally(judged, said[response_id])
            tasks.append(
                Task(item_id, key, words, response_id, name, len(judged), *counted, item_id in sealed)
            )
    return tasks


def _is_asked(asked: Mapping[str, set[Stage]] | None, item_id: str) -> bool:
    return asked is None or Stage.LABELLING in asked.get(item_id, ())


@dataclass(frozen=True, slots=True)
class Decision:
    """A label this person gave: of which unit of which report, and what they said."""

    response_id: str
    unit_id: str
    item_key: str
    name: str
    words: str
    said: str
    at: datetime


def recent(project: Project, limit: int = 10, protocol: str = COVERAGE) -> list[Decision]:
    """This person's latest labels, newest first; those of units that are no longer judged are left out."""
    me, shape = people.someone(project).id, PROTOCOLS[protocol]
    with project.store.read() as db:
        question = _mine(me, protocol).where(JUDGEMENT.c.status.in_(SAID))
        rows = db.execute(question.order_by(JUDGEMENT.c.at.desc(), JUDGEMENT.c.id).limit(limit)).all()
        items = {row.item_id for row in rows}
        units, reports = dealing.judged_units(db, shape.unit_kind, items), dealing.reports(db, items)
        found = db.execute(select(ITEM.c.id, ITEM.c.key).where(ITEM.c.id.in_(items))).all()
    keys = {item_id: key for item_id, key in found}
    names = {found: name for item in items for name, found in dealing.dealt(reports[item], me)}
    return [
        Decision(
            row.response_id, row.unit_id, keys[row.item_id], names[row.response_id],
            units[row.item_id][row.unit_id], row.value or UNSURE, row.at,
        )
        for row in rows
        if row.unit_id in units.get(row.item_id, {})
    ]  # fmt: skip


def lacking(project: Project, protocol: str = COVERAGE) -> str:
    """What must come before anything can be labelled: “items”, “responses”, the kind of artifact, or nothing.

    “assignments” when other work is assigned to this person, and no labelling.
    """
    shape = PROTOCOLS[protocol]
    with project.store.read() as db:
        asked = assignments.offered(project)
        found = set(db.execute(select(ITEM.c.id).where(ITEM.c.retired.is_(False))).scalars())
        items = {item_id for item_id in found if _is_asked(asked, item_id)}
        answered = items & dealing.reports(db).keys()
        judged = answered & dealing.judged_units(db, shape.unit_kind).keys()
    if not items:
        return "assignments" if found else "items"
    if not answered:
        return "responses"
    return "" if judged else shape.unit_kind.value


def sheet(project: Project, response_id: str, protocol: str = COVERAGE) -> Sheet:
    """All that is needed to label one report; Refusal when its item has no settled artifact to label by."""
    me, shape = people.someone(project).id, PROTOCOLS[protocol]
    with project.store.read() as db:
        response = db.execute(select(RESPONSE).where(RESPONSE.c.id == response_id)).one()
        item = dict(db.execute(select(ITEM).where(ITEM.c.id == response.item_id)).mappings().one())
        artifact = annotating.judged_artifact(db, response.item_id, shape.unit_kind)
        if artifact is None:
            raise Refusal(
                f"This item has no sealed {shape.unit_kind.value} to label by.",
                "Submit one on the Author page first.",
            )
        names = {
            found: name
            for name, found in dealing.dealt(dealing.reports(db, [response.item_id])[response.item_id], me)
        }
        labels = {label.unit_id: label for label in _labels(db, me, response_id, protocol)}
        locked = is_sealed(db, response.item_id, me)
    return Sheet(
        response_id, names[response_id], item_of(item), response.text, artifact, labels, shape.values, locked
    )


def set_label(
    project: Project,
    response_id: str,
    unit_id: str,
    value: str,
    *,
    protocol: str = COVERAGE,
    seconds: float | None = None,
) -> Change:
    """Say a value of the protocol, or “unsure”, of one unit of a report."""
    shape = PROTOCOLS[protocol]
    if value not in (*shape.values, UNSURE):
        raise Refusal(f"“{value}” is not a value of {shape.title}.", f"Use one of {', '.join(shape.values)}.")
    fields: dict[str, Any] = (
        {"value": None, "status": Status.UNCLEAR.value, "cause": "the rater is unsure"}
        if value == UNSURE
        else {"value": value, "status": Status.OK.value, "cause": ""}
    )
    if seconds is not None:
        fields["seconds"] = round(seconds, 1)
    return _say(project, response_id, unit_id, protocol, f"label {value}", fields)


def set_evidence(
    project: Project, response_id: str, unit_id: str, quote: str, start: int | None, end: int | None,
    protocol: str = COVERAGE,
) -> Change:  # fmt: skip
    """Mark the passage of the report that decides the unit; offsets are characters of the report's own text."""
    fields = {"quote": quote, "quote_start": start, "quote_end": end}
    return _say(project, response_id, unit_id, protocol, "mark evidence", fields)


def set_note(project: Project, response_id: str, unit_id: str, note: str, protocol: str = COVERAGE) -> Change:
    """A note beside the label; it travels to the adjudicator and never counts as disagreement."""
    return _say(project, response_id, unit_id, protocol, "note", {"note": note})


def set_flag(
    project: Project,
    response_id: str,
    unit_id: str,
    flagged: bool,
    protocol: str = COVERAGE,
) -> Change:
    """Flag a unit for a second look, or take the flag away."""
    return _say(project, response_id, unit_id, protocol, "flag", {"flags": "flagged" if flagged else ""})


def _say(
    project: Project, response_id: str, unit_id: str, protocol: str, verb: str, fields: dict[str, Any]
) -> Change:
    me = people.someone(project).id
    with project.store.write() as db:
        before = _row(db, protocol, response_id, unit_id, me)
        after = (before or _blank(db, PROTOCOLS[protocol], response_id, unit_id, me)) | fields
        after = Judgement(**after | {"at": now()}).model_dump()
        _write(db, after, new=before is None)
        return record(project, db, Change("judgement", after["id"], verb, _image(before), _image(after)))


def _blank(db: Connection, shape: Protocol, response_id: str, unit_id: str, rater: str) -> dict[str, Any]:
    item_id = db.execute(select(RESPONSE.c.item_id).where(RESPONSE.c.id == response_id)).scalar_one()
    if is_sealed(db, item_id, rater):
        raise _locked()
    artifact = annotating.judged_artifact(db, item_id, shape.unit_kind)
    if artifact is None or unit_id not in {unit.id for unit in artifact.document.units}:
        raise Refusal("That criterion is no longer part of what is labelled.", "Open the report again.")
    return {
        "id": new_id(), "protocol": shape.name, "item_id": item_id, "response_id": response_id,
        "artifact_id": artifact.id, "unit_id": unit_id, "rater_kind": RaterKind.PERSON.value, "rater_id": rater,
        "value": None, "status": Status.SKIPPED.value, "cause": "not yet labelled",
    }  # fmt: skip


def _sealed(rater: Any, item_id: Any) -> Select[Any]:
    """The sealed labels of a rater on an item, each a value or a column."""
    return select(ARTIFACT.c.id).where(
        ARTIFACT.c.item_id == item_id,
        ARTIFACT.c.kind == Kind.LABELS.value,
        ARTIFACT.c.author_id == rater,
        ARTIFACT.c.state == State.SEALED.value,
    )


def is_sealed(db: Connection, item_id: str, person_id: str) -> bool:
    """Whether a person's labels of an item are submitted, so that none of them may change."""
    return db.execute(_sealed(person_id, item_id)).first() is not None


def _sealed_by(db: Connection, rater: str) -> set[str]:
    return set(db.execute(_sealed(rater, ITEM.c.id).with_only_columns(ITEM.c.id)).scalars())


def _locked() -> Refusal:
    return Refusal("Your labels of this item are submitted.", "Reopen them first; what you submitted stays.")


# Built once: a label is saved hundreds of times an hour, and building a statement costs more than running it.
_ONE = Ready(
    select(JUDGEMENT, exists(_sealed(JUDGEMENT.c.rater_id, JUDGEMENT.c.item_id)).label("sealed")).where(
        JUDGEMENT.c.protocol == bindparam("protocol"),
        JUDGEMENT.c.response_id == bindparam("response"),
        JUDGEMENT.c.unit_id == bindparam("unit"),
        JUDGEMENT.c.rater_kind == RaterKind.PERSON.value,
        JUDGEMENT.c.rater_id == bindparam("rater"),
        JUDGEMENT.c.trial == 1,
    )
)
_NEW = Ready(insert(JUDGEMENT))
_CHANGED = Ready(update(JUDGEMENT).where(JUDGEMENT.c.id == bindparam("row")))


def _row(db: Connection, protocol: str, response_id: str, unit_id: str, rater: str) -> dict[str, Any] | None:
    whose = {"protocol": protocol, "response": response_id, "unit": unit_id, "rater": rater}
    row = _ONE.first(db, whose)
    if row and row["sealed"]:
        raise _locked()
    return {key: value for key, value in row.items() if key not in ("sha256", "sealed")} if row else None


def _write(db: Connection, judgement: dict[str, Any], *, new: bool) -> None:
    row = {**judgement, "sha256": judgement_hash(judgement)}
    if new:
        _NEW.run(db, row)
    else:
        _CHANGED.run(db, {**row, "row": row["id"]})


def _image(judgement: dict[str, Any] | None) -> dict[str, Any]:
    return Judgement(**judgement).model_dump(mode="json") if judgement else {}


def _mine(rater: str, protocol: str) -> Select[Any]:
    return select(JUDGEMENT).where(
        JUDGEMENT.c.rater_id == rater,
        JUDGEMENT.c.protocol == protocol,
        JUDGEMENT.c.rater_kind == RaterKind.PERSON.value,
        JUDGEMENT.c.trial == 1,
    )


def _labels(db: Connection, rater: str, response_id: str, protocol: str) -> list[Judgement]:
    rows = db.execute(_mine(rater, protocol).where(JUDGEMENT.c.response_id == response_id)).mappings().all()
    return [Judgement(**{key: value for key, value in row.items() if key != "sha256"}) for row in rows]


def _said(db: Connection, rater: str, protocol: str) -> defaultdict[str, dict[str, str]]:
    """Response by response, which units this person has spoken on, and whether they were sure."""
    said: defaultdict[str, dict[str, str]] = defaultdict(dict)
    question = _mine(rater, protocol).where(JUDGEMENT.c.status.in_(SAID))
    columns = question.with_only_columns(JUDGEMENT.c.response_id, JUDGEMENT.c.unit_id, JUDGEMENT.c.status)
    for response_id, unit_id, status in db.execute(columns):
        said[response_id][unit_id] = status
    return said


def _tally(units: Iterable[str], said: Mapping[str, str]) -> tuple[int, int]:
    present = [said[unit] for unit in units if unit in said] if said else []
    return len(present), present.count(Status.UNCLEAR.value)


@restores("judgement")
def _restore(_project: Project, db: Connection, judgement_id: str, present: Any, goal: Any) -> None:
    row = db.execute(select(JUDGEMENT).where(JUDGEMENT.c.id == judgement_id)).mappings().first()
    there = _image({key: value for key, value in row.items() if key != "sha256"}) if row else {}
    if there != present:
        raise Refusal("This label was changed elsewhere since.", "Look at it again; nothing was undone.")
    about = goal or present
    if is_sealed(db, about["item_id"], about["rater_id"]):
        raise _locked()
    db.execute(delete(JUDGEMENT).where(JUDGEMENT.c.id == judgement_id))
    if goal:
        _write(db, Judgement(**goal).model_dump(), new=True)
