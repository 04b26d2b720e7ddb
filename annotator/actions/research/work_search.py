"""Search for the works that a report may rest on: in a collection or arXiv, cut at the day of the item's own paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path

from annotator.actions.items import pages
from annotator.actions.project.file import Project
from annotator.domain.judges.protocol import Material
from annotator.domain.material.page import Page, PageState
from annotator.domain.material.work import CatalogueWork
from annotator.domain.texts.canonical import sha256, storable
from annotator.domain.texts.change import now
from annotator.domain.texts.identifier import normal_title, work_named
from annotator.domain.texts.ranking import TextRanking
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.eprints import collecting
from annotator.exchange.pages.manners import OneTurn


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
        from annotator.exchange.eprints.folder import read_corpus

        corpus = read_corpus(Path(path))
        self.name, self.works = corpus.name, corpus.works

    @cached_property
    def _ranking(self) -> TextRanking:
        """Made when it is first asked: an estimate needs none."""
        return TextRanking(f"{work.title}\n{work.abstract}" for work in self.works)

    async def found(self, query: str, count: int, paper: OwnPaper) -> Sequence[CatalogueWork]:
        """So many works that share words with a query, the best first."""
        return self.nearest(query, count, paper)

    def nearest(self, query: str, count: int, paper: OwnPaper) -> Sequence[CatalogueWork]:
        ranked = (self.works[place] for place in self._ranking.ranked(query))
        return [work for work in ranked if paper.lets_through(work)][:count]

    def most(self, number: int, count: int, paper: OwnPaper) -> Sequence[CatalogueWork]:
        """So many works as the query of a number may find at most, others for each."""
        fitting = [work for work in self.works if paper.lets_through(work)]
        return fitting[number * count : (number + 1) * count]


# As long as arXiv wants to be left alone between two requests.
GAP_S = 3.0


class SearchFailed(Exception):
    """A service did not answer a query; its words say why."""


class ArxivSearch:
    """arXiv, asked once for each query; replies are kept in the project, so that a run can be resumed offline."""

    name = "arXiv"

    def __init__(self, project: Project, api: str = collecting.API, *, allow_private: bool = False) -> None:
        self._project, self._api, self._allow_private = project, api, allow_private
        self._turns = OneTurn(at_once=1, pause_s=GAP_S)

    async def found(self, query: str, count: int, paper: OwnPaper) -> Sequence[CatalogueWork]:
        """So many works as arXiv finds, the best first; SearchFailed when it does not answer."""
        address = collecting.address(self._api, query, count, paper.day)
        kept = pages.page(self._project, address)
        reply = kept.text if kept is not None and kept.text else await self._asked(address)
        return [work for work in collecting.works_of(reply.encode()) if paper.lets_through(work)]

    async def _asked(self, address: str) -> str:
        from annotator.exchange.eprints.collecting import patiently, polite_fetcher

        async with polite_fetcher(self._turns, allow_private=self._allow_private) as fetcher:
            answer, _ = await patiently(fetcher, address)
        if answer.status != 200:
            raise SearchFailed(f"arXiv did not answer: {answer.cause or f'status {answer.status}'}.")
        reply = storable(answer.content.decode("utf-8", "replace"))
        try:
            collecting.works_of(reply.encode())
        except Refusal as refusal:
            raise SearchFailed(refusal.happened) from None
        page = Page(
            url=pages.normal(address), state=PageState.OK, text=reply, final_url=address, fetched_at=now(),
            content_type="application/atom+xml", sha256=sha256(reply),
        )  # fmt: skip
        pages.take_in(self._project, page, "search works")
        return reply

    def most(self, number: int, count: int, _paper: OwnPaper) -> Sequence[CatalogueWork]:
        """Works as long as most, others for each query; arXiv is not asked."""
        names = (f"made {number}.{place}" for place in range(count))
        return [CatalogueWork(name, name, MADE) for name in names]


MADE = "word " * 180
"""As long as an abstract."""
