"""Text positions: Python counts letters, Qt counts UTF-16 units."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate


class TextPositions:
    """Converts a text's Python offsets to Qt's positions and back.

    `objects` are the spans of the text for which a document holds one object each, such as a formula.
    """

    def __init__(self, text: str, objects: Sequence[tuple[int, int]] = ()) -> None:
        self._wide = (
            [place for place, letter in enumerate(text) if letter > "\uffff"] if not text.isascii() else []
        )
        self._wide_qt = [place + before for before, place in enumerate(self._wide)]
        self._starts, self._ends = [start for start, _ in objects], [end for _, end in objects]
        spare = (self._halves(end) - self._halves(start) - 1 for start, end in objects)
        # How many halves fewer the document has before each object.
        self._spared = [0, *accumulate(spare)]
        self._starts_qt = [
            self._halves(start) - less for start, less in zip(self._starts, self._spared, strict=False)
        ]

    def to_qt(self, offset: int, *, end: bool = False) -> int:
        """Qt's position of a Python offset; within an object it is the object's, or as an end the one behind it."""
        inside = bisect_left(self._starts, offset) - 1
        if inside >= 0 and offset < self._ends[inside]:
            return self._starts_qt[inside] + end
        return self._halves(offset) - self._spared[bisect_right(self._ends, offset)]

    def from_qt(self, position: int) -> int:
        halves = position + self._spared[bisect_left(self._starts_qt, position)]
        return halves - bisect_left(self._wide_qt, halves)

    def _halves(self, offset: int) -> int:
        return offset + bisect_left(self._wide, offset)
