"""Undo and redo, also after a restart, with the audit as the only list of changes."""

import json
from collections.abc import Callable
from importlib import import_module
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, not_, or_, select, update

from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.common import Change, Refusal, required
from annotator.storage.tables import AUDIT, DRAFT

# Restores the subject of a change from one image to another, or refuses if it has changed since.
Restorer = Callable[[Project, Connection, str, Any, Any], None]
# Every kind of change that can be undone → the module whose `restore` does it. It is imported on demand: which changes
# can be undone must not depend on which pages were visited.
RESTORERS: dict[str, str] = {
    "artifact": "annotator.actions.authoring.artifacts",
    "assignment": "annotator.actions.assignments.assignments",
    "contest": "annotator.actions.contests.contest_rows",
    "extract": "annotator.actions.items.extracts",
    "family": "annotator.actions.attacks.attacking",
    "informed": "annotator.actions.sets.reviews",
    "item": "annotator.actions.items.items",
    "judge": "annotator.actions.judges.judges",
    "judgement": "annotator.actions.labelling.labels",
    "metadata": "annotator.actions.items.materials",
    "person": "annotator.actions.project.people",
    "review": "annotator.actions.assignments.reviewing",
    "ruling": "annotator.actions.consensus.ruling_rows",
    "setting": "annotator.actions.project.file",
    "transcript": "annotator.actions.items.seminars",
}
# Their before-images are stored for reading, not for undo: they are the work of a run, not an edit.
OF_RUNS = frozenset({("judge", "set writer"), ("page", "fetch page"), ("page", "import page")})


def undo(project: Project) -> Change:
    """Undo this person's latest change still in force; the Refusal says why it cannot be undone."""
    with project.store.write() as db:
        row = required(_latest_standing(project, db), "There is nothing to undo.")
        change = _restore(project, db, row, row.after, row.before)
        db.execute(update(AUDIT).where(AUDIT.c.seq == row.seq).values(undone=True))
        return record(project, db, change, undoes=row.seq)


def latest(project: Project) -> Change | None:
    """The change that `undo` would undo; None if there is none."""
    with project.store.read() as db:
        row = _latest_standing(project, db)
    if row is None:
        return None
    before, after = json.loads(row.before), json.loads(row.after or "{}")
    return Change(row.kind, row.subject, row.verb, before=before, after=after)


def redo(project: Project) -> Change:
    """Redo what was undone last, unless something else was changed since."""
    with project.store.write() as db:
        # Only what was undone after this person's last own change can be redone.
        newest = select(AUDIT.c.seq).where(_mine(project)).order_by(AUDIT.c.seq.desc()).limit(1)
        last_own = db.execute(newest).scalar() or 0
        undoing = AUDIT.alias("undoing")
        latest = db.execute(
            select(AUDIT, undoing.c.seq.label("undo_seq"))
            .select_from(undoing)
            .join(AUDIT, AUDIT.c.seq == undoing.c.undoes)
            .where(
                undoing.c.seq > last_own, undoing.c.by == project.by, _mine(project), AUDIT.c.undone.is_(True)
            )
            .order_by(undoing.c.seq.desc())
            .limit(1)
        )
        row = required(latest.first(), "There is nothing to redo.")
        change = _restore(project, db, row, row.before, row.after)
        db.execute(update(AUDIT).where(AUDIT.c.seq == row.seq).values(undone=False))
        return record(project, db, change, undoes=row.undo_seq)


def restorer(kind: str) -> Restorer:
    """The restorer of a kind; raises KeyError for a kind that cannot be undone."""
    result: Restorer = import_module(RESTORERS[kind]).restore
    return result


def _mine(project: Project) -> ColumnElement[bool]:
    of_runs = [and_(AUDIT.c.kind == kind, AUDIT.c.verb == verb) for kind, verb in sorted(OF_RUNS)]
    edits = and_(AUDIT.c.kind.in_(list(RESTORERS)), not_(or_(*of_runs)))
    return and_(AUDIT.c.by == project.by, edits, AUDIT.c.undoes.is_(None))


def _latest_standing(project: Project, db: Connection) -> Row[Any] | None:
    standing = and_(_mine(project), AUDIT.c.before.is_not(None), AUDIT.c.undone.is_(False))
    return db.execute(select(AUDIT).where(standing).order_by(AUDIT.c.seq.desc()).limit(1)).first()


def _restore(
    project: Project, db: Connection, row: Row[Any], now_there: str | None, goal_text: str | None
) -> Change:
    present, goal = json.loads(now_there or "{}"), json.loads(goal_text or "{}")
    restorer(row.kind)(project, db, row.subject, present, goal)
    return Change(row.kind, row.subject, row.verb, before=present, after=goal)


def recover(project: Project) -> list[Change]:
    """Turn unfinished drafts into revisions and rulings; drafts whose place is gone are left for `check`."""
    author = people.someone(project).id
    rows = project.query(select(DRAFT).where(DRAFT.c.person_id == author).order_by(DRAFT.c.at)).all()
    changes = []
    for row in rows:
        try:
            changes.append(_finish(project, row.place, row.text))
        except (KeyError, Refusal):
            continue
    return [change for change in changes if change.seq]


def _finish(project: Project, place: str, text: str) -> Change:
    from annotator.actions.authoring import artifacts

    artifact_id, unit_id, field = artifacts.draft_parts(place)
    if artifact_id == artifacts.RULING:
        from annotator.actions.adjudication import ruling

        return ruling.finish_draft(project, unit_id, field, text)
    return artifacts.finish_draft(project, artifact_id, unit_id, field, text)
