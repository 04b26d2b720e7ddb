"""A score of each system by how far from a sentence its sources may stand."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from annotator.actions.authoring import citation_window
from annotator.actions.project.file import Project
from annotator.actions.results import (
    metrics,
    response_scores,
    result_pictures,
    result_raters,
    results,
    scoring,
)
from annotator.actions.results.metrics import MetricInfo
from annotator.actions.results.result_raters import ResultRater
from annotator.actions.results.result_sheets import (
    SYSTEM_COLUMN,
    ResultSheet,
    SheetLine,
    SheetPicture,
    ViewChoice,
    columns,
    figure,
    text,
)
from annotator.actions.studies import result_views
from annotator.actions.studies.result_views import ResultView
from annotator.domain.judges.protocol import Protocol
from annotator.domain.material.response import EXEMPLAR
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS

SHAPE, METRIC = next(
    (shape, metric) for shape in PROTOCOLS.values() for metric in shape.metrics if metric.by_window
)


@dataclass(frozen=True, slots=True)
class WindowsReport:
    """A score of each system, window by window, by one rater."""

    metric: MetricInfo
    rater: ResultRater | None
    covered: Mapping[str, Mapping[int, Estimate]]


def choices(project: Project) -> tuple[ViewChoice, ...]:
    modes = [one for one in response_scores.cut_choices(project) if one.name == "mode"]
    return (response_scores.rater_choice(project, SHAPE.name), *modes)


def report(project: Project, judge: str = "", mode: str = "") -> WindowsReport:
    """Every system's score in each window that is asked about, from one set of verdicts."""
    info = metrics.named(METRIC.name)
    rater = result_raters.chosen(result_raters.everybody(project, SHAPE.name), judge)
    if rater is None:
        return WindowsReport(info, None, {})
    counts = mode or scoring.main_mode(project)
    heard = [
        one
        for one in scoring.heard(project, SHAPE, rater.id, mode=mode)
        if one.material.response.mode == counts and one.material.response.mode != EXEMPLAR
    ]
    named = response_scores.systems_named(project)
    there = {one.material.response.system_id for one in heard}
    systems = [name for name in named if name in there]
    covered: dict[str, dict[int, Estimate]] = {named[one]: {} for one in systems}
    for window in range(citation_window.width(project) + 1):
        asked = _within(window)
        found = [score for one in heard for score in scoring.scores_of(asked, one)]
        for system, mean in zip(systems, results.estimates(found, systems, METRIC.within), strict=True):
            covered[named[system]][window] = mean
    return WindowsReport(info, rater, covered)


def _within(window: int) -> Protocol:
    by_window = METRIC.by_window or (lambda *_: Estimate(None))
    metric = replace(METRIC, score=lambda scored, over_valid: by_window(scored, over_valid, window))
    return replace(SHAPE, metrics=(metric,))


def sheets(found: WindowsReport) -> tuple[ResultSheet, ...]:
    """A row for each system, a column for each window; none while nobody has judged."""
    if not found.covered:
        return ()
    windows = list(next(iter(found.covered.values())))
    heads = columns(
        SYSTEM_COLUMN,
        *(
            (
                f"w{w}",
                f"w = {w}",
                "Sources of the same sentence" if w == 0 else f"Sources up to {w:,} sentences away",
            )
            for w in windows
        ),
    )
    lines = tuple(
        SheetLine((text(system), *(figure(row[w]) for w in windows))) for system, row in found.covered.items()
    )
    told = (
        "One set of verdicts gives every window: a wider one holds what the narrower ones hold, so no line falls.",
        *(("Wider windows can be asked about: goldsmith judge window.",) if len(windows) == 2 else ()),
    )
    title = f"{found.metric.title} by window"
    series = {system: list(row.items()) for system, row in found.covered.items()}
    picture = SheetPicture(
        "windows", title, partial(result_pictures.lines, title, series, "w, in sentences", found.metric.title)
    )
    return (ResultSheet("windows", title, heads, lines, told, (picture,)),)


VIEW = ResultView(
    "windows",
    "By window",
    result_views.SYSTEMS,
    "How far from a sentence the sources stand that bear it out.",
    "Have sentences drawn from the reports, and run a judge on the claims that their sources cover.",
    choices,
    report,
    sheets,
    rests_on=(SHAPE.name,),
)
