"""Commands for the contest of tasks: run it, import matches, see the standings, keep the best."""

from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli.carrying import Shown, order_carried_out, say_forecast
from annotator.cli.options import Budget, Concurrency, Timeout
from annotator.cli.saying import As, File, Json, opened, say
from annotator.cli.tables import Departures, print_sheets
from annotator.domain.texts.counting import counted

app = typer.Typer(help="The ranking of tasks by pairs.", no_args_is_help=True)
Top = Annotated[
    int | None, typer.Option(min=1, help="How many are to be kept; a tenth, at most 100, unless given")
]


@app.command("run")
def run(
    file: File,
    judge: Annotated[str, typer.Option("--judge", help="The judge that compares; “baseline” asks no model")],
    rounds: Annotated[int, typer.Option(min=1, help="Rounds in all; those that were held count")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="Seed of who meets whom")] = 1,
    one_order: Annotated[
        bool, typer.Option("--one-order", help="Ask each pair once, not in both orders: half the calls")
    ] = False,
    near_cut: Annotated[
        int,
        typer.Option(
            "--near-cut", min=0, help="Let only tasks meet that are within 40 points of the cut below so many"
        ),
    ] = 0,
    concurrency: Concurrency = 8,
    timeout: Timeout = 120.0,
    budget: Budget = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Estimate calls, tokens and cost, without making a call")
    ] = False,
    progress: Shown = "bar",
    json_: Json = False,
) -> None:
    """Have a judge compare tasks, each with one other a round, up to so many rounds in all.

    Pairs are kept before anyone is asked; run the same command again to resume, which repeats no answered comparison.
    """
    from annotator.actions.contests.contest_runs import ContestSettings
    from annotator.actions.runs.judge_cases import RunRequest

    settings = ContestSettings(rounds, seed, one_order, near_cut)
    order = RunRequest(
        judge=judge, protocol=settings.name, concurrency=concurrency, timeout_s=timeout, budget_usd=budget
    )
    if estimate:
        say_forecast(file, order, json_=json_)
        return
    order_carried_out(file, order, progress=progress, json_=json_)


@app.command("import")
def import_(
    file: File,
    matches: Annotated[Path, typer.Argument(help="Table with first, second, winner, confidence, rater")],
    as_: As = "",
    json_: Json = False,
) -> None:
    """Import matches played elsewhere, in the order of their lines, all or none; tasks are named by key or id."""
    from annotator.actions.contests import contest_files

    with opened(file, person=as_) as project:
        found = contest_files.import_matches(project, matches)
    say({"matches": found.matches, "raters": dict(found.raters), "again": found.again}, json_, found.words())


@app.command("export")
def export(
    file: File,
    to: Annotated[Path, typer.Option("--to", help="The CSV to write")],
    rater: Annotated[str, typer.Option(help="Whose comparisons; by default everybody's")] = "",
    json_: Json = False,
) -> None:
    """Write the matches, round by round, in the columns that import takes: anyone can compute the ratings again."""
    from annotator.actions.contests import contest_files

    with opened(file, readonly=True) as project:
        found = contest_files.write_matches(project, to, rater)
    say({"matches": found, "file": str(to)}, json_, [f"Wrote {counted(found, 'match', 'matches')} to {to}"])


@app.command("standings")
def show_standings(
    file: File,
    rater: Annotated[str, typer.Option(help="Whose comparisons; by default who compared most")] = "",
    top: Top = None,
    departures: Departures = False,
    json_: Json = False,
) -> None:
    """Show ratings, strengths with intervals, the chance to be among those kept, and which of these are certain."""
    from annotator.actions.contests import contest_standings

    with opened(file, readonly=True) as project:
        found = contest_standings.report(project, rater, str(top or ""))
    if json_:
        say(found.tree(), json_, [])
        return
    print_sheets(contest_standings.sheets(found), departures=departures)


@app.command("keep")
def keep(
    file: File,
    top: Annotated[int, typer.Option(min=1, help="How many tasks to keep")],
    per_seminar: Annotated[int | None, typer.Option(min=1, help="At most so many of each seminar")] = None,
    quota: Annotated[
        list[str] | None,
        typer.Option(help="At most so many, such as phase=40 or discipline:Physics=10; repeatable"),
    ] = None,
    rater: Annotated[str, typer.Option(help="By whose standings; by default who compared most")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be kept, without keeping")
    ] = False,
    as_: As = "",
    json_: Json = False,
) -> None:
    """Make items of the best tasks; near-duplicates and what is beyond a quota are held back with their reason."""
    from annotator.actions.contests import contest_keeping, contest_standings

    with opened(file, readonly=dry_run, person=as_) as project:
        limits = contest_keeping.quotas(per_seminar, quota or ())
        found = contest_standings.report(project, rater, str(top))
        chosen = contest_keeping.chosen(found.ranking, found.tasks, top, limits, found.decided)
        _, new = (None, []) if dry_run else contest_keeping.keep(project, chosen, found.tasks)
    keys = {one.task: found.tasks[one.task].key for one in chosen}
    lines = [f"{one.rank}. {keys[one.task]}: {one.words}" for one in chosen]
    kept = sum(one.kept for one in chosen)
    lines.append(f"{counted(kept, 'task')} of {top} kept; {counted(len(new), 'new item')}.")
    tree: dict[str, Any] = {
        "kept": [keys[one.task] for one in chosen if one.kept],
        "held_back": {keys[one.task]: one.reason for one in chosen if not one.kept},
        "items": new,
    }
    say(tree, json_, lines)


@app.command("hold")
def hold(
    file: File,
    task: Annotated[str, typer.Argument(help="Key or id of the task")],
    reason: Annotated[str, typer.Option(help="Why it is held back; empty lets it be kept again")],
    as_: As = "",
    json_: Json = False,
) -> None:
    """Hold a task back, whatever its rank."""
    from annotator.actions.contests import contest_keeping, contest_tasks

    with opened(file, person=as_) as project:
        _, one = contest_keeping.hold(project, contest_tasks.named(project, task).id, reason)
    words = one.words if one.reason else "may be kept again"
    say({"task": task, "reason": one.reason}, json_, [f"{task}: {words.removesuffix('.')}."])
