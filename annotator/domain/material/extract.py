"""Extracts from a response or an item, by a person or a judge: parts of a response, aids written by models."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, SerializeAsAny, WrapValidator

from annotator.domain.common import FrozenRecord, Text, sha256
from annotator.domain.kinds import documents
from annotator.domain.kinds.artifact import Document, Kind, Unit, as_it_is
from annotator.domain.kinds.evidence import Evidence, Reference as ListedReference
from annotator.domain.kinds.plan import Plan
from annotator.domain.material.item import PageState, Source
from annotator.domain.material.transcript import PARAGRAPH, TURN, Transcript, of_source, prefix
from annotator.domain.stored import ExtractFields, Stored
from annotator.domain.texts.words import word_count


class KeyPoint(Unit):
    """One point; each of its quotations has the page's normalised address as its `source_id`.

    `merged` are points with the same meaning, from this page or others, as extracted.
    """

    merged: tuple[Unit, ...] = ()
    vital: bool = Field(default=False, description="Whether an answer without it would fail the task")
    accepted: bool = Field(default=False, description="Whether a person looked at it and let it stand")

    @property
    def counts(self) -> bool:
        """Whether it counts: a point without words of a page is no key point."""
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
        """The same with another point, and those merged into that, merged into it."""
        bare = Unit(**other.model_dump(include=set(Unit.model_fields)))
        merged = (*self.merged, bare, *other.merged)
        return self.model_copy(update={"merged": merged, "vital": self.vital or other.vital})

    def parted(self) -> tuple["KeyPoint", ...]:
        """The point alone, then each that was merged into it."""
        marks = {"vital": self.vital, "accepted": self.accepted}
        others = (KeyPoint(**unit.model_dump(), **marks) for unit in self.merged)
        return (self.model_copy(update={"merged": ()}), *others)


class ReadPage(FrozenRecord):
    """A page that a report cites, by its normalised address, and the extracted texts that are no key points."""

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
    """The parts of a response beside its text. The common pool is that of its item."""

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
    """A statement of fact that a report makes; `text` is readable without the report."""

    context: Text = Field(default="", max_length=20_000, description="The report's words around it")
    url: Text = Field(default="", max_length=2000, description="The address it cites; empty for none")
    section: int = Field(default=1, ge=1, description="The section of the report, counted from 1")


class Claims(Document[Claim]):
    """The claims of one report, in its order (ResearcherBench §4.2)."""


class CitedSource(FrozenRecord):
    """A source that a sentence cites: its normalised address, or its entry in the report's list if that has none."""

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


PARTS: dict[ResponsePart, type[Document[Any]]] = {
    ResponsePart.PLAN: Plan,
    ResponsePart.REFERENCES: Evidence,
    ResponsePart.CLAIMS: Claims,
    ResponsePart.SENTENCES: Sentences,
    ResponsePart.KEYPOINTS: KeyPoints,
    ResponsePart.POOL: KeyPoints,
}


class WriterAid(StrEnum):
    """An aid written for experts before they write; it is nobody's artifact."""

    REFERENCE = "reference"
    CLASSIFICATION = "classification"


# The names shown for the kinds.
NAMES = {WriterAid.REFERENCE: "reference material", WriterAid.CLASSIFICATION: "a classification"}
FROM_SOURCES, BEYOND_SOURCES = "From the sources", "Beyond the sources"


class Passage(Unit):
    """One of the two parts of reference material."""

    beyond: bool = Field(default=False, description="Whether it adds what the sources do not say")


class Reference(Document[Passage]):
    """Reference material on one item (ResearcherBench §4.1.1, stage 1; appendix C.1.1)."""

    @property
    def parts(self) -> tuple[str, str]:
        """The text from the sources, and the text beyond them; empty if there is none."""
        texts = [
            "\n\n".join(unit.text for unit in self.units if unit.beyond is beyond) for beyond in (False, True)
        ]
        return texts[0], texts[1]


class ProposedType(Unit):
    """A type and a subject for a question; the text is the reason."""

    question_type: str = Field(default="", max_length=120, description="One of the project's types")
    subject: str = Field(default="", max_length=200, description="Subject or domain")


class ItemClassification(Document[ProposedType]):
    """A proposed type and subject of one item (ResearcherBench §3.1)."""


AIDS: dict[WriterAid, type[Document[Any]]] = {
    WriterAid.REFERENCE: Reference,
    WriterAid.CLASSIFICATION: ItemClassification,
}


def as_markdown(from_sources: str, beyond_sources: str) -> str:
    """Both parts as one text, each under its heading; a part without words is left out."""
    parts = ((FROM_SOURCES, from_sources.strip()), (BEYOND_SOURCES, beyond_sources.strip()))
    return "\n\n".join(f"## {heading}\n\n{words}" for heading, words in parts if words)


# This many letters at the end of an origin identify the person who asked and the number of the draft.
MARK = 12


class Extract(Stored, ExtractFields):
    """An extract as plain data, outside the database."""

    document: Annotated[SerializeAsAny[Document[Any]], WrapValidator(as_it_is)]


def by_judge(judge_id: str) -> str:
    return f"judge:{judge_id}"


def for_person(judge_id: str, person_id: str, number: int) -> str:
    """The origin of a draft that a person requested from a judge, the first, the second … for one thing; theirs
    alone.
    """
    return f"{by_judge(judge_id)}:{sha256(f'{person_id}/{number}')[:MARK]}"


def by_person(person_id: str) -> str:
    return f"person:{person_id}"


def document_of(kind: str, response_id: str, tree: Any) -> Document[Any]:
    """The typed document of an extract's JSON tree; pydantic's ValidationError names what does not fit."""
    return class_of(kind, response_id).model_validate(tree)


def class_of(kind: str, response_id: str) -> type[Document[Any]]:
    """The class of an extract's document: that of a response's part; for an item, that of an artifact, an aid or its
    pool.
    """
    if not response_id and kind in set(WriterAid):
        return AIDS[WriterAid(kind)]
    of_report = response_id or kind == ResponsePart.POOL
    return PARTS[ResponsePart(kind)] if of_report else documents.DOCUMENTS[Kind(kind)]


PIECE_WORDS = 1500
# A longer turn would fill too much of the next piece: only its last paragraph is repeated there.
_LONGEST_SHARE = 3


class Piece(NamedTuple):
    """A piece: its number from 1, the characters [start, end) of the source's text, and the part of them to be read.

    `text` lacks passages that were excluded, and names the speaker if the piece begins within a turn.
    """

    number: int
    start: int
    end: int
    text: str


class _PieceBlock(NamedTuple):
    start: int
    end: int
    text: str
    words: int
    within: str


def pieces(source: Source, size: int = PIECE_WORDS) -> tuple[Piece, ...]:
    """A source in pieces of at most about `size` words; one turn, or the end of a long one, is in two pieces.

    `protocols.reports.anchored` locates quotations in the whole source.
    """
    transcript = of_source(source)
    blocks, made, at = list(_blocks(source.text, transcript, size)), list[Piece](), 0
    while at < len(blocks):
        held = [_again(source.text, transcript, blocks[at - 1], size)] if made else []
        words, end = sum(one.words for one in held), at
        while end < len(blocks) and (end == at or words + blocks[end].words <= size):
            words += blocks[end].words
            end += 1
        made.append(_piece(len(made) + 1, held + blocks[at:end]))
        at = end
    return tuple(made)


def _again(text: str, transcript: Transcript | None, block: _PieceBlock, size: int) -> _PieceBlock:
    """The part of the previous block that is repeated in the next piece."""
    if block.words * _LONGEST_SHARE <= size:
        return block
    last = list(_paragraphs(text, transcript, block.start, block.end))[-1]
    return last._replace(within=last.within or block.within)


def _piece(number: int, blocks: list[_PieceBlock]) -> Piece:
    text = prefix(blocks[0].within) + blocks[0].text
    for block in blocks[1:]:
        text += (PARAGRAPH if block.within else TURN) + block.text
    return Piece(number, blocks[0].start, blocks[-1].end, text)


def _blocks(text: str, transcript: Transcript | None, size: int) -> Iterator[_PieceBlock]:
    """Turns, and the paragraphs of those too long for one piece, without excluded passages."""
    for start, end in _split(text, 0, len(text), TURN):
        whole = _block(text, transcript, start, end, "")
        result = [whole] if whole.words <= size else _paragraphs(text, transcript, start, end)
        yield from (one for one in result if one.words)


def _paragraphs(text: str, transcript: Transcript | None, start: int, end: int) -> Iterator[_PieceBlock]:
    for a, b in _split(text, start, end, PARAGRAPH):
        result = _block(text, transcript, a, b, _speaker(transcript, a) if a > start else "")
        if result.words:
            yield result


def _split(text: str, start: int, end: int, mark: str) -> Iterator[tuple[int, int]]:
    while start < end:
        result = text.find(mark, start, end)
        stop = end if result < 0 else result
        if text[start:stop].strip():
            yield start, stop
        start = stop + len(mark)


def _block(text: str, transcript: Transcript | None, start: int, end: int, within: str) -> _PieceBlock:
    shown, at, spoken = "", start, True
    if transcript is not None:
        inside = [transcript.segments[n] for n in transcript.within(start, end)]
        for one in inside:
            if one.excluded:
                shown, at = shown + text[at : one.first], one.last
        spoken = any(not one.excluded for one in inside)
    shown = (shown + text[at:end]).strip()
    return _PieceBlock(start, end, shown, word_count(shown) if spoken else 0, within)


def _speaker(transcript: Transcript | None, offset: int) -> str:
    if transcript is None or not transcript.segments:
        return ""
    return transcript.name(transcript.segments[transcript.place(offset)])


Key = Literal["doi", "arxiv", "title"]


@dataclass(frozen=True, slots=True)
class RetrievalMatch:
    """A retrieved reference, the gold one it matches, and the key in its normal form."""

    retrieved: ListedReference
    gold: ListedReference
    by: Key
    key: str


@dataclass(frozen=True, slots=True)
class RetrievalComparison:
    """Matches with the gold evidence, other retrieved references, and missing gold ones.

    `conflicts` are those of the latter two that share a title and differ in their DOI or arXiv id.
    """

    matches: tuple[RetrievalMatch, ...]
    superfluous: tuple[ListedReference, ...]
    lacking: tuple[ListedReference, ...]
    conflicts: tuple[tuple[ListedReference, ListedReference], ...] = ()


@dataclass(frozen=True, slots=True)
class Matching:
    """A protocol's way to match retrieved references with gold ones; `about` explains it."""

    compare: Callable[[Sequence[ListedReference], Sequence[ListedReference]], RetrievalComparison]
    about: str


class RefusalStage(StrEnum):
    """The steps at which a candidate may be refused, in their order."""

    FILTER = "filter"
    SOURCE = "source"
    ASSEMBLE = "assemble"
    SECTION = "section"
    CLEAN = "clean"
    CITE = "cite"


@dataclass(frozen=True, slots=True)
class CitedEntry:
    """A work that a section cites under a key; `link` is its page on arXiv. Empty if unknown."""

    key: str
    title: str = ""
    link: str = ""
    doi: str = ""
    url: str = ""
    authors: str = ""
    year: int | None = None
    abstract: str = ""


@dataclass(frozen=True, slots=True)
class CollectedPaper:
    """A paper with the section that serves as exemplar, in LaTeX, and the works that it cites in order of mention."""

    arxiv_id: str
    title: str
    abstract: str
    published: str
    category: str
    section: str
    cited: tuple[CitedEntry, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusedPaper:
    """A candidate that was left out: at which stage, and why."""

    id: str
    stage: RefusalStage
    reason: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Funnel:
    """The fate of all candidates; `exemplars` are the accepted sections as they will be shown, by arXiv id.

    `rules` are those of the selection.
    """

    candidates: int
    passed: tuple[CollectedPaper, ...] = ()
    refused: tuple[RefusedPaper, ...] = ()
    exemplars: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, int] = field(default_factory=dict)

    def left(self) -> dict[RefusalStage, int]:
        left, result = self.candidates, {}
        for stage in RefusalStage:
            left -= sum(paper.stage is stage for paper in self.refused)
            result[stage] = left
        return result
