"""Search for the works that a report may rest on: in a collection, cut at the day of the item's own paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path

from annotator.domain.judges.protocol import Material
from annotator.domain.material.work import CatalogueWork
from annotator.domain.texts.identifier import normal_title, work_named
from annotator.domain.texts.ranking import TextRanking
from annotator.exchange.formats import corpora


@dataclass(frozen=True, slots=True)
class OwnPaper:
    """The paper of an item, by all that it is known by, and the day before which other works must have appeared."""

    keys: frozenset[str] = frozenset()
    day: date | None = None

    @classmethod
    def of(cls, material: Material) -> "OwnPaper":
        """The item's sources that have an identifier are its own paper; the earliest of their days counts."""
        known = [source for source in material.sources if source.identifier]
        addresses = [material.item.key, *(source.identifier for source in known)]
        keys = {str(named) for one in addresses if (named := work_named(one)) is not None}
        keys |= {f"title {normal_title(source.title)}" for source in known}
        # Of a month or a year that is known alone, its first day.
        days = [date.fromisoformat(f"{one.published}-01-01"[:10]) for one in known if one.published]
        return cls(frozenset(keys), min(days, default=None))

    def lets_through(self, work: CatalogueWork) -> bool:
        """Whether a work is another one, and certainly older."""
        own = {work.key, f"title {normal_title(work.title)}"} & self.keys
        return not own and (self.day is None or work.is_older(self.day))


class CorpusSearch:
    """A collection of works that is asked by their words."""

    def __init__(self, path: str) -> None:
        corpus = corpora.read(Path(path))
        self.name, self.works = corpus.name, corpus.works

    @cached_property
    def _ranking(self) -> TextRanking:
        """Made when it is first asked: an estimate needs none."""
        return TextRanking(f"{work.title}\n{work.abstract}" for work in self.works)

    def found(self, query: str, count: int, paper: OwnPaper) -> Sequence[CatalogueWork]:
        """So many works that share words with a query, the best first."""
        ranked = (self.works[place] for place in self._ranking.ranked(query))
        return [work for work in ranked if paper.lets_through(work)][:count]

    def most(self, number: int, count: int, paper: OwnPaper) -> Sequence[CatalogueWork]:
        """So many works as the query of a number may find at most, others for each."""
        fitting = [work for work in self.works if paper.lets_through(work)]
        return fitting[number * count : (number + 1) * count]


MADE = "word " * 180
"""As long as an abstract."""


def like_any(number: int, count: int) -> Sequence[CatalogueWork]:
    """Works as a search over a network might find them, as long as most, others for each query."""
    return [CatalogueWork(f"made {number}.{place}", f"made {number}.{place}", MADE) for place in range(count)]
