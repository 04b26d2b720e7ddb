"""Bulk confirmation of unanimous items, except for a sample drawn for a spot check."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from sqlalchemy import update
from sqlalchemy.engine import Connection

from annotator.actions.adjudication import adjudicating, closing, openings
from annotator.actions.consensus import ruling_rows
from annotator.actions.project import backups
from annotator.actions.project.file import Project, record
from annotator.domain.experts.adjudication import BOTH, Adjudication
from annotator.domain.experts.assignment import Stage
from annotator.domain.texts.canonical import sha256
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import ADJUDICATION

Progress = Callable[[str, int, int], None]
SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Unanimous:
    """A stage of an item on which everybody wrote the same."""

    item_id: str
    item_key: str
    stage: Stage
    adjudication_id: str


@dataclass(frozen=True, slots=True)
class BulkCloseReport:
    """The items closed in bulk, those drawn for a spot check, and the seed."""

    closed: tuple[Unanimous, ...]
    spot_check: tuple[Unanimous, ...]
    share: float
    seed: int


def confirm_unanimous(project: Project, adjudication_id: str) -> Change:
    """Take both in every row of an item that is unanimous and undecided: left open, or opened by an older version."""
    with project.store.write() as db:
        found = ruling_rows.working(project, db, adjudication_id)
        change = _confirmed(project, db, found)
        if not change.seq:
            raise Refusal("No unanimous row is undecided.", "Continue with the contested ones.")
        return change


def _confirmed(project: Project, db: Connection, found: Adjudication, *, undoable: bool = True) -> Change:
    rows = ruling_rows.rulings(db, found.id)
    new = [row.model_copy(update={"take": BOTH}) if row.open and row.unanimous else row for row in rows]
    verb = "confirm unanimous rows"
    return ruling_rows.replace(project, db, found.id, verb, rows, new, undoable=undoable)


def auto_unanimous(
    project: Project, share: float = SHARE, seed: int | None = None, progress: Progress | None = None
) -> BulkCloseReport:
    """Close every item on which all rows are unanimous and nobody has begun to rule, but for a drawn sample.

    At least one is drawn unless the share is 0; it is marked as a spot check and left open. Without a seed one is
    derived from what there is to draw from. A backup is made first. Refusal for a share outside 0 … 1.
    """
    if not 0 <= share <= 1:
        raise Refusal(f"{share} is not a share.", "Give a number from 0 to 1.")
    if not _eligible(project):
        return BulkCloseReport((), (), share, seed or 0)
    backups.make(project, "before confirming unanimous items")
    with project.store.write() as db:
        found = _eligible(project)
        seed = seed if seed is not None else _seed(found)
        count = ceil(share * len(found))
        drawn = {line.adjudication_id for line in random.Random(seed).sample(found, count)}
        for done, line in enumerate(found, start=1):
            _settle(project, db, line, spot_check=line.adjudication_id in drawn)
            if progress is not None:
                progress("confirming unanimous items", done, len(found))
    closed = tuple(line for line in found if line.adjudication_id not in drawn)
    return BulkCloseReport(
        closed, tuple(line for line in found if line.adjudication_id in drawn), share, seed
    )


def _eligible(project: Project) -> list[Unanimous]:
    """What may be closed in one go, in the order of its ids: a draw must not hang on anything else."""
    return sorted(
        (
            Unanimous(line.item_id, line.item_key, line.stage, openings.id_of(line.item_id, line.stage))
            for line in adjudicating.queue(project)
            if line.confirmable
        ),
        key=lambda line: line.adjudication_id,
    )


def _seed(found: list[Unanimous]) -> int:
    return int(sha256("\n".join(line.adjudication_id for line in found))[:8], 16)


def _settle(project: Project, db: Connection, line: Unanimous, *, spot_check: bool) -> None:
    openings.open_(project, line.item_id, line.stage)
    found = ruling_rows.working(project, db, line.adjudication_id)
    if not spot_check:
        # Closed in the same breath: undo would come upon something closed, and stop there.
        _confirmed(project, db, found, undoable=False)
        try:
            closing.close_within(project, db, found)
        except Refusal as refusal:
            raise Refusal(f"Item {line.item_key}: {refusal.happened}", refusal.todo) from None
        return
    adjudications = ADJUDICATION
    db.execute(update(adjudications).where(adjudications.c.id == found.id).values(spot_check=True))
    # What is drawn to be looked at is decided by whoever looks.
    rows = ruling_rows.rulings(db, found.id)
    undecided = [row.model_copy(update={"take": ""}) for row in rows]
    ruling_rows.replace(project, db, found.id, "draw for a spot check", rows, undecided, undoable=False)
    record(project, db, Change("adjudication", found.id, "draw for a spot check", None, {"spot_check": True}))
