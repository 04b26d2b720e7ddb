"""A person's labels among the judgements, and when they become unchangeable."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, exists, literal, not_, or_, select
from sqlalchemy.engine import Connection

from annotator.actions.labelling import wordings
from annotator.domain.experts.assignment import Stage
from annotator.domain.judges.judgement import Judgement, RaterKind, Status
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import TO_SUBMIT
from annotator.protocols import USUAL as USUAL
from annotator.storage.tables import ArtifactRow, AssignmentRow, ItemRow, JudgementRow, table

ITEM, JUDGEMENT, ASSIGNMENT = table(ItemRow), table(JudgementRow), table(AssignmentRow)
# Named apart from the artifact that a label is about.
SUBMISSION = table(ArtifactRow).alias("submission")
UNSURE = "unsure"
# The mark of a label that its person wants to come back to.
FLAGGED = "flagged"
SAID = (Status.OK.value, Status.UNCLEAR.value)
# The mark of a label that was given elsewhere and came in by a file: it is finished, and counts at once.
IMPORTED = "imported"


def submits(protocol: str) -> bool:
    """Whether labels of a protocol are always submitted, and count only then."""
    return protocol in TO_SUBMIT


def mine(rater: str, protocol: str) -> Select[Any]:
    """A person's own judgements under a protocol, whatever their status."""
    return select(JUDGEMENT).where(
        JUDGEMENT.c.rater_id == rater,
        JUDGEMENT.c.protocol == protocol,
        JUDGEMENT.c.rater_kind == RaterKind.PERSON.value,
        JUDGEMENT.c.trial == 1,
    )


def labels_of(db: Connection, rater: str, response_id: str, protocol: str) -> list[Judgement]:
    """All that a person keeps beside the units of a report."""
    rows = db.execute(mine(rater, protocol).where(JUDGEMENT.c.response_id == response_id)).mappings().all()
    return [Judgement(**{key: value for key, value in row.items() if key != "sha256"}) for row in rows]


def to_give_again(db: Connection, rater: str, protocol: str, *narrowed: ColumnElement[bool]) -> set[str]:
    """The ids of a person's labels whose unit was reworded since, where they are not submitted yet."""
    theirs = JUDGEMENT.c.rater_id == rater, JUDGEMENT.c.rater_kind == RaterKind.PERSON.value
    found = wordings.outdated(
        db, *theirs, JUDGEMENT.c.protocol == protocol, JUDGEMENT.c.trial == 1, *narrowed
    )
    sealed = sealed_by(db, rater, protocol) if found else set()
    return {label_id for label_id, label in found.items() if label.item_id not in sealed}


def taken_back(label: Judgement) -> Judgement:
    """A label of a unit that was reworded since: what stands beside it stays, what was said does not count."""
    flags = " ".join(flag for flag in label.flags.split() if flag != IMPORTED)
    gone = {"value": None, "status": Status.SKIPPED, "cause": wordings.CAUSE, "flags": flags}
    return label.model_copy(update=gone)


def given_by(db: Connection, rater: str, protocol: str) -> Counter[str]:
    """Response by response, how many of a person's labels came in by a file and count."""
    question = mine(rater, protocol).where(JUDGEMENT.c.status.in_(SAID), given())
    rows = db.execute(question.with_only_columns(JUDGEMENT.c.id, JUDGEMENT.c.response_id)).all()
    gone = to_give_again(db, rater, protocol) if rows else set()
    return Counter(response_id for label_id, response_id in rows if label_id not in gone)


def said_by(db: Connection, rater: str, protocol: str) -> defaultdict[str, dict[str, str]]:
    """Response by response, which units a person has spoken on in the words they have, and whether they were sure."""
    said: defaultdict[str, dict[str, str]] = defaultdict(dict)
    question = mine(rater, protocol).where(JUDGEMENT.c.status.in_(SAID))
    columns = question.with_only_columns(
        JUDGEMENT.c.id, JUDGEMENT.c.response_id, JUDGEMENT.c.unit_id, JUDGEMENT.c.status
    )
    gone = to_give_again(db, rater, protocol)
    for label_id, response_id, unit_id, status in db.execute(columns):
        if label_id not in gone:
            said[response_id][unit_id] = status
    return said


def tally(units: Iterable[str], said: Mapping[str, str]) -> tuple[int, int]:
    """Of these units, how many were spoken on, and of how many of those the person is unsure."""
    present = [said[unit] for unit in units if unit in said] if said else []
    return len(present), present.count(Status.UNCLEAR.value)


def is_sealed(db: Connection, item_id: str, person_id: str, protocol: str = USUAL) -> bool:
    """Whether a person's labels of an item are submitted, so that none of them may change."""
    handed = _handed_out(person_id, item_id, protocol)
    asked = submits(protocol) or db.execute(handed).first() is not None
    return asked and db.execute(_sealed(person_id, item_id)).first() is not None


def sealed_by(db: Connection, rater: str, protocol: str) -> set[str]:
    """The items of which a person's labels are submitted."""
    question = _sealed(rater, ITEM.c.id).with_only_columns(ITEM.c.id)
    if not submits(protocol):
        question = question.where(exists(_handed_out(rater, ITEM.c.id, protocol)))
    return set(db.execute(question).scalars())


def submitted() -> ColumnElement[bool]:
    """Whether a judgement's row belongs to labels that are submitted."""
    return and_(to_submit(), exists(_sealed(JUDGEMENT.c.rater_id, JUDGEMENT.c.item_id)))


def to_submit() -> ColumnElement[bool]:
    """Whether a judgement's row is to be submitted: always under its protocol, or because it was handed out."""
    j = JUDGEMENT.c
    # No list of them, which has no place in a statement that is kept ready.
    always = (j.protocol == protocol for protocol in TO_SUBMIT)
    return or_(*always, exists(_handed_out(j.rater_id, j.item_id, j.protocol)))


def given() -> ColumnElement[bool]:
    """Whether a judgement's row came in by a file as finished work."""
    return (literal(" ") + JUDGEMENT.c.flags + literal(" ")).like(f"% {IMPORTED} %")


def finished() -> ColumnElement[bool]:
    """Whether a person's label counts: it is submitted, was given elsewhere, or is not to be submitted."""
    return or_(not_(to_submit()), submitted(), given())


def is_given(flags: str) -> bool:
    """The same as `given`, of a row's marks."""
    return IMPORTED in flags.split()


def lock() -> Refusal:
    """What answers the person who would change a submitted label."""
    return Refusal("Your labels of this item are submitted.", "Reopen them first; the submitted ones stay.")


def lock_given() -> Refusal:
    """What answers the person who would change a label that came in by a file."""
    return Refusal(
        "This label was given elsewhere and imported as finished work.",
        "A coordinator can change it by importing a corrected file; nothing was changed.",
    )


def _handed_out(rater: Any, item_id: Any, protocol: Any) -> Select[Any]:
    """The assignments by which a person labels an item under a protocol, each a value or a column."""
    a, wanted = ASSIGNMENT.c, literal(protocol) if isinstance(protocol, str) else protocol
    named = (literal(" ") + a.protocols + literal(" ")).like(literal("% ") + wanted + literal(" %"))
    return select(a.id).where(
        a.item_id == item_id, a.person_id == rater, a.stage == Stage.LABELLING.value, a.trial == 1, named
    )


def _sealed(rater: Any, item_id: Any) -> Select[Any]:
    """The sealed labels of a rater on an item, each a value or a column."""
    return select(SUBMISSION.c.id).where(
        SUBMISSION.c.item_id == item_id,
        SUBMISSION.c.kind == Kind.LABELS.value,
        SUBMISSION.c.author_id == rater,
        SUBMISSION.c.state == State.SEALED.value,
    )
