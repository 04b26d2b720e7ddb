"""All metrics of all systems, over all items or group by group."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Any

from annotator.actions.authoring import annotating
from annotator.actions.project.file import Project
from annotator.actions.results import result_raters, results, scoring
from annotator.actions.results.result_raters import COMPUTED, FIRST, PUBLIC, Spoken
from annotator.actions.results.result_sheets import (
    SYSTEM_COLUMN,
    UNDEFINED,
    FigureSource,
    ResultSheet,
    SheetCell,
    SheetColumn,
    SheetLine,
    SheetPicture,
    ViewChoice,
    columns,
    count,
    figure,
    key_of,
    missing,
    number,
    percent,
    picture,
    share,
    text,
)
from annotator.actions.results.results import Counted, ResultRow
from annotator.actions.results.scoring import ALL, FACET, MODE, Group, MetricInfo
from annotator.domain.common import counted, grouped
from annotator.domain.judges.paper import Paper
from annotator.domain.judges.protocol import Composite, Metric, Over
from annotator.domain.kinds.tasks import TRAITS
from annotator.domain.material.item import EXEMPLAR
from annotator.domain.texts.estimate import Estimate, interval
from annotator.exchange import pictures
from annotator.protocols import COMPOSITES, PROTOCOLS

if TYPE_CHECKING:
    from annotator.stats.intervals.coding import Floats

NO_PARTS = f"{results.NO_INTERVAL}it is made of a figure that has none"
# The verdicts under each protocol.
Counts = Mapping[str, Counted]


def everything(project: Project, judge: str = "", *, mode: str = "", reading: str = "") -> list[ResultRow]:
    """Figures of all protocols by one rater, by default the usual one, and computed ones.

    They are followed by the papers' composite figures. Responses of one mode count. With the `reading` PUBLIC, replies
    are read by the protocol's other published rule, if it has one that can read the judge's; with FIRST only a judge's
    first trial counts.
    """
    counts = gathered(project, None, judge, mode=mode, reading=reading)
    rows = [row for count in counts.values() for row in results.rows_of(count)]
    return [*rows, *made_of(counts, rows)]


def gathered(
    project: Project,
    protocols: Iterable[str] | None = None,
    judge: str = "",
    *,
    mode: str = "",
    reading: str = "",
) -> dict[str, Counted]:
    """One rater's verdicts (by default the usual one's) under these protocols, or all in use, and computed figures."""
    counts: dict[str, Counted] = {}
    readable = result_raters.readable(project) if reading == PUBLIC else ()
    result = result_raters.everybody_under(project, protocols)
    for protocol, rater in result_raters.together(result, judge).items():
        read: Iterable[Spoken] | None = None
        if (protocol, rater.id) in readable:
            read = result_raters.read(project, PROTOCOLS[protocol], rater.id)
        elif reading == FIRST and rater.repeats:
            read = result_raters.in_trials(project, PROTOCOLS[protocol], rater.id, first=True)
            rater = replace(rater, repeats=None)
        counts[protocol] = results.counted_of(project, rater, protocol, mode=mode, read=read)
    return counts


def released(project: Project) -> Iterator[ResultRow]:
    """The figures of a release: people's, computed ones, and those of judges, as on the Results page."""
    computed: dict[str, Counted] = {}
    by_rater: dict[str, dict[str, Counted]] = {}
    rows: list[ResultRow] = []
    for protocol, raters in result_raters.raters_under(project).items():
        for rater in raters:
            result = results.counted_of(project, rater, protocol)
            (computed if rater.id == COMPUTED else by_rater.setdefault(rater.id, {}))[protocol] = result
            rows += results.rows_of(result)
    yield from rows
    for rater_id, own in (by_rater or {COMPUTED: {}}).items():
        yield from made_of(computed | own, [row for row in rows if row.rater_id in (rater_id, COMPUTED)])


def made_of(counts: Counts, rows: Sequence[ResultRow]) -> list[ResultRow]:
    """The composite figures of these verdicts, from their own figures; omitted if none of their parts exists."""
    return [
        row for paper, composite in COMPOSITES.values() for row in rows_of(paper, composite, counts, rows)
    ]


def rows_of(
    paper: Paper, composite: Composite, counts: Counts, rows: Sequence[ResultRow]
) -> Iterator[ResultRow]:
    """One composite figure of each system; exemplars have a composite of the figures that apply to them."""
    apart = exemplars(counts) if composite.of_exemplar else frozenset()
    yield from _rows(paper, composite, counts, [row for row in rows if row.system_id not in apart])
    if apart:
        of_them = replace(composite, of=composite.of_exemplar)
        yield from _rows(paper, of_them, counts, [row for row in rows if row.system_id in apart])


def exemplars(counts: Counts) -> frozenset[str]:
    """The ids of the systems whose responses are exemplars, written by people for systems to match."""
    scores = (score for count in counts.values() for score in count.scores)
    return frozenset(score.system_id for score in scores if score.mode == EXEMPLAR)


def _rows(
    paper: Paper, composite: Composite, counts: Counts, rows: Sequence[ResultRow]
) -> Iterator[ResultRow]:
    parts = [row for row in rows if row.metric in composite.of and row.group_by != FACET and row.system_id]
    raters = {row.rater_id: row.rater for row in parts if row.rater_id != COMPUTED}
    needing = {info.name for info in scoring.described() if info.judged}
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
        result = {system: _made(composite, of) for system, of in by_system.items()}
        whole = [system for system, (estimate, _) in result.items() if estimate.value is not None]
        without = without_each(composite, counts, group, whole) if whole else None
        for system, (estimate, judged) in result.items():
            if system in whole:
                own = None if without is None else without[:, whole.index(system)]
                estimate = results.with_interval(
                    estimate, own, _items(composite, counts, by_system[system]), composite.within, NO_PARTS
                )
            yield ResultRow(
                *whose, system, systems[system], *group, estimate, composite.title, composite.unit, judged, Over.SYSTEM,
                floor=any(row.floor for row in by_system[system].values()),
                repeats=next((row.repeats for row in by_system[system].values() if row.repeats), None),
            )  # fmt: skip


def _made(composite: Composite, parts: Mapping[str, ResultRow]) -> tuple[Estimate, int]:
    """A composite of one system, and the number of judgements behind it; metrics of one protocol share theirs."""
    known_as = {info.name: info.title for info in scoring.described()}
    # A figure that is not implemented yet is shown by its name.
    titles = {name: known_as.get(name, name) for name in composite.of}
    by_protocol = grouped((row.protocol, row) for row in parts.values()).values()
    gaps = sum(max(row.estimate.missing for row in rows) for rows in by_protocol)
    judged = sum(max(row.judged for row in rows) for rows in by_protocol)
    known = {name: row.estimate for name, row in parts.items() if row.estimate.value is not None}
    absent = [titles[name] for name in composite.of if name not in known]
    method = f"made of {', '.join(titles.values())}"
    if absent:
        note = f"{', '.join(absent)} {'is' if len(absent) == 1 else 'are'} undefined"
        return Estimate(None, missing=gaps, method=method, note=note), judged
    value, floor, ceiling = (
        _combined(composite, [_end(known[name], end) for name in composite.of])
        for end in ("value", "floor", "ceiling")
    )
    if any(estimate.missing and estimate.floor is None for estimate in known.values()):
        floor = ceiling = None
    note = "its parts' values have no such figure" if value is None else ""
    return Estimate(
        value,
        n=min(estimate.n for estimate in known.values()),
        missing=gaps,
        floor=floor,
        ceiling=ceiling,
        method=method,
        note=note,
    ), judged


def _end(estimate: Estimate, end: str) -> Any:
    """The value, or a bound of it; if nothing is missing, the value is its own bound."""
    bound = getattr(estimate, end)
    return estimate.value if bound is None else bound


def _combined(composite: Composite, values: Sequence[float]) -> float | None:
    made = float(composite.combine(values))
    return None if isnan(made) else made


def without_each(
    composite: Composite, counts: Counts, group: Group, systems: Sequence[str]
) -> "Floats | None":
    """A composite of each system (column) without each item (row), which is left out of all its parts.

    None if a part takes too long.
    """
    import numpy as np

    from annotator.stats.intervals.clustered import over

    protocols = dict(_parts(composite))
    used = {name: counts[protocol] for name, (protocol, _) in protocols.items()}
    items = list(dict.fromkeys(item for one in used.values() for item in _items_of(one, group)))
    left: dict[str, Any] = {}
    for name, (_, metric) in protocols.items():
        if metric.over is Over.RESPONSE:
            means = results.by_items(
                (
                    score
                    for score in used[name].scores
                    if score.metric == name and group in score.groups and score.system_id in systems
                ),
                systems,
            )
            grid = np.array(
                [
                    [means[system][item].value if item in means[system] else None for system in systems]
                    for item in items
                ],
                dtype=np.float64,
            )
            defined = ~np.isnan(grid)
            scores = np.where(defined, grid, 0.0)
            left[name] = over(scores.sum(axis=0) - scores, defined.sum(axis=0) - defined.astype(np.float64))
            continue
        members = [member for member in used[name].members if group in member.groups]
        own = [
            None
            if metric.over is Over.PROJECT
            else results.without_each(metric, results.of_system(members, system), items)
            for system in systems
        ]
        if any(one is None for one in own):
            return None
        left[name] = np.stack(own, axis=1)  # type: ignore[arg-type]
    made: Floats = np.asarray(composite.combine([left[name] for name in composite.of]), dtype=np.float64)
    return made


def _parts(composite: Composite) -> Iterator[tuple[str, tuple[str, Metric]]]:
    for name in composite.of:
        protocol = PROTOCOLS[scoring.named(name).protocol]
        yield name, (protocol.name, next(metric for metric in protocol.metrics if metric.name == name))


def _items_of(counted: Counted, group: Group) -> Iterator[str]:
    yield from (score.item_id for score in counted.scores if group in score.groups)
    yield from (member.material.item.id for member in counted.members if group in member.groups)


def _items(composite: Composite, counts: Counts, parts: Mapping[str, ResultRow]) -> int:
    fewest = []
    for name, (protocol, metric) in _parts(composite):
        row = parts[name]
        if metric.over is Over.RESPONSE:
            fewest.append(row.estimate.n)
            continue
        members = [one for one in counts[protocol].members if (row.group_by, row.group) in one.groups]
        pools = results.of_system(members, row.system_id).values()
        fewest.append(len({scored.material.item.id for pool in pools for scored in pool}))
    return min(fewest)


EVERY = "All metrics"
GROUPED = (
    ("All items together", ALL),
    ("Question type", "question_type"),
    ("Subject", "subject"),
    *((name.capitalize(), name) for name in TRAITS),
    ("Aspect", FACET),
    ("Mode", MODE),
)
UNFIT, FLOOR = "not publishable", "floor"
WHOLE = "The whole project"
GROUP = "group"


@dataclass(frozen=True, slots=True)
class ResultsReport:
    """Every figure, the definition of each metric, and the limit of missing judgements for publication."""

    rows: tuple[ResultRow, ...]
    metrics: Mapping[str, MetricInfo]
    limit: float
    answered_otherwise: tuple[tuple[str, str], ...] = ()
    mode: str = ""
    # If replies are read by another published rule: the protocols and ids of the judges it can read; otherwise None.
    readable: frozenset[tuple[str, str]] | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    reading: str = ""


def choices(project: Project) -> tuple[ViewChoice, ...]:
    known = ((EVERY, ""), *((info.title, info.name) for info in scoring.known(project)))
    several = any(rater.repeats for of in result_raters.raters_under(project).values() for rater in of)
    readings = [
        *([("By the public rule", PUBLIC)] if result_raters.readable(project) else ()),
        *([("By the first trial alone", FIRST)] if several else ()),
    ]
    tip = "By how the protocol's paper, or the script published with it, takes a judge's reply for a verdict"
    tip += "; or by the first of several trials, as some papers do" if several else ""
    return (
        results.rater_choice(project),
        ViewChoice("metric", "Metric", known),
        ViewChoice("by", "By", GROUPED),
        *(cut_choice for cut_choice in results.cut_choices(project) if cut_choice.name == "mode"),
        *([ViewChoice("reading", "Replies read", (("As here", ""), *readings), tip=tip)] if readings else []),
    )


def report(project: Project, judge: str = "", mode: str = "", reading: str = "") -> ResultsReport:
    """The report of all protocols by one rater, by default the usual one, and of computed figures."""
    readable = frozenset(result_raters.readable(project)) if reading == PUBLIC else None
    result = everything(project, judge, mode=mode, reading=reading)
    infos = {info.name: info for info in scoring.described()}
    shown = {row.metric: infos[row.metric] for row in result}
    otherwise = tuple(annotating.answered_otherwise(project))
    raters = result_raters.everybody_under(project)
    out = result_raters.not_judged(raters, result_raters.together(raters, judge)) if not judge else {}
    return ResultsReport(
        tuple(result), shown, results.limit(project), otherwise, mode, readable, out, reading
    )


def sheets(report: ResultsReport, metric: str = "", by: str = ALL) -> tuple[ResultSheet, ...]:
    """Systems down and metrics across; for one metric, a table of every part of its figures."""
    rows = [row for row in report.rows if row.group_by == by and metric in ("", row.metric)]
    if not rows:
        return ()
    sheet = _wide(report, rows, by) if not metric else _narrow(report, rows, by)
    return (replace(sheet, notes=tuple(_notes(report, rows)), pictures=tuple(_pictures(report, rows, by))),)


def _wide(report: ResultsReport, rows: list[ResultRow], by: str) -> ResultSheet:
    names = [name for name in report.metrics if any(row.metric == name for row in rows)]
    cells = {(row.group, row.system_id, row.metric): row for row in rows}
    systems = {row.system_id: row.system for row in rows}
    grouped = by != ALL
    heads = columns(
        *([(GROUP, _head(by))] if grouped else []),
        SYSTEM_COLUMN,
        *(_column(report.metrics[name], rows) for name in names),
    )
    lines = []
    for group in dict.fromkeys(row.group for row in rows):
        present = (system for system in systems if any((group, system, name) in cells for name in names))
        places = {one: (not one, *_place(report, cells.get((group, one, names[0])))) for one in present}
        for system in sorted(places, key=lambda one: places[one]):
            own = [
                _with_n(
                    cell(report, cells.get((group, system, name)), _absent(system, report.metrics[name])),
                    rows,
                )
                for name in names
            ]
            first = [text(_words(group))] if grouped else []
            lines.append(SheetLine((*first, _system(systems[system]), *own)))
    return ResultSheet("figures", "Figures", heads, tuple(lines))


def _system(name: str) -> SheetCell:
    """A system's name; a figure without a system is the whole project's."""
    return text(name) if name else text(WHOLE, "Over all systems together")


def _absent(system: str, info: MetricInfo) -> str:
    if not system:
        return f"A figure {info.ranging}" if info.over is not Over.RESPONSE else "A figure of each system"
    return "No response" if info.over is not Over.PROJECT else f"A figure {info.ranging}"


def _column(info: MetricInfo, rows: list[ResultRow]) -> SheetColumn:
    n = _ns(rows, info.name)
    ranging = f", {info.ranging}" if info.over is not Over.RESPONSE else ""
    beside = f"n = {n.pop():,}" if len(n) == 1 else ""
    return SheetColumn(key_of(info.name), info.title, f"{info.protocol_title}{ranging}", info.unit, beside)


def _ns(rows: list[ResultRow], metric: str) -> set[int]:
    return {row.estimate.n for row in rows if row.metric == metric and row.estimate.n}


def _with_n(cell: SheetCell, rows: list[ResultRow]) -> SheetCell:
    """A figure with its n, if others in its column have a different one."""
    if cell.estimate is None or cell.estimate.value is None or len(_ns(rows, cell.metric)) < 2:
        return cell
    return replace(cell, words=f"{cell.words}  n {cell.estimate.n:,}")


def _place(results_report: ResultsReport, row: ResultRow | None) -> tuple[bool, float, str]:
    if row is None or row.estimate.value is None:
        return True, 0.0, row.system if row else ""
    sign = -1 if results_report.metrics[row.metric].higher_is_better else 1
    return bool(row.estimate.missing), sign * row.estimate.value, row.system


def _narrow(report: ResultsReport, rows: list[ResultRow], by: str) -> ResultSheet:
    info = report.metrics[rows[0].metric]
    mean = info.over is Over.RESPONSE
    heads = columns(
        *([(GROUP, _head(by))] if by != ALL else []), SYSTEM_COLUMN,
        (key_of(info.name), info.title, f"The {info.ranging}" if mean else info.ranging.capitalize(), info.unit),
        ("interval", "95 % interval"),
        ("n", "Items", "How many items the mean is over") if mean else ("n", "n", "How much was counted"),
        ("missing", "Missing", "Missing judgements"),
        ("share_missing", "Share missing", "Of all judgements that were needed"),
        ("at_least", "At least", "The lowest it can be, whatever the missing judgements say"),
        ("at_most", "At most", "The highest it can be, whatever the missing judgements say"),
        ("publishable", "Publishable", f"At most {percent(report.limit, 1)} of the judgements may be missing"),
    )  # fmt: skip
    groups = list(dict.fromkeys(row.group for row in rows))
    ordered = sorted(rows, key=lambda row: (groups.index(row.group), not row.system_id, *_place(report, row)))
    return ResultSheet("figure", info.title, heads, tuple(_line(report, row, by) for row in ordered))


def _line(report: ResultsReport, row: ResultRow, by: str) -> SheetLine:
    own, why_not = row.estimate, results.why_not(row, report.limit)
    gaps = bool(own.missing)
    whole = cell(report, row)
    cells = (
        *([text(_words(row.group))] if by != ALL else []), _system(row.system), replace(whole, words=_value(own)),
        SheetCell(interval(own, number) or UNDEFINED, own.low, "" if own.low is not None else own.note),
        count(own.n), count(own.missing),
        share(row.missing_rate),
        *(count(bound if gaps else None, form=".3f") for bound in (own.floor, own.ceiling)),
        SheetCell(FLOOR if row.floor else "no", 1.0, why_not, "unfit") if why_not
        else SheetCell("yes", 0.0, "", "agreed"),
    )  # fmt: skip
    return SheetLine(cells, source=whole.source, picture=whole.picture)


def _value(own: Estimate) -> str:
    shown = UNDEFINED if own.value is None else number(own.value)
    return f"{shown}  {own.basis.words()}" if own.basis else shown


def cell(report: ResultsReport, row: ResultRow | None, absent: str = "No response") -> SheetCell:
    if row is None:
        return missing(absent)
    made = figure(row.estimate)
    why_not = results.why_not(row, report.limit) if row.estimate.value is not None else ""
    words = [
        f"{row.system or WHOLE}, {_words(row.group)}: {row.title} {made.words}",
        made.tip,
        f"{UNFIT}: {why_not}" if why_not else "",
    ]
    own = FigureSource(
        row.protocol, row.rater_id, row.metric, row.system_id, row.group_by, row.group, mode=report.mode
    )
    # Composite figures are based on those beside them.
    source = None if report.metrics[row.metric].of else own
    shown = f"{made.words}  {FLOOR}" if row.floor and row.estimate.value is not None else made.words
    return replace(
        made, words=shown, tip="\n".join(filter(None, words)), state="unfit" if why_not else made.state, source=source,
        metric=row.metric, picture=_name(row.metric, row.group),
    )  # fmt: skip


def _head(by: str) -> str:
    return next(words for words, value in GROUPED if value == by)


def _words(group: str) -> str:
    return "all items" if group == ALL else group


def _name(metric: str, group: str) -> str:
    return f"{metric}/{group}"


def _notes(report: ResultsReport, rows: list[ResultRow]) -> Iterator[str]:
    """Notes: first what may change how the figures are read, then what they are based on."""
    if gaps := _gaps(report, rows):
        are = "is" if gaps == 1 else "are"
        yield f"{counted(gaps, 'judgement')} {are} missing behind these figures; none is counted as an answer."
    unfit = sum(
        bool(row.estimate.value is not None and not row.floor and results.why_not(row, report.limit))
        for row in rows
    )
    if unfit:
        are, those = ("is", "it") if unfit == 1 else ("are", "them")
        yield (
            f"{counted(unfit, 'figure')} {are} not publishable: more than {percent(report.limit, 1)} of the judgements "
            f"behind {those} are missing."
        )
    yield from _otherwise(report)
    yield from _by_rule(report, rows)
    if report.reading == FIRST:
        yield "Of several trials the first counts alone; what stands behind a figure are all of them."
    by_rater = grouped(
        (rater, info.title)
        for name, info in report.metrics.items()
        if info.judged
        for rater in sorted({row.rater for row in rows if row.metric == name} - {result_raters.COMPUTED})
    )
    for rater, titles in by_rater.items():
        about = f": {', '.join(titles)}" if len(by_rater) > 1 else ""
        yield f"Judged by {rater}{about}."
    yield from result_raters.left_out_notes(report.left_out)
    yield from results.floors(rows)
    yield from results.lacking((row.protocol, row.title, row.estimate) for row in rows)
    for gold in dict.fromkeys(row.gold for row in rows if row.gold):
        yield f"Gold: {gold}."


def _by_rule(report: ResultsReport, rows: list[ResultRow]) -> Iterator[str]:
    if report.readable is None:
        return
    for protocol, rater_id, rater in dict.fromkeys((row.protocol, row.rater_id, row.rater) for row in rows):
        definition = PROTOCOLS.get(protocol)
        if definition is None or definition.other_rule is None:
            continue
        if (protocol, rater_id) in report.readable:
            yield (
                f"{definition.title}: replies of {rater} are read by the rule of {definition.other_rule.citation}; "
                f"{definition.other_rule.failed}. What stands behind a figure are the verdicts as read here."
            )
        else:
            yield f"{definition.title}: the rule cannot read what {rater} said; its verdicts count as they are."


def _gaps(results_report: ResultsReport, rows: list[ResultRow]) -> int:
    """Missing judgements, each counted once: metrics of a protocol share theirs, and the project its systems'."""
    of: dict[tuple[str, str, str], int] = {}
    apart = {row.protocol for row in rows if row.system_id}
    # Composite figures share the judgements of their parts, unless shown alone.
    alone = all(results_report.metrics[row.metric].of for row in rows)
    for row in rows:
        if (not row.system_id and row.protocol in apart) or (
            results_report.metrics[row.metric].of and not alone
        ):
            continue
        key = row.protocol, row.system_id, row.group
        of[key] = max(of.get(key, 0), row.estimate.missing)
    return sum(of.values())


def _otherwise(report: ResultsReport) -> Iterator[str]:
    of = grouped(report.answered_otherwise)
    if of:
        named = "; ".join(f"item {key} ({', '.join(dict.fromkeys(systems))})" for key, systems in of.items())
        many = counted(len(report.answered_otherwise), "response")
        yield f"{many} to another wording of the question than is asked now: {named}."


def _pictures(report: ResultsReport, rows: list[ResultRow], by: str) -> Iterator[SheetPicture]:
    """Systems with their intervals, metric by metric and group by group, and a heat map of everything."""
    for metric, group in dict.fromkeys((row.metric, row.group) for row in rows):
        info, of = report.metrics[metric], [row for row in rows if (row.metric, row.group) == (metric, group)]
        judge = f", judged by {of[0].rater}" if of[0].rater != result_raters.COMPUTED else ""
        unit = f" ({info.unit})" if info.unit else ""
        with_interval = ", 95 % interval" if any(row.estimate.low is not None for row in of) else ""
        yield picture(
            _name(metric, group),
            f"{info.title}, {_words(group)}{judge}",
            pictures.intervals,
            [(row.system or WHOLE, row.estimate) for row in of],
            f"{info.title}{unit}: {info.ranging}{with_interval}",
            within=info.axis,
            higher_is_better=info.higher_is_better,
        )
    yield from _maps(report, rows, by)


def _maps(report: ResultsReport, rows: list[ResultRow], by: str) -> Iterator[SheetPicture]:
    systems = sorted({row.system for row in rows if row.system_id})
    for metric in dict.fromkeys(row.metric for row in rows) if by != ALL else ():
        info = report.metrics[metric]
        values = {
            (_words(r.group), r.system): r.estimate.value for r in rows if r.metric == metric and r.system_id
        }
        groups = list(dict.fromkeys(group for group, _ in values))
        title = f"{info.title}, by {_head(by).lower()}"
        if len(groups) > 1:
            yield SheetPicture(
                f"map/{metric}",
                f"{title} (heat map)",
                partial(pictures.heat, title, groups, systems, values, info.axis),
            )
    shares = [name for name in report.metrics if report.metrics[name].share]
    across = {
        (report.metrics[row.metric].title, row.system): row.estimate.value
        for row in rows
        if row.metric in shares and row.system_id
    }
    titles = list(dict.fromkeys(metric for metric, _ in across))
    if by == ALL and len(titles) > 1:
        title = "All metrics between 0 and 1"
        yield SheetPicture(
            "map", f"{title} (heat map)", partial(pictures.heat, title, titles, systems, across, (0.0, 1.0))
        )
