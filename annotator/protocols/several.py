"""Several units in one judge call, and how the answers on each are separated."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol as Shape
from typing import TypeVar

from annotator.domain.judges.judgement import Status, Verdict
from annotator.domain.judges.protocol import Verdicts
from annotator.domain.kinds.unit import Unit


class Named(Shape):
    """What a judge says of the unit that has this name in the call."""

    @property
    def id(self) -> str: ...


R = TypeVar("R", bound=Named)


def by_id(units: Sequence[Unit]) -> dict[str, Unit]:
    """The units by the ids they have."""
    return {unit.id: unit for unit in units}


def by_letter(units: Sequence[Unit], letter: str) -> dict[str, Unit]:
    """The units by short names for one call: an id of 36 characters costs tokens and is copied wrongly."""
    return {f"{letter}{number}": unit for number, unit in enumerate(units, start=1)}


def listed(names: Mapping[str, Unit]) -> str:
    """A line for each unit: its name and its words."""
    return "\n".join(f"{name}: {' '.join(unit.text.split())}" for name, unit in names.items())


def told_apart(
    names: Mapping[str, Unit], said: Sequence[R], flags: Sequence[str], verdict: Callable[[R], Verdict]
) -> Verdicts:
    """A verdict of each unit that is named exactly once; of the others an invalid one, with its cause.

    What is said is never matched by its place or by similarity.
    """
    beside = " It answers for what was not asked." if {one.id for one in said} - set(names) else ""
    found = {}
    for name, unit in names.items():
        own = [one for one in said if one.id == name]
        if len(own) == 1:
            found[unit.id] = verdict(own[0])
            continue
        cause = "The reply answers this more than once." if own else "The reply leaves this out."
        found[unit.id] = Verdict(status=Status.INVALID, cause=cause + beside, flags=" ".join(flags))
    return found
