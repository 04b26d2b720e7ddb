"""Commands for a whole project: create, import, count, export, check."""

import asyncio
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from annotator import loading
from annotator.cli.results import print_table
from annotator.cli.saying import (
    DONE,
    NOT_ALL,
    REFUSED,
    File,
    Json,
    NamingLayouts,
    bar,
    changing,
    changing_by,
    console,
    lines,
    opened,
    print_json,
    progress_bars,
    public,
    reading,
    say,
    say_made,
)
from annotator.domain.common import Refusal, counted
from annotator.domain.experts.publication import SplitAccess
from annotator.protocols import PAPERS, PROTOCOLS, profiles

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

    options = {samples.RELATED_WORK: related_work, samples.SEMINAR: seminar}
    other = [one for one, requested in options.items() if requested]
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
    backup = aside.name if aside.exists() else ""
    words = [f"Created {file} again", *([f"The previous file is kept as {backup}"] if backup else [])]
    say({"file": file.name, "kept": backup}, json_, words)


@app.command()
def new(
    file: File,
    title: Annotated[str, typer.Option(help="The project's title")] = "",
    uses: Annotated[
        str,
        typer.Option(
            help="What the project uses, divided by commas: rubrics, plans, related-work, seminars, all, kinds of "
            "document, protocols"
        ),
    ] = profiles.USUAL,
    json_: Json = False,
) -> None:
    """Create an empty project."""
    from annotator.actions.project.people import new_project

    say_made(new_project(file, title, uses), json_)


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
        # A new project allows the weights of the files it is made from.
        options = imports.ImportOptions(
            pseudonyms=pseudonyms, mapping=how, allow_weights=allow_weights or new, author=author
        )
        if sys.stdin.isatty() and not (dry_run or json_ or options.allow_weights):
            options = _with_weights_allowed(project, format_, paths, options)
        if dry_run:
            report = imports.preview(project, format_, paths, options)
        else:
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


def _with_weights_allowed(project: Any, format_: str, paths: list[Path], options: Any) -> Any:
    """The options, with the weights of the files allowed if the user confirms."""
    from annotator.actions.imports import imports

    weights = imports.preview(project, format_, paths, options).weights_to_allow
    if not weights:
        return options
    return replace(options, allow_weights=typer.confirm(f"Allow the weights {weights} in this project?"))


@contextmanager
def _to_import_into(file: Path, dry_run: bool) -> Iterator[tuple[Any, bool]]:
    """Yield the project, and whether it is new; a new one is deleted if the import fails."""
    from annotator.actions.project.people import new_project

    new = not file.exists()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder) / file.name if new and dry_run else file
        if new:
            new_project(path, uses=profiles.HELD).close()
        bare = new
        try:
            with opened(path, readonly=dry_run) as project:
                yield project, new
            bare = False
        finally:
            if bare:
                path.unlink(missing_ok=True)


@app.command()
@changing_by("choose")
def uses(
    project: Any,
    choose: Annotated[
        str, typer.Option("--set", help="What it uses from now on, as for `goldsmith new --uses`")
    ] = "",
    json_: Json = False,
) -> None:
    """Show what the project uses, or choose others; what it holds stays in use."""
    from annotator.actions.project import profile

    if choose:
        profile.choose(project, choose)
    result = profile.profile(project)
    tree = {
        "uses": result.text,
        "documents": sorted(result.kinds),
        "protocols": [name for name in PROTOCOLS if result.judges(name)],
    }
    say(tree, json_, lines(tree))


@app.command()
@changing_by("allow")
def weights(
    project: Any,
    allow: Annotated[
        str,
        typer.Option(help="A range such as “-3 to 3” or “0 to 1 by 0.25”, or a list such as “-5, 1, 3”"),
    ] = "",
    json_: Json = False,
) -> None:
    """Show which weights the criteria of rubrics may have, or allow others."""
    from annotator.actions.authoring import settings

    if allow:
        settings.allow(project, allow)
    result = settings.allowed(project)
    tree = {"weights": result.text, "values": list(result.values)}
    say(tree, json_, [f"Criteria may have these weights: {result.text}"])


@app.command()
@reading
def info(project: Any, json_: Json = False) -> None:
    """Count the contents of the project."""
    from annotator.actions.items import items

    result = items.content_counts(project)
    say(result, json_, lines(result))


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
    parquet: Annotated[
        bool, typer.Option("--parquet", help="Also write the flat rows as Parquet; needs pyarrow")
    ] = False,
    eval_records: Annotated[
        bool, typer.Option("--eval-records", help="Also write the scores as records of Every Eval Ever")
    ] = False,
    test_items: Annotated[
        SplitAccess | None,
        typer.Option(
            help="How the test items leave: those whose trait “split” is “test”, else all. Without a choice as they "
            "are, or encrypted where they are marked",
            show_default=False,
        ),
    ] = None,
    licence: Annotated[str | None, typer.Option(help="Set the licence of this and later releases")] = None,
    description: Annotated[
        str | None, typer.Option(help="Set the description at the head of the card")
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Refuse where the final pass is not signed, items have no gold or a question of readers is open",
        ),
    ] = False,
    json_: Json = False,
) -> None:
    """Write a release: the same content gives the same bytes. Keys are never exported, nor stored in a project."""
    from annotator.actions.releases import releases

    with opened(file) as project, progress_bars() as progress:
        values = {"licence": licence, "description": description}
        if given := {name: text for name, text in values.items() if text is not None}:
            releases.describe(project, given)
        report = releases.export(
            project, to, profile, progress=bar(progress), page_texts=with_pages, addresses=with_addresses,
            parquet=parquet, eval_records=eval_records, test_items=test_items, strict=strict,
        )  # fmt: skip
    result = {"folder": to.as_posix(), "profile": profile, **public(report)}
    files, records = counted(len(report.files), "file"), counted(report.records, "record")
    say(result, json_, [f"Wrote {files} with {records} to {to}", *report.notes])


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
    words = [f"{finding}" for finding in report.problems] or ["Everything is in order."]
    say(public(report), json_, words, lacking=report.problems, code=REFUSED)


@app.command()
@changing
def backup(project: Any, json_: Json = False) -> None:
    """Write a verified backup now, next to the project."""
    from annotator.actions.project import backups

    path = backups.make(project, "asked for on the command line")
    say({"backup": path.name, "folder": path.parent.name}, json_, [f"Backed up to {path}"])


@app.command()
def selftest(json_: Json = False) -> None:
    """Test the program's parts on this machine; exit code 1 if one fails."""
    from annotator.selftest import run

    result = run()
    say(
        result,
        json_,
        [f"{'ok  ' if part['ok'] else 'FAIL'} {part['name']}: {part['detail']}" for part in result["parts"]],
        lacking=not result["ok"],
        code=REFUSED,
    )


Shown = Annotated[str, typer.Option("--progress", help="bar or json")]
Line = dict[str, Any]
FOR_A_WINDOW = "json"
# The priority of a child process below the window; on Windows by its class.
NICENESS, BELOW_NORMAL = 5, 0x4000


def order_carried_out(
    file: Path,
    order: Any,
    *,
    progress: str,
    json_: bool,
    estimate: bool = False,
    after: Callable[[], None] | None = None,
) -> None:
    """Carry out an order that needs no look at the project before, or print only its forecast."""
    from annotator.actions.orders import orders

    if estimate:
        say_forecast(file, order, json_=json_)
        return
    kind = orders.kind_of(order.protocol)
    carried_out(
        file, partial(orders.carry_out, order=order), kind.words, doing=kind.doing, progress=progress, json_=json_,
        after=after,
    )  # fmt: skip


def say_forecast(file: Path, order: Any, *, json_: bool) -> None:
    from annotator.actions.orders import orders

    with opened(file, readonly=True) as project:
        result = orders.forecast(project, order)
    if order.protocol in PAPERS:
        _say_forecasts(result, json_)
    else:
        say(result.tree(), json_, result.words())


def _say_forecasts(paper: Any, json_: bool) -> None:
    """Print the forecast of each protocol of a paper, by its metrics, and their sum."""
    from annotator.actions.judging import forecasts

    whole = forecasts.summed(paper.parts)
    if json_:
        trees = [one.tree() for one in paper.parts]
        print_json({"protocols": trees, "sum": whole, "left_out": paper.without})
        return
    heads = ("Protocol", "For", "Judgements", "Calls", "Tokens in", "Tokens out", "Cost, US$")
    rows = [(one.protocol, forecasts.figure_of(one), *_amounts(one.tree())) for one in paper.parts]
    print_table("What it would take", heads, [*rows, ("all", "", *_amounts(whole))])
    if paper.without:
        console.print(paper.without, markup=False)


def _amounts(tree: Mapping[str, Any]) -> tuple[str, ...]:
    cost = tree["cost_usd"]
    counts = (f"{tree[name]:,}" for name in ("units", "calls", "tokens_input", "tokens_output"))
    return (*counts, "not known" if cost is None else f"{cost:,.2f}")


# A run over an open project, to which it `tell`s lines of progress; it is cancelled by a line “cancel” on `listen`.
Run = Callable[..., Coroutine[Any, Any, Line]]


def carried_out(
    file: Path,
    run: Run,
    words: Callable[[Line], list[str]],
    *,
    doing: str,
    progress: str = "bar",
    json_: bool = False,
    after: Callable[[], None] | None = None,
) -> None:
    """Open the project, do the run and print how it ended; `doing` is the label of the progress bar.

    `after` is called after that, unless the output is JSON. Exit code 3 if the run is incomplete.
    """
    result = gone_through(file, run, doing=doing, progress=progress)
    if progress != FOR_A_WINDOW:
        say(result, json_, words(result))
        if after is not None and not json_:
            after()
    end(result)


@app.command("child", hidden=True)
def child() -> None:
    """Do what the window asks in a line of JSON; what comes of it is told in lines of JSON."""
    with loading():
        from annotator.actions.orders import orders

    stand_back()
    io = own_input()
    request = orders.read(io.readline())
    end(
        _for_a_window(
            request.file, partial(orders.answer, request), request.by, io, readonly=request.readonly
        )
    )


def stand_back() -> None:
    """Take a lower priority than the window, which does not know the right process if a launcher started it."""
    if sys.platform == "win32":
        import ctypes

        kernel = ctypes.windll.kernel32
        kernel.GetCurrentProcess.restype = ctypes.c_void_p
        kernel.SetPriorityClass(ctypes.c_void_p(kernel.GetCurrentProcess()), BELOW_NORMAL)
    else:
        os.nice(NICENESS)


def own_input() -> TextIO:
    """Standard input on a descriptor of its own, with the null device in its old place.

    While a thread waits for a line from a pipe, Windows blocks anyone who queries that descriptor, such as a child
    process that inherits it.
    """
    try:
        copy = os.dup(sys.stdin.fileno())
    except (AttributeError, io.UnsupportedOperation):
        # A replacement of standard input has no descriptor, so nothing can be inherited.
        return sys.stdin
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)
    return open(copy, encoding="utf-8", errors="backslashreplace")


def gone_through(file: Path, run: Run, *, doing: str, progress: str) -> Line:
    """Open the project and do the run; returns its last line, which a window has already received."""
    if progress == FOR_A_WINDOW:
        return _for_a_window(file, run, "", own_input())
    with opened(file) as project, progress_bars() as bars:
        return asyncio.run(run(project, tell=shown(bar(bars), doing)))


def end(last: Line) -> None:
    if code := _ending(last):
        raise typer.Exit(code)


def _ending(last: Line) -> int:
    """The exit code of a run: all done, stopped or incomplete, or nothing found that it could take."""
    if "problems" in last and not last["by_state"]:
        return REFUSED
    whole = last.get("state", "done") == "done" and not last.get("missing") and not last.get("problems")
    return DONE if whole else NOT_ALL


def shown(show: Callable[[str, int, int], None], doing: str) -> Callable[[Line], None]:
    return lambda line: show(doing, int(line["done"]), int(line["total"])) if line.get("total") else None


def _for_a_window(file: Path, run: Run, person: str, listen: TextIO, *, readonly: bool = False) -> Line:
    """Write JSON lines, read the line `cancel`, and write a refusal as the last line."""

    def tell(line: Line) -> None:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()

    try:
        with opened(file, readonly=readonly, person=person) as project:
            return asyncio.run(run(project, tell=tell, listen=listen))
    except Refusal as refusal:
        tell({"event": "refused", "error": refusal.happened, "todo": refusal.todo})
        raise typer.Exit(REFUSED) from None
