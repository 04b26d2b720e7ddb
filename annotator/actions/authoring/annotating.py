"""Visibility: blindness is decided here, in the query, and never in a widget."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
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
    update,
)
from sqlalchemy.engine import Connection

from annotator.actions.authoring import artifacts
from annotator.actions.project import people
from annotator.actions.project.file import Project, change_setting, item_hash, record, wording_hash
from annotator.domain.common import Change, counted, nested
from annotator.domain.experts.assignment import Purpose, stage_of
from annotator.domain.kinds.artifact import Artifact, Kind, State
from annotator.domain.kinds.documents import KINDS
from annotator.domain.material.item import Item, by_set
from annotator.protocols import PROTOCOLS
from annotator.storage import store
from annotator.storage.tables import (
    ARTIFACT,
    ASSIGNMENT,
    EXTRACT,
    ITEM,
    JUDGE,
    META,
    PERSON,
    RESPONSE,
    REVISION,
    SYSTEM,
)

# The setting with the name of the rubric set by which reports are judged.
RUBRIC_SET = "rubric_set"
# The setting by which documents of several authors count before adjudication.
UNADJUDICATED = "unadjudicated_gold"
# The setting with the documents that scored before another author's came; they do so until both are adjudicated.
FIRST = "first_submitted"
# The setting with the items, by kind, that have more authors than the imported release contains, as it states.
AWAITED = "awaited_gold"
# The JSON in a document without units.
_NO_UNITS = '"units":[]'
# An adjudicator's document, or imported gold; any other is an author's.
_SETTLED = or_(ARTIFACT.c.author_id == "", ARTIFACT.c.state == State.CONSENSUS.value)
_SETTING = select(META.c.value).where(META.c.key == bindparam("wanted"))
_EARLIER, _OPENING = REVISION.alias(), REVISION.alias()
_LAST_SEALED = (
    select(func.max(_EARLIER.c.number))
    .where(_EARLIER.c.artifact_id == ARTIFACT.c.id, _EARLIER.c.sealed)
    .correlate(ARTIFACT)
    .scalar_subquery()
)
# The revision by which a consensus was opened for editing, if none was sealed since.
_OPENED = (
    select(func.min(_OPENING.c.number))
    .where(
        _OPENING.c.artifact_id == ARTIFACT.c.id,
        _OPENING.c.verb == artifacts.EDIT_CONSENSUS,
        _OPENING.c.number > func.coalesce(_LAST_SEALED, 0),
    )
    .correlate(ARTIFACT)
    .scalar_subquery()
)
_REOPENED = ARTIFACT.c.state == State.DRAFT.value
# The revision of an artifact to read: NEWEST, or RELEASED, the submitted one, which counts in every figure and goes
# into releases. They differ only if the artifact is open again; then RELEASED is the last before that.
NEWEST = (REVISION.c.artifact_id == ARTIFACT.c.id) & (REVISION.c.number == ARTIFACT.c.revision)
RELEASED = (REVISION.c.artifact_id == ARTIFACT.c.id) & (
    REVISION.c.number
    == case(
        (_REOPENED, _LAST_SEALED),
        (ARTIFACT.c.state == State.CONSENSUS.value, func.coalesce(_OPENED - 1, ARTIFACT.c.revision)),
        else_=ARTIFACT.c.revision,
    )
)
# The columns shown of an artifact at the chosen revision, besides its state.
_STANDING = (
    *(column for column in ARTIFACT.c if column.name not in ("state", "revision")),
    REVISION.c.number.label("revision"),
    REVISION.c.content,
)


# What a person may see: their own work, consensus and imported gold; never another annotator's artifact, whatever the
# person's role.
VISIBLE = (
    select(ARTIFACT, REVISION.c.content)
    .join(REVISION, NEWEST)
    .where(
        or_(ARTIFACT.c.author_id.in_((bindparam("reader"), "")), ARTIFACT.c.state == State.CONSENSUS.value)
    )
)
_OF_ITEM = VISIBLE.where(ARTIFACT.c.item_id == bindparam("of_item")).order_by(
    ARTIFACT.c.author_id != bindparam("reader"), ARTIFACT.c.state != State.CONSENSUS.value, ARTIFACT.c.kind
)


def artifacts_of(project: Project, item_id: str) -> list[Artifact]:
    """The artifacts of an item that the person working may see: their own first, then consensus, then imported."""
    rows = project.query(_OF_ITEM, {"of_item": item_id, "reader": people.someone(project).id})
    return list(map(artifacts.artifact_of, rows))


def own_states(project: Project) -> dict[str, dict[Kind, State]]:
    """Item → kind → whether the document of the person working is open or submitted."""
    question = select(ARTIFACT.c.item_id, ARTIFACT.c.kind, ARTIFACT.c.state).where(
        ARTIFACT.c.author_id == project.by, ARTIFACT.c.state != State.CONSENSUS.value
    )
    rows = project.query(question)
    return nested((item_id, Kind(kind), State(state)) for item_id, kind, state in rows)


def judged_artifact(db: Connection, item_id: str, kind: Kind) -> Artifact | None:
    """The artifact whose units an item's reports are judged by; None if there is none."""
    row = judged_rows(db, kind, [item_id]).get(item_id)
    return artifacts.artifact_of(row) if row is not None else None


def judged_rows(
    db: Connection,
    kind: Kind,
    items: Iterable[str] | None = None,
    *,
    own: bool = False,
) -> dict[str, Row[Any]]:
    """Item → the row (see `artifact_of`) of the artifact whose units its reports are judged by.

    Consensus comes first, an adjudicator's before an imported one; then imported gold; then the sealed document of an
    item's single author. Documents of several authors are not gold before adjudication unless the project says so: then
    the one that scored before the others came counts (`keep_scoring`), else that of the lowest alias. While a rubric
    set is in force, rubrics are that set's, unless `own` asks for the experts'. The submitted revision of a document
    counts: a draft never submitted is ignored, and a reopened document counts as last submitted.
    """
    if kind is Kind.RUBRIC and not own and (name := set_in_force(db)):
        return {row.item_id: row for row in db.execute(_of_set(name, items))}
    question = _judged(kind, of_items=items is not None)
    parameters: dict[str, Any] = {} if items is None else {"wanted": list(items)}
    rows, first = db.execute(question, parameters).all(), dict[str, Row[Any]]()
    written = any(map(_of_author, rows))
    counts = written and _setting(db, UNADJUDICATED, False)
    several = doubles(db, kind) if written and not counts else set()
    first_ids = set(_setting(db, FIRST, ())) if counts else set()
    for row in sorted(rows, key=lambda row: _of_author(row) and row.id not in first_ids):
        if row.item_id not in several or not _of_author(row):
            first.setdefault(row.item_id, row)
    return first


def judged_items(db: Connection, kind: Kind, *, with_units: bool = False) -> Select[Any]:
    """A subquery of the item ids of `judged_rows`, one for each document that may count.

    `with_units` leaves out documents without units; an author's is not filtered, as it cannot be submitted without any.
    """
    if kind is Kind.RUBRIC and (name := set_in_force(db)):
        named = _of_set(name, None).with_only_columns(EXTRACT.c.item_id)
        return named.where(_has_units(EXTRACT.c.content)) if with_units else named
    of_kind = released_revisions().where(_counting(db, kind)).order_by(None)
    question = of_kind.with_only_columns(ARTIFACT.c.item_id)
    return question.where(~_SETTLED | _has_units(REVISION.c.content)) if with_units else question


def _counting(db: Connection, kind: Kind) -> ColumnElement[bool]:
    """The condition that a document of a kind counts once it is submitted."""
    item, of_kind = ARTIFACT.c.item_id, ARTIFACT.c.kind == kind.value
    if _setting(db, UNADJUDICATED, False):
        return of_kind
    several = item.in_(_doubles(kind)) | item.in_(among(_setting(db, AWAITED, {}).get(kind.value, ())))
    return of_kind & (_SETTLED | ~several)


def of_several(db: Connection, kind: Kind) -> set[str]:
    """The items with more than one document that may count: the first of them does, whatever it holds."""
    item = ARTIFACT.c.item_id
    return set(
        db.execute(select(item).where(_counting(db, kind)).group_by(item).having(func.count() > 1)).scalars()
    )


def _has_units(content: ColumnElement[str]) -> ColumnElement[bool]:
    return func.instr(content, _NO_UNITS) == 0


def among(ids: Iterable[str]) -> Select[Any]:
    """A subquery of any number of ids."""
    return select(func.json_each(orjson.dumps(list(ids)).decode()).table_valued("value").c.value)


def _of_author(row: Row[Any]) -> bool:
    return bool(row.author_id) and row.state != State.CONSENSUS.value


def keep_scoring(project: Project, db: Connection, kind: Kind, item_id: str, arriving: str = "") -> None:
    """Call before a document arrives: if unadjudicated documents count, the one that scores so far keeps scoring."""
    if not _setting(db, UNADJUDICATED, False):
        return
    row, first_ids = judged_rows(db, kind, [item_id], own=True).get(item_id), _setting(db, FIRST, [])
    if row and row.id not in (arriving, *first_ids) and _of_author(row):
        project.set(FIRST, [*first_ids, row.id])


@cache
def _judged(kind: Kind, *, of_items: bool = False) -> Select[Any]:
    """The query of `judged_rows`, cached: it runs after every label, and building it takes longer than running it."""
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
    return str(_setting(db, RUBRIC_SET, ""))


def _of_set(name: str, items: Iterable[str] | None) -> Select[Any]:
    question = select(
        EXTRACT.c.id, EXTRACT.c.item_id, EXTRACT.c.kind, literal("").label("author_id"),
        literal(State.SEALED.value).label("state"), literal(1).label("revision"), EXTRACT.c.at.label("sealed_at"),
        EXTRACT.c.content,
    ).where(EXTRACT.c.origin == by_set(name))  # fmt: skip
    return question if items is None else question.where(EXTRACT.c.item_id.in_(items))


def doubles(db: Connection, kind: Kind) -> set[str]:
    """The items for which several people write a document of a kind: they are assigned it or have submitted one."""
    return set(db.execute(_doubles(kind)).scalars()) | set(_setting(db, AWAITED, {}).get(kind.value, ()))


@cache
def _doubles(kind: Kind) -> Select[Any]:
    assigned = select(ASSIGNMENT.c.item_id, ASSIGNMENT.c.person_id).where(
        ASSIGNMENT.c.stage == stage_of(kind).value, ASSIGNMENT.c.trial == 1
    )
    both = union(_submitted(kind, ARTIFACT.c.item_id, ARTIFACT.c.author_id), assigned).subquery()
    return select(both.c[0]).group_by(both.c[0]).having(func.count() > 1)


def reviews(db: Connection, kind: Kind) -> set[tuple[str, str]]:
    question = select(ASSIGNMENT.c.item_id, ASSIGNMENT.c.person_id).where(
        ASSIGNMENT.c.stage == stage_of(kind).value,
        ASSIGNMENT.c.trial == 1,
        ASSIGNMENT.c.purpose == Purpose.REVIEW.value,
    )
    return {(item_id, person_id) for item_id, person_id in db.execute(question)}


def sealed_once(db: Connection, kind: Kind) -> set[str]:
    return {item_id for item_id, n in Counter(_sealed(db, kind)).items() if n == 1}


def _sealed(db: Connection, kind: Kind) -> list[str]:
    return list(db.execute(_submitted(kind, ARTIFACT.c.item_id)).scalars())


def _submitted(kind: Kind, *columns: ColumnElement[Any]) -> Select[Any]:
    """These columns of each document of a kind that a person has submitted, reopened or not."""
    return select(*columns).where(
        ARTIFACT.c.kind == kind.value,
        ARTIFACT.c.author_id != "",
        ARTIFACT.c.state != State.CONSENSUS.value,
        (ARTIFACT.c.state == State.SEALED.value) | ARTIFACT.c.sealed_at.is_not(None),
    )


def _setting(db: Connection, key: str, default: Any) -> Any:
    stored = db.execute(_SETTING, {"wanted": key}).scalar()
    return orjson.loads(stored) if stored else default


def withheld(db: Connection, person_id: str, kind: Kind) -> set[str]:
    """The items a person may not label by a kind yet: its document is another annotator's, and theirs is due."""
    begun = select(ARTIFACT.c.item_id).where(
        ARTIFACT.c.author_id == person_id,
        ARTIFACT.c.kind == kind.value,
        ARTIFACT.c.state == State.DRAFT.value,
    )
    assigned = select(ASSIGNMENT.c.item_id).where(
        ASSIGNMENT.c.person_id == person_id,
        ASSIGNMENT.c.stage == stage_of(kind).value,
        ASSIGNMENT.c.submitted_at.is_(None),
    )
    writing = set(db.execute(union(begun, assigned)).scalars())
    judged = judged_rows(db, kind, writing) if writing else {}
    return {
        item_id
        for item_id, row in judged.items()
        if row.author_id not in ("", person_id) and row.state != State.CONSENSUS.value
    }


def released_revisions(*columns: ColumnElement[Any]) -> Select[Any]:
    """The revision of each artifact that counts and may be released, with these columns and its `state`."""
    state = case((_REOPENED, State.SEALED.value), else_=ARTIFACT.c.state).label("state")
    return select(*columns, state).select_from(ARTIFACT).join(REVISION, RELEASED).order_by(ARTIFACT.c.id)


def submitted_revisions() -> Select[Any]:
    """Each artifact as last submitted, as rows for `artifact_of`; artifacts never submitted are left out."""
    return released_revisions(*_STANDING)


REVIEWED = "draft reviewed, not blind"
CONSENSUS, IMPORTED, LEFT_OUT = "consensus", "imported", "left out: written by several, not adjudicated"
FIRST_ALIAS = "the document that scored first, else that of the first alias"
AGAIN = "What was submitted counts until you submit again."
TAKES_SCORES = "takes the item's scores away until both documents are adjudicated"
SECOND = f"Submitting {TAKES_SCORES}."
# Item → whose gold of a kind scores it.
Whose = dict[str, str]


def unadjudicated_counts(project: Project) -> bool:
    """Whether documents of several authors score an item before adjudication, by one of them (`FIRST_ALIAS`)."""
    return bool(project.get(UNADJUDICATED, False))


@people.for_coordinators("can decide whose gold counts")
def count_unadjudicated(project: Project, wished: bool) -> Change:
    """Set whether documents of several authors score before adjudication; each figure then names whose it is."""
    before = unadjudicated_counts(project)
    return change_setting(project, UNADJUDICATED, "count unadjudicated gold", before, wished)


def whose(db: Connection, kind: Kind) -> Whose:
    """Item → whose document of a kind scores it, or that it is left out until adjudicated."""
    aliases = dict(db.execute(select(PERSON.c.id, PERSON.c.alias)).all())
    twice, reviewed = doubles(db, kind), reviews(db, kind)
    result = {}
    named = set_in_force(db) if kind is Kind.RUBRIC else ""
    for item_id, row in judged_rows(db, kind).items():
        alias = aliases.get(row.author_id, row.author_id)
        if named:
            result[item_id] = f"rubric set “{named}”"
        elif row.state == State.CONSENSUS.value:
            result[item_id] = REVIEWED if (item_id, row.author_id) in reviewed else CONSENSUS
        elif not row.author_id:
            result[item_id] = IMPORTED
        else:
            result[item_id] = f"{alias}, not adjudicated" if item_id in twice else f"{alias} alone"
    left = set() if named else (set(_sealed(db, kind)) & doubles(db, kind)) - result.keys()
    return result | dict.fromkeys(left, LEFT_OUT)


def words(
    db: Connection,
    kinds: Iterable[Kind],
    items: Iterable[str] = (),
    *,
    rater: str = "",
) -> str:
    """Whose gold of these kinds scores the items, and what is left out, in words; empty if there is none.

    If the rater is a judge, also how much of the gold that judge's own model drafted.
    """
    item_ids = set(items)
    used = set(db.execute(select(ITEM.c.id).where(ITEM.c.retired.is_(False))).scalars())
    sentences = []
    for kind in kinds:
        counts = Counter(
            who
            for item_id, who in whose(db, kind).items()
            if item_id in used and (who == LEFT_OUT or not item_ids or item_id in item_ids)
        ).most_common()
        if counts:
            names = "; ".join(f"{who} ({counted(n, 'item')})" for who, n in sorted(counts, key=_place))
            sentences.append(f"{KINDS[kind].title}: {names}")
            sentences += _own(db, kind, rater) if rater else ()
    return ". ".join(sentences)


def _own(db: Connection, kind: Kind, judge_id: str) -> Iterator[str]:
    """A sentence on how many units of the gold were drafted by the judge's own model; nothing if none were."""
    model = db.execute(select(JUDGE.c.model).where(JUDGE.c.id == judge_id)).scalar()
    if not model:
        return
    drafts = artifacts.with_consensus(db)
    theirs = {unit for of in drafts.values() for unit, source in of.items() if source.model == model}
    if not theirs:
        return
    rows = judged_rows(db, kind).values()
    own = sum(unit.id in theirs for row in rows for unit in artifacts.artifact_of(row).document.units)
    if own:
        yield f"{counted(own, KINDS[kind].unit, KINDS[kind].units)} drafted by the judge's own model, {model}"


def alone(project: Project, kind: Kind, items: Iterable[str]) -> Whose:
    """Item → the only author of the gold that scores it, so that a second author would take its scores away."""
    if unadjudicated_counts(project) or not any(kind in protocol.needs for protocol in PROTOCOLS.values()):
        return {}
    with project.store.read() as db:
        rows = judged_rows(db, kind, items)
    return {
        item_id: row.author_id
        for item_id, row in rows.items()
        if row.author_id and row.state != State.CONSENSUS.value
    }


def consequence(project: Project, artifact: Artifact) -> str:
    """What submitting an open document changes in its item's scores, in words; empty if nothing."""
    if artifact.state is not State.CONSENSUS and not artifact.sealed_at:
        return SECOND if is_second(project, artifact.kind, artifact.item_id, artifact.author_id) else ""
    return AGAIN


def is_second(project: Project, kind: Kind, item_id: str, author_id: str) -> bool:
    """Whether a document of this author takes an item's scores away, because only somebody else's gives them."""
    return alone(project, kind, [item_id]).get(item_id, author_id) != author_id


def awaited(db: Connection) -> dict[str, list[str]]:
    """Kind → the items with exactly one sealed document while others are still to be written."""
    return {
        kind.value: sorted(items)
        for kind in KINDS
        if kind is not Kind.LABELS and (items := sealed_once(db, kind) & doubles(db, kind))
    }


def _place(one: tuple[str, int]) -> tuple[int, int, str]:
    who, n = one
    return {CONSENSUS: 0, IMPORTED: 1, LEFT_OUT: 3}.get(who, 2), -n, who


def settled(db: Connection, item_ids: Iterable[str]) -> dict[str, str]:
    """Item → the first wording of its settled query; a query that is only submitted is not settled."""
    rows = judged_rows(db, Kind.QUERY, item_ids)
    settled_rows = {
        i: row for i, row in rows.items() if row.state == State.CONSENSUS.value or not row.author_id
    }
    texts = {item_id: _first_wording(row.content) for item_id, row in settled_rows.items()}
    return {item_id: text for item_id, text in texts.items() if text}


def _first_wording(content: str) -> str:
    units = json.loads(content)["units"]
    return str(units[0]["text"]).strip() if units else ""


def take(project: Project, db: Connection, item_ids: Iterable[str]) -> None:
    """Make the settled query of each item its question; the previous question becomes its working title."""
    for item_id, wording in settled(db, item_ids).items():
        row = dict(db.execute(select(ITEM).where(ITEM.c.id == item_id)).mappings().one())
        if row["question"].strip() == wording:
            continue
        keep_answers(db, item_id, row["question"])
        row |= {"question": wording, "working_title": row["working_title"] or row["question"]}
        row["sha256"] = item_hash(row)
        db.execute(update(ITEM).where(ITEM.c.id == item_id).values(row))
        store.index(db, [Item(**{name: value for name, value in row.items() if name != "sha256"})])
        # Not undoable: another wording is settled by closing the query again.
        record(project, db, Change("item", item_id, "settle question", None, {"question": wording}))


def keep_answers(db: Connection, item_id: str, question: str) -> None:
    """Record in the responses to an item which wording they answer, before its question changes."""
    answers = (RESPONSE.c.item_id == item_id, RESPONSE.c.asked == "")
    db.execute(update(RESPONSE).where(*answers).values(asked=wording_hash(question)))


def answered_otherwise(project: Project) -> list[tuple[str, str]]:
    """(item's key, system) of each response to a wording of the question other than the present one, in the project's
    order.
    """
    rows = project.query(
        select(ITEM.c.key, SYSTEM.c.name, RESPONSE.c.asked, ITEM.c.question)
        .select_from(RESPONSE)
        .join(ITEM, ITEM.c.id == RESPONSE.c.item_id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(ITEM.c.retired.is_(False), RESPONSE.c.asked != "")
        .order_by(ITEM.c.position, ITEM.c.key, SYSTEM.c.name, RESPONSE.c.trial)
    ).all()
    return [(row.key, row.name) for row in rows if row.asked != wording_hash(row.question)]
