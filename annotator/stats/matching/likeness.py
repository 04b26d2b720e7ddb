"""Similarity of two wordings: shared stems and character n-grams, weighted by rarity."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import groupby
from unicodedata import category, combining, normalize

from annotator.domain.texts.difference import spaced
from annotator.domain.texts.words import terms, unspaced

Likeness = Callable[[str, str], float]
Features = frozenset[str]
PLACES = 4
# The most that texts can reach that are not equal, such as the same words in another order.
NOT_EQUAL = 0.9999
# Short enough to see through inflexion and compounds: Dämmung der Fassade, Fassadendämmung.
RUN = 3
# Weights are whole numbers: their sum does not depend on the order in which a set gives its members.
WHOLE = 1_000_000
# Canonical combining classes (Unicode 4.3): vowel points of Hebrew, Arabic and Syriac, and marks written above,
# below or through a letter. What lies between and beneath are parts of letters in kana, Indic scripts and Thai.
_POINTS, _ACCENTS = range(10, 37), range(200, 241)
_TATWEEL = "\u0640"
_in_unspaced_script = lru_cache(maxsize=8192)(unspaced)


def likeness(a: str, b: str) -> float:
    """How alike two texts are, in [0, 1] to four places, all features weighing the same; symmetric.

    1 only when they are equal but for case, accents, punctuation, white space and Unicode form; 0 when either says
    nothing, that is, has no letter, digit or sign of mathematics.
    """
    return likeness_among((a,), (b,))(a, b)


def likeness_among(a: Sequence[str], b: Sequence[str]) -> Likeness:
    """The similarity of a text of one list to a text of the other, in [0, 1] to four places; symmetric.

    The mean of two Dice coefficients, 2·Σ shared / (Σ of the one + Σ of the other): that of the terms
    (`domain.words.terms`) and that of the runs of letters. A feature of n texts of one list weighs 1/n, n being
    taken from the list in which it is commoner: the subject that all texts share hardly counts. KeyError for
    a text of neither list.
    """
    by_terms = _Weighted(map(_terms, a), map(_terms, b))
    by_runs = _Weighted(map(_runs, a), map(_runs, b))

    def alike(x: str, y: str) -> float:
        one, other = bare(x), bare(y)
        if one == other or not (one and other):
            return float(one == other != "")
        both = by_terms.dice(_terms(x), _terms(y)) + by_runs.dice(_runs(x), _runs(y))
        return min(round(both / 2, PLACES), NOT_EQUAL)

    return alike


class _Weighted:
    """The weights of the features of two lists of texts."""

    def __init__(self, a: Iterable[Features], b: Iterable[Features]) -> None:
        texts_a, texts_b = list(a), list(b)
        # The greater count of each feature.
        held = Counter(f for text in texts_a for f in text) | Counter(f for text in texts_b for f in text)
        self._weight = {feature: WHOLE // n for feature, n in held.items()}
        self._total = {text: self._sum(text) for text in [*texts_a, *texts_b]}

    def dice(self, x: Features, y: Features) -> float:
        """Twice the weight of what both have over the weight of what each has; 0 when neither has anything."""
        whole = self._total[x] + self._total[y]
        return 2 * self._sum(x & y) / whole if whole else 0.0

    def _sum(self, features: Features) -> int:
        return sum(map(self._weight.__getitem__, features))


@lru_cache(maxsize=4096)
def bare(text: str) -> str:
    """A text's letters, digits and signs of mathematics in one case and form, a space between words."""
    text = normalize("NFKD", normalize("NFKC", text).casefold())
    kept = normalize("NFC", "".join(c for c in text if not _accent(c)))
    return spaced(
        "".join(c if (c.isalnum() or category(c) in ("Sm", "Mn", "Mc")) else " " for c in kept).split()
    )


def _accent(character: str) -> bool:
    place = combining(character)
    return place in _ACCENTS or place in _POINTS or character == _TATWEEL


@lru_cache(maxsize=4096)
def _terms(text: str) -> Features:
    # Vowel signs are no letters to the pattern behind terms, and would cut a Hindi word into pieces.
    return terms("".join(c for c in bare(text) if not category(c).startswith("M")))


@lru_cache(maxsize=4096)
def _runs(text: str) -> Features:
    """Three letters in a row of each word and its edges; single characters in scripts without spaces."""
    runs: set[str] = set()
    for word in bare(text).split():
        for alone, part in groupby(word, _in_unspaced_script):
            edged = f" {''.join(part)} "
            runs |= set(edged[1:-1]) if alone else {edged[i : i + RUN] for i in range(len(edged) - RUN + 1)}
    return frozenset(runs)
