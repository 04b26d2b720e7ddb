"""Commands for judge runs: run, extract, resume, batches at a provider, cost estimate."""

import asyncio
from dataclasses import asdict, replace
from typing import Annotated, Any

import typer

from annotator.cli.carrying import Shown, carried_out, order_carried_out, say_forecast
from annotator.cli.options import (
    Batch,
    Budget,
    Card,
    Concurrency,
    Items,
    Judge,
    OfJudge,
    Protocol,
    RequestsPerMinute,
    Systems,
    Timeout,
    Together,
    TokensPerMinute,
    Trials,
    how,
    protocol_of,
    reach,
)
from annotator.cli.saying import As, File, Json, opened, say

app = typer.Typer()


@app.command("run")
def judge_run(
    file: File,
    judge: Judge,
    protocol: Protocol = "",
    system: Systems = None,
    item: Items = None,
    concurrency: Concurrency = 8,
    timeout: Timeout = 120.0,
    budget: Budget = None,
    together: Together = 0,
    trials: Trials = 1,
    batch: Batch = False,
    card: Card = None,
    rpm: RequestsPerMinute = None,
    tpm: TokensPerMinute = None,
    progress: Shown = "bar",
    json_: Json = False,
) -> None:
    """Judge what is not yet judged; what was finished before is never asked again."""
    from annotator.actions.orders import orders
    from annotator.actions.runs.judge_cases import RunRequest

    protocol = protocol_of(file, protocol)
    order = RunRequest(
        judge=judge, protocol=protocol, together=together, trials=trials, batch=batch, **reach(system, item),
        **how(concurrency, timeout, budget, rpm, tpm),
    )  # fmt: skip

    async def run(project: Any, **told: Any) -> dict[str, Any]:
        asked = order
        if card is not None:
            from annotator.actions.judging import card_checks
            from annotator.actions.validation import cards

            on_card = cards.read(card)
            card_checks.refuse_order(project, on_card, order)
            asked = replace(order, models=on_card.judge.returned_models)
        return await orders.carry_out(project, asked, **told)

    kind = orders.of_judge(protocol)
    carried_out(file, run, kind.words, doing=kind.doing, progress=progress, json_=json_)


@app.command("extract")
def judge_extract(
    file: File,
    judge: Judge,
    extraction: Annotated[str, typer.Option(help="What is drawn")],
    system: Systems = None,
    item: Items = None,
    concurrency: Concurrency = 8,
    timeout: Timeout = 120.0,
    budget: Budget = None,
    rpm: RequestsPerMinute = None,
    tpm: TokensPerMinute = None,
    progress: Shown = "bar",
    json_: Json = False,
) -> None:
    """Extract claims, plans, references or insights where this has not been done yet."""
    from annotator.actions.material import extracting
    from annotator.actions.runs.judge_cases import RunRequest

    extracting.named(extraction)
    order = RunRequest(
        judge, extraction, **reach(system, item), **how(concurrency, timeout, budget, rpm, tpm)
    )
    order_carried_out(file, order, progress=progress, json_=json_)


@app.command("confirm")
def judge_confirm(
    file: File,
    extraction: Annotated[str, typer.Option(help="What was drawn")],
    system: Systems = None,
    item: Items = None,
    person: As = "",
    json_: Json = False,
) -> None:
    """Confirm all unreviewed extracts without changes; to correct them, use the window."""
    from annotator.actions.material import extracting, part_edits

    with opened(file, person=person) as project:
        makes = extracting.named(extraction).makes
        found = part_edits.confirm_all(project, makes, **reach(system, item))
    say({"confirmed": found}, json_, [f"Confirmed: {makes.value} of {found:,}."])


@app.command("pool")
def judge_pool(file: File, item: Items = None, person: As = "", json_: Json = False) -> None:
    """Freeze one pool of key points for each item: those of all its reports' pages that people accepted, each once."""
    from annotator.actions.papers import common_pools

    with opened(file, person=person) as project:
        found = common_pools.freeze(project, item or ())
    told = {"frozen": found.items, "points": found.points, "before": found.before, "without": found.without}
    say(told, json_, [found.words()])


@app.command("resume")
def judge_resume(
    file: File,
    judge: Annotated[str, typer.Option(help="Only a run of this judge")] = "",
    concurrency: Concurrency = 8,
    timeout: Timeout = 120.0,
    budget: Budget = None,
    rpm: RequestsPerMinute = None,
    tpm: TokensPerMinute = None,
    progress: Shown = "bar",
    json_: Json = False,
) -> None:
    """Resume the last run that was cancelled, interrupted or killed; its batches are fetched first."""
    from annotator.actions.orders import orders
    from annotator.actions.runs import run_lines

    async def run(project: Any, **told: Any) -> dict[str, Any]:
        order = orders.unfinished(project, judge, **how(concurrency, timeout, budget, rpm, tpm))
        return await orders.carry_out(project, order, **told)

    carried_out(file, run, run_lines.words, doing="judging", progress=progress, json_=json_)


@app.command("batches")
def judge_batches(
    file: File,
    judge: OfJudge = "",
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Ask the provider to cancel them")] = False,
    forget: Annotated[
        bool, typer.Option("--forget", help="Forget them, if the provider can no longer be reached")
    ] = False,
    json_: Json = False,
) -> None:
    """Batches still at a provider; “judge resume” fetches their answers."""
    from annotator.actions.judges import judges
    from annotator.actions.runs import batches

    with opened(file, readonly=not (withdraw or forget)) as project:
        forgotten = batches.forget(project, judge) if forget else 0
        stopped = asyncio.run(batches.withdraw(project, judge)) if withdraw else 0
        out = batches.out(project, judges.named(project, judge).id if judge else "")
    words = [f"{forgotten:,} batches forgotten."] if forget else []
    words += (
        [f"{stopped:,} batches are being cancelled; fetch their answers with: judge resume."]
        if withdraw
        else []
    )
    words += [one.words() for one in out] or ["No open batches."]
    tree = [asdict(one) | {"expires_at": one.expires_at and one.expires_at.isoformat()} for one in out]
    say({"stopped": stopped, "forgotten": forgotten, "batches": tree}, json_, words)


@app.command("estimate")
def judge_estimate(
    file: File,
    judge: Judge,
    protocol: Protocol = "",
    system: Systems = None,
    item: Items = None,
    concurrency: Concurrency = 8,
    together: Together = 0,
    trials: Trials = 1,
    batch: Batch = False,
    json_: Json = False,
) -> None:
    """Estimate calls, tokens and cost of a run, for a protocol, an extraction or a whole paper, without a call."""
    from annotator.actions.orders import orders
    from annotator.actions.runs.judge_cases import RunRequest

    protocol = protocol_of(file, protocol)
    orders.of_judge(protocol)
    order = RunRequest(
        judge=judge, protocol=protocol, concurrency=concurrency, together=together, trials=trials, batch=batch,
        **reach(system, item),
    )  # fmt: skip
    say_forecast(file, order, json_=json_)
