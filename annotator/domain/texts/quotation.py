r"""Quotations: words of a text, found again despite white space or Markdown marks between them.

Texts and quotes are compared first letter by letter, then without white space, marks and link targets, then
without regard to case, then with ligatures and accented letters taken apart; a quote that leaves words out (“…”) is
found by its parts. Offsets are Python's (code points), half-open [start, end), into the text given.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize

Span = tuple[int, int]

# What a renderer drops from Markdown, and marks that people and models type differently (quotes, dashes).
_UNSEEN = re.compile(
    r"""
      ^[ \t>]*+(?:```++|~~~++)[^\n]*+$                                  # a fence and its language
    | ^[ \t>]*+\|?+[ \t]*+:?+-{2,}+[-|:\ \t]*+$                          # a table's rule
    | ^[ \t>]*+={2,}+[ \t]*+$                                           # a heading's underline
    | \[\^(?=[^\s\[\]^]{1,40}\])                                       # a footnote's mark
    | ^[ ]{0,3}\[(?!\^)[^\]\n]{1,999}\]:[ \t]*\S[^\n]*+$                # a link's definition
    | ^[ \t>]*+(?:[+*•]|\d{1,9}[.)])[ \t]++                             # a list's marker
    | \]\([^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*(?:[ \t]+"[^"\n]*")?[ \t]*+\)     # a link's target
    | \]\[[^\]\n]*+\]                                                   # a link's label
    | \[image(?::[ ]|(?=\]))                                            # the placeholder of an image
    | &(?:\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});
    | [\n\[\]&]      # alone, since one of the above may begin with it, or with the line it begins
    | [^\S\n]++ | [*_\#<>`()~|\\!"'“”„‘’«»\-‐‑‒–—―\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffc]++
    """,
    re.VERBOSE | re.MULTILINE,
)
# A quote this short, once bared, may only match whole words.
_SHORT = 8
_LEFT_OUT = re.compile(r"[\[(]?(?:…|\.(?:\s?\.){2,})[\])]?")
# A quote with more parts than this, or which leaves more out, is none.
_MOST_PARTS, _FURTHEST = 10, 3000


class _Bare(NamedTuple):
    """A text without what is unseen; `starts[i]` and `origins[i]` tell where its i-th piece lies in each."""

    text: str
    folded: str
    starts: list[int]
    origins: list[int]

    def origin(self, at: int) -> int:
        """Where a character of the bare text stands in the full one."""
        piece = bisect_right(self.starts, at) - 1
        return self.origins[piece] + at - self.starts[piece]

    def place(self, origin: int) -> int:
        """Where a character of the full text would stand in the bare one."""
        piece = bisect_right(self.origins, origin) - 1
        if piece < 0:
            return 0
        end = self.starts[piece + 1] if piece + 1 < len(self.starts) else len(self.text)
        return min(self.starts[piece] + origin - self.origins[piece], end)


def find(text: str, quote: str) -> Span | None:
    """Where the quote first stands in the text, whole words preferred; None if it does not."""
    quote = quote.strip()
    if not quote:
        return None
    exact = _choose(text, list(_occurrences(text, quote)))
    if exact and (len(quote) >= _SHORT or _whole(text, *exact)):
        return exact
    return _find_bare(text, quote) or exact or _find_parts(text, quote)


def _find_parts(text: str, quote: str) -> Span | None:
    """The shortest stretch that holds the parts of a quote with “…” in their order, one of them of some length."""
    parts = [part for part in _LEFT_OUT.split(quote) if _bare(part).text]
    if not _LEFT_OUT.search(quote) or len(parts) > _MOST_PARTS or max(map(len, parts), default=0) < _SHORT:
        return None
    first, *others = (_bare_spans(text, part) for part in parts)
    found = []
    for start, end in first:
        for spans in others:
            following = bisect_left(spans, (end, 0))
            end = spans[following][1] if following < len(spans) else len(text) + _FURTHEST
        found.append((start, end))
    shortest = min(found, key=lambda span: span[1] - span[0], default=(0, _FURTHEST))
    return shortest if shortest[1] - shortest[0] < _FURTHEST else None


def find_in_rendered(rendered: str, quote: str, markdown: str = "", start: int = -1) -> Span | None:
    """Where a quote of the Markdown stands in its rendered text.

    With the quote's `start` in the Markdown, the right one of several occurrences is found.
    """
    if not markdown or start < 0:
        return find(rendered, quote)
    return _counterpart(markdown, start, rendered, quote)


def locate(markdown: str, rendered: str, start: int, end: int) -> Span | None:
    """Where the words at [start, end) of the rendered text stand in the Markdown they were rendered from."""
    if markdown == rendered:
        return (start, end)
    span = _counterpart(rendered, start, markdown, rendered[start:end])
    return _with_brackets(markdown, span, rendered[start:end]) if span else None


def _with_brackets(text: str, span: Span, quote: str) -> Span:
    """The span with the brackets of the formula that the quote begins or ends with, which count as marks elsewhere."""
    start, end = span
    if quote.startswith(("\\(", "\\[")) and text[:start].endswith(quote[:2]):
        start -= 2
    if quote.endswith(("\\)", "\\]")) and text.startswith(quote[-2:], end):
        end += 2
    return start, end


def _counterpart(one: str, start: int, other: str, quote: str) -> Span | None:
    here, there = _bare_report(one), _bare_report(other)
    if not there.text:
        return None
    near = there.origin(min(here.place(start), len(there.text) - 1))
    return _find_bare(other, quote, near) or find(other, quote)


def _find_bare(text: str, quote: str, near: int | None = None) -> Span | None:
    return _choose(text, _bare_spans(text, quote, near), near)


def _bare_spans(text: str, quote: str, near: int | None = None) -> list[Span]:
    """Where the quote stands, compared as little strictly as it must be."""
    bare, sought = _bare_report(text), _bare(quote)
    if not sought.text:
        return []
    found = _matches(text, bare, sought.text, near)
    found = found or _matches(text, bare._replace(text=bare.folded), sought.folded, near)
    return found or _matches(text, _report_taken_apart(text), _taken_apart(sought).text, near)


def _matches(text: str, bare: _Bare, needle: str, near: int | None) -> list[Span]:
    spans = [(bare.origin(a), bare.origin(b - 1) + 1) for a, b in _occurrences(bare.text, needle)]
    if len(needle) < _SHORT and near is None:
        return [span for span in spans if _whole(text, *span)]
    return spans


def _choose(text: str, spans: list[Span], near: int | None = None) -> Span | None:
    if near is not None:
        return min(spans, key=lambda span: abs(span[0] - near), default=None)
    return next((span for span in spans if _whole(text, *span)), spans[0] if spans else None)


def _occurrences(text: str, quote: str) -> Iterator[Span]:
    at = text.find(quote)
    while at >= 0:
        yield at, at + len(quote)
        at = text.find(quote, at + len(quote))


def _whole(text: str, start: int, end: int) -> bool:
    """Whether no ASCII word is cut at either end; scripts without spaces have no words to cut."""
    return not (_joined(text[start - 1 : start], text[start]) or _joined(text[end - 1], text[end : end + 1]))


def _joined(before: str, after: str) -> bool:
    return before.isascii() and before.isalnum() and after.isascii() and after.isalnum()


@lru_cache(maxsize=4)
def _bare_report(text: str) -> _Bare:
    return _bare(text)


@lru_cache(maxsize=4)
def _report_taken_apart(text: str) -> _Bare:
    return _taken_apart(_bare_report(text))


def _taken_apart(bare: _Bare) -> _Bare:
    """The same with each ligature as its letters and each accent behind its letter, in lower case."""
    letters = [
        (part, bare.origin(at))
        for at, letter in enumerate(bare.text)
        for part in normalize("NFKD", letter.casefold())
        if not part.isspace()
    ]
    text = "".join(part for part, _ in letters)
    return _Bare(text, text, list(range(len(letters))), [origin for _, origin in letters])


def _bare(text: str) -> _Bare:
    pieces: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    at = length = 0
    for unseen in _UNSEEN.finditer(text):
        if unseen.start() > at:
            pieces.append(text[at : unseen.start()])
            starts.append(length)
            origins.append(at)
            length += unseen.start() - at
        at = unseen.end()
    if at < len(text):
        pieces.append(text[at:])
        starts.append(length)
        origins.append(at)
    bare = "".join(pieces)
    return _Bare(bare, _folded(bare), starts, origins)


def _folded(text: str) -> str:
    """The text in lower case, letter for letter: a letter whose lower case is longer stays as it is."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)
