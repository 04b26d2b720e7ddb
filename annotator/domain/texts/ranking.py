"""Ranking of texts for a query by the words they share (BM25), offline and the same everywhere."""

from collections import defaultdict
from collections.abc import Iterable
from math import log

from annotator.domain.texts.words import term_counts

# As in most search engines: how soon a repeated word stops counting, and how much a long text is held back.
SATURATION, LENGTH = 1.2, 0.75


class TextRanking:
    """An index of texts; it is built once and asked often."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._holding: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._lengths: list[int] = []
        for place, text in enumerate(texts):
            counts = term_counts(text)
            self._lengths.append(counts.total())
            for term, count in counts.items():
                self._holding[term].append((place, count))
        self._usual = sum(self._lengths) / len(self._lengths) if self._lengths else 0.0

    def ranked(self, query: str) -> list[int]:
        """The places of the texts that share a word with the query, the best first, of equals the earlier."""
        scores: dict[int, float] = defaultdict(float)
        for term in term_counts(query):
            held = self._holding.get(term, ())
            rarity = log(1 + (len(self._lengths) - len(held) + 0.5) / (len(held) + 0.5))
            for place, count in held:
                longer = 1 - LENGTH + LENGTH * self._lengths[place] / self._usual
                scores[place] += rarity * count * (SATURATION + 1) / (count + SATURATION * longer)
        return sorted(scores, key=lambda place: (-scores[place], place))
