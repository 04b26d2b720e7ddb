"""Best of k runs of each system, over items."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from annotator.actions.project.file import Project
from annotator.actions.results import response_scores, result_pictures
from annotator.actions.results.metrics import USUAL_METRIC, MetricInfo
from annotator.actions.results.result_raters import ResultRater
from annotator.actions.results.result_sheets import (
    SYSTEM_COLUMN,
    ResultSheet,
    SheetLine,
    SheetPicture,
    columns,
    count,
    figure,
    text,
)
from annotator.domain.texts.estimate import Estimate
from annotator.stats.validation.attempts import DEPARTURES, pass_at_k

# More tries than anyone pays for.
MOST = 10


@dataclass(frozen=True, slots=True)
class AttemptsReport:
    """The most runs of each system on an item, and pass@k for k from 1 to that."""

    metric: MetricInfo
    rater: ResultRater | None
    runs: Mapping[str, int]
    passed: Mapping[str, Mapping[int, Estimate]]


def report(
    project: Project, metric: str = USUAL_METRIC, judge: str = "", mode: str = "", among: str = ""
) -> AttemptsReport:
    """Pass@k of every system on a metric where more is better, over the runs of one mode."""
    found = response_scores.of_metric(project, metric, judge, among)
    by_system = response_scores.by_item(found.of_mode(mode))
    runs: dict[str, int] = {}
    passed: dict[str, dict[int, Estimate]] = {}
    for system_id, name in found.systems.items():
        if of_item := by_system.get(system_id):
            estimates = {item: [score.estimate for score in scores] for item, scores in of_item.items()}
            runs[name] = max(map(len, estimates.values()))
            tries, within = range(1, min(MOST, runs[name]) + 1), found.metric.within
            passed[name] = {k: pass_at_k(estimates, k, within) for k in tries}
    return AttemptsReport(found.metric, found.rater, runs, passed)


def sheets(found: AttemptsReport) -> tuple[ResultSheet, ...]:
    """A row for each system, a column for each k; none while no system has tried twice."""
    most = min(MOST, max(found.runs.values(), default=0))
    if most < 2:
        return ()
    heads = columns(
        SYSTEM_COLUMN,
        ("runs", "Runs", "The most runs it has on an item"),
        *((f"best_of_{k}", f"Best of {k}" if k > 1 else "One run") for k in range(1, most + 1)),
    )
    lines = [
        SheetLine((
            text(system), count(found.runs[system]),
            *(figure(row.get(k, Estimate(None, note=f"no item has {k} runs"))) for k in range(1, most + 1)),
        ))
        for system, row in found.passed.items()
    ]  # fmt: skip
    told = (
        f"{found.metric.title}: the mean over items of the expected best of k runs, with Student's t interval.",
    )
    title = f"{found.metric.title}: best of k runs"
    series = {system: list(row.items()) for system, row in found.passed.items()}
    picture = SheetPicture(
        "runs", title, partial(result_pictures.lines, title, series, "k", found.metric.title)
    )
    return (
        ResultSheet("attempts", "Best of several runs", heads, tuple(lines), told, (picture,), DEPARTURES),
    )
