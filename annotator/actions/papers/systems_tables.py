"""Systems down and metrics across, as papers print their results, with stars where the best is better."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from math import inf, sqrt
from pathlib import Path
from statistics import fmean, stdev

from sqlalchemy import Row, select

from annotator.actions.authoring import annotating
from annotator.actions.project.file import Project
from annotator.actions.results import overview, result_raters, results, scoring
from annotator.actions.results.result_sheets import (
    SYSTEM_COLUMN,
    UNDEFINED,
    ResultSheet,
    SheetCell,
    SheetColumn,
    SheetLine,
    SheetPicture,
    chance,
    columns,
    count,
    figure,
    key_of,
    missing,
    number,
    text,
)
from annotator.actions.results.results import Counted, ResultRow
from annotator.actions.results.scoring import ALL, ItemRow, MetricInfo, Score
from annotator.domain.common import Refusal, grouped, nested
from annotator.domain.judges.paper import Down, DuelTable, Spread, SystemsTable, TableColumn
from annotator.domain.judges.protocol import Over
from annotator.domain.material.item import GROUPS, QUESTION_TYPES
from annotator.domain.texts.estimate import CHANCE, FEWEST, Estimate, decimal, enough, few
from annotator.exchange import pictures
from annotator.exchange.table_files import read_table
from annotator.protocols import COMPOSITES, PROTOCOLS
from annotator.stats.intervals.clustered import DRAWS, holm, jackknifed, percentile_bounds
from annotator.stats.intervals.student import paired_means, paired_test, two_sided
from annotator.stats.validation.duels import pass_at_k
from annotator.storage.tables import RESPONSE, SOURCE, SYSTEM

SOURCE_KIND, LANGUAGE = "source_kind", "language"
CONSTRAINED, UNRESTRICTED = "Temporally constrained", "Unrestricted"
PERCENTILES = f"95 % percentiles of {DRAWS:,} bootstrap means over items"


# A system's id, name, group and footnote.
SystemRow = Row[str, str, str, str]


@dataclass(frozen=True, slots=True)
class GroupedItems:
    """Items under a title; `by` and `group` name a group that results know too."""

    title: str
    items: Collection[str]
    by: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class RowScope:
    """The scope of a system's row: a mode, its items and, if not all count, its responses."""

    title: str
    mode: str
    items: Collection[str]
    responses: Collection[str] | None = None
    note: str = ""


def systems_of(project: Project) -> dict[str, SystemRow]:
    rows = project.query(select(SYSTEM.c.id, SYSTEM.c.name, SYSTEM.c.group, SYSTEM.c.footnote)).all()
    return {row.id: row for row in rows}


def _groups(project: Project, table: SystemsTable, items: Mapping[str, ItemRow]) -> Iterator[GroupedItems]:
    of = _group_of(project, table.across, items) if table.across else {}
    known = table.across in (*results.CUTS, LANGUAGE)
    for group in sorted(set(of.values()) - {""}, key=_place):
        members = {item for item, own in of.items() if own == group}
        yield GroupedItems(group, members, *((table.across, group) if known else ()))
    if table.average or not table.across:
        yield GroupedItems(table.average if table.across else "", set(items), ALL, ALL)


def _place(group: str) -> tuple[int, str]:
    return QUESTION_TYPES.index(group) if group in QUESTION_TYPES else len(QUESTION_TYPES), group


def _group_of(project: Project, across: str, items: Mapping[str, ItemRow]) -> dict[str, str]:
    """Items by group; for kinds of sources by the kind of their source, or by type if none is known."""
    kinds: dict[str, str] = {}
    if across == SOURCE_KIND:
        s = SOURCE.c
        question = select(s.item_id, s.kind).where(s.kind != "").order_by(s.position.desc(), s.id)
        kinds = {item_id: kind.capitalize() for item_id, kind in project.query(question) if item_id in items}
        across = "question_type"
    return kinds or {item_id: scoring.filed(item, across) for item_id, item in items.items()}


def _scopes(
    project: Project, table: SystemsTable, items: Mapping[str, ItemRow], after: str, limit: str
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
    """Mode → the responses requested with a cut-off in it, each with that day."""
    r = RESPONSE.c
    question = select(r.mode, r.id, r.cutoff).where(
        r.cutoff.is_not(None), r.mode.in_(scoring.modes_of(project))
    )
    result = nested((mode, response_id, str(day)) for mode, response_id, day in project.query(question))
    return {mode: result[mode] for mode in scoring.modes_of(project) if mode in result}


def _conditions(project: Project, limit: str, items: Mapping[str, ItemRow]) -> Iterator[RowScope]:
    """The reports of a mode with a cut-off, and those without one: of the same mode, or else of the main one."""
    held = limited(project)
    if not held:
        return
    chosen = limit or next(iter(held))
    r = RESPONSE.c
    free = {(mode, one) for mode, one in project.query(select(r.mode, r.id).where(r.cutoff.is_(None)))}
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
    s = SOURCE.c
    question = select(s.item_id, s.published).where(s.published != "").order_by(s.position.desc(), s.id)
    return {item_id: date[:7] for item_id, date in project.query(question)}


def sheet(
    project: Project,
    table: SystemsTable,
    key: str,
    title: str,
    judge: str = "",
    after: str = "",
    mode: str = "",
) -> ResultSheet | None:
    """The table; None if no system has a figure in it."""
    return _SystemsMaker(project, table, judge, after, mode).sheet(key, title)


TableRow = tuple[str, str, RowScope, tuple[SheetCell, ...]]


class _SystemsMaker:
    """The scores of a table, by metric, with their raters; and its rows and columns."""

    def __init__(self, project: Project, table: SystemsTable, judge: str, after: str, mode: str) -> None:
        self.table, self.systems, self.limit = table, systems_of(project), results.limit(project)
        names = sorted({column.metric for part in table.parts for column in part.columns})
        raters = result_raters.everybody_under(
            project, dict.fromkeys(scoring.named(name).protocol for name in names)
        )
        self.raters = result_raters.together(raters, judge)
        self.left_out = result_raters.not_judged(raters, self.raters)
        self.scores: dict[str, list[Score]] = {name: [] for name in names}
        for protocol, rater in self.raters.items():
            for score in scoring.scores(project, PROTOCOLS[protocol], rater.id):
                if score.metric in self.scores and not results.is_part(score):
                    self.scores[score.metric].append(score)
        items = results.items_named(project)
        self.groups = list(_groups(project, table, items))
        self.scopes = list(_scopes(project, table, items, after, mode))
        with project.store.read() as db:
            # Whose gold, protocol by protocol.
            self.gold = dict.fromkeys(
                annotating.words(db, PROTOCOLS[name].needs, items, rater=one.id)
                for name, one in self.raters.items()
            )

    def sheet(self, key: str, title: str) -> ResultSheet | None:
        """The table; None if no system has a figure in it."""
        parts = self.table.parts
        titles = [scope.title for scope in self.scopes if scope.title]
        grouped = any(system.group for system in self.systems.values())
        made = [
            (part.title, system, scope, cells)
            for part in parts
            for scope in self.scopes
            for system, cells in self._rows(part.columns, scope)
        ]
        rows = Counter((part, system) for part, system, *_ in made)
        compared = self.table.down in (Down.LIMITED, Down.MODES)
        alone = [key for key in rows if compared and rows[key] == 1]
        made = [row for row in made if row[:2] not in alone]
        if not any(cell.estimate and cell.estimate.value is not None for *_, cells in made for cell in cells):
            return None
        heads = (
            *([SheetColumn("module", "Module")] if parts[0].title else []),
            *([SheetColumn("system_group", "Group")] if grouped else []),
            SYSTEM_COLUMN,
            *([SheetColumn("scope", "Counted")] if titles else []),
            *(_head(column, group) for group in self.groups for column in parts[0].columns),
        )
        order = [part.title for part in parts]
        ranks = {row[:2]: self._rank(row[1], row[3]) for row in made}
        # Rows of one system are adjacent, ordered by the last of them.
        made.sort(key=lambda row: (order.index(row[0]), *ranks[row[:2]]))
        lines = [
            SheetLine((
                *([text(part)] if parts[0].title else []), *([text(self.systems[system].group)] if grouped else []),
                text(self.systems[system].name), *([text(scope.title)] if titles else []), *cells,
            ))
            for part, system, scope, cells in made
        ]  # fmt: skip
        lone = ", ".join(" ".join(filter(None, (part, self.systems[one].name))) for part, one in alone)
        figures = [
            (cell.metric, cell.estimate) for *_, cells in made for cell in cells if cell.estimate is not None
        ]
        infos = {metric: scoring.named(metric) for metric, _ in figures if metric}
        notes = (
            *self._notes(),
            *results.lacking((infos[one].protocol, infos[one].title, own) for one, own in figures if one),
            *self._footnotes({row[1] for row in made}),
            *([f"Left out, as known in one condition only: {lone}."] if lone else []),
        )
        return ResultSheet(key, title, heads, tuple(lines), notes, tuple(self._pictures(title, made)))

    def _rank(self, system: str, cells: Sequence[SheetCell]) -> tuple[int, str, bool, float, str]:
        """The sort key: groups in their usual order, within them the best first by the last column, over all items."""
        own, last = self.systems[system], cells[-len(self.table.parts[0].columns)]
        place = GROUPS.index(own.group) if own.group in GROUPS else len(GROUPS)
        value = last.estimate.value if last.estimate is not None else None
        up = scoring.named(last.metric).higher_is_better if last.metric else True
        return place, own.group, value is None, (-1 if up else 1) * (value or 0.0), own.name

    def _rows(
        self, columns: Sequence[TableColumn], scope: RowScope
    ) -> Iterator[tuple[str, tuple[SheetCell, ...]]]:
        of = {
            column.metric: [
                score
                for score in self.scores[column.metric]
                if score.mode == scope.mode
                and score.item_id in scope.items
                and (scope.responses is None or score.response_id in scope.responses)
            ]
            for column in columns
        }
        present = {score.system_id for own in of.values() for score in own}
        systems = sorted(present, key=lambda one: self.systems[one].name)
        across = [
            self._cells(column, [score for score in of[column.metric] if score.item_id in group.items], group, systems)
            for group in self.groups
            for column in columns
        ]  # fmt: skip
        for place, system in enumerate(systems):
            cells = tuple(column[place] for column in across)
            if any(cell.estimate is not None and cell.estimate.value is not None for cell in cells):
                yield (
                    system,
                    tuple(
                        replace(cell, source=replace(cell.source, mode=scope.mode)) if cell.source else cell
                        for cell in cells
                    ),
                )

    def _cells(
        self,
        column: TableColumn,
        scores: Sequence[Score],
        group: GroupedItems,
        systems: Sequence[str],
    ) -> list[SheetCell]:
        info = scoring.named(column.metric)
        rater = self.raters.get(info.protocol)
        whole = overview.ResultsReport((), {info.name: info}, self.limit)
        made = []
        for system, mean in zip(systems, _estimates(column, list(scores), systems), strict=True):
            own = [score for score in scores if score.system_id == system]
            if self.table.spread is Spread.OFFSETS and mean.low is not None:
                items = results.by_items(own, [system])[system].values()
                low, high = percentile_bounds([item.value for item in items if item.value is not None])
                mean = replace(mean, low=low, high=high, method=f"mean over items; {PERCENTILES}")
            row = ResultRow(
                info.name, info.protocol, rater.id if rater else "", rater.name if rater else "", system,
                self.systems[system].name, group.by or ALL, group.group or group.title, mean, info.title, info.unit,
                sum(score.judged for score in own), info.over, floor=rater is not None and rater.floor,
            )  # fmt: skip
            cell = overview.cell(whole, row)
            cell = cell if group.by and not column.best_of else replace(cell, source=None)
            made.append(_spread(cell, self.table.spread, own))
        return made

    def _notes(self) -> Iterator[str]:
        for protocol, rater in self.raters.items():
            if PROTOCOLS[protocol].values and rater.id != result_raters.COMPUTED:
                yield f"{PROTOCOLS[protocol].title}: judged by {rater.name}."
            yield from results.floor_notes(rater.kind, [protocol])
        yield from dict.fromkeys(rater.remark for rater in self.raters.values() if rater.remark)
        yield from result_raters.left_out_notes(self.left_out)
        yield from (f"Gold: {words}." for words in self.gold if words)
        if self.table.spread is Spread.OFFSETS:
            yield (
                f"Intervals are those that the paper prints: {PERCENTILES}. Results shows others, which hold more "
                "often."
            )
        yield from filter(None, (self.table.note,))
        yield from (scope.note for scope in self.scopes if scope.note)
        if self.table.mode:
            yield f"Responses of the mode “{self.table.mode}”."

    def _footnotes(self, systems: Collection[str]) -> Iterator[str]:
        named = sorted((self.systems[system].name, self.systems[system].footnote) for system in systems)
        yield from (f"{name}: {footnote}" for name, footnote in named if footnote)

    def _pictures(self, title: str, rows: Sequence[TableRow]) -> Iterator[SheetPicture]:
        """The first column of each part: bars of the systems for each group of items."""
        width = len(self.table.parts[0].columns)
        for part in self.table.parts:
            own = [row for row in rows if row[0] == part.title]
            series = {
                " ".join(filter(None, (self.systems[system].name, scope.title))): [
                    (cell.estimate.value if cell.estimate is not None else None) for cell in cells[::width]
                ]
                for _, system, scope, cells in own
            }
            named = ": ".join(filter(None, (title, part.title)))
            groups = [group.title or "All items" for group in self.groups]
            draw: Callable[..., object] = partial(pictures.bars, named, groups, series, part.columns[0].title)
            if series:
                yield SheetPicture(key_of(part.title or "systems"), named, draw)


def _head(column: TableColumn, group: GroupedItems) -> SheetColumn:
    named = [group.title] if group.title else []
    info = scoring.named(column.metric)
    return SheetColumn(key_of(*named, column.title), ": ".join([*named, column.title]), info.title, info.unit)


def _estimates(column: TableColumn, scores: list[Score], systems: Sequence[str]) -> list[Estimate]:
    within = scoring.named(column.metric).within
    if column.best_of:
        by_system = results.by_item(scores)
        return [
            pass_at_k(
                {item: [run.estimate for run in runs] for item, runs in by_system.get(system, {}).items()},
                column.best_of, within,
            )
            for system in systems
        ]  # fmt: skip
    means = (
        results.estimates(scores, list(systems), within)
        if scores
        else [Estimate(None, note="no response")] * len(systems)
    )
    return [_summed(mean) for mean in means] if column.total else means


def _summed(mean: Estimate) -> Estimate:
    def times(end: float | None) -> float | None:
        return None if end is None else end * mean.n

    return Estimate(
        times(mean.value), times(mean.low), times(mean.high), mean.n, mean.missing, times(mean.floor),
        times(mean.ceiling), f"sum over {mean.n:,} items", mean.note,
    )  # fmt: skip


def _spread(cell: SheetCell, spread: Spread, own: Sequence[Score]) -> SheetCell:
    """A figure with its spread as the paper prints it."""
    result = cell.estimate
    if result is None or result.value is None or spread is Spread.NONE:
        return cell
    gaps = f"  {result.missing:,} missing" if result.missing else ""
    gaps += f"  {overview.FLOOR}" if cell.words.endswith(overview.FLOOR) else ""
    if spread is Spread.OFFSETS:
        low, high = (None if end is None else end - result.value for end in (result.low, result.high))
        ends = "" if low is None or high is None else f"  [{decimal(low)}, +{decimal(high)}]"
        return replace(cell, words=f"{decimal(result.value, 4)}{ends}{gaps}")
    apart = deviation(own)
    beside = "" if apart is None else f" ± {decimal(apart)}"
    return replace(cell, words=f"{decimal(result.value)}{beside}{gaps}", sd=apart)


def deviation(scores: Sequence[Score]) -> float | None:
    """The standard deviation of a system's mean over its runs; None if there is only one."""
    runs = grouped(
        (score.trial, score.estimate.value) for score in scores if score.estimate.value is not None
    )
    return stdev(map(fmean, runs.values())) if len(runs) > 1 else None


ALPHA = 0.05
STAR = "*"
LEGEND = (
    f"{STAR} The best of its column is beyond chance better than the second best: p < 0.05 by a paired t-test over "
    "items; overall, by t from its jackknife over items. Neither is said over fewer than "
    f"{FEWEST} items."
)
_WHOLE = (ALL, ALL)


@dataclass(frozen=True, slots=True)
class SystemDuel:
    """Two systems in a column, the better one first: their difference and its test.

    `corrected` is p corrected for all other pairs of the column; None for the best and the second best, which stand
    alone.
    """

    systems: tuple[str, str]
    difference: Estimate
    t: float | None
    df: int | None
    p: float | None
    star: bool
    corrected: float | None = None


def sheets(
    project: Project, table: DuelTable, key: str, title: str, judge: str = "", reading: str = ""
) -> Iterator[ResultSheet]:
    """The table, then the pairs of systems with two items in common; empty while none of its figures is known."""
    result = _DuelMaker(project, table, judge, reading)
    if any(row.estimate.value is not None for row in result.rows.values()):
        yield result.sheet(key, title)
        if (pairs := result.pairs_sheet(f"{key}_pairs")).lines:
            yield pairs


def leaderboard(table: DuelTable, path: Path, key: str) -> ResultSheet:
    """The systems of a leaderboard's file, with the last figure computed from the others as for systems here."""
    read, lines = read_table(path, [column for column, _ in table.board]), []
    made = COMPOSITES[table.columns[-1].metric][1]
    for index, row in enumerate(read.rows):
        try:
            values = {metric: float(row[column]) for column, metric in table.board if metric}
        except ValueError:
            raise Refusal(
                f"{path.name}, {read.place(index)}: a figure is no number. Nothing was read.",
                "Correct the cell, or take the row out.",
            ) from None
        values[made.name] = made.combine([values[name] for name in made.of])
        names = ", ".join(row[column] for column, metric in table.board if not metric and row[column])
        lines.append(
            SheetLine((text(names), *(count(values[one.metric], form=".4f") for one in table.columns)))
        )
    return ResultSheet(
        key, f"Leaderboard: {path.name}",
        columns(SYSTEM_COLUMN, *((key_of(one.title), one.title) for one in table.columns)), tuple(lines),
    )  # fmt: skip


class _DuelMaker:
    """The data of a table: figures by metric and system, and the verdicts they are based on."""

    def __init__(self, project: Project, table: DuelTable, judge: str, reading: str) -> None:
        known = {info.name: info for info in scoring.described()}
        other = next((one for one in table.readings if one.name == reading), None)
        instead = other.instead if other is not None else {}
        paper, made = COMPOSITES[table.columns[-1].metric]
        self.composite = replace(
            made, of=tuple(instead.get(name, name) for name in made.of),
            of_exemplar=tuple(instead.get(name, name) for name in made.of_exemplar),
        )  # fmt: skip
        titles = {instead.get(column.metric, column.metric): column.title for column in table.columns}
        self.titles = {name: title for name, title in titles.items() if name in known}
        self.infos = [known[name] for name in self.titles]
        metric_names = list(self.titles)[:-1]
        protocols = dict.fromkeys(known[name].protocol for name in metric_names)
        self.counts = {
            name: _narrowed(one, metric_names)
            for name, one in overview.gathered(project, protocols, judge).items()
        }
        rows = [row for count in self.counts.values() for row in results.rows_of(count)]
        rows += overview.rows_of(paper, self.composite, self.counts, rows)
        self.rows = {(row.metric, row.system_id): row for row in rows if row.metric in self.titles}
        read = ", ".join(known[one].title for one in instead.values() if one in known)
        self.reading = f"{other.title}: {read}." if other is not None else ""
        self.systems, self.limit = systems_of(project), results.limit(project)
        self.left_out = result_raters.not_judged(
            result_raters.everybody_under(project, protocols), self.counts
        )

    @cached_property
    def exemplars(self) -> frozenset[str]:
        return overview.exemplars(self.counts)

    @cached_property
    def ordered(self) -> list[str]:
        present = {system for _, system in self.rows}
        last = self.infos[-1].name

        def place(system: str) -> tuple[bool, float, object]:
            value, name = self._value(last, system), self.systems[system].name
            return system not in self.exemplars, inf if value is None else -value, text(name).worth

        return sorted(present, key=place)

    def _value(self, metric: str, system: str) -> float | None:
        row = self.rows.get((metric, system))
        return row.estimate.value if row is not None else None

    @cached_property
    def duels(self) -> dict[str, list[SystemDuel]]:
        """By metric, the best against the second best, then every other pair."""
        return {info.name: list(self._duels(info)) for info in self.infos}

    def _duels(self, info: MetricInfo) -> Iterator[SystemDuel]:
        sign = -1 if info.higher_is_better else 1
        known = [
            (sign * value, system)
            for system in self.ordered
            if system not in self.exemplars and (value := self._value(info.name, system)) is not None
        ]
        ranked = [system for _, system in sorted(known, key=lambda one: one[0])]
        pairs = combinations(ranked, 2)
        made = list(self._by_jackknife(pairs, ranked) if info.of else self._by_items(info, pairs))
        raised = holm([duel.p for duel in made[1:]])
        yield from made[:1]
        yield from (replace(duel, corrected=p) for duel, p in zip(made[1:], raised, strict=True))

    def _by_items(self, info: MetricInfo, pairs: Iterable[tuple[str, str]]) -> Iterator[SystemDuel]:
        """Tests over items; those on which one of two is undefined are left out."""
        counted = self.counts.get(info.protocol)
        own = [score for score in counted.scores if score.metric == info.name] if counted else []
        scores = results.by_items(own, self.ordered)
        for place, (one, other) in enumerate(pairs):
            result = paired_means(scores[other], scores[one], info.within)
            test = paired_test([gap.value for gap in result.differences.values() if gap.value is not None])
            # The difference of overall means may have another sign, being over other items than those both have.
            ahead = result.mean.value is not None and (result.mean.value > 0) == info.higher_is_better
            better = ahead and enough(result.mean.n) and test.p is not None and test.p < ALPHA
            yield SystemDuel((one, other), result.mean, test.t, test.df, test.p, better and not place)

    def _by_jackknife(self, pairs: Iterable[tuple[str, str]], ranked: Sequence[str]) -> Iterator[SystemDuel]:
        """Tests of composite figures, from their values without each of the items that they share."""
        import numpy as np

        without = overview.without_each(self.composite, self.counts, _WHOLE, ranked) if ranked else None
        name = self.composite.name
        places = {system: place for place, system in enumerate(ranked)}
        for place, (one, other) in enumerate(pairs):
            both = [self.rows[name, system].estimate for system in (one, other)]
            gap = None if without is None else without[:, places[one]] - without[:, places[other]]
            bare = Estimate(
                (both[0].value or 0.0) - (both[1].value or 0.0), n=min(each.n for each in both),
                missing=sum(each.missing for each in both), method="difference",
            )  # fmt: skip
            result = results.with_interval(bare, gap, bare.n, CHANCE, overview.NO_PARTS)
            t = df = p = None
            if (
                gap is not None
                and not np.isnan(gap).any()
                and bare.n > 1
                and (error := sqrt(jackknifed(gap)))
            ):
                t, df = (bare.value or 0.0) / error, bare.n - 1
                p = two_sided(t, df)
            better = p is not None and p < ALPHA and enough(bare.n)
            yield SystemDuel((one, other), result, t, df, p, better and not place)

    def sheet(self, key: str, title: str) -> ResultSheet:
        lines = [
            SheetLine((text(self.systems[one].name), *(self._cell(info, one) for info in self.infos)))
            for one in self.ordered
        ]
        heads = (
            SYSTEM_COLUMN,
            *(
                SheetColumn(
                    key_of(one.name), self.titles[one.name], f"{one.title}: {one.protocol_title}", one.unit
                )
                for one in self.infos
            ),
        )
        return ResultSheet(key, title, heads, tuple(lines), tuple(self._notes()), long=self._long(key, title))

    def _long(self, key: str, title: str) -> ResultSheet:
        heads = columns(
            SYSTEM_COLUMN, ("metric", "Metric"), ("value", "Value"), ("star", "Star", LEGEND),
            ("p", "p", "Of the best against the second best"), ("judge", "Judged by"), ("reason", "Why there is none"),
        )  # fmt: skip
        lines = [
            SheetLine((
                text(self.systems[one].name), text(info.name),
                figure(row.estimate if row else Estimate(None, note=self._why_none(info, one))),
                SheetCell(STAR if best and best.star else "", value=bool(best and best.star)),
                count(best.p if best else None),
                text(row.rater if row and row.rater != result_raters.COMPUTED else ""), text(self._why_none(info, one)),
            ))
            for one in self.ordered
            for info in self.infos
            for row, best in [(self.rows.get((info.name, one)), self._best(info, one))]
        ]  # fmt: skip
        return ResultSheet(key, title, heads, tuple(lines))

    def _cell(self, info: MetricInfo, system: str) -> SheetCell:
        """A figure as the table prints it: its value, its star, and what is missing."""
        row = self.rows.get((info.name, system))
        if row is None:
            return missing(self._why_none(info, system))
        whole = overview.ResultsReport((), {info.name: info}, self.limit)
        made, value = overview.cell(whole, row), row.estimate.value
        gaps = f"  {row.estimate.missing:,} missing" if row.estimate.missing else ""
        best = self._best(info, system)
        star = STAR if best and best.star else ""
        words = UNDEFINED if value is None else f"{number(value)}{star}{gaps}"
        tip = f"{made.tip}\n{self._tested(info)}" if star else made.tip
        return replace(made, words=words, tip=tip, picture="")

    def _best(self, info: MetricInfo, system: str) -> SystemDuel | None:
        first = next(iter(self.duels[info.name]), None)
        return first if first is not None and first.systems[0] == system else None

    def _why_none(self, info: MetricInfo, system: str) -> str:
        row = self.rows.get((info.name, system))
        if row is None:
            return self._why_no_row(info, system)
        return row.estimate.note if row.estimate.value is None else ""

    def _why_no_row(self, info: MetricInfo, system: str) -> str:
        if info.of:
            return "No response"
        if info.protocol not in self.counts:
            by = self.left_out.get(info.protocol)
            return f"Judged by {by} alone" if by else "Nobody has judged this yet"
        scores = self.counts[info.protocol].scores
        own = (
            score.estimate.note for score in scores if (score.metric, score.system_id) == (info.name, system)
        )
        return next(own, "No response")

    def _tested(self, info: MetricInfo) -> str:
        first = self.duels[info.name][0]
        tested = f", t = {first.t:.4f}, df {first.df}" if first.t is not None else ""
        p = "" if first.p is None else f", p = {first.p:.4f}"
        return f"{STAR} against {self.systems[first.systems[1]].name}: {figure(first.difference).words}{tested}{p}"

    def _notes(self) -> Iterator[str]:
        yield LEGEND
        yield from (self.reading,) if self.reading else ()
        judges = {protocol: counted.rater.name for protocol, counted in self.counts.items()}
        named = ((judges.get(info.protocol, "nobody yet"), info) for info in self.infos[:-1])
        by_rater = grouped(
            (judge, info.title)
            for judge, info in named
            if info.judged and judge != result_raters.COMPUTED and info.protocol not in self.left_out
        )
        yield from (f"{', '.join(titles)}: judged by {rater}." for rater, titles in by_rater.items())
        yield from result_raters.left_out_notes(self.left_out)
        yield from (
            f"Gold: {gold}." for gold in dict.fromkeys(each.gold for each in self.counts.values()) if gold
        )
        yield from self._undefined()
        yield from results.floors(self.rows.values())
        systems = sorted((self.systems[one].name, self.systems[one].footnote) for one in self.ordered)
        yield from (f"{name}: {footnote}" for name, footnote in systems if footnote)

    def _undefined(self) -> Iterator[str]:
        of = grouped(
            ((info.title, self._why_none(info, system)), self.systems[system].name)
            for info in self.infos
            for system in self.ordered
            if self._value(info.name, system) is None
        )
        for (title, why), names in of.items():
            whose = "" if len(names) == len(self.ordered) else f" ({', '.join(names)})"
            yield f"{title} is undefined{whose}: {why}."

    def pairs_sheet(self, key: str) -> ResultSheet:
        """Every pair of systems that could be tested, metric by metric."""
        heads = columns(
            ("metric", "Metric"), ("better", "Better"), ("other", "Other"),
            ("difference", "Difference", "Mean over the items on which both are defined, with its interval"),
            ("t", "t"), ("df", "df"),
            ("p", "p", "Two-sided; of the overall figure by its jackknife over items"),
            ("p_holm", "p (Holm)", "Corrected for all other pairs of the column; the best and the second stand alone"),
            ("apart", "Apart", "Whether the difference is beyond chance at 0.05"),
        )  # fmt: skip
        lines = [
            SheetLine((
                text(info.title), *(text(self.systems[system].name) for system in duel.systems),
                figure(duel.difference), _t(duel.t), count(duel.df), chance(duel.p), chance(duel.corrected),
                _apart(duel),
            ))
            for info in self.infos
            for duel in self.duels[info.name]
            if duel.p is not None
        ]  # fmt: skip
        return ResultSheet(key, "Every two systems", heads, tuple(lines))


def _narrowed(counted: Counted, metric_names: Collection[str]) -> Counted:
    metrics_ = tuple(metric for metric in counted.protocol.metrics if metric.name in metric_names)
    scores = [
        replace(score, groups=(_WHOLE,))
        for score in counted.scores
        if score.metric in metric_names and _WHOLE in score.groups
    ]
    pooled = any(metric.over is not Over.RESPONSE for metric in metrics_)
    members = [
        replace(member, groups=(_WHOLE,)) for member in counted.members if pooled and _WHOLE in member.groups
    ]
    protocol = replace(PROTOCOLS[counted.protocol.name], metrics=metrics_)
    return replace(counted, protocol=protocol, scores=scores, members=members)


def _t(t: float | None) -> SheetCell:
    """A cell with a t; an infinite one has no number for machines."""
    return (
        SheetCell("∞", inf, "All items differ alike")
        if t is not None and abs(t) == inf
        else count(t, form=".4f")
    )


def _apart(duel: SystemDuel) -> SheetCell:
    p = duel.p if duel.corrected is None else duel.corrected
    if p is None:
        return SheetCell("", value=None)
    if not enough(duel.difference.n):
        return text("too few items", few(duel.difference.n))
    return text("yes" if p < ALPHA else "no")
