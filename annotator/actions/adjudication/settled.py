"""Closed adjudications, version by version, and why a person has nothing to adjudicate."""

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import select

from annotator.actions.assignments import adjudicators, agreements
from annotator.actions.consensus import consensus_versions, ruling_rows
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.adjudication import DROP, Origin
from annotator.domain.experts.agreement import Figure
from annotator.domain.experts.person import Role
from annotator.domain.kinds.artifact import State
from annotator.storage.tables import ARTIFACT, ITEM

Lacking = Literal["role", "items", "answers", "seals", "own", "others"]


@dataclass(frozen=True, slots=True)
class ClosedVersion:
    """One closed version, without who closed it or when.

    `origins` counts the units of the consensus by where they come from, `dropped` the rows that were left out;
    `repaired` is the agreement by the adjudicator's pairing, never the frozen one.
    """

    version: int
    units: int
    origins: dict[Origin, int]
    dropped: int
    repaired: tuple[Figure, ...]


def versions(project: Project, adjudication_id: str) -> list[ClosedVersion]:
    """The closed versions of an adjudication, the first one first; Refusal for anyone who may not adjudicate it."""
    with project.store.read() as db:
        found = ruling_rows.adjudication(db, adjudication_id)
        adjudicators.refuse_others(project, db, found)
        closed = consensus_versions.versions(db, adjudication_id)
    return [
        ClosedVersion(
            version=each.version,
            units=len(each.provenance),
            origins=dict(Counter(provenance.origin for provenance in each.provenance)),
            dropped=sum(row.take == DROP for row in each.rulings),
            repaired=each.repaired,
        )
        for each in closed
    ]


def lacking(project: Project) -> Lacking:
    """What stands between this person and something to adjudicate, when their queue is empty.

    Their role; items; answers; the seals of all who were asked; or all that is frozen is their own or others'.
    """
    person = people.someone(project)
    with project.store.read() as db:
        known = adjudicators.competence(project, db)
        if not person.has(Role.ADJUDICATOR) and not any(person.id in who for who in known.assigned.values()):
            return "role"
        if db.execute(select(ITEM.c.id).where(ITEM.c.retired.is_(False)).limit(1)).first() is None:
            return "items"
        frozen = agreements.all_frozen(project, db)
        sealed = select(ARTIFACT.c.id).where(
            ARTIFACT.c.state == State.SEALED.value, ARTIFACT.c.author_id != ""
        )
        answered = db.execute(sealed.limit(1)).first() is not None
    if not frozen:
        return "seals" if answered else "answers"
    return "own" if all(each.item_id in known.own for each in frozen) else "others"
