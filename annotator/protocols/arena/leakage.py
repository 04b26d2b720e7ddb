"""Leakage: whether systems given the first half of a task write the second, as if they had seen it before.

DeepResearch Arena, appendix A and Table 4.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt
from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import Field

from annotator.domain.common import grouped
from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer, Ask, Metric, Protocol, RatedResponse
from annotator.domain.material.item import CONTINUATION, Item
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.several import ModelReply

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# The first half of a task, given to a model to continue, and the half held back. DeepResearch Arena, appendix A:
# whether a model that gets the first half of a task writes the second.

PROMPT = "respond.continuation"
PARAMETERS = '{"temperature": 0.1, "max_tokens": 500}'
NO_MARK = "The task has no punctuation mark between its words."
_MARK = re.compile(r"[.,;:!?…。，、；：！？．､｡]")
_SPLIT_WORD = re.compile(r"\w")


class Continuation(ModelReply, plain=True, ends_at_cap=True, again="Continue the text.", tokens=500):
    """What a model writes after a prefix, as it came."""

    TEXT_FORM: ClassVar[str] = "Reply with the words that follow, and nothing else."
    text: str = Field(min_length=1)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The reply itself; ValueError if it is empty."""
        if not text.strip():
            raise ValueError("the continuation is empty")
        return cls(text=text)


def split(task: str) -> tuple[str, str] | None:
    """Prefix and suffix at the mark nearest the middle, with which the suffix begins; of two equally near the first.

    None if no mark has words on either side.
    """
    words = [result.start() for result in _SPLIT_WORD.finditer(task)]
    inner = (
        result.start() for result in _MARK.finditer(task) if words and words[0] < result.start() < words[-1]
    )
    place = min(inner, key=lambda at: abs(at - len(task) / 2), default=None)
    return None if place is None else (task[:place], task[place:])


async def ask_to_continue(item: Item, ask: Ask) -> Answer:
    """A model's continuation of the first half of a task."""
    halves = split(item.question)
    if halves is None:
        return Answer(Status.SKIPPED, cause=NO_MARK)
    return await ask(PROMPT, {"prefix": halves[0]}, Continuation)


# An apostrophe or a hyphen joins the parts on either side: only so does the paper's sample have its 14 words.
_WORD = re.compile(r"\w+(?:['’‐-]\w+)*")
# Compiled on first use: that takes longer than the rest of the module.
_UNSPACED = r"[\u0e00-\u1fff\u2e80-\uffff\U00020000-\U0003ffff]"
THRESHOLD = 0.7
STRING, TFIDF, OVERLAP = 0.4, 0.4, 0.2
# So many words in a row are hardly chance.
LONG_RUN = 10

NAME = "arena.leakage"
NOTHING = "no continuation to compare"
DEPARTURES = (
    "As printed, a continuation is compared whole. A suffix that is repeated word for word and then continues for more "
    "than six times its length stays below .7 and is never found. So a second reading compares what is as long as the "
    f"suffix, and marks {LONG_RUN} words in a row besides.",
    "A task is split at a full stop, comma, colon, semicolon, question or exclamation mark, Chinese ones among them, "
    "with words on either side; the paper says punctuation, and splits its own sample at a blank. Of two marks as near "
    "the middle the first is taken.",
    "Words are joined by hyphens and apostrophes, as the paper's sample needs; what is written without spaces is "
    "parted by Unicode's rules. The vocabulary of TF-IDF, which the paper calls fixed, is that of all suffixes "
    "compared, with smoothed idf.",
    "Leaked is a composite strictly above .7, as in Eq. 15; the prose says at or above.",
    "The model is told to continue the text, at temperature .1 with 500 tokens at most; the paper sends the prefix "
    "alone, and its sample answers the task. The reply is kept as it came. A refusal is no continuation.",
)
OF_EACH = "The mean over a system's continuations (DeepResearch Arena, appendix A.2). Undefined without one."


@dataclass(frozen=True, slots=True)
class Likeness:
    """The three similarities of a continuation to a suffix, each from 0 to 1."""

    string: float
    tfidf: float
    overlap: float

    @property
    def composite(self) -> float:
        """Eq. 14, without the rounding of binary fractions."""
        return round(STRING * self.string + TFIDF * self.tfidf + OVERLAP * self.overlap, 12)

    @property
    def leaked(self) -> bool:
        """Eq. 15: strictly above the threshold."""
        return self.composite > THRESHOLD


@lru_cache(maxsize=1024)
def words(text: str) -> tuple[str, ...]:
    """The words of a text in lower case; text without spaces is split by Unicode's rules."""
    return tuple(part for word in _WORD.findall(text.casefold()) for part in _parted(word))


def _parted(word: str) -> Iterable[str]:
    if not re.search(_UNSPACED, word):
        return (word,)
    from uniseg.wordbreak import words as parted

    return (part for part in parted(word) if _WORD.fullmatch(part))


@lru_cache(maxsize=4096)
def string_similarity(a: str, b: str) -> float:
    """Eq. 11: 2 · LCS / (|a| + |b|) over characters; 0 for two empty texts."""
    return 2 * longest_common_subsequence(a, b) / (len(a) + len(b)) if a or b else 0.0


def longest_common_subsequence(a: str, b: str) -> int:
    """The length of the LCS; each bit of one integer stands for a character of `a`, 0 once it is matched (Hyyrö
    2004).
    """
    places: dict[str, int] = {}
    for place, letter in enumerate(a):
        places[letter] = places.get(letter, 0) | 1 << place
    full = open_ = (1 << len(a)) - 1
    for letter in b:
        met = open_ & places.get(letter, 0)
        open_ = ((open_ + met) | (open_ - met)) & full
    return len(a) - open_.bit_count()


def overlap(candidate: str, reference: str) -> float:
    """Eq. 13: the share of the reference's distinct words that are in the candidate; 0 if it has none."""
    reference_words = set(words(reference))
    return len(reference_words & set(words(candidate))) / len(reference_words) if reference_words else 0.0


def longest_run(a: str, b: str) -> int:
    """The length of the longest run of words that two texts share."""
    places = grouped((word, place) for place, word in enumerate(words(a)))
    before, most = dict[int, int](), 0
    for word in words(b):
        before = {place: before.get(place - 1, 0) + 1 for place in places.get(word, ())}
        most = max(most, *before.values(), 0)
    return most


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The inverse document frequency of each word of some texts: ln((1 + n) / (1 + df)) + 1."""

    weights: Mapping[str, float]

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Vocabulary":
        """The vocabulary of these texts; equal texts count once."""
        counts = Counter(word for text in set(texts) for word in set(words(text)))
        n = len(set(texts))
        return cls({word: log((1 + n) / (1 + many)) + 1 for word, many in counts.items()})

    def cosine(self, a: str, b: str) -> float:
        """Eq. 12, over words of this vocabulary; 0 if one of the texts has none."""
        one, other = self._vector(a), self._vector(b)
        product = sum(weight * other.get(word, 0.0) for word, weight in one.items())
        length = sqrt(sum(w * w for w in one.values()) * sum(w * w for w in other.values()))
        return min(product / length, 1.0) if length else 0.0

    def _vector(self, text: str) -> dict[str, float]:
        return {
            word: many * self.weights[word]
            for word, many in Counter(words(text)).items()
            if word in self.weights
        }


def likeness(candidate: str, reference: str, vocabulary: Vocabulary) -> Likeness:
    return Likeness(
        string_similarity(candidate, reference),
        vocabulary.cosine(candidate, reference),
        overlap(candidate, reference),
    )


@dataclass(frozen=True, slots=True)
class ComparedContinuation:
    """A continuation and the suffix compared: whole, cut to the suffix's length, and the longest run of
    common words.
    """

    scored: RatedResponse
    whole: Likeness
    cut: Likeness
    run: int

    @property
    def marked(self) -> bool:
        """Whether it should be reviewed, by our reading."""
        return self.cut.leaked or self.run >= LONG_RUN


def compared(
    pool: Sequence[RatedResponse], vocabulary: Vocabulary | None = None
) -> list[ComparedContinuation | None]:
    """Each continuation of a pool, in its order; None if the task cannot be split.

    Words are weighted by the vocabulary, by default that of the pool.
    """
    halves = [split(response.material.item.question) for response in pool]
    known = vocabulary or _vocabulary(pool)
    return [
        None if half is None else _compared(response, half[1], known)
        for response, half in zip(pool, halves, strict=True)
    ]


def _vocabulary(pool: Sequence[RatedResponse]) -> Vocabulary:
    halves = map(split, dict.fromkeys(response.material.item.question for response in pool))
    return Vocabulary.of([half[1] for half in halves if half is not None])


def _compared(scored: RatedResponse, suffix: str, vocabulary: Vocabulary) -> ComparedContinuation:
    text = scored.material.response.text
    return ComparedContinuation(
        scored,
        likeness(text, suffix, vocabulary),
        likeness(text[: len(suffix)], suffix, vocabulary),
        longest_run(text, suffix),
    )


Reading = Callable[[ComparedContinuation], float]


def _metric(
    name: str, title: str, definition: str, of: Reading, vocabulary: Vocabulary | None = None
) -> Metric:
    def pooled(pool: Sequence[RatedResponse], _: bool) -> Estimate:
        known = [of(continuation) for continuation in compared(pool, vocabulary) if continuation is not None]
        if not known:
            return Estimate(None, method=title, note=NOTHING)
        value, out = sum(known) / len(known), len(pool) - len(known)
        note = f"{out:,} of {len(pool):,} left out: the task cannot be split" if out else ""
        return Estimate(value, n=len(known), floor=value, ceiling=value, method=title, note=note)

    def fitted(everything: Sequence[RatedResponse]) -> Metric:
        """The same metric with one vocabulary for all systems and groups."""
        return _metric(name, title, definition, of, _vocabulary(everything))

    def draws(pool: Sequence[RatedResponse], _: bool, times: "NDArray[np.float64]") -> "NDArray[np.float64]":
        """The mean of every draw."""
        from annotator.stats.intervals.clustered import rates

        result = compared(pool, vocabulary)
        values = [0.0 if continuation is None else of(continuation) for continuation in result]
        return rates(values, [continuation is not None for continuation in result], times)

    return Metric(
        f"leakage.{name}",
        title,
        f"{definition} {OF_EACH}",
        higher_is_better=False,
        pooled=pooled,
        resampled=draws,
        fitted=None if vocabulary else fitted,
    )


METRICS = (
    _metric(
        "leaked",
        "Leaked, as printed",
        "The share of continuations whose composite similarity to the half held back is above .7 (Eq. 15).",
        lambda one: float(one.whole.leaked),
    ),
    _metric(
        "composite",
        "Composite similarity",
        "`.4 · string + .4 · TF-IDF + .2 · overlap` (Eq. 14).",
        lambda one: one.whole.composite,
    ),
    _metric(
        "string",
        "String similarity",
        "`2 · LCS / (|a| + |b|)` over characters (Eq. 11), LCS the longest common subsequence.",
        lambda one: one.whole.string,
    ),
    _metric(
        "tfidf",
        "TF-IDF similarity",
        "The cosine of TF-IDF vectors of words (Eq. 12).",
        lambda one: one.whole.tfidf,
    ),
    _metric(
        "overlap",
        "Word overlap",
        "The share of the suffix's different words that the continuation has (Eq. 13).",
        lambda one: one.whole.overlap,
    ),
    _metric(
        "marked",
        "Marked as leaked",
        "The share of continuations that, cut to the suffix's length, come above .7, or have "
        f"{LONG_RUN} words in a row in common with it. Ours.",
        lambda one: float(one.marked),
    ),
    _metric(
        "composite_cut",
        "Composite similarity, cut",
        "The composite of continuations cut to the suffix's length. Ours.",
        lambda one: one.cut.composite,
    ),
)

LEAKAGE = Protocol(
    name=NAME,
    title="Whether tasks were known before",
    citation="DeepResearch Arena, appendix A and Table 4",
    needs=(),
    metrics=METRICS,
    mode=CONTINUATION,
    departures=DEPARTURES,
)
