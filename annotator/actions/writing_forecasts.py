"""What it would take to have a model write reports, or draft for a person: its questions and their price, unasked."""

import asyncio
from collections.abc import Iterable

from sqlalchemy import func, select

from annotator.actions import draft_runs, forecasts, judges, prompts, responding
from annotator.actions.forecasts import Forecast
from annotator.actions.journal import CALL, RUN, Journal
from annotator.actions.judge_cases import Order
from annotator.actions.project import Project
from annotator.domain.judge import Judge, JudgeKind
from annotator.domain.judgement import Status
from annotator.domain.protocol import Case, Protocol

# What a reply takes until this model has given some of the kind: a report of four pages, a plan, a dozen units.
REPORT_TOKENS, PLAN_TOKENS, DRAFT_TOKENS = 3_000, 200, 1_500


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


async def _forecast(
    project: Project, order: Order, judge: Judge, shape: Protocol, cases: Iterable[Case], to_do: int, total: int,
    things: str, usual: int, *, planned: bool = False,
) -> Forecast:  # fmt: skip
    """`planned`: each case asks for a plan first, and the question that follows it holds that plan."""
    if judge.kind != JudgeKind.ENDPOINT:
        free = judge.name, order.protocol, "", to_do, 0, 0, 0, 0, False, 0.0, 0.0, ""
        return Forecast(*free, total=total, cost_usd_afresh=0.0, things=things)
    from annotator.judging.client import Endpoint
    from annotator.judging.prices import prices
    from annotator.judging.weighing import weighed

    journal, endpoint = Journal(project, "", judge.id, order.protocol), Endpoint.of(judge)
    edited, fresh, known = prompts.edited(project), list[int](), list[int]()
    for case in cases:
        for question in await weighed(shape.judge, case, endpoint, edited) if shape.judge else ():
            (known if journal.find(question.key) else fresh).append(question.tokens)
            if planned:
                fresh.append(question.tokens + PLAN_TOKENS)
    of_reply, seconds = _replies(project, order.protocol, judge.model)
    each = of_reply or ((usual + PLAN_TOKENS) / 2 if planned else usual)
    price = prices().of(judge.model)

    def cost(questions: list[int]) -> float | None:
        return price.price.cost(sum(questions), round(each * len(questions))) if price else None

    return Forecast(
        judge=judge.name,
        protocol=order.protocol,
        model=judge.model,
        units=to_do,
        calls=len(fresh),
        in_journal=len(known),
        tokens_input=sum(fresh),
        tokens_output=round(each * len(fresh)),
        assumed=of_reply is None,
        cost_usd=cost(fresh),
        cost_usd_without_journal=cost(fresh + known),
        price_as_of=price.as_of if price else "",
        total=total,
        calls_afresh=len(fresh) + len(known),
        cost_usd_afresh=cost(fresh + known),
        seconds=None if seconds is None else seconds * len(fresh) / max(1, order.concurrency),
        things=things,
    )


def _replies(project: Project, protocol: str, model: str) -> tuple[float | None, float | None]:
    """The mean length and seconds of a model's replies to this so far; None before the first."""
    question = (
        select(func.avg(CALL.c.tokens_output), func.avg(CALL.c.latency_s))
        .join(RUN, RUN.c.id == CALL.c.run_id)
        .where(RUN.c.protocol == protocol, CALL.c.requested_model == model, CALL.c.status == Status.OK.value)
    )
    with project.store.read() as db:
        tokens, seconds = db.execute(question).one()
    return (None if tokens is None else float(tokens)), (None if seconds is None else float(seconds))


def told(project: Project, order: Order) -> Forecast:
    """What any order would take, of reports, of drafts or of a judge; for whoever cannot wait for it."""
    if draft_runs.is_one(order.protocol):
        return asyncio.run(of_drafts(project, order))
    if order.protocol in responding.MANNERS:
        return asyncio.run(of_reports(project, order))
    return asyncio.run(forecasts.estimate(project, order))
