"""Model families of systems and judges: read from their names until a person says otherwise."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.judges.families import family_of
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import SYSTEM

SETTING = "families"
NONE = "none"
LONGEST = 80


@dataclass(frozen=True, slots=True)
class FamilyMember:
    """A system or judge with its model family, empty if unknown; `said` if a person entered it."""

    id: str
    name: str
    judge: bool
    model: str
    family: str
    said: bool


def members(project: Project) -> list[FamilyMember]:
    """Every system, then every judge that asks a model."""
    kept: dict[str, str] = project.get(SETTING, {})
    with project.store.read() as db:
        systems = db.execute(select(SYSTEM.c.id, SYSTEM.c.name).order_by(SYSTEM.c.name)).all()
    found = [_member(kept, row.id, row.name, "", judge=False) for row in systems]
    for one in judges.all_of(project):
        if one.kind == JudgeKind.ENDPOINT:
            found.append(_member(kept, one.id, one.name, one.model, judge=True))
    return found


def _member(kept: dict[str, str], id_: str, name: str, model: str, *, judge: bool) -> FamilyMember:
    told = family_of(model) or family_of(name)
    family = kept.get(id_, told)
    return FamilyMember(id_, name, judge, model, "" if family == NONE else family, id_ in kept)


def set_family(project: Project, name: str, family: str) -> Change:
    """Say to which family a system or a judge of that name belongs: “none”, or empty for what its name tells."""
    people.refuse_others(project, "can set the family of a model")
    chosen = [one for one in members(project) if one.name == name]
    if not chosen:
        known = ", ".join(f"“{one.name}”" for one in members(project))
        raise Refusal(f"There is no system and no judge “{name}”.", f"Available: {known}.")
    family = " ".join(family.split())
    if len(family) > LONGEST:
        raise Refusal("That is not a developer's name.", f"Use at most {LONGEST} characters.")
    kept: dict[str, str] = dict(project.get(SETTING, {}))
    changed = {one.id for one in chosen}
    after = {id_: said for id_, said in kept.items() if id_ not in changed}
    after |= dict.fromkeys(changed, family) if family else {}
    with project.store.write() as db:
        project.set(SETTING, after)
        return record(project, db, Change("family", SETTING, "set family", kept, after))


def restore(project: Project, _: Connection, subject: str, present: Any, goal: Any) -> None:
    """Put the subject of a change from one image to another; Refusal when it has moved on."""
    if project.get(subject, {}) != present:
        raise Refusal("Families were changed elsewhere since.", "Look again; nothing was undone.")
    project.set(subject, goal)
