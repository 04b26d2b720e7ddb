"""Commands for drafts by a model: requesting, showing, accepting and refusing them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli.carrying import Shown, order_carried_out, say_forecast
from annotator.cli.options import Budget, Concurrency, Timeout
from annotator.cli.saying import As, File, Json, opened, said, say
from annotator.domain.texts.counting import counted

app = typer.Typer(help="A model's drafts for you; nobody else sees them.", no_args_is_help=True)

rubrics_app = typer.Typer(
    help="Rubric sets: other rubrics for the same items, to judge by and to compare.", no_args_is_help=True
)

Draft = Annotated[
    str, typer.Argument(help="The draft, by the key of its item or the first letters of its id")
]
OfKind = Annotated[str, typer.Option("--kind", help="Which draft, where an item has drafts of several kinds")]


@app.command()
def ask(
    file: File,
    judge: Annotated[str, typer.Option("--judge", help="The judge whose endpoint writes the draft")],
    kind: Annotated[
        str,
        typer.Option(
            help="classification, insights, reference, rubric, diagnostics, nuggets, checklist, inspirations or tasks"
        ),
    ],
    item: Annotated[list[str], typer.Option("--item", help="Item key; repeatable")],
    person: As = "",
    concurrency: Concurrency = 4,
    timeout: Timeout = 600.0,
    budget: Budget = None,
    piece_words: Annotated[
        int, typer.Option(help="Of inspirations: words of a piece of the transcript; 0 for the usual 1500")
    ] = 0,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Estimate calls, tokens and cost, without making a call")
    ] = False,
    progress: Shown = "bar",
    json_: Json = False,
) -> None:
    """Have a model draft from an item's sources; the draft is a proposal until you take it, unit by unit.

    A checklist is drafted from the task alone: settle it before you look at any report. A classification is drafted
    from the question and the project's types: it proposes a type and a subject.
    """
    from annotator.actions.material import draft_runs
    from annotator.actions.runs.judge_cases import RunRequest

    order = RunRequest(
        judge=judge, protocol=draft_runs.protocol_name(draft_runs.kind_of(kind)), items=tuple(item),
        concurrency=concurrency, timeout_s=timeout, budget_usd=budget, piece_words=piece_words,
    )  # fmt: skip

    if estimate:
        say_forecast(file, order, json_=json_, person=person)
        return
    order_carried_out(file, order, progress=progress, json_=json_, person=person)


@app.command("list")
def list_(file: File, person: As = "", json_: Json = False) -> None:
    """List your open drafts and their units."""
    from annotator.actions.items import items
    from annotator.actions.material import drafting_by_model

    with opened(file, readonly=True, person=person) as project:
        found = [
            {**_told(one), "item": items.read(project, one.item_id).key}
            for one in drafting_by_model.proposals(project)
        ]
    words = [line for one in found for line in _lines(one)]
    say({"drafts": found}, json_, words or ["You have no open drafts."])


@app.command()
def take(
    file: File,
    draft: Draft,
    unit: Annotated[
        list[int] | None, typer.Option("--unit", help="Number of a unit; by default all remaining units")
    ] = None,
    text: Annotated[
        Path | None,
        typer.Option(help="For reference material: file with your edited text on what the sources say"),
    ] = None,
    beyond: Annotated[
        Path | None,
        typer.Option(
            help="For reference material: file with your edited text on what goes beyond the sources"
        ),
    ] = None,
    type_: Annotated[
        str | None, typer.Option("--type", help="For a classification: this type instead")
    ] = None,
    subject: Annotated[str | None, typer.Option(help="For a classification: this subject instead")] = None,
    kind: OfKind = "",
    person: As = "",
) -> None:
    """Copy units of a draft into your document, whose history records their origin.

    Reference material is taken as a whole and becomes a source of its item; of a classification the item gets the type
    and the subject.
    """
    from annotator.actions.material import drafting_by_model, reference_material
    from annotator.domain.material.writer_aid import WriterAid
    from annotator.domain.texts.refusal import Refusal

    with opened(file, person=person) as project:
        found = drafting_by_model.found(project, draft, kind)
        whole = found.kind is WriterAid.REFERENCE
        filed = found.kind is WriterAid.CLASSIFICATION
        if unit and (whole or filed):
            raise Refusal("That draft is taken as a whole.", "Leave --unit out.")
        if (type_ or subject) and not filed:
            raise Refusal("Only a classification has a type and subject.", "Leave --type and --subject out.")
        if (text or beyond) and not whole:
            raise Refusal("Only reference material is taken from a file.", "Leave --text and --beyond out.")
        if filed:
            said.print(_classified(project, found, type_, subject), markup=False)
            return
        if whole:
            made = reference_material.confirm(project, found.id, _read(text), _read(beyond))
            said.print(f"“{made.after['title']}” is now a source of the item.", markup=False)
            return
        wanted = drafting_by_model.numbered(found, unit or [])
        change = drafting_by_model.take(project, found.id, wanted)
        count = len(change.after["from_draft"]["units"])
    said.print(f"{count} of the draft's units are now in your {found.kind.value}.", markup=False)


def _classified(project: Any, draft: Any, type_: str | None, subject: str | None) -> str:
    """Set what a draft proposes, or what is said instead, and tell what the item has now."""
    from annotator.actions.items import items
    from annotator.actions.material import classifying

    named = {"question_type": type_, "subject": subject}
    classifying.confirm(
        project, draft.id, {name: words for name, words in named.items() if words is not None}
    )
    item = items.read(project, draft.item_id)
    return f"Item {item.key}: {item.question_type}, {item.subject}."


@app.command()
def refuse(file: File, draft: Draft, kind: OfKind = "", person: As = "") -> None:
    """Dismiss the rest of a draft."""
    from annotator.actions.material import drafting_by_model

    with opened(file, person=person) as project:
        drafting_by_model.refuse(project, drafting_by_model.found(project, draft, kind).id)
    said.print("The draft is dismissed.", markup=False)


def _read(path: Path | None) -> str | None:
    """The words of a file, which may be empty; None where none is named."""
    from annotator.exchange.texts import documents

    if path is None:
        return None
    if path.is_file() and not path.stat().st_size:
        return ""
    return documents.plain_text(documents.read(path), path.name)


def _told(one: Any) -> dict[str, Any]:
    return {
        "id": one.id,
        "kind": one.kind.value,
        "judge": one.source.judge,
        "model": one.source.model,
        "at": one.at.isoformat(),
        "units": [
            {"number": number, "taken": unit.id in one.taken, **unit.model_dump(mode="json")}
            for number, unit in enumerate(one.document.units, start=1)
        ],
    }


def _lines(told: dict[str, Any]) -> list[str]:
    head = f"{told['id'][:8]}  {told['kind']} of item {told['item']} by {told['model'] or told['judge']}"
    units = [
        f"  {unit['number']}. {_filed(unit)}{unit['text']}{' (taken)' if unit['taken'] else ''}"
        for unit in told["units"]
    ]
    return [head, *units]


def _filed(unit: dict[str, Any]) -> str:
    """The type and the subject of a unit that proposes them."""
    return f"{unit['question_type']}, {unit['subject']}: " if "question_type" in unit else ""


@rubrics_app.command("list")
def rubrics_list(file: File, json_: Json = False) -> None:
    """List all rubric sets with their items and criteria; the one that reports are judged by is marked.

    A model writes one by: judge extract --extraction researcherbench.rubric.dimensions (or ….reference).
    """
    from annotator.actions.items import named_rubrics
    from annotator.actions.studies import rubric_sets

    with opened(file, readonly=True) as project:
        now = named_rubrics.in_force(project) or named_rubrics.OWN
        found: list[dict[str, Any]] = [
            {
                "set": name, "items": len(of), "criteria": sum(len(one.units) for one in of.values()),
                "in_force": name == now,
            }
            for name, of in rubric_sets.sets(project).items()
        ]  # fmt: skip
    words = [
        f"{one['set']}: {counted(one['items'], 'item')}, {counted(one['criteria'], 'criterion', 'criteria')}"
        + (", in force" if one["in_force"] else "")
        for one in found
    ]
    say({"sets": found}, json_, words or ["There are no rubrics yet."])


@rubrics_app.command("use")
def rubrics_use(
    file: File,
    name: Annotated[str, typer.Argument(help="A named set, or “settled” for the experts' own rubrics")],
    as_: As = "",
    json_: Json = False,
) -> None:
    """Have reports judged, labelled and scored by a set from now on; all verdicts by others stay."""
    from annotator.actions.items import named_rubrics

    with opened(file, person=as_) as project:
        named_rubrics.use(project, name)
    say({"in_force": name}, json_, [f"Reports are now judged, labelled and scored by “{name}”."])


@rubrics_app.command("keep")
def rubrics_keep(
    file: File,
    name: Annotated[str, typer.Argument(help="The name of the set")],
    of: Annotated[
        str, typer.Option("--of", help="Copy this set: settled, drafted, or an author's alias")
    ] = "",
    path: Annotated[
        Path | None,
        typer.Option(
            "--from", help="CSV with item, criterion and weight; or JSON: item key → list of {text, weight}"
        ),
    ] = None,
    as_: As = "",
    json_: Json = False,
) -> None:
    """Keep a rubric set under a name: a copy of another one, or from a file."""
    from annotator.actions.releases import rubric_set_files
    from annotator.actions.studies import rubric_sets
    from annotator.domain.texts.refusal import Refusal

    if bool(of) == bool(path):
        raise Refusal("A set is either copied or read from a file.", "Give --of or --from.")
    with opened(file, person=as_) as project:
        made = rubric_set_files.keep(project, name, path) if path else rubric_sets.keep(project, name, of)
    say(made.after, json_, [f"Kept “{name}”: {counted(made.after['items'], 'item')}."])


@rubrics_app.command("write")
def rubrics_write(
    file: File,
    name: Annotated[str, typer.Argument(help="The set: settled, drafted, an author's alias, or a named one")],
    to: Annotated[Path, typer.Option("--to", help="The file: NAME.csv or NAME.json")],
    as_: As = "",
) -> None:
    """Write a rubric set into a file, so that people can weigh its criteria; keep --from takes it back."""
    from annotator.actions.releases import rubric_set_files

    with opened(file, readonly=True, person=as_) as project:
        many = rubric_set_files.write(project, name, to)
    said.print(f"{counted(many, 'criterion', 'criteria')} of “{name}” are in {to.name}.", markup=False)
