"""Order attacks: a report's sections, or the criteria asked together, in another order."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from annotator.domain.judges.attack import Piece, Pieces
from annotator.judging.attacks.blocks import sections
from annotator.judging.attacks.shape import Attack, AttackInput, AttackNeeds

CRITERIA = "order.criteria"
T = TypeVar("T")


def _shuffled(given: AttackInput) -> Pieces | None:
    """What stands before the first section stays there; a section that ends the report gets a blank line after it."""
    report = given.report
    first, *rest = sections(report) or [(0, 0)]
    if len(rest) < 2:
        return None
    pieces: list[Piece] = []
    for start, end in [first, *disordered(rest, given.chance)]:
        if start == end:
            continue
        pieces.append((start, end))
        if not report[:end].endswith("\n\n"):
            pieces.append("\n" if report[:end].endswith("\n") else "\n\n")
    return tuple(pieces if not isinstance(pieces[-1], str) else pieces[:-1])


def disordered(things: Sequence[T], chance: Random) -> list[T]:
    """The things in an order at random that is not their own; one thing, or none, stays as it is."""
    found = list(range(len(things)))
    while len(things) > 1 and found == sorted(found):
        chance.shuffle(found)
    return [things[place] for place in found]


REORDERINGS = (
    Attack(
        "order.sections",
        "Sections in another order",
        "The sections of the report, by its headings, follow one another in another order; every word is still there. "
        "Reports without two headings of a level have no such copy.",
        ("",),
        _shuffled,
    ),
    Attack(
        CRITERIA,
        "Criteria in another order",
        "The report is as it was; what is asked together is asked in another order. A verdict on one criterion does "
        "not depend on which comes before it.",
        needs=AttackNeeds.TOGETHER,
    ),
)
