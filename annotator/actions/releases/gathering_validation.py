"""What leaves of judge validation: locked sets that leave whole, and reviews and rulings on responses that leave."""

import json
from typing import Any

import orjson
from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.results.result_raters import CONSENSUS
from annotator.domain.judges.validation import Content
from annotator.exchange.release.bundle import Bundle
from annotator.exchange.release.validation_records import InformedRecord, LookRecord, ValidationSetRecord
from annotator.storage.tables import InformedRow, OpeningRow, ValidationSetRow, table

SET, OPENING, INFORMED = table(ValidationSetRow), table(OpeningRow), table(InformedRow)


def add(db: Connection, bundle: Bundle) -> None:
    """Put them in; the responses that leave must be there already."""
    responses = {response.id for response in bundle.responses}
    for row in db.execute(select(SET).where(SET.c.locked_at.is_not(None)).order_by(SET.c.id)).mappings():
        content = Content.model_validate_json(row["content"])
        if {one.response_id for one in content.responses} <= responses:
            bundle.validation_sets.append(_set(db, row, content))
    for row in db.execute(select(INFORMED).order_by(INFORMED.c.id)).mappings():
        if row["response_id"] in responses:
            bundle.informed.append(InformedRecord(**row))


def raters_of(bundle: Bundle) -> set[str]:
    """The judges and people whom these name."""
    found = {person for one in bundle.validation_sets for who in one.content.dealt.values() for person in who}
    found |= {label.person_id for one in bundle.validation_sets for label in one.first_labels}
    found |= {one.by for one in bundle.validation_sets}
    found |= {look.by for one in bundle.validation_sets for look in one.looks}
    found |= {name for one in bundle.informed for name in (one.judge_id, one.label_of, one.by)}
    return found - {"", CONSENSUS}


def _set(db: Connection, row: Any, content: Content) -> ValidationSetRecord:
    question = select(OPENING).where(OPENING.c.set_id == row["id"]).order_by(OPENING.c.at, OPENING.c.id)
    looks = [
        LookRecord(**{**look, "judges": json.loads(look["judges"])})
        for look in (
            {name: value for name, value in found.items() if name != "set_id"}
            for found in db.execute(question).mappings()
        )
    ]
    names = ("id", "name", "protocol", "by", "at", "locked_at", "sha256", "labels_sha256")
    return ValidationSetRecord(
        **{name: row[name] for name in names},
        content=content,
        first_labels=orjson.loads(row["labels"]),
        looks=looks,
    )
