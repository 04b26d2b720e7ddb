"""Checks of a text that apply to every kind of artifact."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from annotator.domain.kinds.artifact import Unit
from annotator.domain.kinds.finding import Finding, warning
from annotator.domain.kinds.question_types import BAR
from annotator.domain.kinds.weights import USUAL, Weights
from annotator.domain.texts.words import latin, likeness, terms, unspaced, word_count

# Of the 6 513 pairs of criteria inside the public rubrics of ResearcherBench, one in a hundred shares a third of its
# terms; two pairs share one half, and both say a thing twice.
ALIKE = 0.5
# Short texts share half their terms easily: below four shared terms they must share nearly all.
ALIKE_TERMS = 4
ALIKE_SHORT = 0.8
ECHO = 0.7
_FUNCTION_WORDS = "the of and to with for that how by are is as from its on or"
_ENGLISH = frozenset(_FUNCTION_WORDS.split())
_WORD = re.compile(r"[A-Za-z]+")
_QUESTION = re.compile(r"[?？؟]\s*$")
_HAN_OR_KANA = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
# A Chinese or Japanese text takes between one and two characters where English takes a word.
CHARACTERS_PER_WORD = 2


@dataclass(frozen=True, slots=True)
class Context:
    """What checks may use beside the document; English checks are silent unless `english`.

    `exemplar` tells whether the item has one.
    """

    question: str = ""
    source_text: str = ""
    english: bool = True
    weights: Weights = USUAL
    bar: float = BAR
    exemplar: bool = False


def english(language: str, texts: Iterable[str]) -> bool:
    """Whether texts said to be in `language` (BCP 47) may be held to English rules.

    A forgotten language setting must not nag: a text of eight words or more must hold English function words.
    """
    text = " ".join(texts)
    if not language.lower().startswith("en") or not latin(text):
        return False
    words = _WORD.findall(text.lower())
    return len(words) < 8 or sum(word in _ENGLISH for word in words) >= 0.08 * len(words)


def phrases(*alternatives: str) -> re.Pattern[str]:
    """A pattern that finds any of the alternatives as whole words, whatever their case."""
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b", re.IGNORECASE)


def marked(
    rule: str, pattern: re.Pattern[str], units: Sequence[Unit], message: str, advice: str
) -> Iterator[Finding]:
    """A warning for each unit in which the pattern is found; `message` may show what was `{found}`."""
    for unit in units:
        if found := pattern.search(unit.text):
            yield warning(rule, message.replace("{found}", found.group().strip()), advice, unit.id)


def questions(units: Sequence[Unit], advice: str) -> Iterator[Finding]:
    """A warning on each unit that asks instead of stating."""
    yield from marked("question", _QUESTION, units, "This is a question.", advice)


def near_duplicates(units: Sequence[Unit], noun: str, bar: float = ALIKE) -> Iterator[Finding]:
    """A warning on each unit that is much like an earlier one: from the likeness of the `bar` on."""
    numbered = [(number, unit, terms(unit.text)) for number, unit in enumerate(units, start=1)]
    warned = set()
    for (first, a, terms_a), (_, b, terms_b) in combinations(numbered, 2):
        if b.id in warned or not _alike(a.text, b.text, terms_a, terms_b, bar):
            continue
        warned.add(b.id)
        yield warning(
            "near-duplicate",
            f"This is very similar to {noun} {first}.",
            "Merge the two, or make the difference clear.",
            b.id,
        )


def _alike(a: str, b: str, terms_a: frozenset[str], terms_b: frozenset[str], bar: float) -> bool:
    bar = bar if len(terms_a & terms_b) >= ALIKE_TERMS else ALIKE_SHORT
    return likeness(terms_a, terms_b) >= bar or a.strip() == b.strip()


def echoes(units: Sequence[Unit], question: str) -> Iterator[Finding]:
    """A warning on each unit that says little more than the question."""
    asked = terms(question)
    for unit in units:
        if likeness(terms(unit.text), asked) >= ECHO:
            yield warning(
                "echo", "This repeats the question.", "State what the answer must contain.", unit.id
            )


def word_band(unit: Unit, least: int, most: int, norm: str = "the guideline asks for") -> Iterator[Finding]:
    """A warning when the text is shorter or longer than the band, with room to spare where words are not spaced.

    Thai, Lao, Burmese and Khmer are let through: their words cannot be counted without a dictionary.
    """
    counted = "words"
    if unspaced(unit.text):
        if not _HAN_OR_KANA.search(unit.text):
            return
        most, counted = most * CHARACTERS_PER_WORD, "characters"
    count = word_count(unit.text)
    if not least <= count <= most:
        advice = "Write a little more." if count < least else "Shorten it, or split it."
        yield warning("length", f"{count} {counted}; {norm} {least} to {most}.", advice, unit.id)


def count_band(units: Sequence[Unit], least: int, most: int, noun: str) -> Iterator[Finding]:
    """A warning when there are fewer or more units than the guideline asks for."""
    if not least <= len(units) <= most:
        yield warning(
            "count",
            f"{len(units):,} {noun}; the guideline asks for {least} to {most}.",
            "Add what is missing." if len(units) < least else "Merge or drop the least important.",
        )
