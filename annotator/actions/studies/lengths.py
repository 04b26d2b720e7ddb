"""Length bias: length against score, over reports and over systems."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from sqlalchemy import func, select

from annotator.actions.project.file import Project
from annotator.actions.results import response_scores, result_pictures
from annotator.actions.results.metrics import USUAL_METRIC, MetricInfo
from annotator.actions.results.response_scores import RESPONSE
from annotator.actions.results.result_raters import ResultRater
from annotator.actions.results.result_sheets import (
    SYSTEM_COLUMN,
    ResultSheet,
    SheetLine,
    SheetPicture,
    ViewChoice,
    columns,
    count,
    figure,
    key_of,
    or_why,
    text,
)
from annotator.domain.texts.estimate import Estimate
from annotator.stats.agreement.correlation import pearson, spearman


@dataclass(frozen=True, slots=True)
class LengthsReport:
    """Lengths and scores of each system's reports, its mean, and r and ρ within, pooled and between."""

    metric: MetricInfo
    rater: ResultRater | None
    points: Mapping[str, tuple[tuple[float, float], ...]]
    scores: Mapping[str, Estimate]
    within: Mapping[str, Estimate]
    pooled: tuple[Estimate, Estimate]
    between: tuple[Estimate, Estimate]


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """Which score, by whose judgements."""
    return (response_scores.metric_choice(project), response_scores.rater_choice(project))


def report(project: Project, metric: str = USUAL_METRIC, judge: str = "") -> LengthsReport:
    """Every report with a score, of the mode that counts in the results."""
    found = response_scores.of_metric(project, metric, judge)
    with project.store.read() as db:
        question = select(RESPONSE.c.id, func.length(RESPONSE.c.text))
        lengths = {row[0]: float(row[1]) for row in db.execute(question)}
    points: dict[str, list[tuple[float, float]]] = {}
    for score in found.of_mode():
        if score.estimate.value is not None:
            at = lengths[score.response_id], score.estimate.value
            points.setdefault(found.systems[score.system_id], []).append(at)
    ordered = {system: tuple(points[system]) for system in sorted(points)}
    means = [tuple(sum(side) / len(own) for side in zip(*own, strict=True)) for own in ordered.values()]
    return LengthsReport(
        found.metric,
        found.rater,
        ordered,
        response_scores.system_means(found),
        {system: _both(own)[0] for system, own in ordered.items()},
        _both([point for own in ordered.values() for point in own]),
        _both([(mean[0], mean[1]) for mean in means]),
    )


def _both(points: list[tuple[float, float]] | tuple[tuple[float, float], ...]) -> tuple[Estimate, Estimate]:
    x, y = [point[0] for point in points], [point[1] for point in points]
    return pearson(x, y), spearman(x, y)


def sheets(found: LengthsReport) -> tuple[ResultSheet, ...]:
    """A row for each system: how long its reports are, what they score, and whether its longer ones score higher."""
    if not found.points:
        return ()
    heads = columns(
        SYSTEM_COLUMN, ("reports", "Reports", "With a score"), ("mean_length", "Mean length", "Characters"),
        ("shortest", "Shortest", "Characters"), ("longest", "Longest", "Characters"),
        (key_of(found.metric.name), found.metric.title),
        ("r_within", "r within",
         "Pearson's r of length and score over the system's own reports, with Fisher's interval"),
    )  # fmt: skip
    lines = []
    for system, points in found.points.items():
        long = [point[0] for point in points]
        cells = (
            text(system), count(len(points)), count(sum(long) / len(long), form=",.0f"), count(min(long), form=",.0f"),
            count(max(long), form=",.0f"), figure(found.scores[system]), figure(found.within[system]),
        )  # fmt: skip
        lines.append(SheetLine(cells))
    told = (
        f"Over all reports: Pearson's r {_said(found.pooled[0])}, Spearman's ρ {_said(found.pooled[1])}.",
        f"Over the means of {len(found.points)} systems: Pearson's r {_said(found.between[0])}, Spearman's ρ "
        f"{_said(found.between[1])}.",
        "Length that goes with the score is no proof of bias: a longer report may cover more.",
    )
    sheet = ResultSheet("length", "Length against score", heads, tuple(lines), told, (_picture(found),))
    return (sheet, _correlations(found))


def _correlations(found: LengthsReport) -> ResultSheet:
    rows = [
        (name, over, own)
        for over, both in (("all reports", found.pooled), ("means of systems", found.between))
        for name, own in zip(("Pearson's r", "Spearman's ρ"), both, strict=True)
    ]
    heads = columns(
        ("figure", "Figure"), ("over", "Over"), ("value", "Value"), ("n", "n", "Pairs of length and score")
    )
    lines = tuple(SheetLine((text(name), text(over), figure(own), count(own.n))) for name, over, own in rows)
    return ResultSheet("correlations", "Correlations", heads, lines)


def _said(found: Estimate) -> str:
    return or_why(found, f" (n = {found.n})")


def _picture(found: LengthsReport) -> SheetPicture:
    title = f"{found.metric.title} against the length of reports"
    draw = partial(result_pictures.clouds, title, found.points, "Characters", found.metric.title)
    return SheetPicture("length", title, draw)
