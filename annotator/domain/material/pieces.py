"""Pieces of a long source for a model: cut where turns end, each with the last turn of the one before."""

from collections.abc import Iterator
from typing import NamedTuple

from annotator.domain.material.source import Source
from annotator.domain.material.transcript import PARAGRAPH, TURN, Transcript, of_source, prefix
from annotator.domain.texts.words import word_count

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
    for one in blocks[1:]:
        text += (PARAGRAPH if one.within else TURN) + one.text
    return Piece(number, blocks[0].start, blocks[-1].end, text)


def _blocks(text: str, transcript: Transcript | None, size: int) -> Iterator[_PieceBlock]:
    """Turns, and the paragraphs of those too long for one piece, without what is excluded."""
    for start, end in _split(text, 0, len(text), TURN):
        whole = _block(text, transcript, start, end, "")
        found = [whole] if whole.words <= size else _paragraphs(text, transcript, start, end)
        yield from (one for one in found if one.words)


def _paragraphs(text: str, transcript: Transcript | None, start: int, end: int) -> Iterator[_PieceBlock]:
    """A turn's paragraphs; the later ones know whose turn it is."""
    for a, b in _split(text, start, end, PARAGRAPH):
        found = _block(text, transcript, a, b, _speaker(transcript, a) if a > start else "")
        if found.words:
            yield found


def _split(text: str, start: int, end: int, mark: str) -> Iterator[tuple[int, int]]:
    while start < end:
        found = text.find(mark, start, end)
        stop = end if found < 0 else found
        if text[start:stop].strip():
            yield start, stop
        start = stop + len(mark)


def _block(text: str, transcript: Transcript | None, start: int, end: int, within: str) -> _PieceBlock:
    shown, at, said = "", start, True
    if transcript is not None:
        inside = [transcript.segments[n] for n in transcript.within(start, end)]
        for one in inside:
            if one.excluded:
                shown, at = shown + text[at : one.first], one.last
        said = any(not one.excluded for one in inside)
    shown = (shown + text[at:end]).strip()
    return _PieceBlock(start, end, shown, word_count(shown) if said else 0, within)


def _speaker(transcript: Transcript | None, offset: int) -> str:
    if transcript is None or not transcript.segments:
        return ""
    return transcript.name(transcript.segments[transcript.place(offset)])
