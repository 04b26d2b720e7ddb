"""The fields of a unit in words."""

from collections.abc import Sequence
from typing import Any

from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.labels import Label
from annotator.domain.kinds.spec import UnitField
from annotator.gui.review.verdicts import face
from annotator.gui.widgets.chips import Chip


def value_words(field: UnitField, value: Any, protocol: str = "") -> str:
    """One value as people say it: “weight 3”, “True”, “Not met” of a label under a protocol."""
    if field.name == "value":
        return face(str(value), protocol).words
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or f"no {field.title.lower()}"
    if value is None or value == "":
        return f"no {field.title.lower()}"
    if isinstance(value, float) and not field.options:
        return f"{field.title.lower()} {value:.2f}"
    if not field.options:
        return str(value)
    number = str(value).lstrip("-").replace(".", "", 1).isdigit()
    return f"{field.title.lower()} {value}" if number else str(value).capitalize()


def protocol_of(unit: Unit | None) -> str:
    return unit.protocol if isinstance(unit, Label) else ""


def field_chips(kind: Kind, unit: Unit, differing: Sequence[str] = ()) -> list[Chip]:
    """The fields of a unit beside its words; those that differ between the letters stand out."""
    made = []
    for field in KINDS[kind].shown:
        value = getattr(unit, field.name)
        if (field.optional or not field.options) and value in (None, "") and field.name not in differing:
            continue
        words = value_words(field, value, protocol_of(unit))
        made.append(Chip(words, "cross", "disagree") if field.name in differing else Chip(words))
    return made
