"""Whether the work in pairs that comes in hangs together: units, people, letters, and who may adjudicate."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from sqlalchemy.engine import Connection

from annotator.actions.assignments import adjudicators
from annotator.actions.authoring.comparing import ABOUT
from annotator.actions.consensus import consensus
from annotator.actions.imports.intake_history import History
from annotator.actions.project.incoming import ID
from annotator.domain.experts.adjudication import BOTH, DROP, LETTERS, OWN, ConsensusVersion
from annotator.domain.experts.agreement import PairAgreement, SealedInput
from annotator.domain.experts.assignment import Stage
from annotator.domain.judges.judgement import RaterKind
from annotator.domain.kinds.artifact import Document, Kind, State
from annotator.domain.kinds.documents import document_of
from annotator.exchange.release.bundle import Bundle
from annotator.exchange.release.pair_records import (
    AdjudicationRecord,
    AgreementRecord,
    AssistedRecord,
    RulingRecord,
    consensus_version,
)

# What all versions of one consensus say alike.
SHARED = ("item_id", "stage", "agreement_id", "artifact_id", "letters", "seed", "spot_check", "opened_at")


class PairChecks:
    """What has to hold of a bundle's work in pairs before any of it is written."""

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
            _refuse_take(ruling)
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


def _refuse_take(ruling: RulingRecord) -> None:
    if ruling.take not in (*ruling.members, BOTH, OWN, DROP):
        raise ValueError(f"row {ruling.position + 1} takes what nobody wrote")
