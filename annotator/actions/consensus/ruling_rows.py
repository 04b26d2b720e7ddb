"""Storage of adjudications and their rulings, row by row, and restoring a ruling."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from sqlalchemy import Row, bindparam, delete, insert, select, update
from sqlalchemy.engine import Connection

from annotator.actions.assignments import adjudicators
from annotator.actions.project.file import Project, record
from annotator.domain.experts.adjudication import Adjudication, AdjudicationState, Ruling
from annotator.domain.experts.assignment import Stage
from annotator.domain.texts.canonical import canonical_json, sha256
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import ADJUDICATION, RULING

KEYS = {"id", "adjudication_id", "position"}
# Statements of every ruling are built once: building them again would cost as much as running them.
_ONE = select(RULING).where(RULING.c.id == bindparam("wanted"))
_ADD = insert(RULING)
_CHANGE = update(RULING).where(RULING.c.id == bindparam("wanted"))
_DROP = delete(RULING).where(RULING.c.id == bindparam("wanted"))
# An adjudication that is only looked at, with its first rulings; no row says anything of it.
_UNOPENED: ContextVar[tuple[Adjudication, Sequence[Ruling]] | None] = ContextVar("unopened", default=None)


@contextmanager
def as_if_opened(made: Adjudication, first: Sequence[Ruling]) -> Iterator[None]:
    """Until this ends, questions by the adjudication's id find it as opening it would leave it; nothing is written."""
    token = _UNOPENED.set((made, first))
    try:
        yield
    finally:
        _UNOPENED.reset(token)


def _unopened(adjudication_id: str) -> tuple[Adjudication, Sequence[Ruling]] | None:
    found = _UNOPENED.get()
    return found if found is not None and found[0].id == adjudication_id else None


def adjudication(db: Connection, adjudication_id: str) -> Adjudication:
    """An adjudication with its letters, which no question may hand on; KeyError when there is none of that id."""
    if looked_at := _unopened(adjudication_id):
        return looked_at[0]
    row = db.execute(select(ADJUDICATION).where(ADJUDICATION.c.id == adjudication_id)).first()
    if row is None:
        raise KeyError(adjudication_id)
    return adjudication_of(row)


def of_stage(db: Connection, item_id: str, stage: Stage) -> Adjudication | None:
    """The adjudication of one stage of an item, or None while there is none."""
    wanted = ADJUDICATION.c.item_id == item_id, ADJUDICATION.c.stage == stage.value
    row = db.execute(select(ADJUDICATION).where(*wanted)).first()
    return adjudication_of(row) if row else None


def adjudications(db: Connection, item_id: str = "") -> list[Adjudication]:
    """Every adjudication, or those of one item, by item and stage."""
    question = select(ADJUDICATION).order_by(ADJUDICATION.c.item_id, ADJUDICATION.c.stage)
    if item_id:
        question = question.where(ADJUDICATION.c.item_id == item_id)
    return [adjudication_of(row) for row in db.execute(question)]


def adjudication_of(row: Row[Any]) -> Adjudication:
    return Adjudication.model_validate({**row._mapping, "letters": json.loads(row.letters)})


def working(project: Project, db: Connection, adjudication_id: str) -> Adjudication:
    """An adjudication that the person working may rule on now; Refusal when it is closed or not theirs."""
    found = adjudication(db, adjudication_id)
    adjudicators.refuse_others(project, db, found)
    if found.state is AdjudicationState.CLOSED:
        raise Refusal(
            "This adjudication is closed.",
            "Reopen it to continue; its consensus stays until it is closed again.",
        )
    return found


def rulings(db: Connection, adjudication_id: str) -> list[Ruling]:
    if looked_at := _unopened(adjudication_id):
        return list(looked_at[1])
    question = select(RULING).where(RULING.c.adjudication_id == adjudication_id)
    return [ruling_of(row) for row in db.execute(question.order_by(RULING.c.position, RULING.c.id))]


def all_rulings(db: Connection) -> dict[str, list[Ruling]]:
    found: dict[str, list[Ruling]] = {}
    for row in db.execute(select(RULING).order_by(RULING.c.position, RULING.c.id)):
        found.setdefault(row.adjudication_id, []).append(ruling_of(row))
    return found


def ruling(db: Connection, ruling_id: str) -> Ruling:
    """One ruling; Refusal when its row was joined with another meanwhile."""
    row = db.execute(_ONE, {"wanted": ruling_id}).first()
    if row is None:
        raise Refusal("That row no longer exists.", "It was merged with another; look at the list again.")
    return ruling_of(row)


def ruling_of(row: Row[Any]) -> Ruling:
    keys = {name: row._mapping[name] for name in KEYS}
    return Ruling.model_validate({**json.loads(row.content), **keys})


def replace(
    project: Project,
    db: Connection,
    subject: str,
    verb: str,
    old: Sequence[Ruling],
    new: Sequence[Ruling],
    *,
    undoable: bool = True,
) -> Change:
    """Put rulings in the place of others, in one change; those that stay as they are make none.

    When nothing differs, the change that comes back has no before-image and no number.
    """
    before, after = _images(old), _images(new)
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if not changed:
        return Change("ruling", subject, verb, by=project.by)
    adjudication_id = (*old, *new)[0].adjudication_id
    present, goal = ({name: image.get(name) for name in changed} for image in (before, after))
    _write(db, adjudication_id, goal, present)
    image = {"adjudication": adjudication_id, "rows": present}
    change = Change("ruling", subject, verb, image if undoable else None, {**image, "rows": goal})
    return record(project, db, change)


def row(ruling: Ruling) -> dict[str, Any]:
    content = canonical_json(ruling.model_dump(mode="json", exclude=KEYS))
    return {**ruling.model_dump(include=KEYS), "content": content.decode(), "sha256": sha256(content)}


def add(db: Connection, made: Sequence[Ruling]) -> None:
    """Write the first rulings of an adjudication; they come with its opening and are no change of their own."""
    for each in made:
        _write(db, each.adjudication_id, _images([each]), {})


def _images(of: Sequence[Ruling]) -> dict[str, Any]:
    return {
        each.id: {"position": each.position, "content": each.model_dump(mode="json", exclude=KEYS)}
        for each in of
    }


def _write(db: Connection, adjudication_id: str, goal: dict[str, Any], present: dict[str, Any]) -> None:
    """Make the rows what `goal` says; None stands for no row."""
    for name, image in goal.items():
        if image is None:
            db.execute(_DROP, {"wanted": name})
            continue
        content = canonical_json(image["content"])
        row = {"position": image["position"], "content": content.decode(), "sha256": sha256(content)}
        if present.get(name) is None:
            db.execute(_ADD, {"id": name, "adjudication_id": adjudication_id, **row})
        else:
            db.execute(_CHANGE, {"wanted": name, **row})


def restore(project: Project, db: Connection, _subject: str, present: Any, goal: Any) -> None:
    """Put the subject of a change from one image to another; Refusal when it has moved on."""
    working(project, db, present["adjudication"])
    there = _images(rulings(db, present["adjudication"]))
    if any(there.get(name) != image for name, image in present["rows"].items()):
        raise Refusal("This row was changed elsewhere since.", "Look at it again; nothing was undone.")
    _write(db, present["adjudication"], goal["rows"], present["rows"])
