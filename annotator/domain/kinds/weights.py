"""Which weights a criterion may have: 1, 2 or 3, unless a project allows others."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, Field, PlainSerializer, Strict

from annotator.domain.texts.refusal import Refusal

# From -10 to 10, as public rubrics have them.
MOST = 21
FURTHEST = 1000
HOW = "Give a range such as “1 to 3”, “-3 to 3” or “0 to 1 by 0.25”, or a list such as “-5, 1, 3”."
_NUMBER = r"([+-]?\d+(?:\.\d+)?)"
_RANGE = re.compile(rf"{_NUMBER}\s*(?:to|\.\.\.?|–)\s*{_NUMBER}(?:\s*by\s*{_NUMBER})?", re.IGNORECASE)
_LIST = re.compile(rf"{_NUMBER}(?:\s*[,;]\s*{_NUMBER})*")


def _whole(number: float) -> int | float:
    """The same number, as a whole one where it is."""
    return int(number) if number == int(number) else number


Weight = Annotated[
    float,
    Strict(),
    Field(ge=-FURTHEST, le=FURTHEST, allow_inf_nan=False),
    AfterValidator(_whole),
    PlainSerializer(_whole, when_used="always"),
]
"""How much a criterion counts; a negative weight is of what a report must not do."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights that a project allows, the lowest first."""

    values: tuple[int | float, ...] = (1, 2, 3)

    @property
    def usual(self) -> bool:
        """Whether they are those of a project that says nothing."""
        return self == USUAL

    @property
    def options(self) -> tuple[tuple[int | float, str, str], ...]:
        """What may be chosen in a form: the weight, its words, and what it means."""
        if self.usual:
            return (1, "Nice to have", ""), (2, "Supporting", ""), (3, "Core", "")
        return tuple((weight, "", f"Weight {weight}") for weight in self.values)

    @property
    def text(self) -> str:
        """As they are typed; `read` makes the same of it."""
        low, *_, high = *self.values, self.values[-1]
        steps = {_exact(b) - _exact(a) for a, b in zip(self.values, self.values[1:], strict=False)}
        if len(self.values) < 3 or len(steps) > 1:
            return ", ".join(str(weight) for weight in self.values)
        (step,) = steps
        return f"{low} to {high}" if step == 1 else f"{low} to {high} by {step.normalize():f}"

    def of_three(self, importance: int) -> int | float:
        """The weight that stands for nice to have (1), supporting (2) or core (3): low, middle, high above 0."""
        above = [weight for weight in self.values if weight > 0] or list(self.values)
        return above[(importance - 1) * (len(above) - 1) // 2]


USUAL = Weights()


def read(text: str) -> Weights:
    """The weights of a range or a list; those of a project that says nothing where it is empty.

    Refusal with what can be given where it is neither, where a range does not come out even, or holds too many.
    """
    plain = text.replace("\N{MINUS SIGN}", "-").strip()
    if not plain:
        return USUAL
    if found := _RANGE.fullmatch(plain):
        low, high, step = (Decimal(number) for number in (found[1], found[2], found[3] or "1"))
        if step <= 0 or high <= low or (high - low) % step:
            raise Refusal(f"“{text}” is no range of weights.", HOW)
        numbers = [low + place * step for place in range(min(int((high - low) / step), MOST) + 1)]
    elif _LIST.fullmatch(plain):
        numbers = sorted({Decimal(number) for number in re.findall(_NUMBER, plain)})
    else:
        raise Refusal(f"“{text}” does not say which weights are allowed.", HOW)
    return _checked(numbers)


def _checked(numbers: list[Decimal]) -> Weights:
    if not 2 <= len(numbers) <= MOST:
        raise Refusal(f"A project allows 2 to {MOST} weights.", HOW)
    if max(abs(number) for number in numbers) > FURTHEST:
        raise Refusal(f"Weights lie between -{FURTHEST} and {FURTHEST}.", HOW)
    if max(numbers) <= 0:
        raise Refusal("No weight is above 0, so no report could reach anything.", HOW)
    return Weights(tuple(_whole(float(number)) for number in numbers))


def _exact(number: int | float) -> Decimal:
    return Decimal(str(number))
