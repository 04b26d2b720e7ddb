"""The commands on judges' biases: putting a judge to the test over attacked copies, and what shows anyway."""

import asyncio
from typing import Annotated, Any

import typer

from annotator.cli.carrying import Shown, carried_out
from annotator.cli.options import Budget, Concurrency, RequestsPerMinute, Timeout, TokensPerMinute, how
from annotator.cli.saying import As, File, Json, opened, say
from annotator.cli.validation import To, show
from annotator.protocols import USUAL

app = typer.Typer()
ProtocolName = Annotated[str, typer.Option("--protocol", help="What is judged")]


@app.command()
def attack(
    file: File,
    judge: Annotated[str, typer.Option(help="The judge that is put to the test")],
    attacks: Annotated[
        list[str] | None,
        typer.Option("--attack", help="injection, padding.filler …; all that fit the judge by default",
                     show_default=False),
    ] = None,
    size: Annotated[
        int | None, typer.Option(min=1, help="So many of the judge's verdicts, whatever the width", show_default=False)
    ] = None,
    width: Annotated[float, typer.Option(help="How wide the 95 % interval of a rate may be at most")] = 0.2,
    seed: Annotated[int, typer.Option(help="The same seed draws the same verdicts")] = 1,
    paraphraser: Annotated[
        str, typer.Option(help="The judge whose model says reports in other words", show_default=False)
    ] = "",
    protocol: ProtocolName = USUAL,
    concurrency: Concurrency = 8,
    timeout: Timeout = 120.0,
    budget: Budget = None,
    rpm: RequestsPerMinute = None,
    tpm: TokensPerMinute = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Only say what it would take and cost")] = False,
    progress: Shown = "bar",
    as_: As = "",
    json_: Json = False,
) -> None:  # fmt: skip
    """Ask a judge about attacked copies of reports, and tell how often it falls for each attack.

    A test that was stopped is gone on with by the same command; nothing is asked for twice.
    """
    from annotator.actions.attacks import attack_forecasts, attack_tests, attacking
    from annotator.actions.attacks.attack_tests import Wish

    wish = Wish(judge, protocol, tuple(attacks or ()), size, width, seed, paraphraser)
    if estimate:
        with opened(file, readonly=True, person=as_) as project:
            found = asyncio.run(attack_forecasts.estimate(project, wish))
        say(found.tree(), json_, found.words())
        return

    order = attack_tests.order(wish, **how(concurrency, timeout, budget, rpm, tpm))

    async def run(project: Any, **told: Any) -> dict[str, Any]:
        return await attacking.run(project, order, **told)

    carried_out(
        file, run, attacking.words, doing="attacking", progress=progress, json_=json_, person=as_,
        after=lambda: _say_figures(file, judge, protocol, as_),
    )  # fmt: skip


def _say_figures(file: Any, judge: str, protocol: str, person: str) -> None:
    """The failure rates, once a run has ended."""
    from annotator.actions.attacks import attack_figures

    with opened(file, readonly=True, person=person) as project:
        found = attack_figures.sheets(attack_figures.report(project, protocol, judge))
    show(found[:1], None, json_=False)


@app.command()
def bias(
    file: File,
    judge: Annotated[str, typer.Option(help="One judge's name; all judges by default", show_default=False)] = "",
    protocol: ProtocolName = USUAL,
    family: Annotated[
        list[str] | None,
        typer.Option(help="NAME=DEVELOPER: whose models are behind a system or judge; kept. “none” for nobody's",
                     show_default=False),
    ] = None,
    to: To = None,
    as_: As = "",
    json_: Json = False,
) -> None:  # fmt: skip
    """How far judges go by order, length or kinship, and how they stood the attacks they were put to."""
    from annotator.actions.attacks import biases, families
    from annotator.domain.texts.refusal import Refusal

    with opened(file, readonly=not family, person=as_) as project:
        for words in family or ():
            name, found_one, developer = words.rpartition("=")
            if not found_one:
                raise Refusal(f"“{words}” names no developer.", "Write it as NAME=DEVELOPER.")
            families.set_family(project, name, developer)
        found = biases.sheets(biases.panel(project, protocol, judge))
    if not found and not json_:
        say(
            {},
            json_,
            ["Nothing is known yet: let a judge judge, then put it to the test with: goldsmith attack"],
        )
        return
    show(found, to, json_=json_)
