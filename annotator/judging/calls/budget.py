"""The budget of a run, including the calls still in flight."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from annotator.judging.calls.breaker import RunHalt

FIRST_OUTPUT = 1_000


class BudgetSpent(RunHalt):
    """The next call could cost more than is left."""


@dataclass(slots=True)
class CallBill:
    """What a call turned out to cost; None while unknown, and then the most it could cost is charged."""

    cost_usd: float | None = None


class Budget:
    """A hard limit in US dollars; None for none.

    A call is let out only when what was spent, the most that calls in flight may cost and the most it may cost itself
    stay within the limit together. It waits while only calls in flight stand in the way. What a call may cost at most
    rests on its token cap: until an answer has shown that the endpoint keeps to it, and permanently once one has shown
    that it does not, calls go out one at a time.
    """

    def __init__(self, limit_usd: float | None = None, spent_usd: float = 0.0) -> None:
        """`spent_usd` is what the same run has spent before it was resumed."""
        self.limit_usd = limit_usd
        self.spent_usd = spent_usd
        self.longest_output = FIRST_OUTPUT
        self.keeps_caps: bool | None = None
        self._reserved, self._out = 0.0, 0
        self._settled = asyncio.Condition()

    @property
    def room_usd(self) -> float:
        """What may still be set aside now."""
        if self.limit_usd is None:
            return float("inf")
        return max(0.0, self.limit_usd - self.spent_usd - self._reserved)

    def heard(self, tokens_output: int | None, *, within: bool = False) -> None:
        """Learn from an answer how long replies get, and whether it stayed within what was set aside for it."""
        self.longest_output = max(self.longest_output, tokens_output or 0)
        self.keeps_caps = within and self.keeps_caps is not False

    @asynccontextmanager
    async def reserve(self, most_usd: float) -> AsyncIterator[CallBill]:
        """Set the most a call may cost aside until its bill is known; raises BudgetSpent when it cannot fit."""
        bill = CallBill()
        if self.limit_usd is None:
            yield bill
            return
        async with self._settled:
            await self._settled.wait_for(lambda: self._fits(most_usd))
        # Nothing waits between leave and its use, so nobody else can use it.
        self._out += 1
        try:
            async with self.owe(most_usd, bill):
                yield bill
        finally:
            self._out -= 1
            async with self._settled:
                self._settled.notify_all()

    @asynccontextmanager
    async def owe(self, most_usd: float, bill: CallBill | None = None) -> AsyncIterator[CallBill]:
        """Set aside what is out already, whether it fits or not, until its bill is known."""
        bill = bill or CallBill()
        self._reserved += most_usd
        try:
            yield bill
        finally:
            self._reserved -= most_usd
            self.spent_usd += most_usd if bill.cost_usd is None else bill.cost_usd
            async with self._settled:
                self._settled.notify_all()

    def _fits(self, most_usd: float) -> bool:
        limit = self.limit_usd or 0.0
        if self.spent_usd + most_usd > limit:
            raise self.too_little()
        in_turn = bool(self.keeps_caps) or not self._out
        return in_turn and self.spent_usd + self._reserved + most_usd <= limit

    def too_little(self) -> BudgetSpent:
        """What to raise when the next call does not fit."""
        limit = self.limit_usd or 0.0
        return BudgetSpent(f"budget: the next call could cost more than is left of {limit:.2f} US dollars")
