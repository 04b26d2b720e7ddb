"""Composite figures of a system, such as a paper's overall score, whose parts lose an item together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any

from annotator.actions.project.file import Project
from annotator.actions.results import metrics, pools, result_raters, results, rule_readings
from annotator.actions.results.result_raters import COMPUTED, Spoken
from annotator.actions.results.results import Counted, ResultRow
from annotator.actions.results.rule_readings import FIRST, PUBLIC
from annotator.actions.results.scoring import FACET, Group
from annotator.domain.judges.paper import Paper
from annotator.domain.judges.protocol import Composite, Metric, Over
from annotator.domain.material.response import EXEMPLAR
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import COMPOSITES, PROTOCOLS

if TYPE_CHECKING:
    from annotator.stats.intervals.coding import Floats

NO_PARTS = f"{pools.NO_INTERVAL}it is made of a figure that has none"
# What was counted under each protocol.
Counts = Mapping[str, Counted]


def everything(project: Project, judge: str = "", *, mode: str = "", reading: str = "") -> list[ResultRow]:
    """Figures of all protocols by one rater, by default the usual one; computed ones in any case.

    After them stand those that a paper makes of them. Responses of one mode count. By the `reading` PUBLIC replies are
    read by the protocol's other published rule, where there is one and it can read the judge's; by FIRST a judge's
    first trial counts alone.
    """
    counts = gathered(project, PROTOCOLS, judge, mode=mode, reading=reading)
    rows = [row for one in counts.values() for row in results.rows_of(one)]
    return [*rows, *made_of(counts, rows)]


def gathered(
    project: Project, protocols: Iterable[str], judge: str = "", *, mode: str = "", reading: str = ""
) -> dict[str, Counted]:
    """What one rater said under these protocols, by default the usual one; what is computed in any case."""
    counts: dict[str, Counted] = {}
    readable = rule_readings.readable(project) if reading == PUBLIC else ()
    found = result_raters.everybody_under(project, protocols)
    for protocol, rater in result_raters.together(found, judge).items():
        read: Iterable[Spoken] | None = None
        if (protocol, rater.id) in readable:
            read = rule_readings.read(project, PROTOCOLS[protocol], rater.id)
        elif reading == FIRST and rater.repeats:
            read = result_raters.in_trials(project, PROTOCOLS[protocol], rater.id, first=True)
            rater = replace(rater, repeats=None)
        counts[protocol] = results.counted_of(project, rater, protocol, mode=mode, read=read)
    return counts


def released(project: Project) -> Iterator[ResultRow]:
    """The figures that a release holds: people's, computed ones, and those of judges, as Results has them."""
    computed: dict[str, Counted] = {}
    by_rater: dict[str, dict[str, Counted]] = {}
    rows: list[ResultRow] = []
    for protocol, there in result_raters.raters_under(project).items():
        for rater in there:
            found = results.counted_of(project, rater, protocol)
            (computed if rater.id == COMPUTED else by_rater.setdefault(rater.id, {}))[protocol] = found
            rows += results.rows_of(found)
    yield from rows
    for rater_id, own in (by_rater or {COMPUTED: {}}).items():
        yield from made_of(computed | own, [row for row in rows if row.rater_id in (rater_id, COMPUTED)])


def made_of(counts: Counts, rows: Sequence[ResultRow]) -> list[ResultRow]:
    """The composite figures of what was counted, by its own figures; left out where none of these is at hand."""
    return [row for paper, one in COMPOSITES.values() for row in rows_of(paper, one, counts, rows)]


def rows_of(
    paper: Paper, composite: Composite, counts: Counts, rows: Sequence[ResultRow]
) -> Iterator[ResultRow]:
    """One composite figure of each system; exemplars are made of what counts of them."""
    apart = exemplars(counts) if composite.of_exemplar else frozenset()
    yield from _rows(paper, composite, counts, [row for row in rows if row.system_id not in apart])
    if apart:
        of_them = replace(composite, of=composite.of_exemplar)
        yield from _rows(paper, of_them, counts, [row for row in rows if row.system_id in apart])


def exemplars(counts: Counts) -> frozenset[str]:
    """The ids of those whose responses people wrote for systems to match."""
    scores = (score for one in counts.values() for score in one.scores)
    return frozenset(score.system_id for score in scores if score.mode == EXEMPLAR)


def _rows(
    paper: Paper, composite: Composite, counts: Counts, rows: Sequence[ResultRow]
) -> Iterator[ResultRow]:
    parts = [row for row in rows if row.metric in composite.of and row.group_by != FACET and row.system_id]
    raters = {row.rater_id: row.rater for row in parts if row.rater_id != COMPUTED}
    needing = {info.name for info in metrics.described() if info.judged}
    if not parts or (not raters and not needing.isdisjoint(composite.of)):
        return
    rater_id, rater = next(iter(raters.items())) if len(raters) == 1 else ("", " and ".join(raters.values()))
    whose = (composite.name, paper.name, rater_id if raters else COMPUTED, rater or COMPUTED)
    for group in dict.fromkeys((row.group_by, row.group) for row in parts):
        of_group = [row for row in parts if (row.group_by, row.group) == group]
        systems = {row.system_id: row.system for row in sorted(of_group, key=lambda row: row.system)}
        by_system = {
            system: {row.metric: row for row in of_group if row.system_id == system} for system in systems
        }
        found = {system: _made(composite, of) for system, of in by_system.items()}
        whole = [system for system, (estimate, _) in found.items() if estimate.value is not None]
        without = without_each(composite, counts, group, whole) if whole else None
        for system, (estimate, judged) in found.items():
            if system in whole:
                own = None if without is None else without[:, whole.index(system)]
                items = _items(composite, counts, by_system[system])
                estimate = pools.with_interval(estimate, own, items, composite.within, NO_PARTS)
            yield ResultRow(
                *whose, system, systems[system], *group, estimate, composite.title, composite.unit, judged, Over.SYSTEM,
                floor=any(row.floor for row in by_system[system].values()),
                repeats=next((row.repeats for row in by_system[system].values() if row.repeats), None),
            )  # fmt: skip


def _made(composite: Composite, parts: Mapping[str, ResultRow]) -> tuple[Estimate, int]:
    """A composite of one system, and the judgements behind it; metrics of one protocol stand on the same ones."""
    known_as = {info.name: info.title for info in metrics.described()}
    # A figure that cannot be made yet is known by its name.
    titles = {name: known_as.get(name, name) for name in composite.of}
    gaps: dict[str, int] = {}
    came: dict[str, int] = {}
    for row in parts.values():
        gaps[row.protocol] = max(gaps.get(row.protocol, 0), row.estimate.missing)
        came[row.protocol] = max(came.get(row.protocol, 0), row.judged)
    known = {name: row.estimate for name, row in parts.items() if row.estimate.value is not None}
    absent = [titles[name] for name in composite.of if name not in known]
    method = f"made of {', '.join(titles.values())}"
    if absent:
        note = f"{', '.join(absent)} {'is' if len(absent) == 1 else 'are'} undefined"
        return Estimate(None, missing=sum(gaps.values()), method=method, note=note), sum(came.values())
    value, floor, ceiling = (
        _combined(composite, [_end(known[name], end) for name in composite.of])
        for end in ("value", "floor", "ceiling")
    )
    if any(one.missing and one.floor is None for one in known.values()):
        floor = ceiling = None
    note = "its parts' values have no such figure" if value is None else ""
    n = min(one.n for one in known.values())
    return Estimate(
        value, n=n, missing=sum(gaps.values()), floor=floor, ceiling=ceiling, method=method, note=note
    ), sum(came.values())


def _end(estimate: Estimate, end: str) -> Any:
    """The value, or a bound of it; where nothing is missing it bounds itself."""
    bound = getattr(estimate, end)
    return estimate.value if bound is None else bound


def _combined(composite: Composite, values: Sequence[float]) -> float | None:
    made = float(composite.combine(values))
    return None if isnan(made) else made


def without_each(
    composite: Composite, counts: Counts, group: Group, systems: Sequence[str]
) -> "Floats | None":
    """What a composite of each system (column) is without each item (row), which is left out of all its parts.

    None where a part takes too long.
    """
    import numpy as np

    from annotator.stats.intervals.clustered import over

    shapes = dict(_parts(composite))
    used = {name: counts[shape] for name, (shape, _) in shapes.items()}
    items = list(dict.fromkeys(item for one in used.values() for item in _items_of(one, group)))
    left: dict[str, Any] = {}
    for name, (_, metric) in shapes.items():
        if metric.over is Over.RESPONSE:
            grid = np.array(list(_columns(used[name], name, group, systems, items)), dtype=np.float64).T
            there = ~np.isnan(grid)
            scores = np.where(there, grid, 0.0)
            left[name] = over(scores.sum(axis=0) - scores, there.sum(axis=0) - there.astype(np.float64))
            continue
        members = [one for one in used[name].members if group in one.groups]
        own = [
            None
            if metric.over is Over.PROJECT
            else pools.without_each(metric, pools.of_system(members, system), items)
            for system in systems
        ]
        if any(one is None for one in own):
            return None
        left[name] = np.stack(own, axis=1)  # type: ignore[arg-type]
    made: Floats = np.asarray(composite.combine([left[name] for name in composite.of]), dtype=np.float64)
    return made


def _parts(composite: Composite) -> Iterator[tuple[str, tuple[str, Metric]]]:
    for name in composite.of:
        shape = PROTOCOLS[metrics.named(name).protocol]
        yield name, (shape.name, next(metric for metric in shape.metrics if metric.name == name))


def _items_of(counted: Counted, group: Group) -> Iterator[str]:
    yield from (score.item_id for score in counted.scores if group in score.groups)
    yield from (one.material.item.id for one in counted.members if group in one.groups)


def _columns(
    counted: Counted, metric: str, group: Group, systems: Sequence[str], items: Sequence[str]
) -> Iterator[list[float | None]]:
    """What each system scores item by item; None where it has no score."""
    own = (one for one in counted.scores if one.metric == metric and group in one.groups)
    found = results.by_items((one for one in own if one.system_id in systems), systems)
    for system in systems:
        yield [found[system][item].value if item in found[system] else None for item in items]


def _items(composite: Composite, counts: Counts, parts: Mapping[str, ResultRow]) -> int:
    """On how many items the part of a system stands that stands on the fewest."""
    fewest = []
    for name, (shape, metric) in _parts(composite):
        row = parts[name]
        if metric.over is Over.RESPONSE:
            fewest.append(row.estimate.n)
        else:
            own = [one.material for one in counts[shape].members if (row.group_by, row.group) in one.groups]
            fewest.append(len({one.item.id for one in own if one.response.system_id == row.system_id}))
    return min(fewest)
