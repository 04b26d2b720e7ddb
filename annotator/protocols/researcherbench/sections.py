"""Sections of a report: whole paragraphs, up to a length that one question can carry (appendix E.2)."""

import re
from collections.abc import Iterable, Iterator

from annotator.protocols.reference_lists import Span, is_heading

# In characters. All claims of a section come in one reply, several times as long as what they stand in.
LONGEST_SECTION = 5000
_BREAK = re.compile(r"\n[ \t\r]*\n\s*")
# Where a paragraph that is too long may be cut, the best place first.
_CUTS = (re.compile(r"\n"), re.compile(r"[.!?][\"”)\]*]*\s|[。！？]"), re.compile(r"\s"))


def sections(report: str, body: Iterable[Span], longest: int = LONGEST_SECTION) -> list[Span]:
    """The sections of the body's stretches as half-open spans of the report, none longer than `longest`.

    Paragraphs are never joined across a reference list, and a heading stays with what follows it. A paragraph
    that is too long is cut at the end of a line, else of a sentence, else of a word, else anywhere.
    """
    found: list[Span] = []
    for stretch in body:
        last: Span | None = None
        for start, end in _paragraphs(report, stretch, longest):
            if last and end - last[0] <= longest:
                found[-1] = last = (last[0], end)
            else:
                found.append(last := (start, end))
    return found


def _paragraphs(report: str, stretch: Span, longest: int) -> Iterator[Span]:
    """The stretch's paragraphs, headings joined to the next, cut to length."""
    heading: int | None = None
    for start, end in _blocks(report, stretch):
        first = start if heading is None else heading
        if is_heading(report[start:end]) and "\n" not in report[start:end]:
            heading = first
            continue
        heading = None
        yield from _cut(report, first, end, longest)
    if heading is not None:
        yield from _cut(report, heading, stretch[1], longest)


def _blocks(report: str, stretch: Span) -> Iterator[Span]:
    """What stands between empty lines, without the white space around it."""
    at = stretch[0]
    for start, end in [*(gap.span() for gap in _BREAK.finditer(report, *stretch)), (stretch[1], stretch[1])]:
        text = report[at:start]
        if text.strip():
            yield at + len(text) - len(text.lstrip()), at + len(text.rstrip())
        at = end


def _cut(report: str, start: int, end: int, longest: int) -> Iterator[Span]:
    while end - start > longest:
        cut = _place(report, start, start + longest)
        yield start, cut
        start = cut
    yield start, end


def _place(report: str, start: int, limit: int) -> int:
    """The last good place for a cut, in the second half of what is allowed."""
    for pattern in _CUTS:
        places = [match.end() for match in pattern.finditer(report, (start + limit) // 2, limit)]
        if places:
            return places[-1]
    return limit
