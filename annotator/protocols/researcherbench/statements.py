"""Sentences that state something, and what they cite: the claims that can be extracted offline."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from annotator.domain.texts.words import word_count
from annotator.protocols.citations import MASK, Citation, ReportCitations, without_marks
from annotator.protocols.reference_lists import BULLET, FENCE, Span, is_heading

# A sentence that cites nothing states something when it has this many words and neither asks nor announces.
FEWEST_WORDS = 6
# In characters; what never ends, such as a table in one line, is cut.
LONGEST_STATEMENT = 2000
_CITED_BEHIND = rf"(?:[ \t]*[(\[]?{MASK}++[)\]]?[,;]?)*"
_END = re.compile(rf"(?:[.!?]+[\"'”’)\]*_]*{_CITED_BEHIND}(?=\s|$)|[。！？]{_CITED_BEHIND})[ \t]*")
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|al|fig|eq|sec|no|dr|mr|ms|st|approx|resp)|\b[A-Z])\.$", re.IGNORECASE
)
_LINE = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True)
class ReportStatement:
    """A sentence without its citations and marks: its place, its context, what it cites."""

    text: str
    span: Span
    context: Span
    urls: tuple[str, ...]


def statements(cited: ReportCitations) -> Iterator[ReportStatement]:
    """The statements of a report's body, in order: each sentence that cites, and each that tells something."""
    starts = [citation.start for citation in cited.citations]
    for line in _lines(cited):
        sentences = list(_sentences(cited.masked, line))
        for place, (start, end) in enumerate(sentences):
            within = cited.citations[bisect_left(starts, start) : bisect_left(starts, end)]
            urls = tuple(dict.fromkeys(url for citation in within for url in citation.urls))
            text = without_marks(cited.masked[start:end])
            if _states(text, urls, within, table="|" in cited.masked[line[0] : line[0] + 1]):
                context = sentences[max(0, place - 1)][0], sentences[min(len(sentences), place + 2) - 1][1]
                yield ReportStatement(text, (start, end), context, urls)


def _lines(cited: ReportCitations) -> Iterator[Span]:
    """The body's lines of prose: no headings, no code; without what makes them items of a list."""
    for stretch in cited.body:
        fenced = False
        for match in _LINE.finditer(cited.report, *stretch):
            if FENCE.match(match[0]):
                fenced = not fenced
            elif not fenced and not is_heading(match[0]):
                start = BULLET.match(cited.report, *match.span())
                yield start.end() if start else match.start(), match.end()


def _sentences(masked: str, line: Span) -> Iterator[Span]:
    """The sentences of a line, each with the citations behind its full stop."""
    at = line[0]
    for end in _END.finditer(masked, *line):
        following = masked[end.end() : end.end() + 1]
        if following.islower() or _ABBREVIATED.search(masked, max(at, end.start() - 10), end.start() + 1):
            continue
        yield from _pieces(at, end.end())
        at = end.end()
    if at < line[1]:
        yield from _pieces(at, line[1])


def _pieces(start: int, end: int) -> Iterator[Span]:
    for at in range(start, end, LONGEST_STATEMENT):
        yield at, min(end, at + LONGEST_STATEMENT)


def _states(text: str, urls: tuple[str, ...], within: tuple[Citation, ...], *, table: bool) -> bool:
    if not re.search(r"[^\W_]", text):
        return False
    if urls or within:
        return True
    return not table and text[-1] not in "?？:：" and word_count(text) >= FEWEST_WORDS
