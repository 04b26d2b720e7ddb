"""Command for agreement: figures, and the exact inputs of each."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli.project import FOR_A_WINDOW, Shown, end, gone_through, say_forecast
from annotator.cli.results import print_table
from annotator.cli.saying import Budget, Concurrency, File, Json, Timeout, console, opened, print_json
from annotator.domain.kinds.kind import Stage

app = typer.Typer()
TITLES = {
    "rows": "Agreement between raters",
    "self_agreement": "Agreement of people with themselves (silent repeats)",
    "first_votes": "Agreement of seniors' first votes with the raters",
}


@app.command()
def agreement(
    file: File,
    by: Annotated[
        str, typer.Option(help="stage, pair, person, criterion, item, week or guideline", metavar="GROUPING")
    ] = "stage",
    stage: Annotated[Stage | None, typer.Option(help="Only this stage")] = None,
    to: Annotated[Path | None, typer.Option(help="Folder for the exact inputs, as CSV and JSON")] = None,
    assisted_by: Annotated[
        str,
        typer.Option(
            help="Judge that pairs units by meaning, for a second figure; only missing pairs are asked for",
            metavar="JUDGE",
        ),
    ] = "",
    concurrency: Concurrency = 4,
    timeout: Timeout = 120.0,
    budget: Budget = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Estimate calls, tokens and cost, without making a call")
    ] = False,
    progress: Shown = "bar",
    json_: Json = False,
) -> None:
    """Agreement between raters, from frozen records only; undefined figures give the reason. For coordinators.

    With a judge, a second figure follows the frozen one, computed over units that the judge paired by meaning.
    """
    from annotator.actions.agreement import agreement_figures, assisting

    order = assisting.order(assisted_by, stage, concurrency=concurrency, timeout_s=timeout, budget_usd=budget)
    if estimate and not assisted_by:
        raise typer.BadParameter("--estimate needs a judge: name one with --assisted-by.")
    if estimate:
        say_forecast(file, order, json_=json_)
        return
    # Do not pay for something that cannot be shown.
    agreement_figures.refuse_unknown(by)
    run, doing = partial(assisting.PairingRun.run, order=order), assisting.PairingRun.doing
    ended = gone_through(file, run, doing=doing, progress=progress) if assisted_by else None
    if ended is None or progress != FOR_A_WINDOW:
        with opened(file, readonly=True) as project:
            _tell(project, (by, stage or "", assisted_by), to, ended, json_=json_)
    if ended is not None:
        end(ended)


def _tell(
    project: Any,
    asked: tuple[str, str, str],
    to: Path | None,
    ended: dict[str, Any] | None,
    *,
    json_: bool,
) -> None:
    from annotator.actions.agreement import agreement_figures, agreement_report
    from annotator.actions.results import result_pictures

    report = agreement_report.report(project, *asked)
    written = agreement_figures.write_inputs(project, to) if to else ()
    sections = {"rows": report.rows, "self_agreement": report.repeats, "first_votes": report.votes}
    if not json_:
        _say(report, sections, ended)
        if to:
            console.print(f"Wrote {', '.join(written)} to {to}", markup=False)
        return
    rows = {
        name: [agreement_report.plain(report, row) for row in result] for name, result in sections.items()
    }
    heads = {"by": report.by, "stage": report.stage.value if report.stage else None}
    inputs = {"folder": to.as_posix(), "files": list(written)} if to else None
    assisted = report.assistance.tree() | {"run": ended} if report.assistance else None
    described = result_pictures.described(agreement_report.COLUMNS)
    print_json({**heads, "columns": described, **rows, "inputs": inputs, "model_assisted": assisted})


def _say(report: Any, sections: dict[str, Any], ended: dict[str, Any] | None) -> None:
    from annotator.actions.agreement.assisting import PairingRun

    for name, result in sections.items():
        if result:
            _print(report, list(result), TITLES[name])
    if not any(sections.values()):
        console.print(_nothing(report))
    if ended is not None:
        for line in (report.assistance.words(), *PairingRun.words(ended)):
            console.print(line, markup=False)


def _nothing(report: Any) -> str:
    if report.stages:
        return f"No frozen agreement here can be grouped by {report.by}."
    return (
        "No agreement is frozen yet. It is frozen once everyone assigned to a stage of an item has submitted."
    )


def _print(report: Any, rows: list[Any], title: str) -> None:
    """Print a line for each figure, so that a narrow terminal cuts no digit off."""
    from annotator.actions.agreement import agreement_report

    shown = []
    for row in rows:
        heads = [_group(report, row), agreement_report.field(row), f"{row.n}", f"{len(row.items):,}"]
        for place, line in enumerate(_lines(report, row)):
            shown.append([*(heads if place == 0 else [""] * len(heads)), line])
    print_table(title, ("Group", "Compared", "n", "Items", "Figure [95 % interval]"), shown)


def _lines(report: Any, row: Any) -> Iterator[str]:
    """The words of each figure; after the frozen ones those by another pairing, each under its name."""
    from annotator.actions.agreement import agreement_report
    from annotator.domain.experts.adjudication import bound_of

    for result in row.figures:
        bound = bound_of(result)
        bounds = f" ({bound})" if bound else ""
        yield f"{agreement_report.title(result)} {agreement_report.figure_words(result)}{bounds}"
    for second in report.seconds:
        if beside := agreement_report.second(second, row):
            yield f"{second.title}: {beside}"


def _group(report: Any, row: Any) -> str:
    from annotator.actions.agreement import agreement_report

    group = agreement_report.group(report, row)
    return group if row.stage.value == group else f"{row.stage.value}, {group}"
