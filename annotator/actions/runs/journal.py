"""The journal of a run: every finished call and judgement is committed before it is announced."""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from itertools import chain
from typing import Any, ClassVar, TypeVar

from sqlalchemy import (
    ColumnElement,
    RowMapping,
    Select,
    Subquery,
    Table,
    and_,
    bindparam,
    case,
    func,
    select,
    update,
)
from sqlalchemy.engine import Connection
from sqlalchemy.exc import SQLAlchemyError

from annotator.actions.labelling import wordings
from annotator.actions.project.file import Project
from annotator.actions.project.hashing import judgement_hash
from annotator.domain.judges.judge import Call
from annotator.domain.judges.judgement import SETTLED, JudgementFields, RaterKind, Status, Verdict
from annotator.domain.texts.canonical import canonical_json, escaped, sha256
from annotator.domain.texts.change import new_id, now
from annotator.domain.texts.refusal import Refusal
from annotator.judging.calls.cache import Key
from annotator.judging.runs.progress import Finished
from annotator.storage import upserts
from annotator.storage.tables import CALL, JUDGEMENT, RUN

T = TypeVar("T")


class KnownKeys(Container[Any]):
    """Keys of answered calls, or of judgements, in the millions: by hash; one false hit in 2⁶⁴."""

    def __init__(self, keys: Iterable[Hashable] = ()) -> None:
        self._before = array("q", sorted(map(hash, keys)))
        self._since: set[int] = set()

    def add(self, key: Hashable) -> None:
        self._since.add(hash(key))

    def new(self, found: Iterable[T], by: Callable[[T], Hashable]) -> list[T]:
        """Those of some things whose keys are not known yet, which are from now on."""
        fresh = []
        for one in found:
            if (key := by(one)) not in self:
                self.add(key)
                fresh.append(one)
        return fresh

    def __contains__(self, key: object) -> bool:
        wanted = hash(key)
        place = bisect_left(self._before, wanted)
        found = place < len(self._before) and self._before[place] == wanted
        return found or wanted in self._since


# Built once: making a statement again takes longer than running it.
_ANSWERED = CALL.c.status == Status.OK.value
_LATEST = (
    select(CALL).where(CALL.c.cache_key == bindparam("key"), _ANSWERED).order_by(CALL.c.at.desc()).limit(1)
)
_SPOILT = (Status.INVALID.value, Status.SKIPPED.value)
_SPOIL = (
    update(CALL)
    .where(CALL.c.id == bindparam("call"), _ANSWERED)
    .values({name: bindparam(name) for name in ("status", "cause", "sha256")})
)
_COUNT = update(RUN).where(RUN.c.id == bindparam("run")).values(done=RUN.c.done + bindparam("more"))
_OVERTAKEN = Verdict(status=Status.SKIPPED, cause=wordings.CAUSE)


class RunJournal:
    """The calls and judgements of one judge in one run under one protocol."""

    many_calls: ClassVar[bool] = False
    """Whether a case takes so many calls that a kill in the middle of it must lose none of them."""

    def __init__(self, project: Project, run_id: str, judge_id: str, protocol: str) -> None:
        self.run_id = run_id
        self._project, self._judge_id, self._protocol = project, judge_id, protocol
        self._known: KnownKeys | None = None
        self._begun = now()
        self._noted: dict[str, Status] = {}
        """How calls came back that are stored, and that no verdict has been stored with yet."""

    def find(self, cache_key: str) -> Call | None:
        """The latest call of that key that was answered; an error is never served again."""
        if cache_key not in self._answered():
            return None
        with self._project.store.read() as db:
            row = db.execute(_LATEST, {"key": cache_key}).mappings().first()
        return call_of(row) if row else None

    def _answered(self) -> KnownKeys:
        """The keys that may be found. No other process adds to them: one run at a time writes to a project."""
        if self._known is None:
            with self._project.store.read() as db:
                self._known = KnownKeys(db.execute(select(CALL.c.cache_key).where(_ANSWERED)).scalars())
        return self._known

    def finished(self, run: str) -> Container[Key]:
        """The judgements not to be asked for: those given before, and whatever this very run has finished.

        What was said of another wording is asked for again.
        """
        mine = (JUDGEMENT.c.rater_id == self._judge_id, JUDGEMENT.c.protocol == self._protocol)
        question = select(JUDGEMENT.c.response_id, JUDGEMENT.c.unit_id, JUDGEMENT.c.trial).where(
            *mine, JUDGEMENT.c.status.in_(SETTLED) | (JUDGEMENT.c.run_id == run)
        )
        with self._project.store.read() as db:
            rows = wordings.outdated(db, *mine).values()
            gone = {(row.response_id, row.unit_id, row.trial) for row in rows}
            return KnownKeys(key for row in db.execute(question) if (key := tuple(row)) not in gone)

    def without(self) -> dict[str, int]:
        """How many judgements this run left without a verdict, by cause."""
        return by_cause(self._project, JUDGEMENT, JUDGEMENT.c.run_id == self.run_id)

    def record(self, batch: list[Finished]) -> None:
        """Commit a batch: the calls as they came, what was read from them, and how far the run is.

        All units of a case are in one batch, and so are stored together or not at all.
        """
        at = now()
        # An answer may be shared before it is journalled: it goes in with the first judgement that rests on it.
        shared = (call for one in batch for call in one.reused if call.cache_key not in self._answered())
        done = [finished for finished in batch if finished.judged]
        with self._writing() as db:
            made = (c for one in batch for c in one.calls if c.status != self._noted.get(c.id))
            calls = [self._call(call, at) for call in chain(made, shared)]
            self._add(db, calls)
            kept = self.keep(db, done, at)
            db.execute(_COUNT, {"run": self.run_id, "more": kept})
        for one in batch:
            for call in one.calls:
                self._noted.pop(call.id, None)
        self._know(calls)

    def record_calls(self, found: Iterable[Call]) -> None:
        """Commit calls that a batch brought; one whose id is there already is left as it is."""
        at = now()
        with self._writing() as db:
            calls = [self._call(call, at) for call in found]
            self._add(db, calls)
        self._know(calls)

    def note(self, found: list[Call]) -> None:
        """Commit calls as they go out and come back, each in place of what was known of it before."""
        at = now()
        with self._writing() as db:
            calls = [self._call(call, at) for call in found]
            upserts.put(db, CALL, calls)
        self._noted.update((call.id, call.status) for call in found if call.latency_s is not None)
        self._know(call for call in calls if call["status"] == Status.OK.value)

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """One transaction; whatever prevents it is a Refusal, so that a run ends in words and can be resumed."""
        try:
            with self._project.store.write() as db:
                yield db
        except (SQLAlchemyError, ArithmeticError, TypeError, ValueError) as error:
            words = str(error.__cause__ or error).partition("\n")[0]
            raise Refusal(
                f"Answers could not be stored: {escaped(words)[:200]}.",
                "What was stored before is in the project; the same command goes on from there.",
            ) from error

    def _add(self, db: Connection, calls: list[dict[str, Any]]) -> None:
        if calls:
            upserts.add_missing(db, CALL, calls)
        # A call of a batch is there before its reply is read whole: that it is of no use is learnt only now.
        spoilt = [call for call in calls if call["status"] in _SPOILT]
        if spoilt:
            named = ("status", "cause", "sha256")
            db.execute(
                _SPOIL, [{"call": call["id"], **{name: call[name] for name in named}} for call in spoilt]
            )

    def _know(self, calls: Iterable[dict[str, Any]]) -> None:
        for call in calls:
            self._answered().add(call["cache_key"])

    def keep(self, db: Connection, done: list[Finished], at: datetime) -> int:
        """Write what finished cases came to, in the transaction of their calls; how much that is."""
        said = wordings.now_says(db, {finished.case.artifact_id for finished in done}, self._begun)
        rows = [row for finished in done for row in self._judgements(finished, at, said)]
        if rows:
            upserts.put(db, JUDGEMENT, rows)
        return len(rows)

    def _call(self, call: Call, at: datetime) -> dict[str, Any]:
        row = call.model_dump(mode="json")
        return row | {"at": at, "sha256": call_hash(row)}

    def _judgements(
        self, finished: Finished, at: datetime, said: Mapping[str, Mapping[str, str]]
    ) -> Iterator[dict[str, Any]]:
        case, now_said = finished.case, said.get(finished.case.artifact_id, {})
        asked = {unit.id: unit.text for unit in case.units}
        for unit_id, given in finished.verdicts.items():
            # Someone worded it again while the judge was asked.
            words = asked.get(unit_id, "")
            kept = now_said.get(unit_id, now_said.get(unit_id.rpartition("~")[2], words))
            verdict = given if kept == words else _OVERTAKEN
            fields = JudgementFields(
                **verdict.model_dump(),
                protocol=self._protocol,
                item_id=case.item.id,
                response_id=case.response.id,
                artifact_id=case.artifact_id,
                unit_id=unit_id,
                rater_kind=RaterKind.JUDGE,
                rater_id=self._judge_id,
                trial=case.trial,
                run_id=self.run_id,
                call_id=finished.call_id,
                at=at,
            )
            row = fields.model_dump()
            row |= {"status": verdict.status.value, "rater_kind": RaterKind.JUDGE.value}
            yield row | {"id": new_id(), "sha256": judgement_hash(row)}


def by_cause(project: Project, given: Table, *whose: ColumnElement[bool]) -> dict[str, int]:
    """How many of some judgements have no verdict, by cause."""
    question = select(given.c.status, func.count()).where(given.c.status.not_in(SETTLED), *whose)
    with project.store.read() as db:
        return {status: count for status, count in db.execute(question.group_by(given.c.status))}


def call_of(row: Mapping[str, Any] | RowMapping) -> Call:
    return Call(**{name: row[name] for name in Call.model_fields} | {"status": Status(row["status"])})


def same_question(call_id: str | None) -> Select[Any]:
    """Every call that put the question of this one, the newest first; of one moment the repaired one."""
    key = select(CALL.c.cache_key).where(CALL.c.id == call_id).scalar_subquery()
    return select(CALL).where(CALL.c.cache_key == key).order_by(CALL.c.at.desc(), CALL.c.repaired.desc())


def call_hash(row: dict[str, Any]) -> str:
    """The hash of a journalled call: what was asked for, what came, and what it cost."""
    return sha256(canonical_json({key: row[key] for key in Call.model_fields}))


# A call whose bill is unknown has been kept with the most that it may have cost, and no count of tokens.
UNBILLED = and_(CALL.c.tokens_output.is_(None), CALL.c.cost_usd > 0)
_UNANSWERED = CALL.c.status.in_((Status.SKIPPED.value, Status.TIMEOUT.value, Status.API_ERROR.value))


def bills() -> Subquery:
    """Every call with its run and judge, what it was `charged`, and whether its bill is `known` (1) or guessed (0).

    A request that was cut short is guessed to have cost what those of its run cost on average. `charged` is None
    where that is unknown too, where no price is known, and where an answer came without counts of tokens.
    """
    mean = (
        select(CALL.c.run_id, CALL.c.judge_id, func.avg(CALL.c.cost_usd).label("usual"))
        .where(CALL.c.cost_usd > 0, CALL.c.tokens_output.is_not(None))
        .group_by(CALL.c.run_id, CALL.c.judge_id)
        .subquery()
    )
    same = and_(
        func.coalesce(mean.c.run_id, "") == func.coalesce(CALL.c.run_id, ""),
        mean.c.judge_id == CALL.c.judge_id,
    )
    guessed = and_(UNBILLED, _UNANSWERED, mean.c.usual.is_not(None))
    return (
        select(
            CALL.c.id,
            CALL.c.cache_key,
            CALL.c.run_id,
            CALL.c.judge_id,
            func.coalesce(RUN.c.protocol, "").label("protocol"),
            case((guessed, mean.c.usual), (UNBILLED, None), else_=CALL.c.cost_usd).label("charged"),
            case((guessed, 0), else_=1).label("known"),
        )
        .select_from(CALL)
        .outerjoin(RUN, RUN.c.id == CALL.c.run_id)
        .outerjoin(mean, same)
        .subquery()
    )
