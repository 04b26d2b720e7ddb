"""Commands for double annotation: people, packing and unpacking, adjudication, status."""

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli.saying import (
    NOT_ALL,
    REFUSED,
    File,
    Json,
    bar,
    changing,
    changing_by,
    opened,
    progress_bars,
    reading,
    say,
)
from annotator.domain.common import Refusal, counted
from annotator.domain.kinds.kind import Reason, Role, Stage

app = typer.Typer()
people_app = typer.Typer(help="People in the project.", no_args_is_help=True)


@people_app.command("list")
@reading
def people_list(project: Any, json_: Json = False) -> None:
    """List all people with their ids, aliases and roles."""
    from annotator.actions.project import people

    result = [person.model_dump(mode="json") for person in people.people(project)]
    words = [f"{one['alias']}: {one['name']} ({one['roles'] or 'no role'}) {one['id']}" for one in result]
    say({"people": result}, json_, words)


@people_app.command("add")
@changing
def people_add(
    project: Any,
    name: Annotated[str, typer.Option(help="Name shown in the window")],
    role: Annotated[list[Role] | None, typer.Option(help="Role; repeatable")] = None,
    alias: Annotated[str, typer.Option(help="Pseudonym in exports; by default the next free R1, R2 …")] = "",
    json_: Json = False,
) -> None:
    """Add a person; the printed id identifies them permanently."""
    from annotator.actions.project import people

    person_id = people.add_person(project, name, tuple(role or (Role.ANNOTATOR,)), alias).subject
    person = people.known(project, person_id)
    say(person.model_dump(mode="json"), json_, [f"Added {person.name} as {person.alias}: {person.id}"])


@people_app.command("role")
@changing
def people_role(
    project: Any,
    person: Annotated[str, typer.Argument(help="Person: an id or an alias", show_default=False)],
    role: Annotated[list[Role], typer.Option(help="Role, in place of those they have; repeatable")],
    json_: Json = False,
) -> None:
    """Give a person roles in place of those they have; a coordinator must be left."""
    from annotator.actions.project import people

    people.set_roles(project, people.known(project, person).id, tuple(role))
    result = people.known(project, person)
    say(result.model_dump(mode="json"), json_, [f"{result.alias}: {result.roles}"])


@people_app.command("key")
@changing_by("yes")
def people_key(
    project: Any,
    person: Annotated[
        str, typer.Argument(help="Person: an id or an alias; by default this file's own key")
    ] = "",
    replace_by: Annotated[
        Path | None,
        typer.Option(
            help="Trust the key that signed this file from now on: a person's work file or, in a project "
            "made from a task, a task file"
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Replace the key; without this option the effect is only described")
    ] = False,
    json_: Json = False,
) -> None:
    """Show the six words of a key, or replace a lost key."""
    from annotator.actions.parcels import known_keys, tasking

    if replace_by is not None:
        change = (known_keys if person else tasking).replacement(project, replace_by, person)
        if yes:
            change.make(project)
        result = {"key": change.words, "instead_of": change.before, "replaced": yes}
        say(
            result,
            json_,
            [change.meaning, *([] if yes else ["Nothing was changed; add --yes to replace the key."])],
        )
        return
    words = known_keys.words_of(project, person) if person else known_keys.own_words(project)
    sender = "" if person else tasking.sender_words(project)
    lines = [
        f"Key of {person or 'this file'}: {f'“{words}”' if words else 'none yet'}",
        *([f"Tasks of this project are signed with “{sender}”"] if sender else []),
    ]
    say({"key": words, "sender": sender}, json_, lines)


@app.command()
def pack(
    file: File,
    to: Annotated[
        str,
        typer.Option(help="Package to write, or a folder: a name without extension, or ending in /"),
    ],
    person: Annotated[str, typer.Option(help="Person the task is for: an id or an alias")] = "",
    everybody: Annotated[
        bool,
        typer.Option("--all", help="Write every person's task, each as a file in the folder"),
    ] = False,
    json_: Json = False,
) -> None:
    """Write one person's task, or everyone's; in a project made from a task, write the work file to send back.

    Another person's package is never overwritten.
    """
    from annotator.actions.parcels import tray

    if everybody and person:
        raise Refusal("--all and --person cannot be combined.", "Give one of them.")
    with opened(file) as project:
        place = _folder(to) if everybody or to.endswith(("/", os.sep)) else Path(to)
        if everybody:
            _pack_all(project, place, json_)
            return
        packed = tray.pack(project, person, place)
    words = [*_packed(packed), *([f"Receipt: {packed.receipt}"] if packed.receipt else []), _signed(packed)]
    say(_pairs_tree(packed), json_, [*words, *packed.notes])


def _signed(packed: Any) -> str:
    whose = "your key" if packed.receipt else "this project's key"
    return f"Signed with {whose}: “{packed.words}”. The recipient may ask you for these six words."


def _folder(to: str) -> Path:
    try:
        Path(to).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(
            f"The folder “{to}” could not be made: {error.strerror}.", "Choose another; nothing was written."
        ) from None
    return Path(to)


def _pack_all(project: Any, folder: Path, json_: bool) -> None:
    """Write everybody's task; exit code 3 if one of them could not be written."""
    from annotator.actions.parcels import packing

    done = packing.write_tasks(project, packing.recipients(project), folder)
    words = [
        *(
            line
            for result in done
            if result.packed
            for line in (*_packed(result.packed), *result.packed.notes)
        ),
        *[_signed(one.packed) for one in done if one.packed][:1],
        *(f"Not written for {result.person.name}: {result.problem}" for result in done if result.problem),
        *packing.without_task(project),
    ]
    missing = [
        {"person": result.person.name, "reason": str(result.problem)} for result in done if result.problem
    ]
    say(
        {"packages": [_pairs_tree(result.packed) for result in done if result.packed], "missing": missing},
        json_,
        words,
        lacking=missing,
        code=REFUSED if len(missing) == len(done) else NOT_ALL,
    )


def _pairs_tree(packed: Any) -> dict[str, Any]:
    return {**asdict(packed), "path": packed.path.as_posix()}


def _packed(packed: Any) -> list[str]:
    holds = f"{counted(packed.pieces, 'piece')} on {counted(packed.items, 'item')}"
    return [f"Wrote {packed.path} for {packed.person}: {holds}"]


@app.command()
def unpack(
    file: File,
    paths: Annotated[list[Path], typer.Argument(help="Packages", show_default=False)],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be imported, without importing")
    ] = False,
    json_: Json = False,
) -> None:
    """Import returned work, or create (or update) a project from a task.

    Exit code 1 if all packages were damaged, 3 if only some were.
    """
    from annotator.actions.parcels import unpacking
    from annotator.domain.experts.assignment import REFUSED as NOT_TAKEN

    if paths[0].suffix == ".goldsmith-task":
        _open_tasks(file, paths, dry_run, json_)
        return
    with opened(file) as project:
        arrivals = (unpacking.preview if dry_run else unpacking.take_in)(project, paths)
    result = {"dry_run": dry_run, "arrivals": [arrival.model_dump(mode="json") for arrival in arrivals]}
    refused = [arrival for arrival in arrivals if arrival.outcome in NOT_TAKEN]
    words = [line for one in arrivals for line in unpacking.words(one)]
    say(result, json_, words, lacking=refused, code=REFUSED if len(refused) == len(arrivals) else NOT_ALL)


def _open_tasks(file: Path, paths: list[Path], dry_run: bool, json_: bool) -> None:
    from annotator.actions.items import items
    from annotator.actions.parcels import tasking

    if dry_run:
        raise Refusal(
            "--dry-run does not apply to a task file.",
            "Omit --dry-run; opening a task never changes your own work.",
        )
    for path in paths:
        opened_ = tasking.take_task(path, file)
        with closing(opened_.project) as project:
            result = items.content_counts(project)
    held = f"{counted(result['items'], 'item')} and {counted(result['responses'], 'report')}"
    words = [f"{file.name} holds {held} for this person."]
    say({"file": file.name, "key": opened_.words, **result}, json_, [*words, tasking.signed_words(opened_)])


@app.command()
def share(
    file: File,
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="Folder that is synced or on a network, chosen for this project on this computer"
        ),
    ] = None,
    send: Annotated[bool, typer.Option("--send", help="Put everyone's task into the folder")] = False,
    trust: Annotated[
        str, typer.Option(help="The six words of a key that waits, as its person told you them")
    ] = "",
    off: Annotated[bool, typer.Option("--off", help="Stop using the folder; what lies in it stays")] = False,
    json_: Json = False,
) -> None:
    """Exchange tasks and work through a shared folder: choose it, then sync; every file is sealed for its reader.

    Exit code 3 if something was not taken or not written.
    """
    from annotator.actions.parcels import shared_folder

    if off and (folder or send or trust):
        raise Refusal("--off stands alone.", "Omit the rest.")
    with opened(file) as project:
        if off or folder:
            shared_folder.choose(project, folder)
        if off:
            say({"folder": None}, json_, ["No shared folder any more; what lies in it stays."])
            return
        key = shared_folder.trust(project, trust) if trust else None
        done = shared_folder.sync(project)
        written = list(done.sent)
        if send:
            written += shared_folder.send(project)
            done = replace(done, left=shared_folder.look(project))
    missing = [{"person": one.person.name, "reason": str(one.problem)} for one in written if one.problem]
    left = {**asdict(done.left), "folder": str(done.left.folder)}
    result = {
        **left, "trusted": key.subject if key else None, "new_items": done.new_items, "receipt": done.receipt,
        "arrivals": [arrival.model_dump(mode="json") for arrival in done.arrivals],
        "packages": [_pairs_tree(one.packed) for one in written if one.packed], "missing": missing,
    }  # fmt: skip
    words = [
        *_synced(done, written),
        *(" ".join(shared_folder.key_words(key)) for key in done.left.keys),
        *shared_folder.words(done.left),
    ]
    say(result, json_, words, lacking=missing or done.left.problems)


def _synced(done: Any, written: Sequence[Any]) -> list[str]:
    from annotator.actions.parcels import unpacking

    return [
        *(line for arrival in done.arrivals for line in unpacking.words(arrival)),
        *(line for one in written if one.packed for line in (*_packed(one.packed), *one.packed.notes)),
        *(f"Not written for {one.person.name}: {one.problem}" for one in written if one.problem),
        *(
            [f"A newer task came: {counted(done.new_items, 'new item')}."]
            if done.new_items is not None
            else []
        ),
        *([f"Put your work into the folder. Receipt: {done.receipt}"] if done.receipt else []),
    ]


@app.command()
def adjudicate(
    file: File,
    auto_unanimous: Annotated[
        bool, typer.Option("--auto-unanimous", help="Close every item on which everyone wrote the same")
    ] = False,
    share: Annotated[
        float, typer.Option(min=0, max=1, help="Share of these items kept open as a spot check; 0 keeps none")
    ] = 0.1,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the draw; by default derived from the data")
    ] = None,
    item: Annotated[
        str, typer.Option(help="Show the rows of this item, by key; with --take decide them")
    ] = "",
    stage: Annotated[
        Stage | None, typer.Option(help="Which stage, where several of the item wait", show_default=False)
    ] = None,
    take: Annotated[
        list[str] | None,
        typer.Option(
            help="ROW=A, ROW=both or ROW=drop; A alone takes A's of every open row; repeatable. Once all rows are "
            "decided the consensus is made",
            show_default=False,
        ),
    ] = None,
    reason: Annotated[
        Reason | None, typer.Option(help="Why one is taken and not the other", show_default=False)
    ] = None,
    json_: Json = False,
) -> None:
    """List items waiting for adjudication, worst first; with --auto-unanimous close the unanimous ones.

    With --item show what A and B wrote, row by row, and with --take decide. Own words are written in the window.
    """
    from annotator.actions.adjudication import adjudicating

    if item:
        _decided(file, item, stage, take or (), reason, json_)
        return

    if auto_unanimous:
        with opened(file) as project, progress_bars() as bars:
            report = adjudicating.auto_unanimous(project, share, seed, bar(bars))
        words = [
            f"Closed {counted(len(report.closed), 'unanimous item')}; "
            f"{len(report.spot_check):,} kept open as a spot check",
            *(f"Check {unanimous.item_key} {unanimous.stage.value}" for unanimous in report.spot_check),
        ]
        say(asdict(report), json_, words)
        return
    with opened(file, readonly=True) as project:
        lines = adjudicating.queue(project)
    rows = [
        asdict(line) | {"agreement": line.agreement and line.agreement.value, "conflict": line.conflict}
        for line in lines
    ]
    say(
        {"rows": rows},
        json_,
        [_waiting(line) for line in lines]
        or ["Nothing waits for you to adjudicate. Of others it is listed with --as ALIAS."],
    )


def _decided(
    file: Path, key: str, stage: Stage | None, take: Sequence[str], reason: Reason | None, json_: bool
) -> None:
    """Show the rows of an item that waits; with `take` decide them, and close once none is open."""
    from annotator.actions.adjudication import adjudicating, ruling
    from annotator.domain.experts.adjudication import BOTH, DROP
    from annotator.domain.kinds.documents import KINDS

    takes = {}
    for one in take:
        number, _, whom = one.rpartition("=")
        if number and not number.isdecimal():
            raise Refusal(f"“{one}” decides nothing.", "Write ROW=A, ROW=both, ROW=drop, or A alone.")
        takes[int(number or 0)] = whom if whom in (BOTH, DROP) else whom.upper()
    with opened(file, readonly=not takes) as project:
        lines = [one for one in adjudicating.queue(project) if one.item_key == key and not one.closed]
        lines = [line for line in lines if stage in (None, line.stage)]
        if len(lines) != 1:
            many = ", ".join(line.stage.value for line in lines) or "nothing"
            raise Refusal(
                f"Of item {key} {many} waits for you.",
                "Name one with --stage, or another adjudicator with --as.",
            )
        if not takes:
            result = adjudicating.look(project, lines[0].item_id, lines[0].stage, adjudicating.sheet)
            rows = [
                {"row": row.number, "take": row.ruling.take, "differing": row.differing}
                | {letter: unit.model_dump(mode="json") for letter, unit in row.units.items()}
                for row in result.rows
            ]
            say({"rows": rows}, json_, [_row_words(row, KINDS[result.kind].says) for row in rows])
            return
        begun = adjudicating.open_(project, lines[0].item_id, lines[0].stage)
        left = [lacking.words for lacking in ruling.decide(project, begun.id, takes, reason)]
    words = left or [f"Item {key}: the consensus is made."]
    say({"closed": not left, "left": left}, json_, words, lacking=left)


def _row_words(row: dict[str, Any], says: str) -> str:
    """A row with each unit's words and, if another field differs, that too."""
    details = [
        f"  {letter}: {', '.join(str(unit[name]) for name in dict.fromkeys((says, *row['differing'])))}"
        for letter, unit in row.items()
        if len(letter) == 1
    ]
    return "\n".join((f"{row['row']}. {row['take'] or 'undecided'}", *details))


def _waiting(line: Any) -> str:
    value = line.agreement and line.agreement.value
    agreed = "–" if value is None else f"{value:.2f}"
    decided = f"{line.decided:,} of {line.rows:,} decided"
    return f"{line.item_key} {line.stage.value}: {line.state}, agreement {agreed}, {decided}"


@app.command()
@reading
def status(project: Any, json_: Json = False) -> None:
    """List all assignments with state, due date, progress and time."""
    from annotator.actions.labelling import board
    from annotator.actions.project import people

    rows = [asdict(line) for line in board.board(project)]
    used, everybody = people.programs(project), {one.id: one.name for one in people.people(project)}
    words = [f"{everybody.get(person, person)} works with Goldsmith {used[person]}" for person in used]
    lines = [_standing(row) for row in rows] or ["Nothing is assigned yet."]
    say({"rows": rows, "programs": used}, json_, [*lines, *words])


def _standing(row: dict[str, Any]) -> str:
    due = f", due {row['due']:%Y-%m-%d}" if row["due"] else ""
    late = " (overdue)" if row["overdue"] else ""
    return f"{row['item_key']} {row['stage']}: {row['person']} – {row['state']}{due}{late}"
