"""Passages of a long text that fit into a question: those that share its rarest words."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from annotator.domain.texts.words import terms

# In characters: what a judge is shown at most, some 15 000 tokens of English; and one passage.
LONGEST_SHOWN = 60_000
PASSAGE = 1200
OMISSION = "\n[…]\n"
_PASSAGE = re.compile(rf"\S(?:.{{0,{PASSAGE - 2}}}\S)?(?=\s|$)|\S.{{0,{PASSAGE - 1}}}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """An excerpt of a text, and the lengths of both in characters."""

    text: str
    shown: int
    whole: int

    @property
    def cut(self) -> bool:
        """Whether anything was left out."""
        return self.shown < self.whole

    @property
    def extent(self) -> str:
        """How much is shown, in words for the reader."""
        if not self.cut:
            return "It is given whole."
        return (
            f"It is too long to be given whole: of {self.whole:,} characters {self.shown:,} are shown, the passages "
            "that are nearest in wording to what is asked. […] stands where something was left out."
        )


def excerpt(text: str, wanted: Sequence[str], longest: int = LONGEST_SHOWN) -> Excerpt:
    """The text, or when it is too long its beginning and the passages that are nearest to each of what is wanted.

    Passages are chosen for each in turn, best first, until no more fit; they stay in the text's order.
    """
    if len(text) <= longest:
        return Excerpt(text, len(text), len(text))
    spans = [match.span() for match in _PASSAGE.finditer(text)]
    held = [terms(text[start:end]) for start, end in spans]
    chosen: set[int] = set()
    room = longest
    for place in _in_turn(held, [terms(what) for what in wanted]):
        cost = spans[place][1] - spans[place][0] + len(OMISSION)
        if place not in chosen and cost <= room:
            chosen.add(place)
            room -= cost
    return Excerpt(
        _joined(text, spans, sorted(chosen)), sum(spans[i][1] - spans[i][0] for i in chosen), len(text)
    )


def _in_turn(held: list[frozenset[str]], wanted: list[frozenset[str]]) -> list[int]:
    """The passages in the order in which they are taken: the first, the best for each, the second best for each …"""
    times = Counter(term for passage in held for term in passage)
    worth = [[sum(1 / times[t] for t in passage & sought) for passage in held] for sought in wanted]
    ranked = [sorted(range(len(held)), key=lambda i, row=row: (-row[i], i)) for row in worth]  # type: ignore[misc]
    return [*range(len(held[:1])), *(place for round_ in zip(*ranked, strict=True) for place in round_)]


def _joined(text: str, spans: list[tuple[int, int]], chosen: list[int]) -> str:
    pieces: list[str] = []
    for before, place in zip([-1, *chosen], chosen, strict=False):
        pieces += [OMISSION if place != before + 1 else "\n" if pieces else "", text[slice(*spans[place])]]
    return "".join(pieces) + (OMISSION if chosen and chosen[-1] < len(spans) - 1 else "")
