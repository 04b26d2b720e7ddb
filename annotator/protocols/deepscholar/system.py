"""Reference system of DeepScholar-Bench: search, filter, rank and write, over an `Ask`; and a baseline without one.

DeepScholar-Bench, §8.5: DeepScholar-base; the oracle settings, Table 5.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from random import Random
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from annotator.domain.common import sha256
from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer, Ask, Material, NoReply
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.material.item import END_TO_END, CatalogueWork, PageState
from annotator.domain.texts.identifier import work_named
from annotator.protocols.reports import Report
from annotator.protocols.several import ModelReply, ValueReply, Word

HEADING = "## References"
# A formula or a piece of code, which may hold numbers in brackets of its own; or a mark, with a link if it has one.
_MARK = re.compile(
    r"(?P<other>\$[^$\n]+\$|`[^`\n]+`)|(?P<before>[ \t]?)\[(?P<numbers>\d+(?:\s*[,;–-]\s*\d+)*)\](?:\(\S*?\))?"
)
_NUMBER = re.compile(r"(\d+)(?:\s*[–-]\s*(\d+))?")
_OWN_LIST = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*)?\**(?:References|Bibliography)\**:?\**[ \t]*$", re.IGNORECASE | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class NumberedSection:
    """A section with its list of references; `removed` counts the numbers that referred to no given work."""

    text: str
    works: tuple[CatalogueWork, ...]
    removed: int = 0

    def references(self) -> Evidence:
        """The works of its list, each with its mark in the note."""
        units = [
            Reference(text=work.title[:20_000], note=f"[{number}]", identifier=_address(work))
            for number, work in enumerate(self.works, start=1)
        ]
        return Evidence(units=tuple(units))


def numbered(written: str, works: Sequence[CatalogueWork]) -> NumberedSection:
    """The section as the model wrote it, with its marks checked and the list of all given works below it.

    A list by the model itself is left out.
    """
    body, removed = _OWN_LIST.split(written, maxsplit=1)[0].strip(), 0

    def checked(mark: re.Match[str]) -> str:
        nonlocal removed
        if mark["other"]:
            return mark[0]
        named = list(_numbers(mark["numbers"]))
        right = [number for number in named if 1 <= number <= len(works)]
        removed += len(named) - len(right)
        return f"{mark['before']}[{', '.join(map(str, right))}]" if right else ""

    text = _MARK.sub(checked, body)
    listed = [f"[{number}] {_entry(work)}" for number, work in enumerate(works, start=1)]
    return NumberedSection("\n\n".join([text, HEADING, *listed]), tuple(works), removed)


def _numbers(reply: str) -> Iterator[int]:
    """The numbers of a mark; only the ends of a range that is wider than any list."""
    for result in _NUMBER.finditer(reply):
        first, last = int(result[1][:9]), int((result[2] or result[1])[:9])
        yield from range(first, last + 1) if 0 <= last - first < 1_000 else dict.fromkeys((first, last))


def _entry(work: CatalogueWork) -> str:
    parts = (work.authors, work.title, work.published[:4], _address(work))
    return ". ".join(part.rstrip(".") for part in parts if part)


def _address(work: CatalogueWork) -> str:
    """Its identifier in the usual form: arXiv:2401.00001, a DOI, an address."""
    named = work_named(work.identifier)
    if named is None:
        return work.identifier
    return f"arXiv:{named.value}" if named.scheme == "arxiv" else str(named)


FILTER, COMPARE, NOTES, SECTION = (
    "deepscholar.filter",
    "deepscholar.compare",
    "deepscholar.notes",
    "deepscholar.section",
)
# In characters: as many works as fit are shown in one call.
LONGEST_WORKS = 120_000
_YES, _FIRST = "yes", "first"


class RelevantWork(ValueReply, value="relevant", tokens=80):
    """What a model replies about one work."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The first line must be yes or no and nothing else. On the next line give your reason in "
        "one sentence."
    )
    rationale: str = Field(description="Why, in one sentence")
    relevant: Annotated[Literal["yes", "no"], Word] = Field(description="yes or no")

    @classmethod
    def assumed(cls, _fields: Mapping[str, str]) -> Self:
        """The reply that an estimate assumes: every work is kept."""
        return cls.model_validate({"relevant": _YES, "rationale": ""})


class BetterWork(ValueReply, value="better", tokens=80):
    """What a model replies about two works."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The first line must be first or second and nothing else. On the next line give your "
        "reason in one sentence."
    )
    rationale: str = Field(description="Why, in one sentence")
    better: Annotated[Literal["first", "second"], Word] = Field(description="first or second")

    @classmethod
    def assumed(cls, fields: Mapping[str, str]) -> Self:
        side = ("first", "second")[int(sha256("/".join(fields.values()))[:2], 16) % 2]
        return cls.model_validate({"better": side, "rationale": ""})


class Notes(Report, again="Write the whole notes.", tokens=1_500):
    """What a model notes of some works before it writes about all of them."""

    TEXT_FORM: ClassVar[str] = "Reply with the notes themselves."

    @classmethod
    def assumed(cls, _fields: Mapping[str, str]) -> Self:
        """The reply that an estimate assumes: notes of some 1,000 tokens."""
        return cls(text="note " * 800)


class SectionText(Report, again="Write the whole section.", tokens=3_000):
    """The section as the model wrote it."""

    TEXT_FORM: ClassVar[str] = "Reply with the section itself, in Markdown."

    @classmethod
    def assumed(cls, _fields: Mapping[str, str]) -> Self:
        return cls(text="Section.")


@dataclass(frozen=True, slots=True)
class FilteredWorks:
    """The works that an operator selected, in its order; `unanswered` counts the missing verdicts."""

    works: tuple[CatalogueWork, ...]
    unanswered: int = 0


async def filtered(question: str, works: Sequence[CatalogueWork], ask: Ask) -> FilteredWorks:
    """The works that a model says belong to the task.

    Those without a verdict are asked about once more; a work still without one is kept.
    """

    async def verdict(work: CatalogueWork) -> str:
        fields = {"question": question, "title": work.title, "abstract": work.abstract}
        answer = await ask(FILTER, fields, RelevantWork, fenced=("title", "abstract"))
        return answer.reply.relevant if answer.status is Status.OK else ""

    verdicts = dict(zip(works, await together(map(verdict, works)), strict=True))
    aside = [work for work, word in verdicts.items() if not word]
    verdicts |= dict(zip(aside, await together(map(verdict, aside)), strict=True))
    catalogue_works = tuple(work for work in works if verdicts[work] in (_YES, ""))
    return FilteredWorks(catalogue_works, sum(not word for word in verdicts.values()))


async def top(
    question: str, works: Sequence[CatalogueWork], count: int, ask: Ask, seed: str
) -> FilteredWorks:
    """The `count` works that a model prefers, given in search order; nothing is asked if all fit.

    Quickselect: each round compares every work with one pivot, chosen by the seed. A missing comparison is decided by
    the search order.
    """
    left, catalogue_works, draw, unanswered = list(works), list[CatalogueWork](), Random(seed), 0
    while len(left) > count - len(catalogue_works) > 0:
        pivot = left.pop(draw.randrange(len(left)))
        place = {work: number for number, work in enumerate(works)}
        outcomes = await together(_beats(question, work, pivot, ask, seed) for work in left)
        unanswered += outcomes.count(None)
        wins = [
            place[work] < place[pivot] if word is None else word
            for work, word in zip(left, outcomes, strict=True)
        ]
        above = [work for work, won in zip(left, wins, strict=True) if won]
        if len(above) >= count - len(catalogue_works):
            left = above
        else:
            catalogue_works += [*above, pivot]
            left = [work for work, won in zip(left, wins, strict=True) if not won]
    return FilteredWorks(tuple(catalogue_works + left[: count - len(catalogue_works)]), unanswered)


async def _beats(
    question: str, work: CatalogueWork, pivot: CatalogueWork, ask: Ask, seed: str
) -> bool | None:
    """Whether a work is preferred to the pivot, which is shown first at random; None if there is no verdict."""
    swapped = Random(f"{seed}/{work.key}/{pivot.key}").random() < 0.5
    first, second = (pivot, work) if swapped else (work, pivot)
    fields = {"question": question, "first": described(first), "second": described(second)}
    answer = await ask(COMPARE, fields, BetterWork, fenced=("first", "second"))
    return None if answer.status is not Status.OK else (answer.reply.better == _FIRST) is not swapped


async def aggregated(
    question: str, works: Sequence[CatalogueWork], length: str, ask: Ask, room: int = LONGEST_WORKS
) -> Answer:
    """A section on numbered works, in one call if they fit; else from notes, taken chunk by chunk.

    If the model says that the whole was too long, it is asked for notes of halves. An answer without a reply is that
    of the call that failed.
    """
    descriptions = [f"[{number}] {described(work)}" for number, work in enumerate(works, start=1)]
    chunks = _chunks(descriptions, room)
    if len(chunks) == 1:
        answer = await _section(question, descriptions, length, ask)
        if answer.status is not Status.TOO_LONG or len(descriptions) < 2:
            return answer
        chunks = [descriptions[: len(descriptions) // 2], descriptions[len(descriptions) // 2 :]]
    fields = [{"question": question, "works": "\n\n".join(chunk)} for chunk in chunks]
    notes = await together(ask(NOTES, each, Notes, fenced=("works",)) for each in fields)
    failed = next((answer for answer in notes if answer.status is not Status.OK), None)
    return failed or await _section(question, [answer.reply.text for answer in notes], length, ask)


async def _section(question: str, descriptions: Sequence[str], length: str, ask: Ask) -> Answer:
    fields = {"question": question, "works": "\n\n".join(descriptions), "length": length}
    return await ask(SECTION, fields, SectionText, fenced=("works",))


def _chunks(descriptions: Iterable[str], room: int) -> list[list[str]]:
    """The works in their order, in chunks of as many as there is room for."""
    chunks: list[list[str]] = []
    left = 0
    for one in descriptions:
        if len(one) > left:
            chunks.append([])
            left = room
        chunks[-1].append(one)
        left -= len(one)
    return chunks


def described(work: CatalogueWork) -> str:
    """A work as shown to a model: its title, and its abstract if known."""
    return f"{work.title}\n{work.abstract}".strip()


async def together(awaitables: Iterable[Awaitable[Any]]) -> list[Any]:
    """The results of parallel calls, in their order; the first error ends them all."""
    tasks = [asyncio.ensure_future(awaitable) for awaitable in awaitables]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


QUERIES, SUMMARY = "deepscholar.queries", "deepscholar.summary"
LONGEST_QUERY = 10
# In characters: the part of each abstract that is summarised.
ABSTRACT = 400
NOTHING_YET = "(nothing yet)"

# Looks up so many works for a query, the best first.
SearchRound = Callable[[str, int], Awaitable[Sequence[CatalogueWork]]]


class SearchQueries(ModelReply, again="Give the same queries again.", tokens=100):
    """The queries that a model wants to be looked up next."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text, one query on each line and nothing else: no numbers, no quotation marks."
    )
    queries: list[str] = Field(min_length=1, max_length=50, description="The queries, the best first")

    @classmethod
    def from_text(cls, text: str) -> Self:
        """One query a line; ValueError if there is none."""
        return cls(queries=[line for line in text.splitlines() if line.strip()])

    @classmethod
    def assumed(cls, fields: Mapping[str, str]) -> Self:
        """The reply that an estimate assumes: as many queries as were asked for, all new."""
        return cls(queries=[f"{fields['found'][:9]} {number}" for number in range(int(fields["count"]))])

    def worded(self, count: int) -> list[str]:
        """At most `count` distinct queries, each of ten words at most."""
        plain = (" ".join(query.strip(" \"'-*•").split()[:LONGEST_QUERY]) for query in self.queries)
        return list(dict.fromkeys(filter(None, plain)))[:count]


class Summary(Report, again="Write the whole summary.", tokens=600):
    """What a model sums up of the works that a round found."""

    TEXT_FORM: ClassVar[str] = "Reply with the summary itself."

    @classmethod
    def assumed(cls, _fields: Mapping[str, str]) -> Self:
        """The reply that an estimate assumes: a summary of some 300 tokens."""
        return cls(text="known " * 220)


@dataclass
class SearchRounds:
    """The results of the rounds so far: each work once, with its best position in any list, and every query."""

    works: dict[str, CatalogueWork] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    queries: list[str] = field(default_factory=list)
    summary: str = NOTHING_YET

    async def ask(self, question: str, count: int, ask: Ask) -> list[str]:
        """The queries of a round, as a model names them, without those already used; `NoReply` if it names none."""
        before = "\n".join(self.queries) or NOTHING_YET
        fields = {"question": question, "found": self.summary, "asked": before, "count": str(count)}
        answer = await ask(QUERIES, fields, SearchQueries, fenced=("found",))
        new = [query for query in answer.needed().worded(count) if query not in self.queries]
        self.queries += new
        return new

    async def look_up(
        self, queries: Sequence[str], per_query: int, search: SearchRound
    ) -> list[CatalogueWork]:
        """Look queries up one after another; returns the works that were not known before."""
        before = set(self.works)
        for query in queries:
            for place, work in enumerate(await search(query, per_query)):
                self.works.setdefault(work.key, work)
                self.places[work.key] = min(place, self.places.get(work.key, place))
        return [work for key, work in self.works.items() if key not in before]

    async def sum_up(self, question: str, new: Sequence[CatalogueWork], ask: Ask) -> None:
        """Have a model summarise the latest works, for the queries of the next round; `NoReply` if it does not."""
        listed = "\n\n".join(f"{work.title}\n{work.abstract[:ABSTRACT]}".strip() for work in new)
        fields = {"question": question, "found": self.summary, "works": listed or NOTHING_YET}
        answer = await ask(SUMMARY, fields, Summary, fenced=("found", "works"))
        self.summary = answer.needed().text

    def ranked(self) -> list[CatalogueWork]:
        """All works in search order: by their best position in any list, equal ones in the order of discovery."""
        return sorted(self.works.values(), key=lambda work: self.places[work.key])


CITATION = "DeepScholar-Bench, §8.5"
Search = SearchRound
# The modes in which the important references are given, by the name of the option.
ORACLES = {"arxiv": "oracle-arxiv", "all": "oracle-all"}
GIVEN = (NOTES, SECTION)
PROMPTS = (QUERIES, SUMMARY, FILTER, COMPARE, *GIVEN)
NO_IMPORTANCE = "Nobody has said which references of this item are important."
NONE_IMPORTANT = "No reference of this item that could be given is important."
NONE_FOUND = "The search found no work that is old enough."
NONE_KEPT = "No work that was found passed the filter."
DIFFERENCES = (
    "One model does every step; the paper filters and ranks with a weaker one.",
    "A work without a verdict is asked about once more and then kept, and a comparison without one goes by the search "
    "order; both are counted. LOTUS keeps and prefers silently what it cannot read.",
    "Pivots of the ranking are drawn by a seed, so that a run can be repeated.",
    "A round is summed up from the titles and the beginnings of the abstracts.",
    "Its length is the task's: 600 words at most in the released one; the paper's own prompt asks for 1,500 to 2,000.",
    "All works that were given to the writer stand in its list of references, whether it cites them or not.",
)


@dataclass(frozen=True, slots=True)
class SystemSettings:
    """Settings of the system: rounds of search, queries in each, works per query and for the writer, and length.

    With an `oracle` the important references are given, and nothing is searched. Without `words` the task decides the
    length.
    """

    rounds: int = 2
    queries: int = 2
    per_query: int = 50
    keep: int = 30
    words: int = 0
    oracle: str = ""

    @property
    def mode(self) -> str:
        return ORACLES.get(self.oracle, END_TO_END)

    @property
    def prompts(self) -> tuple[str, ...]:
        return GIVEN if self.oracle else PROMPTS

    @property
    def length(self) -> str:
        """The instruction to the writer about the section's length."""
        return f"Write about {self.words} words." if self.words else "Keep to the length that the task says."


@dataclass(frozen=True, slots=True)
class WrittenSection:
    """A section, and the number of works after each step; None for a step that was not taken."""

    section: NumberedSection
    found: int | None = None
    kept: int | None = None
    unfiltered: int = 0
    unranked: int = 0

    def counts(self) -> dict[str, int | None]:
        return {
            "found": self.found, "filtered": self.kept, "given": len(self.section.works),
            "kept_without_verdict": self.unfiltered, "ranked_without_verdict": self.unranked,
            "numbers_removed": self.section.removed,
        }  # fmt: skip


# Marks the beginning and end of a step by its name.
Step = Callable[[str], AbstractContextManager[object]]


async def written(
    question: str, settings: SystemSettings, search: Search, ask: Ask, step: Step, seed: str
) -> WrittenSection | Answer:
    """A section from the results of a search; an answer without a reply if there is none."""
    try:
        result = await _search(question, settings, search, ask, step)
    except NoReply as end:
        return end.answer
    if not result:
        return Answer(Status.SKIPPED, cause=NONE_FOUND)
    with step("filter"):
        works = await filtered(question, result, ask)
    if not works.works:
        return Answer(Status.SKIPPED, cause=NONE_KEPT)
    with step("top-k"):
        best = await top(question, works.works, settings.keep, ask, seed)
    made = await section_on(question, best.works, settings, ask, step)
    if isinstance(made, Answer):
        return made
    return WrittenSection(made.section, len(result), len(works.works), works.unanswered, best.unanswered)


async def section_on(
    question: str, works: Iterable[CatalogueWork], settings: SystemSettings, ask: Ask, step: Step
) -> WrittenSection | Answer:
    given = list(works)
    with step("aggregate"):
        answer = await aggregated(question, given, settings.length, ask)
    if answer.status is not Status.OK:
        return answer
    return WrittenSection(numbered(answer.reply.text, given))


async def _search(
    question: str, settings: SystemSettings, search: Search, ask: Ask, step: Step
) -> list[CatalogueWork]:
    rounds = SearchRounds()
    for number in range(1, settings.rounds + 1):
        with step(f"queries {number}"):
            queries = await rounds.ask(question, settings.queries, ask)
        with step(f"search {number}"):
            new = await rounds.look_up(queries, settings.per_query, search)
        if number < settings.rounds:
            with step(f"summary {number}"):
                await rounds.sum_up(question, new, ask)
    return rounds.ranked()


def important_works(material: Material, oracle: str) -> list[CatalogueWork] | str:
    """The item's important references, those on arXiv or all, each once with its abstract; else why there are none."""
    units: tuple[Reference, ...] = material.units(Kind.EVIDENCE)
    if not any(unit.importance for unit in units):
        return NO_IMPORTANCE
    chosen = [unit for unit in units if unit.importance == "important"]
    result = {work.key: work for work in (_work(unit, material) for unit in chosen)}
    return [
        work for work in result.values() if oracle != "arxiv" or work.key.startswith("arxiv:")
    ] or NONE_IMPORTANT


def _work(unit: Reference, material: Material) -> CatalogueWork:
    page = material.pages.get(str(work_named(unit.identifier)))
    abstract = page.text.strip() if page is not None and page.state is PageState.OK else ""
    title = unit.text or (page.title if page else "") or unit.identifier
    return CatalogueWork(unit.identifier, title, abstract, str(unit.year or ""), unit.authors)


_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z“(])")


def baseline(works: Iterable[CatalogueWork]) -> WrittenSection:
    """A section without any model: of each work its title and the first sentence of its abstract."""
    given = list(works)
    lines = [f"{_SENTENCE.split(work.abstract or work.title, 1)[0].strip()} [{number}]"
             for number, work in enumerate(given, start=1)]  # fmt: skip
    return WrittenSection(numbered("\n\n".join(["## Related work", *lines]), given))
