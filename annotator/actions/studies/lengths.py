"""Length against score: of reports or gold plans; over reports, systems, items and subjects."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean

from sqlalchemy import func, select

from annotator.actions.authoring import annotating
from annotator.actions.authoring.artifacts import artifact_of
from annotator.actions.project.file import Project
from annotator.actions.results import metrics, response_scores, result_pictures
from annotator.actions.results.metrics import USUAL_METRIC, MetricInfo
from annotator.actions.results.result_raters import ResultRater
from annotator.actions.results.result_sheets import (
    P_COLUMN,
    SYSTEM_COLUMN,
    ResultSheet,
    SheetLine,
    SheetPicture,
    ViewChoice,
    chance,
    columns,
    count,
    figure,
    key_of,
    or_why,
    text,
)
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.estimate import Estimate
from annotator.stats.agreement.correlation import p_of, pearson, spearman
from annotator.storage.tables import RESPONSE

Point = tuple[float, float]
CHARACTERS, TOKENS, PLAN = "characters", "tokens", "plan"
# What is told of even where it is undefined; and how many places a mean has.
ALWAYS = ("all reports", "means of systems")
MEAN = {CHARACTERS: ",.0f", TOKENS: ",.0f", PLAN: ".2f"}
# What may be long: how it is called, and in what it is measured.
LENGTHS = {
    CHARACTERS: ("Report, in characters", "characters"),
    TOKENS: ("Report, in tokens", "tokens"),
    PLAN: ("Gold plan of the item", "sub-tasks"),
}


@dataclass(frozen=True, slots=True)
class LengthsReport:
    """Lengths and scores of each system's reports, its mean, and r and ρ within it and over what is in `OVER`."""

    metric: MetricInfo
    rater: ResultRater | None
    of: str
    points: Mapping[str, tuple[tuple[float, float], ...]]
    scores: Mapping[str, Estimate]
    within: Mapping[str, Estimate]
    over: Mapping[str, tuple[Estimate, Estimate]]


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """What is long, which score or cost it is set beside, by whose judgements, in which mode and of which items."""
    metric, judge = response_scores.score_choices(project)
    took = tuple((info.title, info.name) for info in metrics.known(project) if info.cost)
    return (
        ViewChoice("of", "Length of", tuple((name, of) for of, (name, _) in LENGTHS.items())),
        replace(metric, values=(*metric.values, *took)),
        judge,
        *response_scores.cut_choices(project),
    )


def report(
    project: Project, metric: str = USUAL_METRIC, judge: str = "", of: str = CHARACTERS, mode: str = "", among: str = ""
) -> LengthsReport:  # fmt: skip
    """Every response with a score and a length, by default of the mode that counts in the results."""
    found = response_scores.of_metric(project, metric, judge, among)
    lengths = _lengths(project, of)
    met = [
        (score, (lengths[score.response_id], score.estimate.value))
        for score in found.of_mode(mode)
        if score.estimate.value is not None and score.response_id in lengths
    ]
    points = _grouped((found.systems[score.system_id], point) for score, point in met)
    ordered = {system: points[system] for system in sorted(points)}
    items = _grouped((score.item_id, point) for score, point in met)
    subjects = _grouped((found.items[score.item_id].subject, point) for score, point in met)
    over = {
        "all reports": [point for own in ordered.values() for point in own],
        "means of systems": _means(ordered),
        "means of items": _means(items),
        "means of subjects": _means(subjects),
    }
    return LengthsReport(
        found.metric,
        found.rater,
        of,
        ordered,
        response_scores.system_means(found, mode),
        {system: _both(own)[0] for system, own in ordered.items()},
        {name: _both(points) for name, points in over.items()},
    )


def _lengths(project: Project, of: str) -> dict[str, float]:
    """How long each response is, or the gold plan of its item, by the response's id; what is not known is left out."""
    column = (
        RESPONSE.c.item_id
        if of == PLAN
        else RESPONSE.c.tokens
        if of == TOKENS
        else func.length(RESPONSE.c.text)
    )
    with project.store.read() as db:
        rows = db.execute(select(RESPONSE.c.id, column)).all()
        plans = annotating.judged_rows(db, Kind.PLAN, None) if of == PLAN else {}
    steps = {item_id: len(artifact_of(row).document.units) for item_id, row in plans.items()}
    known = ((id_, steps.get(value) if of == PLAN else value) for id_, value in rows)
    return {id_: float(value) for id_, value in known if value is not None}


def _grouped(found: Iterable[tuple[str, Point]]) -> dict[str, tuple[Point, ...]]:
    groups: dict[str, list[Point]] = {}
    for name, point in found:
        groups.setdefault(name, []).append(point)
    return {name: tuple(points) for name, points in groups.items()}


def _means(groups: Mapping[str, Sequence[Point]]) -> list[Point]:
    return [(fmean(x for x, _ in own), fmean(y for _, y in own)) for own in groups.values()]


def _both(points: list[tuple[float, float]] | tuple[tuple[float, float], ...]) -> tuple[Estimate, Estimate]:
    x, y = [point[0] for point in points], [point[1] for point in points]
    return pearson(x, y), spearman(x, y)


def sheets(found: LengthsReport) -> tuple[ResultSheet, ...]:
    """A row for each system: how long its reports are, what they score, and whether its longer ones score higher."""
    if not found.points:
        return ()
    unit = LENGTHS[found.of][1]
    heads = columns(
        SYSTEM_COLUMN, ("reports", "Reports", "With a score and a length"),
        ("mean_length", "Mean length", "", unit), ("shortest", "Shortest", "", unit), ("longest", "Longest", "", unit),
        (key_of(found.metric.name), found.metric.title, "", found.metric.unit),
        ("r_within", "r within",
         "Pearson's r of length and score over the system's own reports, with Fisher's interval"),
    )  # fmt: skip
    lines = []
    for system, points in found.points.items():
        long = [point[0] for point in points]
        cells = (
            text(system), count(len(points)), count(fmean(long), form=MEAN[found.of]), count(min(long), form=",.0f"),
            count(max(long), form=",.0f"), figure(found.scores[system]), figure(found.within[system]),
        )  # fmt: skip
        lines.append(SheetLine(cells))
    told = (
        *(
            f"Over {name}: Pearson's r {_said(r)}, Spearman's ρ {_said(rho)}."
            for name, (r, rho) in found.over.items()
            if r.value is not None or name in ALWAYS
        ),
        "Length that goes with the score is no proof of bias: a longer report may cover more.",
    )
    sheet = ResultSheet("length", "Length against score", heads, tuple(lines), told, (_picture(found),))
    return (sheet, _correlations(found))


def _correlations(found: LengthsReport) -> ResultSheet:
    rows = [
        (name, over, own)
        for over, both in found.over.items()
        for name, own in zip(("Pearson's r", "Spearman's ρ"), both, strict=True)
    ]
    heads = columns(
        ("figure", "Figure"), ("over", "Over"), ("value", "Value"), P_COLUMN, ("n", "n", "Pairs of length and score")
    )  # fmt: skip
    lines = tuple(
        SheetLine((text(name), text(over), figure(own), chance(p_of(own)), count(own.n)))
        for name, over, own in rows
    )
    return ResultSheet("correlations", "Correlations", heads, lines)


def _said(found: Estimate) -> str:
    return or_why(found, f" (n = {found.n})")


def _picture(found: LengthsReport) -> SheetPicture:
    name, unit = LENGTHS[found.of]
    title = f"{found.metric.title} against length: {name.partition(',')[0].lower()}"
    draw = partial(result_pictures.clouds, title, found.points, unit.capitalize(), found.metric.title)
    return SheetPicture("length", title, draw)
