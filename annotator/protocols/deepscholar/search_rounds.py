"""Search of the reference system: rounds of queries, each round told what the ones before it found.

DeepScholar-Bench, §8.5: N rounds of Q queries, with up to search_K works for each.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

from pydantic import Field

from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer, Ask
from annotator.domain.material.work import CatalogueWork
from annotator.protocols.replies import ModelReply
from annotator.protocols.reports import Report

QUERIES, SUMMARY = "deepscholar.queries", "deepscholar.summary"
LONGEST_QUERY = 10
# In characters: what a summary is shown of each abstract.
ABSTRACT = 400
NOTHING_YET = "(nothing yet)"

Search = Callable[[str, int], Awaitable[Sequence[CatalogueWork]]]
"""Looks up so many works for a query, the best first."""


class SearchQueries(ModelReply):
    """The queries that a model wants to be looked up next."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text, one query on each line and nothing else: no numbers, no quotation marks."
    )
    AGAIN: ClassVar[str] = "Give the same queries again."
    TOKENS: ClassVar[int] = 100
    queries: list[str] = Field(min_length=1, max_length=50, description="The queries, the best first")

    @classmethod
    def from_text(cls, text: str) -> Self:
        """One query a line; ValueError when there is none."""
        return cls(queries=[line for line in text.splitlines() if line.strip()])

    @classmethod
    def assumed(cls, fields: Mapping[str, str]) -> Self:
        """What an estimate goes by: as many as were asked for, all new."""
        made = [f"{fields['found'][:9]} {number}" for number in range(int(fields["count"]))]
        return cls(queries=made)

    def worded(self, count: int) -> list[str]:
        """So many of them that differ, each of ten words at most."""
        plain = (" ".join(one.strip(" \"'-*•").split()[:LONGEST_QUERY]) for one in self.queries)
        return list(dict.fromkeys(filter(None, plain)))[:count]


class Summary(Report):
    """What a model sums up of the works that a round found."""

    TEXT_FORM: ClassVar[str] = "Reply with the summary itself."
    AGAIN: ClassVar[str] = "Write the whole summary."
    TOKENS: ClassVar[int] = 600

    @classmethod
    def assumed(cls, _fields: Mapping[str, str]) -> Self:
        """What an estimate goes by: a summary of some 300 tokens."""
        return cls(text="known " * 220)


@dataclass
class SearchRounds:
    """What the rounds found so far: each work once, with its best place in any list, and every query."""

    found: dict[str, CatalogueWork] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    queries: list[str] = field(default_factory=list)
    told: str = NOTHING_YET

    async def ask(self, question: str, count: int, ask: Ask) -> Answer:
        """Have a model name the queries of a round; those already put are not put again."""
        before = "\n".join(self.queries) or NOTHING_YET
        fields = {"question": question, "found": self.told, "asked": before, "count": str(count)}
        answer = await ask(QUERIES, fields, SearchQueries, fenced=("found",))
        if answer.status is Status.OK:
            wanted = answer.reply.worded(count)
            self.queries += (new := [query for query in wanted if query not in self.queries])
            return Answer(Status.OK, new)
        return answer

    async def look_up(self, queries: Sequence[str], per_query: int, search: Search) -> list[CatalogueWork]:
        """Look queries up one after another; the works that were not known before."""
        before = set(self.found)
        for query in queries:
            for place, work in enumerate(await search(query, per_query)):
                self.found.setdefault(work.key, work)
                self.places[work.key] = min(place, self.places.get(work.key, place))
        return [work for key, work in self.found.items() if key not in before]

    async def sum_up(self, question: str, new: Sequence[CatalogueWork], ask: Ask) -> Answer:
        """Have a model sum up what was found last, for the queries of the next round."""
        listed = "\n\n".join(f"{work.title}\n{work.abstract[:ABSTRACT]}".strip() for work in new)
        fields = {"question": question, "found": self.told, "works": listed or NOTHING_YET}
        answer = await ask(SUMMARY, fields, Summary, fenced=("found", "works"))
        if answer.status is Status.OK:
            self.told = answer.reply.text
        return answer

    def ranked(self) -> list[CatalogueWork]:
        """All works in search order: by their best place in any list, of equals the one that was found first."""
        return sorted(self.found.values(), key=lambda work: self.places[work.key])
