"""Outcomes of units: word, icon, colour, and fields in words."""

from collections.abc import Mapping
from typing import Any

from annotator.domain.experts.digest import DigestRow, Fate
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.unit import Unit
from annotator.gui.review.field_chips import field_chips
from annotator.gui.widgets.chips import Chip

# The order in which the fates of a stage are counted up.
FATES: dict[str, Chip] = {
    Fate.KEPT: Chip("kept", "check", "agreed"),
    Fate.REWORDED: Chip("reworded", "author", "unconfirmed"),
    Fate.MERGED: Chip("merged", "link", "unconfirmed"),
    Fate.DROPPED: Chip("dropped", "trash", "disagree"),
    Fate.ADDED: Chip("added", "plus", "incomplete"),
}


def fate(row: DigestRow) -> Chip:
    """The fate of a unit; where only a field changed, that is its word."""
    return FATES.get(row.change) or Chip(row.change, "author", "unconfirmed")


def counted_up(rows: tuple[DigestRow, ...]) -> list[Chip]:
    """How many units met which fate: “12 kept”, “1 weight changed” …"""
    words = [*FATES, *(row.change for row in rows if row.change not in FATES)]
    counts = {word: sum(row.change == word for row in rows) for word in dict.fromkeys(words)}
    return [_numbered(word, count) for word, count in counts.items() if count]


def _numbered(word: str, count: int) -> Chip:
    look = FATES.get(word, Chip(word, "author", "unconfirmed"))
    return Chip(f"{count} {word}", look.icon, look.state)


def unit_of(kind: Kind, values: Mapping[str, Any] | None) -> Unit | None:
    """A unit from its record."""
    return KINDS[kind].document.UNIT.model_validate(values) if values is not None else None


def field_words(kind: Kind, unit: Unit, other: Unit | None, *, given_up: bool) -> list[Chip]:
    """A unit's fields beside its words; those that are not as in the other one stand out: given up, or new."""
    names = [field.name for field in KINDS[kind].shown]
    differing = [name for name in names if other is not None and getattr(unit, name) != getattr(other, name)]
    plain, marked = field_chips(kind, unit), field_chips(kind, unit, differing)
    look = ("minus", "disagree") if given_up else ("check", "agreed")
    return [chip if chip in plain else Chip(chip.words, *look) for chip in marked]
