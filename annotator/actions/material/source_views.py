"""Sources in tables: kind by discipline and what is lacking, and scores before and after a cut-off."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select

from annotator.actions.project.file import Project
from annotator.actions.results import response_scores
from annotator.actions.results.metrics import USUAL_METRIC, MetricInfo
from annotator.actions.results.result_raters import ResultRater
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
    SYSTEM_COLUMN,
    ResultSheet,
    SheetLine,
    ViewChoice,
    columns,
    count,
    figure,
    text,
)
from annotator.domain.material.source import SourceKind
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.student import mean_of_scores
from annotator.storage.tables import ITEM, SOURCE

KINDS = (SourceKind.RESEARCH, SourceKind.REVIEW)
ANY, LARGEST = "any", "largest"
LEAST_CITATIONS = ("1", "10", "100")
FIRST_YEARS = range(2020, 2031)


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A source of an item in use, with its metadata; `key` is the item's."""

    id: str
    item_id: str
    key: str
    title: str
    identifier: str
    kind: str
    published: str
    venue: str
    citations: int | None
    citations_on: str

    def unmet(self, since: str, least: str) -> str:
        """Which criteria it does not meet, or may not."""
        found = []
        if since != ANY and self.published[:4] < since:
            found.append(f"published before {since}" if self.published else "no date")
        if least != ANY and (self.citations or 0) < int(least):
            found.append(
                f"fewer than {least} citations" if self.citations is not None else "citations not known"
            )
        return ", ".join(found)


@dataclass(frozen=True, slots=True)
class SourceBalance:
    """Items by discipline and kind of their source, and every source with the criteria it does not meet."""

    lines: tuple[SourceLine, ...]
    counts: Mapping[tuple[str, str], int]
    since: str
    least: str
    target: int

    @property
    def disciplines(self) -> list[str]:
        return sorted({discipline for discipline, _ in self.counts})


@dataclass(frozen=True, slots=True)
class CutScores:
    """Means of each system: over all items, over those from a cut on, and over the others."""

    metric: MetricInfo
    rater: ResultRater | None
    said: tuple[str, str]
    means: Mapping[str, tuple[Estimate, Estimate, Estimate]]
    unknown: int


def balance_choices(_project: Project) -> tuple[ViewChoice, ...]:
    """What each cell is to hold, and what a source is to meet."""
    targets = (("As many as the largest", LARGEST), *((number, number) for number in ("5", "10", "20", "50")))
    years = (("Any time", ANY), *((str(year), str(year)) for year in FIRST_YEARS))
    return (
        ViewChoice("target", "Items in each cell", targets),
        ViewChoice("since", "Published since", years),
        ViewChoice(
            "least", "Citations", (("Any number", ANY), *((f"At least {n}", n) for n in LEAST_CITATIONS))
        ),
    )


def balance(project: Project, target: str = LARGEST, since: str = ANY, least: str = ANY) -> SourceBalance:
    """An item counts once, under the one kind of its sources that meet the criteria; under none where they differ."""
    items = response_scores.items_named(project)
    lines = tuple(one for one in source_lines(project) if one.item_id in items)
    fit: dict[str, set[str]] = {item_id: set() for item_id in items}
    for line in lines:
        if not line.unmet(since, least):
            fit[line.item_id].add(line.kind)
    kinds = {item_id: next(iter(own)) if len(own) == 1 else "" for item_id, own in fit.items()}
    counts = Counter((items[item_id].subject, kind) for item_id, kind in kinds.items())
    largest = max((number for (_, kind), number in counts.items() if kind), default=0)
    return SourceBalance(lines, counts, since, least, largest if target == LARGEST else int(target))


def balance_sheets(found: SourceBalance) -> tuple[ResultSheet, ...]:
    """Disciplines down, kinds across, each with what is lacking; and every source."""
    if not found.lines:
        return ()
    heads = columns(
        ("discipline", "Discipline"), *((kind.value, kind.value.capitalize()) for kind in KINDS),
        ("other", "Neither", "Items whose source is of no stated kind, does not meet the criteria, or is lacking"),
        *((f"lacking_{kind.value}", f"{kind.value.capitalize()} lacking") for kind in KINDS),
    )  # fmt: skip
    rows = [(one or "(none)", [one]) for one in found.disciplines]
    rows += [("All", found.disciplines)] if len(rows) > 1 else []
    lines = tuple(SheetLine((text(name), *map(count, _cells(found, own)))) for name, own in rows)
    told = (f"Each cell is to hold {counted(found.target, 'item')}.",)
    return (ResultSheet("balance", "Kind by discipline", heads, lines, told), _each_source(found))


def _cells(found: SourceBalance, disciplines: Sequence[str]) -> list[int]:
    there = {kind: [found.counts.get((one, kind), 0) for one in disciplines] for kind in ("", *KINDS)}
    lacking = [sum(max(0, found.target - number) for number in there[kind]) for kind in KINDS]
    return [*(sum(there[kind]) for kind in (*KINDS, "")), *lacking]


def _each_source(found: SourceBalance) -> ResultSheet:
    heads = columns(
        ITEM_COLUMN, ("title", "Source"), ("kind", "Kind"), ("published", "Published"), ("venue", "Venue"),
        ("citations", "Citations"), ("citations_on", "Counted on"), ("unmet", "Not met"),
    )  # fmt: skip
    lines = tuple(
        SheetLine(
            (
                text(one.key), text(one.title, tip=one.identifier), text(one.kind),
                text(one.published), text(one.venue), count(one.citations), text(one.citations_on),
                text(one.unmet(found.since, found.least)),
            ),
            item_id=one.item_id,
        )
        for one in found.lines
    )  # fmt: skip
    return ResultSheet("sources", "Sources", heads, lines)


def source_lines(project: Project) -> tuple[SourceLine, ...]:
    """Every source of items in use that no model drafted, in the project's order."""
    columns = [SOURCE.c[name] for name in SourceLine.__dataclass_fields__ if name in SOURCE.c]
    question = (
        select(*columns, ITEM.c.key)
        .join(ITEM, ITEM.c.id == SOURCE.c.item_id)
        .where(SOURCE.c.drafted == "", ITEM.c.retired.is_(False))
        .order_by(ITEM.c.position, ITEM.c.key, SOURCE.c.position)
    )
    with project.store.read() as db:
        rows = db.execute(question).mappings().all()
    return tuple(SourceLine(**{**row, "citations_on": str(row["citations_on"] or "")}) for row in rows)


def cut_choices(project: Project) -> tuple[ViewChoice, ...]:
    """Where the cut lies, by date or by citations, which score, by whose judgements."""
    months = sorted({one.published[:7] for one in source_lines(project) if one.published})[1:]
    cuts = [(f"Published since {month}", month) for month in months]
    cuts += [(f"At least {counted(int(n), 'citation')}", n) for n in LEAST_CITATIONS]
    return (
        ViewChoice("at", "Source", tuple(cuts)),
        response_scores.metric_choice(project),
        response_scores.rater_choice(project),
    )


def cut(
    project: Project, at: str = LEAST_CITATIONS[0], metric: str = USUAL_METRIC, judge: str = ""
) -> CutScores:
    """Each system over items whose source was published since a month, or is cited so often, and over the others."""
    by_date = at not in LEAST_CITATIONS
    lines = source_lines(project)
    sides = _since(lines, at) if by_date else _cited(lines, int(at))
    found = response_scores.of_metric(project, metric, judge)
    within, means = found.metric.within, {}
    for system_id, of_item in response_scores.by_item(found.of_mode()).items():
        scores = {item: response_scores.mean_of_runs(runs) for item, runs in of_item.items()}
        full = mean_of_scores(list(scores.values()), within=within)
        after, before = (
            mean_of_scores([one for item, one in scores.items() if sides.get(item) is side], within=within)
            for side in (True, False)
        )
        means[found.systems[system_id]] = (full, after, before)
    said = (f"since {at}", f"before {at}") if by_date else (f"cited {at} times or more", "cited less often")
    unknown = sum(item not in sides for item in found.items)
    return CutScores(found.metric, found.rater, said, dict(sorted(means.items())), unknown)


def cut_sheets(found: CutScores) -> tuple[ResultSheet, ...]:
    """Systems down; all items, those from the cut on, the others."""
    if not found.means:
        return ()
    heads = columns(
        SYSTEM_COLUMN, ("full", "All items"), ("from_cut", found.said[0].capitalize()), ("items_from", "Items"),
        ("below_cut", found.said[1].capitalize()), ("items_below", "Items"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((text(name), figure(full), figure(after), count(after.n), figure(before), count(before.n)))
        for name, (full, after, before) in found.means.items()
    )
    told = (
        f"{found.metric.title}, by the sources of the items; of {counted(found.unknown, 'item')} this is not known.",
    )
    return (ResultSheet("cut_off", "Before and after a cut-off", heads, lines, told),)


def _since(lines: Sequence[SourceLine], month: str) -> dict[str, bool]:
    """Item → whether its source was published since a month, where that is known: a year alone may leave it open."""
    dated = ((one.item_id, one.published) for one in lines if one.published)
    return {item: day[:7] >= month for item, day in dated if len(day) >= len(month) or day[:4] != month[:4]}


def _cited(lines: Sequence[SourceLine], least: int) -> dict[str, bool]:
    return {one.item_id: one.citations >= least for one in lines if one.citations is not None}
