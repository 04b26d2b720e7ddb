"""Traits of a task as a prompt names them: its discipline, family, phase and difficulty, as far as they are known."""

from annotator.domain.material.item import Item

NOT_KNOWN = "not known"


def trait(item: Item, name: str) -> str:
    """A trait of an item by name, such as its phase."""
    return item.traits.get(name, "").strip() or NOT_KNOWN


def described(item: Item) -> dict[str, str]:
    """Discipline, family and difficulty of a task."""
    said = {"category": item.subject, "family": item.question_type}
    known = {name: words.strip() or NOT_KNOWN for name, words in said.items()}
    return known | {"difficulty": trait(item, "difficulty")}
