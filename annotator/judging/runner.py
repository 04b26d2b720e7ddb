"""Runs: judging cases in parallel, recording verdicts, and counting progress."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Container, Coroutine, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, islice
from typing import Any

from pydantic import ValidationError

from annotator.domain.common import Refusal, escaped
from annotator.domain.judges.judge import Call, RunState, Status, Verdict
from annotator.domain.judges.protocol import Case, Protocol, Verdicts
from annotator.judging.calls.asking import Asker, CaseAsk, Key, keys_of
from annotator.judging.calls.limits import OPENING, RunHalt
from annotator.protocols import PROTOCOLS


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished case: verdicts of its units, calls made and reused, and the call whose reply was read.

    If `judged` is False, the run ended in the middle of the case: its calls are journalled, its verdicts are not
    stored, and the case is asked again on resuming.
    """

    case: Case
    verdicts: Verdicts
    calls: tuple[Call, ...] = ()
    reused: tuple[Call, ...] = ()
    call_id: str | None = None
    judged: bool = True


@dataclass(slots=True)
class Progress:
    """The progress of a run in judgements.

    `spent_usd` sums the calls whose cost is known, `unpriced` counts the others. `models` are the names the server
    returned: more than one is a warning. `running` gives for each case with a request in flight, by the keys of its
    judgements, for how many seconds.
    """

    by_status: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    reused: int = 0
    spent_usd: float = 0.0
    unpriced: int = 0
    models: tuple[str, ...] = ()
    running: Mapping[tuple[Key, ...], float] = field(default_factory=dict)
    waiting_until: datetime | None = None
    seconds: float = 0.0

    @property
    def done(self) -> int:
        return self.by_status.total()


@dataclass
class ProgressTally:
    """The running counts of a run, and the asks of the cases in progress, which know what is in flight."""

    counts: Progress = field(default_factory=Progress)
    running: dict[tuple[Key, ...], CaseAsk] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)

    def count(self, finished: Finished) -> None:
        counts = self.counts
        if finished.judged:
            counts.by_status.update(verdict.status.value for verdict in finished.verdicts.values())
        counts.reused += len(finished.reused)
        for call in finished.calls:
            counts.calls += 1
            counts.spent_usd += call.bill_usd or 0.0
            counts.unpriced += call.bill_usd is None
            if call.returned_model not in ("", *counts.models):
                counts.models += (call.returned_model,)

    def progress(self, waiting_until: datetime | None = None) -> Progress:
        now = time.monotonic()
        out = ((keys, ask.asking_since) for keys, ask in self.running.items())
        return replace(
            self.counts,
            by_status=self.counts.by_status.copy(),
            running={keys: now - since for keys, since in out if since is not None},
            waiting_until=waiting_until,
            seconds=now - self.began,
        )


@asynccontextmanager
async def side_by_side() -> AsyncIterator[asyncio.TaskGroup]:
    """A group of tasks; if some fail, the others are cancelled and one error is raised by itself.

    Callers catch the store's and the domain's own errors, not groups of them. Of several, an error of the program
    precedes a refusal, which would hide it; the group of all stays its cause, so that a bug report includes the
    others.
    """
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except ExceptionGroup as errors:
        first, *others = sorted(errors.exceptions, key=lambda error: isinstance(error, Refusal))
        raise first from (errors if others else None)


BATCH_S = 0.05
HEARTBEAT_S = 1.0
_BREATH_S = 0.001
_LOOK_AHEAD = 500

Record = Callable[[list[Finished]], None]
Tell = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class RunEnd:
    """The end of a run: done, cancelled, or interrupted with a cause; `until` if the server named a time."""

    state: RunState
    progress: Progress
    cause: str = ""
    until: datetime | None = None


async def run(
    protocol: Protocol,
    cases: Iterable[Case],
    ask_factory: Asker | None = None,
    *,
    concurrency: int = 8,
    record: Record,
    progress: Tell = lambda _: None,
    cancel: asyncio.Event | None = None,
    going: asyncio.Event | None = None,
    already: Container[Key] = frozenset(),
    asks: Callable[[Case], CaseAsk] | None = None,
) -> RunEnd:
    """Judge every unit not `already` judged, by the endpoint behind the factory or, without one, by the baseline.

    If some units of a case are judged, only the others are asked for.

    `record` stores a batch before `progress` reports it: each case at once if they come slowly, those of 50 ms
    together if fast; `progress` is called every second at least. While `going` is clear no case is started. `cancel`
    stops within a second: requests in flight are dropped and their cases stay unjudged. A case that fails gives
    verdicts with a cause; an error in the program propagates, after what was finished is recorded. The endpoint's
    limits decide how many calls go out at once: a `concurrency` of a few cases more keeps all their slots busy.
    `asks`, if given, makes each case's ask in place of the factory, for instance from batches.
    """
    refuse_unanswerable(protocol, by_model=ask_factory is not None)
    judging = _Run(protocol, left(cases, already), ask_factory, record, progress, asks)
    cancel = cancel or asyncio.Event()
    crew = judging.baseline(going) if ask_factory is None else judging.crew(ask_factory, concurrency, going)
    cancelled = await judging.through(crew, cancel)
    final = judging.progress()
    if cancelled:
        return RunEnd(RunState.CANCELLED, final)
    if judging.halt is not None:
        return RunEnd(RunState.INTERRUPTED, final, judging.halt.cause, judging.halt.until)
    return RunEnd(RunState.DONE, final)


def refuse_unanswerable(protocol: Protocol, *, by_model: bool) -> None:
    if not by_model and protocol.baseline is None:
        raise Refusal(f"{protocol.title} has no baseline judge.", "Choose a judge with an endpoint.")
    if by_model and protocol.judge is None:
        raise Refusal(f"{protocol.title} is computed; no judge is asked.", "See the results.")


def left(cases: Iterable[Case], already: Container[Key]) -> Iterator[Case]:
    """The cases restricted to units that are not judged already; a case without any is left out."""
    for case in cases:
        due = zip(case.units, keys_of(case), strict=True)
        units = tuple(unit for unit, key in due if key not in already)
        if units:
            yield case if len(units) == len(case.units) else replace(case, units=units)


class _Run:
    def __init__(
        self,
        protocol: Protocol,
        source: Iterator[Case],
        asks: Asker | None,
        record: Record,
        tell: Tell,
        ask_of: Callable[[Case], CaseAsk] | None,
    ) -> None:
        self.tally = ProgressTally()
        self.halt: RunHalt | None = None
        self._protocol = protocol
        self._source = source
        self._asks = asks
        self._record = record
        self._tell, self._ask_of = tell, ask_of
        self._put_off: deque[Case] = deque()
        self._pending: list[Finished] = []
        self._news, self._over = asyncio.Event(), asyncio.Event()

    def progress(self) -> Progress:
        return self.tally.progress(self._asks.limits.waiting_until() if self._asks else None)

    async def through(self, work: Coroutine[Any, Any, None], cancel: asyncio.Event) -> bool:
        """Do the work while writing what it finishes and watching for `cancel`; whether it was cancelled."""
        writer = asyncio.ensure_future(self._keep_writing())
        try:
            return await unless_cancelled(work, cancel, writer)
        finally:
            self._over.set()
            self._news.set()
            await asyncio.wait({writer})
            writer.result()

    async def crew(self, asks: Asker, concurrency: int, going: asyncio.Event | None) -> None:
        """Judge so many cases in parallel, until none is left or the run is halted."""
        async with side_by_side() as group:
            for number in range(max(1, concurrency)):
                group.create_task(self._work(asks, going, first=number < OPENING))

    async def baseline(self, going: asyncio.Event | None) -> None:
        """Compute case after case in stretches of 50 ms, yielding to the event loop between them."""
        since = time.monotonic()
        for case in self._source if self._protocol.baseline else ():
            if going is not None:
                await going.wait()
            self._pending.append(Finished(case, _calculated(self._protocol, case)))
            if time.monotonic() - since >= BATCH_S:
                self._write_here()
                await asyncio.sleep(_BREATH_S)
                since = time.monotonic()
        self._write_here()

    async def _work(self, asks: Asker, going: asyncio.Event | None, *, first: bool) -> None:
        if not first:
            await asks.limits.opened.wait()
        while True:
            if going is not None:
                await going.wait()
            case = self._next(asks) if self.halt is None else None
            if case is None:
                asks.limits.opened.set()
                return
            await self._one(case, (self._ask_of or asks)(case))
            # Cached answers never wait for anything: without this they would block the event loop.
            await asyncio.sleep(0)

    def _next(self, asks: Asker) -> Case | None:
        """The next case. While questions fail, those about the same reports and units are postponed."""
        waiting = len(self._put_off)
        again = (self._put_off.popleft() for _ in range(waiting))
        for case in chain(again, islice(self._source, _LOOK_AHEAD - waiting)):
            if not asks.failing(case):
                return case
            self._put_off.append(case)
        return self._put_off.popleft() if self._put_off else None

    async def _one(self, case: Case, ask: CaseAsk) -> None:
        judge = self._protocol.judge
        self.tally.running[keys_of(case)] = ask
        try:
            verdicts = await judge(case, ask) if judge else {}
        except RunHalt as halt:
            self.halt = self.halt or halt
            self._add_unjudged(case, ask, halt.cause)
        except asyncio.CancelledError:
            self._add_unjudged(case, ask, "cancelled")
            raise
        except (Refusal, ValidationError) as error:
            self._add(_finished(self._protocol, case, _failed(case, error), ask))
        else:
            self._add(_finished(self._protocol, case, verdicts, ask))
        finally:
            self.tally.running.pop(keys_of(case), None)

    def _add(self, finished: Finished) -> None:
        self._pending.append(finished)
        self._news.set()

    def _add_unjudged(self, case: Case, ask: CaseAsk, cause: str) -> None:
        """Store the calls that were paid for, though their case is not judged."""
        if ask.calls:
            calls, reused = tuple(ask.calls), tuple(ask.reused)
            skipped = _alike(case, Verdict(status=Status.SKIPPED, cause=cause))
            self._add(Finished(case, skipped, calls, reused, ask.call_id, judged=False))

    async def _keep_writing(self) -> None:
        while not self._over.is_set():
            if not await _came(self._news, HEARTBEAT_S):
                self._tell(self.progress())
                continue
            self._news.clear()
            await self._write()
            await _came(self._over, BATCH_S)
        await self._write()

    async def _write(self) -> None:
        """Commit the finished cases in a thread: a slow disk delays no call."""
        if batch := self._taken():
            if self._asks is not None:
                await self._asks.stored()
            await asyncio.to_thread(self._record, batch)
            self._count(batch)

    def _write_here(self) -> None:
        if batch := self._taken():
            self._record(batch)
            self._count(batch)

    def _taken(self) -> list[Finished]:
        batch, self._pending = self._pending, []
        return batch

    def _count(self, batch: list[Finished]) -> None:
        for finished in batch:
            self.tally.count(finished)
        self._tell(self.progress())


async def _came(event: asyncio.Event, seconds: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return await event.wait()
    return False


async def unless_cancelled(
    work: Coroutine[Any, Any, None], cancel: asyncio.Event, *needed: asyncio.Future[Any]
) -> bool:
    """Do work until it has ended or is cancelled, or one of the tasks it needs has ended; whether it was cancelled."""
    crew, watch = asyncio.ensure_future(work), asyncio.ensure_future(cancel.wait())
    try:
        await asyncio.wait({crew, watch, *needed}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await stop(crew, watch)
    if not crew.cancelled():
        crew.result()
    return crew.cancelled()


async def stop(*tasks: asyncio.Future[Any]) -> None:
    """Cancel tasks and wait until they have ended, however they end."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _calculated(protocol: Protocol, case: Case) -> Verdicts:
    try:
        return _answered(protocol, case, protocol.baseline(case) if protocol.baseline else {})
    except (Refusal, ValidationError) as error:
        return _failed(case, error)


def _finished(protocol: Protocol, case: Case, verdicts: Verdicts, ask: CaseAsk) -> Finished:
    flagged = {
        unit: _flagged(verdict, ask.flags) for unit, verdict in _answered(protocol, case, verdicts).items()
    }
    unfit = next((verdict.cause for verdict in flagged.values() if verdict.status is Status.INVALID), None)
    calls = tuple(ask.calls if unfit is None else (_spoilt(call, ask.call_id, unfit) for call in ask.calls))
    return Finished(case, flagged, calls, tuple(ask.reused), ask.call_id)


def _answered(protocol: Protocol, case: Case, verdicts: Verdicts) -> Verdicts:
    """A verdict for every unit of the case and for no other; a value that the scale does not have is none.

    What is no paper's protocol, such as the ranking of tasks, has values of its own.
    """
    silent = Verdict(status=Status.INVALID, cause="The judge says nothing of this unit.")
    answered = {unit.id: verdicts.get(unit.id, silent) for unit in case.units}
    return {
        unit_id: verdict
        if verdict.value is None or verdict.value in protocol.values or protocol.name not in PROTOCOLS
        else Verdict(status=Status.INVALID, cause=f"“{escaped(verdict.value)}” is no value of the scale.")
        for unit_id, verdict in answered.items()
    }


def _flagged(verdict: Verdict, flags: set[str]) -> Verdict:
    words = verdict.flags.split()
    missing = sorted(flags - set(words))
    return verdict.model_copy(update={"flags": " ".join((*words, *missing))}) if missing else verdict


def _spoilt(call: Call, read_from: str | None, cause: str) -> Call:
    """The call; one whose reply was readable but left a unit unanswered is marked invalid, so that it is not served
    again.
    """
    if call.id != read_from or call.status is not Status.OK:
        return call
    return call.model_copy(update={"status": Status.INVALID, "cause": cause})


def _failed(case: Case, error: Refusal | ValidationError) -> Verdicts:
    return _alike(
        case, Verdict(status=Status.INVALID, cause=escaped(f"The case could not be judged: {error}"))
    )


def _alike(case: Case, verdict: Verdict) -> Verdicts:
    return {unit.id: verdict for unit in case.units}
