"""How stored documents are read: each content once, since documents are frozen and may be shared."""

from typing import Any

from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.documents import DOCUMENTS

REMEMBERED = 64
_known: dict[tuple[str, str], Document[Any]] = {}


def read(kind: str, content: str) -> Document[Any]:
    """The document of a kind with that canonical JSON; pydantic's ValidationError names what does not fit."""
    document = _known.get((kind, content))
    if document is None:
        document = DOCUMENTS[Kind(kind)].model_validate_json(content)
        remember(kind, content, document)
    return document


def remember(kind: str, content: str, document: Document[Any]) -> None:
    """Keep a document that was just written: it is asked for next."""
    if len(_known) >= REMEMBERED:
        _known.clear()
    _known[kind, content] = document
