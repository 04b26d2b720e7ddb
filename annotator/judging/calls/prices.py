"""Prices of calls: a dated table that a person may override."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from annotator.domain.texts.refusal import Refusal
from annotator.judging.calls.outcome import Usage
from annotator.judging.prompts.messages import Messages
from annotator.places import resources, user_data

FILE = "prices.json"
_MILLION = 1_000_000
_SNAPSHOT = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|latest)$")


class Price(BaseModel):
    """US dollars per million tokens. Without a price of their own, cached tokens cost as much as any."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)

    def cost(self, tokens_input: int, tokens_output: int, tokens_cached: int = 0) -> float:
        """Dollars for so many tokens; the cached ones are a part of the input."""
        cached = min(tokens_cached, tokens_input)
        rate = self.input if self.cached is None else self.cached
        return ((tokens_input - cached) * self.input + cached * rate + tokens_output * self.output) / _MILLION


class PriceTable(BaseModel):
    """A price file: the day it was true and a price for each model."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    as_of: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$")
    models: dict[str, Price]


@dataclass(frozen=True, slots=True)
class DatedPrice:
    """A price with the day it was true."""

    price: Price
    as_of: str


class Prices:
    """All known prices, those of the person before those shipped."""

    def __init__(self, *tables: PriceTable) -> None:
        self._tables = tables
        self._found: dict[str, DatedPrice | None] = {}

    def of(self, model: str) -> DatedPrice | None:
        """The price of a model: by its name, without the provider before it or the snapshot's date after it."""
        if model not in self._found:
            self._found[model] = self._look_up(model)
        return self._found[model]

    def _look_up(self, model: str) -> DatedPrice | None:
        names = dict.fromkeys((model, model.rsplit("/", 1)[-1]))
        for name in (*names, *(_SNAPSHOT.sub("", name) for name in names)):
            for table in self._tables:
                if name in table.models:
                    return DatedPrice(table.models[name], table.as_of)
        return None

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


def prices(folder: Path | None = None) -> Prices:
    """The person's price file (in their data folder unless given), then the shipped one; Refusal if unreadable."""
    own = (folder or user_data()) / FILE
    return Prices(*([_table(own)] if own.is_file() else []), _shipped())


@cache
def _shipped() -> PriceTable:
    return _table(resources() / FILE)


def _table(path: Path) -> PriceTable:
    try:
        return PriceTable.model_validate_json(path.read_bytes())
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in fault["loc"]) or "the file"
        raise Refusal(
            f"The price file {path.name} cannot be read: {place}: {fault['msg']}.",
            f"Correct {path}, or remove it to go back to the shipped prices.",
        ) from None
