"""Commands for judges' biases: attack tests, and biases in existing verdicts."""

from functools import partial
from typing import Annotated, Any

import typer

from annotator.cli.carrying import Shown, order_carried_out, say_forecast
from annotator.cli.options import (
    Budget,
    Concurrency,
    Protocol,
    RequestsPerMinute,
    Timeout,
    TokensPerMinute,
    how,
    protocol_of,
)
from annotator.cli.saying import As, File, Json, opened, say
from annotator.cli.tables import show
from annotator.cli.validation import To

app = typer.Typer()


@app.command()
def attack(
    file: File,
    judge: Annotated[str, typer.Option(help="The judge to test")],
    attacks: Annotated[
        list[str] | None,
        typer.Option("--attack", help="control, injection, padding, order; by default all that apply to the judge",
                     show_default=False),
    ] = None,
    size: Annotated[
        int | None, typer.Option(min=1, help="Number of the judge's verdicts to draw, instead of a "
        "width", show_default=False)
    ] = None,
    width: Annotated[float, typer.Option(help="Largest width of a rate's 95 % interval")] = 0.2,
    seed: Annotated[int, typer.Option(help="The same seed draws the same verdicts")] = 1,
    protocol: Protocol = "",
    concurrency: Concurrency = 8,
    timeout: Timeout = 120.0,
    budget: Budget = None,
    rpm: RequestsPerMinute = None,
    tpm: TokensPerMinute = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Estimate calls and cost only")] = False,
    progress: Shown = "bar",
    as_: As = "",
    json_: Json = False,
) -> None:  # fmt: skip
    """Test a judge on attacked copies of reports, and report how often each attack succeeds.

    Run the same command again to resume a stopped test; no question is asked twice.
    """
    from annotator.actions.attacks import attack_tests
    from annotator.actions.attacks.attack_tests import AttackRequest

    protocol = protocol_of(file, protocol)
    request = AttackRequest(judge, protocol, tuple(attacks or ()), size, width, seed)
    order = attack_tests.order(request, **how(concurrency, timeout, budget, rpm, tpm))
    if estimate:
        say_forecast(file, order, json_=json_, person=as_)
        return
    after = partial(_say_figures, file, judge, protocol, as_)
    order_carried_out(file, order, progress=progress, json_=json_, person=as_, after=after)


def _say_figures(file: Any, judge: str, protocol: str, person: str) -> None:
    """The failure rates, once a run has ended."""
    from annotator.actions.attacks import attack_figures

    with opened(file, readonly=True, person=person) as project:
        found = attack_figures.sheets(attack_figures.report(project, protocol, judge))
    show(found[:1], None, json_=False)


@app.command()
def bias(
    file: File,
    judge: Annotated[str, typer.Option(help="Judge's name; by default all judges", show_default=False)] = "",
    protocol: Protocol = "",
    family: Annotated[
        list[str] | None,
        typer.Option(help="NAME=DEVELOPER: the developer of the model behind a system or judge; saved. "
        "“none” for no developer",
                     show_default=False),
    ] = None,
    to: To = None,
    as_: As = "",
    json_: Json = False,
) -> None:  # fmt: skip
    """Judges' biases (position, length, model family) and how they performed under attack."""
    from annotator.actions.attacks import biases, families
    from annotator.domain.texts.refusal import Refusal

    protocol = protocol_of(file, protocol)
    with opened(file, readonly=not family, person=as_) as project:
        for words in family or ():
            name, found_one, developer = words.rpartition("=")
            if not found_one:
                raise Refusal(f"“{words}” does not name a developer.", "Write it as NAME=DEVELOPER.")
            families.set_family(project, name, developer)
        found = biases.sheets(biases.panel(project, protocol, judge))
    if not found and not json_:
        say(
            {},
            json_,
            ["No results yet: run a judge, then test it with: goldsmith attack"],
        )
        return
    show(found, to, json_=json_)
