"""Politeness towards hosts: few parallel requests, a pause between them, and a wait when a host asks for one."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from annotator import __version__

AT_ONCE = 2
PAUSE_S = 1.0
LONGEST_REST_S = 30.0
USER_AGENT = (
    f"Goldsmith/{__version__} (reads a page that a report cites, once, to check the citation; no crawler)"
)


class HostTurns:
    """Turns at all hosts. Use in one event loop; `now` and `sleep` are the loop's own unless a test has others."""

    def __init__(
        self,
        at_once: int = AT_ONCE,
        pause_s: float = PAUSE_S,
        now: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._at_once, self._pause_s = at_once, pause_s
        self._clock, self._sleep = now, sleep
        self._gates: dict[str, asyncio.Semaphore] = {}
        self._next: dict[str, float] = {}

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        """Wait until one more request may go to the host, and hold its place meanwhile."""
        gate = self._gates.setdefault(host, asyncio.Semaphore(self._at_once))
        async with gate:
            while (wait := self._next.get(host, 0.0) - self._now()) > 0:
                await self._sleep(wait)
            self._next[host] = self._now() + self._pause_s
            yield

    def rest(self, host: str, seconds: float) -> None:
        self._next[host] = max(self._next.get(host, 0.0), self._now() + seconds)

    def _now(self) -> float:
        return self._clock() if self._clock else asyncio.get_running_loop().time()


class OneTurn(HostTurns):
    """A single turn for all hosts together: one request at a time, and a pause from one to the next."""

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        """Wait until the next request may go out, to whichever host."""
        async with super().turn(""):
            yield

    def rest(self, host: str, seconds: float) -> None:
        super().rest("", seconds)


def rest_asked_for(status: int, retry_after: str) -> float | None:
    """The seconds after which a busy server asks to come again; None when it does not, or asks for too long a wait."""
    if status not in (429, 503) or not retry_after.strip().isdecimal():
        return None
    seconds = float(retry_after.strip()[:9])
    return seconds if seconds <= LONGEST_REST_S else None
