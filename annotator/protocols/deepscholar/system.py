"""Reference system of DeepScholar-Bench: search, filter, rank and write, over an `Ask`; and a baseline without one.

DeepScholar-Bench, §8.5: DeepScholar-base; the oracle settings, Table 5.
"""

import re
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer, Ask, Material
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Reference
from annotator.domain.material.page import PageState
from annotator.domain.material.response import END_TO_END
from annotator.domain.material.work import CatalogueWork
from annotator.domain.texts.identifier import work_named
from annotator.protocols.deepscholar import operators, search_rounds
from annotator.protocols.deepscholar.numbered import NumberedSection, numbered
from annotator.protocols.deepscholar.search_rounds import SearchRounds

CITATION = "DeepScholar-Bench, §8.5"
Search = search_rounds.Search
ORACLES = {"arxiv": "oracle-arxiv", "all": "oracle-all"}
"""The modes in which the important references are given, by how one asks for them."""
GIVEN = (operators.NOTES, operators.SECTION)
PROMPTS = (search_rounds.QUERIES, search_rounds.SUMMARY, operators.FILTER, operators.COMPARE, *GIVEN)
NOT_SAID = "Nobody has said which references of this item are important."
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
    """How the system works: rounds of search, queries in each, works for a query and for the writer, and length.

    With an `oracle` the important references are given, and nothing is searched. No `words` leave length to the task.
    """

    rounds: int = 2
    queries: int = 2
    per_query: int = 50
    keep: int = 30
    words: int = 0
    oracle: str = ""

    @property
    def mode(self) -> str:
        """The mode of its reports."""
        return ORACLES.get(self.oracle, END_TO_END)

    @property
    def prompts(self) -> tuple[str, ...]:
        """The prompts it may use."""
        return GIVEN if self.oracle else PROMPTS

    @property
    def length(self) -> str:
        """How long the section is to be, as its writer is told."""
        return f"Write about {self.words} words." if self.words else "Keep to the length that the task says."


@dataclass(frozen=True, slots=True)
class WrittenSection:
    """A section, and how many works each step left; None for a step that was not taken."""

    section: NumberedSection
    found: int | None = None
    kept: int | None = None
    unfiltered: int = 0
    unranked: int = 0

    def counts(self) -> dict[str, int | None]:
        """The counts by name."""
        return {
            "found": self.found, "filtered": self.kept, "given": len(self.section.works),
            "kept_without_verdict": self.unfiltered, "ranked_without_verdict": self.unranked,
            "numbers_removed": self.section.removed,
        }  # fmt: skip


Step = Callable[[str], AbstractContextManager[object]]
"""What is told of each step as it begins and ends, by its name."""


async def written(
    question: str, settings: SystemSettings, search: Search, ask: Ask, step: Step, seed: str
) -> WrittenSection | Answer:
    """A section from what a search finds; an answer without a reply where it came to nothing."""
    found = await _found(question, settings, search, ask, step)
    if isinstance(found, Answer):
        return found
    if not found:
        return Answer(Status.SKIPPED, cause=NONE_FOUND)
    with step("filter"):
        kept = await operators.filtered(question, found, ask)
    if not kept.works:
        return Answer(Status.SKIPPED, cause=NONE_KEPT)
    with step("top-k"):
        best = await operators.top(question, kept.works, settings.keep, ask, seed)
    made = await section_on(question, best.works, settings, ask, step)
    if isinstance(made, Answer):
        return made
    return WrittenSection(made.section, len(found), len(kept.works), kept.unanswered, best.unanswered)


async def section_on(
    question: str, works: Iterable[CatalogueWork], settings: SystemSettings, ask: Ask, step: Step
) -> WrittenSection | Answer:
    """A section on works that are given."""
    given = list(works)
    with step("aggregate"):
        answer = await operators.aggregated(question, given, settings.length, ask)
    if answer.status is not Status.OK:
        return answer
    return WrittenSection(numbered(answer.reply.text, given))


async def _found(
    question: str, settings: SystemSettings, search: Search, ask: Ask, step: Step
) -> list[CatalogueWork] | Answer:
    rounds = SearchRounds()
    for number in range(1, settings.rounds + 1):
        with step(f"queries {number}"):
            answer = await rounds.ask(question, settings.queries, ask)
        if answer.status is not Status.OK:
            return answer
        with step(f"search {number}"):
            new = await rounds.look_up(answer.reply, settings.per_query, search)
        if number < settings.rounds:
            with step(f"summary {number}"):
                answer = await rounds.sum_up(question, new, ask)
            if answer.status is not Status.OK:
                return answer
    return rounds.ranked()


def important_works(material: Material, oracle: str) -> list[CatalogueWork] | str:
    """The item's important references, those on arXiv or all, each once with its abstract; else why there are none."""
    units: tuple[Reference, ...] = material.units(Kind.EVIDENCE)
    if not any(unit.importance for unit in units):
        return NOT_SAID
    chosen = [unit for unit in units if unit.importance == "important"]
    found = {work.key: work for work in (_work(unit, material) for unit in chosen)}
    return [
        work for work in found.values() if oracle != "arxiv" or work.key.startswith("arxiv:")
    ] or NONE_IMPORTANT


def _work(unit: Reference, material: Material) -> CatalogueWork:
    named = work_named(unit.identifier)
    page = material.pages.get(str(named))
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
