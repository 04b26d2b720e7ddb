"""Plans extracted from reports, so that systems that show none can be scored on planning too (ADRA §3.1)."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import ClassVar, Self

from pydantic import Field

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Ask, Extracted, Extraction, Material
from annotator.domain.kinds.artifact import Anchor
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.item import Response
from annotator.domain.material.part import ResponsePart
from annotator.domain.texts.canonical import derived_id
from annotator.domain.texts.difference import find
from annotator.protocols.adra.reading import is_list_heading
from annotator.protocols.several import QUOTE_MISSING, ModelReply, fields

NAME = "adra.plan.draw"
LONGEST = 20_000


class Step(ModelReply):
    """One sub-task as a model drew it. The passage that shows it comes first."""

    passage: str = Field(description="Words of the report that show this sub-task, copied exactly")
    text: str = Field(description="The sub-task as one complete sentence of 8 to 20 words")


class DrawnPlan(ModelReply):
    """The sub-tasks that a report followed, in their order."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text, one line for each sub-task in its order and nothing else: words of the report that show "
        "it, copied exactly, then || between spaces, then the sub-task as one sentence."
    )
    subtasks: list[Step] = Field(description="The sub-tasks in their order; empty if the report shows none")

    @classmethod
    def from_text(cls, text: str) -> Self:
        return cls(subtasks=[Step(passage=passage, text=words) for passage, words in fields(text, 2)])


async def extract(material: Material, ask: Ask) -> Extracted:
    """The plan that a model sees behind a report, each sub-task anchored where the report shows it."""
    shown = {"question": material.item.question, "report": material.response.text}
    answer = await ask(NAME, shown, DrawnPlan, fenced=("question", "report"))
    if answer.status is not Status.OK:
        return Extracted(None, answer.status, answer.cause, answer.flags)
    result = [(" ".join(step.text.split()), step.passage) for step in answer.reply.subtasks]
    plan = _plan(material.response, ((text, passage) for text, passage in result if text))
    if not plan.units:
        return Extracted(None, Status.UNCLEAR, "the report shows no sub-tasks", answer.flags)
    unanchored = any(unit.anchor is None for unit in plan.units)
    return Extracted(plan, flags=(*answer.flags, QUOTE_MISSING) if unanchored else answer.flags)


def _plan(response: Response, steps: Iterable[tuple[str, str]]) -> Plan:
    """A plan of (sub-task, passage) whose ids follow from its words: the same words are judged once."""
    seen: Counter[str] = Counter()
    units = []
    for text, passage in steps:
        text = text[:LONGEST]
        seen[text] += 1
        units.append(
            Subtask(id=derived_id(NAME, text, seen[text]), text=text, anchor=_anchor(response, passage))
        )
    return Plan(units=tuple(units))


def _anchor(response: Response, passage: str) -> Anchor | None:
    """Where a passage stands in the report; None when it does not."""
    span = find(response.text, passage)
    if span is None or span[1] - span[0] > LONGEST:
        return None
    return Anchor.at(response.text, *span, response.id)


# No network: the headings of a report are the plan it followed (not in the paper).

FEWEST_HEADINGS = 3
BOLD = 7
_HEADING = re.compile(
    r"^ {0,3}(?P<level>#{1,6})[ \t]+(?P<text>\S.*)$|^(?:\*\*|__)(?P<bold>[^*_\n]+)(?:\*\*|__):?[ \t]*$",
    re.MULTILINE,
)
_NUMBER = re.compile(r"(?:(?P<number>\d+(?:\.\d+)*)[.):]?|[IVX]+[.)]|[A-Z][.)])\s+")
_MARKS = re.compile(r"[*_`]+|\s#+\s*$")


def baseline(material: Material) -> Extracted:
    """The headings of the highest level that has three or more, without those of a list of references."""
    headings = _headings(material.response.text)
    levels = Counter(level for level, _ in headings)
    fit = [level for level in sorted(levels) if levels[level] >= FEWEST_HEADINGS]
    steps = [text for level, text in headings if not fit or level == fit[0]]
    if not steps:
        return Extracted(None, Status.UNCLEAR, "baseline: the report has no headings")
    plan = _plan(material.response, ((text, text) for text in steps))
    return Extracted(plan.model_copy(update={"remark": "baseline: the headings of the report"}))


def _headings(report: str) -> list[tuple[tuple[int, int], str]]:
    """The headings of a report with their levels: marks, then depth of numbering; lines in bold are the lowest."""
    result = []
    for heading in _HEADING.finditer(report):
        bare = _MARKS.sub("", heading["text"] or heading["bold"]).strip()
        number = _NUMBER.match(bare)
        text = bare[number.end() if number else 0 :].rstrip(": ")
        depth = (number["number"] or "").count(".") if number else 0
        if text and not is_list_heading(text):
            result.append(((len(heading["level"] or "") or BOLD, depth), text))
    return result


DEPARTURES = (
    "The paper scores the plans that a system shows. Where a report alone is at hand, its plan is read from the "
    "headings and steps of the report; such a plan says what was done, not what was planned.",
)
EXTRACTION = Extraction(
    name=NAME,
    title="Plan of a report",
    citation="ADRA, §3.1 and §4.3",
    makes=ResponsePart.PLAN,
    prompts=(NAME,),
    extract=extract,
    baseline=baseline,
    departures=DEPARTURES,
)
