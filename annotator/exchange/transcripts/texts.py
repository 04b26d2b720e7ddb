"""Transcripts as plain text: names and times at the heads of lines, blank lines between turns."""

import re
from collections.abc import Iterator
from dataclasses import replace

from annotator.domain.material.transcript import UNKNOWN
from annotator.exchange.transcripts.said import (
    LONGEST_NAME,
    ReadTranscript,
    SpokenLine,
    in_order,
    joined,
    with_speakers,
)

_CLOCK = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{2})(?:[.,]\d{1,3})?"
# [00:12:03] or (12:03) at the head of a line; without brackets only with hours, or alone on the line.
_HOURS = r"(\d{1,4}):(\d{2}):(\d{2})(?:[.,]\d{1,3})?(?!\S)"
_AT_HEAD = re.compile(rf"\s*(?:[\[(]\s*{_CLOCK}\s*[\])]|{_HOURS})\s*[-–—:]?\s*")
_ALONE = re.compile(rf"\s*{_CLOCK}\s*")
# “Ann Lee  12:03” or “Ann Lee [12:03]:” and then the words.
_NAME_AND_TIME = re.compile(
    rf"\s*([^\W\d_][^:：\n\[(]{{0,{LONGEST_NAME - 1}}}?)(?:\s*[\[(]{_CLOCK}[\])]\s*:?|\s{{2,}}{_CLOCK}\s*$)\s*"
)


def read(text: str) -> ReadTranscript:
    """What a text says: turns by blank lines, and by names that recur."""
    found = ReadTranscript()
    lines = list(_lines(text))
    found.said = list(_joined(with_speakers(lines)))
    in_order(found)
    return found


def _lines(text: str) -> Iterator[SpokenLine]:
    """The lines, with the time that each begins with, or that stood on a line before it."""
    blank, time, name = True, UNKNOWN, ""
    for line in re.split(r"\r\n|[\r\n\f\x0b\x85\u2028\u2029]", text):
        if not line.strip():
            blank = True
            continue
        head = _NAME_AND_TIME.match(line)
        if head is not None:
            name, time, line = head[1].strip(), _time(head.groups()[1:]), line[head.end() :]
        elif found := _ALONE.fullmatch(line) or _AT_HEAD.match(line):
            time, line = _time(found.groups()), line[found.end() :]
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
    """Turns: a line that begins none belongs to the one before."""
    turns: list[list[SpokenLine]] = []
    for line in lines:
        if turns and not line.begins and not line.speaker:
            turns[-1].append(line)
        else:
            turns.append([line])
    for turn in turns:
        if words := joined([line.text for line in turn if line.text]):
            yield replace(turn[0], text=words)
