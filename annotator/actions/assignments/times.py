"""Active working time, in stretches, never from opening to closing."""

from sqlalchemy import func, insert, select

from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.texts.change import new_id, now
from annotator.storage.tables import TIME


def spend(project: Project, subject: str, seconds: float) -> None:
    """Add active seconds this person spent on a subject (the id of a response, an artifact, an item)."""
    if seconds <= 0 or project.readonly:
        return
    row = {"id": new_id(), "person_id": people.someone(project).id, "subject": subject, "at": now()}
    with project.store.write() as db:
        db.execute(insert(TIME).values(**row, seconds=round(seconds, 1)))


def spent(project: Project, subject: str) -> float:
    question = select(func.coalesce(func.sum(TIME.c.seconds), 0.0)).where(
        TIME.c.person_id == people.someone(project).id, TIME.c.subject == subject
    )
    with project.store.read() as db:
        return float(db.execute(question).scalar_one())
