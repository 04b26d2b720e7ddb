"""Extracts of responses and items: stored, read, confirmed and corrected."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import delete, select
from sqlalchemy.engine import Connection

from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.material.extract import (
    IMPORT,
    SET,
    Extract,
    ExtractFields,
    ExtractState,
    by_person,
    class_of,
    document_of,
)
from annotator.domain.material.part import ResponsePart
from annotator.domain.material.writer_aid import WriterAid
from annotator.domain.texts.canonical import canonical_json, sha256
from annotator.domain.texts.change import Change, new_id, now
from annotator.domain.texts.refusal import Refusal
from annotator.storage import upserts
from annotator.storage.tables import EXTRACT, JUDGEMENT

GONE = Refusal("That extract no longer exists.", "Open the response again.")
# Whose word counts first: a person's, then what came with the response, then a judge's.
_RANK = {"person": 0, IMPORT: 1, "judge": 2}
Subject = tuple[str, str]


@dataclass(frozen=True, slots=True)
class NewExtract:
    """A new extract of an item or (with a `response_id`) of a response."""

    item_id: str
    response_id: str
    kind: ResponsePart | Kind | WriterAid
    document: Document[Any]
    origin: str
    flags: str = ""
    run_id: str | None = None


def kinds_of_items(project: Project) -> dict[str, set[str]]:
    """Item → the kinds and rubric sets that were drawn from it itself; none for an item of which nothing was."""
    columns = EXTRACT.c.item_id, EXTRACT.c.kind, EXTRACT.c.origin
    found: dict[str, set[str]] = defaultdict(set)
    with project.store.read() as db:
        for item_id, kind, origin in db.execute(select(*columns).where(EXTRACT.c.response_id == "")):
            found[item_id].add(origin if origin.startswith(SET) else kind)
    return found


def standing(db: Connection, item_ids: Iterable[str]) -> dict[Subject, dict[str, Extract]]:
    """(item, response or none) → kind → the extract that stands, of the items named.

    What a model drafted for one person alone, or belongs to a named rubric set, is not among them.
    """
    best: dict[Subject, dict[str, Any]] = defaultdict(dict)
    for row in db.execute(select(EXTRACT).where(EXTRACT.c.item_id.in_(list(item_ids)))).mappings():
        if is_apart(row["origin"]):
            continue
        of_kind = best[row["item_id"], row["response_id"]]
        known = of_kind.get(row["kind"])
        if known is None or rank(row) < rank(known):
            of_kind[row["kind"]] = row
    return {
        subject: {kind: read(row) for kind, row in sorted(of_kind.items())}
        for subject, of_kind in best.items()
    }


def keep_row(db: Connection, drawn: NewExtract, by: str = "") -> tuple[dict[str, Any], dict[str, Any]]:
    """Write a row for what was drawn; the image of the row it replaces (empty for none), and the row."""
    _check(drawn)
    old = _row(db, _same(drawn))
    fields = ExtractFields(
        item_id=drawn.item_id,
        response_id=drawn.response_id,
        kind=drawn.kind.value,
        origin=drawn.origin,
        state=ExtractState.CONFIRMED if by else ExtractState.PROPOSED,
        flags=drawn.flags,
        run_id=drawn.run_id,
        by=by,
        at=now(),
    )
    content = canonical_json(drawn.document.tree()).decode()
    row = fields.model_dump() | {"state": fields.state.value, "content": content, "sha256": sha256(content)}
    row |= {"id": old["id"] if old else new_id()}
    _put(db, row)
    return image(old), row


def write_own(
    project: Project, subject: Subject, kind: ResponsePart | Kind, document: Document[Any]
) -> Change:
    """A person's own version of what was drawn from a report, or (without a response) from an item.

    From now on it counts; what a judge or an import said stays beside it.
    """
    me = people.someone(project)
    with project.store.write() as db:
        before, after = keep_row(db, NewExtract(*subject, kind, document, by_person(me.id)), me.id)
        return record(
            project, db, Change("extract", after["id"], f"write {kind.value}", before, image(after))
        )


def confirm(project: Project, extract_id: str) -> Change:
    """Say that an extract may stand as it is; Refusal when it is gone."""
    me = people.someone(project)
    with project.store.write() as db:
        row = _row(db, EXTRACT.c.id == extract_id)
        if row is None:
            raise GONE
        after = row | {"state": ExtractState.CONFIRMED.value, "by": me.id, "at": now()}
        _put(db, after)
        return record(project, db, Change("extract", extract_id, "confirm extract", image(row), image(after)))


def restore(_project: Project, db: Connection, subject: str, present: Any, goal: Any) -> None:
    """Put the subject of a change from one image to another; Refusal when it has moved on."""
    row = _row(db, EXTRACT.c.id == subject)
    if image(row) != present:
        raise Refusal("That extract was changed since.", "Undo the later change first.")
    if not goal:
        if db.execute(select(JUDGEMENT.c.id).where(JUDGEMENT.c.artifact_id == subject).limit(1)).first():
            raise Refusal("It has been judged since.", "Write another version instead.")
        db.execute(delete(EXTRACT).where(EXTRACT.c.id == subject))
        return
    _put(db, goal | {"at": datetime.fromisoformat(goal["at"])})


def image(row: dict[str, Any] | None) -> dict[str, Any]:
    """A row as the audit keeps it; empty for none."""
    return {} if row is None else row | {"at": row["at"].isoformat()}


def _put(db: Connection, row: dict[str, Any]) -> None:
    upserts.put(db, EXTRACT, row)


def _row(db: Connection, condition: Any) -> dict[str, Any] | None:
    row = db.execute(select(EXTRACT).where(condition)).mappings().first()
    return dict(row) if row is not None else None


def _same(drawn: NewExtract) -> Any:
    return (
        (EXTRACT.c.item_id == drawn.item_id)
        & (EXTRACT.c.response_id == drawn.response_id)
        & (EXTRACT.c.kind == drawn.kind.value)
        & (EXTRACT.c.origin == drawn.origin)
    )


def _check(drawn: NewExtract) -> None:
    """Refuse a document that is not of its kind, or in which two units have one id."""
    wanted = class_of(drawn.kind.value, drawn.response_id)
    if not isinstance(drawn.document, wanted):
        raise Refusal(f"A {drawn.kind.value} cannot be a {type(drawn.document).__name__}.", "Give another.")
    if len({unit.id for unit in drawn.document.units}) != len(drawn.document.units):
        raise Refusal(f"Two units of the {drawn.kind.value} have the same id.", "Give each an id of its own.")


def is_personal(origin: str) -> bool:
    """Whether an extract of this origin is a model's draft for one person alone."""
    return origin.count(":") > 1


def is_apart(origin: str) -> bool:
    """Whether an extract never stands for its item: a draft for one person alone, or a rubric of a named set."""
    return is_personal(origin) or origin.startswith(SET)


def rank(row: Any) -> tuple[int, bool, float, str]:
    """What puts the versions of one thing in order, the one that stands first."""
    confirmed = row["state"] == ExtractState.CONFIRMED.value
    whose = row["origin"].split(":")[0]
    return _RANK.get(whose, len(_RANK)), not confirmed, -row["at"].timestamp(), row["id"]


def read(row: Any) -> Extract:
    fields = {name: row[name] for name in ExtractFields.model_fields}
    fields["state"] = ExtractState(row["state"])
    document = document_of(row["kind"], row["response_id"], orjson.loads(row["content"]))
    return Extract(**fields, id=row["id"], document=document)
