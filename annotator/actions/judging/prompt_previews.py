"""How a prompt reads when it is filled for a unit of the project: just what a judge would be sent."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import select

from annotator.actions.items import materials
from annotator.actions.items.materials import SYSTEM
from annotator.actions.judges import prompts
from annotator.actions.judges.noting import Noting
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_cases
from annotator.actions.runs.judge_cases import Manner, Order
from annotator.domain.judges.protocol import Case, Extraction, Material, Protocol

# So many units are put together to show a prompt that asks several at once.
TOGETHER = 3
# So many cases of a protocol can be walked through.
LOOKED_AT = 200


@dataclass(frozen=True, slots=True)
class Preview:
    """What would be sent, in its two parts, and about what: the item's key, the system, the unit's words.

    `tokens` are roughly counted.
    """

    system_part: str
    user_part: str
    item_key: str
    system: str
    unit: str
    tokens: int


@dataclass(frozen=True, slots=True)
class _About:
    """What a question is about, and the question: its fields, and which of them are foreign text."""

    item_key: str
    system_id: str
    unit: str
    fields: Mapping[str, str]
    fenced: Sequence[str]


def preview(project: Project, name: str, text: str, number: int = 0) -> Preview | None:
    """A wording filled for the unit of that number (from 0) that is asked about by this prompt.

    None where the project has no such unit, or the wording cannot be asked by.
    """
    if prompts.faults(name, text):
        return None
    about = asyncio.run(_found(project, name, number))
    if about is None:
        return None
    from annotator.judging.calls.prices import tokens_in
    from annotator.judging.prompts.messages import render

    said = [one["content"] for one in render(prompts.parsed(name, text), about.fields, about.fenced)]
    system = _system(project, about.system_id)
    return Preview(said[0], said[1], about.item_key, system, about.unit, sum(map(tokens_in, said)))


async def _found(project: Project, name: str, number: int) -> _About | None:
    """The question of that number that would be put by the prompt."""
    shape = next(shape for shape in prompts.ASKING if name in shape.prompts)
    for subject, judge in _judged(project, shape) if isinstance(shape, Protocol) else _drawn(project, shape):
        noting = Noting()
        await judge(subject, noting)
        for asked in noting.questions:
            if asked.prompt != name:
                continue
            if number == 0:
                about = subject.item.key, subject.response.system_id, _unit(subject)
                return _About(*about, asked.fields, asked.fenced)
            number -= 1
            break
    return None


def _unit(subject: Case | Material) -> str:
    return " · ".join(unit.text for unit in subject.units if unit.text) if isinstance(subject, Case) else ""


def _judged(project: Project, shape: Protocol) -> Iterator[tuple[Case, Any]]:
    """Cases of one unit, then, where several can be asked together, cases of several."""
    order = Order(judge="", protocol=shape.name)
    for judge, manner in ((shape.judge, Manner()), (shape.judge_together, Manner(TOGETHER))):
        if judge is not None:
            for case in islice(judge_cases.cases(project, order, manner=manner), LOOKED_AT):
                yield case, judge


def _drawn(project: Project, extraction: Extraction) -> Iterator[tuple[Material, Any]]:
    wanted = materials.for_extracting(extraction)
    for at_hand in materials.each(project, wanted, materials.item_ids(project)):
        for material in at_hand.responses if not wanted.sources else (at_hand.own,):
            yield material, extraction.extract


def _system(project: Project, system_id: str) -> str:
    with project.store.read() as db:
        return str(db.execute(select(SYSTEM.c.name).where(SYSTEM.c.id == system_id)).scalar() or "")
