"""The interface of a kind of run: its check, work, journal and words."""

import asyncio
import gc
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Container, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar, TextIO

from sqlalchemy import Connection, select, update

from annotator.actions.items import items
from annotator.actions.judges import judges, kept_keys, prompts
from annotator.actions.project.file import Project, record, stoppable
from annotator.actions.runs import judge_cases, run_records
from annotator.actions.runs.journal import BATCH_SETTLED, RunJournal
from annotator.actions.runs.judge_cases import Key, RunRequest
from annotator.actions.runs.run_records import OpenRun, RunEvent
from annotator.domain.common import Change, Refusal
from annotator.domain.judges.judge import Judge, JudgeKind, RunState, Status, Verdict
from annotator.domain.judges.protocol import (
    Ask,
    Case,
    Extracted,
    Extraction,
    Material,
    Protocol,
    Verdicts,
    plain,
)
from annotator.domain.kinds.artifact import Kind
from annotator.judging import runner
from annotator.judging.batches import batching
from annotator.judging.batches.batch_results import BatchState
from annotator.judging.calls.asking import Asker, Refused
from annotator.judging.calls.client import Client, Sender
from annotator.judging.calls.limits import Limits, RunHalt
from annotator.judging.calls.noting import CallNotes
from annotator.judging.calls.prices import TOKENS_A_UNIT, Budget, prices
from annotator.storage.tables import BATCH, JUDGE, RUN, if_given


@asynccontextmanager
async def asking(
    project: Project,
    judge: Judge,
    order: RunRequest,
    journal: RunJournal,
    refused: Refused = lambda _: "",
    output_tokens: int = TOKENS_A_UNIT,
) -> AsyncIterator[Asker | None]:
    """The asker for a judge's endpoint; None for a judge that asks no model.

    `refused` says why a model may not answer; `output_tokens` is the most tokens that a reply is expected to have.
    """
    if judge.kind != JudgeKind.ENDPOINT:
        yield None
        return
    from annotator.judging.calls.keys import guard

    endpoint = kept_keys.endpoint_to_ask(project, judge, order.timeout_s)
    guard(logging.getLogger().handlers, endpoint.secrets)
    limits = Limits(
        order.concurrency,
        requests_per_minute=order.requests_per_minute or judge.settings.requests_per_minute,
        tokens_per_minute=order.tokens_per_minute or judge.settings.tokens_per_minute,
    )
    spent, longest = run_records.spent(project, journal.run_id)
    budget = Budget(order.budget_usd, spent, output_tokens=output_tokens, longest_output=longest)
    async with Client(endpoint) as client:
        sender = Sender(client, limits, prices(judge), budget)
        kept_keys.recall(project, sender)
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
            kept_keys.keep(project, sender)


@dataclass(frozen=True, slots=True)
class OutstandingBatch:
    """A batch without its answers yet; `stage` is ours, `status` the provider's at the last poll."""

    id: str
    run_id: str
    judge_id: str
    judge: str
    protocol: str
    questions: int
    stage: str
    status: str
    expires_at: datetime | None

    def words(self) -> str:
        until = f", to be answered by {self.expires_at:%Y-%m-%d %H:%M} UTC" if self.expires_at else ""
        status = self.status or "not yet sent"
        return f"{self.judge}, {self.protocol}: {self.questions:,} questions, {status}{until}"


def out(project: Project, judge_id: str = "", protocol: str = "") -> list[OutstandingBatch]:
    """The batches whose answers are still to be fetched, oldest first; of one judge or protocol if given."""
    question = (
        select(BATCH.c.content, BATCH.c.run_id, RUN.c.judge_id, RUN.c.protocol, JUDGE.c.name)
        .join(RUN, RUN.c.id == BATCH.c.run_id)
        .join(JUDGE, JUDGE.c.id == RUN.c.judge_id)
        .where(BATCH.c.stage != BATCH_SETTLED)
        .where(*if_given((RUN.c.judge_id, judge_id), (RUN.c.protocol, protocol)))
        .order_by(BATCH.c.at, BATCH.c.id)
    )
    rows = project.query(question).all()
    result = []
    for row in rows:
        state = BatchState.model_validate_json(row.content)
        if not state.input_file:
            # The provider never received it: its questions are filed again.
            continue
        about = row.run_id, row.judge_id, row.name, row.protocol, len(state.entries)
        result.append(OutstandingBatch(state.id, *about, state.stage.value, state.status, state.expires_at))
    return result


def refuse_while_out(project: Project, judge: Judge, protocol: str, run_id: str) -> None:
    """Refuse to ask a judge again what another of its runs has put into batches: it would be paid for twice."""
    if any(batch.run_id != run_id for batch in out(project, judge.id, protocol)):
        raise Refusal(
            f"Batches of “{judge.name}” under this protocol are still with the provider.",
            "Fetch them with: judge resume. Or cancel them: judge batches --withdraw, then judge resume.",
        )


async def withdraw(project: Project, judge: str = "") -> int:
    """Ask the providers to stop all outstanding batches (of a judge); return the number stopped.

    Answers given by then are fetched when the run is next started. Raises Refusal while a run is in progress.
    """
    waiting = out(project, judges.named(project, judge).id if judge else "")
    stopped = 0
    with run_records.alone(project):
        for run_id in dict.fromkeys(batch.run_id for batch in waiting):
            stopped += await _withdrawn(project, run_id)
    return stopped


def forget(project: Project, judge: str = "") -> int:
    """Give up all outstanding batches (of a judge), whatever their provider does; return their number.

    For a provider that cannot be reached any more: the questions are asked again, and paid for again.
    """
    waiting = out(project, judges.named(project, judge).id if judge else "")
    with run_records.alone(project), project.store.write() as db:
        for batch in waiting:
            db.execute(update(BATCH).where(BATCH.c.id == batch.id).values(stage=BATCH_SETTLED))
            about = {"run": batch.run_id, "questions": batch.questions}
            record(project, db, Change("judge_run", batch.run_id, "give up batch", None, about))
    return len(waiting)


async def _withdrawn(project: Project, run_id: str) -> int:
    row = dict(
        project.query(
            select(JUDGE, RUN.c.protocol).join(RUN, RUN.c.judge_id == JUDGE.c.id).where(RUN.c.id == run_id)
        )
        .mappings()
        .one()
    )
    protocol = row.pop("protocol")
    judge = Judge(**row)
    journal = RunJournal(project, run_id, judge.id, protocol)
    try:
        async with asking(project, judge, RunRequest(judge.name, protocol), journal) as asker:
            return await batching.withdraw(asker, journal) if asker is not None else 0
    except RunHalt as halt:
        raise Refusal(halt.cause, "Try again later, or forget them: judge batches --forget.") from None


Tell = Callable[[RunEvent], None]


@dataclass(frozen=True, slots=True)
class RunWork:
    """The work of a run: its cases, their protocol, and what is already done.

    `cases` yields them anew at each call, `whole` also those already done, for counting; `deed` names what is done:
    “criteria judged”. `refused` says why a model may not answer; the first such answer ends the run. `output_tokens` is
    the most tokens that a reply is expected to have.
    """

    protocol: Protocol
    cases: Callable[[], Iterable[Case]]
    total: int
    before: int
    deed: str
    already: Container[Key] = frozenset()
    refused: Refused = lambda _: ""
    whole: Callable[[], Iterable[Case]] | None = None
    output_tokens: int = TOKENS_A_UNIT


async def drive(
    project: Project,
    judge: Judge,
    order: RunRequest,
    work: RunWork,
    journal: RunJournal,
    tell: Tell,
    listen: TextIO | None,
) -> RunEvent:
    """Do the work and close its run; the returned event says how it ended.

    `tell` gets an event for each committed batch; a line “cancel” on `listen` stops the run within a second, “pause”
    lets it begin nothing more until “resume”; meanwhile its events are marked `held`.
    """
    run_id = journal.run_id
    run_records.set_counts(project, run_id, work.total, work.before)
    _, paid = run_records.paid(project, run_id)
    cancel, going = asyncio.Event(), asyncio.Event()
    going.set()

    def report(progress: runner.Progress) -> None:
        line = run_records.line(run_id, work.deed, progress, work.before, work.total, paid)
        tell(line if going.is_set() else {**line, "held": True})

    def report_batches(progress: Any) -> None:
        tell(run_records.batch_line(run_id, work.deed, progress, work.before, work.total, paid))

    def left() -> Iterator[Case]:
        return runner.left(work.cases(), work.already)

    try:
        with stoppable(cancel, listen, going), _little_garbage():
            async with asking(project, judge, order, journal, work.refused, work.output_tokens) as asker:
                asks: Any = None
                if asker is not None and order.batch and work.protocol.judge is not None:
                    asks = await batching.through(
                        work.protocol.judge, left, asker, journal, tell=report_batches, cancel=cancel
                    )
                ended = await runner.run(
                    work.protocol,
                    # Batches serve the cases in their own order.
                    asks.in_order(left) if asks else work.cases(),
                    asker,
                    concurrency=order.concurrency,
                    record=journal.record,
                    progress=report,
                    cancel=cancel,
                    going=going,
                    already=work.already,
                    asks=asks,
                )
    except Refusal:
        run_records.close_run(project, run_id, RunState.INTERRUPTED)
        raise
    cost = run_records.close_run(project, run_id, ended.state)
    last = run_records.ended_line(run_id, work.deed, ended, work.before, work.total, journal.without())
    return last | {"kind": str(judge.kind), "cost_usd": cost}


@contextmanager
def _little_garbage() -> Iterator[None]:
    """Collect garbage rarely: what is loaded so far stays alive, and judging leaves few cycles.

    Objects frozen here stay frozen: a process that judges does little else.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)


class RunKind(ABC):
    """A kind of run: the endpoint asked, the `protocol` of its questions, and the storage of its answers.

    Created for each order: it reads what there is to do as the project then is. All else is the same for every kind.
    """

    doing: ClassVar[str] = "judging"
    resumed: ClassVar[bool] = True
    """Whether `judge resume` resumes it; otherwise the command that asked for it does."""
    things: str = "judgements"
    reply_tokens: float | None = None
    """The tokens of a reply before this model has given any of the kind; None if as long as judgements."""
    skips: ClassVar[bool] = False
    """Whether its estimate leaves out subjects that nothing can be asked about."""
    at_most: ClassVar[bool] = False
    """Whether its estimate assumes the most that may be asked."""
    plan_tokens: int = 0
    """The tokens of a plan that is asked for first."""
    many_calls: ClassVar[bool] = False
    """Whether a case takes so many calls that none may be lost if the process is killed in the middle of it."""

    def __init__(self, project: Project, order: RunRequest) -> None:
        self.project, self.order = project, order
        self.judge, self.protocol = self.read(project, order)

    @abstractmethod
    def read(self, project: Project, order: RunRequest) -> tuple[Judge, Protocol]:
        """The judge to ask, and the protocol; raises Refusal for an order that cannot be carried out."""

    def check(self) -> None:  # noqa: B027 - most kinds are refused when they are made
        """Refuse an order that can be estimated, but not carried out."""

    def journal(self, run_id: str) -> RunJournal:
        return RunJournal(
            self.project, run_id, self.judge.id, self.order.protocol, self.keep, self.many_calls
        )

    def keep(self, journal: RunJournal, db: Connection, done: list[runner.Finished], at: datetime) -> int:
        """Write the results of finished cases, in the transaction of their calls; return their number."""
        return journal.keep(db, done, at)

    @abstractmethod
    def work(self, run: OpenRun, journal: RunJournal) -> RunWork:
        """What there is to ask, and what of it is already done."""

    @staticmethod
    def words(line: RunEvent) -> list[str]:
        return run_records.words(line)

    def stored_judge(self) -> Judge:
        return judges.stored(self.project, self.judge)

    def asker(self) -> Judge:
        return self.judge

    def opened(self) -> OpenRun:
        """The run, new or resumed; raises Refusal, before anything is written, if nothing can answer."""
        if self.asker().kind != JudgeKind.DERIVED:
            runner.refuse_unanswerable(self.protocol, by_model=self.asker().kind == JudgeKind.ENDPOINT)
        return run_records.open_run(self.project, self.judge, self.order, self.protocol.prompts)

    def ended(self, line: RunEvent, journal: RunJournal) -> RunEvent:
        return line

    @property
    def output_tokens(self) -> int:
        return round(
            self.reply_tokens or TOKENS_A_UNIT * judge_cases.units_a_call(self.judge, self.protocol.name)
        )

    @property
    def without(self) -> str:
        """What the order leaves out, in a sentence; empty if nothing."""
        return "" if self.order.items else items.left_out(self.project).not_counted

    def outlook(self) -> RunWork:
        return self.work(OpenRun("", 0), self.journal(""))

    @classmethod
    async def run(
        cls, project: Project, order: RunRequest, *, tell: Tell = lambda _: None, listen: TextIO | None = None
    ) -> RunEvent:
        """Run an order; the last event says how it ended.

        A run that was killed or cancelled is resumed. Raises Refusal if another is in progress.
        """
        run = cls(project, order)
        run.check()
        kept_keys.refuse_failed(project, run.asker())
        with run_records.alone(project):
            # What another run has done meanwhile is known only now.
            ended = await cls(project, order).through(tell, listen)
        tell(ended)
        return ended

    async def through(self, tell: Tell, listen: TextIO | None) -> RunEvent:
        self.judge = self.stored_judge()
        run = self.opened()
        journal = self.journal(run.id)
        work = replace(self.work(run, journal), output_tokens=self.output_tokens)
        ended = await drive(self.project, self.asker(), self.order, work, journal, tell, listen)
        return self.ended(ended, journal)


class DocumentRun(RunKind):
    """A run that makes documents by an extraction: each is held, by item and response, until it is stored."""

    verdict: ClassVar[str] = "drawn"
    """The verdict if a document was made; `nothing` is the cause if none was."""
    nothing: ClassVar[str] = "Nothing was drawn."
    may_be_empty: ClassVar[bool] = True

    def protocol_by(self, extraction: Extraction, name: str, needs: tuple[Kind, ...] = ()) -> Protocol:
        """The extraction as a protocol, under the name of its runs."""
        self._extraction = extraction
        self._materials: dict[tuple[str, str], Material] = {}
        self._extracted: dict[tuple[str, str], Extracted] = {}
        return Protocol(
            name=name,
            title=extraction.title,
            citation=extraction.citation,
            needs=needs,
            metrics=(),
            scale=plain(self.verdict),
            judge=self._ask,
            baseline=self._baseline if extraction.baseline else None,
            prompts=extraction.prompts,
        )

    async def _ask(self, case: Case, ask: Ask) -> Verdicts:
        material = self._materials.pop((case.item.id, case.response.id))
        return self._laid_aside(case, await self._extraction.extract(material, ask))

    def _baseline(self, case: Case) -> Verdicts:
        extract, material = self._extraction.baseline, self._materials.pop((case.item.id, case.response.id))
        return self._laid_aside(case, extract(material)) if extract else {}

    def _laid_aside(self, case: Case, extracted: Extracted) -> Verdicts:
        self._extracted[case.item.id, case.response.id] = extracted
        document, status, flags = extracted.document, extracted.status, " ".join(extracted.flags)
        if document is not None and status is Status.OK and (document.units or self.may_be_empty):
            return {case.unit.id: Verdict(value=self.verdict, flags=flags)}
        failed = Status.UNCLEAR if status is Status.OK else status
        return {case.unit.id: Verdict(status=failed, cause=extracted.cause or self.nothing, flags=flags)}


def with_failures(line: RunEvent, failed: list[dict[str, Any]]) -> RunEvent:
    """The last event of a run that lists its failures, which do not count as done."""
    return {**line, "done": line["done"] - sum(line["missing"].values()), "failed": failed}


def failure_words(line: RunEvent, of: Callable[[Mapping[str, Any]], str], *, first: str = "") -> list[str]:
    """The same in words; `of` names what failed, and `first` comes before the first failure."""
    sentences = run_records.words({**line, "without": {}})
    failed = [f"{of(one)}: {one['status'].replace('_', ' ')}. {one['cause']}" for one in line["failed"]]
    return [sentences[0], *([first] if first and failed else []), *failed, *sentences[1:]]
