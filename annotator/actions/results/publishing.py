"""Publishability: no figure with too many missing judgements."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from annotator.actions.project.file import Project, record
from annotator.actions.results.result_sheets import percent
from annotator.actions.results.results import ResultRow
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.texts.change import Change
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS

FLOOR = "floor: the baseline reads words alone, and its figures are never published"
SETTING = "missing_limit"
# More than one judgement in twenty, and the missing ones may well decide who stands first.
USUAL = 0.05


def limit(project: Project) -> float:
    """The share of missing judgements above which a figure is not publishable."""
    return float(project.get(SETTING, USUAL))


def set_limit(project: Project, share: float) -> Change:
    """Set the share of missing judgements above which a figure is not publishable, from 0 to 1."""
    if not 0 <= share <= 1:
        raise Refusal(
            "The share of missing judgements must be between 0 and 1.", "Give another, such as 0.05."
        )
    before = limit(project)
    with project.store.write() as db:
        project.set(SETTING, share)
        change = Change("setting", SETTING, "set the limit of missing judgements", before, share)
        return record(project, db, change)


def floor_told(kind: str, protocols: Iterable[str]) -> Iterator[str]:
    """What must be said beside figures of a judge of this kind: of the baseline's that they are a floor, and why."""
    if kind == JudgeKind.BASELINE:
        yield _floor_of(protocols)


def floors(rows: Collection[ResultRow]) -> Iterator[str]:
    """The same of the figures among these that are the baseline's, and which judges failed their test."""
    if protocols := [row.protocol for row in rows if row.floor]:
        yield _floor_of(protocols)
    yield from dict.fromkeys(row.remark for row in rows if row.remark)


def lacking(rows: Iterable[tuple[str, str, Estimate]]) -> Iterator[str]:
    """Which metrics have no value at all, why, and the step after which they have; by protocol, title and figure."""
    listed, titles = list(rows), defaultdict[tuple[str, str], dict[str, None]](dict)
    known = {row[:2] for row in listed if row[2].value is not None}
    for protocol, title, estimate in (row for row in listed if row[:2] not in known and row[0] in PROTOCOLS):
        for why, step in PROTOCOLS[protocol].steps.items():
            if estimate.note.startswith(why):
                titles[why, step][title] = None
    yield from (f"{', '.join(named)}: no value, as {why}. {step}" for (why, step), named in titles.items())


def _floor_of(protocols: Iterable[str]) -> str:
    notes = dict.fromkeys(PROTOCOLS[name].floor for name in protocols if name in PROTOCOLS)
    return " ".join((f"{FLOOR.capitalize()}.", *filter(None, notes)))


def why_not(row: ResultRow, limit: float) -> str:
    """Why a figure is not publishable, in words; empty when it is."""
    if row.floor:
        return FLOOR
    if row.estimate.value is None:
        return row.estimate.note or "it is undefined"
    rate = row.missing_rate
    if rate is None or rate <= limit:
        return ""
    return f"{percent(rate, 1)} of the judgements are missing, more than {percent(limit, 1)}"
