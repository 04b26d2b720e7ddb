"""The documents of an adjudication under letters: the revisions that agreement was frozen over."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.domain.experts.adjudication import Adjudication
from annotator.domain.experts.agreement import Agreement
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Document, Kind, Unit
from annotator.domain.kinds.documents import KINDS, document_of
from annotator.domain.kinds.labels import UNSURE, Label
from annotator.domain.kinds.weights import USUAL, Weights
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import AGREEMENT, REVISION


def kind_of(adjudication: Adjudication) -> Kind:
    return kind_of_stage(adjudication.stage)


def kind_of_stage(stage: Stage) -> Kind:
    """The kind of document of a stage; Refusal for the stage that makes none."""
    if stage.kind is None:
        raise Refusal("An adjudication is not itself adjudicated.", "Choose another stage.")
    return stage.kind


def agreement(db: Connection, agreement_id: str) -> Agreement:
    """A frozen agreement; it names raters, and no question of an adjudicator may hand it on."""
    content = db.execute(select(AGREEMENT.c.content).where(AGREEMENT.c.id == agreement_id)).scalar_one()
    return Agreement.model_validate(json.loads(content))


def documents(db: Connection, adjudication: Adjudication) -> dict[str, Document[Any]]:
    """Letter → that rater's sealed document."""
    return sealed(db, agreement(db, adjudication.agreement_id), adjudication.letters)


def sealed(db: Connection, frozen: Agreement, letters: Mapping[str, str]) -> dict[str, Document[Any]]:
    """Letter → the document that went into a frozen agreement."""
    kind = kind_of_stage(frozen.stage)
    of_person = {}
    for rater in frozen.inputs:
        wanted = REVISION.c.artifact_id == rater.artifact_id, REVISION.c.number == rater.revision
        content = db.execute(select(REVISION.c.content).where(*wanted)).scalar_one()
        of_person[rater.person_id] = document_of(kind, json.loads(content))
    return {letter: of_person[person] for letter, person in letters.items()}


def values(kind: Kind, unit: Unit | None, weights: Weights = USUAL) -> tuple[str, ...]:
    """What can be said of a unit where that is a choice: what a first vote or another value may be.

    `weights` are those that the project allows.
    """
    if isinstance(unit, Label):
        known = PROTOCOLS.get(unit.protocol)
        return (*known.scale.best_first, UNSURE) if known else ()
    field = KINDS[kind].under(weights).voted
    return tuple(_said(value) for value, *_ in field.options) if field else ()


def said(kind: Kind, unit: Unit) -> str:
    """A unit's value in the words of a vote: true, 3, vital …; empty where it has none."""
    field = KINDS[kind].voted
    return _said(getattr(unit, field.name)) if field else ""


def _said(value: Any) -> str:
    return "" if value is None else str(value).lower()
