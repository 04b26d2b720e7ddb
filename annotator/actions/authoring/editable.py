"""Permission to change an artifact: by whom, and whether it is open."""

from sqlalchemy import or_, select

from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.person import Role
from annotator.domain.kinds.artifact import Artifact, State
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import ADJUDICATION, REVISION

# The revision by which a consensus is opened for editing; the next sealed one closes it again.
EDIT_CONSENSUS = "edit consensus"


def refusal_of_others(project: Project, artifact: Artifact) -> Refusal | None:
    """Why the artifact is not for the person working to change, open or not; None for their own.

    A consensus is for those who answer for it, and one that adjudication made is changed there alone.
    """
    person, kind = people.someone(project), artifact.kind.value
    if artifact.state is State.CONSENSUS and _adjudicated(project, artifact.id):
        return Refusal(f"This {kind} was made by adjudication.", "Change it on the Adjudicate page.")
    answers = person.has(Role.COORDINATOR) or person.has(Role.ADJUDICATOR)
    shared = artifact.author_id == "" or artifact.state is State.CONSENSUS
    if artifact.author_id == person.id or (answers and shared):
        return None
    return Refusal(f"This {kind} is someone else's.", "Start your own for this item.")


def is_open(project: Project, artifact: Artifact) -> bool:
    """Whether the artifact can take another revision now; a consensus only after “Edit consensus”."""
    if artifact.state is not State.CONSENSUS:
        return artifact.state is State.DRAFT
    turning = or_(REVISION.c.sealed.is_(True), REVISION.c.verb == EDIT_CONSENSUS)
    question = select(REVISION.c.verb).where(REVISION.c.artifact_id == artifact.id, turning)
    with project.store.read() as db:
        return db.execute(question.order_by(REVISION.c.number.desc()).limit(1)).scalar() == EDIT_CONSENSUS


def objection(project: Project, artifact: Artifact) -> Refusal | None:
    """Why the artifact cannot be changed now by the person working; None when it can."""
    kind = artifact.kind.value
    if artifact.state is State.SEALED:
        return Refusal(f"This {kind} is sealed.", "Reopen it to continue; the sealed revision stays.")
    if refusal := refusal_of_others(project, artifact):
        return refusal
    if is_open(project, artifact):
        return None
    return Refusal(f"This {kind} is the consensus.", "“Edit consensus” opens it for changes.")


def _adjudicated(project: Project, artifact_id: str) -> bool:
    question = select(ADJUDICATION.c.id).where(ADJUDICATION.c.consensus_id == artifact_id).limit(1)
    with project.store.read() as db:
        return db.execute(question).first() is not None
