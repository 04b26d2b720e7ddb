"""Commands for systems and their reports: having a model write them, groups and footnotes."""

from typing import Annotated, Any

import typer

from annotator.cli.carrying import Shown, carried_out, say_forecast
from annotator.cli.options import Budget, Concurrency, Items, KeyEnv, Timeout
from annotator.cli.saying import File, Json, given_of, opened, say, say_changed
from annotator.protocols.reports import CONDITIONS

app = typer.Typer()
systems_app = typer.Typer(help="Systems under test: their groups and footnotes.", no_args_is_help=True)
responses_app = typer.Typer(help="Where reports come from.", no_args_is_help=True)
ConditionName = Annotated[
    str, typer.Option(help=f"Prompts and parameters: {', '.join(one.name for one in CONDITIONS)}")
]
Cutoff = Annotated[
    str,
    typer.Option(help="Last day of publication to keep to, 2025-03-24; asked for and kept with the reports"),
]
ModeName = Annotated[str, typer.Option(help="File the reports under a mode of this name")]
SYSTEM_COLUMNS = ("name", "group", "footnote", "notes")
Planned = Annotated[
    bool, typer.Option("--plan", help="Ask for a plan first, keep it, and have the report follow it")
]
GoldGiven = Annotated[
    str,
    typer.Option(
        help="end-to-end, isolated or gold-plan-injection: gold given; continuation: half the task given"
    ),
]


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
    mode: GoldGiven = "end-to-end",
    plan: Planned = False,
    condition: ConditionName = CONDITIONS[0].name,
    cutoff: Cutoff = "",
    mode_name: ModeName = "",
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
    from annotator.actions.material import response_settings
    from annotator.actions.material.responding import ResponseRun
    from annotator.actions.runs.judge_cases import RunRequest

    manner = response_settings.protocol_name(
        mode, planned=plan, condition=condition, cutoff=cutoff, filed_as=mode_name
    )
    how = response_settings.settings_of(manner)
    preset, filed = (how.condition.parameters, how.mode) if how else ("", "")
    settings = writers.WriterSettings(judge, base_url, model, key_env, parameters, preset)

    def order_of(asked: str) -> RunRequest:
        return RunRequest(
            judge=asked, protocol=manner, systems=(system.strip(),), items=tuple(item or ()), trials=trials,
            concurrency=concurrency, timeout_s=timeout, budget_usd=budget,
        )  # fmt: skip

    if estimate:
        say_forecast(file, order_of(judge), json_=json_)
        return

    async def run(project: Any, **how: Any) -> dict[str, Any]:
        writer = writers.prepared(project, system, settings, filed)
        return await ResponseRun.run(project, order_of(writer.name), **how)

    carried_out(file, run, ResponseRun.words, doing=ResponseRun.doing, progress=progress, json_=json_)


@systems_app.command("list")
def systems_list(file: File, json_: Json = False) -> None:
    """List the systems with their group and footnote."""
    from annotator.actions.items import metadata

    with opened(file, readonly=True) as project:
        found = [{name: row[name] for name in SYSTEM_COLUMNS} for row in metadata.systems(project)]
    words = ["  ".join(row[name] for name in SYSTEM_COLUMNS if row[name]) for row in found]
    say({"systems": found}, json_, words or ["There is no system yet."])


@systems_app.command("set")
def systems_set(
    file: File,
    system: Annotated[list[str], typer.Option("--system", help="Name of a system; repeatable")],
    group: Annotated[
        str | None, typer.Option(help="Kind of system, e.g. “deep research” or “LLM + search”; free text")
    ] = None,
    footnote: Annotated[str | None, typer.Option(help="What tables say of it below them")] = None,
    notes: Annotated[str | None, typer.Option(help="Notes")] = None,
    json_: Json = False,
) -> None:
    """Set the group, footnote or notes of systems, in one act that can be undone; an empty text clears a field."""
    from annotator.actions.items import metadata

    given = given_of(group=group, footnote=footnote, notes=notes)
    with opened(file) as project:
        ids = [metadata.system_named(project, name) for name in system]
        change = metadata.describe(project, metadata.Thing.SYSTEM, dict.fromkeys(ids, given))
    say_changed(change, json_)


@responses_app.command("set")
def responses_set(
    file: File,
    system: Annotated[str, typer.Option(help="Name of the system")],
    item: Items = None,
    trial: Annotated[int, typer.Option(min=0, help="Only this run; 0 for all")] = 0,
    mode: Annotated[str, typer.Option(help="Only this mode; all by default")] = "",
    collected_on: Annotated[str | None, typer.Option(help="Day of collection, 2025-03-24")] = None,
    product_version: Annotated[str | None, typer.Option(help="Version of the product or model")] = None,
    settings: Annotated[str | None, typer.Option(help="How it was asked: modes, options, replies")] = None,
    collected_by: Annotated[str | None, typer.Option(help="Who collected the reports")] = None,
    cutoff: Annotated[
        str | None, typer.Option(help="Last day of publication it was asked to keep to, 2025-03-24")
    ] = None,
    json_: Json = False,
) -> None:
    """Say when, in which version, how and by whom a system's reports were collected, in one act."""
    from annotator.actions.items import metadata

    given = given_of(
        collected_on=collected_on, product_version=product_version, settings=settings, collected_by=collected_by,
        cutoff=cutoff,
    )  # fmt: skip
    with opened(file) as project:
        ids = metadata.responses_of(project, system, items=item or (), trial=trial, mode=mode)
        change = metadata.describe(project, metadata.Thing.RESPONSE, {one: given for one in ids})
    say_changed(change, json_)
