"""Commands for label files, and for submitting labels and documents."""

import re
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli.options import NamingLayouts, protocol_of
from annotator.cli.saying import NOT_ALL, As, File, Json, bar, opened, progress_bars, say
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal

app = typer.Typer(help="Import, submit and export labels.", no_args_is_help=True)
authoring_app = typer.Typer(
    help="Rubrics, plans and other documents that a person writes.", no_args_is_help=True
)
_OF_QUESTION = re.compile(r"Q?(?P<number>-?\d{1,18})=(?P<system>.+)")
_IfUnsaid = Annotated[
    str,
    typer.Option(
        "--protocol",
        help="Protocol, if the files do not say; else the one that the project goes by",
        show_default=False,
    ),
]


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
    protocol: _IfUnsaid = "",
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
    from annotator.actions.imports import label_files, label_raters

    at_work, names = _whose(who or ())
    every, by_question = _systems(system or ())
    options = label_files.LabelImportOptions(
        label_raters.told(names),
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
    """Who is at work, and the words that say who raters are."""
    listed = list(words)
    at_work = [one for one in listed if "=" not in one]
    if len(at_work) > 1:
        raise Refusal("Only one person can be at work.", "Write NAME=ALIAS to identify a rater in the files.")
    return (at_work or [""])[0], [one for one in listed if "=" in one]


def _systems(words: Iterable[str]) -> tuple[str, dict[str, str]]:
    """The system of all files, and those of single questions."""
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
        return [{name: getattr(one, name) for name in names} for one in problems]

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
def labels_submit(
    file: File,
    person: Annotated[
        list[str] | None,
        typer.Option(help="Only this person's labels: an id or an alias; repeatable. By default everyone's"),
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Submit even if labels are missing; they stay missing")
    ] = False,
    as_: As = "",
    json_: Json = False,
) -> None:
    """Submit labels given in this project, item by item: coordinators anyone's, others their own.

    Exit code 3 if labels are missing and the rest was therefore not submitted.
    """
    from annotator.actions.labelling import label_sealing
    from annotator.actions.project import people

    with opened(file, person=as_) as project:
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
def authoring_submit(
    file: File,
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
    as_: As = "",
    json_: Json = False,
) -> None:
    """Submit a person's own documents, each unless something is missing or remarked on, which is then listed.

    Exit code 3 if a document was not submitted, or an item that is named has none that is open.
    """
    from annotator.actions.assignments import submitting
    from annotator.actions.authoring import annotating
    from annotator.actions.items import items, sources
    from annotator.actions.undo import recovering

    done, left = list[Any](), list[Any]()
    with opened(file, person=as_) as project:
        ids = items.ids_of(project, keys, in_use=True) if keys else items.ids(project)
        recovering.recover(project)
        for item in (items.read(project, item_id) for item_id in dict.fromkeys(ids)):
            mine = [
                one
                for one in annotating.artifacts_of(project, item.id)
                if (one.author_id, one.state) == (project.by, State.DRAFT)
                and one.kind is not Kind.LABELS
                and (not kind or one.kind in kind)
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
                    submitting.submit(project, one, item, sources.beside(project, item.id), reason.strip())
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
def authoring_share_rest(
    file: File,
    key: Annotated[str, typer.Argument(help="Key of the item", show_default=False)],
    as_: As = "",
    json_: Json = False,
) -> None:
    """Give the points of a person's own checklist that have no share equal parts of what the others leave of 1."""
    from annotator.actions.authoring import annotating, artifacts
    from annotator.actions.items import items

    with opened(file, person=as_) as project:
        (item_id,) = items.ids_of(project, [key], in_use=True)
        mine = [
            one.id
            for one in annotating.artifacts_of(project, item_id)
            if (one.author_id, one.kind) == (project.by, Kind.CHECKLIST)
        ]
        if not mine:
            raise Refusal(
                f"You have no checklist for item {key}.", "Begin one on the Author page, or import it."
            )
        artifacts.share_rest(project, mine[0])
        units = artifacts.read(project, mine[0]).document.units
    shares = [{"text": unit.words, "share": unit.share} for unit in units]
    say({"item": key, "points": shares}, json_, [f"{one['share']:.4f}  {one['text']}" for one in shares])


def _say_submitted(done: list[Any], left: list[Any], json_: bool, todo: str, nothing: str) -> None:
    """Each one in words and as JSON; exit code 3 if something is left."""
    words = [f"Submitted: {words}" for words, _ in done] + [f"Not submitted: {words}" for words, _ in left]
    found = {"submitted": [tree for _, tree in done], "not_submitted": [tree for _, tree in left]}
    say(found, json_, [*words, *([todo] if left else [])] or [nothing])
    if left:
        raise typer.Exit(NOT_ALL)


def _standing(one: Any) -> str:
    missing = f", {counted(one.missing, 'label')} missing" if one.missing else ""
    return f"{one.alias}, item {one.item_key}: {counted(one.labelled, 'label')}{missing}"


@app.command("pairs")
def labels_pairs(
    file: File,
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
    as_: As = "",
    json_: Json = False,
) -> None:
    """Draw the pairs of reports that people and judges compare, or show how many were drawn."""
    from annotator.actions.labelling import label_cases

    protocol = protocol or [name for name, _ in label_cases.paired() if label_cases.can_draw(name)][-1]
    with opened(file, readonly=draw < 0, person=as_) as project:
        if draw >= 0:
            label_cases.draw_pairs(project, protocol, draw, seed)
        found = label_cases.drawn(project, protocol)
    many = len(found.get("pairs", ()))
    words = (
        f"{counted(many, 'pair')} drawn (seed {found['seed']})." if found else "Every pair is asked about."
    )
    say({"protocol": protocol, **found}, json_, [words])


@app.command("into-gold")
def labels_into_gold(
    file: File,
    protocol: Annotated[str, typer.Argument(help="Protocol of the labels")],
    rater: Annotated[
        str, typer.Option(help="Whose labels: the consensus, a person's alias or id, or a judge's name")
    ] = "consensus",
    as_: As = "",
    json_: Json = False,
) -> None:
    """Make labels of what gold holds, such as important references, the gold's own. For coordinators.

    What was not labelled keeps what it has. Exit code 3 if gold of an item could not be changed.
    """
    from annotator.actions.sets import settled_fields

    with opened(file, person=as_) as project:
        found = settled_fields.take_over(project, protocol, rater)
    words = [
        f"Item {one.item_key}: {counted(one.labelled, 'unit')} labelled, {one.changed} changed"
        + (f"; not taken over: {one.why_not}" if one.why_not else "")
        for one in found
    ]
    say({"items": [asdict(one) for one in found]}, json_, words)
    if any(one.why_not for one in found):
        raise typer.Exit(NOT_ALL)


@app.command("export", cls=NamingLayouts)
def labels_export(
    file: File,
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
    as_: As = "",
    json_: Json = False,
) -> None:
    """Write people's labels, each person under their alias. For coordinators."""
    from annotator.actions.imports import label_exports

    choice = label_exports.LabelSelection(
        tuple(protocol or ()), tuple(person or ()), tuple(system or ()), everything=everything, judge=judge
    )
    with opened(file, readonly=True, person=as_) as project:
        found = label_exports.export(project, to, format_, choice)
    words = [f"Wrote {counted(found.labels, 'label')} of {', '.join(found.raters)} to {found.path}"]
    say(
        {**asdict(found), "path": found.path.as_posix()},
        json_,
        [*words, *(f"Note: {note}" for note in found.notes)],
    )
