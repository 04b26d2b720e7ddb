"""Importance of an exemplar's content: which of its facts are vital, and which of its references a section must have.

DeepScholar-Bench: vital and okay nuggets, §8.3.1; important references, §8.3.2; both among people's labels, Table 3.
"""

import re
from collections.abc import Awaitable, Callable, Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from annotator.domain.judges.judge import Verdict
from annotator.domain.judges.protocol import (
    Aim,
    Ask,
    Case,
    Material,
    Presentation,
    Protocol,
    Value,
    ValueLook,
    Verdicts,
    nominal,
)
from annotator.domain.kinds.artifact import Anchor, Kind, Unit, blind
from annotator.domain.material.item import EXEMPLAR
from annotator.domain.texts.identifier import normal_title, work_named
from annotator.domain.texts.words import terms
from annotator.protocols.deepscholar.nuggets import gold
from annotator.protocols.deepscholar.references import BY_PEOPLE, abstract_at, work_fields
from annotator.protocols.several import ValueReply, Word, of_one

NUGGET, REFERENCE = "deepscholar.nugget_importance", "deepscholar.reference_importance"
NOT_KNOWN = "(not known)"
DEPARTURES = (
    "Each unit is asked about by itself, and the label that it has in the project is not shown. The public code labels "
    "nuggets ten at a time.",
    "A reply that cannot be read is missing; the public code keeps such a reference as important.",
    "What nobody has said is not known, and never not important.",
)
_ENTRY = re.compile(r"^[ ]{0,3}(?P<mark>\[\d{1,4}\])[ \t]+(?P<words>\S.*)$", re.MULTILINE)
_SENTENCE = re.compile(r"[^.!?\n](?:[^.!?\n]|[.!?](?![\s\[]))*[.!?]?(?:\[\d+\])*")


class NuggetImportance(ValueReply, value="importance"):
    """What a judge replies about one nugget. The ground comes first, so that the label follows from it."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The first line must be vital or okay and nothing else. On the next line give your reason "
        "in one sentence."
    )
    rationale: str = Field(description="Why, in one sentence")
    importance: Annotated[Literal["vital", "okay"], Word] = Field(
        description="Whether a good text must hold it"
    )


class ReferenceImportance(ValueReply, value="importance"):
    """What a judge replies about one reference. The ground comes first, so that the label follows from it."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The first line must be important or not important and nothing else. On the next line "
        "give your reason in one sentence."
    )
    rationale: str = Field(description="Why, in one sentence")
    importance: Annotated[Literal["important", "not-important"], Word] = Field(
        description="Whether a good section must cite it"
    )


def cases_of_nuggets(material: Material) -> Iterator[Case]:
    """One case for each gold nugget with the exemplar it was extracted from, without its label."""
    for nugget in gold(material) if material.response.mode == EXEMPLAR else ():
        yield material.case(NUGGET, Kind.NUGGETS, blind(nugget))


def cases_of_references(material: Material) -> Iterator[Case]:
    """One case for each gold reference with the exemplar that cites it, its abstract and the place of the citation."""
    if material.response.mode != EXEMPLAR:
        return
    marks = {
        key: result["mark"]
        for result in _ENTRY.finditer(material.response.text)
        for words in result["words"].split(". ")
        if (key := normal_title(words))
    }
    for unit in material.units(Kind.EVIDENCE):
        address = str(work_named(unit.identifier) or "")
        place = _cited(material.response.text, marks.get(normal_title(unit.text), ""))
        cited = Unit(id=unit.id, text=unit.text or unit.identifier, note=unit.authors, anchor=place)
        given = work_fields(address, abstract_at(material, address))
        yield material.case(REFERENCE, Kind.EVIDENCE, cited, given=given)


def _cited(text: str, mark: str) -> Anchor | None:
    at = text.find(mark) if mark else -1
    if at < 0:
        return None
    for result in _SENTENCE.finditer(text, text.rfind("\n", 0, at) + 1):
        if result.end() > at:
            quote = result[0].strip()
            here = text.index(quote, result.start())
            return None if quote.startswith(mark) else Anchor.at(text, here, here + len(quote))
    return None


async def judge_nugget(case: Case, ask: Ask) -> Verdicts:
    """Task and nugget are shown, as to people, but not the exemplar."""
    fields = {"question": case.item.question, "nugget": case.unit.text}
    return await _verdicts_of(case, ask, fields, NuggetImportance)


async def judge_reference(case: Case, ask: Ask) -> Verdicts:
    """Task, exemplar, and title, authors and abstract of the reference are shown."""
    fields = {
        "question": case.item.question,
        "exemplar": case.response.text,
        "title": case.unit.text,
        "authors": case.unit.note or NOT_KNOWN,
        "abstract": case.given["page"] or NOT_KNOWN,
    }
    return await _verdicts_of(case, ask, fields, ReferenceImportance)


async def _verdicts_of(
    case: Case, ask: Ask, fields: dict[str, str], protocol: type[NuggetImportance | ReferenceImportance]
) -> Verdicts:
    return of_one(case, await ask(case.protocol, fields, protocol, fenced=tuple(fields)), _verdict)


def _verdict(reply: NuggetImportance | ReferenceImportance, _case: Case, flags: tuple[str, ...]) -> Verdict:
    return Verdict(value=reply.importance.replace("-", "_"), rationale=reply.rationale, flags=" ".join(flags))


# No network: the share of a unit's own terms that the task uses; not fitted to anything.
BASELINE = 0.3


def baseline(case: Case) -> Verdicts:
    """Vital, or important, if it shares enough of its words with the task."""
    own = terms(case.unit.text)
    share = len(own & terms(case.item.question)) / len(own) if own else 0.0
    yes, no = ("vital", "okay") if case.protocol == NUGGET else ("important", "not_important")
    rationale = f"baseline: {share:.2f} of its terms are the task's"
    return {case.unit.id: Verdict(value=yes if share >= BASELINE else no, rationale=rationale)}


def _protocol(
    name: str,
    title: str,
    kind: Kind,
    values: tuple[Value, Value],
    aim: float,
    presentation: Presentation,
    cases: Callable[[Material], Iterator[Case]],
    judge: Callable[[Case, Ask], Awaitable[Verdicts]],
) -> Protocol:
    """One of the two labels of the exemplar, which enter no figure of a system."""
    return Protocol(
        name=name,
        title=title,
        citation="DeepScholar-Bench, §8.3 and Table 3",
        needs=(kind,),
        metrics=(),
        mode=EXEMPLAR,
        exemplar=True,
        works=kind is Kind.EVIDENCE,
        settles="importance",
        scale=nominal(*values),
        presentation=presentation,
        cases=cases,
        judge=judge,
        baseline=baseline,
        prompts=(name,),
        aims=(Aim("accuracy", aim, "Table 3", "GPT-4.1" if kind is Kind.NUGGETS else "GPT-4o"),),
        departures=DEPARTURES,
    )


NUGGET_IMPORTANCE = _protocol(
    NUGGET,
    "Importance of nuggets",
    Kind.NUGGETS,
    (
        Value("vital", "Vital", "A good text must hold it", ValueLook.GOOD),
        Value("okay", "Not vital", "Good to have; a text can do without it", ValueLook.NEITHER),
    ),
    0.72,
    Presentation(
        "Nugget importance",
        "Must a good text hold each nugget? (DeepScholar-Bench)",
        "nugget",
        "nuggets",
        line="section",
        read="section",
        called=BY_PEOPLE,
        lacking=("No nuggets yet", "Nuggets can be weighed once an item has them, and an exemplar."),
        mended_on="Author",
    ),
    cases_of_nuggets,
    judge_nugget,
)
REFERENCE_IMPORTANCE = _protocol(
    REFERENCE,
    "Importance of references",
    Kind.EVIDENCE,
    (
        Value("important", "Important", "A good section on this paper must cite it", ValueLook.GOOD),
        Value(
            "not_important",
            "Not important",
            "It could be left out, or another work in its place",
            ValueLook.NEITHER,
        ),
    ),
    0.82,
    Presentation(
        "Reference importance",
        "Must a good section cite each reference? (DeepScholar-Bench)",
        "reference",
        "references",
        line="section",
        called=BY_PEOPLE,
        read="abstract",
        lacking=("No references yet", "References can be weighed once an item has them, and an exemplar."),
    ),
    cases_of_references,
    judge_reference,
)
