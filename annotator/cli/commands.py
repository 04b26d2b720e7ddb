"""All commands, put together."""

from typing import Annotated

import typer

from annotator import __version__
from annotator.cli import (
    agreement,
    attacks,
    cards,
    carrying,
    drafting,
    handing_out,
    items,
    labels,
    pairs,
    project,
    respond,
    results,
    ruling,
    sources,
    validation,
)
from annotator.cli.judging import contests, judge
from annotator.cli.research import research
from annotator.cli.saying import said

app = typer.Typer(
    help="Make, label, judge and release expert gold for deep-research benchmarks.",
    epilog="Exit codes: 0 success · 1 refused, nothing was changed except as stated · 2 wrong usage · 3 "
    "incomplete: something is missing, the budget is spent, or the command was interrupted; finished work "
    "is kept.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(project.app)
app.add_typer(judge.app, name="judge")
app.add_typer(items.app, name="items")
app.add_typer(items.final_app, name="final")
app.add_typer(items.pilot_app)
app.add_typer(sources.app, name="sources")
app.add_typer(sources.evidence_app, name="evidence")
app.add_typer(drafting.app, name="draft")
app.add_typer(drafting.rubrics_app, name="rubrics")
app.add_typer(respond.app)
app.add_typer(respond.systems_app, name="systems")
app.add_typer(respond.responses_app, name="responses")
app.add_typer(research.app, name="research")
app.add_typer(contests.app, name="contest")
app.add_typer(results.app)
app.add_typer(pairs.people_app, name="people")
app.add_typer(pairs.app)
app.add_typer(agreement.app)
app.add_typer(labels.app, name="labels")
app.add_typer(validation.app)
app.add_typer(ruling.app)
app.add_typer(attacks.app)
app.add_typer(cards.app)
app.add_typer(handing_out.app)
app.add_typer(handing_out.reviews_app, name="reviews")
app.add_typer(carrying.app)


def _print_version(show: bool) -> None:
    if show:
        said.print(__version__)
        raise typer.Exit


@app.callback()
def version(
    show: Annotated[
        bool, typer.Option("--version", help="Print the version", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Goldsmith."""
