"""Judges: a model behind an endpoint with its parameters, the baseline, or a vote of other judges."""

import re
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field as Value, StringConstraints
from sqlmodel import Field, SQLModel, String

from annotator.domain.material.item import Stored
from annotator.domain.texts.canonical import FrozenRecord, Text

# By developer, the words in names of its models and products; the longest match decides.
STEMS: dict[str, tuple[str, ...]] = {
    "OpenAI": ("openai", "gpt", "chatgpt", "o1", "o3", "o4", "davinci"),
    "Anthropic": ("anthropic", "claude"),
    "Google": ("google", "gemini", "gemma", "palm", "bard", "notebooklm"),
    "Meta": ("meta", "llama", "codellama"),
    "Mistral AI": ("mistral", "mixtral", "ministral", "magistral", "codestral", "pixtral", "devstral"),
    "DeepSeek": ("deepseek",),
    "Alibaba": ("alibaba", "qwen", "qwq", "tongyi"),
    "xAI": ("xai", "grok"),
    "Moonshot AI": ("moonshot", "moonshotai", "kimi"),
    "Zhipu AI": ("zhipu", "glm", "chatglm", "zai"),
    "Microsoft": ("microsoft", "phi"),
    "Cohere": ("cohere", "command"),
    "Amazon": ("amazon", "nova"),
    "Perplexity": ("perplexity", "sonar"),
    "Tencent": ("tencent", "hunyuan"),
    "ByteDance": ("bytedance", "doubao", "seed"),
    "Baidu": ("baidu", "ernie"),
    "MiniMax": ("minimax", "abab"),
    "StepFun": ("stepfun", "step"),
    "01.AI": ("yi",),
    "IBM": ("ibm", "granite"),
    "NVIDIA": ("nvidia", "nemotron"),
    "Allen AI": ("allenai", "olmo", "tulu", "openscholar"),
    "Technology Innovation Institute": ("falcon",),
    "AI21 Labs": ("ai21", "jamba"),
    "Hugging Face": ("huggingface", "smollm", "zephyr"),
    "Stanford": ("deepscholar", "storm"),
}
_BETWEEN = re.compile(r"[\W_]+")


@lru_cache(maxsize=1024)
def family_of(name: str) -> str:
    """The developer that a word of the name identifies; empty if none does."""
    words = [word.casefold() for word in _BETWEEN.split(name) if word]
    result = (
        (len(stem), family)
        for word in words
        for family, stems in STEMS.items()
        for stem in stems
        if _begins(word, stem)
    )
    return max(result, default=(0, ""))[1]


def _begins(word: str, stem: str) -> bool:
    """Whether a word is the stem or the stem with a number: “grok3”, “o3”, but neither “metaphor” nor “o30”."""
    rest = word.removeprefix(stem)
    return word.startswith(stem) and (not rest or (rest[0].isdigit() and not stem[-1].isdigit()))


class Status(StrEnum):
    """Whether a judgement came, and if not, why. Only OK enters a score; NOT_NEEDED is no gap in one either."""

    OK = "ok"
    UNCLEAR = "unclear"
    INVALID = "invalid"
    REFUSED = "refused"
    FILTERED = "filtered"
    TRUNCATED = "truncated"
    TOO_LONG = "too_long"
    TIMEOUT = "timeout"
    API_ERROR = "api_error"
    SKIPPED = "skipped"
    NOT_NEEDED = "not_needed"


# Statuses that need no further question: the judgement came, or another of the same case decided first.
SETTLED = (Status.OK, Status.NOT_NEEDED)


class RaterKind(StrEnum):
    """A person or a judge."""

    PERSON = "person"
    JUDGE = "judge"


YES = "yes"
NO = "no"


def is_yes(value: str | None) -> bool | None:
    """Whether a verdict is yes; None if it is missing, ValueError if it is neither yes nor no."""
    if value not in (YES, NO, None):
        raise ValueError(f"a verdict is yes or no, not {value!r}")
    return None if value is None else value == YES


class VerdictFields(SQLModel):
    """The part of a judgement that a rater decides."""

    value: str | None = Field(
        default=None, max_length=200, description="The verdict; None unless status is ok"
    )
    status: Status = Field(default=Status.OK, sa_type=String)
    rationale: Text = Field(default="")
    quote: Text = Field(default="", description="Evidence quoted from the report")
    quote_start: int | None = Field(
        default=None, ge=0, description="First character of the quote in the report"
    )
    quote_end: int | None = Field(default=None, ge=0)
    note: Text = Field(default="")
    flags: str = Field(
        default="", description="Marks separated by spaces: flagged, quote_missing, injection …"
    )
    cause: Text = Field(default="", description="In words, why there is no value")


class JudgementFields(VerdictFields):
    """Rater and subject of a judgement. A unit is named by protocol, response and the id inside the artifact."""

    protocol: str = Field(max_length=80)
    item_id: str = Field(foreign_key="item.id", ondelete="RESTRICT")
    response_id: str = Field(foreign_key="response.id", ondelete="RESTRICT")
    artifact_id: str = Field(default="", description="The artifact the unit belongs to")
    unit_id: str = Field(max_length=80)
    rater_kind: RaterKind = Field(sa_type=String)
    rater_id: str = Field(description="A person's id or a judge's")
    trial: int = Field(default=1, ge=1)
    run_id: str | None = Field(default=None, index=True)
    call_id: str | None = Field(default=None, description="The journalled call it was read from")
    seconds: float | None = Field(default=None, ge=0, description="Active time a person spent on it")
    at: datetime


class Verdict(VerdictFields):
    """A verdict on its way from a rater to the store."""

    model_config = ConfigDict(frozen=True)  # type: ignore[assignment]


class Judgement(Stored, JudgementFields):
    """A judgement as plain data, outside the database."""


_MILLION = 1_000_000


class JudgeKind(StrEnum):
    """How a judge comes to its verdict."""

    BASELINE = "baseline"
    ENDPOINT = "endpoint"
    DERIVED = "derived"
    WRITER = "writer"
    """Gives no verdicts: it is the endpoint behind a system, and writes that system's reports."""


class Asking(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """How a judge is asked, beside what it is asked: several units in one call, with their weights or without."""

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


class Price(FrozenRecord):
    """US dollars per million tokens. Without a price of their own, cached tokens cost as much as any.

    `long` holds other prices for calls with more input tokens than its key.
    """

    input: float = Value(ge=0)
    output: float = Value(ge=0)
    cached: float | None = Value(default=None, ge=0)
    long: dict[int, "Price"] = {}

    def cost(self, tokens_input: int, tokens_output: int, tokens_cached: int = 0) -> float:
        """The cost in USD of so many tokens; the cached ones are part of the input."""
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
# In a header's value: `{key}` stands for the judge's key, any other name for that environment variable.
SECRET = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


class PricedAsking(Asking):
    """The same with the prices of its calls and the requirements of its address for each request; no release contains
    these.

    Without `{key}` in a header the key is sent in the usual one.
    """

    price: Price | None = None
    headers: dict[HeaderName, ShortText] = Value(default={}, max_length=20)
    query: dict[ShortText, ShortText] = Value(default={}, max_length=20)

    @property
    def secrets(self) -> list[str]:
        return sorted({name for value in self.headers.values() for name in SECRET.findall(value)})


class JudgeFields(SQLModel):
    """A judge's settings. The key is never among them: only where to find it."""

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


class Judge(Stored, JudgeFields):
    """A judge as plain data, outside the database."""

    @property
    def settings(self) -> PricedAsking:
        return PricedAsking.model_validate_json(self.asking)


class RunState(StrEnum):
    """How a judge run ended, or that it has not."""

    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


class CallFields(SQLModel):
    """One finished call to an endpoint, as journalled. `None` means that the server did not say."""

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


class Call(Stored, CallFields):
    """A call as plain data, outside the database."""

    @property
    def bill_usd(self) -> float | None:
        """The cost in USD; None if unknown."""
        return None if self.cost_usd and self.tokens_output is None else self.cost_usd


class InformedKind(StrEnum):
    """Neither ever enters a figure of blind labels."""

    REVIEW = "review"
    RULING = "ruling"


class Review(StrEnum):
    """An expert's review of a judge's verdict, in the order of the keys 1, 2, 3."""

    AGREE = "agree"
    DISAGREE = "disagree"
    UNSURE = "unsure"


class InformedRuling(StrEnum):
    """Who is wrong when a judge and a person differ, in the order of the keys 1, 2, 3."""

    JUDGE_WRONG = "judge wrong"
    PERSON_WRONG = "person wrong"
    UNCLEAR = "criterion unclear"


class Fault(StrEnum):
    """Why a judge's verdict is not accepted."""

    MISSED = "missed what the report says"
    INVENTED = "saw what the report does not say"
    QUOTE = "the quote does not bear it out"
    CRITERION = "misread the criterion"
    STRICT = "too strict"
    LENIENT = "too lenient"
    OTHER = "other"


class InformedFields(SQLModel):
    """An informed label's fields; `label_of` is the author of the label ruled on, empty for a review."""

    kind: InformedKind = Field(sa_type=String)
    protocol: str = Field(max_length=80)
    item_id: str = Field(index=True, foreign_key="item.id", ondelete="RESTRICT")
    response_id: str = Field(foreign_key="response.id", ondelete="RESTRICT")
    unit_id: str = Field(max_length=80)
    judge_id: str = Field(foreign_key="judge.id", ondelete="RESTRICT")
    judge_value: str = Field(max_length=200, description="The verdict that was shown")
    label_of: str = Field(default="", max_length=36)
    label_value: str = Field(default="", max_length=200)
    said: str = Field(max_length=40)
    reason: str = Field(default="", max_length=80, description="A fault of the judge's")
    note: Text = Field(default="", max_length=20_000)
    by: str = Field(max_length=36)
    at: datetime


class Informed(Stored, InformedFields):
    """An informed label as plain data, outside the database."""


class SetFields(SQLModel):
    """A set's name, the protocol it is labelled under, and when its labels were locked."""

    name: Text = Field(min_length=1, max_length=120)
    protocol: str = Field(max_length=80)
    by: str = Field(default="", max_length=36)
    at: datetime
    locked_at: datetime | None = None


class OpeningFields(SQLModel):
    """One look at the test part of a set: by whom, at which judges, with which labels."""

    set_id: str = Field(index=True, foreign_key="validation_set.id", ondelete="RESTRICT")
    judges: str = Field(default="[]", description="JSON: the names of the judges that were shown")
    labels_sha256: str = Field(default="", max_length=64)
    by: str = Field(default="", max_length=36)
    at: datetime


class AttackTestFields(SQLModel):
    """A test of a judge: which attacks, on which of its verdicts; `run_id` is the run that asks."""

    judge_id: str = Field(index=True, foreign_key="judge.id", ondelete="RESTRICT")
    run_id: str = Field(foreign_key="run.id", ondelete="RESTRICT")
    protocol: str = Field(max_length=80)
    by: str = Field(default="", max_length=36)
    at: datetime


class AttackCopyFields(SQLModel):
    """A copy of a report under attack. It is no response of the project, and never becomes one."""

    test_id: str = Field(index=True, foreign_key="attack_test.id", ondelete="RESTRICT")
    response_id: str = Field(foreign_key="response.id", ondelete="RESTRICT")
    attack: str = Field(max_length=80)
    variant: str = Field(max_length=80)
    text_sha256: str = Field(max_length=64, description="The hash of the report that the pieces cut up")
    pieces: Text = Field(description="JSON: from where to where of the report, or words that were put in")
    status: Status = Field(
        default=Status.OK, sa_type=String, description="Whether a model that was to write it did"
    )
    cause: Text = Field(default="", description="In words, why it did not")


class AttackVerdictFields(VerdictFields):
    """A judge's verdict on a copy, and `before`, its own verdict on the report. Never a judgement."""

    test_id: str = Field(index=True, foreign_key="attack_test.id", ondelete="RESTRICT")
    copy_id: str = Field(foreign_key="attack_copy.id", ondelete="RESTRICT")
    item_id: str = Field(foreign_key="item.id", ondelete="RESTRICT")
    unit_id: str = Field(max_length=80)
    before: str = Field(max_length=200)
    asked: str = Field(default="", description="JSON: the units in the order asked, where several were")
    call_id: str | None = None
    at: datetime
