"""Fetching, against a real server on loopback: whatever comes, the outcome is a page with a state and a cause."""

import asyncio
import gzip
import socket
import threading
from dataclasses import replace

import pytest

from annotator.domain.material.page import PageState
from annotator.domain.texts.canonical import sha256
from annotator.exchange.pages.addresses import PRIVATE, AddressRules
from annotator.exchange.pages.fetching import Fetcher, FetchLimits
from annotator.exchange.pages.worker import ReadingProcess
from tests.exchange.pages.page_server import (
    ARTICLE,
    LOOPBACK,
    SMALL,
    Given,
    HereWorker,
    Names,
    PageServer,
    article,
    fetcher,
    onward,
)

pytestmark = pytest.mark.anyio


async def test_a_page_comes_with_its_text_title_hash_and_day(server: PageServer) -> None:
    server.pages["/a"] = article()
    async with fetcher() as one:
        found = await one.fetch(server.url("/a#part"))
    page = found.page
    assert (page.state, page.text, page.title) == (PageState.OK, ARTICLE.strip(), "Deep networks")
    assert (page.url, page.final_url) == (server.url("/a"), server.url("/a"))
    assert (page.sha256, page.cause, page.by_reader) == (sha256(page.text), "", "")
    assert page.content_type == "text/html; charset=utf-8"
    assert page.fetched_at.tzinfo is not None
    assert found.reached is True


async def test_the_server_is_told_honestly_who_asks(server: PageServer) -> None:
    server.pages["/"] = article()
    async with fetcher() as one:
        await one.fetch(server.url())
    sent = {name.lower(): value for name, value in server.headers[0].items()}
    assert sent["user-agent"].startswith("Goldsmith/")
    assert sent["accept-encoding"] == "gzip, deflate"
    assert not {"authorization", "cookie", "referer"} & set(sent)


async def test_a_proxy_of_the_environment_is_not_asked(
    server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Through a proxy, nobody here would see which machine is connected to.
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9/")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9/")
    server.pages["/"] = article()
    async with fetcher() as one:
        assert (await one.fetch(server.url())).page.state is PageState.OK


async def test_a_real_process_reads_what_came(server: PageServer) -> None:
    server.pages["/"] = article()
    async with fetcher(worker=ReadingProcess()) as one:
        assert (await one.fetch(server.url())).page.text == ARTICLE.strip()


async def test_loopback_is_not_fetched_unless_allowed(server: PageServer) -> None:
    server.pages["/"] = article()
    rules = AddressRules()
    async with Fetcher(rules, worker=HereWorker()) as one:
        for host in ("127.0.0.1", "localhost"):
            page = (await one.fetch(f"http://{host}/")).page
            assert (page.state, page.cause) == (PageState.FORBIDDEN, PRIVATE)
    assert server.asked == []


async def test_a_connection_goes_to_the_number_that_was_checked_and_the_name_is_looked_up_once(
    server: PageServer,
) -> None:
    # The second answer is what a rebinding name server would give once the first was found harmless.
    names = Names(rebinding_example=[["127.0.0.1"], ["169.254.169.254"]])
    server.pages["/"] = article()
    async with fetcher(look_up=names) as one:
        page = (await one.fetch(server.url("/", "rebinding.example"))).page
    assert (page.state, names.asked) == (PageState.OK, ["rebinding.example"])
    assert server.headers[0]["Host"] == f"rebinding.example:{server.port}"


async def test_redirects_are_followed_and_each_is_looked_up_anew(server: PageServer) -> None:
    names = Names(a_example=LOOPBACK, b_example=LOOPBACK)
    server.pages |= {
        "/1": onward(server.url("/2", "b.example"), 301),
        "/2": onward("3?q=ä", 307),  # as one byte of Latin-1, which no standard allows
        "/3?q=%C3%A4": article(),
    }
    async with fetcher(look_up=names) as one:
        page = (await one.fetch(server.url("/1", "a.example"))).page
    assert (page.state, page.text) == (PageState.OK, ARTICLE.strip())
    assert (page.url, page.final_url) == (
        server.url("/1", "a.example"),
        server.url("/3?q=%C3%A4", "b.example"),
    )
    assert names.asked == ["a.example", "b.example", "b.example"]


@pytest.mark.parametrize(
    ("where", "state", "cause"),
    [
        ("http://metadata.example/latest", PageState.FORBIDDEN, "never fetched"),
        ("http://169.254.169.254/latest/meta-data/", PageState.FORBIDDEN, "never fetched"),
        ("file:///etc/passwd", PageState.FORBIDDEN, "“file:”"),
        ("https://user:pw@a.example/", PageState.FORBIDDEN, "a name or a password"),
        ("http://a.example:99999/", PageState.DEAD, "no address"),
        ("http://nowhere.example/", PageState.DEAD, "no machine"),
    ],
)
async def test_a_redirect_to_what_may_not_be_fetched_is_not_followed(
    server: PageServer, where: str, state: PageState, cause: str
) -> None:
    server.pages["/"] = onward(where)
    async with fetcher(look_up=Names(metadata_example=[["169.254.169.254"]])) as one:
        page = (await one.fetch(server.url())).page
    assert (page.state, server.asked) == (state, ["/"])
    assert cause in page.cause


async def test_a_public_page_cannot_redirect_into_this_machine(server: PageServer) -> None:
    # The reader service alone may be private, so it stands in for the public server here.
    server.pages["/read/https://public.example/x"] = onward(server.url("/secret", "inside.example"))
    server.pages["/secret"] = article()
    names = Names(public_example=[["1.1.1.1"]], inside_example=LOOPBACK)
    async with fetcher(rules=AddressRules(), reader=server.url("/read"), look_up=names) as one:
        page = (await one.fetch("https://public.example/x")).page
    assert (page.state, "/secret" in server.asked) == (PageState.FORBIDDEN, False)


@pytest.mark.parametrize(("redirects", "state"), [(10, PageState.OK), (11, PageState.DEAD)])
async def test_ten_redirects_are_followed_and_no_eleventh(
    server: PageServer, redirects: int, state: PageState
) -> None:
    for number in range(redirects):
        server.pages[f"/{number}"] = onward(f"/{number + 1}")
    server.pages[f"/{redirects}"] = article()
    async with fetcher() as one:
        page = (await one.fetch(server.url("/0"))).page
    assert (page.state, len(server.asked)) == (state, 11)


async def test_cookies_of_one_page_open_its_next_redirect_but_no_other_page(server: PageServer) -> None:
    def door(number: int) -> Given:
        given = server.headers[-1].get("Cookie", "")
        return (
            article()
            if "seen=1" in given
            else onward("/door")
            if number
            else Given(status=302, headers={"Location": "/door", "Set-Cookie": "seen=1; Path=/"})
        )

    server.pages |= {"/door": door, "/other": article()}
    async with fetcher(look_up=Names(a_example=LOOPBACK)) as one:
        page = (await one.fetch(server.url("/door", "a.example"))).page
        await one.fetch(server.url("/other", "a.example"))
    assert (page.state, len(server.asked)) == (PageState.OK, 3)
    assert "Cookie" not in server.headers[-1]


async def test_a_page_that_only_sends_its_visitor_on_is_a_redirect(server: PageServer) -> None:
    server.pages |= {
        "/": Given(
            "<meta http-equiv=refresh content='0; url=/real'><title>Redirecting</title><p>Redirecting"
        ),
        "/real": article(),
    }
    async with fetcher() as one:
        page = (await one.fetch(server.url())).page
    assert (page.text, page.final_url) == (ARTICLE.strip(), server.url("/real"))


@pytest.mark.parametrize(
    ("given", "state", "cause"),
    [
        (Given(status=404), PageState.DEAD, "no such page"),
        (Given(status=410), PageState.DEAD, "no such page"),
        (Given(status=403), PageState.FORBIDDEN, "refuses"),
        (Given(status=402), PageState.PAYWALL, "payment"),
        (Given(status=500), PageState.DEAD, "failed (500)"),
        (Given(status=302), PageState.DEAD, "(302)"),
        (Given("Subscribe to continue reading."), PageState.PAYWALL, "subscribe"),
        (Given("<script>app()</script>"), PageState.NOT_TEXT, "without running its scripts"),
        (Given(b"\x89PNG", content_type="image/png"), PageState.NOT_TEXT, "a picture"),
        (Given("x", headers={"Content-Encoding": "br"}), PageState.NOT_TEXT, "not asked for"),
        (Given("no gzip", headers={"Content-Encoding": "gzip"}), PageState.DEAD, "damaged"),
        (Given("x" * 300_000), PageState.TOO_LONG, "larger"),
        (Given(endless=True), PageState.TOO_LONG, "larger"),
        (Given(gzip.compress(b"\0" * 10**8), headers={"Content-Encoding": "gzip"}), PageState.TOO_LONG, "larger"),
        (Given(ARTICLE, cut=True), PageState.DEAD, "broke off"),
        (Given(ARTICLE, held=True), PageState.DEAD, "in time"),
        (Given(ARTICLE, headers={"X": "y" * 100_000}), PageState.DEAD, "not that of a web server"),
    ],
)  # fmt: skip
async def test_every_misfortune_is_a_state_with_a_cause(
    server: PageServer, given: Given, state: PageState, cause: str
) -> None:
    server.pages["/"] = given
    # Only what never comes may run into the silence that is borne.
    bounds = SMALL if given.held else replace(SMALL, silence_s=20.0)
    async with fetcher(bounds=bounds) as one:
        page = (await one.fetch(server.url())).page
    assert (page.state, page.text, page.sha256) == (state, "", sha256(""))
    assert cause in page.cause
    assert page.cause.endswith(".")


async def test_what_says_that_it_is_too_large_is_not_taken_in(server: PageServer) -> None:
    server.pages["/"] = Given("x" * 300_000, held=False, headers={"Content-Length": "999999999"}, cut=True)
    async with fetcher() as one:
        page = (await one.fetch(server.url())).page
    assert (page.state, page.cause) == (PageState.TOO_LONG, "It is larger than 32 MB.")


async def test_a_picture_is_left_before_it_is_taken_in(server: PageServer) -> None:
    server.pages["/"] = Given(endless=True, content_type="video/mp4")
    async with fetcher() as one:
        assert (await one.fetch(server.url())).page.state is PageState.NOT_TEXT


async def test_the_time_of_a_page_is_that_of_all_its_redirects(server: PageServer) -> None:
    server.pages["/"] = Given(delay=0.3, status=302, headers={"Location": "/"})
    async with fetcher(bounds=FetchLimits(seconds=0.7)) as one:
        page = (await one.fetch(server.url())).page
    # Eleven requests would be three seconds, and another cause.
    assert (page.state, page.cause) == (PageState.DEAD, "The server did not answer in time.")


async def test_a_busy_server_is_asked_once_more_after_the_rest_it_asks_for(server: PageServer) -> None:
    busy = Given(status=503, headers={"Retry-After": "0"})
    server.pages |= {"/soon": lambda number: article() if number else busy, "/never": busy}
    async with fetcher() as one:
        soon, never = (
            (await one.fetch(server.url("/soon"))).page,
            (await one.fetch(server.url("/never"))).page,
        )
    assert (soon.state, never.state) == (PageState.OK, PageState.DEAD)
    assert server.asked == ["/soon", "/soon", "/never", "/never"]


async def test_no_more_than_two_ask_one_host_at_once(server: PageServer) -> None:
    both = threading.Barrier(2)

    def together(_: int) -> Given:
        both.wait(60)
        return Given(ARTICLE, delay=0.05)

    server.pages |= {f"/{number}": together for number in range(6)}
    async with fetcher() as one:
        await asyncio.gather(*(one.fetch(server.url(f"/{number}")) for number in range(6)))
    assert (len(server.asked), server.most_at_once) == (6, 2)


async def test_closed_ports_and_unknown_names_are_dead_and_were_not_reached() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        async with fetcher() as one:
            closed = await one.fetch(f"http://127.0.0.1:{port}/")
            unknown = await one.fetch("http://nowhere.example/")
    assert [found.page.state for found in (closed, unknown)] == [PageState.DEAD] * 2
    assert [found.reached for found in (closed, unknown)] == [False, False]
    assert "cannot be reached" in closed.page.cause
    assert "no machine" in unknown.page.cause


async def test_what_is_no_address_is_a_page_too_and_nobody_is_asked() -> None:
    async with fetcher(look_up=None) as one:
        for cited in ("Smith 2020", "ISBN 978-0-306-40615-7", "ftp://a.example/x", "https://u:p@a.example/"):
            found = await one.fetch(cited)
            assert found.page.state is not PageState.OK
            assert found.page.cause
            assert found.reached is None


async def test_a_certificate_nobody_vouches_for_is_not_believed(server: PageServer) -> None:
    # A server that speaks no TLS is refused in the same way as one with a false certificate: at the handshake.
    server.pages["/"] = article()
    async with fetcher() as one:
        page = (await one.fetch(server.url().replace("http:", "https:"))).page
    assert (page.state, server.asked) == (PageState.DEAD, [])


async def test_a_cancelled_fetch_ends_without_the_server(server: PageServer) -> None:
    server.pages["/"] = Given(held=True)
    async with fetcher() as one:
        task = asyncio.ensure_future(one.fetch(server.url()))
        while not server.asked:
            await asyncio.sleep(0.01)
        task.cancel()
        # The server holds the page back until the test is over.
        async with asyncio.timeout(10.0):
            await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
