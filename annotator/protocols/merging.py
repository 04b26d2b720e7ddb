"""Key points that say the same, brought together so that each is asked about once.

DeepResearch Arena: the union of all pages' key points without repetitions, Eq. 5.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from annotator.domain.kinds.artifact import Anchor, Unit
from annotator.domain.material.keypoints import KeyPoint
from annotator.domain.texts.words import likeness, terms

# The share of the longer quotation that two share, and of all terms of both.
OVERLAP, LIKENESS = 0.5, 0.85
_WORD, _NUMBER = re.compile(r"\w+"), re.compile(r"\d+(?:[.,]\d+)*")


def merged(points: Iterable[KeyPoint]) -> tuple[KeyPoint, ...]:
    """The points in their order, each one that says what an earlier one says merged into it.

    Two say the same in equal words, in the same place, or in nearly the same words and numbers.
    """
    groups: list[_Group] = []
    for point in points:
        said = [_Said.by(unit) for unit in (point, *point.merged)]
        group = next((one for one in groups if any(map(one.says, said))), None)
        if group is None:
            groups.append(_Group(point, said))
        else:
            group.add(point, said)
    return tuple(group.point for group in groups)


class _Said(NamedTuple):
    """What two points are compared by."""

    words: tuple[str, ...]
    terms: frozenset[str]
    numbers: frozenset[str]
    anchors: tuple[Anchor, ...]

    @classmethod
    def by(cls, unit: Unit) -> "_Said":
        words, numbers = _WORD.findall(unit.text.casefold()), _NUMBER.findall(unit.text)
        return cls(tuple(words), terms(unit.text), frozenset(numbers), unit.anchors)

    def is_near(self, other: "_Said") -> bool:
        here, there = self.terms, other.terms
        # No two sets have more in common than the smaller one holds: that alone tells most pairs apart.
        if len(here) < LIKENESS * len(there) - 1 or len(there) < LIKENESS * len(here) - 1:
            return False
        return likeness(here, there) >= LIKENESS and self.numbers == other.numbers


class _Group:
    """A point and all that was merged into it; equal words and other pages' quotations are passed over at once."""

    def __init__(self, point: KeyPoint, said: Iterable[_Said]) -> None:
        self.point = point
        self._wordings: dict[tuple[str, ...], _Said] = {}
        self._quoted = defaultdict[str, list[Anchor]](list)
        self._note(said)

    def says(self, said: _Said) -> bool:
        """Whether anything here says the same."""
        return (
            said.words in self._wordings
            or any(
                _overlap(one, other) >= OVERLAP
                for one in said.anchors
                for other in self._quoted.get(one.source_id, ())
            )
            or any(map(said.is_near, self._wordings.values()))
        )

    def add(self, point: KeyPoint, said: Iterable[_Said]) -> None:
        """Merge a point that says the same."""
        self.point = self.point.with_merged(point)
        self._note(said)

    def _note(self, said: Iterable[_Said]) -> None:
        for one in said:
            self._wordings.setdefault(one.words, one)
            for anchor in one.anchors:
                self._quoted[anchor.source_id].append(anchor)


def _overlap(one: Anchor, other: Anchor) -> float:
    """The share of the longer of two quotations of a page that both have."""
    common = min(one.end, other.end) - max(one.start, other.start)
    return max(0, common) / max(one.end - one.start, other.end - other.start)
