"""Release records of double annotation: only what is frozen or closed may leave."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from sqlalchemy import select
from sqlalchemy.engine import Connection, RowMapping

from annotator.actions.agreement import assisted
from annotator.actions.assignments import agreements
from annotator.actions.consensus import consensus_versions, ruling_rows
from annotator.domain.experts.adjudication import ConsensusVersion, Dispute
from annotator.domain.kinds.artifact import Kind, State
from annotator.exchange.release.bundle import Bundle
from annotator.exchange.release.pair_records import (
    AdjudicationRecord,
    AgreementRecord,
    AssistedRecord,
    GuidelineRecord,
    RevisionRecord,
    adjudication_record,
)
from annotator.storage.tables import ARTIFACT, CONSENSUS_VERSION, DISPUTE, GUIDELINE, REVISION

# So many ids go into one question; any database takes as many.
AT_ONCE = 500
# An artifact's id and a revision's number.
Named = tuple[str, int]


def add(db: Connection, bundle: Bundle) -> None:
    """Add the work in pairs on the bundle's items, whose artifacts it holds already."""
    items = {item.id for item in bundle.items}
    frozen = [one for one in agreements.frozen(db) if one.item_id in items]
    bundle.guidelines = _guidelines(db)
    paired: defaultdict[str, list[AssistedRecord]] = defaultdict(list)
    for pair in assisted.stored(db, {one.id for one in frozen}):
        paired[pair.agreement_id].append(AssistedRecord(**dict(pair)))
    bundle.agreements = [AgreementRecord(**dict(one), assisted=tuple(paired[one.id])) for one in frozen]
    bundle.adjudications = _adjudications(db, items)
    bundle.revisions = _revisions(db, bundle)


def people_of(bundle: Bundle) -> set[str]:
    """Everybody whom these records name, by id."""
    found = {one.author_id for one in bundle.revisions}
    found |= {given.person_id for one in bundle.agreements for given in one.inputs}
    for one in bundle.adjudications:
        found |= {one.adjudicator_id, *one.letters.values()}
        found |= {dispute.person_id for dispute in one.disputes}
    return found


def _guidelines(db: Connection) -> list[GuidelineRecord]:
    columns = (GUIDELINE.c[name] for name in GuidelineRecord.model_fields)
    rows = db.execute(select(*columns).order_by(GUIDELINE.c.stage, GUIDELINE.c.version)).mappings()
    return [GuidelineRecord(**row) for row in rows]


def _adjudications(db: Connection, items: Collection[str]) -> list[AdjudicationRecord]:
    """Every closed version; an adjudication that was reopened leaves as its last version has it."""
    versions: defaultdict[str, list[ConsensusVersion]] = defaultdict(list)
    for row in db.execute(select(CONSENSUS_VERSION).order_by(CONSENSUS_VERSION.c.version)):
        versions[row.adjudication_id].append(consensus_versions.version_of(row))
    objections: defaultdict[tuple[str, str], list[Dispute]] = defaultdict(list)
    for found in db.execute(select(DISPUTE).order_by(DISPUTE.c.at, DISPUTE.c.id)).mappings():
        objections[found["item_id"], found["stage"]].append(Dispute(**found))
    return [
        adjudication_record(one, version, disputes)
        for one in ruling_rows.adjudications(db)
        if one.item_id in items
        for version, disputes in _with_disputes(versions[one.id], objections[one.item_id, one.stage])
    ]


def _with_disputes(
    versions: Sequence[ConsensusVersion], objections: Iterable[Dispute]
) -> Iterator[tuple[ConsensusVersion, list[Dispute]]]:
    """Each version with the objections that were raised while it stood."""
    raised: defaultdict[int, list[Dispute]] = defaultdict(list)
    for dispute in objections if versions else ():
        standing = [version.version for version in versions if version.at <= dispute.at]
        raised[max(standing, default=versions[0].version)].append(dispute)
    for version in versions:
        yield version, raised[version.version]


def _revisions(db: Connection, bundle: Bundle) -> list[RevisionRecord]:
    """The released revision of each artifact, and those that agreement and consensus rest on."""
    released = {(one.id, one.revision) for one in bundle.artifacts}
    wanted = released | {
        (given.artifact_id, given.revision) for one in bundle.agreements for given in one.inputs
    }
    wanted |= {(one.artifact_id, one.revision) for one in bundle.adjudications}
    wanted |= _newest_labels(db, {name for name, _ in wanted})
    made, contents = [], _contents(db, wanted - released)
    for row, skipped in _kept(db, wanted):
        content = contents.get((row["artifact_id"], row["revision"]))
        document = json.loads(content) if content is not None else None
        made.append(RevisionRecord(**{**row, "skipped": skipped}, document=document))
    return made


def _newest_labels(db: Connection, artifacts: Collection[str]) -> set[Named]:
    """Of people's labels, which leave as judgements, the newest sealed document where an earlier one must leave."""
    question = (
        select(REVISION.c.artifact_id, REVISION.c.number)
        .join(ARTIFACT, ARTIFACT.c.id == REVISION.c.artifact_id)
        .where(
            ARTIFACT.c.kind == Kind.LABELS.value,
            ARTIFACT.c.state != State.CONSENSUS.value,
            REVISION.c.sealed.is_(True),
        )
    )
    newest: dict[str, int] = {}
    for artifact_id, number in db.execute(question.order_by(REVISION.c.artifact_id, REVISION.c.number)):
        newest[artifact_id] = number
    return {(artifact_id, number) for artifact_id, number in newest.items() if artifact_id in artifacts}


def _contents(db: Connection, wanted: Collection[Named]) -> dict[Named, str]:
    ids = sorted({artifact_id for artifact_id, _ in wanted})
    found = {}
    for start in range(0, len(ids), AT_ONCE):
        question = select(REVISION.c.artifact_id, REVISION.c.number, REVISION.c.content).where(
            REVISION.c.artifact_id.in_(ids[start : start + AT_ONCE]), REVISION.c.sealed.is_(True)
        )
        for artifact_id, number, content in db.execute(question):
            if (artifact_id, number) in wanted:
                found[artifact_id, number] = content
    return found


def _kept(db: Connection, wanted: Collection[Named]) -> Iterator[tuple[RowMapping, list[str]]]:
    """Each wanted revision, and the hashes of those between it and the wanted one before it."""
    columns = ("artifact_id", "sealed", "at", "sha256", "chain", "guideline", "form", "reason", "skipped")
    question = (
        select(
            REVISION.c.number.label("revision"), *(REVISION.c[name] for name in columns),
            ARTIFACT.c.item_id, ARTIFACT.c.kind, ARTIFACT.c.author_id,
        )
        .join(ARTIFACT, ARTIFACT.c.id == REVISION.c.artifact_id)
        .order_by(REVISION.c.artifact_id, REVISION.c.number)
    )  # fmt: skip
    wanted_of = {artifact_id for artifact_id, _ in wanted}
    artifact_id, between = "", list[str]()
    for row in db.execute(question).mappings():
        if row["artifact_id"] not in wanted_of:
            continue
        if row["artifact_id"] != artifact_id:
            artifact_id, between = row["artifact_id"], []
        between += (row["skipped"] or "").split()
        if (row["artifact_id"], row["revision"]) in wanted:
            yield row, between
            between = []
        else:
            between.append(row["sha256"])
