"""A person's labels among the judgements: which of them count in figures, and when they become unchangeable."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any

import orjson
from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Subquery,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal,
    null,
    or_,
    select,
)

from annotator.actions.authoring import annotating
from annotator.domain.common import Refusal, nested
from annotator.domain.experts.assignment import Stage
from annotator.domain.judges.judge import Judgement, RaterKind, Status
from annotator.domain.judges.protocol import Scale
from annotator.domain.kinds.artifact import Kind, State, Unit, side_of_cell
from annotator.protocols import TO_SUBMIT, USUAL as USUAL
from annotator.storage.tables import ARTIFACT, ASSIGNMENT, AUDIT, ITEM, JUDGEMENT, REVISION

# The cause of a judgement that no longer counts.
REWORDED = "reworded"
CAUSE = "The unit was reworded since; it needs to be judged again."
BY_JUDGES = JUDGEMENT.c.rater_kind == RaterKind.JUDGE.value
# If every text was written only once, nothing was reworded, and no judgement need be checked.
_REWORDED = (
    select(ARTIFACT.c.id).where(ARTIFACT.c.kind != Kind.LABELS.value, ARTIFACT.c.revision > 1).limit(1)
)
# A time, and the texts of the units from then on.
LabelledAt = tuple[datetime, Mapping[str, str]]
# An item, a unit, and the time at which something was said about it.
Spoken = tuple[str, str, datetime]


def _older() -> Select[Any]:
    j, artifact, revision = JUDGEMENT.c, ARTIFACT.alias(), REVISION.alias()
    # The last change of any text: mostly before a judgement, which then needs no further look-up.
    worded = select(func.max(revision.c.at)).join(artifact, artifact.c.id == revision.c.artifact_id)
    return (
        select(
            j.id,
            j.protocol,
            j.item_id,
            j.artifact_id,
            j.response_id,
            j.unit_id,
            j.rater_id,
            j.trial,
            j.at,
            REVISION.c.number,
        )
        .join(ARTIFACT, ARTIFACT.c.id == j.artifact_id)
        .join(REVISION, annotating.RELEASED)
        .where(
            j.at < worded.where(artifact.c.kind != Kind.LABELS.value).scalar_subquery(), REVISION.c.at > j.at
        )
    )


_OLDER = _older()


def outdated(db: Connection, *narrowed: ColumnElement[bool]) -> dict[str, Any]:
    """The judgements whose unit has been reworded since they were given: id → row.

    The submitted texts count. If a wording is restored, judgements of it count again.
    """
    if db.execute(_REWORDED).first() is None:
        return {}
    history = cache(partial(_history, db))
    # Row by row: there may be millions, of which few are outdated.
    return {
        row.id: row
        for row in db.execute(_OLDER.where(*narrowed))
        if _differs(history(row.artifact_id, row.number), row.unit_id, row.at)
    }


def worded_since() -> ColumnElement[bool]:
    """Whether anything was written since a judgement; if not, its unit cannot have been reworded."""
    since = ARTIFACT.c.id == JUDGEMENT.c.artifact_id, REVISION.c.at > JUDGEMENT.c.at
    return exists(select(ARTIFACT.c.id).where(annotating.RELEASED, *since))


def overtaken(db: Connection, kind: Kind | None, statements: Iterable[Spoken]) -> set[Spoken]:
    """The statements, each of an item and a unit at a time, whose unit has been reworded since.

    `kind` is the kind of artifact by which an item is judged; None if units come from reports, whose text never
    changes.
    """
    listed = list(statements)
    if kind is None or not listed:
        return set()
    judged = annotating.judged_rows(db, kind, {item_id for item_id, _, _ in listed})
    late = {item_id for item_id, row in judged.items() if row.revision > 1}
    history = {item_id: _history(db, judged[item_id].id, judged[item_id].revision) for item_id in late}
    return {one for one in listed if one[0] in late and _differs(history[one[0]], one[1], one[2])}


_CHANGED = (
    select(ARTIFACT.c.id, REVISION.c.content)
    .select_from(ARTIFACT)
    .join(REVISION, annotating.RELEASED)
    .where(ARTIFACT.c.id.in_(bindparam("artifact_ids", expanding=True)), REVISION.c.at > bindparam("after"))
)


def now_says(db: Connection, artifact_ids: Iterable[str], after: datetime) -> dict[str, Mapping[str, str]]:
    """Artifact → the texts of its units, for artifacts changed after a given time."""
    rows = db.execute(_CHANGED, {"artifact_ids": list(artifact_ids), "after": after})
    return {row.id: _units(row.content) for row in rows}


def unit_of(units: Iterable[Unit], unit_id: str) -> Unit | None:
    """The unit that a judgement is about; for a cell of a matrix, the gold sub-task."""
    return next(
        (
            unit
            for unit in units
            if unit.id == unit_id or ("~" in unit_id and side_of_cell(unit.id) == unit_id.rpartition("~")[2])
        ),
        None,
    )


def _history(db: Connection, artifact_id: str, last: int) -> list[LabelledAt]:
    question = select(REVISION.c.at, REVISION.c.content).where(
        REVISION.c.artifact_id == artifact_id, REVISION.c.number <= last
    )
    rows = db.execute(question.order_by(REVISION.c.number))
    return [(in_utc(row.at), _units(row.content)) for row in rows]


def _units(content: str) -> dict[str, str]:
    """Unit → its text; a gold sub-task also under the name that it has in the cells of a matrix."""
    units = orjson.loads(content).get("units", ())
    return {
        name: str(unit.get("text", ""))
        for unit in units
        for name in (str(unit["id"]), side_of_cell(str(unit["id"])))
    }


def _differs(history: Sequence[LabelledAt], unit_id: str, at: datetime) -> bool:
    """Whether a unit has been reworded since; False if it did not exist then or no longer does.

    Imported judgements keep the time at which they were given elsewhere.
    """
    name = unit_id if unit_id in history[-1][1] else unit_id.rpartition("~")[2]
    before = [units for moment, units in history if moment <= in_utc(at)] or [history[0][1]]
    then, today = before[-1].get(name), history[-1][1].get(name)
    return then is not None and today is not None and then != today


def in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


# An alias, as the label's own artifact is joined too.
SUBMISSION = ARTIFACT.alias("submission")
UNSURE = "unsure"
# The flag of a label that its person wants to come back to.
FLAGGED = "flagged"
ANSWERED = (Status.OK.value, Status.UNCLEAR.value)
# The flag of a label given elsewhere and imported from a file: it is finished and counts at once.
IMPORTED = "imported"
# The flag of a label not submitted yet, and the prefix of the flag with the value that counts until another is
# submitted, whoever is assigned the item meanwhile.
WAITS, UNTIL = "unsubmitted", "until:"
# The cause of a row whose label was removed after it was submitted.
TAKEN_BACK = "taken back"


def submits(protocol: str) -> bool:
    """Whether labels of a protocol are always submitted item by item and locked then."""
    return protocol in TO_SUBMIT


def mine(rater: str, protocol: str) -> Select[Any]:
    return select(JUDGEMENT).where(
        JUDGEMENT.c.rater_id == rater,
        JUDGEMENT.c.protocol == protocol,
        JUDGEMENT.c.rater_kind == RaterKind.PERSON.value,
        JUDGEMENT.c.trial == 1,
    )


def labels_of(db: Connection, rater: str, response_id: str, protocol: str) -> list[Judgement]:
    rows = db.execute(mine(rater, protocol).where(JUDGEMENT.c.response_id == response_id)).mappings().all()
    return [Judgement(**{key: value for key, value in row.items() if key != "sha256"}) for row in rows]


def to_give_again(db: Connection, rater: str, protocol: str, *narrowed: ColumnElement[bool]) -> set[str]:
    """The ids of a person's labels not submitted yet whose unit was reworded since."""
    theirs = JUDGEMENT.c.rater_id == rater, JUDGEMENT.c.rater_kind == RaterKind.PERSON.value
    result = outdated(db, *theirs, JUDGEMENT.c.protocol == protocol, JUDGEMENT.c.trial == 1, *narrowed)
    sealed = sealed_by(db, rater, protocol) if result else set()
    return {label_id for label_id, label in result.items() if label.item_id not in sealed}


def taken_back(label: Judgement) -> Judgement:
    """A label withdrawn because its unit was reworded: its note and quotation stay, its value does not count."""
    flags = " ".join(flag for flag in own_marks(label.flags) if flag != IMPORTED)
    gone = {"value": None, "status": Status.SKIPPED, "cause": CAUSE, "flags": flags}
    return label.model_copy(update=gone)


def given_by(db: Connection, rater: str, protocol: str) -> Counter[str]:
    """Response → the number of a person's imported labels that count."""
    question = mine(rater, protocol).where(JUDGEMENT.c.status.in_(ANSWERED), marked(IMPORTED))
    rows = db.execute(question.with_only_columns(JUDGEMENT.c.id, JUDGEMENT.c.response_id)).all()
    gone = to_give_again(db, rater, protocol) if rows else set()
    return Counter(response_id for label_id, response_id in rows if label_id not in gone)


def labels_by(db: Connection, rater: str, protocol: str) -> dict[str, dict[str, str]]:
    """Response → unit → status of a person's labels, without those whose unit was reworded."""
    columns = (
        mine(rater, protocol)
        .where(JUDGEMENT.c.status.in_(ANSWERED))
        .with_only_columns(JUDGEMENT.c.id, JUDGEMENT.c.response_id, JUDGEMENT.c.unit_id, JUDGEMENT.c.status)
    )
    gone = to_give_again(db, rater, protocol)
    return nested(
        (response_id, unit_id, status)
        for label_id, response_id, unit_id, status in db.execute(columns)
        if label_id not in gone
    )


def waiting_by(db: Connection, rater: str, protocol: str) -> list[tuple[str, str]]:
    """Response and unit of each label under a protocol that a person has not submitted."""
    rows = db.execute(
        mine(rater, protocol)
        .where(marked(WAITS))
        .with_only_columns(JUDGEMENT.c.response_id, JUDGEMENT.c.unit_id)
    )
    return [(response_id, unit_id) for response_id, unit_id in rows]


def tally(units: Iterable[str], statuses: Mapping[str, str]) -> tuple[int, int]:
    """How many of these units are labelled, and how many of those as “unsure”."""
    present = [statuses[unit] for unit in units if unit in statuses] if statuses else []
    return len(present), present.count(Status.UNCLEAR.value)


def is_sealed(db: Connection, item_id: str, person_id: str, protocol: str = USUAL) -> bool:
    required = submits(protocol) or db.execute(_handed_out(person_id, item_id, protocol)).first() is not None
    return required and db.execute(_sealed(person_id, item_id)).first() is not None


def sealed_by(db: Connection, rater: str, protocol: str) -> set[str]:
    question = _sealed(rater, ITEM.c.id).with_only_columns(ITEM.c.id)
    if not submits(protocol):
        question = question.where(exists(_handed_out(rater, ITEM.c.id, protocol)))
    return set(db.execute(question).scalars())


def submitted() -> ColumnElement[bool]:
    return and_(to_submit(), exists(_sealed(JUDGEMENT.c.rater_id, JUDGEMENT.c.item_id)))


def to_submit() -> ColumnElement[bool]:
    """Whether a judgement must be submitted: its protocol always requires it, or it was handed out."""
    j = JUDGEMENT.c
    # Not an IN list, which cannot be part of a prepared statement.
    always = (j.protocol == protocol for protocol in TO_SUBMIT)
    return or_(*always, exists(_handed_out(j.rater_id, j.item_id, j.protocol)))


def marked(mark: str) -> ColumnElement[bool]:
    return (literal(" ") + JUDGEMENT.c.flags + literal(" ")).like(f"% {mark} %")


def counted_rows(name: str = "counted") -> Subquery:
    """The judgements that count, with the columns of their table: every figure on people's labels is read from here.

    A person's label counts once submitted, until they submit another in its place; labels from before submission
    existed, or from elsewhere, count as they stand. A label changed since its submission counts as submitted, without
    what was added since.
    """
    j, person = JUDGEMENT.c, JUDGEMENT.c.rater_kind == RaterKind.PERSON.value
    after = func.substr(j.flags, func.instr(j.flags, UNTIL) + len(UNTIL))
    until = func.substr(after, 1, func.instr(after + literal(" "), " ") - 1)
    changed = and_(person, j.trial == 1, marked(WAITS))
    shown: dict[str, Any] = {
        "value": case((changed, func.nullif(until, UNSURE)), else_=j.value),
        "status": case(
            (and_(changed, until == UNSURE), Status.UNCLEAR.value), (changed, Status.OK.value), else_=j.status
        ),
        **{name: case((changed, ""), else_=j[name]) for name in ("quote", "note", "cause")},
        **{name: case((changed, null()), else_=j[name]) for name in ("quote_start", "quote_end")},
    }
    marks = func.nullif(func.instr(j.flags, WAITS), 0), func.nullif(func.instr(j.flags, UNTIL), 0)
    shown["flags"] = func.rtrim(func.substr(j.flags, 1, func.coalesce(*marks, func.length(j.flags) + 1) - 1))
    columns = [shown[column.name].label(column.name) if column.name in shown else column for column in j]
    return select(*columns).where(or_(~person, j.trial != 1, finished())).subquery(name)


def finished() -> ColumnElement[bool]:
    """Whether anything that a person said in a row counts: submitted, given elsewhere, or given before labels of its
    protocol were submitted at all.

    Rows from a release carry a flag if they count (`counting`); those of earlier versions do not, and count unless the
    item is assigned to their person and not submitted.
    """
    j = JUDGEMENT.c
    once = exists(_submission(j.rater_id, j.item_id).where(SUBMISSION.c.sealed_at.is_not(None)))
    here = exists(select(AUDIT.c.seq).where(AUDIT.c.subject == j.id, AUDIT.c.kind == "judgement"))
    open_assignment = exists(_labelling(j.rater_id, j.item_id).where(ASSIGNMENT.c.submitted_at.is_(None)))
    condition = and_(~marked(WAITS), or_(~to_submit(), once, submitted(), and_(~here, ~open_assignment)))
    return or_(marked(IMPORTED), func.instr(j.flags, UNTIL) > 0, condition)


def come_to(scale: Scale, rows: Sequence[Any]) -> tuple[str | None, Any]:
    """The value agreed on by a rater's rows on one unit, one per trial (`Scale.agreed`), and the first row with it."""
    most = scale.agreed([row.value for row in rows if row.status == Status.OK.value])
    return most, next((row for row in rows if row.value == most), rows[0])


def pending(before: Mapping[str, Any] | None, after: dict[str, Any] | None) -> dict[str, Any] | None:
    """The row to store for a label that awaits submission, with the value that counts until then.

    `before` is the row it replaces; None for `after` removes the label. None if no row remains.
    """
    counted = what_counts(before)
    if after is None:
        if not before or not counted:
            return None
        after = {**before, "value": None, "status": Status.SKIPPED.value, "cause": TAKEN_BACK, "flags": ""}
    value = _value(after)
    # A note on a unit without a value waits as well.
    marks = [*([WAITS] if value != counted or not value else []), *([f"{UNTIL}{counted}"] if counted else [])]
    return {**after, "flags": " ".join([*own_marks(after["flags"]), *marks])}


def counting(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row whose value counts until its person submits another."""
    marks = [f"{UNTIL}{_value(row)}"] if _value(row) else []
    return {**row, "flags": " ".join([*own_marks(row["flags"]), *marks])}


def _value(row: Mapping[str, Any]) -> str:
    """The value of a row, or “unsure”; empty if nothing was said."""
    return (row["value"] or UNSURE) if row["status"] in ANSWERED else ""


def what_counts(row: Mapping[str, Any] | None) -> str:
    """The value of a row that counts, whatever its present value; empty if none does."""
    if not row:
        return ""
    flags = row["flags"].split()
    if is_waiting(row["flags"]):
        return next((flag.removeprefix(UNTIL) for flag in flags if flag.startswith(UNTIL)), "")
    return _value(row)


def is_waiting(flags: str) -> bool:
    return WAITS in flags.split()


def own_marks(flags: str) -> list[str]:
    return [flag for flag in flags.split() if flag != WAITS and not flag.startswith(UNTIL)]


def is_given(flags: str) -> bool:
    return IMPORTED in flags.split()


def lock() -> Refusal:
    return Refusal("Your labels of this item are submitted.", "Reopen them first; the submitted ones stay.")


def lock_given() -> Refusal:
    return Refusal(
        "This label was given elsewhere and imported as finished work.",
        "A coordinator can change it by importing a corrected file; nothing was changed.",
    )


def _handed_out(rater: Any, item_id: Any, protocol: Any) -> Select[Any]:
    """The assignments by which a person labels an item under a protocol; each argument is a value or a column."""
    protocol_name = literal(protocol) if isinstance(protocol, str) else protocol
    named = (literal(" ") + ASSIGNMENT.c.protocols + literal(" ")).like(
        literal("% ") + protocol_name + literal(" %")
    )
    return _labelling(rater, item_id).where(named)


def _labelling(rater: Any, item_id: Any) -> Select[Any]:
    a = ASSIGNMENT.c
    return select(a.id).where(
        a.item_id == item_id, a.person_id == rater, a.stage == Stage.LABELLING.value, a.trial == 1
    )


def _sealed(rater: Any, item_id: Any) -> Select[Any]:
    return _submission(rater, item_id).where(SUBMISSION.c.state == State.SEALED.value)


def _submission(rater: Any, item_id: Any) -> Select[Any]:
    return select(SUBMISSION.c.id).where(
        SUBMISSION.c.item_id == item_id,
        SUBMISSION.c.kind == Kind.LABELS.value,
        SUBMISSION.c.author_id == rater,
    )
