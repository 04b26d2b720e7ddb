"""Commands for results and releases: figures with their intervals, every view, and the metadata of releases."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli.saying import (
    NOT_ALL,
    File,
    Json,
    bar,
    changing,
    changing_by,
    console,
    opened,
    print_json,
    progress_bars,
    reading,
    say,
)
from annotator.domain.common import Refusal, counted, one_of, visible
from annotator.domain.experts.publication import ReleaseMetadata
from annotator.domain.texts.estimate import Estimate, interval

Departures = Annotated[
    bool, typer.Option("--departures", help="Also print in full where figures differ from the paper")
]
WIDEST = 60
# Characters between two columns, and the length up to which a word is not broken.
BETWEEN, LONGEST_WORD = 3, 20
UNFIT = " (!)"


def show(
    sheets: Sequence[Any], to: Path | None, json_: bool, more: dict[str, Any] | None = None, *,
    offsets: bool = False, departures: bool = False,
) -> None:  # fmt: skip
    """Print tables as words, as JSON after the entries of `more`, or into files; in words `departures` prints these
    in full.
    """
    from annotator.actions.results import result_pictures

    written = [path.name for path in _written(sheets, to, offsets)] if to else []
    if json_:
        trees = [result_pictures.as_tree(sheet, offsets=offsets) for sheet in sheets]
        print_json({**(more or {}), "sheets": trees, "files": written})
    elif written:
        console.print(f"Wrote {', '.join(written)}", markup=False)
    else:
        print_sheets(sheets, departures=departures)


def _written(sheets: Sequence[Any], to: Path, offsets: bool) -> list[Path]:
    """Write each table to a file, or each of their pictures; further tables get their key into the file name."""
    from annotator.actions.results import result_pictures

    if to.suffix.lower() in (".png", ".svg") and any(sheet.pictures for sheet in sheets):
        pictures = [
            (picture, result_pictures.departures(sheet)) for sheet in sheets for picture in sheet.pictures
        ]
        return [
            result_pictures.save(
                result_pictures.printed(*of), to.with_name(f"{to.stem}{place or ''}{to.suffix}")
            )
            for place, of in enumerate(pictures)
        ]
    places = [to, *(to.with_name(f"{to.stem}-{sheet.key}{to.suffix}") for sheet in sheets[1:])]
    return [
        result_pictures.save_exports(sheet, path, offsets=offsets)
        for sheet, path in zip(sheets, places, strict=False)
    ]


def print_sheets(sheets: Sequence[Any], *, departures: bool = True) -> None:
    """Print tables with their notes, then once the departures from the paper."""
    from annotator.actions.results import result_pictures

    for sheet in sheets:
        lines = (
            [f"{cell.words}{UNFIT if cell.state == 'unfit' else ''}" for cell in line.cells]
            for line in sheet.lines
        )
        print_table(sheet.title, [column.head for column in sheet.columns], lines, stay=_named_by(sheet))
        for words in sheet.notes:
            console.print(words, markup=False)
    known = dict.fromkeys(words for sheet in sheets for words in result_pictures.departures(sheet))
    print_departures([*known], departures)


def print_departures(known: Sequence[str], whole: bool) -> None:
    """Print the departures of figures from their paper, or how many there are and how to read them."""
    lines = ("Differences from the paper:", *known)
    for words in lines if whole else (f"{counted(len(known), 'difference')} from the paper: --departures",):
        if known:
            console.print(words, markup=False)


def _named_by(sheet: Any) -> int:
    """The number of leading columns, two at most, that name in words what a line is about."""
    worded = [
        all(isinstance(line.cells[place].value, str) for line in sheet.lines)
        for place in (0, 1)
        if place < len(sheet.columns)
    ]
    return 2 if all(worded) and len(worded) == 2 else 1


def print_table(title: str, heads: Sequence[str], lines: Iterable[Sequence[str]], *, stay: int = 1) -> None:
    """Print lines of words under heads; cells wrap, and nothing is cut off.

    If not all columns fit side by side, further ones go into another table, again behind those that `stay`. If some
    lines have an empty first cell, a rule precedes each line that has none.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    rows, heads = [[*map(visible, line)] for line in lines], [*map(visible, heads)]
    goes_on = any(not row[0] for row in rows)
    widths = [_longest_word([head, *(row[place] for row in rows)]) for place, head in enumerate(heads)]
    for block in _blocks(widths, stay, console.width):
        table = Table(title=visible(title), title_justify="left", box=SIMPLE_HEAD, padding=(0, 1))
        for column in block:
            table.add_column(Text(heads[column]), overflow="fold", min_width=widths[column], max_width=WIDEST)
        for row, after in zip(rows, [*rows[1:], None], strict=True):
            cells = (Text(row[column]) for column in block)
            table.add_row(*cells, end_section=goes_on and (after is None or bool(after[0])))
        console.print(table)
        title = ""


def _blocks(widths: Sequence[int], stay: int, room: int) -> list[list[int]]:
    """The columns of each table, including those that stay; as many as have room for their longest words."""
    blocks: list[list[int]] = [[]]
    for place in range(stay, len(widths)):
        shown = [*widths[:stay], *(widths[column] for column in blocks[-1]), widths[place]]
        if blocks[-1] and sum(shown) + BETWEEN * (len(shown) + 1) > room:
            blocks.append([])
        blocks[-1].append(place)
    return [[*range(min(stay, len(widths))), *block] for block in blocks]


def _longest_word(texts: Iterable[str]) -> int:
    return min(LONGEST_WORD, max((len(word) for text in texts for word in text.split()), default=1))


app = typer.Typer()
# The users' names of groupings, and the internal ones.
GROUPS = {
    "all": "all", "type": "question_type", "subject": "subject", "phase": "phase", "difficulty": "difficulty",
    "aspect": "facet", "mode": "mode",
}  # fmt: skip
# Why a grouping is empty although figures are known.
UNSET = "No item that was judged has a {0} yet. Run: goldsmith items edit FILE KEYS --{1} …"
UNGROUPED = {
    "type": UNSET.format("question type", "type"),
    **{by: UNSET.format(by, by) for by in ("subject", "phase", "difficulty")},
    "aspect": "What was judged has no aspects.",
    "mode": "All reports were given in one mode. Have some written in another: goldsmith respond FILE --mode …",
}
SPAN = ("value", "low", "high", "note")


@app.command()
def results(
    file: File,
    metric: Annotated[str, typer.Option(help="One metric, such as coverage or plan.f1", show_default=False)] = "",
    rater: Annotated[
        str,
        typer.Option(
            "--rater", "--judge", help="A judge's name, an alias, “people” or “consensus”; one for all by default, "
            "“each” for the last of each",
            show_default=False,
        ),
    ] = "",
    by: Annotated[
        str, typer.Option(help=f"One of: {', '.join(GROUPS)}; every group by default", show_default=False)
    ] = "",
    view: Annotated[
        str,
        typer.Option(
            help="A view of the results page (overview, wins, pilot …), or a paper's table (end-to-end, r3 …)",
            show_default=False,
        ),
    ] = "",
    choose: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE: another choice of the view", show_default=False)
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(help="File for the view's tables, .csv or .json, or pictures, .png or .svg", show_default=False),
    ] = None,
    offsets: Annotated[
        bool, typer.Option("--offsets", help="With --to or --json: also give intervals as offsets, as the "
        "papers print them")
    ] = False,
    views: Annotated[
        bool, typer.Option("--views", help="List the views and papers' tables that rest on anything here")
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="With --views: also list those without data, with what each lacks")
    ] = False,
    protocol: Annotated[
        str, typer.Option(help="What is judged; by default the first of which there are figures", show_default=False)
    ] = "",
    departures: Departures = False,
    json_: Json = False,
) -> None:  # fmt: skip
    """Scores of every system with 95 % interval, n and missing judgements; or another view of the Results page."""
    chosen = _chosen(by, metric, choose or [])
    with opened(file, readonly=True) as project:
        if views or every:
            _list_views(project, every, json_)
        elif view or to:
            _show(project, view or "overview", chosen, rater, to, json_, offsets, departures)
        else:
            _figures(project, metric, rater, by, protocol, json_, departures)


def _list_views(project: Any, every: bool, json_: bool) -> None:
    from annotator.actions.papers import paper_tables

    result = paper_tables.listed(project, every=every)
    if json_:
        print_json(result)
        return
    heads = {"name": "--view", "short": "Or", "title": "Title", "about": "What it shows"}
    rows = ([one[key] for key in heads] for one in result if not one["missing"])
    print_table("There are data for", [*heads.values()], rows)
    if not every:
        console.print("The others, each with what it lacks: --all", markup=False)
    for one in result:
        if one["missing"]:
            console.print(f"{one['name']}: {one['title']}. {one['missing']}", markup=False)


def _figures(
    project: Any, metric: str, rater: str, by: str, protocol: str, json_: bool, departures: bool
) -> None:
    from annotator.actions.items import items
    from annotator.actions.results import (
        overview,
        result_pictures,
        result_raters,
        results as questions,
        scoring,
    )
    from annotator.actions.runs import judge_cases

    made_of = scoring.named(metric).of if metric else ()
    protocol = scoring.named(made_of[0] if made_of else metric).protocol if metric else protocol
    protocol = protocol or result_raters.first_judged(project)
    judge_cases.protocol_of(protocol)
    group_by, limit = _group(by) if by else "", questions.limit(project)
    rater_id = _rater_id(project, rater, protocol)
    result = (
        overview.everything(project, rater_id) if made_of else questions.rows(project, rater_id, protocol)
    )
    without = items.left_out(project).not_counted
    shown = [row for row in result if metric in ("", row.metric) and group_by in ("", row.group_by)]
    rows = [
        questions.plain(row) | {"publishable": not (why := questions.why_not(row, limit)), "unfit": why}
        for row in shown
    ]
    steps = list(questions.lacking((row.protocol, row.title, row.estimate) for row in shown))
    floors = [*questions.floors(result), *filter(None, [without]), *steps]
    differs = scoring.departures(row["metric"] for row in rows)
    if json_:
        columns = result_pictures.described(questions.COLUMNS)
        print_json({"columns": columns, "rows": rows, "told": floors, "departures": differs})
    else:
        if not rows:
            known = any(row.estimate.value is not None for row in result)
            console.print(
                UNGROUPED[by] if known and by in UNGROUPED else _lack(project, protocol), markup=False
            )
            return
        _print_results(rows, floors, {row.repeats.words for row in result if row.repeats} | {without, *steps})
        print_departures(differs, departures)


def _rater_id(project: Any, name: str, protocol: str) -> str:
    """The id of the rater of that name under a protocol; empty for the last one."""
    from annotator.actions.results import result_raters

    if name in ("", result_raters.EACH):
        return name
    there = result_raters.everybody(project, protocol)
    result = next((rater for rater in there if rater.name == name), None)
    if result is None:
        names = ", ".join(rater.name for rater in there) or "nobody"
        raise Refusal(f"No judge named “{name}” has judged this.", f"Judges with verdicts: {names}.")
    return result.id


def _group(by: str) -> str:
    return one_of(by, GROUPS, f"Figures cannot be grouped by “{by}”.")


def _chosen(by: str, metric: str, choose: list[str]) -> dict[str, str]:
    chosen = {
        **({"metric": metric} if metric else {}),
        **({"by": _group(by)} if by else {}),
    }
    for pair in choose:
        name, sign, value = pair.partition("=")
        if not sign:
            raise Refusal(f"“{pair}” is not a choice.", "Write it as NAME=VALUE.")
        chosen[name] = value
    return chosen


def _show(
    project: Any,
    view: str,
    chosen: dict[str, str],
    rater: str,
    to: Path | None,
    json_: bool,
    offsets: bool,
    departures: bool,
) -> None:
    from annotator.actions.papers import paper_tables
    from annotator.actions.studies import result_views

    view, table = paper_tables.view_of(view)
    chosen |= table
    offered = result_views.named(view, paper_tables.VIEWS).choices(project)
    if rater:
        chosen["judge"] = _value(offered, "judge", rater)
    for name in (name for name in chosen if name not in ("judge", "file")):
        chosen[name] = _value(offered, name, chosen[name])
    result = result_views.show(project, view, chosen, among=paper_tables.VIEWS)
    if result.sheets or json_:
        more = {"view": view, "chosen": dict(result.chosen)}
        show(result.sheets, to, json_, more, offsets=offsets, departures=departures)
    else:
        about = result_views.named(view, paper_tables.VIEWS)
        steps = paper_tables.lacking(project, result.chosen) if view == paper_tables.VIEW.name else ()
        for words in [words for words, _ in steps] or [about.missing]:
            console.print(f"{about.title}: nothing to show yet. {words}", markup=False)


def _value(offered: Any, name: str, requested: str) -> str:
    """The value of a choice, given by the value or its words; Refusal lists the values offered."""
    from annotator.domain.material.item import spelled

    choice = next((choice for choice in offered if choice.name == name), None)
    if choice is None:
        names = ", ".join(choice.name for choice in offered) or "nothing"
        raise Refusal(f"This view has no choice called “{name}”.", f"Its choices are: {names}.")
    requested = spelled(requested) if name == "mode" else requested
    for words, value in choice.values:
        # A rater's name is followed by the number of their judgements.
        if requested in (words, value) or words.rpartition(" (")[0] == requested:
            return str(value)
    values = ", ".join(words for words, _ in choice.values) or "nothing"
    raise Refusal(f"“{requested}” is none of {name}.", f"Offered are: {values}.")


def _lack(project: Any, protocol: str) -> str:
    from annotator.actions.results import result_raters
    from annotator.protocols import PROTOCOLS

    others = [name for name in PROTOCOLS if name != protocol and result_raters.judges_of(project, name)]
    if others:
        return f"Nothing has been judged by {protocol} yet. Choose another --protocol: {', '.join(others)}"
    return "Nothing has been judged yet. Run: goldsmith judge run FILE --judge baseline"


def _print_results(rows: list[dict[str, Any]], notes: list[str], repeats: set[str]) -> None:
    for words in notes:
        console.print(words if words in repeats else f"{UNFIT.strip()}  {words}", markup=False)
    if repeats.issuperset(notes) and any(row["value"] is not None and not row["publishable"] for row in rows):
        console.print(f"{UNFIT.strip()}  not publishable: too many of the judgements behind it are missing")
    if raters := [*dict.fromkeys(row["rater"] for row in rows if row["rater"] != "computed")]:
        console.print(f"Judged by {' and '.join(raters)}.", markup=False)
    for gold in dict.fromkeys(row["gold"] for row in rows if row["gold"]):
        console.print(f"Gold: {gold}.", markup=False)
    for metric in dict.fromkeys(row["metric"] for row in rows):
        heads = ("System", "Group", metric.capitalize(), "95 % interval", "Items", "Missing")
        print_table("", heads, map(_words, [row for row in rows if row["metric"] == metric]))


def _words(row: dict[str, Any]) -> tuple[str, ...]:
    value = "–" if row["value"] is None else f"{row['value']:.4f}{'' if row['publishable'] else UNFIT}"
    span = "–" if row["low"] is None else interval(Estimate(**{part: row[part] for part in SPAN}))
    known = row["missing"] and row["floor"] is not None and row["ceiling"] is not None
    gaps = f"{row['missing']}: {row['floor']:.4f} to {row['ceiling']:.4f}" if known else str(row["missing"])
    return row["system"] or "(project)", row["group"], value, span, str(row["n"]), gaps


@app.command()
@changing_by("unadjudicated")
def gold(
    project: Any,
    unadjudicated: Annotated[
        bool | None,
        typer.Option(
            "--unadjudicated/--adjudicated", help="Whether what several wrote counts before it is adjudicated",
            show_default=False,
        ),
    ] = None,
    json_: Json = False,
) -> None:  # fmt: skip
    """Tell by whose gold each kind of document scores, or say whether unadjudicated doubles count."""
    from annotator.actions.authoring import annotating
    from annotator.protocols import PROTOCOLS

    kinds = dict.fromkeys(kind for protocol in PROTOCOLS.values() for kind in protocol.needs)
    if unadjudicated is not None:
        annotating.count_unadjudicated(project, unadjudicated)
    counts = annotating.unadjudicated_counts(project)
    with project.store.read() as db:
        remarks = {kind.value: words for kind in kinds if (words := annotating.words(db, [kind]))}
    rule = f"counts, by {annotating.FIRST_ALIAS}" if counts else "does not count"
    lines = [
        f"What several wrote and nobody adjudicated {rule}.",
        *(f"{words}." for words in remarks.values()),
    ]
    say({"unadjudicated": counts, "gold": remarks}, json_, lines)


release_app = typer.Typer(
    help="What releases say of themselves: answers, versions, differences, corrections.", no_args_is_help=True
)
Reason = Annotated[
    str, typer.Option(help="Why, in a sentence; it stands in the card and the list of changes")
]


def describe(file: Path, confirm: bool, json_: bool, **values: str | None) -> None:
    """Show what releases say of the benchmark and what is open, or answer by the options.

    What is only proposed from People and the project is not released before it is confirmed.
    """
    from annotator.actions.releases import releases

    given = {name: value for name, value in values.items() if value is not None}
    with opened(file, readonly=not (given or confirm)) as project:
        if confirm:
            given = releases.proposals(project) | given
        if given:
            releases.describe(project, given)
        answers, proposed = releases.metadata(project), releases.proposals(project)
        questions = releases.open_questions(project)
    fields = ReleaseMetadata.model_fields
    lines = [
        *(f"{field.title}: {words}" for name, field in fields.items() if (words := answers.text(name))),
        *(f"{fields[name].title}, proposed (--confirm): {words}" for name, words in proposed.items()),
        *(f"Open: {words}" for words in questions),
    ]
    tree = {"answers": answers.model_dump(mode="json"), "proposed": proposed, "open": questions}
    say(tree, json_, lines)


def _signature() -> Signature:
    """The command's parameters: an option for each question of the model."""
    options = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[str | None, typer.Option(help=field.description, show_default=False)],
        )
        for name, field in ReleaseMetadata.model_fields.items()
    ]
    confirm = Annotated[
        bool, typer.Option("--confirm", help="Answer with what is proposed, where nothing is said")
    ]
    return Signature(
        [
            Parameter("file", Parameter.POSITIONAL_OR_KEYWORD, annotation=File),
            *options,
            Parameter("confirm", Parameter.KEYWORD_ONLY, default=False, annotation=confirm),
            Parameter("json_", Parameter.KEYWORD_ONLY, default=False, annotation=Json),
        ]
    )


describe.__signature__ = _signature()  # type: ignore[attr-defined]
release_app.command()(describe)


@release_app.command("list")
@reading
def list_(project: Any, json_: Json = False) -> None:
    """List the releases that were written, and those that were withdrawn."""
    from annotator.actions.releases import releases

    rows = releases.written(project)
    say(
        {"releases": [asdict(row) for row in rows]},
        json_,
        [row.words for row in rows] or ["There is none yet."],
    )


@release_app.command("show")
@reading
def show_release(project: Any, number: int, json_: Json = False) -> None:
    """Show one release, and what was corrected since."""
    from annotator.actions.releases import releases

    row = releases.named(project, number)
    errata = [erratum for erratum in releases.published(project).errata if erratum.since >= number]
    lines = [row.words, *(f"Corrected on {erratum.at}: {erratum.reason}" for erratum in errata)]
    say({**asdict(row), "errata": [erratum.model_dump(mode="json") for erratum in errata]}, json_, lines)


@release_app.command()
def diff(
    older: Annotated[Path, typer.Argument(help="A released folder, or a project file", show_default=False)],
    newer: Annotated[Path, typer.Argument(help="Another", show_default=False)],
    json_: Json = False,
) -> None:
    """Tell what changed between two releases by kind: items, criteria, weights, gold, judgements, scores and ranks."""
    from annotator.actions.releases import releases

    changes = releases.compared(older, newer)
    lines = [f"{kind}: {words}" for kind, sentences in changes.items() for words in sentences]
    say({"changes": changes}, json_, lines or ["Nothing changed."])


@release_app.command()
@changing
def correct(
    project: Any,
    reason: Reason,
    since: Annotated[
        Path | None,
        typer.Option(help="The folder of the release before, to list what changed", show_default=False),
    ] = None,
    json_: Json = False,
) -> None:
    """Note a correction for the list of changes and the card of later releases."""
    from annotator.actions.releases import releases

    erratum = releases.add_erratum(project, reason, since).after[-1]
    say(erratum, json_, [f"Noted: {erratum['reason']}", *erratum.get("changes", ())])


@release_app.command()
@changing
def withdraw(project: Any, number: int, reason: Reason, json_: Json = False) -> None:
    """Withdraw a release: later ones say so, and its number is not used again."""
    from annotator.actions.releases import releases

    releases.withdraw(project, number, reason)
    say({"withdrawn": number, "reason": reason}, json_, [f"Release {number} is withdrawn: {reason}"])


@release_app.command("find-copies")
def find_copies(
    file: File,
    paths: Annotated[
        list[Path],
        typer.Argument(help="A corpus or another release: folders and files", show_default=False),
    ],
    json_: Json = False,
) -> None:
    """Show which questions and which gold stand in other files: word for word, or by 13 words in a row.

    Text, JSON, JSON Lines and Parquet, also packed as .gz. Exit code 3 when a file could not be read.
    """
    from annotator.actions.releases import checking

    with opened(file, readonly=True) as project, progress_bars() as progress:
        report = checking.find_copies(project, paths, bar(progress))
    if json_:
        print_json(asdict(report))
    else:
        rows = [
            (
                gold.item,
                gold.part,
                "whole" if gold.exact else f"{gold.share:.0%}",
                f"{gold.places:,}",
                gold.place,
            )
            for gold in report.copies
        ]
        if rows:
            print_table("Copies", ("Item", "What", "Copied", "Places", "First or most in"), rows, stay=2)
        for words in report.words():
            console.print(words, markup=False)
    if report.unread:
        raise typer.Exit(NOT_ALL)
