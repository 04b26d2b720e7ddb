"""Edits of artifacts: each one is a new revision, whatever the kind."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, delete, insert, or_, select, update
from sqlalchemy.engine import Connection

from annotator.actions.authoring import settings
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.common import (
    Change,
    Refusal,
    canonical_json,
    checked_text,
    counted,
    derived_id,
    nested,
    new_id,
    now,
    required,
    sha256,
    well_formed,
)
from annotator.domain.experts.assignment import FORM, Role, stage_of
from annotator.domain.kinds.artifact import (
    Artifact,
    Document,
    DraftSource,
    Kind,
    Revision,
    State,
    Unit,
    chain,
)
from annotator.domain.kinds.checklist import CheckPoint, shared_rest
from annotator.domain.kinds.documents import DOCUMENTS
from annotator.storage.connection import PreparedStatement
from annotator.storage.tables import ADJUDICATION, ARTIFACT, AUDIT, CONSENSUS_VERSION, DRAFT, REVISION

# The verb of the revision that opens a consensus for editing; the next sealed revision closes it again.
EDIT_CONSENSUS = "edit consensus"


def refusal_of_others(project: Project, artifact: Artifact) -> Refusal | None:
    """Why the person working may not change the artifact, open or not; None if they may.

    A consensus may be changed by coordinators and adjudicators; one made by adjudication is changed only there.
    """
    person, kind = people.someone(project), artifact.kind.value
    if artifact.state is State.CONSENSUS and _adjudicated(project, artifact.id):
        return Refusal(f"This {kind} was made by adjudication.", "Change it on the Adjudicate page.")
    shared = artifact.author_id == "" or artifact.state is State.CONSENSUS
    if artifact.author_id == person.id or (
        shared and (person.has(Role.COORDINATOR) or person.has(Role.ADJUDICATOR))
    ):
        return None
    return Refusal(f"This {kind} is someone else's.", "Start your own for this item.")


def is_open(project: Project, artifact: Artifact) -> bool:
    """Whether the artifact can take another revision now; a consensus only after “Edit consensus”."""
    if artifact.state is not State.CONSENSUS:
        return artifact.state is State.DRAFT
    turning = or_(REVISION.c.sealed.is_(True), REVISION.c.verb == EDIT_CONSENSUS)
    question = select(REVISION.c.verb).where(REVISION.c.artifact_id == artifact.id, turning)
    return project.query(question.order_by(REVISION.c.number.desc()).limit(1)).scalar() == EDIT_CONSENSUS


def objection(project: Project, artifact: Artifact) -> Refusal | None:
    """Why the person working cannot change the artifact now; None if they can."""
    kind = artifact.kind.value
    if artifact.state is State.SEALED:
        return Refusal(f"This {kind} is submitted.", "Reopen it to continue; what was submitted stays.")
    if refusal := refusal_of_others(project, artifact):
        return refusal
    if artifact.state is State.DRAFT or is_open(project, artifact):
        return None
    return Refusal(f"This {kind} is the consensus.", "“Edit consensus” opens it for changes.")


def _adjudicated(project: Project, artifact_id: str) -> bool:
    question = select(ADJUDICATION.c.id).where(ADJUDICATION.c.consensus_id == artifact_id).limit(1)
    return project.query(question).first() is not None


# The beginning of the verb of such a revision.
TAKEN = "from a model's draft"
# The note on a frozen figure if both sides have units from one model's drafts.
COMMON = "came from one model's draft"
_LONGEST_VERB, _SHOWN_OF_ID = 60, 8
_ABOUT = "from_draft"


Drafted = Mapping[str, DraftSource]
"""Unit id → the draft it was taken from."""


def verb(source: DraftSource) -> str:
    """The verb of a revision with units from a draft: the model's name and the start of the extract's id."""
    end = f" {source.draft[:_SHOWN_OF_ID]}"
    room = _LONGEST_VERB - len(f"{TAKEN}: {end}")
    name = source.name if len(source.name) <= room else f"{source.name[: room - 1]}…"
    return f"{TAKEN}: {name}{end}"


def about(units: Mapping[str, str], source: DraftSource) -> dict[str, Any]:
    """The details recorded with the change that takes units: id in the document → id in the draft, and the source."""
    return {_ABOUT: {**asdict(source), "units": dict(units)}}


def of_artifacts(
    db: Connection, artifact_ids: Iterable[str] | None = None
) -> dict[str, dict[str, DraftSource]]:
    """Artifact → unit → the draft it was taken from; of some artifacts, or of all that have such units.

    Includes units that were retired since: which of them count depends on the units in the document.
    """
    question = select(AUDIT.c.subject, AUDIT.c.after).where(
        AUDIT.c.kind == "artifact", AUDIT.c.verb.like(f"{TAKEN}:%")
    )
    if artifact_ids is not None:
        question = question.where(AUDIT.c.subject.in_(list(artifact_ids)))
    rows = db.execute(question.order_by(AUDIT.c.seq))
    recorded = ((artifact_id, json.loads(after or "{}").get(_ABOUT)) for artifact_id, after in rows)
    return nested(
        (artifact_id, unit_id, DraftSource(details["draft"], details["judge"], details["model"]))
        for artifact_id, details in recorded
        if details
        for unit_id in details["units"]
    )


def with_consensus(db: Connection) -> dict[str, dict[str, DraftSource]]:
    """The same for all artifacts, and for each consensus by its last version.

    A unit of a consensus counts as drafted if any answer it was made of was.
    """
    taken = of_artifacts(db)
    if not taken:
        return {}
    items = dict(db.execute(select(ARTIFACT.c.id, ARTIFACT.c.item_id)).all())
    known = {
        (items[one], unit): source
        for one, units in taken.items()
        if one in items
        for unit, source in units.items()
    }
    versions = select(CONSENSUS_VERSION.c.artifact_id, CONSENSUS_VERSION.c.content)
    last = {
        artifact_id: {
            unit["unit_id"]: known[items[artifact_id], answer]
            for unit in json.loads(content)["provenance"]
            for answer in unit["sources"].values()
            if (items[artifact_id], answer) in known
        }
        for artifact_id, content in db.execute(versions.order_by(CONSENSUS_VERSION.c.version))
    }
    return {one: taken.get(one, {}) | last.get(one, {}) for one in {*taken, *last}}


def remember(project: Project, db: Connection, artifact_id: str, drafted: Drafted) -> None:
    """Record which units of imported work their author took from a draft elsewhere."""
    known = of_artifacts(db, [artifact_id]).get(artifact_id, {})
    by_source = nested((source, unit_id, "") for unit_id, source in drafted.items() if unit_id not in known)
    for source, units in by_source.items():
        record(project, db, Change("artifact", artifact_id, verb(source), None, about(units, source)))


def note(a: Drafted, b: Drafted) -> str:
    """A note on the agreement if both sides took units from drafts of one model; empty otherwise."""
    drafts = {source.draft for source in a.values()} & {source.draft for source in b.values()}
    models = {source.name for source in a.values()} & {source.name for source in b.values()}
    if not drafts and not models:
        return ""
    named = ", ".join(sorted(models)).replace(";", ",")
    whose = f"{COMMON}, the same for both" if drafts else f"{COMMON}s ({named})"
    counts = [
        sum(source.draft in drafts if drafts else source.name in models for source in side.values())
        for side in (a, b)
    ]
    return f"{counted(counts[0], 'unit')} of A and {counts[1]} of B {whose}"


def standing(drafted: Drafted, units: Iterable[str]) -> dict[str, DraftSource]:
    return {unit_id: drafted[unit_id] for unit_id in units if unit_id in drafted}


_NEWEST = PreparedStatement(
    select(ARTIFACT, REVISION.c.content, REVISION.c.sha256, REVISION.c.chain)
    .join(REVISION, (REVISION.c.artifact_id == ARTIFACT.c.id) & (REVISION.c.number == ARTIFACT.c.revision))
    .where(ARTIFACT.c.id == bindparam("wanted"))
)
_ADD_REVISION = PreparedStatement(insert(REVISION))
_POINT = PreparedStatement(update(ARTIFACT).where(ARTIFACT.c.id == bindparam("wanted")))


def read(project: Project, artifact_id: str) -> Artifact:
    """An artifact with its newest document; raises KeyError if there is none with that id."""
    with project.store.read() as db:
        return read_newest(db, artifact_id).artifact


def start(project: Project, item_id: str, kind: Kind, document: Document[Any] | None = None) -> Change:
    """Start this person's artifact of a kind for an item, with the given document or an empty one."""
    document = document or DOCUMENTS[kind]()
    author = people.someone(project).id
    with project.store.write() as db:
        whose = {"item_id": item_id, "kind": kind.value, "author_id": author}
        if db.execute(select(ARTIFACT.c.id).filter_by(**whose)).first():
            raise Refusal(f"You already have a {kind.value} for this item.", "Continue with that one.")
        artifact_id = new_id()
        db.execute(insert(ARTIFACT).values(id=artifact_id, **whose, state=State.DRAFT.value, revision=0))
        image = write_revision(project, db, artifact_id, document, verb="start", number=1)
        return record(project, db, Change("artifact", artifact_id, "start", None, image))


def add_unit(project: Project, artifact_id: str, after: str = "", **fields: Any) -> Change:
    return add_units(project, artifact_id, [fields], after)


def add_units(
    project: Project, artifact_id: str, given: Iterable[dict[str, Any]], after: str = "", *, instead_of: str = "",
    verb: str = "add unit", about: dict[str, Any] | None = None,
) -> Change:  # fmt: skip
    """Add units below `after`, or at the end, in one revision, removing the unit `instead_of`.

    `about` is recorded with the change: where the units come from.
    """
    given = list(given)
    with project.store.write() as db:
        newest = read_open(project, db, artifact_id)
        document = newest.artifact.document
        for fields in given:
            settings.refuse_weight(project, document.KIND, fields)
        made = tuple(well_formed(document.UNIT, {"id": new_id(), **fields}, "_") for fields in given)
        place = _place(document, after) + 1 if after else len(document.units)
        units = (*document.units[:place], *made, *document.units[place:])
        rest = tuple(unit for unit in units if unit.id != instead_of)
        return _revise(project, db, newest, document.with_units(rest), verb, about)


def change_unit(project: Project, artifact_id: str, unit_id: str, /, **fields: Any) -> Change:
    """Change fields of a unit; the Refusal names the field that does not fit.

    Unchanged values make no revision; the returned change then has no before-image and no number.
    """
    return change_units(project, artifact_id, {unit_id: fields}, f"change {', '.join(fields)}")


def change_units(
    project: Project, artifact_id: str, given: Mapping[str, Mapping[str, Any]], verb: str
) -> Change:
    """Change fields of several units, by id, in one revision, as `change_unit` does for one."""
    if "id" in set().union(*given.values()):
        raise Refusal("A unit's id never changes.", "Add another unit instead.")
    with project.store.write() as db:
        newest = read_open(project, db, artifact_id)
        document = newest.artifact.document
        units = list(document.units)
        for unit_id, fields in given.items():
            place = _place(document, unit_id)
            units[place] = well_formed(document.UNIT, {**units[place].model_dump(mode="json"), **fields}, "_")
            settings.refuse_weight(project, document.KIND, dict(fields))
            for name in fields:
                drop_draft(project, db, draft_place(artifact_id, unit_id, name))
        return _revise(project, db, newest, document.with_units(tuple(units)), verb)


def share_rest(project: Project, artifact_id: str) -> Change:
    """Give the points of a checklist without a share equal parts of what remains; raises Refusal if nothing does."""
    units = read(project, artifact_id).document.units
    given = required(
        {
            new.id: {"share": new.share}
            for old, new in zip(units, shared_rest(units), strict=True)
            if new != old
        },
        "Nothing is left to share.",
        "Set the share of those points to 0 that are to share the rest, and let the others sum to less than 1.",
    )
    return change_units(project, artifact_id, given, "share the rest")


def remove_unit(project: Project, artifact_id: str, unit_id: str) -> Change:
    with project.store.write() as db:
        newest = read_open(project, db, artifact_id)
        document = newest.artifact.document
        _place(document, unit_id)
        units = tuple(unit for unit in document.units if unit.id != unit_id)
        return _revise(project, db, newest, document.with_units(units), "delete unit")


def move_unit(project: Project, artifact_id: str, unit_id: str, by: int) -> Change:
    """Move a unit `by` places down (up if negative), no further than the ends."""
    with project.store.write() as db:
        newest = read_open(project, db, artifact_id)
        document = newest.artifact.document
        place = _place(document, unit_id)
        rest = [unit for unit in document.units if unit.id != unit_id]
        rest.insert(max(0, min(len(rest), place + by)), document.units[place])
        return _revise(project, db, newest, document.with_units(tuple(rest)), "move unit")


def merge_unit(project: Project, artifact_id: str, unit_id: str) -> Change:
    """Merge a unit into the one above: its text is appended, with its quotations and the marks of a draft."""
    with project.store.write() as db:
        newest = read_open(project, db, artifact_id)
        units = newest.artifact.document.units
        place = required(
            _place(newest.artifact.document, unit_id),
            "There is no unit above this one.",
            "Go to the lower one of the two.",
        )
        upper = well_formed(type(units[0]), _merged(units[place - 1], units[place]), "_")
        document = newest.artifact.document.with_units((*units[: place - 1], upper, *units[place + 1 :]))
        entry = _carried(db, artifact_id, unit_id, upper.id) or ("merge units", None)
        return _revise(project, db, newest, document, *entry)


def split_unit(project: Project, artifact_id: str, unit_id: str, at: int) -> Change:
    """Split a unit: its text from the character `at` on becomes a new unit below it, otherwise the same."""
    with project.store.write() as db:
        newest = read_open(project, db, artifact_id)
        units, place = newest.artifact.document.units, _place(newest.artifact.document, unit_id)
        first, second = units[place].text[:at].strip(), units[place].text[at:].strip()
        if not first or not second:
            raise Refusal("One half would be empty.", "Put the cursor where the second half begins.")
        halves = [
            well_formed(
                type(units[place]), {**units[place].model_dump(mode="json"), "id": own, "text": words}, "_"
            )
            for own, words in ((unit_id, first), (new_id(), second))
        ]
        document = newest.artifact.document.with_units((*units[:place], *halves, *units[place + 1 :]))
        entry = _carried(db, artifact_id, unit_id, halves[1].id) or ("split unit", None)
        return _revise(project, db, newest, document, *entry)


def _merged(upper: Unit, lower: Unit) -> dict[str, Any]:
    """The upper unit with what the lower one adds: text, note, quotations, and entries of lists."""
    tree, other = upper.model_dump(mode="json"), lower.model_dump(mode="json")
    if isinstance(lower, CheckPoint) and tree.get("title"):
        other["text"] = lower.words
    for name, value in other.items():
        if name in ("text", "note"):
            tree[name] = ("\n" if name == "note" else " ").join(
                filter(None, (tree[name].strip(), value.strip()))
            )
        elif isinstance(value, list):
            tree[name] = [*tree.get(name, []), *(one for one in value if one not in tree.get(name, []))]
        elif tree.get(name) in (None, ""):
            tree[name] = value
    return tree | upper.quoting(tuple(dict.fromkeys((*upper.anchors, *lower.anchors))))


def _carried(db: Connection, artifact_id: str, from_id: str, to_id: str) -> tuple[str, dict[str, Any]] | None:
    """Verb and details of a change that moves words from a draft into another unit; None if there are none."""
    known = of_artifacts(db, [artifact_id]).get(artifact_id, {})
    if from_id not in known or to_id in known:
        return None
    source = known[from_id]
    return verb(source), about({to_id: ""}, source)


def change_whole(project: Project, artifact_id: str, /, **fields: Any) -> Change:
    """Change fields of the document itself; the Refusal names the one that does not fit."""
    with project.store.write() as db:
        newest = read_open(project, db, artifact_id)
        document = newest.artifact.document
        revised = well_formed(type(document), document.tree() | fields, "_")
        for name in fields:
            drop_draft(project, db, draft_place(artifact_id, "", name))
        verb = "note" if set(fields) == {REMARK} else f"change {', '.join(fields)}"
        return _revise(project, db, newest, revised, verb)


def finish_draft(project: Project, artifact_id: str, unit_id: str, field: str, text: str) -> Change:
    if not unit_id:
        return change_whole(project, artifact_id, **{field: text})
    return change_unit(project, artifact_id, unit_id, **{field: text})


@dataclass(frozen=True, slots=True)
class RevisionLine:
    """A revision without its document: an evening's work makes hundreds."""

    id: str
    number: int
    sealed: bool
    by: str
    at: datetime
    verb: str


def revision_lines(project: Project, artifact_id: str) -> list[RevisionLine]:
    columns = (REVISION.c[field.name] for field in fields(RevisionLine))
    question = select(*columns).where(REVISION.c.artifact_id == artifact_id)
    rows = project.query(question.order_by(REVISION.c.number.desc())).all()
    return [RevisionLine(*row) for row in rows]


def revisions(project: Project, artifact_id: str, numbers: Collection[int] | None = None) -> list[Revision]:
    """Revisions of an artifact with their documents, newest first: those with the given numbers, or all of them."""
    question = select(REVISION).where(REVISION.c.artifact_id == artifact_id)
    if numbers is not None:
        question = question.where(REVISION.c.number.in_(numbers))
    question = question.order_by(REVISION.c.number.desc())
    rows = project.query(question).mappings().all()
    return [Revision(**{**row, "content": json.loads(row["content"])}) for row in rows]


@dataclass(frozen=True, slots=True)
class NewestArtifact:
    artifact: Artifact
    sha256: str
    chain: str


def read_newest(db: Connection, artifact_id: str) -> NewestArtifact:
    """An artifact with its newest document, inside a transaction; raises KeyError if there is none with that id."""
    row = _NEWEST.first(db, {"wanted": artifact_id})
    if row is None:
        raise KeyError(artifact_id)
    artifact = Artifact(**row, document=read_document(row["kind"], row["content"]))
    return NewestArtifact(artifact, row["sha256"], row["chain"])


def artifact_of(row: Row[Any]) -> Artifact:
    """The artifact of a joined row of the artifact table and its newest revision's content."""
    return Artifact(**row._mapping, document=read_document(row.kind, row.content))


def read_open(project: Project, db: Connection, artifact_id: str) -> NewestArtifact:
    """The same for an artifact that the person working may change; otherwise raises the Refusal that says why not."""
    newest = read_newest(db, artifact_id)
    if reason := objection(project, newest.artifact):
        raise reason
    return newest


def _place(document: Document[Any], unit_id: str) -> int:
    for place, unit in enumerate(document.units):
        if unit.id == unit_id:
            return place
    raise Refusal(
        "That unit no longer exists.", "It may have been removed meanwhile; look at the list again."
    )


def _revise(
    project: Project, db: Connection, newest: NewestArtifact, document: Document[Any], verb: str,
    about: dict[str, Any] | None = None,
) -> Change:  # fmt: skip
    artifact = newest.artifact
    before = {"revision": artifact.revision, "sha256": newest.sha256}
    if document == artifact.document:
        return Change("artifact", artifact.id, verb, None, before, by=project.by)
    after = next_revision(project, db, newest, document, verb=verb) | (about or {})
    return record(project, db, Change("artifact", artifact.id, verb, before, after))


def next_revision(
    project: Project, db: Connection, newest: NewestArtifact, document: Document[Any], verb: str, **more: Any
) -> dict[str, Any]:
    artifact = newest.artifact
    return write_revision(
        project, db, artifact.id, document, verb, number=artifact.revision + 1, previous=newest.chain, **more
    )


def write_revision(
    project: Project,
    db: Connection,
    artifact_id: str,
    document: Document[Any],
    verb: str,
    *,
    number: int,
    previous: str = "",
    sealed: bool = False,
    reason: str = "",
    by: str = "",
) -> dict[str, Any]:
    """Add a revision and make it the artifact's newest; return its number and hash for the change record.

    `previous` is the chain of the revision before, `by` its author if made elsewhere. Call inside the transaction that
    has checked that the artifact may be changed.
    """
    content = canonical_json(document.tree())
    digest = sha256(content)
    row = {
        "id": new_id(), "artifact_id": artifact_id, "number": number, "content": content.decode(), "sha256": digest,
        "chain": chain(previous, digest), "sealed": sealed, "reason": reason,
        "guideline": settings.version_in_force(db, stage_of(document.KIND)), "form": FORM,
        "verb": verb, "by": by or project.by, "at": now(),
    }  # fmt: skip
    _ADD_REVISION.execute(db, row)
    _POINT.execute(db, {"wanted": artifact_id, "revision": number})
    _remember(document.KIND, content.decode(), document)
    return {"revision": number, "sha256": digest}


def append_revision(db: Connection, artifact_id: str, content: str, verb: str, **fields: Any) -> int:
    """Add a sealed revision that was made elsewhere, and make it the artifact's newest; return its number.

    `fields` are what it brings: its guideline and form, a reason, whose it is, and when.
    """
    question = select(REVISION.c.number, REVISION.c.chain).where(REVISION.c.artifact_id == artifact_id)
    newest = db.execute(question.order_by(REVISION.c.number.desc())).first()
    number, before = (newest.number + 1, newest.chain) if newest else (1, "")
    digest = sha256(content)
    row = {
        "id": derived_id("revision", artifact_id, number, digest), "artifact_id": artifact_id, "number": number,
        "content": content, "sha256": digest, "chain": chain(before, digest), "sealed": True, "reason": "",
        "guideline": "1", "form": FORM, "verb": verb, "by": "", "at": now(),
    }  # fmt: skip
    db.execute(insert(REVISION), row | fields)
    db.execute(update(ARTIFACT).where(ARTIFACT.c.id == artifact_id).values(revision=number))
    return number


def restore(project: Project, db: Connection, artifact_id: str, present: Any, goal: Any) -> None:
    """Restore the subject of a change from one image to another; raises Refusal if it has changed since."""
    newest = read_open(project, db, artifact_id)
    if newest.sha256 != present["sha256"]:
        raise Refusal("This artifact was changed elsewhere since.", "Look at it again; nothing was undone.")
    conditions = (REVISION.c.artifact_id == artifact_id, REVISION.c.number == goal["revision"])
    content = db.execute(select(REVISION.c.content).where(*conditions)).scalar_one()
    next_revision(project, db, newest, read_document(newest.artifact.kind, content), verb="restore")


REMEMBERED = 64
_known: dict[tuple[str, str], Document[Any]] = {}


def read_document(kind: str, content: str) -> Document[Any]:
    """The document of a kind from its canonical JSON; pydantic's ValidationError names what does not fit."""
    document = _known.get((kind, content))
    if document is None:
        document = DOCUMENTS[Kind(kind)].model_validate_json(content)
        _remember(kind, content, document)
    return document


def _remember(kind: str, content: str, document: Document[Any]) -> None:
    """Cache a document that was just written: it is read next."""
    if len(_known) >= REMEMBERED:
        _known.clear()
    _known[kind, content] = document


# The field of the document itself that can be typed into; its drafts name no unit.
REMARK = "remark"
# These stand for the artifact id in drafts of rulings, whose units are ruling ids, and of reference material.
RULING, REFERENCE = "ruling", "reference"
_DROP = PreparedStatement(
    delete(DRAFT).where(DRAFT.c.place == bindparam("at_place"), DRAFT.c.person_id == bindparam("of_person"))
)


def draft_place(artifact_id: str, unit_id: str, field: str) -> str:
    return f"{artifact_id}|{unit_id}|{field}"


def draft_parts(place: str) -> tuple[str, str, str]:
    """The artifact, unit and field named by a draft's place; an id in the middle may contain any character."""
    artifact_id, _, rest = place.partition("|")
    unit_id, _, field = rest.rpartition("|")
    return artifact_id, unit_id, field


def save_draft(project: Project, artifact_id: str, unit_id: str, field: str, text: str) -> None:
    """Store what is being typed; it becomes a revision, or a ruling, when the field is left."""
    try:
        checked_text(text)
    except ValueError as error:
        raise Refusal(f"The text {error}.", "Remove that character; the rest of the text is kept.") from None
    place, author = draft_place(artifact_id, unit_id, field), people.someone(project).id
    with project.store.write() as db:
        drop_draft(project, db, place)
        db.execute(insert(DRAFT), {"place": place, "person_id": author, "text": text, "at": now()})


def forget_draft(project: Project, artifact_id: str, unit_id: str, field: str) -> None:
    """Drop a field's unfinished text: it was typed back to the stored value."""
    with project.store.write() as db:
        drop_draft(project, db, draft_place(artifact_id, unit_id, field))


def drop_draft(project: Project, db: Connection, place: str) -> None:
    _DROP.execute(db, {"at_place": place, "of_person": people.someone(project).id})
