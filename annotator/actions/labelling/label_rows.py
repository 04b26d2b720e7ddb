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
    case,
    exists,
    func,
    literal,
    null,
    or_,
    select,
)

from annotator.actions.authoring import annotating
from annotator.domain.experts.assignment import Stage
from annotator.domain.judges.judge import Judgement, RaterKind, Status
from annotator.domain.judges.protocol import Scale
from annotator.domain.kinds.artifact import Kind, State, Unit, side_of_cell
from annotator.domain.texts.refusal import Refusal
from annotator.domain.texts.words import nested
from annotator.protocols import TO_SUBMIT, USUAL as USUAL
from annotator.storage.tables import ARTIFACT, ASSIGNMENT, AUDIT, ITEM, JUDGEMENT, REVISION

# The cause of a judgement that no longer counts.
REWORDED = "reworded"
CAUSE = "The unit was reworded since; it needs to be judged again."
BY_JUDGES = JUDGEMENT.c.rater_kind == RaterKind.JUDGE.value
# Where every text was written once, nothing was reworded, and no judgement need be looked at.
_REWORDED = (
    select(ARTIFACT.c.id).where(ARTIFACT.c.kind != Kind.LABELS.value, ARTIFACT.c.revision > 1).limit(1)
)
# When, and what each unit said from then on.
LabelledAt = tuple[datetime, Mapping[str, str]]
# An item, a unit, and when something was said of it.
Spoken = tuple[str, str, datetime]


def _older() -> Select[Any]:
    j, artifact, revision = JUDGEMENT.c, ARTIFACT.alias(), REVISION.alias()
    # When anything was last worded: mostly before it was judged, and then nothing about a judgement is looked up.
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
    """The judgements whose unit says something else now than when they were given: id → its row.

    Now is what was submitted. Where a wording was put back, what was said of it counts again.
    """
    if db.execute(_REWORDED).first() is None:
        return {}
    history = cache(partial(_history, db))
    # Row by row: there may be millions, of which few are kept.
    return {
        row.id: row
        for row in db.execute(_OLDER.where(*narrowed))
        if _differs(history(row.artifact_id, row.number), row.unit_id, row.at)
    }


def worded_since() -> ColumnElement[bool]:
    """Whether anything was worded since a judgement: otherwise its unit says what it said then."""
    since = ARTIFACT.c.id == JUDGEMENT.c.artifact_id, REVISION.c.at > JUDGEMENT.c.at
    return exists(select(ARTIFACT.c.id).where(annotating.RELEASED, *since))


def overtaken(db: Connection, kind: Kind | None, statements: Iterable[Spoken]) -> set[Spoken]:
    """Those of what was said, each of an item and a unit at a moment, whose unit says something else now.

    `kind` is that of what an item is judged by; None where units come from reports, whose words stay.
    """
    listed = list(statements)
    if kind is None or not listed:
        return set()
    judged = annotating.judged_rows(db, kind, {item_id for item_id, _, _ in listed})
    late = {item_id for item_id, row in judged.items() if row.revision > 1}
    history = {item_id: _history(db, judged[item_id].id, judged[item_id].revision) for item_id in late}
    return {one for one in listed if one[0] in late and _differs(history[one[0]], one[1], one[2])}


def now_says(db: Connection, artifact_ids: Iterable[str], after: datetime) -> dict[str, Mapping[str, str]]:
    """Artifact → what its units say, of those that were changed after a moment."""
    question = (
        select(ARTIFACT.c.id, REVISION.c.content)
        .select_from(ARTIFACT)
        .join(REVISION, annotating.RELEASED)
        .where(ARTIFACT.c.id.in_(list(artifact_ids)), REVISION.c.at > after)
    )
    return {row.id: _units(row.content) for row in db.execute(question)}


def unit_of(units: Iterable[Unit], unit_id: str) -> Unit | None:
    """The unit that a judgement is about; of a cell of a matrix the gold sub-task."""
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
    """Unit → its words; a gold sub-task also under the name that it has in the cells of a matrix."""
    units = orjson.loads(content).get("units", ())
    return {
        name: str(unit.get("text", ""))
        for unit in units
        for name in (str(unit["id"]), side_of_cell(str(unit["id"])))
    }


def _differs(history: Sequence[LabelledAt], unit_id: str, at: datetime) -> bool:
    """Whether a unit says something else now; of one that was not there at that moment, or no longer is, it is not
    told: what comes from elsewhere keeps the moment at which it was said there.
    """
    name = unit_id if unit_id in history[-1][1] else unit_id.rpartition("~")[2]
    before = [units for moment, units in history if moment <= in_utc(at)] or [history[0][1]]
    then, today = before[-1].get(name), history[-1][1].get(name)
    return then is not None and today is not None and then != today


def in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


# Named apart from the artifact that a label is about.
SUBMISSION = ARTIFACT.alias("submission")
UNSURE = "unsure"
# The mark of a label that its person wants to come back to.
FLAGGED = "flagged"
ANSWERED = (Status.OK.value, Status.UNCLEAR.value)
# The mark of a label that was given elsewhere and came in by a file: it is finished, and counts at once.
IMPORTED = "imported"
# The mark of a label that is not submitted yet, and what begins the mark of the value that counts until another is
# submitted, whoever is asked to label the item meanwhile.
WAITS, UNTIL = "unsubmitted", "until:"
# The cause of a row whose label was taken back after it was submitted.
TAKEN_BACK = "taken back"


def submits(protocol: str) -> bool:
    """Whether labels of a protocol are always submitted item by item, and are locked then."""
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
    """The ids of a person's labels whose unit was reworded since, where they are not submitted yet."""
    theirs = JUDGEMENT.c.rater_id == rater, JUDGEMENT.c.rater_kind == RaterKind.PERSON.value
    result = outdated(db, *theirs, JUDGEMENT.c.protocol == protocol, JUDGEMENT.c.trial == 1, *narrowed)
    sealed = sealed_by(db, rater, protocol) if result else set()
    return {label_id for label_id, label in result.items() if label.item_id not in sealed}


def taken_back(label: Judgement) -> Judgement:
    """A label of a unit that was reworded since: what stands beside it stays, what was said does not count."""
    flags = " ".join(flag for flag in own_marks(label.flags) if flag != IMPORTED)
    gone = {"value": None, "status": Status.SKIPPED, "cause": CAUSE, "flags": flags}
    return label.model_copy(update=gone)


def given_by(db: Connection, rater: str, protocol: str) -> Counter[str]:
    """Response by response, how many of a person's labels came in by a file and count."""
    question = mine(rater, protocol).where(JUDGEMENT.c.status.in_(ANSWERED), given())
    rows = db.execute(question.with_only_columns(JUDGEMENT.c.id, JUDGEMENT.c.response_id)).all()
    gone = to_give_again(db, rater, protocol) if rows else set()
    return Counter(response_id for label_id, response_id in rows if label_id not in gone)


def labels_by(db: Connection, rater: str, protocol: str) -> dict[str, dict[str, str]]:
    """Response by response, which units a person has spoken on in the words they have, and whether they were sure."""
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
        mine(rater, protocol).where(waits()).with_only_columns(JUDGEMENT.c.response_id, JUDGEMENT.c.unit_id)
    )
    return [(response_id, unit_id) for response_id, unit_id in rows]


def tally(units: Iterable[str], statuses: Mapping[str, str]) -> tuple[int, int]:
    """Of these units, how many were spoken on, and of how many of those the person is unsure."""
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
    """Whether a judgement's row is to be submitted: always under its protocol, or because it was handed out."""
    j = JUDGEMENT.c
    # No list of them, which has no place in a statement that is kept ready.
    always = (j.protocol == protocol for protocol in TO_SUBMIT)
    return or_(*always, exists(_handed_out(j.rater_id, j.item_id, j.protocol)))


def given() -> ColumnElement[bool]:
    return _marked(IMPORTED)


def waits() -> ColumnElement[bool]:
    return _marked(WAITS)


def _marked(mark: str) -> ColumnElement[bool]:
    return (literal(" ") + JUDGEMENT.c.flags + literal(" ")).like(f"% {mark} %")


def counted_rows(name: str = "counted") -> Subquery:
    """The judgements that count, with the columns of their table: every figure of people's labels is read from here.

    A person's label counts once it is submitted, until they submit another in its place; where labels were given
    before there was a submission for them, or elsewhere, as they stand. Of a label that was changed since its
    submission this is what was submitted; what was written beside it since is left out.
    """
    j, person = JUDGEMENT.c, JUDGEMENT.c.rater_kind == RaterKind.PERSON.value
    after = func.substr(j.flags, func.instr(j.flags, UNTIL) + len(UNTIL))
    stood = func.substr(after, 1, func.instr(after + literal(" "), " ") - 1)
    changed = and_(person, j.trial == 1, waits())
    shown: dict[str, Any] = {
        "value": case((changed, func.nullif(stood, UNSURE)), else_=j.value),
        "status": case(
            (and_(changed, stood == UNSURE), Status.UNCLEAR.value), (changed, Status.OK.value), else_=j.status
        ),
        **{name: case((changed, ""), else_=j[name]) for name in ("quote", "note", "cause")},
        **{name: case((changed, null()), else_=j[name]) for name in ("quote_start", "quote_end")},
    }
    marks = func.nullif(func.instr(j.flags, WAITS), 0), func.nullif(func.instr(j.flags, UNTIL), 0)
    shown["flags"] = func.rtrim(func.substr(j.flags, 1, func.coalesce(*marks, func.length(j.flags) + 1) - 1))
    columns = [shown[column.name].label(column.name) if column.name in shown else column for column in j]
    return select(*columns).where(or_(~person, j.trial != 1, finished())).subquery(name)


def finished() -> ColumnElement[bool]:
    """Whether anything that a person said in a row counts: it is submitted, was given elsewhere, or was given before
    labels of its protocol had a submission.

    What came with a release says itself that it counts (`counting`); by earlier versions it did not, and counts unless
    the item is handed out to its person and not submitted.
    """
    j = JUDGEMENT.c
    once = exists(_submission(j.rater_id, j.item_id).where(SUBMISSION.c.sealed_at.is_not(None)))
    here = exists(select(AUDIT.c.seq).where(AUDIT.c.subject == j.id, AUDIT.c.kind == "judgement"))
    open_assignment = exists(_labelling(j.rater_id, j.item_id).where(ASSIGNMENT.c.submitted_at.is_(None)))
    condition = and_(~waits(), or_(~to_submit(), once, submitted(), and_(~here, ~open_assignment)))
    return or_(given(), func.instr(j.flags, UNTIL) > 0, condition)


def come_to(scale: Scale, rows: Sequence[Any]) -> tuple[str | None, Any]:
    """What a rater's rows on one unit, one for each trial, come to, and the first of them that says so."""
    most = scale.agreed([row.value for row in rows if row.status == Status.OK.value])
    return most, next((row for row in rows if row.value == most), rows[0])


def pending(before: Mapping[str, Any] | None, after: dict[str, Any] | None) -> dict[str, Any] | None:
    """What is kept of a label while it waits for its submission: with it, what counts until then.

    `before` is the row it takes the place of; None for `after` takes the label back. None where nothing is left.
    """
    stood = what_counts(before)
    if after is None:
        if not before or not stood:
            return None
        after = {**before, "value": None, "status": Status.SKIPPED.value, "cause": TAKEN_BACK, "flags": ""}
    value = _value(after)
    # What is written beside a unit of which nothing is said waits as well.
    marks = [*([WAITS] if value != stood or not value else []), *([f"{UNTIL}{stood}"] if stood else [])]
    return {**after, "flags": " ".join([*own_marks(after["flags"]), *marks])}


def counting(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of which what is said counts, until its person submits something else."""
    marks = [f"{UNTIL}{_value(row)}"] if _value(row) else []
    return {**row, "flags": " ".join([*own_marks(row["flags"]), *marks])}


def _value(row: Mapping[str, Any]) -> str:
    """The value of a row, or that its person is unsure; empty where nothing is said."""
    return (row["value"] or UNSURE) if row["status"] in ANSWERED else ""


def what_counts(row: Mapping[str, Any] | None) -> str:
    """What counts of a row whatever is said in it now; empty where nothing does."""
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
    """The assignments by which a person labels an item under a protocol, each a value or a column."""
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
