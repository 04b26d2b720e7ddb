"""Cited pages: which are cited, which are fetched, and that a text once read is not lost."""

import asyncio
import io
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.items import pages
from annotator.actions.items.extracts import NewExtract
from annotator.actions.items.pages import FetchRequest
from annotator.actions.project.file import Project
from annotator.domain.material.extract import Claim, Claims, ResponsePart
from annotator.domain.material.item import IMPORT, Page, PageState
from annotator.domain.texts.refusal import Refusal
from tests.exchange.pages.page_server import ARTICLE, Given, Names, PageServer, article, fetcher, serving
from tests.material import drawn_extracts
from tests.storage import sql

ORDER = FetchRequest()
pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Iterator[PageServer]:
    with serving() as running:
        yield running


def claim(project: Project, *urls: str, response: int = 0) -> None:
    item_id, response_id = sql.rows(project, "SELECT item_id, id FROM response ORDER BY id")[response]
    units = tuple(Claim(text=f"Claim {number}.", url=url) for number, url in enumerate(urls, 1))
    drawn_extracts.keep(
        project, NewExtract(item_id, response_id, ResponsePart.CLAIMS, Claims(units=units), IMPORT)
    )


def snapshot(url: str, state: PageState = PageState.OK, text: str = "words") -> Page:
    return Page(url=url, state=state, text=text, fetched_at=datetime(2026, 1, 31, tzinfo=UTC))


async def fetched(project: Project, order: FetchRequest = ORDER, **rest: Any) -> dict[str, Any]:
    return await pages.fetch(project, order, make=lambda _: fetcher(**rest))


async def test_addresses_are_cited_once_in_their_normal_spelling(project: Project) -> None:
    claim(project, "https://a.example/x#1", "https://a.example/x/", "", "doi:10.1000/X")
    claim(project, "https://doi.org/10.1000/x", response=1)
    assert {url: sorted(spellings) for url, spellings in pages.cited(project).items()} == {
        "https://a.example/x": ["https://a.example/x#1", "https://a.example/x/"],
        "doi:10.1000/x": ["doi:10.1000/X", "https://doi.org/10.1000/x"],
    }


async def test_what_claims_cite_is_fetched_committed_and_then_told(
    project: Project, server: PageServer
) -> None:
    server.pages |= {"/a": article("A"), "/b": Given(status=403)}
    claim(project, server.url("/a"), server.url("/b"), server.url("/a#part"))
    seen: list[tuple[str, str | None]] = []

    def tell(line: dict[str, Any]) -> None:
        if line["event"] == "progress":
            kept = pages.page(project, line["latest"]["url"])
            seen.append((line["latest"]["state"], kept.state.value if kept else None))

    ended = await pages.fetch(project, FetchRequest(), tell=tell, make=lambda _: fetcher())
    assert sorted(seen) == [("forbidden", "forbidden"), ("ok", "ok")]
    assert (ended["state"], ended["done"], ended["total"], ended["by_state"]) == (
        "done", 2, 2, {"ok": 1, "forbidden": 1},
    )  # fmt: skip
    assert json.loads(json.dumps(ended)) == ended
    kept = pages.page(project, server.url("/a"))
    assert (kept.text, kept.title) == (ARTICLE.strip(), "A")


async def test_what_was_read_is_not_asked_again_and_the_rest_is(project: Project, server: PageServer) -> None:
    server.pages |= {"/a": article(), "/b": lambda number: article() if number else Given(status=500)}
    claim(project, server.url("/a"), server.url("/b"))
    first, second = await fetched(project), await fetched(project)
    assert (first["by_state"], second["by_state"], second["skipped"]) == ({"ok": 1, "dead": 1}, {"ok": 1}, 1)
    assert sorted(server.asked) == ["/a", "/b", "/b"]
    assert "All 2 cited pages are there" in pages.plan(project, FetchRequest()).words()


async def test_a_refresh_asks_again_and_never_loses_a_text(project: Project, server: PageServer) -> None:
    server.pages |= {
        "/a": lambda number: article("New" if number else "Old"),
        "/b": lambda number: Given(status=404) if number else article("Kept"),
    }
    claim(project, server.url("/a"), server.url("/b"))
    await fetched(project)
    again = await fetched(project, FetchRequest(refresh=True))
    assert (again["by_state"], again["kept"]) == ({"ok": 1, "dead": 1}, 1)
    assert [line.title for line in pages.lines(project)] == ["New", "Kept"]
    assert "Of 1 the earlier text was kept" in " ".join(pages.words(again))


async def test_without_a_network_nothing_is_kept_and_the_run_says_so(project: Project) -> None:
    claim(project, *(f"https://{name}.example/x" for name in "abcdefgh"))
    ended = await fetched(project, FetchRequest(concurrency=1))
    assert (ended["state"], ended["done"]) == ("interrupted", 0)
    assert [line.state for line in pages.lines(project)] == [None] * 8
    assert "no network" in ended["cause"]
    assert "import the pages from a folder" in ended["cause"]


async def test_dead_names_beside_a_living_one_or_of_two_are_the_pages_own_fault(
    project: Project, server: PageServer
) -> None:
    claim(project, "https://a.example/x", "https://b.example/x")
    assert (await fetched(project))["by_state"] == {"dead": 2}
    server.pages["/a"] = article()
    claim(project, *(f"https://{name}.example/x" for name in "cde"), server.url("/a"))
    ended = await fetched(project, FetchRequest(concurrency=1))
    assert (ended["state"], ended["by_state"]) == ("done", {"ok": 1, "dead": 3})
    assert (pages.summary(ended["by_state"]), pages.summary({})) == (
        "4 pages: 1 read, 3 not there.", "No pages stored yet.",
    )  # fmt: skip


async def test_what_may_not_be_fetched_is_a_page_with_its_cause(project: Project, server: PageServer) -> None:
    claim(project, server.url("/a"), "ftp://a.example/x", "Smith 2020")
    ended = await pages.fetch(project, FetchRequest())
    assert ended["by_state"] == {"forbidden": 2, "dead": 1}
    assert all(line.cause for line in pages.lines(project))
    assert server.asked == []


async def test_the_order_of_a_person_reaches_the_fetcher() -> None:
    made = pages.fetcher_of(FetchRequest(allow_private=True, reader="https://reader.example/"))
    assert (made.rules.allow_private, made.reader) == (True, "https://reader.example/")
    assert not pages.fetcher_of(FetchRequest()).rules.allow_private
    with pytest.raises(Refusal, match="reader service"):
        pages.fetcher_of(FetchRequest(reader="nonsense"))


async def test_a_line_cancel_stops_within_a_second_and_what_came_stays(
    project: Project, server: PageServer
) -> None:
    server.pages |= {"/a": article(), "/b": Given(held=True), "/c": Given(held=True)}
    claim(project, server.url("/a"), server.url("/b"), server.url("/c"))
    line = threading.Event()

    class Listened(io.StringIO):
        def __iter__(self) -> Iterator[str]:
            line.wait()
            yield "cancel\n"

    def tell(told: dict[str, Any]) -> None:
        line.set()

    async with asyncio.timeout(10.0):
        ended = await pages.fetch(
            project, FetchRequest(), tell=tell, listen=Listened(), make=lambda _: fetcher()
        )
    assert (ended["state"], ended["by_state"]) == ("cancelled", {"ok": 1})
    assert {one.state for one in pages.lines(project)} == {PageState.OK, None}


async def test_two_runs_do_not_fetch_for_one_project_at_once(project: Project, server: PageServer) -> None:
    server.pages["/a"] = Given(held=True)
    claim(project, server.url("/a"))
    first = asyncio.ensure_future(fetched(project))
    while not server.asked:
        await asyncio.sleep(0.01)
    with pytest.raises(Refusal, match="already"):
        await fetched(project)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)


async def test_a_page_taken_in_is_audited_with_its_hash_and_keeps_its_text(project: Project) -> None:
    first, second, third = (
        pages.take_in(project, snapshot("https://a.example", state, text))
        for state, text in ((PageState.DEAD, ""), (PageState.OK, "old secret"), (PageState.OK, "new secret"))
    )
    assert (first.before, second.before["sha256"]) == (None, first.after["sha256"])
    assert third.before["sha256"] == second.after["sha256"]
    assert "secret" not in json.dumps([second.after, third.before, third.after])
    assert (third.by, third.kind, third.verb) == (project.by, "page", "fetch page")
    # One without a text does not displace it.
    pages.take_in(project, snapshot("https://a.example", PageState.PAYWALL, ""))
    assert pages.page(project, "https://a.example/#x").text == "new secret"


async def test_pages_are_listed_with_who_cites_them_and_hosts_take_turns(project: Project) -> None:
    claim(project, "https://b.example", "https://b.example/")
    pages.take_in(project, snapshot("https://b.example", text="words"))
    pages.take_in(project, snapshot("https://a.example", PageState.DEAD, ""))
    assert [(line.url, line.state, line.claims, line.characters) for line in pages.lines(project)] == [
        ("https://a.example", PageState.DEAD, 0, 0),
        ("https://b.example", PageState.OK, 2, 5),
    ]
    claim(project, *(f"https://{host}.example/{n}" for host in "cd" for n in "123"))
    assert [url[8] for url in pages.plan(project, FetchRequest()).to_fetch] == list("cdcdcd")


async def test_a_folder_is_taken_in_and_what_is_wrong_with_it_told(project: Project, tmp_path: Path) -> None:
    (folder := tmp_path / "saved").mkdir()
    (folder / "a.html").write_text(f"<title>A</title><p>{ARTICLE}", "utf-8")
    (folder / "pages.csv").write_text(
        "url,file\nhttps://a.example/,a.html\nhttps://b.example,gone.html\n", "utf-8"
    )
    claim(project, "https://a.example", "https://b.example")
    pages.take_in(project, snapshot("https://a.example", PageState.DEAD, ""))
    told: list[dict[str, Any]] = []
    ended = await pages.import_folder(project, folder, tell=told.append)
    assert (ended["by_state"], ended["uncited"], len(ended["problems"])) == ({"ok": 1}, 0, 1)
    assert "pages.csv, row 3" in ended["problems"][0]
    assert [line["done"] for line in told] == [1]
    kept = pages.page(project, "https://a.example")
    assert (kept.state, kept.title) == (PageState.OK, "A")


async def test_a_name_that_leads_inside_is_not_followed_for_a_project(
    project: Project, server: PageServer
) -> None:
    from annotator.exchange.pages.fetching import AddressRules

    server.pages["/a"] = article()
    claim(project, server.url("/a", "inside.example").replace(f":{server.port}", ""))
    names = Names(inside_example=[["127.0.0.1"]])
    ended = await fetched(project, rules=AddressRules(), look_up=names)
    assert (ended["by_state"], server.asked) == ({"forbidden": 1}, [])
