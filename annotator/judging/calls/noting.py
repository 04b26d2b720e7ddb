"""Writing calls to disk as they go out and come back, several to a commit."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from annotator import __version__
from annotator.domain.common import Refusal, canonical_json, escaped, new_id
from annotator.domain.judges.judge import Call, Status
from annotator.judging.calls.limits import RunHalt
from annotator.judging.calls.outcome import CallOutcome

UNDER_WAY = "The request went out; no answer to it was kept."
# Faster calls are stored with their verdicts: a kill then repeats little.
SLOW_S = 0.02
# An answer waits this long to be stored with the next request.
SOON_S = 0.005
_LATELY = 16
_LONGEST_BODY = 20_000

Keep = Callable[[list[Call]], None]


class CallNotes:
    """The calls of a run on their way to disk. `keep` commits some, replacing earlier versions of them.

    If one case takes `many` calls, fast ones are stored like slow ones.
    """

    def __init__(self, keep: Keep, *, many: bool = False) -> None:
        self._keep, self._many = keep, many
        self._pending: dict[str, Call] = {}
        self._written: asyncio.Future[None] | None = None
        self._writer: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._lately: deque[float] = deque(maxlen=_LATELY)

    @property
    def is_due(self) -> bool:
        """Whether a call should be stored as it goes out: calls are slow, as far as is known."""
        return self._many or not self._lately or min(self._lately) >= SLOW_S

    def record_latency(self, latency_s: float) -> None:
        """Record the duration of a call."""
        self._lately.append(latency_s)

    def add(self, call: Call) -> None:
        """Queue a call to be stored with the next request that goes out, or after some milliseconds if none does."""
        self._pending[call.id] = call
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SOON_S, self._begin)

    async def put(self, call: Call) -> None:
        """Wait until a call, and all calls added before, are on disk; raises RunHalt if they cannot be stored."""
        self._pending[call.id] = call
        self._written = written = self._written or asyncio.get_running_loop().create_future()
        self._begin()
        await asyncio.shield(written)

    async def flush(self) -> None:
        """Wait until all calls are on disk."""
        if self._pending:
            self._begin()
        if self._writer is not None:
            await self._writer

    def _begin(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())

    async def _write(self) -> None:
        # Calls that arrive during one commit are stored in the next, answers with the requests that follow them.
        while self._pending:
            calls, self._pending = list(self._pending.values()), {}
            written, self._written = self._written or asyncio.get_running_loop().create_future(), None
            try:
                await asyncio.to_thread(self._keep, calls)
            except Refusal as refusal:
                written.set_exception(RunHalt(str(refusal)))
            else:
                written.set_result(None)
            finally:
                # Otherwise waiting callers would never wake, whatever went wrong; retrieving the exception covers
                # those that are gone.
                if not written.done():
                    written.set_exception(RunHalt("What came back could not be stored."))
                written.exception()


class CallTrail:
    """One question's requests, each stored as a call before it goes out; `id` is that of the call in progress."""

    def __init__(
        self, notes: CallNotes | None, went: Callable[[int], None] = lambda _: None, **request: Any
    ) -> None:
        """`request` holds the fields of the call that are known beforehand."""
        self.id, self.went = new_id(), went
        self._notes, self._request, self._out = notes, request, False

    @contextmanager
    def in_flight(self) -> Iterator[None]:
        """Mark a request as in flight; `went` is called with 1 at its start and -1 at its end."""
        self.went(1)
        try:
            yield
        finally:
            self.went(-1)

    async def sent(self, parameters: Mapping[str, Any], most_usd: float | None) -> None:
        """Store that a request goes out, with its maximum cost; a retry of the same one is stored already."""
        if self._notes is None or self._out or not self._notes.is_due:
            return
        self._out = True
        call = Call(
            id=self.id,
            status=Status.SKIPPED,
            cause=UNDER_WAY,
            cost_usd=most_usd,
            parameters=canonical_json(dict(parameters)).decode(),
            app_version=__version__,
            **self._request,
        )
        await self._notes.put(call)

    def came(self, call: Call) -> None:
        """Have the result of the request stored before the next one goes out."""
        if self._notes is None:
            return
        if call.latency_s is not None and call.tokens_output is not None:
            self._notes.record_latency(call.latency_s)
        if self._out:
            self._notes.add(call)

    async def lost(self, outcome: CallOutcome, parameters: Mapping[str, Any], cost_usd: float | None) -> None:
        """Store a request that may have been billed without an answer; the next one is a call of its own."""
        if self._notes is not None:
            await self._notes.put(self.call(outcome, "", parameters, cost_usd=cost_usd))
        self.id, self._out = new_id(), False

    def call(self, outcome: CallOutcome, fault: str, parameters: Mapping[str, Any], **details: Any) -> Call:
        """The call in progress with its result."""
        sent = canonical_json(dict(parameters)).decode()
        return call_of(outcome, fault, id=self.id, parameters=sent, **self._request, **details)


def call_of(outcome: CallOutcome, fault: str = "", **request: Any) -> Call:
    """A finished call: the outcome of a request, with the fields known beforehand (by the names of a Call's fields)."""
    answer: dict[str, Any] = {
        "id": request.get("id") or new_id(),
        "status": Status.INVALID if fault else outcome.status,
        "raw": escaped(outcome.content or outcome.body[:_LONGEST_BODY]),
        "cause": escaped(f"The reply could not be used: {fault}." if fault else outcome.message),
        "returned_model": outcome.model,
        "fingerprint": outcome.fingerprint,
        "finish_reason": outcome.finish_reason,
        "app_version": __version__,
        "tokens_input": outcome.usage.input,
        "tokens_cached": outcome.usage.cached,
        "tokens_output": outcome.usage.output,
        "tokens_reasoning": outcome.usage.reasoning,
        "latency_s": outcome.latency_s,
    }
    return Call(**answer | request)
