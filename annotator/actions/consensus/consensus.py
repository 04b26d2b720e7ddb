"""From rulings to a consensus: its units, each with its origin."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotator.actions.authoring.comparing import counts_equal
from annotator.domain.experts.adjudication import BOTH, DROP, OWN, Origin, Provenance, Ruling
from annotator.domain.kinds.artifact import Document, Kind, Unit
from annotator.domain.kinds.documents import KINDS
from annotator.domain.texts.change import derived_id

# Letter → that rater's document.
Documents = Mapping[str, Document[Any]]
Made = tuple[Unit, Provenance]

# A note is for the adjudicator and a flag for its author; neither goes into a consensus, which others read.
PRIVATE = frozenset({"id", "note", "flags"})


def writable(kind: Kind) -> frozenset[str]:
    """The fields of a unit that an adjudicator may word."""
    return frozenset(KINDS[kind].document.UNIT.model_fields) - PRIVATE - KINDS[kind].given


def members(ruling: Ruling, documents: Documents) -> dict[str, Unit]:
    return {letter: documents[letter].unit(unit_id) for letter, unit_id in sorted(ruling.members.items())}


def agree(kind: Kind, units: Iterable[Unit]) -> bool:
    """Whether nothing that counts differs between units."""
    first, *rest = units
    return all(counts_equal(kind, first, other) for other in rest)


def differing(kind: Kind, units: Sequence[Unit]) -> tuple[str, ...]:
    """The fields that count and differ between units, in the order of the kind's class."""
    counted = {"text", *KINDS[kind].counted_fields}
    first, *rest = units or (None,)
    return tuple(
        name
        for name in KINDS[kind].document.UNIT.model_fields
        if name in counted
        and first is not None
        and not all(_same(kind, name, first, other) for other in rest)
    )


def _same(kind: Kind, name: str, a: Unit, b: Unit) -> bool:
    """Whether the units would be equal if they differed in that field alone."""
    return counts_equal(kind, a, a.model_copy(update={name: getattr(b, name)}))


def same_as(kind: Kind, ruling: Ruling, documents: Documents) -> str:
    """The letter whose unit the own wording repeats, or an empty text."""
    own, fields = own_unit(kind, ruling, documents), set(writable(kind))
    for letter, unit in members(ruling, documents).items():
        if KINDS[kind].given and counts_equal(kind, own, unit):
            return letter
        if own.model_dump(include=fields) == unit.model_dump(include=fields):
            return letter
    return ""


def starting_point(kind: Kind, ruling: Ruling, documents: Documents) -> dict[str, Any]:
    """The fields that an own wording starts from: what is taken now, otherwise the first letter's, or blank."""
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
    """The units that one ruling puts into the consensus: none while it is open or drops its row.

    Ids hang on the ruling alone (for labels on what is labelled), so that they stay the same over versions.
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
        _kept(kind, ruling, letters, units[letters[0]], number)
        for number, letters in enumerate(_alike(kind, units), start=1)
    ]


def _kept(kind: Kind, ruling: Ruling, letters: list[str], unit: Unit, number: int) -> Made:
    kept = _bare(unit, _id(kind, ruling, number))
    sources = {letter: ruling.members[letter] for letter in letters}
    if len(letters) > 1:
        return kept, _provenance(ruling, kept, Origin.BOTH, sources)
    return kept, _provenance(ruling, kept, Origin.ONE, sources, letters[0])


def _alike(kind: Kind, units: Mapping[str, Unit]) -> list[list[str]]:
    """The letters, those together whose units differ in nothing that counts."""
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
