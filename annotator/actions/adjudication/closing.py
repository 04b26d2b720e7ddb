"""Closing an adjudication into a consensus, a new artifact beside those it came from, and reopening it."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import update
from sqlalchemy.engine import Connection

from annotator.actions.adjudication import ruling
from annotator.actions.assignments import adjudicators
from annotator.actions.authoring import asked, criterion_weights
from annotator.actions.consensus import consensus, consensus_versions, letters, remarks, repaired, ruling_rows
from annotator.actions.consensus.consensus import Documents
from annotator.actions.project.file import Project, record
from annotator.domain.experts.adjudication import (
    DROP,
    OWN,
    Adjudication,
    AdjudicationState,
    ConsensusVersion,
    DisputeState,
    Reason,
    Ruling,
)
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS
from annotator.domain.texts.change import Change, derived_id, now
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import ADJUDICATION, DISPUTE


@dataclass(frozen=True, slots=True)
class Lacking:
    """What a row still needs before closing: `field` is “take”, “own” or “reason”, `words` a sentence about it."""

    ruling_id: str
    number: int
    field: str
    words: str


def missing(project: Project, adjudication_id: str) -> list[Lacking]:
    """What is to be done before this adjudication can be closed, row by row; empty when nothing is."""
    with project.store.read() as db:
        found = ruling_rows.adjudication(db, adjudication_id)
        adjudicators.refuse_others(project, db, found)
        rows, documents = ruling_rows.rulings(db, found.id), letters.documents(db, found)
    return _missing(letters.kind_of(found), rows, documents)


def _missing(kind: Kind, rows: list[Ruling], documents: Documents) -> list[Lacking]:
    return [
        Lacking(row.id, number, field, words)
        for number, row in enumerate(rows, start=1)
        for field, words in _lacks(kind, number, row, documents)
    ]


def _lacks(kind: Kind, number: int, row: Ruling, documents: Documents) -> list[tuple[str, str]]:
    if row.open:
        return [("take", f"Row {number} is undecided.")]
    lacks = []
    if row.take == OWN:
        unit = consensus.own_unit(kind, row, documents)
        says = getattr(unit, KINDS[kind].says)
        if says is None or not str(says).strip():
            lacks.append(("own", f"Your own wording of row {number} is empty."))
        elif letter := consensus.same_as(kind, row, documents):
            lacks.append(
                ("own", f"Your own wording of row {number} equals {letter}'s: take {letter}, or change it.")
            )
    if row.reason is None and _needs_reason(row):
        lacks.append(("reason", f"Row {number} needs a reason."))
    return lacks


def _needs_reason(row: Ruling) -> bool:
    """Whether someone's work is changed, left out, or passed over for another's."""
    if row.take in (DROP, OWN):
        return bool(row.members)
    return row.take in row.members and len(row.members) > 1 and not row.unanimous


def decide(
    project: Project, adjudication_id: str, takes: Mapping[int, str], reason: Reason | None
) -> list[Lacking]:
    """Decide rows by their numbers from 1, all or none, and close once nothing lacks; what still does.

    The number 0 stands for every open row: one that a letter did not write is dropped there. Refusal for a decision
    that needs a reason where none is given.
    """
    with project.store.write() as db:
        for number, take in takes.items():
            rows = ruling_rows.rulings(db, adjudication_id)
            if number > len(rows):
                raise Refusal(f"There is no row {number}.", f"There are {len(rows):,}. Nothing was decided.")
            for row in [rows[number - 1]] if number else [one for one in rows if one.open]:
                there = number or len(take) > 1 or take in row.members
                ruling.rule(project, row.id, take if there else DROP, reason=reason or row.reason or "")
        lacking = missing(project, adjudication_id)
        if bare := [one.words for one in lacking if one.field == "reason"]:
            raise Refusal("A reason is lacking; nothing was decided.", "Give one with --reason.", tuple(bare))
    if not lacking:
        close(project, adjudication_id)
    return lacking


def close(project: Project, adjudication_id: str) -> Change:
    """Make the consensus of what was ruled: its first version, or the next one after a reopening.

    Refusal with what is missing as its details.
    """
    with project.store.write() as db:
        return close_within(project, db, ruling_rows.working(project, db, adjudication_id))


def close_within(project: Project, db: Connection, found: Adjudication) -> Change:
    """`close` in a transaction that has made sure that the person may."""
    kind, documents = letters.kind_of(found), letters.documents(db, found)
    rows = ruling_rows.rulings(db, found.id)
    if lacking := _missing(kind, rows, documents):
        raise Refusal(
            "This adjudication is not finished.",
            "Complete the listed steps, then close it.",
            tuple(each.words for each in lacking),
        )
    made = [each for row in rows for each in consensus.made_of(kind, row, documents)]
    if not made:
        raise Refusal("The consensus would be empty.", "Keep or write at least one unit.")
    document = consensus_versions.linked(
        db, found.item_id, KINDS[kind].document(units=tuple(u for u, _ in made))
    )
    if fault := criterion_weights.fault(project, document):
        raise Refusal(
            f"The consensus cannot be closed like this. {fault}",
            "Every ruling is kept. Edit rows in your own wording until this is fixed, then close it.",
        )
    artifact_id = consensus_versions.artifact(db, found, kind)
    revision = consensus_versions.add_revision(project, db, artifact_id, document)
    version = ConsensusVersion(
        id=derived_id("consensus version", found.id, found.version + 1),
        adjudication_id=found.id,
        version=found.version + 1,
        artifact_id=artifact_id,
        revision=revision,
        provenance=tuple(provenance for _, provenance in made),
        rulings=tuple(rows),
        repaired=repaired.figures(kind, found.item_id, rows, documents),
        by=project.by,
        at=now(),
    )
    consensus_versions.keep(db, version)
    closed = _closed(project, db, found, version)
    if kind is Kind.QUERY:
        asked.take(project, db, [found.item_id])
    return closed


def _closed(project: Project, db: Connection, found: Adjudication, version: ConsensusVersion) -> Change:
    values = {
        "state": AdjudicationState.CLOSED.value, "version": version.version, "consensus_id": version.artifact_id,
        "closed_at": version.at,
    }  # fmt: skip
    adjudications = ADJUDICATION
    db.execute(update(adjudications).where(adjudications.c.id == found.id).values(**values))
    _answer_disputes(db, found, version.version)
    image = {"version": version.version, "artifact": version.artifact_id, "revision": version.revision}
    return record(project, db, Change("adjudication", found.id, "close", None, image))


def _answer_disputes(db: Connection, found: Adjudication, version: int) -> None:
    """A new version is the answer to every dispute that waited for one."""
    waiting = (
        DISPUTE.c.item_id == found.item_id,
        DISPUTE.c.stage == found.stage.value,
        DISPUTE.c.state == DisputeState.OPEN.value,
    )
    values = {"state": DisputeState.ANSWERED.value, "answered_version": version}
    db.execute(update(DISPUTE).where(*waiting).values(**values))


def reopen(project: Project, adjudication_id: str, reason: str) -> Change:
    """Take up a closed adjudication again; the consensus of its last version stands until the next is closed."""
    with project.store.write() as db:
        found = ruling_rows.adjudication(db, adjudication_id)
        adjudicators.refuse_others(project, db, found)
        if found.state is not AdjudicationState.CLOSED:
            raise Refusal("This adjudication is not closed.", "You can continue with it.")
        remarks.add(project, db, found.id, reason)
        adjudications = ADJUDICATION
        values = {"state": AdjudicationState.REOPENED.value}
        db.execute(update(adjudications).where(adjudications.c.id == found.id).values(**values))
        image = {"version": found.version, "reason": reason.strip()}
        return record(project, db, Change("adjudication", found.id, "reopen", None, image))
