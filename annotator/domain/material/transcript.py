"""Transcripts: who said what and when, beside the one readable text of their source."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from annotator.domain.common import Refusal
from annotator.domain.kinds.artifact import Anchor, Finding, Unit, warning
from annotator.domain.material.item import Source

UNKNOWN = -1
# The placeholder in the text for a passage that nobody is to read.
LEFT_OUT = "[passage left out]"
CORRECTED, EXCLUDED = "corrected", "excluded:"
TURN, PARAGRAPH = "\n\n", "\n"


class Doubt(StrEnum):
    """Why the words of a segment may not have been said: speech recognition invents text when nobody speaks."""

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

    `speaker` is an index into the transcript's speakers, -1 if unnamed; `marks` holds words separated by spaces.
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
        """The id of the exclusion that removed its words; empty if there is none."""
        marks = self.marks.split() if self.marks else ()
        return next((mark.removeprefix(EXCLUDED) for mark in marks if mark.startswith(EXCLUDED)), "")

    def moved(self, by: int) -> "Segment":
        return Segment(self.start, self.end, self.speaker, self.first + by, self.last + by, self.marks)


@dataclass(frozen=True, slots=True)
class Transcript:
    """The segments of a source in the order of its text; `file` is the hash of the file that it came from.

    Two entries of `speakers` may hold one name: those speakers were merged.
    """

    speakers: tuple[str, ...] = ()
    segments: tuple[Segment, ...] = ()
    file: str = ""

    def content(self) -> str:
        tree = {
            "speakers": self.speakers,
            "segments": [tuple(segment) for segment in self.segments],
            "file": self.file,
        }
        return orjson.dumps(tree, option=orjson.OPT_SORT_KEYS).decode()

    def place(self, offset: int) -> int:
        """The index of the segment of a character: the last that begins at or before it, or the first."""
        return max(0, bisect_right(self.segments, offset, key=lambda one: one.first) - 1)

    def within(self, start: int, end: int) -> range:
        """The indices of the segments with any character of [start, end)."""
        first = self.place(start)
        first += bool(self.segments) and self.segments[first].last <= start
        last = first
        while last < len(self.segments) and self.segments[last].first < end:
            last += 1
        return range(first, last)

    def name(self, segment: Segment) -> str:
        return self.speakers[segment.speaker] if segment.speaker >= 0 else ""

    def time_at(self, offset: int) -> str:
        """When the words at a character of the text were said, as 12:03; empty if unknown.

        A speaker's name belongs to the words after it.
        """
        if not self.segments:
            return ""
        place = self.place(offset)
        place += self.segments[place].last <= offset and place + 1 < len(self.segments)
        return clock(self.segments[place].start)

    def in_doubt(self, start: int, end: int) -> bool:
        """Whether all words of [start, end) may never have been said."""
        result = [self.segments[n] for n in self.within(start, end)]
        return bool(result) and all(one.doubts for one in result)


def clock(milliseconds: int) -> str:
    """A moment of a recording as 12:03 or 1:02:03; empty if unknown."""
    if milliseconds < 0:
        return ""
    minutes, seconds = divmod(milliseconds // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def prefix(name: str) -> str:
    return f"{name}: " if name else ""


@lru_cache(maxsize=8)
def parsed(content: str) -> Transcript:
    """The transcript in a source's stored form; ValueError if it is none."""
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
    """The transcript of a source; None if it has none, or if it does not fit the text."""
    if not source.transcript:
        return None
    result = parsed(source.transcript)
    return None if result.segments and result.segments[-1].last > len(source.text) else result


def moments(text: str, transcript: Transcript) -> list[tuple[int, str]]:
    """The offset of each paragraph of a transcript, and when its first words were said, if that is known."""
    begun: list[tuple[int, str]] = []
    ends = -1
    for segment in transcript.segments:
        if segment.first > ends and segment.start >= 0:
            begun.append((text.rfind("\n", 0, segment.first) + 1, clock(segment.start)))
            ends = text.find("\n", segment.first) % (len(text) + 1)
    return begun


def time_words(source: Source | None, anchor: Anchor) -> str:
    """When a quotation was said; empty if its source is no transcript."""
    result = of_source(source) if source is not None else None
    return result.time_at(anchor.start) if result is not None and anchor.start >= 0 else ""


def quoted_in_doubt(sources: Sequence[Source], anchors: Sequence[Anchor]) -> bool:
    """Whether all of the quotations lie entirely in words that may never have been said."""
    known = {source.id: (source.text, of_source(source)) for source in sources}

    def doubted(anchor: Anchor) -> bool:
        text, result = known.get(anchor.source_id, ("", None))
        start = _place(text, anchor) if result else -1
        return result is not None and start >= 0 and result.in_doubt(start, start + len(anchor.quote))

    return bool(anchors) and all(map(doubted, anchors))


def _place(text: str, anchor: Anchor) -> int:
    """The present offset of a quotation, nearest to its former one; -1 if it is gone."""
    around = (
        text.rfind(anchor.quote, 0, anchor.start + len(anchor.quote)),
        text.find(anchor.quote, max(0, anchor.start)),
    )
    return min((one for one in around if one >= 0), key=lambda one: abs(one - anchor.start), default=-1)


def doubts_about(sources: Sequence[Source], units: Iterable[Unit]) -> Iterator[Finding]:
    """A warning on each unit that rests only on words that may never have been said."""
    for unit in units:
        if quoted_in_doubt(sources, unit.anchors):
            yield warning(
                "in-doubt",
                "It rests only on words that speech recognition may have invented.",
                "Listen to the recording, or quote another passage.",
                unit.id,
            )


NOTHING = Refusal("No words are selected.", "Select words of the transcript first.")
MOVED_ON = Refusal("This passage was changed since.", "Look at it again; nothing was changed.")
NamedTranscript = tuple[str, Transcript]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of the text with its segments, whose offsets are relative to its start.

    `at` is the offset of the stretch, `row` the index of its first segment, at the time of recording.
    """

    at: int
    row: int
    text: str
    segments: tuple[Segment, ...]

    def tree(self) -> dict[str, Any]:
        rows = [list(segment) for segment in self.segments]
        return {"at": self.at, "row": self.row, "text": self.text, "segments": rows}

    @classmethod
    def of(cls, tree: Any) -> "Stretch":
        return cls(tree["at"], tree["row"], tree["text"], tuple(Segment(*row) for row in tree["segments"]))


def taken(text: str, transcript: Transcript, rows: range) -> Stretch:
    result = transcript.segments[rows.start : rows.stop]
    at = result[0].first
    return Stretch(at, rows.start, text[at : result[-1].last], tuple(one.moved(-at) for one in result))


def chosen(text: str, transcript: Transcript, start: int, end: int) -> tuple[range, int, int]:
    """The segments of a selection, and the selection without text outside segments; Refusal if nothing is left."""
    rows = transcript.within(start, end)
    if not rows:
        raise NOTHING
    start = max(start, transcript.segments[rows.start].first)
    end = min(end, transcript.segments[rows.stop - 1].last)
    start += len(text[start:end]) - len(text[start:end].lstrip())
    end -= len(text[start:end]) - len(text[start:end].rstrip())
    rows = transcript.within(start, end)
    if start >= end or not rows:
        raise NOTHING
    if any(transcript.segments[row].excluded for row in rows):
        raise Refusal("Part of these words is left out already.", "Take it back in first.")
    return rows, start, end


def corrected(text: str, transcript: Transcript, start: int, end: int, words: str) -> tuple[Stretch, Stretch]:
    """The stretch before and after its words [start, end) of the text are corrected; its doubts are then settled."""
    rows, start, end = chosen(text, transcript, start, end)
    words = " ".join(words.split())
    if not words:
        raise Refusal("A correction needs words.", "Leave the passage out instead.")
    before = taken(text, transcript, rows)
    if PARAGRAPH in before.text:
        raise Refusal("The selection reaches into another paragraph.", "Correct one paragraph at a time.")
    new = before.text[: start - before.at] + words + before.text[end - before.at :]
    first, last = before.segments[0], before.segments[-1]
    made = first._replace(end=last.end, last=len(new), marks=CORRECTED)
    return before, replace(before, text=new, segments=(made,))


def left_out(text: str, transcript: Transcript, start: int, end: int, name: str) -> tuple[Stretch, Stretch]:
    """The stretch before and after its words [start, end) of the text are left out, by the exclusion of that name."""
    rows, start, end = chosen(text, transcript, start, end)
    before = taken(text, transcript, rows)
    start, end, new = start - before.at, end - before.at, ""
    made: list[Segment] = []
    for group in _paragraphs(before):
        head, tail = group[0], group[-1]
        new += before.text[before.segments[before.segments.index(head) - 1].last : head.first] if made else ""
        left, right = before.text[head.first : start], before.text[max(head.first, end) : tail.last]
        if start > head.first and left.strip():
            made.append(head._replace(first=len(new), last=len(new) + len(left.rstrip())))
            new += left
        made.append(
            Segment(head.start, tail.end, head.speaker, len(new), len(new) + len(LEFT_OUT), EXCLUDED + name)
        )
        new += LEFT_OUT
        if end < tail.last and right.strip():
            new += right[: len(right) - len(right.lstrip())]
            right = right.lstrip()
            made.append(tail._replace(first=len(new), last=len(new) + len(right)))
            new += right
    return before, replace(before, text=new, segments=tuple(made))


def _paragraphs(passage: Stretch) -> list[list[Segment]]:
    groups: list[list[Segment]] = []
    for segment in passage.segments:
        if groups and PARAGRAPH not in passage.text[groups[-1][-1].last : segment.first]:
            groups[-1].append(segment)
        else:
            groups.append([segment])
    return groups


def exchanged(text: str, transcript: Transcript, present: Stretch, goal: Stretch) -> NamedTranscript:
    """The text and transcript with one passage replaced by another; Refusal if the passage is not there any more."""
    segments, many = transcript.segments, len(present.segments)
    for row in _nearest(present.row, len(segments) - many + 1):
        at = segments[row].first - present.segments[0].first
        same = tuple(segment.moved(at) for segment in present.segments) == segments[row : row + many]
        if same and text.startswith(present.text, at):
            break
    else:
        raise MOVED_ON
    by = len(goal.text) - len(present.text)
    rows = (
        *segments[:row],
        *(segment.moved(at) for segment in goal.segments),
        *(segment.moved(by) for segment in segments[row + many :]),
    )
    return text[:at] + goal.text + text[at + len(present.text) :], replace(transcript, segments=rows)


def _nearest(row: int, rows: int) -> Iterator[int]:
    if row < rows:
        yield row
    for away in range(1, max(row, rows) + 1):
        yield from (one for one in (row - away, row + away) if 0 <= one < rows)


def renamed(text: str, transcript: Transcript, names: tuple[str, ...]) -> NamedTranscript:
    """The text and transcript with other names for the speakers, in the same order; one name twice merges two."""
    parts, rows, at, by = list[str](), list[Segment](), 0, 0
    for segment in transcript.segments:
        old = prefix(transcript.name(segment))
        begun = segment.first - len(old)
        heads = (
            old and begun >= at and text.startswith(old, begun) and text[begun - 1 : begun] in ("", PARAGRAPH)
        )
        if heads:
            new = prefix(names[segment.speaker])
            parts += [text[at:begun], new]
            at, by = segment.first, by + len(new) - len(old)
        rows.append(segment.moved(by))
    return "".join((*parts, text[at:])), replace(transcript, speakers=names, segments=tuple(rows))
