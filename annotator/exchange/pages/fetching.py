"""Fetching a cited page: every redirect checked and pinned, with limits on size, time and redirects."""

import asyncio
import re
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import quote, urljoin, urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from annotator.domain.material.page import Page, PageState
from annotator.domain.texts.canonical import sha256, storable
from annotator.domain.texts.change import now
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.pages.addresses import AddressRules, LookUp, checked, normal, pinned, target
from annotator.exchange.pages.manners import USER_AGENT, HostTurns, rest_asked_for
from annotator.exchange.pages.reading import hopeless
from annotator.exchange.pages.states import PageReading, UnreadablePage, check_reading, check_status
from annotator.exchange.pages.unpacking import ACCEPTED, PageBody, too_large
from annotator.exchange.pages.worker import ReadingProcess
from annotator.places import no_certificates, trusted

PLACE = "{url}"
# What such services put before the text: a title, the address, the day, and warnings of what they met.
_HEAD = re.compile(
    r"\A(?:Title: (?P<title>[^\n]*)\n+)?(?P<rest>(?:[A-Z][\w ]{1,40}: [^\n]*\n+)*)Markdown Content:\s*\n"
)
_WARNING = re.compile(r"^Warning: Target URL returned error (\d{3})", re.MULTILINE)

_CHUNK = 64 * 1024
# Some sites send more than the 8 kB of headers that the client takes by itself.
_LONGEST_HEADER = 64 * 1024
_HEADERS = {
    "User-Agent": USER_AGENT,
    "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.8,*/*;q=0.5",
    "Accept-Language": "en,*;q=0.5",
    "Accept-Encoding": ACCEPTED,
}


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Limits of a page: unpacked bytes, redirects, and seconds (in all, to connect, and of silence)."""

    size: int = 32 * 2**20
    redirects: int = 10
    seconds: float = 90.0
    connect_s: float = 15.0
    silence_s: float = 30.0


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A fetched page, read or not, and whether a server was reached; None where none was asked."""

    page: Page
    reached: bool | None


@dataclass(frozen=True, slots=True)
class Download:
    """What a server sent, unread; status 0 where it could not be asked, and `cause` says why."""

    status: int
    content: bytes = b""
    retry_after: str = ""
    cause: str = ""


class Fetcher:
    """A fetcher of pages, several at once. Use as an async context manager, in one event loop.

    `reader` is the address of a reader service to be asked instead of the pages themselves; being the person's own
    choice, it alone may lie in a private network whatever the rules say.
    """

    def __init__(
        self,
        rules: AddressRules | None = None,
        *,
        reader: str = "",
        bounds: FetchLimits | None = None,
        hosts: HostTurns | None = None,
        worker: ReadingProcess | None = None,
        look_up: LookUp | None = None,
        agent: str = USER_AGENT,
    ) -> None:
        self.rules = rules or AddressRules()
        self.reader = checked_prefix(reader) if reader else ""
        self.bounds = bounds or FetchLimits()
        self.hosts = hosts or HostTurns()
        self.worker = worker or ReadingProcess()
        self.look_up = look_up
        self.headers = {**_HEADERS, "User-Agent": agent}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.worker.__aexit__(kind, error, trace)

    async def fetch(self, cited: str) -> FetchedPage:
        """The page of a citation, in the state in which it was found; never an error of the world's."""
        visit = _Visit(self)
        state, cause, found = PageState.OK, "", PageReading()
        try:
            found = await visit.read(target(cited))
        except UnreadablePage as why:
            state, cause = why.state, why.cause
        page = Page(
            url=normal(cited),
            state=state,
            text=found.text,
            title=found.title,
            final_url=visit.final_url,
            content_type=storable(visit.content_type)[:200],
            cause=cause,
            fetched_at=now(),
            by_reader=named(self.reader),
            sha256=sha256(found.text),
        )
        return FetchedPage(page, visit.reached)

    async def download(self, address: str) -> Download:
        """What an address gives, as bytes; never an error of the world's."""
        try:
            answer = await _Visit(self, raw=True).download(address)
        except UnreadablePage as why:
            return Download(0, cause=why.cause)
        return Download(answer.status, answer.content, answer.headers.get("Retry-After", ""))


class _Visit:
    """The visit of one page, with its cookies and the time left."""

    def __init__(self, fetcher: Fetcher, *, raw: bool = False) -> None:
        """With `raw` it takes what no page is, too."""
        self._fetcher, self._raw = fetcher, raw
        self._left = fetcher.bounds.seconds
        self._pins = _Pins()
        self._trusted = ""
        self.reached: bool | None = None
        self.final_url = self.content_type = ""

    async def read(self, address: str) -> PageReading:
        """What the page says; Unreadable when it cannot be had or read."""
        fetcher = self._fetcher
        first = checked(address, fetcher.rules)
        if fetcher.reader:
            await self._allowed_through(first)
            first = checked(through(fetcher.reader, str(first)), AddressRules(allow_private=True))
            self._trusted = first.raw_host or ""
        async with self._session() as session:
            found = await self._followed(session, first)
        found = unwrapped(found) if fetcher.reader else found
        check_reading(found)
        return found

    async def download(self, address: str) -> "_Answer":
        """What stands at the end of all redirects of the servers, as it came; Unreadable when it cannot be had."""
        url = checked(address, self._fetcher.rules)
        async with self._session() as session:
            for _ in range(self._fetcher.bounds.redirects + 1):
                answer = await self._asked(session, url)
                onward = answer.headers.get("Location", "") if 300 <= answer.status < 400 else ""
                if not onward:
                    return answer
                url = self._onward(url, onward)
        raise UnreadablePage(PageState.DEAD, "It redirects too often.")

    def _session(self) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            resolver=self._pins, use_dns_cache=False, force_close=True, ssl=trusted(), limit=1
        )
        bounds = self._fetcher.bounds
        timeout = aiohttp.ClientTimeout(None, sock_connect=bounds.connect_s, sock_read=bounds.silence_s)
        return aiohttp.ClientSession(
            connector=connector,
            timeout=timeout,
            headers=self._fetcher.headers,
            auto_decompress=False,
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
        )

    async def _allowed_through(self, url: URL) -> None:
        """Keep a reader service inside a private network from being sent to what may not be fetched from there.

        A name that this machine cannot look up is left to the service.
        """
        try:
            await pinned(url, self._fetcher.rules, self._fetcher.look_up)
        except UnreadablePage as why:
            if why.state is not PageState.DEAD:
                raise

    async def _followed(self, session: aiohttp.ClientSession, url: URL) -> PageReading:
        """What stands at the end of all redirects, those of the server and those of the page."""
        rested = False
        for _ in range(self._fetcher.bounds.redirects + 1):
            answer = await self._asked(session, url)
            rest = rest_asked_for(answer.status, answer.headers.get("Retry-After", ""))
            if rest is not None and not rested:
                rested = True
                self._fetcher.hosts.rest(url.raw_host or "", rest)
                continue
            onward = answer.headers.get("Location", "") if 300 <= answer.status < 400 else ""
            if not onward:
                self._check_status(answer)
                found = await self._fetcher.worker.read(answer.content, self.content_type)
                onward = found.refresh
                if not onward:
                    return found
            url = self._onward(url, onward)
        raise UnreadablePage(
            PageState.DEAD, f"It redirects more than {self._fetcher.bounds.redirects} times."
        )

    def _check_status(self, answer: "_Answer") -> None:
        try:
            check_status(answer.status, answer.headers)
        except UnreadablePage as why:
            if not self._trusted:
                raise
            raise UnreadablePage(PageState.DEAD, f"The reader service did not give it. {why.cause}") from None

    def _onward(self, url: URL, onward: str) -> URL:
        # Which ports are those of the web is not asked of a reader service's own machine.
        form = AddressRules(allow_private=bool(self._trusted) or self._fetcher.rules.allow_private)
        try:
            return checked(urljoin(str(url), _characters(onward).strip()), form)
        except UnreadablePage as why:
            raise UnreadablePage(why.state, f"It redirects. {why.cause}") from None
        except ValueError:
            raise UnreadablePage(PageState.DEAD, "It redirects to what is no address.") from None

    def _rules(self, host: str) -> AddressRules:
        trusted = self._trusted and host == self._trusted
        return AddressRules(allow_private=True) if trusted else self._fetcher.rules

    async def _asked(self, session: aiohttp.ClientSession, url: URL) -> "_Answer":
        """One request, in the host's turn and within the time that is left."""
        host = url.raw_host or ""
        async with self._fetcher.hosts.turn(host):
            self.reached = bool(self.reached)
            self._pins.numbers[host] = await pinned(url, self._rules(host), self._fetcher.look_up)
            began = time.monotonic()
            try:
                async with asyncio.timeout(self._left):
                    return await self._answered(session, url)
            except TimeoutError:
                raise UnreadablePage(PageState.DEAD, "The server did not answer in time.") from None
            except (aiohttp.ClientError, OSError, ValueError) as error:
                raise UnreadablePage(PageState.DEAD, _broken(error)) from None
            finally:
                self._left -= time.monotonic() - began

    async def _answered(self, session: aiohttp.ClientSession, url: URL) -> "_Answer":
        async with session.get(url, allow_redirects=False) as response:
            self.reached = True
            self.final_url = "" if self._trusted else str(url)
            headers, status = response.headers, response.status
            self.content_type = headers.get("Content-Type", "")
            if not 200 <= status < 300:
                return _Answer(status, headers)
            why = "" if self._raw else hopeless(self.content_type)
            if why:
                raise UnreadablePage(PageState.NOT_TEXT, why)
            most = self._fetcher.bounds.size
            if (response.content_length or 0) > most:
                raise too_large(most)
            body = PageBody(headers.get("Content-Encoding", ""), most)
            async for chunk in response.content.iter_chunked(_CHUNK):
                body.add(chunk)
            return _Answer(status, headers, body.content())


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    content: bytes = b""


class _Pins(AbstractResolver):
    """A resolver that returns the addresses checked for a host, without asking again."""

    def __init__(self) -> None:
        self.numbers: dict[str, tuple[str, ...]] = {}

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The pinned addresses of a host; OSError when it was not checked."""
        if host not in self.numbers:
            raise OSError(f"{host} was not checked")
        return [
            ResolveResult(
                hostname=host,
                host=number,
                port=port,
                family=socket.AF_INET6 if ":" in number else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for number in self.numbers[host]
        ]

    async def close(self) -> None:
        """There is nothing to give back."""


def _characters(header: str) -> str:
    """A header's value; bytes that are no UTF-8, which came as halves of surrogate pairs, are taken for Latin-1."""
    try:
        header.encode("utf-8")
    except UnicodeEncodeError:
        return header.encode("utf-8", "surrogateescape").decode("latin-1")
    return header


def _broken(error: Exception) -> str:
    """Why a request came to nothing, as a sentence."""
    if isinstance(error, aiohttp.ClientSSLError | ssl.SSLError):
        return (
            no_certificates()
            or "The server's certificate cannot be trusted, or its encryption is not understood."
        )
    if isinstance(error, aiohttp.ClientConnectorError):
        return "The server cannot be reached, or does not let anybody connect."
    if isinstance(error, aiohttp.ClientPayloadError | aiohttp.ServerDisconnectedError | OSError):
        return "The server broke off in the middle of it."
    return "The server's answer is not that of a web server."


def checked_prefix(reader: str) -> str:
    """A reader service's address; Refusal when it cannot be one."""
    reader = reader.strip()
    try:
        parts = urlsplit(reader)
        usable = (
            parts.scheme in ("http", "https")
            and parts.hostname
            and "@" not in parts.netloc
            and parts.port != 0
        )
    except ValueError:
        usable = False
    if not usable or reader.count(PLACE) > 1:
        raise Refusal(
            "The address of the reader service cannot be used.",
            f"Enter one like https://reader.example/, or with {PLACE} where the page's address belongs.",
        )
    return reader


def named(reader: str) -> str:
    """What a reader service is called in a project: its address without what follows the host, which may hold a key."""
    parts = urlsplit(reader)
    return f"{parts.scheme}://{parts.netloc}" if reader else ""


def through(reader: str, address: str) -> str:
    """The address at which the reader service gives a page: the page's follows it, or stands at its `{url}`."""
    if PLACE in reader:
        return reader.replace(PLACE, quote(address, safe=""))
    if reader.endswith("="):
        return reader + quote(address, safe="")
    return f"{reader.rstrip('/')}/{address}"


def unwrapped(reading: PageReading) -> PageReading:
    """The page itself in what a reader service gave; Unreadable when it says that the page could not be had."""
    head = _HEAD.match(reading.text)
    if head is None:
        return reading
    warned = _WARNING.search(head["rest"])
    if warned:
        check_status(int(warned[1]), {})
    return PageReading(
        text=reading.text[head.end() :].strip(), title=(head["title"] or reading.title).strip()[:1000]
    )
