"""Consistency checks of imported double annotation: units, people, letters and eligible adjudicators."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.agreement import assisted
from annotator.actions.assignments import adjudicators
from annotator.actions.consensus import consensus, consensus_versions, ruling_rows
from annotator.actions.imports.intake_history import History
from annotator.actions.project.incoming import ID, ExistingRecords, ImportPlan, Incoming, Need
from annotator.domain.experts.adjudication import (
    BOTH,
    DROP,
    LETTERS,
    OWN,
    Adjudication,
    ConsensusVersion,
    Dispute,
)
from annotator.domain.experts.agreement import PairAgreement, SealedInput
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.guideline import GuidelineFields
from annotator.domain.judges.judgement import RaterKind
from annotator.domain.kinds.artifact import Document, Kind, State
from annotator.domain.kinds.documents import document_of
from annotator.domain.kinds.labels import ABOUT
from annotator.domain.texts.canonical import canonical_json, sha256
from annotator.domain.texts.change import derived_id
from annotator.exchange.release import pair_records
from annotator.exchange.release.bundle import Bundle, record_id, revision_key
from annotator.exchange.release.pair_records import (
    AdjudicationRecord,
    AgreementRecord,
    AssistedRecord,
    GuidelineRecord,
    consensus_version,
)
from annotator.storage.tables import (
    ADJUDICATION,
    AGREEMENT,
    ASSISTED,
    CONSENSUS_VERSION,
    DISPUTE,
    GUIDELINE,
)

# What all versions of one consensus say alike.
SHARED = ("item_id", "stage", "agreement_id", "artifact_id", "letters", "seed", "spot_check", "opened_at")


class PairChecks:
    """Checks of a bundle's double annotation before any of it is written."""

    def __init__(self, db: Connection, bundle: Bundle, history: History) -> None:
        self.db = db
        self.history = history
        self.agreements = {one.id: one for one in bundle.agreements}
        self.versions: defaultdict[str, list[AdjudicationRecord]] = defaultdict(list)
        for one in sorted(bundle.adjudications, key=lambda one: one.version):
            self.versions[one.adjudication_id].append(one)
        self._answering: defaultdict[str, set[str]] = defaultdict(set)
        for said in bundle.judgements:
            if said.rater_kind is RaterKind.PERSON:
                self._answering[said.item_id].add(said.rater_id)
        for written in bundle.revisions:
            artifact = history.artifact(written.artifact_id)
            if artifact is None or artifact.state is not State.CONSENSUS:
                self._answering[written.item_id].add(written.author_id)

    def refuse_unfounded(self, record: AgreementRecord) -> None:
        """ValueError unless the agreement is over the revisions it names and over all of their units."""
        raters = sorted({given.person_id for given in record.inputs})
        if len(raters) != len(record.inputs) or len(raters) < 2 or record.stage.kind is None:
            raise ValueError("it is not between two raters or more")
        units = {given.person_id: self._units_of(record, given) for given in record.inputs}
        if sorted((pair.a, pair.b) for pair in record.pairs) != list(combinations(raters, 2)):
            raise ValueError("its pairs are not those of its raters")
        for pair in record.pairs:
            _refuse_uneven(record.stage, pair, units[pair.a], units[pair.b])

    def refuse_other_pair(self, record: AssistedRecord) -> None:
        """ValueError unless what a judge paired are all units of two raters whose agreement is frozen."""
        frozen = self.agreements.get(record.agreement_id)
        pairs = frozen.pairs if frozen else ()
        pair = next((one for one in pairs if (one.a, one.b) == (record.a, record.b)), None)
        if frozen is None or pair is None:
            raise ValueError("it is not of two raters of its agreement")
        units_a = [*(match.a for match in pair.matched), *pair.only_a]
        _refuse_uneven(frozen.stage, record, units_a, [*(match.b for match in pair.matched), *pair.only_b])

    def _units_of(self, record: AgreementRecord, given: SealedInput) -> list[str]:
        found = self.history.find(given.artifact_id, given.revision)
        kind = record.stage.kind
        wanted = (record.item_id, kind, given.person_id, given.sha256)
        if found is None or (found.item_id, found.kind, found.author_id, found.sha256) != wanted:
            raise ValueError(
                f"revision {given.revision} of {given.artifact_id[:36]} is not what it was made of"
            )
        return [unit["id"] for unit in self.history.tree(given.artifact_id, given.revision)["units"]]

    def refuse_loose(self, record: AdjudicationRecord) -> None:
        """ValueError unless a consensus version hangs together with all that it speaks of."""
        versions = self.versions[record.adjudication_id]
        if [one.version for one in versions] != list(range(1, len(versions) + 1)):
            raise ValueError("the versions of this consensus do not count from 1 on")
        if any(getattr(record, name) != getattr(versions[0], name) for name in SHARED):
            raise ValueError("the versions of this consensus contradict one another")
        names = [record.adjudication_id, *(one.id for one in record.rulings)]
        names += [one.id for one in record.disputes]
        if len(set(names)) != len(names) or not all(ID.fullmatch(name) for name in names):
            raise ValueError("its rulings or objections have no ids of their own")
        self._refuse_strangers(record)
        self._refuse_strange_units(record, consensus_version(record))

    def answered_otherwise(self, record: AdjudicationRecord) -> bool:
        """Whether the adjudicator has answered something else of the item, here or in what comes in."""
        who, item = record.adjudicator_id, record.item_id
        return who in self._answering[item] or bool(adjudicators.answered(self.db, who, item))

    def _refuse_strangers(self, record: AdjudicationRecord) -> None:
        """ValueError unless letters stand for the raters, and the adjudicator is none of them."""
        frozen = self.agreements.get(record.agreement_id)
        if frozen is None or (frozen.item_id, frozen.stage) != (record.item_id, record.stage):
            raise ValueError("its agreement is not in these files")
        raters = sorted(given.person_id for given in frozen.inputs)
        letters = sorted(record.letters)
        if sorted(record.letters.values()) != raters or letters != list(LETTERS[: len(letters)]):
            raise ValueError("its letters do not stand for the raters of its agreement")
        if any(dispute.person_id not in raters for dispute in record.disputes):
            raise ValueError("somebody objects who answered nothing of it")
        if record.adjudicator_id in raters:
            raise ValueError("its adjudicator is one of the raters")

    def _refuse_strange_units(self, record: AdjudicationRecord, version: ConsensusVersion) -> None:
        kind, artifact = record.stage.kind, self.history.artifact(record.artifact_id)
        if artifact is None or kind is None or not self._is_consensus(record, kind):
            raise ValueError("its consensus is not what it says")
        tree = self.history.tree(record.artifact_id, record.revision)
        units = [unit["id"] for unit in tree["units"]]
        if sorted(one.unit_id for one in record.provenance) != sorted(units):
            raise ValueError("it does not say of every unit of the consensus where that comes from")
        if {one.ruling_id for one in record.provenance} - {one.id for one in record.rulings}:
            raise ValueError("a unit of the consensus comes from no ruling of it")
        documents = self._documents(record, kind)
        there = {letter: {unit.id for unit in document.units} for letter, document in documents.items()}
        for one, ruling in zip(version.rulings, record.rulings, strict=True):
            if any(unit not in there[letter] for letter, unit in one.members.items()):
                raise ValueError(f"row {one.position + 1} speaks of a unit that nobody wrote")
            if ruling.take not in (*ruling.members, BOTH, OWN, DROP):
                raise ValueError(f"row {ruling.position + 1} takes what nobody wrote")
            if one.own:
                consensus.own_unit(kind, one, documents)

    def _is_consensus(self, record: AdjudicationRecord, kind: Kind) -> bool:
        artifact, found = (
            self.history.artifact(record.artifact_id),
            self.history.find(record.artifact_id, record.revision),
        )
        return (
            artifact is not None
            and found is not None
            and artifact.state is State.CONSENSUS
            and (found.item_id, found.kind, found.sealed) == (record.item_id, kind, True)
        )

    def _documents(self, record: AdjudicationRecord, kind: Kind) -> dict[str, Document[Any]]:
        inputs = {given.person_id: given for given in self.agreements[record.agreement_id].inputs}
        return {
            letter: document_of(kind, self.history.tree(inputs[person].artifact_id, inputs[person].revision))
            for letter, person in record.letters.items()
        }


def _refuse_uneven(stage: Stage, pair: PairAgreement, units_a: Sequence[str], units_b: Sequence[str]) -> None:
    """ValueError unless every unit of both is matched once or alone, and every match has its values."""
    named_a = [*(match.a for match in pair.matched), *pair.only_a]
    named_b = [*(match.b for match in pair.matched), *pair.only_b]
    if sorted(named_a) != sorted(units_a) or sorted(named_b) != sorted(units_b):
        raise ValueError("it is not over all units of its raters")
    if any(len(values) != len(pair.matched) for values in pair.values.values()):
        raise ValueError("its values are not those of its matched units")
    if stage is Stage.LABELLING and not {*ABOUT, "value"} <= pair.values.keys():
        raise ValueError("it does not say what its labels are about")
    if any(
        isinstance(value, list | dict) for values in pair.values.values() for both in values for value in both
    ):
        raise ValueError("its values are not single values")


ANSWERED = "its adjudicator has answered something else of the item"
KEPT = "the project has an adjudication of this already, which is kept as it is"


class PairIntake:
    """The comparison of a bundle's double annotation with the project in this transaction."""

    def __init__(self, db: Connection, incoming: Incoming, history: History) -> None:
        self.db = db
        self.incoming = incoming
        self.bundle: Bundle = incoming.bundle
        self.checks = PairChecks(db, self.bundle, history)

    def guidelines(self) -> ImportPlan:
        """Guidelines are the same when their text is."""

        def row(record: GuidelineRecord) -> dict[str, Any]:
            values = {**record.model_dump(mode="json"), "by": "", "at": record.at}
            fields = GuidelineFields.model_validate(values).model_dump()
            made = derived_id("guideline", record.stage.value, record.version)
            return {"guideline": {"id": made, **fields, "stage": record.stage.value}}

        texts = self.db.execute(select(GUIDELINE.c.id, GUIDELINE.c.text))
        existing = ExistingRecords({found.id: found.text for found in texts})
        return ImportPlan(
            "guidelines", existing, lambda one: (record_id(one),), lambda one: one.text, _nothing, row
        )

    def frozen(self) -> ImportPlan:
        """Agreement is the same when all of it is."""

        def needs(record: AgreementRecord) -> Iterable[Need]:
            yield "items", record.item_id
            for given in record.inputs:
                yield "people", given.person_id
                yield "revisions", revision_key(given.artifact_id, given.revision)

        def row(record: AgreementRecord) -> dict[str, Any]:
            self.checks.refuse_unfounded(record)
            content = _content(record)
            keys = {"id": record.id, "item_id": record.item_id, "stage": record.stage.value}
            kept = {"content": content.decode(), "sha256": sha256(content), "frozen_at": record.frozen_at}
            return {"agreement": {**keys, **kept}}

        existing = ExistingRecords()
        for found in self.db.execute(
            select(AGREEMENT.c.id, AGREEMENT.c.item_id, AGREEMENT.c.stage, AGREEMENT.c.sha256)
        ):
            existing.prints[found.id] = found.sha256
            existing.ids[found.item_id, found.stage] = found.id
        return ImportPlan(
            "agreements", existing, lambda one: (one.item_id, one.stage.value), lambda one: sha256(_content(one)),
            needs, row,
        )  # fmt: skip

    def pairings(self) -> ImportPlan:
        """What a judge paired is the same when all of it is."""
        existing = ExistingRecords(dict(self.db.execute(select(ASSISTED.c.id, ASSISTED.c.sha256)).all()))

        def needs(record: AssistedRecord) -> Iterable[Need]:
            yield from (
                ("agreements", record.agreement_id),
                ("judges", record.judge_id),
                ("runs", record.run_id),
            )

        def row(record: AssistedRecord) -> dict[str, Any]:
            self.checks.refuse_other_pair(record)
            return {"assisted_pair": assisted.row(record)}

        return ImportPlan("pairings", existing, _by_id, lambda one: assisted.row(one)["sha256"], needs, row)

    def closed(self) -> ImportPlan:
        """Versions of a consensus are written together, with the last of them."""
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
                raise ValueError(KEPT)
            if any(objected[record.item_id, dispute.person_id] > 1 for dispute in record.disputes):
                raise ValueError("somebody objects to this item more than once")
            self.checks.refuse_loose(record)
            if self.checks.answered_otherwise(record):
                self.incoming.note("adjudications", record.id, ANSWERED)
            last = self.checks.versions[record.adjudication_id][-1]
            return self._rows(record.adjudication_id) if record is last else {}

        columns = (CONSENSUS_VERSION.c[name] for name in ("id", "artifact_id", "revision", "sha256"))
        existing = ExistingRecords({name: tuple(rest) for name, *rest in self.db.execute(select(*columns))})
        return ImportPlan(
            "adjudications",
            existing,
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
        earlier = self.checks.versions[record.adjudication_id]
        yield from (("adjudications", one.id) for one in earlier if one.version < record.version)

    def _rows(self, adjudication_id: str) -> dict[str, Any]:
        versions = [pair_records.consensus_version(one) for one in self.checks.versions[adjudication_id]]
        last = self.checks.versions[adjudication_id][-1]
        found = pair_records.adjudication(last)
        objections = [
            each for one in self.checks.versions[adjudication_id] for each in pair_records.disputes(one)
        ]
        return {
            "adjudication": {**_plain(found), "letters": canonical_json(found.letters).decode()},
            "ruling": [ruling_rows.row(each) for each in versions[-1].rulings],
            "consensus_version": [consensus_versions.row(version) for version in versions],
            "dispute": [_plain(each) for each in objections],
        }


def _plain(record: Adjudication | Dispute) -> dict[str, Any]:
    """The values of a record as the database holds them."""
    return {**record.model_dump(), "stage": record.stage.value, "state": record.state.value}


def _content(record: AgreementRecord) -> bytes:
    return canonical_json(record.frozen().model_dump(mode="json"))


def _print(record: AdjudicationRecord) -> tuple[Any, ...]:
    """What is compared of a version; of one that names strangers nothing, so that it differs from any other."""
    try:
        made = consensus_versions.row(pair_records.consensus_version(record))
    except ValueError:
        return ()
    return made["artifact_id"], made["revision"], made["sha256"]


def _by_id(record: AssistedRecord) -> tuple[str, ...]:
    return (record.id,)


def _nothing(_: Any) -> Iterable[Need]:
    return ()
