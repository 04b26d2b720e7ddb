"""How several units are put to a judge in one call, and how what it says of each is told apart."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol as Shape
from typing import TypeVar

from annotator.domain.judgement import Status, Verdict
from annotator.domain.protocol import Verdicts
from annotator.domain.unit import Unit


class Named(Shape):
    """What a judge says of the unit that has this name in the call."""

    @property
    def id(self) -> str: ...


R = TypeVar("R", bound=Named)


def named(units: Sequence[Unit], letter: str) -> dict[str, Unit]:
    """The units by the short names they have in one call: a copied unit id costs tokens and is copied wrongly."""
    return {f"{letter}{number}": unit for number, unit in enumerate(units, start=1)}


def listed(names: Mapping[str, Unit]) -> str:
    """A line for each unit: its name and its words."""
    return "\n".join(f"{name}: {' '.join(unit.text.split())}" for name, unit in names.items())


def told_apart(
    names: Mapping[str, Unit], said: Sequence[R], flags: Sequence[str], verdict: Callable[[R], Verdict]
) -> Verdicts:
    """A verdict of each unit that is named exactly once; of the others an invalid one, with its cause."""
    strangers = ", ".join(sorted({one.id for one in said} - set(names)))
    beside = f"; it names what was not asked: {strangers}" if strangers else ""
    found = {}
    for name, unit in names.items():
        own = [one for one in said if one.id == name]
        if len(own) == 1:
            found[unit.id] = verdict(own[0])
            continue
        cause = f"the reply names {name} {len(own)} times" if own else f"the reply does not name {name}"
        found[unit.id] = Verdict(
            value=None, status=Status.INVALID, cause=cause + beside, flags=" ".join(flags)
        )
    return found
