"""Commands for a whole project: create, import, count, export, check."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli.options import NamingLayouts
from annotator.cli.saying import (
    File,
    Json,
    bar,
    lines,
    opened,
    progress_bars,
    public,
    say,
    say_made,
)
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal

app = typer.Typer()


@app.command()
def sample(
    file: File,
    reset: Annotated[
        bool,
        typer.Option(
            "--reset", help="Replace this sample with a new one; the old file is kept under another name"
        ),
    ] = False,
    related_work: Annotated[
        bool,
        typer.Option(
            "--related-work", help="Another sample: one paper's related-work section and two systems"
        ),
    ] = False,
    seminar: Annotated[
        bool,
        typer.Option("--seminar", help="Another sample: a seminar's transcript, its tasks and two reports"),
    ] = False,
    json_: Json = False,
) -> None:
    """Create the sample project, in which every page has content."""
    from annotator.actions.imports import samples

    wanted = {samples.RELATED_WORK: related_work, samples.SEMINAR: seminar}
    other = [one for one, asked in wanted.items() if asked]
    if other and (reset or len(other) > 1):
        raise Refusal(
            "Only the usual sample can be reset, and one is made at a time.",
            "Create another one under a new name.",
        )
    with progress_bars() as progress:
        if other:
            say_made(samples.create_small(file, other[0], bar(progress)), json_)
            return
        if not reset:
            say_made(samples.create(file, progress=bar(progress)), json_)
            return
        aside = samples.reset(file, progress=bar(progress))
    kept = aside.name if aside.exists() else ""
    words = [f"Created {file} again", *([f"The previous file is kept as {kept}"] if kept else [])]
    say({"file": file.name, "kept": kept}, json_, words)


@app.command()
def new(
    file: File, title: Annotated[str, typer.Option(help="The project's title")] = "", json_: Json = False
) -> None:
    """Create an empty project."""
    from annotator.actions.project.people import new_project

    say_made(new_project(file, title), json_)


@app.command("import", cls=NamingLayouts)
def import_(
    file: File,
    paths: Annotated[list[Path], typer.Argument(help="Folders or files to import", show_default=False)],
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            help="{layouts} or tables, goldsmith, collected or transcripts; without it the content tells",
        ),
    ] = "",
    mapping: Annotated[
        Path | None,
        typer.Option(
            "--mapping", help="File that says which columns of tables hold what, or the name of one shipped"
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be imported, without importing")
    ] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Skip records that cannot be read and import the rest")
    ] = False,
    pseudonyms: Annotated[
        bool,
        typer.Option(
            "--pseudonyms",
            help="Call speakers of transcripts S1, S2 …; only this project knows who is who",
        ),
    ] = False,
    author: Annotated[
        str,
        typer.Option(
            help="Whose drafts criteria and other units of tables are; without it settled gold from outside"
        ),
    ] = "",
    allow_weights: Annotated[
        bool, typer.Option("--allow-weights", help="Allow the weights of criteria that the files have")
    ] = False,
    json_: Json = False,
) -> None:
    """Import tables, reports, rubrics, labels, releases or transcripts; a repeated import adds nothing.

    A file that is not there yet is made. New gold scores its items at once.
    """
    from annotator.actions.imports import imports
    from annotator.exchange.formats.mappings import TablesMapping

    how = None if mapping is None else TablesMapping.at(mapping)
    with _to_import_into(file, dry_run) as (project, new), progress_bars() as progress:
        # A project of these files alone has the weights that they have.
        options = imports.ImportOptions(
            pseudonyms=pseudonyms, mapping=how, allow_weights=allow_weights or new, author=author
        )
        ask = sys.stdin.isatty() and not (dry_run or json_ or options.allow_weights)
        if dry_run or ask:
            report = imports.preview(project, format_, paths, options)
        if ask and report.weights_to_allow:
            words = f"Allow the weights {report.weights_to_allow} in this project?"
            options = replace(options, allow_weights=typer.confirm(words))
        if not dry_run:
            _, report = imports.run(
                project, format_, paths, options, skip_bad=skip_bad, progress=bar(progress)
            )
    result: dict[str, Any] = {
        "new": report.new,
        "counts": {thing: asdict(count) for thing, count in report.counts.items()},
        "problems": [str(problem) for problem in report.problems],
        "notes": [str(note) for note in report.notes],
    }
    say(result, json_, [*report.words(), *result["problems"]])


@contextmanager
def _to_import_into(file: Path, dry_run: bool) -> Iterator[tuple[Any, bool]]:
    """The project, and whether it is made now; one that nothing came into is not left behind."""
    from annotator.actions.project.people import new_project

    new = not file.exists()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder) / file.name if new and dry_run else file
        if new:
            new_project(path, "").close()
        bare = new
        try:
            with opened(path, readonly=dry_run) as project:
                yield project, new
            bare = False
        finally:
            if bare:
                path.unlink(missing_ok=True)


@app.command()
def weights(
    file: File,
    allow: Annotated[
        str,
        typer.Option(help="A range such as “-3 to 3” or “0 to 1 by 0.25”, or a list such as “-5, 1, 3”"),
    ] = "",
    json_: Json = False,
) -> None:
    """Show which weights the criteria of rubrics may have, or allow others."""
    from annotator.actions.authoring import criterion_weights

    with opened(file, readonly=not allow) as project:
        if allow:
            criterion_weights.allow(project, allow)
        found = criterion_weights.allowed(project)
    tree = {"weights": found.text, "values": list(found.values)}
    say(tree, json_, [f"Criteria may have these weights: {found.text}"])


@app.command()
def info(file: File, json_: Json = False) -> None:
    """Count the contents of the project."""
    from annotator.actions.items import summaries

    with opened(file, readonly=True) as project:
        found = summaries.counts(project)
    say(found, json_, lines(found))


@app.command(cls=NamingLayouts)
def export(
    file: File,
    to: Annotated[Path, typer.Option(help="Folder to write to; created if missing")],
    profile: Annotated[str, typer.Option(help="goldsmith, {layouts_listed} or csv")] = "goldsmith",
    with_pages: Annotated[
        bool, typer.Option("--with-pages", help="Include the texts of cited pages, which belong to others")
    ] = False,
    with_addresses: Annotated[
        bool, typer.Option("--with-addresses", help="Include the addresses of the judges' endpoints")
    ] = False,
    licence: Annotated[str | None, typer.Option(help="Set the licence of this and later releases")] = None,
    description: Annotated[
        str | None, typer.Option(help="Set the description at the head of the data card")
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Refuse where the final pass is not signed, items have no gold or the description is empty",
        ),
    ] = False,
    json_: Json = False,
) -> None:
    """Write a release: the same content gives the same bytes. Keys are never exported, nor stored in a project."""
    from annotator.actions.releases import releases

    with opened(file) as project, progress_bars() as progress:
        for name, text in (("licence", licence), ("description", description)):
            if text is not None:
                releases.state(project, name, text)
        report = releases.export(
            project, to, profile, progress=bar(progress), page_texts=with_pages, addresses=with_addresses,
            strict=strict,
        )  # fmt: skip
    found = {"folder": to.as_posix(), "profile": profile, **public(report)}
    files, records = counted(len(report.files), "file"), counted(report.records, "record")
    words = [f"Wrote {files} with {records} to {to}", *report.notes]
    say(found, json_, words)


@app.command()
def check(
    file: File,
    mend: Annotated[bool, typer.Option("--mend", help="Rebuild the search index and cached pages")] = False,
    json_: Json = False,
) -> None:
    """Check the whole file: pages, hashes, links between rows. Exit code 1 if something is wrong."""
    from annotator.actions.releases import checking

    if mend:
        with opened(file) as project:
            checking.mend(project)
    with opened(file, readonly=True, unchecked=True) as project, progress_bars() as progress:
        report = checking.check(project, progress=bar(progress))
    found = public(report)
    say(found, json_, [f"{finding}" for finding in report.problems] or ["Everything is in order."])
    if report.problems:
        raise typer.Exit(1)


@app.command()
def backup(file: File, json_: Json = False) -> None:
    """Write a verified backup now, next to the project."""
    from annotator.actions.project import backups

    with opened(file) as project:
        path = backups.make(project, "asked for on the command line")
    say({"backup": path.name, "folder": path.parent.name}, json_, [f"Backed up to {path}"])


@app.command()
def selftest(json_: Json = False) -> None:
    """Test the program's parts on this machine; exit code 1 if one fails."""
    from annotator.selftest import run

    found = run()
    say(
        found,
        json_,
        [f"{'ok  ' if part['ok'] else 'FAIL'} {part['name']}: {part['detail']}" for part in found["parts"]],
    )
    if not found["ok"]:
        raise typer.Exit(1)
