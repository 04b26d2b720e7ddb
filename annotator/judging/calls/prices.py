"""Prices of calls: a judge's own, a person's file, or the dated table of genai-prices."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from annotator.domain.judges.judge import Judge, Price
from annotator.domain.texts.refusal import Refusal
from annotator.judging.calls.outcome import Usage
from annotator.judging.prompts.messages import Messages
from annotator.places import user_data

FILE = "prices.json"
LISTED = "genai-prices"
_SNAPSHOT = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|latest)$")
# Where a model has one of these, its tokens are not all that is paid.
_BESIDE_TOKENS = ("requests_kcount", "output_reasoning_mtok", "output_citation_mtok", "input_mchars")


class PriceTable(BaseModel):
    """A price file: the day it was true and a price for each model."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    as_of: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$")
    models: dict[str, Price]


@dataclass(frozen=True, slots=True)
class DatedPrice:
    """A price, the day it was true and where it stands; neither for one that was entered for a judge."""

    price: Price
    as_of: str = ""
    table: str = ""


class Prices:
    """All known prices: a judge's own, those of the person, those that genai-prices lists for an endpoint."""

    def __init__(self, *tables: PriceTable, own: Price | None = None, base_url: str | None = None) -> None:
        """`base_url` is the endpoint's address; without one nothing is looked up in genai-prices."""
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
        """Dollars a call cost; None when the price or the tokens are not known, never 0 for want of knowing."""
        known = self.of(model)
        if known is None or tokens_input is None or tokens_output is None:
            return None
        return known.price.cost(tokens_input, tokens_output, tokens_cached or 0)

    def bill(self, usage: Usage, *models: str, share: float = 1.0) -> float | None:
        """Dollars that a call cost: as the server says, else by the first of its model's names that has a price.

        None if neither is known. `share` is the part of a price that is charged.
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
    """A rough count of what is sent, by the same rule."""
    return sum(tokens_in(message["content"]) for message in messages)


def prices(judge: Judge | None = None, folder: Path | None = None) -> Prices:
    """What calls to a judge cost: by its own price, the person's price file (in their data folder), then genai-prices.

    Refusal if the file is unreadable.
    """
    file = (folder or user_data()) / FILE
    own = judge.asked.price if judge else None
    return Prices(
        *([_table(file)] if file.is_file() else []), own=own, base_url=judge.base_url if judge else ""
    )


def unpriced(model: str) -> Refusal:
    """What to say where a budget is wanted for a model of unknown price."""
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
    """What genai-prices lists: at a provider's address as it reads names; elsewhere only under the very name.

    The table lies in the package; nothing is fetched.
    """
    from genai_prices.data_snapshot import get_snapshot

    table = get_snapshot()
    try:
        table.find_provider(None, None, base_url)
    except LookupError:
        found = _by_name(table, model)
    else:
        try:
            found = table.find_provider_model(model, None, None, base_url)[1]
        except LookupError:
            found = None
    price = _price(found.get_prices(datetime.now(UTC))) if found else None
    return DatedPrice(price, _listed_on(), f"{LISTED} {version(LISTED)}") if price else None


def _by_name(table: Any, model: str) -> Any:
    provider, _, _ = model.partition("/")
    for name in _names(model.lower()):
        for of in (None, provider.lower()) if "/" in model else (None,):
            try:
                listed = table.find_provider(name, of, None).models
            except LookupError:
                continue
            if found := next((one for one in listed if one.id == name), None):
                return found
    return None


def _price(listed: Any) -> Price | None:
    """The prices of tokens; None where others are paid beside them."""
    told = {name: getattr(listed, f"{name}_mtok") for name in ("input", "output", "cache_read")}
    if None in (told["input"], told["output"]) or any(getattr(listed, name) for name in _BESIDE_TOKENS):
        return None
    starts = {tier.start for value in told.values() for tier in getattr(value, "tiers", ())}
    return _above(told, 0).model_copy(update={"long": {start: _above(told, start) for start in starts}})


def _above(told: Mapping[str, Any], start: int) -> Price:
    def at(value: Any) -> float | None:
        above = [tier.price for tier in getattr(value, "tiers", ()) if tier.start <= start]
        return None if value is None else float(above[-1] if above else getattr(value, "base", value))

    return Price(
        input=at(told["input"]) or 0.0, output=at(told["output"]) or 0.0, cached=at(told["cache_read"])
    )


@cache
def _listed_on() -> str:
    """The day of the last change of price that genai-prices knows."""
    from genai_prices.data_snapshot import get_snapshot

    today = datetime.now(UTC).date()
    every = (model.prices for provider in get_snapshot().providers for model in provider.models)
    dated = (one.constraint for prices in every if isinstance(prices, list) for one in prices)
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
