"""Opening a task file: it becomes a project of its own, and later tasks add to it."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Table, insert, select, update
from sqlalchemy.engine import Connection

from annotator.actions.assignments import reviewing
from annotator.actions.authoring import criterion_weights
from annotator.actions.items import extracts, items, pages, renderings
from annotator.actions.parcels import origins, parcel_secrets
from annotator.actions.project import backups, people
from annotator.actions.project.bulk import Progress
from annotator.actions.project.file import SUFFIX, Project, record
from annotator.actions.project.hashing import item_hash, response_hash, source_hash
from annotator.domain.experts.assignment import Purpose
from annotator.domain.experts.digest import RECEIVED
from annotator.domain.experts.guideline import FORM
from annotator.domain.experts.person import Person, Role
from annotator.domain.kinds.artifact import State, chain
from annotator.domain.kinds.documents import document_of
from annotator.domain.material.extract import IMPORT
from annotator.domain.material.extract import document_of as document_of_part
from annotator.domain.material.item import free_key
from annotator.domain.material.page import Page, PageFields
from annotator.domain.material.response import END_TO_END, EXEMPLAR
from annotator.domain.texts.canonical import canonical_json, sha256
from annotator.domain.texts.change import Change, derived_id, now
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.parcels import packages, parcels
from annotator.places import user_data
from annotator.storage import search, upserts
from annotator.storage.location import is_passing
from annotator.storage.tables import (
    ARTIFACT,
    ASSIGNMENT,
    EXTRACT,
    GUIDELINE,
    ITEM,
    PARCEL,
    PERSON,
    RESPONSE,
    REVISION,
    SOURCE,
    SOURCE_FILE,
    SYSTEM,
)


@dataclass(frozen=True, slots=True)
class OpenedTask:
    """The result of opening a task: its project, whether it is new, and the number of new items.

    `words` are the six words of the key that signed it, empty when no person did; `pinned` says that this key was
    seen for the first time.
    """

    project: Project
    made: bool
    new_items: int
    words: str = ""
    pinned: bool = False


def take_task(
    task_path: Path,
    project_path: Path | None = None,
    *,
    known: Sequence[Path] = (),
    folder: Path | None = None,
    alone: bool = False,
    shown: Path | None = None,
    progress: Progress | None = None,
) -> OpenedTask:
    """The project of a task, made now or opened and brought up to date; nothing the annotator wrote is touched.

    By default it lies beside the task and is named after the project and the person. Refusal when the package is
    damaged, or when another project lies where this one should.

    `known` are projects one of which may be this task's already, wherever it lies; `folder` is where a new one
    is made instead of beside the task. With `alone` it is refused when another window has the project open, unless
    that is the window over `shown`.
    """
    package = packages.read_package(task_path, packages.TASK)
    facts = origins.facts_of(package)
    records = parcels.task(package)
    beside = folder / task_path.name if folder else task_path
    path = _path(package, records["person.json"][0], beside, project_path, known)
    take = partial(_take, package=package, facts=facts, records=records)
    words = packages.fingerprint(package.signer) if package.signer else ""
    if not path.exists():
        made = Project.create(path, facts.title or path.stem, fill=take)
        renderings.warm(made, progress)
        return OpenedTask(made, True, items.count(made), words, pinned=bool(words))
    with ExitStack() as undone:
        project = _opened(package, path)
        undone.callback(project.close)
        before = origins.origin(project)
        # What cannot be taken is refused before a backup is made.
        origins.followed(project, package, facts)
        if alone and not (shown and path.resolve() == shown.resolve()):
            try:
                project.hold()
            except Refusal as busy:
                raise Refusal(
                    busy.happened,
                    "Drop the task on that window, or close it and open the task again; nothing was changed.",
                ) from None
        already, fresh = items.count(project), not people.people(project)
        if not fresh:
            backups.make(project, "before importing a task")
        take(project)
        new_items = items.count(project) - already
        undone.pop_all()
    renderings.warm(project, progress)
    pinned = bool(words) and not (before and before.key)
    return OpenedTask(project, fresh, new_items, words, pinned)


def signed_words(opened: OpenedTask) -> str:
    """By whom a task that was opened is signed, and what to do about it the first time."""
    if not opened.words:
        return "It is not signed by a person: an older Goldsmith wrote it, and anyone could have."
    if not opened.pinned:
        return f"Signed with the same key as before: “{opened.words}”."
    return (
        f"Signed with a key seen for the first time: “{opened.words}”. Ask the coordinator whether their Exchange page "
        "shows the same six words; from now on only tasks signed with it are opened here."
    )


def kept_in(task_path: Path) -> Path | None:
    """The folder in which a task's project is made when the task lies where files are cleared away, or None."""
    if not is_passing(task_path.parent):
        return None
    folder = user_data() / "projects"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _path(
    package: packages.Package,
    person: parcels.TaskPerson,
    task: Path,
    wanted: Path | None,
    known: Sequence[Path],
) -> Path:
    if wanted is not None:
        return wanted if wanted.suffix == SUFFIX else wanted.with_name(wanted.name + SUFFIX)
    facts = package.manifest
    if home := origins.project_of_task(known, facts.project_id, facts.person_id):
        return home
    title = re.sub(r"[^\w.-]+", "-", str(facts.extra.get("title") or "task")).strip("-.") or "task"
    alias = re.sub(r"[^\w-]+", "-", person.alias)
    return task.with_name(f"{title[:60]}-{alias}{SUFFIX}")


def _opened(package: packages.Package, path: Path) -> Project:
    project = Project.open(path)
    found = origins.origin(project)
    facts = package.manifest
    # A project in which nobody works is one whose making was cut short.
    if found is None and not people.people(project):
        return project
    if found is None or (found.project_id, found.person_id) != (facts.project_id, facts.person_id):
        project.close()
        raise Refusal(
            f"“{path.name}” is another project than the one this task belongs to.",
            "Choose another name for the task's project; nothing was changed.",
        )
    return project


def _take(
    project: Project, package: packages.Package, facts: origins.TaskFacts, records: Mapping[str, list[Any]]
) -> None:
    with project.store.write() as db:
        origins.keep(project, origins.followed(project, package, facts))
        person = add_person(db, records["person.json"][0])
        parcel_secrets.signing_key(project)
        project.work_as(person)
        criterion_weights.take(project, facts.weights)
        add_items(db, records["items.json"])
        add_sources(db, records["sources.json"], package.entries)
        add_reports(db, records["reports.json"])
        keep_drawn(db, records["parts.json"], records["reports.json"])
        for page in records["pages.json"]:
            pages.take_in(project, Page(**page.model_dump(include=set(PageFields.model_fields))))
        for document in records["documents.json"]:
            keep_document(db, package.name, document)
        add_assignments(db, person.id, records["assignments.json"])
        add_guidelines(db, records["guidelines.json"])
        for draft in records["drafts.json"]:
            reviewing.take_draft(
                project, draft.item_id, draft.kind, draft.author, draft.revision, draft.document
            )
        for came in records["reviews.json"]:
            reviewing.take_review(project, came.review, came.document)
        for feedback in records["feedback.json"]:
            digest = [each.model_dump(mode="json") for each in feedback.digest]
            project.set(f"{RECEIVED}{feedback.item_id}", digest)
        remember(db, package)
        record(
            project,
            db,
            Change("parcel", package.sha256, "open task", after={"task": package.manifest.package_id}),
        )
        search.rebuild(db)


def add_person(db: Connection, given: parcels.TaskPerson) -> Person:
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
    rows = [
        {
            "id": derived_id("guideline", one.stage.value, one.version), "stage": one.stage.value,
            "version": one.version, "text": one.text, "by": "", "at": one.at,
        }
        for one in given
    ]  # fmt: skip
    _add(db, GUIDELINE, *rows)


def remember(db: Connection, package: packages.Package) -> None:
    row = {
        "sha256": package.sha256, "direction": "in", "person_id": package.manifest.person_id,
        "package_id": package.manifest.package_id, "receipt": "", "content": json.dumps({}), "at": now(),
    }  # fmt: skip
    upserts.add_missing(db, PARCEL, row)
