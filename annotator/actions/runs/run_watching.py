"""Progress of a run by system: done, missing by cause, and total."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Select, func, literal, select

from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs import asked_units, judge_cases
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judgement import SETTLED, Status
from annotator.protocols import EXTRACTIONS, PROTOCOLS
from annotator.storage.tables import EXTRACT, ITEM, JUDGEMENT, RESPONSE, SYSTEM


@dataclass(slots=True)
class SystemStatus:
    """Progress of one system in a run: verdicts or documents, and missing ones by cause."""

    system: str
    came: int = 0
    missing: Counter[str] = field(default_factory=Counter)

    @property
    def done(self) -> int:
        return self.came + self.missing.total()


@dataclass(frozen=True, slots=True)
class CallSubject:
    """The subject of a call: item key, system, and words of the unit."""

    item_key: str
    system: str
    unit: str


def named(
    project: Project, protocol: str, keys: Iterable[asked_units.Key]
) -> dict[asked_units.Key, CallSubject]:
    """What the calls that are in progress are about, by response and unit; only a coordinator sees whose reports."""
    people.refuse_others(project, "can watch judge runs")
    wanted = list(keys)
    question = (
        select(RESPONSE.c.id, ITEM.c.id, ITEM.c.key, SYSTEM.c.name)
        .join(ITEM, ITEM.c.id == RESPONSE.c.item_id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(RESPONSE.c.id.in_({response for response, _ in wanted}))
    )
    items = select(ITEM.c.id, ITEM.c.key).where(
        ITEM.c.id.in_({unit for response, unit in wanted if not response})
    )
    with project.store.read() as db:
        found = {row[0]: (row[1], row[2], row[3]) for row in db.execute(question)}
        keys_of_items = {row[0]: row[1] for row in db.execute(items)}
    ids = {place[0] for place in found.values()} if protocol in PROTOCOLS else set()
    words = asked_units.words_of(project, [(item_id, protocol) for item_id in sorted(ids)])
    said = {}
    for response, unit in wanted:
        _, item_key, system = found.get(response, ("", keys_of_items.get(unit, ""), ""))
        said[response, unit] = CallSubject(item_key, system, words.get((response, unit), ""))
    return said


def by_system(project: Project, run_id: str, protocol: str) -> list[SystemStatus]:
    """What a run has come to for each system, by name. Of what was not drawn only the calls are kept, no system."""
    question = _drawn(run_id) if protocol in EXTRACTIONS else _judged(run_id)
    found: dict[str, SystemStatus] = {}
    with project.store.read() as db:
        for name, status, count in db.execute(question):
            standing = found.setdefault(name, SystemStatus(name))
            if status in SETTLED:
                standing.came += count
            else:
                standing.missing[status] = count
    return list(found.values())


def _judged(run_id: str) -> Select[Any]:
    j = JUDGEMENT.c
    return (
        select(SYSTEM.c.name, j.status, func.count())
        .select_from(JUDGEMENT)
        .join(RESPONSE, RESPONSE.c.id == j.response_id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(j.run_id == run_id)
        .group_by(SYSTEM.c.name, j.status)
        .order_by(SYSTEM.c.name, j.status)
    )


def _drawn(run_id: str) -> Select[Any]:
    return (
        select(SYSTEM.c.name, literal(Status.OK.value), func.count())
        .select_from(EXTRACT)
        .join(RESPONSE, RESPONSE.c.id == EXTRACT.c.response_id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(EXTRACT.c.run_id == run_id)
        .group_by(SYSTEM.c.name)
        .order_by(SYSTEM.c.name)
    )


def wanted(project: Project, order: RunRequest) -> dict[str, int]:
    """System → the judgements that an order asks for on it, there already or not; empty for an extraction."""
    shape = PROTOCOLS.get(order.protocol)
    if shape is None:
        return {}
    found = {}
    for name in order.systems or judge_cases.systems(project):
        total = judge_cases.outlook(project, replace(order, systems=(name,)), frozenset()).total
        # Of a pair this counts both orders, one of which belongs to the other system.
        found[name] = total // 2 if shape.paired else total
    return found
