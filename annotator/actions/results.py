"""What came out: each system's scores with their intervals, by group, and the judgements behind every figure."""

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import select

from annotator.actions import scoring
from annotator.actions.project import Project
from annotator.actions.result_raters import COMPUTED, COVERAGE, PEOPLE, Rater, chosen, everybody, raters
from annotator.actions.results_behind import Behind, behind
from annotator.actions.scoring import ALL, FACET, GROUPINGS, MODE, Group, Score, average
from annotator.domain.estimate import Estimate
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import SystemRow, table

__all__ = [
    "ALL",
    "COMPUTED",
    "FACET",
    "GROUPINGS",
    "MODE",
    "PEOPLE",
    "Behind",
    "Rater",
    "ResultRow",
    "behind",
    "estimates",
    "everybody",
    "plain",
    "raters",
    "rows",
]

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
    project: Project, rater_id: str = "", protocol: str = COVERAGE, resamples: int = 10_000
) -> list[ResultRow]:
    """Every system's figures, metric by metric: for all items, and by type, subject, mode and facet.

    By default the last judge's. A figure is computed over the judgements that came; `missing` counts those that did
    not, `floor` and `ceiling` bound what they could make of it. Intervals are bootstrapped over items
    (ResearcherBench, Table 3). A computed metric that nothing is known for is left out.
    """
    rater = chosen(everybody(project, protocol), rater_id)
    if rater is None:
        return []
    shape = PROTOCOLS[protocol]
    found = list(scoring.scores(project, shape, rater.id))
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

    from annotator.stats.intervals import bootstrap_means

    places = {item_id: place for place, item_id in enumerate(dict.fromkeys(score.item_id for score in found))}
    cells: dict[tuple[int, int], list[Score]] = defaultdict(list)
    for score in found:
        cells[places[score.item_id], systems.index(score.system_id)].append(score)
    tables = {name: np.full((len(places), len(systems)), np.nan) for name in ("value", "floor", "ceiling")}
    missing = [0] * len(systems)
    for (row, column), members in cells.items():
        missing[column] += sum(member.estimate.missing for member in members)
        for name, grid in tables.items():
            known = average(getattr(member.estimate, name) for member in members)
            grid[row, column] = np.nan if known is None else known
    means = bootstrap_means(tables["value"], resamples=resamples)
    return [
        _bounded(estimate, missing[column], tables["floor"][:, column], tables["ceiling"][:, column])
        for column, estimate in enumerate(means)
    ]


def _bounded(estimate: Estimate, missing: int, floors: Any, ceilings: Any) -> Estimate:
    known = floors[floors == floors]
    if not len(known):
        return replace(estimate, missing=missing)
    high = ceilings[ceilings == ceilings]
    return replace(estimate, missing=missing, floor=float(known.mean()), ceiling=float(high.mean()))
