"""Commands for the cost and drift of judges."""

from dataclasses import asdict
from typing import Annotated

import typer

from annotator.cli.carrying import Shown, order_carried_out
from annotator.cli.options import (
    Budget,
    Concurrency,
    Items,
    Judge,
    OfJudge,
    Protocol,
    RequestsPerMinute,
    Systems,
    Timeout,
    TokensPerMinute,
    how,
    protocol_of,
    reach,
)
from annotator.cli.saying import File, Json, opened, said, say
from annotator.domain.texts.counting import counted

app = typer.Typer()

_SHOWN = 20


@app.command("costs")
def judge_costs_(
    file: File,
    by: Annotated[str, typer.Option(help="purpose, judge, run, question, system or criterion")] = "judge",
    judge: OfJudge = "",
    json_: Json = False,
) -> None:
    """Cost of all model calls, most expensive first; every grouping adds up to the same total."""
    from annotator.actions.judging import judge_costs
    from annotator.actions.runs.run_lines import dollars

    with opened(file, readonly=True) as project:
        found = judge_costs.costs(project, by, judge=judge)
    whole = judge_costs.total(found)
    words = [f"{one.words(by)}: {dollars(one.cost_usd)}{one.remark()}" for one in found[:_SHOWN]]
    words += [f"… and {len(found) - _SHOWN:,} more; see all with --json."] if len(found) > _SHOWN else []
    words += [f"Total: {dollars(whole)}"] if found else []
    tree = {"by": by, "total_usd": whole, "costs": [asdict(one) for one in found]}
    say(tree, json_, words or ["No costs yet."])


@app.command("anchor")
def judge_anchor(
    file: File,
    judge: Judge,
    protocol: Protocol = "",
    size: Annotated[int, typer.Option(min=1, help="How many verdicts")] = 100,
    system: Systems = None,
    item: Items = None,
    again: Annotated[bool, typer.Option("--again", help="Replace the existing anchor set")] = False,
) -> None:
    """Freeze some of a judge's verdicts as an anchor set for later drift checks."""
    from annotator.actions.judging import drift

    protocol = protocol_of(file, protocol)
    with opened(file) as project:
        found = drift.anchor(project, judge, protocol, size, again=again, **reach(system, item)).after
    said.print(
        f"{counted(len(found['units']), 'verdict is', 'verdicts are')} frozen. Check for drift with: "
        "goldsmith judge drift",
        markup=False,
    )


@app.command("drift")
def judge_drift(
    file: File,
    judge: Judge,
    protocol: Protocol = "",
    concurrency: Concurrency = 8,
    timeout: Timeout = 120.0,
    budget: Budget = None,
    rpm: RequestsPerMinute = None,
    tpm: TokensPerMinute = None,
    show: Annotated[bool, typer.Option("--show", help="List earlier checks, without making a call")] = False,
    progress: Shown = "bar",
    json_: Json = False,
) -> None:
    """Judge the anchor set again and report which verdicts changed, and what else changed at the endpoint."""
    from annotator.actions.judging import drift
    from annotator.actions.runs.judge_cases import RunRequest

    protocol = protocol_of(file, protocol)
    if show:
        with opened(file, readonly=True) as project:
            found = drift.reports(project, judge, protocol)
        words = [line for one in found for line in (f"Checked {one.checked_at[:16]}:", *one.words())]
        say({"checks": [one.tree() for one in found]}, json_, words or ["Not checked yet."])
        return
    order = RunRequest(judge, drift.PREFIX + protocol, **how(concurrency, timeout, budget, rpm, tpm))
    order_carried_out(file, order, progress=progress, json_=json_)
