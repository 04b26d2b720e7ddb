"""Agreement under the adjudicator's pairing: a second figure beside the frozen one."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from sqlalchemy.engine import Connection

from annotator.actions.authoring import comparing
from annotator.actions.consensus import consensus_versions, letters, ruling_rows
from annotator.actions.consensus.consensus import Documents
from annotator.domain.experts.adjudication import Adjudication, Ruling
from annotator.domain.experts.agreement import Agreement, Figure, PairAgreement, under
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS

PREFIX = "repaired_"


def figures(kind: Kind, item_id: str, rulings: Sequence[Ruling], documents: Documents) -> tuple[Figure, ...]:
    """The figures of the adjudicator's pairing, each under its name with “repaired_” before it.

    None for kinds whose units need no pairing. A and B in their notes are the letters.
    """
    if KINDS[kind].given:
        return ()
    pairs = [_pair(kind, a, b, rulings, documents) for a, b in combinations(sorted(documents), 2)]
    return under(PREFIX, pairs[0].figures if len(pairs) == 1 else comparing.over_all(kind, item_id, pairs))


def records(db: Connection, found: Iterable[Agreement]) -> list[Agreement]:
    """The records as the adjudicators paired their units, of those that have been adjudicated.

    The last closed version counts. What comes back is to be pooled beside the frozen figures, never in their place.
    """
    frozen = {agreement.id: agreement for agreement in found}
    made = {
        each.agreement_id: _repaired(db, frozen[each.agreement_id], each)
        for each in ruling_rows.adjudications(db)
        if each.agreement_id in frozen and each.version and not KINDS[letters.kind_of(each)].given
    }
    return [made[agreement_id] for agreement_id in frozen if agreement_id in made]


def _repaired(db: Connection, agreement: Agreement, adjudication: Adjudication) -> Agreement:
    kind, people = letters.kind_of(adjudication), adjudication.letters
    documents = {people[letter]: found for letter, found in letters.sealed(db, agreement, people).items()}
    rulings = _by_person(consensus_versions.versions(db, adjudication.id)[-1].rulings, people)
    pairs = tuple(_pair(kind, pair.a, pair.b, rulings, documents) for pair in agreement.pairs)
    return agreement.model_copy(update={"pairs": pairs, "figures": ()})


def _by_person(rulings: Iterable[Ruling], people: Mapping[str, str]) -> list[Ruling]:
    """The rulings with people's ids in the place of letters."""
    return [
        row.model_copy(update={"members": {people[letter]: unit for letter, unit in row.members.items()}})
        for row in rulings
    ]


def _pair(kind: Kind, a: str, b: str, rulings: Sequence[Ruling], documents: Documents) -> PairAgreement:
    together = [(row.members[a], row.members[b]) for row in rulings if {a, b} <= row.members.keys()]
    return comparing.compare_raters(kind, documents, a, b, together)
