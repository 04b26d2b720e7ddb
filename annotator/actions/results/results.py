"""What came out: each system's scores with their intervals, by group, and the judgements behind every figure."""

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import select

from annotator.actions.project.file import Project
from annotator.actions.results import scoring
from annotator.actions.results.result_raters import COMPUTED, chosen, everybody
from annotator.actions.results.scoring import GROUPINGS, Group, Score, mean_of
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS, USUAL
from annotator.stats.intervals.bounds import mean_bounds
from annotator.storage.tables import SystemRow, table

SYSTEM = table(SystemRow)


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One figure: a metric of a system within a group, by one rater; `title` and `unit` are the metric's.

    `judged` counts the judgements behind it that came.
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

    @property
    def missing_rate(self) -> float | None:
        """The share of the judgements behind it that did not come; None where none is needed."""
        asked = self.judged + self.estimate.missing
        return self.estimate.missing / asked if asked else None


def rows(
    project: Project, rater_id: str = "", protocol: str = USUAL, resamples: int = 10_000, *, released: bool = False
) -> list[ResultRow]:  # fmt: skip
    """Every system's figures, metric by metric: for all items, and by type, subject, mode and facet.

    By default the last judge's. A figure is computed over the judgements that came; `missing` counts those that did
    not, `floor` and `ceiling` bound what they could make of it. Intervals are bootstrapped over items
    (ResearcherBench, Table 3). A computed metric that nothing is known for is left out. With `released` they are those
    of what a release holds.
    """
    rater = chosen(everybody(project, protocol), rater_id)
    if rater is None:
        return []
    shape = PROTOCOLS[protocol]
    found = list(scoring.scores(project, shape, rater.id, released=released))
    with project.store.read() as db:
        systems = {row.id: row.name for row in db.execute(select(SYSTEM).order_by(SYSTEM.c.name))}
    answering = {score.system_id for score in found}
    present = {system_id: name for system_id, name in systems.items() if system_id in answering}
    result = []
    for metric in shape.metrics:
        of_metric = [score for score in found if score.metric == metric.name]
        if rater.id == COMPUTED and all(score.estimate.value is None for score in of_metric):
            continue
        for (group_by, group), members in _grouped(of_metric).items():
            means = estimates(members, list(present), resamples)
            for (system_id, name), estimate in zip(present.items(), means, strict=True):
                whose = (metric.name, protocol, rater.id, rater.name, system_id, name)
                judged = sum(score.judged for score in members if score.system_id == system_id)
                row = ResultRow(*whose, group_by, group, estimate, metric.title, metric.unit, judged)
                result.append(row)
    return result


def plain(row: ResultRow) -> dict[str, Any]:
    """A figure as a JSON tree: the value with its interval, n, and what is missing."""
    found = row.estimate
    return {
        "metric": row.metric,
        "protocol": row.protocol,
        "rater": row.rater,
        "system": row.system,
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
    }


def _grouped(found: list[Score]) -> dict[Group, list[Score]]:
    groups: dict[Group, list[Score]] = defaultdict(list)
    for score in found:
        for pair in score.groups:
            groups[pair].append(score)
    return dict(sorted(groups.items(), key=lambda entry: (GROUPINGS.index(entry[0][0]), entry[0][1])))


def estimates(found: list[Score], systems: list[str], resamples: int = 10_000) -> list[Estimate]:
    """One estimate for each system, over the items of the group; several responses of one item are averaged."""
    import numpy as np

    from annotator.stats.intervals.intervals import bootstrap_means

    cells: dict[str, dict[str, list[Estimate]]] = {system: defaultdict(list) for system in systems}
    for score in found:
        cells[score.system_id][score.item_id].append(score.estimate)
    means = {
        system: {item: mean_of(runs) for item, runs in by_item.items()} for system, by_item in cells.items()
    }
    items = dict.fromkeys(score.item_id for score in found)
    undefined = Estimate(None)
    values = [[means[system].get(item, undefined).value for system in systems] for item in items]
    grid = np.array(values, dtype=np.float64).reshape(len(items), len(systems))
    return [
        _bounded(estimate, list(means[system].values()))
        for system, estimate in zip(systems, bootstrap_means(grid, resamples=resamples), strict=True)
    ]


def _bounded(estimate: Estimate, scores: list[Estimate]) -> Estimate:
    """With what is missing behind it, and between which bounds that could move it."""
    floor, ceiling = mean_bounds(scores)
    return replace(estimate, missing=sum(one.missing for one in scores), floor=floor, ceiling=ceiling)
