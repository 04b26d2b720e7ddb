"""What it would take to have a model write reports, draft, or pair lists: its questions and their price, unasked."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from annotator.actions.agreement import assisting
from annotator.actions.judges import judges, prompts
from annotator.actions.material import draft_runs, responding
from annotator.actions.orders import forecasts
from annotator.actions.orders.forecasts import Forecast, Questions
from annotator.actions.project.file import Project
from annotator.actions.runs.journal import CALL, RUN, Journal
from annotator.actions.runs.judge_cases import Order
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.judges.protocol import Case, Protocol

# What a reply takes until this model has given some of the kind: a report of four pages, a plan, a dozen units, pairs.
REPORT_TOKENS, PLAN_TOKENS, DRAFT_TOKENS, PAIRING_TOKENS = 3_000, 200, 1_500, 200


async def of_reports(project: Project, order: Order) -> Forecast:
    """What an order of reports would still take; its `judge` is the one whose endpoint is to write."""
    shape, cases, plan = responding.asked(project, order)
    planned = responding.MANNERS[order.protocol].planned
    judge = judges.named(project, order.judge)
    return await _forecast(
        project, order, judge, shape, cases, plan.to_do, plan.total, "reports", REPORT_TOKENS, planned=planned
    )


async def of_drafts(project: Project, order: Order) -> Forecast:
    """What an order of drafts would take."""
    shape, cases, to_do = draft_runs.asked(project, order)
    judge = judges.named(project, order.judge)
    return await _forecast(project, order, judge, shape, cases, to_do, to_do, "drafts", DRAFT_TOKENS)


async def of_pairings(project: Project, order: Order) -> Forecast:
    """What it would take to have lists paired by meaning that are not yet."""
    asking = assisting.Asking(project, order)
    to_do, total = len(asking.to_do), len(asking.lists)
    return await _forecast(
        project, order, asking.judge, asking.shape(), asking.cases(), to_do, total, "pairings", PAIRING_TOKENS
    )


async def _forecast(
    project: Project, order: Order, judge: Judge, shape: Protocol, cases: Iterable[Case], to_do: int, total: int,
    things: str, usual: int, *, planned: bool = False,
) -> Forecast:  # fmt: skip
    """`planned`: each case asks for a plan first, and the question that follows it holds that plan."""
    if judge.kind != JudgeKind.ENDPOINT:
        return forecasts.free(judge, order, to_do, total, things)
    from annotator.judging.calls.client import Endpoint
    from annotator.judging.calls.weighing import weighed

    journal, endpoint = Journal(project, "", judge.id, order.protocol), Endpoint.of(judge)
    edited, found = prompts.edited(project), Questions(units=to_do)
    for case in cases:
        for question in await weighed(shape.judge, case, endpoint, edited) if shape.judge else ():
            (found.known if journal.find(question.key) else found.fresh).append(question.tokens)
            if planned:
                found.fresh.append(question.tokens + PLAN_TOKENS)
    found.ever = found.fresh + found.known
    made = forecasts.replies(project, RUN.c.protocol == order.protocol, CALL.c.requested_model == judge.model)
    each = (usual + PLAN_TOKENS) / 2 if planned else usual
    return replace(forecasts.priced(judge, order, found, made, each), total=total, things=things)


def told(project: Project, order: Order) -> Forecast:
    """What any order would take, of reports, drafts, pairings or of a judge; for whoever cannot wait for it."""
    if assisting.is_one(order.protocol):
        return asyncio.run(of_pairings(project, order))
    if draft_runs.is_one(order.protocol):
        return asyncio.run(of_drafts(project, order))
    if order.protocol in responding.MANNERS:
        return asyncio.run(of_reports(project, order))
    return asyncio.run(forecasts.estimate(project, order))
