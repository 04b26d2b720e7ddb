"""Storage of a consensus: one artifact, a sealed revision per closing, and the origin of every unit."""

from collections.abc import Mapping
from typing import Any

import orjson
from sqlalchemy import Row, insert, select, update
from sqlalchemy.engine import Connection

from annotator.actions.authoring import artifacts
from annotator.actions.project.file import Project
from annotator.domain.experts.adjudication import Adjudication, ConsensusVersion
from annotator.domain.kinds.artifact import Document, Kind, State, Unit, stage_of
from annotator.domain.kinds.documents import KINDS
from annotator.domain.texts.canonical import canonical_json, sha256
from annotator.domain.texts.change import derived_id, now
from annotator.storage.tables import (
    ADJUDICATION,
    ARTIFACT,
    CONSENSUS_VERSION,
    REVISION,
)

DETAIL = ("provenance", "rulings", "repaired")


def artifact(db: Connection, found: Adjudication, kind: Kind) -> str:
    """The id of the consensus, which is begun now if there is none yet."""
    if found.consensus_id:
        return found.consensus_id
    artifact_id = derived_id("consensus", found.id)
    row = {
        "id": artifact_id, "item_id": found.item_id, "kind": kind.value, "author_id": found.adjudicator_id,
        "state": State.CONSENSUS.value, "revision": 0,
    }  # fmt: skip
    db.execute(insert(ARTIFACT).values(**row))
    return artifact_id


def add_revision(project: Project, db: Connection, artifact_id: str, document: Document[Any]) -> int:
    """A sealed revision of the consensus, chained to the one before; its number."""
    newest = select(REVISION.c.number, REVISION.c.chain).where(REVISION.c.artifact_id == artifact_id)
    last = db.execute(newest.order_by(REVISION.c.number.desc()).limit(1)).first()
    number, previous = (last.number + 1, last.chain) if last else (1, "")
    artifacts.write_revision(
        project, db, artifact_id, document, "close", number=number, previous=previous, sealed=True
    )
    values = {"sealed_at": now(), "state": State.CONSENSUS.value}
    db.execute(update(ARTIFACT).where(ARTIFACT.c.id == artifact_id).values(**values))
    return number


def linked(db: Connection, item_id: str, document: Document[Any]) -> Document[Any]:
    """A document whose units name what they are made of as the consensus has it, where that was raters' own.

    The link to an insight or inspiration that the consensus does not hold is dropped; before there is one, links stay
    as they are.
    """
    if (made_of := KINDS[document.KIND].made_of) is None:
        return document
    field, kind = made_of
    question = select(CONSENSUS_VERSION.c.content).join(
        ADJUDICATION, ADJUDICATION.c.id == CONSENSUS_VERSION.c.adjudication_id
    )
    latest = question.where(ADJUDICATION.c.item_id == item_id, ADJUDICATION.c.stage == stage_of(kind).value)
    content = db.execute(latest.order_by(CONSENSUS_VERSION.c.version.desc()).limit(1)).scalar()
    if content is None:
        return document
    standing = {
        source: each["unit_id"]
        for each in orjson.loads(content)["provenance"]
        for source in (*each["sources"].values(), each["unit_id"])
    }
    return document.with_units(tuple(_linked(unit, field, standing) for unit in document.units))


def _linked(unit: Unit, field: str, standing: Mapping[str, str]) -> Unit:
    """A unit with its links, one or several, to what stands."""
    named = getattr(unit, field)
    if isinstance(named, str):
        return unit.model_copy(update={field: standing.get(named, "")})
    kept = dict.fromkeys(standing[one] for one in named if one in standing)
    return unit.model_copy(update={field: tuple(kept)})


def keep(db: Connection, version: ConsensusVersion) -> None:
    """Add a closed version; none is ever changed."""
    db.execute(insert(CONSENSUS_VERSION), row(version))


def row(version: ConsensusVersion) -> dict[str, Any]:
    tree = version.model_dump(mode="json")
    content = canonical_json({name: tree[name] for name in DETAIL})
    keys = version.model_dump(exclude=set(DETAIL))
    return {**keys, "content": content.decode(), "sha256": sha256(content)}


def versions(db: Connection, adjudication_id: str) -> list[ConsensusVersion]:
    """The closed versions of an adjudication, the first one first."""
    question = (
        select(CONSENSUS_VERSION)
        .where(CONSENSUS_VERSION.c.adjudication_id == adjudication_id)
        .order_by(CONSENSUS_VERSION.c.version)
    )
    return [version_of(row) for row in db.execute(question)]


def version_of(row: Row[Any]) -> ConsensusVersion:
    columns = {name: row._mapping[name] for name in ConsensusVersion.model_fields if name not in DETAIL}
    return ConsensusVersion.model_validate({**columns, **orjson.loads(row.content)})
