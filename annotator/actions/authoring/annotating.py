"""Visibility: blindness is decided here, in the query, and never in a widget."""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any

import orjson
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Row,
    Select,
    bindparam,
    case,
    func,
    literal,
    or_,
    select,
    union,
)
from sqlalchemy.engine import Connection

from annotator.actions.authoring import editable
from annotator.actions.authoring.artifacts import artifact_of
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Purpose, stage_of
from annotator.domain.kinds.artifact import Artifact, Kind, State
from annotator.domain.material.extract import by_set
from annotator.storage.tables import (
    ARTIFACT,
    ASSIGNMENT,
    EXTRACT,
    META,
    PERSON,
    REVISION,
)

# The setting that names the rubric set by which reports are judged.
RUBRIC_SET = "rubric_set"
# The setting by which what several wrote counts before it is adjudicated.
UNADJUDICATED = "unadjudicated_gold"
# The setting with the documents that scored when another author's came, and go on scoring until both are adjudicated.
FIRST = "first_submitted"
# The setting with the items of which a release told that more people write them than it holds.
AWAITED = "awaited_gold"
_SETTING = select(META.c.value).where(META.c.key == bindparam("wanted"))
_EARLIER, _OPENING = REVISION.alias(), REVISION.alias()
_LAST_SEALED = (
    select(func.max(_EARLIER.c.number))
    .where(_EARLIER.c.artifact_id == ARTIFACT.c.id, _EARLIER.c.sealed)
    .correlate(ARTIFACT)
    .scalar_subquery()
)
# Where a consensus was opened for editing and not sealed since.
_OPENED = (
    select(func.min(_OPENING.c.number))
    .where(
        _OPENING.c.artifact_id == ARTIFACT.c.id,
        _OPENING.c.verb == editable.EDIT_CONSENSUS,
        _OPENING.c.number > func.coalesce(_LAST_SEALED, 0),
    )
    .correlate(ARTIFACT)
    .scalar_subquery()
)
_REOPENED = ARTIFACT.c.state == State.DRAFT.value
# Which revision of an artifact is looked at: its newest, or the submitted one, which counts in every figure and leaves
# in a release. That is the newest unless the artifact is open again; then it is the last before that.
NEWEST = (REVISION.c.artifact_id == ARTIFACT.c.id) & (REVISION.c.number == ARTIFACT.c.revision)
RELEASED = (REVISION.c.artifact_id == ARTIFACT.c.id) & (
    REVISION.c.number
    == case((_REOPENED, _LAST_SEALED), else_=func.coalesce(_OPENED - 1, ARTIFACT.c.revision))
)
# What is shown of an artifact whose revision is chosen, beside its state.
_STANDING = (
    *(column for column in ARTIFACT.c if column.name not in ("state", "revision")),
    REVISION.c.number.label("revision"),
    REVISION.c.content,
)


# What a person may see of an item: their own work and what is settled. Consensus and imported gold are; another
# annotator's artifact is not, whatever the person's role.
_VISIBLE = (
    select(ARTIFACT, REVISION.c.content)
    .join(REVISION, NEWEST)
    .where(
        ARTIFACT.c.item_id == bindparam("of_item"),
        or_(ARTIFACT.c.author_id.in_((bindparam("reader"), "")), ARTIFACT.c.state == State.CONSENSUS.value),
    )
)


def artifacts_of(project: Project, item_id: str) -> list[Artifact]:
    """The artifacts of an item that the person working may see: their own first, then consensus, then imported."""
    person = people.someone(project)
    with project.store.read() as db:
        rows = db.execute(_VISIBLE, {"of_item": item_id, "reader": person.id}).all()
    found = [artifact_of(row) for row in rows]
    return sorted(found, key=lambda a: (a.author_id != person.id, a.state is not State.CONSENSUS, a.kind))


def judged_artifact(db: Connection, item_id: str, kind: Kind) -> Artifact | None:
    """The artifact whose units an item's reports are judged by, or None while there is none."""
    row = judged_rows(db, kind, [item_id]).get(item_id)
    return artifact_of(row) if row is not None else None


def judged_rows(
    db: Connection,
    kind: Kind,
    items: Iterable[str] | None = None,
    *,
    own: bool = False,
) -> dict[str, Row[Any]]:
    """Item by item, the row (`artifact_of` reads it) of the artifact whose units its reports are judged by.

    Consensus comes first, that of an adjudicator before one that was imported; then imported gold, then the sealed
    one of an item's single author. What several wrote is no gold before it is adjudicated, unless the project says
    so: then it is the one that scored before the others came (`keep_scoring`), else that of the lowest alias. While a
    rubric set is in force, rubrics are that set's, unless the experts' `own` are asked for. Of every document the
    submitted revision counts: one that is only begun is none, and of one that is open again what was submitted stays.
    """
    if kind is Kind.RUBRIC and not own and (name := set_in_force(db)):
        return {row.item_id: row for row in db.execute(_of_set(name, items))}
    question = _judged(kind, of_items=items is not None)
    wanted: dict[str, Any] = {} if items is None else {"wanted": list(items)}
    rows, first = db.execute(question, wanted).all(), dict[str, Row[Any]]()
    written = any(map(_of_author, rows))
    counts = written and _setting(db, UNADJUDICATED, False)
    several = doubles(db, kind) if written and not counts else set()
    kept = set(_setting(db, FIRST, ())) if counts else set()
    for row in sorted(rows, key=lambda row: _of_author(row) and row.id not in kept):
        if row.item_id not in several or not _of_author(row):
            first.setdefault(row.item_id, row)
    return first


def _of_author(row: Row[Any]) -> bool:
    """Whether a document is an annotator's own, and nobody adjudicated it."""
    return bool(row.author_id) and row.state != State.CONSENSUS.value


def keep_scoring(project: Project, db: Connection, kind: Kind, item_id: str, arriving: str = "") -> None:
    """Said before a document comes: where what several wrote counts, the one that scores by now goes on doing so."""
    if not _setting(db, UNADJUDICATED, False):
        return
    row, kept = judged_rows(db, kind, [item_id], own=True).get(item_id), _setting(db, FIRST, [])
    if row and row.id not in (arriving, *kept) and _of_author(row):
        project.set(FIRST, [*kept, row.id])


@cache
def _judged(kind: Kind, *, of_items: bool = False) -> Select[Any]:
    """Asked after every label, and written once: writing it takes longer than its answer."""
    consensus, imported = ARTIFACT.c.state == State.CONSENSUS.value, ARTIFACT.c.author_id == ""
    question = (
        submitted_revisions()
        .outerjoin(PERSON, PERSON.c.id == ARTIFACT.c.author_id)
        .where(ARTIFACT.c.kind == kind.value)
        .order_by(None)
        .order_by(~consensus, case((consensus, imported), else_=~imported), PERSON.c.alias, ARTIFACT.c.id)
    )
    among: BindParameter[Any] = bindparam("wanted", expanding=True)
    return question.where(ARTIFACT.c.item_id.in_(among)) if of_items else question


def set_in_force(db: Connection) -> str:
    """The rubric set that reports are judged by now; empty for the experts' own rubrics."""
    return str(_setting(db, RUBRIC_SET, ""))


def _of_set(name: str, items: Iterable[str] | None) -> Select[Any]:
    """The rubrics of a named set as rows of artifacts that nobody wrote in this project."""
    question = select(
        EXTRACT.c.id, EXTRACT.c.item_id, EXTRACT.c.kind, literal("").label("author_id"),
        literal(State.SEALED.value).label("state"), literal(1).label("revision"), EXTRACT.c.at.label("sealed_at"),
        EXTRACT.c.content,
    ).where(EXTRACT.c.origin == by_set(name))  # fmt: skip
    return question if items is None else question.where(EXTRACT.c.item_id.in_(items))


def doubles(db: Connection, kind: Kind) -> set[str]:
    """The items of which several people write a document of a kind: they are asked for it, or have submitted one."""
    return set(db.execute(_doubles(kind)).scalars()) | set(_setting(db, AWAITED, {}).get(kind.value, ()))


@cache
def _doubles(kind: Kind) -> Select[Any]:
    asked = select(ASSIGNMENT.c.item_id, ASSIGNMENT.c.person_id).where(
        ASSIGNMENT.c.stage == stage_of(kind).value, ASSIGNMENT.c.trial == 1
    )
    both = union(_submitted(kind, ARTIFACT.c.item_id, ARTIFACT.c.author_id), asked).subquery()
    return select(both.c[0]).group_by(both.c[0]).having(func.count() > 1)


def reviews(db: Connection, kind: Kind) -> set[tuple[str, str]]:
    """Item and reviewer of each draft of a kind whose review was handed out."""
    question = select(ASSIGNMENT.c.item_id, ASSIGNMENT.c.person_id).where(
        ASSIGNMENT.c.stage == stage_of(kind).value,
        ASSIGNMENT.c.trial == 1,
        ASSIGNMENT.c.purpose == Purpose.REVIEW.value,
    )
    return {(item_id, person_id) for item_id, person_id in db.execute(question)}


def sealed_of_several(db: Connection, kind: Kind) -> set[str]:
    """The items of which several people write a document of a kind and one at least is sealed."""
    return set(_sealed(db, kind)) & doubles(db, kind)


def sealed_once(db: Connection, kind: Kind) -> set[str]:
    """The items of which a release holds one person's document of a kind."""
    counts = Counter(_sealed(db, kind))
    return {item_id for item_id, n in counts.items() if n == 1}


def _sealed(db: Connection, kind: Kind) -> list[str]:
    return list(db.execute(_submitted(kind, ARTIFACT.c.item_id)).scalars())


def _submitted(kind: Kind, *columns: ColumnElement[Any]) -> Select[Any]:
    """Of each document that a person has submitted, open again or not, these columns."""
    return select(*columns).where(
        ARTIFACT.c.kind == kind.value,
        ARTIFACT.c.author_id != "",
        ARTIFACT.c.state != State.CONSENSUS.value,
        (ARTIFACT.c.state == State.SEALED.value) | ARTIFACT.c.sealed_at.is_not(None),
    )


def _setting(db: Connection, key: str, default: Any) -> Any:
    said = db.execute(_SETTING, {"wanted": key}).scalar()
    return orjson.loads(said) if said else default


def withheld(db: Connection, person_id: str, kind: Kind) -> set[str]:
    """The items that a person may not label by a document of a kind yet: it is another annotator's, and they are
    still to submit their own.
    """
    begun = select(ARTIFACT.c.item_id).where(
        ARTIFACT.c.author_id == person_id,
        ARTIFACT.c.kind == kind.value,
        ARTIFACT.c.state == State.DRAFT.value,
    )
    asked = select(ASSIGNMENT.c.item_id).where(
        ASSIGNMENT.c.person_id == person_id,
        ASSIGNMENT.c.stage == stage_of(kind).value,
        ASSIGNMENT.c.submitted_at.is_(None),
    )
    writing = set(db.execute(union(begun, asked)).scalars())
    judged = judged_rows(db, kind, writing) if writing else {}
    return {
        item_id
        for item_id, row in judged.items()
        if row.author_id not in ("", person_id) and row.state != State.CONSENSUS.value
    }


def released_revisions(*columns: ColumnElement[Any]) -> Select[Any]:
    """Each artifact's revision that may leave, with these columns and its `state`."""
    state = case((_REOPENED, State.SEALED.value), else_=ARTIFACT.c.state).label("state")
    return select(*columns, state).select_from(ARTIFACT).join(REVISION, RELEASED).order_by(ARTIFACT.c.id)


def submitted_revisions() -> Select[Any]:
    """Each artifact as it was last submitted, as rows that `artifact_of` reads; none of one that never was."""
    return released_revisions(*_STANDING)
