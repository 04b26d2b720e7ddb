"""Extracts: a document that a person or a judge drew from a response or an item, and who drew it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import SerializeAsAny, WrapValidator

from annotator.domain.kinds import documents
from annotator.domain.kinds.artifact import Document, Kind, as_it_is
from annotator.domain.kinds.evidence import Reference
from annotator.domain.material import part
from annotator.domain.material.item import ExtractFields, Source, Stored
from annotator.domain.material.transcript import PARAGRAPH, TURN, Transcript, of_source, prefix
from annotator.domain.texts.canonical import sha256
from annotator.domain.texts.words import word_count

# So many letters at the end of an origin stand for the person who asked, and how often they had.
MARK = 12


class Extract(Stored, ExtractFields):
    """An extract as plain data, outside the database."""

    document: Annotated[SerializeAsAny[Document[Any]], WrapValidator(as_it_is)]


def by_judge(judge_id: str) -> str:
    return f"judge:{judge_id}"


def for_person(judge_id: str, person_id: str, number: int) -> str:
    """The origin of the draft that a person asked a judge for, the first, the second … on a thing; nobody else's."""
    return f"{by_judge(judge_id)}:{sha256(f'{person_id}/{number}')[:MARK]}"


def by_person(person_id: str) -> str:
    return f"person:{person_id}"


def document_of(kind: str, response_id: str, tree: Any) -> Document[Any]:
    """The typed document of an extract's JSON tree; pydantic's ValidationError names what does not fit."""
    return class_of(kind, response_id).model_validate(tree)


def class_of(kind: str, response_id: str) -> type[Document[Any]]:
    """The class of an extract's document: a part's of a response; of an item, an artifact's, an aid's or its pool's."""
    if not response_id and kind in set(part.WriterAid):
        return part.AIDS[part.WriterAid(kind)]
    of_report = response_id or kind == part.ResponsePart.POOL
    return part.DOCUMENTS[part.ResponsePart(kind)] if of_report else documents.DOCUMENTS[Kind(kind)]


PIECE_WORDS = 1500
# A longer turn would fill too much of the next piece: of such a one only the last paragraph stands there again.
_LONGEST_SHARE = 3


class Piece(NamedTuple):
    """A piece: its number from 1, the characters [start, end) of the source's text, and what is to be read of them.

    `text` lacks passages that were excluded, and names the speaker where the piece begins within a turn.
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
    """A source in pieces of at most about `size` words; one turn, or the end of a long one, stands in two pieces.

    Places of quotations are found by `protocols.sources.anchored` in the whole source.
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
    """What of the block before stands in the next piece too."""
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
    """Turns, and the paragraphs of those too long for one piece, without what is excluded."""
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
    """A retrieved reference, the gold one it matches, and the key in its normal spelling."""

    retrieved: Reference
    gold: Reference
    by: Key
    key: str


@dataclass(frozen=True, slots=True)
class RetrievalComparison:
    """Matches with the gold evidence, other retrieved references, and gold ones not found.

    `conflicts` are those of the latter two that share a title and differ in their DOI or arXiv id.
    """

    matches: tuple[RetrievalMatch, ...]
    superfluous: tuple[Reference, ...]
    lacking: tuple[Reference, ...]
    conflicts: tuple[tuple[Reference, Reference], ...] = ()


@dataclass(frozen=True, slots=True)
class Matching:
    """A protocol's way to match retrieved references with gold ones; `about` explains it."""

    compare: Callable[[Sequence[Reference], Sequence[Reference]], RetrievalComparison]
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
    """A work that a section cites under a key; `link` is its page on arXiv. Empty where nothing is known."""

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
    """What became of all candidates; `exemplars` are the kept sections as they will be shown, by arXiv id.

    `rules` are those by which papers were kept.
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
