"""Drafts: unfinished typing, stored at once under the name of its place so that it survives a crash."""

from sqlalchemy import bindparam, delete, insert
from sqlalchemy.engine import Connection

from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.texts.canonical import checked_text
from annotator.domain.texts.change import now
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import DRAFT

# The field of a document itself that may be typed into; its drafts name no unit.
REMARK = "remark"
# Stand in the place of an artifact: of an adjudicator's drafts, whose units are rulings, and of reference material.
RULING, REFERENCE = "ruling", "reference"
_ADD = insert(DRAFT)
_DROP = delete(DRAFT).where(
    DRAFT.c.place == bindparam("at_place"), DRAFT.c.person_id == bindparam("of_person")
)


def place_of(artifact_id: str, unit_id: str, field: str) -> str:
    """The name under which a field's unfinished text is kept."""
    return f"{artifact_id}|{unit_id}|{field}"


def parts_of(place: str) -> tuple[str, str, str]:
    """The artifact, unit and field that a draft's place names; an id in the middle may hold any character."""
    artifact_id, _, rest = place.partition("|")
    unit_id, _, field = rest.rpartition("|")
    return artifact_id, unit_id, field


def save(project: Project, artifact_id: str, unit_id: str, field: str, text: str) -> None:
    """Keep what is being typed; it becomes a revision, or a ruling, when the field is left."""
    try:
        checked_text(text)
    except ValueError as error:
        raise Refusal(f"The text {error}.", "Remove that character; the rest of the text is kept.") from None
    place, author = place_of(artifact_id, unit_id, field), people.someone(project).id
    with project.store.write() as db:
        drop(project, db, place)
        db.execute(_ADD, {"place": place, "person_id": author, "text": text, "at": now()})


def forget(project: Project, artifact_id: str, unit_id: str, field: str) -> None:
    """Drop a field's unfinished text: it was typed back to what is kept."""
    with project.store.write() as db:
        drop(project, db, place_of(artifact_id, unit_id, field))


def drop(project: Project, db: Connection, place: str) -> None:
    db.execute(_DROP, {"at_place": place, "of_person": people.someone(project).id})
