"""Commands for items: listing them, adding and changing them, retiring them, applying their selection."""

import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli.project import Shown, carried_out, order_carried_out, say_forecast
from annotator.cli.saying import (
    Budget,
    Concurrency,
    File,
    Items,
    Json,
    KeyEnv,
    Timeout,
    changing,
    changing_by,
    given_of,
    opened,
    reading,
    say,
    say_changed,
)
from annotator.domain.common import counted
from annotator.protocols.profiles import CONDITIONS

app = typer.Typer(help="The items of the benchmark.", no_args_is_help=True)
final_app = typer.Typer(help="The final pass before a release: list and sign checks.", no_args_is_help=True)
pilot_app = typer.Typer()
Keys = Annotated[list[str], typer.Argument(help="Keys of items", show_default=False)]
COLUMNS = (
    "question",
    "question_type",
    "subject",
    "language",
    "origin",
    "contributor",
    "collected",
    "dataset",
    "traits",
    "made_from",
)


@app.command("list")
@reading
def list_(
    project: Any,
    words: Annotated[str, typer.Option(help="Only items with these words")] = "",
    retired: Annotated[bool, typer.Option("--retired", help="List the retired items instead")] = False,
    json_: Json = False,
) -> None:
    """List the items in the project's order."""
    from annotator.actions.items import items

    ids = items.ids(project, items.Filter(words=words, retired=retired))
    result = [items.read(project, item_id) for item_id in ids]
    sentences = [
        "  ".join(filter(None, (item.key, item.question_type, item.subject, item.question[:90])))
        for item in result
    ]
    trees = [
        {name: getattr(item, name) for name in ("key", *COLUMNS, "working_title", "retired")}
        for item in result
    ]
    say({"items": trees}, json_, sentences or ["No items."])


@app.command()
@changing
def add(
    project: Any,
    question: Annotated[str, typer.Option(help="What the systems are asked; - for input")],
    key: Annotated[str, typer.Option(help="Key; by default the next free number")] = "",
    type_: Annotated[str, typer.Option("--type", help="Question type")] = "",
    subject: Annotated[str, typer.Option(help="Subject or domain")] = "",
    language: Annotated[str, typer.Option(help="Language of the question, such as en or zh-Hans")] = "en",
    dataset: Annotated[str, typer.Option(help="Collection that it belongs to")] = "",
    json_: Json = False,
) -> None:
    """Add an item and print its key; a question that is there (under this key, if one is given) is not added again."""
    from annotator.actions.items import items

    more = {"question_type": type_, "subject": subject, "language": language, "dataset": dataset}
    text = sys.stdin.read() if question == "-" else question
    result, new = items.add_once(project, key.strip(), text.strip(), more)
    there = (
        f"{'Retired item' if result.retired else 'Item'} {result.key} has this question: nothing was added."
    )
    say({"key": result.key, "added": new}, json_, [f"Added item {result.key}." if new else there])


@app.command()
def edit(
    file: File,
    keys: Keys,
    question: Annotated[
        str | None,
        typer.Option(help="New wording, of one item whose query is not settled", show_default=False),
    ] = None,
    type_: Annotated[str | None, typer.Option("--type", help="Question type", show_default=False)] = None,
    subject: Annotated[str | None, typer.Option(help="Subject or domain", show_default=False)] = None,
    origin: Annotated[
        str | None, typer.Option(help="Where it was found, e.g. interviews", show_default=False)
    ] = None,
    contributor: Annotated[
        str | None, typer.Option(help="Alias of who contributed it", show_default=False)
    ] = None,
    collected: Annotated[
        str | None,
        typer.Option(help="When it was collected: YYYY, YYYY-MM or YYYY-MM-DD", show_default=False),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(help="Collection that it belongs to", show_default=False)
    ] = None,
    phase: Annotated[
        str | None, typer.Option(help="Of a task: synthesize, design or evaluate", show_default=False)
    ] = None,
    difficulty: Annotated[
        str | None, typer.Option(help="Of a task: basic or advanced", show_default=False)
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(help="train, dev or test; releases encrypt test items", show_default=False),
    ] = None,
    json_: Json = False,
) -> None:
    """Change items in one act that can be undone; what is not named stays."""
    given = {
        "question": question, "question_type": type_, "subject": subject, "origin": origin,
        "contributor": contributor, "collected": collected, "dataset": dataset,
    }  # fmt: skip
    fields = {name: value.strip() for name, value in given.items() if value is not None}
    chosen = {"phase": phase, "difficulty": difficulty, "split": split}
    traits = {name: value for name, value in chosen.items() if value is not None}
    _change(file, keys, fields, json_, traits)


@app.command()
def retire(file: File, keys: Keys, json_: Json = False) -> None:
    """Set items aside: they are no longer handed out, judged, scored or released, and nothing of them is lost."""
    _change(file, keys, {"retired": True}, json_)


@app.command()
def restore(file: File, keys: Keys, json_: Json = False) -> None:
    """Bring retired items back with all that belongs to them."""
    _change(file, keys, {"retired": False}, json_)


def _change(
    file: Any,
    keys: list[str],
    fields: dict[str, Any],
    json_: bool,
    traits: dict[str, str] | None = None,
) -> None:
    from annotator.actions.items import items
    from annotator.domain.kinds.tasks import checked_traits

    new_traits = checked_traits(traits or {})
    with opened(file) as project:
        values = dict.fromkeys(items.ids_of(project, keys), fields)
        for item_id in values if new_traits else ():
            held = {**items.read(project, item_id).traits, **new_traits}
            remaining = {name: value for name, value in held.items() if value}
            values[item_id] = fields | {"traits": remaining}
        change = items.change_all(project, values)
    done = len(items.changed_by(change))
    say({"changed": done, "verb": change.verb}, json_, [f"{counted(done, 'item')} changed."])


@app.command("apply-selection")
@changing
def apply_selection(project: Any, json_: Json = False) -> None:
    """Retire every item that its raters left below the bar: it leaves all scores; one act, which can be undone."""
    from annotator.actions.items import items
    from annotator.actions.studies import question_views

    change = question_views.apply(project)
    left = items.count(project)
    keys = [items.read(project, item_id).key for item_id in items.changed_by(change)]
    words = f"{counted(len(keys), 'item')} retired: {', '.join(keys)}. {counted(left, 'item')} in use."
    say({"retired": keys, "in_use": left}, json_, [words])


@app.command()
@changing_by("at")
def bar(
    project: Any,
    at: Annotated[str, typer.Option("--set", help="Another mean, as the next version of the guideline")] = "",
    json_: Json = False,
) -> None:
    """Show the mean rating at which an item is kept, or set another."""
    from annotator.actions.authoring import settings

    if at:
        settings.set_bar(project, at)
    result = settings.bar(project)
    say({"bar": result}, json_, [f"Items are kept at {result:g} or more."])


@app.command()
@reading
def funnel(project: Any, json_: Json = False) -> None:
    """Count how many items of each origin came how far."""
    from annotator.actions.studies import question_views
    from annotator.cli.results import print_sheets

    result = question_views.selection_report(project)
    sheets = [sheet for sheet in question_views.selection_sheets(result) if sheet.key == "funnel"]
    if json_ or not sheets:
        lines = [asdict(line) for line in result.funnel]
        say({"funnel": lines, "bar": result.bar}, json_, ["No item has an origin or a rating yet."])
    print_sheets([] if json_ else sheets)


@final_app.command("list")
@reading
def final_list(
    project: Any,
    open_: Annotated[bool, typer.Option("--open", help="Only items with an open check or a problem")] = False,
    json_: Json = False,
) -> None:
    """List the final pass item by item: what was found, who signed, and what the program noticed."""
    from annotator.actions.agreement import final_pass

    result = [one for one in final_pass.overview(project) if one.open or not open_]
    tree = [
        {
            "item": one.key, "open": one.open, "noticed": dict(one.hints),
            "checks": {name: check.model_dump(mode="json") for name, check in one.checks.items()},
        }
        for one in result
    ]  # fmt: skip
    words = [f"{one.key}: {_final(one.open, one.hints)}" for one in result]
    say({"items": tree}, json_, words or ["Nothing is open."])


def _final(open_: list[str], hints: Mapping[str, str]) -> str:
    state = f"open: {', '.join(open_)}" if open_ else "done"
    return "; ".join([state, *(f"{name} {words}" for name, words in hints.items())])


@final_app.command("sign")
@changing
def final_sign(
    project: Any,
    keys: Keys,
    check: Annotated[str, typer.Option(help="links, identifiers, content, leak or corrigenda")],
    state: Annotated[
        str, typer.Option(help="passed, problem, not applicable; open takes it back")
    ] = "passed",
    note: Annotated[str, typer.Option(help="What was found; needed for a problem")] = "",
    json_: Json = False,
) -> None:
    """Sign what was looked for in items before the release."""
    from annotator.actions.agreement import final_pass
    from annotator.actions.items import items

    ids = items.ids_of(project, keys, in_use=True)
    with project.store.write():
        for item_id in ids:
            final_pass.sign(project, item_id, check, state, note)
    say(
        {"signed": keys, "check": check, "state": state},
        json_,
        [f"{check}: {state} ({counted(len(keys), 'item')})"],
    )


@pilot_app.command("pilot")
@reading
def pilot(
    project: Any,
    to: Annotated[
        Path | None, typer.Option(help="A Markdown file to write; otherwise it is shown", show_default=False)
    ] = None,
    json_: Json = False,
) -> None:
    """Summarize the pilot: agreement, time, remarks and guidelines of the items that everybody did first."""
    from annotator import files
    from annotator.actions.agreement import final_pass

    result = final_pass.summary(project)
    if to is not None:
        files.save(to, result.encode())
    say({"summary": result}, json_, [f"Wrote {to}"] if to else result.splitlines())


@app.command()
@reading
def types(project: Any, json_: Json = False) -> None:
    """Show the question types, what they are, and on which dimensions questions are rated.

    They stand in the guideline of the selection, where a coordinator edits them: each is a section.
    """
    from annotator.actions.authoring import settings

    result = settings.types(project)
    words = []
    for one in result:
        words += [
            one.name,
            f"  {one.definition}",
            *(f"  - {each.name}: {each.definition}" for each in one.dimensions),
        ]
    say({"types": [asdict(one) for one in result]}, json_, words)


respond_app = typer.Typer()
systems_app = typer.Typer(help="Systems under test: their groups and footnotes.", no_args_is_help=True)
responses_app = typer.Typer(help="Where reports come from.", no_args_is_help=True)
SYSTEM_COLUMNS = ("name", "group", "footnote", "notes")


@respond_app.command()
def respond(
    file: File,
    system: Annotated[str, typer.Option(help="System of the reports; created with the first")],
    judge: Annotated[str, typer.Option(help="The judge whose endpoint is to write")] = "",
    base_url: Annotated[
        str, typer.Option(help="Base URL of an endpoint, including /v1, instead of a judge")
    ] = "",
    model: Annotated[str, typer.Option(help="The model's name at that endpoint")] = "",
    key_env: KeyEnv = "",
    parameters: Annotated[
        str, typer.Option(help="Request parameters as a JSON object; by default the judge's, or none")
    ] = "",
    item: Items = None,
    mode: Annotated[
        str,
        typer.Option(
            help="end-to-end, isolated or gold-plan-injection: gold given; continuation: half the task given"
        ),
    ] = "end-to-end",
    plan: Annotated[
        bool, typer.Option("--plan", help="Ask for a plan first, keep it, and have the report follow it")
    ] = False,
    condition: Annotated[
        str, typer.Option(help=f"Prompts and parameters: {', '.join(one.name for one in CONDITIONS)}")
    ] = CONDITIONS[0].name,
    cutoff: Annotated[
        str,
        typer.Option(
            help="Last day of publication to keep to, 2025-03-24; asked for and kept with the reports"
        ),
    ] = "",
    mode_name: Annotated[str, typer.Option(help="File the reports under a mode of this name")] = "",
    trials: Annotated[int, typer.Option(min=1, max=100, help="Reports per item")] = 1,
    concurrency: Concurrency = 4,
    timeout: Timeout = 900.0,
    budget: Budget = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Estimate the cost, make no call; needs --judge")
    ] = False,
    progress: Shown = "bar",
    json_: Json = False,
) -> None:
    """Have a model write reports on items; existing reports are never rewritten, failures are listed with their cause.

    Without a judge or an endpoint, the system's previous writer is used.
    """
    from annotator.actions.judges import judges
    from annotator.actions.material import responding
    from annotator.actions.material.responding import ResponseRun
    from annotator.actions.runs.judge_cases import RunRequest

    manner = responding.protocol_name(
        mode, planned=plan, condition=condition, cutoff=cutoff, filed_as=mode_name
    )
    how = responding.settings_of(manner)
    preset, filed = (how.condition.parameters, how.mode) if how else ("", "")
    settings = judges.WriterSettings(judge, base_url, model, key_env, parameters, preset)

    def order_of(asked: str) -> RunRequest:
        return RunRequest(
            judge=asked, protocol=manner, systems=(system.strip(),), items=tuple(item or ()), trials=trials,
            concurrency=concurrency, timeout_s=timeout, budget_usd=budget,
        )  # fmt: skip

    if estimate:
        say_forecast(file, order_of(judge), json_=json_)
        return

    async def run(project: Any, **how: Any) -> dict[str, Any]:
        writer = judges.prepared(project, system, settings, filed)
        return await ResponseRun.run(project, order_of(writer.name), **how)

    carried_out(file, run, ResponseRun.words, doing=ResponseRun.doing, progress=progress, json_=json_)


@systems_app.command("list")
@reading
def systems_list(project: Any, json_: Json = False) -> None:
    """List the systems with their group and footnote."""
    from annotator.actions.items import materials

    result = [{name: row[name] for name in SYSTEM_COLUMNS} for row in materials.systems(project)]
    words = ["  ".join(row[name] for name in SYSTEM_COLUMNS if row[name]) for row in result]
    say({"systems": result}, json_, words or ["There is no system yet."])


@systems_app.command("set")
def systems_set(
    file: File,
    system: Annotated[list[str], typer.Option("--system", help="Name of a system; repeatable")],
    group: Annotated[
        str | None, typer.Option(help="Kind of system, e.g. “deep research” or “LLM + search”; free text")
    ] = None,
    footnote: Annotated[str | None, typer.Option(help="What tables say of it below them")] = None,
    notes: Annotated[str | None, typer.Option(help="Notes")] = None,
    json_: Json = False,
) -> None:
    """Set the group, footnote or notes of systems, in one act that can be undone; an empty text clears a field."""
    from annotator.actions.items import materials

    given = given_of(group=group, footnote=footnote, notes=notes)
    with opened(file) as project:
        ids = [materials.system_named(project, name) for name in system]
        change = materials.describe(project, materials.Thing.SYSTEM, dict.fromkeys(ids, given))
    say_changed(change, json_)


@responses_app.command("set")
def responses_set(
    file: File,
    system: Annotated[str, typer.Option(help="Name of the system")],
    item: Items = None,
    trial: Annotated[int, typer.Option(min=0, help="Only this run; 0 for all")] = 0,
    mode: Annotated[str, typer.Option(help="Only this mode; all by default")] = "",
    collected_on: Annotated[str | None, typer.Option(help="Day of collection, 2025-03-24")] = None,
    product_version: Annotated[str | None, typer.Option(help="Version of the product or model")] = None,
    settings: Annotated[str | None, typer.Option(help="How it was asked: modes, options, replies")] = None,
    collected_by: Annotated[str | None, typer.Option(help="Who collected the reports")] = None,
    cutoff: Annotated[
        str | None, typer.Option(help="Last day of publication it was asked to keep to, 2025-03-24")
    ] = None,
    json_: Json = False,
) -> None:
    """Say when, in which version, how and by whom a system's reports were collected, in one act."""
    from annotator.actions.items import materials

    given = given_of(
        collected_on=collected_on, product_version=product_version, settings=settings, collected_by=collected_by,
        cutoff=cutoff,
    )  # fmt: skip
    with opened(file) as project:
        ids = materials.responses_of(project, system, items=item or (), trial=trial, mode=mode)
        change = materials.describe(project, materials.Thing.RESPONSE, dict.fromkeys(ids, given))
    say_changed(change, json_)


writing_app = typer.Typer()


@writing_app.command()
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
    from annotator.actions.material import responding
    from annotator.actions.runs.judge_cases import RunRequest

    manner = responding.research_name(
        rounds=rounds, queries=queries, per_query=per_query, keep=keep, words=words, oracle=oracle
    )
    order = RunRequest(
        judge=judge, protocol=manner, systems=(system.strip(),), items=tuple(item or ()), trials=trials,
        concurrency=concurrency, timeout_s=timeout, budget_usd=budget, corpus=str(corpus or ""),
    )  # fmt: skip
    order_carried_out(file, order, progress=progress, json_=json_, estimate=estimate)
