"""Differences between two wordings (words removed, added, kept), and quotations located in texts."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import accumulate, chain, groupby, pairwise
from typing import Literal, NamedTuple
from unicodedata import category, decomposition, normalize

from annotator.domain.texts.words import COMMON, unspaced

PieceKind = Literal["same", "removed", "added"]
# The maximum length of a unit's text; longer texts are compared line by line.
LONGEST = 20_000
# Comparing everything with everything pays up to this many pairs of words; beyond, unique words serve as anchors.
PAIRS = 10_000
# A match of at most so many words, all of them short or common, between two changes would only look like noise.
TINY_WORDS, SHORT = 3, 3
# One letter for each class of characters: a mark belongs to its base character, an apostrophe joins letters, a comma
# or a full stop joins digits, a full stop joins letters (UAX #29); white space belongs to the word before it.
_WORD = re.compile(r"(um*|[wdm]+(?:(?:(?<=[wm])[af](?=w)|(?<=d)[fc](?=d))[wdm]+)*|[acfp]m*)s*|s+")
_JOINING = {"'": "a", "’": "a", ".": "f", ",": "c", "_": "w"}
_PLAIN = str.maketrans("‘’‚‛“”„‟«»‐‒–—−", '\'\'\'\'""""""-----')
_JOINERS = "\u200c\u200d"
_RAISED = ("<super>", "<sub>", "<fraction>")
_alone = lru_cache(maxsize=8192)(unspaced)


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A stretch of text and its change."""

    text: str
    kind: PieceKind


class _Word(NamedTuple):
    """A word, a character of an unspaced script or a punctuation mark, and the same with the white space after it."""

    word: str
    text: str


@dataclass(slots=True)
class _Step:
    """An unchanged stretch and the change after it."""

    same: str
    removed: str
    added: str


def differences(old: str, new: str) -> tuple[TextPiece, ...]:
    """The pieces of both wordings in reading order, word by word; line by line beyond `LONGEST` characters.

    The `same` and `removed` ones joined give `old`, the `same` and `added` ones `new`, to the character.
    """
    parts = _words if max(len(old), len(new)) <= LONGEST else _lines
    steps = _readable(_steps(_compared(parts(old), parts(new))))
    pieces = (
        (TextPiece(step.same, "same"), TextPiece(step.removed, "removed"), TextPiece(step.added, "added"))
        for step in steps
    )
    shown = (piece for piece in chain.from_iterable(pieces) if piece.text)
    runs = groupby(shown, key=lambda piece: piece.kind)
    return tuple(TextPiece("".join(piece.text for piece in run), kind) for kind, run in runs)


def same_words(a: str, b: str) -> bool:
    """Whether two wordings are equal but for white space, case, final punctuation and Unicode form.

    Typographic quotation marks and dashes count as the plain ones, invisible characters not at all.
    """
    return _plain(a) == _plain(b)


def _plain(text: str) -> str:
    visible = normalize("NFC", "".join(map(_folded, text)))
    end = len(visible)
    while end and (visible[end - 1].isspace() or category(visible[end - 1]).startswith("P")):
        end -= 1
    return spaced(visible[:end].split())


@lru_cache(maxsize=8192)
def _folded(character: str) -> str:
    """A character in one case and form; empty if it is invisible."""
    if category(character) == "Cf" and character not in _JOINERS:
        return ""
    # 10² is not 102, though NFKC makes it so.
    if decomposition(character).startswith(_RAISED):
        return character
    return normalize("NFKC", normalize("NFKC", character).casefold()).translate(_PLAIN)


def spaced(words: Sequence[str]) -> str:
    """Words in one line, a space between two, but none next to a script that is written without spaces."""
    line = list(words[:1])
    for last, word in pairwise(words):
        line.append(word if _alone(last[-1]) or _alone(word[0]) else f" {word}")
    return "".join(line)


def _lines(text: str) -> list[_Word]:
    return [_Word(line.rstrip(), line) for line in text.splitlines(keepends=True)]


def _words(text: str) -> list[_Word]:
    classes = "".join(map(_class, text))
    return [
        _Word(text[result.start() : result.end(1)] if result[1] else "", text[result.start() : result.end()])
        for result in _WORD.finditer(classes)
    ]


@lru_cache(maxsize=8192)
def _class(character: str) -> str:
    """The class of a character in `_WORD`."""
    if character in _JOINING:
        return _JOINING[character]
    if character.isspace():
        return "s"
    if category(character) in ("Mn", "Mc", "Me", "Cf"):
        return "m"
    if not character.isalnum():
        return "p"
    return "d" if character.isdecimal() else "u" if _alone(character) else "w"


def _compared(old: Sequence[_Word], new: Sequence[_Word]) -> Iterator[TextPiece]:
    """Every word of both; for unchanged words, changed white space as a change of its own."""
    i = j = 0
    for p, q in _matched([w.word for w in old], [w.word for w in new]):
        yield from (TextPiece(word.text, "removed") for word in old[i:p])
        yield from (TextPiece(word.text, "added") for word in new[j:q])
        if old[p] == new[q]:
            yield TextPiece(old[p].text, "same")
        else:
            size = len(old[p].word)
            yield TextPiece(old[p].word, "same")
            yield TextPiece(old[p].text[size:], "removed")
            yield TextPiece(new[q].text[size:], "added")
        i, j = p + 1, q + 1
    yield from (TextPiece(word.text, "removed") for word in old[i:])
    yield from (TextPiece(word.text, "added") for word in new[j:])


def _matched(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The positions of the unchanged words, increasing in both texts."""
    result: list[tuple[int, int]] = []
    regions = [(0, len(old), 0, len(new))]
    while regions:
        a, b, c, d = regions.pop()
        while a < b and c < d and old[a] == new[c]:
            result.append((a, c))
            a, c = a + 1, c + 1
        while a < b and c < d and old[b - 1] == new[d - 1]:
            b, d = b - 1, d - 1
            result.append((b, d))
        if (b - a) * (d - c) <= PAIRS:
            result += [(a + i, c + j) for i, j in _longest(old[a:b], new[c:d])]
        elif anchors := [(a + i, c + j) for i, j in _anchors(old[a:b], new[c:d])]:
            result += anchors
            ends = pairwise([(a - 1, c - 1), *anchors, (b, d)])
            regions += [(i + 1, p, j + 1, q) for (i, j), (p, q) in ends]
    return sorted(result)


def _longest(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    for i, j, size in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        yield from ((i + k, j + k) for k in range(size))


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The longest increasing chain of words that occur once in either text (patience diff)."""
    count, place = Counter(old), {word: j for j, word in enumerate(new)}
    once = {word for word, n in Counter(new).items() if n == 1 == count[word]}
    ends: list[int] = []
    last: list[tuple[int, int]] = []
    before: dict[tuple[int, int], tuple[int, int]] = {}
    for i, word in enumerate(old):
        if word in once:
            pair = (i, place[word])
            rank = bisect_left(ends, pair[1])
            ends[rank : rank + 1], last[rank : rank + 1] = [pair[1]], [pair]
            if rank:
                before[pair] = last[rank - 1]
    return _chain(last[-1], before) if last else []


def _chain(end: tuple[int, int], before: dict[tuple[int, int], tuple[int, int]]) -> list[tuple[int, int]]:
    chain = [end]
    while chain[-1] in before:
        chain.append(before[chain[-1]])
    return chain[::-1]


def _steps(pieces: Iterable[TextPiece]) -> list[_Step]:
    steps = [_Step("", "", "")]
    for stayed, run in groupby(pieces, key=lambda piece: piece.kind == "same"):
        part = list(run)
        if stayed:
            steps.append(_Step(_text(part, "same"), "", ""))
        else:
            steps[-1].removed, steps[-1].added = _text(part, "removed"), _text(part, "added")
    return steps


def _text(pieces: Iterable[TextPiece], kind: PieceKind) -> str:
    return "".join(piece.text for piece in pieces if piece.kind == kind)


def _readable(steps: list[_Step]) -> list[_Step]:
    """The steps without tiny matches between changes, and without white space at the end of both sides of one."""
    merged = steps[:1]
    for step in steps[1:]:
        last = merged[-1]
        if _between(last, step) and _tiny(step.same):
            last.removed += step.same + step.removed
            last.added += step.same + step.added
        else:
            merged.append(step)
    for step, following in pairwise(merged):
        space = step.removed[len(step.removed.rstrip()) :]
        if space and space == step.added[len(step.added.rstrip()) :]:
            step.removed, step.added = step.removed.rstrip(), step.added.rstrip()
            following.same = space + following.same
    return merged


def _between(last: _Step, step: _Step) -> bool:
    """Whether there are changes on both sides of the match that together remove and add."""
    changed = (last.removed or last.added) and (step.removed or step.added)
    return bool(changed and (last.removed or step.removed) and (last.added or step.added))


def _tiny(text: str) -> bool:
    """Whether a match is too small to be shown: no long or uncommon word, at most one unspaced character."""
    words = [word.word for word in _words(text) if any(map(str.isalnum, word.word))]
    alone = sum(_alone(word[0]) for word in words)
    short = sum(len(word) <= SHORT or word.casefold() in COMMON for word in words)
    return short == len(words) <= TINY_WORDS and alone <= 1


Span = tuple[int, int]

# Characters that a Markdown renderer drops, and marks that people and models type differently (quotes, dashes).
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
# A quote with more parts than this, or with a wider gap, is not searched for.
_MOST_PARTS, _FURTHEST = 10, 3000


class _Bare(NamedTuple):
    """A text without invisible characters; its i-th piece is at `starts[i]` here and at `origins[i]` in the full text.

    `apart` has each ligature as its letters and each accent behind its letter, in lower case.
    """

    text: str
    folded: str
    apart: str
    starts: list[int]
    origins: list[int]

    def origin(self, at: int) -> int:
        """The offset in the full text of a character of the bare one."""
        piece = bisect_right(self.starts, at) - 1
        return self.origins[piece] + at - self.starts[piece]

    def place(self, origin: int) -> int:
        """The offset in the bare text of a character of the full one."""
        piece = bisect_right(self.origins, origin) - 1
        if piece < 0:
            return 0
        end = self.starts[piece + 1] if piece + 1 < len(self.starts) else len(self.text)
        return min(self.starts[piece] + origin - self.origins[piece], end)


def find(text: str, quote: str) -> Span | None:
    """The first span of the quote in the text, whole words preferred; None if there is none."""
    quote = quote.strip()
    if not quote:
        return None
    exact = _choose(text, list(_occurrences(text, quote)))
    if exact and (len(quote) >= _SHORT or _whole(text, *exact)):
        return exact
    return _find_bare(text, quote) or exact or _find_parts(text, quote)


def _find_parts(text: str, quote: str) -> Span | None:
    """The shortest span with the parts of a quote with “…” in their order, at least one of them not short."""
    parts = [part for part in _LEFT_OUT.split(quote) if _bare(part).text]
    if not _LEFT_OUT.search(quote) or len(parts) > _MOST_PARTS or max(map(len, parts), default=0) < _SHORT:
        return None
    first, *others = (_bare_spans(text, part) for part in parts)
    result = []
    for start, end in first:
        for spans in others:
            following = bisect_left(spans, (end, 0))
            end = spans[following][1] if following < len(spans) else len(text) + _FURTHEST
        result.append((start, end))
    shortest = min(result, key=lambda span: span[1] - span[0], default=(0, _FURTHEST))
    return shortest if shortest[1] - shortest[0] < _FURTHEST else None


def find_in_rendered(rendered: str, quote: str, markdown: str = "", start: int = -1) -> Span | None:
    """The span of a quote of the Markdown in its rendered text.

    With the quote's `start` in the Markdown, the right one of several occurrences is chosen.
    """
    if not markdown or start < 0:
        return find(rendered, quote)
    return _counterpart(markdown, start, rendered, quote)


def locate(markdown: str, rendered: str, start: int, end: int) -> Span | None:
    """The span in the Markdown of the words at [start, end) of its rendered text."""
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
    """The spans of the quote, compared as strictly as possible."""
    bare, sought = _bare_report(text), _bare(quote)
    if not sought.text:
        return []
    result = _matches(text, bare, sought.text, near)
    result = result or _matches(text, bare._replace(text=bare.folded), sought.folded, near)
    if result or sought.apart not in bare.apart:
        return result
    return _matches(text, _report_taken_apart(text), sought.apart, near)


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
    return not (
        _quotation_joined(text[start - 1 : start], text[start])
        or _quotation_joined(text[end - 1], text[end : end + 1])
    )


def _quotation_joined(before: str, after: str) -> bool:
    return before.isascii() and before.isalnum() and after.isascii() and after.isalnum()


@lru_cache(maxsize=4)
def _report_taken_apart(text: str) -> _Bare:
    bare = _bare_report(text)
    origins = [bare.origin(at) for at, letter in enumerate(bare.text) for _ in _apart(letter)]
    return bare._replace(text=bare.apart, starts=[*range(len(origins))], origins=origins)


def _apart(text: str) -> str:
    return "".join(normalize("NFKD", text.casefold()).split())


def _bare(text: str) -> _Bare:
    seen: list[Span] = []
    at = 0
    for unseen in _UNSEEN.finditer(text):
        if unseen.start() > at:
            seen.append((at, unseen.start()))
        at = unseen.end()
    seen.append((at, len(text)))
    pieces = [text[start:end] for start, end in seen]
    bare, starts = "".join(pieces), list(accumulate(map(len, pieces[:-1]), initial=0))
    return _Bare(bare, _quotation_folded(bare), _apart(bare), starts, [start for start, _ in seen])


_bare_report = lru_cache(maxsize=4)(_bare)


def _quotation_folded(text: str) -> str:
    """The text in lower case, letter for letter: a letter whose lower case is longer stays as it is."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)
