"""Every table and figure of the papers for which a project can have data, as one view."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from annotator import files
from annotator.actions.judging import judge_runs
from annotator.actions.papers import human_agreement, systems_tables, view_tables
from annotator.actions.project import profile
from annotator.actions.project.file import Project
from annotator.actions.results import results, scoring
from annotator.actions.results.result_sheets import ResultSheet, ViewChoice, key_of
from annotator.actions.studies import result_views
from annotator.actions.studies.result_views import (
    AGREEMENT,
    BENCHMARK,
    CUT_OFF,
    DATED,
    REPORTS,
    SEVERAL_MODES,
    SYSTEMS,
    ResultView,
)
from annotator.domain.common import Refusal
from annotator.domain.judges.paper import Down, DuelTable, Paper, PaperTable, SystemsTable, ViewTable
from annotator.places import resources
from annotator.protocols import papers

TABLES: dict[str, tuple[Paper, PaperTable]] = {
    table.name: (paper, table) for paper in papers() for table in paper.tables
}
FIRST = next(iter(TABLES))
USUAL_READING, PRINTED = "As defined", "Papers' tables"


def aliases() -> dict[str, str]:
    """A short name of each numbered table, by its paper's first letter: r3, or rf2 for a figure.

    If two papers share their first letter, the later one has two letters: ar3.
    """
    letters: dict[str, str] = {}
    for paper in papers():
        letters[paper.name] = paper.name[:2] if paper.name[0] in letters.values() else paper.name[0]
    return {
        f"{letters[paper.name]}{'f' if kind == 'Figure' else ''}{number}": table.name
        for paper, table in TABLES.values()
        for kind, _, number in (place.partition(" ") for place in table.printed)
        if kind in ("Table", "Figure")
    }


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """Choices of table and rater; for a table with recent sources of the month, and for some of the way of counting."""
    tables = in_use(project)
    offered = tuple(
        (f"{paper.title}, {' and '.join(table.printed)}: {table.title}", name)
        for name, (paper, table) in tables.items()
    )
    months = sorted(set(systems_tables.published(project).values()), reverse=True)[1:]
    read = {
        name: one.readings
        for name, (_, table) in tables.items()
        for one in table.made_of
        if not isinstance(one, ViewTable) and one.readings
    }
    readings = dict.fromkeys((reading.title, reading.name) for of in read.values() for reading in of)
    return (
        ViewChoice("table", "Table", offered, usual=_usual(project, tables)),
        results.rater_choice(project),
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
    return tuple(
        name
        for name, (_, table) in TABLES.items()
        if any(isinstance(one, SystemsTable) and one.down is down for one in table.made_of)
    )


def in_use(project: Project) -> dict[str, tuple[Paper, PaperTable]]:
    """The tables, by name, of papers whose protocols the project judges by."""
    used = profile.profile(project)
    mine = {
        paper.name for paper in papers() if any(used.judges(protocol.name) for protocol in paper.protocols)
    }
    return {name: (paper, table) for name, (paper, table) in TABLES.items() if paper.name in mine}


def _usual(project: Project, tables: Iterable[str]) -> str:
    """The table with the largest share of known figures; the first of all if none is known."""
    known = {info.name: not info.cost for info in scoring.known(project)}
    modes = ("", *scoring.modes_of(project))

    def share(name: str) -> float:
        parts = TABLES[name][1].made_of
        metrics = [metric for one in parts for metric in _metrics(one)]
        fraction = sum(known.get(metric, False) for metric in metrics) / max(1, len(metrics))
        return fraction if all(_mode(one) in modes for one in parts) else 0.0

    return max(tables, key=share, default=FIRST)


def _metrics(made: SystemsTable | ViewTable | DuelTable) -> Iterator[str]:
    if isinstance(made, DuelTable):
        yield from (column.metric for column in made.columns)
    elif isinstance(made, SystemsTable):
        yield from (column.metric for part in made.parts for column in part.columns)


def report(
    project: Project,
    table: str = FIRST,
    judge: str = "",
    after: str = "",
    reading: str = "",
    mode: str = "",
    file: str = "",
) -> tuple[ResultSheet, ...]:
    """The sheets of a table; those without any known figure are omitted. A `file` has the paper's leaderboard."""
    paper, paper_table = TABLES[table]
    made = list(_made(project, paper_table, judge, after, reading, mode))
    boards = [one for one in paper_table.made_of if isinstance(one, DuelTable) and one.board]
    if file and not boards:
        raise Refusal(f"“{table}” takes no file: it has no leaderboard.", "Leave “file” out.")
    made += [
        systems_tables.leaderboard(board, Path(file), key_of(table, "board")) for board in boards if file
    ]
    again = Counter(sheet.key for sheet in made)
    return tuple(
        replace(
            sheet,
            key=f"{sheet.key}_{place}" if again[sheet.key] > 1 else sheet.key,
            notes=(*sheet.notes, f"{paper.title}, {' and '.join(paper_table.printed)}."),
            departures=(*sheet.departures, *paper_table.departures),
        )
        for place, sheet in enumerate(made, start=1)
    )


def _made(
    project: Project, table: PaperTable, judge: str, after: str, reading: str, mode: str
) -> Iterator[ResultSheet]:
    for one in table.made_of:
        if isinstance(one, DuelTable):
            yield from systems_tables.sheets(project, one, key_of(table.name), table.title, judge, reading)
            continue
        result = (
            systems_tables.sheet(
                project, one.read(reading), key_of(table.name), one.title or table.title, judge, after, mode
            )
            if isinstance(one, SystemsTable)
            else view_tables.sheet(project, one, judge)
        )
        if result is not None:
            yield result


VIEW = ResultView(
    "tables",
    "As printed",
    PRINTED,
    "The tables and figures of the papers, with their rows and columns.",
    "This one needs figures that the project does not have yet; Help says under “Which view makes which table” where "
    "they come from.",
    choices,
    report,
    tuple,
)
_EVERY = (
    *result_views.VIEWS,
    view_tables.WINDOWS_VIEW,
    view_tables.STATISTICS_VIEW,
    view_tables.EXEMPLARS,
    view_tables.VIEW,
    view_tables.AGREEMENT_VIEW,
    human_agreement.REVIEWS_VIEW,
    VIEW,
)
_PARTS = (AGREEMENT, SYSTEMS, PRINTED, REPORTS, BENCHMARK)
VIEWS: tuple[ResultView, ...] = tuple(sorted(_EVERY, key=lambda view: _PARTS.index(view.part)))


def view_of(name: str) -> tuple[str, dict[str, str]]:
    """The view and the choices for a name: of a view, of a paper's table, or of its short name.

    The Refusal lists all names.
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


_HEAD = """\
# Which view makes which table

Every table and figure of the papers stands here, with the command that prints it from what a project holds, or the \
reason why none does. In the window it is the view **As printed** of the Results page. Each has a short name, too: the \
first letter of its paper and its number, with f for a figure (`r3`, `af2`; `ar3` where two papers share a letter).

`--json` prints it for programs, `--to FILE.csv` writes a file, and `--to FILE.png` or `.svg` its picture. `--offsets` \
adds how far an interval reaches below and above, as the papers print it; `--rater` names the judge. Rows and columns \
are the paper's. How often that differs from the paper stands below the table; `--departures` prints it in full, as \
the page, a release and saved tables have it. A table without figures says which steps are missing, each with its \
command. `goldsmith results FILE --views` lists what rests on anything in a project; with `--all` also the rest, each \
with what it lacks.
"""


def page() -> str:
    return "\n".join([_HEAD, *(_part(paper) for paper in papers())])


def _part(paper: Paper) -> str:
    heads = ("printed as", "what it shows", "command, or why there is none", "where the data come from")
    rows = [
        *((", ".join(one.printed), "–", one.why, "–") for one in paper.unprinted),
        *(
            (
                ", ".join(table.printed),
                table.title,
                f"`goldsmith results FILE --view {table.name}`",
                table.data,
            )
            for table in paper.tables
        ),
    ]
    lines = (f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *rows))
    about = (f"{paper.tables_about}\n",) if paper.tables_about else ()
    return "\n".join([f"## {paper.title}\n", *about, *lines, ""])


_ROWS = {
    Down.MODES: "No system was asked in two modes. Run: goldsmith respond FILE --mode NAME, or goldsmith research "
    "write FILE --judge NAME --system NAME --oracle arxiv",
    Down.LIMITED: "No report has a cut-off. Run: goldsmith respond FILE --cutoff DAY --mode-name NAME, or "
    "goldsmith responses set FILE",
    Down.PUBLISHED: "It needs dates of publication, and a month that some are after. Run: goldsmith sources describe "
    "FILE --item KEY --published DATE, then choose the month: --choose after=MONTH",
}


# A step after which a table has figures, with its command, and the window's page for it.
MissingStep = tuple[str, str]


def lacking(
    project: Project, chosen: Mapping[str, str], offers: Sequence[judge_runs.ProtocolOffer] | None = None
) -> tuple[MissingStep, ...]:
    made = TABLES[chosen["table"]][1].made_of
    known = {info.name for info in scoring.known(project)}
    protocols = {scoring.named(name).protocol for one in made for name in _metrics(one) if name not in known}
    offers = judge_runs.offers(project) if offers is None else offers
    steps = [step for offer in offers if offer.name in protocols for step in _steps(offer)]
    for one in made:
        mode = _mode(one)
        if mode and mode not in scoring.modes_of(project):
            run = f"goldsmith respond FILE --mode {mode.replace(' ', '-')}"
            steps.append((f"No report was given in the mode “{mode}”. Run: {run}", "Material"))
        elif isinstance(one, ViewTable):
            view = result_views.named(one.view, view_tables.VIEWS)
            steps.append((view.missing, view.page))
        elif isinstance(one, SystemsTable) and one.down in _ROWS:
            steps.append((_ROWS[one.down], "Material"))
    return tuple(dict.fromkeys(steps))


def _mode(made: SystemsTable | ViewTable | DuelTable) -> str:
    return dict(made.chosen).get("mode", "") if isinstance(made, ViewTable) else getattr(made, "mode", "")


def _steps(offer: judge_runs.ProtocolOffer) -> Iterator[MissingStep]:
    """What a protocol without figures lacks: gold, extracts of reports, and verdicts."""
    yield from ((f"{offer.title}: {words}", "Author") for words in offer.lacks)
    for step in offer.steps:
        if step.without:
            run = f"goldsmith judge extract FILE --judge NAME --extraction {step.name}"
            yield f"{step.words()} Run: {run}", "Material"
    if offer.by_model:
        run = f"goldsmith judge run FILE --judge NAME --protocol {offer.name}"
        yield f"{offer.title}: not judged. Run: {run}", "Judges"


LISTED = ("name", "short", "title", "about", "missing")


def listed(project: Project, *, every: bool = False) -> list[dict[str, str]]:
    """Views and papers' tables in use that have data here, and with `every` the others with what they lack.

    For each its name, its short name, its title, its subject, and what is missing.
    """
    held = result_views.held(project)
    short = {of: one for one, of in aliases().items()}
    offers = judge_runs.offers(project) if every else ()
    used = result_views.in_use(project, VIEWS)
    views = (view for view in VIEWS if view.name in used)
    rows = [
        (view.name, "", view.title, view.about, "" if used[view.name] else view.missing) for view in views
    ]
    for name, (paper, table) in in_use(project).items():
        rests = any(_rests(one, held) for one in table.made_of)
        why = "" if rests else " ".join(words for words, _ in lacking(project, {"table": name}, offers))
        rows.append((name, short.get(name, ""), table.title, ", ".join((paper.title, *table.printed)), why))
    return [dict(zip(LISTED, row, strict=True)) for row in rows if every or not row[-1]]


_NEEDED = {Down.LIMITED: CUT_OFF, Down.PUBLISHED: DATED, Down.MODES: SEVERAL_MODES}


def _rests(made: SystemsTable | ViewTable | DuelTable, held: Collection[str]) -> bool:
    """Whether a project has data for a part of a table."""
    if (mode := _mode(made)) and mode not in held:
        return False
    if isinstance(made, ViewTable):
        judged = {scoring.named(value).protocol for name, value in made.chosen if name == "metric"}
        return judged <= set(held) and result_views.named(made.view, view_tables.VIEWS).rests(held)
    needed = _NEEDED.get(made.down) if isinstance(made, SystemsTable) else None
    known = any(scoring.named(metric).protocol in held for metric in _metrics(made))
    return known and (needed is None or needed in held)


if __name__ == "__main__":
    files.save(resources() / "help" / "tables.md", page().encode())
