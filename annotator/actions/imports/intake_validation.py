"""Import of validation sets, reviews and rulings: their keys, compared fields and prerequisites."""

from collections.abc import Iterable

import orjson
from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from annotator.actions.project.incoming import ExistingRecords, ImportPlan, Incoming, Need, Row
from annotator.actions.results.result_raters import CONSENSUS
from annotator.domain.judges.informed import InformedFields
from annotator.domain.judges.validation import OpeningFields, SetFields
from annotator.exchange.release.validation_records import (
    InformedRecord,
    ValidationSetRecord,
    content_text,
    labels_text,
)
from annotator.storage.tables import InformedRow, OpeningRow, ValidationSetRow, table

SET, OPENING, INFORMED = table(ValidationSetRow), table(OpeningRow), table(InformedRow)
SAID = ("said", "reason", "note", "judge_value", "label_value")


class ValidationIntake:
    """The comparison of sets, reviews and rulings with the project in this transaction."""

    def __init__(self, db: Connection, incoming: Incoming) -> None:
        self.db, self.incoming = db, incoming

    def sets(self) -> ImportPlan:
        """A set is the same when its content, its first labels and the looks at it are."""
        existing = ExistingRecords()
        looks = select(OPENING.c.set_id, func.count().label("looks")).group_by(OPENING.c.set_id).subquery()
        question = select(SET.c.id, SET.c.name, SET.c.sha256, SET.c.labels_sha256, looks.c.looks)
        for found in self.db.execute(question.outerjoin(looks, looks.c.set_id == SET.c.id)):
            existing.ids[(found.name,)] = found.id
            existing.prints[found.id] = (found.sha256, found.labels_sha256, found.looks or 0)

        def needs(record: ValidationSetRecord) -> Iterable[Need]:
            yield from (("responses", one.response_id) for one in record.content.responses)
            yield from (("items", item) for item in record.content.dealt)
            people = {person for who in record.content.dealt.values() for person in who}
            yield from (("people", person) for person in sorted(people))

        def row(record: ValidationSetRecord) -> dict[str, Row | list[Row]]:
            fields = SetFields.model_validate(record.model_dump(include=set(SetFields.model_fields)))
            kept = {
                "id": record.id, **fields.model_dump(), "content": content_text(record.content),
                "sha256": record.sha256, "labels": labels_text(record.first_labels),
                "labels_sha256": record.labels_sha256,
            }  # fmt: skip
            opened = []
            for look in record.looks:
                values = look.model_dump() | {
                    "set_id": record.id,
                    "judges": orjson.dumps(look.judges).decode(),
                }
                opened.append({"id": look.id, **OpeningFields.model_validate(values).model_dump()})
            return {"validation_set": kept, "opening": opened}

        def content(record: ValidationSetRecord) -> tuple[str, str, int]:
            return record.sha256, record.labels_sha256, len(record.looks)

        return ImportPlan("validation_sets", existing, lambda record: (record.name,), content, needs, row)

    def informed(self) -> ImportPlan:
        """A review or a ruling is the same when it says the same of the same values."""
        existing = ExistingRecords()
        for found in self.db.execute(select(INFORMED.c.id, *(INFORMED.c[name] for name in SAID))):
            existing.prints[found[0]] = tuple(found[1:])

        def needs(record: InformedRecord) -> Iterable[Need]:
            yield "items", record.item_id
            yield "responses", record.response_id
            yield "judges", record.judge_id
            yield from (
                ("people", name) for name in (record.by, record.label_of) if name not in ("", CONSENSUS)
            )

        def row(record: InformedRecord) -> dict[str, Row]:
            fields = InformedFields.model_validate(record.model_dump(exclude={"id"}))
            return {"informed": {"id": record.id, **fields.model_dump(), "kind": record.kind.value}}

        def content(record: InformedRecord) -> tuple[str, ...]:
            return tuple(getattr(record, name) for name in SAID)

        return ImportPlan("informed", existing, lambda record: (record.id,), content, needs, row)
