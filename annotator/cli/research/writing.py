"""Command that has the reference system write sections on items."""

from pathlib import Path
from typing import Annotated

import typer

from annotator.cli.carrying import Shown, order_carried_out, say_forecast
from annotator.cli.options import Budget, Concurrency, Items, Timeout
from annotator.cli.saying import File, Json

app = typer.Typer()


@app.command()
def write(
    file: File,
    judge: Annotated[
        str,
        typer.Option("--judge", help="The judge whose endpoint does every step; “baseline” asks no model"),
    ],
    system: Annotated[str, typer.Option(help="System of the reports; created with the first")],
    corpus: Annotated[
        Path | None,
        typer.Option(
            help="Search here instead of arXiv: a folder that was collected, or a table (works.csv in a folder) with "
            "identifier, title, abstract, published, authors",
            show_default=False,
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, max=10, help="Rounds of search")] = 2,
    queries: Annotated[int, typer.Option(min=1, max=10, help="Queries in each round")] = 2,
    per_query: Annotated[int, typer.Option(min=1, max=1000, help="Works looked up for each query")] = 50,
    keep: Annotated[int, typer.Option(min=1, max=1000, help="Works given to the writer")] = 30,
    words: Annotated[int, typer.Option(min=0, max=9999, help="Words to write; 0 as the task says")] = 0,
    oracle: Annotated[
        str,
        typer.Option(
            help="Search nothing and give the important references: those on arXiv (arxiv), or all (all)"
        ),
    ] = "",
    item: Items = None,
    trials: Annotated[int, typer.Option(min=1, max=100, help="Reports per item")] = 1,
    concurrency: Concurrency = 8,
    timeout: Timeout = 600.0,
    budget: Budget = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Estimate calls, tokens and cost, without making a call")
    ] = False,
    progress: Shown = "bar",
    json_: Json = False,
) -> None:
    """Search works, filter and rank them, and write a section on each item, with its list of references.

    Works must be older than the item's own paper, which is never found. Existing reports are never rewritten; run the
    same command again to resume, which repeats no answered call.
    """
    from annotator.actions.material import response_settings
    from annotator.actions.runs.judge_cases import RunRequest

    manner = response_settings.research_name(
        rounds=rounds, queries=queries, per_query=per_query, keep=keep, words=words, oracle=oracle
    )
    order = RunRequest(
        judge=judge, protocol=manner, systems=(system.strip(),), items=tuple(item or ()), trials=trials,
        concurrency=concurrency, timeout_s=timeout, budget_usd=budget, corpus=str(corpus or ""),
    )  # fmt: skip
    if estimate:
        say_forecast(file, order, json_=json_)
        return
    order_carried_out(file, order, progress=progress, json_=json_)
