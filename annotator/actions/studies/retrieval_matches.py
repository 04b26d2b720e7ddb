"""References of reports matched with gold evidence, and everything unmatched."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from annotator.actions.items import materials
from annotator.actions.project.file import Project
from annotator.actions.results import response_scores, scoring
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
    RUN_COLUMN,
    SYSTEM_COLUMN,
    ResultSheet,
    SheetCell,
    SheetLine,
    ViewChoice,
    columns,
    count,
    figure,
    key_of,
    text,
)
from annotator.domain.judges.protocol import Metric, RatedResponse
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Reference
from annotator.domain.material.matches import Matching, RetrievalComparison, RetrievalMatch
from annotator.domain.material.part import ResponsePart
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS

# The protocols that hold references against gold ones.
MATCHED_BY: dict[str, Matching] = {
    name: shape.matching for name, shape in PROTOCOLS.items() if shape.matching
}
USUALLY = next(iter(MATCHED_BY))
EVERY = "All"
WHY = {
    "doi": "the same DOI",
    "arxiv": "the same arXiv id, its version left out",
    "title": "the same first 20 characters of the title",
}
MATCHED, SUPERFLUOUS, LACKING = "match", "retrieved, not gold", "gold, not found"
NO_KEY = "no key of another reference equals one of its own"
CONFLICT = "no match: same title, another DOI or arXiv id"


@dataclass(frozen=True, slots=True)
class ResponseMatches:
    """One response's references matched with gold evidence; None while its references are unknown."""

    item_id: str
    item_key: str
    system: str
    trial: int
    mode: str
    response_id: str
    gold: int
    comparison: RetrievalComparison | None
    scores: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True)
class RetrievalReport:
    """Every response on an item that has gold evidence, in the project's order."""

    protocol: str
    matched: tuple[ResponseMatches, ...]


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """Of which item and system, and under which protocol where several match references."""
    items = response_scores.items_named(project).values()
    systems = response_scores.systems_named(project).values()
    asked = ViewChoice("protocol", "Matched by", tuple((PROTOCOLS[name].title, name) for name in MATCHED_BY))
    return (
        *([asked] if len(MATCHED_BY) > 1 else []),
        ViewChoice("item", "Item", ((EVERY, ""), *((item.key, item.key) for item in items))),
        ViewChoice("system", "System", ((EVERY, ""), *((name, name) for name in systems))),
        *(one for one in response_scores.cut_choices(project) if one.name == "mode"),
    )


def report(project: Project, protocol: str = USUALLY, mode: str = "") -> RetrievalReport:
    """All responses in one mode, by default the one that counts in the results."""
    systems, mode = response_scores.systems_named(project), mode or scoring.main_mode(project)
    found = []
    shape = PROTOCOLS[protocol]
    wanted = materials.for_scoring(shape)
    for at_hand in materials.each(project, wanted, materials.item_ids(project)):
        gold = at_hand.own.units(Kind.EVIDENCE)
        for material in at_hand.responses if gold else ():
            response = material.response
            if response.mode != mode:
                continue
            known = ResponsePart.REFERENCES in material.parts
            found.append(
                ResponseMatches(
                    at_hand.item.id,
                    at_hand.item.key,
                    systems[response.system_id],
                    response.trial,
                    response.mode,
                    response.id,
                    len(gold),
                    MATCHED_BY[protocol].compare(material.units(ResponsePart.REFERENCES), gold)
                    if known
                    else None,
                    tuple(metric.score(RatedResponse(material, {}), False) for metric in shape.metrics),
                )
            )
    return RetrievalReport(protocol, tuple(found))


def sheets(found: RetrievalReport, item: str = "", system: str = "") -> tuple[ResultSheet, ...]:
    """Every match and every reference without one, and what each report comes to."""
    shown = [one for one in found.matched if item in ("", one.item_key) and system in ("", one.system)]
    if all(one.comparison is None for one in shown):
        return ()
    return (_matches(found.protocol, shown), _reports(found.protocol, shown))


def _matches(protocol: str, shown: list[ResponseMatches]) -> ResultSheet:
    heads = columns(
        ITEM_COLUMN, SYSTEM_COLUMN,
        ("what", "What", "A match, a reference that is not gold, or a gold one that was not found"),
        ("why", "Why", "The key by which two references are known to be the same work: DOI, then arXiv id, then title"),
        ("key", "Key"), ("in_report", "In the report"), ("gold", "Gold"),
    )  # fmt: skip
    lines = [line for one in shown for line in _lines(one)]
    unknown = sum(one.comparison is None for one in shown)
    told = [MATCHED_BY[protocol].about]
    if unknown:
        told.append(
            f"The references of {unknown:,} of {len(shown):,} reports are not known; they are no zero."
        )
    return ResultSheet("matches", "Matches", heads, tuple(lines), tuple(told))


def _lines(one: ResponseMatches) -> Iterator[SheetLine]:
    if one.comparison is None:
        return
    for match in one.comparison.matches:
        yield _line(one, text(MATCHED, state="agreed"), match, match.retrieved, match.gold)
    for ours, gold in one.comparison.conflicts:
        yield _line(one, text(CONFLICT, state="disagree"), None, ours, gold)
    for reference in one.comparison.superfluous:
        yield _line(one, text(SUPERFLUOUS), None, reference, None)
    for reference in one.comparison.lacking:
        yield _line(one, text(LACKING, state="disagree"), None, None, reference)


def _line(
    one: ResponseMatches,
    what: SheetCell,
    match: RetrievalMatch | None,
    ours: Reference | None,
    gold: Reference | None,
) -> SheetLine:
    why = WHY[match.by] if match else CONFLICT if ours and gold else NO_KEY
    sides = [("In the report", ours), ("Gold", gold)]
    more = [(head, _whole(reference)) for head, reference in sides if reference is not None]
    cells = (
        text(one.item_key), text(one.system), what, text(WHY[match.by] if match else ""),
        text(match.key if match else ""),
        *(_reference(reference) for _, reference in sides),
    )  # fmt: skip
    return SheetLine(cells, one.item_id, response_id=one.response_id, more=(("Why", why), *more))


def _reference(reference: Reference | None) -> SheetCell:
    return (
        text("") if reference is None else text(reference.text or reference.identifier, tip=_whole(reference))
    )


def _whole(reference: Reference) -> str:
    year = str(reference.year) if reference.year else ""
    return "\n".join(filter(None, (reference.text, reference.authors, year, reference.identifier)))


def _reports(protocol: str, shown: list[ResponseMatches]) -> ResultSheet:
    metrics = PROTOCOLS[protocol].metrics
    heads = columns(
        ITEM_COLUMN, SYSTEM_COLUMN, RUN_COLUMN, ("retrieved", "Retrieved", "References of the report"),
        ("gold", "Gold", "References of the gold evidence"), ("found", "Found", "Gold references found among them"),
        *((key_of(metric.name), metric.title) for metric in metrics),
    )  # fmt: skip
    lines = []
    for one in shown:
        own = one.comparison
        retrieved = None if own is None else len(own.matches) + len(own.superfluous)
        cells = (
            text(one.item_key), text(one.system), count(one.trial), count(retrieved), count(one.gold),
            count(None if own is None else len(own.matches)), *_figures(one, metrics),
        )  # fmt: skip
        lines.append(SheetLine(cells, one.item_id, response_id=one.response_id))
    return ResultSheet("reports", "Report by report", heads, tuple(lines))


def _figures(one: ResponseMatches, metrics: tuple[Metric, ...]) -> list[SheetCell]:
    return [replace(figure(own), metric=metric.name) for own, metric in zip(one.scores, metrics, strict=True)]
