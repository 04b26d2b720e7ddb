"""The journal of a run: every finished call and judgement is committed before it is announced."""

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    Select,
    Subquery,
    Table,
    and_,
    bindparam,
    case,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.exc import SQLAlchemyError

from annotator.actions.labelling import label_rows
from annotator.actions.project import people
from annotator.actions.project.file import Project, judgement_hash
from annotator.actions.runs import judge_cases
from annotator.domain.common import CutList, Refusal, canonical_json, escaped, new_id, now, required, sha256
from annotator.domain.judges.judge import SETTLED, Call, RaterKind, Status, Verdict
from annotator.domain.judges.protocol import Case
from annotator.domain.stored import JudgementFields
from annotator.domain.texts.difference import find
from annotator.judging.batches.batch_results import DECLINED, BatchStage, BatchState
from annotator.judging.calls.asking import Key
from annotator.judging.runner import Finished
from annotator.storage.tables import (
    BATCH,
    CALL,
    ITEM,
    JUDGEMENT,
    RESPONSE,
    RUN,
    SYSTEM,
    add_missing,
    if_given,
    put,
)

# A longer list must be filtered before anyone reads it.
MOST = 5_000
NO_VERDICT, FLAGGED, ALL = "no verdict", "flagged", "all"
READS = "can read judges' replies"


@dataclass(frozen=True, slots=True)
class JudgementQuery:
    """A filter of the judgements of a run, or of a judge's current ones under a protocol.

    Missing, flagged or all; by cause, flag and system. `words` are searched in the item's key, the rationale, the
    quotation and the cause; `item` is a key, `unit` an id within it.
    """

    run_id: str = ""
    judge_id: str = ""
    protocol: str = ""
    which: str = NO_VERDICT
    cause: str = ""
    system: str = ""
    flag: str = ""
    words: str = ""
    item: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class JudgementLine:
    """A judgement in a list; `unit` is its subject. Without a value, the status is the cause."""

    id: str
    protocol: str
    item_key: str
    system: str
    unit: str
    trial: int
    value: str | None
    status: str
    cause: str
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgementLines:
    """The result of a query, counts by sort, cause and flag, and the number cut off."""

    lines: tuple[JudgementLine, ...]
    counts: Mapping[str, int]
    causes: Mapping[str, int]
    left_off: int = 0
    flags: Mapping[str, int] = field(default_factory=dict)


@people.for_coordinators(READS)
def lines(project: Project, query: JudgementQuery) -> JudgementLines:
    """The judgements selected by a query, item by item; only a coordinator may read judges' replies."""
    question = _question(query)
    with project.store.read() as db:
        rows = db.execute(question.limit(MOST)).mappings().all()
        total = db.execute(select(func.count()).select_from(question.subquery())).scalar_one()
        counts, causes = _counts(db, query)
        flags = _flags(db, query)
    words = judge_cases.words_of(project, [(row["item_id"], row["protocol"]) for row in rows])
    made = tuple(line_of(row, words) for row in rows)
    return JudgementLines(made, counts, causes, total - len(made), flags)


def listed() -> Select[Any]:
    """Judgements with the key and question of their item and the name of their system."""
    columns = [column for column in JUDGEMENT.c if column.name not in ("sha256", "note", "seconds")]
    return (
        select(*columns, ITEM.c.key.label("item_key"), ITEM.c.question, SYSTEM.c.name.label("system"))
        .select_from(JUDGEMENT)
        .join(ITEM, ITEM.c.id == JUDGEMENT.c.item_id)
        .join(RESPONSE, RESPONSE.c.id == JUDGEMENT.c.response_id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
    )


def line_of(row: Any, words: Mapping[judge_cases.UnitKey, str]) -> JudgementLine:
    """A row of `listed` as a line; `words` names each unit."""
    return JudgementLine(
        id=row["id"],
        protocol=row["protocol"],
        item_key=row["item_key"],
        system=row["system"],
        unit=words.get((row["response_id"], row["unit_id"]), ""),
        trial=row["trial"],
        value=row["value"],
        status=row["status"],
        cause=row["cause"],
        flags=tuple(row["flags"].split()),
    )


def _of(query: JudgementQuery) -> ColumnElement[bool]:
    j = JUDGEMENT.c
    if query.run_id:
        return j.run_id == query.run_id
    mine = (j.rater_kind == RaterKind.JUDGE.value) & (j.rater_id == query.judge_id)
    return mine & (j.protocol == query.protocol)


def _question(query: JudgementQuery) -> Select[Any]:
    j = JUDGEMENT.c
    columns = (
        (j.status, query.cause), (SYSTEM.c.name, query.system), (ITEM.c.key, query.item), (j.unit_id, query.unit)
    )  # fmt: skip
    question = listed().where(_of(query), *if_given(*columns))
    if query.which == NO_VERDICT:
        question = question.where(j.status.not_in(SETTLED))
    elif query.which == FLAGGED:
        question = question.where(j.flags != "")
    if query.flag:
        question = question.where((" " + j.flags + " ").contains(f" {query.flag} ", autoescape=True))
    if query.words:
        sought = (ITEM.c.key, j.rationale, j.quote, j.cause)
        question = question.where(or_(*(column.icontains(query.words, autoescape=True) for column in sought)))
    return question.order_by(
        ITEM.c.position, ITEM.c.key, ITEM.c.id, SYSTEM.c.name, j.artifact_id, j.unit_id, j.trial
    )


def _counts(db: Connection, query: JudgementQuery) -> tuple[dict[str, int], dict[str, int]]:
    """The number of judgements of each sort, and of each cause, most frequent first."""
    j = JUDGEMENT.c
    by_status = select(j.status, func.count()).where(_of(query)).group_by(j.status)
    causes: dict[str, int] = {
        status: count for status, count in db.execute(by_status.order_by(func.count().desc(), j.status))
    }
    flagged = select(func.count()).where(_of(query), j.flags != "")
    every = sum(causes.values())
    missing = every - sum(causes.pop(one.value, 0) for one in SETTLED)
    return {NO_VERDICT: missing, FLAGGED: db.execute(flagged).scalar_one(), ALL: every}, causes


def _flags(db: Connection, query: JudgementQuery) -> dict[str, int]:
    j = JUDGEMENT.c
    result = Counter[str]()
    for flags, count in db.execute(
        select(j.flags, func.count()).where(_of(query), j.flags != "").group_by(j.flags)
    ):
        for flag in flags.split():
            result[flag] += count
    return dict(result.most_common())


T = TypeVar("T")


class KnownKeys(Container[Any]):
    """Keys of answered calls, or of judgements, in the millions: by hash; one false hit in 2⁶⁴."""

    def __init__(self, keys: Iterable[Hashable] = ()) -> None:
        self._before = array("q", sorted(map(hash, keys)))
        self._since: set[int] = set()

    def add(self, key: Hashable) -> None:
        self._since.add(hash(key))

    def new(self, things: Iterable[T], by: Callable[[T], Hashable]) -> list[T]:
        """The things whose keys are not known yet; from now on they are."""
        fresh = []
        for one in things:
            if (key := by(one)) not in self:
                self.add(key)
                fresh.append(one)
        return fresh

    def __contains__(self, key: object) -> bool:
        hashed = hash(key)
        place = bisect_left(self._before, hashed)
        result = place < len(self._before) and self._before[place] == hashed
        return result or hashed in self._since


# Built once: building a statement again takes longer than running it.
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
_OVERTAKEN = Verdict(status=Status.SKIPPED, cause=label_rows.CAUSE)


BATCH_SETTLED = BatchStage.SETTLED.value


class RunJournal:
    """The journal of one run, and the storage of its batches; each method commits before it returns.

    A run's own `keep` writes the results of finished cases if they are not judgements. `many_calls` if a case takes so
    many calls that none may be lost when the process is killed in the middle of it.
    """

    def __init__(
        self,
        project: Project,
        run_id: str,
        judge_id: str,
        protocol: str,
        keep: "Keep | None" = None,
        many_calls: bool = False,
    ) -> None:
        self.run_id, self.many_calls, self._keep = run_id, many_calls, keep or type(self).keep
        self._project, self._judge_id, self._protocol = project, judge_id, protocol
        self._known: KnownKeys | None = None
        self._begun = now()
        self._noted: dict[str, Status] = {}
        """Call id → status of stored answers with which no verdict has been stored yet."""

    def find(self, cache_key: str) -> Call | None:
        """The latest answered call with that key; an error is never served again."""
        if cache_key not in self._answered():
            return None
        row = self._project.query(_LATEST, {"key": cache_key}).mappings().first()
        return call_of(row) if row else None

    def _answered(self) -> KnownKeys:
        """The keys of answered calls. No other process adds any: one run at a time writes to a project."""
        if self._known is None:
            with self._project.store.read() as db:
                self._known = KnownKeys(db.execute(select(CALL.c.cache_key).where(_ANSWERED)).scalars())
        return self._known

    def finished(self, run: str) -> Container[Key]:
        """The judgements not to ask for: those given before, and what this very run has finished.

        Judgements of another wording are asked for again.
        """
        mine = (JUDGEMENT.c.rater_id == self._judge_id, JUDGEMENT.c.protocol == self._protocol)
        question = select(JUDGEMENT.c.response_id, JUDGEMENT.c.unit_id, JUDGEMENT.c.trial).where(
            *mine, JUDGEMENT.c.status.in_(SETTLED) | (JUDGEMENT.c.run_id == run)
        )
        with self._project.store.read() as db:
            rows = label_rows.outdated(db, *mine).values()
            gone = {(row.response_id, row.unit_id, row.trial) for row in rows}
            return KnownKeys(key for row in db.execute(question) if (key := tuple(row)) not in gone)

    def without(self) -> dict[str, int]:
        """The number of judgements this run left without a verdict, by cause."""
        return by_cause(self._project, JUDGEMENT, JUDGEMENT.c.run_id == self.run_id)

    def record(self, batch: list[Finished]) -> None:
        """Commit a batch: the calls, the verdicts read from them, and the progress of the run.

        All units of a case are in one batch, so they are stored together or not at all.
        """
        at = now()
        # An answer may be shared before it is journalled: it is stored with the first judgement that rests on it.
        shared = (call for one in batch for call in one.reused if call.cache_key not in self._answered())
        done = [finished for finished in batch if finished.judged]
        made = (c for one in batch for c in one.calls if c.status != self._noted.get(c.id))
        with self._writing(chain(made, shared), at) as (db, calls):
            self._add(db, calls)
            db.execute(_COUNT, {"run": self.run_id, "more": self._keep(self, db, done, at)})
        for one in batch:
            for call in one.calls:
                self._noted.pop(call.id, None)
        self._know(calls)

    def keep_calls(self, new_calls: Iterable[Call]) -> None:
        """Commit calls that a batch brought; an existing id is not changed."""
        with self._writing(new_calls, now()) as (db, calls):
            self._add(db, calls)
        self._know(calls)

    def batches(self) -> list[BatchState]:
        """The run's batches whose answers are still to be fetched, oldest first."""
        mine = (BATCH.c.run_id == self.run_id, BATCH.c.stage != BATCH_SETTLED)
        question = select(BATCH.c.content).where(*mine).order_by(BATCH.c.at, BATCH.c.id)
        return [
            BatchState.model_validate_json(content) for content in self._project.query(question).scalars()
        ]

    def keep_batch(self, state: BatchState) -> None:
        """Store the present state of a batch in place of the former."""
        row = {"stage": state.stage.value, "content": state.model_dump_json()}
        with self._project.store.write() as db:
            if not db.execute(update(BATCH).where(BATCH.c.id == state.id), row).rowcount:
                db.execute(insert(BATCH), {"id": state.id, "run_id": self.run_id, "at": now(), **row})

    def declined(self) -> list[Call]:
        """The run's calls that need not be repeated, as the provider declined them."""
        mine = (CALL.c.run_id == self.run_id, CALL.c.status.in_([each.value for each in DECLINED]))
        rows = self._project.query(select(CALL).where(*mine).order_by(CALL.c.at)).mappings().all()
        return [call_of(row) for row in rows]

    def note(self, noted: list[Call]) -> None:
        """Commit calls as they are sent and answered, each in place of its former record."""
        with self._writing(noted, now()) as (db, calls):
            put(db, CALL, calls)
        self._noted.update((call.id, call.status) for call in noted if call.latency_s is not None)
        self._know(call for call in calls if call["status"] == Status.OK.value)

    @contextmanager
    def _writing(
        self, calls: Iterable[Call], at: datetime
    ) -> Iterator[tuple[Connection, list[dict[str, Any]]]]:
        """One transaction, and the rows of these calls, made before it so that others wait less for the file.

        Any failure is a Refusal, so that a run ends in words and can be resumed.
        """
        try:
            rows = [self._call(call, at) for call in calls]
            with self._project.store.write() as db:
                yield db, rows
        except (SQLAlchemyError, ArithmeticError, TypeError, ValueError) as error:
            words = str(error.__cause__ or error).partition("\n")[0]
            raise Refusal(
                f"Answers could not be stored: {escaped(words)[:200]}.",
                "What was stored before is in the project; the same command goes on from there.",
            ) from error

    def _add(self, db: Connection, calls: list[dict[str, Any]]) -> None:
        if calls:
            add_missing(db, CALL, calls)
        # A call of a batch is stored before its reply is parsed: only now is it known to be unusable.
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
        """Write the results of finished cases, in the transaction of their calls; return their number."""
        wordings = label_rows.now_says(db, {finished.case.artifact_id for finished in done}, self._begun)
        rows = [row for finished in done for row in self._judgements(finished, at, wordings)]
        if rows:
            put(db, JUDGEMENT, rows)
        return len(rows)

    def _call(self, call: Call, at: datetime) -> dict[str, Any]:
        row = call.model_dump(mode="json")
        return row | {"at": at, "sha256": call_hash(row)}

    def _judgements(
        self, finished: Finished, at: datetime, wordings: Mapping[str, Mapping[str, str]]
    ) -> Iterator[dict[str, Any]]:
        case, present_wordings = finished.case, wordings.get(finished.case.artifact_id, {})
        texts = {unit.id: unit.text for unit in case.units}
        for unit_id, given in finished.verdicts.items():
            # The unit was reworded while the judge was asked.
            words = texts.get(unit_id, "")
            wording = present_wordings.get(unit_id, present_wordings.get(unit_id.rpartition("~")[2], words))
            verdict = given if wording == words else _OVERTAKEN
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


Keep = Callable[[RunJournal, Connection, list[Finished], datetime], int]


def by_cause(project: Project, given: Table, *whose: ColumnElement[bool]) -> dict[str, int]:
    """The number of these judgements without a verdict, by cause."""
    question = select(given.c.status, func.count()).where(given.c.status.not_in(SETTLED), *whose)
    return {status: count for status, count in project.query(question.group_by(given.c.status))}


def call_of(row: Mapping[str, Any] | RowMapping) -> Call:
    return Call(**{name: row[name] for name in Call.model_fields} | {"status": Status(row["status"])})


def same_question(call_id: str | None) -> Select[Any]:
    """Every call that asked the same question as this one, newest first; the repaired one first if at the same time."""
    key = select(CALL.c.cache_key).where(CALL.c.id == call_id).scalar_subquery()
    return select(CALL).where(CALL.c.cache_key == key).order_by(CALL.c.at.desc(), CALL.c.repaired.desc())


def call_hash(row: dict[str, Any]) -> str:
    """The hash of a journalled call: its request, its reply and its cost."""
    return sha256(canonical_json({key: row[key] for key in Call.model_fields}))


# A call whose bill is unknown has been stored with the most it may have cost, and no token counts.
UNBILLED = and_(CALL.c.tokens_output.is_(None), CALL.c.cost_usd > 0)
_UNANSWERED = CALL.c.status.in_((Status.SKIPPED.value, Status.TIMEOUT.value, Status.API_ERROR.value))


def bills() -> Subquery:
    """Every call with its run and judge, what it was `charged`, and whether its bill is `known` (1) or estimated (0).

    A request that was cut short is estimated at the mean cost of its run's calls. `charged` is None if that is unknown
    too, if no price is known, and if an answer came without token counts.
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


# The number of characters shown before and after a quotation.
AROUND = 160


@dataclass(frozen=True, slots=True)
class Reply:
    """A call: its reply, request form and time; `own` if the judgement was read from it."""

    call: Call
    at: datetime
    own: bool


@dataclass(frozen=True, slots=True)
class JudgementDetail:
    """A judgement in full: question, value, and replies, newest first.

    `quote_found` is whether the quotation occurs in the report (or in the cited page), None if nothing is quoted;
    `before` and `after` are the text around it; `address` is the cited page's.
    """

    line: JudgementLine
    question: str
    rationale: str
    quote: str
    quote_found: bool | None
    before: str = ""
    after: str = ""
    address: str = ""
    replies: tuple[Reply, ...] = ()


@people.for_coordinators(READS)
def judgement_detail(project: Project, judgement_id: str) -> JudgementDetail:
    """A judgement with every reply to its question; raises Refusal if it was replaced since the list was read."""
    with project.store.read() as db:
        row = required(
            db.execute(listed().where(JUDGEMENT.c.id == judgement_id)).mappings().first(),
            "That judgement was replaced since.",
            "Read the list again.",
        )
        asked = db.execute(same_question(row["call_id"])).mappings()
        replies = tuple(_reply(each, row["call_id"]) for each in asked)
    case = judge_cases.case_of(project, row["protocol"], row["item_id"], (row["response_id"], row["unit_id"]))
    result, before, after = _quoted(row["quote"], case)
    return JudgementDetail(
        line=line_of(row, judge_cases.words_of_case(project, case)),
        question=row["question"],
        rationale=row["rationale"],
        quote=row["quote"],
        quote_found=result,
        before=before,
        after=after,
        address=case.given.get("address", "") if case is not None else "",
        replies=replies,
    )


@people.for_coordinators(READS)
def calls(project: Project, run_id: str) -> CutList[Reply]:
    """The calls of a run, newest first: all that is stored of what an extraction asked."""
    question = select(CALL).where(CALL.c.run_id == run_id).order_by(CALL.c.at.desc(), CALL.c.id)
    with project.store.read() as db:
        shown = [_reply(row, "") for row in db.execute(question.limit(MOST)).mappings()]
        total = db.execute(select(func.count()).select_from(question.subquery())).scalar_one()
    return CutList(tuple(shown), total)


def _quoted(quote: str, case: Case | None) -> tuple[bool | None, str, str]:
    """Whether the quotation occurs in its text, and the text before and after it."""
    if not quote or case is None:
        return None, "", ""
    text = case.given.get("page") or case.response.text
    span = find(text, quote)
    if span is None:
        return False, "", ""
    start, end = span
    return True, text[max(0, start - AROUND) : start], text[end : end + AROUND]


def _reply(row: Any, call_id: str | None) -> Reply:
    return Reply(call_of(row), row["at"], row["id"] == call_id)
