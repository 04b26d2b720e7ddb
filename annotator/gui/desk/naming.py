"""Names of people and stages, and their order."""

from collections.abc import Iterable

from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Person
from annotator.domain.texts.ordering import natural


def in_order(everybody: Iterable[Person]) -> list[Person]:
    """Those who work here by alias, then those who have left."""
    return sorted(everybody, key=lambda person: (not person.active, natural(person.alias)))


def title(stage: Stage) -> str:
    return stage.value.capitalize()


def named(alias: str, name: str) -> str:
    """A person by alias and name; once, where both are the same."""
    name = " ".join(name.split())
    return alias if name == alias else f"{alias} · {name}"
