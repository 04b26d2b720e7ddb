"""Documents on the page: as typed so far, newly begun, or copied."""

from collections.abc import Mapping
from typing import Any

from annotator.domain.kinds.artifact import Document, Kind, Unit
from annotator.domain.kinds.documents import DOCUMENTS
from annotator.domain.kinds.question_types import QuestionType
from annotator.domain.texts.change import new_id


def as_typed(document: Document[Any], typed: Mapping[str, Mapping[str, Any]]) -> Document[Any]:
    """The document with what stands in its fields just now, unit id by unit id; nothing is validated."""
    if not typed:
        return document
    units = tuple(unit.model_copy(update=dict(typed.get(unit.id, {}))) for unit in document.units)
    return document.model_copy(update={"units": units, **typed.get("", {})})


def fresh(kind: Kind, rated_as: QuestionType | None = None) -> Document[Any]:
    """What an artifact begins as: one empty unit to type into; a selection has its question type's dimensions."""
    document = DOCUMENTS[kind]
    if kind is Kind.SELECTION:
        rated = rated_as.dimensions if rated_as else ()
        return document(units=tuple(document.UNIT(text=one.name) for one in rated))
    return document(units=(document.UNIT(),))


def copied(document: Document[Any]) -> Document[Any]:
    """The same words under ids of their own, for someone who starts from another's artifact."""
    units: tuple[Unit, ...] = tuple(unit.model_copy(update={"id": new_id()}) for unit in document.units)
    return document.model_copy(update={"units": units})


def changed(unit: Unit | Document[Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the fields whose values are not the unit's, or the document's, already."""
    return {name: value for name, value in fields.items() if getattr(unit, name) != value}
