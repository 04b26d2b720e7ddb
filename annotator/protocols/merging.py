"""Key points that say the same, brought together so that each is asked about once.

DeepResearch Arena: the union of all pages' key points without repetitions, Eq. 5.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import product

from annotator.domain.kinds.unit import Anchor, Unit
from annotator.domain.material.keypoints import KeyPoint
from annotator.domain.texts.words import likeness, terms

# The share of the longer quotation that two share, and of all terms of both.
OVERLAP, LIKENESS = 0.5, 0.85
_WORD, _NUMBER = re.compile(r"\w+"), re.compile(r"\d+(?:[.,]\d+)*")


def merged(points: Iterable[KeyPoint]) -> tuple[KeyPoint, ...]:
    """The points in their order, each one that says what an earlier one says merged into it."""
    kept: list[KeyPoint] = []
    for point in points:
        known = (place for place, one in enumerate(kept) if _same(one, point))
        if (place := next(known, -1)) < 0:
            kept.append(point)
        else:
            kept[place] = kept[place].with_merged(point)
    return tuple(kept)


def _same(kept: KeyPoint, point: KeyPoint) -> bool:
    return any(alike(one, other) for one, other in product((kept, *kept.merged), (point, *point.merged)))


def alike(one: Unit, other: Unit) -> bool:
    """Whether two points say the same: in equal words, in the same place, or in nearly the same words and numbers."""
    if _words(one.text) == _words(other.text):
        return True
    if one.anchor and other.anchor and _in_one_place(one, other):
        return True
    here, there = terms(one.text), terms(other.text)
    # No two sets have more in common than the smaller one holds: that alone tells most pairs apart.
    if len(here) < LIKENESS * len(there) - 1 or len(there) < LIKENESS * len(here) - 1:
        return False
    return likeness(here, there) >= LIKENESS and _numbers(one.text) == _numbers(other.text)


def _in_one_place(one: Unit, other: Unit) -> bool:
    return any(_overlap(a, b) >= OVERLAP for a, b in product(one.anchors, other.anchors))


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


def _numbers(text: str) -> set[str]:
    return set(_NUMBER.findall(text))


def _overlap(one: Anchor, other: Anchor) -> float:
    """The share of the longer of two quotations that both have; 0 where they are of different pages."""
    if one.source_id != other.source_id:
        return 0.0
    common = min(one.end, other.end) - max(one.start, other.start)
    return max(0, common) / max(one.end - one.start, other.end - other.start)
