"""Filled prompts: a preview for a unit of the project, and the prompt a judge was sent."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from sqlalchemy import select

from annotator.actions.items import materials
from annotator.actions.judges import prompts
from annotator.actions.judging import judge_runs
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_cases
from annotator.actions.runs.journal import READS
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.judges.protocol import Case, Extraction, Material, PromptVersion, Protocol
from annotator.judging.calls.asking import CollectedQuestion, CollectingAsk, question_key
from annotator.judging.calls.client import Endpoint
from annotator.judging.calls.prices import tokens_in
from annotator.judging.calls.reply_parts import FORMAT, ReplyForm, with_form
from annotator.judging.messages import parse, render
from annotator.storage.tables import CALL, ITEM, JUDGE, JUDGEMENT, RESPONSE, RUN, SYSTEM

# The number of units in the preview of a prompt that asks several at once.
TOGETHER = 3
# The number of cases of a protocol that can be browsed.
LOOKED_AT = 200


@dataclass(frozen=True, slots=True)
class PromptPreview:
    """The two parts of a prompt to be sent, and its subject: item key, system, text of the unit.

    `tokens` is a rough count.
    """

    system_part: str
    user_part: str
    item_key: str
    system: str
    unit: str
    tokens: int


def preview(project: Project, name: str, text: str, number: int = 0) -> PromptPreview | None:
    """A wording filled for the n-th unit (from 0) that this prompt asks about.

    None if the project has no such unit, or the wording is invalid.
    """
    if prompts.faults(name, text):
        return None
    about = asyncio.run(_numbered(project, name, number))
    if about is None:
        return None
    subject, question = about
    messages = [one["content"] for one in render(parse(name, text), question.fields, question.fenced)]
    asked = select(SYSTEM.c.name).where(SYSTEM.c.id == subject.response.system_id)
    system = str(project.query(asked).scalar() or "")
    units = subject.units if isinstance(subject, Case) else ()
    words = " · ".join(unit.text for unit in units if unit.text)
    return PromptPreview(
        messages[0], messages[1], subject.item.key, system, words, sum(map(tokens_in, messages))
    )


async def _numbered(
    project: Project, name: str, number: int
) -> tuple[Case | Material, CollectedQuestion] | None:
    """The n-th question that the prompt would ask, after its subject."""
    protocol = next(protocol for protocol in prompts.asking() if name in protocol.prompts)
    for subject, judge in (
        _judged(project, protocol) if isinstance(protocol, Protocol) else _of_extraction(project, protocol)
    ):
        noting = CollectingAsk()
        await judge(subject, noting)
        for question in noting.questions:
            if question.prompt != name:
                continue
            if number == 0:
                return subject, question
            number -= 1
            break
    return None


def _judged(project: Project, protocol: Protocol) -> Iterator[tuple[Case, Any]]:
    """Cases of one unit, then, if several can be asked together, cases of several."""
    order = judge_cases.RunRequest(judge="", protocol=protocol.name)
    for judge, settings in (
        (protocol.judge, judge_cases.JudgeSettings()),
        (protocol.judge_together, judge_cases.JudgeSettings(TOGETHER)),
    ):
        if judge is not None:
            for case in islice(judge_cases.cases(project, order, settings=settings), LOOKED_AT):
                yield case, judge


def _of_extraction(project: Project, extraction: Extraction) -> Iterator[tuple[Material, Any]]:
    wanted_material = materials.for_extracting(extraction)
    for at_hand in materials.each(project, wanted_material, materials.item_ids(project)):
        for material in at_hand.responses if not wanted_material.sources else (at_hand.own,):
            yield material, extraction.extract


SAME = "This is exactly what was sent; only the random code in the fences differs for each call."
CHANGED = (
    "The unit, the report or the judge's settings have changed since it was sent. This is how the question "
    "would be sent now, with the wording used then."
)
REPAIR = " The previous reply and its fault were included once, with a request to correct the form."


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """The two parts of a sent prompt, its version, and how certain it is, in words.

    `same` if its key is the one under which the reply is stored.
    """

    prompt: str
    version: int
    system_part: str
    user_part: str
    same: bool
    words: str


@people.for_coordinators(READS)
def sent(project: Project, judgement_id: str) -> SentPrompt | None:
    """The prompt sent for a judgement; None if no model was asked, or its wording or unit is no longer stored."""
    question = (
        select(
            *(JUDGEMENT.c[name] for name in ("protocol", "unit_id", "trial", "call_id", "response_id", "rater_id")),
            *(CALL.c[name] for name in ("cache_key", "prompt_sha256", "parameters", "repaired")),
            ITEM.c.key, SYSTEM.c.name.label("system"), RUN.c.scope,
        )
        .select_from(JUDGEMENT)
        .join(CALL, CALL.c.id == JUDGEMENT.c.call_id)
        .join(ITEM, ITEM.c.id == JUDGEMENT.c.item_id)
        .join(RESPONSE, RESPONSE.c.id == JUDGEMENT.c.response_id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .outerjoin(RUN, RUN.c.id == CALL.c.run_id)
        .where(JUDGEMENT.c.id == judgement_id)
    )  # fmt: skip
    with project.store.read() as db:
        row = db.execute(question).mappings().first()
        judge = (
            db.execute(select(JUDGE).where(JUDGE.c.id == row["rater_id"])).mappings().first() if row else None
        )
    if row is None or judge is None or judge["kind"] != JudgeKind.ENDPOINT.value:
        return None
    return asyncio.run(_as_sent(project, row, Judge(**judge)))


async def _as_sent(project: Project, row: Any, judge: Judge) -> SentPrompt | None:
    """The question whose key is that of the reply, or else the first asked with the same wording."""
    first = None
    protocol = judge_runs.protocol_of(project, judge_cases.RunRequest(judge.name, row["protocol"]), judge)
    for case in _cases(project, row, judge):
        noting = CollectingAsk()
        if protocol.judge is not None:
            await protocol.judge(case, noting)
        for question in noting.questions:
            known = reversed(prompts.versions(project, question.prompt))
            version = next((one for one in known if one.sha256 == row["prompt_sha256"]), None)
            made = _made(question, case, judge, version, row) if version else None
            if made is not None and made.same:
                return made
            first = first or made
    return first


def _cases(project: Project, row: Any, judge: Judge) -> Iterator[Case]:
    """The case with the unit, first whole, then with only those of its units that the same call answered."""
    scope = json.loads(row["scope"] or "{}")
    settings = judge_cases.settings_of(judge, row["protocol"], scope.get("seed", 0))
    order = judge_cases.RunRequest("", row["protocol"], (row["system"],), (row["key"],), trials=row["trial"])
    answered = set(
        project.query(select(JUDGEMENT.c.unit_id).where(JUDGEMENT.c.call_id == row["call_id"])).scalars()
    )
    for case in judge_cases.cases(project, order, settings=settings):
        mine = case.response.id == row["response_id"] and case.trial == row["trial"]
        if not mine or row["unit_id"] not in {unit.id for unit in case.units}:
            continue
        yield case
        units = tuple(unit for unit in case.units if unit.id in answered)
        if len(units) < len(case.units):
            yield replace(case, units=units)


def _made(
    question: CollectedQuestion, case: Case, judge: Judge, version: PromptVersion, row: Any
) -> SentPrompt:
    prompt = parse(question.prompt, version.text)
    key = question_key(
        Endpoint.of(judge), prompt, question.fields, question.reply, question.fenced, case.trial
    )
    rung = ReplyForm(json.loads(row["parameters"]).get(FORMAT, ReplyForm.TEXT))
    messages = with_form(render(prompt, question.fields, question.fenced), question.reply, rung)
    same = key == row["cache_key"]
    words = (SAME if same else CHANGED) + (REPAIR if row["repaired"] else "")
    return SentPrompt(
        question.prompt, version.version, messages[0]["content"], messages[1]["content"], same, words
    )
