"""Commands for research papers as items."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli.research import writing
from annotator.cli.saying import NOT_ALL, File, Json, bar, opened, progress_bars, say
from annotator.domain.texts.counting import counted

app = typer.Typer(help="Research papers: their related-work sections as exemplars.", no_args_is_help=True)
app.add_typer(writing.app)
Folder = Annotated[Path, typer.Argument(help="Folder of collected papers", show_default=False)]


AnyVersion = Annotated[bool, typer.Option("--any-version", help="Also papers that have a second version")]
JournalCounts = Annotated[
    bool, typer.Option("--journal-counts", help="A journal reference counts as accepted, too")
]
AnyComment = Annotated[
    bool, typer.Option("--any-comment", help="Also papers of which no comment says that they were accepted")
]
Authors = Annotated[
    Path | None, typer.Option(help="Table with author and h; one author of a paper must reach --least-h")
]
LeastH = Annotated[int, typer.Option(min=1, help="Least h-index, with --authors")]


@app.command()
def collect(
    to: Annotated[Path, typer.Option(help="Folder to fill, or to go on filling")],
    category: Annotated[list[str], typer.Option(help="Category of arXiv, such as cs.CL; repeatable")],
    first: Annotated[str, typer.Option("--from", help="First day of submission (GMT)")],
    last: Annotated[str, typer.Option("--until", help="Last day of submission (GMT)")],
    titles: Annotated[
        bool,
        typer.Option("--titles", help="Search cited works without an arXiv id by title, one request each"),
    ] = False,
    any_version: AnyVersion = False,
    journal_counts: JournalCounts = False,
    any_comment: AnyComment = False,
    authors: Authors = None,
    least_h: LeastH = 20,
    json_: Json = False,
) -> None:
    """Collect papers from arXiv into a folder: lists, e-prints and cited works, one request every 3 seconds.

    All answers are kept, so that a stopped command goes on where it ended. Exit code 3 if something did not come.
    """
    from annotator.actions.imports import collected_papers
    from annotator.actions.material import collecting

    wanted = collecting.query(category, first, last, titles=titles)
    rules = collected_papers.Rules(any_version, journal_counts, any_comment)
    if authors is not None:
        rules = collected_papers.with_authors(rules, authors, least_h)
    with progress_bars() as progress:
        found = asyncio.run(collecting.collect(to, wanted, rules, bar(progress)))
    say(asdict(found), json_, collecting.words(found))
    if found.missing:
        raise typer.Exit(NOT_ALL)


@app.command()
def build(
    file: File,
    folder: Folder,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be imported, without importing")
    ] = False,
    any_version: AnyVersion = False,
    journal_counts: JournalCounts = False,
    any_comment: AnyComment = False,
    most_words: Annotated[int, typer.Option(min=1, help="Most words of a section")] = 1000,
    least_references: Annotated[int, typer.Option(min=0, help="Fewest works that a section cites")] = 5,
    authors: Authors = None,
    least_h: LeastH = 20,
    json_: Json = False,
) -> None:
    """Make items, exemplars and gold references of collected papers; no network is used, and all refusals are told."""
    from annotator.actions.imports import collected_papers, imports

    rules = collected_papers.Rules(any_version, journal_counts, any_comment, most_words, least_references)
    if authors is not None:
        rules = collected_papers.with_authors(rules, authors, least_h)
    with opened(file, readonly=dry_run) as project, progress_bars() as progress:
        options = imports.ImportOptions(rules=rules)
        if dry_run:
            report = imports.preview(project, imports.COLLECTED, [folder], options, bar(progress))
        else:
            _, report = imports.run(project, imports.COLLECTED, [folder], options, progress=bar(progress))
    say(_told(report), json_, _words(report))


def _told(report: Any) -> dict[str, Any]:
    funnel = report.funnel
    new = {thing: report.counts[thing].new for thing in ("items", "pages")}
    return {
        "candidates": funnel.candidates,
        "kept": len(funnel.kept),
        "items": new["items"],
        "references": report.units,
        "works": new["pages"],
        "rules": dict(funnel.rules),
        "refused": [{"id": one.id, "stage": one.stage.value, "reason": one.reason} for one in funnel.refused],
        "counts": {thing: asdict(count) for thing, count in report.counts.items()},
        "notes": [str(note) for note in report.notes],
        "problems": [str(problem) for problem in report.problems],
    }


def _words(report: Any) -> list[str]:
    funnel = report.funnel
    left = ", ".join(f"{many:,} after {stage.value}" for stage, many in funnel.left().items())
    refused = [f"{one.id}  {one.stage.value}: {one.reason}" for one in funnel.refused]
    problems = [str(problem) for problem in report.problems]
    return [f"{counted(funnel.candidates, 'candidate')}: {left}", *refused, *report.words(), *problems]
