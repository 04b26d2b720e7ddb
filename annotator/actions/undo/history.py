"""Undo and redo, also after a restart, with the audit as the only list of changes."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, not_, or_, select, update
from sqlalchemy.engine import Connection

from annotator.actions.agreement import final_pass
from annotator.actions.authoring import annotating, artifacts, settings
from annotator.actions.items import items, materials
from annotator.actions.labelling import label_cases, label_sealing
from annotator.actions.labelling.labels import SEVERAL
from annotator.actions.project import people
from annotator.actions.project.file import USES, Project, record
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.publication import ERRATA, METADATA, WITHDRAWN
from annotator.domain.kinds.artifact import Document
from annotator.domain.kinds.documents import KINDS, document_of
from annotator.domain.texts.canonical import Change
from annotator.domain.texts.refusal import Refusal
from annotator.domain.texts.words import counted
from annotator.protocols import TAXONOMIES
from annotator.storage.tables import ADJUDICATION, AUDIT, DRAFT

# Puts the subject of a change from one image to another, or refuses because it has moved on.
Restorer = Callable[[Project, Connection, str, Any, Any], None]
# Every kind of change that can be taken back → the module whose `restore` does it. It is loaded when
# that is asked for: which changes can be undone must not hang on which pages were visited.
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
# What was there before is kept with these to be read, not to be put back: work of a run, not an edit.
OF_RUNS = frozenset({("judge", "set writer"), ("page", "fetch page"), ("page", "import page")})


def undo(project: Project) -> Change:
    """Take back this person's latest change that still stands; a Refusal says why when that cannot be."""
    with project.store.write() as db:
        row = _latest_standing(project, db)
        if row is None:
            raise Refusal("There is nothing to undo.")
        change = _restore(project, db, row, row.after, row.before)
        db.execute(update(AUDIT).where(AUDIT.c.seq == row.seq).values(undone=True))
        return record(project, db, change, undoes=row.seq)


def latest(project: Project) -> Change | None:
    """The change that `undo` would take back; None where there is none."""
    with project.store.read() as db:
        row = _latest_standing(project, db)
    if row is None:
        return None
    before, after = json.loads(row.before), json.loads(row.after or "{}")
    return Change(row.kind, row.subject, row.verb, before=before, after=after)


def redo(project: Project) -> Change:
    """Do again what was undone last, unless something else was changed since."""
    with project.store.write() as db:
        row = _latest_undone(project, db)
        if row is None:
            raise Refusal("There is nothing to redo.")
        change = _restore(project, db, row, row.before, row.after)
        db.execute(update(AUDIT).where(AUDIT.c.seq == row.seq).values(undone=False))
        return record(project, db, change, undoes=row.undo_seq)


def restorer(kind: str) -> Restorer:
    """What puts subjects of a kind back; KeyError for a kind that is not taken back."""
    result: Restorer = import_module(RESTORERS[kind]).restore
    return result


def _mine(project: Project) -> ColumnElement[bool]:
    of_runs = [and_(AUDIT.c.kind == kind, AUDIT.c.verb == verb) for kind, verb in sorted(OF_RUNS)]
    edits = and_(AUDIT.c.kind.in_(list(RESTORERS)), not_(or_(*of_runs)))
    return and_(AUDIT.c.by == project.by, edits, AUDIT.c.undoes.is_(None))


def _latest_standing(project: Project, db: Connection) -> Row[Any] | None:
    standing = and_(_mine(project), AUDIT.c.before.is_not(None), AUDIT.c.undone.is_(False))
    return db.execute(select(AUDIT).where(standing).order_by(AUDIT.c.seq.desc()).limit(1)).first()


def _latest_undone(project: Project, db: Connection) -> Row[Any] | None:
    # Only what was undone after this person's last change of their own can be done again.
    newest = select(AUDIT.c.seq).where(_mine(project)).order_by(AUDIT.c.seq.desc()).limit(1)
    last_own = db.execute(newest).scalar() or 0
    undoing = AUDIT.alias("undoing")
    return db.execute(
        select(AUDIT, undoing.c.seq.label("undo_seq"))
        .select_from(undoing)
        .join(AUDIT, AUDIT.c.seq == undoing.c.undoes)
        .where(undoing.c.seq > last_own, undoing.c.by == project.by, _mine(project), AUDIT.c.undone.is_(True))
        .order_by(undoing.c.seq.desc())
        .limit(1)
    ).first()


def _restore(
    project: Project, db: Connection, row: Row[Any], now_there: str | None, goal_text: str | None
) -> Change:
    present, goal = json.loads(now_there or "{}"), json.loads(goal_text or "{}")
    restorer(row.kind)(project, db, row.subject, present, goal)
    return Change(row.kind, row.subject, row.verb, before=present, after=goal)


def recover(project: Project) -> list[Change]:
    """Turn drafts into revisions and rulings; those whose place is gone are left for `check`."""
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
    artifact_id, unit_id, field = artifacts.draft_parts(place)
    if artifact_id == artifacts.RULING:
        from annotator.actions.adjudication import ruling

        return ruling.finish_draft(project, unit_id, field, text)
    return artifacts.finish_draft(project, artifact_id, unit_id, field, text)


@dataclass(frozen=True, slots=True)
class UndoneChange:
    words: str
    page: str
    place: dict[str, Any] = field(default_factory=dict)


def seen(project: Project, change: Change) -> UndoneChange:
    """How a change that was taken back or done again is told to anyone who does not have it in view."""
    return _SEEN[change.kind](project, change)


def _artifact(project: Project, change: Change) -> UndoneChange:
    artifact = artifacts.read(project, change.subject)
    numbers = [image["revision"] for image in (change.before, change.after)]
    revisions = {
        revision.number: revision.content for revision in artifacts.revisions(project, artifact.id, numbers)
    }
    was, now = (document_of(artifact.kind, revisions[number]) for number in numbers)
    unit_id, words = _differing(was, now)
    place = {
        "item_id": artifact.item_id,
        "kind": artifact.kind.value,
        **({"unit_id": unit_id} if unit_id in {unit.id for unit in now.units} else {}),
    }
    return UndoneChange(f"{words or change.verb}, item {_key(project, artifact.item_id)}", "Author", place)


def _differing(was: Document[Any], now: Document[Any]) -> tuple[str, str]:
    """The unit in which two documents differ first, and what differs in words; empty where no unit does."""
    name = KINDS[was.KIND].unit
    longer = was if len(was.units) > len(now.units) else now
    others = {unit.id: unit for unit in (now if longer is was else was).units}
    for number, unit in enumerate(longer.units, start=1):
        other = others.get(unit.id)
        if other is None:
            return unit.id, f"{name} {number}"
        if other != unit:
            fields = [each for each in type(unit).model_fields if getattr(unit, each) != getattr(other, each)]
            return unit.id, f"{', '.join(fields)} of {name} {number}"
    return "", ""


def _label(project: Project, change: Change) -> UndoneChange:
    image = change.after or change.before
    first = next(iter(image[SEVERAL].values()), None) if SEVERAL in image else image
    if not first:
        first = next(iter(change.before[SEVERAL].values()))
    if change.verb == label_sealing.OF_JUDGE:
        words = f"{change.verb}, item {_key(project, first['item_id'])}"
        return UndoneChange(words, "Validate", {"part": "Reviews"})
    taxonomy = TAXONOMIES.get(first["protocol"])
    place = {
        "protocol": taxonomy.of if taxonomy else first["protocol"],
        **{name: first[name] for name in ("response_id", "unit_id")},
    }
    return UndoneChange(f"{change.verb}, item {_key(project, first['item_id'])}", "Label", place)


def _ruling(project: Project, change: Change) -> UndoneChange:
    result = project.query(
        select(ADJUDICATION).where(ADJUDICATION.c.id == change.before["adjudication"])
    ).one()
    place = {"item_id": result.item_id, "stage": result.stage, "ruling_id": change.subject}
    return UndoneChange(
        f"{change.verb}, {result.stage} of item {_key(project, result.item_id)}", "Adjudicate", place
    )


def _informed(_project: Project, change: Change) -> UndoneChange:
    image = change.after or change.before
    part = "Disagreements" if image.get("label_of") else "Reviews"
    return UndoneChange(change.verb, "Validate", {"part": part})


def _item(project: Project, change: Change) -> UndoneChange:
    if several := change.before.get(items.SEVERAL):
        return UndoneChange(f"{change.verb}, {counted(len(several), 'item')}", "Items")
    return UndoneChange(f"{', '.join(change.before)} of item {_key(project, change.subject)}", "Items")


def _person(project: Project, change: Change) -> UndoneChange:
    names = {person.id: person.name for person in people.people(project)}
    words = f"{', '.join(change.before)} of {names.get(change.subject, 'a person')}"
    return UndoneChange(words, "People", {"part": "Team"})


def _at(page: str, **place: Any) -> Callable[[Project, Change], UndoneChange]:
    """The change under its own name, always seen in one place."""
    return lambda _project, change: UndoneChange(change.verb, page, place)


def _setting(_project: Project, change: Change) -> UndoneChange:
    if change.subject == label_sealing.SAMPLE:
        return UndoneChange(change.verb, "Validate", {"part": "Reviews"})
    if change.subject.startswith(final_pass.KEPT):
        return UndoneChange(change.verb, "Final pass")
    if change.subject in (materials.PAIRS, label_cases.BOTH_ORDERS):
        return UndoneChange(change.verb, "People", {"part": "Hand out"})
    if change.subject in (USES, METADATA):
        return UndoneChange(change.verb, "Project")
    if change.subject in (ERRATA, WITHDRAWN):
        return UndoneChange(change.verb, "Release")
    if change.subject in (settings.SETTING, annotating.RUBRIC_SET):
        return UndoneChange(change.verb, "Guidelines", {"stage": Stage.RUBRIC.value})
    return UndoneChange(change.verb, "Results")


def _key(project: Project, item_id: str) -> str:
    return items.read(project, item_id).key


_SEEN: Mapping[str, Callable[[Project, Change], UndoneChange]] = {
    "artifact": _artifact,
    "assignment": _at("People", part="Progress"),
    "contest": _at("Contest", part="Rank"),
    "extract": _at("Material", part="Extracts"),
    "family": _at("Validate", part="Attacks", families=True),
    "informed": _informed,
    "item": _item,
    "judge": _at("Judges", part="Judges"),
    "judgement": _label,
    "metadata": _at("Material", part="Reports"),
    "person": _person,
    "review": _at("Reviews"),
    "ruling": _ruling,
    "setting": _setting,
    "transcript": _at("Material", part="Transcripts"),
}
