"""Preview of an annotator's work file: what goes, what stays, and what was sent before."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from annotator.actions.parcels import origins, parcel_secrets, returning
from annotator.actions.parcels.packing import PackedTask
from annotator.actions.project.bulk import Progress
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Stage, stage_of
from annotator.domain.judges.judgement import RaterKind
from annotator.domain.kinds.artifact import Kind, State
from annotator.storage.tables import (
    ARTIFACT,
    ASSIGNMENT,
    DISPUTE,
    ITEM,
    JUDGEMENT,
    PARCEL,
    REVISION,
)

_STAGES = list(Stage)


class SendingOutcome(StrEnum):
    """What happens to a piece of work when the file is written."""

    NEW = "goes back"
    SENT = "goes back again"
    DRAFT = "a draft, stays"
    OPEN = "not begun"


@dataclass(frozen=True, slots=True)
class SendingPiece:
    """One stage of one item, and what happens to it.

    `revision` is the newest submitted one, 0 for none; `draft` says that something is not submitted.
    """

    item_id: str
    item_key: str
    question: str
    stage: Stage
    going: SendingOutcome
    draft: bool = False
    revision: int = 0
    at: datetime | None = None
    due: datetime | None = None


@dataclass(frozen=True, slots=True)
class SentFile:
    """A work file that was written."""

    receipt: str
    at: datetime
    file: str
    documents: int


@dataclass(frozen=True, slots=True)
class SendingOverview:
    """The pieces in the project's order, the objections included, and the files sent, newest first."""

    pieces: tuple[SendingPiece, ...]
    disputes: int
    sent: tuple[SentFile, ...]
    news: bool
    """Whether something would go back that no file has held."""
    own_key: str = ""
    """The six words of this file's key; `task_key` are those of the key that signed its tasks."""
    task_key: str = ""

    def count(self, *goings: SendingOutcome) -> int:
        return sum(piece.going in goings for piece in self.pieces)


def outlook(project: Project) -> SendingOverview:
    """What the person working would send now."""
    me = project.by
    with project.store.read() as db:
        files = _files(db, me)
        held = _held(files)
        pieces = sorted(_pieces(db, me, held), key=lambda found: found[0])
        disputes = int(
            db.execute(
                select(func.count()).select_from(DISPUTE).where(DISPUTE.c.person_id == me)
            ).scalar_one()
        )
    told = tuple(piece for _, piece in pieces)
    objected = max((int(facts.get("disputes", 0)) for facts, _ in files), default=0)
    news = disputes > objected or any(piece.going is SendingOutcome.NEW for piece in told)
    keys = parcel_secrets.own_words(project), origins.sender_words(project)
    return SendingOverview(told, disputes, tuple(sent for _, sent in files), news, *keys)


def write(project: Project, path: Path, *, progress: Progress | None = None) -> PackedTask:
    """Write the file to send back, telling when it has begun."""
    if progress:
        progress("Writing the file to send back", 0, 0)
    return returning.work(project, path)


def _files(db: Connection, me: str) -> list[tuple[dict[str, Any], SentFile]]:
    question = select(PARCEL).where(
        PARCEL.c.direction == "out", PARCEL.c.person_id == me, PARCEL.c.receipt != ""
    )
    found = []
    for row in db.execute(question.order_by(PARCEL.c.at.desc(), PARCEL.c.sha256)):
        facts = json.loads(row.content)
        sent = SentFile(row.receipt, row.at, str(facts.get("file", "")), len(facts.get("sealed", {})))
        found.append((facts, sent))
    return found


def _held(files: list[tuple[dict[str, Any], SentFile]]) -> dict[str, int]:
    """By artifact, the newest revision that any file has held."""
    held: dict[str, int] = {}
    for facts, _ in files:
        for artifact_id, number in facts.get("sealed", {}).items():
            held[artifact_id] = max(number, held.get(artifact_id, 0))
    return held


def _pieces(
    db: Connection, me: str, held: dict[str, int]
) -> Iterator[tuple[tuple[int, str, int], SendingPiece]]:
    items = {
        row.id: row for row in db.execute(select(ITEM.c.id, ITEM.c.key, ITEM.c.question, ITEM.c.position))
    }
    dates = _dates(db, me)
    written = _written(db, me)
    begun = _begun(db, me)
    for item_id, stage in {*dates, *written, *begun}:
        item = items[item_id]
        row = written.get((item_id, stage))
        drafted = (item_id, stage) in begun
        piece = SendingPiece(
            item_id=item_id, item_key=item.key, question=item.question, stage=stage,
            going=_going(row, held) if row else SendingOutcome.DRAFT if drafted else SendingOutcome.OPEN,
            draft=row.state == State.DRAFT.value if row else drafted,
            revision=row.number or 0 if row else 0, at=row.at if row else None, due=dates.get((item_id, stage)),
        )  # fmt: skip
        yield (item.position, item.key, _STAGES.index(stage)), piece


def _going(row: Any, held: dict[str, int]) -> SendingOutcome:
    if not row.number:
        return SendingOutcome.DRAFT
    return SendingOutcome.SENT if held.get(row.id, 0) >= row.number else SendingOutcome.NEW


def _dates(db: Connection, me: str) -> dict[tuple[str, Stage], datetime | None]:
    """When what is asked for is due; None for no date."""
    question = select(ASSIGNMENT.c.item_id, ASSIGNMENT.c.stage, ASSIGNMENT.c.due)
    rows = db.execute(question.where(ASSIGNMENT.c.person_id == me))
    return {(row.item_id, Stage(row.stage)): row.due for row in rows}


def _written(db: Connection, me: str) -> dict[tuple[str, Stage], Any]:
    sealed = select(REVISION).where(REVISION.c.sealed.is_(True)).subquery()
    question = (
        select(
            ARTIFACT.c.id, ARTIFACT.c.item_id, ARTIFACT.c.kind, ARTIFACT.c.state,
            func.max(sealed.c.number).label("number"), func.max(sealed.c.at).label("at"),
        )
        .outerjoin(sealed, sealed.c.artifact_id == ARTIFACT.c.id)
        .where(ARTIFACT.c.author_id == me, ARTIFACT.c.state != State.CONSENSUS.value)
        .group_by(ARTIFACT.c.id, ARTIFACT.c.item_id, ARTIFACT.c.kind, ARTIFACT.c.state)
    )  # fmt: skip
    return {(row.item_id, stage_of(Kind(row.kind))): row for row in db.execute(question)}


def _begun(db: Connection, me: str) -> set[tuple[str, Stage]]:
    question = select(JUDGEMENT.c.item_id).where(
        JUDGEMENT.c.rater_kind == RaterKind.PERSON.value, JUDGEMENT.c.rater_id == me
    )
    return {(item_id, Stage.LABELLING) for item_id in db.execute(question.distinct()).scalars()}
