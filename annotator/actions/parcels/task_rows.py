"""Records of a task as rows of its project: what is there stays, what is new is added."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Table, insert, select, update
from sqlalchemy.engine import Connection

from annotator.actions.items import extracts
from annotator.actions.project.hashing import item_hash, response_hash, source_hash
from annotator.domain.experts.assignment import Purpose
from annotator.domain.experts.guideline import FORM
from annotator.domain.experts.person import Person, Role
from annotator.domain.kinds.artifact import State, chain
from annotator.domain.kinds.documents import document_of
from annotator.domain.material.extract import IMPORT
from annotator.domain.material.extract import document_of as document_of_part
from annotator.domain.material.item import free_key
from annotator.domain.material.response import END_TO_END, EXEMPLAR
from annotator.domain.texts.canonical import canonical_json, sha256
from annotator.domain.texts.identity import derived_id, now
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.parcels import packages, parcels
from annotator.storage import tables, upserts
from annotator.storage.tables import table

ITEM, SOURCE, SOURCE_FILE = table(tables.ItemRow), table(tables.SourceRow), table(tables.SourceFileRow)
SYSTEM, RESPONSE, PERSON = table(tables.SystemRow), table(tables.ResponseRow), table(tables.PersonRow)
EXTRACT = table(tables.ExtractRow)
ARTIFACT, REVISION = table(tables.ArtifactRow), table(tables.RevisionRow)
ASSIGNMENT, GUIDELINE, PARCEL = (
    table(tables.AssignmentRow),
    table(tables.GuidelineRow),
    table(tables.ParcelRow),
)


def add_person(db: Connection, given: parcels.TaskPerson) -> Person:
    """The annotator whom the task is for."""
    person = Person(id=given.id, name=given.name, alias=given.alias, roles=Role.ANNOTATOR.value)
    _add(db, PERSON, person.model_dump())
    return person


def _add(db: Connection, where: Table, *rows: dict[str, Any]) -> None:
    """Add the rows whose id is not there yet; what is there stays as it is."""
    known = set(db.execute(select(where.c.id)).scalars())
    fresh = [row for row in rows if row["id"] not in known]
    if fresh:
        db.execute(insert(where), fresh)


def add_items(db: Connection, items: list[parcels.TaskItem]) -> None:
    """The items; one whose key is taken here is given a free one."""
    rows = []
    named = {row.id: row.key for row in db.execute(select(ITEM.c.id, ITEM.c.key))}
    for item in items:
        if item.id not in named:
            named[item.id] = free_key(item.key, set(named.values()))
        fields = {
            **item.model_dump(include=set(parcels.TaskItem.model_fields)),
            "key": named.get(item.id, item.key),
            "dataset": "",
            "retired": False,
        }
        rows.append(fields | {"sha256": item_hash(fields)})
    _add(db, ITEM, *rows)


def add_sources(db: Connection, sources: list[parcels.TaskSource], entries: Mapping[str, bytes]) -> None:
    """The sources, with the PDF of those that are new."""
    known = set(parcels.TaskSource.model_fields)
    fresh = set(db.execute(select(SOURCE.c.id)).scalars())
    rows = [
        {
            **source.model_dump(include=known),
            "format": source.format.value,
            "transcript": source.transcript,
            "sha256": source_hash(source.text),
        }
        for source in sources
    ]
    _add(db, SOURCE, *rows)
    for source in sources:
        content = entries.get(f"{parcels.PDFS}{source.id}.pdf")
        if content is not None and source.id not in fresh:
            db.execute(
                insert(SOURCE_FILE),
                {"source_id": source.id, "content": content, "sha256": sha256(content)},
            )


def add_reports(db: Connection, reports: list[parcels.TaskReport]) -> None:
    """Reports of nameless systems, numbered again within each item so that no two items can be linked."""
    known = {
        row.id: row for row in db.execute(select(RESPONSE.c.id, RESPONSE.c.item_id, RESPONSE.c.system_id))
    }
    taken: dict[str, int] = {}
    for row in known.values():
        taken[row.item_id] = taken.get(row.item_id, 0) + 1
    systems, rows = {}, []
    for report in reports:
        if report.id in known:
            continue
        number = taken[report.item_id] = taken.get(report.item_id, 0) + 1
        system_id = derived_id("nameless system", number)
        systems[system_id] = {"id": system_id, "name": f"Report {number}", "notes": ""}
        rows.append(
            {
                "id": report.id, "item_id": report.item_id, "system_id": system_id, "text": report.text,
                "trial": report.group,
                "mode": EXEMPLAR if report.exemplar else END_TO_END, "sha256": response_hash(report.text),
            }
        )  # fmt: skip
    _add(db, SYSTEM, *systems.values())
    if rows:
        db.execute(insert(RESPONSE), rows)


def keep_drawn(db: Connection, given: list[parcels.TaskPart], reports: list[parcels.TaskReport]) -> None:
    """What was drawn from the reports; of later tasks only what is new, for what was labelled stays."""
    item_of = {report.id: report.item_id for report in reports}
    there = {tuple(row) for row in db.execute(select(EXTRACT.c.response_id, EXTRACT.c.kind))}
    for one in given:
        if (one.report_id, one.part.value) not in there:
            document = document_of_part(one.part.value, one.report_id, one.document)
            extracts.keep_row(
                db, extracts.NewExtract(item_of[one.report_id], one.report_id, one.part, document, IMPORT)
            )


def keep_document(db: Connection, name: str, given: parcels.TaskDocument) -> None:
    """The settled document to label by; one that has changed since becomes a further revision of the same."""
    artifact_id, known = _settled(db, name, given)
    content = canonical_json(document_of(given.kind, given.document).tree())
    newest = db.execute(
        select(REVISION.c.number, REVISION.c.sha256, REVISION.c.chain)
        .where(REVISION.c.artifact_id == artifact_id)
        .order_by(REVISION.c.number.desc())
    ).first()
    if not known:
        row = {"id": given.id, "item_id": given.item_id, "kind": given.kind.value, "author_id": ""}
        db.execute(insert(ARTIFACT).values(**row, state=State.CONSENSUS.value, revision=1))
    elif newest is not None and newest.sha256 == sha256(content):
        return
    number, before = (newest.number + 1, newest.chain) if newest else (1, "")
    digest = sha256(content)
    db.execute(
        insert(REVISION),
        {
            "id": derived_id("revision", artifact_id, number, digest),
            "artifact_id": artifact_id,
            "number": number,
            "content": content.decode(),
            "sha256": digest,
            "chain": chain(before, digest),
            "sealed": True,
            "reason": "",
            "guideline": "1",
            "form": FORM,
            "verb": "open task",
            "by": "",
            "at": now(),
        },
    )
    db.execute(update(ARTIFACT).where(ARTIFACT.c.id == artifact_id).values(revision=number))


def _settled(db: Connection, name: str, given: parcels.TaskDocument) -> tuple[str, bool]:
    """Under which id a settled document is kept here, and whether it is here already.

    Refusal when it would take the place of what the annotator wrote, or of another item's document.
    """
    own = given.item_id, given.kind.value, ""
    where = ARTIFACT.c.item_id, ARTIFACT.c.kind, ARTIFACT.c.author_id
    there = db.execute(select(*where).where(ARTIFACT.c.id == given.id)).first()
    if there is not None and tuple(there) != own:
        whose = "you wrote" if there.author_id else "belongs to another item"
        raise Refusal(
            f"“{name}” would replace a {there.kind} that {whose}.",
            "Nothing was changed: a task never touches its annotator's own work. Tell the coordinator.",
        )
    same = (column == value for column, value in zip(where, own, strict=True))
    found = db.execute(select(ARTIFACT.c.id).where(*same)).scalar()
    return found or given.id, found is not None


def _purpose(one: parcels.TaskAssignment) -> Purpose:
    return Purpose.REVIEW if one.review else Purpose.PILOT if one.pilot else Purpose.WORK


def add_assignments(db: Connection, person_id: str, given: list[parcels.TaskAssignment]) -> None:
    """What the annotator is asked for; later tasks change when and by which protocols."""
    rows = [
        {
            "id": derived_id("assignment", one.item_id, person_id, one.stage.value), "item_id": one.item_id,
            "person_id": person_id, "stage": one.stage.value, "trial": 1, "due": one.due, "protocols": one.protocols,
            "purpose": _purpose(one).value, "not_before": None, "submitted_at": None,
        }
        for one in given
    ]  # fmt: skip
    _add(db, ASSIGNMENT, *rows)
    for row in rows:
        changed = {name: row[name] for name in ("due", "protocols")}
        db.execute(update(ASSIGNMENT).where(ASSIGNMENT.c.id == row["id"]).values(changed))


def add_guidelines(db: Connection, given: list[parcels.TaskGuideline]) -> None:
    """The guidelines in force."""
    rows = [
        {
            "id": derived_id("guideline", one.stage.value, one.version), "stage": one.stage.value,
            "version": one.version, "text": one.text, "by": "", "at": one.at,
        }
        for one in given
    ]  # fmt: skip
    _add(db, GUIDELINE, *rows)


def remember(db: Connection, package: packages.Package) -> None:
    """Note that this task was opened."""
    row = {
        "sha256": package.sha256, "direction": "in", "person_id": package.manifest.person_id,
        "package_id": package.manifest.package_id, "receipt": "", "content": json.dumps({}), "at": now(),
    }  # fmt: skip
    upserts.add_missing(db, PARCEL, row)
