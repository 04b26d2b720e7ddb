"""Opening a task file: it becomes a project of its own, and later tasks add to it."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field
from sqlalchemy import Connection, Table, insert, select, update

from annotator.actions.assignments import reviewing
from annotator.actions.authoring import artifacts, settings
from annotator.actions.items import extracts, items, materials, pages
from annotator.actions.labelling import label_cases
from annotator.actions.parcels import adjudications, known_keys
from annotator.actions.project import backups, people, shared
from annotator.actions.project.file import (
    ORIGIN,
    SUFFIX,
    Progress,
    Project,
    item_hash,
    record,
    response_hash,
    settings_of,
    source_hash,
)
from annotator.domain.common import Change, Refusal, Text, canonical_json, derived_id, now, required, sha256
from annotator.domain.experts.assignment import RECEIVED, Assignment, Person, Purpose, Role
from annotator.domain.judges.protocol import REPORT, Material, Protocol
from annotator.domain.kinds.artifact import State
from annotator.domain.kinds.documents import document_of
from annotator.domain.material.extract import document_of as document_of_part
from annotator.domain.material.item import END_TO_END, EXEMPLAR, IMPORT, Page, free_key
from annotator.domain.stored import PageFields
from annotator.exchange.parcels import packages, parcels
from annotator.exchange.release.bundle import fitting
from annotator.places import user_data
from annotator.protocols import PROTOCOLS, assigned_protocols
from annotator.protocols.profiles import HELD
from annotator.storage import store
from annotator.storage.opening import is_passing
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
    add_missing,
)


@dataclass(frozen=True, slots=True)
class ServedAssignment:
    assignment: Assignment
    item_id: str
    again: bool

    @property
    def protocols(self) -> list[Protocol]:
        return [PROTOCOLS[name] for name in assigned_protocols(self.assignment.protocols)]


def report_alias(project: Project, person_id: str, response_id: str, again: bool) -> str:
    """The id under which a report is served to a person, different for a repeat."""
    return known_keys.alias_of(project, person_id, f"{'again/' if again else ''}{response_id}")


def gathered(project: Project, person: Person, labelled: Sequence[ServedAssignment]) -> dict[str, list[Any]]:
    """The records that a person needs to label what was handed out to them, by entry.

    They are sorted by aliases, so that no order reveals anything. Raises Refusal if an item has nothing to ask.
    """
    reports, parts = list[parcels.TaskReport](), list[parcels.TaskPart]()
    pages: dict[str, parcels.TaskPage] = {}
    for assignment in labelled:
        _add_item(project, person, assignment, reports, parts, pages)
    return {
        "reports.json": sorted(reports, key=lambda report: (report.item_id, report.id)),
        "parts.json": sorted(parts, key=lambda part: (part.report_id, part.part)),
        "pages.json": [pages[url] for url in sorted(pages)],
    }


def _add_item(
    project: Project, person: Person, assignment: ServedAssignment, task_reports: list[parcels.TaskReport],
    task_parts: list[parcels.TaskPart], pages: dict[str, parcels.TaskPage],
) -> None:  # fmt: skip
    parts = {part for protocol in assignment.protocols for part in protocol.parts}
    needs = tuple(dict.fromkeys(kind for protocol in assignment.protocols for kind in protocol.needs))
    read = any(protocol.presentation.read != REPORT for protocol in assignment.protocols)
    reading = materials.MaterialRequest(needs, pages=read, parts=bool(parts))
    (at_hand,) = materials.each(project, reading, [assignment.assignment.item_id])
    by_protocol = {
        protocol.name: _dealt(project, person, protocol, at_hand.responses)
        for protocol in assignment.protocols
    }
    for protocol in assignment.protocols if assignment.assignment.protocols else ():
        if not any(
            label_cases.cases_of(project, protocol, each, person.id) for each in by_protocol[protocol.name]
        ):
            raise Refusal(
                f"{protocol.title}: item {at_hand.item.key} has nothing to label yet.",
                "Complete its gold, its extracts, cited pages or reports, or take it out of the plan.",
            )
    alias = partial(report_alias, project, person.id, again=assignment.again)
    chosen = {each.response.id: each for served in by_protocol.values() for each in served}
    beside = {
        each.response.id: each
        for each in at_hand.responses
        if each.response.mode == EXEMPLAR and each.response.id not in chosen
    }
    chosen |= beside if any(protocol.exemplar for protocol in assignment.protocols) else {}
    groups: dict[tuple[int, str], int] = {}
    for response_id in sorted(chosen, key=alias):
        each, exemplar = chosen[response_id], chosen[response_id].response.mode == EXEMPLAR
        group = groups.setdefault((each.response.trial, each.response.mode), len(groups) + 1)
        task_reports.append(
            parcels.TaskReport(
                id=alias(response_id),
                item_id=assignment.item_id,
                text=each.response.text,
                group=group if assignment.assignment.protocols else 1,
                exemplar=exemplar,
            )
        )
        for part in parts & each.parts.keys() if response_id not in beside else ():
            document: dict[str, Any] = each.parts[part].tree()
            units = [{**unit, "note": ""} for unit in document["units"]]
            task_parts.append(
                parcels.TaskPart(
                    report_id=alias(response_id), part=part, document={**document, "units": units}
                )
            )
        for page in each.pages.values():
            fields = {name: getattr(page, name) for name in parcels.TaskPage.model_fields}
            pages[page.url] = parcels.TaskPage(**fields)


def _dealt(project: Project, person: Person, protocol: Protocol, every: Iterable[Material]) -> list[Material]:
    listed = list(every)
    with project.store.read() as db:
        sampled = label_cases.narrowed(db, person.id, protocol.name)
    return [
        each
        for each in listed
        if each.response.id in sampled.get(each.item.id, {each.response.id})
        and protocol.mode in ("", each.response.mode)
    ]


def drafts(project: Project, db: Connection, served: list[ServedAssignment]) -> list[parcels.TaskDraft]:
    aliases, made = {person.id: person.alias for person in people.people(project)}, []
    for assignment in served:
        kind = assignment.assignment.stage.kind
        if assignment.assignment.purpose is Purpose.REVIEW and kind is not None:
            result = required(
                reviewing.next_version(
                    project, db, assignment.item_id, kind, assignment.assignment.person_id
                ),
                "A draft that they review is not submitted yet, or another review of it is not answered.",
                "Write the task once it is.",
            )
            author, revision, tree = result
            alias = aliases.get(author, author)
            made.append(
                parcels.TaskDraft(
                    item_id=assignment.item_id, kind=kind, author=alias, revision=revision, document=tree
                )
            )
    return made


def reviews(db: Connection, person: Person, items: Collection[str]) -> list[parcels.TaskReview]:
    made = []
    for review in reviewing.all_reviews(db):
        if review.author != person.id or review.item_id not in items:
            continue
        artifact = artifacts.read_newest(db, review.artifact_id).artifact
        if artifact.state is not State.DRAFT:
            made.append(
                parcels.TaskReview(
                    artifact_id=artifact.id,
                    item_id=review.item_id,
                    review=review.model_copy(update={"author": person.alias}),
                    document=artifact.document.tree(),
                )
            )
    return made


@dataclass(frozen=True, slots=True)
class TaskOrigin:
    """The origin of a project made from a task: project, key, and the tasks opened.

    `key` is the coordinator's public key, empty while no task was signed by a person; `secret` is that of format 1.
    `number` and `at` are the highest of the opened tasks, `newest` is the hash of the one opened last.
    """

    project_id: str
    person_id: str
    key: str = ""
    secret: str = ""
    number: int = 0
    at: str = ""
    newest: str = ""


def origin(project: Project) -> TaskOrigin | None:
    """The origin of this project's task; None if it was not made from one."""
    stored = project.get(ORIGIN)
    if not stored:
        return None
    known = {field.name: stored[field.name] for field in fields(TaskOrigin) if field.name in stored}
    return TaskOrigin(project_id=stored["project"], person_id=stored["person"], **known)


def keep(project: Project, known: TaskOrigin) -> None:
    tree = asdict(known)
    project.set(ORIGIN, {"project": tree.pop("project_id"), "person": tree.pop("person_id"), **tree})


def sender_words(project: Project) -> str:
    """The six words of the key that signed this project's tasks; empty if no person signed one."""
    result = origin(project)
    return packages.fingerprint(result.key) if result and result.key else ""


def replacement(project: Project, path: Path, _person_id: str = "") -> known_keys.Replacement:
    """The key that signed a task, to replace the one that signed this project's tasks; applied by `make`."""
    known, package = origin(project), packages.read_package(path, packages.TASK)
    facts = package.manifest
    if known is None or (facts.project_id, facts.person_id) != (known.project_id, known.person_id):
        raise Refusal(f"“{package.name}” does not belong to this project.", "Nothing was changed.")
    if not package.signer:
        raise Refusal(f"“{package.name}” is not signed by a person.", packages.AGAIN)
    words, before, source = packages.fingerprint(package.signer), sender_words(project), known
    instead = f", instead of “{before}”" if before else ""
    return known_keys.Replacement(words, before, (
        f"From now on only tasks signed with “{words}”{instead} are opened in this project. Your work stays "
        "unchanged. Anyone with that key counts as the coordinator, so ask for these six words, by "
        "telephone or in person, "
        "and not by answering the mail that brought the task."
    ), lambda project: _trust(project, source, package.signer))  # fmt: skip


def _trust(project: Project, known: TaskOrigin, key: str) -> Change:
    with project.store.write() as db:
        keep(project, replace(known, key=key))
        return record(
            project, db, Change("key", "sender", "replace", after={"key": key, "instead_of": known.key})
        )


class TaskFacts(BaseModel, defer_build=True):
    title: Text = ""
    number: int = Field(default=0, ge=0, le=10**9)
    at: parcels.Moment | None = None
    secret: str = Field(default="", pattern=r"^([0-9a-f]{2})*$")
    weights: Text = ""


def facts_of(package: packages.Package) -> TaskFacts:
    """The facts of a task; raises Refusal if they are invalid, or if a task of format 1 was changed."""
    facts = fitting(TaskFacts, package.manifest.extra, f"“{package.name}”", packages.AGAIN)
    if not package.signer:
        packages.refuse_forged(package, bytes.fromhex(facts.secret))
    elif facts.at is None:
        raise Refusal(f"“{package.name}” does not state when it was made.", packages.AGAIN)
    return facts


def followed(project: Project, package: packages.Package, facts: TaskFacts) -> TaskOrigin:
    """The origin after this task; raises Refusal if someone else made it, or if a newer one was opened before."""
    known, at = origin(project), facts.at.isoformat() if facts.at else ""
    new = TaskOrigin(
        project_id=package.manifest.project_id, person_id=package.manifest.person_id, key=package.signer,
        secret=facts.secret, number=facts.number, at=at, newest=package.sha256,
    )  # fmt: skip
    if known is None:
        return new
    _refuse_other_sender(known, package, facts)
    # A clock set back, or a project restored from a backup, lowers one of the two; only age lowers both.
    same = (new.number, new.at) == (known.number, known.at)
    older = not same and new.number <= known.number and new.at <= known.at
    if package.sha256 != known.newest and (older or _opened_before(project, package, known)):
        raise Refusal(
            f"“{package.name}” is older than the newest task that was opened in this project.",
            "Nothing was changed. Open the project itself to go on; if this should be the newest task, ask for it "
            "again.",
        )
    return replace(
        new, secret=new.secret or known.secret, number=max(new.number, known.number), at=max(new.at, known.at)
    )


def _opened_before(project: Project, package: packages.Package, known: TaskOrigin) -> bool:
    """Whether a task was opened here and another after it; tasks of format 1 have no number."""
    hashes = list(
        project.query(
            select(PARCEL.c.sha256).where(PARCEL.c.direction == "in").order_by(PARCEL.c.at.desc())
        ).scalars()
    )
    return package.sha256 in hashes and package.sha256 != (known.newest or hashes[0])


def _refuse_other_sender(known: TaskOrigin, package: packages.Package, facts: TaskFacts) -> None:
    if known.key and not package.signer:
        raise Refusal(
            f"“{package.name}” has an older format without a personal signature, and the tasks of this "
            "project are signed.",
            "Nothing was changed. Ask the coordinator to write the task again with their present Goldsmith.",
        )
    if known.key and known.key != package.signer:
        raise Refusal(
            f"“{package.name}” is signed with a different key than earlier tasks: "
            f"“{packages.fingerprint(package.signer)}”, not “{packages.fingerprint(known.key)}”.",
            "Nothing was changed. Ask the coordinator, not by answering this mail, which six words their Send & "
            "receive shows.",
        )
    if not package.signer and known.secret and known.secret != facts.secret:
        raise Refusal(f"“{package.name}” was not made by the sender of the earlier tasks.", packages.AGAIN)


@dataclass(frozen=True, slots=True)
class ParcelOwner:
    """The project that returned work belongs to (None if unknown), and whether it was sent by one."""

    name: str
    project: Path | None = None
    title: str = ""
    sent_from_here: bool = False


def project_of_task(among: Sequence[Path], project_id: str, person_id: str) -> Path | None:
    """The first of these projects that was made from a task of that project for that person."""
    for path in among:
        origin = settings_of(path).get(ORIGIN) or {}
        if (origin.get("project"), origin.get("person")) == (project_id, person_id):
            return path
    return None


def owner_of_work(path: Path, among: Sequence[Path]) -> ParcelOwner:
    """The project, of these, that returned work goes to, or else was sent from; raises Refusal if it is damaged."""
    package = packages.read_package(path, packages.WORK)
    facts = package.manifest
    for known in among:
        settings = settings_of(known)
        if settings.get("id") == facts.project_id:
            return ParcelOwner(package.name, known, str(settings.get("title") or known.stem))
    home = project_of_task(among, facts.project_id, facts.person_id)
    return ParcelOwner(package.name, home, sent_from_here=home is not None)


@dataclass(frozen=True, slots=True)
class OpenedTask:
    """The result of opening a task: its project, whether it is new, and the number of new items.

    `words` are the six words of the key that signed it, empty if no person did; `pinned` if this key was seen for the
    first time.
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
    """The project of a task, created or opened and updated; nothing the annotator wrote is touched.

    By default it lies beside the task and is named after the project and the person. Raises Refusal if the package is
    damaged, or if another project is at its path. A task from a shared folder makes the project use that folder, and
    the project lies elsewhere.

    `known` are projects one of which may be this task's already, wherever it lies; `folder` is where a new one is
    created instead of beside the task. With `alone`, refused if another window has the project open, unless that is the
    window showing `shown`.
    """
    package = packages.read_package(task_path, packages.TASK)
    facts = facts_of(package)
    records = parcels.task(package)
    sent_by = task_path.resolve().parent if shared.is_shared(task_path.resolve().parent) else None
    folder = folder or (project_place(task_path) if sent_by else None)
    beside = folder / task_path.name if folder else task_path
    path = _path(package, records["person.json"][0], beside, project_path, known)
    if sent_by:
        shared.refuse_inside(path, sent_by)
    take = partial(_take, package=package, facts=facts, records=records)
    words = packages.fingerprint(package.signer) if package.signer else ""
    if not path.exists():
        made = Project.create(path, facts.title or path.stem, uses=HELD, fill=take)
        if sent_by:
            # If this computer cannot store it, the folder is chosen by hand.
            with suppress(Refusal):
                shared.keep(made, sent_by)
        materials.warm(made, progress)
        return OpenedTask(made, True, items.count(made), words, pinned=bool(words))
    with ExitStack() as undone:
        project = _opened(package, path)
        undone.callback(project.close)
        before = origin(project)
        if alone and not (shown and path.resolve() == shown.resolve()):
            try:
                project.hold()
            except Refusal as busy:
                raise Refusal(
                    busy.happened,
                    "Drop the task on that window, or close it and open the task again; nothing was changed.",
                ) from None
        fresh = not people.people(project)
        new_items = update_by(project, package, progress=progress)
        undone.pop_all()
    return OpenedTask(project, fresh, new_items, words, bool(words) and not (before and before.key))


def update_by(project: Project, package: packages.Package, *, progress: Progress | None = None) -> int:
    """Update the project of a task with another one, after a backup; return the number of new items."""
    facts, records = facts_of(package), parcels.task(package)
    # What cannot be taken is refused before a backup is made.
    followed(project, package, facts)
    already = items.count(project)
    if people.people(project):
        backups.make(project, "before importing a task")
    _take(project, package, facts, records)
    materials.warm(project, progress)
    return items.count(project) - already


def signed_words(opened: OpenedTask) -> str:
    """Who signed an opened task, and what to do about it the first time."""
    if not opened.words:
        return "It is not signed by a person: an older Goldsmith wrote it, and anyone could have."
    if not opened.pinned:
        return f"Signed with the same key as before: “{opened.words}”."
    return (
        f"Signed with a key seen for the first time: “{opened.words}”. Ask the coordinator whether their Send & "
        "receive shows the same six words; from now on only tasks signed with it are opened here."
    )


def project_place(task_path: Path) -> Path | None:
    """The folder for a task's project if the task lies in a temporary or shared folder; otherwise None."""
    if not is_passing(task_path.parent) and not shared.is_shared(task_path.resolve().parent):
        return None
    folder = user_data() / "projects"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _path(
    package: packages.Package,
    person: parcels.TaskPerson,
    task: Path,
    path: Path | None,
    known: Sequence[Path],
) -> Path:
    if path is not None:
        return path if path.suffix == SUFFIX else path.with_name(path.name + SUFFIX)
    facts = package.manifest
    if home := project_of_task(known, facts.project_id, facts.person_id):
        return home
    title = re.sub(r"[^\w.-]+", "-", str(facts.extra.get("title") or "task")).strip("-.") or "task"
    alias = re.sub(r"[^\w-]+", "-", person.alias)
    return task.with_name(f"{title[:60]}-{alias}{SUFFIX}")


def _opened(package: packages.Package, path: Path) -> Project:
    project = Project.open(path)
    result = origin(project)
    facts = package.manifest
    # A project without people is one whose creation was interrupted.
    if result is None and not people.people(project):
        return project
    if result is None or (result.project_id, result.person_id) != (facts.project_id, facts.person_id):
        project.close()
        raise Refusal(
            f"“{path.name}” is another project than the one this task belongs to.",
            "Choose another name for the task's project; nothing was changed.",
        )
    return project


def _take(
    project: Project, package: packages.Package, facts: TaskFacts, records: Mapping[str, list[Any]]
) -> None:
    with project.store.write() as db:
        keep(project, followed(project, package, facts))
        person = add_person(db, records["person.json"][0])
        known_keys.signing_key(project)
        project.work_as(person)
        settings.take(project, facts.weights)
        add_items(db, records["items.json"])
        add_sources(db, records["sources.json"], package.entries)
        add_reports(db, records["reports.json"])
        store_extracts(db, records["parts.json"], records["reports.json"])
        for page in records["pages.json"]:
            pages.take_in(project, Page(**page.model_dump(include=set(PageFields.model_fields))))
        for document in records["documents.json"]:
            keep_document(db, package.name, document)
        add_assignments(db, person.id, records["assignments.json"])
        adjudications.take(project, db, records[packages.ADJUDICATIONS])
        add_guidelines(db, records["guidelines.json"])
        for draft in records["drafts.json"]:
            reviewing.take_draft(
                project, draft.item_id, draft.kind, draft.author, draft.revision, draft.document
            )
        for review in records["reviews.json"]:
            reviewing.take_review(project, review.review, review.document)
        for feedback in records["feedback.json"]:
            digest = [each.model_dump(mode="json") for each in feedback.digest]
            project.set(f"{RECEIVED}{feedback.item_id}", digest)
        keep_parcel(
            project, db, Change("parcel", package.sha256, "open task", after={"task": package.manifest.package_id}),
            direction="in", person_id=package.manifest.person_id, package_id=package.manifest.package_id,
        )  # fmt: skip
        store.rebuild(db)


def add_person(db: Connection, given: parcels.TaskPerson) -> Person:
    person = Person(id=given.id, name=given.name, alias=given.alias, roles=Role.ANNOTATOR.value)
    _add(db, PERSON, person.model_dump())
    # The first task in a shared folder leaves out the name.
    unnamed = PERSON.c.id == given.id, PERSON.c.name == given.alias
    db.execute(update(PERSON).where(*unnamed).values(name=given.name))
    return person


def _add(db: Connection, where: Table, *rows: dict[str, Any]) -> None:
    """Add the rows whose id does not exist yet; existing rows are not changed."""
    known = set(db.execute(select(where.c.id)).scalars())
    fresh = [row for row in rows if row["id"] not in known]
    if fresh:
        db.execute(insert(where), fresh)


def add_items(db: Connection, items: list[parcels.TaskItem]) -> None:
    """Add the items; one whose key is taken here is given a free one."""
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
    """Add reports of nameless systems, numbered anew within each item so that no two items can be linked."""
    known = {
        row.id: row for row in db.execute(select(RESPONSE.c.id, RESPONSE.c.item_id, RESPONSE.c.system_id))
    }
    taken = Counter(row.item_id for row in known.values())
    systems, rows = {}, []
    for report in reports:
        if report.id in known:
            continue
        number = taken[report.item_id] = taken[report.item_id] + 1
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


def store_extracts(db: Connection, given: list[parcels.TaskPart], reports: list[parcels.TaskReport]) -> None:
    """Store the extracts of the reports; of later tasks only new ones, as labelled ones must stay."""
    item_of = {report.id: report.item_id for report in reports}
    existing = {tuple(row) for row in db.execute(select(EXTRACT.c.response_id, EXTRACT.c.kind))}
    for part in given:
        if (part.report_id, part.part.value) not in existing:
            document = document_of_part(part.part.value, part.report_id, part.document)
            extracts.keep_row(db, (item_of[part.report_id], part.report_id), part.part, document, IMPORT)


def keep_document(db: Connection, name: str, given: parcels.TaskDocument) -> None:
    """Store the settled document to label by; if it has changed since, as a further revision."""
    artifact_id, known = _settled(db, name, given)
    content = canonical_json(document_of(given.kind, given.document).tree()).decode()
    question = select(REVISION.c.sha256).where(REVISION.c.artifact_id == artifact_id)
    newest = db.execute(question.order_by(REVISION.c.number.desc())).scalar()
    if not known:
        row = {"id": given.id, "item_id": given.item_id, "kind": given.kind.value, "author_id": ""}
        db.execute(insert(ARTIFACT).values(**row, state=State.CONSENSUS.value, revision=1))
    if newest != sha256(content):
        artifacts.append_revision(db, artifact_id, content, "open task")


def _settled(db: Connection, name: str, given: parcels.TaskDocument) -> tuple[str, bool]:
    """The id under which a settled document is stored here, and whether it exists already.

    Raises Refusal if it would replace the annotator's own work, or another item's document.
    """
    own = given.item_id, given.kind.value, ""
    where = ARTIFACT.c.item_id, ARTIFACT.c.kind, ARTIFACT.c.author_id
    existing = db.execute(select(*where).where(ARTIFACT.c.id == given.id)).first()
    if existing is not None and tuple(existing) != own:
        whose = "you wrote" if existing.author_id else "belongs to another item"
        raise Refusal(
            f"“{name}” would replace a {existing.kind} that {whose}.",
            "Nothing was changed: a task never touches its annotator's own work. Tell the coordinator.",
        )
    same = (column == value for column, value in zip(where, own, strict=True))
    result = db.execute(select(ARTIFACT.c.id).where(*same)).scalar()
    return result or given.id, result is not None


def add_assignments(db: Connection, person_id: str, given: list[parcels.TaskAssignment]) -> None:
    """Add the annotator's assignments; later tasks change due dates and protocols."""
    rows = [
        {
            "id": derived_id("assignment", assignment.item_id, person_id, assignment.stage.value),
            "item_id": assignment.item_id,
            "person_id": person_id, "stage": assignment.stage.value, "trial": 1, "due": assignment.due,
            "protocols": assignment.protocols,
            "purpose": (
                Purpose.REVIEW if assignment.review else Purpose.PILOT if assignment.pilot else Purpose.WORK
            ).value,
            "not_before": None, "submitted_at": None,
        }
        for assignment in given
    ]  # fmt: skip
    _add(db, ASSIGNMENT, *rows)
    for row in rows:
        changed = {name: row[name] for name in ("due", "protocols")}
        db.execute(update(ASSIGNMENT).where(ASSIGNMENT.c.id == row["id"]).values(changed))


def add_guidelines(db: Connection, given: list[parcels.TaskGuideline]) -> None:
    rows = [
        {
            "id": derived_id("guideline", guideline.stage.value, guideline.version), "stage": guideline.stage.value,
            "version": guideline.version, "text": guideline.text, "by": "", "at": guideline.at,
        }
        for guideline in given
    ]  # fmt: skip
    _add(db, GUIDELINE, *rows)


def keep_parcel(project: Project, db: Connection, change: Change, **about: Any) -> None:
    """Record a change by a package that went out or came in, and keep what is known about the package, once."""
    add_missing(db, PARCEL, {"sha256": change.subject, "receipt": "", "content": "{}", "at": now(), **about})
    record(project, db, change)
