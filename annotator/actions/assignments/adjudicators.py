"""Eligible adjudicators: anyone assigned or with the role, never a person who answered the item."""

from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, select
from sqlalchemy.engine import Connection

from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.adjudication import Adjudication
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Person, Role
from annotator.domain.judges.judgement import RaterKind
from annotator.domain.kinds.artifact import State
from annotator.domain.texts.refusal import Refusal, RoleNeeded
from annotator.storage.tables import (
    ARTIFACT,
    ASSIGNMENT,
    JUDGEMENT,
)


@dataclass(frozen=True, slots=True)
class Competence:
    """What one person may adjudicate: `own` are items they answered, `assigned` the adjudicators of others."""

    person: Person
    own: frozenset[str]
    assigned: dict[str, frozenset[str]] = field(default_factory=dict)

    def objection(self, item_id: str, begun_by: str = "") -> Refusal | None:
        """Why this person may not adjudicate the item, or None; `begun_by` is who has opened it already."""
        if item_id in self.own:
            return Refusal(
                "You have written or labelled something for this item yourself.",
                "Someone else must adjudicate it.",
            )
        assigned = self.assigned.get(item_id, frozenset())
        if self.person.id in assigned or (self.person.id == begun_by and not assigned):
            return None
        if assigned or begun_by:
            return Refusal(
                "Someone else adjudicates this item.", "Ask the coordinator to assign it to you instead."
            )
        if not self.person.has(Role.ADJUDICATOR):
            return RoleNeeded(
                "You are not an adjudicator of this project.",
                "Ask the coordinator for that role.",
                Role.ADJUDICATOR,
            )
        return None


def competence(project: Project, db: Connection, item_id: str = "") -> Competence:
    """What the person working may adjudicate: of one item, or of all when none is named."""
    person = people.someone(project)
    assigned: dict[str, frozenset[str]] = {}
    question = select(ASSIGNMENT.c.item_id, ASSIGNMENT.c.person_id).where(
        ASSIGNMENT.c.stage == Stage.ADJUDICATION.value, *_only(ASSIGNMENT.c.item_id, item_id)
    )
    for of_item, person_id in db.execute(question):
        assigned[of_item] = assigned.get(of_item, frozenset()) | {person_id}
    return Competence(person, answered(db, person.id, item_id), assigned)


def answered(db: Connection, person_id: str, item_id: str = "") -> frozenset[str]:
    """The items a person has written or labelled something for, or is to; a consensus they made does not count."""
    written = select(ARTIFACT.c.item_id).where(
        ARTIFACT.c.author_id == person_id, ARTIFACT.c.state != State.CONSENSUS.value
    )
    asked = select(ASSIGNMENT.c.item_id).where(
        ASSIGNMENT.c.person_id == person_id, ASSIGNMENT.c.stage != Stage.ADJUDICATION.value
    )
    labelled = select(JUDGEMENT.c.item_id).where(
        JUDGEMENT.c.rater_id == person_id, JUDGEMENT.c.rater_kind == RaterKind.PERSON.value
    )
    questions = (
        written.where(*_only(ARTIFACT.c.item_id, item_id)),
        asked.where(*_only(ASSIGNMENT.c.item_id, item_id)),
        labelled.where(*_only(JUDGEMENT.c.item_id, item_id)).distinct(),
    )
    return frozenset(found for question in questions for found in db.execute(question).scalars())


def refuse_others(project: Project, db: Connection, adjudication: Adjudication) -> None:
    """Refusal unless the person working may resume this adjudication."""
    known = competence(project, db, adjudication.item_id)
    if objection := known.objection(adjudication.item_id, adjudication.adjudicator_id):
        raise objection


def _only(column: ColumnElement[str], item_id: str) -> tuple[ColumnElement[bool], ...]:
    return (column == item_id,) if item_id else ()
