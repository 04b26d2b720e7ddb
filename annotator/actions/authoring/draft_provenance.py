"""Units that came from a model's draft, according to the audit."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.project.file import Project, record
from annotator.domain.kinds.artifact import DraftSource
from annotator.domain.texts.change import Change
from annotator.domain.texts.counting import counted
from annotator.storage.tables import ARTIFACT, AUDIT, CONSENSUS_VERSION

# With what the verb of such a revision begins.
TAKEN = "from a model's draft"
# What the note on a frozen figure says when both sides have units of one model's.
COMMON = "came from one model's draft"
_LONGEST_VERB, _SHOWN_OF_ID = 60, 8
_ABOUT = "from_draft"


Drafted = Mapping[str, DraftSource]
"""Unit id → where it was taken from."""


def verb(source: DraftSource) -> str:
    """What a revision with such units is called: it names the model and, by its first letters, the extract."""
    end = f" {source.draft[:_SHOWN_OF_ID]}"
    room = _LONGEST_VERB - len(f"{TAKEN}: {end}")
    name = source.name if len(source.name) <= room else f"{source.name[: room - 1]}…"
    return f"{TAKEN}: {name}{end}"


def about(units: Mapping[str, str], source: DraftSource) -> dict[str, Any]:
    """What is kept with the change that takes units: id in the document → id in the draft, and where from."""
    return {_ABOUT: {**asdict(source), "units": dict(units)}}


def of_artifacts(
    db: Connection, artifact_ids: Iterable[str] | None = None
) -> dict[str, dict[str, DraftSource]]:
    """Artifact → the units that were ever taken into it from a draft; of some artifacts, or of all that have any.

    A unit that was retired again is still told of: what counts is which of them stand in a document.
    """
    question = select(AUDIT.c.subject, AUDIT.c.after).where(
        AUDIT.c.kind == "artifact", AUDIT.c.verb.like(f"{TAKEN}:%")
    )
    if artifact_ids is not None:
        question = question.where(AUDIT.c.subject.in_(list(artifact_ids)))
    found: defaultdict[str, dict[str, DraftSource]] = defaultdict(dict)
    for artifact_id, after in db.execute(question.order_by(AUDIT.c.seq)):
        said = json.loads(after or "{}").get(_ABOUT)
        if said:
            source = DraftSource(said["draft"], said["judge"], said["model"])
            found[artifact_id] |= dict.fromkeys(said["units"], source)
    return dict(found)


def with_consensus(db: Connection) -> dict[str, dict[str, DraftSource]]:
    """The same of all artifacts, and of each consensus by its last version.

    A unit of a consensus came from a draft when any answer it was made of did.
    """
    taken = of_artifacts(db)
    if not taken:
        return {}
    items = dict(db.execute(select(ARTIFACT.c.id, ARTIFACT.c.item_id)).all())
    known = {
        (items[one], unit): source
        for one, units in taken.items()
        if one in items
        for unit, source in units.items()
    }
    versions = select(CONSENSUS_VERSION.c.artifact_id, CONSENSUS_VERSION.c.content)
    last: dict[str, dict[str, DraftSource]] = {}
    for artifact_id, content in db.execute(versions.order_by(CONSENSUS_VERSION.c.version)):
        last[artifact_id] = {
            unit["unit_id"]: known[items[artifact_id], answer]
            for unit in json.loads(content)["provenance"]
            for answer in unit["sources"].values()
            if (items[artifact_id], answer) in known
        }
    return {one: taken.get(one, {}) | last.get(one, {}) for one in {*taken, *last}}


def remember(project: Project, db: Connection, artifact_id: str, drafted: Drafted) -> None:
    """Keep what came with work from elsewhere: which of its units its author took from a draft there."""
    known = of_artifacts(db, [artifact_id]).get(artifact_id, {})
    by_source: defaultdict[DraftSource, dict[str, str]] = defaultdict(dict)
    for unit_id, source in drafted.items():
        if unit_id not in known:
            by_source[source][unit_id] = ""
    for source, units in by_source.items():
        after = about(units, source)
        record(project, db, Change("artifact", artifact_id, verb(source), None, after))


def note(a: Drafted, b: Drafted) -> str:
    """What must be known of an agreement when both sides took units from drafts of one model; empty otherwise."""
    drafts = {source.draft for source in a.values()} & {source.draft for source in b.values()}
    models = {source.name for source in a.values()} & {source.name for source in b.values()}
    if not drafts and not models:
        return ""
    named = ", ".join(sorted(models)).replace(";", ",")
    whose = f"{COMMON}, the same for both" if drafts else f"{COMMON}s ({named})"
    counts = [
        sum(source.draft in drafts if drafts else source.name in models for source in side.values())
        for side in (a, b)
    ]
    return f"{counted(counts[0], 'unit')} of A and {counts[1]} of B {whose}"


def standing(drafted: Drafted, units: Iterable[str]) -> dict[str, DraftSource]:
    """Those of the units that were taken from a draft."""
    return {unit_id: drafted[unit_id] for unit_id in units if unit_id in drafted}
