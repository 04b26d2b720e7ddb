"""Efficiency of systems: a score against latency, tokens and money, with the Pareto front of each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from annotator.actions.project.file import Project
from annotator.actions.results import metrics, response_scores, result_pictures
from annotator.actions.results.metrics import USUAL_METRIC, MetricInfo
from annotator.actions.results.result_raters import ResultRater
from annotator.actions.results.result_sheets import (
    SYSTEM_COLUMN,
    ResultSheet,
    SheetCell,
    SheetLine,
    SheetPicture,
    columns,
    figure,
    in_words,
    key_of,
    number,
    text,
)
from annotator.domain.texts.estimate import Estimate
from annotator.stats.validation.front import FrontPoint, standings

# What a report took; tokens per second is a speed, not a cost.
COSTS = ("latency", "tokens", "run_tokens", "cost")


@dataclass(frozen=True, slots=True)
class EfficiencyReport:
    """Scores and costs of each system, and per cost the Pareto front and what dominates the others."""

    metric: MetricInfo
    rater: ResultRater | None
    scores: Mapping[str, Estimate]
    costs: Mapping[str, Mapping[str, Estimate]]
    standings: Mapping[str, tuple[FrontPoint, ...]]

    @property
    def known(self) -> tuple[str, ...]:
        return tuple(
            cost for cost, row in self.costs.items() if any(one.value is not None for one in row.values())
        )


def report(
    project: Project, metric: str = USUAL_METRIC, judge: str = "", mode: str = "", among: str = ""
) -> EfficiencyReport:
    """Every system that has a score, with its means over items; a cost that is not known is no cost of 0."""
    found = response_scores.of_metric(project, metric, judge, among)
    scores = response_scores.system_means(found, mode)
    costs = {
        cost: response_scores.system_means(response_scores.of_metric(project, cost, "", among), mode)
        for cost in COSTS
    }
    return EfficiencyReport(
        found.metric,
        found.rater,
        scores,
        costs,
        {
            cost: standings([(name, score.value, _known(row, name)) for name, score in scores.items()])
            for cost, row in costs.items()
        },
    )


def _known(row: Mapping[str, Estimate], system: str) -> float | None:
    return row[system].value if system in row else None


def sheets(found: EfficiencyReport) -> tuple[ResultSheet, ...]:
    """A row for each system: its score, what it takes, and whether it is worth that."""
    if not found.scores:
        return ()
    infos = [metrics.named(cost) for cost in COSTS]
    heads = columns(
        SYSTEM_COLUMN,
        (key_of(found.metric.name), found.metric.title),
        *(
            head
            for info in infos
            for head in (
                (key_of(info.name), info.title, "", info.unit),
                (
                    key_of("worth", info.name),
                    f"Worth its {info.title.lower()}?",
                    "No other system is at least as good on both and better on one",
                ),
            )
        ),
    )
    order = sorted(found.scores, key=lambda name: (-(found.scores[name].value or -1.0), name))
    lines = [SheetLine((text(name), figure(found.scores[name]), *_costs(found, name))) for name in order]
    pictures = tuple(_picture(found, info) for info in infos if info.name in found.known)
    return (
        ResultSheet(
            "efficiency",
            "Score against what a report took",
            heads,
            tuple(lines),
            tuple(_told(found, infos)),
            pictures,
        ),
    )


def _picture(found: EfficiencyReport, info: MetricInfo) -> SheetPicture:
    """The systems in the plane of score and cost, those on the front joined."""
    points = [
        result_pictures.PicturePoint(
            row.system,
            row.cost,
            row.score,
            row.on_front,
            found.scores[row.system].low,
            found.scores[row.system].high,
        )
        for row in found.standings[info.name]
        if row.cost is not None and row.score is not None
    ]
    title = f"{found.metric.title} against {info.title.lower()}: the front is full"
    x, y = f"{info.title} ({info.unit})", f"{found.metric.title}, 95 % interval"
    return SheetPicture(info.name, title, partial(result_pictures.plane, title, points, x, y, front=True))


def _costs(found: EfficiencyReport, system: str) -> Iterator[SheetCell]:
    for cost in COSTS:
        row = next(one for one in found.standings[cost] if one.system == system)
        of = found.costs[cost].get(system, Estimate(None))
        made = replace(figure(of), metric=cost)
        part = of.floor if of.value is None else None
        yield made if part is None else replace(made, words=f"at least {in_words(Estimate(part))}")
        yield _worth(row)


def _worth(row: FrontPoint) -> SheetCell:
    if not row.known:
        return SheetCell(
            "not known", None, "A score or a cost is not known: it neither beats nor is beaten.", "missing"
        )
    if row.on_front:
        return SheetCell("on the front", 0.0, "", "agreed")
    beaten = ", ".join(row.beaten_by)
    return SheetCell(f"beaten by {beaten}", float(len(row.beaten_by)), beaten)


def _told(found: EfficiencyReport, infos: list[MetricInfo]) -> Iterator[str]:
    judge = f", judged by {found.rater.name}" if found.rater and found.metric.judged else ""
    yield f"{found.metric.title}{judge}: means over items with the interval of the Results page."
    for info in infos:
        on = [row for row in found.standings[info.name] if row.on_front]
        if on:
            front = ", ".join(
                f"{row.system} ({in_words(Estimate(row.score))} at {number(row.cost or 0.0, info.unit)})"
                for row in on
            )
            yield f"{info.title}: {front} on the front."
        else:
            yield f"{info.title} is not known of any system with a score."
