"""Contents of an annotator's work file: their sealed revisions and objections."""

import json
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlalchemy import Row, func, select
from sqlalchemy.engine import Connection

from annotator import __version__
from annotator.actions.assignments import reviewing
from annotator.actions.authoring import draft_provenance
from annotator.actions.authoring.draft_provenance import Drafted
from annotator.actions.parcels import origins, packing, parcel_secrets
from annotator.actions.parcels.packing import PackedTask, keep, place_of
from annotator.actions.project.file import CHANGED_WITH, Project, record
from annotator.domain.kinds.artifact import State
from annotator.domain.texts.canonical import canonical_json, sha256
from annotator.domain.texts.change import Change, derived_id, now
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.parcels import packages, parcels
from annotator.storage import upserts
from annotator.storage.tables import ARTIFACT, DISPUTE, META, PARCEL, REVISION, TIME


def pack(project: Project, person_id: str = "", path: Path | None = None) -> PackedTask:
    """Pack a task for a person, or, in a file that was made from a task, the work that goes back."""
    if origins.origin(project) is not None:
        return work(project, path)
    if not person_id:
        raise Refusal("No person is given for the task.", "Name the person: --person ID.")
    return packing.task(project, person_id, path)


def work(project: Project, path: Path | None = None) -> PackedTask:
    """Write what this person has submitted; the same work gives the same bytes.

    Drafts stay here and are counted in the notes. Refusal when nothing was submitted yet.
    """
    found = origins.origin(project)
    if found is None:
        raise Refusal("This project was not made from a task.", "Nothing needs to be sent back from here.")
    # Kept before anything is signed with it.
    key = parcel_secrets.signing_key(project)
    with project.store.write() as db:
        artifacts, drafts = _artifacts(db, found.person_id)
        question = select(DISPUTE).where(DISPUTE.c.person_id == found.person_id).order_by(DISPUTE.c.item_id)
        disputes = [
            parcels.WorkDispute(item_id=row.item_id, stage=row.stage, text=row.text, at=row.at)
            for row in db.execute(question)
        ]
        given = (line.review for line in reviewing.lines(project) if not line.reviewer_id)
        answers = [
            parcels.WorkAnswer(
                artifact_id=one.artifact_id, agreed=one.agreed, text=one.answer, at=one.answered_at
            )
            for one in given
            if one is not None and one.agreed is not None
        ]
        if not artifacts and not disputes and not answers:
            raise Refusal(
                "Nothing is submitted yet.", "Submit a document first; drafts stay on this computer."
            )
        records: dict[str, list[Any]] = {
            "artifacts.json": artifacts,
            "disputes.json": disputes,
            "answers.json": answers,
        }
        entries = parcels.packed(records)
        facts = _facts(found, entries, _changed_with(db))
        content = packages.package_bytes(facts, entries, key)
        place = place_of(project, path, "work", packages.suffix(packages.WORK))
        keep(place, content, facts)
        receipt = packages.receipt_code(sha256(content))
        held = {
            "file": place.name,
            "sealed": {artifact.id: artifact.revisions[-1].number for artifact in artifacts},
            "disputes": len(disputes),
        }
        _remember(project, db, found.person_id, content, receipt, held)
    items = {artifact.item_id for artifact in artifacts}
    notes = (f"{drafts} documents are not submitted yet and stay here.",) if drafts else ()
    words = packages.fingerprint(packages.public_key(key))
    return PackedTask(place, found.person_id, len(items), len(artifacts), len(content), receipt, words, notes)


def _artifacts(db: Connection, person_id: str) -> tuple[list[parcels.WorkArtifact], int]:
    """The person's artifacts that were ever sealed, by id, and how many others there are."""
    question = (
        select(
            ARTIFACT.c.id.label("artifact_id"),
            ARTIFACT.c.item_id,
            ARTIFACT.c.kind,
            ARTIFACT.c.state,
            REVISION,
        )
        .join(REVISION, REVISION.c.artifact_id == ARTIFACT.c.id)
        .where(ARTIFACT.c.author_id == person_id, ARTIFACT.c.state != State.CONSENSUS.value)
        .order_by(ARTIFACT.c.id, REVISION.c.number)
    )
    rows: defaultdict[str, list[Row[Any]]] = defaultdict(list)
    for row in db.execute(question):
        rows[row[0]].append(row)
    seconds, drafted = _seconds(db, person_id), draft_provenance.of_artifacts(db, rows)
    reviews = {one.artifact_id: one for one in reviewing.all_kept(db)}
    made = [
        parcels.WorkArtifact(
            id=artifact_id, item_id=history[0].item_id, kind=history[0].kind, revisions=_sealed(history),
            seconds=round(seconds.get(artifact_id, 0.0), 1), drafted=_drafted(drafted.get(artifact_id, {}), history),
            review=reviews.get(artifact_id),
        )
        for artifact_id, history in rows.items()
        if any(row.sealed for row in history)
    ]  # fmt: skip
    drafts = sum(history[-1].state == State.DRAFT.value for history in rows.values())
    return made, drafts


def _sealed(history: list[Row[Any]]) -> tuple[parcels.WorkRevision, ...]:
    """The sealed revisions, each with the hashes of what lies between it and the sealed one before."""
    made, between = [], []
    for row in history:
        if not row.sealed:
            between.append(row.sha256)
            continue
        made.append(
            parcels.WorkRevision(
                number=row.number, content=json.loads(row.content), sha256=row.sha256, chain=row.chain,
                skipped=tuple(between), guideline=row.guideline, form=row.form, reason=row.reason, at=row.at,
            )
        )  # fmt: skip
        between = []
    return tuple(made)


def _drafted(drafted: Drafted, history: list[Row[Any]]) -> tuple[parcels.DraftedUnit, ...]:
    """The units of the sealed revisions that came from a model's draft; what stays here is not told of."""
    sealed = (json.loads(row.content)["units"] for row in history if row.sealed)
    ids = dict.fromkeys(unit["id"] for units in sealed for unit in units)
    return tuple(
        parcels.DraftedUnit(unit_id=unit_id, **asdict(source))
        for unit_id, source in draft_provenance.standing(drafted, ids).items()
    )


def _seconds(db: Connection, person_id: str) -> dict[str, float]:
    question = select(TIME.c.subject, func.sum(TIME.c.seconds)).where(TIME.c.person_id == person_id)
    return {subject: float(total) for subject, total in db.execute(question.group_by(TIME.c.subject))}


def _changed_with(db: Connection) -> list[str]:
    """The versions of the program that changed this project, this one last."""
    keys = db.execute(select(META.c.key).where(META.c.key.startswith(CHANGED_WITH))).scalars()
    return [*sorted({key.removeprefix(CHANGED_WITH) for key in keys} - {__version__}), __version__]


def _facts(
    found: origins.TaskOrigin, entries: dict[str, bytes], programs: list[str]
) -> packages.PackageFacts:
    content = sha256(canonical_json({name: sha256(entry) for name, entry in entries.items()}))
    return packages.PackageFacts(
        format=packages.WORK,
        package_id=derived_id("work", found.project_id, found.person_id, content),
        project_id=found.project_id,
        person_id=found.person_id,
        extra={"programs": programs},
    )


def _remember(
    project: Project, db: Connection, person_id: str, content: bytes, receipt: str, held: dict[str, Any]
) -> None:
    digest = sha256(content)
    row = {
        "sha256": digest, "direction": "out", "person_id": person_id, "package_id": digest, "receipt": receipt,
        "content": json.dumps(held), "at": now(),
    }  # fmt: skip
    upserts.add_missing(db, PARCEL, row)
    record(project, db, Change("parcel", digest, "pack work", after={"receipt": receipt}))
