"""Prices of calls: a judge's own, a user's file, or the dated table of genai-prices."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from annotator.domain.common import Refusal, usd
from annotator.domain.judges.judge import Judge, Price
from annotator.judging.calls.limits import RunHalt
from annotator.judging.calls.outcome import Usage
from annotator.judging.messages import Messages
from annotator.places import user_data

FILE = "prices.json"
LISTED = "genai-prices"
_SNAPSHOT = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|latest)$")
# If a model has one of these, its tokens are not all that is billed.
_BESIDE_TOKENS = ("requests_kcount", "output_reasoning_mtok", "output_citation_mtok", "input_mchars")


class PriceTable(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """A price file: its date and a price for each model."""

    as_of: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$")
    models: dict[str, Price]


@dataclass(frozen=True, slots=True)
class DatedPrice:
    """A price, its date and its source; both empty for a price entered for a judge."""

    price: Price
    as_of: str = ""
    table: str = ""


class Prices:
    """All known prices: a judge's own, those of the user's file, those that genai-prices lists for an endpoint."""

    def __init__(self, *tables: PriceTable, own: Price | None = None, base_url: str | None = None) -> None:
        """`base_url` is the endpoint's address; without one genai-prices is not searched."""
        self._tables, self._own, self._base_url = tables, own, base_url

    def of(self, model: str) -> DatedPrice | None:
        """The price of a model: by its name, without the provider before it or the snapshot's date after it."""
        if self._own is not None:
            return DatedPrice(self._own)
        for name in _names(model):
            for table in self._tables:
                if name in table.models:
                    return DatedPrice(table.models[name], table.as_of, FILE)
        return None if self._base_url is None else _listed(model, self._base_url)

    def cost(
        self,
        model: str,
        tokens_input: int | None,
        tokens_output: int | None,
        tokens_cached: int | None = None,
    ) -> float | None:
        """The cost of a call in USD; None if the price or the tokens are unknown, never 0 for lack of data."""
        known = self.of(model)
        if known is None or tokens_input is None or tokens_output is None:
            return None
        return known.price.cost(tokens_input, tokens_output, tokens_cached or 0)

    def bill(self, usage: Usage, *models: str, share: float = 1.0) -> float | None:
        """The cost of a call in USD: as the server states it, else by the first of its model's names that has a price.

        None if neither is known. `share` is the fraction of the price that is charged.
        """
        if usage.cost_usd is not None:
            return usage.cost_usd
        costs = (self.cost(model, usage.input, usage.output, usage.cached) for model in models)
        return next((cost * share for cost in costs if cost is not None), None)


def tokens_in(text: str) -> int:
    """A rough count of a text's tokens: four ASCII characters make one, any other character is one."""
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return -(-plain // 4) + len(text) - plain


def tokens_of(messages: Messages) -> int:
    """A rough count of the tokens of messages, by the same rule."""
    return sum(tokens_in(message["content"]) for message in messages)


def prices(judge: Judge | None = None, folder: Path | None = None) -> Prices:
    """The prices of calls to a judge: its own, the user's price file (in their data folder), then genai-prices.

    Refusal if the file is unreadable.
    """
    file = (folder or user_data()) / FILE
    own = judge.settings.price if judge else None
    return Prices(
        *([_table(file)] if file.is_file() else []), own=own, base_url=judge.base_url if judge else ""
    )


def unpriced(model: str) -> Refusal:
    """The refusal of a budget for a model of unknown price."""
    return Refusal(
        f"The price of {model} is not known, so no budget can be kept.",
        "Enter its prices (in the window on Judges, or with “judge price”), or run without a budget.",
    )


@lru_cache(maxsize=256)
def _names(model: str) -> dict[str, None]:
    names = dict.fromkeys((model, model.rsplit("/", 1)[-1]))
    return dict.fromkeys((*names, *(_SNAPSHOT.sub("", name) for name in names)))


@lru_cache(maxsize=256)
def _listed(model: str, base_url: str) -> DatedPrice | None:
    """The price in genai-prices: at a known provider's address by its name rules; elsewhere only under the exact name.

    The table is part of the package; nothing is fetched.
    """
    from genai_prices.data_snapshot import get_snapshot

    table = get_snapshot()
    try:
        table.find_provider(None, None, base_url)
    except LookupError:
        result = _by_name(table, model)
    else:
        try:
            result = table.find_provider_model(model, None, None, base_url)[1]
        except LookupError:
            result = None
    price = _price(result.get_prices(datetime.now(UTC))) if result else None
    return DatedPrice(price, _listed_on(), f"{LISTED} {version(LISTED)}") if price else None


def _by_name(table: Any, model: str) -> Any:
    provider, _, _ = model.partition("/")
    for name in _names(model.lower()):
        for of in (None, provider.lower()) if "/" in model else (None,):
            try:
                listed = table.find_provider(name, of, None).models
            except LookupError:
                continue
            if result := next((one for one in listed if one.id == name), None):
                return result
    return None


def _price(listed: Any) -> Price | None:
    """The prices of tokens; None if other units are billed beside them."""
    listed_prices = {name: getattr(listed, f"{name}_mtok") for name in ("input", "output", "cache_read")}
    if None in (listed_prices["input"], listed_prices["output"]) or any(
        getattr(listed, name) for name in _BESIDE_TOKENS
    ):
        return None
    starts = {tier.start for value in listed_prices.values() for tier in getattr(value, "tiers", ())}
    return _above(listed_prices, 0).model_copy(
        update={"long": {start: _above(listed_prices, start) for start in starts}}
    )


def _above(listed_prices: Mapping[str, Any], start: int) -> Price:
    def at(value: Any) -> float | None:
        above = [tier.price for tier in getattr(value, "tiers", ()) if tier.start <= start]
        return None if value is None else float(above[-1] if above else getattr(value, "base", value))

    return Price(
        input=at(listed_prices["input"]) or 0.0,
        output=at(listed_prices["output"]) or 0.0,
        cached=at(listed_prices["cache_read"]),
    )


@cache
def _listed_on() -> str:
    """The date of the last change of price in genai-prices."""
    from genai_prices.data_snapshot import get_snapshot

    today = datetime.now(UTC).date()
    every = (model.prices for provider in get_snapshot().providers for model in provider.models)
    dated = (price.constraint for prices in every if isinstance(prices, list) for price in prices)
    days = (getattr(constraint, "start_date", None) for constraint in dated)
    return str(max(day for day in days if day is not None and day <= today))


def _table(path: Path) -> PriceTable:
    try:
        return PriceTable.model_validate_json(path.read_bytes())
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in fault["loc"]) or "the file"
        raise Refusal(
            f"The price file {path.name} cannot be read: {place}: {fault['msg']}.",
            f"Correct {path}, or remove it to go back to the prices of {LISTED}.",
        ) from None


# The maximum that a judge is asked to write about one unit: a quote and two sentences.
TOKENS_A_UNIT = 150
FIRST_OUTPUT = 1_000
# Thinking that is billed beside the cap has at most so many tokens, or so many times the cap.
MOST_THINKING = 32_000
THINKING_PER_CAP = 8
# A model without thinking in so many replies is assumed not to think.
UNTHINKING = 16


class BudgetSpent(RunHalt):
    """The next call is likely to cost more than is left."""


@dataclass(slots=True)
class CallBill:
    """The bill of a call; `cost_usd` is None while unknown, and then the maximum is charged."""

    cost_usd: float | None = None
    most_usd: float | None = None


class Budget:
    """A limit in US dollars; None for none. It is exceeded by one call at most.

    A call goes out if the money spent plus the likely cost of this call and those in flight stays within the limit,
    and so does the money spent plus the maximum cost of those in flight. It waits while only calls in flight prevent
    it. The maximum cost of a call rests on its token cap: until a bill has shown that the endpoint respects it, and
    permanently once one has shown that it does not, calls go out one at a time. Unless bills show that thinking
    counts within the cap, it may come on top: 32 000 tokens, eight times the cap or twice the longest so far,
    whichever is most. So calls run in parallel while the limit is far, and one at a time near it.
    """

    def __init__(
        self,
        limit_usd: float | None = None,
        spent_usd: float = 0.0,
        *,
        output_tokens: int = TOKENS_A_UNIT,
        longest_output: int = 0,
    ) -> None:
        """`spent_usd` and `longest_output` (in tokens) are those of the same run before it was resumed.

        `output_tokens` is the maximum length that a reply is asked to have, in tokens.
        """
        self.limit_usd = limit_usd
        self.spent_usd = spent_usd
        self.output_tokens = output_tokens
        self.longest: dict[int, int] = {output_tokens: longest_output} if longest_output else {}
        """The longest reply so far, in tokens, by the maximum length that replies were asked to have."""
        self.input_ratio = 1.0
        self.keeps_caps: bool | None = None
        self.beside: int | None = None
        """The longest thinking billed beside a cap, in tokens; 0 if there is none; None until bills have shown
        either.
        """
        self._unthinking = 0
        self._likely, self._most, self._out = 0.0, 0.0, 0
        self._settled = asyncio.Condition()

    @property
    def room_usd(self) -> float:
        """What is left after the maximum cost of the calls in flight."""
        if self.limit_usd is None:
            return float("inf")
        return max(0.0, self.limit_usd - self.spent_usd - self._most)

    def likely_output(self, limit: int = 0) -> int:
        """The likely length of a reply in tokens: the longest so far, before the first the length it is asked to
        have.
        """
        return self.longest.get(limit or self.output_tokens) or limit or self.output_tokens

    def thinking(self, cap: int) -> int:
        """The maximum number of tokens that a reply may be billed beyond its cap."""
        return 0 if self.beside == 0 else max(MOST_THINKING, THINKING_PER_CAP * cap, 2 * (self.beside or 0))

    def record_usage(
        self,
        tokens_output: int | None,
        asked_length: int = 0,
        *,
        within: bool = False,
        input_ratio: float = 1.0,
        beside: int | None = None,
    ) -> None:
        """Record an answer: its length, and whether it was billed within its cap plus its thinking `beside` it.

        `asked_length` is the length that it was asked to have, `input_ratio` the number of tokens its question had for
        each that was counted here.
        """
        self._unthinking += tokens_output is not None and beside is None
        if beside is None and self.beside is None and self._unthinking >= UNTHINKING:
            beside = 0
        if beside is not None:
            self.beside = max(self.beside or 0, beside)
        asked_length = asked_length or self.output_tokens
        self.longest[asked_length] = max(self.longest.get(asked_length, 0), tokens_output or 0)
        self.input_ratio = max(self.input_ratio, input_ratio)
        self.keeps_caps = within and self.keeps_caps is not False

    @asynccontextmanager
    async def reserve(
        self, likely_usd: float, most_usd: Callable[[], float | None]
    ) -> AsyncIterator[CallBill]:
        """Reserve the cost of a call until its bill is known; raises BudgetSpent if it cannot fit.

        `most_usd` is called at its turn: bills until then may have shown more.
        """
        if self.limit_usd is None:
            yield CallBill(most_usd=most_usd())
            return
        async with self._settled:
            await self._settled.wait_for(lambda: self._fits(likely_usd))
        # There is no await between the check and the reservation, so nobody else can use the room.
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
        """Reserve the cost of a call already sent, whether it fits or not, until its bill is known."""
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
            raise BudgetSpent(
                f"The budget of {usd(limit)} does not reach for the next call: {usd(self.spent_usd)} is spent, and it "
                f"is likely to cost {usd(likely_usd)}."
            )
        in_turn = bool(self.keeps_caps) or not self._out
        within = self.spent_usd + self._likely + likely_usd <= limit
        return in_turn and within and self.spent_usd + self._most <= limit
