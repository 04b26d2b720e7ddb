"""Commands for items: listing them, adding and changing them, retiring them, applying their selection."""

import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli.saying import As, File, Json, opened, say
from annotator.domain.texts.counting import counted

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
def list_(
    file: File,
    words: Annotated[str, typer.Option(help="Only items with these words")] = "",
    retired: Annotated[bool, typer.Option("--retired", help="List the retired items instead")] = False,
    json_: Json = False,
) -> None:
    """List the items in the project's order."""
    from annotator.actions.items import items

    with opened(file, readonly=True) as project:
        ids = items.ids(project, items.Filter(words=words, retired=retired))
        found = [items.read(project, item_id) for item_id in ids]
    said = [
        "  ".join(filter(None, (one.key, one.question_type, one.subject, one.question[:90]))) for one in found
    ]
    trees = [
        {name: getattr(one, name) for name in ("key", *COLUMNS, "working_title", "retired")} for one in found
    ]
    say({"items": trees}, json_, said or ["No items."])


@app.command()
def add(
    file: File,
    question: Annotated[str, typer.Option(help="What the systems are asked; - for input")],
    key: Annotated[str, typer.Option(help="Key; by default the next free number")] = "",
    type_: Annotated[str, typer.Option("--type", help="Question type")] = "",
    subject: Annotated[str, typer.Option(help="Subject or domain")] = "",
    language: Annotated[str, typer.Option(help="Language of the question, such as en or zh-Hans")] = "en",
    dataset: Annotated[str, typer.Option(help="Collection that it belongs to")] = "",
    as_: As = "",
    json_: Json = False,
) -> None:
    """Add an item and print its key; a question that is there (under this key, if one is given) is not added again."""
    from annotator.actions.items import items

    more = {"question_type": type_, "subject": subject, "language": language, "dataset": dataset}
    with opened(file, person=as_) as project:
        asked = sys.stdin.read() if question == "-" else question
        found, new = items.add_once(project, key.strip(), asked.strip(), more)
    there = f"{'Retired item' if found.retired else 'Item'} {found.key} has this question: nothing was added."
    say({"key": found.key, "added": new}, json_, [f"Added item {found.key}." if new else there])


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
    as_: As = "",
    json_: Json = False,
) -> None:
    """Change items in one act that can be undone; what is not named stays."""
    given = {
        "question": question, "question_type": type_, "subject": subject, "origin": origin,
        "contributor": contributor, "collected": collected, "dataset": dataset,
    }  # fmt: skip
    fields = {name: value.strip() for name, value in given.items() if value is not None}
    traits = {
        name: value for name, value in (("phase", phase), ("difficulty", difficulty)) if value is not None
    }
    _change(file, keys, fields, as_, json_, traits)


@app.command()
def retire(file: File, keys: Keys, as_: As = "", json_: Json = False) -> None:
    """Set items aside: they are no longer handed out, judged, scored or released, and nothing of them is lost."""
    _change(file, keys, {"retired": True}, as_, json_)


@app.command()
def restore(file: File, keys: Keys, as_: As = "", json_: Json = False) -> None:
    """Bring retired items back with all that belongs to them."""
    _change(file, keys, {"retired": False}, as_, json_)


def _change(
    file: Any,
    keys: list[str],
    fields: dict[str, Any],
    as_: str,
    json_: bool,
    traits: dict[str, str] | None = None,
) -> None:
    from annotator.actions.items import items
    from annotator.domain.kinds.tasks import checked_traits

    said = checked_traits(traits or {})
    with opened(file, person=as_) as project:
        values = dict.fromkeys(items.ids_of(project, keys), fields)
        for item_id in values if said else ():
            held = {**items.read(project, item_id).traits, **said}
            kept = {name: value for name, value in held.items() if value}
            values[item_id] = fields | {"traits": kept}
        change = items.change_all(project, values)
    done = len(items.changed_by(change))
    say({"changed": done, "verb": change.verb}, json_, [f"{counted(done, 'item')} changed."])


@app.command("apply-selection")
def apply_selection(file: File, as_: As = "", json_: Json = False) -> None:
    """Retire every item that its raters left below the bar: it leaves all scores; one act, which can be undone."""
    from annotator.actions.items import items
    from annotator.actions.studies import selection_ratings

    with opened(file, person=as_) as project:
        change = selection_ratings.apply(project)
        left = items.count(project)
        keys = [items.read(project, item_id).key for item_id in items.changed_by(change)]
    words = f"{counted(len(keys), 'item')} retired: {', '.join(keys)}. {counted(left, 'item')} in use."
    say({"retired": keys, "in_use": left}, json_, [words])


@app.command()
def bar(
    file: File,
    at: Annotated[str, typer.Option("--set", help="Another mean, as the next version of the guideline")] = "",
    as_: As = "",
    json_: Json = False,
) -> None:
    """Show the mean rating at which an item is kept, or set another."""
    from annotator.actions.authoring import question_types

    with opened(file, readonly=not at, person=as_) as project:
        if at:
            question_types.set_bar(project, at)
        found = question_types.bar(project)
    say({"bar": found}, json_, [f"Items are kept at {found:g} or more."])


@app.command()
def funnel(file: File, as_: As = "", json_: Json = False) -> None:
    """Count how many items of each origin came how far."""
    from annotator.actions.studies import selection_ratings
    from annotator.cli.tables import print_sheets

    with opened(file, readonly=True, person=as_) as project:
        found = selection_ratings.report(project)
    sheets = [sheet for sheet in selection_ratings.sheets(found) if sheet.key == "funnel"]
    if json_ or not sheets:
        lines = [asdict(line) for line in found.funnel]
        say({"funnel": lines, "bar": found.bar}, json_, ["No item has an origin or a rating yet."])
    print_sheets([] if json_ else sheets)


@final_app.command("list")
def final_list(
    file: File,
    open_: Annotated[bool, typer.Option("--open", help="Only items with an open check or a problem")] = False,
    json_: Json = False,
) -> None:
    """List the final pass item by item: what was found, who signed, and what the program noticed."""
    from annotator.actions.items import final_pass

    with opened(file, readonly=True) as project:
        found = [one for one in final_pass.overview(project) if one.open or not open_]
    tree = [
        {
            "item": one.key, "open": one.open, "noticed": dict(one.hints),
            "checks": {name: check.model_dump(mode="json") for name, check in one.checks.items()},
        }
        for one in found
    ]  # fmt: skip
    words = [f"{one.key}: {_final(one.open, one.hints)}" for one in found]
    say({"items": tree}, json_, words or ["Nothing is open."])


def _final(open_: list[str], hints: Mapping[str, str]) -> str:
    said = f"open: {', '.join(open_)}" if open_ else "done"
    return "; ".join([said, *(f"{name} {words}" for name, words in hints.items())])


@final_app.command("sign")
def final_sign(
    file: File,
    keys: Keys,
    check: Annotated[str, typer.Option(help="links, identifiers, content, leak or corrigenda")],
    state: Annotated[
        str, typer.Option(help="passed, problem, not applicable; open takes it back")
    ] = "passed",
    note: Annotated[str, typer.Option(help="What was found; needed for a problem")] = "",
    as_: As = "",
    json_: Json = False,
) -> None:
    """Sign what was looked for in items before the release."""
    from annotator.actions.items import final_pass, items

    with opened(file, person=as_) as project:
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
def pilot(
    file: File,
    to: Annotated[
        Path | None, typer.Option(help="A Markdown file to write; otherwise it is shown", show_default=False)
    ] = None,
    as_: As = "",
    json_: Json = False,
) -> None:
    """Summarize the pilot: agreement, time, remarks and guidelines of the items that everybody did first."""
    from annotator import files
    from annotator.actions.agreement import pilot_summary

    with opened(file, readonly=True, person=as_) as project:
        found = pilot_summary.summary(project)
    if to is not None:
        files.save(to, found.encode())
    say({"summary": found}, json_, [f"Wrote {to}"] if to else found.splitlines())


@app.command()
def types(file: File, json_: Json = False) -> None:
    """Show the question types, what they are, and on which dimensions questions are rated.

    They stand in the guideline of the selection, where a coordinator edits them: each is a section.
    """
    from annotator.actions.authoring import question_types

    with opened(file, readonly=True) as project:
        found = question_types.types(project)
    words = []
    for one in found:
        words += [
            one.name,
            f"  {one.definition}",
            *(f"  - {each.name}: {each.definition}" for each in one.dimensions),
        ]
    say({"types": [asdict(one) for one in found]}, json_, words)
