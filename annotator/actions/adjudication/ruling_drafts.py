"""How what an adjudicator is typing outlives a crash: drafts of own wordings and of what is said for them."""

from sqlalchemy import select

from annotator.actions.consensus import ruling_rows
from annotator.actions.project import drafts, people
from annotator.actions.project.file import Project

# In a draft's place, stands where other drafts have their artifact.
PLACE = drafts.RULING


def save_draft(project: Project, ruling_id: str, field: str, text: str) -> None:
    """Keep what is being typed into a field of a row: of its own wording, its rationale or its gap."""
    drafts.save(project, PLACE, ruling_id, field, text)


def forget_draft(project: Project, ruling_id: str, field: str) -> None:
    """Drop a field's unfinished text: it was typed back to what the ruling says."""
    drafts.forget(project, PLACE, ruling_id, field)


def kept(project: Project, adjudication_id: str) -> dict[tuple[str, str], str]:
    """This person's unfinished texts of an adjudication: (ruling's id, field) → text."""
    mine = select(drafts.DRAFT).where(
        drafts.DRAFT.c.person_id == people.someone(project).id,
        drafts.DRAFT.c.place.startswith(f"{PLACE}|", autoescape=True),
    )
    with project.store.read() as db:
        ids = {ruling.id for ruling in ruling_rows.rulings(db, adjudication_id)}
        rows = db.execute(mine.order_by(drafts.DRAFT.c.place)).all()
    found = ((drafts.parts_of(row.place), row.text) for row in rows)
    return {(ruling_id, field): text for (_, ruling_id, field), text in found if ruling_id in ids}
