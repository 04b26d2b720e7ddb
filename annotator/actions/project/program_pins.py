"""The pin of a project's tasks on versions of the program, and who works with which version."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import select

from annotator.actions.project import people
from annotator.actions.project.bulk import Progress
from annotator.actions.project.file import PROGRAM, Project, pinned_by
from annotator.actions.project.recording import record
from annotator.domain.experts import program_pin
from annotator.domain.experts.program_pin import ProgramPin
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import ParcelRow, table

PARCEL = table(ParcelRow)
_SUM = re.compile(r"([0-9A-Fa-f]{64}) [ *](.+)")
LARGEST_SUMS = 100_000


def pinned(project: Project) -> ProgramPin:
    """Which versions the tasks of this project ask for; in an annotator's file, which its own task asked for."""
    return pinned_by(project.get(PROGRAM))


def pin(project: Project, versions: str, installers: Mapping[str, str] | None = None) -> Change:
    """Ask for these versions in every task that is written from now on; an empty text asks for none.

    `installers` are SHA-256 sums by name; None keeps those named before for the same versions. What was handed out
    stays as it is until the annotator opens a newer task.
    """
    if project.from_task:
        raise Refusal("Which version is asked for came with the task.", "Ask who sent you the task.")
    people.refuse_others(project, "can say which version the tasks ask for")
    before, new = pinned(project), program_pin.read(versions)
    kept = before.installers if new.versions == before.versions else {}
    new = program_pin.read(new.versions, kept if installers is None else installers)
    with project.store.write() as db:
        project.set(PROGRAM, tree(new))
        change = Change("setting", PROGRAM, "set the version that tasks ask for", tree(before), tree(new))
        return record(project, db, change)


def tree(pin: ProgramPin) -> dict[str, Any]:
    """A pin as it is kept in a project and said in a task; empty for any version."""
    told = {"program": pin.versions, "installers": dict(pin.installers)}
    return {key: value for key, value in told.items() if value}


def sums(_project: Project, paths: Sequence[Path], *, progress: Progress | None = None) -> dict[str, str]:
    """The SHA-256 of installers by name; a file of such sums stands for what it lists."""
    found: dict[str, str] = {}
    for place, path in enumerate(paths):
        if progress:
            progress("Reading the installers", place, len(paths))
        try:
            found |= _listed(path) or _counted(path)
        except OSError as error:
            raise Refusal(
                f"“{path.name}” cannot be read: {error.strerror or error}.", "Choose another file."
            ) from None
    return found


def _listed(path: Path) -> dict[str, str]:
    if path.stat().st_size > LARGEST_SUMS:
        return {}
    lines = path.read_text("utf-8", "replace").splitlines()
    return {m[2].strip(): m[1].lower() for line in lines if (m := _SUM.fullmatch(line.strip()))}


def _counted(path: Path) -> dict[str, str]:
    with path.open("rb") as file:
        return {path.name: hashlib.file_digest(file, "sha256").hexdigest()}


def used(project: Project) -> dict[str, str]:
    """By the id of a person, the versions they worked with, as their newest returned work says."""
    question = select(PARCEL.c.person_id, PARCEL.c.content).where(PARCEL.c.direction == "in")
    with project.store.read() as db:
        rows = db.execute(question.order_by(PARCEL.c.at, PARCEL.c.sha256)).all()
    found = {person_id: str(json.loads(content).get("program", "")) for person_id, content in rows}
    return {person_id: program for person_id, program in found.items() if program}
