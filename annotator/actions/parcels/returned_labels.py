"""Sealed labels from returned work, stored as judgements like any others."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import orjson
from sqlalchemy import bindparam, delete, insert, or_, select
from sqlalchemy.engine import Connection

from annotator.actions.authoring import annotating
from annotator.actions.items import extracts
from annotator.actions.labelling import label_pairs
from annotator.actions.labelling.label_rows import is_given, to_submit
from annotator.actions.project.hashing import judgement_hash
from annotator.domain.judges.judgement import Judgement, RaterKind, Status
from annotator.domain.kinds.labels import UNSURE, Label, Labels, label_id
from annotator.domain.texts.change import derived_id
from annotator.protocols import PROTOCOLS, TAXONOMIES, TO_SUBMIT
from annotator.storage.tables import (
    ARTIFACT,
    JUDGEMENT,
    REVISION,
)

KNOWN = {*PROTOCOLS, *TAXONOMIES}
_DELETE = delete(JUDGEMENT).where(JUDGEMENT.c.id == bindparam("gone"))


def write(db: Connection, person_id: str, item_id: str, artifact_id: str) -> None:
    """Make a person's judgements on an item those of their newest sealed labels."""
    row = db.execute(
        select(REVISION.c.content, REVISION.c.at)
        .join(
            ARTIFACT, (ARTIFACT.c.id == REVISION.c.artifact_id) & (ARTIFACT.c.revision == REVISION.c.number)
        )
        .where(ARTIFACT.c.id == artifact_id)
    ).one()
    _replace(db, person_id, item_id, row.content, row.at, trial=1)


def write_again(db: Connection, person_id: str, item_id: str, content: str, at: datetime) -> bool:
    """Keep the labels of a silent repeat as a second trial; False when these or later ones are here."""
    labels = Labels.model_validate(orjson.loads(content)).units
    newest = db.execute(
        select(JUDGEMENT.c.at).where(*_of(person_id, item_id, 2, labels)).order_by(JUDGEMENT.c.at.desc())
    ).scalar()
    if newest is not None and _utc(newest) >= _utc(at):
        return False
    _replace(db, person_id, item_id, content, at, trial=2)
    return True


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _of(person_id: str, item_id: str, trial: int, labels: Iterable[Label]) -> tuple[Any, ...]:
    travelled = JUDGEMENT.c.protocol.in_({*TO_SUBMIT, *TAXONOMIES, *(label.protocol for label in labels)})
    return (
        JUDGEMENT.c.rater_kind == RaterKind.PERSON.value,
        JUDGEMENT.c.rater_id == person_id,
        JUDGEMENT.c.item_id == item_id,
        JUDGEMENT.c.trial == trial,
        # What else they said in this project does not travel, and stays.
        travelled if trial > 1 else or_(travelled, to_submit()),
    )


def _replace(db: Connection, person_id: str, item_id: str, content: str, at: datetime, trial: int) -> None:
    labels = label_pairs.as_dealt(Labels.model_validate(orjson.loads(content)).units, person_id)
    rows = list(_rows(db, labels, person_id, item_id, at, trial))
    said = {(row["protocol"], row["response_id"], row["unit_id"]) for row in rows}
    j = JUDGEMENT.c
    there = db.execute(
        select(j.id, j.flags, j.protocol, j.response_id, j.unit_id).where(
            *_of(person_id, item_id, trial, labels)
        )
    )
    # What they gave elsewhere stays, unless the labels that came back say it again.
    gone = [{"gone": row.id} for row in there if not _stays(row, person_id, trial) or tuple(row[2:]) in said]
    if gone:
        db.execute(_DELETE, gone)
    if rows:
        db.execute(insert(JUDGEMENT), rows)


def _stays(row: Any, person_id: str, trial: int) -> bool:
    """Whether a judgement did not come back from a task: a label from a file, or a kind that was given here."""
    came = derived_id("judgement", label_id(row.protocol, row.response_id, row.unit_id), person_id, trial)
    return is_given(row.flags) or (row.protocol in TAXONOMIES and row.id != came)


def _rows(
    db: Connection, labels: Iterable[Label], person_id: str, item_id: str, at: datetime, trial: int
) -> Iterable[dict[str, Any]]:
    of_units = _judged(db, item_id, {label.protocol for label in labels})
    for label in labels:
        artifact_id = of_units(label)
        judgement = Judgement(
            id=derived_id("judgement", label.id, person_id, trial), protocol=label.protocol, item_id=item_id,
            response_id=label.response_id, artifact_id=artifact_id, unit_id=label.unit_id,
            rater_kind=RaterKind.PERSON, rater_id=person_id, trial=trial, at=_utc(at), quote=label.quote,
            note=label.note, flags=label.flags, **_place(label), **_said(label.value),
        )  # fmt: skip
        row = judgement.model_dump()
        yield {**row, "sha256": judgement_hash(row)}


def _judged(db: Connection, item_id: str, protocols: set[str]) -> Callable[[Label], str]:
    """What says by which document or extract a unit was labelled; nothing where there is none."""
    of = {
        one: PROTOCOLS[TAXONOMIES[one].of if one in TAXONOMIES else one] for one in protocols if one in KNOWN
    }
    drawn = extracts.standing(db, [item_id]) if any(shape.parts for shape in of.values()) else {}
    gold = {
        one: annotating.judged_artifact(db, item_id, shape.unit_kind)
        for one, shape in of.items()
        if shape.unit_kind
    }

    def found(label: Label) -> str:
        if artifact := gold.get(label.protocol):
            return artifact.id
        parts = of[label.protocol].parts if label.protocol in of else ()
        own = drawn.get((item_id, label.response_id), {})
        return next((own[part].id for part in parts if part in own), "")

    return found


def _place(label: Label) -> dict[str, Any]:
    if label.anchor is None or label.anchor.start < 0:
        return {}
    return {"quote_start": label.anchor.start, "quote_end": label.anchor.end}


def _said(value: str) -> dict[str, Any]:
    if value == UNSURE:
        return {"value": None, "status": Status.UNCLEAR, "cause": "the rater is unsure"}
    return {"value": value, "status": Status.OK}
