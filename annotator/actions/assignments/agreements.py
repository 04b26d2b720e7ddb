"""Freezing agreement: computed once, when all first submissions of a stage are in."""

import json
from collections.abc import Mapping
from itertools import combinations
from typing import Any

from sqlalchemy import Row, Select, insert, select
from sqlalchemy.engine import Connection

from annotator import __version__
from annotator.actions.assignments import reviewing
from annotator.actions.authoring import artifacts
from annotator.actions.authoring.artifacts import Drafted
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.experts.adjudication import Agreement, Figure, PairAgreement, SealedInput
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.kinds.artifact import Document, Kind, State
from annotator.domain.kinds.documents import document_of
from annotator.domain.texts.canonical import Change, canonical_json, derived_id, sha256
from annotator.storage.tables import AGREEMENT, ARTIFACT, ASSIGNMENT, REVISION

SEALABLE = (State.DRAFT.value, State.SEALED.value)


def freeze_when_ready(project: Project, db: Connection, item_id: str, stage: Stage) -> Agreement | None:
    """Freeze the agreement on a stage of an item if the last seal it waited for is in; None otherwise.

    None, too, when it was frozen before: whatever is sealed later never changes it; and where one person reviewed the
    other's draft, for they were not blind to each other. Said inside the transaction
    that wrote the seal, so that there is no seal without its agreement.
    """
    kind = stage.kind
    if (
        kind is None
        or db.execute(_stored(item_id, stage)).first()
        or reviewing.is_reviewed(db, item_id, kind)
    ):
        return None
    expected = expected_raters(db, item_id, stage)
    if len(expected) < 2:
        return None
    question = (
        select(REVISION, ARTIFACT.c.author_id)
        .join(ARTIFACT, ARTIFACT.c.id == REVISION.c.artifact_id)
        .where(*_own_work(item_id, kind), REVISION.c.sealed.is_(True))
        .order_by(ARTIFACT.c.author_id, REVISION.c.number)
    )
    first: dict[str, Row[Any]] = {}
    for row in db.execute(question):
        first.setdefault(row.author_id, row)
    sealed = first
    if not set(expected) <= sealed.keys():
        return None
    agreement = _computed(db, item_id, stage, kind, [sealed[person] for person in expected])
    keep(project, db, agreement)
    return agreement


def frozen_by(
    project: Project, item_id: str, stage: Stage, artifact_id: str, revision: int
) -> tuple[Figure, ...]:
    """The figures that the submission of a revision froze just now, told to a coordinator alone.

    They tell anyone else how others answered.
    """
    if not people.someone(project).has(Role.COORDINATOR):
        return ()
    with project.store.read() as db:
        agreement = of_stage(db, item_id, stage)
    inputs = {(one.artifact_id, one.revision) for one in agreement.inputs} if agreement else set()
    if agreement is None or (artifact_id, revision) not in inputs:
        return ()
    return agreement.figures or agreement.pairs[0].figures


def expected_raters(db: Connection, item_id: str, stage: Stage) -> list[str]:
    """Whose seals an agreement waits for, by id: the people assigned, or else everybody who has begun."""
    result = set(
        db.execute(
            select(ASSIGNMENT.c.person_id).where(
                ASSIGNMENT.c.item_id == item_id, ASSIGNMENT.c.stage == stage.value, ASSIGNMENT.c.trial == 1
            )
        ).scalars()
    )
    if not result and stage.kind is not None:
        result = set(
            db.execute(select(ARTIFACT.c.author_id).where(*_own_work(item_id, stage.kind))).scalars()
        )
    return sorted(result)


def of_stage(db: Connection, item_id: str, stage: Stage) -> Agreement | None:
    """The frozen agreement on one stage of an item, or None while there is none."""
    return next((_read(content) for content in db.execute(_stored(item_id, stage)).scalars()), None)


def of_item(project: Project, item_id: str) -> list[Agreement]:
    """The frozen agreements of an item, stage by stage.

    They name raters: what of them a person may see is decided by the question that shows them.
    """
    result = [_read(content) for content in project.query(_stored(item_id)).scalars()]
    order = list(Stage)
    return sorted(result, key=lambda agreement: order.index(agreement.stage))


def all_frozen(project: Project, db: Connection | None = None) -> list[Agreement]:
    """Every frozen agreement, by item and stage; in the transaction of `db` when that is given."""
    if db is None:
        with project.store.read() as own:
            return frozen(own)
    return frozen(db)


def frozen(db: Connection) -> list[Agreement]:
    return [_read(content) for content in db.execute(_stored()).scalars()]


def _stored(item_id: str = "", stage: Stage | None = None) -> Select[Any]:
    question = select(AGREEMENT.c.content).order_by(AGREEMENT.c.item_id, AGREEMENT.c.stage)
    if item_id:
        question = question.where(AGREEMENT.c.item_id == item_id)
    return question.where(AGREEMENT.c.stage == stage.value) if stage else question


def _read(content: str) -> Agreement:
    return Agreement.model_validate(json.loads(content))


def _own_work(item_id: str, kind: Kind) -> tuple[Any, ...]:
    return (
        ARTIFACT.c.item_id == item_id,
        ARTIFACT.c.kind == kind.value,
        ARTIFACT.c.author_id != "",
        ARTIFACT.c.state.in_(SEALABLE),
    )


def _computed(db: Connection, item_id: str, stage: Stage, kind: Kind, sealed: list[Row[Any]]) -> Agreement:
    # What compares is heavy to load, and most seals freeze nothing.
    from annotator.actions.authoring import comparing

    documents = {row.author_id: document_of(kind, json.loads(row.content)) for row in sealed}
    drafted = _drafted(db, sealed, documents)
    pairs = tuple(
        _noted(comparing.compare_raters(kind, documents, a, b), drafted)
        for a, b in combinations(sorted(documents), 2)
    )
    return Agreement(
        id=derived_id("agreement", item_id, stage.value),
        item_id=item_id,
        stage=stage,
        matcher=comparing.matcher(),
        program=__version__,
        frozen_at=max(row.at for row in sealed),
        inputs=tuple(
            SealedInput(
                person_id=row.author_id,
                artifact_id=row.artifact_id,
                revision=row.number,
                sha256=row.sha256,
                chain=row.chain,
                guideline=row.guideline,
                form=row.form,
                sealed_at=row.at,
            )
            for row in sealed
        ),
        pairs=pairs,
        figures=comparing.over_all(kind, item_id, pairs) if len(documents) > 2 else (),
    )


def _drafted(
    db: Connection, sealed: list[Row[Any]], documents: Mapping[str, Document[Any]]
) -> dict[str, Drafted]:
    taken = artifacts.of_artifacts(db, [row.artifact_id for row in sealed])
    units = {person: [unit.id for unit in document.units] for person, document in documents.items()}
    return {
        row.author_id: artifacts.standing(taken.get(row.artifact_id, {}), units[row.author_id])
        for row in sealed
    }


def _noted(pair: PairAgreement, drafted: Mapping[str, Drafted]) -> PairAgreement:
    """The same with a note on each figure when one model drafted for both; why one is undefined stays first."""
    note = artifacts.note(drafted[pair.a], drafted[pair.b])
    if not note:
        return pair
    figures = (
        figure.model_copy(update={"note": "; ".join(filter(None, (figure.note, note)))})
        for figure in pair.figures
    )
    return pair.model_copy(update={"figures": tuple(figures)})


def keep(project: Project, db: Connection, agreement: Agreement) -> None:
    content = canonical_json(agreement.model_dump(mode="json"))
    row = {
        "id": agreement.id, "item_id": agreement.item_id, "stage": agreement.stage.value,
        "content": content.decode(), "sha256": sha256(content), "frozen_at": agreement.frozen_at,
    }  # fmt: skip
    db.execute(insert(AGREEMENT), row)
    image = {"item_id": agreement.item_id, "stage": agreement.stage.value, "sha256": row["sha256"]}
    record(project, db, Change("agreement", agreement.id, "freeze", None, image))
