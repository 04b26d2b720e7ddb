"""Judges: a model behind an endpoint with its parameters, the baseline, or a vote of other judges."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict
from pydantic import Field as Value
from sqlmodel import Field, SQLModel, String

from annotator.domain.judges.judgement import Status
from annotator.domain.texts.canonical import Text


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
    together: int = Value(default=1, ge=1, le=100, description="Units in one call")
    weights_shown: bool = Value(default=False, description="Whether the judge is told what a unit weighs")
    of: str = Value(default="", description="Id of the judge that is asked one unit at a time")
    requests_per_minute: float | None = Value(
        default=None, gt=0, description="Most calls in any sixty seconds"
    )
    tokens_per_minute: float | None = Value(
        default=None, gt=0, description="Most tokens in any sixty seconds"
    )


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
    def asked(self) -> Asking:
        """How it is asked."""
        return Asking.model_validate_json(self.asking)


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
