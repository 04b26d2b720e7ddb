"""What an attack is: a way to copy a report so that the right verdict stays the same, and the judge's may not."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from annotator.domain.judges.attack import Pieces
from annotator.domain.judges.protocol import Target


class Needs(StrEnum):
    """What an attack needs of whoever is asked."""

    NOTHING = "nothing"
    MODEL = "model"
    TOGETHER = "together"
    WRITER = "writer"


@dataclass(frozen=True, slots=True)
class Given:
    """What a copy is made from: the report, in which of its ways the attack goes, its target, and chance."""

    report: str
    variant: str
    target: Target
    chance: Random


Copy = Callable[[Given], Pieces | None]
"""From what is given to the pieces of a copy; None where it cannot be made."""


@dataclass(frozen=True, slots=True)
class Attack:
    """An attack by its name; `about` says what is done and why the right verdict stays, `variants` in which ways.

    The variants are dealt out evenly. `copy` is the same for the same given things; there is none where the report
    stays, or a model writes it anew. What `plants` is there to bring about the target's verdict.
    """

    name: str
    title: str
    about: str
    variants: tuple[str, ...] = ("",)
    copy: Copy | None = None
    needs: Needs = Needs.NOTHING
    plants: bool = False
