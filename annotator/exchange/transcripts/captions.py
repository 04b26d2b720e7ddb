"""WebVTT and SubRip files, read by webvtt-py after their times were looked at line by line."""

import html
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from annotator.domain.texts.counting import counted
from annotator.exchange.transcripts.said import (
    ReadTranscript,
    SpokenLine,
    continued,
    folded,
    in_order,
    with_repeats,
    with_speakers,
)

if TYPE_CHECKING:
    from webvtt import Caption, WebVTT

_TIME = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})(?!\d)")
_VOICE = re.compile(r"<v(?:\.[^\s>.]*)*\s+([^>\s][^>]*)>")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<\d[\d:.]*>|\{\\[^{}]*\}")
# What some programs write below the first line, before the first blank one.
_HEAD = 20
_LANGUAGE = re.compile(r"WEBVTT.*(?:\n.+)*?\nLanguage:\s*([a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)\s*(?:\n|$)")
_LINES = re.compile(r"\r\n|\r|\n")
ARROW = "-->"
# What begins a block of WebVTT that is no caption.
_NO_CAPTION = ("WEBVTT", "NOTE", "STYLE", "REGION")


def read(text: str, *, subrip: bool) -> ReadTranscript:
    """What captions say; of lines that cannot be read, each with its number and why."""
    from webvtt import from_buffer, from_string
    from webvtt.errors import MalformedFileError

    found = ReadTranscript()
    begun = text.lstrip("\ufeff\r\n\t ")
    lines = _LINES.split(begun)
    first = len(_LINES.split(text[: len(text) - len(begun)]))
    try:
        read = from_buffer(io.StringIO(_numbered(lines)), "srt") if subrip else from_string("\n".join(lines))
    except (MalformedFileError, IndexError):
        begins = "with the number of a caption and its times" if subrip else "with WEBVTT"
        found.bad.append(f"line {first}: the file does not begin {begins}")
        return found
    found.bad += _bad_lines(lines, first)
    if not subrip:
        told = _LANGUAGE.match("\n".join(lines[:_HEAD]))
        found.language = told[1] if told else ""
        found.bad += _without_times(lines, first)
    if notes := _notes(read):
        found.notes.append(f"{counted(notes, 'note')} left out")
    cues = [cue for caption in read.captions for cue in _cues(caption)]
    said, repeats = folded(cues)
    if repeats:
        found.notes.append(
            f"{counted(repeats, 'caption')} with lines of the one before; each line is kept once"
        )
    named = with_speakers(said)
    # Where voices are marked, a caption without one is nobody's.
    found.said = named if any(one.speaker for one in said) else continued(named)
    in_order(found)
    found.said = with_repeats(found.said)
    return found


def _notes(read: "WebVTT") -> int:
    told = (*read.captions, *read.styles, *read.regions)
    return len(read.header_comments) + len(read.footer_comments) + sum(len(one.comments) for one in told)


def _numbered(lines: Iterable[str]) -> str:
    """SubRip with a number above the times of each caption, which some programs leave out."""
    made: list[str] = []
    for line in lines:
        if ARROW in line and not _ends_in_number(made):
            made.append("0")
        made.append(line.rstrip())
    return "\n".join(made)


def _ends_in_number(lines: Sequence[str]) -> bool:
    """Whether the last line with words is a number alone, or stands above what follows."""
    last = next((place for place in range(len(lines) - 1, -1, -1) if lines[place]), -1)
    if last < 0 or not lines[last].strip().isdigit():
        return False
    return last in (0, len(lines) - 1) or not lines[last - 1]


def _without_times(lines: Iterable[str], first: int) -> Iterator[str]:
    """Words of WebVTT that no reader shows: blocks without times, and what stands between a name and its times."""
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
    """A time at the head of a line; None for none, and where there are more than 59 minutes or seconds."""
    found = _TIME.match(words)
    if found is None or len(found[1] or "") > 9 or int(found[2]) > 59 or int(found[3]) > 59:
        return None
    return ((int(found[1] or 0) * 60 + int(found[2])) * 60 + int(found[3])) * 1000 + int(
        found[4].ljust(3, "0")
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
    """Words without tags, entities and spare spaces."""
    if "<" in words or "{" in words:
        words = _TAG.sub("", words)
    return " ".join((html.unescape(words) if "&" in words else words).split())
