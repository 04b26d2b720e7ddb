"""Key points with the same meaning, merged so that each is asked about once; and passages of a report by shared terms.

DeepResearch Arena: the union of all pages' key points without repetitions, Eq. 5.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple, Self

from pydantic import Field

from annotator.domain.common import grouped
from annotator.domain.judges.judge import Status, Verdict
from annotator.domain.judges.protocol import Answer, Ask, Case
from annotator.domain.kinds.artifact import Anchor, Unit
from annotator.domain.material.extract import KeyPoint
from annotator.domain.texts.words import likeness, terms
from annotator.protocols.several import ModelReply, numbered

# Thresholds: the share of the longer quotation that two have in common, and the similarity of their terms.
OVERLAP, LIKENESS = 0.5, 0.85
_WORD, _NUMBER = re.compile(r"\w+"), re.compile(r"\d+(?:[.,]\d+)*")


def merged(points: Iterable[KeyPoint]) -> tuple[KeyPoint, ...]:
    """The points in their order, each merged into an earlier one with the same meaning if there is one.

    Two have the same meaning if they have equal words, the same place, or nearly the same words and equal numbers.
    """
    groups: list[_Group] = []
    for point in points:
        wordings = [_PointKey.by(unit) for unit in (point, *point.merged)]
        group = next((one for one in groups if any(map(one.says, wordings))), None)
        if group is None:
            groups.append(_Group(point, wordings))
        else:
            group.add(point, wordings)
    return tuple(group.point for group in groups)


class _PointKey(NamedTuple):
    """The features by which two points are compared."""

    words: tuple[str, ...]
    terms: frozenset[str]
    numbers: frozenset[str]
    anchors: tuple[Anchor, ...]

    @classmethod
    def by(cls, unit: Unit) -> "_PointKey":
        words, numbers = _WORD.findall(unit.text.casefold()), _NUMBER.findall(unit.text)
        return cls(tuple(words), terms(unit.text), frozenset(numbers), unit.anchors)

    def is_near(self, other: "_PointKey") -> bool:
        here, there = self.terms, other.terms
        # Two sets share at most the smaller one: that alone rules out most pairs.
        if len(here) < LIKENESS * len(there) - 1 or len(there) < LIKENESS * len(here) - 1:
            return False
        return likeness(here, there) >= LIKENESS and self.numbers == other.numbers


class _Group:
    """A point and all that was merged into it, indexed by words and by the pages of its quotations."""

    def __init__(self, point: KeyPoint, wordings: Iterable[_PointKey]) -> None:
        self.point = point
        self._wordings: dict[tuple[str, ...], _PointKey] = {}
        self._quoted = defaultdict[str, list[Anchor]](list)
        self._note(wordings)

    def says(self, wording: _PointKey) -> bool:
        return (
            wording.words in self._wordings
            or any(
                _overlap(anchor, other) >= OVERLAP
                for anchor in wording.anchors
                for other in self._quoted.get(anchor.source_id, ())
            )
            or any(map(wording.is_near, self._wordings.values()))
        )

    def add(self, point: KeyPoint, wordings: Iterable[_PointKey]) -> None:
        self.point = self.point.with_merged(point)
        self._note(wordings)

    def _note(self, wordings: Iterable[_PointKey]) -> None:
        for one in wordings:
            self._wordings.setdefault(one.words, one)
            for anchor in one.anchors:
                self._quoted[anchor.source_id].append(anchor)


def _overlap(anchor: Anchor, other: Anchor) -> float:
    """The overlap of two quotations of a page, as a share of the longer one."""
    common = min(anchor.end, other.end) - max(anchor.start, other.start)
    return max(0, common) / max(anchor.end - anchor.start, other.end - other.start)


NAME = "agreement.pairing"
PROMPTS = (NAME,)
NONE = "none"
_LINE = re.compile(r"\s*(\d{1,6})\s*=\s*(\d{1,6})\s*")


class Pair(ModelReply):
    """Two entries that mean the same, by their numbers."""

    first: int = Field(description="Number of the entry in the first list")
    second: int = Field(description="Number of the entry in the second list")


class Pairs(ModelReply, again="Give the same pairs again."):
    """The pairs that a judge found."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text, with one line for each pair and nothing else: the number in the first list, an equals "
        "sign and the number in the second list, such as 3 = 5. Reply with the one word none if there is no pair."
    )
    pairs: list[Pair] = Field(description="One entry for each pair; empty if there is none")

    @classmethod
    def from_text(cls, text: str) -> Self:
        lines = [] if text.strip().lower() == NONE else [line for line in text.splitlines() if line.strip()]
        result = [_LINE.fullmatch(line) for line in lines]
        if not all(result):
            raise ValueError("a line is not two numbers with an equals sign between them")
        return cls(pairs=[Pair(first=int(match[1]), second=int(match[2])) for match in result if match])


async def paired(question: str, first: Sequence[str], second: Sequence[str], ask: Ask) -> Answer:
    """An answer whose reply is a list of pairs of positions, from 0 and one to one; otherwise its status and cause
    say why not.

    Invalid replies are never repaired: a number outside its list, or used twice, spoils the whole reply.
    """
    listed = [numbered(" ".join(text.split()) for text in texts) for texts in (first, second)]
    fields = {"question": question, "first": listed[0], "second": listed[1]}
    answer = await ask(NAME, fields, Pairs, fenced=tuple(fields))
    if answer.status is not Status.OK:
        return answer
    pairs = [(pair.first, pair.second) for pair in answer.reply.pairs]
    for name, of, numbers in zip(
        ("first", "second"), (first, second), zip(*pairs, strict=True), strict=False
    ):
        if fault := _fault(numbers, len(of)):
            return Answer(Status.INVALID, raw=answer.raw, cause=f"Of the {name} list {fault}.")
    return Answer(Status.OK, [(a - 1, b - 1) for a, b in pairs], answer.raw, flags=answer.flags)


def _fault(numbers: Sequence[int], size: int) -> str:
    strange = [number for number in numbers if not 1 <= number <= size]
    twice = [number for number, times in Counter(numbers).items() if times > 1]
    if strange:
        return f"the reply names number {strange[0]}, and it has {size}"
    return f"the reply uses number {twice[0]} twice" if twice else ""


# The maximum number of sentences of a passage.
WINDOW = 3
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]*_]*\s+|(?<=[。！？])|\n\s*")
# A piece without an end, such as a table in one line, is cut: it would hold the terms of any criterion.
_PIECE = re.compile(r"\S(?:.{0,598}\S)?(?!\w)|\S.{0,599}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Overlap:
    """The share of the wanted terms in the best passage, and its span, half-open [start, end)."""

    share: float
    start: int
    end: int


def best_passage(report: str, unit_terms: frozenset[str]) -> Overlap:
    """The passage of up to three sentences in a row that holds most of the wanted terms.

    Of equal ones the shortest is chosen, then the first. Raises ValueError if there are no terms.
    """
    if not unit_terms:
        raise ValueError("no terms to look for")
    spans, places = _indexed(report)
    # For each sentence with any of the wanted terms, a bit for each term.
    held: dict[int, int] = defaultdict(int)
    for bit, term in enumerate(sorted(unit_terms)):
        for place in places.get(term, ()):
            held[place] |= 1 << bit
    most, length, first = 0, 0, 0
    for start in held:
        mask = 0
        for size in range(1, WINDOW + 1):
            mask |= held.get(start + size - 1, 0)
            if (mask.bit_count(), -size, -start) > (most, -length, -first):
                most, length, first = mask.bit_count(), size, start
    if not most:
        return Overlap(0.0, 0, 0)
    return Overlap(most / len(unit_terms), spans[first][0], spans[first + length - 1][1])


def at_least(threshold: float, met: str, unmet: str) -> Callable[[float, str], tuple[str, str]]:
    """A function from a share of terms to a value and its rationale: one value from the threshold on, another below."""

    def verdict(share: float, _passage: str) -> tuple[str, str]:
        value, sign = (met, "≥") if share >= threshold else (unmet, "<")
        return value, f"baseline: overlap {share:.2f} {sign} {threshold:.2f}"

    return verdict


def by_passage(
    called: str, wanted: str, text: str, value_of: Callable[[float, str], tuple[str, str]], *, unmet: str
) -> Verdict:
    """The verdict on a unit by the share of its terms in a text's best passage; unclear if it has no words.

    `value_of` returns a value and its rationale for a share and a passage, which is quoted unless the value is
    `unmet`.
    """
    sought = terms(wanted)
    if not sought:
        return Verdict(status=Status.UNCLEAR, cause=f"baseline: the {called} has no words to look for")
    best = best_passage(text, sought)
    passage = text[best.start : best.end]
    value, rationale = value_of(best.share, passage)
    if value == unmet:
        return Verdict(value=value, rationale=rationale)
    return Verdict(
        value=value, rationale=rationale, quote=passage, quote_start=best.start, quote_end=best.end
    )


def by_passages(
    case: Case, called: str, value_of: Callable[[float, str], tuple[str, str]], *, unmet: str
) -> dict[str, Verdict]:
    """The verdict on each unit of a case by the report's best passage for it."""
    report = case.response.text
    return {unit.id: by_passage(called, unit.text, report, value_of, unmet=unmet) for unit in case.units}


def pieces(text: str) -> list[tuple[int, int]]:
    """The spans of a text's sentences and lines; long ones are cut."""
    spans: list[tuple[int, int]] = []
    at = 0
    for gap in [*_SENTENCE_END.finditer(text), None]:
        end = gap.start() if gap else len(text)
        spans += [piece.span() for piece in _PIECE.finditer(text, at, end)]
        at = gap.end() if gap else end
    return spans


@lru_cache(maxsize=16)
def _indexed(report: str) -> tuple[list[tuple[int, int]], dict[str, list[int]]]:
    """The spans of a report's sentences and lines, and those in which each term occurs.

    Cached, since all criteria of an item need the same ones.
    """
    spans = pieces(report)
    places = grouped(
        (term, place) for place, (start, end) in enumerate(spans) for term in terms(report[start:end])
    )
    return spans, places
