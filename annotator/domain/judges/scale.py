"""Scales: the values that a rater may give, their meaning and their order."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Level(StrEnum):
    """What values are to one another, by Krippendorff's names; a rank is a place in a list."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    RANK = "rank"


class ValueLook(StrEnum):
    """What a value stands for; the window has an icon and a colour for each."""

    GOOD = "good"
    BAD = "bad"
    NEITHER = "neither"
    NONE = "none"
    FIRST = "first"
    SECOND = "second"
    STEP = "step"


@dataclass(frozen=True, slots=True)
class Value:
    """A value as it is stored and as people read it; `hint` says what it means."""

    name: str
    words: str
    hint: str = ""
    look: ValueLook = ValueLook.STEP


@dataclass(frozen=True, slots=True)
class Scale:
    """The values a rater may give; none where a protocol is computed.

    Values without an order are declared from the best to the worst, ordered ones from the lowest up.
    With `of_numbers` each value is named by its number; the number of any other ordered value is its place, from 0.
    `positive` counts as positive where a figure needs one. Of pairs `mirrored` says what a value becomes when the
    two change places.
    """

    level: Level = Level.NOMINAL
    values: tuple[Value, ...] = ()
    of_numbers: bool = False
    positive: str = ""
    mirrored: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(value.name for value in self.values)

    @property
    def best_first(self) -> tuple[str, ...]:
        """The values in the order in which people are offered them: the best first; numbers from the lowest up."""
        rising = self.level is not Level.NOMINAL and not self.of_numbers
        return self.names[::-1] if rising else self.names

    def value(self, name: str) -> Value:
        """The value of that name; one that is not known, as in a file of a later version, is shown as it is stored."""
        return next((value for value in self.values if value.name == name), Value(name, name))

    def agreed(self, values: Sequence[str]) -> str | None:
        """What several verdicts on one unit come to: the value that more than half give, of ordered values the median.

        None where there is none: a tie, or a median that is no value.
        """
        if self.level is Level.NOMINAL:
            value, most = Counter(values).most_common(1)[0] if values else ("", 0)
            return value if 2 * most > len(values) else None
        names = sorted((value for value in values if value in self.names), key=self.number)
        low, high = (names[(len(names) - 1) // 2], names[len(names) // 2]) if names else ("", "")
        if low == high or self.level is not Level.INTERVAL:
            return low if low == high and low else None
        between = (self.number(low) + self.number(high)) / 2
        return next((name for name in self.names if self.number(name) == between), None)

    def number(self, name: str) -> float:
        """The number that a value counts as; ValueError where values have no order, and for one that is not known."""
        if self.level is Level.NOMINAL or name not in self.names:
            raise ValueError(f"{name!r} is none of the ordered values of this scale")
        return float(name) if self.of_numbers else float(self.names.index(name))


def nominal(*values: Value, positive: str = "", mirrored: Mapping[str, str] | None = None) -> Scale:
    """Values without an order; of two the first counts as positive, unless another is named."""
    first = values[0].name if len(values) == 2 else ""
    return Scale(Level.NOMINAL, values, positive=positive or first, mirrored=mirrored or {})


def plain(*names: str) -> Scale:
    return nominal(*(Value(name, name) for name in names))


def numbers(
    low: float, high: float, step: float = 1, level: Level = Level.INTERVAL,
    hints: Mapping[range, str] | None = None,
) -> Scale:  # fmt: skip
    """Numbers from `low` to `high`; `hints` says what those of a range mean."""
    found = [low + place * step for place in range(round((high - low) / step) + 1)]
    said = {one: next((words for of, words in (hints or {}).items() if one in of), "") for one in found}
    return Scale(level, tuple(Value(f"{one:g}", f"{one:g}", said[one]) for one in found), of_numbers=True)


# Of what is computed.
NO_VALUES = Scale()
# Which of two reports is better.
PAIR = nominal(
    Value("first", "First", "The first report is better", ValueLook.FIRST),
    Value("second", "Second", "The second report is better", ValueLook.SECOND),
    Value("tie", "Tie", "You would be content with either", ValueLook.NEITHER),
    mirrored={"first": "second", "second": "first"},
)
