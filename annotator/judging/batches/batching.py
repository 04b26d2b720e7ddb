"""Overnight runs: questions sent as batches at half price, then the ordinary run over the answers.

    batched = await through(protocol.judge, cases, asker, shelf, cancel=cancel)
    ended = await runner.run(protocol, batched.in_order(cases), asker, asks=batched, …)

Every question is sent to the provider once, under an id that a restart does not change. The results are journalled
before they are reported; the ordinary run then finds the answers, and asks live for all that the batches left open.
"""

import asyncio
import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from annotator.domain.common import Refusal
from annotator.domain.judges.judge import Call, Status
from annotator.domain.judges.protocol import Answer, Ask, Case
from annotator.judging.batches.batch_results import (
    DECLINED,
    LIVE,
    LONGEST_NAP_S,
    BatchFileWriter,
    BatchGone,
    BatchLimits,
    BatchReading,
    BatchSession,
    BatchStage,
    BatchState,
    BatchStatus,
    QuestionFate,
    Shelf,
)
from annotator.judging.calls.asking import (
    Asker,
    CaseAsk,
    KeyedQuestion,
    QuestionSettling,
    keys_of,
    subjects_of,
)
from annotator.judging.calls.client import cap_of
from annotator.judging.calls.limits import RunHalt, backoff
from annotator.judging.calls.outcome import Usage, sentence
from annotator.judging.calls.prices import CallBill
from annotator.judging.calls.reply_parts import UnreadableReply, reread
from annotator.judging.runner import side_by_side, unless_cancelled

R = TypeVar("R", bound=BaseModel)


@dataclass
class Batched:
    """The results of the batches in the form that the ordinary run takes: a factory of one ask per case.

    `live` holds the keys of the questions that the batches left unanswered, `open` marks the cases that wait for an
    answer. With a `halt` nothing is asked live any more.
    """

    asker: Asker
    shelf: Shelf
    answered: set[str] = field(default_factory=set)
    declined: dict[str, Call] = field(default_factory=dict)
    live: set[str] = field(default_factory=set)
    open: set[int] = field(default_factory=set)
    fates: Counter[QuestionFate] = field(default_factory=Counter)
    spent_usd: float = 0.0
    halt: RunHalt | None = None

    def __call__(self, case: Case) -> "BatchedAsk":
        return BatchedAsk(self.asker, case.trial, subjects_of(case), batched=self)

    def in_order(self, cases: Callable[[], Iterable[Case]]) -> Iterator[Case]:
        """All cases, those waiting for an answer last: if the run halts, the others are judged by then."""
        yield from (case for case in cases() if hash(keys_of(case)) not in self.open)
        yield from (case for case in cases() if hash(keys_of(case)) in self.open)

    def settled(self, key: str) -> bool:
        return key in self.answered or key in self.declined or key in self.live

    def record_outcome(self, call: Call) -> None:
        if call.status is Status.OK:
            self.answered.add(call.cache_key)
        elif call.status in DECLINED:
            self.declined[call.cache_key] = call

    def known(self, question: KeyedQuestion) -> tuple[Call, BaseModel | None] | None:
        """The call that a batch returned for a question, with its reply; None if there is no usable one."""
        declined = self.declined.get(question.key)
        if declined is not None:
            return declined, None
        call = self.shelf.find(question.key) if question.key in self.answered else None
        if call is None:
            return None
        try:
            return call, reread(call, question.reply)
        except UnreadableReply:
            return None


@dataclass
class BatchedAsk(CaseAsk):
    """The `Ask` of one case: answered from the batches if possible, live otherwise."""

    batched: Batched | None = None

    async def __call__(
        self, prompt: str, fields: Mapping[str, str], reply: type[R], fenced: Sequence[str] = ()
    ) -> Answer:
        """Ask once; raises the RunHalt if only asking live would help and the run must end."""
        if self.batched is not None:
            question = self._question(self.asker.prompt(prompt), fields, reply, fenced)
            answer = self._from_batch(question)
            if answer is not None:
                if answer.status is Status.OK:
                    self.asker.limits.opened.set()
                return replace(answer, flags=self.raised(fields, fenced))
            if self.batched.halt is not None and self.asker.cached(question.key, reply) is None:
                raise self.batched.halt
        return await super().__call__(prompt, fields, reply, fenced)

    def _from_batch(self, question: KeyedQuestion) -> Answer | None:
        known = self.batched.known(question) if self.batched else None
        if known is None:
            return None
        call, reply = known
        self._keep(call)
        return Answer(call.status, reply, call.raw, call.cause)


@dataclass
class DeferringAsk(BatchedAsk):
    """An ask that collects the unanswered questions and returns them as skipped."""

    noted: list[KeyedQuestion] = field(default_factory=list)

    def _keep(self, call: Call) -> None:
        """Record nothing: no answer is used yet, whichever model gave it."""

    async def __call__(
        self, prompt: str, fields: Mapping[str, str], reply: type[R], fenced: Sequence[str] = ()
    ) -> Answer:
        """The stored answer if there is one. A question that depends on a missing answer does not come up yet."""
        question = self._question(self.asker.prompt(prompt), fields, reply, fenced)
        answer = self._from_batch(question)
        if answer is not None:
            return answer
        cached = self.asker.cached(question.key, reply)
        if cached is not None:
            return Answer(Status.OK, cached[1], cached[0].raw)
        self.noted.append(question)
        return Answer(Status.SKIPPED, cause="It waits for a batch.")


Judge = Callable[[Case, Ask], Awaitable[Any]]

FIRST_LOOK_S = 2.0
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
# The provider's queue is full: not the batch's fault, and a smaller batch may fit.
_QUEUE_FULL = "token_limit_exceeded"
_FEWEST = 10
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """The progress of a run's batches: `done` and `failed` as the provider counts them, the rest as journalled."""

    batches: int
    questions: int
    done: int
    failed: int
    fates: Mapping[QuestionFate, int]
    spent_usd: float
    until: datetime | None


Tell = Callable[[BatchProgress], None]


async def through(
    judge: Judge,
    cases: Callable[[], Iterable[Case]],
    asker: Asker,
    shelf: Shelf,
    *,
    tell: Tell = lambda _: None,
    cancel: asyncio.Event | None = None,
    sizes: BatchLimits | None = None,
    nap: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Batched:
    """Have the questions of all cases answered in batches, including those of an earlier start of the run.

    A question that depends on the answer to another is asked once that is known, in a batch of its own. `cases` is
    called again for each pass. `cancel` ends the waiting within a second and leaves the batches with the provider;
    the next call with the same shelf resumes them. Any other end of the run (the key, the budget, a batch rejected
    whole) is the result's `halt`. Refusal if the endpoint takes no batches.
    """
    batched = Batched(asker, shelf)
    for call in shelf.declined():
        batched.record_outcome(call)
    work = _Work(judge, batched, tell, sizes or BatchLimits(), nap).all(cases)
    if await unless_cancelled(work, cancel or asyncio.Event()):
        batched.halt = RunHalt("The run was stopped; its batches continue at the provider.")
    return batched


async def withdraw(
    asker: Asker, shelf: Shelf, nap: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> int:
    """Ask the provider to cancel all batches of a run and return how many it cancels. The next start uses what was
    answered.
    """
    session, stopped = BatchSession(asker.sender.client, nap), 0
    for state in shelf.batches():
        if state.stage is BatchStage.SENT and state.status not in _ENDED:
            with suppress(BatchGone):
                seen = await session.withdraw(state.batch)
                shelf.keep_batch(_as_seen(state, seen))
                stopped += seen.status not in _ENDED
    return stopped


class _Work:
    def __init__(
        self,
        judge: Judge,
        batched: Batched,
        tell: Tell,
        sizes: BatchLimits,
        nap: Callable[[float], Awaitable[None]],
    ) -> None:
        self._judge, self._batched, self._tell, self._sizes, self._nap = judge, batched, tell, sizes, nap
        self._asker, self._shelf = batched.asker, batched.shelf
        self._sender = batched.asker.sender
        self._session = BatchSession(self._sender.client, nap)
        self._replies: dict[str, type[BaseModel]] = {}
        self._out: dict[str, BatchState] = {}
        self._held: set[str] = set()
        self._seen: dict[str, BatchStatus] = {}
        self._all_known = asyncio.Event()
        self._learned = False

    async def all(self, cases: Callable[[], Iterable[Case]]) -> None:
        """Send and wait until no batch could answer anything more."""
        try:
            for state in self._shelf.batches():
                await self._restore(state)
            while await self._round(cases()) and self._batched.halt is None:
                pass
        except RunHalt as halt:
            self._batched.halt = halt
        if self._batched.halt is not None:
            # Only a last pass shows which cases are open.
            async for _ in self._questions(cases()):
                pass

    async def _restore(self, state: BatchState) -> None:
        """Resume a batch of an earlier start, which may have stopped before it knew whether the batch was created."""
        if state.stage is BatchStage.FILED:
            result = await self._session.find(state) if state.input_file else None
            if result is None:
                # Its questions are filed again.
                self._keep(state, stage=BatchStage.SETTLED, cause="It was never made.")
                return
            state = self._keep(_as_seen(state, result), stage=BatchStage.SENT)
        self._out[state.id] = state
        self._held |= state.keys

    async def _round(self, cases: Iterable[Case]) -> bool:
        """Send the questions that are neither settled nor with the provider, and wait for all batches; whether there
        were any.
        """
        self._all_known.clear()
        old = list(self._out.values())
        async with side_by_side() as group:
            for state in old:
                await self._begin(group, state)
            new = await self._send(cases, group)
            self._all_known.set()
        return bool(old or new)

    async def _send(self, cases: Iterable[Case], group: asyncio.TaskGroup) -> int:
        """File the questions that no batch holds yet and return the number of batches. Every question is looked at."""
        made, room = 0, True
        with TemporaryDirectory(prefix="goldsmith-batch-", ignore_cleanup_errors=True) as folder:
            filing: BatchFileWriter | None = None
            async for question, trial in self._questions(cases):
                if question.key in self._held:
                    self._replies[question.key] = question.reply
                full = not room or len(self._held) >= self._sizes.out
                if full or self._done_with(question.key) or not await self._learn(question):
                    continue
                filing = filing or self._filing(folder)
                request = filing.request(question, trial)
                if len(request.line) > self._sizes.bytes or self._only_one_at_a_time():
                    self._batched.live.add(question.key)
                    continue
                if not filing.fits(request):
                    await self._post(filing, group)
                    made, filing = made + 1, self._filing(folder)
                room = filing.most_usd + request.most_usd <= self._sender.budget.room_usd
                if not room and not self._out and not filing.entries:
                    # Asked one by one, its questions need only their likely cost in the budget.
                    self._batched.live.add(question.key)
                    room = True
                elif room:
                    filing.add(request)
                    self._held.add(question.key)
                    self._replies[question.key] = question.reply
            if filing is not None and filing.entries:
                await self._post(filing, group)
                made += 1
        return made

    def _filing(self, folder: str) -> BatchFileWriter:
        return BatchFileWriter(Path(folder) / "requests.jsonl", self._sizes, self._sender)

    def _only_one_at_a_time(self) -> bool:
        """Whether the budget forbids sending many requests before the first of them is billed."""
        budget = self._sender.budget
        return budget.limit_usd is not None and not budget.keeps_caps

    def _done_with(self, key: str) -> bool:
        """Whether a question is settled, held by a batch, or too late."""
        return key in self._held or self._batched.settled(key) or self._batched.halt is not None

    async def _questions(self, cases: Iterable[Case]) -> AsyncIterator[tuple[KeyedQuestion, int]]:
        self._batched.open.clear()
        for case in cases:
            ask = DeferringAsk(self._asker, case.trial, batched=self._batched)
            # An invalid case is reported when it is judged.
            with suppress(Refusal, ValidationError):
                await self._judge(case, ask)
            # Let the event loop run: there may be thousands of cases.
            await asyncio.sleep(0)
            if ask.noted:
                self._batched.open.add(hash(keys_of(case)))
            for question in ask.noted:
                yield question, case.trial

    async def _learn(self, question: KeyedQuestion) -> bool:
        """Ask the first question live, so that the file uses what is learned about the endpoint. Whether to file it
        too.
        """
        if self._learned:
            return True
        self._learned = True
        calls: list[Call] = []
        try:
            await QuestionSettling(self._asker, question, calls.append).settle()
        finally:
            stored = [self._asker.journalled(call) for call in calls]
            self._journal([call for call, _ in stored])
        for _, why in stored:
            if why:
                raise RunHalt(why)
        if not self._batched.settled(question.key):
            self._batched.live.add(question.key)
        return False

    async def _post(self, filing: BatchFileWriter, group: asyncio.TaskGroup) -> None:
        """Send a file to the provider; each step is stored before the next, so that no batch is created twice or
        lost.
        """
        state = filing.state(self._asker.run_id, self._asker.judge_id)
        self._keep(state)
        state = self._keep(
            state, input_file=await self._session.upload(filing.path, f"goldsmith-{state.id}.jsonl")
        )
        state = self._keep(_as_seen(state, await self._session.create(state)), stage=BatchStage.SENT)
        await self._begin(group, state)

    async def _begin(self, group: asyncio.TaskGroup, state: BatchState) -> None:
        group.create_task(self._carry(state))
        # Let it reserve its budget before anything else is sent.
        await asyncio.sleep(0)

    async def _carry(self, state: BatchState) -> None:
        """Wait for a batch and journal its results; its maximum cost stays reserved until its bill is known."""
        try:
            async with self._sender.budget.owe(state.most_usd) as bill:
                state = await self._until_ended(state)
                await self._all_known.wait()
                await self._settle(state, bill)
        except RunHalt as halt:
            # The other batches are still waited for: they are paid.
            self._batched.halt = self._batched.halt or halt

    async def _until_ended(self, state: BatchState) -> BatchState:
        looks = 0
        while state.status not in _ENDED:
            looks += 1
            self._say()
            await self._nap(backoff(looks, random.random(), base=FIRST_LOOK_S, cap=LONGEST_NAP_S))
            try:
                seen = self._seen[state.id] = await self._session.look(state.batch)
            except BatchGone as gone:
                cause = f"The provider does not know the batch any more. {gone}"
                self._keep(state, stage=BatchStage.SETTLED, cause=cause)
                raise RunHalt(cause) from None
            now = _as_seen(state, seen)
            state = self._keep(now) if now != state else state
        return state

    async def _settle(self, state: BatchState, bill: CallBill) -> None:
        if state.status == "failed" and not state.output_file and not state.error_file:
            bill.cost_usd = 0.0
            self._keep(state, stage=BatchStage.SETTLED)
            await self._turned_down(state)
            return
        reading = await self._read(state)
        if reading.fates[QuestionFate.DAMAGED]:
            # The download may have been truncated silently; the same lines give the same calls.
            reading = await self._read(state)
        bill.cost_usd = reading.cost_usd
        self._batched.live |= {
            state.entries[name].key for name, fate in reading.settled.items() if fate in LIVE
        }
        self._batched.fates.update(reading.fates)
        self._batched.spent_usd += reading.spent_usd
        self._keep(state, stage=BatchStage.SETTLED)
        self._say()
        for file in (state.input_file, state.output_file, state.error_file):
            if file:
                await self._session.clear(file)
        if reading.fates[QuestionFate.WITHDRAWN]:
            raise RunHalt("The batch was cancelled; what it had not answered is not judged.")

    async def _read(self, state: BatchState) -> BatchReading:
        reading = BatchReading(
            state,
            self._replies,
            self._sender.prices,
            self._sender.client.endpoint.secrets,
            self._record_usage,
        )
        with TemporaryDirectory(prefix="goldsmith-batch-", ignore_cleanup_errors=True) as folder:
            calls = reading.calls(await self._downloaded(state, Path(folder)))
            while some := list(islice(calls, _AT_ONCE)):
                self._journal(some)
                await asyncio.sleep(0)
        return reading

    async def _downloaded(self, state: BatchState, folder: Path) -> list[Path]:
        paths: list[Path] = []
        for file in (state.output_file, state.error_file):
            if file:
                path = folder / f"{len(paths)}.jsonl"
                # The questions of a file that is gone stay missing.
                with suppress(BatchGone):
                    await self._session.download(file, path)
                    paths.append(path)
        return paths

    async def _turned_down(self, state: BatchState) -> None:
        """After a full queue smaller batches are sent, later; any other cause would hit the next batch, too."""
        if _QUEUE_FULL not in state.cause or len(state.entries) < _FEWEST:
            why = sentence(state.cause or "it did not say why")
            raise RunHalt(f"The provider turned the batch down: {why}")
        self._sizes = replace(self._sizes, requests=min(self._sizes.requests, len(state.entries) // 2))
        await self._nap(LONGEST_NAP_S)

    def _journal(self, calls: list[Call]) -> None:
        if calls:
            self._shelf.keep_calls(calls)
        for call in calls:
            self._batched.record_outcome(call)

    def _record_usage(self, usage: Usage, call: Call) -> None:
        within = (usage.output or 0) - (usage.beside or 0) <= (cap_of(json.loads(call.parameters)) or 0)
        self._sender.budget.record_usage(
            usage.output, within=within and call.bill_usd is not None, beside=usage.beside
        )

    def _keep(self, state: BatchState, **changes: Any) -> BatchState:
        state = state.model_copy(update=changes)
        self._shelf.keep_batch(state)
        if state.stage is BatchStage.SETTLED:
            self._out.pop(state.id, None)
            self._seen.pop(state.id, None)
            for key in state.keys:
                self._held.discard(key)
                self._replies.pop(key, None)
        else:
            self._out[state.id] = state
        return state

    def _say(self) -> None:
        seen, out = self._seen.values(), self._out.values()
        self._tell(
            BatchProgress(
                batches=len(out),
                questions=sum(len(state.entries) for state in out),
                done=sum(each.completed or 0 for each in seen),
                failed=sum(each.failed or 0 for each in seen),
                fates=dict(self._batched.fates),
                spent_usd=self._batched.spent_usd,
                until=max((state.expires_at for state in out if state.expires_at), default=None),
            )
        )


def _as_seen(state: BatchState, seen: BatchStatus) -> BatchState:
    return state.model_copy(
        update={
            "batch": seen.batch,
            "status": seen.status,
            "output_file": seen.output_file,
            "error_file": seen.error_file,
            "expires_at": seen.expires_at,
            "cause": seen.cause,
        }
    )
