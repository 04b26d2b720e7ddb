"""Cost estimate of a run, before any call: questions and their lengths, cached answers, the price."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import ceil, fsum
from operator import attrgetter
from typing import Any

from sqlalchemy import ColumnElement, Connection, Subquery, case as case_of, distinct, func, select

from annotator.actions.judges import judges, kept_keys, prompts
from annotator.actions.judging import judge_runs
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_cases
from annotator.actions.runs.journal import KnownKeys, RunJournal, bills
from annotator.actions.runs.run_kind import RunKind, RunWork
from annotator.domain.common import Refusal, counted, lasting, refuse_other, usd
from annotator.domain.judges.judge import YES, Judge, JudgeKind, RaterKind, Status
from annotator.domain.judges.protocol import Case
from annotator.judging.calls.asking import WeighedQuestion, weighed
from annotator.judging.calls.client import Endpoint
from annotator.judging.calls.prices import TOKENS_A_UNIT, prices, unpriced
from annotator.judging.runner import left
from annotator.protocols import EXTRACTIONS, PROTOCOLS
from annotator.storage.tables import CALL, ITEM, JUDGE, JUDGEMENT, RESPONSE, RUN, SYSTEM, if_given

HALF_A_CENT = 0.005
# With at least this many answers, an estimate uses how often they settle a case.
_ENOUGH = 10


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """The estimate of a run: judgements wanted of the total, calls to make, and cached calls.

    Token counts are rough; those of replies are the mean of this judge's so far, or `assumed`. `cost_usd` is None if
    the price is unknown; `cost_usd_without_journal` includes the answered calls, and `cost_usd_afresh` all of
    `calls_afresh`, those of the whole order as if nothing had been asked before. `seconds` is based on this judge's
    calls so far, or on its test (`by_test`); None before it was asked. `at_most` if cases may end before their last
    question. A budget of `smallest_usd` suffices for the longest question; a smaller one perhaps for none. `lacks` says
    why there is nothing to ask at all, `without` what is left out. That of a paper has one of each protocol as `parts`.
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
    at_most: bool = False
    things: str = "judgements"
    by_test: bool = False
    lacks: str = ""
    smallest_usd: float | None = None
    without: str = ""
    parts: tuple["CostEstimate", ...] = ()

    def tree(self) -> dict[str, Any]:
        """All but the parts."""
        return {name: value for name, value in asdict(self).items() if name != "parts"}

    @property
    def prices(self) -> str:
        return f"the prices of {self.price_as_of}" if self.price_as_of else "the judge's own prices"

    def words(self) -> list[str]:
        return [*self._words(), *filter(None, [self.without])]

    def _words(self) -> list[str]:
        if self.lacks:
            return [f"There is nothing to ask yet. {self.lacks}"]
        things, one = counted(self.units, self.things.removesuffix("s")), self.units == 1
        if not self.model:
            return [
                f"{things}; “{self.judge}” calls no model, so {'it costs' if one else 'they cost'} nothing."
            ]
        most = "at most " if self.at_most else ""
        known = self.in_journal
        sentences = [
            f"{things} by {most}{counted(self.calls + known, 'call')}, "
            f"of which {known:,} {'is' if known == 1 else 'are'} answered in the journal.",
            f"About {self.tokens_input:,} tokens in and {self.tokens_output:,} out"
            f"{' (the length of replies is assumed)' if self.assumed else ''}.",
            *self._time(),
        ]
        if self.cost_usd is None:
            return [
                *sentences,
                f"The price of {self.model} is not known; enter it to see the cost and to set a budget.",
            ]
        afresh = self.cost_usd_afresh or 0.0
        smallest = f"The smallest useful budget is {usd(self.smallest_usd)}." if self.smallest_usd else ""
        return [
            *sentences,
            *([smallest] if smallest else []),
            f"{_dollars(self.cost_usd).capitalize()} at {self.prices}; the whole order, as if "
            f"nothing had been asked before, {_dollars(afresh)}.",
        ]

    def _time(self) -> list[str]:
        """The expected duration, in a sentence; empty if nothing is asked or it is unknown."""
        if self.seconds is None or not self.calls:
            return []
        return [f"About {lasting(self.seconds)}{', going by its test call' if self.by_test else ''}."]


def _dollars(amount: float) -> str:
    """“about $1.20”; a positive amount below half a cent is not shown as “$0.00”."""
    return "under $0.01" if 0 < amount < HALF_A_CENT else f"about ${amount:,.2f}"


@dataclass
class QuestionSum:
    """The number of questions, their tokens and units, and the assumed tokens of their replies."""

    calls: int = 0
    tokens: int = 0
    units: int = 0
    output: int = 0

    def add(self, question: WeighedQuestion, units: int, kind: RunKind) -> None:
        """Count a question and, after one for a plan, the question that contains that plan."""
        usual = TOKENS_A_UNIT * units if kind.reply_tokens is None else round(kind.reply_tokens)
        each = [(question.tokens, question.likely(usual)[1])]
        if plan := kind.plan_tokens:
            each = [(question.tokens, plan), (question.tokens + plan, usual)]
        for tokens, output in each:
            self.calls += 1
            self.tokens += tokens
            self.units += units
            self.output += output


@dataclass
class Questions:
    units: int = 0
    fresh: QuestionSum = field(default_factory=QuestionSum)
    known: QuestionSum = field(default_factory=QuestionSum)
    ever: QuestionSum = field(default_factory=QuestionSum)
    weighed: int = 0
    # The expected number of questions asked, as a case ends with an answer that settles it.
    asked: float = 0.0
    # The most tokens that a question to be asked and its reply are likely to have.
    longest: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class _Replies:
    """The mean tokens, units and seconds of some replies so far; None before the first."""

    tokens: float | None
    units: float
    seconds: float | None

    def output(self, of: QuestionSum) -> float:
        """The likely tokens of the replies to some questions; proportional to units if questions have several."""
        if self.tokens is None:
            return of.output
        return self.tokens * (of.calls if of.units == of.calls else of.units / self.units)


def summed(estimates: Sequence[CostEstimate]) -> dict[str, Any]:
    """The sums of several estimates; the cost is None if one of them is unknown."""
    counts = {
        name: sum(getattr(estimate, name) for estimate in estimates)
        for name in ("units", "calls", "in_journal", "tokens_input", "tokens_output")
    }
    costs = [estimate.cost_usd for estimate in estimates]
    return counts | {"cost_usd": None if None in costs else fsum(cost or 0.0 for cost in costs)}


def joined(estimates: Sequence[CostEstimate], protocol: str, without: str) -> CostEstimate:
    """The estimate of a whole order from those of its parts; unknown if one of the parts is."""

    def whole(name: str) -> Any:
        each = [getattr(estimate, name) for estimate in estimates]
        return None if None in each else sum(each)

    sums = ("total", "calls_afresh", "cost_usd_afresh", "cost_usd_without_journal", "seconds")
    return replace(
        estimates[0],
        protocol=protocol,
        **summed(estimates),
        **{name: whole(name) for name in sums},
        assumed=any(estimate.assumed for estimate in estimates),
        at_most=any(estimate.at_most for estimate in estimates),
        by_test=any(estimate.by_test for estimate in estimates),
        smallest_usd=max(
            [estimate.smallest_usd for estimate in estimates if estimate.smallest_usd is not None],
            default=None,
        ),
        things="judgements",
        without=without,
        parts=tuple(estimates),
    )


def figure_of(estimate: CostEstimate) -> str:
    """The figure these judgements are for: the first of their protocol, of which others are readings.

    If they are for gold and not for a figure, the title of what is judged.
    """
    protocol = PROTOCOLS[estimate.protocol]
    return protocol.metrics[0].title if protocol.metrics else protocol.presentation.tab


async def of(kind: RunKind) -> CostEstimate:
    """The estimate of what an order still takes; nothing is asked and nothing is written."""
    work = kind.outlook()
    result = replace(await of_work(kind, work, (work.whole or work.cases)()), without=kind.without)
    if result.total or kind.reply_tokens is not None:
        return result
    return replace(result, lacks=_lacking(kind.project, kind.order))


async def of_work(kind: RunKind, work: RunWork, cases: Iterable[Case]) -> CostEstimate:
    """The same for work known to be asked, with all its `cases`."""
    project, order, judge = kind.project, kind.order, kind.judge
    to_do = work.total - work.before
    if judge.kind != JudgeKind.ENDPOINT:
        return _free(judge, order, to_do, work.total, kind.things)
    result = await _weighed(kind, work, cases)
    of_judge = kind.reply_tokens is None
    asked_now = CALL.c.judge_id == judge.id if of_judge else CALL.c.requested_model == judge.model
    # Replies under another protocol differ in length, but take about as long per token.
    made = _replies(project, asked_now, RUN.c.protocol.in_((order.protocol, work.protocol.name)))
    seconds = made.seconds
    if seconds is None and of_judge:
        seconds = _replies(project, asked_now).seconds
    # The duration of a test call says nothing about a report or a draft.
    by_test = seconds is None and of_judge
    made = replace(made, seconds=kept_keys.latency(project, judge) if by_test else seconds)
    return replace(
        _priced(judge, order, result, made),
        total=work.total,
        at_most=(work.protocol.stops and _stopping(kind) is None) or kind.at_most,
        things=kind.things,
        by_test=by_test,
    )


def _free(judge: Judge, order: judge_cases.RunRequest, units: int, total: int, things: str) -> CostEstimate:
    return CostEstimate(
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


def _priced(judge: Judge, order: judge_cases.RunRequest, totals: Questions, made: _Replies) -> CostEstimate:
    """The estimate of the questions if replies are as long and as slow as those `made`."""
    price = prices(judge).of(judge.model)
    # After a question for a plan another follows, so that more may be listed than were weighed.
    share = totals.asked / totals.weighed if totals.weighed else 1.0
    expected_calls = share * totals.fresh.calls

    def cost(questions: QuestionSum, share: float = 1.0) -> float | None:
        return price.price.cost(questions.tokens, round(made.output(questions))) * share if price else None

    fresh, known = cost(totals.fresh, share), cost(totals.known)
    return CostEstimate(
        judge=judge.name,
        protocol=order.protocol,
        model=judge.model,
        units=totals.units,
        calls=round(expected_calls),
        in_journal=totals.known.calls,
        tokens_input=round(totals.fresh.tokens * share),
        tokens_output=round(made.output(totals.fresh) * share),
        assumed=made.tokens is None,
        cost_usd=fresh,
        cost_usd_without_journal=None if fresh is None or known is None else fresh + known * share,
        price_as_of=price.as_of if price else "",
        calls_afresh=totals.ever.calls,
        cost_usd_afresh=cost(totals.ever),
        seconds=None if made.seconds is None else made.seconds * expected_calls / max(1, order.concurrency),
        smallest_usd=_in_full(price.price.cost(*totals.longest)) if price and totals.fresh.calls else None,
    )


def _in_full(amount: float) -> float:
    """Round up at the shown precision: an amount read and typed again must suffice."""
    places = 10_000 if amount < 0.1 else 100
    return ceil(amount * places) / places


def _lacking(project: Project, order: judge_cases.RunRequest) -> str:
    """Why an order has nothing to ask, and what to do about it."""
    if order.protocol in EXTRACTIONS:
        (lacks,) = (drawing.lacks for drawing in judge_runs.drawings(project, order.protocol))
    else:
        lacks = judge_runs.unasked(project, order.protocol) if order.protocol in PROTOCOLS else ""
    return lacks or "Choose other items or systems."


async def _weighed(kind: RunKind, work: RunWork, cases: Iterable[Case], *, one: bool = False) -> Questions:
    """Every question of the order, each once, by whether it is still to be asked; with `one`, up to the first such."""
    journal = RunJournal(kind.project, "", kind.judge.id, kind.order.protocol)
    endpoint, edited, result = Endpoint.of(kind.judge), prompts.edited(kind.project), Questions()
    form = kept_keys.form_of(kind.project, kind.judge)
    ever, fresh = KnownKeys(), KnownKeys()
    going_on = 1.0 - (_stopping(kind) or 0.0) if work.protocol.stops else 1.0
    ask: Callable[..., Any] | None = work.protocol.judge
    for case in cases if ask else ():
        remaining = next(left([case], work.already), None)
        questions = await weighed(ask, case, endpoint, edited, form) if ask else []
        # A case asks about all of its units in one question, or about each, or in several steps.
        each = max(1, len(case.units) // max(1, len(questions)))
        for question in ever.new(questions, by=attrgetter("key")):
            result.ever.add(question, each, kind)
        if remaining is None:
            continue
        if remaining is not case and ask:
            questions = await weighed(ask, remaining, endpoint, edited, form)
            each = max(1, len(remaining.units) // max(1, len(questions)))
        # A subject nothing can be asked about is not counted as a draft, but as a judgement, which is missing.
        result.units += len(remaining.units) if questions or not kind.skips else 0
        for place, question in enumerate(fresh.new(questions, by=attrgetter("key"))):
            known = journal.find(question.key) is not None
            (result.known if known else result.fresh).add(question, each, kind)
            if not known:
                result.asked += going_on**place
                result.weighed += 1
                (tokens, output), (most, longest) = question.likely(kind.output_tokens), result.longest
                result.longest = max(tokens, most), max(output, longest)
            if one and not known:
                return result
    return result


async def refuse_small_budget(kind: RunKind) -> None:
    """Refuse an order whose budget does not suffice for its first question, or cannot be kept."""
    budget, judge = kind.order.budget_usd, kind.asker()
    if budget is None or judge.kind != JudgeKind.ENDPOINT:
        return
    if prices(judge).of(judge.model) is None:
        raise unpriced(judge.model)
    work = kind.outlook()
    result = await _weighed(kind, work, work.cases(), one=True)
    smallest = _priced(judge, kind.order, result, _Replies(None, 1.0, None)).smallest_usd
    if smallest is not None and budget < smallest:
        raise Refusal(
            f"A budget of {usd(budget)} asks nothing: one question is likely to cost {usd(smallest)}.",
            "Give more, or choose a model of a lower price. Nothing was asked.",
        )


def _stopping(kind: RunKind) -> float | None:
    """How often a judge's answers have settled a case so far; None if there are too few."""
    question = select(func.count(), func.sum(case_of((JUDGEMENT.c.value == YES, 1), else_=0))).where(
        JUDGEMENT.c.rater_id == kind.judge.id,
        JUDGEMENT.c.protocol == kind.order.protocol,
        JUDGEMENT.c.status == Status.OK.value,
    )
    answers, settled = kind.project.query(question).one()
    return settled / answers if answers >= _ENOUGH else None


def _replies(project: Project, *whose: ColumnElement[bool]) -> _Replies:
    """The means over some replies so far.

    Test calls belong to no run and are left out: they read one long page. A call that served several cases counts the
    units of one of them.
    """
    cases = func.count(distinct(JUDGEMENT.c.response_id.concat(JUDGEMENT.c.trial)))
    of_call = select(JUDGEMENT.c.call_id, (func.count() / cases).label("units")).group_by(JUDGEMENT.c.call_id)
    units = of_call.where(JUDGEMENT.c.call_id.is_not(None)).subquery()
    question = (
        select(
            func.avg(CALL.c.tokens_output),
            func.avg(func.coalesce(units.c.units, 1)),
            func.avg(CALL.c.latency_s),
        )
        .join(RUN, RUN.c.id == CALL.c.run_id)
        .outerjoin(units, units.c.call_id == CALL.c.id)
        .where(CALL.c.status == Status.OK.value, *whose)
    )
    tokens, units, seconds = project.query(question).one()
    return _Replies(tokens, units or 1.0, seconds)


# The groupings of costs by payer.
PURPOSE, OF_JUDGE, OF_RUN = "purpose", "judge", "run"
_PAID_BY = (PURPOSE, OF_JUDGE, OF_RUN)
# The groupings over which costs are shared, with the columns that name them; the first one is the name.
_NAMED: dict[str, tuple[ColumnElement[Any], ...]] = {
    "question": (ITEM.c.key,),
    "system": (SYSTEM.c.name,),
    "criterion": (JUDGEMENT.c.unit_id, ITEM.c.key),
}
ALL_ELSE = "Other: checks, attacks, extraction, test calls, unused answers"
# Less than this, in US dollars, is rounding error.
_SMALL = 1e-9
BY = (*_PAID_BY, *_NAMED)


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of one purpose, judge, run, question, system or criterion under a protocol.

    `name` is that of the purpose, judge or system, the run's id, the item's key, or the unit's id with its item's key
    in `item`; empty for the rest that belongs to no single question, system or criterion. `cost_usd` is None if no
    call's cost is known; `unpriced` counts the calls of unknown cost, or the judgements that rest on one. `guessed`
    counts requests that were cut short, charged in `cost_usd` at the mean cost of their run's others.
    """

    name: str
    protocol: str
    judgements: int
    cost_usd: float | None
    unpriced: int
    item: str = ""
    calls: int = 0
    guessed: int = 0

    def words(self, by: str) -> str:
        if not self.name and by != OF_RUN:
            return ALL_ELSE
        name = f"run {self.name[:8]}" if by == OF_RUN and self.name else self.name or judge_runs.purpose("")
        of = f" of item {self.item}" if self.item else ""
        about = f", {self.protocol}" if self.protocol else ""
        return f"{name}{of}{about}"

    def remark(self) -> str:
        """The counts behind the sum, and what is unknown or estimated in it."""
        counts = ((self.judgements, "judgements"), (self.calls, "calls"))
        parts = [f"{number:,} {what}" for number, what in counts if number]
        text = f" for {' by '.join(parts)}" if parts else ""
        text += f", {self.unpriced:,} of unknown cost" if self.unpriced else ""
        return text + (f", {self.guessed:,} without an answer at the usual cost" if self.guessed else "")


def costs(project: Project, by: str = OF_JUDGE, *, judge: str = "", run: str = "") -> list[Cost]:
    """The costs by one of `BY`, highest first; of one judge (by name) or run (by id) if given.

    Each grouping has the same total: all that was paid, for runs, checks, attacks, extraction and trial calls. By
    question, system and criterion, all calls for a judgement's question count, including failed and repeated ones; the
    cost of a call shared by several judgements is split evenly; the rest is a line of its own.
    """
    refuse_other(by, BY, f"Costs cannot be grouped by “{by}”.")
    judge_id = judges.named(project, judge).id if judge else ""
    if by in _PAID_BY:
        return _paid(project, by, judge_id, run)
    result = _shared(project, by, judge_id, run)
    rest = (total(_paid(project, by, judge_id, run)) or 0.0) - (total(result) or 0.0)
    return [*result, Cost("", "", 0, rest, 0)] if rest > _SMALL else result


def total(costs: Iterable[Cost]) -> float | None:
    """The total of some lines; None if no cost is known."""
    known = [cost.cost_usd for cost in costs if cost.cost_usd is not None]
    return fsum(known) if known else None


def _paid(project: Project, by: str, judge_id: str, run: str) -> list[Cost]:
    bill = bills()
    name = {OF_RUN: func.coalesce(bill.c.run_id, "")}.get(by, JUDGE.c.name)
    question = (
        select(
            name.label("name"),
            bill.c.protocol,
            func.sum(bill.c.charged).label("cost"),
            func.count().label("calls"),
            (func.count() - func.count(bill.c.charged)).label("unpriced"),
            (func.count() - func.sum(bill.c.known)).label("guessed"),
        )
        .join(JUDGE, JUDGE.c.id == bill.c.judge_id)
        .where(*if_given((bill.c.judge_id, judge_id), (bill.c.run_id, run)))
        .group_by(name, bill.c.protocol)
    )
    with project.store.read() as db:
        rows = db.execute(question).all()
        given = _given(db, by)
    result: dict[tuple[str, str], Cost] = {}
    for row in rows:
        key = (judge_runs.purpose(row.protocol), "") if by == PURPOSE else (row.name, row.protocol)
        more = Cost(
            key[0], row.protocol if by != PURPOSE else "", given.get((row.name, row.protocol), 0), row.cost,
            row.unpriced, calls=row.calls, guessed=row.guessed,
        )  # fmt: skip
        result[key] = _together(result[key], more) if key in result else more
    return sorted(result.values(), key=lambda cost: (-(cost.cost_usd or 0), cost.name, cost.protocol))


def _given(db: Connection, by: str) -> dict[tuple[str, str], int]:
    """The number of judgements by each judge (or run) under each protocol."""
    j = JUDGEMENT.c
    name = j.run_id if by == OF_RUN else JUDGE.c.name
    question = select(name, j.protocol, func.count()).join(JUDGE, JUDGE.c.id == j.rater_id)
    question = question.where(j.rater_kind == RaterKind.JUDGE.value).group_by(name, j.protocol)
    return {(row[0], row[1]): row[2] for row in db.execute(question)}


def _together(cost: Cost, other: Cost) -> Cost:
    sums = {
        name: getattr(cost, name) + getattr(other, name)
        for name in ("judgements", "unpriced", "calls", "guessed")
    }
    return replace(cost, cost_usd=total((cost, other)), **sums)


def _shared(project: Project, by: str, judge_id: str, run: str) -> list[Cost]:
    named, put = _NAMED[by], _put()
    spent = func.sum(put.c.cost / put.c.sharing)
    question = (
        select(
            *named,
            JUDGEMENT.c.protocol,
            func.count().label("judgements"),
            spent.label("cost"),
            func.sum(case_of((put.c.unpriced > 0, 1), else_=0)).label("unpriced"),
        )
        .select_from(JUDGEMENT)
        .join(CALL, CALL.c.id == JUDGEMENT.c.call_id)
        .join(put, put.c.cache_key == CALL.c.cache_key)
        .join(JUDGE, JUDGE.c.id == JUDGEMENT.c.rater_id)
        .join(ITEM, ITEM.c.id == JUDGEMENT.c.item_id)
        .join(RESPONSE, RESPONSE.c.id == JUDGEMENT.c.response_id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(JUDGEMENT.c.rater_kind == RaterKind.JUDGE.value)
        .where(*if_given((JUDGEMENT.c.rater_id, judge_id), (JUDGEMENT.c.run_id, run)))
        .group_by(*named, JUDGEMENT.c.protocol)
        .order_by(spent.desc(), *named, JUDGEMENT.c.protocol)
    )
    rows = project.query(question).all()
    return [
        Cost(
            row[0], row.protocol, row.judgements, row.cost, row.unpriced, row[1] if by == "criterion" else ""
        )
        for row in rows
    ]


def unit_words(project: Project, costs: Iterable[Cost]) -> dict[tuple[str, str, str], str]:
    """(item's key, protocol, unit) → the texts of the units named in costs."""
    pairs = {(cost.item, cost.protocol) for cost in costs}
    question = select(RESPONSE.c.id, ITEM.c.id, ITEM.c.key).join(ITEM, ITEM.c.id == RESPONSE.c.item_id)
    of = {row[0]: (row[1], row[2]) for row in project.query(question)}
    ids = {key: item_id for item_id, key in of.values()}
    result = {}
    for protocol in {protocol for _, protocol in pairs}:
        item_protocols = sorted(
            (ids[key], protocol) for key, name in pairs if name == protocol and key in ids
        )
        for (response, unit), words in judge_cases.words_of(project, item_protocols).items():
            result[of[response][1], protocol, unit] = words
    return result


def questions(project: Project) -> dict[str, str]:
    return {row.key: row.question for row in project.query(select(ITEM.c.key, ITEM.c.question))}


def _put() -> Subquery:
    """A subquery by question: the total cost of its calls, the number of unknown costs, and of judgements sharing."""
    bill = bills()
    calls = (
        select(
            bill.c.cache_key,
            func.sum(bill.c.charged).label("cost"),
            (func.count() - func.count(bill.c.charged)).label("unpriced"),
        )
        .group_by(bill.c.cache_key)
        .subquery()
    )
    sharing = (
        select(CALL.c.cache_key, func.count().label("sharing"))
        .join(JUDGEMENT, JUDGEMENT.c.call_id == CALL.c.id)
        .group_by(CALL.c.cache_key)
        .subquery()
    )
    return select(calls, sharing.c.sharing).join(sharing, sharing.c.cache_key == calls.c.cache_key).subquery()
