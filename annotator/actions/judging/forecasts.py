"""What an order would cost, before any call: its questions with their lengths, those answered already, the price."""

import asyncio
from collections.abc import Callable, Container, Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sqlalchemy import ColumnElement, func, select

from annotator.actions.agreement import assisting
from annotator.actions.judges import endpoint_memory, judges, prompts
from annotator.actions.judging import derived_judges, drift, judge_offers, judge_runs
from annotator.actions.material import draft_runs, extracting, responding
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_cases
from annotator.actions.runs.journal import CALL, RUN, Journal
from annotator.actions.runs.judge_cases import Key, Manner, Order
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Case, Protocol
from annotator.domain.texts.counting import counted, lasting
from annotator.protocols import EXTRACTIONS, PROTOCOLS

# What a reply about one unit takes, until this judge has given some: a quote and two sentences.
TOKENS_A_UNIT = 150
HALF_A_CENT = 0.005


@dataclass(frozen=True, slots=True)
class Forecast:
    """What an order comes to: judgements wanted of all there are, calls to make, calls whose answer the journal has.

    Tokens are roughly counted; those of replies are the mean of this judge's so far, or `assumed`. `cost_usd` is None
    when the price is unknown; `cost_usd_without_journal` counts the answered calls too, and `cost_usd_afresh` all of
    `calls_afresh`: those of the whole order, as if nothing had ever been asked. `seconds` goes by how long this judge
    took so far, or in its test (`by_test`), None before it was asked. `at_least` tells of questions that hang on
    answers, and are not counted. `lacks` says why there is nothing to ask at all.
    """

    judge: str
    protocol: str
    model: str
    units: int
    calls: int
    in_journal: int
    tokens_input: int
    tokens_output: int
    assumed: bool
    cost_usd: float | None
    cost_usd_without_journal: float | None
    price_as_of: str
    total: int = 0
    calls_afresh: int = 0
    cost_usd_afresh: float | None = None
    seconds: float | None = None
    at_least: bool = False
    things: str = "judgements"
    by_test: bool = False
    lacks: str = ""

    def tree(self) -> dict[str, Any]:
        """The forecast as a JSON tree."""
        return asdict(self)

    def words(self) -> list[str]:
        """The forecast as a person reads it."""
        if self.lacks:
            return [f"There is nothing to ask yet. {self.lacks}"]
        things, one = counted(self.units, self.things.removesuffix("s")), self.units == 1
        if not self.model:
            return [
                f"{things}; “{self.judge}” asks no model, so {'it costs' if one else 'they cost'} nothing."
            ]
        least, known = "at least " if self.at_least else "", self.in_journal
        said = [
            f"{things} by {least}{counted(self.calls + known, 'call')}, "
            f"of which {known:,} {'is' if known == 1 else 'are'} answered in the journal.",
            f"About {self.tokens_input:,} tokens in and {self.tokens_output:,} out"
            f"{' (the length of replies is assumed)' if self.assumed else ''}.",
            *self._time(),
        ]
        if self.cost_usd is None:
            return [
                *said,
                f"The price of {self.model} is not known; add it to the price table to see the cost.",
            ]
        afresh = self.cost_usd_afresh or 0.0
        return [
            *said,
            f"{_dollars(self.cost_usd).capitalize()} at the prices of {self.price_as_of}; the whole order, as if "
            f"nothing had been asked before, {_dollars(afresh)}.",
        ]

    def _time(self) -> list[str]:
        """How long it takes, in a sentence; none where nothing is asked or nobody knows."""
        if self.seconds is None or not self.calls:
            return []
        return [f"About {lasting(self.seconds)}{', going by its test call' if self.by_test else ''}."]


def _dollars(amount: float) -> str:
    """“about $1.20”; half a cent and less, but for nothing at all, is no “$0.00”."""
    return "under $0.01" if 0 < amount < HALF_A_CENT else f"about ${amount:,.2f}"


@dataclass(frozen=True, slots=True)
class Asked:
    """An order's cases, how each is asked, and what of it is there already."""

    shape: Protocol
    cases: Iterable[Case]
    already: Container[Key]
    total: int
    to_do: int
    things: str


@dataclass
class Questions:
    """The lengths of an order's questions: to be put, answered in the journal, and all that it ever asks."""

    units: int = 0
    fresh: list[int] = field(default_factory=list)
    known: list[int] = field(default_factory=list)
    ever: list[int] = field(default_factory=list)


async def estimate(project: Project, order: Order) -> Forecast:
    """What the order would still take; nothing is asked and nothing is written."""
    judge = derived_judges.asked(project, order)
    found = await of(project, order, judge, _asked(project, order, judge))
    return found if found.total else replace(found, lacks=_lacking(project, order))


async def of(project: Project, order: Order, judge: Judge, asked: Asked) -> Forecast:
    """The same of what is known to be asked."""
    if judge.kind != JudgeKind.ENDPOINT:
        units = asked.total if judge.kind == JudgeKind.DERIVED else asked.to_do
        return _free(judge, order, units, asked.total, asked.things)
    found = await _weighed(project, order, judge, asked)
    tokens, seconds = _replies(project, CALL.c.judge_id == judge.id)
    made = tokens, endpoint_memory.latency(project, judge) if seconds is None else seconds
    usual = TOKENS_A_UNIT * judge.asked.together
    return replace(
        _priced(judge, order, found, made, usual),
        total=asked.total,
        at_least=order.protocol in EXTRACTIONS,
        things=asked.things,
        by_test=seconds is None,
    )


def _free(judge: Judge, order: Order, units: int, total: int, things: str) -> Forecast:
    """What is done without asking any model."""
    return Forecast(
        judge=judge.name,
        protocol=order.protocol,
        model="",
        units=units,
        calls=0,
        in_journal=0,
        tokens_input=0,
        tokens_output=0,
        assumed=False,
        cost_usd=0.0,
        cost_usd_without_journal=0.0,
        price_as_of="",
        total=total,
        cost_usd_afresh=0.0,
        things=things,
    )


def _priced(
    judge: Judge, order: Order, found: Questions, made: tuple[float | None, float | None], usual: float
) -> Forecast:
    """What the questions take when replies are as long and as slow as those `made`; `usual` tokens before the first."""
    from annotator.judging.calls.prices import prices

    of_reply, latency = made
    each = of_reply or usual
    price = prices().of(judge.model)

    def cost(questions: list[int]) -> float | None:
        return price.price.cost(sum(questions), round(each * len(questions))) if price else None

    return Forecast(
        judge=judge.name,
        protocol=order.protocol,
        model=judge.model,
        units=found.units,
        calls=len(found.fresh),
        in_journal=len(found.known),
        tokens_input=sum(found.fresh),
        tokens_output=round(each * len(found.fresh)),
        assumed=of_reply is None,
        cost_usd=cost(found.fresh),
        cost_usd_without_journal=cost(found.fresh + found.known),
        price_as_of=price.as_of if price else "",
        calls_afresh=len(found.ever),
        cost_usd_afresh=cost(found.ever),
        seconds=None if latency is None else latency * len(found.fresh) / max(1, order.concurrency),
    )


def _asked(project: Project, order: Order, judge: Judge) -> Asked:
    if order.protocol.startswith(drift.PREFIX):
        return _anchored(project, order)
    return _drawn(project, order) if order.protocol in EXTRACTIONS else _judged(project, order, judge)


def _lacking(project: Project, order: Order) -> str:
    """Why an order comes to nothing, and what to do about it."""
    if order.protocol in EXTRACTIONS:
        lacks = next(one.lacks for one in judge_offers.drawings(project) if one.name == order.protocol)
    else:
        lacks = judge_offers.unasked(project, order.protocol) if order.protocol in PROTOCOLS else ""
    return lacks or "Choose other items or systems."


def _anchored(project: Project, order: Order) -> Asked:
    """What a drift check asks: the anchored units, afresh."""
    of = replace(order, protocol=order.protocol.removeprefix(drift.PREFIX))
    shape, cases, total = drift.outlook(project, of)
    return Asked(shape, cases, frozenset(), total, total, "anchored units")


def _judged(project: Project, order: Order, judge: Judge) -> Asked:
    judge_cases.checked(project, order)
    shape = judge_runs.asked_by(project, order, judge)
    already = Journal(project, "", judge.id, order.protocol).finished("")
    found = judge_cases.outlook(project, order, already)
    manner = Manner(judge.asked.together, judge.asked.weights_shown)
    cases = judge_cases.cases(project, order, manner=manner) if judge.kind == JudgeKind.ENDPOINT else ()
    return Asked(shape, cases, already, found.total, found.total - found.done, "judgements")


def _drawn(project: Project, order: Order) -> Asked:
    plan, (shape, cases, already) = extracting.plan(project, order), extracting.asked(project, order)
    return Asked(shape, cases, already, plan.total, plan.to_do, plan.things)


async def _weighed(project: Project, order: Order, judge: Judge, asked: Asked) -> Questions:
    """Every question of the order, told apart by whether it is still to be put."""
    from annotator.judging.calls.client import Endpoint
    from annotator.judging.calls.weighing import weighed
    from annotator.judging.runs.runner import left

    journal = Journal(project, "", judge.id, order.protocol)
    endpoint, edited, found = Endpoint.of(judge), prompts.edited(project), Questions()
    ask: Callable[..., Any] | None = asked.shape.judge
    for case in asked.cases if ask else ():
        wanted = next(left([case], asked.already), None)
        questions = await weighed(ask, case, endpoint, edited) if ask else []
        found.ever += [question.tokens for question in questions]
        if wanted is None:
            continue
        found.units += len(wanted.units)
        if wanted is not case and ask:
            questions = await weighed(ask, wanted, endpoint, edited)
        for question in questions:
            (found.known if journal.find(question.key) else found.fresh).append(question.tokens)
    return found


def _replies(project: Project, *whose: ColumnElement[bool]) -> tuple[float | None, float | None]:
    """The mean length in tokens and the mean seconds of some replies so far; None before the first.

    Test calls belong to no run, and are left out: they read one long page.
    """
    question = (
        select(func.avg(CALL.c.tokens_output), func.avg(CALL.c.latency_s))
        .outerjoin(RUN, RUN.c.id == CALL.c.run_id)
        .where(CALL.c.status == Status.OK.value, func.coalesce(CALL.c.run_id, "") != "", *whose)
    )
    with project.store.read() as db:
        tokens, seconds = db.execute(question).one()
    return (None if tokens is None else float(tokens)), (None if seconds is None else float(seconds))


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
        return _free(judge, order, to_do, total, things)
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
    made = _replies(project, RUN.c.protocol == order.protocol, CALL.c.requested_model == judge.model)
    each = (usual + PLAN_TOKENS) / 2 if planned else usual
    return replace(_priced(judge, order, found, made, each), total=total, things=things)


async def of_any(project: Project, order: Order) -> Forecast:
    """What any order would take, of reports, drafts, pairings or of a judge."""
    if assisting.is_one(order.protocol):
        return await of_pairings(project, order)
    if draft_runs.is_one(order.protocol):
        return await of_drafts(project, order)
    return await (of_reports if order.protocol in responding.MANNERS else estimate)(project, order)


def told(project: Project, order: Order) -> Forecast:
    """The same for whoever cannot wait for it."""
    return asyncio.run(of_any(project, order))
