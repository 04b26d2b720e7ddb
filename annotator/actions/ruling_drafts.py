"""How what an adjudicator is typing outlives a crash: drafts of own wordings and of what is said for them."""

from sqlalchemy import select

from annotator.actions import artifacts, people, ruling_rows
from annotator.actions.project import Project

# In a draft's place, stands where other drafts have their artifact.
PLACE = artifacts.RULING


def save_draft(project: Project, ruling_id: str, field: str, text: str) -> None:
    """Keep what is being typed into a field of a row: of its own wording, its rationale or its gap."""
    artifacts.save_draft(project, PLACE, ruling_id, field, text)


def forget_draft(project: Project, ruling_id: str, field: str) -> None:
    """Drop a field's unfinished text: it was typed back to what the ruling says."""
    artifacts.forget_draft(project, PLACE, ruling_id, field)


def drafts(project: Project, adjudication_id: str) -> dict[tuple[str, str], str]:
    """This person's unfinished texts of an adjudication: (ruling's id, field) → text."""
    mine = select(artifacts.DRAFT).where(
        artifacts.DRAFT.c.person_id == people.someone(project).id,
        artifacts.DRAFT.c.place.startswith(f"{PLACE}|", autoescape=True),
    )
    with project.store.read() as db:
        ids = {ruling.id for ruling in ruling_rows.rulings(db, adjudication_id)}
        rows = db.execute(mine.order_by(artifacts.DRAFT.c.place)).all()
    found = ((artifacts.draft_parts(row.place), row.text) for row in rows)
    return {(ruling_id, field): text for (_, ruling_id, field), text in found if ruling_id in ids}
