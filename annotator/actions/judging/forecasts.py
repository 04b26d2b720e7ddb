"""Cost estimate of a run, before any call: questions and their lengths, cached answers, the price."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import ceil, fsum
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, distinct, func, select
from sqlalchemy import case as case_of

from annotator.actions.judges import endpoint_memory, prompts
from annotator.actions.judging import judge_offers
from annotator.actions.project.file import Project
from annotator.actions.runs.driving import RunWork
from annotator.actions.runs.journal import KnownKeys, RunJournal
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.runs.run_kind import RunKind
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.judges.judgement import YES, Status
from annotator.domain.judges.protocol import Case
from annotator.domain.texts.counting import counted, lasting, usd
from annotator.domain.texts.refusal import Refusal
from annotator.judging.calls.budget import TOKENS_A_UNIT as TOKENS_A_UNIT
from annotator.protocols import EXTRACTIONS, PROTOCOLS
from annotator.storage.tables import CALL, JUDGEMENT, RUN

if TYPE_CHECKING:
    from annotator.judging.calls.weighing import WeighedQuestion

HALF_A_CENT = 0.005
# From so many answers on an estimate goes by how often they settle a case.
_ENOUGH = 10


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """The estimate of a run: judgements wanted of the total, calls to make, and cached calls.

    Tokens are roughly counted; those of replies are the mean of this judge's so far, or `assumed`. `cost_usd` is None
    when the price is unknown; `cost_usd_without_journal` counts the answered calls too, and `cost_usd_afresh` all of
    `calls_afresh`: those of the whole order, as if nothing had ever been asked. `seconds` goes by how long this judge
    took so far, or in its test (`by_test`), None before it was asked. `at_most` tells of cases that may end before
    their last, when nobody can tell yet. With a budget of `smallest_usd` the longest question is asked; with less
    perhaps none. `lacks` says why there is nothing to ask at all, `without` what is left out.
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

    def tree(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def prices(self) -> str:
        return f"the prices of {self.price_as_of}" if self.price_as_of else "the judge's own prices"

    def words(self) -> list[str]:
        """The estimate as a person reads it."""
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
        said = [
            f"{things} by {most}{counted(self.calls + known, 'call')}, "
            f"of which {known:,} {'is' if known == 1 else 'are'} answered in the journal.",
            f"About {self.tokens_input:,} tokens in and {self.tokens_output:,} out"
            f"{' (the length of replies is assumed)' if self.assumed else ''}.",
            *self._time(),
        ]
        if self.cost_usd is None:
            return [
                *said,
                f"The price of {self.model} is not known; enter it to see the cost and to set a budget.",
            ]
        afresh = self.cost_usd_afresh or 0.0
        smallest = f"The smallest useful budget is {usd(self.smallest_usd)}." if self.smallest_usd else ""
        return [
            *said,
            *([smallest] if smallest else []),
            f"{_dollars(self.cost_usd).capitalize()} at {self.prices}; the whole order, as if "
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


@dataclass
class QuestionSum:
    """How many questions, their tokens, how many units they are about, and what replies are assumed to have."""

    calls: int = 0
    tokens: int = 0
    units: int = 0
    output: int = 0

    def add(self, question: "WeighedQuestion", units: int, kind: RunKind) -> None:
        """Count a question, and after one for a plan the other that holds that plan."""
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
    """The questions of a run: to be asked, cached, and in all."""

    units: int = 0
    fresh: QuestionSum = field(default_factory=QuestionSum)
    known: QuestionSum = field(default_factory=QuestionSum)
    ever: QuestionSum = field(default_factory=QuestionSum)
    weighed: int = 0
    asked: float = 0.0
    """How many of those to be asked will be, where a case ends with an answer that settles it."""
    longest: tuple[int, int] = (0, 0)
    """The most tokens that a question to be asked and its reply are likely to have."""


@dataclass(frozen=True, slots=True)
class _Replies:
    """The mean length in tokens, units and seconds of some replies so far; None before the first."""

    tokens: float | None
    units: float
    seconds: float | None

    def output(self, of: QuestionSum) -> float:
        """How long the replies to some questions are likely to be: where these ask several units, by the unit."""
        if self.tokens is None:
            return of.output
        return self.tokens * (of.calls if of.units == of.calls else of.units / self.units)


def summed(found: Sequence[CostEstimate]) -> dict[str, Any]:
    """What several come to together; the cost is None where one of them is not known."""
    counts = {
        name: sum(getattr(one, name) for one in found)
        for name in ("units", "calls", "in_journal", "tokens_input", "tokens_output")
    }
    costs = [one.cost_usd for one in found]
    return counts | {"cost_usd": None if None in costs else fsum(cost or 0.0 for cost in costs)}


def joined(found: Sequence[CostEstimate], protocol: str, without: str) -> CostEstimate:
    """The estimate of a whole order from those of its parts; what one of them does not know, it does not know."""

    def whole(name: str) -> Any:
        each = [getattr(one, name) for one in found]
        return None if None in each else sum(each)

    smallest = [one.smallest_usd for one in found if one.smallest_usd is not None]
    sums = ("total", "calls_afresh", "cost_usd_afresh", "cost_usd_without_journal", "seconds")
    return replace(
        found[0],
        protocol=protocol,
        **summed(found),
        **{name: whole(name) for name in sums},
        assumed=any(one.assumed for one in found),
        at_most=any(one.at_most for one in found),
        by_test=any(one.by_test for one in found),
        smallest_usd=max(smallest, default=None),
        things="judgements",
        without=without,
    )


def figure_of(found: CostEstimate) -> str:
    """For which figure these judgements are: the first of their protocol, of which others are readings.

    Where they are no figure, but gold, it is what is judged.
    """
    shape = PROTOCOLS[found.protocol]
    return shape.metrics[0].title if shape.metrics else shape.presentation.tab


async def of(kind: RunKind) -> CostEstimate:
    """What an order would still take; nothing is asked and nothing is written."""
    work = kind.outlook()
    found = replace(await of_work(kind, work, (work.whole or work.cases)()), without=kind.without)
    if found.total or kind.reply_tokens is not None:
        return found
    return replace(found, lacks=_lacking(kind.project, kind.order))


async def of_work(kind: RunKind, work: RunWork, cases: Iterable[Case]) -> CostEstimate:
    """The same of what is known to be asked, of all its `cases`."""
    project, order, judge = kind.project, kind.order, kind.judge
    to_do = work.total - work.before
    if judge.kind != JudgeKind.ENDPOINT:
        return _free(judge, order, to_do, work.total, kind.things)
    found = await _weighed(kind, work, cases)
    of_judge = kind.reply_tokens is None
    asked_now = CALL.c.judge_id == judge.id if of_judge else CALL.c.requested_model == judge.model
    # Of another protocol replies have another length, but take about as long for each token.
    made = _replies(project, asked_now, RUN.c.protocol.in_((order.protocol, work.shape.name)))
    seconds = made.seconds
    if seconds is None and of_judge:
        seconds = _replies(project, asked_now).seconds
    # How long a test call took tells nothing of a report or a draft.
    by_test = seconds is None and of_judge
    made = replace(made, seconds=endpoint_memory.latency(project, judge) if by_test else seconds)
    return replace(
        _priced(judge, order, found, made),
        total=work.total,
        at_most=(work.shape.stops and _stopping(kind) is None) or kind.at_most,
        things=kind.things,
        by_test=by_test,
    )


def _free(judge: Judge, order: RunRequest, units: int, total: int, things: str) -> CostEstimate:
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


def _priced(judge: Judge, order: RunRequest, found: Questions, made: _Replies) -> CostEstimate:
    """What the questions take when replies are as long and as slow as those `made`."""
    from annotator.judging.calls.prices import prices

    price = prices(judge).of(judge.model)
    # After a question for a plan another follows, so that more may be listed than were weighed.
    share = found.asked / found.weighed if found.weighed else 1.0
    asked = share * found.fresh.calls

    def cost(questions: QuestionSum, share: float = 1.0) -> float | None:
        return price.price.cost(questions.tokens, round(made.output(questions))) * share if price else None

    fresh, known = cost(found.fresh, share), cost(found.known)
    return CostEstimate(
        judge=judge.name,
        protocol=order.protocol,
        model=judge.model,
        units=found.units,
        calls=round(asked),
        in_journal=found.known.calls,
        tokens_input=round(found.fresh.tokens * share),
        tokens_output=round(made.output(found.fresh) * share),
        assumed=made.tokens is None,
        cost_usd=fresh,
        cost_usd_without_journal=None if fresh is None or known is None else fresh + known * share,
        price_as_of=price.as_of if price else "",
        calls_afresh=found.ever.calls,
        cost_usd_afresh=cost(found.ever),
        seconds=None if made.seconds is None else made.seconds * asked / max(1, order.concurrency),
        smallest_usd=_in_full(price.price.cost(*found.longest)) if price and found.fresh.calls else None,
    )


def _in_full(amount: float) -> float:
    """Rounded up as it is shown: what is read and typed again must be enough."""
    places = 10_000 if amount < 0.1 else 100
    return ceil(amount * places) / places


def _lacking(project: Project, order: RunRequest) -> str:
    """Why an order comes to nothing, and what to do about it."""
    if order.protocol in EXTRACTIONS:
        lacks = next(one.lacks for one in judge_offers.drawings(project) if one.name == order.protocol)
    else:
        lacks = judge_offers.unasked(project, order.protocol) if order.protocol in PROTOCOLS else ""
    return lacks or "Choose other items or systems."


async def _weighed(kind: RunKind, work: RunWork, cases: Iterable[Case], *, one: bool = False) -> Questions:
    """Every question of the order, each once, broken down by whether it is still to be put; or the first `one`."""
    from annotator.judging.calls.client import Endpoint
    from annotator.judging.calls.weighing import weighed
    from annotator.judging.runs.runner import left

    journal = RunJournal(kind.project, "", kind.judge.id, kind.order.protocol)
    endpoint, edited, found = Endpoint.of(kind.judge), prompts.edited(kind.project), Questions()
    form = endpoint_memory.form_of(kind.project, kind.judge)
    ever, fresh = KnownKeys(), KnownKeys()
    going_on = 1.0 - (_stopping(kind) or 0.0) if work.shape.stops else 1.0
    ask: Callable[..., Any] | None = work.shape.judge
    for case in cases if ask else ():
        wanted = next(left([case], work.already), None)
        questions = await weighed(ask, case, endpoint, edited, form) if ask else []
        # A case asks about all of its units in one question, or about each, or whatever its steps are.
        each = max(1, len(case.units) // max(1, len(questions)))
        for question in ever.new(questions, by=_key):
            found.ever.add(question, each, kind)
        if wanted is None:
            continue
        if wanted is not case and ask:
            questions = await weighed(ask, wanted, endpoint, edited, form)
            each = max(1, len(wanted.units) // max(1, len(questions)))
        # What nothing can be asked about is no draft; a judgement it is, as one that is missing.
        found.units += len(wanted.units) if questions or not kind.skips else 0
        for place, question in enumerate(fresh.new(questions, by=_key)):
            known = journal.find(question.key) is not None
            (found.known if known else found.fresh).add(question, each, kind)
            if not known:
                found.asked += going_on**place
                found.weighed += 1
                found.longest = _longest(found.longest, question.likely(kind.told_output))
            if one and not known:
                return found
    return found


async def refuse_small_budget(kind: RunKind) -> None:
    """Refuse an order whose budget does not reach for its first question, or cannot be kept."""
    budget, asked = kind.order.budget_usd, kind.asker()
    if budget is None or asked.kind != JudgeKind.ENDPOINT:
        return
    from annotator.judging.calls.prices import prices, unpriced

    if prices(asked).of(asked.model) is None:
        raise unpriced(asked.model)
    work = kind.outlook()
    found = await _weighed(kind, work, work.cases(), one=True)
    smallest = _priced(asked, kind.order, found, _Replies(None, 1.0, None)).smallest_usd
    if smallest is not None and budget < smallest:
        raise Refusal(
            f"A budget of {usd(budget)} asks nothing: one question is likely to cost {usd(smallest)}.",
            "Give more, or choose a model of a lower price. Nothing was asked.",
        )


def _stopping(kind: RunKind) -> float | None:
    """How often a judge's answers have settled a case so far; None before it has given enough of them."""
    question = select(func.count(), func.sum(case_of((JUDGEMENT.c.value == YES, 1), else_=0))).where(
        JUDGEMENT.c.rater_id == kind.judge.id,
        JUDGEMENT.c.protocol == kind.order.protocol,
        JUDGEMENT.c.status == Status.OK.value,
    )
    with kind.project.store.read() as db:
        answers, settled = db.execute(question).one()
    return settled / answers if answers >= _ENOUGH else None


def _longest(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return max(one[0], other[0]), max(one[1], other[1])


def _key(question: Any) -> str:
    return str(question.key)


def _replies(project: Project, *whose: ColumnElement[bool]) -> _Replies:
    """What some replies so far have on average.

    Test calls belong to no run, and are left out: they read one long page. A call that served several cases counts the
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
    with project.store.read() as db:
        tokens, units, seconds = db.execute(question).one()
    return _Replies(tokens, units or 1.0, seconds)
