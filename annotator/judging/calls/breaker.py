"""Circuit breaker: when an endpoint is paused, and when it is given up."""

from datetime import datetime

from annotator.judging.calls.outcome import CallOutcome, CallTrouble

_FATAL = {
    CallTrouble.KEY: "The endpoint refuses the key.",
    CallTrouble.QUOTA: "The account's credit or quota is used up.",
    CallTrouble.REDIRECT: "Redirects are not followed: give the judge the address that is meant.",
}
_NOT_FOUND = "The endpoint does not know the model or the address."
_DOWN = frozenset({CallTrouble.SERVER, CallTrouble.CONNECTION, CallTrouble.TIMEOUT, CallTrouble.MALFORMED})


class RunHalt(Exception):
    """No further call makes sense: the run ends, what is unjudged stays unjudged and can be resumed."""

    def __init__(self, cause: str, until: datetime | None = None) -> None:
        super().__init__(cause)
        self.cause = cause
        self.until = until


class Breaker:
    """Rests after `threshold` failures in a row, then lets one call through; each rest is twice the one before.

    An endpoint that has never answered, or does not after `rests` rests, is given up; so is one that turns down
    the key or redirects `fatal` times in a row, or says that the account's credit or quota is used up. Times are
    monotonic seconds.
    """

    def __init__(self, threshold: int = 10, rest_s: float = 30.0, rests: int = 6, fatal: int = 3) -> None:
        self._threshold = threshold
        self._rest_s = rest_s
        self._rests = rests
        self._fatal = fatal
        self._failures = self._refusals = self._rested = 0
        self._answered = False
        self._opened_at = float("-inf")
        self._trial_until = float("-inf")
        self.rests_until = float("-inf")

    def delay(self, now: float) -> float:
        """Seconds until a call may go out. 0 lets this very call through and, after a rest, only this one."""
        if not self._rested:
            return 0.0
        wait = max(self.rests_until, self._trial_until) - now
        if wait <= 0:
            self._trial_until = now + self._rest_s
        return wait

    def heard(self, outcome: CallOutcome, started: float, now: float) -> None:
        """Learn from an attempt that started at that moment; raises Halt when the endpoint is given up."""
        fatal = _NOT_FOUND if outcome.http == 404 else _FATAL.get(outcome.trouble)
        if fatal:
            # A key is refused by mistake at times; what is used up stays so.
            self._refusals += self._fatal if outcome.trouble is CallTrouble.QUOTA else 1
            if self._refusals >= self._fatal:
                raise RunHalt(f"{fatal} {outcome.message}")
        elif outcome.trouble in _DOWN:
            # What was already in progress when the rest began says nothing new.
            if started >= self._opened_at:
                self._fail(outcome, now)
        elif outcome.trouble is not CallTrouble.RATE:
            self._answered = True
            self._failures = self._refusals = self._rested = 0

    def _fail(self, outcome: CallOutcome, now: float) -> None:
        self._failures += 1
        if self._failures < self._threshold and not self._rested:
            return
        if not self._answered or self._rested >= self._rests:
            raise RunHalt(f"The endpoint does not answer. {outcome.message}")
        self._opened_at, self._failures = now, 0
        self.rests_until = self._trial_until = now + self._rest_s * 2**self._rested
        self._rested += 1
