"""Command for having a model write the reports of a system."""

from typing import Annotated, Any

import typer

from annotator.cli.carrying import Shown, carried_out, say_forecast
from annotator.cli.options import Budget, Concurrency, Items, KeyEnv, Timeout
from annotator.cli.saying import File, Json

app = typer.Typer()


@app.command()
def respond(
    file: File,
    system: Annotated[str, typer.Option(help="System of the reports; created with the first")],
    judge: Annotated[str, typer.Option(help="The judge whose endpoint is to write")] = "",
    base_url: Annotated[
        str, typer.Option(help="Base URL of an endpoint, including /v1, instead of a judge")
    ] = "",
    model: Annotated[str, typer.Option(help="The model's name at that endpoint")] = "",
    key_env: KeyEnv = "",
    parameters: Annotated[
        str, typer.Option(help="Request parameters as a JSON object; by default the judge's, or none")
    ] = "",
    item: Items = None,
    mode: Annotated[
        str, typer.Option(help="end-to-end, isolated or gold-plan-injection: gold given to the model")
    ] = "end-to-end",
    plan: Annotated[
        bool, typer.Option("--plan", help="Ask for a plan first, keep it, and have the report follow it")
    ] = False,
    trials: Annotated[int, typer.Option(min=1, max=100, help="Reports per item")] = 1,
    concurrency: Concurrency = 4,
    timeout: Timeout = 900.0,
    budget: Budget = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Estimate the cost, make no call; needs --judge")
    ] = False,
    progress: Shown = "bar",
    json_: Json = False,
) -> None:
    """Have a model write reports on items; existing reports are never rewritten, failures are listed with their cause.

    Without a judge or an endpoint, the system's previous writer is used.
    """
    from annotator.actions.judges import writers
    from annotator.actions.material import responding
    from annotator.actions.material.responding import ResponseRun
    from annotator.actions.runs.judge_cases import RunRequest

    manner = responding.protocol_name(mode, planned=plan)
    settings = writers.WriterSettings(judge, base_url, model, key_env, parameters)

    def order_of(asked: str) -> RunRequest:
        return RunRequest(
            judge=asked, protocol=manner, systems=(system.strip(),), items=tuple(item or ()), trials=trials,
            concurrency=concurrency, timeout_s=timeout, budget_usd=budget,
        )  # fmt: skip

    if estimate:
        say_forecast(file, order_of(judge), json_=json_)
        return

    async def run(project: Any, **how: Any) -> dict[str, Any]:
        writer = writers.prepared(project, system, settings)
        return await ResponseRun.run(project, order_of(writer.name), **how)

    carried_out(file, run, ResponseRun.words, doing=ResponseRun.doing, progress=progress, json_=json_)
