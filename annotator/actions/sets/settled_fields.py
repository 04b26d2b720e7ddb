"""Labels of what gold holds made the gold's own, such as which of its references are important."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from annotator.actions.assignments import agreements, reviewing, submitting
from annotator.actions.authoring import annotating, artifacts, editable
from annotator.actions.authoring.comparing import aligned
from annotator.actions.judges import judges
from annotator.actions.labelling import label_cases
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import result_raters
from annotator.actions.results.result_raters import CONSENSUS, PERSON_KEY
from annotator.actions.sets import reviews
from annotator.domain.experts.assignment import stage_of
from annotator.domain.kinds.artifact import Artifact, Document, Kind
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import ITEM


@dataclass(frozen=True, slots=True)
class SettledItem:
    """An item whose gold was labelled: how many units say something else now, or why nothing was changed."""

    item_key: str
    labelled: int
    changed: int
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class OfferedMarks:
    """What a judge said of units of a document whose author has said nothing: unit id → the value of that `field`."""

    judge: str
    field: str
    values: Mapping[str, str]

    def left(self, document: Document[Any]) -> dict[str, dict[str, str]]:
        """What of it the document, which may have been changed since, does not say yet: by unit, its field."""
        known = (unit for unit in document.units if unit.id in self.values)
        return {one.id: {self.field: self.values[one.id]} for one in known if not getattr(one, self.field)}


def settled_by() -> list[str]:
    """The protocols whose labels can become a field of the gold."""
    return [name for name, shape in PROTOCOLS.items() if shape.settles]


def offered(project: Project, artifact: Artifact) -> OfferedMarks | None:
    """What the judge that ran last labelled of the units of a document that its author may change.

    None for a person who is still to label the item blind, and before those who write it independently have all
    submitted: their agreement is to be their own. The baseline is left out.
    """
    shape = next(
        (PROTOCOLS[name] for name in settled_by() if PROTOCOLS[name].unit_kind is artifact.kind), None
    )
    if shape is None or editable.objection(project, artifact) or _blind(project, artifact):
        return None
    with project.store.read() as db:
        gold = annotating.judged_artifact(db, artifact.item_id, artifact.kind)
    units, own = gold.document.units if gold else (), artifact.document.units
    named = {units[j].id: own[i].id for i, j, _ in aligned(artifact.kind, own, units).pairs}
    offers = (
        OfferedMarks(
            judge.name,
            shape.settles,
            {named[u]: v for _, _, u, v in result_raters.spoken(project, shape, judge.id) if u in named},
        )
        for judge in result_raters.raters(project, shape.name)
        if judge.kind and not judge.floor
    )
    return next((one for one in offers if one.left(artifact.document)), None)


def _blind(project: Project, artifact: Artifact) -> bool:
    item_id, kind, stage = artifact.item_id, artifact.kind, stage_of(artifact.kind)
    with project.store.read() as db:
        alone = len(agreements.expected_raters(db, item_id, stage)) < 2 or reviewing.is_reviewed(
            db, item_id, kind
        )
        compared = alone or agreements.of_stage(db, item_id, stage) is not None
    return not compared or item_id in reviews.still_blind(project, people.someone(project).id)


def take_over(project: Project, protocol: str, rater: str = CONSENSUS) -> list[SettledItem]:
    """Give the gold's units what a rater said of them, in one transaction: the consensus, a person, or a judge.

    What was not labelled keeps what it has. A document that adjudication made, or that is someone's own, stays as it
    is and is told. Refusal where the rater said nothing.
    """
    people.refuse_others(project, "can make labels the gold's own")
    shape = label_cases.shape_of(project, protocol)
    if not shape.settles or shape.unit_kind is None:
        raise Refusal(
            f"{shape.title}: these labels are no field of the gold.", f"Use one of {', '.join(settled_by())}."
        )
    said: dict[str, str] = {}
    for _, _, unit_id, value in result_raters.spoken(project, shape, _rater(project, rater)):
        if said.setdefault(unit_id, value) != value:
            raise Refusal(
                "A unit was labelled in two ways.", "Adjudicate the labels, and take the consensus."
            )
    if not said:
        raise Refusal(
            f"{shape.title}: {rater} has said nothing that counts.",
            "Nothing was changed; name another rater.",
        )
    with project.store.write():
        return _taken(project, shape.unit_kind, shape.settles, said)


def _rater(project: Project, name: str) -> str:
    if name == CONSENSUS:
        return CONSENSUS
    known = {one.name: one.id for one in judges.all_of(project)}
    return known.get(name) or f"{PERSON_KEY}{people.known(project, name).id}"


def _taken(project: Project, kind: Kind, field: str, said: dict[str, str]) -> list[SettledItem]:
    found, ordered = list[SettledItem](), select(ITEM.c.id, ITEM.c.key).where(ITEM.c.retired.is_(False))
    with project.store.read() as db:
        keys = dict(db.execute(ordered.order_by(ITEM.c.position, ITEM.c.key)).all())
        rows = annotating.judged_rows(db, kind)
    for item_id in [one for one in keys if one in rows]:
        artifact = artifacts.artifact_of(rows[item_id])
        own = [unit for unit in artifact.document.units if unit.id in said]
        other = {unit.id: {field: said[unit.id]} for unit in own if getattr(unit, field) != said[unit.id]}
        why = _put(project, artifact.id, other, f"take over {field}") if other else ""
        if own:
            found.append(SettledItem(keys[item_id], len(own), 0 if why else len(other), why))
    return found


def _put(project: Project, artifact_id: str, given: dict[str, dict[str, str]], verb: str) -> str:
    """A further sealed revision; why there is none, if so."""
    try:
        submitting.reopen(project, artifact_id)
    except Refusal as refusal:
        return str(refusal)
    artifacts.change_units(project, artifact_id, given, verb)
    submitting.seal(project, artifact_id)
    return ""
