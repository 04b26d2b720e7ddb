"""What a model writes to help experts: reference material in two separate parts, and how a question may be filed."""

from enum import StrEnum
from typing import Any, ClassVar

from pydantic import Field

from annotator.domain.kinds.artifact import Document, Unit


class WriterAid(StrEnum):
    """What is written for experts before they write, and is no artifact of anyone's."""

    REFERENCE = "reference"
    CLASSIFICATION = "classification"


# What a person reads in the place of the kind.
NAMES = {WriterAid.REFERENCE: "reference material", WriterAid.CLASSIFICATION: "a classification"}
FROM_SOURCES, BEYOND_SOURCES = "From the sources", "Beyond the sources"


class Passage(Unit):
    """One of the two parts."""

    beyond: bool = Field(default=False, description="Whether it adds what the sources do not say")


class Reference(Document[Passage]):
    """Reference material on one item (ResearcherBench §4.1.1, stage 1; appendix C.1.1)."""

    UNIT: ClassVar[type[Unit]] = Passage

    @property
    def parts(self) -> tuple[str, str]:
        """What the sources say, and what goes beyond them; empty where there is none."""
        texts = [
            "\n\n".join(unit.text for unit in self.units if unit.beyond is beyond) for beyond in (False, True)
        ]
        return texts[0], texts[1]


class ProposedType(Unit):
    """A type and a subject for a question; the text is the reason."""

    question_type: str = Field(default="", max_length=120, description="One of the project's types")
    subject: str = Field(default="", max_length=200, description="Subject or domain")


class ItemClassification(Document[ProposedType]):
    """How one item may be filed (ResearcherBench §3.1)."""

    UNIT: ClassVar[type[Unit]] = ProposedType


AIDS: dict[WriterAid, type[Document[Any]]] = {
    WriterAid.REFERENCE: Reference,
    WriterAid.CLASSIFICATION: ItemClassification,
}


def as_markdown(from_sources: str, beyond_sources: str) -> str:
    """Both parts as one text, each under its heading; a part without words is left out."""
    parts = ((FROM_SOURCES, from_sources.strip()), (BEYOND_SOURCES, beyond_sources.strip()))
    return "\n\n".join(f"## {heading}\n\n{words}" for heading, words in parts if words)
