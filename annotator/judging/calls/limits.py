"""Rate limits towards an endpoint: adaptive slots, rates, pauses and back-off."""

import asyncio
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from annotator.domain.judges.judgement import Status
from annotator.judging.calls.breaker import Breaker, RunHalt
from annotator.judging.calls.outcome import PASSING, CallOutcome, CallTrouble

LONGEST_WAIT_S = 3600.0
# A daily quota may show itself in nothing but 429s: better to stop with all unjudged than to let case after case fail.
RATE_PATIENCE_S = 1800.0
_MINUTE = 60.0
# Anyone who waits looks up this often, so that a halt or the breaker's closing is seen at once.
_LOOK_UP_S = 1.0


def backoff(attempt: int, chance: float, base: float = 0.5, cap: float = 30.0) -> float:
    """Seconds to wait after the attempt-th failure (from 1): doubling, spread by ±20 % with chance in [0, 1)."""
    return float(min(cap, base * 2 ** (attempt - 1)) * (0.8 + 0.4 * chance))


class MinuteWindow:
    """At most `limit` of something in any sixty seconds; None for no limit."""

    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        self._spent: deque[tuple[float, float]] = deque()
        self._total = 0.0

    def delay(self, now: float, amount: float) -> float:
        """Seconds until the amount fits; one above the limit fits an empty window."""
        while self._spent and self._spent[0][0] <= now - _MINUTE:
            self._total -= self._spent.popleft()[1]
        if self._limit is None or not self._spent:
            return 0.0
        wait, over = 0.0, self._total + amount - self._limit
        for at, spent in self._spent:
            if over <= 0:
                break
            wait, over = at + _MINUTE - now, over - spent
        return wait

    def add(self, now: float, amount: float) -> None:
        """Count an amount from now on."""
        if self._limit is not None:
            self._spent.append((now, amount))
            self._total += amount


class Turns:
    """At most so many at once as there is room for, in the order in which they came; the room may change."""

    def __init__(self, room: Callable[[], float]) -> None:
        self._room, self.active = room, 0
        self._queue: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Wait for a turn, and have it."""
        while self.active >= self._room():
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._queue.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                self.wake()
                raise
        self.active += 1
        try:
            yield
        finally:
            self.active -= 1
            self.wake()

    def wake(self) -> None:
        """Let in who there is room for."""
        free = self._room() - self.active
        while self._queue and free > 0:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1


class Limits:
    """The gate all calls to one endpoint pass through.

    `concurrency` is the most that run at once; a 429 halves what is allowed, answers win it back slowly. A pause
    longer than `longest_wait_s` is not sat out but halts the run. Clock (monotonic seconds), sleep and chance are
    given by tests.
    """

    def __init__(
        self,
        concurrency: int,
        *,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        longest_wait_s: float = LONGEST_WAIT_S,
        rate_patience_s: float = RATE_PATIENCE_S,
        backoff_s: float = 0.5,
        breaker: Breaker | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.asked = max(1, concurrency)
        self.allowed = float(self.asked)
        self._clock, self._sleep, self._chance = clock, sleep, chance
        self._backoff_s = backoff_s
        self.breaker = breaker or Breaker()
        self._slots = Turns(lambda: min(int(self.allowed), self.breaker.most_requests))
        self._questions = Turns(lambda: self.breaker.most_questions if self._halt is None else float("inf"))
        self._requests = MinuteWindow(requests_per_minute)
        self._tokens = MinuteWindow(tokens_per_minute)
        self._longest_wait_s = longest_wait_s
        self._rate_patience_s = rate_patience_s
        self._only_429_since: float | None = None
        self._resume_at = self._halved_at = float("-inf")
        self._halt: RunHalt | None = None
        self._asked = 0
        self.opened = asyncio.Event()
        """Set with the first usable answer, and when a run ends: until then, few questions are begun."""

    @property
    def active(self) -> int:
        """The requests that are out."""
        return self._slots.active

    def waiting_until(self) -> datetime | None:
        """The moment calls go out again, when none may now (a quota's pause, the breaker's rest); None otherwise."""
        wait = max(self._resume_at, self.breaker.rests_until) - self._clock()
        return datetime.now(UTC) + timedelta(seconds=wait) if wait > 0 else None

    @asynccontextmanager
    async def slot(self, tokens: float = 0.0) -> AsyncIterator[float]:
        """Wait for leave to send one request of so many tokens; gives the moment it was granted.

        Raises Halt when the endpoint is given up.
        """
        async with self._slots.one():
            await self._until_open(tokens)
            yield self._clock()

    @asynccontextmanager
    async def question(self) -> AsyncIterator[int]:
        """Wait for leave to put a question, which may take several requests; gives its number, from 1."""
        async with self._questions.one():
            self._asked += 1
            yield self._asked

    def settled(
        self, number: int, status: Status, http: int | None, cause: str, subjects: Sequence[str]
    ) -> None:
        """Learn what a question came to; raises Halt when too many have failed in a row."""
        try:
            self.breaker.settled(number, status, http, cause, subjects)
        except RunHalt as halt:
            self._end(self._halt or halt)
            raise
        if self.breaker.proven:
            self.opened.set()
        self._slots.wake()
        self._questions.wake()

    def heard(self, outcome: CallOutcome, started: float, *, form_doubtful: bool = False) -> None:
        """Learn from an attempt that was granted at that moment; raises Halt when the endpoint is given up."""
        try:
            if outcome.trouble is CallTrouble.RATE:
                self._slow_down(started)
                self._lose_patience(outcome)
            elif outcome.answered:
                self._only_429_since = None
                self.allowed = min(float(self.asked), self.allowed + 1 / self.allowed)
            self._pause(outcome)
            self.breaker.heard(outcome, started, self._clock(), form_doubtful=form_doubtful)
        except RunHalt as halt:
            self._end(halt)
            raise

    def _end(self, halt: RunHalt) -> None:
        self._halt = halt
        self.opened.set()
        self._questions.wake()

    async def back_off(self, attempt: int) -> None:
        """Wait before trying again after the attempt-th failure; raises Halt when the endpoint is given up."""
        until = self._clock() + backoff(attempt, self._chance(), self._backoff_s)
        while (wait := until - self._clock()) > 0:
            await self._nap(wait)

    def _slow_down(self, started: float) -> None:
        # The 429s of calls that were already out tell of the same excess: halve once for all of them.
        if started >= self._halved_at:
            self.allowed, self._halved_at = max(1.0, self.allowed / 2), self._clock()

    def _lose_patience(self, outcome: CallOutcome) -> None:
        now = self._clock()
        since = self._only_429_since = now if self._only_429_since is None else self._only_429_since
        if now - since > self._rate_patience_s:
            minutes = round((now - since) / _MINUTE)
            raise RunHalt(
                f"For {minutes} minutes the endpoint has only asked to be asked less. {outcome.message}"
            )

    def _pause(self, outcome: CallOutcome) -> None:
        wait = outcome.retry_after if outcome.trouble in PASSING else None
        if not wait:
            return
        self._resume_at = max(self._resume_at, self._clock() + wait)
        if wait > self._longest_wait_s:
            until = datetime.now(UTC) + timedelta(seconds=wait)
            raise RunHalt(
                f"The endpoint asks to wait until {until:%Y-%m-%d %H:%M} UTC. {outcome.message}", until
            )

    async def _until_open(self, tokens: float) -> None:
        while (wait := self._wait(self._clock(), tokens)) > 0:
            await self._nap(wait)
        self._check()
        self._requests.add(self._clock(), 1)
        self._tokens.add(self._clock(), tokens)

    def _wait(self, now: float, tokens: float) -> float:
        wait = max(self._resume_at - now, self._requests.delay(now, 1), self._tokens.delay(now, tokens))
        # The breaker gives its one trial to the first caller: ask it only when nothing else stands in the way.
        return wait if wait > 0 else self.breaker.delay(now)

    async def _nap(self, wait: float) -> None:
        self._check()
        await self._sleep(min(wait, _LOOK_UP_S))

    def _check(self) -> None:
        if self._halt is not None:
            raise self._halt
