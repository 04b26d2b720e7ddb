"""Commands for sources, cited pages and gold evidence: fetching, importing, looking up."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli import items
from annotator.cli.project import Line, Shown, carried_out
from annotator.cli.saying import (
    File,
    Json,
    bar,
    changing,
    given_of,
    opened,
    progress_bars,
    reading,
    say,
    say_changed,
)
from annotator.domain.common import Refusal, counted, local

app = typer.Typer(help="Sources of items, and pages cited by reports.", no_args_is_help=True)
evidence_app = typer.Typer(help="Gold evidence in bulk.", no_args_is_help=True)
Item = Annotated[str, typer.Option("--item", help="Item key")]
FromFile = Annotated[
    Path | None,
    typer.Option("--from", help="File with replies of CrossRef or OpenAlex; nothing is asked then"),
]
Services = Annotated[
    list[str] | None,
    typer.Option(
        "--service",
        help="Address with {} for the DOI; by default OpenAlex, then CrossRef. Kept replies are used first",
        show_default=False,
    ),
]
NOT_FETCHED = "not fetched"
Refresh = Annotated[bool, typer.Option("--refresh", help="Ask again for kept replies")]
Every = Annotated[
    bool, typer.Option("--every", help="Every page that a report gives, as key points need them")
]


@app.command("list")
@reading
def list_(project: Any, every: Every = False, json_: Json = False) -> None:
    """List every address that claims cite and every page that is kept, with its state and the cause of a failure."""
    from annotator.actions.items import pages

    result = pages.lines(project, every=every)
    words = [f"{line.state or NOT_FETCHED:<11}  {line.url}  {line.cause}".rstrip() for line in result]
    trees = [asdict(line) | {"state": line.state or NOT_FETCHED} for line in result]
    none = "No claim cites an address, and no page is kept; --every lists those that reports give."
    say({"pages": trees}, json_, words or [none])


@app.command()
def fetch(
    file: File,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Also fetch from this machine and from private networks")
    ] = False,
    reader: Annotated[
        str, typer.Option(help="Address of a reader service, used instead of the pages' own servers")
    ] = "",
    refresh: Annotated[
        bool,
        typer.Option("--refresh", help="Fetch pages again; a stored text is never replaced by an empty one"),
    ] = False,
    concurrency: Annotated[int, typer.Option(min=1, max=64, help="Concurrent downloads")] = 8,
    every: Every = False,
    progress: Shown = "bar",
    json_: Json = False,
) -> None:
    """Fetch the pages cited by the project's claims and store their texts; exit code 3 if some failed."""
    from annotator.actions.items import pages

    order = pages.FetchRequest(refresh, allow_private, reader, concurrency, every)

    async def run(project: Any, **how: Any) -> dict[str, Any]:
        return await pages.fetch(project, order, **how)

    carried_out(file, run, pages.words, doing="fetching", progress=progress, json_=json_)


@app.command("import")
def import_(
    file: File,
    folder: Annotated[
        Path,
        typer.Argument(help="Folder with pages.csv or pages.json, or with saved pages", show_default=False),
    ],
    progress: Shown = "bar",
    json_: Json = False,
) -> None:
    """Import cited pages from a folder, if they cannot be fetched; exit code 1 if all failed, 3 if some failed.

    The index has the columns url and file, and may have title and fetched_at. Without one, each saved page
    (.html) has to name the address it comes from.
    """
    from annotator.actions.items import pages

    async def run(project: Any, *, tell: Callable[[Line], None], **_: Any) -> Line:
        return await pages.import_folder(project, folder, tell=tell)

    def words(line: Line) -> list[str]:
        return [*pages.words(line), *line["problems"]]

    carried_out(file, run, words, doing="reading", progress=progress, json_=json_)


@app.command()
def add(
    file: File,
    item: Annotated[str, typer.Argument(help="Key of the item", show_default=False)],
    paths: Annotated[
        list[str], typer.Argument(help="Markdown, plain text (UTF-8) or PDF", show_default=False)
    ],
    title: Annotated[str, typer.Option(help="Title; by default the name of each file")] = "",
    json_: Json = False,
) -> None:
    """Put files beside an item as its sources, all of them or none; what is there already is not added again."""
    from annotator.actions.items import items

    if any("://" in path for path in paths):
        raise Refusal(
            "Sources are files; an address cannot be added.",
            "Save the page as PDF or text and add that; sources describe --identifier keeps its address.",
        )
    with opened(file) as project, project.store.write():
        item_id = _item_id(project, item)
        new = {path: bool(items.add_source(project, item_id, Path(path), title).seq) for path in paths}
    words = [
        f"{'Added' if added else 'There already, not added again'}: {path}" for path, added in new.items()
    ]
    say({"item": item, "sources": [{"file": path, "added": new[path]} for path in new]}, json_, words)


@app.command()
def describe(
    file: File,
    item: Annotated[list[str], typer.Option("--item", help="Item key; repeatable")],
    source: Annotated[str, typer.Option(help="Title of the source, where the item has several")] = "",
    kind: Annotated[str | None, typer.Option(help="research or review")] = None,
    published: Annotated[str | None, typer.Option(help="2024-05-01, 2024-05 or 2024")] = None,
    venue: Annotated[str | None, typer.Option(help="Journal, conference or archive")] = None,
    citations: Annotated[int | None, typer.Option(min=0, help="How often it is cited")] = None,
    citations_on: Annotated[
        str | None, typer.Option(help="Day on which they were counted; today by default")
    ] = None,
    identifier: Annotated[str | None, typer.Option(help="DOI, arXiv id or address")] = None,
    json_: Json = False,
) -> None:
    """Set the kind, date, venue, citations or identifier of sources, in one act that can be undone."""
    from annotator.actions.items import items, materials
    from annotator.domain.common import now

    if citations is not None and citations_on is None:
        citations_on = local(now()).date().isoformat()
    given = given_of(
        kind=kind, published=published, venue=venue, citations=citations, citations_on=citations_on,
        identifier=identifier,
    )  # fmt: skip
    with opened(file) as project:
        sources = [one for key in item for one in items.sources(project, _item_id(project, key))]
        ids = [one.id for one in sources if source in ("", one.title)]
        change = materials.describe(project, materials.Thing.SOURCE, dict.fromkeys(ids, given))
    say_changed(change, json_)


@app.command("look-up")
@changing
def look_up(
    project: Any,
    item: Annotated[
        list[str] | None, typer.Option("--item", help="Item key; repeatable; all by default")
    ] = None,
    from_file: FromFile = None,
    service: Services = None,
    refresh: Refresh = False,
    json_: Json = False,
) -> None:
    """Set date, venue, citations and kind of sources from OpenAlex, CrossRef or a file; replies are kept."""
    from annotator.actions.items import items, materials
    from annotator.actions.material import lookups

    ids = [_item_id(project, key) for key in item or ()] or materials.item_ids(project)
    named = [source.identifier for key in ids for source in items.sources(project, key) if source.identifier]
    result = _looked_up(project, named, from_file, service, refresh=refresh)
    change = lookups.describe_sources(project, ids, result)
    say({"lacking": dict(result.lacking), "changed": change.after}, json_, [result.words()])


@app.command()
def works(
    file: File,
    from_place: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Table with identifier, and abstract or cited_by_count and counted_on; replies of OpenAlex; or a "
            "folder of them. Nothing is asked then",
        ),
    ] = None,
    service: Services = None,
    json_: Json = False,
) -> None:
    """Complete the works that reports and gold evidence name: abstracts from arXiv, citations from OpenAlex.

    Relevance, citations and claims are judged by abstracts; document importance counts by citations. A text that is
    there is never replaced. Exit code 3 if something did not come.
    """
    from annotator.actions import research

    with opened(file) as project, progress_bars() as progress:
        if from_place is not None:
            result = research.from_place(project, from_place, bar(progress))
        else:
            result = research.look_up(project, bar(progress), services=service or ())
        left = research.named(project)
    lacks = {"named": len(left.titles), "without_abstract": left.without_abstract}
    summary = asdict(result) | lacks | {"without_citations": left.without_citations}
    say(summary, json_, [*result.words(), left.words()], lacking=result.problems)


@evidence_app.command("import")
def evidence_import(
    file: File,
    item: Item,
    path: Annotated[
        str,
        typer.Argument(
            help="BibTeX, RIS, CSV, LaTeX, PDF, or a list of works, DOIs or arXiv ids; - for input"
        ),
    ] = "",
    from_source: Annotated[
        bool, typer.Option("--from-source", help="The lists of references in the item's sources")
    ] = False,
    source_itself: Annotated[
        bool, typer.Option("--source-itself", help="The item's sources: the evidence of a research paper")
    ] = False,
    doubtful: Annotated[
        bool, typer.Option("--doubtful", help="Also take entries that may be read wrongly")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be taken, and take nothing")
    ] = False,
    json_: Json = False,
) -> None:
    """Put references into your evidence in one act; what repeats, is doubtful or not readable is listed and stays out.

    Doubtful is, say, an entry without a year, one of prose, or one whose title looks like names; the reason is given.
    """
    from annotator.actions.material import lookups

    if (bool(path), from_source, source_itself).count(True) != 1:
        raise Refusal("It is not clear what to import.", "Give a file, --from-source or --source-itself.")
    with opened(file, readonly=dry_run) as project:
        item_id = _item_id(project, item)
        if from_source:
            offer = lookups.from_sources(project, item_id)
        elif source_itself:
            offer = lookups.the_source_itself(project, item_id)
        elif path == "-":
            offer = lookups.from_text(project, item_id, sys.stdin.read())
        else:
            offer = lookups.from_file(project, item_id, Path(path))
        chosen = offer.fresh + (offer.doubtful if doubtful else ())
        if chosen and not dry_run:
            lookups.take(project, item_id, chosen, offer.form)
    entries = [{**asdict(entry), "reference": _plain(entry.reference)} for entry in offer.entries]
    words = [offer.words(), *(entry.words() for entry in offer.entries if not entry.fresh)]
    say({"form": offer.form, "taken": 0 if dry_run else len(chosen), "entries": entries}, json_, words)


@evidence_app.command("look-up")
@changing
def evidence_look_up(
    project: Any,
    item: Item,
    from_file: FromFile = None,
    service: Services = None,
    refresh: Refresh = False,
    json_: Json = False,
) -> None:
    """Fill in lacking titles, authors and years of your evidence from OpenAlex, CrossRef or a file, in one act."""
    from annotator.actions.material import lookups

    item_id = _item_id(project, item)
    result = _looked_up(project, lookups.to_complete(project, item_id), from_file, service, refresh=refresh)
    change = lookups.complete(project, item_id, result)
    say({"lacking": dict(result.lacking), "change": change.after}, json_, [result.words()])


def _looked_up(
    project: Any, identifiers: list[str], path: Path | None, services: list[str] | None, *, refresh: bool
) -> Any:
    from annotator.actions.material import lookups

    if path is not None:
        return lookups.in_file(path)
    return asyncio.run(lookups.look_up(project, identifiers, services or (), refresh=refresh))


def _item_id(project: Any, key: str) -> str:
    from annotator.actions.items import items

    return str(items.ids_of(project, [key], in_use=True)[0])


def _plain(reference: Any) -> Any:
    named = {"text", "identifier", "authors", "year"}
    return reference.model_dump(mode="json", include=named) if reference is not None else None


research_app = typer.Typer(
    help="Research papers: their related-work sections as exemplars.", no_args_is_help=True
)
research_app.add_typer(items.writing_app)
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


@research_app.command()
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
    from annotator.actions import research
    from annotator.actions.imports import imports

    query = research.query(category, first, last, titles=titles)
    rules = imports.Rules(any_version, journal_counts, any_comment)
    if authors is not None:
        rules = imports.with_authors(rules, authors, least_h)
    with progress_bars() as progress:
        result = asyncio.run(research.collect(to, query, rules, bar(progress)))
    say(asdict(result), json_, research.words(result), lacking=result.missing)


@research_app.command()
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
    from annotator.actions.imports import imports

    rules = imports.Rules(any_version, journal_counts, any_comment, most_words, least_references)
    if authors is not None:
        rules = imports.with_authors(rules, authors, least_h)
    with opened(file, readonly=dry_run) as project, progress_bars() as progress:
        options = imports.ImportOptions(rules=rules)
        if dry_run:
            report = imports.preview(project, imports.COLLECTED, [folder], options, bar(progress))
        else:
            _, report = imports.run(project, imports.COLLECTED, [folder], options, progress=bar(progress))
    say(_tree(report), json_, _words(report))


def _tree(report: Any) -> dict[str, Any]:
    funnel = report.funnel
    new = {thing: report.counts[thing].new for thing in ("items", "pages")}
    return {
        "candidates": funnel.candidates,
        "kept": len(funnel.passed),
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
