"""Writing calls to disk as they go out and come back, several to a commit."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from annotator import __version__
from annotator.domain.judges.judge import Call, Status
from annotator.domain.texts.canonical import canonical_json, escaped, new_id
from annotator.domain.texts.refusal import Refusal
from annotator.judging.calls.limits import RunHalt
from annotator.judging.calls.outcome import CallOutcome

UNDER_WAY = "The request went out; no answer to it was kept."
# Calls that are answered faster are kept with their verdicts: what a kill repeats of them is little.
SLOW_S = 0.02
# So long an answer waits to be stored with the next request.
SOON_S = 0.005
_LATELY = 16
_LONGEST_BODY = 20_000

Keep = Callable[[list[Call]], None]


class CallNotes:
    """The calls of a run on their way to disk. `keep` commits some, in place of what was kept of them before.

    Where one case takes `many` calls, fast ones are kept like slow ones.
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
        """Whether a call now is kept as it goes out: calls take long, as far as is known."""
        return self._many or not self._lately or min(self._lately) >= SLOW_S

    def record_latency(self, latency_s: float) -> None:
        """Learn how long a call took."""
        self._lately.append(latency_s)

    def add(self, call: Call) -> None:
        """Have a call stored with the next request that goes out, and within some milliseconds where none does."""
        self._pending[call.id] = call
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SOON_S, self._begin)

    async def put(self, call: Call) -> None:
        """Wait until a call, and all that was added, is on disk; raises Halt when it cannot be stored."""
        self._pending[call.id] = call
        self._written = written = self._written or asyncio.get_running_loop().create_future()
        self._begin()
        await asyncio.shield(written)

    async def flush(self) -> None:
        """Wait until all is on disk."""
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
        # What gets ready during one commit is stored in the next, answers with the requests that follow them.
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
                # Those who wait would wait for ever, whatever went wrong; and they may be gone.
                if not written.done():
                    written.set_exception(RunHalt("What came back could not be stored."))
                written.exception()


class CallTrail:
    """One question's requests, each kept as a call before it goes out; `id` is that of the call in progress."""

    def __init__(self, notes: CallNotes | None, **request: Any) -> None:
        """`asked` is what is known of the call beforehand, by the names of its fields."""
        self.id = new_id()
        self.went: Callable[[int], None] = lambda _: None
        self._notes, self._request, self._out = notes, request, False

    @contextmanager
    def in_flight(self) -> Iterator[None]:
        """While a request is out; `went` hears 1 as it goes and -1 as it is over."""
        self.went(1)
        try:
            yield
        finally:
            self.went(-1)

    async def sent(self, parameters: Mapping[str, Any], most_usd: float | None) -> None:
        """Keep that a request goes out, with the most that it may cost; the same one tried again is there already."""
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
        """Have what came of the request stored before the next one goes out."""
        if self._notes is None:
            return
        if call.latency_s is not None and call.tokens_output is not None:
            self._notes.record_latency(call.latency_s)
        if self._out:
            self._notes.add(call)

    async def lost(self, outcome: CallOutcome, parameters: Mapping[str, Any], cost_usd: float | None) -> None:
        """Keep a request that may have been paid without an answer; the next one is a call of its own."""
        if self._notes is not None:
            await self._notes.put(self.call(outcome, "", parameters, cost_usd=cost_usd))
        self.id, self._out = new_id(), False

    def call(self, outcome: CallOutcome, fault: str, parameters: Mapping[str, Any], **details: Any) -> Call:
        """The call in progress, with what came of it."""
        sent = canonical_json(dict(parameters)).decode()
        return call_of(outcome, fault, id=self.id, parameters=sent, **self._request, **details)


def call_of(outcome: CallOutcome, fault: str = "", **request: Any) -> Call:
    """A finished call: what came of it, beside what is known of how it was asked (by the names of a Call's fields)."""
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
