"""Extracts of responses and items: stored, read, confirmed and corrected."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from operator import itemgetter
from typing import Any

import orjson
from sqlalchemy import Connection, Select, and_, delete, select

from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.common import Change, Refusal, canonical_json, counted, nested, new_id, now, sha256
from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.material.extract import (
    Extract,
    ResponsePart,
    WriterAid,
    by_person,
    class_of,
    document_of,
)
from annotator.domain.material.item import IMPORT, SET, ExtractState
from annotator.domain.stored import ExtractFields
from annotator.storage.tables import EXTRACT, ITEM, JUDGE, JUDGEMENT, put

GONE = Refusal("That extract no longer exists.", "Open the response again.")
# Precedence of versions: a person's, then the one that came with the response, then a judge's.
_RANK = {"person": 0, IMPORT: 1, "judge": 2}
Subject = tuple[str, str]


def kinds_of_items(project: Project) -> dict[str, set[str]]:
    """Item → the kinds and rubric sets extracted from the item itself; items without any are left out."""
    columns = EXTRACT.c.item_id, EXTRACT.c.kind, EXTRACT.c.origin
    result: dict[str, set[str]] = defaultdict(set)
    for item_id, kind, origin in project.query(select(*columns).where(EXTRACT.c.response_id == "")):
        result[item_id].add(origin if origin.startswith(SET) else kind)
    return result


def standing(db: Connection, item_ids: Iterable[str]) -> dict[Subject, dict[str, Extract]]:
    """(item, response or none) → kind → the extract in force, of these items.

    Leaves out a model's drafts for one person and members of named rubric sets.
    """
    best = _best(db, select(EXTRACT).where(EXTRACT.c.item_id.in_(list(item_ids))))
    return nested(
        ((item_id, response_id), kind, read(row))
        for (item_id, response_id, kind), row in sorted(best.items(), key=itemgetter(0))
    )


def _best(db: Connection, question: Select[Any]) -> dict[tuple[str, str, str], Any]:
    """(item, response or none, kind) → the row in force, of those selected."""
    best: dict[tuple[str, str, str], Any] = {}
    for row in db.execute(question).mappings():
        key = row["item_id"], row["response_id"], row["kind"]
        if not is_apart(row["origin"]) and (key not in best or rank(row) < rank(best[key])):
            best[key] = row
    return best


def keep_row(
    db: Connection,
    subject: Subject,
    kind: ResponsePart | Kind | WriterAid,
    document: Document[Any],
    origin: str,
    *,
    flags: str = "",
    run_id: str | None = None,
    by: str = "",
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Write a row for an extract; return the image of the row it replaces (empty if none), and the row."""
    item_id, response_id = subject
    if not isinstance(document, class_of(kind.value, response_id)):
        raise Refusal(f"A {kind.value} cannot be a {type(document).__name__}.", "Give another.")
    if len({unit.id for unit in document.units}) != len(document.units):
        raise Refusal(f"Two units of the {kind.value} have the same id.", "Give each an id of its own.")
    key = {"item_id": item_id, "response_id": response_id, "kind": kind.value, "origin": origin}
    old = _row(db, and_(*(EXTRACT.c[name] == value for name, value in key.items())))
    state = ExtractState.CONFIRMED if by else ExtractState.PROPOSED
    fields = ExtractFields(**key, state=state, flags=flags, run_id=run_id, by=by, at=now())
    content = canonical_json(document.tree()).decode()
    row = fields.model_dump() | {"state": fields.state.value, "content": content, "sha256": sha256(content)}
    row |= {"id": old["id"] if old else new_id()}
    put(db, EXTRACT, row)
    return image(old), row


def write_own(
    project: Project, subject: Subject, kind: ResponsePart | Kind, document: Document[Any]
) -> Change:
    """Write a person's own version of an extract from a report, or (without a response) from an item.

    It counts from now on; a judge's or an imported version stays beside it.
    """
    me = people.someone(project)
    with project.store.write() as db:
        before, after = keep_row(db, subject, kind, document, by_person(me.id), by=me.id)
        return record(
            project, db, Change("extract", after["id"], f"write {kind.value}", before, image(after))
        )


def confirm(project: Project, extract_id: str) -> Change:
    """Confirm an extract as it is; raises Refusal if it no longer exists."""
    me = people.someone(project)
    with project.store.write() as db:
        row = _row(db, EXTRACT.c.id == extract_id)
        if row is None:
            raise GONE
        after = row | {"state": ExtractState.CONFIRMED.value, "by": me.id, "at": now()}
        put(db, EXTRACT, after)
        return record(project, db, Change("extract", extract_id, "confirm extract", image(row), image(after)))


def restore(_project: Project, db: Connection, subject: str, present: Any, goal: Any) -> None:
    """Restore the subject of a change from one image to another; raises Refusal if it has changed since."""
    if image(_row(db, EXTRACT.c.id == subject)) != present:
        raise Refusal("That extract was changed since.", "Undo the later change first.")
    if not goal:
        if db.execute(select(JUDGEMENT.c.id).where(JUDGEMENT.c.artifact_id == subject).limit(1)).first():
            raise Refusal("It has been judged since.", "Write another version instead.")
        db.execute(delete(EXTRACT).where(EXTRACT.c.id == subject))
        return
    put(db, EXTRACT, goal | {"at": datetime.fromisoformat(goal["at"])})


def image(row: dict[str, Any] | None) -> dict[str, Any]:
    """The audit's image of a row; empty for none."""
    return {} if row is None else row | {"at": row["at"].isoformat()}


def _row(db: Connection, condition: Any) -> dict[str, Any] | None:
    row = db.execute(select(EXTRACT).where(condition)).mappings().first()
    return dict(row) if row is not None else None


def is_personal(origin: str) -> bool:
    """Whether an extract of this origin is a model's draft for one person alone."""
    return origin.count(":") > 1


def is_apart(origin: str) -> bool:
    """Whether an extract never counts for its item: a draft for one person, or a rubric of a named set."""
    return is_personal(origin) or origin.startswith(SET)


def rank(row: Any) -> tuple[int, bool, float, str]:
    """The sort key of versions of one thing: the one in force comes first."""
    confirmed = row["state"] == ExtractState.CONFIRMED.value
    return (
        _RANK.get(row["origin"].split(":")[0], len(_RANK)),
        not confirmed,
        -row["at"].timestamp(),
        row["id"],
    )


def read(row: Any) -> Extract:
    fields = {name: row[name] for name in ExtractFields.model_fields}
    fields["state"] = ExtractState(row["state"])
    document = document_of(row["kind"], row["response_id"], orjson.loads(row["content"]))
    return Extract(**fields, id=row["id"], document=document)


_AT_ONCE = 500
# Hash of a document → its number of units, and how many of them cite something.
_COUNTS: dict[str, tuple[int, int]] = {}


class PartStatus(StrEnum):
    DRAWN = "drawn"
    IMPORTED = "imported"
    CONFIRMED = "confirmed"
    EDITED = "edited"


# The states of what no person has looked at yet.
OPEN = (PartStatus.DRAWN, PartStatus.IMPORTED)


@dataclass(frozen=True, slots=True)
class CurrentPart:
    """The current version of a part: author, state, number of units, and of claims the number that cite."""

    extract_id: str
    kind: str
    whose: str
    standing: PartStatus
    units: int
    cited: int
    flags: tuple[str, ...]
    at: datetime
    run_id: str | None

    def words(self) -> str:
        return f"{counted(self.units, 'unit')}, {self.standing.value}"


def standing_parts(project: Project) -> dict[Subject, dict[str, CurrentPart]]:
    """(item, response or none) → kind → the version in force, of the whole project.

    Leaves out a model's drafts for one person.
    """
    with project.store.read() as db:
        chosen = _chosen(db)
        _count(db, [row for row in chosen if row["sha256"] not in _COUNTS])
        names = _names(project, db)
    result: dict[Subject, dict[str, CurrentPart]] = {}
    for row in chosen:
        of_kind = result.setdefault((row["item_id"], row["response_id"]), {})
        units, cited = _COUNTS[row["sha256"]]
        of_kind[row["kind"]] = CurrentPart(
            extract_id=row["id"],
            kind=row["kind"],
            whose=_whose(row["origin"], names),
            standing=standing_of(row["origin"], row["state"]),
            units=units,
            cited=cited,
            flags=tuple(row["flags"].split()),
            at=row["at"],
            run_id=row["run_id"],
        )
    return result


def waiting(project: Project) -> dict[str, int]:
    """Kind → the number of reports (or items) in use whose version in force awaits a person's confirmation."""
    with project.store.read() as db:
        items = set(db.execute(select(ITEM.c.id).where(ITEM.c.retired.is_(False))).scalars())
        result = Counter(
            row["kind"]
            for row in _chosen(db)
            if row["item_id"] in items and standing_of(row["origin"], row["state"]) in OPEN
        )
    return dict(result)


def whose(project: Project, origin: str) -> str:
    with project.store.read() as db:
        return _whose(origin, _names(project, db))


def standing_of(origin: str, state: str) -> PartStatus:
    if origin.startswith("person:"):
        return PartStatus.EDITED
    if state == ExtractState.CONFIRMED.value:
        return PartStatus.CONFIRMED
    return PartStatus.IMPORTED if origin == IMPORT else PartStatus.DRAWN


def contents(project: Project, kind: ResponsePart) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(item, response, document's tree) of each response's version of a part in force, read in batches."""
    with project.store.read() as db:
        of = {row["id"]: (row["item_id"], row["response_id"]) for row in _chosen(db, kind.value)}
    ids = [name for name, (_, response_id) in sorted(of.items(), key=lambda one: one[1]) if response_id]
    for start in range(0, len(ids), _AT_ONCE):
        with project.store.read() as db:
            result = _trees(db, ids[start : start + _AT_ONCE])
        for name in ids[start : start + _AT_ONCE]:
            yield (*of[name], result[name])


def _chosen(db: Connection, kind: str = "") -> list[Any]:
    columns = [column for column in EXTRACT.c if column.name != "content"]
    question = select(*columns).where(EXTRACT.c.kind == kind) if kind else select(*columns)
    return list(_best(db, question).values())


def _count(db: Connection, rows: list[Any]) -> None:
    """Count the units of documents not counted before; the same hash is the same document."""
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        result = _trees(db, [row["id"] for row in some])
        for row in some:
            units = result[row["id"]]["units"]
            _COUNTS[row["sha256"]] = len(units), sum(bool(unit.get("url")) for unit in units)


def _trees(db: Connection, ids: list[str]) -> dict[str, dict[str, Any]]:
    question = select(EXTRACT.c.id, EXTRACT.c.content).where(EXTRACT.c.id.in_(ids))
    return {row.id: orjson.loads(row.content) for row in db.execute(question)}


def _names(project: Project, db: Connection) -> Mapping[str, str]:
    named = {f"judge:{row.id}": row.name for row in db.execute(select(JUDGE.c.id, JUDGE.c.name))}
    return named | {f"person:{person.id}": person.name for person in people.people(project)}


def _whose(origin: str, names: Mapping[str, str]) -> str:
    return "import" if origin == IMPORT else names.get(origin, "somebody who is not in this project")
