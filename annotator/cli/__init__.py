"""The command line: the same verbs as the window, with plain sentences, or JSON where a machine reads."""

from typing import Annotated

import typer

from annotator import __version__
from annotator.cli import (
    agreement,
    attacks,
    cards,
    drafting,
    handing_out,
    judge,
    labels,
    pairs,
    project,
    replay,
    respond,
    results,
    ruling,
    sources,
    validation,
)
from annotator.cli.saying import said, warned
from annotator.domain.refusal import Refusal

app = typer.Typer(
    help="Make, label, judge and release expert gold for deep-research benchmarks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(project.app)
app.add_typer(judge.app, name="judge")
app.add_typer(sources.app, name="sources")
app.add_typer(drafting.app, name="draft")
app.add_typer(respond.app)
app.add_typer(results.app)
app.add_typer(pairs.people_app, name="people")
app.add_typer(pairs.app)
app.add_typer(agreement.app)
app.add_typer(labels.app, name="labels")
app.add_typer(replay.app)
app.add_typer(validation.app)
app.add_typer(ruling.app)
app.add_typer(attacks.app)
app.add_typer(cards.app)
app.add_typer(handing_out.app)


def run_command(words: list[str]) -> int:
    """Run one command; 0 on success, 1 with one plain sentence on a refusal, 2 on wrong usage."""
    try:
        app(args=words, prog_name="goldsmith")
    except Refusal as refusal:
        warned.print(str(refusal), markup=False)
        for detail in refusal.details:
            warned.print(f"  {detail}", markup=False)
        return 1
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


@app.callback()
def version(
    show: Annotated[bool, typer.Option("--version", help="Print the version", is_eager=True)] = False,
) -> None:
    """Goldsmith."""
    if show:
        said.print(__version__)
        raise typer.Exit
