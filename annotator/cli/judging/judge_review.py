"""Commands for the results of judges: runs, missing judgements, replies read again, consistency."""

import asyncio
from dataclasses import asdict
from typing import Annotated

import typer

from annotator.cli.options import Judge, OfJudge, Protocol, protocol_of
from annotator.cli.saying import File, Json, opened, say

app = typer.Typer()


@app.command("runs")
def judge_runs_(file: File, json_: Json = False) -> None:
    """All runs, newest first: judged, missing by cause, not asked."""
    from annotator.actions.runs import run_records
    from annotator.actions.runs.run_lines import causes

    with opened(file, readonly=True) as project:
        found = run_records.runs(project)
    words = [
        f"{run.id[:8]}  {run.started_at:%Y-%m-%d %H:%M}  {run.judge}, {run.protocol}: {run.judged:,} of {run.total:,} "
        f"judged, {run.state}{_told(causes(run.lacking))}"
        for run in found
    ]
    tree = [asdict(run) | {"judged": run.judged, "lacking": run.lacking} for run in found]
    say({"runs": tree}, json_, words or ["No judge has run yet."])


@app.command("missing")
def judge_missing(
    file: File,
    judge: OfJudge = "",
    run: Annotated[str, typer.Option(help="Only this run: its id, or its first characters")] = "",
    cause: Annotated[str, typer.Option(help="Only this cause: refused, timeout, not_asked …")] = "",
    json_: Json = False,
) -> None:
    """Judgements without a verdict, by cause, including those that a stopped run never asked for.

    Comparisons of tasks are among them: the item is the task shown first, the unit that shown second.
    """
    from annotator.actions.judging import missing
    from annotator.actions.runs.run_lines import causes

    with opened(file, readonly=True) as project:
        found = missing.lines(project, judge=judge, run=run, status=cause)
    counts = missing.by_cause(found)
    words = [f"{len(found):,} judgements have no verdict{_told(causes(counts))}."]
    words += [
        f"{line.status}: {line.judge}, item {line.item}, {line.system or line.protocol}, unit {line.unit_id}: "
        f"{line.cause}"
        for line in found
    ]
    say({"by_cause": counts, "missing": [asdict(line) for line in found]}, json_, words)


@app.command("reread")
def judge_reread(
    file: File,
    judge: Judge,
    protocol: Protocol = "",
    everything: Annotated[
        bool, typer.Option("--all", help="Also change verdicts that are now read differently")
    ] = False,
    json_: Json = False,
) -> None:
    """Parse stored replies again with the current rules, without a call; replies and earlier verdicts are kept."""
    from annotator.actions.judging import reparse

    protocol = protocol_of(file, protocol)
    with opened(file) as project:
        found = asyncio.run(reparse.again(project, judge, protocol, everything=everything))
    offer = f"{found.offer()} Change them with: judge reread --all." if found.otherwise else ""
    say(asdict(found), json_, [found.words(), *([offer] if offer else [])])


@app.command("consistency")
def judge_consistency(
    file: File,
    judge: Judge,
    other: Annotated[
        str, typer.Option("--with", help="Judge to compare with; by default the judge's own repeated trials")
    ] = "",
    protocol: Protocol = "",
    json_: Json = False,
) -> None:
    """How often a judge contradicts itself over repeated trials, or agrees with another judge."""
    from annotator.actions.attacks import consistency

    protocol = protocol_of(file, protocol)
    found: consistency.JudgeConsistency | consistency.SelfConsistency
    with opened(file, readonly=True) as project:
        if other:
            found = consistency.between(project, judge, other, protocol)
        else:
            found = consistency.within(project, judge, protocol)
    say(found.tree(), json_, found.words())


def _told(more: str) -> str:
    return f": {more}" if more else ""


@app.command("window")
def judge_window(
    file: File,
    sentences: Annotated[int, typer.Argument(help="How many sentences on either side, 1 to 5")],
    json_: Json = False,
) -> None:
    """Set within how many sentences of a sentence a cited source counts for it; 1 unless you change it."""
    from annotator.actions.authoring import citation_window

    with opened(file) as project:
        citation_window.widen(project, sentences)
    say({"window": sentences}, json_, [f"Sentences are asked about with sources up to {sentences} away."])
