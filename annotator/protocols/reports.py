"""Asking a model for a report: freely, along a plan, or from given evidence."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Self

from pydantic import Field

from annotator.domain.judges.protocol import Answer, Ask, CitedSource, Material
from annotator.domain.kinds.artifact import Anchor, Kind
from annotator.domain.kinds.evidence import Reference
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.item import Item, PageState, Source
from annotator.domain.material.transcript import of_source
from annotator.domain.texts import identifier
from annotator.domain.texts.difference import find
from annotator.domain.texts.words import terms, word_count
from annotator.protocols.citations import has_list
from annotator.protocols.profiles import CONDITIONS, Condition
from annotator.protocols.several import ModelReply, numbered

PLAN, REPORT, PLANNED, GROUNDED = "respond.plan", "respond.report", "respond.planned", "respond.grounded"
UNTIL = "Rest the report on what was published by {day} only, and name no work that appeared later."
# In characters, over all works that are given with their text.
CITATION = "ADRA, §3 and §5.5"
LONGEST_EVIDENCE = 200_000
CUT = "\n[… the rest is left out]"


# So many tokens are some ten pages with their references.
class Report(ModelReply, plain=True, again="Write the whole report.", tokens=8_000, longest=2_000_000):
    """A report as it came: Markdown and nothing else."""

    TEXT_FORM: ClassVar[str] = "Reply with the report itself, in Markdown."
    text: str = Field(min_length=1)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The report, without a code fence around the whole of it; ValueError if nothing is left."""
        fenced = _FENCED.fullmatch(text)
        text = (fenced[1] if fenced else text).strip()
        if not text:
            raise ValueError("the report is empty")
        return cls(text=text)

    def with_sources(self, sources: Sequence[CitedSource]) -> Self:
        """The same with a list of the sources that the server named beside it, unless it has a list of its own."""
        if has_list(self.text):
            return self
        lines = (
            " ".join(
                filter(
                    None,
                    (
                        f"- [{source.number}]" if source.number else "-",
                        source.title and f"{source.title}.",
                        source.url,
                    ),
                )
            )
            for source in sources
        )
        return type(self)(text="\n".join([f"{self.text.rstrip()}\n\n## References\n", *lines]))


_FENCED = re.compile(r"```(?:markdown|md)?[ \t]*\n((?:(?!```).)*)\n```", re.DOTALL | re.IGNORECASE)


class Subtasks(ModelReply, again="Give the same plan again."):
    """A plan as the model made it."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text, one line for each sub-task in its order and nothing else."
    )
    subtasks: list[str] = Field(min_length=1, max_length=30, description="The sub-tasks in their order")

    @classmethod
    def from_text(cls, text: str) -> Self:
        """One sub-task a line, without its number or dash; ValueError if there is none."""
        return cls(subtasks=[_MARK.sub("", line) for line in text.splitlines() if line.strip()])


_MARK = re.compile(r"^\s*(?:\(?\d{1,2}[.):]|[-*•–])\s+")


def question_of(item: Item, cutoff: date | None) -> str:
    """The question as asked, with the last date of publication that counts, if there is one."""
    return f"{item.question}\n\n{UNTIL.format(day=cutoff.isoformat())}" if cutoff else item.question


async def ask_for_plan(item: Item, ask: Ask, cutoff: date | None = None) -> tuple[Answer, Plan | None]:
    """The plan that a model makes for an item before it writes; None if there is no reply to take it from."""
    answer = await ask(PLAN, {"question": question_of(item, cutoff)}, Subtasks)
    steps = [" ".join(text.split()) for text in answer.reply.subtasks] if answer.reply else []
    plan = Plan(units=tuple(Subtask(text=text) for text in steps if text))
    return answer, plan if plan.units else None


async def ask_for_report(
    item: Item, ask: Ask, plan: Plan | None = None, evidence: str = "", condition: Condition = CONDITIONS[0],
    cutoff: date | None = None,
) -> Answer:  # fmt: skip
    """A model's report on an item: along a plan if given, and then also from evidence if that is given too.

    Question and plan are instructions to the model: neither is fenced. The evidence is foreign text.
    """
    fields = {"question": question_of(item, cutoff)}
    if plan is None:
        return await ask(condition.prompt(REPORT), fields, Report)
    fields["plan"] = numbered(step.text for step in plan.units)
    if not evidence:
        return await ask(condition.prompt(PLANNED), fields, Report)
    return await ask(
        condition.prompt(GROUNDED), fields | {"evidence": evidence}, Report, fenced=("evidence",)
    )


def evidence_of(material: Material) -> str:
    """An item's gold evidence, work by work, each with its text if available; empty if there is none.

    A text is available if a cited page was read at the work's identifier, or the work is a source of the item.
    """
    works: list[Reference] = [work for work in material.units(Kind.EVIDENCE) if work.text or work.identifier]
    texts = [next((text.strip() for text in _texts_of(work, material) if text.strip()), "") for work in works]
    room = LONGEST_EVIDENCE // max(1, sum(map(bool, texts)))
    return "\n\n".join(
        "\n\n".join([f"[{number}] {_named(work)}", *([_within(text, room)] if text else [])])
        for number, (work, text) in enumerate(zip(works, texts, strict=True), start=1)
    )


def _named(work: Reference) -> str:
    parts = (work.text, work.authors, str(work.year or ""), work.identifier)
    return ". ".join(part for part in parts if part)


def _texts_of(work: Reference, material: Material) -> Iterator[str]:
    named = identifier.work_named(work.identifier)
    for source in material.sources:
        if (named and identifier.work_named(source.identifier) == named) or (
            work.text and source.title and identifier.same_title(work.text, source.title)
        ):
            yield source.text
    page = material.pages.get(str(named)) if named else None
    if page is not None and page.state is PageState.OK:
        yield page.text


def _within(text: str, room: int) -> str:
    return text if len(text) <= room else text[:room] + CUT


# In characters: the maximum shown to a judge, some 15 000 tokens of English; and of one passage.
LONGEST_SHOWN = 60_000
PASSAGE = 1200
OMISSION = "\n[…]\n"
_PASSAGE = re.compile(rf"\S(?:.{{0,{PASSAGE - 2}}}\S)?(?=\s|$)|\S.{{0,{PASSAGE - 1}}}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """An excerpt of a text, and the lengths of both in characters."""

    text: str
    shown: int
    whole: int

    @property
    def cut(self) -> bool:
        return self.shown < self.whole

    @property
    def extent(self) -> str:
        """The shown part in words for the reader."""
        if not self.cut:
            return "It is given whole."
        return (
            f"It is too long to be given whole: of {self.whole:,} characters {self.shown:,} are shown, the passages "
            "that are nearest in wording to what is asked. […] stands where something was left out."
        )


def excerpt(text: str, wanted: Sequence[str], longest: int = LONGEST_SHOWN) -> Excerpt:
    """The text, or if it is too long its beginning and the passages most similar to each of `wanted`.

    Passages are chosen for each in turn, best first, until no more fit; they stay in the text's order.
    """
    if len(text) <= longest:
        return Excerpt(text, len(text), len(text))
    spans = [match.span() for match in _PASSAGE.finditer(text)]
    held = [terms(text[start:end]) for start, end in spans]
    chosen: set[int] = set()
    room = longest
    for place in _in_turn(held, [terms(what) for what in wanted]):
        cost = spans[place][1] - spans[place][0] + len(OMISSION)
        if place not in chosen and cost <= room:
            chosen.add(place)
            room -= cost
    return Excerpt(
        _joined(text, spans, sorted(chosen)), sum(spans[i][1] - spans[i][0] for i in chosen), len(text)
    )


def _in_turn(held: list[frozenset[str]], queries: list[frozenset[str]]) -> list[int]:
    """The passages in the order of selection: the first, the best for each query, the second best for each …"""
    times = Counter(term for passage in held for term in passage)
    worth = [[sum(1 / times[t] for t in passage & sought) for passage in held] for sought in queries]
    ranked = [sorted(range(len(held)), key=lambda i, row=row: (-row[i], i)) for row in worth]  # type: ignore[misc]
    return [*range(len(held[:1])), *(place for round_ in zip(*ranked, strict=True) for place in round_)]


def _joined(text: str, spans: list[tuple[int, int]], chosen: list[int]) -> str:
    pieces: list[str] = []
    for before, place in zip([-1, *chosen], chosen, strict=False):
        pieces += [OMISSION if place != before + 1 else "\n" if pieces else "", text[slice(*spans[place])]]
    return "".join(pieces) + (OMISSION if chosen and chosen[-1] < len(spans) - 1 else "")


NO_SOURCE = "The item has no source with text."
# In characters, over all sources; a transcript of some four hours, a paper of some sixty pages.
LONGEST_SOURCES = 200_000
# The maximum span of a quote in the source, which includes the addresses of links.
LONGEST_QUOTED = 20_000

_SENTENCE = re.compile(r"[^\s.!?。！？](?:[^.!?。！？\n]|[.!?](?!\s|$))*[.!?。！？]?")
_FEWEST_WORDS, _LONGEST = 6, 1000


def sentences(sources: Sequence[Source]) -> Iterator[tuple[Source, int, int]]:
    """The whole sentences of sources, neither short nor endless, with their offsets."""
    for source in sources:
        for match in _SENTENCE.finditer(source.text):
            if (
                match[0][-1] in ".!?。！？"
                and len(match[0]) <= _LONGEST
                and word_count(match[0]) >= _FEWEST_WORDS
            ):
                yield source, *match.span()


def with_text(material: Material) -> list[Source]:
    return [source for source in material.sources if source.text.strip() and not source.drafted]


def excerpt_of(sources: Sequence[Source], question: str) -> Excerpt:
    """The sources one after the other, each under its title; if too long, reduced to passages similar to the
    question.
    """
    text = "\n\n".join(f"Source {n}: {source.title}\n\n{source.text}" for n, source in enumerate(sources, 1))
    return excerpt(text, [question], LONGEST_SOURCES)


def anchored(sources: Sequence[Source], quote: str, begin: int = 0) -> Anchor | None:
    """The anchor of a quote in the first source that contains it, preferably from offset `begin` on; None if none
    does.
    """
    for source in sources:
        span = find(source.text[begin:], quote) if begin else None
        span = (span[0] + begin, span[1] + begin) if span else find(source.text, quote)
        if span:
            return placed(source, span[0], min(span[1], span[0] + LONGEST_QUOTED))
    return None


def placed(source: Source, start: int, end: int) -> Anchor:
    """An anchor at a span of a source, with the time when it was said."""
    result = of_source(source)
    return Anchor.at(source.text, start, end, source.id, result.time_at(start) if result else "")
