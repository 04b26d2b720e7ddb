"""Records of runs: their orders and endings, and the guard that only one runs at a time."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from secrets import randbelow
from typing import Any

from sqlalchemy import Connection, Row, case, func, insert, literal, select, update

from annotator.actions.judges import prompts
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.actions.runs import judge_cases
from annotator.actions.runs.journal import UNBILLED, bills
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.common import (
    Change,
    Refusal,
    canonical_json,
    counted,
    local,
    nested,
    new_id,
    now,
    sha256,
)
from annotator.domain.judges.judge import SETTLED, Judge, JudgeKind, RaterKind, RunState, Status
from annotator.judging.runner import Progress
from annotator.protocols import EXTRACTIONS, PROTOCOLS
from annotator.storage import store
from annotator.storage.tables import CALL, EXTRACT, ITEM, JUDGE, JUDGEMENT, RESPONSE, RUN, SYSTEM

# Besides the causes of missing verdicts: the run ended before it asked, or leaves no judgements with a cause.
NOT_ASKED, NOT_DONE = "not_asked", "not_done"
_STOPPED = (RunState.INTERRUPTED.value, RunState.CANCELLED.value)
_SEEDS = 2**31
# A process that only checks whether a run is in progress holds the lock for a moment.
_PATIENCE_S = 0.5
_JUDGING = "judging"


@dataclass(frozen=True, slots=True)
class OpenRun:
    """An unfinished run: its id, and the seed by which units are shuffled."""

    id: str
    seed: int


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run in a list; `missing` counts missing verdicts by cause. Only endpoints cost money."""

    id: str
    judge_id: str
    judge: str
    protocol: str
    state: str
    total: int
    done: int
    started_at: datetime
    cost_usd: float | None
    paid: bool = True
    systems: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    together: int = 1
    trials: int = 1
    batch: bool = False
    missing: dict[str, int] = field(default_factory=dict)
    models: tuple[str, ...] = ()

    @property
    def judged(self) -> int:
        return max(0, self.done - sum(self.missing.values()))

    @property
    def left(self) -> int:
        return max(0, self.total - self.done)

    @property
    def lacking(self) -> dict[str, int]:
        """What the run has no result for: by cause, and what was not reached, without a cause."""
        rest = NOT_ASKED if self.protocol in PROTOCOLS else NOT_DONE
        return self.missing | ({rest: self.left} if self.left else {})

    @property
    def open(self) -> bool:
        return self.done < self.total or bool(self.missing)

    def order(self, **how: Any) -> RunRequest:
        """The order that resumes this run; `how` gives what is not stored: concurrency, timeout_s, budget_usd."""
        return RunRequest(
            judge=self.judge,
            protocol=self.protocol,
            systems=self.systems,
            items=self.items,
            together=self.together,
            trials=self.trials,
            batch=self.batch,
            models=self.models,
            **how,
        )


def runs(project: Project) -> list[RunLine]:
    question = (
        select(RUN, JUDGE.c.name, JUDGE.c.kind)
        .join(JUDGE, JUDGE.c.id == RUN.c.judge_id)
        .order_by(RUN.c.started_at.desc())
    )
    causes = (
        select(JUDGEMENT.c.run_id, JUDGEMENT.c.status, func.count())
        .where(JUDGEMENT.c.run_id.is_not(None), JUDGEMENT.c.status.not_in(SETTLED))
        .group_by(JUDGEMENT.c.run_id, JUDGEMENT.c.status)
    )
    with project.store.read() as db:
        missing = nested((run_id, status, count) for run_id, status, count in db.execute(causes))
        return [_line(row, missing.get(row.id, {})) for row in db.execute(question)]


def last_unfinished(
    project: Project, judge: str = "", among: Callable[[str], bool] = lambda _: True
) -> RunLine:
    """The newest run that was cancelled, interrupted or killed, of one judge if given; raises Refusal if none.

    `among` says whether runs of an ordered name (protocol) are considered.
    """
    # Whether a run is still in progress is known from its lock, not from its state.
    open_states = (*_STOPPED, RunState.RUNNING.value)
    for result in runs(project):
        if result.state in open_states and judge in ("", result.judge) and among(result.protocol):
            return result
    whose = f" of “{judge}”" if judge else ""
    raise Refusal(f"No run{whose} was left unfinished.", "Start one with: judge run.")


def _line(row: Row[Any], missing: dict[str, int]) -> RunLine:
    scope = _scope(row.scope)
    return RunLine(
        id=row.id,
        judge_id=row.judge_id,
        judge=row.name,
        protocol=row.protocol,
        state=row.state,
        total=row.total,
        done=row.done,
        started_at=row.started_at,
        cost_usd=row.cost_usd,
        paid=row.kind == JudgeKind.ENDPOINT.value,
        systems=tuple(scope["systems"]),
        items=tuple(scope["items"]),
        together=scope["together"],
        trials=scope["trials"],
        batch=scope["batch"],
        missing=missing,
        models=tuple(scope["models"]),
    )


def _scope(text: str) -> dict[str, Any]:
    """The scope of a run; runs of earlier versions asked one unit per call, once, without batches."""
    known: dict[str, Any] = json.loads(text)
    return {"systems": [], "items": [], "together": 1, "trials": 1, "batch": False, "models": []} | known


@contextmanager
def alone(project: Project) -> Iterator[None]:
    """Only one run at a time writes to a project; a run that died leaves the lock free."""
    busy = Refusal("A judge run is already in progress in this project.", "Wait for it, or cancel it first.")
    with store.alone(project.path, _JUDGING, busy, _PATIENCE_S):
        stale = RUN.c.state == RunState.RUNNING.value
        with project.store.write() as db:
            db.execute(update(RUN).where(stale).values(state=RunState.INTERRUPTED.value))
        yield


def under_way(project: Project) -> bool:
    busy = Refusal("A judge run is in progress.")
    try:
        with store.alone(project.path, _JUDGING, busy):
            return False
    except Refusal as result:
        return result is busy


def open_run(project: Project, judge: Judge, order: RunRequest, asked_by: tuple[str, ...]) -> OpenRun:
    """The unfinished run with this very order, or a new one; `asked_by` names its prompts."""
    with project.store.write():
        result = stopped(project, judge, order)
        if result is not None:
            reopen(project, result.id)
        return result or new_run(project, judge, order, asked_by)


def reopen(project: Project, run_id: str) -> None:
    going = {"state": RunState.RUNNING.value, "ended_at": None}
    with project.store.write() as db:
        db.execute(update(RUN).where(RUN.c.id == run_id).values(**going))


def state_of(project: Project, run_id: str) -> str:
    return str(project.query(select(RUN.c.state).where(RUN.c.id == run_id)).scalar_one())


def new_run(project: Project, judge: Judge, order: RunRequest, asked_by: tuple[str, ...]) -> OpenRun:
    run = OpenRun(new_id(), randbelow(_SEEDS))
    scope = canonical_json(_identity(judge, order) | {"seed": run.seed}).decode()
    with project.store.write() as db:
        db.execute(
            insert(RUN).values(
                id=run.id, judge_id=judge.id, protocol=order.protocol, state=RunState.RUNNING.value,
                scope=scope, snapshot=judge.model_dump_json(), prompt_sha256=prompts_hash(project, asked_by),
                total=0, done=0, started_at=now(), by=project.by,
            )
        )  # fmt: skip
        about = {"judge": judge.name, **asdict(order), "seed": run.seed}
        record(project, db, Change("judge_run", run.id, "start run", None, about))
    return run


def seeds(project: Project, judge_id: str, protocol: str) -> dict[str, int]:
    """Response → the seed by which its units were shuffled when this judge last judged it."""
    j = JUDGEMENT.c
    question = (
        select(j.response_id, RUN.c.scope)
        .join(RUN, RUN.c.id == j.run_id)
        .where(j.rater_id == judge_id, j.protocol == protocol, j.trial == 1)
        .distinct()
        .order_by(RUN.c.started_at)
    )
    return {row[0]: _scope(row[1]).get("seed", 0) for row in project.query(question)}


def stopped(project: Project, judge: Judge, order: RunRequest) -> OpenRun | None:
    """The newest run with this very order, if it was left unfinished."""
    mine = (RUN.c.judge_id == judge.id) & (RUN.c.protocol == order.protocol)
    rows = project.query(
        select(RUN.c.id, RUN.c.state, RUN.c.scope).where(mine).order_by(RUN.c.started_at.desc())
    ).all()
    for row in rows:
        scope = _scope(row.scope)
        seed = scope.pop("seed", 0)
        if scope == _identity(judge, order):
            return OpenRun(row.id, seed) if row.state in _STOPPED else None
    return None


def _identity(judge: Judge, order: RunRequest) -> dict[str, Any]:
    """The fields that distinguish orders of a judge: not speed and budget."""
    return {
        "systems": list(order.systems),
        "items": list(order.items),
        "together": judge_cases.units_a_call(judge, order.protocol),
        "trials": order.trials,
        "batch": order.batch,
        "models": list(order.models),
        **({"piece_words": order.piece_words} if order.piece_words else {}),
    }


def prompts_hash(project: Project, names: tuple[str, ...]) -> str:
    """The hash of a prompt in force; of several, the hash of their hashes."""
    from annotator.judging.messages import load

    edited = prompts.edited(project)
    hashes = [(edited.get(name) or load(name)).sha256 for name in names]
    return hashes[0] if len(hashes) == 1 else sha256("\n".join(hashes)) if hashes else ""


def set_counts(project: Project, run_id: str, total: int, done: int) -> None:
    """Store the size of a run, and how much of it was done before it began or was resumed."""
    with project.store.write() as db:
        db.execute(update(RUN).where(RUN.c.id == run_id).values(total=total, done=done))


def spent(project: Project, run_id: str) -> tuple[float, int]:
    """The cost of a run's calls in US dollars, unknown bills at the most, and its longest reply in tokens."""
    so_far = select(func.sum(CALL.c.cost_usd), func.max(CALL.c.tokens_output)).where(CALL.c.run_id == run_id)
    cost, longest = project.query(so_far).one()
    return float(cost or 0.0), int(longest or 0)


def paid(project: Project, run_id: str) -> tuple[int, float | None]:
    """The number of calls of a run, and their cost; None if the cost of some is unknown."""
    bill = bills()
    calls, priced, charged = project.query(
        select(func.count(), func.count(bill.c.charged), func.sum(bill.c.charged)).where(
            bill.c.run_id == run_id
        )
    ).one()
    return calls, float(charged or 0.0) if calls == priced else None


def close_run(project: Project, run_id: str, state: RunState) -> float | None:
    """Store how a run ended and what its calls cost; None if it made none, or the cost of some is unknown."""
    calls, cost = paid(project, run_id)
    cost = cost if calls else None
    with project.store.write() as db:
        ended = {"state": state.value, "ended_at": now(), "cost_usd": cost}
        db.execute(update(RUN).where(RUN.c.id == run_id).values(**ended))
        record(project, db, Change("judge_run", run_id, "end run", None, {"state": state.value}))
    return cost


RunEvent = dict[str, Any]
_ASKS = JudgeKind.ENDPOINT.value
# Advice on judgements without a verdict, by the kind of judge.
_ADVICE = {
    _ASKS: "Run the same command again to retry.",
    JudgeKind.DERIVED.value: "A vote makes no calls: have its members judge the missing units or more "
    "trials, or add a vote with one more member.",
    JudgeKind.BASELINE.value: "The list of missing judgements names the reason for each: "
    "correct it first, since asking again changes nothing.",
}


def line(
    run_id: str, deed: str, progress: Any, before: int, total: int, paid: float | None = 0.0
) -> RunEvent:
    """A progress event: what, how many, how fast, how long still, at what cost, what is missing and why.

    The cost is that of the whole run, of which earlier sessions `paid` a part; None if some of it is unknown.
    """
    cost = None if paid is None or progress.unpriced else paid + progress.spent_usd
    rate = progress.done / progress.seconds if progress.seconds > 0 else 0.0
    left = (total - before - progress.done) / rate if rate else None
    missing = {name: count for name, count in progress.by_status.items() if name not in SETTLED}
    event = {
        "event": "progress",
        "run": run_id,
        "deed": deed,
        "done": before + progress.done,
        "total": total,
        "judged_now": progress.done,
        "calls": progress.calls,
        "reused": progress.reused,
        "rate": round(rate, 2),
        "left_s": None if left is None else round(left, 1),
        "seconds": round(progress.seconds, 2),
        "cost_usd": round(cost, 6) if cost is not None and (paid or progress.calls) else None,
        "missing": missing,
        "models": list(progress.models),
        "running": len(progress.running),
        "under_way": [_under_way(keys, seconds) for keys, seconds in progress.running.items()],
    }
    if progress.waiting_until is not None:
        event["paused"] = f"The endpoint asks to wait until {local(progress.waiting_until):%H:%M:%S}"
    return event


def _under_way(keys: Sequence[judge_cases.Key], seconds: float) -> RunEvent:
    """A case being asked: its response, units and trial, and since how long."""
    response, _, trial = keys[0]
    units = [unit for _, unit, _ in keys]
    return {"response": response, "units": units, "trial": trial, "seconds": round(seconds, 1)}


def batch_line(
    run_id: str, deed: str, progress: Any, before: int, total: int, paid: float | None = 0.0
) -> RunEvent:
    """The event of a run that waits for its batches: nothing is judged yet; with the provider's progress."""
    until = f", by {progress.until:%Y-%m-%d %H:%M} UTC at the latest" if progress.until else ""
    return line(run_id, deed, Progress(), before, total) | {
        "paused": f"The provider has answered {progress.done:,} of {progress.questions:,} questions{until}",
        "cost_usd": None if paid is None else round(paid + progress.spent_usd, 6) or None,
        "batches": {
            "out": progress.batches,
            "questions": progress.questions,
            "done": progress.done,
            "failed": progress.failed,
            "fates": {fate.value: count for fate, count in progress.fates.items()},
            "until": progress.until.isoformat() if progress.until else None,
        },
    }


def ended_line(
    run_id: str, deed: str, ended: Any, before: int, total: int, without: Mapping[str, int] | None = None
) -> RunEvent:
    """The last event of a run: a progress event with how it ended and the totals.

    `without` counts by cause what the run has no verdict on, including earlier sessions; None if only this session is
    known. `judged`, these and `not_asked` add up to the total.
    """
    result = line(run_id, deed, ended.progress, before, total)
    lacking = dict(without or result["missing"])
    return result | {
        "event": "ended",
        "state": ended.state.value,
        "cause": ended.cause,
        "until": ended.until.isoformat() if ended.until else None,
        "judged": max(0, result["done"] - sum(lacking.values())),
        "without": lacking,
        "not_asked": max(0, total - result["done"]),
    }


def together(events: Sequence[RunEvent], total: int) -> RunEvent:
    """The last event of an order of several runs, some perhaps not begun: sums, and how the last ended."""
    sums = ("done", "judged", "calls", "reused", "seconds")
    costs = [one["cost_usd"] for one in events]
    without: Counter[str] = Counter()
    for one in events:
        without.update(one["without"])
    whole = {name: round(sum(one[name] for one in events), 1) for name in sums}
    return (
        events[-1]
        | whole
        | {
            "total": total,
            "not_asked": max(0, total - whole["done"]),
            "without": dict(without),
            "missing": dict(without),
            "models": sorted({model for one in events for model in one["models"]}),
            "cost_usd": None if None in costs else sum(costs),
            "deed": "judgements judged",
            "runs": [one["run"] for one in events],
        }
    )


def words(line: RunEvent) -> list[str]:
    left = f", {line['not_asked']:,} not asked" if line["not_asked"] else ""
    came = f"{line['judged']:,} of {line['total']:,} {line['deed']}{left}"
    calls, reused = counted(line["calls"], "call"), counted(line["reused"], "answer")
    cost, models = dollars(line["cost_usd"]), ", ".join(line["models"])
    advice, several = _ADVICE.get(line.get("kind", _ASKS), ""), len(line["models"]) > 1
    sentences = (
        f"{came} ({line['state']}, {line['seconds']} s).",
        f"Without a verdict: {causes(line['without'])}. {advice}" if line["without"] else "",
        f"{calls}, {reused} taken from the journal; the whole run cost {cost}." if line["calls"] else "",
        f"The endpoint answered as more than one model: {models}." if several else "",
        f"Reason for stopping: {line['cause']}" if line["cause"] else "",
    )
    return list(filter(None, sentences))


def causes(missing: Mapping[str, int]) -> str:
    """How many are missing, by cause; empty if none is."""
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in missing.items())


def dollars(cost: float | None) -> str:
    """A cost in words; None is unknown, not $0."""
    return "an unknown amount" if cost is None else f"${cost:.4f}"


@dataclass(slots=True)
class SystemStatus:
    """Progress of one system in a run: verdicts or documents, and missing ones by cause.

    `due` is the number of judgements requested, 0 until they are counted.
    """

    system: str
    came: int = 0
    due: int = 0
    missing: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class CallSubject:
    item_key: str
    system: str
    unit: str


@people.for_coordinators("can watch judge runs")
def named(
    project: Project, protocol: str, keys: Iterable[judge_cases.UnitKey]
) -> dict[judge_cases.UnitKey, CallSubject]:
    """The subjects of calls in progress, by response and unit; only a coordinator may see whose reports they are."""
    pairs = list(keys)
    question = (
        select(RESPONSE.c.id, ITEM.c.id, ITEM.c.key, SYSTEM.c.name)
        .join(ITEM, ITEM.c.id == RESPONSE.c.item_id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(RESPONSE.c.id.in_({response for response, _ in pairs}))
    )
    items = select(ITEM.c.id, ITEM.c.key).where(
        ITEM.c.id.in_({unit for response, unit in pairs if not response})
    )
    with project.store.read() as db:
        result = {row[0]: (row[1], row[2], row[3]) for row in db.execute(question)}
        keys_of_items = {row[0]: row[1] for row in db.execute(items)}
    ids = {place[0] for place in result.values()} if protocol in PROTOCOLS else set()
    words = judge_cases.words_of(project, [(item_id, protocol) for item_id in sorted(ids)])
    return {
        (response, unit): CallSubject(item_key, system, words.get((response, unit), ""))
        for response, unit in pairs
        for _, item_key, system in [result.get(response, ("", keys_of_items.get(unit, ""), ""))]
    }


def by_system(project: Project, run_id: str, protocol: str) -> list[SystemStatus]:
    """The results of a run by system, sorted by name. Failed extractions have only calls stored, without a system."""
    table, status = (
        (EXTRACT, literal(Status.OK.value)) if protocol in EXTRACTIONS else (JUDGEMENT, JUDGEMENT.c.status)
    )
    question = (
        select(SYSTEM.c.name, status.label("status"), func.count())
        .select_from(table)
        .join(RESPONSE, RESPONSE.c.id == table.c.response_id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(table.c.run_id == run_id)
        .group_by(SYSTEM.c.name, "status")
        .order_by(SYSTEM.c.name, "status")
    )
    result: dict[str, SystemStatus] = {}
    for name, status, count in project.query(question):
        system_status = result.setdefault(name, SystemStatus(name))
        if status in SETTLED:
            system_status.came += count
        else:
            system_status.missing[status] = count
    return list(result.values())


def requested(project: Project, order: RunRequest) -> dict[str, int]:
    """System → the judgements that an order asks for on it, existing or not; empty for an extraction."""
    protocol = PROTOCOLS.get(order.protocol)
    if protocol is None:
        return {}
    result = {}
    for name in order.systems or judge_cases.systems(project):
        total = judge_cases.outlook(project, replace(order, systems=(name,)), frozenset()).total
        # Pairs are counted in both orders, one of which belongs to the other system.
        result[name] = total // 2 if protocol.paired else total
    return result


FLAGGED = "quote_missing"


@dataclass(slots=True)
class JudgeTotal:
    """Totals of a judge under a protocol: verdicts, missing ones by cause, and quotations not found.

    `calls` and `spent_usd` are of its runs under the protocol; `unpriced` counts calls of unknown cost. `afresh_usd` is
    what the calls behind its present judgements cost when they were made, by whichever run: the cost of the same
    without the journal. `items` counts the questions.
    """

    judge_id: str
    protocol: str
    verdicts: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    quotes_missing: int = 0
    items: int = 0
    calls: int = 0
    unpriced: int = 0
    spent_usd: float | None = None
    afresh_usd: float | None = None

    @property
    def judgements(self) -> int:
        return self.verdicts + self.missing.total()


def summed(totals: Iterable[JudgeTotal], judge_id: str) -> JudgeTotal:
    """The totals of a judge over its protocols; the items are those of the protocol with the most."""
    mine = [total for total in totals if total.judge_id == judge_id]
    return JudgeTotal(
        judge_id,
        "",
        verdicts=sum(total.verdicts for total in mine),
        missing=sum((total.missing for total in mine), Counter[str]()),
        quotes_missing=sum(total.quotes_missing for total in mine),
        items=max((total.items for total in mine), default=0),
        calls=sum(total.calls for total in mine),
        unpriced=sum(total.unpriced for total in mine),
        spent_usd=_sum(total.spent_usd for total in mine),
        afresh_usd=_sum(total.afresh_usd for total in mine),
    )


def _sum(amounts: Iterable[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if known else None


def totals(project: Project) -> list[JudgeTotal]:
    """The totals of the judges: a line for each judge and protocol."""
    result: dict[tuple[str, str], JudgeTotal] = {}
    with project.store.read() as db:
        _judgements(db, result)
        _spent(db, result)
        _afresh(db, result)
    return [result[key] for key in sorted(result)]


def _judgements(db: Connection, totals: dict[tuple[str, str], JudgeTotal]) -> None:
    j = JUDGEMENT.c
    counted = func.sum(case((j.flags.contains(FLAGGED), 1), else_=0))
    question = select(j.rater_id, j.protocol, j.status, func.count(), counted).group_by(
        j.rater_id, j.protocol, j.status
    )
    items = select(j.rater_id, j.protocol, func.count(j.item_id.distinct())).group_by(j.rater_id, j.protocol)
    by_judges = j.rater_kind == RaterKind.JUDGE.value
    for judge, protocol, status, count, flagged in db.execute(question.where(by_judges)):
        total = totals.setdefault((judge, protocol), JudgeTotal(judge, protocol))
        if status == Status.OK.value:
            total.verdicts = count
        elif status not in SETTLED:
            total.missing[status] = count
        total.quotes_missing += flagged
    for judge, protocol, count in db.execute(items.where(by_judges)):
        totals[judge, protocol].items = count


def _spent(db: Connection, totals: dict[tuple[str, str], JudgeTotal]) -> None:
    bill = bills()
    question = select(
        bill.c.judge_id, bill.c.protocol, func.count(), func.count(bill.c.charged), func.sum(bill.c.charged)
    )
    for judge, protocol, calls, priced, spent in db.execute(
        question.group_by(bill.c.judge_id, bill.c.protocol)
    ):
        total = totals.setdefault((judge, protocol), JudgeTotal(judge, protocol))
        total.calls, total.unpriced, total.spent_usd = calls, calls - priced, spent


def _afresh(db: Connection, totals: dict[tuple[str, str], JudgeTotal]) -> None:
    j = JUDGEMENT.c
    each = select(j.rater_id, j.protocol, j.call_id).where(j.call_id.is_not(None)).distinct().subquery()
    question = (
        select(each.c.rater_id, each.c.protocol, func.sum(case((UNBILLED, None), else_=CALL.c.cost_usd)))
        .join(CALL, CALL.c.id == each.c.call_id)
        .group_by(each.c.rater_id, each.c.protocol)
    )
    for judge, protocol, cost in db.execute(question):
        totals[judge, protocol].afresh_usd = cost
