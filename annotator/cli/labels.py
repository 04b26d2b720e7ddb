"""Commands for label files, and for submitting labels and documents."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli.saying import (
    REFUSED,
    File,
    Json,
    NamingLayouts,
    bar,
    changing,
    changing_by,
    opened,
    progress_bars,
    protocol_of,
    reading,
    say,
)
from annotator.domain.common import Refusal, counted, local
from annotator.domain.kinds.kind import Kind, Stage, State

app = typer.Typer(help="Import, submit and export labels.", no_args_is_help=True)
authoring_app = typer.Typer(
    help="Rubrics, plans and other documents that a person writes.", no_args_is_help=True
)
_OF_QUESTION = re.compile(r"Q?(?P<number>-?\d{1,18})=(?P<system>.+)")


@app.command("import", cls=NamingLayouts)
def labels_import(
    file: File,
    paths: Annotated[
        list[Path],
        typer.Argument(help="CSV or JSON files, or {label_files}", show_default=False),
    ],
    system: Annotated[
        list[str] | None,
        typer.Option(help="System that wrote the reports, if the files do not say; or 3=NAME for question 3"),
    ] = None,
    who: Annotated[
        list[str] | None,
        typer.Option(
            "--as",
            help="NAME=ALIAS: the person behind a rater in the files; an id or alias alone: the person at work",
        ),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option(
            "--protocol",
            help="Protocol, if the files do not say; else the one that the project goes by",
            show_default=False,
        ),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be imported, without importing")
    ] = False,
    as_drafts: Annotated[
        bool,
        typer.Option("--as-drafts", help="Import as drafts: labels count only once their rater submits them"),
    ] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Skip invalid labels and import the rest")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace existing labels of the same person")
    ] = False,
    json_: Json = False,
) -> None:
    """Import labels as finished work: all of them or none; a repeated import adds nothing. For coordinators.

    Raters that the project knows by that id, alias or name need no --as.
    """
    from annotator.actions.imports import label_files, label_matching

    at_work, names = _whose(who or ())
    every, by_question = _systems(system or ())
    options = label_files.LabelImportOptions(
        label_matching.aliases_of(names),
        every,
        by_question,
        protocol_of(file, protocol),
        skip_bad=skip_bad,
        replace=replace,
        drafts=as_drafts,
    )
    with opened(file, readonly=dry_run, person=at_work) as project, progress_bars() as bars:
        if dry_run:
            report = label_files.preview(project, paths, options)
        else:
            _, report = label_files.run(project, paths, options, bar(bars))
    say(_tree(report, dry_run), json_, [*report.words(), *map(str, report.problems)])


def _whose(words: Iterable[str]) -> tuple[str, list[str]]:
    listed = list(words)
    at_work = [one for one in listed if "=" not in one]
    if len(at_work) > 1:
        raise Refusal("Only one person can be at work.", "Write NAME=ALIAS to identify a rater in the files.")
    return (at_work or [""])[0], [one for one in listed if "=" in one]


def _systems(words: Iterable[str]) -> tuple[str, dict[str, str]]:
    every, by_question = "", dict[str, str]()
    for one in words:
        named = _OF_QUESTION.fullmatch(one)
        if named:
            by_question[named["number"]] = named["system"]
        elif every:
            raise Refusal(
                "Only one system can be named for all reports.", "Write 3=NAME for the system of question 3."
            )
        else:
            every = one
    return every, by_question


def _tree(report: Any, dry_run: bool) -> dict[str, Any]:
    def plain(problems: Iterable[Any]) -> list[dict[str, Any]]:
        names = ("trouble", "file", "row", "reason", "labels")
        return [{name: getattr(problem, name) for name in names} for problem in problems]

    raters = [
        {"name": rater.name, "id": rater.person.id, "alias": rater.person.alias, "new": rater.new}
        for rater in report.raters
    ]
    return {
        "dry_run": dry_run,
        "new": report.new,
        "filled": report.filled,
        "same": report.same,
        "drafts": report.drafts,
        "replaced": plain(report.replaced),
        "counts": report.counts,
        "problems": plain(report.problems),
        "notes": list(report.notes),
        "raters": raters,
    }


@app.command("submit")
@changing
def labels_submit(
    project: Any,
    person: Annotated[
        list[str] | None,
        typer.Option(help="Only this person's labels: an id or an alias; repeatable. By default everyone's"),
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Submit even if labels are missing; they stay missing")
    ] = False,
    json_: Json = False,
) -> None:
    """Submit labels given in this project, item by item: coordinators anyone's, others their own.

    Exit code 3 if labels are missing and the rest was therefore not submitted.
    """
    from annotator.actions.labelling import label_sealing
    from annotator.actions.project import people

    whose = [people.known(project, one).id for one in person or ()] or people.answerable(project)
    done, left = (
        [(_standing(one), asdict(one)) for one in listed]
        for listed in label_sealing.submit_all(project, whose, partial=partial)
    )
    _say_submitted(
        done,
        left,
        json_,
        "Add the missing labels, or submit without them with --partial.",
        "No labels to submit.",
    )


@authoring_app.command("submit")
@changing
def authoring_submit(
    project: Any,
    keys: Annotated[
        list[str] | None, typer.Argument(help="Keys of items; by default all", show_default=False)
    ] = None,
    kind: Annotated[
        list[Kind] | None,
        typer.Option(help="Only this kind of document; repeatable. By default all but labels"),
    ] = None,
    reason: Annotated[
        str, typer.Option(help="Submit in spite of warnings, for this reason; errors must be corrected")
    ] = "",
    json_: Json = False,
) -> None:
    """Submit a person's own documents, each unless something is missing or remarked on, which is then listed.

    Exit code 3 if a document was not submitted, or an item that is named has none that is open.
    """
    from annotator.actions.assignments import assignments
    from annotator.actions.authoring import annotating
    from annotator.actions.items import items
    from annotator.actions.undo import history

    done, left = list[Any](), list[Any]()
    ids = items.ids_of(project, keys, in_use=True) if keys else items.ids(project)
    history.recover(project)
    for item in (items.read(project, item_id) for item_id in dict.fromkeys(ids)):
        mine = [
            artifact
            for artifact in annotating.artifacts_of(project, item.id)
            if (artifact.author_id, artifact.state) == (project.by, State.DRAFT)
            and artifact.kind is not Kind.LABELS
            and (not kind or artifact.kind in kind)
        ]
        if keys and not mine:
            why = "You have no open document here: none is begun, or all are submitted."
            left.append((f"item {item.key}\n  {why}", {"item": item.key, "kind": "", "reasons": (why,)}))
        for one in mine:
            words, tree = (
                f"{one.kind.value} of item {item.key}",
                {"item": item.key, "kind": one.kind.value},
            )
            try:
                assignments.submit(project, one, item, items.beside(project, item.id), reason.strip())
                done.append((words, tree))
            except Refusal as refusal:
                reasons = refusal.details or (str(refusal),)
                left.append(("\n  ".join((words, *reasons)), {**tree, "reasons": reasons}))
    _say_submitted(
        done,
        left,
        json_,
        "Correct what is listed, or leave warnings with --reason.",
        "No documents to submit.",
    )


@authoring_app.command("share-rest")
@changing
def authoring_share_rest(
    project: Any,
    key: Annotated[str, typer.Argument(help="Key of the item", show_default=False)],
    json_: Json = False,
) -> None:
    """Give the points of a person's own checklist that have no share equal parts of what the others leave of 1."""
    from annotator.actions.authoring import annotating, artifacts
    from annotator.actions.items import items

    (item_id,) = items.ids_of(project, [key], in_use=True)
    mine = [
        artifact.id
        for artifact in annotating.artifacts_of(project, item_id)
        if (artifact.author_id, artifact.kind) == (project.by, Kind.CHECKLIST)
    ]
    if not mine:
        raise Refusal(f"You have no checklist for item {key}.", "Begin one on the Author page, or import it.")
    artifacts.share_rest(project, mine[0])
    units = artifacts.read(project, mine[0]).document.units
    shares = [{"text": unit.words, "share": unit.share} for unit in units]
    say(
        {"item": key, "points": shares}, json_, [f"{share['share']:.4f}  {share['text']}" for share in shares]
    )


def _say_submitted(done: list[Any], left: list[Any], json_: bool, todo: str, nothing: str) -> None:
    """Print each submission in words or as JSON; exit code 3 if some were not submitted."""
    words = [f"Submitted: {words}" for words, _ in done] + [f"Not submitted: {words}" for words, _ in left]
    result = {"submitted": [tree for _, tree in done], "not_submitted": [tree for _, tree in left]}
    say(result, json_, [*words, *([todo] if left else [])] or [nothing], lacking=left)


def _standing(one: Any) -> str:
    missing = f", {counted(one.missing, 'label')} missing" if one.missing else ""
    return f"{one.alias}, item {one.item_key}: {counted(one.labelled, 'label')}{missing}"


@app.command("pairs")
@changing_by("draw")
def labels_pairs(
    project: Any,
    draw: Annotated[
        int,
        typer.Option(
            min=-1,
            max=1_000_000,
            help="Ask about so many pairs, drawn at random; 0 asks about all; without it they are shown",
        ),
    ] = -1,
    seed: Annotated[int, typer.Option(min=0, max=10_000_000, help="Seed of the draw")] = 1,
    protocol: Annotated[
        str, typer.Option(help="Protocol of pairs; by default the preferred of two", show_default=False)
    ] = "",
    json_: Json = False,
) -> None:
    """Draw the pairs of reports that people and judges compare, or show how many were drawn."""
    from annotator.actions.labelling import label_cases
    from annotator.protocols import PROTOCOLS

    protocol = protocol or [name for name in PROTOCOLS if label_cases.can_draw(name)][-1]
    if draw >= 0:
        label_cases.draw_pairs(project, protocol, draw, seed)
    result = label_cases.sampling(project, protocol)
    many = len(result.get("pairs", ()))
    words = (
        f"{counted(many, 'pair')} drawn (seed {result['seed']})." if result else "Every pair is asked about."
    )
    say({"protocol": protocol, **result}, json_, [words])


@app.command("into-gold")
@changing
def labels_into_gold(
    project: Any,
    protocol: Annotated[str, typer.Argument(help="Protocol of the labels")],
    rater: Annotated[
        str, typer.Option(help="Whose labels: the consensus, a person's alias or id, or a judge's name")
    ] = "consensus",
    json_: Json = False,
) -> None:
    """Make labels of what gold holds, such as important references, the gold's own. For coordinators.

    What was not labelled keeps what it has. Exit code 3 if gold of an item could not be changed.
    """
    from annotator.actions.sets import validation_ground

    result = validation_ground.take_over(project, protocol, rater)
    words = [
        f"Item {item.item_key}: {counted(item.labelled, 'unit')} labelled, {item.changed} changed"
        + (f"; not taken over: {item.why_not}" if item.why_not else "")
        for item in result
    ]
    tree = {"items": [asdict(item) for item in result]}
    say(tree, json_, words, lacking=any(item.why_not for item in result))


@app.command("export", cls=NamingLayouts)
@reading
def labels_export(
    project: Any,
    to: Annotated[Path, typer.Option(help="A .csv or .json file, or a folder for a benchmark's own layout")],
    format_: Annotated[
        str,
        typer.Option("--format", help="csv, json or {label_layouts}; by default from the file extension"),
    ] = "",
    protocol: Annotated[list[str] | None, typer.Option(help="Only this protocol; repeatable")] = None,
    person: Annotated[
        list[str] | None, typer.Option(help="Only this person's labels: an id or an alias; repeatable")
    ] = None,
    system: Annotated[list[str] | None, typer.Option(help="Only this system's reports; repeatable")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Include labels that are not submitted")] = False,
    judge: Annotated[
        str,
        typer.Option(
            help="With a benchmark's own layout: also write this judge's verdicts on the same reports"
        ),
    ] = "",
    json_: Json = False,
) -> None:
    """Write people's labels, each person under their alias. For coordinators."""
    from annotator.actions.imports import label_matching

    choice = label_matching.LabelSelection(
        tuple(protocol or ()), tuple(person or ()), tuple(system or ()), everything=everything, judge=judge
    )
    result = label_matching.export(project, to, format_, choice)
    words = [f"Wrote {counted(result.labels, 'label')} of {', '.join(result.raters)} to {result.path}"]
    say(
        {**asdict(result), "path": result.path.as_posix()},
        json_,
        [*words, *(f"Note: {note}" for note in result.notes)],
    )


handing_out_app = typer.Typer()
reviews_app = typer.Typer(
    help="Reviews of drafts: list, begin them, fill in their form, answer them.", no_args_is_help=True
)
ItemKey = Annotated[str, typer.Option("--item", help="The item's key", show_default=False)]
KindName = Annotated[Kind, typer.Option("--kind", help="What is reviewed", show_default=False)]
Several = list[str] | None


@handing_out_app.command()
def assign(
    file: File,
    stage: Annotated[list[Stage] | None, typer.Option(help="Stage to hand out; repeatable")] = None,
    overlap: Annotated[int, typer.Option(help="Number of people per stage of each item", min=1)] = 2,
    annotator: Annotated[Several, typer.Option(help="Annotator: an id or an alias")] = None,
    adjudicator: Annotated[Several, typer.Option(help="Adjudicator: an id or an alias")] = None,
    item: Annotated[
        Several, typer.Option(help="Item key; by default, without --item and --pilot, every item")
    ] = None,
    due: Annotated[
        datetime | None, typer.Option(help="Due by the end of this day", formats=["%Y-%m-%d"])
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed draws the same plan", min=0)] = 0,
    pilot: Annotated[Several, typer.Option(help="Key of a pilot item, assigned to everyone")] = None,
    protocol: Annotated[
        Several,
        typer.Option(help="Protocol to label by, with --stage labelling; repeatable. By default coverage"),
    ] = None,
    reviewed: Annotated[
        list[Stage] | None,
        typer.Option(
            help="Stage in which one or two others review the first person's draft, not blind; repeatable"
        ),
    ] = None,
    repeat_share: Annotated[
        float, typer.Option(help="Share of each person's labelling that is repeated", min=0, max=1)
    ] = 0.0,
    repeat_after: Annotated[int, typer.Option(help="Days before the repeat", min=0)] = 10,
    each_stage_anew: Annotated[
        bool, typer.Option("--each-stage-anew", help="Draw the people for each stage independently")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan, assign nothing")] = False,
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
    with opened(file, readonly=dry_run) as project:
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
        result = planning.preview(project, plan)
        if not dry_run:
            assignments.assign(project, plan)
    tree = {"dry_run": dry_run, **asdict(result)}
    say(tree, json_, _words(result, dry_run), lacking=result.refusals, code=REFUSED)


def _ids(project: Any, keys: Sequence[str] | None, *, whole: bool = False) -> tuple[str, ...]:
    from annotator.actions.items import items

    return tuple(items.ids(project) if whole else items.ids_of(project, keys or (), in_use=True))


def _words(outcome: Any, dry_run: bool) -> list[str]:
    if outcome.refusals:
        return [
            "This plan cannot be met; nothing was assigned.",
            *(f"  {words}" for words in outcome.refusals),
        ]
    sentences = [
        f"{'Would assign' if dry_run else 'Assigned'} {counted(outcome.new, 'piece')} of work",
        *outcome.notes,
        *(f"  {load.alias}: {_load(load)}" for load in outcome.load),
    ]
    met = [pair.items for pair in outcome.pairings if pair.items]
    if met:
        least, most = min(met), max(met)
        each = counted(most, "item") if least == most else f"{least} to {most} items"
        meet = "pair of people meets" if len(met) == 1 else "pairs of people meet"
        sentences.append(f"{len(met):,} {meet}, on {each}{' each' if len(met) > 1 else ''}")
    return sentences


def _load(load: Any) -> str:
    parts = [
        counted(load.items, "item"),
        f"{counted(load.assignments, 'piece')} ({load.new} new)",
        *([f"{load.adjudications} to adjudicate"] if load.adjudications else []),
        *([counted(load.repeats, "repeat")] if load.repeats else []),
    ]
    return ", ".join(parts)


@reviews_app.command("list")
@reading
def reviews_list(project: Any, json_: Json = False) -> None:
    """List the reviews that concern a person, with what changed unit by unit; all of them for coordinators."""
    from annotator.actions.assignments import reviewing

    result = [
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
        for line, units in result
    ]  # fmt: skip
    words = [
        f"Item {line.item_key}, {line.kind.value}: drafted by {line.author or 'nobody yet'}, "
        f"reviewed by {line.reviewer}, not blind; {line.state}"
        for line, _ in result
    ]
    say({"reviews": tree}, json_, words or ["No reviews."])


@reviews_app.command("begin")
@changing
def reviews_begin(project: Any, item: ItemKey, kind: KindName, json_: Json = False) -> None:
    """Begin a review that a person is asked for: their document starts as the draft, edited on the Author page."""
    from annotator.actions.assignments import reviewing

    change = reviewing.begin(project, _ids(project, [item])[0], kind)
    say({"artifact": change.subject}, json_, [f"Began the review as {change.subject}"])


@reviews_app.command("form")
@changing
def reviews_form(
    project: Any,
    item: ItemKey,
    kind: KindName,
    question: Annotated[
        str, typer.Option(help="A question of the form; an invalid one lists them", show_default=False)
    ],
    value: Annotated[str, typer.Option(help="yes, partly or no")],
    words: Annotated[str, typer.Option(help="Remark beside it")] = "",
    json_: Json = False,
) -> None:
    """Answer a question of the review form."""
    from annotator.actions.assignments import reviewing

    reviewing.fill_in(project, _review(project, item, kind).artifact_id, question, value, words)
    left = _review(project, item, kind).open_questions
    say({"open": left}, json_, [f"Answered {question}; open: {', '.join(left) or 'none'}"])


@reviews_app.command("answer")
@changing
def reviews_answer(
    project: Any,
    item: ItemKey,
    kind: KindName,
    agree: Annotated[bool, typer.Option("--agree/--disagree", help="Whether the author agrees")],
    words: Annotated[str, typer.Option(help="The answer in words; needed to disagree")] = "",
    json_: Json = False,
) -> None:
    """Answer a review as the author of the draft; a review that is agreed with is settled."""
    from annotator.actions.assignments import reviewing

    reviewing.answer(project, _review(project, item, kind).artifact_id, agree, words)
    say(
        {"agreed": agree},
        json_,
        ["Agreed: the reviewed document is settled" if agree else "Answered: not agreed"],
    )


def _review(project: Any, key: str, kind: Kind) -> Any:
    from annotator.actions.assignments import reviewing

    result = [line.review for line in reviewing.lines(project) if (line.item_key, line.kind) == (key, kind)]
    if not any(result):
        raise Refusal("There is no such review yet.", "See goldsmith reviews list FILE.")
    return next(review for review in result if review)
