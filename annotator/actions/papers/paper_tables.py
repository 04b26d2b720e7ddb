"""Every table and figure of the papers that rests on data a project holds, as one view."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from annotator.actions.judging import judge_offers
from annotator.actions.judging.judge_offers import ProtocolOffer
from annotator.actions.papers import (
    citation_windows,
    continuations,
    duel_tables,
    point_reviews,
    report_statistics,
    score_agreement,
    systems_tables,
    view_tables,
)
from annotator.actions.project.file import Project
from annotator.actions.results import metrics, response_scores, scoring
from annotator.actions.results.result_sheets import ResultSheet, ViewChoice, key_of
from annotator.actions.studies import result_views
from annotator.actions.studies.result_views import ResultView
from annotator.domain.judges.paper import Paper
from annotator.domain.judges.paper_table import Down, DuelTable, PaperTable, SystemsTable, ViewTable
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import papers

TABLES: dict[str, tuple[Paper, PaperTable]] = {
    table.name: (paper, table) for paper in papers() for table in paper.tables
}
FIRST = next(iter(TABLES))
USUAL_READING = "As defined"


def aliases() -> dict[str, str]:
    """A short name of each numbered table, by its paper's first letter: r3, or rf2 for a figure.

    A paper whose first letter another has goes by two: ar3.
    """
    letters: dict[str, str] = {}
    for paper in papers():
        taken = letters.values()
        letters[paper.name] = paper.name[:2] if paper.name[0] in taken else paper.name[0]
    return {
        f"{letters[paper.name]}{'f' if kind == 'Figure' else ''}{number}": table.name
        for paper, table in TABLES.values()
        for kind, _, number in (place.partition(" ") for place in table.printed)
        if kind in ("Table", "Figure")
    }


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """Which table, by whose judgements; of one with recent sources, after which month, and how it is counted."""
    offered = tuple(
        (f"{paper.title}, {' and '.join(table.printed)}: {table.title}", name)
        for name, (paper, table) in TABLES.items()
    )
    months = sorted(set(systems_tables.published(project).values()), reverse=True)[1:]
    read = {
        name: one.readings
        for name, (_, table) in TABLES.items()
        for one in table.made_of
        if not isinstance(one, ViewTable) and one.readings
    }
    readings = dict.fromkeys((one.title, one.name) for of in read.values() for one in of)
    return (
        ViewChoice("table", "Table", offered, usual=_usual(project)),
        response_scores.rater_choice(project),
        ViewChoice(
            "after",
            "Published after",
            tuple((month, month) for month in months),
            ("table", _with(Down.PUBLISHED)),
        ),
        ViewChoice(
            "mode",
            "With a cut-off",
            tuple((mode, mode) for mode in systems_tables.limited(project)),
            ("table", _with(Down.LIMITED)),
        ),
        ViewChoice("reading", "Counted", ((USUAL_READING, ""), *readings), ("table", tuple(read))),
    )


def _with(down: Down) -> tuple[str, ...]:
    """The tables that have such rows."""
    return tuple(
        name
        for name, (_, table) in TABLES.items()
        if any(isinstance(one, SystemsTable) and one.down is down for one in table.made_of)
    )


def _usual(project: Project) -> str:
    """The first table of which most of what is judged is known here; the first of all where nothing is."""
    known = {info.name: not info.cost for info in metrics.known(project)}

    def share(name: str) -> float:
        wanted = [metric for one in TABLES[name][1].made_of for metric in _metrics(one)]
        return sum(known.get(metric, False) for metric in wanted) / max(1, len(wanted))

    return max(TABLES, key=share)


def _metrics(made: SystemsTable | ViewTable | DuelTable) -> Iterator[str]:
    if isinstance(made, DuelTable):
        yield from (column.metric for column in made.columns)
    elif isinstance(made, SystemsTable):
        yield from (column.metric for part in made.parts for column in part.columns)


def report(
    project: Project, table: str = FIRST, judge: str = "", after: str = "", reading: str = "", mode: str = ""
) -> tuple[ResultSheet, ...]:
    """The sheets of a table; those that nothing is known of are left out."""
    paper, wanted = TABLES[table]
    made = list(_made(project, wanted, judge, after, reading, mode))
    again = Counter(one.key for one in made)
    return tuple(
        replace(
            one,
            key=f"{one.key}_{place}" if again[one.key] > 1 else one.key,
            told=(*one.told, f"{paper.title}, {' and '.join(wanted.printed)}."),
            departures=(*one.departures, *wanted.departures),
        )
        for place, one in enumerate(made, start=1)
    )


def _made(
    project: Project, table: PaperTable, judge: str, after: str, reading: str, mode: str
) -> Iterator[ResultSheet]:
    for one in table.made_of:
        if isinstance(one, DuelTable):
            yield from duel_tables.sheets(project, one, key_of(table.name), table.title, judge, reading)
            continue
        found = (
            systems_tables.sheet(
                systems_tables.counted(project, one.read(reading), judge, after, mode),
                key_of(table.name),
                one.title or table.title,
            )
            if isinstance(one, SystemsTable)
            else view_tables.sheet(project, one, judge)
        )
        if found is not None:
            yield found


def sheets(found: tuple[ResultSheet, ...]) -> tuple[ResultSheet, ...]:
    return found


VIEW = ResultView(
    "tables",
    "As printed",
    "Papers",
    "The tables and figures of the papers, with their rows and columns.",
    "This one needs figures that the project does not have yet; Help says under “Which view makes which table” where "
    "they come from.",
    choices,
    report,
    sheets,
)
_EVERY = (
    *result_views.VIEWS,
    citation_windows.VIEW,
    report_statistics.VIEW,
    continuations.VIEW,
    score_agreement.VIEW,
    point_reviews.VIEW,
    VIEW,
)
_PARTS = tuple(dict.fromkeys(view.part for view in _EVERY))
VIEWS: tuple[ResultView, ...] = tuple(sorted(_EVERY, key=lambda view: _PARTS.index(view.part)))


def found_as(name: str) -> tuple[str, dict[str, str]]:
    """The view and the choices that a name stands for: of a view, of a paper's table, or of its short name.

    Refusal lists all names there are.
    """
    table = aliases().get(name.casefold(), name)
    if table in TABLES:
        return VIEW.name, {"table": table}
    views = [view.name for view in VIEWS]
    if name not in views:
        short = {of: one for one, of in aliases().items()}
        raise Refusal(
            f"There is no view “{name}”.",
            f"Views: {', '.join(views)}. Tables of the papers: "
            f"{', '.join(f'{one} ({short[one]})' if one in short else one for one in TABLES)}.",
        )
    return name, {}


_ROWS = {
    Down.LIMITED: "No report has a cut-off. Run: goldsmith respond FILE --cutoff DAY --mode-name NAME, or "
    "goldsmith responses set FILE",
    Down.PUBLISHED: "It needs dates of publication, and a month that some are after. Run: goldsmith sources describe "
    "FILE --item KEY --published DATE, then choose the month: --choose after=MONTH",
}


def lacking(project: Project, chosen: Mapping[str, str]) -> tuple[str, ...]:
    """The steps after which a table that is empty has figures, each with its command."""
    made = TABLES[chosen["table"]][1].made_of
    known = {info.name for info in metrics.known(project)}
    protocols = {metrics.named(name).protocol for one in made for name in _metrics(one) if name not in known}
    steps = [
        step for offer in judge_offers.offers(project) if offer.name in protocols for step in _steps(offer)
    ]
    for one in made:
        mode = dict(one.chosen).get("mode", "") if isinstance(one, ViewTable) else getattr(one, "mode", "")
        if mode and mode not in scoring.modes_of(project):
            steps.append(
                f"No report was given in the mode “{mode}”. Run: goldsmith respond FILE --mode {mode.replace(' ', '-')}"
            )
        elif isinstance(one, ViewTable):
            view = result_views.named(one.view, view_tables.VIEWS)
            steps.append(f"{view.lacks} Run: {view.command}")
        elif isinstance(one, SystemsTable) and one.down in _ROWS:
            steps.append(_ROWS[one.down])
    return tuple(dict.fromkeys(steps))


def _steps(offer: ProtocolOffer) -> Iterator[str]:
    """What a protocol without figures lacks: gold, what is drawn from reports, and verdicts."""
    yield from (f"{offer.title}: {words}" for words in offer.lacks)
    yield from (
        f"{step.words()} Run: goldsmith judge extract FILE --judge NAME --extraction {step.extraction}"
        for step in offer.steps
        if step.missing
    )
    if offer.asked:
        yield f"{offer.title}: not judged. Run: goldsmith judge run FILE --judge NAME --protocol {offer.name}"
