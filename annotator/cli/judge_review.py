"""The commands on what judges came to: runs, what is missing, replies read again, and how consistent a judge is."""

import asyncio
from dataclasses import asdict
from typing import Annotated, Any

import typer

from annotator.cli.saying import File, Json, opened, say

app = typer.Typer()
COVERAGE = "researcherbench.coverage"


@app.command("runs")
def judge_runs_(file: File, json_: Json = False) -> None:
    """All runs, newest first, with what each left without a verdict."""
    from annotator.actions import judge_runs

    with opened(file, readonly=True) as project:
        found = judge_runs.runs(project)
    words = [
        f"{run.id[:8]}  {run.started_at:%Y-%m-%d %H:%M}  {run.judge}, {run.protocol}: {run.done:,} of {run.total:,}, "
        f"{run.state}{_causes(run.missing)}"
        for run in found
    ]
    say({"runs": [asdict(run) for run in found]}, json_, words or ["No judge has run yet."])


@app.command("missing")
def judge_missing(
    file: File,
    judge: Annotated[str, typer.Option(help="Only those of this judge")] = "",
    run: Annotated[str, typer.Option(help="Only those of this run: its id, or how it begins")] = "",
    cause: Annotated[str, typer.Option(help="Only those for this cause: refused, timeout …")] = "",
    json_: Json = False,
) -> None:
    """The judgements that have no verdict, by cause."""
    from annotator.actions import missing

    with opened(file, readonly=True) as project:
        found = missing.lines(project, judge=judge, run=run, status=cause)
    causes = missing.by_cause(found)
    words = [f"{sum(causes.values()):,} judgements have no verdict{_causes(causes)}."]
    words += [
        f"{line.status}: {line.judge}, item {line.item}, {line.system}, unit {line.unit_id}: {line.cause}"
        for line in found
    ]
    say({"by_cause": causes, "missing": [asdict(line) for line in found]}, json_, words)


@app.command("reread")
def judge_reread(
    file: File,
    judge: Annotated[str, typer.Option(help="The judge's name")],
    protocol: Annotated[str, typer.Option(help="What was judged")] = COVERAGE,
    everything: Annotated[
        bool, typer.Option("--all", help="Read the replies behind all verdicts, not only invalid ones")
    ] = False,
    json_: Json = False,
) -> None:
    """Read stored replies again by the rules of today, without a call."""
    from annotator.actions import reparse

    with opened(file) as project:
        found = asyncio.run(reparse.again(project, judge, protocol, everything=everything))
    say(asdict(found), json_, [found.words()])


@app.command("consistency")
def judge_consistency(
    file: File,
    judge: Annotated[str, typer.Option(help="The judge's name")],
    other: Annotated[
        str, typer.Option("--with", help="Compare it with this judge; by default with itself over its trials")
    ] = "",
    protocol: Annotated[str, typer.Option(help="What was judged")] = COVERAGE,
    json_: Json = False,
) -> None:
    """How often a judge contradicts itself over repeated trials, or agrees with another judge."""
    from annotator.actions import consistency

    figures: dict[str, Any]
    with opened(file, readonly=True) as project:
        if other:
            between = consistency.between(project, judge, other, protocol)
            head, tree = f"{between.units:,} units judged by both.", between.tree()
            figures = {"agreement": between.agreement, "kappa": between.kappa, "alpha": between.alpha}
        else:
            within = consistency.within(project, judge, protocol)
            head, tree = f"{within.units:,} units judged more than once.", within.tree()
            figures = {"flip rate": within.flips, "agreement": within.agreement, "alpha": within.alpha}
    say(tree, json_, [head, *(f"{name}: {_figure(figure)}" for name, figure in figures.items())])


def _figure(figure: Any) -> str:
    if figure.value is None:
        return f"– ({figure.note})"
    interval = "" if figure.low is None else f" [{figure.low:.3f}, {figure.high:.3f}]"
    return f"{figure.value:.3f}{interval}"


def _causes(causes: dict[str, int]) -> str:
    named = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in causes.items())
    return f": {named}" if named else ""
