"""Guideline beside the form: on the kind, and on the focused field."""

from functools import lru_cache

from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS


def on_field(kind: Kind, field: str, words: str) -> str:
    """What a guideline's words say on one field, as Markdown: their opening, then the field's section."""
    opening, sections = _parts(words)
    part = sections.get(field)
    return f"{opening}\n\n## {KINDS[kind].called(field)}\n\n{part}" if part else whole(kind, words)


def whole(kind: Kind, words: str) -> str:
    """All that a guideline's words say on a kind, as Markdown with the fields called as on the page."""
    opening, sections = _parts(words)
    parts = [f"## {_called(kind, field)}\n\n{part}" for field, part in sections.items()]
    return "\n\n".join([opening, *parts])


def _called(kind: Kind, section: str) -> str:
    """What a section is about: a field as it is called on the page, anything else as it is headed."""
    known = {*KINDS[kind].document.UNIT.model_fields, *KINDS[kind].document.model_fields}
    return KINDS[kind].called(section) if section in known else section


@lru_cache(maxsize=32)
def _parts(words: str) -> tuple[str, dict[str, str]]:
    opening, *sections = f"\n{words}".split("\n## ")
    named = (section.partition("\n") for section in sections)
    return opening.strip(), {name.strip(): body.strip() for name, _, body in named}
