"""Corrections of a transcript: words, speakers and passages left out, each with what puts it back."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from annotator.domain.material.transcript import (
    CORRECTED,
    EXCLUDED,
    LEFT_OUT,
    PARAGRAPH,
    Segment,
    Transcript,
    prefix,
)
from annotator.domain.texts.refusal import Refusal

NOTHING = Refusal("No words are selected.", "Select words of the transcript first.")
MOVED_ON = Refusal("This passage was changed since.", "Look at it again; nothing was changed.")
Told = tuple[str, Transcript]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of the text with its segments, whose places are counted from the start of the stretch.

    `at` is where the stretch began, `row` which segment came first, when it was written down.
    """

    at: int
    row: int
    text: str
    segments: tuple[Segment, ...]

    def tree(self) -> dict[str, Any]:
        rows = [list(one) for one in self.segments]
        return {"at": self.at, "row": self.row, "text": self.text, "segments": rows}

    @classmethod
    def of(cls, tree: Any) -> "Stretch":
        rows = tuple(Segment(*row) for row in tree["segments"])
        return cls(tree["at"], tree["row"], tree["text"], rows)


def taken(text: str, transcript: Transcript, rows: range) -> Stretch:
    found = transcript.segments[rows.start : rows.stop]
    at = found[0].first
    return Stretch(at, rows.start, text[at : found[-1].last], tuple(one.moved(-at) for one in found))


def chosen(text: str, transcript: Transcript, start: int, end: int) -> tuple[range, int, int]:
    """The segments of a selection, and the selection without what no segment holds; Refusal where nothing is left."""
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
    """A stretch before and after its words [start, end) of the text are corrected; its doubts are then settled."""
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
    """A stretch before and after its words [start, end) of the text are left out, by the exclusion of that name."""
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
    for one in passage.segments:
        if groups and PARAGRAPH not in passage.text[groups[-1][-1].last : one.first]:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def exchanged(text: str, transcript: Transcript, present: Stretch, goal: Stretch) -> Told:
    """The text and transcript with one passage in the place of another; Refusal when that is not there any more."""
    segments, many = transcript.segments, len(present.segments)
    for row in _nearest(present.row, len(segments) - many + 1):
        at = segments[row].first - present.segments[0].first
        same = tuple(one.moved(at) for one in present.segments) == segments[row : row + many]
        if same and text.startswith(present.text, at):
            break
    else:
        raise MOVED_ON
    by = len(goal.text) - len(present.text)
    rows = (
        *segments[:row],
        *(one.moved(at) for one in goal.segments),
        *(one.moved(by) for one in segments[row + many :]),
    )
    return text[:at] + goal.text + text[at + len(present.text) :], replace(transcript, segments=rows)


def _nearest(row: int, rows: int) -> Iterator[int]:
    if row < rows:
        yield row
    for away in range(1, max(row, rows) + 1):
        yield from (one for one in (row - away, row + away) if 0 <= one < rows)


def renamed(text: str, transcript: Transcript, names: tuple[str, ...]) -> Told:
    """The text and transcript with other names for the speakers, in the same order; one name twice merges two."""
    parts, rows, at, by = list[str](), list[Segment](), 0, 0
    for one in transcript.segments:
        old = prefix(transcript.name(one))
        begun = one.first - len(old)
        heads = (
            old and begun >= at and text.startswith(old, begun) and text[begun - 1 : begun] in ("", PARAGRAPH)
        )
        if heads:
            new = prefix(names[one.speaker])
            parts += [text[at:begun], new]
            at, by = one.first, by + len(new) - len(old)
        rows.append(one.moved(by))
    return "".join((*parts, text[at:])), replace(transcript, speakers=names, segments=tuple(rows))
