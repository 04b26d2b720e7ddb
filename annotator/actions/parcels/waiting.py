"""Counts of waiting work for the current person, page by page."""

from sqlalchemy import text

from annotator.actions.adjudication import adjudicating
from annotator.actions.labelling import labels
from annotator.actions.project import people
from annotator.actions.project.file import Project, cached
from annotator.domain.experts.assignment import Role, Stage

_DRAFTS = text(
    "SELECT count(DISTINCT item_id) FROM artifact WHERE author_id = :me AND state = 'draft' AND kind <> 'labels'"
)
_ASSIGNED = text(
    "SELECT a.stage, a.submitted_at, a.item_id, i.retired FROM assignment a JOIN item i ON i.id = a.item_id "
    "WHERE a.person_id = :me AND a.trial = 1"
)
_RETURNED = text("SELECT count(*) FROM tray WHERE state = 'waiting'")
NOT_WRITTEN = (Stage.LABELLING, Stage.ADJUDICATION)


@cached
def counts(project: Project) -> dict[str, int]:
    """The number of waiting things: items to write for (Author), reports with open criteria (Label), conflicts to
    settle (Adjudicate), work to send (Send), returned work to decide on (People, for a coordinator).

    If nothing at all is assigned to a person, the items they have begun wait to be written on.
    """
    result = {
        "Author": _to_write(project),
        "Label": labels.left(project),
        "Adjudicate": _to_settle(project),
    }
    if project.from_task:
        from annotator.actions.parcels import tray

        result["Send"] = tray.outlook(project).count(tray.SendingOutcome.NEW)
    elif people.coordinates(project):
        with project.store.read() as db:
            result["People"] = db.execute(_RETURNED).scalar_one()
    return result


def _to_write(project: Project) -> int:
    me = people.someone(project).id
    with project.store.read() as db:
        assigned = db.execute(_ASSIGNED, {"me": me}).all()
        if not assigned:
            return int(db.execute(_DRAFTS, {"me": me}).scalar_one())
    waiting = {
        item_id
        for stage, submitted, item_id, retired in assigned
        if submitted is None and not retired and stage not in NOT_WRITTEN
    }
    return len(waiting)


def _to_settle(project: Project) -> int:
    """The conflicts of this person's queue; not queried for anyone who adjudicates nothing."""
    me = people.someone(project)
    with project.store.read() as db:
        rows = db.execute(_ASSIGNED, {"me": me.id}).all()
    if not me.has(Role.ADJUDICATOR) and all(stage != Stage.ADJUDICATION for stage, *_ in rows):
        return 0
    return adjudicating.conflicts(project)[me.id]
