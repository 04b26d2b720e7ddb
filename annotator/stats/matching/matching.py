"""Alignment of two lists: one to one, by similarity, by key or as references, reproducibly."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from unicodedata import category, combining, normalize

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotator.domain.common import grouped
from annotator.domain.texts.difference import spaced
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.identifier import Identifier, Scheme, different_works, normal_title, work_named
from annotator.domain.texts.words import terms, unspaced

Likeness = Callable[[str, str], float]
Features = frozenset[str]
PLACES = 4
# The maximum similarity of texts that are not equal, such as the same words in another order.
NOT_EQUAL = 0.9999
# Short enough to match across inflexion and compounds: Dämmung der Fassade, Fassadendämmung.
RUN = 3
# Weights are whole numbers: their sum does not depend on the iteration order of a set.
WHOLE = 1_000_000
# Canonical combining classes (Unicode 4.3): vowel points of Hebrew, Arabic and Syriac, and marks written above, below
# or through a letter. The classes between and below are parts of letters in kana, Indic scripts and Thai.
_POINTS, _ACCENTS = range(10, 37), range(200, 241)
_TATWEEL = "\u0640"
_in_unspaced_script = lru_cache(maxsize=8192)(unspaced)


def likeness(a: str, b: str) -> float:
    """The similarity of two texts, in [0, 1] to four places, all features weighing the same; symmetric.

    1 only if they are equal but for case, accents, punctuation, white space and Unicode form; 0 if either has no
    letter, digit or mathematical sign.
    """
    return likeness_among((a,), (b,))(a, b)


def likeness_among(a: Sequence[str], b: Sequence[str]) -> Likeness:
    """The similarity of a text of one list to a text of the other, in [0, 1] to four places; symmetric.

    The mean of two Dice coefficients, 2·Σ shared / (Σ of the one + Σ of the other): that of the terms
    (`domain.texts.words.terms`) and that of the runs of letters. A feature of n texts of one list weighs 1/n, n being
    taken from the list in which it is commoner: the subject that all texts share hardly counts. KeyError for a text
    of neither list.
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
        """Twice the weight of the shared features over the weight of all features of each; 0 if neither has any."""
        whole = self._total[x] + self._total[y]
        return 2 * self._sum(x & y) / whole if whole else 0.0

    def _sum(self, features: Features) -> int:
        return sum(map(self._weight.__getitem__, features))


@lru_cache(maxsize=4096)
def bare(text: str) -> str:
    """A text's letters, digits and mathematical signs in one case and form, a space between words."""
    text = normalize("NFKD", normalize("NFKC", text).casefold())
    letters = normalize("NFC", "".join(c for c in text if not _accent(c)))
    return spaced(
        "".join(c if (c.isalnum() or category(c) in ("Sm", "Mn", "Mc")) else " " for c in letters).split()
    )


def _accent(character: str) -> bool:
    place = combining(character)
    return place in _ACCENTS or place in _POINTS or character == _TATWEEL


@lru_cache(maxsize=4096)
def _terms(text: str) -> Features:
    # Vowel signs are no letters to the pattern behind terms, and would split Hindi words.
    return terms("".join(c for c in bare(text) if not category(c).startswith("M")))


@lru_cache(maxsize=4096)
def _runs(text: str) -> Features:
    """Runs of three letters of each word and its edges; single characters in scripts without spaces."""
    runs: set[str] = set()
    for word in bare(text).split():
        for alone, part in groupby(word, _in_unspaced_script):
            edged = f" {''.join(part)} "
            runs |= set(edged[1:-1]) if alone else {edged[i : i + RUN] for i in range(len(edged) - RUN + 1)}
    return frozenset(runs)


Ints = NDArray[np.int64]
# Stored with every frozen figure. Any change to an alignment (here, or in domain.texts.words.terms) needs a new
# number.
MATCHER = "2"
# At this value some 1 % of the pairs pass (1.0 %; 1.4 % at 0.34, 0.7 % at 0.38) when a public rubric
# (ResearcherBench, 65 rubrics, 931 criteria) is split at random into two lists, no two of whose criteria mean the
# same; within whole rubrics 8 of 6513 pairs pass. Two lists with nothing in common then have an F1 of 0.07 on
# average. Of 56 pairs of paraphrases in seven languages (tests/stats/paraphrases.json) 51 are matched and no wrong
# one; free rewordings with few words in common are missed.
THRESHOLD = 0.36
TITLE_KEY = 20
# Similarities equal to four decimal places are equal.
GRAIN = 10_000
UNREACHED = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Alignment:
    """The aligned positions of two lists, as (position in a, position in b, similarity), and the unaligned ones."""

    pairs: tuple[tuple[int, int, float], ...]
    only_a: tuple[int, ...]
    only_b: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ReferencedWork:
    """The facts that a reference states about a work, as typed."""

    identifier: str
    title: str


def align(
    a: Sequence[str], b: Sequence[str], likeness_of: Likeness | None = None, threshold: float = THRESHOLD
) -> Alignment:
    """The one-to-one pairs of greatest total similarity, none below the threshold.

    Of equal totals the pairs whose positions are nearest to one another are chosen. `align(b, a)` gives the mirrored
    pairs; `likeness_of`, by default `likeness_among(a, b)`, must be symmetric. ValueError unless 0 < threshold ≤ 1.
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"a threshold of {threshold}")
    # Both directions are solved as one, so that remaining ties are resolved alike.
    if (len(a), list(a)) > (len(b), list(b)):
        return _mirrored(align(b, a, likeness_of or likeness_among(a, b), threshold))
    alike = likeness_of or likeness_among(a, b)
    table = [[alike(x, y) for y in b] for x in a]
    chosen = _heaviest(_worth(table, threshold)) if a and b else []
    return _alignment(((i, j, table[i][j]) for i, j in chosen), len(a), len(b))


def align_by_key(a: Sequence[Hashable], b: Sequence[Hashable]) -> Alignment:
    """The pairs of equal keys; repeated keys are paired in order, the first with the first. None is no key."""
    return _aligned_by((a,), (b,))


def align_references(a: Sequence[ReferencedWork], b: Sequence[ReferencedWork]) -> Alignment:
    """The references to the same work (ADRA, retrieval), one to one and in this order of evidence.

    Equal DOI; equal arXiv id without its version; equal first 20 characters of the normalised title, or equal titles
    if one is shorter, unless two DOIs or two arXiv ids say that they are different works.
    """
    of_a, of_b = _identifiers(a), _identifiers(b)
    named = _aligned_by(
        (_of_scheme(of_a, "doi"), _of_scheme(of_a, "arxiv")),
        (_of_scheme(of_b, "doi"), _of_scheme(of_b, "arxiv")),
    )
    pairs = {i: j for i, j, _ in named.pairs}
    taken = set(pairs.values())
    # The first with the first, from either list: in this order no two pairs that overlap are equal.
    for i, j in sorted(alike_by_title(a, b), key=lambda pair: (sum(pair), min(pair))):
        if i not in pairs and j not in taken and not different_works(of_a[i], of_b[j]):
            pairs[i] = j
            taken.add(j)
    return _alignment(((i, j, 1.0) for i, j in pairs.items()), len(a), len(b))


def alike_by_title(a: Sequence[ReferencedWork], b: Sequence[ReferencedWork]) -> list[tuple[int, int]]:
    """The positions of works that their titles do not distinguish."""
    places = grouped((normal_title(work.title)[:TITLE_KEY], j) for j, work in enumerate(b))
    keys = [normal_title(work.title)[:TITLE_KEY] for work in a]
    return [(i, j) for i, key in enumerate(keys) if key for j in places.get(key, ())]


def _identifiers(works: Sequence[ReferencedWork]) -> list[Identifier | None]:
    return [work_named(work.identifier) for work in works]


def _of_scheme(identifiers: Sequence[Identifier | None], scheme: Scheme) -> list[str | None]:
    return [
        identifier.value if identifier and identifier.scheme == scheme else None for identifier in identifiers
    ]


def _aligned_by(a: Sequence[Sequence[Hashable]], b: Sequence[Sequence[Hashable]]) -> Alignment:
    """The pairs of equal keys of the first kind, then of the next among the rest, and so on."""
    pairs: dict[int, int] = {}
    for keys_a, keys_b in zip(a, b, strict=True):
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        taken = set(pairs.values())
        for j, key in enumerate(keys_b):
            if key is not None and j not in taken:
                waiting[key].append(j)
        for i, key in enumerate(keys_a):
            if i not in pairs and waiting.get(key):
                pairs[i] = waiting[key].popleft()
    return _alignment(((i, j, 1.0) for i, j in pairs.items()), len(a[0]), len(b[0]))


def match_f1(alignment: Alignment, n_a: int, n_b: int) -> Estimate:
    """2 · matched / (units of a + units of b); undefined if both lists are empty.

    ValueError if the alignment is not of lists of these lengths.
    """
    matched = _matched(alignment, n_a, n_b)
    return _share(
        2 * matched, n_a + n_b, "F1 of matched units: 2 · matched / (units of A + units of B)", alignment
    )


def jaccard(alignment: Alignment, n_a: int, n_b: int) -> Estimate:
    """Matched / (units of a + units of b − matched); undefined and ValueError as for `match_f1`."""
    matched = _matched(alignment, n_a, n_b)
    return _share(
        matched, n_a + n_b - matched, "Jaccard index: matched / (matched + only A + only B)", alignment
    )


def _matched(alignment: Alignment, n_a: int, n_b: int) -> int:
    matched = len(alignment.pairs)
    if (n_a, n_b) != (matched + len(alignment.only_a), matched + len(alignment.only_b)):
        raise ValueError(f"not an alignment of {n_a} units with {n_b}")
    return matched


def _share(part: int, whole: int, method: str, alignment: Alignment) -> Estimate:
    if not whole:
        return Estimate(None, method=method, note="both lists are empty")
    a, b = len(alignment.only_a), len(alignment.only_b)
    note = f"{len(alignment.pairs):,} matched, {a:,} only in A, {b:,} only in B"
    return Estimate(part / whole, n=whole, method=method, note=note)


def maximum_matching(matrix: ArrayLike) -> int:
    """The size of a maximum one-to-one matching in a matrix (rows × columns) of relevant or not (ADRA, planning).

    ValueError if the rows differ in length.
    """
    return len(maximum_pairs(matrix))


def maximum_pairs(matrix: ArrayLike) -> list[tuple[int, int]]:
    """The (row, column) pairs of a maximum matching, by row; ValueError if the rows differ in length."""
    relevant = np.asarray(matrix, dtype=np.bool_)
    if not relevant.size:
        return []
    if relevant.ndim != 2:
        raise ValueError("a matrix is rows × columns")
    upright = relevant.shape[0] <= relevant.shape[1]
    result = _heaviest((relevant if upright else relevant.T).astype(np.int64))
    return sorted(result if upright else ((row, column) for column, row in result))


def _alignment(pairs: Iterable[tuple[int, int, float]], n_a: int, n_b: int) -> Alignment:
    ordered = tuple(sorted(pairs))
    rows, columns = {i for i, _, _ in ordered}, {j for _, j, _ in ordered}
    only_a = tuple(i for i in range(n_a) if i not in rows)
    return Alignment(ordered, only_a, tuple(j for j in range(n_b) if j not in columns))


def _mirrored(alignment: Alignment) -> Alignment:
    pairs = tuple(sorted((j, i, alike) for i, j, alike in alignment.pairs))
    return Alignment(pairs, alignment.only_b, alignment.only_a)


def _worth(table: list[list[float]], threshold: float) -> Ints:
    """The weight of each pair as a whole number: similarity first, then nearness; 0 below the threshold."""
    alike = np.asarray(table)
    rows, columns = np.indices(alike.shape)
    # The sum of all squared distances is less than one grain of similarity.
    grain = len(alike) * max(alike.shape) ** 2 + 1
    worth = np.maximum(np.rint(alike * GRAIN), 1).astype(np.int64) * grain - (rows - columns) ** 2
    return np.where(alike >= threshold, worth, 0)


def _heaviest(worth: Ints) -> list[tuple[int, int]]:
    """The pairs of the heaviest assignment in `worth` (rows ≤ columns, whole numbers ≥ 0), without those of weight 0.

    The Hungarian algorithm with potentials: each row in turn finds its shortest augmenting path.
    """
    rows, columns = worth.shape
    of_row, of_column = np.zeros(rows, np.int64), np.zeros(columns, np.int64)
    row_of = np.full(columns, -1)
    for row in range(rows):
        _augment(-worth, of_row, of_column, row_of, row)
    return [(int(i), j) for j, i in enumerate(row_of) if i >= 0 and worth[i, j] > 0]


def _augment(cost: Ints, of_row: Ints, of_column: Ints, row_of: Ints, row: int) -> None:
    """Assign one more row a column by the shortest path of reduced costs, and update the potentials in place."""
    length = np.full(len(row_of), UNREACHED)
    open_, came_from = np.ones(len(row_of), np.bool_), np.full(len(row_of), -1)
    here, at, far = row, -1, 0
    while here >= 0:
        through = far + cost[here] - of_row[here] - of_column
        nearer = open_ & (through < length)
        length[nearer], came_from[nearer] = through[nearer], at
        at = int(np.where(open_, length, UNREACHED).argmin())
        far = int(length[at])
        open_[at] = False
        here = int(row_of[at])
    closed = np.flatnonzero(~open_ & (row_of >= 0))
    of_row[row] += far
    of_row[row_of[closed]] += far - length[closed]
    of_column[closed] -= far - length[closed]
    while at >= 0:
        before = int(came_from[at])
        row_of[at] = row_of[before] if before >= 0 else row
        at = before
