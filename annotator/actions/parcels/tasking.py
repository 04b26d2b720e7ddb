"""Opening a task file: it becomes a project of its own, and later tasks add to it."""

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from annotator.actions.assignments import reviewing
from annotator.actions.authoring import criterion_weights
from annotator.actions.items import items, pages, renderings
from annotator.actions.parcels import origins, parcel_secrets, task_rows
from annotator.actions.project import backups, people
from annotator.actions.project.bulk import Progress
from annotator.actions.project.file import SUFFIX, Project
from annotator.actions.project.recording import record
from annotator.domain.experts.digest import RECEIVED
from annotator.domain.material.page import Page, PageFields
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.parcels import packages, parcels
from annotator.places import user_data
from annotator.storage import search
from annotator.storage.location import is_passing


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
            _hold(project)
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


def _hold(project: Project) -> None:
    try:
        project.hold()
    except Refusal as busy:
        raise Refusal(
            busy.happened,
            "Drop the task on that window, or close it and open the task again; nothing was changed.",
        ) from None


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
        person = task_rows.add_person(db, records["person.json"][0])
        parcel_secrets.signing_key(project)
        project.work_as(person)
        criterion_weights.take(project, facts.weights)
        task_rows.add_items(db, records["items.json"])
        task_rows.add_sources(db, records["sources.json"], package.entries)
        task_rows.add_reports(db, records["reports.json"])
        task_rows.keep_drawn(db, records["parts.json"], records["reports.json"])
        for page in records["pages.json"]:
            pages.take_in(project, Page(**page.model_dump(include=set(PageFields.model_fields))))
        for document in records["documents.json"]:
            task_rows.keep_document(db, package.name, document)
        task_rows.add_assignments(db, person.id, records["assignments.json"])
        task_rows.add_guidelines(db, records["guidelines.json"])
        for draft in records["drafts.json"]:
            reviewing.take_draft(
                project, draft.item_id, draft.kind, draft.author, draft.revision, draft.document
            )
        for came in records["reviews.json"]:
            reviewing.take_review(project, came.review, came.document)
        for feedback in records["feedback.json"]:
            digest = [each.model_dump(mode="json") for each in feedback.digest]
            project.set(f"{RECEIVED}{feedback.item_id}", digest)
        task_rows.remember(db, package)
        record(
            project,
            db,
            Change("parcel", package.sha256, "open task", after={"task": package.manifest.package_id}),
        )
        search.rebuild(db)
