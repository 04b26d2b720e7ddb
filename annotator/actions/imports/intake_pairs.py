"""How the work in pairs is taken in: guidelines, frozen agreement, and each consensus with all that led to it."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.agreement import assisted
from annotator.actions.consensus import consensus_versions, ruling_rows
from annotator.actions.imports.intake_history import History
from annotator.actions.imports.pair_checks import PairChecks
from annotator.actions.project.incoming import Existing, Incoming, Need, Plan
from annotator.domain.experts.adjudication import Adjudication, Dispute
from annotator.domain.experts.guideline import GuidelineFields
from annotator.domain.texts.canonical import canonical_json, sha256
from annotator.domain.texts.identity import derived_id
from annotator.exchange.release import pair_records
from annotator.exchange.release.bundle import Bundle, record_id, revision_key
from annotator.exchange.release.pair_records import (
    AdjudicationRecord,
    AgreementRecord,
    AssistedRecord,
    GuidelineRecord,
)
from annotator.storage import tables
from annotator.storage.tables import table

AGREEMENT, ADJUDICATION = table(tables.AgreementRow), table(tables.AdjudicationRow)
ASSISTED = table(tables.AssistedPairRow)
VERSION, RULING = table(tables.ConsensusVersionRow), table(tables.RulingRow)
DISPUTE, GUIDELINE = table(tables.DisputeRow), table(tables.GuidelineRow)
ANSWERED = "its adjudicator has answered something else of the item"
KEPT = "the project has an adjudication of this already, which is kept as it is"


class PairIntake:
    """One comparison of a bundle's work in pairs with the project as it is in this transaction."""

    def __init__(self, db: Connection, incoming: Incoming, history: History) -> None:
        self.db = db
        self.incoming = incoming
        self.bundle: Bundle = incoming.bundle
        self.checks = PairChecks(db, self.bundle, history)

    def guidelines(self) -> Plan:
        """Guidelines are the same when their text is."""

        def row(record: GuidelineRecord) -> dict[str, Any]:
            values = {**record.model_dump(mode="json"), "by": "", "at": record.at}
            fields = GuidelineFields.model_validate(values).model_dump()
            made = derived_id("guideline", record.stage.value, record.version)
            return {"guideline": {"id": made, **fields, "stage": record.stage.value}}

        texts = self.db.execute(select(GUIDELINE.c.id, GUIDELINE.c.text))
        existing = Existing({found.id: found.text for found in texts})
        return Plan(
            "guidelines", existing, lambda one: (record_id(one),), lambda one: one.text, _nothing, row
        )

    def frozen(self) -> Plan:
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

        existing = Existing()
        for found in self.db.execute(
            select(AGREEMENT.c.id, AGREEMENT.c.item_id, AGREEMENT.c.stage, AGREEMENT.c.sha256)
        ):
            existing.prints[found.id] = found.sha256
            existing.ids[found.item_id, found.stage] = found.id
        return Plan(
            "agreements", existing, lambda one: (one.item_id, one.stage.value), lambda one: sha256(_content(one)),
            needs, row,
        )  # fmt: skip

    def pairings(self) -> Plan:
        """What a judge paired is the same when all of it is."""
        existing = Existing(dict(self.db.execute(select(ASSISTED.c.id, ASSISTED.c.sha256)).all()))

        def needs(record: AssistedRecord) -> Iterable[Need]:
            yield from (
                ("agreements", record.agreement_id),
                ("judges", record.judge_id),
                ("runs", record.run_id),
            )

        def row(record: AssistedRecord) -> dict[str, Any]:
            self.checks.refuse_other_pair(record)
            return {"assisted_pair": assisted.row(record)}

        return Plan("pairings", existing, _by_id, lambda one: assisted.row(one)["sha256"], needs, row)

    def closed(self) -> Plan:
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

        columns = (VERSION.c[name] for name in ("id", "artifact_id", "revision", "sha256"))
        existing = Existing({name: tuple(rest) for name, *rest in self.db.execute(select(*columns))})
        return Plan(
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
