"""Parts of a response: its plan, references, claims, sentences, key points; and what models write to help experts."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from annotator.domain.kinds.artifact import Document, Unit
from annotator.domain.kinds.evidence import Evidence
from annotator.domain.kinds.plan import Plan
from annotator.domain.material.item import PageState
from annotator.domain.texts.canonical import FrozenRecord, Text


class KeyPoint(Unit):
    """One point; each of its quotations has the page's normal address as its `source_id`.

    `merged` are points that say the same, from this page or others, as they were drawn.
    """

    merged: tuple[Unit, ...] = ()
    vital: bool = Field(default=False, description="Whether an answer without it would fail the task")
    accepted: bool = Field(default=False, description="Whether a person looked at it and let it stand")

    @property
    def counts(self) -> bool:
        """Whether it counts: what has no words of a page is no key point."""
        return bool(self.text.strip() and self.anchor)

    @property
    def spans(self) -> str:
        """Its own quotations as people read and type them, one a line."""
        return "\n".join(" ".join(anchor.quote.split()) for anchor in self.anchors)

    @property
    def addresses(self) -> tuple[str, ...]:
        sources = (anchor.source_id for unit in (self, *self.merged) for anchor in unit.anchors)
        return tuple(dict.fromkeys(sources))

    def with_merged(self, other: "KeyPoint") -> "KeyPoint":
        """The same with another point, and what that holds, merged into it."""
        bare = Unit(**other.model_dump(include=set(Unit.model_fields)))
        merged = (*self.merged, bare, *other.merged)
        return self.model_copy(update={"merged": merged, "vital": self.vital or other.vital})

    def parted(self) -> tuple["KeyPoint", ...]:
        """The point alone, then each that was merged into it."""
        marks = {"vital": self.vital, "accepted": self.accepted}
        others = (KeyPoint(**unit.model_dump(), **marks) for unit in self.merged)
        return (self.model_copy(update={"merged": ()}), *others)


class ReadPage(FrozenRecord):
    """A page that a report gives, by its normal address, and what was drawn there that is no key point."""

    address: Text = Field(max_length=2000)
    state: PageState
    lost: tuple[Text, ...] = Field(default=(), description="Points none of whose spans stand in the page")


class KeyPoints(Document[KeyPoint]):
    """The key points of the pages that one report gives, or of the reports on one item (DeepResearch Arena, KAE)."""

    pages: tuple[ReadPage, ...] = Field(default=(), description="All pages, read or not")

    @property
    def read(self) -> int:
        return sum(page.state is PageState.OK for page in self.pages)


class ResponsePart(StrEnum):
    """What can be told of a response beside its text. The common pool is that of its item."""

    PLAN = "plan"
    REFERENCES = "references"
    CLAIMS = "claims"
    SENTENCES = "sentences"
    KEYPOINTS = "key points"
    POOL = "common pool"

    @property
    def extraction(self) -> str:
        return f"{self} {'are' if self.endswith('s') else 'is'} drawn"


class Claim(Unit):
    """A statement of fact that a report makes; `text` reads without the report."""

    context: Text = Field(default="", max_length=20_000, description="The report's words around it")
    url: Text = Field(default="", max_length=2000, description="The address it cites; empty for none")
    section: int = Field(default=1, ge=1, description="The section of the report, counted from 1")


class Claims(Document[Claim]):
    """The claims of one report, in its order (ResearcherBench §4.2)."""


class CitedSource(FrozenRecord):
    """A source that a sentence cites: its normal address, or its entry in the report's list where that gives none."""

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
        return self.address or self.title


class Sentence(Unit):
    """A sentence of a report's body; `text` is without its citations."""

    heading: Text = Field(default="", max_length=20_000, description="The heading it stands under")
    cites: tuple[CitedSource, ...] = Field(default=(), description="What it cites, each once, in order")
    dangling: int = Field(default=0, ge=0, description="How many of its marks lead to nothing")
    marks: int = Field(default=0, ge=0, description="How many citations stand in it, repeated ones too")

    @property
    def length(self) -> int:
        return len(self.anchor.quote) if self.anchor else len(self.text)


class Sentences(Document[Sentence]):
    """The sentences of one report's body, in its order (DeepScholar-Bench §8.3.3)."""


DOCUMENTS: dict[ResponsePart, type[Document[Any]]] = {
    ResponsePart.PLAN: Plan,
    ResponsePart.REFERENCES: Evidence,
    ResponsePart.CLAIMS: Claims,
    ResponsePart.SENTENCES: Sentences,
    ResponsePart.KEYPOINTS: KeyPoints,
    ResponsePart.POOL: KeyPoints,
}


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


AIDS: dict[WriterAid, type[Document[Any]]] = {
    WriterAid.REFERENCE: Reference,
    WriterAid.CLASSIFICATION: ItemClassification,
}


def as_markdown(from_sources: str, beyond_sources: str) -> str:
    """Both parts as one text, each under its heading; a part without words is left out."""
    parts = ((FROM_SOURCES, from_sources.strip()), (BEYOND_SOURCES, beyond_sources.strip()))
    return "\n\n".join(f"## {heading}\n\n{words}" for heading, words in parts if words)
