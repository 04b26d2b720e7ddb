"""Recovery of drafts after a crash, each by the subject that it belongs to."""

from sqlalchemy import select

from annotator.actions.adjudication import ruling
from annotator.actions.authoring import artifacts
from annotator.actions.project import drafts, people
from annotator.actions.project.file import Project
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import DRAFT


def recover(project: Project) -> list[Change]:
    """Turn drafts into revisions and rulings; those whose place is gone are left for `check`."""
    author = people.someone(project).id
    with project.store.read() as db:
        rows = db.execute(select(DRAFT).where(DRAFT.c.person_id == author).order_by(DRAFT.c.at)).all()
    changes = []
    for row in rows:
        try:
            changes.append(_finish(project, row.place, row.text))
        except (KeyError, Refusal):
            continue
    return [change for change in changes if change.seq]


def _finish(project: Project, place: str, text: str) -> Change:
    artifact_id, unit_id, field = drafts.parts_of(place)
    if artifact_id == drafts.RULING:
        return ruling.finish_draft(project, unit_id, field, text)
    return artifacts.finish_draft(project, artifact_id, unit_id, field, text)
