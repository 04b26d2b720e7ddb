"""What a judge was sent for a judgement, put together again from what is kept, and whether it is the very same."""

import asyncio
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import select

from annotator.actions.items.items import ITEM
from annotator.actions.items.materials import RESPONSE, SYSTEM
from annotator.actions.judges import prompts
from annotator.actions.judges.judges import JUDGE
from annotator.actions.judges.noting import Noted, Noting
from annotator.actions.judging import judge_runs
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_cases
from annotator.actions.runs.journal import CALL, JUDGEMENT, RUN
from annotator.actions.runs.judge_cases import Manner, Order
from annotator.actions.runs.run_judgements import refuse_others
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.judges.prompt import PromptVersion
from annotator.domain.judges.protocol import Case

SAME = "These are the very words that were sent; only the code in the fences was drawn anew for each call."
CHANGED = (
    "Something has changed since it was sent: the unit, the report, or how the judge is asked. This is how the same "
    "question would be put now, by the wording of then."
)
REPAIR = (
    " The reply before it and its fault were sent along, once, with the request to give it in the right form."
)


@dataclass(frozen=True, slots=True)
class Sent:
    """The two parts of what was sent, by which version of which prompt, and in words how sure that is.

    `same` tells that its key is the one under which the reply is kept.
    """

    prompt: str
    version: int
    system_part: str
    user_part: str
    same: bool
    words: str


def sent(project: Project, judgement_id: str) -> Sent | None:
    """What was sent for a judgement; None where nobody was asked, or its wording or its unit is kept no more."""
    refuse_others(project)
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
    return asyncio.run(_found(project, row, Judge(**judge)))


async def _found(project: Project, row: Any, judge: Judge) -> Sent | None:
    """The question whose key is that of the reply; else the first that was put by the same wording."""
    first = None
    async for asked, case in _questions(project, row, judge):
        version = _version(project, asked.prompt, row["prompt_sha256"])
        if version is None:
            continue
        made = _made(asked, case, judge, version, row)
        if made.same:
            return made
        first = first or made
    return first


async def _questions(project: Project, row: Any, judge: Judge) -> Any:
    order = Order(judge.name, row["protocol"])
    shape = judge_runs.asked_by(project, order, judge)
    for case in _cases(project, row, judge):
        noting = Noting()
        if shape.judge is not None:
            await shape.judge(case, noting)
        for asked in noting.questions:
            yield asked, case


def _cases(project: Project, row: Any, judge: Judge) -> Iterator[Case]:
    """The case that holds the unit, whole, and then with those of its units alone that the same call answered."""
    scope = json.loads(row["scope"] or "{}")
    manner = Manner(judge.asked.together, judge.asked.weights_shown, scope.get("seed", 0))
    order = Order("", row["protocol"], (row["system"],), (row["key"],), trials=row["trial"])
    answered = _answered(project, row["call_id"])
    for case in judge_cases.cases(project, order, manner=manner):
        mine = case.response.id == row["response_id"] and case.trial == row["trial"]
        if not mine or row["unit_id"] not in {unit.id for unit in case.units}:
            continue
        yield case
        units = tuple(unit for unit in case.units if unit.id in answered)
        if len(units) < len(case.units):
            yield replace(case, units=units)


def _answered(project: Project, call_id: str) -> set[str]:
    with project.store.read() as db:
        return set(db.execute(select(JUDGEMENT.c.unit_id).where(JUDGEMENT.c.call_id == call_id)).scalars())


def _version(project: Project, name: str, sha256: str) -> PromptVersion | None:
    known: Iterable[PromptVersion] = reversed(prompts.versions(project, name))
    return next((version for version in known if version.sha256 == sha256), None)


def _made(asked: Noted, case: Case, judge: Judge, version: PromptVersion, row: Any) -> Sent:
    from annotator.judging.calls.asking import question_key
    from annotator.judging.calls.client import Endpoint
    from annotator.judging.calls.ladder import Rung, asked_for
    from annotator.judging.calls.parameters import FORMAT
    from annotator.judging.prompts.messages import render

    prompt = prompts.parsed(asked.prompt, version.text)
    key = question_key(Endpoint.of(judge), prompt, asked.fields, asked.reply, asked.fenced, case.trial)
    rung = Rung(json.loads(row["parameters"]).get(FORMAT, Rung.TEXT))
    said = asked_for(render(prompt, asked.fields, asked.fenced), asked.reply, rung)
    same = key == row["cache_key"]
    words = (SAME if same else CHANGED) + (REPAIR if row["repaired"] else "")
    return Sent(asked.prompt, version.version, said[0]["content"], said[1]["content"], same, words)
