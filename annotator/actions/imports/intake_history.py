"""Import of sealed revisions: each at its place in the artifact's chain, or not at all."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.project.incoming import ExistingRecords, ImportPlan, Incoming, Need, Row
from annotator.domain.experts.guideline import FORM
from annotator.domain.kinds.artifact import Kind, State, chain
from annotator.domain.texts.canonical import canonical_json
from annotator.domain.texts.change import derived_id
from annotator.exchange.release.bundle import Bundle, record_id, revision_key
from annotator.exchange.release.pair_records import RevisionRecord
from annotator.exchange.release.records import ArtifactRecord
from annotator.storage.tables import ARTIFACT, REVISION

HASH = re.compile(r"[0-9a-f]{64}")
OWNED = ("id", "item_id", "kind", "author_id")
KEPT = "the project has this artifact already, and its own history of it is kept"


class History:
    """The revisions of a bundle, by artifact and in order."""

    def __init__(self, bundle: Bundle) -> None:
        self._artifacts = {artifact.id: artifact for artifact in bundle.artifacts}
        self._of: defaultdict[str, list[RevisionRecord]] = defaultdict(list)
        self._trees: dict[str, dict[str, Any]] = {
            revision_key(one.id, one.revision): one.document for one in bundle.artifacts
        }
        for one in sorted(bundle.revisions, key=lambda one: (one.artifact_id, one.revision)):
            self._of[one.artifact_id].append(one)
            if one.document is not None:
                self._trees[record_id(one)] = one.document
        self._named = {record_id(one): one for one in bundle.revisions}

    def of(self, artifact_id: str) -> Sequence[RevisionRecord]:
        """The revisions of an artifact, the first one first."""
        return self._of.get(artifact_id, ())

    def released(self, record: RevisionRecord) -> bool:
        """Whether its document is the artifact's own."""
        artifact = self._artifacts.get(record.artifact_id)
        return artifact is not None and artifact.revision == record.revision

    def apart(self, artifact_id: str) -> bool:
        """Whether the artifact leaves as history alone, as people's labels do."""
        return artifact_id not in self._artifacts

    def artifact(self, artifact_id: str) -> ArtifactRecord | None:
        """The artifact of that id, where the bundle has it."""
        return self._artifacts.get(artifact_id)

    def find(self, artifact_id: str, number: int) -> RevisionRecord | None:
        """One revision, or None when the bundle does not tell of it."""
        return self._named.get(revision_key(artifact_id, number))

    def tree(self, artifact_id: str, number: int) -> dict[str, Any]:
        return self._trees.get(revision_key(artifact_id, number), {"units": []})

    def refuse_broken(self, artifact_id: str) -> None:
        """ValueError unless the revisions of an artifact hang together, each with its document."""
        before: RevisionRecord | None = None
        for one in self.of(artifact_id):
            _refuse_odd(one, self.of(artifact_id)[0])
            if one.document is None and not self.released(one):
                raise ValueError(f"revision {one.revision} of it has no document")
            link = reduce(chain, [*one.skipped, one.sha256], before.chain if before else "")
            begins = one.revision - len(one.skipped) - 1
            if link != one.chain or begins != (before.revision if before else max(begins, 0)):
                raise ValueError(f"revision {one.revision} of it does not follow from the one before")
            before = one


def _refuse_odd(one: RevisionRecord, first: RevisionRecord) -> None:
    if (one.item_id, one.kind, one.author_id) != (first.item_id, first.kind, first.author_id):
        raise ValueError("its revisions are not all of one item, kind and author")
    if not all(HASH.fullmatch(digest) for digest in one.skipped):
        raise ValueError(f"what revision {one.revision} of it says was skipped are no hashes")


def revision_row(record: ArtifactRecord, history: History, by: str, guideline: str) -> Row:
    """The row of an artifact's own revision; ValueError when its history tells of another."""
    told = history.of(record.id)
    row = {
        "artifact_id": record.id, "number": record.revision, "sha256": record.sha256, "at": record.at,
        "content": canonical_json(record.document).decode(), "by": record.author_id or by,
    }  # fmt: skip
    if not told:
        # A release of format 1.0 and files written by hand have no history.
        sealed = record.state is State.SEALED
        stamp = {"guideline": guideline, "form": FORM, "sealed": sealed, "chain": chain("", record.sha256)}
        return _complete({**row, **stamp, "reason": "", "skipped": None})
    own = told[-1]
    same = own.revision, own.sha256, own.item_id, own.kind, own.author_id
    if same != (record.revision, record.sha256, record.item_id, record.kind, record.author_id):
        raise ValueError("its history does not end with the document that is here")
    if record.state is State.SEALED and not own.sealed:
        raise ValueError("its history does not say that it is sealed")
    history.refuse_broken(record.id)
    return _complete({**row, **_stamp(own)})


def _stamp(record: RevisionRecord) -> Row:
    kept = record.model_dump(include={"guideline", "form", "sealed", "chain", "reason"})
    return {**kept, "skipped": " ".join(record.skipped) or None}


def _complete(row: Row) -> Row:
    made = derived_id("revision", row["artifact_id"], row["number"], row["sha256"])
    return {"id": made, "verb": "import", **row}


def plan(db: Connection, history: History, incoming: Incoming) -> ImportPlan:
    """How the revisions are imported: with their artifact, when that is new here."""
    fresh = {row["id"] for row in incoming.rows.get("artifact", [])}
    owned = [tuple(row) for row in db.execute(select(*(ARTIFACT.c[name] for name in OWNED)))]

    def needs(record: RevisionRecord) -> Iterable[Need]:
        if not history.apart(record.artifact_id):
            yield "artifacts", record.artifact_id
            return
        yield "items", record.item_id
        yield "people", record.author_id

    def row(record: RevisionRecord) -> dict[str, Any]:
        if not history.apart(record.artifact_id):
            if record.artifact_id not in fresh:
                raise ValueError(KEPT)
            return {} if history.released(record) else {"revision": _earlier(record)}
        return _apart(record, history, owned)

    existing = ExistingRecords(
        {
            revision_key(artifact_id, number): digest
            for artifact_id, number, digest in db.execute(
                select(REVISION.c.artifact_id, REVISION.c.number, REVISION.c.sha256)
            )
        }
    )
    return ImportPlan(
        "revisions", existing, lambda one: (record_id(one),), lambda one: one.sha256, needs, row
    )


def _earlier(record: RevisionRecord) -> Row:
    return _complete(
        {
            "artifact_id": record.artifact_id, "number": record.revision, "sha256": record.sha256, "at": record.at,
            "content": canonical_json(record.document).decode(), "by": record.author_id, **_stamp(record),
        }
    )  # fmt: skip


def _apart(record: RevisionRecord, history: History, owned: Iterable[tuple[str, ...]]) -> dict[str, Any]:
    """The rows of a revision whose artifact leaves as history alone; with the newest comes the artifact."""
    whose = {"item_id": record.item_id, "kind": record.kind.value, "author_id": record.author_id}
    if record.kind is not Kind.LABELS or not record.sealed:
        raise ValueError("its artifact is not in these files")
    if any(name == record.artifact_id or rest == list(whose.values()) for name, *rest in owned):
        raise ValueError(KEPT)
    history.refuse_broken(record.artifact_id)
    made: dict[str, Any] = {"revision": _earlier(record)}
    if record is history.of(record.artifact_id)[-1]:
        state = {"state": State.SEALED.value, "revision": record.revision, "sealed_at": record.at}
        made["artifact"] = {"id": record.artifact_id, **whose, **state}
    return made
