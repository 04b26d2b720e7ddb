"""Storage of labels: one row per unit, with images for undo."""

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.engine import Connection

from annotator.actions.labelling.label_rows import (
    TAKEN_BACK,
    WAITS,
    finished,
    is_given,
    is_sealed,
    is_waiting,
    lock,
    lock_given,
    own_marks,
    pending,
    submitted,
    to_give_again,
    what_counts,
)
from annotator.actions.project.file import Project
from annotator.actions.project.hashing import judgement_hash
from annotator.domain.judges.judgement import Judgement, RaterKind, Status
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import JUDGEMENT

Fields = dict[str, Any]
# In the images of a change of several labels at once, by their ids.
SEVERAL = "several"


@dataclass(frozen=True, slots=True)
class LabelPlace:
    """The subject of a label; for a second look `protocol` is the name of a taxonomy."""

    protocol: str
    response_id: str
    unit_id: str


# Built once: a label is saved hundreds of times an hour, and building a statement costs more than running it.
_ONE = select(JUDGEMENT, submitted().label("sealed"), finished().label("counts")).where(
    JUDGEMENT.c.protocol == bindparam("protocol"),
    JUDGEMENT.c.response_id == bindparam("response_id"),
    JUDGEMENT.c.unit_id == bindparam("unit_id"),
    JUDGEMENT.c.rater_kind == RaterKind.PERSON.value,
    JUDGEMENT.c.rater_id == bindparam("rater"),
    JUDGEMENT.c.trial == 1,
)
_NEW = insert(JUDGEMENT)
_CHANGED = update(JUDGEMENT).where(JUDGEMENT.c.id == bindparam("row"))


def kept(db: Connection, place: LabelPlace, rater: str, *, by_file: bool = False) -> Fields | None:
    """The row of what a person keeps about a unit, if any; Refusal where it is submitted.

    What came in by a file as finished work is changed by a file alone, unless its unit was reworded since.
    """
    row = db.execute(_ONE, {**asdict(place), "rater": rater}).mappings().first()
    if row and row["sealed"]:
        raise lock()
    given = row and not by_file and is_given(row["flags"])
    if row and given and not to_give_again(db, rater, place.protocol, JUDGEMENT.c.id == row["id"]):
        raise lock_given()
    if row is None:
        return None
    found = {key: value for key, value in row.items() if key not in ("sha256", "sealed", "counts")}
    # What was never submitted does not count while it is changed, either.
    marks = [WAITS] if not row["counts"] and not is_waiting(row["flags"]) else []
    return found | {"flags": " ".join([*row["flags"].split(), *marks])}


def write(db: Connection, judgement: Fields, *, new: bool) -> None:
    row = {**judgement, "sha256": judgement_hash(judgement)}
    if new:
        db.execute(_NEW, row)
    else:
        db.execute(_CHANGED, {**row, "row": row["id"]})


def put(db: Connection, before: Fields | None, after: Fields | None) -> Fields | None:
    """Write what is now said, or take it back (None); the row that is left, which waits for its submission."""
    row = pending(before, after)
    if row is not None:
        row = Judgement(**row).model_dump()
        write(db, row, new=before is None)
    elif before is not None:
        db.execute(delete(JUDGEMENT).where(JUDGEMENT.c.id == before["id"]))
    return row


def image(judgement: Fields | None) -> Fields:
    """A row as a JSON tree; empty for none."""
    return Judgement(**judgement).model_dump(mode="json") if judgement else {}


def restore(_project: Project, db: Connection, judgement_id: str, present: Any, goal: Any) -> None:
    """Put the subject of a change from one image to another; Refusal when it has moved on."""
    if SEVERAL not in present:
        _restore_one(db, judgement_id, present, goal)
        return
    for one, there in present[SEVERAL].items():
        _restore_one(db, one, there, goal[SEVERAL][one])


def _restore_one(db: Connection, judgement_id: str, present: Any, goal: Any) -> None:
    found = db.execute(select(JUDGEMENT).where(JUDGEMENT.c.id == judgement_id)).mappings().first()
    row = {key: value for key, value in found.items() if key != "sha256"} if found else None
    if _said(image(row)) != _said(present):
        raise Refusal("This label was changed elsewhere since.", "Look at it again; nothing was undone.")
    about = goal or present
    if is_sealed(db, about["item_id"], about["rater_id"], about["protocol"]):
        raise lock()
    after = Judgement(**goal).model_dump() if goal else None
    if what_counts(present) == what_counts(goal):
        # What was submitted since counts on, whatever is put back.
        put(db, row, after)
    elif after is None:
        db.execute(delete(JUDGEMENT).where(JUDGEMENT.c.id == judgement_id))
    else:
        write(db, after, new=row is None)


def _said(image: Fields) -> Fields:
    """An image without the marks of a submission; of a label that was taken back nothing."""
    if not image or (image["status"] == Status.SKIPPED and image["cause"] == TAKEN_BACK):
        return {}
    return {**image, "flags": own_marks(image["flags"])}
