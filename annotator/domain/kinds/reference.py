"""Reference material: what a model wrote to help experts with a question, in two separate parts."""

from enum import StrEnum
from typing import ClassVar

from pydantic import Field

from annotator.domain.kinds.artifact import Document
from annotator.domain.kinds.unit import Unit


class WriterAid(StrEnum):
    """What is written for experts before they write, and is no artifact of anyone's."""

    REFERENCE = "reference"


# What a person reads in the place of the kind.
NAMES = {WriterAid.REFERENCE: "reference material"}
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
        said = [
            "\n\n".join(one.text for one in self.units if one.beyond is beyond) for beyond in (False, True)
        ]
        return said[0], said[1]


def as_markdown(from_sources: str, beyond_sources: str) -> str:
    """Both parts as one text, each under its heading; a part without words is left out."""
    parts = ((FROM_SOURCES, from_sources.strip()), (BEYOND_SOURCES, beyond_sources.strip()))
    return "\n\n".join(f"## {heading}\n\n{words}" for heading, words in parts if words)
