"""From rulings to a consensus: its units, each with its origin."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import orjson
from sqlalchemy import Connection, Row, insert, select, update

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts, comparing
from annotator.actions.consensus import ruling_rows
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.common import (
    Change,
    Refusal,
    canonical_json,
    checked_text,
    derived_id,
    new_id,
    now,
    required,
    sha256,
)
from annotator.domain.experts.adjudication import (
    BOTH,
    DROP,
    OWN,
    Adjudication,
    Agreement,
    ConsensusVersion,
    Figure,
    Origin,
    PairAgreement,
    Provenance,
    Reason,
    Ruling,
    under,
)
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.kinds.artifact import Document, Kind, State, Unit, stage_of
from annotator.domain.kinds.documents import KINDS
from annotator.storage.tables import ADJUDICATION, ARTIFACT, CONSENSUS_VERSION, ITEM, REMARK, REVISION

# Letter → that rater's document.
Documents = Mapping[str, Document[Any]]
Made = tuple[Unit, Provenance]

# A note is for the adjudicator and a flag for its author; neither goes into a consensus, which others read.
PRIVATE = frozenset({"id", "note", "flags"})


def writable(kind: Kind) -> frozenset[str]:
    return frozenset(KINDS[kind].document.UNIT.model_fields) - PRIVATE - KINDS[kind].given


def members(ruling: Ruling, documents: Documents) -> dict[str, Unit]:
    return {letter: documents[letter].unit(unit_id) for letter, unit_id in sorted(ruling.members.items())}


def agree(kind: Kind, units: Iterable[Unit]) -> bool:
    first, *rest = units
    return all(comparing.counts_equal(kind, first, other) for other in rest)


def differing(kind: Kind, units: Sequence[Unit]) -> tuple[str, ...]:
    """The fields that count and differ between units, in the order of the kind's class."""
    counted = {"text", *KINDS[kind].counted_fields}
    first, *rest = units or (None,)
    return tuple(
        name
        for name in KINDS[kind].document.UNIT.model_fields
        if name in counted
        and first is not None
        and not all(
            comparing.counts_equal(kind, first, first.model_copy(update={name: getattr(other, name)}))
            for other in rest
        )
    )


def same_as(kind: Kind, ruling: Ruling, documents: Documents) -> str:
    """The letter whose unit the own wording repeats; an empty string if none."""
    own, fields = own_unit(kind, ruling, documents), set(writable(kind))
    for letter, unit in members(ruling, documents).items():
        alike = KINDS[kind].given and comparing.counts_equal(kind, own, unit)
        if alike or own.model_dump(include=fields) == unit.model_dump(include=fields):
            return letter
    return ""


def starting_point(kind: Kind, ruling: Ruling, documents: Documents) -> dict[str, Any]:
    """The initial fields of an own wording: those of the unit taken now, otherwise the first letter's, or none."""
    units = members(ruling, documents)
    if not units:
        return {}
    unit = units.get(ruling.take) or next(iter(units.values()))
    return unit.model_dump(mode="json", include=set(writable(kind)))


def own_unit(kind: Kind, ruling: Ruling, documents: Documents, unit_id: str = "own") -> Unit:
    """The unit as the adjudicator words it; pydantic's ValidationError names what does not fit."""
    units = members(ruling, documents)
    given = (
        next(iter(units.values())).model_dump(mode="json", include=set(KINDS[kind].given)) if units else {}
    )
    return KINDS[kind].document.UNIT.model_validate({**given, **ruling.own, "id": unit_id})


def made_of(kind: Kind, ruling: Ruling, documents: Documents) -> list[Made]:
    """The units that one ruling puts into the consensus: none if it is open or drops its row.

    Ids depend only on the ruling (for labels, on the subject), so that they stay the same over versions.
    """
    units = members(ruling, documents)
    if ruling.open or ruling.take == DROP:
        return []
    if ruling.take == OWN:
        unit = own_unit(kind, ruling, documents, _id(kind, ruling, 1))
        return [(unit, _provenance(ruling, unit, Origin.EDITED if units else Origin.NEW, ruling.members))]
    if ruling.take != BOTH:
        unit = _bare(units[ruling.take], _id(kind, ruling, 1))
        return [(unit, _provenance(ruling, unit, Origin.ONE, ruling.members, ruling.take))]
    return [
        _taken_over(kind, ruling, letters, units[letters[0]], number)
        for number, letters in enumerate(_alike(kind, units), start=1)
    ]


def _taken_over(kind: Kind, ruling: Ruling, letters: list[str], unit: Unit, number: int) -> Made:
    merged = _bare(unit, _id(kind, ruling, number))
    sources = {letter: ruling.members[letter] for letter in letters}
    if len(letters) > 1:
        return merged, _provenance(ruling, merged, Origin.BOTH, sources)
    return merged, _provenance(ruling, merged, Origin.ONE, sources, letters[0])


def _alike(kind: Kind, units: Mapping[str, Unit]) -> list[list[str]]:
    groups: list[list[str]] = []
    for letter, unit in units.items():
        home = next((group for group in groups if agree(kind, (units[group[0]], unit))), None)
        if home is None:
            groups.append([letter])
        else:
            home.append(letter)
    return groups


def _id(kind: Kind, ruling: Ruling, number: int) -> str:
    if kind is Kind.LABELS:
        return next(iter(ruling.members.values()))
    parts = ("consensus", ruling.adjudication_id, ruling.id)
    return derived_id(*parts) if number == 1 else derived_id(*parts, number)


def _bare(unit: Unit, unit_id: str) -> Unit:
    blank = {name: "" for name in PRIVATE & type(unit).model_fields.keys()}
    return unit.model_copy(update={**blank, "id": unit_id})


def _provenance(
    ruling: Ruling, unit: Unit, origin: Origin, sources: Mapping[str, str], letter: str = ""
) -> Provenance:
    return Provenance(
        unit_id=unit.id,
        ruling_id=ruling.id,
        origin=origin,
        letter=letter,
        sources=dict(sources),
        reason=ruling.reason,
        rationale=ruling.rationale,
        confidence=ruling.confidence,
        gap=ruling.gap,
    )


DETAIL = ("provenance", "rulings", "repaired")


def artifact(db: Connection, adjudication: Adjudication, kind: Kind) -> str:
    """The id of the consensus, which is created if there is none yet."""
    if adjudication.consensus_id:
        return adjudication.consensus_id
    artifact_id = derived_id("consensus", adjudication.id)
    row = {
        "id": artifact_id, "item_id": adjudication.item_id, "kind": kind.value,
        "author_id": adjudication.adjudicator_id,
        "state": State.CONSENSUS.value, "revision": 0,
    }  # fmt: skip
    db.execute(insert(ARTIFACT).values(**row))
    return artifact_id


def add_revision(
    project: Project, db: Connection, artifact_id: str, document: Document[Any], by: str = ""
) -> int:
    """Add a sealed revision to the consensus, chained to the one before; return its number."""
    newest = select(REVISION.c.number, REVISION.c.chain).where(REVISION.c.artifact_id == artifact_id)
    last = db.execute(newest.order_by(REVISION.c.number.desc()).limit(1)).first()
    number, previous = (last.number + 1, last.chain) if last else (1, "")
    artifacts.write_revision(
        project, db, artifact_id, document, "close", number=number, previous=previous, sealed=True, by=by
    )
    values = {"sealed_at": now(), "state": State.CONSENSUS.value}
    db.execute(update(ARTIFACT).where(ARTIFACT.c.id == artifact_id).values(**values))
    return number


def linked(db: Connection, item_id: str, document: Document[Any]) -> Document[Any]:
    """The document with links to raters' insights or inspirations replaced by those to the consensus units made of
    them.

    Links to units that the consensus does not contain are dropped; before there is one, links stay.
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
    unit_ids = {
        source: each["unit_id"]
        for each in orjson.loads(content)["provenance"]
        for source in (*each["sources"].values(), each["unit_id"])
    }
    return document.with_units(tuple(_linked(unit, field, unit_ids) for unit in document.units))


def _linked(unit: Unit, field: str, unit_ids: Mapping[str, str]) -> Unit:
    named = getattr(unit, field)
    if isinstance(named, str):
        return unit.model_copy(update={field: unit_ids.get(named, "")})
    linked_ids = dict.fromkeys(unit_ids[one] for one in named if one in unit_ids)
    return unit.model_copy(update={field: tuple(linked_ids)})


def keep(db: Connection, version: ConsensusVersion) -> None:
    db.execute(insert(CONSENSUS_VERSION), row(version))


def row(version: ConsensusVersion) -> dict[str, Any]:
    tree = version.model_dump(mode="json")
    content = canonical_json({name: tree[name] for name in DETAIL})
    return {**version.model_dump(exclude=set(DETAIL)), "content": content.decode(), "sha256": sha256(content)}


def versions(db: Connection, adjudication_id: str) -> list[ConsensusVersion]:
    question = (
        select(CONSENSUS_VERSION)
        .where(CONSENSUS_VERSION.c.adjudication_id == adjudication_id)
        .order_by(CONSENSUS_VERSION.c.version)
    )
    return [version_of(row) for row in db.execute(question)]


def version_of(row: Row[Any]) -> ConsensusVersion:
    columns = {name: row._mapping[name] for name in ConsensusVersion.model_fields if name not in DETAIL}
    return ConsensusVersion.model_validate({**columns, **orjson.loads(row.content)})


PREFIX = "repaired_"


def figures(kind: Kind, item_id: str, rulings: Sequence[Ruling], documents: Documents) -> tuple[Figure, ...]:
    """The figures of the adjudicator's pairing, their names prefixed with “repaired_”.

    Empty for kinds whose units need no pairing. A and B in their notes are the letters.
    """
    if KINDS[kind].given:
        return ()
    pairs = [_pair(kind, a, b, rulings, documents) for a, b in combinations(sorted(documents), 2)]
    return under(PREFIX, pairs[0].figures if len(pairs) == 1 else comparing.over_all(kind, item_id, pairs))


def records(db: Connection, agreements: Iterable[Agreement]) -> list[Agreement]:
    """The agreements as the adjudicators paired their units, for those that have been adjudicated.

    The last closed version counts. To be pooled beside the frozen figures, never in their place.
    """
    frozen = {agreement.id: agreement for agreement in agreements}
    made = {
        each.agreement_id: _repaired(db, frozen[each.agreement_id], each)
        for each in ruling_rows.adjudications(db)
        if each.agreement_id in frozen and each.version and not KINDS[ruling_rows.kind_of(each.stage)].given
    }
    return [made[agreement_id] for agreement_id in frozen if agreement_id in made]


def _repaired(db: Connection, agreement: Agreement, adjudication: Adjudication) -> Agreement:
    kind, people = ruling_rows.kind_of(adjudication.stage), adjudication.letters
    documents = {
        people[letter]: result for letter, result in ruling_rows.sealed(db, agreement, people).items()
    }
    rulings = [
        row.model_copy(update={"members": {people[letter]: unit for letter, unit in row.members.items()}})
        for row in versions(db, adjudication.id)[-1].rulings
    ]
    pairs = tuple(_pair(kind, pair.a, pair.b, rulings, documents) for pair in agreement.pairs)
    return agreement.model_copy(update={"pairs": pairs, "figures": ()})


def _pair(kind: Kind, a: str, b: str, rulings: Sequence[Ruling], documents: Documents) -> PairAgreement:
    together = [(row.members[a], row.members[b]) for row in rulings if {a, b} <= row.members.keys()]
    return comparing.compare_raters(kind, documents, a, b, together)


LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class AdjudicatedStage:
    """A stage of an item and its adjudication, whose id is empty if it is not open yet."""

    item_id: str
    item_key: str
    stage: Stage
    adjudication_id: str


@dataclass(frozen=True, slots=True)
class Gap(AdjudicatedStage):
    ruling_id: str
    text: str


def remark(project: Project, adjudication_id: str, text: str) -> Change:
    """Add a note to the discussion of an adjudication; it cannot be removed.

    Only the adjudicator and coordinators may write or read; nobody who answered the item may.
    """
    with project.store.write() as db:
        _refuse_outsiders(project, db, adjudication_id)
        return add(project, db, adjudication_id, text)


def add(project: Project, db: Connection, subject: str, text: str) -> Change:
    """`remark` in a transaction that has checked that the person may."""
    row = {
        "id": new_id(), "subject": subject, "person_id": people.someone(project).id, "text": stripped(text),
        "at": now(),
    }  # fmt: skip
    db.execute(insert(REMARK).values(**row))
    return record(project, db, Change("remark", subject, "remark", None, {"id": row["id"]}))


def stripped(text: str) -> str:
    """A reason or note without surrounding white space; raises Refusal if it is empty or cannot be stored."""
    text = required(text.strip(), "Nothing is written yet.", "Write a sentence first.")
    if len(text) > LONGEST:
        raise Refusal(f"The text is longer than {LONGEST} characters.", "Shorten it; your text is kept.")
    try:
        return checked_text(text)
    except ValueError as error:
        raise Refusal(f"The text {error}.", "Remove that character; the rest of the text is kept.") from None


def remarks(project: Project, adjudication_id: str) -> list[Row[Any]]:
    """The notes on an adjudication (text and person), oldest first; raises Refusal as `remark` does."""
    notes = select(REMARK).where(REMARK.c.subject == adjudication_id)
    with project.store.read() as db:
        _refuse_outsiders(project, db, adjudication_id)
        return list(db.execute(notes.order_by(REMARK.c.at, REMARK.c.id)))


def gaps(project: Project) -> list[Gap]:
    """The gaps in the guidelines, by item, stage and row; the rationale if no gap is worded.

    Anyone who answered the item sees a gap only once there is a consensus, and never the rationale.
    """
    with project.store.read() as db:
        answered = assignments.answered(db, people.someone(project).id)
        rulings = ruling_rows.all_rulings(db)
        keys = {
            row.id: row.key
            for row in db.execute(
                select(ITEM.c.id, ITEM.c.key).order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)
            )
        }
        places = {item_id: place for place, item_id in enumerate(keys)}
        result = [
            each for each in ruling_rows.adjudications(db) if each.version or each.item_id not in answered
        ]
    stages = list(Stage)
    result.sort(key=lambda each: (places[each.item_id], stages.index(each.stage)))
    return [
        Gap(
            each.item_id,
            keys[each.item_id],
            each.stage,
            each.id,
            row.id,
            row.gap or ("" if each.item_id in answered else row.rationale),
        )
        for each in result
        for row in rulings.get(each.id, ())
        if row.gap or row.reason is Reason.GUIDELINE_GAP
    ]


def _refuse_outsiders(project: Project, db: Connection, adjudication_id: str) -> None:
    adjudication = ruling_rows.adjudication(db, adjudication_id)
    known = assignments.competence(project, db, adjudication.item_id)
    objection = known.objection(adjudication.item_id, adjudication.adjudicator_id)
    coordinates = known.person.has(Role.COORDINATOR) and adjudication.item_id not in known.own
    if objection and not coordinates:
        raise objection
