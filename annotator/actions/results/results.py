"""Results of a metric: each system's scores with intervals, by group, and the judgements behind them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from sqlalchemy import select

from annotator.actions.authoring import gold
from annotator.actions.project.file import Project
from annotator.actions.results import pools, scoring
from annotator.actions.results.result_raters import COMPUTED, Repeats, ResultRater, Spoken, chosen, everybody
from annotator.actions.results.result_sheets import columns
from annotator.actions.results.scoring import GROUPINGS, Group, JudgedResponse, Score, mean_of_runs
from annotator.domain.judges.protocol import Metric, Over, Protocol
from annotator.domain.material.response import EXEMPLAR
from annotator.domain.texts.estimate import Estimate, bases
from annotator.protocols import PROTOCOLS, USUAL
from annotator.stats.intervals.student import mean_of_scores
from annotator.storage.tables import SYSTEM

Grouped = TypeVar("Grouped", Score, JudgedResponse)


@dataclass(frozen=True, slots=True)
class Counted:
    """A rater's verdicts under a protocol, prepared for figures: by response, and for pools.

    `systems` names those that answered by id, by name.
    """

    shape: Protocol
    rater: ResultRater
    scores: Sequence[Score] = field(repr=False)
    members: Sequence[JudgedResponse] = field(repr=False)
    systems: Mapping[str, str]
    gold: str = ""

    def fitted(self, metric: Metric) -> Metric:
        """A metric that knows all that is compared, where it hangs on that."""
        if metric.fitted is None:
            return metric
        return metric.fitted([scored for one in self.members for scored in one.said.values()])


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One figure: a metric of a system within a group, by one rater; `title`, `unit` and `over` are the metric's.

    `gold` says in words by whose gold it is.

    `judged` counts the judgements behind it that came, `floor` tells whether the baseline judged. A figure of the whole
    project has no system.
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
        """The share of the judgements behind it that did not come; None where none is needed."""
        asked = self.judged + self.estimate.missing
        return self.estimate.missing / asked if asked else None


def rows(project: Project, rater_id: str = "", protocol: str = USUAL, *, mode: str = "") -> list[ResultRow]:
    """Every system's figures, metric by metric: for all items, and by type, subject, mode and facet.

    By default the last judge's. A figure is computed over the judgements that came; `missing` counts those that did
    not, `floor` and `ceiling` bound what they could make of it. Intervals are over items. A computed metric of which
    nothing is known is left out. Of responses those of one mode count.
    """
    found = counted(project, rater_id, protocol, mode=mode)
    return [] if found is None else rows_of(found)


def counted(project: Project, rater_id: str = "", protocol: str = USUAL, *, mode: str = "") -> Counted | None:
    """What a rater, by default the last judge, said under a protocol; None where they have not judged it."""
    rater = chosen(everybody(project, protocol), rater_id)
    return counted_of(project, rater, protocol, mode=mode) if rater is not None else None


def counted_of(
    project: Project, rater: ResultRater, protocol: str, *, mode: str = "",
    read: Iterable[Spoken] | None = None,
) -> Counted:  # fmt: skip
    """The same of a rater who is known to have judged; `read` stands in place of the rater's own values."""
    shape = PROTOCOLS[protocol]
    together = any(metric.over is not Over.RESPONSE for metric in shape.metrics)
    scores: list[Score] = []
    members: list[JudgedResponse] = []
    answering, items = set(), set()
    # Of another mode than the one that counts anyway, those alone who answered in it.
    only = mode if mode != scoring.main_mode(project) else ""
    for one in scoring.heard(project, shape, rater.id, mode=mode, read=read):
        if only not in ("", one.material.response.mode):
            continue
        answering.add(one.material.response.system_id)
        items.add(one.material.item.id)
        scores += scoring.scores_of(shape, one)
        members += [one] if together else []
    with project.store.read() as db:
        systems = {row.id: row.name for row in db.execute(select(SYSTEM).order_by(SYSTEM.c.name))}
        whose = gold.words(db, shape.needs, items, rater=rater.id)
    present = {system_id: name for system_id, name in systems.items() if system_id in answering}
    return Counted(shape, rater, scores, members, present, whose)


def rows_of(counted: Counted) -> list[ResultRow]:
    """The figures of what was counted, metric by metric and group by group."""
    shape, rater, present, result = counted.shape, counted.rater, counted.systems, []
    steps = tuple(shape.steps) if any(score.mode == EXEMPLAR for score in counted.scores) else ()
    for metric in map(counted.fitted, shape.metrics):
        found = _figures(counted, metric)
        of_rows = [
            ResultRow(
                metric.name,
                shape.name,
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
            for group, by_system in found
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


def _figures(counted: Counted, metric: Metric) -> Iterator[tuple[Group, pools.Figures]]:
    """A metric group by group: each system's figure with how many judgements behind it came."""
    systems = list(counted.systems)
    if metric.over is not Over.RESPONSE:
        for group, of in _grouped(counted.members).items():
            yield group, pools.figures(counted.shape, metric, of, systems)
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
    """A figure as a JSON tree: the value with its interval, n, and what is missing."""
    found = row.estimate
    return {
        "metric": row.metric,
        "protocol": row.protocol,
        "rater": row.rater,
        "system": row.system,
        "over": row.over.value,
        "group": row.group,
        "group_by": row.group_by,
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "n": found.n,
        "missing": found.missing,
        "missing_rate": row.missing_rate,
        "floor": found.floor,
        "ceiling": found.ceiling,
        "method": found.method,
        "note": found.note,
        "gold": row.gold,
        "trials": row.repeats.trials if row.repeats else None,
        "flip_rate": row.repeats.flips.value if row.repeats else None,
    }


def _grouped(found: Iterable[Grouped]) -> dict[Group, list[Grouped]]:
    groups: dict[Group, list[Grouped]] = defaultdict(list)
    for score in found:
        for pair in score.groups:
            groups[pair].append(score)
    return dict(sorted(groups.items(), key=lambda entry: (GROUPINGS.index(entry[0][0]), entry[0][1])))


def estimates(found: list[Score], systems: list[str], within: tuple[float, float]) -> list[Estimate]:
    """One estimate for each system, over the items of the group; several responses of one item are averaged."""
    means = by_items(found, systems)
    items = dict.fromkeys(score.item_id for score in found)
    undefined = Estimate(None)
    return [_mean([means[system].get(item, undefined) for item in items], within) for system in systems]


def by_items(found: Iterable[Score], systems: Iterable[str]) -> dict[str, dict[str, Estimate]]:
    """What each system scores on each item, its runs averaged."""
    cells: dict[str, dict[str, list[Estimate]]] = {system: defaultdict(list) for system in systems}
    for score in found:
        cells[score.system_id][score.item_id].append(score.estimate)
    return {system: {item: mean_of_runs(runs) for item, runs in of.items()} for system, of in cells.items()}


def _mean(scores: list[Estimate], within: tuple[float, float]) -> Estimate:
    """The mean over items; where there is none, why."""
    found = mean_of_scores(scores, within)
    if found.value is None and (why := _why_none(scores)):
        found = replace(found, note=why)
    return found.based(bases(scores))


def _why_none(scores: list[Estimate]) -> str:
    """Why no item has a score, where all of them say the same; else what most of them say, and how many do."""
    said = Counter(one.note for one in scores if one.note)
    if not said:
        return ""
    (why, many), *others = said.most_common()
    return f"{why} ({many:,} of {len(scores):,} items)" if others else why
