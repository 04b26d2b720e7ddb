"""How people, stages and numbers of things are written, and in which order people stand."""

import re
from collections.abc import Iterable

from annotator.domain.assignment import Stage
from annotator.domain.person import Person

_DIGITS = re.compile(r"(\d+)")


def natural(alias: str) -> tuple[tuple[int, int | str], ...]:
    """A key by which R2 stands before R10."""
    parts = _DIGITS.split(alias.casefold())
    return tuple((0, int(part)) if part.isdigit() else (1, part) for part in parts if part)


def in_order(everybody: Iterable[Person]) -> list[Person]:
    """Those who work here by alias, then those who have left."""
    return sorted(everybody, key=lambda person: (not person.active, natural(person.alias)))


def title(stage: Stage) -> str:
    """What a stage is called on the page."""
    return stage.value.capitalize()


def named(alias: str, name: str) -> str:
    """A person by alias and name."""
    return f"{alias} · {' '.join(name.split())}"


def counted(number: int, one: str, many: str = "") -> str:
    """“1 item”, “12 items”."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
