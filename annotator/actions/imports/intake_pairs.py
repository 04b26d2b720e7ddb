"""Consistency checks of imported double annotation: units, people, letters and eligible adjudicators."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import combinations
from typing import Any

from sqlalchemy import Connection, select

from annotator.actions.agreement import assisting
from annotator.actions.assignments import assignments
from annotator.actions.consensus import consensus, ruling_rows
from annotator.actions.project.incoming import (
    ID,
    ExistingRecords,
    ImportPlan,
    Incoming,
    Need,
    Row,
    by_id,
    nothing,
)
from annotator.domain.common import canonical_json, derived_id, grouped, sha256, words_that_hold
from annotator.domain.experts.adjudication import (
    BOTH,
    DROP,
    LETTERS,
    OWN,
    Adjudication,
    ConsensusVersion,
    Dispute,
    PairAgreement,
    SealedInput,
)
from annotator.domain.experts.assignment import FORM, Stage
from annotator.domain.kinds.artifact import Kind, State, chain
from annotator.domain.kinds.documents import ABOUT, document_of
from annotator.domain.stored import GuidelineFields, RaterKind
from annotator.exchange.release import records
from annotator.exchange.release.bundle import Bundle, record_id, revision_key
from annotator.exchange.release.records import (
    AdjudicationRecord,
    AgreementRecord,
    ArtifactRecord,
    AssistedRecord,
    GuidelineRecord,
    RevisionRecord,
    consensus_version,
)
from annotator.storage.tables import (
    ADJUDICATION,
    AGREEMENT,
    ARTIFACT,
    ASSISTED,
    CONSENSUS_VERSION,
    DISPUTE,
    GUIDELINE,
    REVISION,
)

HASH = re.compile(r"[0-9a-f]{64}")
OWNED = ("id", "item_id", "kind", "author_id")
COMPARED = "the project has this artifact already, and its own history of it is kept"


class History:
    def __init__(self, bundle: Bundle) -> None:
        self._artifacts = {artifact.id: artifact for artifact in bundle.artifacts}
        ordered = sorted(bundle.revisions, key=lambda revision: (revision.artifact_id, revision.revision))
        self._of = grouped((revision.artifact_id, revision) for revision in ordered)
        self._trees: dict[str, dict[str, Any]] = {
            revision_key(record.id, record.revision): record.document for record in bundle.artifacts
        }
        self._trees |= {record_id(one): one.document for one in ordered if one.document is not None}
        self._named = {record_id(revision): revision for revision in bundle.revisions}

    def of(self, artifact_id: str) -> Sequence[RevisionRecord]:
        return self._of.get(artifact_id, ())

    def released(self, record: RevisionRecord) -> bool:
        artifact = self._artifacts.get(record.artifact_id)
        return artifact is not None and artifact.revision == record.revision

    def apart(self, artifact_id: str) -> bool:
        """Whether only the artifact's history is exported, as for people's labels."""
        return artifact_id not in self._artifacts

    def artifact(self, artifact_id: str) -> ArtifactRecord | None:
        return self._artifacts.get(artifact_id)

    def find(self, artifact_id: str, number: int) -> RevisionRecord | None:
        """One revision; None if the bundle does not contain it."""
        return self._named.get(revision_key(artifact_id, number))

    def tree(self, artifact_id: str, number: int) -> dict[str, Any]:
        return self._trees.get(revision_key(artifact_id, number), {"units": []})

    def refuse_broken(self, artifact_id: str) -> None:
        """Raise ValueError unless the revisions of an artifact form a chain, each with its document."""
        before: RevisionRecord | None = None
        for record in self.of(artifact_id):
            first = self.of(artifact_id)[0]
            if (record.item_id, record.kind, record.author_id) != (
                first.item_id,
                first.kind,
                first.author_id,
            ):
                raise ValueError("its revisions are not all of one item, kind and author")
            if not all(HASH.fullmatch(digest) for digest in record.skipped):
                raise ValueError(f"what revision {record.revision} of it says was skipped are no hashes")
            if record.document is None and not self.released(record):
                raise ValueError(f"revision {record.revision} of it has no document")
            link = reduce(chain, [*record.skipped, record.sha256], before.chain if before else "")
            begins = record.revision - len(record.skipped) - 1
            if link != record.chain or begins != (before.revision if before else max(begins, 0)):
                raise ValueError(f"revision {record.revision} of it does not follow from the one before")
            before = record


def revision_row(record: ArtifactRecord, history: History, by: str, guideline: str) -> Row:
    """The row of an artifact's own revision; raises ValueError if its history contradicts it."""
    records = history.of(record.id)
    row = {
        "artifact_id": record.id, "number": record.revision, "sha256": record.sha256, "at": record.at,
        "content": canonical_json(record.document).decode(), "by": record.author_id or by,
    }  # fmt: skip
    if not records:
        # Releases of format 1.0 and files written by hand have no history.
        sealed = record.state is State.SEALED
        stamp = {"guideline": guideline, "form": FORM, "sealed": sealed, "chain": chain("", record.sha256)}
        return _complete({**row, **stamp, "reason": "", "skipped": None})
    own = records[-1]
    same = own.revision, own.sha256, own.item_id, own.kind, own.author_id
    _refuse_first({
        "its history does not end with the document that is here": (
            same != (record.revision, record.sha256, record.item_id, record.kind, record.author_id)
        ),
        "its history does not say that it is sealed": record.state is State.SEALED and not own.sealed,
    })  # fmt: skip
    history.refuse_broken(record.id)
    return _complete({**row, **_stamp(own)})


def _stamp(record: RevisionRecord) -> Row:
    columns = record.model_dump(include={"guideline", "form", "sealed", "chain", "reason"})
    return {**columns, "skipped": " ".join(record.skipped) or None}


def _complete(row: Row) -> Row:
    return {
        "id": derived_id("revision", row["artifact_id"], row["number"], row["sha256"]),
        "verb": "import",
        **row,
    }


def plan(db: Connection, history: History, incoming: Incoming) -> ImportPlan:
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
                raise ValueError(COMPARED)
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
    return ImportPlan("revisions", existing, by_id, lambda one: one.sha256, needs, row)


def _earlier(record: RevisionRecord) -> Row:
    return _complete(
        {
            "artifact_id": record.artifact_id, "number": record.revision, "sha256": record.sha256, "at": record.at,
            "content": canonical_json(record.document).decode(), "by": record.author_id, **_stamp(record),
        }
    )  # fmt: skip


def _apart(record: RevisionRecord, history: History, owned: Iterable[tuple[str, ...]]) -> dict[str, Any]:
    """The rows of a revision whose artifact is exported as history only; the newest one brings the artifact."""
    whose = {"item_id": record.item_id, "kind": record.kind.value, "author_id": record.author_id}
    if record.kind is not Kind.LABELS or not record.sealed:
        raise ValueError("its artifact is not in these files")
    if any(name == record.artifact_id or rest == list(whose.values()) for name, *rest in owned):
        raise ValueError(COMPARED)
    history.refuse_broken(record.artifact_id)
    made: dict[str, Any] = {"revision": _earlier(record)}
    if record is history.of(record.artifact_id)[-1]:
        state = {"state": State.SEALED.value, "revision": record.revision, "sealed_at": record.at}
        made["artifact"] = {"id": record.artifact_id, **whose, **state}
    return made


# The fields that all versions of one consensus share.
SHARED = ("item_id", "stage", "agreement_id", "artifact_id", "letters", "seed", "spot_check", "opened_at")


ANSWERED = "its adjudicator has answered something else of the item"
HAS_ITS_OWN = "the project has an adjudication of this already, which is kept as it is"


class PairIntake:
    """The plans of imported double annotation, and the checks that its records are consistent."""

    def __init__(self, db: Connection, incoming: Incoming, history: History) -> None:
        self.db, self.incoming, self.history = db, incoming, history
        self.bundle = bundle = incoming.bundle
        self.agreements = {agreement.id: agreement for agreement in bundle.agreements}
        ordered = sorted(bundle.adjudications, key=lambda adjudication: adjudication.version)
        self.versions = grouped((adjudication.adjudication_id, adjudication) for adjudication in ordered)
        self._answering: defaultdict[str, set[str]] = defaultdict(set)
        for record in bundle.judgements:
            if record.rater_kind is RaterKind.PERSON:
                self._answering[record.item_id].add(record.rater_id)
        for written in bundle.revisions:
            artifact = history.artifact(written.artifact_id)
            if artifact is None or artifact.state is not State.CONSENSUS:
                self._answering[written.item_id].add(written.author_id)

    def guidelines(self) -> ImportPlan:
        def row(record: GuidelineRecord) -> dict[str, Any]:
            values = {**record.model_dump(mode="json"), "by": "", "at": record.at}
            fields = GuidelineFields.model_validate(values).model_dump()
            made = derived_id("guideline", record.stage.value, record.version)
            return {"guideline": {"id": made, **fields, "stage": record.stage.value}}

        texts = self.db.execute(select(GUIDELINE.c.id, GUIDELINE.c.text))
        existing = ExistingRecords({result.id: result.text for result in texts})
        return ImportPlan("guidelines", existing, by_id, lambda one: one.text, nothing, row)

    def frozen(self) -> ImportPlan:
        def needs(record: AgreementRecord) -> Iterable[Need]:
            yield "items", record.item_id
            for given in record.inputs:
                yield "people", given.person_id
                yield "revisions", revision_key(given.artifact_id, given.revision)

        def row(record: AgreementRecord) -> dict[str, Any]:
            self._refuse_unfounded(record)
            content = _content(record)
            keys = {"id": record.id, "item_id": record.item_id, "stage": record.stage.value}
            columns = {"content": content.decode(), "sha256": sha256(content), "frozen_at": record.frozen_at}
            return {"agreement": {**keys, **columns}}

        a = AGREEMENT.c
        rows = self.db.execute(select(a.id, a.item_id, a.stage, a.sha256)).all()
        existing = ExistingRecords(
            {one.id: one.sha256 for one in rows}, {(one.item_id, one.stage): one.id for one in rows}
        )
        return ImportPlan(
            "agreements", existing, lambda one: (one.item_id, one.stage.value), lambda one: sha256(_content(one)),
            needs, row,
        )  # fmt: skip

    def pairings(self) -> ImportPlan:
        existing = ExistingRecords(dict(self.db.execute(select(ASSISTED.c.id, ASSISTED.c.sha256)).all()))

        def row(record: AssistedRecord) -> dict[str, Any]:
            self._refuse_other_pair(record)
            return {"assisted_pair": assisting.row(record)}

        return ImportPlan(
            "pairings", existing, by_id, lambda one: assisting.row(one)["sha256"],
            lambda one: [("agreements", one.agreement_id), ("judges", one.judge_id), ("runs", one.run_id)], row,
        )  # fmt: skip

    def closed(self) -> ImportPlan:
        known = set(self.db.execute(select(ADJUDICATION.c.id)).scalars())
        taken = {tuple(row) for row in self.db.execute(select(ADJUDICATION.c.item_id, ADJUDICATION.c.stage))}
        objected = Counter(
            tuple(row) for row in self.db.execute(select(DISPUTE.c.item_id, DISPUTE.c.person_id))
        )
        objected.update(
            (one.item_id, dispute.person_id) for one in self.bundle.adjudications for dispute in one.disputes
        )

        def row(record: AdjudicationRecord) -> dict[str, Any]:
            if record.adjudication_id in known or (record.item_id, record.stage.value) in taken:
                raise ValueError(HAS_ITS_OWN)
            if any(objected[record.item_id, dispute.person_id] > 1 for dispute in record.disputes):
                raise ValueError("somebody objects to this item more than once")
            self._refuse_loose(record)
            if self._answered_otherwise(record):
                self.incoming.note("adjudications", record.id, ANSWERED)
            last = self.versions[record.adjudication_id][-1]
            return self._rows(record.adjudication_id) if record is last else {}

        columns = (CONSENSUS_VERSION.c[name] for name in ("id", "artifact_id", "revision", "sha256"))
        return ImportPlan(
            "adjudications",
            ExistingRecords({name: tuple(rest) for name, *rest in self.db.execute(select(*columns))}),
            lambda one: (one.adjudication_id, one.version),
            _print,
            self._needs,
            row,
        )

    def _needs(self, record: AdjudicationRecord) -> Iterable[Need]:
        yield "agreements", record.agreement_id
        yield "people", record.adjudicator_id
        yield "artifacts", record.artifact_id
        yield "revisions", revision_key(record.artifact_id, record.revision)
        yield from (("people", dispute.person_id) for dispute in record.disputes)
        earlier = self.versions[record.adjudication_id]
        yield from (("adjudications", one.id) for one in earlier if one.version < record.version)

    def _rows(self, adjudication_id: str) -> dict[str, Any]:
        versions = [records.consensus_version(record) for record in self.versions[adjudication_id]]
        result = records.adjudication(self.versions[adjudication_id][-1])
        objections = [each for record in self.versions[adjudication_id] for each in records.disputes(record)]
        return {
            "adjudication": {**_plain(result), "letters": canonical_json(result.letters).decode()},
            "ruling": [ruling_rows.row(each) for each in versions[-1].rulings],
            "consensus_version": [consensus.row(version) for version in versions],
            "dispute": [_plain(each) for each in objections],
        }

    def _refuse_unfounded(self, record: AgreementRecord) -> None:
        """Raise ValueError unless the agreement is over the revisions it names and over all of their units."""
        raters = sorted({given.person_id for given in record.inputs})
        if len(raters) != len(record.inputs) or len(raters) < 2 or record.stage.kind is None:
            raise ValueError("it is not between two raters or more")
        units = {given.person_id: self._units_of(record, given) for given in record.inputs}
        if sorted((pair.a, pair.b) for pair in record.pairs) != list(combinations(raters, 2)):
            raise ValueError("its pairs are not those of its raters")
        for pair in record.pairs:
            _refuse_uneven(record.stage, pair, units[pair.a], units[pair.b])

    def _refuse_other_pair(self, record: AssistedRecord) -> None:
        """Raise ValueError unless the units paired by a judge are all units of two raters whose agreement is frozen."""
        frozen = self.agreements.get(record.agreement_id)
        pairs = frozen.pairs if frozen else ()
        pair = next(
            (agreement for agreement in pairs if (agreement.a, agreement.b) == (record.a, record.b)), None
        )
        if frozen is None or pair is None:
            raise ValueError("it is not of two raters of its agreement")
        units_a = [*(match.a for match in pair.matched), *pair.only_a]
        _refuse_uneven(frozen.stage, record, units_a, [*(match.b for match in pair.matched), *pair.only_b])

    def _units_of(self, record: AgreementRecord, given: SealedInput) -> list[str]:
        result = self.history.find(given.artifact_id, given.revision)
        expected = (record.item_id, record.stage.kind, given.person_id, given.sha256)
        if result is None or (result.item_id, result.kind, result.author_id, result.sha256) != expected:
            raise ValueError(
                f"revision {given.revision} of {given.artifact_id[:36]} is not what it was made of"
            )
        return [unit["id"] for unit in self.history.tree(given.artifact_id, given.revision)["units"]]

    def _refuse_loose(self, record: AdjudicationRecord) -> None:
        """Raise ValueError unless a consensus version is consistent with everything it refers to."""
        versions = self.versions[record.adjudication_id]
        names = [
            record.adjudication_id, *(one.id for one in record.rulings), *(one.id for one in record.disputes),
        ]  # fmt: skip
        _refuse_first({
            "the versions of this consensus do not count from 1 on": (
                [version.version for version in versions] != list(range(1, len(versions) + 1))
            ),
            "the versions of this consensus contradict one another": any(
                getattr(record, name) != getattr(versions[0], name) for name in SHARED
            ),
            "its rulings or objections have no ids of their own": (
                len(set(names)) != len(names) or not all(map(ID.fullmatch, names))
            ),
        })  # fmt: skip
        self._refuse_strangers(record)
        self._refuse_strange_units(record, consensus_version(record))

    def _answered_otherwise(self, record: AdjudicationRecord) -> bool:
        """Whether the adjudicator has answered something else of the item, here or in the bundle."""
        who, item = record.adjudicator_id, record.item_id
        return who in self._answering[item] or bool(assignments.answered(self.db, who, item))

    def _refuse_strangers(self, record: AdjudicationRecord) -> None:
        """Raise ValueError unless letters stand for the raters, and the adjudicator is none of them."""
        frozen = self.agreements.get(record.agreement_id)
        if frozen is None or (frozen.item_id, frozen.stage) != (record.item_id, record.stage):
            raise ValueError("its agreement is not in these files")
        raters = sorted(given.person_id for given in frozen.inputs)
        letters = list(LETTERS[: len(record.letters)])
        _refuse_first({
            "its letters do not stand for the raters of its agreement": (
                (sorted(record.letters.values()), sorted(record.letters)) != (raters, letters)
            ),
            "somebody objects who answered nothing of it": any(
                dispute.person_id not in raters for dispute in record.disputes
            ),
            "its adjudicator is one of the raters": record.adjudicator_id in raters,
        })  # fmt: skip

    def _refuse_strange_units(self, record: AdjudicationRecord, version: ConsensusVersion) -> None:
        kind, artifact = record.stage.kind, self.history.artifact(record.artifact_id)
        if artifact is None or kind is None or not self._is_consensus(record, kind):
            raise ValueError("its consensus is not what it says")
        tree = self.history.tree(record.artifact_id, record.revision)
        units = [unit["id"] for unit in tree["units"]]
        _refuse_first({
            "it does not say of every unit of the consensus where that comes from": (
                sorted(one.unit_id for one in record.provenance) != sorted(units)
            ),
            "a unit of the consensus comes from no ruling of it": (
                {one.ruling_id for one in record.provenance} - {one.id for one in record.rulings}
            ),
        })  # fmt: skip
        inputs = {given.person_id: given for given in self.agreements[record.agreement_id].inputs}
        documents = {
            letter: document_of(kind, self.history.tree(inputs[person].artifact_id, inputs[person].revision))
            for letter, person in record.letters.items()
        }
        unit_ids = {letter: {unit.id for unit in document.units} for letter, document in documents.items()}
        for one, ruling in zip(version.rulings, record.rulings, strict=True):
            if any(unit not in unit_ids[letter] for letter, unit in one.members.items()):
                raise ValueError(f"row {one.position + 1} speaks of a unit that nobody wrote")
            if ruling.take not in (*ruling.members, BOTH, OWN, DROP):
                raise ValueError(f"row {ruling.position + 1} takes what nobody wrote")
            if one.own:
                consensus.own_unit(kind, one, documents)

    def _is_consensus(self, record: AdjudicationRecord, kind: Kind) -> bool:
        artifact, result = (
            self.history.artifact(record.artifact_id),
            self.history.find(record.artifact_id, record.revision),
        )
        return (
            artifact is not None
            and result is not None
            and artifact.state is State.CONSENSUS
            and (result.item_id, result.kind, result.sealed) == (record.item_id, kind, True)
        )


def _refuse_uneven(stage: Stage, pair: PairAgreement, units_a: Sequence[str], units_b: Sequence[str]) -> None:
    """Raise ValueError unless every unit of both is matched once or alone, and every match has its values."""
    named_a = [*(match.a for match in pair.matched), *pair.only_a]
    named_b = [*(match.b for match in pair.matched), *pair.only_b]
    columns = pair.values.values()
    _refuse_first({
        "it is not over all units of its raters": (sorted(named_a), sorted(named_b))
        != (sorted(units_a), sorted(units_b)),
        "its values are not those of its matched units": any(len(each) != len(pair.matched) for each in columns),
        "it does not say what its labels are about": (
            stage is Stage.LABELLING and not {*ABOUT, "value"} <= pair.values.keys()
        ),
        "its values are not single values": any(
            isinstance(value, list | dict) for values in columns for both in values for value in both
        ),
    })  # fmt: skip


def _refuse_first(faults: Mapping[str, object]) -> None:
    """Raise ValueError for the first fault that holds."""
    if words := words_that_hold(faults):
        raise ValueError(words[0])


def _plain(record: Adjudication | Dispute) -> dict[str, Any]:
    return {**record.model_dump(), "stage": record.stage.value, "state": record.state.value}


def _content(record: AgreementRecord) -> bytes:
    return canonical_json(record.frozen().model_dump(mode="json"))


def _print(record: AdjudicationRecord) -> tuple[Any, ...]:
    """The compared values of a version; empty if it names unknown raters, so that it differs from any other."""
    try:
        made = consensus.row(records.consensus_version(record))
    except ValueError:
        return ()
    return made["artifact_id"], made["revision"], made["sha256"]
