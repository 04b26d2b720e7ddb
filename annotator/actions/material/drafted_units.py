"""How much of a release came from models' drafts: of what people wrote, and of the consensus made of it."""

from collections.abc import Mapping

from sqlalchemy.engine import Connection

from annotator.actions.authoring import draft_provenance
from annotator.actions.authoring.draft_provenance import Source
from annotator.domain.kinds.artifact import State
from annotator.exchange.release.bundle import Bundle
from annotator.exchange.release.gold_card import Drafted
from annotator.exchange.release.records import ArtifactRecord

CONSENSUS = "consensus"


def of_bundle(db: Connection, bundle: Bundle) -> tuple[Drafted, ...]:
    """The artifacts that leave and hold units from drafts, in their order.

    A unit of a consensus came from a draft when any answer it was made of did.
    """
    taken = draft_provenance.of_artifacts(db)
    if not taken:
        return ()
    made = _of_consensus(bundle, taken)
    aliases = {person.id: person.alias for person in bundle.people}
    found = []
    for artifact in sorted(bundle.artifacts, key=lambda one: one.id):
        ids = [unit["id"] for unit in artifact.document["units"]]
        known = {**made.get(artifact.id, {}), **taken.get(artifact.id, {})}
        standing = draft_provenance.standing(known, ids)
        if standing:
            settled = artifact.state is State.CONSENSUS
            author = CONSENSUS if settled else aliases.get(artifact.author_id, artifact.author_id)
            models = tuple(sorted({source.name for source in standing.values()}))
            found.append(Drafted(artifact.id, artifact.kind.value, author, len(standing), len(ids), models))
    return tuple(found)


def _of_consensus(bundle: Bundle, taken: Mapping[str, Mapping[str, Source]]) -> dict[str, dict[str, Source]]:
    """Consensus → its units that were made of drafted ones, by the last version of each adjudication."""
    own: dict[tuple[str, str], ArtifactRecord] = {
        (one.item_id, f"{one.kind.value}/{one.author_id}"): one for one in bundle.artifacts
    }
    last = {one.adjudication_id: one for one in sorted(bundle.adjudications, key=lambda one: one.version)}
    found: dict[str, dict[str, Source]] = {}
    for one in last.values():
        kind = one.stage.kind
        for unit in one.provenance if kind else ():
            for person, source_id in unit.sources.items():
                artifact = own.get((one.item_id, f"{kind.value}/{person}")) if kind else None
                source = taken.get(artifact.id, {}).get(source_id) if artifact else None
                if source is not None:
                    found.setdefault(one.artifact_id, {})[unit.unit_id] = source
    return found
