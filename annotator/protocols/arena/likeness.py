"""How alike a continuation and the half that was held back are: by letters, by words, and by words in a row.

DeepResearch Arena, appendix A.2, Eqs. 11 to 15.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt

# An apostrophe or a hyphen joins what stands on either side: only so has the paper's sample its 14 words.
_WORD = re.compile(r"\w+(?:['’‐-]\w+)*")
# Made ready where it is first looked for: that takes longer than all else of the module.
_UNSPACED = r"[\u0e00-\u1fff\u2e80-\uffff\U00020000-\U0003ffff]"
THRESHOLD = 0.7
STRING, TFIDF, OVERLAP = 0.4, 0.4, 0.2
# As many words in a row are hardly chance.
LONG_RUN = 10


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


def words(text: str) -> list[str]:
    """The words of a text in lower case; what is written without spaces is parted by Unicode's rules."""
    return [part for word in _WORD.findall(text.casefold()) for part in _parted(word)]


def _parted(word: str) -> Iterable[str]:
    if not re.search(_UNSPACED, word):
        return (word,)
    from uniseg.wordbreak import words as parted

    return (part for part in parted(word) if _WORD.fullmatch(part))


@lru_cache(maxsize=4096)
def string_similarity(a: str, b: str) -> float:
    """Eq. 11: 2 · LCS / (|a| + |b|) over characters; 0 of two empty texts."""
    return 2 * longest_common_subsequence(a, b) / (len(a) + len(b)) if a or b else 0.0


def longest_common_subsequence(a: str, b: str) -> int:
    """Its length; each bit of one integer stands for a character of `a`, 0 once it is matched (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for place, letter in enumerate(a):
        places[letter] = places.get(letter, 0) | 1 << place
    full = open_ = (1 << len(a)) - 1
    for letter in b:
        met = open_ & places.get(letter, 0)
        open_ = ((open_ + met) | (open_ - met)) & full
    return len(a) - open_.bit_count()


def overlap(found: str, reference: str) -> float:
    """Eq. 13: the share of the different words of the reference that are found; 0 where it has none."""
    wanted = set(words(reference))
    return len(wanted & set(words(found))) / len(wanted) if wanted else 0.0


def longest_run(a: str, b: str) -> int:
    """The most words that two texts have in common in a row."""
    first, most = words(a), 0
    before: dict[int, int] = {}
    places: dict[str, list[int]] = {}
    for place, word in enumerate(first):
        places.setdefault(word, []).append(place)
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
        """That of these texts, each of which counts once."""
        counts = Counter(word for text in set(texts) for word in set(words(text)))
        n = len(set(texts))
        return cls({word: log((1 + n) / (1 + many)) + 1 for word, many in counts.items()})

    def cosine(self, a: str, b: str) -> float:
        """Eq. 12: of what two texts hold of this vocabulary; 0 where one of them holds nothing."""
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


def likeness(found: str, reference: str, vocabulary: Vocabulary) -> Likeness:
    """How alike a continuation and the suffix are."""
    return Likeness(
        string_similarity(found, reference), vocabulary.cosine(found, reference), overlap(found, reference)
    )
