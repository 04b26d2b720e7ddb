"""What is said of systems, reports and sources beside their words: group, origin, publication."""

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from pydantic import ValidationError
from sqlalchemy import Table, select, update
from sqlalchemy.engine import Connection
from sqlmodel import SQLModel

from annotator.actions.items.report_lines import DOES
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.material.response import GROUPS, ResponseFields, SystemFields, spelled
from annotator.domain.material.source import SourceFields
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import ITEM, RESPONSE, SOURCE, SYSTEM


class Thing(StrEnum):
    """What metadata may be of."""

    SYSTEM = "system"
    RESPONSE = "response"
    SOURCE = "source"


class _Described(NamedTuple):
    rows: Table
    fields: type[SQLModel]
    names: frozenset[str]


_DESCRIBED = {
    Thing.SYSTEM: _Described(SYSTEM, SystemFields, frozenset({"group", "footnote", "notes"})),
    Thing.RESPONSE: _Described(
        RESPONSE,
        ResponseFields,
        frozenset({"collected_on", "product_version", "settings", "collected_by", "cutoff"}),
    ),
    Thing.SOURCE: _Described(
        SOURCE,
        SourceFields,
        frozenset({"title", "identifier", "kind", "published", "venue", "citations", "citations_on"}),
    ),
}

# Fields of numbers and days: what is not known there is None.
WITHOUT_EMPTY = frozenset({"collected_on", "cutoff", "citations", "citations_on"})


def describe(project: Project, thing: Thing, values: Mapping[str, Mapping[str, Any]]) -> Change:
    """Give things new values, by id and field, in one act that can be undone; Refusal names a value that does not fit.

    Days are written as 2025-03-24. What is said already makes no change.
    """
    people.refuse_others(project, DOES)
    with project.store.write() as db:
        before, after = {}, {}
        for row_id, fields in values.items():
            old, new = _images(db, thing, row_id, fields)
            if old != new:
                before[row_id], after[row_id] = old, new
        if not after:
            return Change("metadata", thing, "nothing new", None, {})
        for row_id, fields in after.items():
            _write(db, thing, row_id, fields)
        names = sorted({name for fields in values.values() for name in fields})
        verb = f"change {', '.join(names).replace('_', ' ')}"
        return record(project, db, Change("metadata", thing, verb, before, after))


def restore(project: Project, db: Connection, thing: str, present: Any, goal: Any) -> None:
    """Put the subject of a change from one image to another; Refusal when it has moved on."""
    people.refuse_others(project, DOES)
    for row_id, fields in present.items():
        if _images(db, Thing(thing), row_id, fields)[0] != fields:
            raise Refusal("This was changed elsewhere since.", "Look at it again; nothing was undone.")
        _write(db, Thing(thing), row_id, goal[row_id])


def systems(project: Project) -> list[dict[str, Any]]:
    """Every system with its group, footnote and notes, by name."""
    people.refuse_others(project, DOES)
    with project.store.read() as db:
        return [dict(row) for row in db.execute(select(SYSTEM).order_by(SYSTEM.c.name)).mappings()]


def system_named(project: Project, name: str) -> str:
    """The id of a system; Refusal lists those there are."""
    known = {row["name"]: row["id"] for row in systems(project)}
    if name not in known:
        raise Refusal(f"There is no system “{name}”.", f"Systems: {', '.join(known) or 'none'}.")
    return str(known[name])


def responses_of(
    project: Project, system: str, *, items: Collection[str] = (), trial: int = 0, mode: str = ""
) -> list[str]:
    """The ids of a system's responses, of some items (by key), one run or one mode; Refusal when there is none."""
    question = (
        select(RESPONSE.c.id)
        .join(ITEM, ITEM.c.id == RESPONSE.c.item_id)
        .where(RESPONSE.c.system_id == system_named(project, system))
    )
    for narrowed, condition in (
        (items, ITEM.c.key.in_(items)), (trial, RESPONSE.c.trial == trial), (mode, RESPONSE.c.mode == spelled(mode)),
    ):  # fmt: skip
        question = question.where(condition) if narrowed else question
    with project.store.read() as db:
        found = list(db.execute(question).scalars())
    if not found:
        raise Refusal(f"“{system}” has no such reports.", "Check items, run and mode; nothing was changed.")
    return found


def group_names(known: Sequence[Mapping[str, Any]]) -> list[str]:
    """The groups of these systems, and the usual ones, each once."""
    return list(dict.fromkeys([*sorted({row["group"] for row in known} - {""}), *GROUPS]))


def _images(
    db: Connection, thing: Thing, row_id: str, fields: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values of these fields as they are and as they are to be, as JSON has them."""
    rows, model, names = _DESCRIBED[thing]
    if unknown := sorted(fields.keys() - names):
        raise Refusal(f"A {thing} has no “{unknown[0]}” that can be changed.", "Nothing was changed.")
    row = db.execute(select(rows).where(rows.c.id == row_id)).mappings().first()
    if row is None:
        raise KeyError(row_id)
    kept = model.model_validate({name: row[name] for name in model.model_fields})
    new = _checked(model, {**kept.model_dump(), **fields})
    only = set(fields)
    return kept.model_dump(mode="json", include=only), new.model_dump(mode="json", include=only)


def _checked(model: type[SQLModel], values: Mapping[str, Any]) -> SQLModel:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]).replace("_", " ")
        raise Refusal(
            f"The {name} “{first['input']}” does not fit: {first['msg'].lower()}.",
            "Nothing was changed. Days are written as 2025-03-24.",
        ) from None


def _write(db: Connection, thing: Thing, row_id: str, image: Mapping[str, Any]) -> None:
    rows, model, _ = _DESCRIBED[thing]
    row = db.execute(select(rows).where(rows.c.id == row_id)).mappings().one()
    new = model.model_validate({name: row[name] for name in model.model_fields} | dict(image))
    written = {name: getattr(new, name) for name in image}
    db.execute(update(rows).where(rows.c.id == row_id).values(**written))
