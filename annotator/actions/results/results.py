"""Results of a metric: each system's scores with intervals, by group, and the judgements behind them."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import ColumnElement, and_, func, select

from annotator.actions.authoring import annotating
from annotator.actions.items.items import ANSWERED
from annotator.actions.project.file import Project, change_setting
from annotator.actions.results import result_raters, scoring
from annotator.actions.results.result_raters import COMPUTED, Repeats, ResultRater, Spoken, chosen, everybody
from annotator.actions.results.result_sheets import ViewChoice, columns, percent
from annotator.actions.results.scoring import (
    ALL,
    GROUPINGS,
    Group,
    ItemRow,
    JudgedResponse,
    MetricInfo,
    Score,
    mean_of_runs,
)
from annotator.domain.common import Change, Refusal, grouped
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.judges.protocol import Metric, Over, Protocol, RatedResponse
from annotator.domain.kinds.tasks import TRAITS
from annotator.domain.material.item import EXEMPLAR
from annotator.domain.texts.estimate import (
    NO_WIDTH,
    Estimate,
    bases,
    enough,
    of_items,
    settled,
    without_width,
)
from annotator.protocols import PROTOCOLS, USUAL
from annotator.stats.intervals.student import bounds_of, interval_name, mean_of_scores
from annotator.storage.tables import ITEM, RESPONSE, SYSTEM

if TYPE_CHECKING:
    from annotator.stats.intervals.coding import Floats

# A figure without a resampling function is computed without each item for at most this many responses.
MOST_REPORTS = 200
NO_INTERVAL = "no interval: "
TOO_LONG = f"{NO_INTERVAL}it would be computed once for each of more than {MOST_REPORTS} reports, which takes too long"
OF_PROJECT = f"{NO_INTERVAL}none is made for a figure of the whole project"
Pool = Sequence[RatedResponse]
# By system id, "" for the project: a figure, and the number of valid judgements behind it.
Figures = dict[str, tuple[Estimate, int]]


def figures(
    protocol: Protocol, metric: Metric, members: Sequence[JudgedResponse], systems: Sequence[str]
) -> Figures:
    """A metric over these responses: for each of these systems, or for the names in its table.

    For people, a figure is computed from each one's pool, and these are averaged.
    """
    if metric.over is Over.PROJECT:
        return _tabled(protocol, metric, _by_rater(members), systems)
    items = list(dict.fromkeys(member.material.item.id for member in members))
    return {system: _pooled(protocol, metric, of_system(members, system), items) for system in systems}


def of_system(members: Iterable[JudgedResponse], system: str) -> dict[str, Pool]:
    return _by_rater(member for member in members if member.material.response.system_id == system)


def _by_rater(members: Iterable[JudgedResponse]) -> dict[str, Pool]:
    return dict(grouped((rater, scored) for member in members for rater, scored in member.ratings.items()))


def _tabled(protocol: Protocol, metric: Metric, pools: Mapping[str, Pool], systems: Sequence[str]) -> Figures:
    if metric.table is None:
        raise TypeError(f"{metric.name} is no figure of the project")
    tables = {rater: metric.table(pool, True) for rater, pool in pools.items()}
    result: Figures = {}
    for name in (*systems, ""):
        answers = {rater: table[name] for rater, table in tables.items() if name in table}
        if answers:
            own = {
                rater: [
                    response
                    for response in pools[rater]
                    if name in ("", response.material.response.system_id)
                ]
                for rater in answers
            }
            estimate, judged = _together(protocol, answers, own)
            bare = estimate.value is not None and estimate.low is None
            result[name] = (estimate.remarked(OF_PROJECT) if bare else estimate), judged
    return result


def _pooled(
    protocol: Protocol, metric: Metric, pools: Mapping[str, Pool], items: Sequence[str]
) -> tuple[Estimate, int]:
    if not pools or metric.pooled is None:
        return Estimate(None, note="no report to count"), 0
    result = {rater: metric.pooled(pool, True) for rater, pool in pools.items()}
    estimate, judged = _together(protocol, result, pools)
    if estimate.value is None:
        return estimate, judged
    present = {response.material.item.id for pool in pools.values() for response in pool}
    without = without_each(metric, pools, [item for item in items if item in present])
    return with_interval(estimate, without, len(present), metric.within, TOO_LONG), judged


def _together(
    protocol: Protocol, estimates: Mapping[str, Estimate], pools: Mapping[str, Pool]
) -> tuple[Estimate, int]:
    """The mean of raters' figures, and the judgements behind it; a figure may count other things than units."""
    valid = {rater: sum(scoring.came(protocol, scored) for scored in pools[rater]) for rater in estimates}
    judged = sum(max(estimate.n, valid[rater]) for rater, estimate in estimates.items())
    return scoring.mean_of_raters(estimates, f"mean of {len(estimates):,} people's figures"), judged


def without_each(metric: Metric, pools: Mapping[str, Pool], items: Sequence[str]) -> "Floats | None":
    """A pooled metric without each of these items; None if that takes too long."""
    import numpy as np

    if metric.resampled is None and max(map(len, pools.values()), default=0) > MOST_REPORTS:
        return None
    places = {item: place for place, item in enumerate(items)}
    times = 1 - np.eye(len(items))
    by_rater = []
    for pool in pools.values():
        own = times[:, [places[response.material.item.id] for response in pool]]
        by_rater.append(
            _resampled(metric, pool, own) if metric.resampled is None else metric.resampled(pool, True, own)
        )
    grid = np.stack(by_rater)
    known = ~np.isnan(grid)
    sums = np.where(known, grid, 0.0).sum(axis=0)
    means: Floats = np.divide(
        sums, known.sum(axis=0), out=np.full(len(times), np.nan), where=known.any(axis=0)
    )
    return means


def _resampled(metric: Metric, pool: Pool, times: "Floats") -> "Floats":
    """The paper's own function, once for every selection of responses."""
    import numpy as np

    result = np.full(len(times), np.nan)
    for place, row in enumerate(times.tolist()):
        chosen = [response for response, often in zip(pool, row, strict=True) if often]
        value = metric.pooled(chosen, True).value if chosen and metric.pooled is not None else None
        result[place] = np.nan if value is None else value
    return result


def with_interval(
    estimate: Estimate, without: "Floats | None", items: int, within: tuple[float, float], why_not: str
) -> Estimate:
    """A figure with the jackknife interval from its values without each item; if it has none, with the reason."""
    import numpy as np

    from annotator.stats.intervals.clustered import ONE_CLUSTER, jackknifed

    if without is None:
        return estimate.remarked(why_not)
    if estimate.value is None or not enough(items):
        return settled(estimate, items)
    if np.isnan(without).any():
        return estimate.remarked(of_items(ONE_CLUSTER))
    low, high = bounds_of(estimate.value, jackknifed(without), items, within)
    method = f"{interval_name(within)}, jackknife over {items:,} items"
    result = replace(estimate, low=low, high=high, method="; ".join(filter(None, (estimate.method, method))))
    result = settled(result, items, within=within)
    return result.remarked(f"no item differs, so {NO_WIDTH}") if without_width(result) else result


Grouped = TypeVar("Grouped", Score, JudgedResponse)


@dataclass(frozen=True, slots=True)
class Counted:
    """A rater's verdicts under a protocol, prepared for figures: by response, and for pools.

    `systems` maps the ids of those that answered to names, sorted by name.
    """

    protocol: Protocol
    rater: ResultRater
    scores: Sequence[Score] = field(repr=False)
    members: Sequence[JudgedResponse] = field(repr=False)
    systems: Mapping[str, str]
    gold: str = ""

    def fitted(self, metric: Metric) -> Metric:
        """The metric fitted to all that is compared, if it depends on that."""
        if metric.fitted is None:
            return metric
        return metric.fitted([scored for response in self.members for scored in response.ratings.values()])


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One figure: a metric of a system within a group, by one rater; `title`, `unit` and `over` are the metric's.

    `gold` says whose gold it is based on.

    `judged` counts the valid judgements behind it, `floor` is true for the baseline's. A figure of the whole project
    has no system.
    """

    metric: str
    protocol: str
    rater_id: str
    rater: str
    system_id: str
    system: str
    group_by: str
    group: str
    estimate: Estimate
    title: str = ""
    unit: str = ""
    judged: int = 0
    over: Over = Over.RESPONSE
    gold: str = ""
    floor: bool = False
    remark: str = ""
    repeats: Repeats | None = None

    @property
    def missing_rate(self) -> float | None:
        """The share of missing judgements among those needed; None if none is needed."""
        total = self.judged + self.estimate.missing
        return self.estimate.missing / total if total else None


def rows(project: Project, rater_id: str = "", protocol: str = USUAL, *, mode: str = "") -> list[ResultRow]:
    """Every system's figures, metric by metric: for all items, and by type, subject, mode and facet.

    By default the last judge's. A figure is computed over the valid judgements; `missing` counts the others, and
    `floor` and `ceiling` bound the figure with them. Intervals are over items. A computed metric without any known
    value is omitted. Responses of one mode count.
    """
    result = counted(project, rater_id, protocol, mode=mode)
    return [] if result is None else rows_of(result)


def counted(project: Project, rater_id: str = "", protocol: str = USUAL, *, mode: str = "") -> Counted | None:
    """A rater's verdicts under a protocol, by default the last judge's; None if they have not judged it."""
    rater = chosen(everybody(project, protocol), rater_id)
    return counted_of(project, rater, protocol, mode=mode) if rater is not None else None


def counted_of(
    project: Project, rater: ResultRater, protocol: str, *, mode: str = "",
    read: Iterable[Spoken] | None = None,
) -> Counted:  # fmt: skip
    """The same for a rater who is known to have judged; `read` replaces the rater's own values."""
    definition = PROTOCOLS[protocol]
    together = any(metric.over is not Over.RESPONSE for metric in definition.metrics)
    scores: list[Score] = []
    members: list[JudgedResponse] = []
    answering, items = set(), set()
    # For another mode than the main one, only the systems that answered in it.
    only = mode if mode != scoring.main_mode(project) else ""
    for response in scoring.judged_responses(project, definition, rater.id, mode=mode, read=read):
        if only not in ("", response.material.response.mode):
            continue
        answering.add(response.material.response.system_id)
        items.add(response.material.item.id)
        scores += scoring.scores_of(definition, response)
        members += [response] if together else []
    with project.store.read() as db:
        systems = {row.id: row.name for row in db.execute(select(SYSTEM).order_by(SYSTEM.c.name))}
        whose = annotating.words(db, definition.needs, items, rater=rater.id)
    present = {system_id: name for system_id, name in systems.items() if system_id in answering}
    return Counted(definition, rater, scores, members, present, whose)


def rows_of(counted: Counted) -> list[ResultRow]:
    """The figures of these verdicts, metric by metric and group by group."""
    protocol, rater, present, result = counted.protocol, counted.rater, counted.systems, []
    steps = tuple(protocol.steps) if any(score.mode == EXEMPLAR for score in counted.scores) else ()
    for metric in map(counted.fitted, protocol.metrics):
        of_rows = [
            ResultRow(
                metric.name,
                protocol.name,
                rater.id,
                rater.name,
                system_id,
                present.get(system_id, ""),
                *group,
                _over_trials(estimate, rater.repeats),
                metric.title,
                metric.unit,
                judged,
                metric.over,
                counted.gold,
                floor=rater.floor,
                remark=rater.remark,
                repeats=rater.repeats,
            )
            for group, by_system in _figures(counted, metric)
            for system_id, (estimate, judged) in by_system.items()
        ]
        known = any(
            (row.estimate.value, row.estimate.floor) != (None, None) or row.estimate.note.startswith(steps)
            for row in of_rows
        )
        if rater.id != COMPUTED or known:
            result += of_rows
    return result


def _over_trials(estimate: Estimate, repeats: Repeats | None) -> Estimate:
    if repeats is None or estimate.value is None:
        return estimate
    return replace(estimate, method="; ".join(filter(None, (estimate.method, repeats.method))))


def _figures(counted: Counted, metric: Metric) -> Iterator[tuple[Group, Figures]]:
    """A metric group by group: each system's figure with the number of valid judgements behind it."""
    systems = list(counted.systems)
    if metric.over is not Over.RESPONSE:
        for group, of in _grouped(counted.members).items():
            yield group, figures(counted.protocol, metric, of, systems)
        return
    for group, of_group in _grouped(score for score in counted.scores if score.metric == metric.name).items():
        means = estimates(of_group, systems, metric.within)
        judged = dict.fromkeys(systems, 0)
        for score in of_group:
            judged[score.system_id] += score.judged
        yield (
            group,
            {system: (mean, judged[system]) for system, mean in zip(systems, means, strict=True)},
        )


COLUMNS = columns(
    ("metric", "Metric"), ("protocol", "Protocol"), ("rater", "Rater"),
    ("system", "System", "Empty for the whole project"),
    ("over", "Over", "What the figure ranges over"), ("group", "Group"), ("group_by", "Grouped by"), ("value", "Value"),
    ("low", "95 % interval, low"), ("high", "95 % interval, high"),
    ("n", "n", "How many items, or how much was counted"),
    ("missing", "Missing", "Missing judgements"),
    ("missing_rate", "Share missing", "Of all judgements that were needed"),
    ("floor", "At least", "The lowest it can be, whatever the missing judgements say"),
    ("ceiling", "At most", "The highest it can be, whatever the missing judgements say"), ("method", "Method"),
    ("note", "Note", "Why there is no value, or what else to know of it"),
    ("gold", "Gold", "By whose gold it is, kind by kind"),
    ("trials", "Trials", "Of a judge that was asked several times; the figure is the mean over them"),
    ("flip_rate", "Flip rate", "Share of the units judged more than once on which its verdict changes"),
    ("publishable", "Publishable", "Whether few enough judgements are missing, and no baseline judged"),
    ("unfit", "Why not", "Why it is not publishable; empty where it is"),
)  # fmt: skip


def plain(row: ResultRow) -> dict[str, Any]:
    result = row.estimate
    return {
        "metric": row.metric,
        "protocol": row.protocol,
        "rater": row.rater,
        "system": row.system,
        "over": row.over.value,
        "group": row.group,
        "group_by": row.group_by,
        "value": result.value,
        "low": result.low,
        "high": result.high,
        "n": result.n,
        "missing": result.missing,
        "missing_rate": row.missing_rate,
        "floor": result.floor,
        "ceiling": result.ceiling,
        "method": result.method,
        "note": result.note,
        "gold": row.gold,
        "trials": row.repeats.trials if row.repeats else None,
        "flip_rate": row.repeats.flips.value if row.repeats else None,
    }


def _grouped(scored: Iterable[Grouped]) -> dict[Group, list[Grouped]]:
    groups = grouped((pair, score) for score in scored for pair in score.groups)
    return dict(sorted(groups.items(), key=lambda entry: (GROUPINGS.index(entry[0][0]), entry[0][1])))


def estimates(scores: list[Score], systems: list[str], within: tuple[float, float]) -> list[Estimate]:
    """One estimate for each system, over the items of the group; several responses to one item are averaged."""
    means = by_items(scores, systems)
    items = dict.fromkeys(score.item_id for score in scores)
    undefined = Estimate(None)
    return [_mean([means[system].get(item, undefined) for item in items], within) for system in systems]


def by_items(scores: Iterable[Score], systems: Iterable[str]) -> dict[str, dict[str, Estimate]]:
    own = grouped((score.system_id, (score.item_id, score.estimate)) for score in scores)
    return {
        system: {item: mean_of_runs(runs) for item, runs in grouped(own.get(system, ())).items()}
        for system in systems
    }


def _mean(scores: list[Estimate], within: tuple[float, float]) -> Estimate:
    result = mean_of_scores(scores, within)
    if result.value is None and (why := _why_none(scores)):
        result = replace(result, note=why)
    return result.based(bases(scores))


def _why_none(scores: list[Estimate]) -> str:
    """Why no item has a score, if all give the same reason; otherwise the most frequent reason and its count."""
    counter = Counter(score.note for score in scores if score.note)
    if not counter:
        return ""
    (why, many), *others = counter.most_common()
    return f"{why} ({many:,} of {len(scores):,} items)" if others else why


FLOOR = "floor: the baseline reads words alone, and its figures are never published"
SETTING = "missing_limit"
# If more than one judgement in twenty is missing, the missing ones may well decide the ranking.
USUAL_DRAWING = 0.05


def limit(project: Project) -> float:
    """The share of missing judgements above which a figure is not publishable."""
    return float(project.get(SETTING, USUAL_DRAWING))


def set_limit(project: Project, share: float) -> Change:
    """Set the share of missing judgements above which a figure is not publishable, from 0 to 1."""
    if not 0 <= share <= 1:
        raise Refusal(
            "The share of missing judgements must be between 0 and 1.", "Give another, such as 0.05."
        )
    return change_setting(project, SETTING, "set the limit of missing judgements", limit(project), share)


def floor_notes(kind: str, protocols: Iterable[str]) -> Iterator[str]:
    """The note required with figures of a judge of this kind: for the baseline, that they are a floor, and why."""
    if kind == JudgeKind.BASELINE:
        yield _floor_of(protocols)


def floors(rows: Collection[ResultRow]) -> Iterator[str]:
    """The same for the baseline's figures among these, and which judges failed their test."""
    if protocols := [row.protocol for row in rows if row.floor]:
        yield _floor_of(protocols)
    yield from dict.fromkeys(row.remark for row in rows if row.remark)


def lacking(rows: Iterable[tuple[str, str, Estimate]]) -> Iterator[str]:
    """The metrics without any value, the reason, and the step that provides one; by protocol, title and figure."""
    listed, titles = list(rows), defaultdict[tuple[str, str], dict[str, None]](dict)
    known = {row[:2] for row in listed if row[2].value is not None}
    for protocol, title, estimate in (row for row in listed if row[:2] not in known and row[0] in PROTOCOLS):
        for why, step in PROTOCOLS[protocol].steps.items():
            if estimate.note.startswith(why):
                titles[why, step][title] = None
    yield from (f"{', '.join(named)}: no value, as {why}. {step}" for (why, step), named in titles.items())


def _floor_of(protocols: Iterable[str]) -> str:
    notes = dict.fromkeys(PROTOCOLS[name].floor for name in protocols if name in PROTOCOLS)
    return " ".join((f"{FLOOR.capitalize()}.", *filter(None, notes)))


def why_not(row: ResultRow, limit: float) -> str:
    """Why a figure is not publishable; empty if it is."""
    if row.floor:
        return FLOOR
    if row.estimate.value is None:
        return row.estimate.note or "it is undefined"
    rate = row.missing_rate
    if rate is None or rate <= limit:
        return ""
    return f"{percent(rate, 1)} of the judgements are missing, more than {percent(limit, 1)}"


ONE, LAST_OF_EACH = "One for all", "The last of each"
# The fields of an item by which figures are cut, and their names.
CUTS = {"question_type": "type", "subject": "subject", **dict(zip(TRAITS, TRAITS, strict=True))}


@dataclass(frozen=True, slots=True)
class Scores:
    """All responses' scores on a metric; `items` and `systems` map ids to names, in the project's order."""

    metric: MetricInfo
    rater: ResultRater | None
    scores: tuple[Score, ...] = field(repr=False)
    items: Mapping[str, ItemRow] = field(repr=False)
    systems: Mapping[str, str] = field(repr=False)

    def of_mode(self, mode: str = "") -> list[Score]:
        """The scores of one mode; by default of the one that counts in the results."""
        if mode:
            return [score for score in self.scores if score.mode == mode]
        return [score for score in self.scores if (ALL, ALL) in score.groups]


def of_metric(project: Project, metric: str, rater_id: str = "", among: str = "") -> Scores:
    """The scores on a metric by a rater, or by the one that judged last; empty if that rater has not judged it.

    `among` narrows to the items of a cut, as `cut_choices` offers them.
    """
    info = scoring.named(metric)
    rater = result_raters.chosen(
        result_raters.everybody(project, info.protocol), rater_id if info.judged else ""
    )
    scores = scoring.scores(project, PROTOCOLS[info.protocol], rater.id) if rater else ()
    items = items_named(project, among)
    of = tuple(
        score for score in scores if score.metric == metric and score.item_id in items and not is_part(score)
    )
    return Scores(info, rater, of, items, systems_named(project))


def is_part(score: Score) -> bool:
    return any(by == scoring.FACET for by, _ in score.groups)


def items_named(project: Project, among: str = "") -> dict[str, ItemRow]:
    """The items in use that systems answer, by id, in the project's order; if a cut is given, only its items."""
    i = ITEM.c
    columns = (i.id, i.key, i.question, i.question_type, i.subject, i.language, i.traits)
    rows = project.query(select(*columns).where(in_use(among)).order_by(i.position, i.key, i.id)).all()
    return {row.id: row for row in rows}


def in_use(among: str = "") -> ColumnElement[bool]:
    """The condition that an item is in use, answered by systems, and in the given cut, if any."""
    by, _, group = among.partition(":")
    used = and_(ITEM.c.retired.is_(False), ANSWERED)
    if not among:
        return used
    return and_(used, (ITEM.c.traits[by].as_string() if by in TRAITS else ITEM.c[by]) == group)


def systems_named(project: Project) -> dict[str, str]:
    return dict(project.query(select(SYSTEM.c.id, SYSTEM.c.name).order_by(SYSTEM.c.name)).all())


def mean_lengths(project: Project, mode: str = "", among: str = "") -> dict[str, float]:
    """Each system's mean report length in characters, by name; by default in the mode that counts in the results."""
    question = (
        select(SYSTEM.c.name, func.avg(func.length(RESPONSE.c.text)))
        .join(RESPONSE, RESPONSE.c.system_id == SYSTEM.c.id)
        .join(ITEM, ITEM.c.id == RESPONSE.c.item_id)
        .where(in_use(among), RESPONSE.c.mode.in_(scoring.counted_modes(project, mode)))
        .group_by(SYSTEM.c.name)
    )
    return {name: float(mean) for name, mean in project.query(question)}


def by_item(scores: Iterable[Score]) -> dict[str, dict[str, list[Score]]]:
    """System → item → the scores of its runs, in order of trial."""
    ordered = sorted(scores, key=lambda one: one.trial)
    own = grouped((score.system_id, (score.item_id, score)) for score in ordered)
    return {system: grouped(of_system) for system, of_system in own.items()}


def item_means_of_runs(runs: list[Score]) -> Estimate:
    """A system's score on an item: the mean of its runs, undefined ones left out."""
    return scoring.mean_of_runs([run.estimate for run in runs], f"mean of {len(runs):,} runs")


def system_means(metric_scores: Scores, mode: str = "") -> dict[str, Estimate]:
    """Each system's mean over items with the interval of the results, by its name."""
    scores = metric_scores.of_mode(mode)
    present = {score.system_id for score in scores}
    names = {system_id: name for system_id, name in metric_scores.systems.items() if system_id in present}
    return dict(zip(names.values(), estimates(scores, list(names), metric_scores.metric.within), strict=True))


def choices(project: Project) -> tuple[ViewChoice, ...]:
    return metric_choice(project), rater_choice(project), *cut_choices(project)


def cut_choices(project: Project) -> tuple[ViewChoice, ...]:
    """Choices of the mode whose responses count, and of the items; each offered only if there are several."""
    modes, items = scoring.modes_of(project), items_named(project).values()
    groups = [
        (f"{group} ({word})", f"{by}:{group}")
        for by, word in CUTS.items()
        for group in sorted({scoring.filed(item, by) for item in items} - {""})
    ]
    mode = ViewChoice(
        "mode", "Mode", tuple((one, one) for one in modes), tip="The first counts in the results"
    )
    among = ViewChoice("among", "Items", (("All", ""), *groups))
    return tuple(choice for choice, several in ((mode, len(modes) > 1), (among, len(groups) > 1)) if several)


def metric_choice(project: Project) -> ViewChoice:
    infos = scoring.qualities(project)
    return ViewChoice("metric", "Metric", tuple((info.title, info.name) for info in infos))


def rater_choice(project: Project, protocol: str = "", *, single: bool = False) -> ViewChoice:
    """The choice of the rater: of those under one protocol, or under any; with `single` without people together."""
    if protocol:
        left_out = result_raters.PEOPLE if single else None
        result = [rater for rater in result_raters.everybody(project, protocol) if rater.id != left_out]
        return ViewChoice("judge", "Judged by", tuple((f"{r.name} ({r.judgements:,})", r.id) for r in result))
    judged = [name for name, definition in PROTOCOLS.items() if definition.values]
    names = {
        rater.id: rater.name
        for result in result_raters.everybody_under(project, judged).values()
        for rater in result
        if rater.id != result_raters.COMPUTED
    }
    return ViewChoice(
        "judge",
        "Judged by",
        ((ONE, ""), (LAST_OF_EACH, result_raters.EACH), *((name, id_) for id_, name in names.items())),
    )
