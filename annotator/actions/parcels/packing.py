"""Building a task file for one person from what they may see, never by removing parts of a copy."""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, select

from annotator import files
from annotator.actions.adjudication import feedback
from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, settings
from annotator.actions.parcels import adjudications, known_keys, tasking
from annotator.actions.parcels.tasking import ServedAssignment
from annotator.actions.project import people
from annotator.actions.project.file import Progress, Project
from annotator.domain.common import (
    Change,
    Refusal,
    counted,
    derived_id,
    grouped,
    local,
    now,
    required,
    sha256,
)
from annotator.domain.experts.assignment import Assignment, Person, Purpose, Stage, stage_of
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.kinds.documents import KINDS
from annotator.domain.material.item import free_key
from annotator.exchange.parcels import packages, parcels
from annotator.protocols import PROTOCOLS, assigned_protocols
from annotator.storage.tables import ASSIGNMENT, ITEM, PARCEL, SOURCE, SOURCE_FILE

# Characters not allowed in file names on some system; an alias may contain any of them.
_NO_FILE_NAME = re.compile(r'[\x00-\x1f<>:"/\\|?*]')


@dataclass(frozen=True, slots=True)
class PackedTask:
    """A written package: path, person, counts, and the receipt code.

    `words` are the six words of the key that signed it.
    """

    path: Path
    person: str
    items: int
    pieces: int
    bytes: int
    receipt: str
    words: str
    notes: tuple[str, ...] = ()


# Puts a package in its place.
Put = Callable[[bytes, packages.PackageFacts], Path]
# The stages of a first task that may lie open to others: nothing that an author of the same item must not see.
OPEN_STAGES = tuple(stage for stage in Stage if stage not in (Stage.LABELLING, Stage.ADJUDICATION))


@people.for_coordinators("can hand out tasks")
def task(
    project: Project,
    person_id: str,
    path: Path | None = None,
    *,
    put: Put | None = None,
    openly: bool = False,
) -> PackedTask:
    """Write the task of one person: their assignments and what these need, byte for byte the same each time.

    `path` may be a folder or a file; by default the file lies beside the project, and `put` puts it elsewhere. Raises
    Refusal if nothing is assigned, if what is to be labelled has no settled document to label by, or if someone else's
    package is at the path. `openly` leaves out the name and all that not every annotator may see: reports to label,
    drafts, reviews and feedback; then the task may contain nothing but whom it is for.
    """
    person = people.known(project, person_id)
    # Stored before anything is signed with it.
    key = known_keys.signing_key(project)
    with project.store.write() as db:
        served, assigned = _served(project, db, person), _assigned(db, person)
        if openly:
            served = [
                one
                for one in served
                if one.assignment.stage in OPEN_STAGES and one.assignment.purpose is not Purpose.REVIEW
            ]
            person = person.model_copy(update={"name": person.alias})
        if not served and not (openly and assigned):
            if assigned:
                raise Refusal(f"Nothing can be sent to {person.name} yet.", " ".join(_later(project, person)))
            raise Refusal(
                f"Nothing is assigned to {person.name}.", "Assign something on the People page first."
            )
        entries = _entries(project, db, person, served)
        if openly:
            entries |= parcels.packed({"feedback.json": [], "reviews.json": []})
        issue = _issue(db, person, entries)
        project_id = str(project.get("id"))
        weights = settings.allowed(project)
        facts = packages.PackageFacts(
            format=packages.TASK,
            format_version=packages.version_for(entries),
            package_id=derived_id("task", project_id, person.id, issue["content"]),
            project_id=project_id,
            person_id=person.id,
            extra={
                "title": project.title,
                "number": issue["number"],
                "at": issue["at"],
                **({} if weights.usual else {"weights": weights.text}),
            },
        )
        content = packages.package_bytes(facts, entries, key)
        if put is not None:
            place = put(content, facts)
        else:
            whose = "-".join(dict.fromkeys((person.alias, person.name)))
            place = place_of(project, path, f"{whose}-task", packages.suffix(packages.TASK))
            keep(place, content, facts)
        digest = sha256(content)
        tasking.keep_parcel(
            project, db, Change("parcel", digest, "pack task", after={"person": person.id}), direction="out",
            person_id=person.id, package_id=digest, content=json.dumps(issue),
        )  # fmt: skip
    items, words = (
        {assignment.item_id for assignment in served},
        packages.fingerprint(packages.public_key(key)),
    )
    notes = _later(project, person)
    if openly and (waiting := len(assigned) - len(served)):
        wait = "1 piece of work waits" if waiting == 1 else f"{waiting} pieces of work wait"
        notes = (f"{wait} until the key of {person.alias} is known.",)
    return PackedTask(place, person.name, len(items), len(served), len(content), "", words, notes)


def _issue(db: Connection, person: Person, entries: dict[str, bytes]) -> dict[str, Any]:
    """The number, moment and hash of a person's newest task if nothing has changed since, otherwise of the next."""
    digest = sha256(b"".join(entries[name] for name in sorted(entries)))
    sent = select(PARCEL.c.content).where(
        PARCEL.c.direction == "out", PARCEL.c.person_id == person.id, PARCEL.c.receipt == ""
    )
    contents = [json.loads(content) for content in db.execute(sent).scalars()]
    known = [content for content in contents if "number" in content]
    newest: dict[str, Any] = max(
        known, key=lambda issue: int(issue["number"]), default={"number": 0, "content": ""}
    )
    if newest["content"] == digest:
        return newest
    return {
        "number": newest["number"] + 1, "at": now().isoformat(timespec="seconds"), "content": digest,
    }  # fmt: skip


def _assigned(db: Connection, person: Person) -> list[Assignment]:
    question = select(ASSIGNMENT).where(ASSIGNMENT.c.person_id == person.id)
    rows = db.execute(question.order_by(ASSIGNMENT.c.item_id, ASSIGNMENT.c.stage, ASSIGNMENT.c.trial))
    return [Assignment(**row) for row in rows.mappings()]


def _served(project: Project, db: Connection, person: Person) -> list[ServedAssignment]:
    served = []
    for assignment in going_out(db, _assigned(db, person)):
        again = assignment.purpose is Purpose.REPEAT
        item_id = _again(project, person, assignment.item_id) if again else assignment.item_id
        served.append(ServedAssignment(assignment, item_id, again))
    return served


def _again(project: Project, person: Person, what: str) -> str:
    """The alias of a thing that is served to a person a second time."""
    return known_keys.alias_of(project, person.id, f"again/{what}")


def going_out(db: Connection, assigned: Sequence[Assignment]) -> list[Assignment]:
    """The assignments of a person that are served by file now.

    Adjudication waits for a frozen agreement, a repeat for its day, and labelling by a settled document until the
    person has handed in their own of the same item.
    """
    frozen = adjudications.waiting(db, assigned)
    writing = {
        (assignment.item_id, assignment.stage) for assignment in assigned if assignment.submitted_at is None
    }
    return [
        assignment
        for assignment in assigned
        if (assignment.stage is not Stage.ADJUDICATION or assignment.item_id in frozen)
        and (assignment.not_before is None or assignment.not_before <= now())
        and not any((assignment.item_id, stage_of(kind)) in writing for kind in _gold([assignment]))
    ]


def _later(project: Project, person: Person) -> tuple[str, ...]:
    with project.store.read() as db:
        assigned = _assigned(db, person)
        going = {assignment.id for assignment in going_out(db, assigned)}
    repeats = sum(
        assignment.not_before is not None and assignment.not_before > now() for assignment in assigned
    )
    frozen = sum(
        assignment.id not in going and assignment.stage is Stage.ADJUDICATION for assignment in assigned
    )
    labelling = sum(assignment.id not in going for assignment in assigned) - repeats - frozen
    notes = {
        f"{counted(repeats, 'repeat')} {'is' if repeats == 1 else 'are'} not served before their date.": repeats,
        f"{counted(labelling, 'piece')} of labelling {'waits' if labelling == 1 else 'wait'} until they have "
        "handed in their own documents for the same item.": labelling,
        f"{counted(frozen, 'item')} to adjudicate {'waits' if frozen == 1 else 'wait'} for what their annotators "
        "have not submitted, or somebody else has begun to rule.": frozen,
    }
    return tuple(words for words, many in notes.items() if many)


def _entries(
    project: Project, db: Connection, person: Person, served: list[ServedAssignment]
) -> dict[str, bytes]:
    item_ids = {assignment.assignment.item_id for assignment in served}
    rows = db.execute(select(ITEM).where(ITEM.c.id.in_(item_ids), ITEM.c.retired.is_(False))).mappings()
    items = {row["id"]: dict(row) for row in rows}
    served = [assignment for assignment in served if assignment.assignment.item_id in items]
    labelled = [assignment for assignment in served if assignment.assignment.stage is Stage.LABELLING]
    sources, originals = _sources(project, db, person, served)
    documents = _documents(db, items, labelled)
    adjudicated = adjudications.masked(project, db, person, [assignment.assignment for assignment in served])
    stages = {assignment.assignment.stage for assignment in served} | {
        adjudication.stage for adjudication in adjudicated
    }
    result = (settings.current(project, stage) for stage in sorted(stages))
    digests = grouped((one["item_id"], one) for one in feedback.digest_records(project, person.id))
    records: dict[str, list[Any]] = {
        "person.json": [parcels.TaskPerson(id=person.id, name=person.name, alias=person.alias)],
        "items.json": _items(db, items, served),
        "sources.json": sources,
        **tasking.gathered(project, person, labelled),
        "documents.json": documents,
        "assignments.json": [
            parcels.TaskAssignment(
                item_id=assignment.item_id,
                stage=assignment.assignment.stage,
                pilot=assignment.assignment.purpose is Purpose.PILOT,
                due=assignment.assignment.due,
                protocols=assignment.assignment.protocols,
                review=assignment.assignment.purpose is Purpose.REVIEW,
            )
            for assignment in served
        ],
        "guidelines.json": [
            parcels.TaskGuideline(stage=guide.stage, version=guide.version, text=guide.text, at=guide.at)
            for guide in result
            if guide is not None
        ],
        "feedback.json": [
            parcels.TaskFeedback(item_id=item_id, digest=digests[item_id]) for item_id in sorted(digests)
        ],
        "drafts.json": tasking.drafts(project, db, served),
        "reviews.json": tasking.reviews(db, person, set(items)),
        # Only if there is one: older programs read all other tasks as before.
        **({packages.ADJUDICATIONS: adjudicated} if adjudicated else {}),
    }
    return parcels.packed(records) | originals


def _items(
    db: Connection, items: dict[str, dict[str, Any]], served: list[ServedAssignment]
) -> list[parcels.TaskItem]:
    """Items in the project's order; a repeated one goes to the end under a key that looks like the others."""
    last = int(db.execute(select(ITEM.c.position).order_by(ITEM.c.position.desc()).limit(1)).scalar() or 0)
    taken = set(db.execute(select(ITEM.c.key)).scalars())
    made: dict[str, parcels.TaskItem] = {}
    for assignment in sorted(served, key=lambda one: one.item_id):
        row = items[assignment.assignment.item_id]
        fields = {name: row[name] for name in parcels.TaskItem.model_fields}
        if assignment.again:
            last += 1
            fields |= {"id": assignment.item_id, "key": _key_like(row, taken), "position": last}
            taken.add(fields["key"])
        made[assignment.item_id] = parcels.TaskItem(**fields)
    return sorted(made.values(), key=lambda item: (item.position, item.key))


def _key_like(row: dict[str, Any], taken: Collection[str]) -> str:
    """A free key in the style of an item's own: its number raised or, if keys are words, a word of its question."""
    if any(letter.isdecimal() for letter in row["key"]):
        return free_key(row["key"], taken)
    words = re.findall(r"[^\W\d_]{4,40}", row["question"])
    word = next((word for word in words if word.casefold() not in {key.casefold() for key in taken}), "")
    return word.lower() if word and row["key"].islower() else word or free_key(row["key"], taken)


def _sources(
    project: Project, db: Connection, person: Person, served: list[ServedAssignment]
) -> tuple[list[parcels.TaskSource], dict[str, bytes]]:
    """The sources of the items, and the bytes of PDFs among them; under other ids for a repeated item."""
    question = select(SOURCE).where(SOURCE.c.item_id.in_({one.assignment.item_id for one in served}))
    rows = db.execute(question.order_by(SOURCE.c.position, SOURCE.c.id)).mappings()
    of_item = grouped((row["item_id"], row) for row in rows)
    known = [row["id"] for rows in of_item.values() for row in rows]
    chosen = select(SOURCE_FILE.c.source_id, SOURCE_FILE.c.content).where(SOURCE_FILE.c.source_id.in_(known))
    contents = {source_id: content for source_id, content in db.execute(chosen)}
    made, pdfs = [], {}
    for item_id, assignment in sorted({one.item_id: one for one in served}.items()):
        for row in of_item.get(assignment.assignment.item_id, ()):
            source_id = _again(project, person, row["id"]) if assignment.again else row["id"]
            fields = {name: row[name] for name in parcels.TaskSource.model_fields}
            made.append(parcels.TaskSource(**fields | {"id": source_id, "item_id": item_id}))
            if row["id"] in contents:
                pdfs[f"{parcels.PDFS}{source_id}.pdf"] = contents[row["id"]]
    return made, pdfs


def _documents(
    db: Connection, items: dict[str, dict[str, Any]], labelled: list[ServedAssignment]
) -> list[parcels.TaskDocument]:
    """The documents to label by: only settled ones, as another annotator's sealed document is not for this person."""
    item_ids = {one.assignment.item_id for one in labelled}
    whole = _gold([one.assignment for one in labelled])
    judged = {kind: annotating.judged_rows(db, kind, item_ids) for kind in whole}
    made = []
    for assignment in labelled:
        kinds = _gold([assignment.assignment])
        result = {kind: judged[kind].get(assignment.assignment.item_id) for kind in kinds}
        settled = {
            kind: row
            for kind, row in result.items()
            if row is not None and (not row.author_id or bool(row.state == State.CONSENSUS.value))
        }
        named = assignment.assignment.protocols
        if kinds and (not settled or (named and len(settled) < len(kinds))):
            lacking = " or ".join(kind for kind in kinds if kind not in settled)
            raise Refusal(
                f"Item {items[assignment.assignment.item_id]['key']} has no settled {lacking} to label by.",
                "Adjudicate it first, or take the labelling of this item out of the plan.",
            )
        for kind, row in settled.items():
            again = (
                {"id": derived_id("again", row.id, assignment.item_id)}
                if assignment.again
                else {"id": row.id}
            )
            made.append(
                parcels.TaskDocument(
                    **again,
                    item_id=assignment.item_id,
                    kind=kind.value,
                    document=_for_raters(kind, json.loads(row.content)),
                )
            )
    return made


def _gold(assigned: Iterable[Assignment]) -> list[Kind]:
    names = (
        assigned_protocols(assignment.protocols)
        for assignment in assigned
        if assignment.stage is Stage.LABELLING
    )
    protocols = [PROTOCOLS[name] for of_one in names for name in of_one]
    return list(dict.fromkeys(kind for protocol in protocols for kind in protocol.needs))


def _for_raters(kind: Kind, tree: dict[str, Any]) -> dict[str, Any]:
    """A document as a rater needs it: no note, remark or link of its authors, and no gold label."""
    units = [{**unit, "note": "", "anchor": None} for unit in tree["units"]]
    for unit in units:
        unit.pop("more_anchors", None)
    if made_of := KINDS[kind].made_of:
        field, _ = made_of
        units = [{**unit, field: "" if isinstance(unit[field], str) else []} for unit in units]
    if kind is Kind.DIAGNOSTICS:
        units = [{**unit, "label": None} for unit in units if unit["label"] is not None]
    return {**tree, "units": units, "remark": ""}


def place_of(project: Project, path: Path | None, stem: str, suffix: str) -> Path:
    """The path of a package: the given file, or a file in the given folder (no extension) or beside the project."""
    path = path or project.path.parent
    if path.is_dir() or not path.suffix:
        return path / f"{project.path.stem}-{_NO_FILE_NAME.sub('-', stem)}{suffix}"
    return path if path.suffix == suffix else path.with_name(path.name + suffix)


def keep(place: Path, content: bytes, facts: packages.PackageFacts) -> None:
    """Put a package in its place, creating its folder; raises Refusal rather than replace someone else's."""
    if place.exists() and not _is_of_the_same(place, facts):
        raise Refusal(
            f"“{place.name}” already exists and belongs to another person or project. It was left unchanged.",
            "Choose another name, or a folder: each package then gets its own name.",
        )
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(
            f"The folder “{place.parent.name}” could not be made: {error.strerror or error}.",
            "Choose another folder; nothing was written.",
        ) from None
    files.save(place, content)


def _is_of_the_same(place: Path, facts: packages.PackageFacts) -> bool:
    try:
        manifest = packages.read_package(place, facts.format).manifest
    except Refusal:
        return False
    return (manifest.person_id, manifest.project_id) == (facts.person_id, facts.project_id)


@dataclass(frozen=True, slots=True)
class TaskContent:
    person: Person
    items: int
    stages: tuple[tuple[Stage, int], ...]
    pieces: int
    due: datetime | None
    written_at: datetime | None


@dataclass(frozen=True, slots=True)
class HandOutResult:
    person: Person
    packed: PackedTask | None
    problem: Refusal | None = None


def holdings(project: Project) -> list[TaskContent]:
    """The people for whom there is a task to hand out now, by alias."""
    question = select(PARCEL.c.person_id, func.max(PARCEL.c.at)).where(PARCEL.c.direction == "out")
    written = dict(project.query(question.group_by(PARCEL.c.person_id)).all())
    with project.store.read() as db:
        result = [
            _holding(db, person, assignments.of_person(project, person.id), written)
            for person in people.people(project)
            if person.active
        ]
    return [content for content in result if content.pieces]


def without_task(project: Project) -> list[str]:
    """Why nothing can be handed out now to people who have assignments, one sentence each."""
    served = {content.person.id for content in holdings(project)}
    waiting = (person for person in people.people(project) if person.active and person.id not in served)
    return [
        f"No task for {person.name} yet. {note}" for person in waiting for note in _later(project, person)
    ]


def mail(project: Project, content: TaskContent) -> str:
    """A text to send with a person's task, without the words of the key, which must not be sent by mail."""
    due = f", due on {local(content.due):%d %B %Y}" if content.due else ""
    return (
        f"Dear {content.person.name},\n\nthe attached file is your part of “{project.title}”: "
        f"{counted(content.pieces, 'piece')} of work on {counted(content.items, 'item')}{due}. Open it with Goldsmith: "
        "“Open a task…” on its first page. Everything you write is saved at once, and no network is needed. "
        "When you have submitted, “Send” writes one file: please mail that back to me."
    )


def recipients(project: Project) -> list[str]:
    """The people for whom there is a task, by alias; raises Refusal if there are none."""
    return required(
        [holding.person.id for holding in holdings(project)],
        "Nothing is assigned to anybody.",
        "Assign something first; nothing was written.",
    )


def _holding(
    db: Connection, person: Person, assigned: Sequence[Assignment], written: dict[str, datetime]
) -> TaskContent:
    served = going_out(db, assigned)
    stages = Counter(assignment.stage for assignment in served)
    dates = [assignment.due for assignment in served if assignment.due and not assignment.submitted_at]
    return TaskContent(
        person=person,
        # A repeat goes out as an item of its own.
        items=len({(assignment.item_id, assignment.trial) for assignment in served}),
        stages=tuple((stage, stages[stage]) for stage in Stage if stage in stages),
        pieces=len(served),
        due=min(dates, default=None),
        written_at=written.get(person.id),
    )


def write_tasks(
    project: Project,
    person_ids: Sequence[str],
    folder: Path,
    *,
    write: Callable[[Project, str, Path], PackedTask] = task,
    progress: Progress | None = None,
) -> list[HandOutResult]:
    """Write the tasks of these people into a folder; a task that cannot be written does not stop the others."""
    known = {person.id: person for person in people.people(project)}
    done = []
    for place, person_id in enumerate(person_ids):
        if progress:
            progress(f"Writing the task of {known[person_id].name}", place, len(person_ids))
        try:
            done.append(HandOutResult(known[person_id], write(project, person_id, folder)))
        except Refusal as refusal:
            done.append(HandOutResult(known[person_id], None, refusal))
    return done
