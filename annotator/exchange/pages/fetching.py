"""Fetching a cited page: every redirect checked and pinned, with limits on size, time and redirects."""

import asyncio
import ipaddress
import re
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Self, cast
from urllib.parse import quote, urljoin, urlsplit

from yarl import URL

from annotator import __version__
from annotator.domain.common import Refusal, now, sha256, storable
from annotator.domain.material.item import Page, PageState
from annotator.domain.texts import identifier
from annotator.exchange.pages.reading import ACCEPTED, accepted, aside, hopeless, too_large, unpacked
from annotator.exchange.pages.states import PageReading, UnreadablePage, check_reading, check_status, normal
from annotator.exchange.pages.worker import ReadingProcess
from annotator.places import no_certificates, trusted

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from aiohttp.abc import AbstractResolver, ResolveResult

AT_ONCE = 2
PAUSE_S = 1.0
LONGEST_REST_S = 30.0
USER_AGENT = (
    f"Goldsmith/{__version__} (reads a page that a report cites, once, to check the citation; no crawler)"
)


class HostTurns:
    """Turns at all hosts, of each by itself or of all `together`: one queue, and a pause from one host to the next.

    Use in one event loop; tests pass `now` and `sleep`, by default the loop's own.
    """

    def __init__(
        self,
        at_once: int = AT_ONCE,
        pause_s: float = PAUSE_S,
        now: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        *,
        together: bool = False,
    ) -> None:
        self._at_once, self._pause_s, self._together = at_once, pause_s, together
        self._clock, self._sleep = now, sleep
        self._gates: dict[str, asyncio.Semaphore] = {}
        self._next: dict[str, float] = {}

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        """Wait until one more request may go to the host, and hold its slot meanwhile."""
        host = "" if self._together else host
        async with self._gates.setdefault(host, asyncio.Semaphore(self._at_once)):
            while (wait := self._next.get(host, 0.0) - self._now()) > 0:
                await self._sleep(wait)
            self._next[host] = self._now() + self._pause_s
            yield

    def rest(self, host: str, seconds: float) -> None:
        host = "" if self._together else host
        self._next[host] = max(self._next.get(host, 0.0), self._now() + seconds)

    def _now(self) -> float:
        return self._clock() if self._clock else asyncio.get_running_loop().time()


def retry_seconds(status: int, retry_after: str) -> float | None:
    """The seconds after which a busy server asks to come again; None if it does not, or asks for too long a wait."""
    if status not in (429, 503) or not retry_after.strip().isdecimal():
        return None
    seconds = float(retry_after.strip()[:9])
    return seconds if seconds <= LONGEST_REST_S else None


IP = ipaddress.IPv4Address | ipaddress.IPv6Address
# Host and port → the numeric addresses of the host. Raises OSError if it has none.
LookUp = Callable[[str, int], Awaitable[Sequence[str]]]

LONGEST = 2000
LOOK_UP_S = 10.0
PORTS = frozenset({80, 443, 8080, 8443})
PRIVATE = "It lies on this machine or in a private network, which is fetched only when that is allowed."
NEVER = "It is an address of the network itself, which is never fetched."
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Beside the link-local ones: where a machine's own provider answers, and ranges reserved for the network's use.
_INNER = tuple(
    ipaddress.ip_network(net)
    for net in (
        "100.100.100.200/32",
        "168.63.129.16/32",
        "192.0.0.0/24",
        "64:ff9b:1::/48",
        "fd00:ec2::254/128",
        "fec0::/10",
    )
)


def target(cited: str) -> str:
    """The address to open for a citation: for a DOI its resolver's, for an arXiv id the paper's PDF.

    Raises UnreadablePage for anything that cannot be opened at all.
    """
    cited = cited.strip().strip("<>")
    result = identifier.parse(cited)
    if result and result.scheme == "doi":
        return f"https://doi.org/{result.value}"
    if result and result.scheme == "arxiv":
        return f"https://arxiv.org/pdf/{result.value}"
    if result and result.scheme == "isbn":
        raise UnreadablePage(PageState.NOT_TEXT, "A book's number is no address of a page.")
    return cited.partition("#")[0]


def checked(address: str, allow_private: bool) -> "URL":
    """The address as the client will use it; raises UnreadablePage unless its form may be fetched.

    The client's own parser reads it, so that nothing is checked here and understood otherwise there.
    """
    if len(address) > LONGEST:
        raise UnreadablePage(PageState.FORBIDDEN, f"Its address is longer than {LONGEST:,} characters.")
    try:
        url = URL(address)
        host, port = url.raw_host, url.port
    except ValueError:
        raise UnreadablePage(PageState.DEAD, "This is no address that could be opened.") from None
    if url.scheme not in ("http", "https"):
        known = f"An address of the kind “{url.scheme[:20]}:” is not fetched." if url.scheme else ""
        raise UnreadablePage(
            PageState.FORBIDDEN if known else PageState.DEAD, known or "This is no web address."
        )
    if not host or any(character.isspace() for character in host):
        raise UnreadablePage(PageState.DEAD, "This is no address that could be opened.")
    if url.raw_user is not None or url.raw_password is not None:
        raise UnreadablePage(PageState.FORBIDDEN, "Its address holds a name or a password.")
    if port not in PORTS and not allow_private:
        raise UnreadablePage(PageState.FORBIDDEN, f"Port {port} is not one of the web.")
    return url.with_fragment(None)


async def pinned(url: "URL", allow_private: bool, look_up: LookUp | None = None) -> tuple[str, ...]:
    """The present numeric addresses of the host, all of which may be connected to: connect to these and no others.

    Raises UnreadablePage if there is none, or if one of them may not be fetched.
    """
    host = url.raw_host or ""
    try:
        async with asyncio.timeout(LOOK_UP_S):
            result = await (look_up or system_look_up)(host, url.port or 0)
    except TimeoutError:
        raise UnreadablePage(PageState.DEAD, f"The name {host} could not be looked up in time.") from None
    except (OSError, UnicodeError) as error:
        if getattr(error, "errno", None) == socket.EAI_AGAIN:
            raise UnreadablePage(PageState.DEAD, f"The name {host} cannot be looked up now.") from None
        raise UnreadablePage(PageState.DEAD, f"There is no machine of the name {host}.") from None
    for number in result:
        cause = barred(number, allow_private)
        if cause:
            raise UnreadablePage(PageState.FORBIDDEN, cause)
    if not result:
        raise UnreadablePage(PageState.DEAD, f"There is no machine of the name {host}.")
    return tuple(dict.fromkeys(result))


def barred(number: str, allow_private: bool) -> str:
    """Why a numeric address may not be connected to, as a sentence; empty if it may."""
    try:
        written = ipaddress.ip_address(number)
    except ValueError:
        return NEVER
    ip = _carried(written) or written
    if ip.is_loopback:
        return "" if allow_private else PRIVATE
    if ip.is_link_local or ip.is_multicast or ip.is_unspecified or ip.is_reserved:
        return NEVER
    if any(ip.version == net.version and ip in net for net in _INNER):
        return NEVER
    return "" if ip.is_global or allow_private else PRIVATE


def _carried(ip: IP) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 one stands for, if it is a way to write or to reach one."""
    if isinstance(ip, ipaddress.IPv4Address):
        return None
    low = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour or (low if ip in _NAT64 else None)


async def system_look_up(host: str, port: int) -> Sequence[str]:
    result = await aside(lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    return [str(where[0]) for *_, where in result]


PLACE = "{url}"
# The header such services put before the text: a title, the address, the day, and warnings.
_HEAD = re.compile(
    r"\A(?:Title: (?P<title>[^\n]*)\n+)?(?P<rest>(?:[A-Z][\w ]{1,40}: [^\n]*\n+)*)Markdown Content:\s*\n"
)
_WARNING = re.compile(r"^Warning: Target URL returned error (\d{3})", re.MULTILINE)

_CHUNK = 64 * 1024
# Some sites send more than the 8 kB of headers that the client accepts by default.
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
    """A fetched page, readable or not, and whether a server was reached; None if none was asked."""

    page: Page
    reached: bool | None


@dataclass(frozen=True, slots=True)
class Download:
    """A server's response; status 0 if it could not be asked, and `cause` says why."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""
    cause: str = ""

    @property
    def retry_after(self) -> str:
        return self.headers.get("Retry-After", "")

    @property
    def onward(self) -> str:
        """Where it redirects to; empty if it does not."""
        return self.headers.get("Location", "") if 300 <= self.status < 400 else ""


class Fetcher:
    """A fetcher of pages, several at once. Use as an async context manager, in one event loop.

    `reader` is the address of a reader service to be asked instead of the pages themselves; being the user's own
    choice, it alone may be in a private network in any case. `allow_private` permits loopback and private networks, and
    any port there; link-local addresses, among them those at which clouds hand out their machines' keys, stay
    forbidden.
    """

    def __init__(
        self,
        *,
        allow_private: bool = False,
        reader: str = "",
        bounds: FetchLimits | None = None,
        hosts: HostTurns | None = None,
        worker: ReadingProcess | None = None,
        look_up: LookUp | None = None,
        agent: str = USER_AGENT,
    ) -> None:
        self.allow_private = allow_private
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
        """The page of a citation in its state; network errors become states, never exceptions."""
        visit = _Visit(self)
        state, cause, result = PageState.OK, "", PageReading()
        try:
            result = await visit.read(target(cited))
        except UnreadablePage as why:
            state, cause = why.state, why.cause
        page = Page(
            url=normal(cited),
            state=state,
            text=result.text,
            title=result.title,
            final_url=visit.final_url,
            content_type=storable(visit.content_type)[:200],
            cause=cause,
            fetched_at=now(),
            by_reader=named(self.reader),
            sha256=sha256(result.text),
        )
        return FetchedPage(page, visit.reached)

    async def download(self, address: str) -> Download:
        """The content of an address, as bytes; network errors never become exceptions."""
        try:
            return await _Visit(self, raw=True).download(address)
        except UnreadablePage as why:
            return Download(0, cause=why.cause)


class _Visit:
    def __init__(self, fetcher: Fetcher, *, raw: bool = False) -> None:
        self._fetcher, self._raw = fetcher, raw
        self._left = fetcher.bounds.seconds
        self._pins = _Pins()
        self._trusted = ""
        self.reached: bool | None = None
        self.final_url = self.content_type = ""

    async def read(self, address: str) -> PageReading:
        """The text of the page; UnreadablePage if it cannot be fetched or read."""
        fetcher = self._fetcher
        first = checked(address, fetcher.allow_private)
        if fetcher.reader:
            # A service inside a private network must not be sent to what may not be fetched from there. A name that
            # this machine cannot look up is left to the service.
            try:
                await pinned(first, fetcher.allow_private, fetcher.look_up)
            except UnreadablePage as why:
                if why.state is not PageState.DEAD:
                    raise
            first = checked(through(fetcher.reader, str(first)), allow_private=True)
            self._trusted = first.raw_host or ""
        async with self._session() as session:
            result = await self._followed(session, first)
        result = unwrapped(result) if fetcher.reader else result
        check_reading(result)
        return result

    async def download(self, address: str) -> Download:
        """The response at the end of all redirects of the servers, unprocessed; UnreadablePage if it cannot be
        fetched.
        """
        url = checked(address, self._fetcher.allow_private)
        async with self._session() as session:
            for _ in range(self._fetcher.bounds.redirects + 1):
                answer = await self._fetch(session, url)
                if not answer.onward:
                    return answer
                url = self._onward(url, answer.onward)
        raise UnreadablePage(PageState.DEAD, "It redirects too often.")

    def _session(self) -> "ClientSession":
        import aiohttp

        connector = aiohttp.TCPConnector(
            resolver=cast("AbstractResolver", self._pins),
            use_dns_cache=False,
            force_close=True,
            ssl=trusted(),
            limit=1,
        )
        bounds = self._fetcher.bounds
        return aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(None, sock_connect=bounds.connect_s, sock_read=bounds.silence_s),
            headers=self._fetcher.headers,
            auto_decompress=False,
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
        )

    async def _followed(self, session: "ClientSession", url: URL) -> PageReading:
        """The reading at the end of all redirects, those of the server and those of the page."""
        rested = False
        for _ in range(self._fetcher.bounds.redirects + 1):
            answer = await self._fetch(session, url)
            rest = retry_seconds(answer.status, answer.retry_after)
            if rest is not None and not rested:
                rested = True
                self._fetcher.hosts.rest(url.raw_host or "", rest)
                continue
            onward = answer.onward
            if not onward:
                try:
                    check_status(answer.status, answer.headers)
                except UnreadablePage as why:
                    if not self._trusted:
                        raise
                    cause = f"The reader service did not give it. {why.cause}"
                    raise UnreadablePage(PageState.DEAD, cause) from None
                result = await self._fetcher.worker.read(answer.content, self.content_type)
                onward = result.refresh
                if not onward:
                    return result
            url = self._onward(url, onward)
        raise UnreadablePage(
            PageState.DEAD, f"It redirects more than {self._fetcher.bounds.redirects} times."
        )

    def _onward(self, url: URL, onward: str) -> URL:
        # The ports of a reader service's own machine are not restricted to those of the web.
        allow_private = bool(self._trusted) or self._fetcher.allow_private
        try:
            return checked(urljoin(str(url), _characters(onward).strip()), allow_private)
        except UnreadablePage as why:
            raise UnreadablePage(why.state, f"It redirects. {why.cause}") from None
        except ValueError:
            raise UnreadablePage(PageState.DEAD, "It redirects to what is no address.") from None

    async def _fetch(self, session: "ClientSession", url: URL) -> Download:
        from aiohttp import ClientError

        host = url.raw_host or ""
        async with self._fetcher.hosts.turn(host):
            self.reached = bool(self.reached)
            trusted = self._trusted and host == self._trusted
            allow_private = bool(trusted) or self._fetcher.allow_private
            self._pins.numbers[host] = await pinned(url, allow_private, self._fetcher.look_up)
            began = time.monotonic()
            try:
                async with asyncio.timeout(self._left):
                    return await self._answered(session, url)
            except TimeoutError:
                raise UnreadablePage(PageState.DEAD, "The server did not answer in time.") from None
            except (ClientError, OSError, ValueError) as error:
                raise UnreadablePage(PageState.DEAD, _broken(error)) from None
            finally:
                self._left -= time.monotonic() - began

    async def _answered(self, session: "ClientSession", url: URL) -> Download:
        async with session.get(url, allow_redirects=False) as response:
            self.reached = True
            self.final_url = "" if self._trusted else str(url)
            headers, status = response.headers, response.status
            self.content_type = headers.get("Content-Type", "")
            if not 200 <= status < 300:
                return Download(status, headers)
            why = "" if self._raw else hopeless(self.content_type)
            if why:
                raise UnreadablePage(PageState.NOT_TEXT, why)
            most = self._fetcher.bounds.size
            if (response.content_length or 0) > most:
                raise too_large(most)
            packing, body = accepted(headers.get("Content-Encoding", "")), bytearray()
            async for chunk in response.content.iter_chunked(_CHUNK):
                body += chunk
                if len(body) > most:
                    raise too_large(most)
            return Download(status, headers, unpacked(bytes(body), packing, most))


class _Pins:
    """A resolver that returns the addresses checked for a host, without looking them up again."""

    def __init__(self) -> None:
        self.numbers: dict[str, tuple[str, ...]] = {}

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> "list[ResolveResult]":
        """The pinned addresses of a host; OSError if it was not checked."""
        if host not in self.numbers:
            raise OSError(f"{host} was not checked")
        return [
            {
                "hostname": host,
                "host": number,
                "port": port,
                "family": socket.AF_INET6 if ":" in number else socket.AF_INET,
                "proto": 0,
                "flags": socket.AI_NUMERICHOST,
            }
            for number in self.numbers[host]
        ]

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""


def _characters(header: str) -> str:
    """A header's value; bytes that are no UTF-8, which came as surrogate escapes, are decoded as Latin-1."""
    try:
        header.encode("utf-8")
    except UnicodeEncodeError:
        return header.encode("utf-8", "surrogateescape").decode("latin-1")
    return header


def _broken(error: Exception) -> str:
    import aiohttp

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
    """A reader service's address; Refusal if it cannot be one."""
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
    """A reader service's name in a project: its address without the part after the host, which may hold a key."""
    parts = urlsplit(reader)
    return f"{parts.scheme}://{parts.netloc}" if reader else ""


def through(reader: str, address: str) -> str:
    """The address at which the reader service returns a page: the page's is appended, or replaces its `{url}`."""
    if PLACE in reader:
        return reader.replace(PLACE, quote(address, safe=""))
    if reader.endswith("="):
        return reader + quote(address, safe="")
    return f"{reader.rstrip('/')}/{address}"


def unwrapped(reading: PageReading) -> PageReading:
    """The page itself within a reader service's reply; UnreadablePage if it says that the page could not be fetched."""
    head = _HEAD.match(reading.text)
    if head is None:
        return reading
    warned = _WARNING.search(head["rest"])
    if warned:
        check_status(int(warned[1]), {})
    return PageReading(
        text=reading.text[head.end() :].strip(), title=(head["title"] or reading.title).strip()[:1000]
    )
