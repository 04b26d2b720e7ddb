"""Lists of judgements of a run or a judge: all, those without a verdict, or those with a flag."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.engine import Connection

from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs.asked_units import Key, words_of
from annotator.domain.judges.judgement import SETTLED, RaterKind
from annotator.storage.tables import ITEM, JUDGEMENT, RESPONSE, SYSTEM

# A list longer than this is narrowed before anyone reads it.
MOST = 5_000
NO_VERDICT, FLAGGED, ALL = "no verdict", "flagged", "all"


@dataclass(frozen=True, slots=True)
class JudgementQuery:
    """A filter of judgements: missing, flagged or all; by cause, flag and system.

    `words` are sought in the item's key, what was said and its cause; `item` is a key, `unit` an id within it.
    """

    which: str = NO_VERDICT
    cause: str = ""
    system: str = ""
    flag: str = ""
    words: str = ""
    item: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class JudgementSource:
    """The source of judgements: a run, or a judge's current ones under a protocol."""

    run_id: str = ""
    judge_id: str = ""
    protocol: str = ""


@dataclass(frozen=True, slots=True)
class JudgementLine:
    """A judgement in a list; `unit` is its subject. Without a value the status is the cause."""

    id: str
    protocol: str
    item_key: str
    system: str
    unit: str
    trial: int
    value: str | None
    status: str
    cause: str
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgementLines:
    """The result of a query, counts by sort, cause and flag, and how many were cut off."""

    lines: tuple[JudgementLine, ...]
    counts: Mapping[str, int]
    causes: Mapping[str, int]
    left_off: int = 0
    flags: Mapping[str, int] = field(default_factory=dict)


def lines(
    project: Project, source: JudgementSource, query: JudgementQuery = JudgementQuery()
) -> JudgementLines:
    """The judgements that a query names, item by item; only a coordinator reads what judges say."""
    refuse_others(project)
    question = _question(source, query)
    with project.store.read() as db:
        rows = db.execute(question.limit(MOST)).mappings().all()
        total = db.execute(select(func.count()).select_from(question.subquery())).scalar_one()
        counts, causes = _counts(db, source)
        flags = _flags(db, source)
    words = words_of(project, [(row["item_id"], row["protocol"]) for row in rows])
    made = tuple(line_of(row, words) for row in rows)
    return JudgementLines(made, counts, causes, total - len(made), flags)


def refuse_others(project: Project) -> None:
    people.refuse_others(project, "can read judges' replies")


def listed() -> Select[Any]:
    """Judgements with the key and question of their item and the name of their system."""
    columns = [column for column in JUDGEMENT.c if column.name not in ("sha256", "note", "seconds")]
    return (
        select(*columns, ITEM.c.key.label("item_key"), ITEM.c.question, SYSTEM.c.name.label("system"))
        .select_from(JUDGEMENT)
        .join(ITEM, ITEM.c.id == JUDGEMENT.c.item_id)
        .join(RESPONSE, RESPONSE.c.id == JUDGEMENT.c.response_id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
    )


def line_of(row: Any, words: Mapping[Key, str]) -> JudgementLine:
    """A row of the above as a line; `words` says what each unit is."""
    return JudgementLine(
        id=row["id"],
        protocol=row["protocol"],
        item_key=row["item_key"],
        system=row["system"],
        unit=words.get((row["response_id"], row["unit_id"]), ""),
        trial=row["trial"],
        value=row["value"],
        status=row["status"],
        cause=row["cause"],
        flags=tuple(row["flags"].split()),
    )


def _of(source: JudgementSource) -> ColumnElement[bool]:
    j = JUDGEMENT.c
    if source.run_id:
        return j.run_id == source.run_id
    mine = (j.rater_kind == RaterKind.JUDGE.value) & (j.rater_id == source.judge_id)
    return mine & (j.protocol == source.protocol)


def _question(source: JudgementSource, query: JudgementQuery) -> Select[Any]:
    j = JUDGEMENT.c
    question = listed().where(_of(source))
    if query.which == NO_VERDICT:
        question = question.where(j.status.not_in(SETTLED))
    elif query.which == FLAGGED:
        question = question.where(j.flags != "")
    if query.cause:
        question = question.where(j.status == query.cause)
    if query.system:
        question = question.where(SYSTEM.c.name == query.system)
    if query.item:
        question = question.where(ITEM.c.key == query.item)
    if query.unit:
        question = question.where(j.unit_id == query.unit)
    if query.flag:
        question = question.where((" " + j.flags + " ").contains(f" {query.flag} ", autoescape=True))
    if query.words:
        sought = (ITEM.c.key, j.rationale, j.quote, j.cause)
        question = question.where(or_(*(one.icontains(query.words, autoescape=True) for one in sought)))
    return question.order_by(
        ITEM.c.position, ITEM.c.key, ITEM.c.id, SYSTEM.c.name, j.artifact_id, j.unit_id, j.trial
    )


def _counts(db: Connection, source: JudgementSource) -> tuple[dict[str, int], dict[str, int]]:
    """How many there are of each sort, and of each cause, the most frequent first."""
    j = JUDGEMENT.c
    by_status = select(j.status, func.count()).where(_of(source)).group_by(j.status)
    causes: dict[str, int] = {
        status: count for status, count in db.execute(by_status.order_by(func.count().desc(), j.status))
    }
    flagged = select(func.count()).where(_of(source), j.flags != "")
    every = sum(causes.values())
    missing = every - sum(causes.pop(one.value, 0) for one in SETTLED)
    return {NO_VERDICT: missing, FLAGGED: db.execute(flagged).scalar_one(), ALL: every}, causes


def _flags(db: Connection, source: JudgementSource) -> dict[str, int]:
    """How many have each flag, the most frequent first."""
    j = JUDGEMENT.c
    found = Counter[str]()
    for flags, count in db.execute(
        select(j.flags, func.count()).where(_of(source), j.flags != "").group_by(j.flags)
    ):
        for flag in flags.split():
            found[flag] += count
    return dict(found.most_common())
