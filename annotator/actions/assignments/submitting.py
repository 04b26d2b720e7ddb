"""Submitting a document and reopening it; agreement is frozen when all have submitted."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import update
from sqlalchemy.engine import Connection

from annotator.actions.assignments import agreements, assignments, reviewing
from annotator.actions.authoring import (
    annotating,
    artifacts,
    asked,
    criterion_weights,
    editable,
    question_types,
)
from annotator.actions.project.file import Project, record
from annotator.domain.experts.assignment import stage_of
from annotator.domain.kinds.artifact import Artifact, Document, Kind, State
from annotator.domain.kinds.documents import KINDS, lint
from annotator.domain.kinds.finding import Finding, hinders
from annotator.domain.material.item import Item
from annotator.domain.material.source import EXEMPLAR_TITLE, Source
from annotator.domain.material.transcript import doubts_about
from annotator.domain.texts.change import Change, now
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import ARTIFACT


def seal(project: Project, artifact_id: str, reason: str = "") -> Change:
    """Submit: the newest document becomes a sealed revision that no edit can touch. A consensus stays one.

    `reason` says why warnings were overridden. What is missing or out of bounds is asked of `lint` before.
    """
    with project.store.write() as db:
        newest = artifacts.read_open(project, db, artifact_id)
        artifact = newest.artifact
        if not artifact.document.units:
            raise Refusal(
                f"This {artifact.kind.value} is still empty.", "Write at least one unit before submitting."
            )
        reviewing.refuse_unfinished(project, artifact_id)
        if fault := criterion_weights.fault(project, artifact.document):
            raise Refusal(fault, "Change that before submitting; nothing is lost.")
        annotating.keep_scoring(project, db, artifact.kind, artifact.item_id, artifact_id)
        said = {"sealed": True, "reason": reason}
        image = artifacts.next_revision(project, db, newest, artifact.document, "seal", **said)
        state, at = State.CONSENSUS if artifact.state is State.CONSENSUS else State.SEALED, now()
        _set_state(db, artifact_id, state, sealed_at=at)
        if state is State.SEALED:
            assignments.mark_submitted(db, artifact.item_id, artifact.author_id, stage_of(artifact.kind), at)
        sealed = record(project, db, Change("artifact", artifact_id, "seal", None, image))
        agreements.freeze_when_ready(project, db, artifact.item_id, stage_of(artifact.kind))
        if artifact.kind is Kind.QUERY and not project.from_task:
            asked.take(project, db, [artifact.item_id])
        return sealed


def submit(
    project: Project, artifact: Artifact, item: Item, sources: Sequence[Source], reason: str
) -> Change:
    """Submit a document; Refusal, with each as its details, where errors or warnings without a reason are left."""
    findings = remarks(project, artifact.document, item, sources)
    if hinders(findings, reason):
        raise Refusal(
            f"Remarks on this {artifact.kind.value} are left.",
            "Correct what they name.",
            tuple(one.words(KINDS[artifact.kind].unit, artifact.document.units) for one in findings),
        )
    return seal(project, artifact.id, reason if findings else "")


def remarks(
    project: Project, document: Document[Any], item: Item, sources: Sequence[Source]
) -> list[Finding]:
    """What the guideline remarks on a document, and what rests on words that may never have been said."""
    text, weights = "\n\n".join(source.text for source in sources), criterion_weights.allowed(project)
    more = {"bar": question_types.bar(project)} if document.KIND is Kind.SELECTION else {}
    exemplar = any(source.title == EXEMPLAR_TITLE for source in sources)
    return [
        *lint(document, item.question, text, item.language, weights, exemplar=exemplar, **more),
        *doubts_about(sources, document.units),
    ]


def reopen(project: Project, artifact_id: str) -> Change:
    """Go on editing a sealed artifact, or a consensus, in a new revision; the sealed one stays as it is."""
    with project.store.write() as db:
        newest = artifacts.read_newest(db, artifact_id)
        artifact = newest.artifact
        if editable.is_open(project, artifact):
            raise Refusal("Only a sealed artifact can be reopened.", "You can continue editing this one.")
        if refusal := editable.refusal_of_others(project, artifact):
            raise refusal
        settled = artifact.state is State.CONSENSUS
        verb = editable.EDIT_CONSENSUS if settled else "reopen"
        image = artifacts.next_revision(project, db, newest, artifact.document, verb=verb)
        if not settled:
            _set_state(db, artifact_id, State.DRAFT)
            assignments.mark_submitted(
                db, artifact.item_id, artifact.author_id, stage_of(artifact.kind), None
            )
        return record(project, db, Change("artifact", artifact_id, verb, None, image))


def _set_state(db: Connection, artifact_id: str, state: State, **values: Any) -> None:
    db.execute(update(ARTIFACT).where(ARTIFACT.c.id == artifact_id).values(state=state.value, **values))
