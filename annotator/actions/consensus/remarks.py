"""Notes on an open adjudication, which are only ever added, and gaps found in the guideline."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import insert, select
from sqlalchemy.engine import Connection

from annotator.actions.assignments import adjudicators
from annotator.actions.consensus import ruling_rows
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.experts.adjudication import Adjudication, Reason, Ruling
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Role
from annotator.domain.texts.canonical import checked_text
from annotator.domain.texts.change import Change, new_id, now
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import ITEM, REMARK

LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Remark:
    """A note in the discussion, by a person's id."""

    id: str
    subject: str
    person_id: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Gap:
    """A gap in the guideline, found while adjudicating a row of an item."""

    item_id: str
    item_key: str
    stage: Stage
    adjudication_id: str
    ruling_id: str
    text: str


def remark(project: Project, subject: str, text: str) -> Change:
    """Add a note to the discussion of an adjudication, or of one of its rulings; it can never be taken out again.

    The adjudicator and coordinators talk; nobody who answered the item does, and nobody of them reads it.
    """
    with project.store.write() as db:
        _refuse_outsiders(project, db, _subject(db, subject))
        return add(project, db, subject, text)


def add(project: Project, db: Connection, subject: str, text: str) -> Change:
    """`remark` in a transaction that has made sure that the person may."""
    row = {
        "id": new_id(), "subject": subject, "person_id": people.someone(project).id, "text": said(text), "at": now(),
    }  # fmt: skip
    db.execute(insert(REMARK).values(**row))
    return record(project, db, Change("remark", subject, "remark", None, {"id": row["id"]}))


def said(text: str) -> str:
    """A reason or note without the white space around it; Refusal when it says nothing or cannot be kept."""
    text = text.strip()
    if not text:
        raise Refusal("Nothing is written yet.", "Write a sentence first.")
    if len(text) > LONGEST:
        raise Refusal(f"The text is longer than {LONGEST} characters.", "Shorten it; your text is kept.")
    try:
        return checked_text(text)
    except ValueError as error:
        raise Refusal(f"The text {error}.", "Remove that character; the rest of the text is kept.") from None


def remarks(project: Project, subject: str) -> list[Remark]:
    """The notes on an adjudication or a ruling, in the order in which they were written; Refusal as for `remark`."""
    with project.store.read() as db:
        _refuse_outsiders(project, db, _subject(db, subject))
        found = db.execute(
            select(REMARK).where(REMARK.c.subject == subject).order_by(REMARK.c.at, REMARK.c.id)
        )
        return [Remark(**row) for row in found.mappings()]


def gaps(project: Project) -> list[Gap]:
    """What the guidelines leave open, by item, stage and row; its rationale stands in where nothing else is written.

    Anyone who answered the item learns of a gap once there is a consensus, and never reads the rationale here.
    """
    with project.store.read() as db:
        answered = adjudicators.answered(db, people.someone(project).id)
        rulings = ruling_rows.all_rulings(db)
        keys = {
            row.id: row.key
            for row in db.execute(
                select(ITEM.c.id, ITEM.c.key).order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)
            )
        }
        places = {item_id: place for place, item_id in enumerate(keys)}
        found = [
            each for each in ruling_rows.adjudications(db) if each.version or each.item_id not in answered
        ]
    stages = list(Stage)
    found.sort(key=lambda each: (places[each.item_id], stages.index(each.stage)))
    return [
        Gap(
            each.item_id,
            keys[each.item_id],
            each.stage,
            each.id,
            row.id,
            _open(row, each.item_id in answered),
        )
        for each in found
        for row in rulings.get(each.id, ())
        if row.gap or row.reason is Reason.GUIDELINE_GAP
    ]


def _open(row: Ruling, rater: bool) -> str:
    return row.gap or ("" if rater else row.rationale)


def _subject(db: Connection, subject: str) -> Adjudication:
    try:
        return ruling_rows.adjudication(db, subject)
    except KeyError:
        return ruling_rows.adjudication(db, ruling_rows.ruling(db, subject).adjudication_id)


def _refuse_outsiders(project: Project, db: Connection, found: Adjudication) -> None:
    known = adjudicators.competence(project, db, found.item_id)
    objection = known.objection(found.item_id, found.adjudicator_id)
    coordinates = known.person.has(Role.COORDINATOR) and found.item_id not in known.own
    if objection and not coordinates:
        raise objection
