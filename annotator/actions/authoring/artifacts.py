"""Edits of artifacts: each one is a new revision, whatever the kind."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from sqlalchemy import Row, bindparam, insert, select, update
from sqlalchemy.engine import Connection

from annotator.actions.authoring import criterion_weights, draft_provenance, editable, guidelines
from annotator.actions.project import drafts, people
from annotator.actions.project.drafts import REMARK
from annotator.actions.project.file import Project, record
from annotator.domain.experts.assignment import stage_of
from annotator.domain.experts.guideline import FORM
from annotator.domain.kinds.artifact import Artifact, Document, Kind, Revision, State, Unit, chain
from annotator.domain.kinds.checklist import CheckPoint, shared_rest
from annotator.domain.kinds.documents import DOCUMENTS
from annotator.domain.texts.canonical import canonical_json, sha256
from annotator.domain.texts.change import Change, new_id, now
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import ARTIFACT, REVISION

T = TypeVar("T", bound=BaseModel)
_NEWEST = (
    select(ARTIFACT, REVISION.c.content, REVISION.c.sha256, REVISION.c.chain)
    .join(REVISION, (REVISION.c.artifact_id == ARTIFACT.c.id) & (REVISION.c.number == ARTIFACT.c.revision))
    .where(ARTIFACT.c.id == bindparam("wanted"))
)
_ADD_REVISION = insert(REVISION)
_POINT = update(ARTIFACT).where(ARTIFACT.c.id == bindparam("wanted")).values(revision=bindparam("number"))


def read(project: Project, artifact_id: str) -> Artifact:
    """An artifact with its newest document; KeyError when there is none of that id."""
    with project.store.read() as db:
        return read_newest(db, artifact_id).artifact


def start(project: Project, item_id: str, kind: Kind, document: Document[Any] | None = None) -> Change:
    """Begin this person's artifact of a kind for an item, empty unless a document is given to start from."""
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
    """A new unit below the one named in `after`, or at the end."""
    return add_units(project, artifact_id, [fields], after)


def add_units(
    project: Project, artifact_id: str, given: Iterable[dict[str, Any]], after: str = "", *, instead_of: str = "",
    verb: str = "add unit", about: dict[str, Any] | None = None,
) -> Change:  # fmt: skip
    """New units below `after`, or at the end, in one revision; the unit `instead_of` gives way.

    `about` is kept with the change: where they come from.
    """
    given = list(given)
    with project.store.write() as db:
        newest = read_open(project, db, artifact_id)
        document = newest.artifact.document
        for fields in given:
            criterion_weights.refuse_other(project, document.KIND, fields)
        made = tuple(_checked(document.UNIT, {"id": new_id(), **fields}) for fields in given)
        place = _place(document, after) + 1 if after else len(document.units)
        units = (*document.units[:place], *made, *document.units[place:])
        kept = tuple(unit for unit in units if unit.id != instead_of)
        return _revise(project, db, newest, document.with_units(kept), verb, about)


def change_unit(project: Project, artifact_id: str, unit_id: str, **fields: Any) -> Change:
    """Give a unit's fields new values; Refusal names the field that does not fit.

    What is there already makes no revision; the change that comes back then has no before-image and no number.
    """
    return change_units(project, artifact_id, {unit_id: fields}, f"change {', '.join(fields)}")


def change_units(
    project: Project, artifact_id: str, given: Mapping[str, Mapping[str, Any]], verb: str
) -> Change:
    """Give the fields of several units, by id, new values in one revision; as one is changed."""
    if any("id" in fields for fields in given.values()):
        raise Refusal("A unit's id never changes.", "Add another unit instead.")
    with project.store.write() as db:
        newest = read_open(project, db, artifact_id)
        document = newest.artifact.document
        units = list(document.units)
        for unit_id, fields in given.items():
            place = _place(document, unit_id)
            units[place] = _checked(document.UNIT, {**units[place].model_dump(mode="json"), **fields})
            criterion_weights.refuse_other(project, document.KIND, dict(fields))
            for name in fields:
                drafts.drop(project, db, drafts.place_of(artifact_id, unit_id, name))
        return _revise(project, db, newest, document.with_units(tuple(units)), verb)


def share_rest(project: Project, artifact_id: str) -> Change:
    """Give the points of a checklist that have no share equal parts of what the others leave; Refusal for nothing."""
    units = read(project, artifact_id).document.units
    given = {
        new.id: {"share": new.share} for old, new in zip(units, shared_rest(units), strict=True) if new != old
    }
    if not given:
        raise Refusal(
            "Nothing is left to share.",
            "Set the share of those points to 0 that are to share the rest, and let the others sum to less than 1.",
        )
    return change_units(project, artifact_id, given, "share the rest")


def remove_unit(project: Project, artifact_id: str, unit_id: str) -> Change:
    """Take a unit out of the newest revision; earlier revisions keep it."""
    with project.store.write() as db:
        newest = read_open(project, db, artifact_id)
        document = newest.artifact.document
        _place(document, unit_id)
        units = tuple(unit for unit in document.units if unit.id != unit_id)
        return _revise(project, db, newest, document.with_units(units), "retire unit")


def move_unit(project: Project, artifact_id: str, unit_id: str, by: int) -> Change:
    """Move a unit `by` places down (or up when negative), no further than the ends."""
    with project.store.write() as db:
        newest = read_open(project, db, artifact_id)
        document = newest.artifact.document
        place = _place(document, unit_id)
        rest = [unit for unit in document.units if unit.id != unit_id]
        rest.insert(max(0, min(len(rest), place + by)), document.units[place])
        return _revise(project, db, newest, document.with_units(tuple(rest)), "move unit")


def merge_unit(project: Project, artifact_id: str, unit_id: str) -> Change:
    """Join a unit to the one above it: its words follow that one's, with its quotations, and the marks of a draft."""
    with project.store.write() as db:
        newest = read_open(project, db, artifact_id)
        units = newest.artifact.document.units
        place = _place(newest.artifact.document, unit_id)
        if not place:
            raise Refusal("There is no unit above this one.", "Go to the lower one of the two.")
        upper = _checked(type(units[0]), _merged(units[place - 1], units[place]))
        document = newest.artifact.document.with_units((*units[: place - 1], upper, *units[place + 1 :]))
        said = _carried(db, artifact_id, unit_id, upper.id) or ("merge units", None)
        return _revise(project, db, newest, document, *said)


def split_unit(project: Project, artifact_id: str, unit_id: str, at: int) -> Change:
    """Make two of a unit: its words from the character `at` on become a unit below it, of the same kind in all else."""
    with project.store.write() as db:
        newest = read_open(project, db, artifact_id)
        units, place = newest.artifact.document.units, _place(newest.artifact.document, unit_id)
        first, second = units[place].text[:at].strip(), units[place].text[at:].strip()
        if not first or not second:
            raise Refusal("One half would be empty.", "Put the cursor where the second half begins.")
        halves = [
            _checked(type(units[place]), {**units[place].model_dump(mode="json"), "id": own, "text": words})
            for own, words in ((unit_id, first), (new_id(), second))
        ]
        document = newest.artifact.document.with_units((*units[:place], *halves, *units[place + 1 :]))
        said = _carried(db, artifact_id, unit_id, halves[1].id) or ("split unit", None)
        return _revise(project, db, newest, document, *said)


def _merged(upper: Unit, lower: Unit) -> dict[str, Any]:
    """The upper unit with all that the lower one adds: words, note, quotations, what there may be several of."""
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
    """How the history says that words taken from a draft stand in another unit now; None where they are not."""
    known = draft_provenance.of_artifacts(db, [artifact_id]).get(artifact_id, {})
    if from_id not in known or to_id in known:
        return None
    source = known[from_id]
    return draft_provenance.verb(source), draft_provenance.about({to_id: ""}, source)


def change_whole(project: Project, artifact_id: str, **fields: Any) -> Change:
    """Give fields of the document itself new values; Refusal names the one that does not fit."""
    with project.store.write() as db:
        newest = read_open(project, db, artifact_id)
        document = newest.artifact.document
        revised = _checked(type(document), document.tree() | fields)
        for name in fields:
            drafts.drop(project, db, drafts.place_of(artifact_id, "", name))
        verb = "note" if set(fields) == {REMARK} else f"change {', '.join(fields)}"
        return _revise(project, db, newest, revised, verb)


def finish_draft(project: Project, artifact_id: str, unit_id: str, field: str, text: str) -> Change:
    if not unit_id:
        return change_whole(project, artifact_id, **{field: text})
    return change_unit(project, artifact_id, unit_id, **{field: text})


@dataclass(frozen=True, slots=True)
class RevisionLine:
    """A revision without its document: an evening's work makes hundreds of them."""

    id: str
    number: int
    sealed: bool
    by: str
    at: datetime
    verb: str


def revision_lines(project: Project, artifact_id: str) -> list[RevisionLine]:
    """What was done to an artifact, by whom and when, newest first."""
    columns = (REVISION.c[one.name] for one in fields(RevisionLine))
    question = select(*columns).where(REVISION.c.artifact_id == artifact_id)
    with project.store.read() as db:
        rows = db.execute(question.order_by(REVISION.c.number.desc())).all()
    return [RevisionLine(*row) for row in rows]


def revisions(project: Project, artifact_id: str, numbers: Collection[int] | None = None) -> list[Revision]:
    """Revisions of an artifact with their documents, newest first: those of the numbers, or all of them."""
    question = select(REVISION).where(REVISION.c.artifact_id == artifact_id)
    if numbers is not None:
        question = question.where(REVISION.c.number.in_(numbers))
    question = question.order_by(REVISION.c.number.desc())
    with project.store.read() as db:
        rows = db.execute(question).mappings().all()
    return [Revision(**{**row, "content": json.loads(row["content"])}) for row in rows]


@dataclass(frozen=True, slots=True)
class NewestArtifact:
    """An artifact with the chain hash that its next revision continues."""

    artifact: Artifact
    sha256: str
    chain: str


def read_newest(db: Connection, artifact_id: str) -> NewestArtifact:
    """An artifact with its newest document, inside a transaction; KeyError when there is none of that id."""
    row = db.execute(_NEWEST, {"wanted": artifact_id}).mappings().first()
    if row is None:
        raise KeyError(artifact_id)
    return NewestArtifact(_artifact(dict(row)), row["sha256"], row["chain"])


def artifact_of(row: Row[Any]) -> Artifact:
    """The artifact of a joined row of the artifact table and its newest revision's content."""
    return _artifact(dict(row._mapping))


def _artifact(values: dict[str, Any]) -> Artifact:
    return Artifact(**values, document=read_document(values["kind"], values.pop("content")))


def read_open(project: Project, db: Connection, artifact_id: str) -> NewestArtifact:
    """The same, of one that the person working may write; Refusal why not."""
    newest = read_newest(db, artifact_id)
    if objection := editable.objection(project, newest.artifact):
        raise objection
    return newest


def _place(document: Document[Any], unit_id: str) -> int:
    for place, unit in enumerate(document.units):
        if unit.id == unit_id:
            return place
    raise Refusal(
        "That unit no longer exists.", "It may have been removed meanwhile; look at the list again."
    )


def _checked(model: type[T], values: dict[str, Any]) -> T:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "value"
        raise Refusal(f"The {field} does not fit: {first['msg'].lower()}.", "Nothing was changed.") from None


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
    db.execute(_ADD_REVISION, row)
    db.execute(_POINT, {"wanted": artifact_id, "number": number})
    _remember(document.KIND, content.decode(), document)
    return {"revision": number, "sha256": digest}


def restore(project: Project, db: Connection, artifact_id: str, present: Any, goal: Any) -> None:
    """Put the subject of a change from one image to another; Refusal when it has moved on."""
    newest = read_open(project, db, artifact_id)
    if newest.sha256 != present["sha256"]:
        raise Refusal("This artifact was changed elsewhere since.", "Look at it again; nothing was undone.")
    wanted = (REVISION.c.artifact_id == artifact_id, REVISION.c.number == goal["revision"])
    content = db.execute(select(REVISION.c.content).where(*wanted)).scalar_one()
    next_revision(project, db, newest, read_document(newest.artifact.kind, content), verb="restore")


REMEMBERED = 64
_known: dict[tuple[str, str], Document[Any]] = {}


def read_document(kind: str, content: str) -> Document[Any]:
    """The document of a kind with that canonical JSON; pydantic's ValidationError names what does not fit."""
    document = _known.get((kind, content))
    if document is None:
        document = DOCUMENTS[Kind(kind)].model_validate_json(content)
        _remember(kind, content, document)
    return document


def _remember(kind: str, content: str, document: Document[Any]) -> None:
    """Keep a document that was just written: it is asked for next."""
    if len(_known) >= REMEMBERED:
        _known.clear()
    _known[kind, content] = document
