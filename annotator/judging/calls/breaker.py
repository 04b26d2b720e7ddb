"""Circuit breaker: when an endpoint is paused, and when a run that gets nowhere is stopped."""

from collections.abc import Sequence
from datetime import datetime
from itertools import takewhile

from annotator.domain.judges.judgement import Status
from annotator.judging.calls.outcome import CallOutcome, CallTrouble

LIKE_FAILURES = 8
"""So many like failures in a row, without a usable answer between them, stop a run."""
OPENING = 3
"""Questions in progress at once until the first usable answer."""
_FATAL = {
    CallTrouble.KEY: "The endpoint refuses the key.",
    CallTrouble.QUOTA: "The account's credit or quota is used up.",
    CallTrouble.REDIRECT: "Redirects are not followed: give the judge the address that is meant.",
}
_NOT_FOUND = "The endpoint does not know the model or the address."
_DOWN = frozenset({CallTrouble.SERVER, CallTrouble.CONNECTION, CallTrouble.TIMEOUT, CallTrouble.MALFORMED})
# A gateway whose server is away, or too busy; other errors of a server pass sooner or not at all.
_AWAY = frozenset({408, 502, 503, 504, 522, 524, 529})
# What one report alone may be the cause of.
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
    """No further call makes sense: the run ends, what is unjudged stays unjudged and can be resumed."""

    def __init__(self, cause: str, until: datetime | None = None) -> None:
        super().__init__(cause)
        self.cause = cause
        self.until = until


class Breaker:
    """Lets an endpoint rest that is away, and stops a run that gets nowhere.

    A run stops after `LIKE_FAILURES` requests in a row that nobody answered, or questions in a row that came to
    nothing, for the same reason; after twice as many for different reasons; and before the first usable answer after
    twice as many requests of any kind. What one report may be the cause of counts once a report. An endpoint that has
    answered before is left to rest before each of the last `rests` of those requests, each time twice as long: less
    than two minutes in all. One that turns down the key or redirects `fatal` times in a row, or says that the account's
    credit or quota is used up, is given up at once. Requests to ask less (429) count for nothing. Times are monotonic
    seconds.
    """

    def __init__(
        self,
        threshold: int = LIKE_FAILURES,
        rest_s: float = 15.0,
        rests: int = 3,
        fatal: int = 3,
        short_rest_s: float = 5.0,
    ) -> None:
        self._threshold = threshold
        self._rest_s, self._short_rest_s = rest_s, short_rest_s
        self._rests = rests
        self._fatal = fatal
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
        """How many questions may be in progress: few until one was answered, and fewer with each failure in a row."""
        if not self.proven:
            return OPENING
        return max(1, LIKE_FAILURES - len(self._streak)) if self._streak else float("inf")

    @property
    def most_requests(self) -> float:
        """How many requests may be out at once, so that a hopeless run ends within its bound."""
        if not self.proven:
            return max(1, 2 * LIKE_FAILURES - self._in_vain)
        if self._failed:
            return max(1, self._threshold - self._alike)
        return float("inf") if self._unread < LIKE_FAILURES else max(1, 2 * LIKE_FAILURES - self._unread)

    @property
    def _alike(self) -> int:
        """How many of the last requests that nobody answered failed for the same reason, one after the other."""
        return len(list(takewhile(self._failed[-1].__eq__, reversed(self._failed)))) if self._failed else 0

    def unread(self) -> None:
        """Learn of a reply that could not be used; the question may be put once more."""
        self._unread += 1

    def delay(self, now: float) -> float:
        """Seconds until a call may go out. 0 lets this very call through and, after a rest, only this one."""
        if not self._rested:
            return 0.0
        wait = max(self.rests_until, self._trial_until) - now
        if wait <= 0:
            self._trial_until = now + self._rest_s
        return wait

    def heard(self, outcome: CallOutcome, started: float, now: float, *, form_doubtful: bool = False) -> None:
        """Learn from an attempt that started at that moment; raises Halt when the endpoint is given up.

        A server's error is not held against an endpoint while the format of the reply may be its cause.
        """
        if outcome.trouble is CallTrouble.RATE:
            return
        fatal = _NOT_FOUND if outcome.http == 404 else _FATAL.get(outcome.trouble)
        if fatal:
            # A key is refused by mistake at times; what is used up stays so.
            self._refusals += self._fatal if outcome.trouble is CallTrouble.QUOTA else 1
            if self._refusals >= self._fatal:
                raise RunHalt(f"{fatal} {outcome.message}")
        elif outcome.trouble not in _DOWN:
            self._answered = True
            self._refusals = self._rested = 0
            self._failed.clear()
        elif started > self._opened_at and not form_doubtful:
            # What was already in progress when the rest began says nothing new.
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
        """Learn what a question came to; raises Halt when too many have failed in a row.

        Questions are numbered as they are begun: a failure counts unless one begun later was answered. `subjects`
        names the report that it was about, and what it asked.
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
