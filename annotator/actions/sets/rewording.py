"""Rewording a criterion that was ruled unclear, as a new version with the same id."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.adjudication import closing, ruling
from annotator.actions.assignments import adjudicators, submitting
from annotator.actions.authoring import annotating, artifacts, editable
from annotator.actions.consensus import consensus, consensus_versions
from annotator.actions.labelling import wordings
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.adjudication import AdjudicationState, Reason
from annotator.domain.experts.assignment import stage_of
from annotator.domain.kinds.artifact import Artifact, Kind, State, Unit
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import ADJUDICATION

FROM_REPORTS = Refusal("These units come from the reports.", "It was not written by anyone.")
WHY = "Judge and people disagree about it, and it was ruled unclear."


@dataclass(frozen=True, slots=True)
class RewordingPlace:
    """The page and place where a unit can be reworded; `refused` says why this person may not."""

    page: str
    place: dict[str, Any]
    refused: str = ""


def way(project: Project, protocol: str, item_id: str, unit_id: str) -> RewordingPlace:
    """Where what an item is judged by is worded, and whether the person working may; no page where nobody words it."""
    kind = PROTOCOLS[protocol].unit_kind
    if kind is None:
        return RewordingPlace("", {}, _words(FROM_REPORTS))
    with project.store.read() as db:
        artifact = annotating.judged_artifact(db, item_id, kind)
        if artifact is None:
            return RewordingPlace(
                "Author", {"item_id": item_id, "kind": kind.value}, "It is no longer used for judging."
            )
        found = _adjudication(db, artifact)
        if found is not None:
            known = adjudicators.competence(project, db, item_id)
            objection = known.objection(item_id, found.adjudicator_id)
            return RewordingPlace(
                "Adjudicate", {"item_id": item_id, "stage": stage_of(kind).value}, _words(objection)
            )
    unit = wordings.unit_of(artifact.document.units, unit_id)
    place = {"item_id": item_id, "kind": kind.value, "unit_id": unit.id if unit else ""}
    return RewordingPlace("Author", place, _words(_objection(project, artifact)))


def word(project: Project, protocol: str, item_id: str, unit_id: str, text: str, why: str = WHY) -> Change:
    """Give a unit other words in a new sealed version; every other unit stays as it is, ids and all.

    A consensus is reopened and closed as its next version. Refusal for anyone who may not, and where nothing changes.
    """
    people.refuse_others(project, "can reword criteria ruled unclear")
    with project.store.write() as db:
        artifact = annotating.judged_artifact(db, item_id, _kind(protocol))
        unit = wordings.unit_of(artifact.document.units, unit_id) if artifact else None
        if artifact is None or unit is None:
            raise Refusal("That criterion is no longer used.", "Read the list again.")
        if text.strip() in ("", unit.text.strip()):
            raise Refusal("That is its current wording.", "Change the wording first.")
        found = _adjudication(db, artifact)
        if found is not None:
            return _in_consensus(project, db, (found, artifact.kind), unit, text.strip(), why.strip() or WHY)
        return _in_artifact(project, artifact, unit.id, text.strip(), why)


def _kind(protocol: str) -> Kind:
    kind = PROTOCOLS[protocol].unit_kind
    if kind is None:
        raise FROM_REPORTS
    return kind


def _adjudication(db: Connection, artifact: Artifact) -> Any:
    if artifact.state is not State.CONSENSUS:
        return None
    question = select(ADJUDICATION.c.id, ADJUDICATION.c.state, ADJUDICATION.c.adjudicator_id)
    return db.execute(question.where(ADJUDICATION.c.consensus_id == artifact.id)).first()


def _objection(project: Project, artifact: Artifact) -> Refusal | None:
    if editable.refusal_of_others(project, artifact) is None:
        return None
    aliases = {person.id: person.alias for person in people.people(project)}
    who = aliases.get(artifact.author_id, "Somebody else")
    return Refusal(f"{who} wrote this {artifact.kind.value}.", f"Ask {who} to reopen it and reword it.")


def _words(refusal: Refusal | None) -> str:
    return f"{refusal.happened} {refusal.todo}" if refusal else ""


def _in_artifact(project: Project, artifact: Artifact, unit_id: str, text: str, why: str) -> Change:
    if objection := _objection(project, artifact):
        raise objection
    closed = not editable.is_open(project, artifact)
    if closed:
        submitting.reopen(project, artifact.id)
    change = artifacts.change_unit(project, artifact.id, unit_id, text=text)
    return submitting.seal(project, artifact.id, why) if closed else change


def _in_consensus(
    project: Project, db: Connection, settled: tuple[Any, Kind], unit: Unit, text: str, why: str
) -> Change:
    found, kind = settled
    if found.state != AdjudicationState.CLOSED.value:
        raise Refusal("The adjudication of this is open.", "Reword it there, and close it.")
    newest = consensus_versions.versions(db, found.id)[-1]
    of = next(each.ruling_id for each in newest.provenance if each.unit_id == unit.id)
    if sum(each.ruling_id == of for each in newest.provenance) > 1:
        raise Refusal("Its row keeps several wordings.", "Reword it on the Adjudicate page.")
    closing.reopen(project, found.id, why)
    given = unit.model_dump(mode="json", include=set(consensus.writable(kind)))
    ruling.write_own(project, of, **{**given, "text": text})
    ruling.explain(project, of, reason=Reason.WORDING, rationale=why)
    return closing.close(project, found.id)
