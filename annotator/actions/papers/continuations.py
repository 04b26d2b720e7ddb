"""Whether systems write the second half of a task when they are given the first: system by system, one by one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from annotator.actions.items import materials
from annotator.actions.project.file import Project
from annotator.actions.results import response_scores, results
from annotator.actions.results.result_sheets import (
    SYSTEM_COLUMN,
    ResultSheet,
    SheetCell,
    SheetLine,
    columns,
    count,
    figure,
    key_of,
    no_choices,
    text,
)
from annotator.actions.results.scoring import ALL
from annotator.actions.studies import result_views
from annotator.actions.studies.result_views import ResultView
from annotator.domain.judges.protocol import RatedResponse
from annotator.domain.material.response import CONTINUATION
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS
from annotator.protocols.lent import ComparedContinuation, compared

SHAPE = next(shape for shape in PROTOCOLS.values() if shape.mode == CONTINUATION)
AVERAGE = "Average"


@dataclass(frozen=True, slots=True)
class ContinuationsReport:
    """Each figure by system, and each continuation with the names of its item and its system."""

    figures: Mapping[str, Mapping[str, Estimate]]
    continuations: Sequence[tuple[str, str, ComparedContinuation]]


def report(project: Project) -> ContinuationsReport:
    """Everything that is known of the continuations of a project."""
    figures: dict[str, dict[str, Estimate]] = {}
    for row in results.rows(project, protocol=SHAPE.name):
        if row.group_by == ALL:
            figures.setdefault(row.system, {})[row.metric] = row.estimate
    wanted = materials.for_scoring(SHAPE)
    pool = [
        RatedResponse(material, {})
        for at_hand in materials.each(project, wanted, materials.item_ids(project))
        for material in at_hand.responses
    ]
    named = response_scores.systems_named(project)
    found = [one for one in compared(pool) if one is not None]
    told = [
        (one.scored.material.item.key, named[one.scored.material.response.system_id], one) for one in found
    ]
    told.sort(key=lambda line: (not line[2].marked, -line[2].cut.composite, line[0], line[1]))
    return ContinuationsReport(figures, told)


def sheets(found: ContinuationsReport) -> tuple[ResultSheet, ...]:
    """Systems with their means, then the continuations, those to be looked at first."""
    if not found.continuations:
        return ()
    heads = columns(
        SYSTEM_COLUMN,
        *((key_of(one.name), one.title) for one in SHAPE.metrics),
        ("count", "Count", "Continuations above the threshold, as printed"),
        ("continuations", "Continuations"),
    )
    told = (
        "Means over the continuations of a system; the last row is the mean of the rows above it.",
        "Marked and cut: what is as long as the half held back is compared, and ten words in a row are marked.",
    )
    systems = ResultSheet("systems", "Similarity of continuations", heads, tuple(_systems(found)), told)
    heads = columns(
        ("item", "Item"), SYSTEM_COLUMN, ("marked", "To look at"), ("composite_cut", "Composite (cut)"),
        ("run", "Words in a row"), ("composite", "Composite"), ("string", "String"), ("tfidf", "TF-IDF"),
        ("overlap", "Overlap"), ("continuation", "Continuation"),
    )  # fmt: skip
    each = tuple(
        SheetLine((
            text(item), text(system), text("yes" if one.marked else "no"), _two(one.cut.composite), count(one.run),
            _two(one.whole.composite), _two(one.whole.string), _two(one.whole.tfidf), _two(one.whole.overlap),
            text(" ".join(one.scored.material.response.text.split())[:300], one.scored.material.response.text),
        ))
        for item, system, one in found.continuations
    )  # fmt: skip
    return systems, ResultSheet("continuations", "Continuations one by one", heads, each)


def _systems(found: ContinuationsReport) -> Iterator[SheetLine]:
    leaked = SHAPE.metrics[0].name
    systems = {system: own for system, own in found.figures.items() if own[leaked].value is not None}
    counts = {
        system: sum(one.whole.leaked for _, name, one in found.continuations if name == system)
        for system in systems
    }
    for system, own in systems.items():
        cells = (figure(own[one.name]) for one in SHAPE.metrics)
        yield SheetLine((text(system), *cells, count(counts[system]), count(own[leaked].n)))
    means = (
        Estimate(fmean(own[one.name].value or 0.0 for own in systems.values()), method="mean of the systems")
        for one in SHAPE.metrics
    )
    sizes = [own[leaked].n for own in systems.values()]
    yield SheetLine((
        text(AVERAGE), *map(figure, means), count(fmean(counts.values()), form=".1f"), count(fmean(sizes), form=".1f"),
    ))  # fmt: skip


def _two(value: float) -> SheetCell:
    return count(value, form=".2f")


VIEW = ResultView(
    "leakage",
    "Leakage",
    result_views.SYSTEMS,
    "Whether systems write the second half of a task when they are given the first.",
    "Ask systems to continue tasks.",
    no_choices,
    report,
    sheets,
    "Material",
    command="goldsmith respond FILE --system S --mode continuation",
    rests_on=(CONTINUATION,),
)
