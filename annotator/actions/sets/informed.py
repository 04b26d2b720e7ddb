"""Storage of informed labels, apart from blind ones."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, delete, insert, select
from sqlalchemy.engine import Connection

from annotator.actions.labelling import wordings
from annotator.actions.project import keeping
from annotator.actions.project.file import Project, record
from annotator.actions.sets import validation_units, validation_values
from annotator.domain.judges.informed import Informed, InformedFields, InformedKind
from annotator.domain.texts.change import Change, derived_id
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import INFORMED


def say(project: Project, fields: InformedFields, verb: str) -> Change:
    """Keep a review or a ruling, in the place of the one on the same; of reviews each expert has their own."""
    by = fields.by if fields.kind is InformedKind.REVIEW else ""
    about = fields.protocol, fields.response_id, fields.unit_id, fields.judge_id, fields.label_of, by
    new = Informed(id=derived_id(fields.kind.value, *about), **fields.model_dump())
    # Units and verdicts are what they were, and take long to be read where there are many.
    with (
        keeping.unmoved(project, validation_units.places, validation_values.of_judges),
        project.store.write() as db,
    ):
        before = _image(_kept(db, new.id))
        _put(db, new)
        return record(project, db, Change("informed", new.id, verb, before, _image(new)))


def kept(
    project: Project, kind: InformedKind, protocol: str, *narrowed: ColumnElement[bool]
) -> list[Informed]:
    """All reviews or rulings under a protocol, by when they were said."""
    i = INFORMED.c
    question = select(INFORMED).where(i.kind == kind.value, i.protocol == protocol, *narrowed)
    with project.store.read() as db:
        rows: Iterable[Any] = db.execute(question.order_by(i.at, i.id)).mappings().all()
    return [Informed(**row) for row in rows]


def standing(
    project: Project, kind: InformedKind, protocol: str, *narrowed: ColumnElement[bool]
) -> list[Informed]:
    """The same without what was said of another wording of its unit."""
    found = kept(project, kind, protocol, *narrowed)
    said = {(one.item_id, one.unit_id, one.at) for one in found}
    with project.store.read() as db:
        gone = wordings.overtaken(db, PROTOCOLS[protocol].unit_kind, said)
    return [one for one in found if (one.item_id, one.unit_id, one.at) not in gone]


def _kept(db: Connection, informed_id: str) -> Informed | None:
    row = db.execute(select(INFORMED).where(INFORMED.c.id == informed_id)).mappings().first()
    return Informed(**row) if row else None


def _put(db: Connection, one: Informed) -> None:
    db.execute(delete(INFORMED).where(INFORMED.c.id == one.id))
    db.execute(insert(INFORMED).values(**one.model_dump()))


def _image(one: Informed | None) -> dict[str, Any]:
    return Informed.model_validate(one.model_dump()).model_dump(mode="json") if one else {}


def restore(_project: Project, db: Connection, informed_id: str, present: Any, goal: Any) -> None:
    """Put the subject of a change from one image to another; Refusal when it has moved on."""
    if _image(_kept(db, informed_id)) != present:
        raise Refusal("This was ruled on again since.", "Look at it again; nothing was undone.")
    db.execute(delete(INFORMED).where(INFORMED.c.id == informed_id))
    if goal:
        _put(db, Informed.model_validate(goal))
