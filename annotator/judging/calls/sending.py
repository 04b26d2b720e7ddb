"""Sending a request until it is answered or given up: slots, retries, rejected parameters, money."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from annotator.judging.calls.budget import FIRST_OUTPUT, Budget
from annotator.judging.calls.client import Client
from annotator.judging.calls.ladder import Ladder
from annotator.judging.calls.limits import Limits
from annotator.judging.calls.noting import CallTrail
from annotator.judging.calls.outcome import NOT_SENT, PASSING, CallOutcome, CallTrouble
from annotator.judging.calls.parameters import CAPS, FORMAT, Learned, cap_of, rejected_part
from annotator.judging.calls.prices import Prices, tokens_of
from annotator.judging.prompts.messages import Messages

TRIES = {CallTrouble.RATE: 9, CallTrouble.TIMEOUT: 2}
OTHER_TRIES = 5
MOST_TRIES = 10
# The most tokens of a reply where a budget wants a cap and the judge sets none; thinking counts in it.
CAP = 4_096
# The money of a call that broke off may have been spent all the same.
_UNBILLED = frozenset({CallTrouble.TIMEOUT, CallTrouble.CONNECTION, CallTrouble.MALFORMED})


@dataclass(frozen=True, slots=True)
class SentCall:
    """The last outcome, the number of attempts, and the model and parameters of the last one."""

    outcome: CallOutcome
    attempts: int
    model: str
    parameters: Mapping[str, Any]
    cost_usd: float | None
    form_rejected: bool = False


class Sender:
    """The sender of requests to an endpoint, shared by all its calls, with what they learned about it."""

    def __init__(self, client: Client, limits: Limits, prices: Prices, budget: Budget | None = None) -> None:
        self.client = client
        self.limits = limits
        self.prices = prices
        self.budget = budget or Budget()
        self.learned = Learned()
        self.ladder = Ladder()

    async def send(
        self,
        messages: Messages,
        form: Mapping[str, Any] | None,
        parameters: Mapping[str, Any],
        tries: int = 0,
        likely: int = 0,
        trail: CallTrail | None = None,
    ) -> SentCall:
        """Send until answered or given up; `tries` bounds the attempts at a server's own errors (0: the usual).

        `likely` is how many tokens such a reply may well have, for as long as none has shown more.
        A response format that the server turns down by name is given back at once. Raises Halt. The `trail` is told
        of every request before it goes out, and of each that may have been paid without an answer.
        """
        trail = trail or CallTrail(None)
        troubles: Counter[CallTrouble] = Counter()
        model, attempts = self.client.endpoint.model, 0
        while True:
            dropped = frozenset(self.learned.dropped)
            sent = self.fitted(parameters, likely) | ({FORMAT: form} if form else {})
            outcome, cost = await self._attempt(messages, sent, likely, trail, form_doubtful=tries > 0)
            attempts += 1
            part = rejected_part(outcome, sent)
            if part == FORMAT:
                return SentCall(outcome, attempts, model, sent, cost, form_rejected=True)
            if part is not None:
                self.learned.reject(part, outcome.message)
                continue
            if self.learned.other_manner(outcome, dropped):
                continue
            troubles[outcome.trouble] += 1
            if _final(outcome, troubles, tries):
                return SentCall(outcome, attempts, model, sent, cost)
            if cost != 0:
                await trail.lost(outcome, sent, cost)
            if not outcome.retry_after:
                await self.limits.back_off(troubles.total())

    async def _attempt(
        self,
        messages: Messages,
        sent: Mapping[str, Any],
        likely: int,
        trail: CallTrail,
        *,
        form_doubtful: bool,
    ) -> tuple[CallOutcome, float | None]:
        tokens, output = tokens_of(messages), self.most_output(sent, likely)
        model = self.client.endpoint.model
        body = {"model": model, "messages": self.learned.arranged(messages), **sent}
        expected = self.likely_usd(tokens, sent, likely) or 0.0
        async with (
            self.budget.reserve(expected, partial(self.most_usd, body, likely)) as bill,
            self.limits.slot(tokens + output) as granted,
        ):
            await trail.sent(sent, bill.most_usd)
            with trail.in_flight():
                outcome = await self.client.attempt(body)
            cost, usage = self._cost(outcome), outcome.usage
            if outcome.answered:
                most = self.most_usd(body, likely, usage.beside or 0)
                self.budget.heard(
                    usage.output,
                    likely,
                    within=None not in (cap_of(sent), cost, most) and (cost or 0.0) <= (most or 0.0),
                    input_ratio=(usage.input or 0) / max(1, tokens),
                    beside=usage.beside,
                )
            if cost is None:
                # Thinking that no bill has shown is not charged by guess.
                cost = self.most_usd(body, likely, None if self.budget.beside else 0)
            bill.cost_usd = cost
            # A rejection that names its part teaches something: the next request leaves it out.
            if rejected_part(outcome, sent) is None:
                doubtful = form_doubtful and outcome.http in (500, 501)
                self.limits.heard(outcome, granted, form_doubtful=doubtful)
        return outcome, cost

    def _cost(self, outcome: CallOutcome) -> float | None:
        """What an attempt cost: nothing where the server turned it down, None where nobody told."""
        if not outcome.answered and (outcome.trouble not in _UNBILLED or outcome.code == NOT_SENT):
            return 0.0
        return self.prices.bill(outcome.usage, self.client.endpoint.model, outcome.model)

    def fitted(self, parameters: Mapping[str, Any], likely: int = 0) -> dict[str, Any]:
        """The parameters worth sending, with a token cap where a budget rests on one and none is set."""
        if self.budget.limit_usd is not None and not set(CAPS) & set(parameters):
            parameters = {**parameters, "max_tokens": max(CAP, 2 * likely)}
        return self.learned.fit(parameters)

    def most_output(self, parameters: Mapping[str, Any], likely: int = 0) -> int:
        """How many tokens a reply is taken to have: its cap, else the most that was seen or is likely of its kind."""
        cap = cap_of(parameters)
        return max(FIRST_OUTPUT, likely, *self.budget.longest.values()) if cap is None else cap

    def likely_usd(self, tokens: int, parameters: Mapping[str, Any], likely: int = 0) -> float | None:
        """What a question of so many tokens may well cost: its reply has what it is told to, or what others had."""
        known, cap = self.prices.of(self.client.endpoint.model), cap_of(parameters)
        if known is None:
            return None
        output = self.budget.likely_output(likely)
        output = output if cap is None or self.budget.beside else min(cap, output)
        return known.price.cost(round(tokens * self.budget.input_ratio), output)

    def most_usd(self, body: Mapping[str, Any], likely: int = 0, beside: int | None = None) -> float | None:
        """The most a request may cost; None where the price is not known.

        `beside` is how many tokens may come on top of its cap, by default as many as bills so far leave possible.
        """
        known, cap = self.prices.of(str(body["model"])), cap_of(body)
        if known is None:
            return None
        if beside is None:
            beside = 0 if cap is None else self.budget.thinking(cap)
        most_input, output = len(orjson.dumps(body)), self.most_output(body, likely) + beside
        return max(known.price.cost(most_input, output, cached) for cached in (0, most_input))


def _final(outcome: CallOutcome, troubles: Counter[CallTrouble], tries: int) -> bool:
    if outcome.trouble not in PASSING or troubles.total() >= MOST_TRIES:
        return True
    # Where nobody is there to answer, the run ends before the question is given up.
    most = MOST_TRIES if outcome.code == NOT_SENT else TRIES.get(outcome.trouble, OTHER_TRIES)
    if tries and outcome.http == 500:
        most = tries
    return troubles[outcome.trouble] >= most
