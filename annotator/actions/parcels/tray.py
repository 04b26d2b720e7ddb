"""The tray: returned work in conflict, late or not asked for, beside what is here already."""

import json
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.engine import Connection

from annotator.actions.adjudication.adjudication_sheets import headings_of
from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, gold
from annotator.actions.authoring.comparing import aligned
from annotator.actions.authoring.guidelines import version_in_force
from annotator.actions.parcels import returned_labels
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.guideline import FORM
from annotator.domain.experts.parcel import ParcelOutcome, TrayEntry, TrayState
from annotator.domain.kinds.artifact import Document, Kind, State, Unit, chain
from annotator.domain.kinds.documents import document_of
from annotator.domain.texts.canonical import sha256
from annotator.domain.texts.change import Change, derived_id, now
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import (
    ADJUDICATION,
    AGREEMENT,
    ARTIFACT,
    ITEM,
    PERSON,
    RESPONSE,
    REVISION,
    TRAY,
)


def put(
    db: Connection,
    reason: ParcelOutcome,
    person_id: str,
    content: str,
    *,
    item_id: str = "",
    stage: Stage | None = None,
    revision: int = 0,
) -> bool:
    """Keep a piece of work apart; False when that very piece lies or lay in the tray already."""
    digest, name = sha256(content), stage.value if stage else ""
    entry_id = derived_id("tray", person_id, item_id, name, revision, digest)
    if db.execute(select(TRAY.c.id).where(TRAY.c.id == entry_id)).first():
        return False
    db.execute(
        insert(TRAY),
        {
            "id": entry_id,
            "reason": reason.value,
            "person_id": person_id,
            "item_id": item_id,
            "stage": name,
            "revision": revision,
            "content": content,
            "sha256": digest,
            "state": TrayState.WAITING.value,
            "at": now(),
        },
    )
    return True


def entries(project: Project, state: TrayState | None = TrayState.WAITING) -> list[TrayEntry]:
    """What lies in the tray in a state (every entry when none is named), by person, item and revision."""
    question = select(TRAY).order_by(
        TRAY.c.person_id, TRAY.c.item_id, TRAY.c.stage, TRAY.c.revision, TRAY.c.id
    )
    if state is not None:
        question = question.where(TRAY.c.state == state.value)
    with project.store.read() as db:
        rows = db.execute(question).mappings().all()
    return [TrayEntry(**{**row, "stage": row["stage"] or None}) for row in rows]


def accept(project: Project, entry_id: str) -> Change:
    """Take a piece of work, also one that was set aside, as its author's newest sealed revision.

    Frozen figures and releases stay.
    """
    with project.store.write() as db:
        entry = _undecided(project, db, entry_id, TrayState.WAITING, TrayState.SET_ASIDE)
        if entry.stage is None or not db.execute(select(ITEM.c.id).where(ITEM.c.id == entry.item_id)).first():
            raise Refusal(
                "This work belongs to another project, and only its description is stored here.",
                "Set it aside, or import it in that project.",
            )
        kind = entry.stage.kind
        assert kind is not None
        artifact_id, number = _append(project, db, entry, kind)
        if kind is Kind.LABELS:
            returned_labels.write(db, entry.person_id, entry.item_id, artifact_id)
        _mark(db, entry_id, TrayState.ACCEPTED)
        return record(
            project,
            db,
            Change("tray", entry_id, "accept", after={"artifact": artifact_id, "revision": number}),
        )


def set_aside(project: Project, entry_id: str) -> Change:
    """Decide against a piece of work; it stays in the file and may be accepted later."""
    with project.store.write() as db:
        _undecided(project, db, entry_id, TrayState.WAITING)
        _mark(db, entry_id, TrayState.SET_ASIDE)
        return record(project, db, Change("tray", entry_id, "set aside"))


def _undecided(project: Project, db: Connection, entry_id: str, *states: TrayState) -> TrayEntry:
    people.refuse_others(project, "can decide about the tray")
    row = db.execute(select(TRAY).where(TRAY.c.id == entry_id)).mappings().one()
    entry = TrayEntry(**{**row, "stage": row["stage"] or None})
    if entry.state not in states:
        raise Refusal(f"This was {entry.state.value} already.", "Look at the tray again.")
    return entry


def _mark(db: Connection, entry_id: str, state: TrayState) -> None:
    db.execute(update(TRAY).where(TRAY.c.id == entry_id).values(state=state.value))


def _append(project: Project, db: Connection, entry: TrayEntry, kind: Kind) -> tuple[str, int]:
    own = (
        ARTIFACT.c.item_id == entry.item_id,
        ARTIFACT.c.kind == kind.value,
        ARTIFACT.c.author_id == entry.person_id,
    )
    artifact_id = db.execute(select(ARTIFACT.c.id).where(*own)).scalar()
    newest: Any = None
    if artifact_id is None:
        annotating.keep_scoring(project, db, kind, entry.item_id)
        artifact_id = derived_id("artifact", entry.item_id, kind.value, entry.person_id)
        row = {"id": artifact_id, "item_id": entry.item_id, "kind": kind.value, "author_id": entry.person_id}
        db.execute(insert(ARTIFACT).values(**row, state=State.SEALED.value, revision=0))
    else:
        question = select(REVISION.c.number, REVISION.c.chain).where(REVISION.c.artifact_id == artifact_id)
        newest = db.execute(question.order_by(REVISION.c.number.desc())).first()
    number, before = (newest.number + 1, newest.chain) if newest else (1, "")
    at = now()
    db.execute(
        insert(REVISION),
        {
            "id": derived_id("revision", artifact_id, number, entry.sha256),
            "artifact_id": artifact_id,
            "number": number,
            "content": entry.content,
            "sha256": entry.sha256,
            "chain": chain(before, entry.sha256),
            "sealed": True,
            "reason": f"accepted from the tray ({entry.reason.value})",
            "form": FORM,
            "verb": "accept",
            "by": project.by,
            "at": at,
            "guideline": version_in_force(db, entry.stage) if entry.stage else "1",
        },
    )
    pointed = update(ARTIFACT).where(ARTIFACT.c.id == artifact_id)
    db.execute(pointed.values(revision=number, state=State.SEALED.value, sealed_at=at))
    return artifact_id, number


def facts(entry: TrayEntry) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads(entry.content)
    return tree


@dataclass(frozen=True, slots=True)
class TraySheet:
    """An entry with its document beside the present one (None for none); `withheld` says why neither is shown.

    `rows` are the units that belong together: those of the same id, the others by similarity as agreement has it.
    `headings` are the words of the units that labels speak of, `reports` the number of each report within its item;
    `consequence` says what taking it changes in the item's scores.
    """

    entry: TrayEntry
    person: str
    item_key: str
    question: str
    came: Document[Any] | None = None
    here: Document[Any] | None = None
    here_revision: int = 0
    rows: tuple[tuple[Unit | None, Unit | None], ...] = ()
    withheld: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    headings: dict[str, str] = field(default_factory=dict)
    reports: dict[str, int] = field(default_factory=dict)
    consequence: str = ""

    @property
    def may_be_accepted(self) -> bool:
        return bool(self.entry.stage and self.item_key) and self.entry.state is not TrayState.ACCEPTED


def sheets(project: Project, state: TrayState | None = TrayState.WAITING) -> list[TraySheet]:
    """What lies in the tray, without the documents, by item, person and revision."""
    there = entries(project, state)
    with project.store.read() as db:
        names, items = _names(db), _items(db)
    found = [
        TraySheet(entry, names.get(entry.person_id, ""), *items.get(entry.item_id, ("", "")))
        for entry in there
    ]
    return sorted(
        found, key=lambda sheet: (sheet.item_key, sheet.person, sheet.entry.revision, sheet.entry.id)
    )


def sheet(project: Project, sheet_: TraySheet) -> TraySheet:
    """The same entry with its documents, unless the person who looks works on that very item."""
    entry = sheet_.entry
    kind = entry.stage.kind if entry.stage else None
    if kind is None or entry.stage is None:
        return TraySheet(entry, sheet_.person, "", "", facts=_facts(entry))
    with project.store.read() as db:
        if words := _withheld(project, db, entry.item_id, entry.stage):
            return TraySheet(entry, sheet_.person, sheet_.item_key, sheet_.question, withheld=words)
        found = _here(db, entry, kind)
        came = document_of(kind, json.loads(entry.content))
        here = document_of(kind, json.loads(found.content)) if found else None
        return TraySheet(
            entry=entry, person=sheet_.person, item_key=sheet_.item_key, question=sheet_.question,
            came=came, here=here, here_revision=found.number if found else 0, rows=_rows(kind, came, here),
            headings=headings_of(db, entry.item_id) if kind is Kind.LABELS else {},
            reports=_reports(db, entry.item_id) if kind is Kind.LABELS else {},
            consequence=f"Taking it {gold.TAKES_SCORES}."
            if gold.is_second(project, kind, entry.item_id, entry.person_id) else "",
        )  # fmt: skip


def _names(db: Connection) -> dict[str, str]:
    return {row.id: row.name for row in db.execute(select(PERSON.c.id, PERSON.c.name))}


def _items(db: Connection) -> dict[str, tuple[str, str]]:
    question = select(ITEM.c.id, ITEM.c.key, ITEM.c.question)
    return {row.id: (row.key, row.question) for row in db.execute(question)}


def _facts(entry: TrayEntry) -> dict[str, str]:
    """What a package of another project says of itself, or nothing where its content is a document."""
    tree = facts(entry)
    told = {"file": "File", "project_id": "Project", "person_id": "Person"}
    return {words: str(tree[name]) for name, words in told.items() if name in tree}


def _withheld(project: Project, db: Connection, item_id: str, stage: Stage) -> str:
    """Blindness holds for a coordinator too: who answers or adjudicates an item sees nobody else's answer to it."""
    begun = select(ADJUDICATION.c.id).where(
        ADJUDICATION.c.item_id == item_id, ADJUDICATION.c.adjudicator_id == project.by
    )
    if assignments.adjudicator_of(db, item_id) == project.by or db.execute(begun).first():
        return "You adjudicate this item, so its annotators' work is not shown to you under their names."
    frozen = select(AGREEMENT.c.id).where(AGREEMENT.c.item_id == item_id, AGREEMENT.c.stage == stage.value)
    own = select(ARTIFACT.c.state).where(
        ARTIFACT.c.item_id == item_id, ARTIFACT.c.author_id == project.by,
        ARTIFACT.c.kind == (stage.kind.value if stage.kind else ""),
    )  # fmt: skip
    state = db.execute(own).scalar()
    works = state is not None or project.by in assignments.raters_of(db, item_id, stage)
    if state == State.DRAFT.value or (works and not db.execute(frozen).first()):
        return "You work on this item yourself, so nobody else's work on it is shown until you have finished."
    return ""


def _here(db: Connection, entry: TrayEntry, kind: Kind) -> Any:
    """The revision of the same number, where there is one, otherwise the newest sealed one of the same author."""
    question = (
        select(REVISION.c.number, REVISION.c.content)
        .join(ARTIFACT, ARTIFACT.c.id == REVISION.c.artifact_id)
        .where(
            ARTIFACT.c.item_id == entry.item_id,
            ARTIFACT.c.kind == kind.value,
            ARTIFACT.c.author_id == entry.person_id,
            REVISION.c.sealed.is_(True),
        )
        .order_by(REVISION.c.number != entry.revision, REVISION.c.number.desc())
    )
    return db.execute(question).first()


def _rows(
    kind: Kind, came: Document[Any], here: Document[Any] | None
) -> tuple[tuple[Unit | None, Unit | None], ...]:
    """The units that came, each with the one here that it belongs to, then those that are only here."""
    if here is None:
        return tuple((unit, None) for unit in came.units)
    partner = {unit.id: unit for unit in here.units}
    known = {unit.id for unit in came.units} & set(partner)
    left = [unit for unit in came.units if unit.id not in known]
    right = [unit for unit in here.units if unit.id not in known]
    found = {left[a].id: right[b] for a, b, _ in aligned(kind, left, right).pairs} if left and right else {}
    together = {unit.id: partner.get(unit.id) or found.get(unit.id) for unit in came.units}
    taken = {unit.id for unit in together.values() if unit is not None}
    alone = [(None, unit) for unit in here.units if unit.id not in taken]
    return (*((unit, together[unit.id]) for unit in came.units), *alone)


def _reports(db: Connection, item_id: str) -> dict[str, int]:
    rows = db.execute(select(RESPONSE.c.id).where(RESPONSE.c.item_id == item_id).order_by(RESPONSE.c.id))
    return {response_id: number for number, response_id in enumerate(rows.scalars(), start=1)}
