"""What lies in the tray: returned work that clashed, came late or was not asked for, until the coordinator decides."""

import json
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.engine import Connection

from annotator.actions.authoring.guidelines import version_in_force
from annotator.actions.parcels import returned_labels
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.project.recording import record
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.guideline import FORM
from annotator.domain.experts.parcel import Outcome, TrayEntry, TrayState
from annotator.domain.kinds.artifact import Kind, State, chain
from annotator.domain.texts.canonical import sha256
from annotator.domain.texts.change import Change
from annotator.domain.texts.identity import derived_id, now
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import ArtifactRow, ItemRow, RevisionRow, TrayRow, table

TRAY, ARTIFACT, REVISION, ITEM = table(TrayRow), table(ArtifactRow), table(RevisionRow), table(ItemRow)


def put(
    db: Connection,
    reason: Outcome,
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
                "This work belongs to another project, and only its description lies here.",
                "Set it aside, or take it in where it belongs.",
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
    people.refuse_others(project, "decides about the tray")
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
    """The entry's content as a JSON tree."""
    tree: dict[str, Any] = json.loads(entry.content)
    return tree
