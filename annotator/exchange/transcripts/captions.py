"""WebVTT and SubRip files, read by webvtt-py after their times were looked at line by line."""

import html
import io
import re
from collections.abc import Iterator
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
ARROW = "-->"


def read(text: str, *, subrip: bool) -> ReadTranscript:
    """What captions say; of lines that cannot be read, each with its number and why."""
    from webvtt import from_buffer, from_string
    from webvtt.errors import MalformedFileError

    found = ReadTranscript()
    text = text.lstrip("\ufeff\r\n\t ")
    try:
        read = from_buffer(io.StringIO(text), format="srt") if subrip else from_string(text)
    except (MalformedFileError, IndexError):
        begins = "with the number of a caption and its times" if subrip else "with WEBVTT"
        found.bad.append(f"line 1: the file does not begin {begins}")
        return found
    found.bad += _bad_lines(text)
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


def _bad_lines(text: str) -> Iterator[str]:
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        if ARROW in line:
            first, _, second = line.partition(ARROW)
            start, end = _milliseconds(first.strip()), _milliseconds(second.strip())
            if start is None or end is None:
                wrong = first if start is None else second
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
