"""Command for assignments: a plan, previewed or assigned."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

import typer

from annotator.cli.saying import As, File, Json, opened, say
from annotator.domain.experts.assignment import Stage
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal

app = typer.Typer()
Several = list[str] | None
Protocols = Annotated[
    Several,
    typer.Option(help="Protocol to label by, with --stage labelling; repeatable. By default coverage"),
]
Day = Annotated[datetime | None, typer.Option(help="Due by the end of this day", formats=["%Y-%m-%d"])]
# So many unknown keys are named.
NAMED = 8


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
    repeat_share: Annotated[
        float, typer.Option(help="Share of each person's labelling that is repeated", min=0, max=1)
    ] = 0.0,
    repeat_after: Annotated[int, typer.Option(help="Days before the repeat", min=0)] = 10,
    each_stage_anew: Annotated[
        bool, typer.Option("--each-stage-anew", help="Draw the people for each stage independently")
    ] = False,
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
            due=due.replace(hour=23, minute=59).astimezone() if due else None,
            seed=seed,
            repeat_share=repeat_share,
            repeat_after_days=repeat_after,
            same_people=not each_stage_anew,
            protocols=tuple(protocol or ()),
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

    every = items.ids(project)
    if whole:
        return tuple(every)
    known = {line.key: line.id for line in items.lines(project, every)} if keys else {}
    strange = [key for key in keys or () if key not in known]
    if strange:
        raise Refusal(
            "Some of these are not item keys.", "Nothing was assigned.", details=tuple(strange[:NAMED])
        )
    return tuple(known[key] for key in keys or ())


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
    return f"{len(items)} {meet}, on {each}{' each' if len(items) > 1 else ''}"
