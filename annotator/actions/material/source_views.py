"""Sources in tables: kind by discipline and what is missing, and scores before and after a cut-off."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from sqlalchemy import select

from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.results import results
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
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
from annotator.actions.results.scoring import USUAL_METRIC, MetricInfo, Score
from annotator.domain.common import counted, grouped, words_that_hold
from annotator.domain.material.item import Source, SourceKind
from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.student import mean_of_scores, paired_means
from annotator.storage.tables import ITEM, RESPONSE, SOURCE, SYSTEM

KINDS = (SourceKind.RESEARCH, SourceKind.REVIEW)
ANY, LARGEST = "any", "largest"
LEAST_CITATIONS = ("1", "10", "100")
FIRST_YEARS = range(2020, 2031)
UNREAD = {"text", "transcript"}


class SourceLine(Source):
    """A source without its text, with its item's key."""

    key: str

    def unmet(self, since: str, least: str) -> str:
        dated, cited = self.published, self.citations is not None
        return ", ".join(words_that_hold({
            f"published before {since}" if dated else "no date": since != ANY and dated[:4] < since,
            f"fewer than {least} citations" if cited else "citations not known": (
                least != ANY and (self.citations or 0) < int(least)
            ),
        }))  # fmt: skip


def balance_choices(_project: Project) -> tuple[ViewChoice, ...]:
    targets = (("As many as the largest", LARGEST), *((number, number) for number in ("5", "10", "20", "50")))
    years = (("Any time", ANY), *((str(year), str(year)) for year in FIRST_YEARS))
    return (
        ViewChoice("target", "Items in each cell", targets),
        ViewChoice("since", "Published since", years),
        ViewChoice(
            "least", "Citations", (("Any number", ANY), *((f"At least {n}", n) for n in LEAST_CITATIONS))
        ),
    )


def balance(
    project: Project, target: str = LARGEST, since: str = ANY, least: str = ANY
) -> tuple[ResultSheet, ...]:
    """Items by discipline and kind of their source, and every source with the criteria it does not meet.

    An item counts once, under the kind of its sources that meet the criteria; under none if these differ.
    """
    items = results.items_named(project)
    lines = tuple(source_line for source_line in source_lines(project) if source_line.item_id in items)
    if not lines:
        return ()
    fit: dict[str, set[str]] = {item_id: set() for item_id in items}
    for line in lines:
        if not line.unmet(since, least):
            fit[line.item_id].add(line.kind)
    kinds = {item_id: next(iter(own)) if len(own) == 1 else "" for item_id, own in fit.items()}
    counts = Counter((items[item_id].subject, kind) for item_id, kind in kinds.items())
    largest = max((number for (_, kind), number in counts.items() if kind), default=0)
    wanted = largest if target == LARGEST else int(target)
    disciplines = sorted({discipline for discipline, _ in counts})
    rows = [(discipline or "(none)", [discipline]) for discipline in disciplines]
    rows += [("All", disciplines)] if len(rows) > 1 else []
    heads = columns(
        ("discipline", "Discipline"), *((kind.value, kind.value.capitalize()) for kind in KINDS),
        ("other", "Neither", "Items whose source is of no stated kind, does not meet the criteria, or is lacking"),
        *((f"lacking_{kind.value}", f"{kind.value.capitalize()} lacking") for kind in KINDS),
    )  # fmt: skip
    made = tuple(SheetLine((text(name), *map(count, _cells(counts, own, wanted)))) for name, own in rows)
    notes = (f"Each cell is to hold {counted(wanted, 'item')}.",)
    return ResultSheet("balance", "Kind by discipline", heads, made, notes), _each_source(lines, since, least)


def _cells(counts: Mapping[tuple[str, str], int], disciplines: Sequence[str], wanted: int) -> list[int]:
    by_kind = {
        kind: [counts.get((discipline, kind), 0) for discipline in disciplines] for kind in ("", *KINDS)
    }
    lacking = [sum(max(0, wanted - number) for number in by_kind[kind]) for kind in KINDS]
    return [*(sum(by_kind[kind]) for kind in (*KINDS, "")), *lacking]


def _each_source(sources: Sequence[SourceLine], since: str, least: str) -> ResultSheet:
    heads = columns(
        ITEM_COLUMN, ("title", "Source"), ("kind", "Kind"), ("published", "Published"), ("venue", "Venue"),
        ("citations", "Citations"), ("citations_on", "Counted on"), ("unmet", "Not met"),
    )  # fmt: skip
    lines = tuple(
        SheetLine(
            (
                text(line.key), text(line.title, tip=line.identifier), text(line.kind),
                text(line.published), text(line.venue), count(line.citations), text(str(line.citations_on or "")),
                text(line.unmet(since, least)),
            ),
            item_id=line.item_id,
        )
        for line in sources
    )  # fmt: skip
    return ResultSheet("sources", "Sources", heads, lines)


def source_lines(project: Project) -> tuple[SourceLine, ...]:
    columns = [column for column in SOURCE.c if column.name in Source.model_fields.keys() - UNREAD]
    rows = (
        project.query(
            select(*columns, ITEM.c.key)
            .join(ITEM, ITEM.c.id == SOURCE.c.item_id)
            .where(SOURCE.c.drafted == "", ITEM.c.retired.is_(False))
            .order_by(ITEM.c.position, ITEM.c.key, SOURCE.c.position)
        )
        .mappings()
        .all()
    )
    return tuple(SourceLine(**row) for row in rows)


def cut_choices(project: Project) -> tuple[ViewChoice, ...]:
    """The choices of cut, by date or citations, metric and rater."""
    months = sorted(
        {source_line.published[:7] for source_line in source_lines(project) if source_line.published}
    )[1:]
    cuts = [
        *((f"Published since {month}", month) for month in months),
        *((f"At least {counted(int(n), 'citation')}", n) for n in LEAST_CITATIONS),
    ]
    return (
        ViewChoice("at", "Source", tuple(cuts)),
        results.metric_choice(project),
        results.rater_choice(project),
    )


def cut(
    project: Project, at: str = LEAST_CITATIONS[0], metric: str = USUAL_METRIC, judge: str = ""
) -> tuple[ResultSheet, ...]:
    """Each system over items whose source was published since a month, or is cited that often, and over the others."""
    by_date = at not in LEAST_CITATIONS
    lines = source_lines(project)
    sides = (
        _since(lines, at)
        if by_date
        else {line.item_id: line.citations >= int(at) for line in lines if line.citations is not None}
    )
    result = results.of_metric(project, metric, judge)
    within, made = result.metric.within, []
    for system_id, of_item in results.by_item(result.of_mode()).items():
        scores = {item: results.item_means_of_runs(runs) for item, runs in of_item.items()}
        full = mean_of_scores(list(scores.values()), within=within)
        after, before = (
            mean_of_scores(
                [estimate for item, estimate in scores.items() if sides.get(item) is side], within=within
            )
            for side in (True, False)
        )
        cells = figure(full), figure(after), count(after.n), figure(before), count(before.n)
        made.append(SheetLine((text(result.systems[system_id]), *cells)))
    if not made:
        return ()
    titles = (f"Since {at}", f"Before {at}") if by_date else (f"Cited {at} times or more", "Cited less often")
    heads = columns(
        SYSTEM_COLUMN, ("full", "All items"), ("from_cut", titles[0]), ("items_from", "Items"),
        ("below_cut", titles[1]),
        ("items_below", "Items"),
    )  # fmt: skip
    made.sort(key=lambda line: line.cells[0].words)
    unknown = counted(sum(item not in sides for item in result.items), "item")
    notes = (f"{result.metric.title}, by the sources of the items; of {unknown} this is not known.",)
    title = "Before and after a cut-off"
    return (ResultSheet("cut_off", title, heads, tuple(made), notes, rater=result.rater),)


def _since(lines: Sequence[SourceLine], month: str) -> dict[str, bool]:
    """Item → whether its source was published since a month, if known: a year alone may leave it open."""
    dated = ((line.item_id, line.published) for line in lines if line.published)
    return {item: day[:7] >= month for item, day in dated if len(day) >= len(month) or day[:4] != month[:4]}


ORIGIN = ("product_version", "settings", "collected_by")
PERIODS = (("Month", "month"), ("Day", "day"), ("Product version", "version"))
NO_PERIOD = "not known"


def collected(project: Project) -> tuple[ResultSheet, ...]:
    """Every system with reports on items in use, in the order in which collecting began; undated ones last.

    With the first and last day of collection, and what is recorded of their origin.
    """
    about = [RESPONSE.c[name] for name in ("collected_on", *ORIGIN)]
    rows = project.query(
        select(SYSTEM.c.name, SYSTEM.c.group, SYSTEM.c.footnote, *about)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .join(ITEM, ITEM.c.id == RESPONSE.c.item_id)
        .where(ITEM.c.retired.is_(False), items.ANSWERED)
    ).all()
    if not rows:
        return ()
    of_systems = grouped((row.name, row) for row in rows)
    days = {
        name: sorted(row.collected_on for row in own if row.collected_on) for name, own in of_systems.items()
    }
    order = sorted(of_systems, key=lambda name: (not days[name], days[name][:1], name))
    heads = columns(
        SYSTEM_COLUMN, ("collected", "Collected", "First and last day"), ("reports", "Reports"),
        ("undated", "Without a day"), ("group", "Group"), ("product_version", "Product version"),
        ("settings", "Settings"), ("collected_by", "Collected by"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            text(name), _timeframe(days[name]), count(len(own)), count(len(own) - len(days[name])),
            text(own[0].group),
            *(text("; ".join(sorted({getattr(row, part) for row in own} - {""}))) for part in ORIGIN),
        ))
        for name in order for own in [of_systems[name]]
    )  # fmt: skip
    notes = tuple(f"{name}: {of_systems[name][0].footnote}" for name in order if of_systems[name][0].footnote)
    return (ResultSheet("collection", "Collection of reports", heads, lines, notes),)


def time_choices(project: Project) -> tuple[ViewChoice, ...]:
    return (
        ViewChoice("period", "Period", PERIODS),
        results.metric_choice(project),
        results.rater_choice(project),
    )


def over_time(
    project: Project, period: str = "month", metric: str = USUAL_METRIC, judge: str = ""
) -> tuple[ResultSheet, ...]:
    """Each system's mean over items in each period, and its change from the first one, paired item by item."""
    result = results.of_metric(project, metric, judge)
    info, periods = result.metric, _periods(project, period)
    of_system = grouped((result.systems[score.system_id], score) for score in result.of_mode())
    if not of_system:
        return ()
    heads = columns(
        SYSTEM_COLUMN, ("period", "Period"), ("reports", "Reports"), (key_of(info.name), info.title),
        ("change", "Change", "Mean over items of the paired differences from the first period, with Student's t"),
        ("items", "Items", "Items with a score in both periods"),
    )  # fmt: skip
    lines = [
        line
        for system, scores in sorted(of_system.items())
        for line in _lines(info, system, grouped((periods[score.response_id], score) for score in scores))
    ]
    notes = (f"{info.title} of the same system at different times of collection.",)
    return (ResultSheet("over_time", "Over time", heads, tuple(lines), notes, rater=result.rater),)


def _lines(info: MetricInfo, system: str, periods: Mapping[str, list[Score]]) -> Iterator[SheetLine]:
    first: dict[str, Estimate] = {}
    for period in sorted(periods, key=lambda one: (one == NO_PERIOD, one)):
        own = {
            item: results.item_means_of_runs(runs)
            for of_item in results.by_item(periods[period]).values()
            for item, runs in of_item.items()
        }
        mean = mean_of_scores(list(own.values()), within=info.within)
        change = paired_means(first, own).mean if first else None
        first = first or own
        yield SheetLine((
            text(system), text(period), count(len(periods[period])), figure(mean),
            figure(change) if change else missing("The first period"), count(change.n if change else None),
        ))  # fmt: skip


def _periods(project: Project, period: str) -> dict[str, str]:
    """Response → its period, in words that sort by time."""
    rows = project.query(select(RESPONSE.c.id, RESPONSE.c.collected_on, RESPONSE.c.product_version)).all()
    if period == "version":
        return {row.id: row.product_version or NO_PERIOD for row in rows}
    length = len("2025-03") if period == "month" else len("2025-03-24")
    return {row.id: row.collected_on.isoformat()[:length] if row.collected_on else NO_PERIOD for row in rows}


def _timeframe(days: Sequence[date]) -> SheetCell:
    if not days:
        return missing("No day of collection is known")
    first, last = days[0], days[-1]
    words = _day(last) if first == last else f"{_day(first, last.year)} – {_day(last)}"
    return SheetCell(words, first.isoformat(), value=f"{first.isoformat()}/{last.isoformat()}")


def _day(day: date, year: int = 0) -> str:
    """24 March 2025; without its year if equal to `year`."""
    return f"{day.day} {MONTHS[day.month - 1]}{'' if day.year == year else f' {day.year}'}"


# Not locale-dependent: a table is the same everywhere.
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
