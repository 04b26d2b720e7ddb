"""Traits of a task: its discipline, family, phase and difficulty, as far as the item has them."""

from collections.abc import Mapping

from annotator.domain.material.item import Item

NOT_KNOWN = "not known"


def trait(item: Item, name: str) -> str:
    """A trait of an item by name, such as its phase; empty where the item has none."""
    found = getattr(item, "traits", None)
    return str(found.get(name) or "") if isinstance(found, Mapping) else ""


def described(item: Item) -> dict[str, str]:
    """Discipline, family and difficulty of a task, as a prompt names them."""
    said = {
        "category": item.subject,
        "family": item.question_type,
        "difficulty": trait(item, "difficulty"),
    }
    return {name: words.strip() or NOT_KNOWN for name, words in said.items()}
