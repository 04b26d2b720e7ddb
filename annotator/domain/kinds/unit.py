"""Units: the smallest parts of an artifact that are agreed on or judged."""

import operator
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from annotator.domain.texts.canonical import Text, sha256
from annotator.domain.texts.change import new_id


class Anchor(BaseModel):
    """A quotation and where it stands: characters of a source's or a report's text, half-open [start, end).

    `text_sha256` is the hash of the whole text, so that an anchor into a text that has changed is noticed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)
    quote: Text = Field(min_length=1, max_length=20_000)
    source_id: str = ""
    start: int = Field(default=-1, ge=-1)
    end: int = Field(default=-1, ge=-1)
    page: int | None = Field(default=None, ge=1)
    text_sha256: str = ""
    said: Text = Field(
        default="",
        max_length=12,
        exclude_if=operator.not_,
        description="When it was said in a recording, as 1:02:03; left out where that is not known",
    )

    @classmethod
    def at(cls, text: str, start: int, end: int, source_id: str = "", said: str = "") -> "Anchor":
        """The anchor of text[start:end]; ValidationError when that is empty or too long."""
        quote, own = text[start:end], _hash_of(text)
        return cls(quote=quote, source_id=source_id, start=start, end=end, text_sha256=own, said=said)

    @property
    def place(self) -> str:
        """Its page or its moment, behind the quotation; empty where neither is known."""
        return f" — p. {self.page}" if self.page else f" — {self.said}" if self.said else ""


@lru_cache(maxsize=8)
def _hash_of(text: str) -> str:
    """A text's hash; kept, since hundreds of anchors may lie in one report."""
    return sha256(text)


def _is_empty(anchors: tuple[Anchor, ...]) -> bool:
    return not anchors


class Unit(BaseModel):
    """What every unit has: an id that never changes, its words, a private note, and quotations to lean on."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)
    id: str = Field(default_factory=new_id, min_length=1, max_length=80)
    text: Text = Field(default="", max_length=20_000)
    note: Text = Field(default="", max_length=20_000)
    anchor: Anchor | None = None
    # Left out where there are none: a unit with one quotation or none is written as it always was.
    more_anchors: tuple[Anchor, ...] = Field(default=(), max_length=99, exclude_if=_is_empty)

    @property
    def anchors(self) -> tuple[Anchor, ...]:
        return (self.anchor, *self.more_anchors) if self.anchor else ()

    def quoting(self, anchors: Sequence[Anchor]) -> dict[str, Any]:
        """The fields, as JSON, with which the unit would lean on these quotations."""
        trees = [anchor.model_dump(mode="json") for anchor in anchors]
        return {"anchor": trees[0] if trees else None, "more_anchors": trees[1:]}


def blind(unit: Unit) -> Unit:
    """The unit as a rater sees it: its words, without what it weighs and what was noted of it."""
    return Unit(id=unit.id, text=unit.text)


# Ids of the cells of a matrix: at most 80 characters, the same whenever they are made.
_LONGEST_SIDE = 39


def cell_id(row: str, column: str) -> str:
    return f"{side_of_cell(row)}~{side_of_cell(column)}"


def side_of_cell(unit_id: str) -> str:
    """What a unit is called within the ids of cells."""
    plain = len(unit_id) <= _LONGEST_SIDE and "~" not in unit_id
    return unit_id if plain else sha256(unit_id)[:_LONGEST_SIDE]
