"""Answers given on an earlier wording of their unit."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.engine import Connection

from annotator.actions.authoring import annotating
from annotator.domain.judges.judgement import RaterKind
from annotator.domain.kinds.artifact import Kind, Unit, side_of_cell
from annotator.storage.tables import (
    ARTIFACT,
    JUDGEMENT,
    REVISION,
)

# The cause of a judgement that no longer counts.
REWORDED = "reworded"
CAUSE = "The unit was reworded since; it needs to be judged again."
BY_JUDGES = JUDGEMENT.c.rater_kind == RaterKind.JUDGE.value
# Where every text was written once, nothing was reworded, and no judgement need be looked at.
_REWORDED = (
    select(ARTIFACT.c.id).where(ARTIFACT.c.kind != Kind.LABELS.value, ARTIFACT.c.revision > 1).limit(1)
)
# When, and what each unit said from then on.
Said = tuple[datetime, Mapping[str, str]]
# An item, a unit, and when something was said of it.
Spoken = tuple[str, str, datetime]


def _older() -> Select[Any]:
    """The judgements that are older than what their units say now."""
    j, artifact, revision = JUDGEMENT.c, ARTIFACT.alias(), REVISION.alias()
    # When anything was last worded: mostly before it was judged, and then nothing about a judgement is looked up.
    worded = select(func.max(revision.c.at)).join(artifact, artifact.c.id == revision.c.artifact_id)
    last = worded.where(artifact.c.kind != Kind.LABELS.value).scalar_subquery()
    return (
        select(
            j.id,
            j.protocol,
            j.item_id,
            j.artifact_id,
            j.response_id,
            j.unit_id,
            j.rater_id,
            j.trial,
            j.at,
            REVISION.c.number,
        )
        .join(ARTIFACT, ARTIFACT.c.id == j.artifact_id)
        .join(REVISION, annotating.RELEASED)
        .where(j.at < last, REVISION.c.at > j.at)
    )


_OLDER = _older()


def outdated(db: Connection, *narrowed: ColumnElement[bool]) -> dict[str, Any]:
    """The judgements whose unit says something else now than when they were given: id → its row.

    Now is what was submitted. Where a wording was put back, what was said of it counts again.
    """
    if db.execute(_REWORDED).first() is None:
        return {}
    history = cache(partial(_history, db))
    # Row by row: there may be millions, of which few are kept.
    return {
        row.id: row
        for row in db.execute(_OLDER.where(*narrowed))
        if _differs(history(row.artifact_id, row.number), row.unit_id, row.at)
    }


def overtaken(db: Connection, kind: Kind | None, said: Iterable[Spoken]) -> set[Spoken]:
    """Those of what was said, each of an item and a unit at a moment, whose unit says something else now.

    `kind` is that of what an item is judged by; None where units come from reports, whose words stay.
    """
    listed = list(said)
    if kind is None or not listed:
        return set()
    judged = annotating.judged_rows(db, kind, {item_id for item_id, _, _ in listed})
    late = {item_id for item_id, row in judged.items() if row.revision > 1}
    history = {item_id: _history(db, judged[item_id].id, judged[item_id].revision) for item_id in late}
    return {one for one in listed if one[0] in late and _differs(history[one[0]], one[1], one[2])}


def now_says(db: Connection, artifact_ids: Iterable[str], after: datetime) -> dict[str, Mapping[str, str]]:
    """Artifact → what its units say, of those that were changed after a moment."""
    question = (
        select(ARTIFACT.c.id, REVISION.c.content)
        .select_from(ARTIFACT)
        .join(REVISION, annotating.RELEASED)
        .where(ARTIFACT.c.id.in_(list(artifact_ids)), REVISION.c.at > after)
    )
    return {row.id: _units(row.content) for row in db.execute(question)}


def unit_of(units: Iterable[Unit], unit_id: str) -> Unit | None:
    """The unit that a judgement is about; of a cell of a matrix the gold sub-task."""
    return next((unit for unit in units if unit.id == unit_id or _in_cell(unit.id, unit_id)), None)


def _in_cell(unit_id: str, cell: str) -> bool:
    return "~" in cell and side_of_cell(unit_id) == cell.rpartition("~")[2]


def _history(db: Connection, artifact_id: str, last: int) -> list[Said]:
    """What the units of an artifact said, revision by revision up to the last that counts."""
    question = select(REVISION.c.at, REVISION.c.content).where(
        REVISION.c.artifact_id == artifact_id, REVISION.c.number <= last
    )
    rows = db.execute(question.order_by(REVISION.c.number))
    return [(_utc(row.at), _units(row.content)) for row in rows]


def _units(content: str) -> dict[str, str]:
    """Unit → its words; a gold sub-task also under the name that it has in the cells of a matrix."""
    units = orjson.loads(content).get("units", ())
    return {
        name: str(unit.get("text", ""))
        for unit in units
        for name in (str(unit["id"]), side_of_cell(str(unit["id"])))
    }


def _differs(said: Sequence[Said], unit_id: str, at: datetime) -> bool:
    """Whether a unit says something else now; of one that was not there at that moment, or no longer is, it is not
    told: what comes from elsewhere keeps the moment at which it was said there.
    """
    name = unit_id if unit_id in said[-1][1] else unit_id.rpartition("~")[2]
    before = [units for moment, units in said if moment <= _utc(at)] or [said[0][1]]
    then, today = before[-1].get(name), said[-1][1].get(name)
    return then is not None and today is not None and then != today


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
