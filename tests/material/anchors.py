"""Whether anchors lead where they say."""

from annotator.domain.kinds.artifact import Anchor
from annotator.domain.texts.canonical import sha256


def stands_in(anchor: Anchor, text: str) -> bool:
    """Whether the quotation is found where the anchor says in that very text."""
    return sha256(text) == anchor.text_sha256 and text[anchor.start : anchor.end] == anchor.quote
