"""What became of one rater's units in a consensus: kept, reworded, dropped, added … and why."""

from collections.abc import Iterable, Mapping
from typing import Any

from annotator.actions.consensus import consensus
from annotator.domain.experts.adjudication import OWN, ConsensusVersion, Ruling
from annotator.domain.experts.digest import DigestRow, Fate
from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.unit import Unit


def rows(
    kind: Kind,
    letter: str,
    own: Document[Any],
    version: ConsensusVersion,
    agreed: Document[Any],
    headings: Mapping[str, str],
) -> tuple[DigestRow, ...]:
    """Row by row as the version was closed, what the rater behind a letter may learn.

    Of another rater's work it holds what stands in the consensus and nothing else: rows that neither they wrote nor
    the consensus keeps are left out, and reasons are given only where their own unit did not stay as it was.
    """
    made: dict[str, list[Unit]] = {}
    for provenance in version.provenance:
        made.setdefault(provenance.ruling_id, []).append(agreed.unit(provenance.unit_id))
    found: list[DigestRow] = []
    for ruling in version.rulings:
        units = made.get(ruling.id, [])
        mine = own.unit(ruling.members[letter]) if letter in ruling.members else None
        found += _of_row(kind, ruling, mine, units, headings)
    return tuple(found)


def _of_row(
    kind: Kind, ruling: Ruling, mine: Unit | None, units: list[Unit], headings: Mapping[str, str]
) -> Iterable[DigestRow]:
    counterpart = _counterpart(kind, mine, units) if mine is not None else None
    if mine is not None:
        yield _row(kind, ruling, mine, counterpart, headings)
    for unit in units:
        if unit is not counterpart:
            yield _row(kind, ruling, None, unit, headings)


def _counterpart(kind: Kind, mine: Unit, units: list[Unit]) -> Unit | None:
    """The consensus unit that stands for one's own: the one that says the same, or the only one."""
    same = next((unit for unit in units if consensus.agree(kind, (mine, unit))), None)
    return same or (units[0] if units else None)


def _row(
    kind: Kind, ruling: Ruling, mine: Unit | None, agreed: Unit | None, headings: Mapping[str, str]
) -> DigestRow:
    change = _change(kind, ruling, mine, agreed)
    about = mine or agreed
    told = change != Fate.KEPT
    return DigestRow(
        own=mine.model_dump(mode="json") if mine is not None else None,
        consensus=agreed.model_dump(mode="json") if agreed is not None else None,
        change=change,
        reason=ruling.reason if told else None,
        rationale=ruling.rationale if told else "",
        heading=headings.get(str(getattr(about, "unit_id", "")), ""),
    )


def _change(kind: Kind, ruling: Ruling, mine: Unit | None, agreed: Unit | None) -> str:
    if mine is None:
        return Fate.ADDED
    if agreed is None:
        return Fate.DROPPED
    differing = consensus.differing(kind, (mine, agreed))
    if not differing:
        return Fate.KEPT
    if "text" not in differing:
        return f"{' and '.join(differing)} changed"
    return Fate.MERGED if ruling.take == OWN and len(ruling.members) > 1 else Fate.REWORDED
