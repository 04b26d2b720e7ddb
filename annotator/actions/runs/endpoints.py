"""The endpoint of a judge for the length of a run: key, limits, budget and memory."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from annotator.actions.judges import endpoint_memory, kept_keys, prompts
from annotator.actions.project.file import Project
from annotator.actions.runs import run_records
from annotator.actions.runs.journal import RunJournal
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.judging.calls.budget import TOKENS_A_UNIT

if TYPE_CHECKING:
    from annotator.judging.calls.asking import Asker, Refused


@asynccontextmanager
async def asking(
    project: Project,
    judge: Judge,
    order: RunRequest,
    journal: RunJournal,
    refused: "Refused" = lambda _: "",
    told_output: int = TOKENS_A_UNIT,
) -> AsyncIterator["Asker | None"]:
    """What puts the questions of an order to a judge's endpoint; None for a judge that asks no model.

    `refused` says why a model may not answer; `told_output` is the most tokens that a reply is told to have.
    """
    if judge.kind != JudgeKind.ENDPOINT:
        yield None
        return
    from annotator.judging.calls.asking import Asker
    from annotator.judging.calls.budget import Budget
    from annotator.judging.calls.client import Client
    from annotator.judging.calls.limits import Limits
    from annotator.judging.calls.noting import CallNotes
    from annotator.judging.calls.prices import prices
    from annotator.judging.calls.sending import Sender
    from annotator.judging.redaction import guard

    endpoint = kept_keys.endpoint_to_ask(project, judge, order.timeout_s)
    guard(logging.getLogger().handlers, endpoint.secrets)
    limits = Limits(
        order.concurrency,
        requests_per_minute=order.requests_per_minute or judge.asked.requests_per_minute,
        tokens_per_minute=order.tokens_per_minute or judge.asked.tokens_per_minute,
    )
    spent, longest = run_records.spent(project, journal.run_id)
    budget = Budget(order.budget_usd, spent, told_output=told_output, longest_output=longest)
    async with Client(endpoint) as client:
        sender = Sender(client, limits, prices(judge), budget)
        endpoint_memory.recall(project, sender)
        edited, notes = prompts.edited(project), CallNotes(journal.note, many=journal.many_calls)
        try:
            yield Asker(
                sender,
                judge.id,
                run_id=journal.run_id,
                journal=journal,
                prompts=edited,
                refused=refused,
                notes=notes,
            )
        finally:
            await notes.flush()
            endpoint_memory.keep(project, sender)
