"""HTTP client for one endpoint: a shared connection pool, one attempt at a time, always an outcome."""

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlencode, urlsplit

import orjson

from annotator import __version__
from annotator.domain.common import Refusal, canonical_json
from annotator.domain.judges.judge import SECRET, Judge
from annotator.judging.calls.limits import Limits
from annotator.judging.calls.noting import CallTrail
from annotator.judging.calls.outcome import NOT_SENT, PASSING, CallOutcome, CallTrouble, read
from annotator.judging.calls.prices import FIRST_OUTPUT, Budget, Prices, tokens_of
from annotator.judging.calls.reply_parts import FORMAT, ResponseFormats
from annotator.judging.messages import Messages
from annotator.places import no_certificates, trusted

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from aiohttp import ClientResponse
    from httpx2 import AsyncClient
    from openai import AsyncOpenAI

CAPS = ("max_completion_tokens", "max_tokens")
# Request styles other than parameters, remembered among the things that a server has rejected.
SYSTEM, AT_ONCE = "system role", "replies in one piece"
_STREAM = {"stream": True, "stream_options": {"include_usage": True}}
_REFUSING = r"(?=.*(?:not|n't|unsupported|invalid|unknown|only|must|should|expect|requires?|enable))"
_MANNERS = {
    SYSTEM: re.compile(
        _REFUSING
        + r".*(?:\bsystem\b.{0,60}\b(?:role|message|prompt|instruction)s?\b|\brole\b.{0,80}\bsystem\b"
        r"|developer instruction|\broles? must alternate|\broles?\b.{0,80}\buser\W"
        r"|\buser\W{1,3}(?:and |or )?\W?assistant\b.{0,40}\broles?\b)",
        re.IGNORECASE | re.DOTALL,
    ),
    AT_ONCE: re.compile(_REFUSING + r".*\b(?:non-?)?stream(?:ing|ed)?\b", re.IGNORECASE | re.DOTALL),
}
_OURS = {"model", "messages", "stream", "n", "tools", "tool_choice", "functions", FORMAT}
_FORMAT_WORDS = re.compile(
    r"response_?format|json_?schema|json_?object|structured[ _]outputs?|\bgrammar\b|guided", re.IGNORECASE
)


def of_judge(judge: Judge) -> dict[str, Any]:
    """A judge's request parameters; Refusal unless they are a JSON object without those that the program sets."""
    try:
        parameters = json.loads(judge.parameters or "{}", parse_constant=_no_constant)
        canonical_json(parameters)
    except (ValueError, TypeError, RecursionError):
        # No JSON, or none that can be written again: integers of more than 64 bits, lone surrogates.
        parameters = None
    if not isinstance(parameters, dict):
        raise Refusal(
            f"The parameters of the judge {judge.name} are not a JSON object.",
            'Write them like {"temperature": 0}.',
        )
    ours = sorted(_OURS & set(parameters))
    if ours:
        raise Refusal(
            f"The judge {judge.name} sets {', '.join(ours)}.", "Remove it: the program sets it itself."
        )
    return parameters


def cap_of(parameters: Mapping[str, Any]) -> int | None:
    """The maximum tokens of a reply by these parameters; None if they set no cap."""
    caps = [parameters[cap] for cap in CAPS if cap in parameters]
    return max(caps) if caps and all(type(cap) is int for cap in caps) else None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def rejected_part(outcome: CallOutcome, sent: Mapping[str, Any]) -> str | None:
    """The name of the parameter that a rejection is about, possibly `response_format`; None if it names none."""
    if outcome.trouble not in (CallTrouble.REJECTED, CallTrouble.TOO_LONG, CallTrouble.SERVER):
        return None
    names = [name for name in sent if name not in ("model", "messages")]
    top = re.split(r"[.\[]", outcome.parameter)[0]
    if top in names:
        return top
    if outcome.trouble is CallTrouble.TOO_LONG:
        return None
    if FORMAT in names and _FORMAT_WORDS.search(f"{outcome.parameter} {outcome.message}"):
        return FORMAT
    if outcome.trouble is not CallTrouble.REJECTED:
        return None
    return next((name for name in names if re.search(rf"\b{re.escape(name)}\b", outcome.message)), None)


@dataclass
class Learned:
    """The parameters and styles that one endpoint and model have rejected; shared by all calls to them.

    `dropped` holds names of parameters, and SYSTEM or AT_ONCE if another request style is used instead.
    """

    dropped: set[str] = field(default_factory=set)
    renamed: dict[str, str] = field(default_factory=dict)

    def arranged(self, messages: Messages) -> Messages:
        """The messages in the roles that the server accepts: without a system role, its text precedes the user's."""
        if SYSTEM not in self.dropped or messages[0]["role"] != "system":
            return messages
        first, second, *rest = messages
        return [{**second, "content": f"{first['content']}\n\n{second['content']}"}, *rest]

    def other_manner(self, outcome: CallOutcome, dropped: Set[str]) -> bool:
        """Learn from a rejection of the request style; whether another style is left to try.

        `dropped` is what had been dropped when the request was made: parallel requests may have learned the same
        since.
        """
        if outcome.trouble is not CallTrouble.REJECTED and outcome.http not in (500, 501):
            return False
        words = f"{outcome.parameter} {outcome.message}"
        result = [name for name, form in _MANNERS.items() if name not in dropped and form.match(words)][:1]
        self.dropped.update(result)
        return bool(result)

    def fit(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        parameters = {**parameters, **(_STREAM if AT_ONCE in self.dropped else {})}
        fitted = {self.renamed.get(name, name): value for name, value in parameters.items()}
        return {name: value for name, value in fitted.items() if name not in self.dropped}

    def reject(self, name: str, message: str) -> None:
        """Remember a rejected parameter; a token cap is renamed if the server names its other name."""
        other = next((cap for cap in CAPS if cap != name), "") if name in CAPS else ""
        given_up = other in self.dropped or name in self.renamed.values()
        if other and not given_up and re.search(rf"\b{other}\b", message):
            self.renamed[name] = other
        else:
            self.dropped.add(name)


CONNECT_S = 15.0
# No reply is as long; anything beyond it is not read into memory.
LONGEST_BODY = 16_000_000
_NO_KEY = "none"
# Users may enter the address with the path of a request.
_WHOLE_PATH = re.compile(r"/(?:chat/completions|completions|responses|messages|models)?/*\Z")
_NO_PAGE = re.compile(r"<html|<!doctype|unexpected endpoint|cannot post|not found", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model behind an address, with the parameters to send. Its repr leaves the key out.

    `headers` and `query` go with each request; `values` holds the secrets that the headers refer to by name.
    """

    base_url: str
    model: str
    key: str | None = field(default=None, repr=False)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    timeout_s: float = 180.0
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, judge: Judge, key: str | None = None, timeout_s: float = 180.0) -> "Endpoint":
        """The endpoint of a judge's settings; Refusal if its address, model or parameters cannot be used."""
        if not judge.model:
            raise Refusal(
                f"The judge {judge.name} has no model.", "Enter the model's name as the endpoint knows it."
            )
        return cls(checked_url(judge.base_url), judge.model, key, of_judge(judge), timeout_s)

    @property
    def secrets(self) -> tuple[str, ...]:
        return tuple(secret for secret in (self.key, *self.values.values()) if secret)

    @property
    def sent_headers(self) -> dict[str, str]:
        """The headers with their secrets filled in, and the key as a bearer token unless another header holds it."""
        known = {**self.values, "key": self.key or _NO_KEY}
        own = {
            name: SECRET.sub(lambda secret: known.get(secret[1], secret[0]), value)
            for name, value in self.headers.items()
        }
        usual = not any("{key}" in value for value in self.headers.values())
        return ({"Authorization": f"Bearer {self.key or _NO_KEY}"} if usual else {}) | own


def checked_url(url: str) -> str:
    """An endpoint's base address, without the path of a request.

    Refusal unless it is http(s) and cannot hold a secret.
    """
    url = _WHOLE_PATH.sub("", url.strip())
    parts = urlsplit(url)
    secret = parts.username or parts.password or not {"?", "#"}.isdisjoint(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or secret:
        raise Refusal(
            "The address of the endpoint cannot be used.",
            "Enter an address like https://host/v1, without a name or password in it and nothing after a “?” or “#”: "
            "keys and query parameters have places of their own.",
        )
    if blank := re.search(r"\b(?:RESOURCE|DEPLOYMENT)\b", url):
        raise Refusal(f"The address still has {blank[0]} in it.", "Write your own name in its place.")
    return url.rstrip("/")


def _address_words(outcome: CallOutcome, base_url: str) -> str:
    """A hint about the address if the server does not know the path and the address has no version; empty otherwise."""
    if outcome.answered or re.search(r"/v\d", urlsplit(base_url).path):
        return ""
    nowhere = outcome.http in (404, 405) or _NO_PAGE.search(outcome.body[:1_000])
    return f" The address has no /v1: perhaps it is {base_url}/v1." if nowhere else ""


class Client:
    """One endpoint's connections, shared by all its calls. Use as an async context manager, in one event loop.

    `body` of an attempt is sent unchanged; the caller does the retries.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._line: _Line | None = None

    async def __aenter__(self) -> "Client":
        # Imported before the first call's time-out starts.
        import openai  # noqa: F401

        return self

    async def __aexit__(self, *_: object) -> None:
        if self._line is not None:
            await self._line.pool.aclose()

    async def attempt(self, body: Mapping[str, Any]) -> CallOutcome:
        """Send one request; any result or failure of the server or the network is returned as an outcome without the
        key.
        """
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self.endpoint.timeout_s):
                outcome = await self._post(body)
        except TimeoutError:
            words = f"No answer came within {self.endpoint.timeout_s:g} seconds."
            outcome = CallOutcome(CallTrouble.TIMEOUT, message=words)
        except OSError as error:
            words = f"The endpoint could not be reached: {error}"
            outcome = CallOutcome(CallTrouble.CONNECTION, message=words, code=NOT_SENT)
        latency_s = time.perf_counter() - started
        return replace(outcome.without(self.endpoint.secrets), latency_s=latency_s)

    async def _post(self, body: Mapping[str, Any]) -> CallOutcome:
        from aiohttp import ClientConnectorError, ClientError, ConnectionTimeoutError

        line = self._line = self._line or _Line(self.endpoint)
        try:
            async with line.post(body) as response:
                content = await _content(response)
        except ClientError as error:
            never = isinstance(error, ClientConnectorError | ConnectionTimeoutError)
            words = f"The connection failed: {root_words(error)}"
            return CallOutcome(CallTrouble.CONNECTION, message=words, code=NOT_SENT if never else "")
        if content is None:
            words = f"The server sent more than {LONGEST_BODY // 1_000_000} MB."
            return CallOutcome(CallTrouble.MALFORMED, message=words, http=response.status)
        # JSON is UTF-8, so the header's charset is ignored.
        outcome = read(response.status, response.headers, content.decode("utf-8", "replace"))
        words = _address_words(outcome, self.endpoint.base_url)
        return replace(outcome, message=outcome.message + words) if words else outcome

    def package(self) -> "AsyncOpenAI":
        """The openai package's own client on the same connections, for requests other than chat."""
        from openai import AsyncOpenAI, Omit

        line = self._line = self._line or _Line(self.endpoint)
        client = AsyncOpenAI(
            base_url=self.endpoint.base_url,
            api_key=self.endpoint.key or _NO_KEY,
            max_retries=0,
            timeout=line.timeout,
            http_client=line.pool,
        )
        # Read from the environment, and perhaps meant for another endpoint.
        client.organization = client.project = None
        headers: Any = {"Authorization": Omit(), **self.endpoint.sent_headers}
        client._custom_headers = headers
        client._custom_query = dict(self.endpoint.query)
        return client


class _Line:
    """The connections to one endpoint in the openai package's pool, and the constant parts of each request.

    `AsyncOpenAI` itself would take longer for a request than all the rest of a judgement, and would add the contents
    of OPENAI_CUSTOM_HEADERS, OPENAI_ORG_ID and OPENAI_PROJECT_ID, perhaps meant for another endpoint.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        from aiohttp import BasicAuth, ClientTimeout
        from httpx2 import URL
        from openai import DefaultAioHttpClient, Timeout

        # `attempt` times the whole call; here only connecting to the server is timed.
        self.timeout = Timeout(None, connect=CONNECT_S)
        # A redirect would carry the prompt, and perhaps the key, to an address that nobody has confirmed.
        self.pool: AsyncClient = DefaultAioHttpClient(
            timeout=self.timeout, verify=trusted(), follow_redirects=False
        )
        query = f"?{urlencode(endpoint.query)}" if endpoint.query else ""
        url = URL(f"{endpoint.base_url}/chat/completions{query}")
        # The pool knows the route, by a proxy of the environment or none. Its wrapper around an aiohttp request takes
        # as long as the request itself.
        way: Any = self.pool._transport_for_url(url)
        way.client = way.get_client()
        proxy = way.proxy
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": f"goldsmith/{__version__}",
        }
        self._post = partial(
            way.client.post,
            str(url),
            headers=headers | endpoint.sent_headers,
            allow_redirects=False,
            timeout=ClientTimeout(None, sock_connect=CONNECT_S),
            proxy=proxy and str(proxy.url),
            proxy_auth=proxy and proxy.auth and BasicAuth(*proxy.auth),
            proxy_headers=proxy and proxy.headers,
        )

    def post(self, body: Mapping[str, Any]) -> "AbstractAsyncContextManager[ClientResponse]":
        # Keys stay in their order: a model writes the properties of a schema in it, the evidence before the verdict.
        response: AbstractAsyncContextManager[ClientResponse] = self._post(data=orjson.dumps(body))
        return response


async def _content(response: "ClientResponse") -> bytes | None:
    """The body of a response; None if it is longer than any reply."""
    parts, size = [], 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > LONGEST_BODY:
            return None
        parts.append(part)
    return b"".join(parts)


def root_words(error: BaseException) -> str:
    """The deepest cause's message ("Connection error." says nothing), or that the machine has no certificates."""
    from ssl import SSLError

    while error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, SSLError) and (why := no_certificates()):
        return why
    return str(error) or type(error).__name__


TRIES = {CallTrouble.RATE: 9, CallTrouble.TIMEOUT: 2}
OTHER_TRIES = 5
MOST_TRIES = 10
# The cap on a reply's tokens if a budget needs one and the judge sets none; it includes thinking.
CAP = 4_096
# An interrupted call may have been billed all the same.
_UNBILLED = frozenset({CallTrouble.TIMEOUT, CallTrouble.CONNECTION, CallTrouble.MALFORMED})


@dataclass(frozen=True, slots=True)
class SentCall:
    """The last outcome, the number of attempts, and the parameters of the last one."""

    outcome: CallOutcome
    attempts: int
    parameters: Mapping[str, Any]
    cost_usd: float | None
    form_rejected: bool = False


class Sender:
    """Sends requests to an endpoint; shared by all its calls, with what they learned about it."""

    def __init__(self, client: Client, limits: Limits, prices: Prices, budget: Budget | None = None) -> None:
        self.client = client
        self.limits = limits
        self.prices = prices
        self.budget = budget or Budget()
        self.learned = Learned()
        self.ladder = ResponseFormats()

    async def send(
        self,
        messages: Messages,
        form: Mapping[str, Any] | None,
        parameters: Mapping[str, Any],
        tries: int = 0,
        likely: int = 0,
        trail: CallTrail | None = None,
    ) -> SentCall:
        """Send until answered or given up; `tries` bounds the attempts after a server's own errors (0: the default).

        `likely` is the likely length of such a reply in tokens, as long as none was longer. If the server rejects the
        response format by name, this returns at once. Raises RunHalt. `trail` records every request before it goes
        out, and each that may have been billed without an answer.
        """
        trail = trail or CallTrail(None)
        troubles: Counter[CallTrouble] = Counter()
        attempts = 0
        while True:
            dropped = frozenset(self.learned.dropped)
            sent = self.fitted(parameters, likely) | ({FORMAT: form} if form else {})
            outcome, cost = await self._attempt(messages, sent, likely, trail, form_doubtful=tries > 0)
            attempts += 1
            part = rejected_part(outcome, sent)
            if part == FORMAT:
                return SentCall(outcome, attempts, sent, cost, form_rejected=True)
            if part is not None:
                self.learned.reject(part, outcome.message)
                continue
            if self.learned.other_manner(outcome, dropped):
                continue
            troubles[outcome.trouble] += 1
            if _final(outcome, troubles, tries):
                return SentCall(outcome, attempts, sent, cost)
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
                self.budget.record_usage(
                    usage.output,
                    likely,
                    within=None not in (cap_of(sent), cost, most) and (cost or 0.0) <= (most or 0.0),
                    input_ratio=(usage.input or 0) / max(1, tokens),
                    beside=usage.beside,
                )
            if cost is None:
                # Thinking that no bill has shown is not charged on a guess.
                cost = self.most_usd(body, likely, None if self.budget.beside else 0)
            bill.cost_usd = cost
            # A rejection that names its parameter is no failure: the next request leaves that out.
            if rejected_part(outcome, sent) is None:
                doubtful = form_doubtful and outcome.http in (500, 501)
                self.limits.record_outcome(outcome, granted, form_doubtful=doubtful)
        return outcome, cost

    def _cost(self, outcome: CallOutcome) -> float | None:
        """The cost of an attempt in USD: 0 if the server refused it, None if unknown."""
        if not outcome.answered and (outcome.trouble not in _UNBILLED or outcome.code == NOT_SENT):
            return 0.0
        return self.prices.bill(outcome.usage, self.client.endpoint.model, outcome.model)

    def fitted(self, parameters: Mapping[str, Any], likely: int = 0) -> dict[str, Any]:
        """The parameters to send, with a token cap if a budget needs one and none is set."""
        if self.budget.limit_usd is not None and not set(CAPS) & set(parameters):
            parameters = {**parameters, "max_tokens": max(CAP, 2 * likely)}
        return self.learned.fit(parameters)

    def most_output(self, parameters: Mapping[str, Any], likely: int = 0) -> int:
        """The maximum tokens assumed for a reply: its cap, else the longest reply seen or likely of its kind."""
        cap = cap_of(parameters)
        return max(FIRST_OUTPUT, likely, *self.budget.longest.values()) if cap is None else cap

    def likely_usd(self, tokens: int, parameters: Mapping[str, Any], likely: int = 0) -> float | None:
        """The likely cost of a question of so many tokens in USD, with the reply's likely length; None if the price
        is unknown.
        """
        known, cap = self.prices.of(self.client.endpoint.model), cap_of(parameters)
        if known is None:
            return None
        output = self.budget.likely_output(likely)
        output = output if cap is None or self.budget.beside else min(cap, output)
        return known.price.cost(round(tokens * self.budget.input_ratio), output)

    def most_usd(self, body: Mapping[str, Any], likely: int = 0, beside: int | None = None) -> float | None:
        """The maximum cost of a request in USD; None if the price is unknown.

        `beside` is the number of tokens billed on top of its cap, by default as many as the bills so far allow.
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
    # If the endpoint cannot be reached, the breaker ends the run before the question is given up.
    most = MOST_TRIES if outcome.code == NOT_SENT else TRIES.get(outcome.trouble, OTHER_TRIES)
    if tries and outcome.http == 500:
        most = tries
    return troubles[outcome.trouble] >= most
