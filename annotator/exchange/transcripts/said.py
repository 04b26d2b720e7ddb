"""What a transcript's file says, before it is one text: lines with times, speakers and doubts."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from annotator.domain.material.transcript import UNKNOWN, Doubt
from annotator.domain.texts.counting import counted
from annotator.domain.texts.words import COMMON, unspaced, word_count

LONGEST_NAME, MOST_WORDS_OF_NAME = 60, 5
# A name at the head of a line; after a Latin colon there is a space, or the line ends.
_HEAD = re.compile(r"(?:(?:>>+|[-–—•])\s*)?([^\W\d_][^:：\n]{0,59}?)\s*(?:：\s*|:(?:\s+|$))")
_SENTENCE = re.compile(r"[.!?…。！？]")
# The same words so often, of so many words, were hardly said so often; in a row the number of words is of no account.
_OFTEN, _FEWEST_WORDS, _FEWEST_SIGNS = 3, 4, 8


# Han, kana and their punctuation: between two of them there is no space.
_DENSE = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff65\U00020000-\U0003ffff]")


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """Words with their times in milliseconds (-1 unknown), who said them, and why they may not have been said.

    `begins` is true where the file itself begins a new turn.
    """

    text: str
    start: int = UNKNOWN
    end: int = UNKNOWN
    speaker: str = ""
    doubts: tuple[Doubt, ...] = ()
    begins: bool = False


@dataclass(slots=True)
class ReadTranscript:
    """What was read: lines, notes about the whole, and what could not be read, each with its place."""

    said: list[SpokenLine] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)
    language: str = ""


def gap(before: str, after: str) -> str:
    """What stands between words that follow one another: a space, but nothing between Chinese or Japanese ones."""
    dense = before[-1:] > "\u2fff" and bool(_DENSE.match(before[-1]) and _DENSE.match(after))
    return "" if dense else " "


def joined(parts: Sequence[str]) -> str:
    made = list(parts[:1])
    for before, after in pairwise(parts):
        made += [gap(before, after), after]
    return "".join(made)


def with_speakers(said: Sequence[SpokenLine]) -> list[SpokenLine]:
    """Lines with the names at their heads taken for speakers, where the same name begins two lines at least."""
    heads = [_HEAD.match(one.text) if not one.speaker else None for one in said]
    often = Counter(head[1] for head in heads if head and _is_name(head[1]))
    return [
        replace(one, speaker=head[1], text=one.text[head.end() :].strip())
        if head and often[head[1]] > 1
        else one
        for one, head in zip(said, heads, strict=True)
    ]


def continued(said: Sequence[SpokenLine]) -> list[SpokenLine]:
    """Captions of which those without a name go on with the speaker before, as they do where only changes are named."""
    found = list[SpokenLine]()
    for one in said:
        found.append(one if one.speaker or not found else replace(one, speaker=found[-1].speaker))
    return found


def _is_name(words: str) -> bool:
    """Whether a head can be a name: few words, no sentence, and not only words like “and”."""
    parts = words.split()
    return (
        len(parts) <= MOST_WORDS_OF_NAME
        and not _SENTENCE.search(re.sub(r"\b(?:\w|[DM]rs?|Prof|St|Jr)\.", "", words))
        and any(part.casefold() not in COMMON for part in parts)
    )


def in_order(read: ReadTranscript) -> None:
    """Put lines in the order of their times, and tell how many were not."""
    starts = [one.start for one in read.said]
    if UNKNOWN in starts:
        return
    wrong = sum(b < a for a, b in pairwise(starts))
    if wrong:
        read.said.sort(key=lambda one: one.start)
        read.notes.append(f"{counted(wrong, 'line')} out of order; all are put in the order of their times")


def with_repeats(said: Sequence[SpokenLine]) -> list[SpokenLine]:
    """Lines with a doubt where the same words come three times in a row, or longer ones three times at all."""
    keys = [" ".join(one.text.casefold().split()) for one in said]
    often = {key for key, many in Counter(keys).items() if many >= _OFTEN and _is_long(key)}
    found = list(said)
    for n, one in enumerate(said):
        in_row = any(
            len(set(keys[first : first + _OFTEN])) == 1
            for first in range(max(0, n - _OFTEN + 1), min(n, len(keys) - _OFTEN) + 1)
        )
        if in_row or keys[n] in often:
            found[n] = replace(one, doubts=(*one.doubts, Doubt.REPEATED))
    return found


def _is_long(words: str) -> bool:
    return len(words) >= _FEWEST_SIGNS if unspaced(words) else word_count(words) >= _FEWEST_WORDS


def folded(cues: Sequence[tuple[SpokenLine, list[str]]]) -> tuple[list[SpokenLine], int]:
    """Cues without the lines that each repeats from the one before, as rolling captions do; and how many had any.

    Only where many cues add a line to one of the last: words that were really said twice stay.
    """
    before: list[str] = []
    told = list[tuple[SpokenLine, list[str], int]]()
    for one, lines in cues:
        told.append((one, lines, _overlap(before, lines)))
        before = lines or before
    adding = sum(0 < again < len(lines) for _, lines, again in told)
    if adding < 2 or adding * 4 < len(told):
        return [replace(one, text=joined(lines)) for one, lines in cues if lines], 0
    made, repeats = list[SpokenLine](), 0
    for one, lines, again in told:
        repeats += again > 0
        if again < len(lines):
            made.append(replace(one, text=joined(lines[again:])))
        elif made and lines:
            made[-1] = replace(made[-1], end=max(made[-1].end, one.end))
    return made, repeats


def _overlap(before: Sequence[str], lines: Sequence[str]) -> int:
    """How many lines at the head are the last of those before."""
    most = range(min(len(before), len(lines)), 0, -1)
    return next((n for n in most if before[-n:] == lines[:n]), 0)
