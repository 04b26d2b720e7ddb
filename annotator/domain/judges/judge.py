"""Judges: a model behind an endpoint with its parameters, the baseline, or a vote of other judges."""

import re
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints
from pydantic import Field as Value
from sqlmodel import Field, SQLModel, String

from annotator.domain.judges.judgement import Status
from annotator.domain.texts.canonical import Text

_MILLION = 1_000_000


class JudgeKind(StrEnum):
    """How a judge comes to its verdict."""

    BASELINE = "baseline"
    ENDPOINT = "endpoint"
    DERIVED = "derived"
    WRITER = "writer"
    """It gives no verdicts: it is the endpoint behind a system, and writes that system's reports."""


class Asking(BaseModel):
    """How a judge is asked, beside what it is asked: several units in one call, with their weights or without."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    together: int = Value(
        default=1,
        ge=0,
        le=100,
        description="Units in one call; 0 for as many as the protocol's public code puts there",
    )
    weights_shown: bool = Value(default=False, description="Whether the judge is told what a unit weighs")
    of: str = Value(default="", description="Id of the judge that is asked one unit at a time")
    requests_per_minute: float | None = Value(
        default=None, gt=0, description="Most calls in any sixty seconds"
    )
    tokens_per_minute: float | None = Value(
        default=None, gt=0, description="Most tokens in any sixty seconds"
    )


class Price(BaseModel):
    """US dollars per million tokens. Without a price of their own, cached tokens cost as much as any.

    `long` holds other prices for calls of more input tokens than its key says.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    input: float = Value(ge=0)
    output: float = Value(ge=0)
    cached: float | None = Value(default=None, ge=0)
    long: dict[int, "Price"] = {}

    def cost(self, tokens_input: int, tokens_output: int, tokens_cached: int = 0) -> float:
        """Dollars for so many tokens; the cached ones are a part of the input."""
        above = [start for start in self.long if tokens_input > start]
        price = self.long[max(above)] if above else self
        cached = min(tokens_cached, tokens_input)
        rate = price.input if price.cached is None else price.cached
        return (
            (tokens_input - cached) * price.input + cached * rate + tokens_output * price.output
        ) / _MILLION

    def words(self) -> str:
        cached = "" if self.cached is None else f", ${self.cached:g} cached"
        more = f", more above {min(self.long):,} tokens in" if self.long else ""
        return f"${self.input:g} in{cached}, ${self.output:g} out per million tokens{more}"


HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")]
ShortText = Annotated[str, StringConstraints(pattern=r"^[ -~]{1,2000}$")]
SECRET = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""In a header's value: `{key}` stands for the judge's key, any other name for that environment variable."""


class PricedAsking(Asking):
    """The same with what its calls cost and what its address wants of each request; no release tells of these.

    Without `{key}` in a header the key goes out in the usual one.
    """

    price: Price | None = None
    headers: dict[HeaderName, ShortText] = Value(default={}, max_length=20)
    query: dict[ShortText, ShortText] = Value(default={}, max_length=20)

    @property
    def secrets(self) -> list[str]:
        return sorted({name for value in self.headers.values() for name in SECRET.findall(value)})


class JudgeFields(SQLModel):
    """A judge's settings. Its key is never among them: only where the key is to be found."""

    name: Text = Field(min_length=1, max_length=120)
    kind: JudgeKind = Field(default=JudgeKind.ENDPOINT, sa_type=String)
    base_url: Text = Field(default="", max_length=2000)
    model: Text = Field(default="", max_length=400)
    key_env: Text = Field(
        default="", max_length=200, description="Environment variable that may hold the key"
    )
    parameters: Text = Field(
        default="{}",
        description="JSON object of request parameters (empty: send none), or of whose verdicts a derived one counts",
    )
    asking: Text = Field(
        default="{}",
        description="JSON object of how it is asked; empty: unit by unit, weights not shown",
        sa_column_kwargs={"server_default": "{}"},
    )
    retired: bool = False


class Judge(JudgeFields):
    """A judge as plain data, outside the database."""

    model_config = ConfigDict(frozen=True)  # type: ignore[assignment]
    id: str

    @property
    def asked(self) -> PricedAsking:
        return PricedAsking.model_validate_json(self.asking)


class RunState(StrEnum):
    """How a judge run ended, or that it has not."""

    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


class CallFields(SQLModel):
    """One finished call to an endpoint, as the journal keeps it. `None` means the server did not say."""

    run_id: str | None = Field(default=None, index=True)
    judge_id: str
    cache_key: str = Field(max_length=64)
    status: Status = Field(sa_type=String)
    raw: Text = Field(default="", description="The reply as it came")
    cause: Text = ""
    requested_model: Text = ""
    returned_model: Text = ""
    fingerprint: Text = ""
    finish_reason: str = ""
    parameters: Text = "{}"
    prompt_sha256: str = Field(default="", max_length=64)
    app_version: str = ""
    attempts: int = 1
    repaired: bool = Field(default=False, description="True when one repair request was needed")
    tokens_input: int | None = None
    tokens_cached: int | None = None
    tokens_output: int | None = None
    tokens_reasoning: int | None = None
    latency_s: float | None = None
    cost_usd: float | None = Field(
        default=None, description="US dollars; without counts of tokens the most that it may have cost"
    )


class Call(CallFields):
    """A call as plain data, outside the database."""

    model_config = ConfigDict(frozen=True)  # type: ignore[assignment]
    id: str

    @property
    def bill_usd(self) -> float | None:
        """US dollars that it cost; None where nobody said."""
        return None if self.cost_usd and self.tokens_output is None else self.cost_usd
