"""A transcript's file as one readable text with its segments."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from annotator.domain.material.transcript import PARAGRAPH, TURN, UNKNOWN, Segment, Transcript, prefix
from annotator.domain.texts.canonical import storable
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.reading import decoded, parse
from annotator.exchange.texts import documents
from annotator.exchange.transcripts import captions, docx, recognized, texts
from annotator.exchange.transcripts.said import ReadTranscript, SpokenLine, gap, joined

# In milliseconds; where nobody is named, so long a silence parts turns.
SILENCE = 2_000
# In characters: a paragraph ends at a sentence before the one, and at any line before the other.
LONG, LONGEST = 600, 1_200
_END = re.compile(r"[.!?。！？…][\"'”’»」』)\]]*$")
_SENTENCES = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])\s*")


def _of_text(content: bytes, name: str) -> ReadTranscript:
    return texts.read(text_of(content, name))


_READ: dict[str, Callable[[bytes, str], ReadTranscript]] = {
    ".vtt": lambda content, name: captions.read(text_of(content, name), subrip=False),
    ".srt": lambda content, name: captions.read(text_of(content, name), subrip=True),
    ".json": lambda content, name: recognized.read(parse(text_of(content, name).encode(), name)),
    ".txt": _of_text,
    ".md": _of_text,
    ".docx": lambda content, name: texts.read(docx.text_of(content, name)),
    ".pdf": lambda content, name: texts.read(documents.pdf_text(content, name)),
}
ENDINGS = tuple(_READ)


def read(content: bytes, name: str) -> ReadTranscript:
    """What a file says, by the ending of its name; Refusal when it cannot be read at all."""
    known = _READ.get(Path(name).suffix.lower())
    if known is None:
        raise Refusal(
            f"“{name}” is no transcript that can be read.", f"Choose files in {', '.join(ENDINGS)}."
        )
    found = known(content, name)
    if not found.said and not found.bad:
        raise Refusal(f"“{name}” holds no words.", documents.OTHER)
    return found


def text_of(content: bytes, name: str) -> str:
    """The text of a file in UTF-8 or UTF-16; Refusal when it is something else."""
    if content.startswith(b"%PDF-") or content.startswith(b"PK\x03\x04"):
        raise Refusal(f"“{name}” is another kind of file than its name says.", "Give it its own ending.")
    try:
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            text = content.decode("utf-16")
        elif content[:1] == b"\x00" or content[1:2] == b"\x00":
            text = content.decode("utf-16-be" if content[:1] == b"\x00" else "utf-16-le")
        else:
            text = decoded(content, name)
    except UnicodeDecodeError:
        raise Refusal(f"“{name}” is not text in UTF-8 or UTF-16.", documents.OTHER) from None
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise Refusal(f"“{name}” holds a NUL on line {line}: it is no text.", documents.OTHER)
    return storable(text)


def assembled(said: Sequence[SpokenLine], names: Mapping[str, str], file: str) -> tuple[str, Transcript]:
    """One text of some lines, `Speaker: words` a turn, and its segments; speakers go by the names given for them."""
    speakers: dict[str, int] = {}
    parts, segments, length = list[str](), list[Segment](), 0
    for mark, one in _marked(said):
        place = speakers.setdefault(one.speaker, len(speakers)) if one.speaker else UNKNOWN
        head = prefix(names.get(one.speaker, one.speaker)) if mark == TURN or not parts else ""
        parts += [mark if parts else "", head, one.text]
        length += len(parts[-3]) + len(head)
        marks = " ".join(one.doubts)
        segments.append(Segment(one.start, one.end, place, length, length + len(one.text), marks))
        length += len(one.text)
    called = tuple(names.get(name, name) for name in speakers)
    return "".join(parts), Transcript(called, tuple(segments), file)


def _marked(said: Sequence[SpokenLine]) -> Iterator[tuple[str, SpokenLine]]:
    """Each line with what stands before it in the text: a new turn, a new paragraph, a space or nothing."""
    named = any(one.speaker for one in said)
    before: SpokenLine | None = None
    long, ended = 0, False
    for one in (part for whole in said for part in _short(whole)):
        if before is None or _turns(before, one, named=named):
            mark, long = TURN, 0
        elif long + len(one.text) > (LONG if ended else LONGEST):
            mark, long = PARAGRAPH, 0
        else:
            mark = gap(before.text, one.text)
        long += len(one.text)
        ended, before = bool(_END.search(one.text)), one
        yield mark, one


def _turns(before: SpokenLine, one: SpokenLine, *, named: bool) -> bool:
    if one.begins or one.speaker != before.speaker:
        return True
    return not named and UNKNOWN < before.end <= one.start - SILENCE


def _short(said: SpokenLine) -> Iterator[SpokenLine]:
    """A line, in parts of some sentences where it is longer than a paragraph should be."""
    if len(said.text) <= LONGEST:
        yield said
        return
    held, first = "", True
    for sentence in (*_sentences(said.text), ""):
        if held and (not sentence or len(held) + len(sentence) > LONG):
            yield replace(said, text=held, begins=said.begins and first)
            held, first = "", False
        held = joined([held, sentence]) if held else sentence


def _sentences(text: str) -> Iterator[str]:
    """Sentences, and what is longer than a paragraph at a space, or anywhere."""
    for sentence in _SENTENCES.split(text):
        while len(sentence) > LONGEST:
            cut = sentence.rfind(" ", LONG, LONGEST)
            cut = cut if cut > 0 else LONGEST
            yield sentence[:cut]
            sentence = sentence[cut:].strip()
        if sentence:
            yield sentence
