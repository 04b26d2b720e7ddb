"""Parts of a response: its plan, its references, its claims, its sentences, the key points of its pages."""

from enum import StrEnum
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from annotator.domain.kinds.artifact import Document, Unit
from annotator.domain.kinds.evidence import Evidence
from annotator.domain.kinds.plan import Plan
from annotator.domain.material.keypoints import KeyPoints
from annotator.domain.texts.canonical import Text


class ResponsePart(StrEnum):
    """What can be told of a response beside its text. The common pool is that of its item."""

    PLAN = "plan"
    REFERENCES = "references"
    CLAIMS = "claims"
    SENTENCES = "sentences"
    KEYPOINTS = "key points"
    POOL = "common pool"

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


class CitedSource(BaseModel):
    """A source that a sentence cites: its normal address, or its entry in the report's list where that gives none."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    address: Text = Field(
        default="", max_length=2000, description="Normal spelling; empty where none is known"
    )
    title: Text = Field(default="", max_length=2000, description="What the report calls it")

    words: Text = Field(
        default="", max_length=20_000, description="What came with the report or stands in its list of it"
    )
    later: bool = Field(
        default=False, description="Whether it is named only behind others in one mark, as in [1, 2]"
    )

    @property
    def key(self) -> str:
        """What tells it from the other sources of its sentence."""
        return self.address or self.title


class Sentence(Unit):
    """A sentence of a report's body; `text` is without its citations."""

    heading: Text = Field(default="", max_length=20_000, description="The heading it stands under")
    cites: tuple[CitedSource, ...] = Field(default=(), description="What it cites, each once, in order")
    dangling: int = Field(default=0, ge=0, description="How many of its marks lead to nothing")
    marks: int = Field(default=0, ge=0, description="How many citations stand in it, repeated ones too")

    @property
    def length(self) -> int:
        """How many characters it has in the report, with its citations."""
        return len(self.anchor.quote) if self.anchor else len(self.text)


class Sentences(Document[Sentence]):
    """The sentences of one report's body, in its order (DeepScholar-Bench §8.3.3)."""

    UNIT: ClassVar[type[Unit]] = Sentence


DOCUMENTS: dict[ResponsePart, type[Document[Any]]] = {
    ResponsePart.PLAN: Plan,
    ResponsePart.REFERENCES: Evidence,
    ResponsePart.CLAIMS: Claims,
    ResponsePart.SENTENCES: Sentences,
    ResponsePart.KEYPOINTS: KeyPoints,
    ResponsePart.POOL: KeyPoints,
}
