"""Transcripts: who said what and when, beside the one readable text of their source."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from annotator.domain.kinds.artifact import Anchor, Unit
from annotator.domain.kinds.finding import Finding, warning
from annotator.domain.material.source import Source

UNKNOWN = -1
# What stands in the text for a passage that nobody is to read.
LEFT_OUT = "[passage left out]"
CORRECTED, EXCLUDED = "corrected", "excluded:"
TURN, PARAGRAPH = "\n\n", "\n"


class Doubt(StrEnum):
    """Why the words of a segment may not have been said: speech recognition invents text where nobody speaks."""

    UNSURE = "unsure"
    SILENCE = "silence"
    REPETITIVE = "repetitive"
    REPEATED = "repeated"


DOUBTS = {
    Doubt.UNSURE: "recognized with little confidence",
    Doubt.SILENCE: "probably silence",
    Doubt.REPETITIVE: "repeats itself",
    Doubt.REPEATED: "the same line several times",
}

_IS_DOUBT = frozenset(DOUBTS).__contains__


class Segment(NamedTuple):
    """Words [first, last) of the text, said from `start` to `end` (milliseconds, -1 unknown).

    `speaker` is a place in the transcript's speakers, -1 for nobody named; `marks` holds words with spaces between.
    """

    start: int
    end: int
    speaker: int
    first: int
    last: int
    marks: str = ""

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        return tuple(map(Doubt, filter(_IS_DOUBT, self.marks.split()))) if self.marks else ()

    @property
    def excluded(self) -> str:
        """The id of the exclusion that took its words away; empty where they stand."""
        return next(
            (one.removeprefix(EXCLUDED) for one in self.marks.split() if one.startswith(EXCLUDED)), ""
        )

    def moved(self, by: int) -> "Segment":
        return Segment(self.start, self.end, self.speaker, self.first + by, self.last + by, self.marks)


@dataclass(frozen=True, slots=True)
class Transcript:
    """The segments of a source in the order of its text; `file` is the hash of the file that it came from.

    Two places in `speakers` may hold one name: those speakers were merged.
    """

    speakers: tuple[str, ...] = ()
    segments: tuple[Segment, ...] = ()
    file: str = ""

    def content(self) -> str:
        tree = {
            "speakers": self.speakers,
            "segments": [tuple(one) for one in self.segments],
            "file": self.file,
        }
        return orjson.dumps(tree, option=orjson.OPT_SORT_KEYS).decode()

    def place(self, offset: int) -> int:
        """Which segment a character of the text belongs to: the last that begins at or before it, or the first."""
        return max(0, bisect_right(self.segments, offset, key=lambda one: one.first) - 1)

    def within(self, start: int, end: int) -> range:
        """Which segments have any character of [start, end)."""
        first = self.place(start)
        first += bool(self.segments) and self.segments[first].last <= start
        last = first
        while last < len(self.segments) and self.segments[last].first < end:
            last += 1
        return range(first, last)

    def name(self, segment: Segment) -> str:
        """Who said it; empty for nobody named."""
        return self.speakers[segment.speaker] if segment.speaker >= 0 else ""

    def time_at(self, offset: int) -> str:
        """When the words at a character of the text were said, as 12:03; empty where that is not known.

        A speaker's name belongs to what is said after it.
        """
        if not self.segments:
            return ""
        place = self.place(offset)
        place += self.segments[place].last <= offset and place + 1 < len(self.segments)
        return clock(self.segments[place].start)

    def in_doubt(self, start: int, end: int) -> bool:
        """Whether all words of [start, end) may never have been said."""
        found = [self.segments[n] for n in self.within(start, end)]
        return bool(found) and all(one.doubts for one in found)


def clock(milliseconds: int) -> str:
    """A moment of a recording as 12:03 or 1:02:03; empty for one that is not known."""
    if milliseconds < 0:
        return ""
    minutes, seconds = divmod(milliseconds // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def prefix(name: str) -> str:
    return f"{name}: " if name else ""


@lru_cache(maxsize=8)
def parsed(content: str) -> Transcript:
    """The transcript that a source keeps; ValueError when it is none."""
    tree = orjson.loads(content)
    if not isinstance(tree, dict) or not all(
        isinstance(tree.get(name), list) for name in ("speakers", "segments")
    ):
        raise ValueError("is no transcript")
    speakers = tuple(map(str, tree["speakers"]))
    return Transcript(speakers, tuple(_checked(tree["segments"], len(speakers))), str(tree.get("file", "")))


def _checked(rows: Sequence[Any], speakers: int) -> Iterable[Segment]:
    end = 0
    for row in rows:
        fits = isinstance(row, list) and len(row) == 6 and all(type(one) is int for one in row[:5])
        if (
            not fits
            or not isinstance(row[5], str)
            or not end <= row[3] <= row[4]
            or not -1 <= row[2] < speakers
        ):
            raise ValueError("has a segment that does not fit")
        end = row[4]
        yield Segment(*row)


def of_source(source: Source) -> Transcript | None:
    """The transcript of a source; None where it is none, or does not fit the text beside it."""
    if not source.transcript:
        return None
    found = parsed(source.transcript)
    return None if found.segments and found.segments[-1].last > len(source.text) else found


def moments(text: str, transcript: Transcript) -> list[tuple[int, str]]:
    """Where each paragraph of a transcript begins, and when its first words were said, where that is known."""
    # The first words of a paragraph come last, and stay.
    return sorted(
        {
            text.rfind("\n", 0, one.first) + 1: clock(one.start)
            for one in reversed(transcript.segments)
            if one.start >= 0
        }.items()
    )


def told(source: Source | None, anchor: Anchor) -> str:
    """When a quotation was said; empty where its source is no transcript."""
    found = of_source(source) if source is not None else None
    return found.time_at(anchor.start) if found is not None and anchor.start >= 0 else ""


def quoted_in_doubt(sources: Sequence[Source], anchors: Sequence[Anchor]) -> bool:
    """Whether every one of some quotations lies in words alone that may never have been said."""
    known = {one.id: (one.text, of_source(one)) for one in sources}

    def doubted(anchor: Anchor) -> bool:
        text, found = known.get(anchor.source_id, ("", None))
        start = _place(text, anchor) if found else -1
        return found is not None and start >= 0 and found.in_doubt(start, start + len(anchor.quote))

    return bool(anchors) and all(map(doubted, anchors))


def _place(text: str, anchor: Anchor) -> int:
    """Where a quotation stands now, nearest to where it once stood; -1 where it does not."""
    around = (
        text.rfind(anchor.quote, 0, anchor.start + len(anchor.quote)),
        text.find(anchor.quote, max(0, anchor.start)),
    )
    return min((one for one in around if one >= 0), key=lambda one: abs(one - anchor.start), default=-1)


def doubts_about(sources: Sequence[Source], units: Iterable[Unit]) -> Iterator[Finding]:
    """A remark on each unit that rests on words alone that may never have been said."""
    for unit in units:
        if quoted_in_doubt(sources, unit.anchors):
            yield warning(
                "in-doubt",
                "It rests only on words that speech recognition may have invented.",
                "Listen to the recording, or quote another passage.",
                unit.id,
            )
