"""A real web server on loopback that gives each path what a test wants, and readers and fetchers for tests."""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from annotator.domain.material.item import Page
from annotator.exchange.pages import reading
from annotator.exchange.pages.fetching import Fetcher, FetchLimits, HostTurns
from annotator.exchange.pages.states import PageReading, UnreadablePage
from annotator.exchange.pages.worker import ReadingProcess

ARTICLE = "Residual connections let gradients pass through very deep networks. " * 20
HTML = "text/html; charset=utf-8"


@dataclass
class Given:
    """What the server sends for a path: whole, late, slowly, cut, or never."""

    body: str | bytes = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = HTML
    delay: float = 0.0
    cut: bool = False
    held: bool = False
    endless: bool = False


def article(title: str = "Deep networks", text: str = ARTICLE) -> Given:
    return Given(f"<html><head><title>{title}</title></head><body><p>{text}</p></body></html>")


def onward(where: str, status: int = 302) -> Given:
    return Given(status=status, headers={"Location": where})


class PageServer(ThreadingHTTPServer):
    """Gives what `pages` holds by path, or what its function answers; remembers what was asked."""

    # More callers at once than wait in line by default are turned away, and come again a second later.
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages: dict[str, Given | Callable[[int], Given]] = {}
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.at_once = self.most_at_once = 0
        self.lock, self.over = threading.Lock(), threading.Event()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        """The address of a path, under any name that the test's look-up sends here."""
        return f"http://{host}:{self.port}{path}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that left; the tests of bounds and cancelling do."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: PageServer

    def do_GET(self) -> None:
        server = self.server
        with server.lock:
            number = server.asked.count(self.path)
            server.asked.append(self.path)
            server.headers.append(dict(self.headers.items()))
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
        try:
            page = server.pages.get(self.path, Given(status=404))
            given = page(number) if callable(page) else page
            if given.held:
                server.over.wait()
            time.sleep(given.delay)
        finally:
            # Before the answer goes out: its client may ask for the next page before this thread goes on.
            with server.lock:
                server.at_once -= 1
        self._give(given)

    def _give(self, given: Given) -> None:
        content = given.body.encode() if isinstance(given.body, str) else given.body
        self.close_connection = True
        try:
            self.send_response(given.status)
            headers = {
                "Content-Type": given.content_type,
                "Content-Length": str(len(content)),
                **given.headers,
            }
            for name, value in headers.items():
                if value and not (given.endless and name == "Content-Length"):
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if given.cut else content)
            while given.endless and not self.server.over.is_set():
                self.wfile.write(b" word" * 4000)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client of a test of bounds or of cancelling has left

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def serving() -> Iterator[PageServer]:
    with PageServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield server
        server.over.set()
        server.shutdown()
        thread.join()


class HereWorker(ReadingProcess):
    async def read(self, content: bytes, content_type: str) -> PageReading:
        return reading.read(content, content_type)


class Names:
    """A look-up by list: each name's numeric addresses, one answer after the other, the last for ever."""

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self.answers = {name.replace("_", "."): list(given) for name, given in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        number = self.asked.count(host)
        self.asked.append(host)
        if host[0].isdigit():
            return [host]
        if host not in self.answers:
            raise OSError(f"{host} is unknown")
        return self.answers[host][min(number, len(self.answers[host]) - 1)]


LOOPBACK = (("127.0.0.1",),)


def fetcher(**rest: Any) -> Fetcher:
    """A fetcher that may come to loopback, never pauses, and reads in this process."""
    given: dict[str, Any] = {
        "allow_private": True,
        "hosts": HostTurns(pause_s=0.0),
        "worker": HereWorker(),
        "look_up": Names(),
        **rest,
    }
    return Fetcher(**given)


async def fetched(url: str, **rest: Any) -> Page:
    async with fetcher(**rest) as one:
        return (await one.fetch(url)).page


def unreadable(act: Callable[..., object], *given: Any) -> UnreadablePage:
    with pytest.raises(UnreadablePage) as why:
        act(*given)
    assert why.value.cause.endswith(".")
    return why.value


SMALL = FetchLimits(size=200_000, redirects=10, seconds=20.0, connect_s=5.0, silence_s=1.0)
