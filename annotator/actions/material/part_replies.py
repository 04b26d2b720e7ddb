"""Model replies behind an extract, as they came."""

import asyncio

from sqlalchemy import ColumnElement, select

from annotator.actions.items.report_lines import DOES
from annotator.actions.judges import prompts
from annotator.actions.material import response_journal
from annotator.actions.material.extracting import ExtractionRun
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs.journal import call_of
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.runs.judgement_replies import Reply
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.protocols import EXTRACTIONS
from annotator.storage.tables import CALL, EXTRACT, ITEM, JUDGE, RESPONSE, RUN, SYSTEM


def replies(project: Project, extract_id: str) -> tuple[Reply, ...]:
    """The replies that an extract was read from, the newest first.

    None for what a person wrote, what came with an import and what asked nobody, and none where the prompt or the
    text has changed since, so that its questions are no longer known.
    """
    people.refuse_others(project, DOES)
    question = (
        select(
            EXTRACT.c.item_id, EXTRACT.c.response_id, EXTRACT.c.run_id, RUN.c.protocol, RUN.c.judge_id,
            ITEM.c.key, SYSTEM.c.name.label("system"),
        )
        .join(RUN, RUN.c.id == EXTRACT.c.run_id)
        .join(ITEM, ITEM.c.id == EXTRACT.c.item_id)
        .outerjoin(RESPONSE, RESPONSE.c.id == EXTRACT.c.response_id)
        .outerjoin(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(EXTRACT.c.id == extract_id)
    )  # fmt: skip
    with project.store.read() as db:
        row = db.execute(question).mappings().first()
    if row is None:
        return ()
    if row["protocol"] not in EXTRACTIONS:
        origin = response_journal.origin_of(project, row["response_id"])
        return _calls(project, CALL.c.id.in_(origin.calls)) if origin else ()
    with project.store.read() as db:
        judge = Judge(**db.execute(select(JUDGE).where(JUDGE.c.id == row["judge_id"])).mappings().one())
    if judge.kind != JudgeKind.ENDPOINT:
        return ()
    systems = (row["system"],) if row["system"] else ()
    order = RunRequest(judge.name, row["protocol"], systems, (row["key"],))
    keys = asyncio.run(_keys(project, order, judge, row["response_id"]))
    return _calls(project, CALL.c.cache_key.in_(keys))


async def _keys(project: Project, order: RunRequest, judge: Judge, response_id: str) -> set[str]:
    """Under which keys the answers to an extraction's questions are kept."""
    from annotator.judging.calls.client import Endpoint
    from annotator.judging.calls.weighing import weighed

    kind = ExtractionRun(project, order)
    endpoint, edited, found = Endpoint.of(judge), prompts.edited(project), set[str]()
    for case in kind.cases():
        if case.response.id == response_id and kind.shape.judge is not None:
            found |= {question.key for question in await weighed(kind.shape.judge, case, endpoint, edited)}
    return found


def _calls(project: Project, condition: ColumnElement[bool]) -> tuple[Reply, ...]:
    question = select(CALL).where(condition).order_by(CALL.c.at.desc(), CALL.c.id)
    with project.store.read() as db:
        rows = db.execute(question).mappings().all()
    return tuple(Reply(call_of(row), row["at"], own=True) for row in rows)
