"""Nuggets: facts in a good text, each vital or okay."""

import operator
from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from annotator.domain.kinds.artifact import (
    Context,
    Document,
    Finding,
    Kind,
    KindSpec,
    Unit,
    UnitField,
    near_duplicates,
    warning,
)


class Nugget(Unit):
    """One fact, vital or okay."""

    importance: Literal["vital", "okay"] = "okay"
    # The support by the text it was extracted from; left out if it was written by hand.
    support: Literal["", "support", "partial_support", "not_support"] = Field(
        default="", exclude_if=operator.not_
    )

    @property
    def counts(self) -> bool:
        """Whether it counts as gold: not if the text it was extracted from does not fully support it."""
        return self.support in ("", "support")


class Nuggets(Document[Nugget], kind=Kind.NUGGETS):
    """The facts of one item (DeepScholar, nugget coverage)."""


def findings(nuggets: Nuggets, _context: Context) -> Iterator[Finding]:
    yield from near_duplicates([unit for unit in nuggets.units if unit.text.strip()], "nugget")
    for unit in nuggets.units:
        if not unit.counts:
            yield warning(
                "not-kept",
                "The text that this was drawn from does not fully bear it out, so it does not count as gold.",
                "Remove it, or write a nugget of your own that the text bears out.",
                unit.id,
            )
    if len(nuggets.units) >= 3 and not any(unit.importance == "vital" for unit in nuggets.units):
        yield warning(
            "no-vital", "No nugget is vital.", "Mark those that a good text must contain.", field="importance"
        )


def _summary(nuggets: Nuggets, _bar: float) -> str:
    vital = sum(unit.importance == "vital" for unit in nuggets.units)
    return f"{vital} vital, {len(nuggets.units) - vital:,} okay"


SPEC = KindSpec(
    Nuggets,
    title="Nuggets",
    unit="nugget",
    units="nuggets",
    what="Nuggets are the facts that a good text contains, each vital or merely okay.",
    prompt="One fact, in a sentence that stands by itself.",
    table="nuggets",
    fields=(
        UnitField(
            "importance",
            "Importance",
            (("vital", "Vital", "A good text must contain it"), ("okay", "Okay", "Good to have, not needed")),
            level="nominal",
        ),
    ),
    lint=findings,
    summary=_summary,
)
