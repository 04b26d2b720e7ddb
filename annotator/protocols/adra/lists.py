"""Reference lists in a report: where they stand, and where one entry ends and the next begins."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

Span = tuple[int, int]
_LIST_HEADINGS = """
    references, reference, reference list, list of references, references and sources, sources, sources and references,
    sources cited, citations, bibliography, selected bibliography, works cited, literature, literature cited,
    key references, selected references, footnotes, endnotes, quellen, literatur, literaturverzeichnis, références,
    bibliographie, sources et références, referencias, bibliografía, fuentes, referências, bibliografia, riferimenti,
    fonti, источники, литература, список литературы, 参考文献, 参考资料, 參考文獻, 引用文献, 出典,
    참고문헌, المراجع, المصادر
"""
LIST_HEADINGS = frozenset(" ".join(heading.split()) for heading in _LIST_HEADINGS.split(","))
_HEADING = re.compile(
    r"^[ ]{0,3}(?:\#{1,6}[ \t]+(?P<marked>\S.*)|(?:\*\*|__)(?P<bold>[^*_\n]+)(?:\*\*|__)[ \t]*:?)[ \t]*$"
    r"|^(?P<plain>[^\W\d_][^\n]{1,40})$",
    re.MULTILINE | re.VERBOSE,
)
_AROUND_HEADING = re.compile(r"^[\W\d_]+|[\W_]+$")
_FOOTNOTE = re.compile(r"^[ ]{0,3}\[\^?[\w-]{1,12}\]:[ \t]+\S.*$", re.MULTILINE)
_LINE = re.compile(r"^.*\S.*$", re.MULTILINE)
MARKER = re.compile(
    r"[ \t>]*(?:\\?\[\^?[\w-]{1,12}\\?\]:?(?!\()|\(?\d{1,3}[.)]|[-*+•–]|\^\d{1,3})[ \t]+(?=\S)"
)


def is_list_heading(text: str) -> bool:
    """Whether a heading announces a list of references."""
    return _AROUND_HEADING.sub("", text).casefold() in LIST_HEADINGS


def entries_of(report: str) -> list[Span]:
    """Where the entries of all lists of references stand, in order: under a heading that says so, and footnotes."""
    entries = [entry for section in _sections(report) for entry in divided(report, *section)]
    taken = [start for start, _ in entries]
    notes = [note.span() for note in _FOOTNOTE.finditer(report)]
    return sorted([*entries, *(note for note in notes if not inside(note[0], entries, taken))])


def _sections(report: str) -> Iterator[Span]:
    """The text under each heading of a list of references, up to the next heading."""
    headings = [
        heading
        for heading in _HEADING.finditer(report)
        if not heading["plain"] or is_list_heading(heading["plain"])
    ]
    ends = [heading.start() for heading in headings[1:]] + [len(report)]
    for heading, end in zip(headings, ends, strict=False):
        if is_list_heading(heading["marked"] or heading["bold"] or heading["plain"]):
            yield heading.end(), end


def divided(report: str, start: int, end: int) -> Iterator[Span]:
    """Where the entries of a list stand: from marker to marker, otherwise paragraphs, otherwise lines."""
    lines = [line.span() for line in _LINE.finditer(report, start, end)]
    gaps = [report.count("\n", a, b) > 1 for (_, a), (b, _) in pairwise(lines)]
    marked = [bool(MARKER.match(report, a, b)) for a, b in lines]
    by_marker, by_gap = any(marked), any(gaps)
    begins = [True]
    for gap, marker in zip(gaps, marked[1:], strict=True):
        begins.append(gap or (marker if by_marker else not by_gap))
    starts = [place for place, new in enumerate(begins) if new]
    for first, after in zip(starts, [*starts[1:], len(lines)], strict=True):
        if lines:
            yield lines[first][0], lines[after - 1][1]


def inside(place: int, spans: Sequence[Span], starts: Sequence[int]) -> bool:
    """Whether a place lies in one of the spans, which start at `starts`."""
    at = bisect_right(starts, place) - 1
    return at >= 0 and place < spans[at][1]
