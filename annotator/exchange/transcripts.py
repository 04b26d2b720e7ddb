"""Transcript files: lines with times, speakers and doubts, assembled into one text."""

import html
import io
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from xml.etree import ElementTree

from pydantic import BaseModel, Field

from annotator.domain.common import Refusal, Text, counted, required, storable
from annotator.domain.material.transcript import PARAGRAPH, TURN, UNKNOWN, Doubt, Segment, Transcript, prefix
from annotator.domain.texts.words import COMMON, unspaced, word_count
from annotator.exchange.folders import LONGEST_TEXT, decoded, parse, xml_tree
from annotator.exchange.pages import worker
from annotator.exchange.release.bundle import in_words
from annotator.exchange.texts import documents

if TYPE_CHECKING:
    from webvtt import Caption, WebVTT

LONGEST_NAME, MOST_WORDS_OF_NAME = 60, 5
# A name at the head of a line; a Latin colon is followed by a space, or the line ends.
_HEAD = re.compile(r"(?:(?:>>+|[-–—•])\s*)?([^\W\d_][^:：\n]{0,59}?)\s*(?:：\s*|:(?:\s+|$))")
_SENTENCE = re.compile(r"[.!?…。！？]")
# The same words this often, if so many, were hardly said so often; in a row the number of words does not matter.
_OFTEN, _FEWEST_WORDS, _FEWEST_SIGNS = 3, 4, 8


# Han, kana and their punctuation: between two of them there is no space.
_DENSE = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff65\U00020000-\U0003ffff]")


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """Words with their times in milliseconds (-1 unknown), their speaker, and why they may not have been said.

    `begins` is true if the file itself begins a new turn.
    """

    text: str
    start: int = UNKNOWN
    end: int = UNKNOWN
    speaker: str = ""
    doubts: tuple[Doubt, ...] = ()
    begins: bool = False


@dataclass(slots=True)
class ReadTranscript:
    """The content of a file: lines, notes about the whole, and unreadable parts, each with its place."""

    lines: list[SpokenLine] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)
    language: str = ""


def gap(before: str, after: str) -> str:
    """The separator of consecutive words: a space, but none between Chinese or Japanese ones."""
    dense = before[-1:] > "\u2fff" and bool(_DENSE.match(before[-1]) and _DENSE.match(after))
    return "" if dense else " "


def joined(parts: Sequence[str]) -> str:
    made = list(parts[:1])
    for before, after in pairwise(parts):
        made += [gap(before, after), after]
    return "".join(made)


def with_speakers(lines: Sequence[SpokenLine]) -> list[SpokenLine]:
    """Lines with the names at their heads as speakers, if the same name begins at least two lines."""
    heads = [_HEAD.match(line.text) if not line.speaker else None for line in lines]
    often = Counter(head[1] for head in heads if head and _is_name(head[1]))
    return [
        replace(line, speaker=head[1], text=line.text[head.end() :].strip())
        if head and often[head[1]] > 1
        else line
        for line, head in zip(lines, heads, strict=True)
    ]


def continued(lines: Sequence[SpokenLine]) -> list[SpokenLine]:
    """Captions in which those without a name continue the speaker before, as in files that name only changes."""
    result = list[SpokenLine]()
    for line in lines:
        result.append(line if line.speaker or not result else replace(line, speaker=result[-1].speaker))
    return result


def _is_name(words: str) -> bool:
    """Whether a head can be a name: few words, no sentence, and not only words like “and”."""
    parts = words.split()
    return (
        len(parts) <= MOST_WORDS_OF_NAME
        and not _SENTENCE.search(re.sub(r"\b(?:\w|[DM]rs?|Prof|St|Jr)\.", "", words))
        and any(part.casefold() not in COMMON for part in parts)
    )


def in_order(read: ReadTranscript) -> None:
    """Sort lines by their times, and note how many were out of order."""
    starts = [line.start for line in read.lines]
    if UNKNOWN in starts:
        return
    wrong = sum(b < a for a, b in pairwise(starts))
    if wrong:
        read.lines.sort(key=lambda line: line.start)
        read.notes.append(f"{counted(wrong, 'line')} out of order; all are put in the order of their times")


def with_repeats(lines: Sequence[SpokenLine]) -> list[SpokenLine]:
    """Lines with a doubt if the same words come three times in a row, or longer ones three times at all."""
    keys = [" ".join(one.text.casefold().split()) for one in lines]
    often = {key for key, many in Counter(keys).items() if many >= _OFTEN and _is_long(key)}
    result = list[SpokenLine]()
    for key, together in groupby(zip(keys, lines, strict=True), itemgetter(0)):
        row = [line for _, line in together]
        if len(row) >= _OFTEN or key in often:
            row = [replace(line, doubts=(*line.doubts, Doubt.REPEATED)) for line in row]
        result += row
    return result


def _is_long(words: str) -> bool:
    return len(words) >= _FEWEST_SIGNS if unspaced(words) else word_count(words) >= _FEWEST_WORDS


def folded(cues: Sequence[tuple[SpokenLine, list[str]]]) -> tuple[list[SpokenLine], int]:
    """Cues without the lines that each repeats from the one before, as rolling captions do; and the number of such
    cues.

    Only if many cues add a line to one of the last: words that were really said twice stay.
    """
    before: list[str] = []
    compared = list[tuple[SpokenLine, list[str], int]]()
    for line, lines in cues:
        most = range(min(len(before), len(lines)), 0, -1)
        compared.append((line, lines, next((n for n in most if before[-n:] == lines[:n]), 0)))
        before = lines or before
    adding = sum(0 < again < len(lines) for _, lines, again in compared)
    if adding < 2 or adding * 4 < len(compared):
        return [replace(one, text=joined(lines)) for one, lines in cues if lines], 0
    made, repeats = list[SpokenLine](), 0
    for line, lines, again in compared:
        repeats += again > 0
        if again < len(lines):
            made.append(replace(line, text=joined(lines[again:])))
        elif made and lines:
            made[-1] = replace(made[-1], end=max(made[-1].end, line.end))
    return made, repeats


_TIME = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})(?!\d)")
_VOICE = re.compile(r"<v(?:\.[^\s>.]*)*\s+([^>\s][^>]*)>")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<\d[\d:.]*>|\{\\[^{}]*\}")
# The header that some programs write below the first line, before the first blank one.
_READER_HEAD = 20
_HEADER_LANGUAGE = re.compile(
    r"WEBVTT.*(?:\n.+)*?\nLanguage:\s*([a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)\s*(?:\n|$)"
)
_LINES = re.compile(r"\r\n|\r|\n")
ARROW = "-->"
# The beginnings of WebVTT blocks that are no captions.
_NO_CAPTION = ("WEBVTT", "NOTE", "STYLE", "REGION")

_CLOCK = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{2})(?:[.,]\d{1,3})?"
# [00:12:03] or (12:03) at the head of a line; without brackets only with hours, or alone on the line.
_HOURS = r"(\d{1,4}):(\d{2}):(\d{2})(?:[.,]\d{1,3})?(?!\S)"
_AT_HEAD = re.compile(rf"\s*(?:[\[(]\s*{_CLOCK}\s*[\])]|{_HOURS})\s*[-–—:]?\s*")
_ALONE = re.compile(rf"\s*{_CLOCK}\s*")
# “Ann Lee  12:03” or “Ann Lee [12:03]:” and then the words.
_NAME_AND_TIME = re.compile(
    rf"\s*([^\W\d_][^:：\n\[(]{{0,{LONGEST_NAME - 1}}}?)(?:\s*[\[(]{_CLOCK}[\])]\s*:?|\s{{2,}}{_CLOCK}\s*$)\s*"
)

# Whisper's own thresholds for a failed or silent segment.
LEAST_LOGPROB, MOST_SILENCE, MOST_COMPRESSION = -1.0, 0.6, 2.4
_LATEST = 10_000_000
Seconds = Annotated[float, Field(ge=0, le=_LATEST)]
Milliseconds = Annotated[int, Field(ge=0, le=_LATEST * 1000)]
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")

_WORDS = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DOCUMENT = "word/document.xml"
MOST_FILES = 5_000
_BREAKS = {f"{_WORDS}tab": "\t", f"{_WORDS}br": "\n", f"{_WORDS}cr": "\n"}
AGAIN = "Save it again as .docx or as plain text."

# In milliseconds; if nobody is named, such a long silence separates turns.
SILENCE = 2_000
# In characters: a paragraph ends at a sentence from the first length on, and at any line from the second on.
LONG, LONGEST = 600, 1_200
_END = re.compile(r"[.!?。！？…][\"'”’»」』)\]]*$")
_SENTENCES = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])\s*")


_READ: dict[str, Callable[[bytes, str], ReadTranscript]] = {
    ".vtt": lambda content, name: read_captions(text_of(content, name), subrip=False),
    ".srt": lambda content, name: read_captions(text_of(content, name), subrip=True),
    ".json": lambda content, name: read_recognized(parse(text_of(content, name).encode(), name)),
    **dict.fromkeys((".txt", ".md"), lambda content, name: read_text(text_of(content, name))),
    ".docx": lambda content, name: read_text(docx_text(content, name)),
    ".pdf": lambda content, name: read_text(worker.pdf_text(content, name)),
}
ENDINGS = tuple(_READ)


def read(content: bytes, name: str) -> ReadTranscript:
    """The content of a file, by the ending of its name; Refusal if it cannot be read at all."""
    known = required(
        _READ.get(Path(name).suffix.lower()),
        f"“{name}” is no transcript that can be read.",
        f"Choose files in {', '.join(ENDINGS)}.",
    )
    result = known(content, name)
    if not result.lines and not result.bad:
        raise Refusal(f"“{name}” holds no words.", documents.OTHER)
    return result


def text_of(content: bytes, name: str) -> str:
    """The text of a file in UTF-8 or UTF-16; Refusal if it is something else."""
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


def assembled(lines: Sequence[SpokenLine], names: Mapping[str, str], file: str) -> tuple[str, Transcript]:
    """One text of some lines, `Speaker: words` a turn, and its segments; `names` replaces the speakers' names."""
    speakers: dict[str, int] = {}
    parts, segments, length = list[str](), list[Segment](), 0
    for mark, line in _marked(lines):
        place = speakers.setdefault(line.speaker, len(speakers)) if line.speaker else UNKNOWN
        head = prefix(names.get(line.speaker, line.speaker)) if mark == TURN or not parts else ""
        parts += [mark if parts else "", head, line.text]
        length += len(parts[-3]) + len(head)
        marks = " ".join(line.doubts)
        segments.append(Segment(line.start, line.end, place, length, length + len(line.text), marks))
        length += len(line.text)
    called = tuple(names.get(name, name) for name in speakers)
    return "".join(parts), Transcript(called, tuple(segments), file)


def _marked(lines: Sequence[SpokenLine]) -> Iterator[tuple[str, SpokenLine]]:
    """Each line with its separator from the text before: a new turn, a new paragraph, a space or nothing."""
    named = any(one.speaker for one in lines)
    before: SpokenLine | None = None
    long, ended = 0, False
    for line in (part for whole in lines for part in _short(whole)):
        if before is None or _turns(before, line, named=named):
            mark, long = TURN, 0
        elif long + len(line.text) > (LONG if ended else LONGEST):
            mark, long = PARAGRAPH, 0
        else:
            mark = gap(before.text, line.text)
        long += len(line.text)
        ended, before = bool(_END.search(line.text)), line
        yield mark, line


def _turns(before: SpokenLine, line: SpokenLine, *, named: bool) -> bool:
    if line.begins or line.speaker != before.speaker:
        return True
    return not named and UNKNOWN < before.end <= line.start - SILENCE


def _short(line: SpokenLine) -> Iterator[SpokenLine]:
    """A line, in parts of some sentences if it is longer than a paragraph should be."""
    if len(line.text) <= LONGEST:
        yield line
        return
    held, first = "", True
    for sentence in (*_sentences(line.text), ""):
        if held and (not sentence or len(held) + len(sentence) > LONG):
            yield replace(line, text=held, begins=line.begins and first)
            held, first = "", False
        held = joined([held, sentence]) if held else sentence


def _sentences(text: str) -> Iterator[str]:
    """Sentences; those longer than a paragraph are split at a space, or anywhere."""
    for sentence in _SENTENCES.split(text):
        while len(sentence) > LONGEST:
            cut = sentence.rfind(" ", LONG, LONGEST)
            cut = cut if cut > 0 else LONGEST
            yield sentence[:cut]
            sentence = sentence[cut:].strip()
        if sentence:
            yield sentence


def docx_text(content: bytes, name: str) -> str:
    """The words of a document, a blank line between paragraphs; Refusal if it is none, damaged or too large."""
    try:
        root = xml_tree(_packed(content, name))
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError):
        raise Refusal(f"“{name}” is no Word document, or is damaged.", AGAIN) from None
    except ValueError as error:
        raise Refusal(f"“{name}” is no Word document: {error}.", AGAIN) from None
    return "\n\n".join(_paragraph(element) for element in root.iter(f"{_WORDS}p"))


def _packed(content: bytes, name: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        if len(packed.infolist()) > MOST_FILES:
            raise Refusal(f"“{name}” holds more than {MOST_FILES:,} files.", AGAIN)
        if _DOCUMENT not in packed.namelist():
            raise ValueError(f"it lacks {_DOCUMENT}")
        with packed.open(_DOCUMENT) as file:
            # The size in its index is not trusted.
            result = file.read(LONGEST_TEXT * 4 + 1)
    if len(result) > LONGEST_TEXT * 4:
        raise Refusal(f"“{name}” holds more than {LONGEST_TEXT * 4 // 2**20} MB of text.", AGAIN)
    return result


def _paragraph(paragraph: ElementTree.Element) -> str:
    """The words of a paragraph, without tracked deletions."""
    return "".join(
        (element.text or "") if element.tag == f"{_WORDS}t" else _BREAKS.get(element.tag, "")
        for element in paragraph.iter()
    )


class _SpokenEntry(BaseModel, frozen=True, extra="ignore", allow_inf_nan=False, defer_build=True):
    """An entry as some program wrote it; other fields are ignored."""

    text: Text
    speaker: Text | int | None = None

    def between(self, start: int, end: int, doubts: tuple[Doubt, ...] = ()) -> SpokenLine:
        """Its words as a line; ValueError if it ends before it begins."""
        if UNKNOWN < end < start:
            raise ValueError("ends before it begins")
        speaker = "" if self.speaker is None else " ".join(str(self.speaker).split())
        return SpokenLine(" ".join(self.text.split()), start, end, speaker, doubts)


class _WhisperSegment(_SpokenEntry):
    start: Seconds | None = None
    end: Seconds | None = None
    avg_logprob: float | None = None
    no_speech_prob: float | None = None
    compression_ratio: float | None = None

    def line(self) -> SpokenLine:
        result = {
            Doubt.UNSURE: (self.avg_logprob or 0) < LEAST_LOGPROB,
            Doubt.SILENCE: (self.no_speech_prob or 0) > MOST_SILENCE,
            Doubt.REPETITIVE: (self.compression_ratio or 0) > MOST_COMPRESSION,
        }
        start, end = (UNKNOWN if one is None else round(one * 1000) for one in (self.start, self.end))
        return self.between(start, end, tuple(doubt for doubt, so in result.items() if so))


class _Offsets(BaseModel, frozen=True, extra="ignore", defer_build=True):
    begin: Milliseconds = Field(alias="from")
    end: Milliseconds = Field(alias="to")


class _Cut(_SpokenEntry):
    offsets: _Offsets

    def line(self) -> SpokenLine:
        return self.between(self.offsets.begin, self.offsets.end)


def read_recognized(tree: Any) -> ReadTranscript:
    """The result of speech recognition; invalid entries are reported by their index in the list."""
    transcript = ReadTranscript()
    # Some programs write the list alone.
    tree = {"segments": tree} if tree and isinstance(tree, list) else tree
    for name, kind in (("segments", _WhisperSegment), ("transcription", _Cut)):
        entries = tree.get(name) if isinstance(tree, Mapping) else None
        if isinstance(entries, list):
            _take(transcript, name, kind, entries)
            break
    else:
        transcript.bad.append("holds neither “segments” (Whisper) nor “transcription” (whisper.cpp)")
        return transcript
    result = tree.get("result")
    language = tree.get("language") or (result.get("language") if isinstance(result, Mapping) else "")
    transcript.language = language if isinstance(language, str) and _LANGUAGE.fullmatch(language) else ""
    in_order(transcript)
    transcript.lines = with_repeats(transcript.lines)
    return transcript


def _take(
    transcript: ReadTranscript, name: str, kind: type[_WhisperSegment] | type[_Cut], entries: list[Any]
) -> None:
    for place, entry in enumerate(entries):
        try:
            line = kind.model_validate(entry).line()
        except ValueError as error:
            transcript.bad.append(f"{name}[{place}]: {in_words(error)}")
        else:
            if line.text:
                transcript.lines.append(line)


def read_text(text: str) -> ReadTranscript:
    """The content of a text: turns by blank lines, and by names that recur."""
    result = ReadTranscript()
    result.lines = list(_joined(with_speakers(list(_lines(text)))))
    in_order(result)
    return result


def _lines(text: str) -> Iterator[SpokenLine]:
    """The lines, with the time that each begins with, or that was on a line before it."""
    blank, time, name = True, UNKNOWN, ""
    for line in re.split(r"\r\n|[\r\n\f\x0b\x85\u2028\u2029]", text):
        if not line.strip():
            blank = True
            continue
        head = _NAME_AND_TIME.match(line)
        if head is not None:
            name, time, line = head[1].strip(), _time(head.groups()[1:]), line[head.end() :]
        elif result := _ALONE.fullmatch(line) or _AT_HEAD.match(line):
            time, line = _time(result.groups()), line[result.end() :]
        words = " ".join(line.split())
        # A name is read like any other head, so that only one that recurs is taken for a speaker.
        if words:
            yield SpokenLine(f"{name}: {words}" if name else words, time, begins=blank or time != UNKNOWN)
            blank, time, name = False, UNKNOWN, ""
        else:
            blank = True


def _time(parts: tuple[str | None, ...]) -> int:
    for hours, minutes, seconds in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        if minutes is not None and seconds is not None:
            return ((int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)) * 1000
    return UNKNOWN


def _joined(lines: list[SpokenLine]) -> Iterator[SpokenLine]:
    turns: list[list[SpokenLine]] = []
    for line in lines:
        if turns and not line.begins and not line.speaker:
            turns[-1].append(line)
        else:
            turns.append([line])
    for turn in turns:
        if words := joined([line.text for line in turn if line.text]):
            yield replace(turn[0], text=words)


def read_captions(text: str, *, subrip: bool) -> ReadTranscript:
    """The content of captions; unreadable lines are reported with their number and the reason."""
    from webvtt import from_buffer, from_string
    from webvtt.errors import MalformedFileError

    result = ReadTranscript()
    begun = text.lstrip("\ufeff\r\n\t ")
    lines = _LINES.split(begun)
    first = len(_LINES.split(text[: len(text) - len(begun)]))
    try:
        read = from_buffer(io.StringIO(_numbered(lines)), "srt") if subrip else from_string("\n".join(lines))
    except (MalformedFileError, IndexError):
        begins = "with the number of a caption and its times" if subrip else "with WEBVTT"
        result.bad.append(f"line {first}: the file does not begin {begins}")
        return result
    result.bad += _bad_lines(lines, first)
    if not subrip:
        match = _HEADER_LANGUAGE.match("\n".join(lines[:_READER_HEAD]))
        result.language = match[1] if match else ""
        result.bad += _without_times(lines, first)
    if notes := _notes(read):
        result.notes.append(f"{counted(notes, 'note')} left out")
    spoken_lines, repeats = folded([cue for caption in read.captions for cue in _cues(caption)])
    if repeats:
        result.notes.append(
            f"{counted(repeats, 'caption')} with lines of the one before; each line is kept once"
        )
    named = with_speakers(spoken_lines)
    # If voices are marked, a caption without one has no speaker.
    result.lines = named if any(line.speaker for line in spoken_lines) else continued(named)
    in_order(result)
    result.lines = with_repeats(result.lines)
    return result


def _notes(read: "WebVTT") -> int:
    blocks = (*read.captions, *read.styles, *read.regions)
    return len(read.header_comments) + len(read.footer_comments) + sum(len(one.comments) for one in blocks)


def _numbered(lines: Iterable[str]) -> str:
    """SubRip with a number above the times of each caption, which some programs leave out."""
    made: list[str] = []
    for line in lines:
        if ARROW in line and not _ends_in_number(made):
            made.append("0")
        made.append(line.rstrip())
    return "\n".join(made)


def _ends_in_number(lines: Sequence[str]) -> bool:
    """Whether the last line with words is a number alone, at the beginning, the end or after a blank line."""
    last = next((place for place in range(len(lines) - 1, -1, -1) if lines[place]), -1)
    if last < 0 or not lines[last].strip().isdigit():
        return False
    return last in (0, len(lines) - 1) or not lines[last - 1]


def _without_times(lines: Iterable[str], first: int) -> Iterator[str]:
    """Words of WebVTT that no reader shows: blocks without times, and text between a name and its times."""
    block: list[str] = []
    for number, line in enumerate((*lines, ""), start=first):
        if line and not (ARROW in line and len(block) > 1):
            block.append(line)
            continue
        if _is_lost(block):
            yield f"line {number - len(block)}: no times stand above “{block[0].strip()[:40]}”"
        block = [line] if line else []


def _is_lost(block: Sequence[str]) -> bool:
    """Whether a block has words and no times; a number alone is no words."""
    if any(ARROW in line for line in block[:2]) or (block[:1] and block[0].startswith(_NO_CAPTION)):
        return False
    return any(line.strip() and not line.strip().isdigit() for line in block)


def _bad_lines(lines: Iterable[str], first: int) -> Iterator[str]:
    for number, line in enumerate(lines, start=first):
        if ARROW in line:
            left, _, right = line.partition(ARROW)
            start, end = _milliseconds(left.strip()), _milliseconds(right.strip())
            if start is None or end is None:
                wrong = left if start is None else right
                yield f"line {number}: “{wrong.strip()[:40]}” is not a time such as 00:01:02.500"
            elif end < start:
                yield f"line {number}: the caption ends before it begins"


def _milliseconds(words: str) -> int | None:
    """A time at the head of a line in ms; None if there is none, or if it has more than 59 minutes or seconds."""
    result = _TIME.match(words)
    if result is None or len(result[1] or "") > 9 or int(result[2]) > 59 or int(result[3]) > 59:
        return None
    return ((int(result[1] or 0) * 60 + int(result[2])) * 60 + int(result[3])) * 1000 + int(
        result[4].ljust(3, "0")
    )


def _cues(caption: "Caption") -> Iterator[tuple[SpokenLine, list[str]]]:
    """A caption in as many parts as it has speakers, each with its lines."""
    start, end = caption.start_time.in_milliseconds(), caption.end_time.in_milliseconds()
    if end < start:
        return
    parts = _VOICE.split(caption.raw_text)
    for name, words in zip(("", *parts[1::2]), parts[::2], strict=True):
        lines = [line for line in map(_plain, words.split("\n")) if line]
        if lines:
            yield SpokenLine("", start, end, _plain(name)), lines


def _plain(words: str) -> str:
    if "<" in words or "{" in words:
        words = _TAG.sub("", words)
    return " ".join((html.unescape(words) if "&" in words else words).split())
