"""Parts of a response: its plan, its references, its claims."""

from enum import StrEnum
from typing import Any, ClassVar

from pydantic import Field

from annotator.domain.kinds.artifact import Document
from annotator.domain.kinds.evidence import Evidence
from annotator.domain.kinds.plan import Plan
from annotator.domain.kinds.unit import Unit
from annotator.domain.texts.canonical import Text


class ResponsePart(StrEnum):
    """What can be told of a response beside its text."""

    PLAN = "plan"
    REFERENCES = "references"
    CLAIMS = "claims"

    @property
    def drawn(self) -> str:
        """That it is drawn: “plan is drawn”, “claims are drawn”."""
        return f"{self} {'are' if self.endswith('s') else 'is'} drawn"


class Claim(Unit):
    """A statement of fact that a report makes; `text` reads without the report."""

    context: Text = Field(default="", max_length=20_000, description="The report's words around it")
    url: Text = Field(default="", max_length=2000, description="The address it cites; empty for none")
    section: int = Field(default=1, ge=1, description="The section of the report, counted from 1")


class Claims(Document[Claim]):
    """The claims of one report, in its order (ResearcherBench §4.2)."""

    UNIT: ClassVar[type[Unit]] = Claim


DOCUMENTS: dict[ResponsePart, type[Document[Any]]] = {
    ResponsePart.PLAN: Plan,
    ResponsePart.REFERENCES: Evidence,
    ResponsePart.CLAIMS: Claims,
}
