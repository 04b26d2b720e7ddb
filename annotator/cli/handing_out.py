"""Command for assignments: a plan, previewed or assigned."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

import typer

from annotator.cli.saying import As, File, Json, opened, say
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.counting import counted
from annotator.domain.texts.moments import local
from annotator.domain.texts.refusal import Refusal

app = typer.Typer()
reviews_app = typer.Typer(
    help="Reviews of drafts: list, begin them, fill in their form, answer them.", no_args_is_help=True
)
ItemKey = Annotated[str, typer.Option("--item", help="The item's key", show_default=False)]
KindName = Annotated[Kind, typer.Option("--kind", help="What is reviewed", show_default=False)]
Several = list[str] | None
Protocols = Annotated[
    Several,
    typer.Option(help="Protocol to label by, with --stage labelling; repeatable. By default coverage"),
]
Day = Annotated[datetime | None, typer.Option(help="Due by the end of this day", formats=["%Y-%m-%d"])]
Reviewed = Annotated[
    list[Stage] | None,
    typer.Option(
        help="Stage in which one or two others review the first person's draft, not blind; repeatable"
    ),
]
Share = Annotated[float, typer.Option(help="Share of each person's labelling that is repeated", min=0, max=1)]
Anew = Annotated[bool, typer.Option("--each-stage-anew", help="Draw the people for each stage independently")]


@app.command()
def assign(
    file: File,
    stage: Annotated[list[Stage] | None, typer.Option(help="Stage to hand out; repeatable")] = None,
    overlap: Annotated[int, typer.Option(help="Number of people per stage of each item", min=1)] = 2,
    annotator: Annotated[Several, typer.Option(help="Annotator: an id or an alias")] = None,
    adjudicator: Annotated[Several, typer.Option(help="Adjudicator: an id or an alias")] = None,
    item: Annotated[
        Several, typer.Option(help="Item key; by default, without --item and --pilot, every item")
    ] = None,
    due: Day = None,
    seed: Annotated[int, typer.Option(help="The same seed draws the same plan", min=0)] = 0,
    pilot: Annotated[Several, typer.Option(help="Key of a pilot item, assigned to everyone")] = None,
    protocol: Protocols = None,
    reviewed: Reviewed = None,
    repeat_share: Share = 0.0,
    repeat_after: Annotated[int, typer.Option(help="Days before the repeat", min=0)] = 10,
    each_stage_anew: Anew = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan, assign nothing")] = False,
    as_: As = "",
    json_: Json = False,
) -> None:
    """Distribute work evenly, including blind pairs and adjudicators; exit code 1 if the plan cannot be met.

    Existing assignments stay and are counted. An item's adjudicator is never one of its annotators.
    """
    from annotator.actions.assignments import assignments, planning
    from annotator.actions.project import people
    from annotator.domain.experts.sharing import AssignmentPlan

    if Stage.ADJUDICATION in (stage or ()):
        raise Refusal(
            "Adjudication cannot be handed out as a stage.", "Name the adjudicators with --adjudicator."
        )
    with opened(file, readonly=dry_run, person=as_) as project:
        ids = {name: _ids(project, keys) for name, keys in (("items", item), ("pilot_items", pilot))}
        who = {
            name: tuple(people.known(project, one).id for one in given or ())
            for name, given in (("annotators", annotator), ("adjudicators", adjudicator))
        }
        plan = AssignmentPlan(
            stages=tuple(stage or ()),
            overlap=overlap,
            due=local(due.replace(hour=23, minute=59)) if due else None,
            seed=seed,
            repeat_share=repeat_share,
            repeat_after_days=repeat_after,
            same_people=not each_stage_anew,
            protocols=tuple(protocol or ()),
            reviewed=tuple(reviewed or ()),
            **who,
            **ids | ({} if item or pilot else {"items": _ids(project, None, whole=True)}),
        )
        found = planning.preview(project, plan)
        if not dry_run:
            assignments.assign(project, plan)
    say({"dry_run": dry_run, **asdict(found)}, json_, _words(found, dry_run))
    if found.refusals:
        raise typer.Exit(1)


def _ids(project: Any, keys: Sequence[str] | None, *, whole: bool = False) -> tuple[str, ...]:
    """The ids of the items of these keys, or of every item."""
    from annotator.actions.items import items

    return tuple(items.ids(project) if whole else items.ids_of(project, keys or (), in_use=True))


def _words(found: Any, dry_run: bool) -> list[str]:
    if found.refusals:
        return ["This plan cannot be met; nothing was assigned.", *(f"  {words}" for words in found.refusals)]
    said = [
        f"{'Would assign' if dry_run else 'Assigned'} {counted(found.new, 'piece')} of work",
        *found.notes,
    ]
    said += [f"  {load.alias}: {_load(load)}" for load in found.load]
    met = [pair.items for pair in found.pairings if pair.items]
    if met:
        said.append(_meeting(met))
    return said


def _load(load: Any) -> str:
    parts = [counted(load.items, "item"), f"{counted(load.assignments, 'piece')} ({load.new} new)"]
    parts += [f"{load.adjudications} to adjudicate"] if load.adjudications else []
    parts += [counted(load.repeats, "repeat")] if load.repeats else []
    return ", ".join(parts)


def _meeting(items: list[int]) -> str:
    least, most = min(items), max(items)
    each = counted(most, "item") if least == most else f"{least} to {most} items"
    meet = "pair of people meets" if len(items) == 1 else "pairs of people meet"
    return f"{len(items):,} {meet}, on {each}{' each' if len(items) > 1 else ''}"


@reviews_app.command("list")
def reviews_list(file: File, as_: As = "", json_: Json = False) -> None:
    """List the reviews that concern a person, with what changed unit by unit; all of them for coordinators."""
    from annotator.actions.assignments import reviewing

    with opened(file, readonly=True, person=as_) as project:
        found = [
            (line, reviewing.units(project, line.review) if line.review else [])
            for line in reviewing.lines(project)
        ]
    tree = [
        {
            "item": line.item_key, "kind": line.kind.value, "author": line.author, "reviewer": line.reviewer,
            "blind": False, "state": line.state,
            "review": line.review.model_dump(mode="json", exclude={"draft"}) if line.review else None,
            "units": [asdict(unit) for unit in units],
        }
        for line, units in found
    ]  # fmt: skip
    words = [
        f"Item {line.item_key}, {line.kind.value}: drafted by {line.author or 'nobody yet'}, "
        f"reviewed by {line.reviewer}, not blind; {line.state}"
        for line, _ in found
    ]
    say({"reviews": tree}, json_, words or ["No reviews."])


@reviews_app.command("begin")
def reviews_begin(file: File, item: ItemKey, kind: KindName, as_: As = "", json_: Json = False) -> None:
    """Begin a review that a person is asked for: their document starts as the draft, edited on the Author page."""
    from annotator.actions.assignments import reviewing

    with opened(file, person=as_) as project:
        change = reviewing.begin(project, _ids(project, [item])[0], kind)
    say({"artifact": change.subject}, json_, [f"Began the review as {change.subject}"])


@reviews_app.command("form")
def reviews_form(
    file: File,
    item: ItemKey,
    kind: KindName,
    question: Annotated[
        str, typer.Option(help="A question of the form; an invalid one lists them", show_default=False)
    ],
    value: Annotated[str, typer.Option(help="yes, partly or no")],
    words: Annotated[str, typer.Option(help="Remark beside it")] = "",
    as_: As = "",
    json_: Json = False,
) -> None:
    """Answer a question of the review form."""
    from annotator.actions.assignments import reviewing

    with opened(file, person=as_) as project:
        review = _review(project, item, kind)
        reviewing.fill_in(project, review.artifact_id, question, value, words)
        left = _review(project, item, kind).open_questions
    say({"open": left}, json_, [f"Answered {question}; open: {', '.join(left) or 'none'}"])


@reviews_app.command("answer")
def reviews_answer(
    file: File,
    item: ItemKey,
    kind: KindName,
    agree: Annotated[bool, typer.Option("--agree/--disagree", help="Whether the author agrees")],
    words: Annotated[str, typer.Option(help="The answer in words; needed to disagree")] = "",
    as_: As = "",
    json_: Json = False,
) -> None:
    """Answer a review as the author of the draft; a review that is agreed with is settled."""
    from annotator.actions.assignments import reviewing

    with opened(file, person=as_) as project:
        reviewing.answer(project, _review(project, item, kind).artifact_id, agree, words)
    say(
        {"agreed": agree},
        json_,
        ["Agreed: the reviewed document is settled" if agree else "Answered: not agreed"],
    )


def _review(project: Any, key: str, kind: Kind) -> Any:
    from annotator.actions.assignments import reviewing

    found = [line.review for line in reviewing.lines(project) if (line.item_key, line.kind) == (key, kind)]
    if not any(found):
        raise Refusal("There is no such review yet.", "See goldsmith reviews list FILE.")
    return next(one for one in found if one)
