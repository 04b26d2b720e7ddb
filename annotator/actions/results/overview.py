"""All metrics of all systems, over all items or group by group."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from annotator.actions.authoring import asked
from annotator.actions.authoring.asked import OtherWording
from annotator.actions.project.file import Project
from annotator.actions.results import (
    composites,
    metrics,
    publishing,
    response_scores,
    result_pictures,
    result_raters,
    rule_readings,
)
from annotator.actions.results.metrics import MetricInfo
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
    share,
    text,
)
from annotator.actions.results.results import ResultRow
from annotator.actions.results.rule_readings import FIRST, PUBLIC
from annotator.actions.results.scoring import ALL, FACET, MODE
from annotator.domain.judges.protocol import Over
from annotator.domain.kinds.tasks import TRAITS
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate, interval
from annotator.protocols import PROTOCOLS

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
    answered_otherwise: tuple[OtherWording, ...] = ()
    mode: str = ""
    readable: frozenset[tuple[str, str]] | None = None
    """With replies read by another published rule: the protocols and the ids of the judges that it can read."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    reading: str = ""


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """Whose judgements, which metric, and by what figures are broken down."""
    known = ((EVERY, ""), *((info.title, info.name) for info in metrics.known(project)))
    several = any(one.repeats for of in result_raters.raters_under(project).values() for one in of)
    readings = [
        *([("By the public rule", PUBLIC)] if rule_readings.readable(project) else ()),
        *([("By the first trial alone", FIRST)] if several else ()),
    ]
    tip = "By how the protocol's paper, or the script published with it, takes a judge's reply for a verdict"
    tip += "; or by the first of several trials, as some papers do" if several else ""
    return (
        response_scores.rater_choice(project),
        ViewChoice("metric", "Metric", known),
        ViewChoice("by", "By", GROUPED),
        *(one for one in response_scores.cut_choices(project) if one.name == "mode"),
        *([ViewChoice("reading", "Replies read", (("As here", ""), *readings), tip=tip)] if readings else []),
    )


def report(project: Project, judge: str = "", mode: str = "", reading: str = "") -> ResultsReport:
    """Figures of all protocols by one rater, by default the usual one; computed ones in any case."""
    readable = frozenset(rule_readings.readable(project)) if reading == PUBLIC else None
    found = composites.everything(project, judge, mode=mode, reading=reading)
    infos = {info.name: info for info in metrics.described()}
    shown = {row.metric: infos[row.metric] for row in found}
    otherwise = tuple(asked.answered_otherwise(project))
    there = result_raters.everybody_under(project)
    out = result_raters.not_judged(there, result_raters.together(there, judge)) if not judge else {}
    limit = publishing.limit(project)
    return ResultsReport(tuple(found), shown, limit, otherwise, mode, readable, out, reading)


def sheets(found: ResultsReport, metric: str = "", by: str = ALL) -> tuple[ResultSheet, ...]:
    """Systems down and metrics across; of one metric, everything that belongs to its figures."""
    rows = [row for row in found.rows if row.group_by == by and metric in ("", row.metric)]
    if not rows:
        return ()
    sheet = _wide(found, rows, by) if not metric else _narrow(found, rows, by)
    return (replace(sheet, told=tuple(_told(found, rows)), pictures=tuple(_pictures(found, rows, by))),)


def _wide(found: ResultsReport, rows: list[ResultRow], by: str) -> ResultSheet:
    names = [name for name in found.metrics if any(row.metric == name for row in rows)]
    cells = {(row.group, row.system_id, row.metric): row for row in rows}
    systems = {row.system_id: row.system for row in rows}
    grouped = by != ALL
    heads = columns(
        *([(GROUP, _head(by))] if grouped else []),
        SYSTEM_COLUMN,
        *(_column(found.metrics[name], rows) for name in names),
    )
    lines = []
    for group in dict.fromkeys(row.group for row in rows):
        there = (system for system in systems if any((group, system, name) in cells for name in names))
        places = {one: (not one, *_place(found, cells.get((group, one, names[0])))) for one in there}
        for system in sorted(places, key=lambda one: places[one]):
            own = [
                _with_n(
                    cell(found, cells.get((group, system, name)), _absent(system, found.metrics[name])), rows
                )
                for name in names
            ]
            first = [text(_words(group))] if grouped else []
            lines.append(SheetLine((*first, _system(systems[system]), *own)))
    return ResultSheet("figures", "Figures", heads, tuple(lines))


def _system(name: str) -> SheetCell:
    """A system's name; without one a figure is the project's."""
    return text(name) if name else text(WHOLE, "Over all systems together")


def _absent(system: str, info: MetricInfo) -> str:
    if not system:
        return f"A figure {info.ranging}" if info.over is not Over.RESPONSE else "A figure of each system"
    return "No response" if info.over is not Over.PROJECT else f"A figure {info.ranging}"


def _column(info: MetricInfo, rows: list[ResultRow]) -> SheetColumn:
    """A metric with its unit, and n where it is the same all the way down."""
    n = _ns(rows, info.name)
    ranging = f", {info.ranging}" if info.over is not Over.RESPONSE else ""
    beside = f"n = {n.pop():,}" if len(n) == 1 else ""
    return SheetColumn(key_of(info.name), info.title, f"{info.protocol_title}{ranging}", info.unit, beside)


def _ns(rows: list[ResultRow], metric: str) -> set[int]:
    return {row.estimate.n for row in rows if row.metric == metric and row.estimate.n}


def _with_n(one: SheetCell, rows: list[ResultRow]) -> SheetCell:
    """A figure with its n, where others in its column have another."""
    if one.estimate is None or one.estimate.value is None or len(_ns(rows, one.metric)) < 2:
        return one
    return replace(one, words=f"{one.words}  n {one.estimate.n:,}")


def _place(found: ResultsReport, row: ResultRow | None) -> tuple[bool, float, str]:
    """The complete before the incomplete, the best first."""
    if row is None or row.estimate.value is None:
        return True, 0.0, row.system if row else ""
    sign = -1 if found.metrics[row.metric].higher_is_better else 1
    return bool(row.estimate.missing), sign * row.estimate.value, row.system


def _narrow(found: ResultsReport, rows: list[ResultRow], by: str) -> ResultSheet:
    info = found.metrics[rows[0].metric]
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
        ("publishable", "Publishable", f"At most {percent(found.limit, 1)} of the judgements may be missing"),
    )  # fmt: skip
    groups = list(dict.fromkeys(row.group for row in rows))
    ordered = sorted(rows, key=lambda row: (groups.index(row.group), not row.system_id, *_place(found, row)))
    return ResultSheet("figure", info.title, heads, tuple(_line(found, row, by) for row in ordered))


def _line(found: ResultsReport, row: ResultRow, by: str) -> SheetLine:
    own, why_not = row.estimate, publishing.why_not(row, found.limit)
    rate, gaps = row.missing_rate, bool(own.missing)
    first = [text(_words(row.group))] if by != ALL else []
    whole = cell(found, row)
    cells = (
        *first, _system(row.system), replace(whole, words=_value(own)),
        SheetCell(interval(own, number) or UNDEFINED, own.low, "" if own.low is not None else own.note),
        count(own.n), count(own.missing),
        share(rate),
        *(count(bound if gaps else None, form=".3f") for bound in (own.floor, own.ceiling)),
        SheetCell(FLOOR if row.floor else "no", 1.0, why_not, "unfit") if why_not
        else SheetCell("yes", 0.0, "", "agreed"),
    )  # fmt: skip
    return SheetLine(cells, source=whole.source, picture=whole.picture)


def _value(own: Estimate) -> str:
    said = UNDEFINED if own.value is None else number(own.value)
    return f"{said}  {own.basis.words()}" if own.basis else said


def cell(found: ResultsReport, row: ResultRow | None, absent: str = "No response") -> SheetCell:
    """A figure with what is to be known of it, and what it stands on."""
    if row is None:
        return missing(absent)
    made = figure(row.estimate)
    why_not = publishing.why_not(row, found.limit) if row.estimate.value is not None else ""
    words = [
        f"{row.system or WHOLE}, {_words(row.group)}: {row.title} {made.words}",
        made.tip,
        f"{UNFIT}: {why_not}" if why_not else "",
    ]
    own = FigureSource(
        row.protocol, row.rater_id, row.metric, row.system_id, row.group_by, row.group, mode=found.mode
    )
    # What is made of other figures stands on those beside it.
    source = None if found.metrics[row.metric].of else own
    said = f"{made.words}  {FLOOR}" if row.floor and row.estimate.value is not None else made.words
    return replace(
        made, words=said, tip="\n".join(filter(None, words)), state="unfit" if why_not else made.state, source=source,
        metric=row.metric, picture=_name(row.metric, row.group),
    )  # fmt: skip


def _head(by: str) -> str:
    return next(words for words, value in GROUPED if value == by)


def _words(group: str) -> str:
    return "all items" if group == ALL else group


def _name(metric: str, group: str) -> str:
    return f"{metric}/{group}"


def _told(found: ResultsReport, rows: list[ResultRow]) -> Iterator[str]:
    """What may change how the figures are read comes first, what they are made of after it."""
    if gaps := _gaps(found, rows):
        are = "is" if gaps == 1 else "are"
        yield f"{counted(gaps, 'judgement')} {are} missing behind these figures; none is counted as an answer."
    unfit = sum(
        bool(row.estimate.value is not None and not row.floor and publishing.why_not(row, found.limit))
        for row in rows
    )
    if unfit:
        are, those = ("is", "it") if unfit == 1 else ("are", "them")
        yield (
            f"{counted(unfit, 'figure')} {are} not publishable: more than {percent(found.limit, 1)} of the judgements "
            f"behind {those} are missing."
        )
    yield from _otherwise(found)
    yield from _by_rule(found, rows)
    if found.reading == FIRST:
        yield "Of several trials the first counts alone; what stands behind a figure are all of them."
    by_rater: dict[str, list[str]] = {}
    for name, info in found.metrics.items():
        raters = {row.rater for row in rows if row.metric == name} - {result_raters.COMPUTED}
        for rater in sorted(raters) if info.judged else ():
            by_rater.setdefault(rater, []).append(info.title)
    for rater, titles in by_rater.items():
        about = f": {', '.join(titles)}" if len(by_rater) > 1 else ""
        yield f"Judged by {rater}{about}."
    yield from result_raters.left_out_told(found.left_out)
    yield from publishing.floors(rows)
    yield from publishing.lacking((row.protocol, row.title, row.estimate) for row in rows)
    for gold in dict.fromkeys(row.gold for row in rows if row.gold):
        yield f"Gold: {gold}."


def _by_rule(found: ResultsReport, rows: list[ResultRow]) -> Iterator[str]:
    if found.readable is None:
        return
    for protocol, rater_id, rater in dict.fromkeys((row.protocol, row.rater_id, row.rater) for row in rows):
        shape = PROTOCOLS.get(protocol)
        if shape is None or shape.other_rule is None:
            continue
        if (protocol, rater_id) in found.readable:
            yield (
                f"{shape.title}: replies of {rater} are read by the rule of {shape.other_rule.citation}; "
                f"{shape.other_rule.failed}. What stands behind a figure are the verdicts as read here."
            )
        else:
            yield f"{shape.title}: the rule cannot read what {rater} said; its verdicts count as they are."


def _gaps(found: ResultsReport, rows: list[ResultRow]) -> int:
    """Missing judgements: metrics of one protocol stand on the same ones, the project's on those of all systems."""
    of: dict[tuple[str, str, str], int] = {}
    apart = {row.protocol for row in rows if row.system_id}
    # What is made of others stands on theirs, unless it is looked at alone.
    alone = all(found.metrics[row.metric].of for row in rows)
    for row in rows:
        if (not row.system_id and row.protocol in apart) or (found.metrics[row.metric].of and not alone):
            continue
        key = row.protocol, row.system_id, row.group
        of[key] = max(of.get(key, 0), row.estimate.missing)
    return sum(of.values())


def _otherwise(found: ResultsReport) -> Iterator[str]:
    """Which responses answer a question that was worded anew since."""
    of: dict[str, list[str]] = {}
    for one in found.answered_otherwise:
        of.setdefault(one.item_key, []).append(one.system)
    if of:
        named = "; ".join(f"item {key} ({', '.join(dict.fromkeys(systems))})" for key, systems in of.items())
        many = counted(len(found.answered_otherwise), "response")
        yield f"{many} to another wording of the question than is asked now: {named}."


def _pictures(found: ResultsReport, rows: list[ResultRow], by: str) -> Iterator[SheetPicture]:
    """Systems with their intervals, metric by metric and group by group, and all of it as a heat map."""
    for metric, group in dict.fromkeys((row.metric, row.group) for row in rows):
        info, of = found.metrics[metric], [row for row in rows if (row.metric, row.group) == (metric, group)]
        judge = f", judged by {of[0].rater}" if of[0].rater != result_raters.COMPUTED else ""
        title = f"{info.title}, {_words(group)}{judge}"
        yield SheetPicture(_name(metric, group), title, partial(_intervals, of, title, info))
    yield from _maps(found, rows, by)


def _intervals(rows: list[ResultRow], title: str, info: MetricInfo, ink: result_pictures.Ink) -> object:
    return result_pictures.systems([(row.system or WHOLE, row.estimate) for row in rows], title, info, ink)


def _maps(found: ResultsReport, rows: list[ResultRow], by: str) -> Iterator[SheetPicture]:
    systems = sorted({row.system for row in rows if row.system_id})
    for metric in dict.fromkeys(row.metric for row in rows) if by != ALL else ():
        info = found.metrics[metric]
        values = {
            (_words(r.group), r.system): r.estimate.value for r in rows if r.metric == metric and r.system_id
        }
        groups = list(dict.fromkeys(group for group, _ in values))
        title = f"{info.title}, by {_head(by).lower()}"
        if len(groups) > 1:
            draw = partial(result_pictures.heat, title, groups, systems, values, info)
            yield SheetPicture(f"map/{metric}", f"{title} (heat map)", draw)
    shares = [name for name in found.metrics if found.metrics[name].share]
    across = {
        (found.metrics[row.metric].title, row.system): row.estimate.value
        for row in rows
        if row.metric in shares and row.system_id
    }
    titles = list(dict.fromkeys(metric for metric, _ in across))
    if by == ALL and len(titles) > 1:
        title = "All metrics between 0 and 1"
        yield SheetPicture(
            "map", f"{title} (heat map)", partial(result_pictures.heat, title, titles, systems, across, None)
        )
