"""Question types: the definition of each, the dimensions of its ratings, and the focus of its insights.

They are part of the selection's guideline, each under its own heading, so that a further type is a section.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

POINTS = (1, 2, 3, 4, 5)
# ResearcherBench, appendix B.4: a question whose mean reaches this is kept.
BAR = 4.5
HEADING, FOCUS = "Question type:", "Key insights"
HOW = (
    f"Head each with “## {HEADING} NAME” and say what it is, each dimension with “### NAME” and say what it is, with "
    f"a line “- **5** …” for each of the five points; the lines below “### {FOCUS}” say what its insights are about."
)
_BAR = re.compile(r"^## Bar:[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_POINT = re.compile(r"^[-*] \*\*(\d)\*\*\s*[:–—-]?\s*(.+)$", re.MULTILINE)
_ENTRY = re.compile(r"^[-*] (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Dimension:
    """A dimension of ratings: its meaning, and that of each of the five points."""

    name: str
    definition: str
    anchors: dict[int, str] = field(hash=False)


@dataclass(frozen=True, slots=True)
class QuestionType:
    """A type of question; `focus` is what its key insights are about."""

    name: str
    definition: str
    dimensions: tuple[Dimension, ...]
    focus: tuple[str, ...] = ()

    def dimension(self, name: str) -> Dimension | None:
        return next((one for one in self.dimensions if one.name == name), None)


@lru_cache(maxsize=16)
def read(text: str) -> tuple[QuestionType, ...]:
    """The question types in a guideline's text, empty if it names none; ValueError states the fault."""
    sections = f"\n{text}".split("\n## ")[1:]
    result = tuple(_type(section) for section in sections if section.startswith(HEADING))
    _refuse_twice((one.name for one in result), "question type")
    return result


def bar_of(text: str) -> float:
    """The mean at which a guideline keeps a question; ValueError if it is no possible mean of ratings."""
    result = _BAR.search(text)
    words = result[1] if result else str(BAR)
    if not re.fullmatch(r"[1-5](\.\d+)?", words) or float(words) > POINTS[-1]:
        raise ValueError(f"“{words}” is no bar for means of 1 to 5")
    return float(words)


def with_bar(text: str, bar: str) -> str:
    """A guideline with another bar; ValueError unless ratings can reach it."""
    line = f"## Bar: {bar.strip()}"
    changed = _BAR.sub(line, text, 1) if _BAR.search(text) else f"{text.rstrip()}\n\n{line}\n"
    bar_of(changed)
    return changed


def _type(section: str) -> QuestionType:
    head, *parts = section.split("\n### ")
    name, definition = _named(head.removeprefix(HEADING))
    if not name or not definition:
        raise ValueError(f"“{name or HEADING}” is a question type without a name or a definition")
    sections = [_named(part) for part in parts]
    focus = tuple(
        entry.strip() for title, body in sections if title == FOCUS for entry in _ENTRY.findall(body)
    )
    dimensions = tuple(_dimension(name, title, body) for title, body in sections if title != FOCUS)
    if not dimensions:
        raise ValueError(f"the question type “{name}” has no dimension to rate it on")
    _refuse_twice((dimension.name for dimension in dimensions), f"dimension of “{name}”")
    return QuestionType(name, definition, dimensions, focus)


def _dimension(of: str, name: str, body: str) -> Dimension:
    anchors = {int(point): words.strip() for point, words in _POINT.findall(body)}
    definition = _POINT.sub("", body).strip()
    if not definition or sorted(anchors) != list(POINTS):
        raise ValueError(
            f"the dimension “{name}” of “{of}” lacks its definition, or one of the points 1 to 5"
        )
    return Dimension(name, definition, anchors)


def _named(part: str) -> tuple[str, str]:
    name, _, body = part.partition("\n")
    return name.strip(), body.strip()


def _refuse_twice(names: Iterable[str], what: str) -> None:
    seen = set[str]()
    for name in names:
        if name in seen:
            raise ValueError(f"“{name}” is there twice as a {what}")
        seen.add(name)
