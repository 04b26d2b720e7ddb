"""How the guideline stands beside the form: what it says on the kind, and on the field that has the focus."""

from functools import lru_cache

from annotator.domain.kinds.artifact import Kind
from annotator.gui.forms.kind_words import WORDS

FIELDS = {
    "identifier": "Identifier",
    "authors": "Authors",
    "year": "Year",
    "label": "Gold label",
    "aspect": "Part of the paper",
    "weight": "Weight",
    "insight_id": "Key insight",
    "importance": "Importance",
    "share": "Share",
    "rating": "Rating",
    "anchor": "Quotation",
    "note": "Note",
}


def field_title(kind: Kind, field: str) -> str:
    """What a field is called on the page."""
    return FIELDS.get(field, WORDS[kind].unit.capitalize())


def on_field(kind: Kind, field: str, words: str) -> str:
    """What a guideline's words say on one field, as Markdown: their opening, then the field's section."""
    opening, sections = _parts(words)
    part = sections.get(field)
    return f"{opening}\n\n## {field_title(kind, field)}\n\n{part}" if part else whole(kind, words)


def whole(kind: Kind, words: str) -> str:
    """All that a guideline's words say on a kind, as Markdown with the fields called as on the page."""
    opening, sections = _parts(words)
    parts = [f"## {field_title(kind, field)}\n\n{part}" for field, part in sections.items()]
    return "\n\n".join([opening, *parts])


@lru_cache(maxsize=32)
def _parts(words: str) -> tuple[str, dict[str, str]]:
    opening, *sections = f"\n{words}".split("\n## ")
    named = (section.partition("\n") for section in sections)
    return opening.strip(), {name.strip(): body.strip() for name, _, body in named}
