"""When and how reports were collected: a line for each system, and the same system at different times."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from sqlalchemy import select

from annotator.actions.items import roles
from annotator.actions.project.file import Project
from annotator.actions.results import response_scores
from annotator.actions.results.metrics import USUAL_METRIC, MetricInfo
from annotator.actions.results.response_scores import Scores
from annotator.actions.results.result_raters import ResultRater
from annotator.actions.results.result_sheets import (
    SYSTEM_COLUMN,
    ResultSheet,
    SheetCell,
    SheetLine,
    ViewChoice,
    columns,
    count,
    figure,
    key_of,
    missing,
    text,
)
from annotator.actions.results.scoring import Score
from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.student import mean_of_scores, paired_means
from annotator.storage.tables import ITEM, RESPONSE, SYSTEM

ORIGIN = ("product_version", "settings", "collected_by")
PERIODS = (("Month", "month"), ("Day", "day"), ("Product version", "version"))
NO_PERIOD = "not known"


@dataclass(frozen=True, slots=True)
class CollectedSystem:
    """A system's reports by their origin: the days between which they were collected, and what is said of them."""

    name: str
    group: str
    footnote: str
    days: tuple[date, ...]
    reports: int
    said: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class PeriodScore:
    """A system's mean in a period, and its change from the first period over the items of both."""

    system: str
    period: str
    reports: int
    mean: Estimate
    change: Estimate | None


@dataclass(frozen=True, slots=True)
class OverTime:
    """Scores of systems period by period."""

    metric: MetricInfo
    rater: ResultRater | None
    lines: tuple[PeriodScore, ...]


def collected(project: Project) -> tuple[CollectedSystem, ...]:
    """Every system with reports on items in use, in the order in which collecting began; undated ones last."""
    about = [RESPONSE.c[name] for name in ("collected_on", *ORIGIN)]
    question = (
        select(SYSTEM.c.name, SYSTEM.c.group, SYSTEM.c.footnote, *about)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .join(ITEM, ITEM.c.id == RESPONSE.c.item_id)
        .where(ITEM.c.retired.is_(False), roles.ANSWERED)
    )
    with project.store.read() as db:
        rows = db.execute(question).all()
    found = []
    for name in {row.name: row for row in rows}:
        own = [row for row in rows if row.name == name]
        days = tuple(sorted(row.collected_on for row in own if row.collected_on))
        said = {part: tuple(sorted({getattr(row, part) for row in own} - {""})) for part in ORIGIN}
        found.append(CollectedSystem(name, own[0].group, own[0].footnote, days, len(own), said))
    return tuple(sorted(found, key=lambda one: (not one.days, one.days[:1], one.name)))


def collected_sheets(found: tuple[CollectedSystem, ...]) -> tuple[ResultSheet, ...]:
    """A row for each system, with the timeframe as it is printed."""
    if not found:
        return ()
    heads = columns(
        SYSTEM_COLUMN, ("collected", "Collected", "First and last day"), ("reports", "Reports"),
        ("undated", "Without a day"), ("group", "Group"), ("product_version", "Product version"),
        ("settings", "Settings"), ("collected_by", "Collected by"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            text(one.name), _timeframe(one.days), count(one.reports), count(one.reports - len(one.days)),
            text(one.group), *(text("; ".join(one.said[part])) for part in ORIGIN),
        ))
        for one in found
    )  # fmt: skip
    told = tuple(f"{one.name}: {one.footnote}" for one in found if one.footnote)
    return (ResultSheet("collection", "Collection of reports", heads, lines, told),)


def time_choices(project: Project) -> tuple[ViewChoice, ...]:
    period = ViewChoice("period", "Period", PERIODS)
    return (period, response_scores.metric_choice(project), response_scores.rater_choice(project))


def over_time(
    project: Project, period: str = "month", metric: str = USUAL_METRIC, judge: str = ""
) -> OverTime:
    """Each system's mean over items in each period, and its paired change from the first one."""
    found = response_scores.of_metric(project, metric, judge)
    periods = _periods(project, period)
    of_system: dict[str, dict[str, list[Score]]] = {}
    for score in found.of_mode():
        own = of_system.setdefault(found.systems[score.system_id], {})
        own.setdefault(periods[score.response_id], []).append(score)
    lines = [line for system in sorted(of_system) for line in _lines(found, system, of_system[system])]
    return OverTime(found.metric, found.rater, tuple(lines))


def time_sheets(found: OverTime) -> tuple[ResultSheet, ...]:
    """Systems and periods down; the change is paired item by item."""
    if not found.lines:
        return ()
    heads = columns(
        SYSTEM_COLUMN, ("period", "Period"), ("reports", "Reports"), (key_of(found.metric.name), found.metric.title),
        ("change", "Change", "Mean over items of the paired differences from the first period, with Student's t"),
        ("items", "Items", "Items with a score in both periods"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            text(one.system), text(one.period), count(one.reports), figure(one.mean),
            figure(one.change) if one.change else missing("The first period"),
            count(one.change.n if one.change else None),
        ))
        for one in found.lines
    )  # fmt: skip
    told = (f"{found.metric.title} of the same system at different times of collection.",)
    return (ResultSheet("over_time", "Over time", heads, lines, told),)


def _lines(found: Scores, system: str, periods: Mapping[str, list[Score]]) -> list[PeriodScore]:
    known = sorted(periods, key=lambda one: (one == NO_PERIOD, one))
    by_item = {
        period: {
            item: response_scores.mean_of_runs(runs)
            for of_item in response_scores.by_item(periods[period]).values()
            for item, runs in of_item.items()
        }
        for period in known
    }
    first = by_item[known[0]]
    return [
        PeriodScore(
            system, period, len(periods[period]), mean_of_scores(list(of_item.values()), within=found.metric.within),
            None if of_item is first else paired_means(first, of_item).mean,
        )
        for period, of_item in by_item.items()
    ]  # fmt: skip


def _periods(project: Project, period: str) -> dict[str, str]:
    """Response → the period it belongs to, in words that sort by time."""
    question = select(RESPONSE.c.id, RESPONSE.c.collected_on, RESPONSE.c.product_version)
    with project.store.read() as db:
        rows = db.execute(question).all()
    if period == "version":
        return {row.id: row.product_version or NO_PERIOD for row in rows}
    length = len("2025-03") if period == "month" else len("2025-03-24")
    return {row.id: row.collected_on.isoformat()[:length] if row.collected_on else NO_PERIOD for row in rows}


def _timeframe(days: tuple[date, ...]) -> SheetCell:
    if not days:
        return missing("No day of collection is known")
    first, last = days[0], days[-1]
    words = _day(last) if first == last else f"{_day(first, last.year)} – {_day(last)}"
    return SheetCell(words, first.isoformat(), value=f"{first.isoformat()}/{last.isoformat()}")


def _day(day: date, year: int = 0) -> str:
    """24 March 2025; without its year where that is said beside it."""
    return f"{day.day} {MONTHS[day.month - 1]}{'' if day.year == year else f' {day.year}'}"


# Not the machine's: a table is the same everywhere.
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
