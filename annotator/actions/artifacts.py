"""What experts do to artifacts: every edit is a new revision, whatever the kind."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from sqlalchemy import Row, bindparam, delete, insert, select, update
from sqlalchemy.engine import Connection

from annotator.actions import documents, editable, guidelines, people
from annotator.actions.project import Project
from annotator.actions.recording import record
from annotator.domain.artifact import Artifact, Document, Kind, Revision, State, chain
from annotator.domain.assignment import stage_of
from annotator.domain.canonical import canonical_json, checked_text, sha256
from annotator.domain.change import Change
from annotator.domain.guideline import FORM
from annotator.domain.identity import new_id, now
from annotator.domain.kinds import DOCUMENTS
from annotator.domain.refusal import Refusal
from annotator.storage.ready import Ready
from annotator.storage.tables import ArtifactRow, DraftRow, RevisionRow, table

ARTIFACT, REVISION, DRAFT = table(ArtifactRow), table(RevisionRow), table(DraftRow)
T = TypeVar("T", bound=BaseModel)
# The field of the document itself that may be typed into; its drafts name no unit.
REMARK = "remark"
# Stand in the place of an artifact: of an adjudicator's drafts, whose units are rulings, and of reference material.
RULING, REFERENCE = "ruling", "reference"
_NEWEST = Ready(
    select(ARTIFACT, REVISION.c.content, REVISION.c.sha256, REVISION.c.chain)
    .join(REVISION, (REVISION.c.artifact_id == ARTIFACT.c.id) & (REVISION.c.number == ARTIFACT.c.revision))
    .where(ARTIFACT.c.id == bindparam("wanted"))
)
_ADD_REVISION = Ready(insert(REVISION))
_POINT = Ready(
    update(ARTIFACT).where(ARTIFACT.c.id == bindparam("wanted")).values(revision=bindparam("number"))
)
_ADD_DRAFT = Ready(insert(DRAFT))
_DROP_DRAFT = Ready(
    delete(DRAFT).where(DRAFT.c.place == bindparam("at_place"), DRAFT.c.person_id == bindparam("of_person"))
)


def read(project: Project, artifact_id: str) -> Artifact:
    """An artifact with its newest document; KeyError when there is none of that id."""
    with project.store.read() as db:
        return _newest(db, artifact_id).artifact


def start(project: Project, item_id: str, kind: Kind, document: Document[Any] | None = None) -> Change:
    """Begin this person's artifact of a kind for an item, empty unless a document is given to start from."""
    document = document or DOCUMENTS[kind]()
    author = people.someone(project).id
    with project.store.write() as db:
        whose = {"item_id": item_id, "kind": kind.value, "author_id": author}
        if db.execute(select(ARTIFACT.c.id).filter_by(**whose)).first():
            raise Refusal(f"You already have a {kind.value} for this item.", "Go on with that one.")
        artifact_id = new_id()
        db.execute(insert(ARTIFACT).values(id=artifact_id, **whose, state=State.DRAFT.value, revision=0))
        image = write_revision(project, db, artifact_id, document, verb="start", number=1)
        return record(project, db, Change("artifact", artifact_id, "start", None, image))


def add_unit(project: Project, artifact_id: str, after: str = "", **fields: Any) -> Change:
    """A new unit below the one named in `after`, or at the end."""
    return add_units(project, artifact_id, [fields], after)


def add_units(
    project: Project, artifact_id: str, given: Iterable[dict[str, Any]], after: str = "", *, instead_of: str = "",
    verb: str = "add unit", about: dict[str, Any] | None = None,
) -> Change:  # fmt: skip
    """New units below `after`, or at the end, in one revision; the unit `instead_of` gives way.

    `about` is kept with the change: where they come from.
    """
    with project.store.write() as db:
        newest = _editable(project, db, artifact_id)
        document = newest.artifact.document
        made = tuple(_checked(document.UNIT, {"id": new_id(), **fields}) for fields in given)
        place = _place(document, after) + 1 if after else len(document.units)
        units = (*document.units[:place], *made, *document.units[place:])
        kept = tuple(unit for unit in units if unit.id != instead_of)
        return _revise(project, db, newest, document.with_units(kept), verb, about)


def change_unit(project: Project, artifact_id: str, unit_id: str, **fields: Any) -> Change:
    """Give a unit's fields new values; Refusal names the field that does not fit.

    What is there already makes no revision; the change that comes back then has no before-image and no number.
    """
    if "id" in fields:
        raise Refusal("A unit's id never changes.", "Add another unit instead.")
    with project.store.write() as db:
        newest = _editable(project, db, artifact_id)
        document = newest.artifact.document
        place = _place(document, unit_id)
        unit = _checked(document.UNIT, document.units[place].model_dump(mode="json") | fields)
        units = (*document.units[:place], unit, *document.units[place + 1 :])
        for name in fields:
            _forget_draft(project, db, draft_place(artifact_id, unit_id, name))
        return _revise(project, db, newest, document.with_units(units), f"change {', '.join(fields)}")


def remove_unit(project: Project, artifact_id: str, unit_id: str) -> Change:
    """Take a unit out of the newest revision; earlier revisions keep it."""
    with project.store.write() as db:
        newest = _editable(project, db, artifact_id)
        document = newest.artifact.document
        _place(document, unit_id)
        units = tuple(unit for unit in document.units if unit.id != unit_id)
        return _revise(project, db, newest, document.with_units(units), "retire unit")


def move_unit(project: Project, artifact_id: str, unit_id: str, by: int) -> Change:
    """Move a unit `by` places down (or up when negative), no further than the ends."""
    with project.store.write() as db:
        newest = _editable(project, db, artifact_id)
        document = newest.artifact.document
        place = _place(document, unit_id)
        rest = [unit for unit in document.units if unit.id != unit_id]
        rest.insert(max(0, min(len(rest), place + by)), document.units[place])
        return _revise(project, db, newest, document.with_units(tuple(rest)), "move unit")


def set_remark(project: Project, artifact_id: str, remark: str) -> Change:
    """A note on the whole artifact."""
    with project.store.write() as db:
        newest = _editable(project, db, artifact_id)
        document = newest.artifact.document
        revised = _checked(type(document), document.tree() | {REMARK: remark})
        _forget_draft(project, db, draft_place(artifact_id, "", REMARK))
        return _revise(project, db, newest, revised, "note")


def seal(project: Project, artifact_id: str, reason: str = "") -> Change:
    """Submit: the newest document becomes a sealed revision that no edit can touch. A consensus stays one.

    `reason` says why warnings were overridden. What is missing or out of bounds is asked of `lint` before.
    """
    # Here, because the window's first page needs nothing of the work in pairs.
    from annotator.actions import agreements, assignments

    with project.store.write() as db:
        newest = _editable(project, db, artifact_id)
        artifact = newest.artifact
        if not artifact.document.units:
            raise Refusal(
                f"This {artifact.kind.value} is still empty.", "Write at least one unit before submitting."
            )
        if fault := artifact.document.fault():
            raise Refusal(fault, "Change that before submitting; nothing is lost.")
        said = {"sealed": True, "reason": reason}
        image = _next_revision(project, db, newest, artifact.document, "seal", **said)
        state, at = State.CONSENSUS if artifact.state is State.CONSENSUS else State.SEALED, now()
        _set_state(db, artifact_id, state, sealed_at=at)
        if state is State.SEALED:
            assignments.mark_submitted(db, artifact.item_id, artifact.author_id, stage_of(artifact.kind), at)
        sealed = record(project, db, Change("artifact", artifact_id, "seal", None, image))
        agreements.freeze_when_ready(project, db, artifact.item_id, stage_of(artifact.kind))
        return sealed


def reopen(project: Project, artifact_id: str) -> Change:
    """Go on editing a sealed artifact, or a consensus, in a new revision; the sealed one stays as it is."""
    from annotator.actions import assignments

    with project.store.write() as db:
        newest = _newest(db, artifact_id)
        artifact = newest.artifact
        if editable.is_open(project, artifact):
            raise Refusal("Only a sealed artifact can be reopened.", "Just go on editing this one.")
        if refusal := editable.refusal_of_others(project, artifact):
            raise refusal
        settled = artifact.state is State.CONSENSUS
        verb = editable.EDIT_CONSENSUS if settled else "reopen"
        image = _next_revision(project, db, newest, artifact.document, verb=verb)
        if not settled:
            _set_state(db, artifact_id, State.DRAFT)
            assignments.mark_submitted(
                db, artifact.item_id, artifact.author_id, stage_of(artifact.kind), None
            )
        return record(project, db, Change("artifact", artifact_id, verb, None, image))


def _set_state(db: Connection, artifact_id: str, state: State, **values: Any) -> None:
    db.execute(update(ARTIFACT).where(ARTIFACT.c.id == artifact_id).values(state=state.value, **values))


def revisions(project: Project, artifact_id: str) -> list[Revision]:
    """All revisions of an artifact, newest first."""
    question = (
        select(REVISION).where(REVISION.c.artifact_id == artifact_id).order_by(REVISION.c.number.desc())
    )
    with project.store.read() as db:
        rows = db.execute(question).mappings().all()
    return [Revision(**{**row, "content": json.loads(row["content"])}) for row in rows]


def draft_place(artifact_id: str, unit_id: str, field: str) -> str:
    """The name under which a field's unfinished text is kept."""
    return f"{artifact_id}|{unit_id}|{field}"


def save_draft(project: Project, artifact_id: str, unit_id: str, field: str, text: str) -> None:
    """Keep what is being typed in the file at once; it becomes a revision when the field is left."""
    try:
        checked_text(text)
    except ValueError as error:
        raise Refusal(f"The text {error}.", "Take that character out; the rest is still there.") from None
    place, author = draft_place(artifact_id, unit_id, field), people.someone(project).id
    with project.store.write() as db:
        _forget_draft(project, db, place)
        _ADD_DRAFT.run(db, {"place": place, "person_id": author, "text": text, "at": now()})


def forget_draft(project: Project, artifact_id: str, unit_id: str, field: str) -> None:
    """Drop a field's unfinished text: it was typed back to what the newest revision says."""
    with project.store.write() as db:
        _forget_draft(project, db, draft_place(artifact_id, unit_id, field))


def recover_drafts(project: Project) -> list[Change]:
    """Turn typing that a crash cut short into revisions; drafts whose place is gone are left for `check`."""
    author = people.someone(project).id
    with project.store.read() as db:
        rows = db.execute(select(DRAFT).where(DRAFT.c.person_id == author).order_by(DRAFT.c.at)).all()
    changes = []
    for row in rows:
        try:
            changes.append(_finish_draft(project, row.place, row.text))
        except (KeyError, Refusal):
            continue
    return [change for change in changes if change.seq]


def _finish_draft(project: Project, place: str, text: str) -> Change:
    artifact_id, unit_id, field = draft_parts(place)
    if artifact_id == RULING:
        from annotator.actions import ruling

        return ruling.finish_draft(project, unit_id, field, text)
    if not unit_id and field == REMARK:
        return set_remark(project, artifact_id, text)
    return change_unit(project, artifact_id, unit_id, **{field: text})


def draft_parts(place: str) -> tuple[str, str, str]:
    """The artifact, unit and field that a draft's place names; an id in the middle may hold any character."""
    artifact_id, _, rest = place.partition("|")
    unit_id, _, field = rest.rpartition("|")
    return artifact_id, unit_id, field


def _forget_draft(project: Project, db: Connection, place: str) -> None:
    _DROP_DRAFT.run(db, {"at_place": place, "of_person": people.someone(project).id})


@dataclass(frozen=True, slots=True)
class _Newest:
    """An artifact with what its next revision is chained to."""

    artifact: Artifact
    sha256: str
    chain: str


def _newest(db: Connection, artifact_id: str) -> _Newest:
    row = _NEWEST.first(db, {"wanted": artifact_id})
    if row is None:
        raise KeyError(artifact_id)
    return _Newest(_artifact(row), row["sha256"], row["chain"])


def artifact_of(row: Row[Any]) -> Artifact:
    """The artifact of a joined row of the artifact table and its newest revision's content."""
    return _artifact(dict(row._mapping))


def _artifact(values: dict[str, Any]) -> Artifact:
    return Artifact(**values, document=documents.read(values["kind"], values.pop("content")))


def _editable(project: Project, db: Connection, artifact_id: str) -> _Newest:
    newest = _newest(db, artifact_id)
    if objection := editable.objection(project, newest.artifact):
        raise objection
    return newest


def _place(document: Document[Any], unit_id: str) -> int:
    for place, unit in enumerate(document.units):
        if unit.id == unit_id:
            return place
    raise Refusal(
        "That unit is no longer there.", "It may have been taken out meanwhile; look at the list again."
    )


def _checked(model: type[T], values: dict[str, Any]) -> T:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "value"
        raise Refusal(f"The {field} does not fit: {first['msg'].lower()}.", "Nothing was changed.") from None


def _revise(
    project: Project, db: Connection, newest: _Newest, document: Document[Any], verb: str,
    about: dict[str, Any] | None = None,
) -> Change:  # fmt: skip
    artifact = newest.artifact
    before = {"revision": artifact.revision, "sha256": newest.sha256}
    if document == artifact.document:
        return Change("artifact", artifact.id, verb, None, before, by=project.by)
    after = _next_revision(project, db, newest, document, verb=verb) | (about or {})
    return record(project, db, Change("artifact", artifact.id, verb, before, after))


def _next_revision(
    project: Project, db: Connection, newest: _Newest, document: Document[Any], verb: str, **more: Any
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
) -> dict[str, Any]:
    """Add a revision and make it the artifact's newest; what a change says of it.

    `previous` is the chain of the revision before. Said inside the transaction that has made sure that this may be.
    """
    content = canonical_json(document.tree())
    digest = sha256(content)
    row = {
        "id": new_id(), "artifact_id": artifact_id, "number": number, "content": content.decode(), "sha256": digest,
        "chain": chain(previous, digest), "sealed": sealed, "reason": reason,
        "guideline": guidelines.version_in_force(db, stage_of(document.KIND)), "form": FORM,
        "verb": verb, "by": project.by, "at": now(),
    }  # fmt: skip
    _ADD_REVISION.run(db, row)
    _POINT.run(db, {"wanted": artifact_id, "number": number})
    documents.remember(document.KIND, content.decode(), document)
    return {"revision": number, "sha256": digest}


def restore(project: Project, db: Connection, artifact_id: str, present: Any, goal: Any) -> None:
    """Put the subject of a change from one image to another; Refusal when it has moved on."""
    newest = _editable(project, db, artifact_id)
    if newest.sha256 != present["sha256"]:
        raise Refusal("This artifact was changed elsewhere since.", "Look at it again; nothing was undone.")
    wanted = (REVISION.c.artifact_id == artifact_id, REVISION.c.number == goal["revision"])
    content = db.execute(select(REVISION.c.content).where(*wanted)).scalar_one()
    _next_revision(project, db, newest, documents.read(newest.artifact.kind, content), verb="restore")
