"""Reports of a project, present and missing: what each took and what was extracted from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date

from sqlalchemy import func, select

from annotator.actions.items import drawn_parts, roles
from annotator.actions.items.drawn_parts import CurrentPart
from annotator.actions.items.roles import LeftOut
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.texts.ordering import natural
from annotator.storage.tables import ITEM, RESPONSE, SOURCE, SYSTEM

DOES = "can prepare material"
# A system in a mode: its reports with the gold plan given are another thing than those without.
Column = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ReportLine:
    """A report without its text; None means unknown. `parts` holds its extracts, by kind."""

    id: str
    item_id: str
    system: str
    mode: str
    trial: int
    latency_s: float | None
    tokens: int | None
    cost_usd: float | None
    run_tokens: int | None
    cost_part_usd: float | None
    collected_on: date | None
    product_version: str
    settings: str
    collected_by: str
    cutoff: date | None
    characters: int
    parts: Mapping[str, CurrentPart] = field(default_factory=dict)

    @property
    def column(self) -> Column:
        return self.system, self.mode


@dataclass(frozen=True, slots=True)
class ReportsLine:
    """A row of reports on one item; `sources` counts those with text, `parts` holds the item's extracts."""

    id: str
    key: str
    question: str
    question_type: str
    sources: int
    parts: Mapping[str, CurrentPart] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reports:
    """All reports of the active items that systems answer, by item and column; `left_out` tells of the others."""

    items: tuple[ReportsLine, ...]
    columns: tuple[Column, ...]
    lines: Mapping[tuple[str, Column], tuple[ReportLine, ...]]
    left_out: LeftOut = field(default_factory=LeftOut)

    @property
    def count(self) -> int:
        return sum(map(len, self.lines.values()))

    @property
    def lacking(self) -> int:
        """How many items are without a report of some column, summed over the columns."""
        return len(self.items) * len(self.columns) - len(self.lines)


def reports(project: Project) -> Reports:
    """Every report without its words; only a coordinator is told which system wrote what."""
    people.refuse_others(project, DOES)
    drawn = drawn_parts.standing(project)
    told = {each.name for each in fields(ReportLine)} - {"item_id"}
    about = [column for column in RESPONSE.c if column.name in told]
    length = func.length(RESPONSE.c.text).label("characters")
    question = (
        select(*about, RESPONSE.c.item_id, SYSTEM.c.name.label("system"), length)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .join(ITEM, ITEM.c.id == RESPONSE.c.item_id)
        .where(ITEM.c.retired.is_(False), roles.ANSWERED)
        .order_by(RESPONSE.c.trial, RESPONSE.c.id)
    )
    lines: dict[tuple[str, Column], list[ReportLine]] = {}
    with project.store.read() as db:
        for row in db.execute(question).mappings():
            line = ReportLine(**row, parts=drawn.get((row["item_id"], row["id"]), {}))
            lines.setdefault((line.item_id, line.column), []).append(line)
    columns = sorted({column for _, column in lines}, key=lambda one: (natural(one[0]), one[1]))
    by_cell = {key: tuple(found) for key, found in lines.items()}
    return Reports(_items(project, drawn), tuple(columns), by_cell, roles.left_out(project))


def text_of(project: Project, response_id: str) -> str:
    """A report's words, as Markdown; empty when it is no longer there."""
    people.refuse_others(project, DOES)
    with project.store.read() as db:
        return str(db.execute(select(RESPONSE.c.text).where(RESPONSE.c.id == response_id)).scalar() or "")


def _items(
    project: Project, drawn: Mapping[tuple[str, str], Mapping[str, CurrentPart]]
) -> tuple[ReportsLine, ...]:
    told = (
        select(SOURCE.c.item_id, func.count().label("number"))
        .where(func.length(SOURCE.c.text) > 0)
        .group_by(SOURCE.c.item_id)
    )
    question = (
        select(ITEM.c.id, ITEM.c.key, ITEM.c.question, ITEM.c.question_type)
        .where(ITEM.c.retired.is_(False), roles.ANSWERED)
        .order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)
    )
    with project.store.read() as db:
        sources = {row.item_id: row.number for row in db.execute(told)}
        return tuple(
            ReportsLine(**row, sources=sources.get(row["id"], 0), parts=drawn.get((row["id"], ""), {}))
            for row in db.execute(question).mappings()
        )
