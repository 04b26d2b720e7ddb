"""Records of runs: their orders and endings, and the guard that only one runs at a time."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from secrets import randbelow
from typing import Any

from sqlalchemy import Row, func, insert, select, update

from annotator.actions.judges import prompts
from annotator.actions.project.file import Project, record
from annotator.actions.runs import judge_cases
from annotator.actions.runs.journal import bills
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judge import Judge, JudgeKind, RunState
from annotator.domain.judges.judgement import SETTLED
from annotator.domain.texts.canonical import canonical_json, sha256
from annotator.domain.texts.change import Change, new_id, now
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import CALL, JUDGE, JUDGEMENT, RUN

# Beside the causes of missing verdicts: a run ended before it asked, or leaves no judgements that would say why.
NOT_ASKED, NOT_DONE = "not_asked", "not_done"
_STOPPED = (RunState.INTERRUPTED.value, RunState.CANCELLED.value)
_SEEDS = 2**31
# Anyone who only looks whether a run goes on holds the lock for a moment.
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
        """What the run has no result for: by cause, and what it did not come to, of which no cause is kept."""
        rest = NOT_ASKED if self.protocol in PROTOCOLS else NOT_DONE
        return self.missing | ({rest: self.left} if self.left else {})

    @property
    def open(self) -> bool:
        """Whether something is left that the judge could be asked again."""
        return self.done < self.total or bool(self.missing)

    def order(self, **how: Any) -> RunRequest:
        """The order that resumes this run; `how` gives what is not kept: concurrency, timeout_s, budget_usd."""
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
    """All runs, newest first."""
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
        missing: dict[str, dict[str, int]] = {}
        for run_id, status, count in db.execute(causes):
            missing.setdefault(run_id, {})[status] = count
        return [_line(row, missing.get(row.id, {})) for row in db.execute(question)]


def last_unfinished(
    project: Project, judge: str = "", among: Callable[[str], bool] = lambda _: True
) -> RunLine:
    """The newest run that was cancelled, interrupted or killed, of one judge if named; Refusal when there is none.

    `among` tells by what a run was ordered by (its protocol) whether it is looked at.
    """
    # A run that still goes on is told by its lock, not by its state.
    open_states = (*_STOPPED, RunState.RUNNING.value)
    for found in runs(project):
        if found.state in open_states and judge in ("", found.judge) and among(found.protocol):
            return found
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
    """What a run was to do; runs of earlier versions asked unit by unit, once, live."""
    known: dict[str, Any] = json.loads(text)
    return {"systems": [], "items": [], "together": 1, "trials": 1, "batch": False, "models": []} | known


@contextmanager
def alone(project: Project) -> Iterator[None]:
    """Only one run at a time writes to a project; a run that died leaves the lock free."""
    from annotator.storage import holding

    busy = Refusal("A judge run is already in progress in this project.", "Wait for it, or cancel it first.")
    with holding.alone(project.path, _JUDGING, busy, _PATIENCE_S):
        stale = RUN.c.state == RunState.RUNNING.value
        with project.store.write() as db:
            db.execute(update(RUN).where(stale).values(state=RunState.INTERRUPTED.value))
        yield


def under_way(project: Project) -> bool:
    """Whether some run goes on at this moment, started from wherever."""
    from annotator.storage import holding

    busy = Refusal("A judge run is in progress.")
    try:
        with holding.alone(project.path, _JUDGING, busy):
            return False
    except Refusal as found:
        return found is busy


def open_run(project: Project, judge: Judge, order: RunRequest, asked_by: tuple[str, ...]) -> OpenRun:
    """The unfinished run with this very order, or a new one; `asked_by` names its prompts."""
    with project.store.write():
        found = stopped(project, judge, order)
        if found is not None:
            reopen(project, found.id)
        return found or new_run(project, judge, order, asked_by)


def reopen(project: Project, run_id: str) -> None:
    going = {"state": RunState.RUNNING.value, "ended_at": None}
    with project.store.write() as db:
        db.execute(update(RUN).where(RUN.c.id == run_id).values(**going))


def state_of(project: Project, run_id: str) -> str:
    with project.store.read() as db:
        return str(db.execute(select(RUN.c.state).where(RUN.c.id == run_id)).scalar_one())


def new_run(project: Project, judge: Judge, order: RunRequest, asked_by: tuple[str, ...]) -> OpenRun:
    """A run that begins now, whatever was left unfinished."""
    run = OpenRun(new_id(), randbelow(_SEEDS))
    scope = canonical_json(_wanted(judge, order) | {"seed": run.seed}).decode()
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
    """Response → by which seed its units were shuffled when this judge last judged it."""
    j = JUDGEMENT.c
    question = (
        select(j.response_id, RUN.c.scope)
        .join(RUN, RUN.c.id == j.run_id)
        .where(j.rater_id == judge_id, j.protocol == protocol, j.trial == 1)
        .distinct()
        .order_by(RUN.c.started_at)
    )
    with project.store.read() as db:
        return {row[0]: _scope(row[1]).get("seed", 0) for row in db.execute(question)}


def stopped(project: Project, judge: Judge, order: RunRequest) -> OpenRun | None:
    """The newest run with this very order, if it was left unfinished."""
    mine = (RUN.c.judge_id == judge.id) & (RUN.c.protocol == order.protocol)
    question = select(RUN.c.id, RUN.c.state, RUN.c.scope).where(mine).order_by(RUN.c.started_at.desc())
    with project.store.read() as db:
        rows = db.execute(question).all()
    for row in rows:
        scope = _scope(row.scope)
        seed = scope.pop("seed", 0)
        if scope == _wanted(judge, order):
            return OpenRun(row.id, seed) if row.state in _STOPPED else None
    return None


def _wanted(judge: Judge, order: RunRequest) -> dict[str, Any]:
    """What tells one order of a judge from another: not how fast it is run, nor for how much money."""
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
    """The hash of a prompt as it is in force; of several, that of their hashes."""
    from annotator.judging.prompts.messages import load

    edited = prompts.edited(project)
    hashes = [(edited.get(name) or load(name)).sha256 for name in names]
    return hashes[0] if len(hashes) == 1 else sha256("\n".join(hashes)) if hashes else ""


def set_counts(project: Project, run_id: str, total: int, done: int) -> None:
    """Keep how much a run comes to, and how much of it was done before it began or went on."""
    with project.store.write() as db:
        db.execute(update(RUN).where(RUN.c.id == run_id).values(total=total, done=done))


def spent(project: Project, run_id: str) -> tuple[float, int]:
    """US dollars that the calls of a run have cost, unknown bills at the most, and its longest reply in tokens."""
    with project.store.read() as db:
        so_far = select(func.sum(CALL.c.cost_usd), func.max(CALL.c.tokens_output)).where(
            CALL.c.run_id == run_id
        )
        cost, longest = db.execute(so_far).one()
    return float(cost or 0.0), int(longest or 0)


def paid(project: Project, run_id: str) -> tuple[int, float | None]:
    """How many calls a run has made, and what they cost; None where that of some is unknown."""
    bill = bills()
    cost = select(func.count(), func.count(bill.c.charged), func.sum(bill.c.charged)).where(
        bill.c.run_id == run_id
    )
    with project.store.read() as db:
        calls, priced, charged = db.execute(cost).one()
    return calls, float(charged or 0.0) if calls == priced else None


def close_run(project: Project, run_id: str, state: RunState) -> float | None:
    """Keep how a run ended, and what its calls cost; None where it made none, or the cost of some is unknown."""
    calls, cost = paid(project, run_id)
    cost = cost if calls else None
    with project.store.write() as db:
        ended = {"state": state.value, "ended_at": now(), "cost_usd": cost}
        db.execute(update(RUN).where(RUN.c.id == run_id).values(**ended))
        record(project, db, Change("judge_run", run_id, "end run", None, {"state": state.value}))
    return cost
