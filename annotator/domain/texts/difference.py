"""Differences between two wordings: words removed, words added, words kept."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Literal, NamedTuple
from unicodedata import category, decomposition, normalize

from annotator.domain.texts.words import COMMON, unspaced

PieceKind = Literal["same", "removed", "added"]
# The longest a unit's text can be; longer ones are compared line by line.
LONGEST = 20_000
# Comparing everything with everything pays up to this many pairs of words; beyond, words that occur once lead.
PAIRS = 10_000
# A match of at most so many words, all of them short or common, between two changes would only look like noise.
TINY_WORDS, SHORT = 3, 3
# One letter for each class of characters: a mark belongs to what it is based on, an apostrophe joins letters, a comma
# or a full stop joins digits, a full stop joins letters (UAX #29); white space goes with the word before it.
_WORD = re.compile(r"(um*|[wdm]+(?:(?:(?<=[wm])[af](?=w)|(?<=d)[fc](?=d))[wdm]+)*|[acfp]m*)s*|s+")
_JOINING = {"'": "a", "’": "a", ".": "f", ",": "c", "_": "w"}
_PLAIN = str.maketrans("‘’‚‛“”„‟«»‐‒–—−", '\'\'\'\'""""""-----')
_JOINERS = "\u200c\u200d"
_RAISED = ("<super>", "<sub>", "<fraction>")
_alone = lru_cache(maxsize=8192)(unspaced)


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A stretch of text and what happened to it."""

    text: str
    kind: PieceKind


class _Word(NamedTuple):
    """A word, a character of an unspaced script or a punctuation mark, and it with the white space after it."""

    word: str
    text: str


@dataclass(slots=True)
class _Step:
    """A stretch that stayed and the change after it."""

    same: str
    removed: str
    added: str


def differences(old: str, new: str) -> tuple[TextPiece, ...]:
    """The pieces of both wordings in reading order, word by word; line by line beyond `LONGEST` characters.

    The `same` and `removed` ones joined give `old`, the `same` and `added` ones `new`, to the character.
    """
    parts = _words if max(len(old), len(new)) <= LONGEST else _lines
    steps = _readable(_steps(_compared(parts(old), parts(new))))
    return tuple(_joined(piece for step in steps for piece in _pieces(step)))


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
    """A character in one case and form; nothing when it is invisible."""
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
    """The words of a text, none of whose characters is lost."""
    classes = "".join(map(_class, text))
    return [
        _Word(text[found.start() : found.end(1)] if found[1] else "", text[found.start() : found.end()])
        for found in _WORD.finditer(classes)
    ]


@lru_cache(maxsize=8192)
def _class(character: str) -> str:
    """The letter by which `_WORD` knows a character."""
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
    """Every word of both, and of words that stayed the white space that did not."""
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
    """The places of the words that stayed, increasing in both texts."""
    found: list[tuple[int, int]] = []
    regions = [(0, len(old), 0, len(new))]
    while regions:
        a, b, c, d = regions.pop()
        while a < b and c < d and old[a] == new[c]:
            found.append((a, c))
            a, c = a + 1, c + 1
        while a < b and c < d and old[b - 1] == new[d - 1]:
            b, d = b - 1, d - 1
            found.append((b, d))
        if (b - a) * (d - c) <= PAIRS:
            found += [(a + i, c + j) for i, j in _longest(old[a:b], new[c:d])]
        elif anchors := [(a + i, c + j) for i, j in _anchors(old[a:b], new[c:d])]:
            found += anchors
            ends = pairwise([(a - 1, c - 1), *anchors, (b, d)])
            regions += [(i + 1, p, j + 1, q) for (i, j), (p, q) in ends]
    return sorted(found)


def _longest(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    for i, j, size in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        yield from ((i + k, j + k) for k in range(size))


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The longest rising chain of words that occur once in either text (patience diff)."""
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
    """The steps without tiny matches between changes, and without the white space that ends both sides of one."""
    kept = steps[:1]
    for step in steps[1:]:
        last = kept[-1]
        if _between(last, step) and _tiny(step.same):
            last.removed += step.same + step.removed
            last.added += step.same + step.added
        else:
            kept.append(step)
    for step, following in pairwise(kept):
        space = step.removed[len(step.removed.rstrip()) :]
        if space and space == step.added[len(step.added.rstrip()) :]:
            step.removed, step.added = step.removed.rstrip(), step.added.rstrip()
            following.same = space + following.same
    return kept


def _between(last: _Step, step: _Step) -> bool:
    """Whether there is a change on both sides that together take out and put in."""
    changed = (last.removed or last.added) and (step.removed or step.added)
    return bool(changed and (last.removed or step.removed) and (last.added or step.added))


def _tiny(text: str) -> bool:
    """Whether a match says too little to be shown: no long or uncommon word, at most one unspaced character."""
    words = [word.word for word in _words(text) if any(map(str.isalnum, word.word))]
    alone = sum(_alone(word[0]) for word in words)
    short = sum(len(word) <= SHORT or word.casefold() in COMMON for word in words)
    return short == len(words) <= TINY_WORDS and alone <= 1


def _pieces(step: _Step) -> Iterator[TextPiece]:
    yield TextPiece(step.same, "same")
    yield TextPiece(step.removed, "removed")
    yield TextPiece(step.added, "added")


def _joined(pieces: Iterable[TextPiece]) -> Iterator[TextPiece]:
    """The pieces that are not empty, neighbours of one kind as one."""
    for kind, run in groupby((piece for piece in pieces if piece.text), key=lambda piece: piece.kind):
        yield TextPiece("".join(piece.text for piece in run), kind)
