"""Systems down and metrics across, with a star where the best of a column is better than the second best."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import inf, sqrt
from pathlib import Path

from annotator.actions.papers import systems_tables
from annotator.actions.project.file import Project
from annotator.actions.results import composites, metrics, overview, pools, publishing, result_raters, results
from annotator.actions.results.metrics import MetricInfo
from annotator.actions.results.result_raters import COMPUTED
from annotator.actions.results.result_sheets import (
    SYSTEM_COLUMN,
    UNDEFINED,
    ResultSheet,
    SheetCell,
    SheetColumn,
    SheetLine,
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
from annotator.actions.results.scoring import ALL
from annotator.domain.judges.paper_table import DuelTable
from annotator.domain.judges.protocol import Composite, Over
from annotator.domain.texts.estimate import CHANCE, FEWEST, Estimate, enough, few
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.table_files import read_table
from annotator.protocols import COMPOSITES, PROTOCOLS

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
    """Two systems in a column, the better one first: their difference and how it was tested.

    `best` marks the best and the second best; `corrected` is p among all other pairs of the column.
    """

    metric: str
    systems: tuple[str, str]
    difference: Estimate
    t: float | None
    df: int | None
    p: float | None
    best: bool
    star: bool
    corrected: float | None = None


def sheets(
    project: Project, table: DuelTable, key: str, title: str, judge: str = "", reading: str = ""
) -> Iterator[ResultSheet]:
    """The table, then the pairs of systems with two items in common; nothing while no figure of it is known."""
    found = _DuelMaker.of(project, table, judge, reading)
    if any(row.estimate.value is not None for row in found.rows.values()):
        yield found.sheet(key, title)
        if (pairs := found.pairs_sheet(f"{key}_pairs")).lines:
            yield pairs


def leaderboard(table: DuelTable, path: Path, key: str) -> ResultSheet:
    """The systems of a leaderboard's file, with the last figure made of the others as for systems here."""
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


@dataclass(frozen=True)
class _DuelMaker:
    """What a table is made of: figures by metric and system, and what they were counted from."""

    titles: Sequence[str]
    infos: Sequence[MetricInfo]
    composite: Composite
    counts: Mapping[str, Counted]
    rows: Mapping[tuple[str, str], ResultRow]
    systems: Mapping[str, systems_tables.SystemName]
    limit: float
    reading: str
    left_out: Mapping[str, str]

    @classmethod
    def of(cls, project: Project, table: DuelTable, judge: str, reading: str) -> "_DuelMaker":
        known = {info.name: info for info in metrics.described()}
        other = next((one for one in table.readings if one.name == reading), None)
        instead = other.instead if other is not None else {}
        paper, made = COMPOSITES[table.columns[-1].metric]
        composite = replace(
            made, of=tuple(instead.get(name, name) for name in made.of),
            of_exemplar=tuple(instead.get(name, name) for name in made.of_exemplar),
        )  # fmt: skip
        columns_ = {instead.get(one.metric, one.metric): one.title for one in table.columns}
        titles = {name: title for name, title in columns_.items() if name in known}
        *infos, last = (known[name] for name in titles)
        wanted = {info.name for info in infos}
        protocols = dict.fromkeys(info.protocol for info in infos)
        counts = {
            name: _narrowed(one, wanted)
            for name, one in composites.gathered(project, protocols, judge).items()
        }
        rows = [row for one in counts.values() for row in results.rows_of(one)]
        rows += composites.rows_of(paper, composite, counts, rows)
        by_place = {(row.metric, row.system_id): row for row in rows if row.metric in {*wanted, last.name}}
        read = ", ".join(known[one].title for one in instead.values() if one in known)
        return cls(
            list(titles.values()), [*infos, last], composite, counts, by_place, systems_tables.systems_of(project),
            publishing.limit(project), f"{other.title}: {read}." if other is not None else "",
            result_raters.not_judged(result_raters.everybody_under(project, protocols), counts),
        )  # fmt: skip

    @cached_property
    def exemplars(self) -> frozenset[str]:
        return composites.exemplars(self.counts)

    @cached_property
    def ordered(self) -> list[str]:
        """The systems, exemplars first, then the best overall first."""
        there = {system for _, system in self.rows}
        last = self.infos[-1].name

        def place(system: str) -> tuple[bool, float, object]:
            value, name = self._value(last, system), self.systems[system].name
            return system not in self.exemplars, inf if value is None else -value, text(name).worth

        return sorted(there, key=place)

    def _value(self, metric: str, system: str) -> float | None:
        row = self.rows.get((metric, system))
        return row.estimate.value if row is not None else None

    @cached_property
    def duels(self) -> dict[str, list[SystemDuel]]:
        """By metric, the best against the second best, then every other pair."""
        return {info.name: list(self._duels(info)) for info in self.infos}

    def _duels(self, info: MetricInfo) -> Iterator[SystemDuel]:
        from annotator.stats.intervals.multiplicity import holm

        sign = -1 if info.higher_is_better else 1
        known = [
            (sign * value, system)
            for system in self.ordered
            if system not in self.exemplars and (value := self._value(info.name, system)) is not None
        ]
        ranked = [system for _, system in sorted(known, key=lambda one: one[0])]
        pairs = combinations(ranked, 2)
        made = list(self._by_jackknife(pairs, ranked) if info.of else self._by_items(info, pairs))
        raised = holm([one.p for one in made[1:]])
        yield from made[:1]
        yield from (replace(one, corrected=p) for one, p in zip(made[1:], raised, strict=True))

    def _by_items(self, info: MetricInfo, pairs: Iterable[tuple[str, str]]) -> Iterator[SystemDuel]:
        """Tests over items; those on which one of two is undefined are left out."""
        from annotator.stats.intervals.student import paired_means, paired_test

        counted = self.counts.get(info.protocol)
        own = [score for score in counted.scores if score.metric == info.name] if counted else []
        scores = results.by_items(own, self.ordered)
        for place, (one, other) in enumerate(pairs):
            found = paired_means(scores[other], scores[one], info.within)
            test = paired_test([gap.value for gap in found.differences.values() if gap.value is not None])
            # The mean of all may be that of other items than those that both have.
            ahead = found.mean.value is not None and (found.mean.value > 0) == info.higher_is_better
            better = ahead and enough(found.mean.n) and test.p is not None and test.p < ALPHA
            yield SystemDuel(
                info.name, (one, other), found.mean, test.t, test.df, test.p, not place, better and not place
            )

    def _by_jackknife(self, pairs: Iterable[tuple[str, str]], ranked: Sequence[str]) -> Iterator[SystemDuel]:
        """Tests of what is made of other figures, by what it is without each item that all of these share."""
        import numpy as np

        from annotator.stats.intervals.clustered import jackknifed
        from annotator.stats.intervals.student import two_sided

        without = composites.without_each(self.composite, self.counts, _WHOLE, ranked) if ranked else None
        name = self.composite.name
        places = {system: place for place, system in enumerate(ranked)}
        for place, (one, other) in enumerate(pairs):
            both = [self.rows[name, system].estimate for system in (one, other)]
            gap = None if without is None else without[:, places[one]] - without[:, places[other]]
            bare = Estimate(
                (both[0].value or 0.0) - (both[1].value or 0.0), n=min(each.n for each in both),
                missing=sum(each.missing for each in both), method="difference",
            )  # fmt: skip
            found = pools.with_interval(bare, gap, bare.n, CHANCE, composites.NO_PARTS)
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
            yield SystemDuel(name, (one, other), found, t, df, p, not place, better and not place)

    def sheet(self, key: str, title: str) -> ResultSheet:
        lines = [
            SheetLine((text(self.systems[one].name), *(self._cell(info, one) for info in self.infos)))
            for one in self.ordered
        ]
        heads = (
            SYSTEM_COLUMN,
            *(
                SheetColumn(key_of(one.name), title, f"{one.title}: {one.protocol_title}", one.unit)
                for title, one in zip(self.titles, self.infos, strict=True)
            ),
        )
        return ResultSheet(key, title, heads, tuple(lines), tuple(self._told()), long=self._long(key, title))

    def _long(self, key: str, title: str) -> ResultSheet:
        heads = columns(
            SYSTEM_COLUMN, ("metric", "Metric"), ("value", "Value"), ("star", "Star", LEGEND),
            ("p", "p", "Of the best against the second best"), ("judge", "Judged by"), ("reason", "Why there is none"),
        )  # fmt: skip
        lines = [
            SheetLine((
                text(self.systems[one].name), text(info.name), self._figure(info, one),
                SheetCell(STAR if self._starred(info, one) else "", value=self._starred(info, one)),
                count(self._p(info, one)), text(self._judge(info, one)), text(self._why_none(info, one)),
            ))
            for one in self.ordered
            for info in self.infos
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
        star = STAR if self._starred(info, system) else ""
        words = UNDEFINED if value is None else f"{number(value)}{star}{gaps}"
        tip = f"{made.tip}\n{self._tested(info)}" if star else made.tip
        return replace(made, words=words, tip=tip, picture="")

    def _figure(self, info: MetricInfo, system: str) -> SheetCell:
        row = self.rows.get((info.name, system))
        return figure(row.estimate if row is not None else Estimate(None, note=self._why_none(info, system)))

    def _best(self, info: MetricInfo, system: str) -> SystemDuel | None:
        first = next(iter(self.duels[info.name]), None)
        return first if first is not None and first.systems[0] == system else None

    def _starred(self, info: MetricInfo, system: str) -> bool:
        best = self._best(info, system)
        return best is not None and best.star

    def _p(self, info: MetricInfo, system: str) -> float | None:
        best = self._best(info, system)
        return best.p if best is not None else None

    def _judge(self, info: MetricInfo, system: str) -> str:
        row = self.rows.get((info.name, system))
        return row.rater if row is not None and row.rater != COMPUTED else ""

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
        own = (one.estimate.note for one in scores if (one.metric, one.system_id) == (info.name, system))
        return next(own, "No response")

    def _tested(self, info: MetricInfo) -> str:
        first = self.duels[info.name][0]
        tested = f", t = {first.t:.4f}, df {first.df}" if first.t is not None else ""
        p = "" if first.p is None else f", p = {first.p:.4f}"
        return f"{STAR} against {self.systems[first.systems[1]].name}: {figure(first.difference).words}{tested}{p}"

    def _told(self) -> Iterator[str]:
        yield LEGEND
        yield from (self.reading,) if self.reading else ()
        by_rater: dict[str, list[str]] = {}
        for info in self.infos[:-1]:
            counted = self.counts.get(info.protocol)
            judge = counted.rater.name if counted is not None else "nobody yet"
            if info.judged and judge != COMPUTED and info.protocol not in self.left_out:
                by_rater.setdefault(judge, []).append(info.title)
        yield from (f"{', '.join(titles)}: judged by {rater}." for rater, titles in by_rater.items())
        yield from result_raters.left_out_told(self.left_out)
        yield from (
            f"Gold: {one}." for one in dict.fromkeys(each.gold for each in self.counts.values()) if one
        )
        yield from self._undefined()
        yield from publishing.floors(self.rows.values())
        named = sorted((self.systems[one].name, self.systems[one].footnote) for one in self.ordered)
        yield from (f"{name}: {footnote}" for name, footnote in named if footnote)

    def _undefined(self) -> Iterator[str]:
        """Why figures are undefined, a sentence for each reason."""
        of: dict[tuple[str, str], list[str]] = {}
        for info in self.infos:
            for system in self.ordered:
                if self._value(info.name, system) is None:
                    why = self._why_none(info, system)
                    of.setdefault((info.title, why), []).append(self.systems[system].name)
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
        titles = {info.name: info.title for info in self.infos}
        lines = [
            SheetLine((
                text(titles[one.metric]), *(text(self.systems[system].name) for system in one.systems),
                figure(one.difference), _t(one.t), count(one.df), chance(one.p), chance(one.corrected), _apart(one),
            ))
            for own in self.duels.values()
            for one in own
            if one.p is not None
        ]  # fmt: skip
        return ResultSheet(key, "Every two systems", heads, tuple(lines))


def _narrowed(counted: Counted, wanted: set[str]) -> Counted:
    """What counts over all items of the metrics that are wanted."""
    metrics_ = tuple(metric for metric in counted.shape.metrics if metric.name in wanted)
    scores = [
        replace(score, groups=(_WHOLE,))
        for score in counted.scores
        if score.metric in wanted and _WHOLE in score.groups
    ]
    pooled = any(metric.over is not Over.RESPONSE for metric in metrics_)
    members = [replace(one, groups=(_WHOLE,)) for one in counted.members if pooled and _WHOLE in one.groups]
    shape = replace(PROTOCOLS[counted.shape.name], metrics=metrics_)
    return replace(counted, shape=shape, scores=scores, members=members)


def _t(t: float | None) -> SheetCell:
    """A t; an infinite one has no number for machines."""
    return (
        SheetCell("∞", inf, "All items differ alike")
        if t is not None and abs(t) == inf
        else count(t, form=".4f")
    )


def _apart(one: SystemDuel) -> SheetCell:
    p = one.p if one.best else one.corrected
    if p is None:
        return SheetCell("", value=None)
    if not enough(one.difference.n):
        return text("too few items", few(one.difference.n))
    return text("yes" if p < ALPHA else "no")
