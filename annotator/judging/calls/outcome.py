"""The outcome of one attempt at an endpoint, read from the server's response."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any

from annotator.domain.common import escaped
from annotator.domain.judges.judge import Status
from annotator.domain.texts.redaction import redact, without_keys
from annotator.judging.calls.reply_parts import UNSEEN, composed

_COME_BACK = re.compile(
    r"(?:try again|retry|wait)(?:ing)? (?:in|after|for) (?:about )?|retryDelay\W+", re.IGNORECASE
)
_DURATION = re.compile(
    r"\s*(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)(?![a-z])",
    re.IGNORECASE,
)
# Nobody sits out a longer wait, and no date can hold it.
_LONGEST_S = 366 * 86_400.0
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds the server asks to wait, from `retry-after-ms` or Retry-After as a number or a date; None if absent."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    header = headers.get("retry-after", "").strip()
    seconds = _number(header)
    if seconds is not None or not header:
        return seconds
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    return min(max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds()), _LONGEST_S)


def hinted_wait(headers: Mapping[str, str], text: str) -> float | None:
    """Seconds to wait by other hints of a rate-limited server: when the used-up limit resets, or in words."""
    used_up = [kind for kind in ("requests", "tokens") if headers.get(f"x-ratelimit-remaining-{kind}") == "0"]
    waits = [duration(headers.get(f"x-ratelimit-reset-{kind}", "")) for kind in used_up]
    match = _COME_BACK.search(text)
    waits.append(duration(text[match.end() :]) if match else None)
    return max((wait for wait in waits if wait is not None), default=None)


def duration(text: str) -> float | None:
    """Seconds that a text begins with, like 6m0s, 20ms or 1.5 seconds; None without a unit."""
    total, place, result = 0.0, 0, None
    while (match := _DURATION.match(text, place)) is not None:
        result, place = match, match.end()
        unit = result[2].lower()
        total += float(result[1]) * _SECONDS["ms" if unit.startswith(("ms", "milli")) else unit[0]]
    return min(total, _LONGEST_S) if result else None


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return min(number, _LONGEST_S) if math.isfinite(number) and number >= 0 else None


class CallTrouble(StrEnum):
    NONE = "none"
    KEY = "key"
    QUOTA = "quota"
    REDIRECT = "redirect"
    RATE = "rate"
    SERVER = "server"
    CONNECTION = "connection"
    TIMEOUT = "timeout"
    MALFORMED = "malformed"
    REJECTED = "rejected"
    TOO_LONG = "too_long"
    FILTERED = "filtered"
    REFUSED = "refused"
    TRUNCATED = "truncated"


# The code of an outcome whose request never reached the server.
NOT_SENT = "not_sent"
PASSING = frozenset(
    {CallTrouble.RATE, CallTrouble.SERVER, CallTrouble.CONNECTION, CallTrouble.TIMEOUT, CallTrouble.MALFORMED}
)
STATUS = {
    CallTrouble.NONE: Status.OK,
    CallTrouble.TIMEOUT: Status.TIMEOUT,
    CallTrouble.TOO_LONG: Status.TOO_LONG,
    CallTrouble.FILTERED: Status.FILTERED,
    CallTrouble.REFUSED: Status.REFUSED,
    CallTrouble.TRUNCATED: Status.TRUNCATED,
}

_FILTER_CODES = {
    "content_filter",
    "content_policy_violation",
    "responsibleaipolicyviolation",
    "invalid_prompt",
}
_TOO_LONG_CODES = {"context_length_exceeded", "exceed_context_size_error"}
_TOO_LONG = re.compile(
    r"context (?:length|window|size)|max_model_len|(?:prompt|input|request)\b.{0,40}\b(?:is )?too (?:long|large)"
    r"|too many (?:input )?tokens|reduce the length",
    re.IGNORECASE,
)

# No waiting makes these smaller, though they are reported as a rate limit.
_TOO_LARGE = re.compile(r"\b(?:prompt|input|request)\b.{0,40}\btoo large\b", re.IGNORECASE)
# A quota that does not reset within the hour, stated in words alone.
_SPENT = re.compile(
    r"\b(?:daily|weekly|monthly|(?:per|a|each)[- ](?:day|week|month))\b.{0,60}\b(?:quota|limit|cap|allowance|budget)"
    r"|\b(?:quota|limit|cap|allowance|budget)\b.{0,60}\b(?:daily|weekly|monthly|per[- ](?:day|week|month)|for today)\b"
    r"|exceeded your current quota|(?:out of|insufficient|no remaining) (?:credits?|balance|funds|quota)"
    r"|quota (?:is )?(?:exhausted|used up)",
    re.IGNORECASE,
)
# One provider states its charge in fractions of a dollar.
_TICKS = 10_000_000_000
# More than this is no amount, in dollars or in fractions of one.
_MOST_USD = 1e15
_MODERATED = re.compile(r"moderat|flagged|content polic", re.IGNORECASE)


_WORDS = ("message", "code", "parameter", "model", "fingerprint", "finish_reason")
# No call has as many tokens; a larger count is invalid.
_MOST_TOKENS = 10**9


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and US dollars as the server counted them; None if it did not say, never 0.

    `output` includes all that is billed as such, also thinking. Contradictory counts leave it unknown, unless the
    server states its charge. `beside` is the part that the server counts outside the completion, 0 if it counts
    thinking within it.
    """

    input: int | None = None
    cached: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cost_usd: float | None = None
    beside: int | None = None


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """One attempt: the model's content if it came whole, otherwise the fault, in words."""

    trouble: CallTrouble
    content: str = ""
    body: str = ""
    message: str = ""
    code: str = ""
    parameter: str = ""
    http: int | None = None
    retry_after: float | None = None
    usage: Usage = field(default=Usage())
    model: str = ""
    fingerprint: str = ""
    finish_reason: str = ""
    latency_s: float = 0.0

    def __post_init__(self) -> None:
        # The one place where text from outside enters. The content is stored as it came: its reader rejects what is
        # no text, instead of taking the escapes for words.
        for name in _WORDS:
            if words := getattr(self, name):
                object.__setattr__(
                    self, name, sentence(escaped(words)) if name == "message" else escaped(words)
                )

    @property
    def status(self) -> Status:
        """The judgement's status that this trouble leads to."""
        return STATUS.get(self.trouble, Status.API_ERROR)

    @property
    def answered(self) -> bool:
        return self.trouble in (
            CallTrouble.NONE,
            CallTrouble.REFUSED,
            CallTrouble.TRUNCATED,
            CallTrouble.FILTERED,
        )

    def without(self, keys: Iterable[str]) -> "CallOutcome":
        """The outcome without keys, which a hostile server may echo; otherwise the reply stays as it came."""
        keys = tuple(keys)
        if self.answered and not keys and not self.message:
            return self
        named = ("content", *_WORDS[1:])
        cleaned: dict[str, Any] = {name: without_keys(getattr(self, name), keys) for name in named}
        body = without_keys(self.body, keys) if self.answered else redact(self.body, keys)
        return replace(self, body=body, message=redact(self.message, keys) if self.message else "", **cleaned)


def sentence(words: str) -> str:
    """A server's message as part of a text: in one line, with a full stop if no mark ends it."""
    line = " ".join(words.split())
    return line if not line or line.rstrip("\"'”’)").endswith((".", "!", "?", "…", ":", "。")) else f"{line}."


def read(http: int, headers: Mapping[str, str], body: str, now: datetime | None = None) -> CallOutcome:
    """The outcome of an HTTP answer, whatever its status and however broken its body."""
    if 300 <= http < 400:
        target = headers.get("location") or "no address"
        words = f"The server answered {http} and points to {target[:500]}; nothing was sent there."
        return CallOutcome(CallTrouble.REDIRECT, body=body, http=http, message=words)
    tree = _tree(body)
    error = _error(tree)
    if http >= 400 or error is not None:
        return _failure(http, error, headers, body, now or datetime.now(UTC))
    message = _message(tree)
    if message is None:
        words = "an empty body" if not body.strip() else "a body that is not a chat completion"
        return CallOutcome(CallTrouble.MALFORMED, body=body, http=http, message=f"The server sent {words}.")
    return _completion(tree, message, body, http)


def _tree(body: str) -> Any:
    try:
        return json.loads(body.strip(UNSEEN))
    except (ValueError, RecursionError):
        return _streamed(body)


def _streamed(body: str) -> Any:
    """The events of a stream combined into one reply; None if there are none, or they end in the middle."""
    tree, message, finish, whole = dict[str, Any](), dict[str, Any](), None, False
    for line in re.split(r"\r\n|\n|\r", body.strip(UNSEEN)):
        name, _, data = line.partition(":")
        if name != "data":
            continue
        if data.strip() == "[DONE]":
            whole = True
            continue
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            return None
        if _error(event) is not None:
            return event
        choices = event.pop("choices", None) if isinstance(event, dict) else None
        tree |= (
            {key: value for key, value in event.items() if value is not None}
            if isinstance(event, dict)
            else {}
        )
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        finish = choice.get("finish_reason") or finish
        delta = choice.get("delta") or choice.get("message")
        for key, value in delta.items() if isinstance(delta, dict) else ():
            before = message.get(key)
            joined = type(value) in (str, list) and type(value) is type(before) and key != "role"
            message[key] = before + value if joined else before if value is None else value
    if not message or not (whole or finish):
        return None
    return tree | {"choices": [{"message": message, "finish_reason": finish}]}


def _error(tree: Any) -> dict[str, Any] | None:
    """The error in a body, also under status 200, in one format; None if there is none."""
    if isinstance(tree, list) and len(tree) == 1:
        # One provider puts its errors into a list.
        tree = tree[0]
    if not isinstance(tree, dict):
        return None
    error = tree.get("error") or _broken_off(tree)
    if error is None and "choices" not in tree and ("message" in tree or "detail" in tree):
        error = tree if "message" in tree else tree["detail"]
    if not error:
        return None
    return (
        error
        if isinstance(error, dict)
        else {"message": error if isinstance(error, str) else json.dumps(error)}
    )


def _broken_off(tree: dict[str, Any]) -> Any:
    """The error with which a gateway ends a reply it had begun; None if there is none."""
    choices = tree.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, dict) or (first.get("finish_reason") != "error" and not first.get("error")):
        return None
    return first.get("error") or "the reply broke off"


def _failure(
    http: int,
    error: dict[str, Any] | None,
    headers: Mapping[str, str],
    body: str,
    now: datetime,
) -> CallOutcome:
    error = error or {}
    code = str(error.get("code") or error.get("type") or "")
    inner = error.get("innererror")
    inner_code = str(inner.get("code", "")) if isinstance(inner, dict) else ""
    message = str(error.get("message") or "").strip() or body.strip()
    # Some gateways answer 200 and put the true status into the error itself.
    true_http = int(code) if http < 400 and re.fullmatch("[0-9]{3}", code) else http
    trouble = _trouble(true_http, {code.lower(), inner_code.lower()}, message)
    wait = retry_after(headers, now)
    if wait is None and trouble is CallTrouble.RATE:
        wait = hinted_wait(headers, f"{message} {body[:4000]}")
        trouble = CallTrouble.QUOTA if wait is None and _SPENT.search(message) else trouble
    return CallOutcome(
        trouble,
        body=body,
        message=f"The server answered {true_http}: {message[:500] or 'nothing more'}{'…' * (len(message) > 500)}",
        code=code,
        parameter=str(error.get("param") or ""),
        http=true_http,
        retry_after=wait,
    )


def _trouble(http: int, codes: set[str], message: str) -> CallTrouble:
    if codes & _FILTER_CODES:
        return CallTrouble.FILTERED
    too_long = _TOO_LONG if http in (400, 422, 500) else _TOO_LARGE if http == 429 else None
    if codes & _TOO_LONG_CODES or http == 413 or (too_long and too_long.search(message)):
        return CallTrouble.TOO_LONG
    if "insufficient_quota" in codes or http == 402:
        return CallTrouble.QUOTA
    if http == 403 and _MODERATED.search(message):
        return CallTrouble.FILTERED
    if http in (401, 403):
        return CallTrouble.KEY
    if http == 429:
        return CallTrouble.RATE
    if http >= 500 or http in (408, 409, 425) or http < 400:
        return CallTrouble.SERVER
    return CallTrouble.REJECTED


def _message(tree: Any) -> dict[str, Any] | None:
    choices = tree.get("choices") if isinstance(tree, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return message if isinstance(message, dict) else None


def _completion(tree: dict[str, Any], message: dict[str, Any], body: str, http: int) -> CallOutcome:
    finish = str(tree["choices"][0].get("finish_reason") or "")
    refusal = message.get("refusal")
    content = refusal if isinstance(refusal, str) and refusal else composed(tree, message)
    trouble, words = CallTrouble.NONE, ""
    if finish == "content_filter":
        trouble, words = CallTrouble.FILTERED, "The provider's content filter stopped the reply."
    elif refusal:
        trouble, words = CallTrouble.REFUSED, "The model refused to answer."
    elif finish == "length":
        trouble, words = CallTrouble.TRUNCATED, "The reply was cut at the token limit."
    return CallOutcome(
        trouble,
        content=content,
        body=body,
        message=words,
        http=http,
        usage=_usage(tree.get("usage"), wrote=bool(content)),
        model=str(tree.get("model") or ""),
        fingerprint=str(tree.get("system_fingerprint") or ""),
        finish_reason=finish,
    )


def _usage(usage: Any, *, wrote: bool) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    prompt, completion, total = (
        # Something was sent, so a count of zero means that nobody counted.
        _count(usage, "prompt_tokens") or None,
        _count(usage, "completion_tokens"),
        _count(usage, "total_tokens"),
    )
    # Providers name the cached tokens in three ways.
    details = (
        (usage.get("completion_tokens_details"), "reasoning_tokens"),
        (usage.get("prompt_tokens_details"), "cached_tokens"),
        (usage, "prompt_cache_hit_tokens"),
        (usage, "cached_tokens"),
    )
    reasoning, *cached_counts = (_count(*detail) for detail in details)
    cached = next((count for count in cached_counts if count is not None), None)
    cost, output = _charged(usage), completion or (None if wrote else completion)
    beside: int | None = None
    if prompt is None:
        output = None
    elif total is not None:
        beyond = total - prompt - (completion or 0)
        if cached and beyond == cached != reasoning:
            prompt += cached
        elif beyond >= 0:
            # Some count thinking within the completion, some beside it, some only in the total.
            output = (completion or 0) + beyond or output
            beside = beyond if beyond or reasoning else None
        else:
            output = None
    elif reasoning:
        output = None
    # An invalid count of a part leaves the whole unknown.
    if (cached and cached > (prompt or 0)) or any(
        isinstance(counts, dict) and counts.get(name) is not None and _count(counts, name) is None
        for counts, name in details
    ):
        output = None
    if output is None and cost is not None:
        output = completion
    return Usage(prompt, cached, output, reasoning, cost, beside)


def _charged(usage: dict[str, Any]) -> float | None:
    """The server's stated charge in US dollars; None if it states none."""
    cost, ticks = usage.get("cost"), _dollars(usage.get("cost_in_usd_ticks"))
    if cost is None and ticks is not None:
        return ticks / _TICKS
    charged = _dollars(cost.get("total_cost") if isinstance(cost, dict) else cost)
    details = usage.get("cost_details")
    upstream = _dollars(details.get("upstream_inference_cost")) if isinstance(details, dict) else None
    if charged is not None and upstream and usage.get("is_byok", upstream > charged):
        # A gateway that uses the customer's own key states its fee, and beside it the provider's bill.
        charged += upstream
    return charged


def _dollars(amount: Any) -> float | None:
    usable = type(amount) in (int, float) and 0 <= amount <= _MOST_USD
    return float(amount) if usable else None


def _count(counts: Any, name: str) -> int | None:
    count = counts.get(name) if isinstance(counts, dict) else None
    return count if type(count) is int and 0 <= count <= _MOST_TOKENS else None
