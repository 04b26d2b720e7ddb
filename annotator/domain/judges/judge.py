"""Judges: a model behind an endpoint with its parameters, the baseline, or a vote of other judges."""

import re
from enum import StrEnum
from functools import lru_cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field as Value, StringConstraints

from annotator.domain.common import FrozenRecord
from annotator.domain.stored import (
    CallFields,
    InformedFields,
    JudgeFields,
    JudgeKind,
    JudgementFields,
    RaterKind,
    Status,
    Stored,
    VerdictFields,
)

__all__ = ["JudgeKind", "RaterKind", "Status"]

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


# Statuses that need no further question: the judgement came, or another of the same case decided first.
SETTLED = (Status.OK, Status.NOT_NEEDED)


YES = "yes"
NO = "no"


def is_yes(value: str | None) -> bool | None:
    """Whether a verdict is yes; None if it is missing, ValueError if it is neither yes nor no."""
    if value not in (YES, NO, None):
        raise ValueError(f"a verdict is yes or no, not {value!r}")
    return None if value is None else value == YES


class Verdict(VerdictFields):
    """A verdict on its way from a rater to the store."""

    model_config = ConfigDict(frozen=True)  # type: ignore[assignment]


class Judgement(Stored, JudgementFields):
    """A judgement as plain data, outside the database."""


_MILLION = 1_000_000


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


class Call(Stored, CallFields):
    """A call as plain data, outside the database."""

    @property
    def bill_usd(self) -> float | None:
        """The cost in USD; None if unknown."""
        return None if self.cost_usd and self.tokens_output is None else self.cost_usd


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


class Informed(Stored, InformedFields):
    """An informed label as plain data, outside the database."""
