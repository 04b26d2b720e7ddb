"""HTTP client for one endpoint: a shared connection pool, one attempt at a time, always an outcome."""

import asyncio
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import orjson

from annotator import __version__
from annotator.domain.judges.judge import SECRET, Judge
from annotator.domain.texts.refusal import Refusal
from annotator.judging.calls.outcome import NOT_SENT, CallOutcome, CallTrouble, read
from annotator.judging.calls.parameters import of_judge
from annotator.places import no_certificates, trusted

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from aiohttp import ClientResponse
    from httpx2 import AsyncClient
    from openai import AsyncOpenAI

CONNECT_S = 15.0
# No reply is as long; what an endpoint sends beyond it is not taken into memory.
LONGEST_BODY = 16_000_000
_NO_KEY = "none"
# An address may be given with the page that the program asks for.
_WHOLE_PATH = re.compile(r"/(?:chat/completions|completions|responses|messages|models)?/*\Z")
_NO_PAGE = re.compile(r"<html|<!doctype|unexpected endpoint|cannot post|not found", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model behind an address, with the parameters to send. Its text form leaves the key out.

    `headers` and `query` go with each request; `values` holds the secrets that stand in the headers by their names.
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
        """The endpoint of a judge's settings; Refusal when its address, model or parameters cannot be used."""
        if not judge.model:
            raise Refusal(
                f"The judge {judge.name} has no model.", "Enter the model's name as the endpoint knows it."
            )
        return cls(checked_url(judge.base_url), judge.model, key, of_judge(judge), timeout_s)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be seen anywhere."""
        return tuple(secret for secret in (self.key, *self.values.values()) if secret)

    @property
    def sent_headers(self) -> dict[str, str]:
        """The headers with their secrets, the key in the usual one unless it stands in another."""
        known = {**self.values, "key": self.key or _NO_KEY}
        own = {
            name: SECRET.sub(lambda secret: known.get(secret[1], secret[0]), value)
            for name, value in self.headers.items()
        }
        usual = not any("{key}" in value for value in self.headers.values())
        return ({"Authorization": f"Bearer {self.key or _NO_KEY}"} if usual else {}) | own


def checked_url(url: str) -> str:
    """An endpoint's base address, without the page that is asked for.

    Refusal unless it is http(s) and has no room for a secret.
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
    """What may be wrong with the address, where a server knows no such page and the address names no version."""
    if outcome.answered or re.search(r"/v\d", urlsplit(base_url).path):
        return ""
    nowhere = outcome.http in (404, 405) or _NO_PAGE.search(outcome.body[:1_000])
    return f" The address has no /v1: perhaps it is {base_url}/v1." if nowhere else ""


class Client:
    """One endpoint's connections, shared by all its calls. Use as an async context manager, in one event loop.

    `body` of an attempt is sent as it is; retries belong to the caller.
    """

    def __init__(self, endpoint: Endpoint, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.endpoint = endpoint
        self._now = now
        self._line: _Line | None = None

    async def __aenter__(self) -> "Client":
        # Loaded before the first call's clock runs.
        import openai  # noqa: F401

        return self

    async def __aexit__(self, *_: object) -> None:
        if self._line is not None:
            await self._line.pool.aclose()

    async def attempt(self, body: Mapping[str, Any]) -> CallOutcome:
        """Send one request; whatever the server or the network does comes back as an outcome without the key."""
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
        # JSON is UTF-8; what a header says of the encoding is not worth the reading.
        text = content.decode("utf-8", "replace")
        outcome = read(response.status, response.headers, text, self._now())
        words = _address_words(outcome, self.endpoint.base_url)
        return replace(outcome, message=outcome.message + words) if words else outcome

    def package(self) -> "AsyncOpenAI":
        """The openai package's own client, on the same connections, for whatever is no chat call."""
        from openai import AsyncOpenAI, Omit

        line = self._line = self._line or _Line(self.endpoint)
        client = AsyncOpenAI(
            base_url=self.endpoint.base_url,
            api_key=self.endpoint.key or _NO_KEY,
            max_retries=0,
            timeout=line.timeout,
            http_client=line.pool,
        )
        # Read from the environment, and meant for another endpoint perhaps.
        client.organization = client.project = None
        headers: Any = {"Authorization": Omit(), **self.endpoint.sent_headers}
        client._custom_headers = headers
        client._custom_query = dict(self.endpoint.query)
        return client


class _Line:
    """The connections to one endpoint, in the pool that the openai package brings, and what each request repeats.

    `AsyncOpenAI` itself would spend more time on a request than all the rest of a judgement takes, and would add to
    it whatever OPENAI_CUSTOM_HEADERS, OPENAI_ORG_ID and OPENAI_PROJECT_ID hold, meant for another endpoint perhaps.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        from aiohttp import BasicAuth, ClientTimeout
        from httpx2 import URL
        from openai import DefaultAioHttpClient, Timeout

        # The whole call has its own clock in `attempt`; here only getting through to the server is timed.
        self.timeout = Timeout(None, connect=CONNECT_S)
        # A redirect would carry the prompt, and the key perhaps, to an address that nobody has confirmed.
        self.pool: AsyncClient = DefaultAioHttpClient(
            timeout=self.timeout, verify=trusted(), follow_redirects=False
        )
        query = f"?{urlencode(endpoint.query)}" if endpoint.query else ""
        url = URL(f"{endpoint.base_url}/chat/completions{query}")
        # The pool knows the way, by a proxy of the environment or none. What it wraps around a request of aiohttp's
        # takes as long as that request.
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
        """The response to a request with this body."""
        # In the order given: a model writes the properties of a schema in theirs, the evidence before the verdict.
        response: AbstractAsyncContextManager[ClientResponse] = self._post(data=orjson.dumps(body))
        return response


async def _content(response: "ClientResponse") -> bytes | None:
    """The body of a response; None when it is longer than any reply."""
    parts, size = [], 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > LONGEST_BODY:
            return None
        parts.append(part)
    return b"".join(parts)


def root_words(error: BaseException) -> str:
    """The deepest cause's words: "Connection error." says nothing, nor does a certificate on a machine without any."""
    from ssl import SSLError

    while error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, SSLError) and (why := no_certificates()):
        return why
    return str(error) or type(error).__name__
