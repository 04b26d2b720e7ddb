"""Asking a model for a report: freely, along a plan, or from given evidence."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Self

from pydantic import Field

from annotator.domain.judges.protocol import Answer, Ask, CitedSource, Material
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Reference
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.item import Item
from annotator.domain.material.page import PageState
from annotator.domain.texts import identifier
from annotator.protocols.reference_lists import has_list
from annotator.protocols.replies import ModelReply
from annotator.protocols.several import numbered

PLAN, REPORT, PLANNED, GROUNDED = "respond.plan", "respond.report", "respond.planned", "respond.grounded"
UNTIL = "Rest the report on what was published by {day} only, and name no work that appeared later."
# In characters, over all works that are given with their text.
CITATION = "ADRA, §3 and §5.5"
LONGEST_EVIDENCE = 200_000
CUT = "\n[… the rest is left out]"


@dataclass(frozen=True, slots=True)
class Condition:
    """Under what a model writes: whose prompts, and with which request parameters beside its own."""

    name: str
    title: str
    suffix: str = ""
    parameters: str = ""

    def prompt(self, name: str) -> str:
        """The prompt of that name under this condition."""
        return f"{name}{self.suffix}"


# The first holds where none is named.
CONDITIONS = (
    Condition("brief", "Brief: no longer than the question needs"),
    Condition(
        "researcherbench",
        "ResearcherBench (appendix D): comprehensive, with numbered citations",
        suffix=".researcherbench",
    ),
    Condition("adra", "ADRA (appendix K.1): brief, at temperature 0", parameters='{"temperature": 0}'),
)


class Report(ModelReply):
    """A report as it came: Markdown and nothing else."""

    PLAIN: ClassVar[bool] = True
    TEXT_FORM: ClassVar[str] = "Reply with the report itself, in Markdown."
    AGAIN: ClassVar[str] = "Write the whole report."
    # Some ten pages with their references.
    TOKENS: ClassVar[int] = 8_000
    LONGEST: ClassVar[int] = 2_000_000
    text: str = Field(min_length=1)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The report, taken out of a code fence that holds the whole of it; ValueError when nothing is left."""
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
                    None, (f"- [{one.number}]" if one.number else "-", one.title and f"{one.title}.", one.url)
                )
            )
            for one in sources
        )
        return type(self)(text="\n".join([f"{self.text.rstrip()}\n\n## References\n", *lines]))


_FENCED = re.compile(r"```(?:markdown|md)?[ \t]*\n((?:(?!```).)*)\n```", re.DOTALL | re.IGNORECASE)


class Subtasks(ModelReply):
    """A plan as the model made it."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text, one line for each sub-task in its order and nothing else."
    )
    AGAIN: ClassVar[str] = "Give the same plan again."
    subtasks: list[str] = Field(min_length=1, max_length=30, description="The sub-tasks in their order")

    @classmethod
    def from_text(cls, text: str) -> Self:
        """One sub-task a line, whatever number or dash stands before it; ValueError when there is none."""
        return cls(subtasks=[_MARK.sub("", line) for line in text.splitlines() if line.strip()])


_MARK = re.compile(r"^\s*(?:\(?\d{1,2}[.):]|[-*•–])\s+")


def question_of(item: Item, cutoff: date | None) -> str:
    """What is asked, with the last day of publication that counts, if there is one."""
    return f"{item.question}\n\n{UNTIL.format(day=cutoff.isoformat())}" if cutoff else item.question


async def ask_for_plan(item: Item, ask: Ask, cutoff: date | None = None) -> tuple[Answer, Plan | None]:
    """The plan that a model makes for an item before it writes; no plan when there is no reply to take it from."""
    answer = await ask(PLAN, {"question": question_of(item, cutoff)}, Subtasks)
    steps = [" ".join(text.split()) for text in answer.reply.subtasks] if answer.reply else []
    plan = Plan(units=tuple(Subtask(text=text) for text in steps if text))
    return answer, plan if plan.units else None


async def ask_for_report(
    item: Item, ask: Ask, plan: Plan | None = None, evidence: str = "", condition: Condition = CONDITIONS[0],
    cutoff: date | None = None,
) -> Answer:  # fmt: skip
    """The report of a model on an item: along a plan when one is given, and then from evidence when that is too.

    The question is what the model is to do, and so is the plan: neither is fenced. The evidence is foreign text.
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
    """An item's gold evidence, work by work, each with its text where that is at hand; empty when there is none.

    A text is at hand when a cited page was read at the work's identifier, or the work is a source of the item.
    """
    works: list[Reference] = [work for work in material.units(Kind.EVIDENCE) if work.text or work.identifier]
    texts = [_text_of(work, material) for work in works]
    room = LONGEST_EVIDENCE // max(1, sum(map(bool, texts)))
    return "\n\n".join(
        "\n\n".join([f"[{number}] {_named(work)}", *([_within(text, room)] if text else [])])
        for number, (work, text) in enumerate(zip(works, texts, strict=True), start=1)
    )


def _named(work: Reference) -> str:
    told = (work.text, work.authors, str(work.year or ""), work.identifier)
    return ". ".join(part for part in told if part)


def _text_of(work: Reference, material: Material) -> str:
    return next((text.strip() for text in _texts_of(work, material) if text.strip()), "")


def _texts_of(work: Reference, material: Material) -> Iterator[str]:
    named = identifier.work_named(work.identifier)
    for source in material.sources:
        if (named and identifier.work_named(source.identifier) == named) or _same_title(
            work.text, source.title
        ):
            yield source.text
    page = material.pages.get(str(named)) if named else None
    if page is not None and page.state is PageState.OK:
        yield page.text


def _same_title(a: str, b: str) -> bool:
    return bool(a and b) and identifier.same_title(a, b)


def _within(text: str, room: int) -> str:
    return text if len(text) <= room else text[:room] + CUT
