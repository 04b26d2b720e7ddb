"""What the reports of each system consist of: length, sentences, sources and citations, averaged over its reports."""

from collections import defaultdict
from dataclasses import fields
from statistics import fmean

from annotator.actions.items import materials
from annotator.actions.items.materials import WantedMaterial
from annotator.actions.project.file import Project
from annotator.actions.results import response_scores, scoring
from annotator.actions.results.result_sheets import (
    SYSTEM_COLUMN,
    ResultSheet,
    SheetLine,
    ViewChoice,
    columns,
    count,
    text,
)
from annotator.actions.studies import result_views
from annotator.actions.studies.result_views import ResultView
from annotator.protocols.lent import ReportFigures, report_figures

Means = dict[str, tuple[int, dict[str, float]]]
TOLD = ("Means over the reports of a system, without their lists of references.", ReportFigures.PRINTED)


def choices(_: Project) -> tuple[ViewChoice, ...]:
    """None."""
    return ()


def report(project: Project) -> Means:
    """System → how many reports it has, and their means; of those that count in the results."""
    of: dict[str, list[ReportFigures]] = defaultdict(list)
    modes = scoring.counted_modes(project)
    for at_hand in materials.each(project, WantedMaterial(()), materials.item_ids(project)):
        for material in at_hand.responses:
            if material.response.mode in modes:
                of[material.response.system_id].append(report_figures(material))
    named = response_scores.systems_named(project)
    return {
        named[system]: (
            len(of[system]),
            {
                one.name: fmean(getattr(each, one.name) for each in of[system])
                for one in fields(ReportFigures)
            },
        )
        for system in named
        if of[system]
    }


def sheets(found: Means) -> tuple[ResultSheet, ...]:
    heads = columns(
        SYSTEM_COLUMN,
        ("reports", "Reports"),
        ("characters", "Characters", "Without its lists of references"),
        ("words", "Words", "Separated by white space"),
        ("sentences", "Sentences", "Of its body: no headings, tables, code or lists of references"),
        ("references", "Different sources", "That its sentences cite"),
        ("citations", "Citations", "In its text, outside its lists of references"),
    )
    lines = tuple(
        SheetLine((text(system), count(many), *(count(mean, form=",.1f") for mean in means.values())))
        for system, (many, means) in found.items()
    )
    sheet = ResultSheet(
        "report_statistics", "Report statistics", heads, lines, TOLD, departures=ReportFigures.DEPARTURES
    )
    return (sheet,) if found else ()


VIEW = ResultView(
    "report-statistics",
    "Report statistics",
    result_views.SYSTEMS,
    "How long each system's reports are, and how much they cite.",
    "Import reports, or have a model write them.",
    choices,
    report,
    sheets,
    "Import",
)
