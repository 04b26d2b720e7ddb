"""The commands on judges and their runs."""

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress

from annotator.cli.saying import File, Json, bar, lines, opened, progress_bars, said, say
from annotator.domain.refusal import Refusal

app = typer.Typer(help="Judges and their runs.", no_args_is_help=True)


@app.command("list")
def judge_list(file: File, json_: Json = False) -> None:
    """The project's judges."""
    from annotator.actions import judges

    with opened(file, readonly=True) as project:
        found = [judge.model_dump(mode="json", exclude={"id"}) for judge in judges.all_of(project)]
    say({"judges": found}, json_, [f"{judge['name']}: {judge['kind']} {judge['model']}" for judge in found])


@app.command("add")
def judge_add(
    file: File,
    name: Annotated[str, typer.Option(help="The judge's name in this project")],
    base_url: Annotated[str, typer.Option(help="The endpoint, up to and with /v1")],
    model: Annotated[str, typer.Option(help="The model's name at the endpoint")],
    key_env: Annotated[str, typer.Option(help="Environment variable that holds the key")] = "",
    parameters: Annotated[
        str, typer.Option(help="JSON object of request parameters; none are sent by default")
    ] = "{}",
) -> None:
    """Add a judge behind an OpenAI-compatible endpoint."""
    from annotator.actions import judges

    with opened(file) as project:
        judges.add(project, name, base_url=base_url, model=model, key_env=key_env, parameters=parameters)
    said.print(f"Added the judge “{name}”. Try it with: goldsmith judge test {file} {name}", markup=False)


@app.command("test")
def judge_test(file: File, name: str, json_: Json = False) -> None:
    """One call that shows what the endpoint supports, how fast it answers, and what it costs."""
    from annotator.actions import judges

    with opened(file, readonly=True) as project:
        found = asyncio.run(judges.test(project, name))
    say(found, json_, lines(found))
    if not found["ok"]:
        raise typer.Exit(1)


@app.command("run")
def judge_run(
    file: File,
    judge: Annotated[str, typer.Option(help="The judge's name")],
    protocol: Annotated[str, typer.Option(help="What is judged")] = "researcherbench.coverage",
    system: Annotated[list[str] | None, typer.Option(help="Only this system; may be given again")] = None,
    item: Annotated[
        list[str] | None, typer.Option(help="Only the item with this key; may be given again")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=512, help="Calls under way at once")] = 8,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds that one call may take")] = 120.0,
    budget: Annotated[float | None, typer.Option(min=0, help="US dollars this run may cost")] = None,
    progress: Annotated[str, typer.Option(help="bar or json")] = "bar",
    json_: Json = False,
) -> None:
    """Judge what is not yet judged; what was finished before is never asked again."""
    from annotator.actions import judge_runs

    order = judge_runs.Order(
        judge=judge, protocol=protocol, systems=tuple(system or ()), items=tuple(item or ()),
        concurrency=concurrency, timeout_s=timeout, budget_usd=budget,
    )  # fmt: skip
    if progress == "json":
        _judge_for_a_window(file, order)
        return
    with opened(file) as project, progress_bars() as bars:
        found = asyncio.run(judge_runs.run(project, order, tell=run_bar(bars)))
    say(found, json_, judge_runs.words(found))


def _judge_for_a_window(file: Path, order: Any) -> None:
    """The run as a window's child: JSON lines out, `cancel` as a line in, a refusal as the last line."""
    from annotator.actions import judge_runs

    def tell(line: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()

    try:
        with opened(file) as project:
            asyncio.run(judge_runs.run(project, order, tell=tell, listen=sys.stdin))
    except Refusal as refusal:
        tell({"event": "refused", "error": refusal.happened, "todo": refusal.todo})
        raise typer.Exit(1) from None


def run_bar(progress: Progress) -> Callable[[dict[str, Any]], None]:
    show = bar(progress)

    def tell(line: dict[str, Any]) -> None:
        if line.get("event") == "progress":
            show("judging", int(line["done"]), int(line["total"]))

    return tell
