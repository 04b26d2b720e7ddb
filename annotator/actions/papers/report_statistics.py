"""What the reports of each system consist of, and what the exemplars cite: important works, and well-known ones."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from itertools import pairwise
from math import inf
from statistics import fmean, median

from annotator.actions.items import materials
from annotator.actions.items.materials import WantedMaterial
from annotator.actions.project.file import Project
from annotator.actions.results import response_scores, result_pictures, scoring
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
    SYSTEM_COLUMN,
    ResultSheet,
    SheetColumn,
    SheetLine,
    SheetPicture,
    columns,
    count,
    no_choices,
    text,
)
from annotator.actions.studies import result_views
from annotator.actions.studies.result_views import ResultView
from annotator.domain.kinds.artifact import Kind
from annotator.domain.material.response import EXEMPLAR
from annotator.domain.texts.counting import counted
from annotator.protocols.lent import CitedWork, ReportFigures, cited_works, report_figures

Means = dict[str, tuple[int, dict[str, float]]]
Cited = dict[str, list[CitedWork]]
TOLD = ("Means over the reports of a system, without their lists of references.", ReportFigures.PRINTED)


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


# Of the works that an exemplar cites: which stand in a column, and which of them.
SHARES: Mapping[tuple[str, str], Callable[[CitedWork], bool]] = {
    ("important_arxiv", "Important, on arXiv"): lambda one: one.importance == "important" and one.on_arxiv,
    ("important_other", "Important, not on arXiv"): lambda one: (
        one.importance == "important" and not one.on_arxiv
    ),
    ("not_essential", "Not essential"): lambda one: one.importance not in ("", "important"),
    ("not_marked", "Not marked"): lambda one: not one.importance,
}
# Two classes of citation counts are a factor of ten; the last one is open.
EDGES = (0, 1, 3, 10, 32, 100, 316, 1000, 3162, 10_000, 31_623)


def exemplars(project: Project) -> Cited:
    """The works that each item's exemplar cites, by the item's key; of items with gold references."""
    wanted = WantedMaterial((Kind.EVIDENCE,), texts=False, pages=True, page_texts=False, parts=False)
    found = {}
    for at_hand in materials.each(project, wanted, materials.item_ids(project)):
        own = next((one for one in at_hand.responses if one.response.mode == EXEMPLAR), None)
        if own is not None and (works := cited_works(own)):
            found[at_hand.item.key or at_hand.item.id] = works
    return found


def exemplar_sheets(found: Cited) -> tuple[ResultSheet, ...]:
    """How many of each exemplar's works are important, how often all are cited, and what that comes to."""
    if not found:
        return ()
    return (_shares(found), *([_citations(found)] if _known(found) else []), _statistics(found))


def _shares(found: Cited) -> ResultSheet:
    order = sorted(found, key=lambda key: (-len(found[key]), key))
    counts = {title: [sum(map(holds, found[key])) for key in order] for (_, title), holds in SHARES.items()}
    lines = (
        SheetLine((text(key), *map(count, (len(found[key]), *own))))
        for key, *own in zip(order, *counts.values(), strict=True)
    )
    open_ = sum(not one.importance for works in found.values() for one in works)
    told = (
        "Every work counts once; the exemplar that cites the most stands first.",
        f"{counted(open_, 'work')} not marked: Author, the item's evidence, or a judge, says which are important.",
    )
    return _drawn(
        "exemplar_references",
        "References of each exemplar by importance",
        columns(ITEM_COLUMN, ("works", "Cited works"), *SHARES),
        tuple(lines),
        told[: 2 if open_ else 1],
        (order, counts),
        stacked=True,
    )


def _drawn(
    key: str,
    title: str,
    heads: tuple[SheetColumn, ...],
    lines: tuple[SheetLine, ...],
    told: tuple[str, ...],
    bars: tuple[Sequence[str], Mapping[str, Sequence[int]]],
    *,
    stacked: bool = False,
) -> ResultSheet:
    picture = SheetPicture(
        "bars", title, partial(result_pictures.bars, title, *bars, "Works", stacked=stacked)
    )
    return ResultSheet(key, title, heads, lines, told, (picture,))


def _known(found: Cited, *, arxiv: bool = False) -> list[int]:
    """The citation counts of the works of all exemplars, or of those on arXiv."""
    works = (one for of in found.values() for one in of if one.on_arxiv or not arxiv)
    return [one.citations for one in works if one.citations is not None]


def _citations(found: Cited) -> ResultSheet:
    heads = columns(("citations", "Citations"), ("all", "All references"), ("arxiv", "References on arXiv"))
    ranges = (f"{low:,} to {high - 1:,}" for low, high in pairwise(EDGES[1:]))
    names = ["0", *ranges, f"{EDGES[-1]:,} and more"]
    bins = {
        head.title: [
            sum(low <= one < high for one in _known(found, arxiv=head.key == "arxiv"))
            for low, high in pairwise((*EDGES, inf))
        ]
        for head in heads[1:]
    }
    lines = (
        SheetLine((text(name), *map(count, row))) for name, *row in zip(names, *bins.values(), strict=True)
    )
    unknown = sum(one.citations is None for works in found.values() for one in works)
    told = f"Of {counted(unknown, 'work')} the citations are not known: goldsmith sources works."
    title, bars = (
        "Citations of the exemplars' references",
        (names, bins),
    )
    return _drawn("citation_counts", title, heads, tuple(lines), (told,) if unknown else (), bars)


def _statistics(found: Cited) -> ResultSheet:
    important, *_ = SHARES.values()
    marked = [sum(map(important, works)) for works in found.values() if any(one.importance for one in works)]
    each = [median(own) for works in found.items() if (own := _known(dict([works]), arxiv=True))]
    rows: list[tuple[str, str, Callable[..., float], Sequence[float]]] = [
        ("# Important References from ArXiv.org", "Ref. Cov.", fmean, marked),
        ("Median number of citations per reference from ArXiv.org", "Doc. Imp.", fmean, each),
    ]
    rows += [
        (f"{name} over all references from {where} at once", "Doc. Imp.", over, _known(found, arxiv=arxiv))
        for arxiv, where in ((True, "ArXiv.org"), (False, "anywhere"))
        for name, over in (("Median", median), ("Mean", fmean))
    ]
    return ResultSheet(
        "exemplar_statistics",
        "References of the exemplars",
        columns(
            ("statistic", "Statistic"),
            ("value", "Avg. value over human-written exemplars"),
            ("metric", "Relevant Metric"),
            ("n", "n"),
        ),
        tuple(
            SheetLine((
                text(name), count(float(over(values)) if values else None, form=",.2f"), text(metric),
                count(len(values)),
            ))
            for name, metric, over, values in rows
        ),
        ("The first two are means over exemplars, and n counts these; n of the others counts references.",),
    )  # fmt: skip


EXEMPLARS = ResultView(
    "exemplar-references",
    "Exemplars' references",
    result_views.BENCHMARK,
    "Which of the works that exemplars cite are important, and how often all of them are cited.",
    "It needs sections that people wrote, with the works that they cite as gold evidence and, for citations, a look-up "
    "of these works.",
    no_choices,
    exemplars,
    exemplar_sheets,
    "Import",
    command="goldsmith import FILE FOLDER, then goldsmith sources works FILE",
    rests_on=(EXEMPLAR, Kind.EVIDENCE),
)
VIEW = ResultView(
    "report-statistics",
    "Report statistics",
    result_views.SYSTEMS,
    "How long each system's reports are, and how much they cite.",
    "Import reports, or have a model write them.",
    no_choices,
    report,
    sheets,
    "Import",
    rests_on=(result_views.REPORTS_THERE,),
)
