"""Systems down and metrics across, group of items by group of items, as papers print their results."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import fmean, stdev

from sqlalchemy import select

from annotator.actions.authoring import gold
from annotator.actions.project.file import Project
from annotator.actions.results import (
    metrics,
    overview,
    publishing,
    response_scores,
    result_pictures,
    result_raters,
    results,
    scoring,
)
from annotator.actions.results.response_scores import ItemName
from annotator.actions.results.result_raters import ResultRater
from annotator.actions.results.result_sheets import (
    SYSTEM_COLUMN,
    ResultSheet,
    SheetCell,
    SheetColumn,
    SheetLine,
    SheetPicture,
    key_of,
    text,
)
from annotator.actions.results.results import ResultRow
from annotator.actions.results.scoring import ALL, Score
from annotator.domain.judges.paper_table import Down, Spread, SystemsTable, TableColumn
from annotator.domain.material.item import QUESTION_TYPES
from annotator.domain.material.response import GROUPS
from annotator.domain.texts.estimate import Estimate, decimal
from annotator.protocols import PROTOCOLS
from annotator.stats.intervals.cluster_means import DRAWS, percentile_bounds
from annotator.stats.validation.attempts import pass_at_k
from annotator.storage.tables import RESPONSE, SOURCE, SYSTEM

SOURCE_KIND, LANGUAGE = "source_kind", "language"
CONSTRAINED, UNRESTRICTED = "Temporally constrained", "Unrestricted"
PERCENTILES = f"95 % percentiles of {DRAWS:,} bootstrap means over items"


@dataclass(frozen=True, slots=True)
class SystemName:
    """A system with its group and what tables say of it below them."""

    name: str
    group: str
    footnote: str


@dataclass(frozen=True, slots=True)
class GroupedItems:
    """Items under a title; `by` and `group` name a group that results know too."""

    title: str
    items: Collection[str]
    by: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class RowScope:
    """What a row of a system stands for: a mode, which items and, where not all count, which responses."""

    title: str
    mode: str
    items: Collection[str]
    responses: Collection[str] | None = None
    told: str = ""


@dataclass(frozen=True, slots=True)
class CountedTable:
    """The scores that a table is made of, by metric, with who judged; and what stands down and across."""

    table: SystemsTable
    scores: Mapping[str, Sequence[Score]]
    raters: Mapping[str, ResultRater]
    systems: Mapping[str, SystemName]
    groups: Sequence[GroupedItems]
    scopes: Sequence[RowScope]
    limit: float
    gold: tuple[str, ...] = ()
    """By whose gold, protocol by protocol."""
    left_out: Mapping[str, str] = field(default_factory=dict)


def counted(
    project: Project, table: SystemsTable, judge: str = "", after: str = "", mode: str = ""
) -> CountedTable:
    """Everything that a table needs, each protocol's scores read once."""
    names = {column.metric for part in table.parts for column in part.columns}
    scores: dict[str, list[Score]] = {name: [] for name in names}
    there = result_raters.everybody_under(
        project, dict.fromkeys(metrics.named(name).protocol for name in sorted(names))
    )
    raters = result_raters.together(there, judge)
    for protocol, rater in raters.items():
        for score in scoring.scores(project, PROTOCOLS[protocol], rater.id):
            if score.metric in names and not response_scores.is_part(score):
                scores[score.metric].append(score)
    items = response_scores.items_named(project)
    groups = list(_groups(project, table, items))
    with project.store.read() as db:
        golds = dict.fromkeys(
            gold.words(db, PROTOCOLS[name].needs, items, rater=one.id) for name, one in raters.items()
        )
    return CountedTable(
        table, scores, raters, systems_of(project), groups, list(_scopes(project, table, items, after, mode)),
        publishing.limit(project), tuple(filter(None, golds)), result_raters.not_judged(there, raters),
    )  # fmt: skip


def systems_of(project: Project) -> dict[str, SystemName]:
    with project.store.read() as db:
        rows = db.execute(select(SYSTEM.c.id, SYSTEM.c.name, SYSTEM.c.group, SYSTEM.c.footnote)).all()
    return {row[0]: SystemName(*row[1:]) for row in rows}


def _groups(project: Project, table: SystemsTable, items: Mapping[str, ItemName]) -> Iterator[GroupedItems]:
    of = _group_of(project, table.across, items) if table.across else {}
    known = table.across in (*response_scores.CUTS, LANGUAGE)
    for group in sorted(set(of.values()) - {""}, key=_place):
        members = {item for item, own in of.items() if own == group}
        yield GroupedItems(group, members, *((table.across, group) if known else ()))
    if table.average or not table.across:
        yield GroupedItems(table.average if table.across else "", set(items), ALL, ALL)


def _place(group: str) -> tuple[int, str]:
    return QUESTION_TYPES.index(group) if group in QUESTION_TYPES else len(QUESTION_TYPES), group


def _group_of(project: Project, across: str, items: Mapping[str, ItemName]) -> dict[str, str]:
    """Items by what they are grouped by; by the kind of their source, or by type where no kind of source is known."""
    kinds: dict[str, str] = {}
    if across == SOURCE_KIND:
        s = SOURCE.c
        question = select(s.item_id, s.kind).where(s.kind != "").order_by(s.position.desc(), s.id)
        with project.store.read() as db:
            kinds = {item_id: kind.capitalize() for item_id, kind in db.execute(question) if item_id in items}
        across = "question_type"
    return kinds or {item_id: item.filed(across) for item_id, item in items.items()}


def _scopes(
    project: Project, table: SystemsTable, items: Mapping[str, ItemName], after: str, limit: str
) -> Iterator[RowScope]:
    modes = scoring.modes_of(project)
    mode = table.mode or (*modes, "")[0]
    if table.down is Down.LIMITED:
        yield from _conditions(project, limit, items)
    elif table.down is Down.PUBLISHED:
        dates = published(project) if after else {}
        recent = {item for item, date in dates.items() if date > after and item in items}
        yield from (RowScope(f"Published after {after}", mode, recent),) if recent else ()
        yield from (RowScope("All", mode, items),) if recent else ()
    elif table.down is Down.MODES:
        yield from (RowScope(one, one, items) for one in modes if len(modes) > 1)
    else:
        yield RowScope("", mode, items)


def limited(project: Project) -> dict[str, dict[str, str]]:
    """Of each mode in which reports were asked for with a cut-off, these responses with that day."""
    r, found = RESPONSE.c, dict[str, dict[str, str]]()
    question = select(r.mode, r.id, r.cutoff).where(
        r.cutoff.is_not(None), r.mode.in_(scoring.modes_of(project))
    )
    with project.store.read() as db:
        for mode, response_id, day in db.execute(question):
            found.setdefault(mode, {})[response_id] = str(day)
    return {mode: found[mode] for mode in scoring.modes_of(project) if mode in found}


def _conditions(project: Project, limit: str, items: Mapping[str, ItemName]) -> Iterator[RowScope]:
    """The reports of a mode that had a cut-off, and those without one: of the same mode, or else of the usual one."""
    held = limited(project)
    if not held:
        return
    chosen = limit or next(iter(held))
    r = RESPONSE.c
    with project.store.read() as db:
        free = {(mode, one) for mode, one in db.execute(select(r.mode, r.id).where(r.cutoff.is_(None)))}
    beside = chosen if any(mode == chosen for mode, _ in free) else scoring.main_mode(project)
    days = " to ".join(sorted({min(held[chosen].values()), max(held[chosen].values())}))
    yield RowScope(
        CONSTRAINED, chosen, items, held[chosen], f"{CONSTRAINED}: the mode “{chosen}”, until {days}."
    )
    yield RowScope(
        UNRESTRICTED, beside, items, {one for mode, one in free if mode == beside},
        f"{UNRESTRICTED}: the mode “{beside}”, without a cut-off.",
    )  # fmt: skip


def published(project: Project) -> dict[str, str]:
    """In which month the first source of each item was published that says so."""
    s = SOURCE.c
    question = select(s.item_id, s.published).where(s.published != "").order_by(s.position.desc(), s.id)
    with project.store.read() as db:
        return {item_id: date[:7] for item_id, date in db.execute(question)}


def sheet(found: CountedTable, key: str, title: str) -> ResultSheet | None:
    """The table; None where no system has a figure of it."""
    parts = found.table.parts
    there = [scope.title for scope in found.scopes if scope.title]
    grouped = any(system.group for system in found.systems.values())
    made = [
        (part.title, system, scope, cells)
        for part in parts
        for scope in found.scopes
        for system, cells in _rows(found, part.columns, scope)
    ]
    rows = Counter((part, system) for part, system, *_ in made)
    compared = found.table.down in (Down.LIMITED, Down.MODES)
    alone = [key for key in rows if compared and rows[key] == 1]
    made = [row for row in made if row[:2] not in alone]
    if not any(cell.estimate and cell.estimate.value is not None for *_, cells in made for cell in cells):
        return None
    heads = (
        *([SheetColumn("module", "Module")] if parts[0].title else []),
        *([SheetColumn("system_group", "Group")] if grouped else []),
        SYSTEM_COLUMN,
        *([SheetColumn("scope", "Counted")] if there else []),
        *(_head(column, group) for group in found.groups for column in parts[0].columns),
    )
    order = [part.title for part in parts]
    ranks = {row[:2]: _rank(found, row[1], row[3]) for row in made}
    # What is counted in several ways stands together, by the last of them.
    made.sort(key=lambda row: (order.index(row[0]), *ranks[row[:2]]))
    lines = [
        SheetLine((
            *([text(part)] if parts[0].title else []), *([text(found.systems[system].group)] if grouped else []),
            text(found.systems[system].name), *([text(scope.title)] if there else []), *cells,
        ))
        for part, system, scope, cells in made
    ]  # fmt: skip
    lone = ", ".join(" ".join(filter(None, (part, found.systems[one].name))) for part, one in alone)
    figures = [
        (cell.metric, cell.estimate) for *_, cells in made for cell in cells if cell.estimate is not None
    ]
    infos = {metric: metrics.named(metric) for metric, _ in figures if metric}
    told = (
        *_told(found),
        *publishing.lacking((infos[one].protocol, infos[one].title, own) for one, own in figures if one),
        *_footnotes(found, {row[1] for row in made}),
        *([f"Left out, as known in one condition only: {lone}."] if lone else []),
    )
    return ResultSheet(key, title, heads, tuple(lines), told, tuple(_pictures(found, title, made)))


def _head(column: TableColumn, group: GroupedItems) -> SheetColumn:
    named = [group.title] if group.title else []
    info = metrics.named(column.metric)
    return SheetColumn(key_of(*named, column.title), ": ".join([*named, column.title]), info.title, info.unit)


def _rank(found: CountedTable, system: str, cells: Sequence[SheetCell]) -> tuple[int, str, bool, float, str]:
    """Groups in their usual order, within them the best first by what stands last, over all items."""
    own, last = found.systems[system], cells[-len(found.table.parts[0].columns)]
    place = GROUPS.index(own.group) if own.group in GROUPS else len(GROUPS)
    value = last.estimate.value if last.estimate is not None else None
    up = metrics.named(last.metric).higher_is_better if last.metric else True
    return place, own.group, value is None, (-1 if up else 1) * (value or 0.0), own.name


def _rows(
    found: CountedTable, columns: Sequence[TableColumn], scope: RowScope
) -> Iterator[tuple[str, tuple[SheetCell, ...]]]:
    """Each system that has a score in a scope, with its cells."""
    of = {
        column.metric: [
            score
            for score in found.scores[column.metric]
            if score.mode == scope.mode
            and score.item_id in scope.items
            and (scope.responses is None or score.response_id in scope.responses)
        ]
        for column in columns
    }
    there = {score.system_id for own in of.values() for score in own}
    systems = sorted(there, key=lambda one: found.systems[one].name)
    across = [
        _cells(found, column, [score for score in of[column.metric] if score.item_id in group.items], group, systems)
        for group in found.groups
        for column in columns
    ]  # fmt: skip
    for place, system in enumerate(systems):
        cells = tuple(column[place] for column in across)
        if any(cell.estimate is not None and cell.estimate.value is not None for cell in cells):
            yield system, tuple(_of_mode(cell, scope) for cell in cells)


def _of_mode(cell: SheetCell, scope: RowScope) -> SheetCell:
    return replace(cell, source=replace(cell.source, mode=scope.mode)) if cell.source is not None else cell


def _cells(
    found: CountedTable,
    column: TableColumn,
    scores: Sequence[Score],
    group: GroupedItems,
    systems: Sequence[str],
) -> list[SheetCell]:
    info = metrics.named(column.metric)
    rater = found.raters.get(info.protocol)
    whole = overview.ResultsReport((), {info.name: info}, found.limit)
    means = _estimates(column, list(scores), systems)
    made = []
    for system, mean in zip(systems, means, strict=True):
        own = [score for score in scores if score.system_id == system]
        if found.table.spread is Spread.OFFSETS and mean.low is not None:
            mean = _as_printed(mean, results.by_items(own, [system])[system].values())
        row = ResultRow(
            info.name, info.protocol, rater.id if rater else "", rater.name if rater else "", system,
            found.systems[system].name, group.by or ALL, group.group or group.title, mean, info.title, info.unit,
            sum(score.judged for score in own), info.over, floor=rater is not None and rater.floor,
        )  # fmt: skip
        cell = overview.cell(whole, row)
        cell = cell if group.by and not column.best_of else replace(cell, source=None)
        made.append(_spread(cell, found.table.spread, own))
    return made


def _estimates(column: TableColumn, scores: list[Score], systems: Sequence[str]) -> list[Estimate]:
    within = metrics.named(column.metric).within
    if column.best_of:
        by_system = response_scores.by_item(scores)
        return [
            pass_at_k(
                {item: [run.estimate for run in runs] for item, runs in by_system.get(one, {}).items()},
                column.best_of, within,
            )
            for one in systems
        ]  # fmt: skip
    means = (
        results.estimates(scores, list(systems), within)
        if scores
        else [Estimate(None, note="no response")] * len(systems)
    )
    return [_summed(mean) for mean in means] if column.total else means


def _summed(mean: Estimate) -> Estimate:
    """The sum over the items that a mean is over."""

    def times(end: float | None) -> float | None:
        return None if end is None else end * mean.n

    return Estimate(
        times(mean.value), times(mean.low), times(mean.high), mean.n, mean.missing, times(mean.floor),
        times(mean.ceiling), f"sum over {mean.n:,} items", mean.note,
    )  # fmt: skip


def _as_printed(mean: Estimate, items: Iterable[Estimate]) -> Estimate:
    """The mean with the interval that papers print."""
    low, high = percentile_bounds([one.value for one in items if one.value is not None])
    return replace(mean, low=low, high=high, method=f"mean over items; {PERCENTILES}")


def _spread(cell: SheetCell, spread: Spread, own: Sequence[Score]) -> SheetCell:
    """A figure with what stands beside it as the paper prints it."""
    found = cell.estimate
    if found is None or found.value is None or spread is Spread.NONE:
        return cell
    gaps = f"  {found.missing:,} missing" if found.missing else ""
    gaps += f"  {overview.FLOOR}" if cell.words.endswith(overview.FLOOR) else ""
    if spread is Spread.OFFSETS:
        low, high = (None if end is None else end - found.value for end in (found.low, found.high))
        ends = "" if low is None or high is None else f"  [{decimal(low)}, +{decimal(high)}]"
        return replace(cell, words=f"{decimal(found.value, 4)}{ends}{gaps}")
    apart = deviation(own)
    beside = "" if apart is None else f" ± {decimal(apart)}"
    return replace(cell, words=f"{decimal(found.value)}{beside}{gaps}", sd=apart)


def deviation(scores: Sequence[Score]) -> float | None:
    """The standard deviation of a system's mean over its runs; None while there is one run."""
    runs: dict[int, list[float]] = {}
    for score in scores:
        if score.estimate.value is not None:
            runs.setdefault(score.trial, []).append(score.estimate.value)
    return stdev(map(fmean, runs.values())) if len(runs) > 1 else None


def _told(found: CountedTable) -> Iterator[str]:
    for protocol, rater in found.raters.items():
        if PROTOCOLS[protocol].values and rater.id != result_raters.COMPUTED:
            yield f"{PROTOCOLS[protocol].title}: judged by {rater.name}."
        yield from publishing.floor_told(rater.kind, [protocol])
    yield from dict.fromkeys(rater.remark for rater in found.raters.values() if rater.remark)
    yield from result_raters.left_out_told(found.left_out)
    yield from (f"Gold: {words}." for words in found.gold)
    if found.table.spread is Spread.OFFSETS:
        yield f"Intervals are those that the paper prints: {PERCENTILES}. Results shows others, which hold more often."
    yield from filter(None, (found.table.told,))
    yield from (scope.told for scope in found.scopes if scope.told)
    if found.table.mode:
        yield f"Responses of the mode “{found.table.mode}”."


def _footnotes(found: CountedTable, systems: Collection[str]) -> Iterator[str]:
    named = sorted((found.systems[one].name, found.systems[one].footnote) for one in systems)
    yield from (f"{name}: {footnote}" for name, footnote in named if footnote)


Row = tuple[str, str, RowScope, tuple[SheetCell, ...]]


def _pictures(found: CountedTable, title: str, rows: Sequence[Row]) -> Iterator[SheetPicture]:
    """The first column of each part, a bar for each system beside each group of items."""
    width = len(found.table.parts[0].columns)
    for part in found.table.parts:
        own = [row for row in rows if row[0] == part.title]
        series = {
            " ".join(filter(None, (found.systems[system].name, scope.title))): [
                (cell.estimate.value if cell.estimate is not None else None) for cell in cells[::width]
            ]
            for _, system, scope, cells in own
        }
        named = ": ".join(filter(None, (title, part.title)))
        groups = [group.title or "All items" for group in found.groups]
        draw: Callable[..., object] = partial(
            result_pictures.bars, named, groups, series, part.columns[0].title
        )
        if series:
            yield SheetPicture(key_of(part.title or "systems"), named, draw)
