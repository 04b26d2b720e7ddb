"""What gold evidence is: the references a good report must find."""

from typing import ClassVar

from pydantic import Field

from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.unit import Unit
from annotator.domain.texts.canonical import Text


class Reference(Unit):
    """A work to be found; `text` is its title."""

    identifier: Text = Field(default="", max_length=1000, description="DOI, arXiv id, ISBN or address")
    authors: Text = Field(default="", max_length=2000)
    year: int | None = Field(default=None, ge=1000, le=2200)


class Evidence(Document[Reference]):
    """The gold references of one item (ADRA §4)."""

    KIND: ClassVar[Kind] = Kind.EVIDENCE
    UNIT: ClassVar[type[Unit]] = Reference
