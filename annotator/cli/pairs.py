"""The commands of the work in pairs: people, assignments, packages, agreement, adjudication, status."""

import os
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.actions.parcels import returning
from annotator.cli.saying import NOT_ALL, REFUSED, As, File, Json, bar, opened, progress_bars, say
from annotator.domain.experts.agreement import Figure
from annotator.domain.experts.parcel import REFUSED as NOT_TAKEN
from annotator.domain.experts.person import Role
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal

app = typer.Typer()
# What ends the name of a folder.
SLASHES = ("/", os.sep)
people_app = typer.Typer(help="Who works in the project.", no_args_is_help=True)


@people_app.command("list")
def people_list(file: File, json_: Json = False) -> None:
    """Everybody, with their ids, aliases and roles."""
    from annotator.actions.project import people

    with opened(file, readonly=True) as project:
        found = [person.model_dump(mode="json") for person in people.people(project)]
    words = [f"{one['alias']}: {one['name']} ({one['roles'] or 'no role'}) {one['id']}" for one in found]
    say({"people": found}, json_, words)


@people_app.command("add")
def people_add(
    file: File,
    name: Annotated[str, typer.Option(help="The name shown in the window")],
    role: Annotated[list[Role] | None, typer.Option(help="A role; may be given again")] = None,
    alias: Annotated[
        str, typer.Option(help="The pseudonym in exports; the next free R1, R2 … unless given")
    ] = "",
    json_: Json = False,
) -> None:
    """Add a person; the id that is printed decides who they are for ever."""
    from annotator.actions.project import people

    with opened(file) as project:
        person_id = people.add_person(project, name, tuple(role or (Role.ANNOTATOR,)), alias).subject
        person = people.known(project, person_id)
    say(person.model_dump(mode="json"), json_, [f"Added {person.name} as {person.alias}: {person.id}"])


@people_app.command("key")
def people_key(
    file: File,
    person: Annotated[
        str, typer.Argument(help="Whose key: an id or an alias; this file's own unless given")
    ] = "",
    replace_by: Annotated[
        Path | None,
        typer.Option(
            help="Trust the key that signed this file from now on: a person's work or, in a project made "
            "from a task, a task"
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Replace it; without this it is only said what that means")
    ] = False,
    as_: As = "",
    json_: Json = False,
) -> None:
    """The six words of a key, or another key in its place because the first was lost."""
    from annotator.actions.parcels import known_keys, origins, parcel_secrets

    with opened(file, readonly=not yes, person=as_) as project:
        if replace_by is not None:
            change = (known_keys if person else origins).replacement(project, replace_by, person)
            if yes:
                change.make(project)
            found = {"key": change.words, "instead_of": change.before, "replaced": yes}
            say(
                found, json_, [change.meaning, *([] if yes else ["Nothing was changed; add --yes to do it."])]
            )
            return
        words = known_keys.words_of(project, person) if person else parcel_secrets.own_words(project)
        sender = "" if person else origins.sender_words(project)
    lines = [f"Key of {person or 'this file'}: {f'“{words}”' if words else 'none yet'}"]
    lines += [f"Tasks of this project are signed with “{sender}”"] if sender else []
    say({"key": words, "sender": sender}, json_, lines)


@app.command()
def pack(
    file: File,
    to: Annotated[
        str,
        typer.Option(help="The package to write, or a folder: a name without an ending, or with / behind it"),
    ],
    person: Annotated[str, typer.Option(help="Whose task it is: an id or an alias")] = "",
    everybody: Annotated[
        bool,
        typer.Option("--all", help="The task of everybody who has one, each in its own file of the folder"),
    ] = False,
    as_: As = "",
    json_: Json = False,
) -> None:
    """Write a person's task, or everybody's; in a project that was made from a task, the work that goes back.

    A package of somebody else is never replaced.
    """

    with opened(file, person=as_) as project:
        place = _folder(to) if everybody or to.endswith(SLASHES) else Path(to)
        if everybody:
            _pack_all(project, place, person, json_)
            return
        packed = returning.pack(project, person, place)
    words = [*_packed(packed), *([f"Receipt: {packed.receipt}"] if packed.receipt else []), _signed(packed)]
    say(_tree(packed), json_, [*words, *packed.notes])


def _signed(packed: Any) -> str:
    whose = "your key" if packed.receipt else "this project's key"
    return f"Signed with {whose}: “{packed.words}”. Whoever gets it first may ask you for these six words."


def _folder(to: str) -> Path:
    """The folder of that name, made where it is missing."""
    try:
        Path(to).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(
            f"The folder “{to}” could not be made: {error.strerror}.", "Choose another; nothing was written."
        ) from None
    return Path(to)


def _pack_all(project: Any, folder: Path, person: str, json_: bool) -> None:
    """Write everybody's task; exit code 3 when one of them could not be written."""
    from annotator.actions.parcels import handing_out

    if person:
        raise Refusal("Either everybody's task is written, or one person's.", "Leave out --all or --person.")
    whose = [one.person.id for one in handing_out.holdings(project)]
    if not whose:
        raise Refusal("Nothing is assigned to anybody.", "Assign something first; nothing was written.")
    done = handing_out.write(project, whose, folder)
    words = [line for one in done if one.packed for line in (*_packed(one.packed), *one.packed.notes)]
    words += [_signed(one.packed) for one in done if one.packed][:1]
    words += [f"Not written for {one.person.name}: {one.problem}" for one in done if one.problem]
    missing = [{"person": one.person.name, "reason": str(one.problem)} for one in done if one.problem]
    say({"packages": [_tree(one.packed) for one in done if one.packed], "missing": missing}, json_, words)
    if missing:
        raise typer.Exit(REFUSED if len(missing) == len(done) else NOT_ALL)


def _tree(packed: Any) -> dict[str, Any]:
    return {**asdict(packed), "path": packed.path.as_posix()}


def _packed(packed: Any) -> list[str]:
    holds = f"{counted(packed.pieces, 'piece')} on {counted(packed.items, 'item')}"
    return [f"Wrote {packed.path} for {packed.person}: {holds}"]


@app.command()
def unpack(
    file: File,
    paths: Annotated[list[Path], typer.Argument(help="Packages", show_default=False)],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go in")] = False,
    as_: As = "",
    json_: Json = False,
) -> None:
    """Take returned work in, or make (or bring up to date) a project from a task.

    Exit code 1 when all packages were damaged, 3 when only some were.
    """
    from annotator.actions.parcels import unpacking

    if paths[0].suffix == ".goldsmith-task":
        _open_tasks(file, paths, dry_run, json_)
        return
    with opened(file, person=as_) as project:
        arrivals = (unpacking.preview if dry_run else unpacking.take_in)(project, paths)
    found = {"dry_run": dry_run, "arrivals": [one.model_dump(mode="json") for one in arrivals]}
    say(found, json_, [line for one in arrivals for line in unpacking.words(one)])
    refused = [one for one in arrivals if one.outcome in NOT_TAKEN]
    if refused:
        raise typer.Exit(REFUSED if len(refused) == len(arrivals) else NOT_ALL)


def _open_tasks(file: Path, paths: list[Path], dry_run: bool, json_: bool) -> None:
    from annotator.actions.items import summaries
    from annotator.actions.parcels import tasking

    if dry_run:
        raise Refusal("A task is opened, not looked at first.", "Leave --dry-run out; what is there stays.")
    for path in paths:
        opened_ = tasking.take_task(path, file)
        with closing(opened_.project) as project:
            found = summaries.counts(project)
    held = f"{counted(found['items'], 'item')} and {counted(found['responses'], 'report')}"
    words = [f"{file.name} holds {held} for this person."]
    say({"file": file.name, "key": opened_.words, **found}, json_, [*words, tasking.signed_words(opened_)])


@app.command()
def adjudicate(
    file: File,
    auto_unanimous: Annotated[
        bool, typer.Option("--auto-unanimous", help="Close every item on which everybody wrote the same")
    ] = False,
    share: Annotated[float, typer.Option(min=0, max=1, help="Share kept open as a spot check")] = 0.1,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the draw; derived from what there is unless given")
    ] = None,
    as_: As = "",
    json_: Json = False,
) -> None:
    """What waits for adjudication, worst first; with --auto-unanimous close what nobody disagrees on."""
    from annotator.actions.adjudication import adjudicating, unanimity

    if auto_unanimous:
        with opened(file, person=as_) as project, progress_bars() as bars:
            report = unanimity.auto_unanimous(project, share, seed, bar(bars))
        words = [
            f"Closed {counted(len(report.closed), 'unanimous item')}; "
            f"{len(report.spot_check)} stay open as a spot check"
        ]
        words += [f"Look at {one.item_key} {one.stage.value}" for one in report.spot_check]
        say(asdict(report), json_, words)
        return
    with opened(file, readonly=True, person=as_) as project:
        lines = adjudicating.queue(project)
    rows = [
        {**asdict(line), "agreement": _value(line.agreement), "conflict": line.conflict} for line in lines
    ]
    say({"rows": rows}, json_, [_waiting(line) for line in lines] or ["Nothing waits for adjudication."])


def _value(figure: Figure | None) -> float | None:
    return figure.value if figure else None


def _waiting(line: Any) -> str:
    value = _value(line.agreement)
    agreed = "–" if value is None else f"{value:.2f}"
    decided = f"{line.decided} of {line.rows} decided"
    return f"{line.item_key} {line.stage.value}: {line.state}, agreement {agreed}, {decided}"


@app.command()
def status(file: File, as_: As = "", json_: Json = False) -> None:
    """Who is where: every assignment with its state, due date, progress and time."""
    from annotator.actions.labelling import board

    with opened(file, readonly=True, person=as_) as project:
        rows = [asdict(line) for line in board.board(project)]
    say({"rows": rows}, json_, [_standing(row) for row in rows] or ["Nothing is assigned yet."])


def _standing(row: dict[str, Any]) -> str:
    due = f", due {row['due']:%Y-%m-%d}" if row["due"] else ""
    late = " (overdue)" if row["overdue"] else ""
    return f"{row['item_key']} {row['stage']}: {row['person']} – {row['state']}{due}{late}"
