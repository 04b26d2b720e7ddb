"""The baseline's reading: words shared by a criterion and the best passage of a report, offline."""

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from annotator.domain.judges.judgement import Status, Verdict
from annotator.domain.judges.protocol import Case
from annotator.domain.texts.words import terms

# Sentences that may make up one passage.
WINDOW = 3
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]*_]*\s+|(?<=[。！？])|\n\s*")
# What never ends, such as a table in one line, is cut: it would hold the terms of any criterion.
_PIECE = re.compile(r"\S(?:.{0,598}\S)?(?!\w)|\S.{0,599}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Overlap:
    """The share of the wanted terms that the best passage holds, and where it stands, half-open [start, end)."""

    share: float
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Index:
    """Where a report's sentences stand, and in which of them each term occurs."""

    spans: tuple[tuple[int, int], ...]
    places: dict[str, list[int]]


def best_passage(report: str, wanted: frozenset[str]) -> Overlap:
    """The passage of up to three sentences in a row that holds most of the wanted terms.

    Of equals the shortest is taken, then the first. Raises ValueError when nothing is wanted.
    """
    if not wanted:
        raise ValueError("no terms to look for")
    index = _indexed(report)
    held = _held(index, sorted(wanted))
    most, length, first = 0, 0, 0
    for start in held:
        mask = 0
        for size in range(1, WINDOW + 1):
            mask |= held.get(start + size - 1, 0)
            if (mask.bit_count(), -size, -start) > (most, -length, -first):
                most, length, first = mask.bit_count(), size, start
    if not most:
        return Overlap(0.0, 0, 0)
    return Overlap(most / len(wanted), index.spans[first][0], index.spans[first + length - 1][1])


def at_least(threshold: float, met: str, unmet: str) -> Callable[[float, str], tuple[str, str]]:
    """What a share of terms says: one value from a threshold on, another below, and why."""

    def said(share: float, _passage: str) -> tuple[str, str]:
        value, sign = (met, "≥") if share >= threshold else (unmet, "<")
        return value, f"baseline: overlap {share:.2f} {sign} {threshold:.2f}"

    return said


def by_passage(
    called: str, wanted: str, text: str, said: Callable[[float, str], tuple[str, str]], *, unmet: str
) -> Verdict:
    """The verdict on a unit by the share of its terms in a text's best passage; unclear where it has no words.

    `said` gives a value and its rationale for a share and a passage, which is quoted unless the value is `unmet`.
    """
    sought = terms(wanted)
    if not sought:
        return Verdict(status=Status.UNCLEAR, cause=f"baseline: the {called} has no words to look for")
    best = best_passage(text, sought)
    passage = text[best.start : best.end]
    value, rationale = said(best.share, passage)
    if value == unmet:
        return Verdict(value=value, rationale=rationale)
    return Verdict(
        value=value, rationale=rationale, quote=passage, quote_start=best.start, quote_end=best.end
    )


def by_passages(
    case: Case, called: str, said: Callable[[float, str], tuple[str, str]], *, unmet: str
) -> dict[str, Verdict]:
    """The verdict on each unit of a case by the report's best passage for it."""
    report = case.response.text
    return {unit.id: by_passage(called, unit.text, report, said, unmet=unmet) for unit in case.units}


def _held(index: _Index, wanted: list[str]) -> dict[int, int]:
    """For each sentence that holds any of the wanted terms, a bit for each that it holds."""
    held: dict[int, int] = defaultdict(int)
    for bit, term in enumerate(wanted):
        for place in index.places.get(term, ()):
            held[place] |= 1 << bit
    return held


def pieces(text: str) -> list[tuple[int, int]]:
    """The places of a text's sentences and lines; what is too long for one is cut."""
    spans: list[tuple[int, int]] = []
    at = 0
    for gap in [*_SENTENCE_END.finditer(text), None]:
        end = gap.start() if gap else len(text)
        spans += [piece.span() for piece in _PIECE.finditer(text, at, end)]
        at = gap.end() if gap else end
    return spans


@lru_cache(maxsize=16)
def _indexed(report: str) -> _Index:
    """A report cut into sentences and lines; kept, since all criteria of an item ask for the same ones."""
    spans = pieces(report)
    places: dict[str, list[int]] = defaultdict(list)
    for place, (start, end) in enumerate(spans):
        for term in terms(report[start:end]):
            places[term].append(place)
    return _Index(tuple(spans), dict(places))
