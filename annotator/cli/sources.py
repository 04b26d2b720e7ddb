"""Commands for cited pages: fetching, and importing from a folder."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli.carrying import Line, Shown, carried_out
from annotator.cli.saying import File, Json, opened, say

app = typer.Typer(help="Pages cited by reports.", no_args_is_help=True)


@app.command("list")
def list_(file: File, json_: Json = False) -> None:
    """List the cited pages with their state, and the cause where there is no text."""
    from annotator.actions.items import pages

    with opened(file, readonly=True) as project:
        found = pages.lines(project)
    words = [f"{line.state.value:<9} {line.url}{f'  {line.cause}' if line.cause else ''}" for line in found]
    say({"pages": [asdict(line) for line in found]}, json_, words or ["No page is kept yet."])


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
    progress: Shown = "bar",
    json_: Json = False,
) -> None:
    """Fetch the pages cited by the project's claims and store their texts; exit code 3 if some failed."""
    from annotator.actions.items import page_fetching

    order = page_fetching.FetchRequest(refresh, allow_private, reader, concurrency)

    async def run(project: Any, **how: Any) -> dict[str, Any]:
        return await page_fetching.fetch(project, order, **how)

    carried_out(file, run, page_fetching.words, doing="fetching", progress=progress, json_=json_)


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
    from annotator.actions.items import page_fetching

    async def run(project: Any, *, tell: Callable[[Line], None], **_: Any) -> Line:
        return await page_fetching.import_folder(project, folder, tell=tell)

    def words(line: Line) -> list[str]:
        return [*page_fetching.words(line), *line["problems"]]

    carried_out(file, run, words, doing="reading", progress=progress, json_=json_)
