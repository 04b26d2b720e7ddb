"""Sealed labels from returned work, stored as judgements like any others."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import orjson
from sqlalchemy import bindparam, delete, insert, select
from sqlalchemy.engine import Connection

from annotator.actions.authoring import annotating
from annotator.actions.labelling.label_rows import is_given
from annotator.actions.project.hashing import judgement_hash
from annotator.domain.judges.judgement import Judgement, RaterKind, Status
from annotator.domain.kinds.labels import UNSURE, Label, Labels
from annotator.domain.texts.identity import derived_id
from annotator.protocols import PROTOCOLS, TO_SUBMIT
from annotator.storage.tables import ArtifactRow, JudgementRow, RevisionRow, table

ARTIFACT, REVISION, JUDGEMENT = table(ArtifactRow), table(RevisionRow), table(JudgementRow)
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
    newest = db.execute(
        select(JUDGEMENT.c.at).where(*_of(person_id, item_id, trial=2)).order_by(JUDGEMENT.c.at.desc())
    ).scalar()
    if newest is not None and _utc(newest) >= _utc(at):
        return False
    _replace(db, person_id, item_id, content, at, trial=2)
    return True


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _of(person_id: str, item_id: str, trial: int) -> tuple[Any, ...]:
    return (
        JUDGEMENT.c.rater_kind == RaterKind.PERSON.value,
        JUDGEMENT.c.rater_id == person_id,
        JUDGEMENT.c.item_id == item_id,
        JUDGEMENT.c.trial == trial,
        # What else they said in this project does not travel, and stays.
        JUDGEMENT.c.protocol.in_(TO_SUBMIT),
    )


def _replace(db: Connection, person_id: str, item_id: str, content: str, at: datetime, trial: int) -> None:
    labels = Labels.model_validate(orjson.loads(content)).units
    rows = list(_rows(db, labels, person_id, item_id, at, trial))
    said = {(row["protocol"], row["response_id"], row["unit_id"]) for row in rows}
    j = JUDGEMENT.c
    there = db.execute(
        select(j.id, j.flags, j.protocol, j.response_id, j.unit_id).where(*_of(person_id, item_id, trial))
    )
    # What they gave elsewhere stays, unless the labels that came back say it again.
    gone = [{"gone": row.id} for row in there if not is_given(row.flags) or tuple(row[2:]) in said]
    if gone:
        db.execute(_DELETE, gone)
    if rows:
        db.execute(insert(JUDGEMENT), rows)


def _rows(
    db: Connection, labels: Iterable[Label], person_id: str, item_id: str, at: datetime, trial: int
) -> Iterable[dict[str, Any]]:
    judged = {
        protocol: annotating.judged_artifact(db, item_id, kind)
        for protocol in {label.protocol for label in labels}
        if protocol in PROTOCOLS and (kind := PROTOCOLS[protocol].unit_kind) is not None
    }
    for label in labels:
        artifact = judged.get(label.protocol)
        judgement = Judgement(
            id=derived_id("judgement", label.id, person_id, trial), protocol=label.protocol, item_id=item_id,
            response_id=label.response_id, artifact_id=artifact.id if artifact else "", unit_id=label.unit_id,
            rater_kind=RaterKind.PERSON, rater_id=person_id, trial=trial, at=_utc(at), quote=label.quote,
            note=label.note, flags=label.flags, **_place(label), **_said(label.value),
        )  # fmt: skip
        row = judgement.model_dump()
        yield {**row, "sha256": judgement_hash(row)}


def _place(label: Label) -> dict[str, Any]:
    if label.anchor is None or label.anchor.start < 0:
        return {}
    return {"quote_start": label.anchor.start, "quote_end": label.anchor.end}


def _said(value: str) -> dict[str, Any]:
    if value == UNSURE:
        return {"value": None, "status": Status.UNCLEAR, "cause": "the rater is unsure"}
    return {"value": value, "status": Status.OK}
