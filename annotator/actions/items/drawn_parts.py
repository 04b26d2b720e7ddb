"""Current extracts of reports and items: whose version counts, its state, and what is missing."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import orjson
from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.items import extracts
from annotator.actions.items.extracts import Subject
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.material.extract import IMPORT, ExtractState
from annotator.domain.material.part import ResponsePart
from annotator.domain.texts.counting import counted
from annotator.storage.tables import EXTRACT, ITEM, JUDGE

_AT_ONCE = 500
# Hash of a document → its units, and how many of them cite something.
_COUNTS: dict[str, tuple[int, int]] = {}


class PartStatus(StrEnum):
    """The state of the current version."""

    DRAWN = "drawn"
    IMPORTED = "imported"
    CONFIRMED = "confirmed"
    EDITED = "edited"


# What no person has looked at yet.
OPEN = (PartStatus.DRAWN, PartStatus.IMPORTED)


@dataclass(frozen=True, slots=True)
class CurrentPart:
    """The current version of a part: author, state, number of units, and of claims how many cite."""

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


def standing(project: Project) -> dict[Subject, dict[str, CurrentPart]]:
    """(item, response or none) → kind → the version that stands, of the whole project.

    What a model drafted for one person alone is not among them.
    """
    with project.store.read() as db:
        chosen = _chosen(db)
        _count(db, [row for row in chosen if row["sha256"] not in _COUNTS])
        names = _names(project, db)
    found: dict[Subject, dict[str, CurrentPart]] = {}
    for row in chosen:
        of_kind = found.setdefault((row["item_id"], row["response_id"]), {})
        of_kind[row["kind"]] = _drawn(row, names)
    return found


def waiting(project: Project) -> dict[str, int]:
    """Kind → of how many reports (or items) in use the version that stands waits for a person to confirm it."""
    used = select(ITEM.c.id).where(ITEM.c.retired.is_(False))
    with project.store.read() as db:
        items = set(db.execute(used).scalars())
        found = Counter(
            row["kind"]
            for row in _chosen(db)
            if row["item_id"] in items and standing_of(row["origin"], row["state"]) in OPEN
        )
    return dict(found)


def whose(project: Project, origin: str) -> str:
    with project.store.read() as db:
        return _whose(origin, _names(project, db))


def standing_of(origin: str, state: str) -> PartStatus:
    """How far an extract of this origin and state is."""
    if origin.startswith("person:"):
        return PartStatus.EDITED
    if state == ExtractState.CONFIRMED.value:
        return PartStatus.CONFIRMED
    return PartStatus.IMPORTED if origin == IMPORT else PartStatus.DRAWN


def contents(project: Project, kind: ResponsePart) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(item, response, document's tree) of each response's version of a part that stands, some at a time."""
    with project.store.read() as db:
        of = {row["id"]: (row["item_id"], row["response_id"]) for row in _chosen(db, kind.value)}
    ids = [name for name, (_, response_id) in sorted(of.items(), key=lambda one: one[1]) if response_id]
    for start in range(0, len(ids), _AT_ONCE):
        with project.store.read() as db:
            found = _trees(db, ids[start : start + _AT_ONCE])
        for name in ids[start : start + _AT_ONCE]:
            yield (*of[name], found[name])


def _chosen(db: Connection, kind: str = "") -> list[Any]:
    """The rows that stand, of one kind or of all, without their words."""
    columns = [column for column in EXTRACT.c if column.name != "content"]
    question = select(*columns).where(EXTRACT.c.kind == kind) if kind else select(*columns)
    best: dict[tuple[str, str, str], Any] = {}
    for row in db.execute(question).mappings():
        if extracts.is_apart(row["origin"]):
            continue
        key = row["item_id"], row["response_id"], row["kind"]
        if key not in best or extracts.rank(row) < extracts.rank(best[key]):
            best[key] = row
    return list(best.values())


def _count(db: Connection, rows: list[Any]) -> None:
    """Count the units of documents that were not counted before; the same hash is the same document."""
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        found = _trees(db, [row["id"] for row in some])
        for row in some:
            units = found[row["id"]]["units"]
            _COUNTS[row["sha256"]] = len(units), sum(bool(unit.get("url")) for unit in units)


def _trees(db: Connection, ids: list[str]) -> dict[str, dict[str, Any]]:
    question = select(EXTRACT.c.id, EXTRACT.c.content).where(EXTRACT.c.id.in_(ids))
    return {row.id: orjson.loads(row.content) for row in db.execute(question)}


def _names(project: Project, db: Connection) -> Mapping[str, str]:
    named = {f"judge:{row.id}": row.name for row in db.execute(select(JUDGE.c.id, JUDGE.c.name))}
    return named | {f"person:{person.id}": person.name for person in people.people(project)}


def _whose(origin: str, names: Mapping[str, str]) -> str:
    return "import" if origin == IMPORT else names.get(origin, "somebody who is not in this project")


def _drawn(row: Any, names: Mapping[str, str]) -> CurrentPart:
    units, cited = _COUNTS[row["sha256"]]
    return CurrentPart(
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
