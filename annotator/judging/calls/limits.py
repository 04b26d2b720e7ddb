"""Rate limits towards an endpoint: adaptive slots, rates, pauses and back-off."""

import asyncio
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import takewhile

from annotator.domain.judges.judge import Status
from annotator.judging.calls.outcome import PASSING, CallOutcome, CallTrouble

# So many failures of one kind in a row, without a usable answer between them, stop a run; and so many fatal ones.
LIKE_FAILURES, FATAL_FAILURES = 8, 3
# Questions in progress at once until the first usable answer.
OPENING = 3
_FATAL = {
    CallTrouble.KEY: "The endpoint refuses the key.",
    CallTrouble.QUOTA: "The account's credit or quota is used up.",
    CallTrouble.REDIRECT: "Redirects are not followed: give the judge the address that is meant.",
}
_UNKNOWN_MODEL = "The endpoint does not know the model or the address."
_DOWN = frozenset({CallTrouble.SERVER, CallTrouble.CONNECTION, CallTrouble.TIMEOUT, CallTrouble.MALFORMED})
# A gateway whose server is down or overloaded; other server errors pass sooner or not at all.
_AWAY = frozenset({408, 502, 503, 504, 522, 524, 529})
# Failures that one report alone may cause.
_OF_ONE_REPORT = frozenset({Status.TOO_LONG, Status.REFUSED, Status.FILTERED})
_ADVICE = {
    Status.INVALID: "Test the judge, and choose another model or prompt if its replies stay unreadable.",
    Status.TRUNCATED: "Give the judge a larger token limit in its parameters, or a model that thinks less.",
    Status.TOO_LONG: "Choose a model that takes longer prompts.",
    Status.REFUSED: "Choose another model, or change the prompt.",
    Status.FILTERED: "Choose another provider or model, or change the prompt.",
    Status.TIMEOUT: "Allow more time for each call, or choose a faster model.",
}
_OTHER_ADVICE = "Test the judge, and correct its address, model or parameters."
_RESUME = "What is stored stays; the same command goes on from there."


class RunHalt(Exception):
    """No further call makes sense: the run ends, and what is not judged yet can be resumed."""

    def __init__(self, cause: str, until: datetime | None = None) -> None:
        super().__init__(cause)
        self.cause = cause
        self.until = until


class Breaker:
    """Pauses calls to an endpoint that is down, and stops a run without progress.

    A run stops after `LIKE_FAILURES` unanswered requests in a row, or failed questions in a row, for the same reason;
    after twice as many for different reasons; and before the first usable answer after twice as many requests of any
    kind. A failure that one report may cause counts once per report. An endpoint that has answered before is paused
    before each of the last `rests` of those requests, each time twice as long: less than two minutes in all. One that
    rejects the key or redirects `FATAL_FAILURES` times in a row, or says that the account's credit or quota is used up,
    is given up at once. 429s do not count. Times are monotonic seconds.
    """

    def __init__(
        self,
        threshold: int = LIKE_FAILURES,
        rest_s: float = 15.0,
        rests: int = 3,
        short_rest_s: float = 5.0,
    ) -> None:
        self._threshold = threshold
        self._rest_s, self._short_rest_s = rest_s, short_rest_s
        self._rests = rests
        self._refusals = self._rested = self._in_vain = self._unread = self._answered_last = 0
        self._failed: list[tuple[CallTrouble, int | None]] = []
        self._answered = self.proven = False
        self._streak: list[tuple[Status, int | None]] = []
        self.failing: set[str] = set()
        """The reports and units of the questions that have failed since the last usable answer."""
        self._opened_at = float("-inf")
        self._trial_until = float("-inf")
        self.rests_until = float("-inf")

    @property
    def most_questions(self) -> float:
        """The maximum number of questions in progress: small before the first answer, and smaller with each failure
        in a row.
        """
        if not self.proven:
            return OPENING
        return max(1, LIKE_FAILURES - len(self._streak)) if self._streak else float("inf")

    @property
    def most_requests(self) -> float:
        """The maximum number of concurrent requests, so that a hopeless run ends within its bound."""
        if not self.proven:
            return max(1, 2 * LIKE_FAILURES - self._in_vain)
        if self._failed:
            return max(1, self._threshold - self._alike)
        return float("inf") if self._unread < LIKE_FAILURES else max(1, 2 * LIKE_FAILURES - self._unread)

    @property
    def _alike(self) -> int:
        """The number of the last unanswered requests that failed for the same reason in a row."""
        return len(list(takewhile(self._failed[-1].__eq__, reversed(self._failed)))) if self._failed else 0

    def unread(self) -> None:
        """Record an unusable reply; the question may be asked once more."""
        self._unread += 1

    def delay(self, now: float) -> float:
        """Seconds until a call may go out. 0 lets this very call through and, after a pause, only this one."""
        if not self._rested:
            return 0.0
        wait = max(self.rests_until, self._trial_until) - now
        if wait <= 0:
            self._trial_until = now + self._rest_s
        return wait

    def record_outcome(
        self, outcome: CallOutcome, started: float, now: float, *, form_doubtful: bool = False
    ) -> None:
        """Record an attempt that started at `started`; raises RunHalt if the endpoint is given up.

        A server error does not count against an endpoint while the response format may be its cause.
        """
        if outcome.trouble is CallTrouble.RATE:
            return
        fatal = _UNKNOWN_MODEL if outcome.http == 404 else _FATAL.get(outcome.trouble)
        if fatal:
            # A key is sometimes rejected by mistake; a used-up quota stays so.
            self._refusals += FATAL_FAILURES if outcome.trouble is CallTrouble.QUOTA else 1
            if self._refusals >= FATAL_FAILURES:
                raise RunHalt(f"{fatal} {outcome.message}")
        elif outcome.trouble not in _DOWN:
            self._answered = True
            self._refusals = self._rested = 0
            self._failed.clear()
        elif started > self._opened_at and not form_doubtful:
            # Failures of requests sent before the pause began add no information.
            self._fail(outcome, now)
        if not self.proven:
            self._in_vain += 1
            if self._in_vain >= 2 * LIKE_FAILURES:
                last = outcome.message or "The last reply could not be used."
                raise RunHalt(
                    f"The first {self._in_vain:,} requests brought no usable answer. {last} {_OTHER_ADVICE} {_RESUME}"
                )

    def settled(
        self, number: int, status: Status, http: int | None, cause: str, subjects: Sequence[str]
    ) -> None:
        """Record the result of a question; raises RunHalt if too many have failed in a row.

        Questions are numbered in the order of their start: a failure counts unless one started later was answered.
        `subjects` names the report that it was about, and its units.
        """
        if status is Status.OK:
            self._answered_last = max(number, self._answered_last)
            self.proven, self._in_vain, self._unread = True, 0, 0
            self._streak.clear()
            self.failing.clear()
            return
        rate = http == 429 and status is Status.API_ERROR
        known = status in _OF_ONE_REPORT and subjects[0] in self.failing
        self.failing.update(subjects)
        if rate or known or number < self._answered_last:
            return
        self._streak.append((status, http))
        alike = self._streak[-LIKE_FAILURES:].count((status, http)) == LIKE_FAILURES
        if alike or len(self._streak) == 2 * LIKE_FAILURES:
            raise RunHalt(
                f"{len(self._streak):,} questions in a row came to nothing{' for the same reason' * alike}. {cause} "
                f"{_ADVICE.get(status, _OTHER_ADVICE)} {_RESUME}"
            )

    def _fail(self, outcome: CallOutcome, now: float) -> None:
        self._failed.append((outcome.trouble, outcome.http))
        if self._alike >= self._threshold or len(self._failed) >= 2 * self._threshold:
            raise RunHalt(
                f"The endpoint does not answer: {len(self._failed):,} failures in a row. {outcome.message} {_RESUME}"
            )
        if not self._answered or self._alike < self._threshold - self._rests:
            return
        away = outcome.trouble is CallTrouble.CONNECTION or outcome.http in _AWAY
        rest_s = self._rest_s if away else self._short_rest_s
        self._opened_at = now
        self.rests_until = self._trial_until = now + rest_s * 2**self._rested
        self._rested += 1


LONGEST_WAIT_S = 3600.0
# An exhausted daily quota may show only as 429s: better to stop and leave all unjudged than to fail case after case.
RATE_PATIENCE_S = 1800.0
_MINUTE = 60.0
# Waiting calls check this often, so that they see a halt or the end of a pause at once.
_LOOK_UP_S = 1.0


def backoff(attempt: int, chance: float, base: float = 0.5, cap: float = 30.0) -> float:
    """Seconds to wait after the attempt-th failure (from 1): doubling, spread by ±20 % with chance in [0, 1)."""
    return float(min(cap, base * 2 ** (attempt - 1)) * (0.8 + 0.4 * chance))


class MinuteWindow:
    """A limit of `limit` units in any sixty seconds; None for no limit."""

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
        if self._limit is not None:
            self._spent.append((now, amount))
            self._total += amount


class Turns:
    """A semaphore whose size may change, served in the order of arrival."""

    def __init__(self, room: Callable[[], float]) -> None:
        self._room, self.active = room, 0
        self._queue: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
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
        free = self._room() - self.active
        while self._queue and free > 0:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1


class Limits:
    """The gate that all calls to one endpoint pass through.

    `concurrency` is the maximum that run at once; a 429 halves the number allowed, answers raise it slowly again. A
    pause longer than `longest_wait_s` halts the run instead. Tests pass the clock (monotonic seconds), sleep and
    chance.
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
        self.concurrency = max(1, concurrency)
        self.allowed = float(self.concurrency)
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
        self._attempts = 0
        self.opened = asyncio.Event()
        """Set at the first usable answer, even a journalled one, and at the end of a run; few cases start before."""

    @property
    def active(self) -> int:
        return self._slots.active

    def waiting_until(self) -> datetime | None:
        """When calls go out again, if they are paused (a quota's pause, the breaker's rest); None otherwise."""
        wait = max(self._resume_at, self.breaker.rests_until) - self._clock()
        return datetime.now(UTC) + timedelta(seconds=wait) if wait > 0 else None

    @asynccontextmanager
    async def slot(self, tokens: float = 0.0) -> AsyncIterator[float]:
        """Wait for permission to send one request of so many tokens; yields the moment it was granted.

        Raises RunHalt if the endpoint is given up.
        """
        async with self._slots.one():
            await self._until_open(tokens)
            yield self._clock()

    @asynccontextmanager
    async def question(self) -> AsyncIterator[int]:
        """Wait for permission to ask a question, which may take several requests; yields its number, from 1."""
        async with self._questions.one():
            self._attempts += 1
            yield self._attempts

    def settled(
        self, number: int, status: Status, http: int | None, cause: str, subjects: Sequence[str]
    ) -> None:
        """Record the result of a question; raises RunHalt if too many have failed in a row."""
        try:
            self.breaker.settled(number, status, http, cause, subjects)
        except RunHalt as halt:
            self._end(self._halt or halt)
            raise
        if self.breaker.proven:
            self.opened.set()
        self._slots.wake()
        self._questions.wake()

    def record_outcome(self, outcome: CallOutcome, started: float, *, form_doubtful: bool = False) -> None:
        """Record an attempt granted at `started`; raises RunHalt if the endpoint is given up."""
        try:
            if outcome.trouble is CallTrouble.RATE:
                # The 429s of calls already in flight report the same excess: halve once for all of them.
                if started >= self._halved_at:
                    self.allowed, self._halved_at = max(1.0, self.allowed / 2), self._clock()
                self._lose_patience(outcome)
            elif outcome.answered:
                self._only_429_since = None
                self.allowed = min(float(self.concurrency), self.allowed + 1 / self.allowed)
            self._pause(outcome)
            self.breaker.record_outcome(outcome, started, self._clock(), form_doubtful=form_doubtful)
        except RunHalt as halt:
            self._end(halt)
            raise

    def _end(self, halt: RunHalt) -> None:
        self._halt = halt
        self.opened.set()
        self._questions.wake()

    async def back_off(self, attempt: int) -> None:
        """Wait before the retry after the attempt-th failure; raises RunHalt if the endpoint is given up."""
        until = self._clock() + backoff(attempt, self._chance(), self._backoff_s)
        while (wait := until - self._clock()) > 0:
            await self._nap(wait)

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
        # The breaker gives its one trial to the first caller: ask it only if nothing else delays the call.
        return wait if wait > 0 else self.breaker.delay(now)

    async def _nap(self, wait: float) -> None:
        self._check()
        await self._sleep(min(wait, _LOOK_UP_S))

    def _check(self) -> None:
        if self._halt is not None:
            raise self._halt
