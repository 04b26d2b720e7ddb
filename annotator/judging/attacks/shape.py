"""The description of an attack: a way to copy a report so that the correct verdict stays the same."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from annotator.domain.judges.attack import Pieces
from annotator.domain.judges.protocol import Target


class AttackNeeds(StrEnum):
    """What an attack needs of anyone who is asked."""

    NOTHING = "nothing"
    MODEL = "model"
    TOGETHER = "together"
    WRITER = "writer"


@dataclass(frozen=True, slots=True)
class AttackInput:
    """What a copy is made from: the report, in which of its ways the attack goes, its target, and chance."""

    report: str
    variant: str
    target: Target
    chance: Random


Copy = Callable[[AttackInput], Pieces | None]
"""From what is given to the pieces of a copy; None where it cannot be made."""


@dataclass(frozen=True, slots=True)
class Attack:
    """An attack by its name; `about` says what is done and why the right verdict stays, `variants` in which ways.

    The variants are dealt out evenly. `copy` is the same for the same given things; there is none where the report
    stays, or a model writes it again. What `plants` is there to bring about the target's verdict.
    """

    name: str
    title: str
    about: str
    variants: tuple[str, ...] = ("",)
    copy: Copy | None = None
    needs: AttackNeeds = AttackNeeds.NOTHING
    plants: bool = False
