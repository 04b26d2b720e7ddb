"""Command for results: figures with their intervals, and every view of the Results page."""

from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli.saying import As, File, Json, opened, print_json, said, say
from annotator.cli.tables import UNFIT, Departures, print_departures, print_table, show
from annotator.domain.material.response import spelled
from annotator.domain.texts.estimate import Estimate, interval
from annotator.domain.texts.refusal import Refusal

app = typer.Typer()
# What people call the ways to group, and what they are called inside.
GROUPS = {
    "all": "all", "type": "question_type", "subject": "subject", "phase": "phase", "difficulty": "difficulty",
    "aspect": "facet", "mode": "mode",
}  # fmt: skip
# Why nothing stands under a group although figures are known.
UNSET = "No item that was judged has a {0} yet. Set it: goldsmith items edit FILE KEYS --{1} …"
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
    with opened(file, readonly=True) as project:
        if views or every:
            _list_views(project, every, json_)
        elif view or to:
            chosen = _chosen(by, metric, choose or [])
            _show(project, view or "overview", chosen, rater, to, json_, offsets, departures)
        else:
            _figures(project, metric, rater, by, protocol, json_, departures)


def _list_views(project: Any, every: bool, json_: bool) -> None:
    from annotator.actions.papers import paper_tables

    found = paper_tables.listed(project, every=every)
    if json_:
        print_json(found)
        return
    heads = {"name": "--view", "short": "Or", "title": "Title", "about": "What it shows"}
    rows = ([one[key] for key in heads] for one in found if not one["missing"])
    print_table("There are data for", [*heads.values()], rows)
    if not every:
        said.print("The others, each with what it lacks: --all", markup=False)
    for one in found:
        if one["missing"]:
            said.print(f"{one['name']}: {one['title']}. {one['missing']}", markup=False)


def _figures(
    project: Any, metric: str, rater: str, by: str, protocol: str, json_: bool, departures: bool
) -> None:
    from annotator.actions.items import roles
    from annotator.actions.results import composites, metrics, publishing, result_exports, result_raters
    from annotator.actions.results import results as questions
    from annotator.actions.runs import judge_cases

    made_of = metrics.named(metric).of if metric else ()
    protocol = metrics.named(made_of[0] if made_of else metric).protocol if metric else protocol
    protocol = protocol or result_raters.first_judged(project)
    judge_cases.shape_of(protocol)
    group_by, limit = _group(by) if by else "", publishing.limit(project)
    rater_id = _rater_id(project, rater, protocol)
    found = (
        composites.everything(project, rater_id) if made_of else questions.rows(project, rater_id, protocol)
    )
    without = roles.left_out(project).not_counted
    shown = [row for row in found if metric in ("", row.metric) and group_by in ("", row.group_by)]
    rows = [
        questions.plain(row) | {"publishable": not (why := publishing.why_not(row, limit)), "unfit": why}
        for row in shown
    ]
    steps = list(publishing.lacking((row.protocol, row.title, row.estimate) for row in shown))
    floors = [*publishing.floors(found), *filter(None, [without]), *steps]
    differs = metrics.departures(row["metric"] for row in rows)
    if json_:
        columns = result_exports.described(questions.COLUMNS)
        print_json({"columns": columns, "rows": rows, "told": floors, "departures": differs})
    else:
        if not rows:
            known = any(row.estimate.value is not None for row in found)
            said.print(UNGROUPED[by] if known and by in UNGROUPED else _lack(project, protocol), markup=False)
            return
        _print_results(rows, floors, {row.repeats.words for row in found if row.repeats} | {without, *steps})
        print_departures(differs, departures)


def _rater_id(project: Any, name: str, protocol: str) -> str:
    """The rater of that name under a protocol; empty for the last one."""
    from annotator.actions.results import result_raters

    if name in ("", result_raters.EACH):
        return name
    there = result_raters.everybody(project, protocol)
    found = next((rater for rater in there if rater.name == name), None)
    if found is None:
        names = ", ".join(rater.name for rater in there) or "nobody"
        raise Refusal(f"No judge named “{name}” has judged this.", f"Judges with verdicts: {names}.")
    return found.id


def _group(by: str) -> str:
    if by not in GROUPS:
        raise Refusal(f"Figures cannot be grouped by “{by}”.", f"Use one of {', '.join(GROUPS)}.")
    return GROUPS[by]


def _chosen(by: str, metric: str, choose: list[str]) -> dict[str, str]:
    chosen = {"metric": metric} if metric else {}
    chosen |= {"by": _group(by)} if by else {}
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

    view, table = paper_tables.found_as(view)
    chosen |= table
    offered = result_views.named(view, paper_tables.VIEWS).choices(project)
    if rater:
        chosen["judge"] = _value(offered, "judge", rater)
    for name in (name for name in chosen if name not in ("judge", "file")):
        chosen[name] = _value(offered, name, chosen[name])
    found = result_views.show(project, view, chosen, among=paper_tables.VIEWS)
    if found.sheets or json_:
        more = {"view": view, "chosen": dict(found.chosen)}
        show(found.sheets, to, json_, more, offsets=offsets, departures=departures)
    else:
        about = result_views.named(view, paper_tables.VIEWS)
        steps = paper_tables.lacking(project, found.chosen) if view == paper_tables.VIEW.name else ()
        for words in [words for words, _ in steps] or [about.missing]:
            said.print(f"{about.title}: nothing to show yet. {words}", markup=False)


def _value(offered: Any, name: str, wanted: str) -> str:
    """The value of a choice by itself or by its words; Refusal lists those that are offered."""
    choice = next((choice for choice in offered if choice.name == name), None)
    if choice is None:
        names = ", ".join(choice.name for choice in offered) or "nothing"
        raise Refusal(f"This view has no choice called “{name}”.", f"Its choices are: {names}.")
    wanted = spelled(wanted) if name == "mode" else wanted
    for words, value in choice.values:
        # Behind a rater's name stands how much they judged.
        if wanted in (words, value) or words.rpartition(" (")[0] == wanted:
            return str(value)
    said_ = ", ".join(words for words, _ in choice.values) or "nothing"
    raise Refusal(f"“{wanted}” is none of {name}.", f"Offered are: {said_}.")


def _lack(project: Any, protocol: str) -> str:
    """Why there is no figure, and by which protocols there is one."""
    from annotator.actions.results import result_raters
    from annotator.protocols import PROTOCOLS

    others = [name for name in PROTOCOLS if name != protocol and result_raters.judges_of(project, name)]
    if others:
        return f"Nothing has been judged by {protocol} yet. Choose another --protocol: {', '.join(others)}"
    return "Nothing has been judged yet. Run: goldsmith judge run FILE --judge baseline"


def _print_results(rows: list[dict[str, Any]], told: list[str], repeats: set[str]) -> None:
    for words in told:
        said.print(words if words in repeats else f"{UNFIT.strip()}  {words}", markup=False)
    if repeats.issuperset(told) and any(row["value"] is not None and not row["publishable"] for row in rows):
        said.print(f"{UNFIT.strip()}  not publishable: too many of the judgements behind it are missing")
    if raters := [*dict.fromkeys(row["rater"] for row in rows if row["rater"] != "computed")]:
        said.print(f"Judged by {' and '.join(raters)}.", markup=False)
    for gold in dict.fromkeys(row["gold"] for row in rows if row["gold"]):
        said.print(f"Gold: {gold}.", markup=False)
    for metric in dict.fromkeys(row["metric"] for row in rows):
        _print_metric(metric, [row for row in rows if row["metric"] == metric])


def _print_metric(metric: str, rows: list[dict[str, Any]]) -> None:
    heads = ("System", "Group", metric.capitalize(), "95 % interval", "Items", "Missing")
    print_table("", heads, map(_words, rows))


def _words(row: dict[str, Any]) -> tuple[str, ...]:
    value = "–" if row["value"] is None else f"{row['value']:.4f}{'' if row['publishable'] else UNFIT}"
    span = "–" if row["low"] is None else interval(Estimate(**{part: row[part] for part in SPAN}))
    known = row["missing"] and row["floor"] is not None and row["ceiling"] is not None
    gaps = f"{row['missing']}: {row['floor']:.4f} to {row['ceiling']:.4f}" if known else str(row["missing"])
    return row["system"] or "(project)", row["group"], value, span, str(row["n"]), gaps


@app.command()
def gold(
    file: File,
    unadjudicated: Annotated[
        bool | None,
        typer.Option(
            "--unadjudicated/--adjudicated", help="Whether what several wrote counts before it is adjudicated",
            show_default=False,
        ),
    ] = None,
    as_: As = "",
    json_: Json = False,
) -> None:  # fmt: skip
    """Tell by whose gold each kind of document scores, or say whether unadjudicated doubles count."""
    from annotator.actions.authoring import gold as questions
    from annotator.protocols import PROTOCOLS

    kinds = dict.fromkeys(kind for shape in PROTOCOLS.values() for kind in shape.needs)
    with opened(file, readonly=unadjudicated is None, person=as_) as project:
        if unadjudicated is not None:
            questions.count_unadjudicated(project, unadjudicated)
        counts = questions.unadjudicated_counts(project)
        with project.store.read() as db:
            told = {kind.value: words for kind in kinds if (words := questions.words(db, [kind]))}
    rule = f"counts, by {questions.FIRST_ALIAS}" if counts else "does not count"
    lines = [f"What several wrote and nobody adjudicated {rule}.", *(f"{words}." for words in told.values())]
    say({"unadjudicated": counts, "gold": told}, json_, lines)
