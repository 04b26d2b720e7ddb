"""The budget of a run, including the calls still in flight."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from annotator.domain.texts.counting import usd
from annotator.judging.calls.breaker import RunHalt

# What a judge is told to write about one unit comes to this at most: a quote and two sentences.
TOKENS_A_UNIT = 150
FIRST_OUTPUT = 1_000
# Thinking that is billed beside the cap has at most so many tokens, or so many times the cap.
MOST_THINKING = 32_000
THINKING_PER_CAP = 8
UNTHINKING = 16
"""A model that has thought in none of so many replies is taken not to think."""


class BudgetSpent(RunHalt):
    """The next call is likely to cost more than is left."""


@dataclass(slots=True)
class CallBill:
    """What a call turned out to cost; None while unknown, and then the most it could cost is charged."""

    cost_usd: float | None = None
    most_usd: float | None = None


class Budget:
    """A limit in US dollars; None for none. It is passed by one call at most.

    A call is let out when what was spent and what calls in flight and this one are likely to cost stay within the
    limit, and the most that those in flight may cost does, too. It waits while only calls in flight stand in the way.
    What a call may cost at most rests on its token cap: until a bill has shown that the endpoint keeps to it, and
    permanently once one has shown that it does not, calls go out one at a time. Unless bills show that thinking counts
    within the cap, it may come on top: 32 000 tokens, eight times the cap or twice the longest so far, whichever is
    most. So calls go side by side while the limit is far, and one at a time near it.
    """

    def __init__(
        self,
        limit_usd: float | None = None,
        spent_usd: float = 0.0,
        *,
        told_output: int = TOKENS_A_UNIT,
        longest_output: int = 0,
    ) -> None:
        """`spent_usd` and `longest_output` (in tokens) are those of the same run before it was resumed.

        `told_output` is the most that a reply is told to have, in tokens.
        """
        self.limit_usd = limit_usd
        self.spent_usd = spent_usd
        self.told_output = told_output
        self.longest: dict[int, int] = {told_output: longest_output} if longest_output else {}
        """The longest reply so far of those that are told to have at most so many tokens."""
        self.input_ratio = 1.0
        self.keeps_caps: bool | None = None
        self.beside: int | None = None
        """The longest thinking billed beside a cap, in tokens; 0 where none is; None until bills have shown either."""
        self._unthinking = 0
        self._likely, self._most, self._out = 0.0, 0.0, 0
        self._settled = asyncio.Condition()

    @property
    def room_usd(self) -> float:
        """What is left beside the most that calls in flight may cost."""
        if self.limit_usd is None:
            return float("inf")
        return max(0.0, self.limit_usd - self.spent_usd - self._most)

    def likely_output(self, told: int = 0) -> int:
        """How long a reply gets in tokens: as long as others of the run, before the first as long as it is told to."""
        return self.longest.get(told or self.told_output) or told or self.told_output

    def thinking(self, cap: int) -> int:
        """How many tokens beyond its cap a reply may be billed at most."""
        return 0 if self.beside == 0 else max(MOST_THINKING, THINKING_PER_CAP * cap, 2 * (self.beside or 0))

    def heard(
        self,
        tokens_output: int | None,
        told: int = 0,
        *,
        within: bool = False,
        input_ratio: float = 1.0,
        beside: int | None = None,
    ) -> None:
        """Learn from an answer: its length, and whether no more was billed than its cap and thinking `beside` it.

        `told` is the length that it was told to have, `input_ratio` how many tokens its question had for each that was
        counted here.
        """
        self._unthinking += tokens_output is not None and beside is None
        if beside is None and self.beside is None and self._unthinking >= UNTHINKING:
            beside = 0
        if beside is not None:
            self.beside = max(self.beside or 0, beside)
        told = told or self.told_output
        self.longest[told] = max(self.longest.get(told, 0), tokens_output or 0)
        self.input_ratio = max(self.input_ratio, input_ratio)
        self.keeps_caps = within and self.keeps_caps is not False

    @asynccontextmanager
    async def reserve(
        self, likely_usd: float, most_usd: Callable[[], float | None]
    ) -> AsyncIterator[CallBill]:
        """Set aside what a call may cost until its bill is known; raises BudgetSpent when it cannot fit.

        The most is asked for when its turn comes: bills until then may tell more.
        """
        if self.limit_usd is None:
            yield CallBill(most_usd=most_usd())
            return
        async with self._settled:
            await self._settled.wait_for(lambda: self._fits(likely_usd))
        # Nothing waits between leave and its use, so nobody else can use it.
        self._out += 1
        bill = CallBill(most_usd=most_usd())
        try:
            async with self.owe(bill.most_usd or 0.0, bill, likely_usd):
                yield bill
        finally:
            self._out -= 1
            async with self._settled:
                self._settled.notify_all()

    @asynccontextmanager
    async def owe(
        self, most_usd: float, bill: CallBill | None = None, likely_usd: float | None = None
    ) -> AsyncIterator[CallBill]:
        """Set aside what is out already, whether it fits or not, until its bill is known."""
        bill, likely = bill or CallBill(), most_usd if likely_usd is None else likely_usd
        self._most += most_usd
        self._likely += likely
        try:
            yield bill
        finally:
            self._most -= most_usd
            self._likely -= likely
            self.spent_usd += most_usd if bill.cost_usd is None else bill.cost_usd
            async with self._settled:
                self._settled.notify_all()

    def _fits(self, likely_usd: float) -> bool:
        limit = self.limit_usd or 0.0
        if self.spent_usd + likely_usd > limit:
            raise self.too_little(likely_usd)
        in_turn = bool(self.keeps_caps) or not self._out
        within = self.spent_usd + self._likely + likely_usd <= limit
        return in_turn and within and self.spent_usd + self._most <= limit

    def too_little(self, likely_usd: float) -> BudgetSpent:
        """What to raise when the next call does not fit."""
        return BudgetSpent(
            f"The budget of {usd(self.limit_usd or 0.0)} does not reach for the next call: {usd(self.spent_usd)} is "
            f"spent, and it is likely to cost {usd(likely_usd)}."
        )
