"""Manners: a host is asked by few at once, with pauses, and rests when it asks for that."""

import asyncio
from itertools import pairwise

import pytest

from annotator.exchange.pages.manners import HostTurns, rest_asked_for

pytestmark = pytest.mark.anyio


async def visit(hosts: HostTurns, host: str, log: list[tuple[str, float]], stay: float = 0.0) -> None:
    async with hosts.turn(host):
        log.append((host, asyncio.get_running_loop().time()))
        await asyncio.sleep(stay)


async def test_two_at_once_and_no_third() -> None:
    hosts, inside, most = HostTurns(pause_s=0.0), 0, 0

    async def one() -> None:
        nonlocal inside, most
        async with hosts.turn("a.example"):
            inside, most = inside + 1, max(most, inside + 1)
            await asyncio.sleep(0.01)
            inside -= 1

    await asyncio.gather(*(one() for _ in range(6)))
    assert most == 2


async def test_requests_to_one_host_begin_a_pause_apart_and_others_need_not_wait() -> None:
    hosts, log = HostTurns(pause_s=0.05), []
    await asyncio.gather(*(visit(hosts, host, log) for host in ("a.example",) * 3 + ("b.example",)))
    begun = [at for host, at in log if host == "a.example"]
    assert [later - earlier >= 0.049 for earlier, later in pairwise(begun)] == [
        True,
        True,
    ]
    assert [host for host, _ in log][:2] == ["a.example", "b.example"]


async def test_a_host_that_asks_for_rest_gets_it() -> None:
    hosts, log = HostTurns(pause_s=0.0), []
    began = asyncio.get_running_loop().time()
    hosts.rest("a.example", 0.05)
    await visit(hosts, "a.example", log)
    assert log[0][1] - began >= 0.049


@pytest.mark.parametrize(
    ("status", "said", "seconds"),
    [
        (429, "2", 2.0), (503, " 30 ", 30.0), (429, "0", 0.0),
        (429, "86400", None), (503, "Fri, 31 Dec 2027 23:59:59 GMT", None), (429, "", None), (200, "2", None),
        (429, "9" * 400, None), (429, "-1", None),
    ],
)  # fmt: skip
def test_a_short_rest_is_taken_and_a_day_is_not(status: int, said: str, seconds: float | None) -> None:
    assert rest_asked_for(status, said) == seconds
