"""How a person's labels are found among the judgements, and when they may no longer change."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, exists, or_, select
from sqlalchemy.engine import Connection

from annotator.domain.artifact import Kind, State
from annotator.domain.judgement import Judgement, RaterKind, Status
from annotator.domain.refusal import Refusal
from annotator.protocols.researcherbench import coverage
from annotator.storage.tables import ArtifactRow, ItemRow, JudgementRow, table

ITEM, JUDGEMENT, ARTIFACT = table(ItemRow), table(JudgementRow), table(ArtifactRow)
COVERAGE = coverage.NAME
# What is handed out, submitted as one sealed document, and travels; labels of other protocols count as they are given.
SUBMITTED = (COVERAGE,)
UNSURE = "unsure"
SAID = (Status.OK.value, Status.UNCLEAR.value)


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


def said_by(db: Connection, rater: str, protocol: str) -> defaultdict[str, dict[str, str]]:
    """Response by response, which units a person has spoken on, and whether they were sure."""
    said: defaultdict[str, dict[str, str]] = defaultdict(dict)
    question = mine(rater, protocol).where(JUDGEMENT.c.status.in_(SAID))
    columns = question.with_only_columns(JUDGEMENT.c.response_id, JUDGEMENT.c.unit_id, JUDGEMENT.c.status)
    for response_id, unit_id, status in db.execute(columns):
        said[response_id][unit_id] = status
    return said


def tally(units: Iterable[str], said: Mapping[str, str]) -> tuple[int, int]:
    """Of these units, how many were spoken on, and of how many of those the person is unsure."""
    present = [said[unit] for unit in units if unit in said] if said else []
    return len(present), present.count(Status.UNCLEAR.value)


def is_sealed(db: Connection, item_id: str, person_id: str, protocol: str = COVERAGE) -> bool:
    """Whether a person's labels of an item are submitted, so that none of them may change."""
    return protocol in SUBMITTED and db.execute(_sealed(person_id, item_id)).first() is not None


def sealed_by(db: Connection, rater: str, protocol: str) -> set[str]:
    """The items of which a person's labels are submitted."""
    if protocol not in SUBMITTED:
        return set()
    return set(db.execute(_sealed(rater, ITEM.c.id).with_only_columns(ITEM.c.id)).scalars())


def locked() -> ColumnElement[bool]:
    """Whether a judgement's row belongs to labels that are submitted."""
    submitted = or_(*(JUDGEMENT.c.protocol == protocol for protocol in SUBMITTED))
    return and_(submitted, exists(_sealed(JUDGEMENT.c.rater_id, JUDGEMENT.c.item_id)))


def lock() -> Refusal:
    """What answers whoever would change a submitted label."""
    return Refusal("Your labels of this item are submitted.", "Reopen them first; what you submitted stays.")


def _sealed(rater: Any, item_id: Any) -> Select[Any]:
    """The sealed labels of a rater on an item, each a value or a column."""
    return select(ARTIFACT.c.id).where(
        ARTIFACT.c.item_id == item_id,
        ARTIFACT.c.kind == Kind.LABELS.value,
        ARTIFACT.c.author_id == rater,
        ARTIFACT.c.state == State.SEALED.value,
    )
