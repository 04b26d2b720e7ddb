"""Pooled figures: over everything a system answered, or over the whole project."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from annotator.actions.results import scoring
from annotator.actions.results.scoring import JudgedResponse
from annotator.domain.judges.protocol import Metric, Over, Protocol, RatedResponse
from annotator.domain.texts.estimate import NO_WIDTH, Estimate, enough, of_items, settled, without_width

if TYPE_CHECKING:
    from annotator.stats.intervals.coding import Floats

# Where a figure has no quick way of its own, it is computed without each item for so many responses at most.
ASKED = 200
NO_INTERVAL = "no interval: "
TOO_LONG = (
    f"{NO_INTERVAL}it would be computed once for each of more than {ASKED} reports, which takes too long"
)
OF_PROJECT = f"{NO_INTERVAL}none is made for a figure of the whole project"
Pool = Sequence[RatedResponse]
# By system id, "" for the project: a figure, and how many judgements behind it came.
Figures = dict[str, tuple[Estimate, int]]


def figures(
    shape: Protocol, metric: Metric, members: Sequence[JudgedResponse], systems: Sequence[str]
) -> Figures:
    """A metric over these responses: of each of these systems, or by what its table names.

    Of people each one's pool makes a figure, and these are averaged.
    """
    if metric.over is Over.PROJECT:
        return _tabled(shape, metric, _by_rater(members), systems)
    items = list(dict.fromkeys(one.material.item.id for one in members))
    return {system: _pooled(shape, metric, of_system(members, system), items) for system in systems}


def of_system(members: Iterable[JudgedResponse], system: str) -> dict[str, Pool]:
    return _by_rater(one for one in members if one.material.response.system_id == system)


def _by_rater(members: Iterable[JudgedResponse]) -> dict[str, Pool]:
    found: dict[str, list[RatedResponse]] = defaultdict(list)
    for one in members:
        for rater, scored in one.said.items():
            found[rater].append(scored)
    return dict(found)


def _tabled(shape: Protocol, metric: Metric, pools: Mapping[str, Pool], systems: Sequence[str]) -> Figures:
    if metric.table is None:
        raise TypeError(f"{metric.name} is no figure of the project")
    tables = {rater: metric.table(pool, True) for rater, pool in pools.items()}
    found: Figures = {}
    for name in (*systems, ""):
        answers = {rater: table[name] for rater, table in tables.items() if name in table}
        if answers:
            own = {
                rater: [one for one in pools[rater] if name in ("", one.material.response.system_id)]
                for rater in answers
            }
            estimate, judged = _together(shape, answers, own)
            bare = estimate.value is not None and estimate.low is None
            found[name] = (estimate.remarked(OF_PROJECT) if bare else estimate), judged
    return found


def _pooled(
    shape: Protocol, metric: Metric, pools: Mapping[str, Pool], items: Sequence[str]
) -> tuple[Estimate, int]:
    if not pools or metric.pooled is None:
        return Estimate(None, note="no report to count"), 0
    found = {rater: metric.pooled(pool, True) for rater, pool in pools.items()}
    estimate, judged = _together(shape, found, pools)
    there = len({one.material.item.id for pool in pools.values() for one in pool})
    if estimate.value is None:
        return estimate, judged
    own = [
        item for item in items if any(one.material.item.id == item for pool in pools.values() for one in pool)
    ]
    return with_interval(estimate, without_each(metric, pools, own), there, metric.within, TOO_LONG), judged


def _together(
    shape: Protocol, found: Mapping[str, Estimate], pools: Mapping[str, Pool]
) -> tuple[Estimate, int]:
    """The mean of raters' figures, and the judgements behind it; a figure may count other things than units."""
    came = {rater: sum(scoring.came(shape, scored) for scored in pools[rater]) for rater in found}
    judged = sum(max(estimate.n, came[rater]) for rater, estimate in found.items())
    return scoring.mean_of_raters(found, f"mean of {len(found):,} people's figures"), judged


def without_each(metric: Metric, pools: Mapping[str, Pool], items: Sequence[str]) -> "Floats | None":
    """What a pooled metric is without each of these items; None where that takes too long."""
    import numpy as np

    if metric.drawn is None and max(map(len, pools.values()), default=0) > ASKED:
        return None
    places = {item: place for place, item in enumerate(items)}
    times = 1 - np.eye(len(items))
    by_rater = []
    for pool in pools.values():
        own = times[:, [places[one.material.item.id] for one in pool]]
        by_rater.append(_asked(metric, pool, own) if metric.drawn is None else metric.drawn(pool, True, own))
    grid = np.stack(by_rater)
    known = ~np.isnan(grid)
    sums = np.where(known, grid, 0.0).sum(axis=0)
    means: Floats = np.divide(
        sums, known.sum(axis=0), out=np.full(len(times), np.nan), where=known.any(axis=0)
    )
    return means


def _asked(metric: Metric, pool: Pool, times: "Floats") -> "Floats":
    """The paper's own function, once for every choice of responses."""
    import numpy as np

    found = np.full(len(times), np.nan)
    for place, row in enumerate(times.tolist()):
        chosen = [one for one, often in zip(pool, row, strict=True) if often]
        value = metric.pooled(chosen, True).value if chosen and metric.pooled is not None else None
        found[place] = np.nan if value is None else value
    return found


def with_interval(
    estimate: Estimate, without: "Floats | None", items: int, within: tuple[float, float], why_not: str
) -> Estimate:
    """A figure with the interval that its values without each item give; where it has none it says why not."""
    import numpy as np

    from annotator.stats.intervals.clustered import ONE_CLUSTER, jackknifed
    from annotator.stats.intervals.student import bounds_of, interval_name

    if without is None:
        return estimate.remarked(why_not)
    if estimate.value is None or not enough(items):
        return settled(estimate, items)
    if np.isnan(without).any():
        return estimate.remarked(of_items(ONE_CLUSTER))
    low, high = bounds_of(estimate.value, jackknifed(without), items, within)
    method = f"{interval_name(within)}, jackknife over {items:,} items"
    found = replace(estimate, low=low, high=high, method="; ".join(filter(None, (estimate.method, method))))
    found = settled(found, items, within=within)
    return found.remarked(f"no item differs, so {NO_WIDTH}") if without_width(found) else found
