"""Caret on a PDF's page: movement by letters, words and lines."""

import re
from dataclasses import dataclass
from enum import Enum

_WORD = re.compile(r"\w+|[^\w\s]+")


class CaretStep(Enum):
    """The step of a key press."""

    LETTER = "letter"
    WORD = "word"
    LINE = "line"
    EDGE = "edge of the line"


@dataclass(frozen=True, slots=True)
class Caret:
    """A selection between two places of one page; `head` is the end that moves."""

    page: int
    anchor: int = 0
    head: int = 0

    @property
    def span(self) -> tuple[int, int]:
        """The selected characters, half-open."""
        return min(self.anchor, self.head), max(self.anchor, self.head)

    def moved(self, letters: str, step: CaretStep, way: int, extend: bool) -> "Caret":
        """The caret a step on (1) or back (-1) in a page's letters, its anchor staying when it extends."""
        head = max(0, min(len(letters), _PLACES[step](letters, self.head, way)))
        return Caret(self.page, self.anchor if extend else head, head)


def _letter(_letters: str, head: int, way: int) -> int:
    return head + way


def _word(letters: str, head: int, way: int) -> int:
    if way > 0:
        hit = _WORD.search(letters, head)
        return hit.end() if hit else len(letters)
    starts = [hit.start() for hit in _WORD.finditer(letters, max(0, head - 500), head)]
    return starts[-1] if starts else max(0, head - 500)


def _line(letters: str, head: int, way: int) -> int:
    start = letters.rfind("\n", 0, head) + 1
    column = head - start
    if way > 0:
        end = letters.find("\n", head)
        return len(letters) if end < 0 else _on_line(letters, end + 1, column)
    return 0 if start == 0 else _on_line(letters, letters.rfind("\n", 0, start - 1) + 1, column)


def _on_line(letters: str, start: int, column: int) -> int:
    return min(start + column, _line_end(letters, start))


def _line_end(letters: str, place: int) -> int:
    end = letters.find("\n", place)
    return len(letters) if end < 0 else end - letters[place:end].endswith("\r")


def _edge(letters: str, head: int, way: int) -> int:
    return _line_end(letters, head) if way > 0 else letters.rfind("\n", 0, head) + 1


_PLACES = {CaretStep.LETTER: _letter, CaretStep.WORD: _word, CaretStep.LINE: _line, CaretStep.EDGE: _edge}
