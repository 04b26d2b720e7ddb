"""The command on agreement: how far raters agreed before anyone saw both, and the exact inputs of every figure."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli.saying import As, File, Json, opened, print_json, said
from annotator.domain.assignment import Stage

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
    to: Annotated[Path | None, typer.Option(help="A folder for the exact inputs, as CSV and JSON")] = None,
    as_: As = "",
    json_: Json = False,
) -> None:
    """How far raters agreed, from frozen records alone; undefined figures say why. For coordinators."""
    from annotator.actions import agreement_inputs, agreement_report, agreement_words

    with opened(file, readonly=True, person=as_) as project:
        report = agreement_report.report(project, by, stage)
        written = agreement_inputs.write_inputs(project, to) if to else ()
    sections = {"rows": report.rows, "self_agreement": report.repeats, "first_votes": report.votes}
    if json_:
        rows = {
            name: [agreement_words.plain(report, row) for row in found] for name, found in sections.items()
        }
        inputs = {"folder": to.as_posix(), "files": list(written)} if to else None
        print_json({"by": by, "stage": stage.value if stage else None, **rows, "inputs": inputs})
        return
    for name, found in sections.items():
        if found:
            _print(report, list(found), TITLES[name])
    if not any(sections.values()):
        said.print(_nothing(by, report))
    if to:
        said.print(f"Wrote {', '.join(written)} to {to}", markup=False)


def _nothing(by: str, report: Any) -> str:
    if report.stages:
        return f"Nothing that is frozen can be grouped by {by} here."
    return "No agreement is frozen yet. It is, once everybody who was asked for a stage of an item has submitted."


def _print(report: Any, rows: list[Any], title: str) -> None:
    """A line for each figure, so that a narrow terminal cuts no digit off."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from annotator.actions import agreement_words as words

    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1))
    for head in ("Group", "Compared", "n", "Items", "Figure [95 % interval]"):
        table.add_column(head, justify="right" if head in ("n", "Items") else "left", overflow="fold")
    for row in rows:
        heads = [_group(report, row), words.field(row), f"{row.n}", f"{len(row.items)}"]
        lines = list(_lines(report, row))
        for place, line in enumerate(lines):
            shown = [*(heads if place == 0 else [""] * len(heads)), line]
            table.add_row(*map(Text, shown), end_section=place == len(lines) - 1)
    said.print(table)


def _lines(report: Any, row: Any) -> Iterator[str]:
    """The words of each figure, those by the adjudicator's pairing under that name."""
    from annotator.actions import agreement_words as words
    from annotator.domain.agreement import bound_of

    for found in row.figures:
        bound = bound_of(found)
        yield f"{words.TITLES[found.name]} {words.said(found)}{f' ({bound})' if bound else ''}"
    if report.again(row) is not None:
        yield f"{words.PAIRING}: {words.second(report, row)}"


def _group(report: Any, row: Any) -> str:
    from annotator.actions import agreement_words as words

    group = words.group(report, row)
    return group if row.stage.value == group else f"{row.stage.value}, {group}"
