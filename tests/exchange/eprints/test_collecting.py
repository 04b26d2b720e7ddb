"""Collecting from a server on loopback that stands for arXiv: its manners, by a made clock, and nothing twice."""

import json
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from annotator.domain.texts.refusal import Refusal
from annotator.exchange.eprints import building
from annotator.exchange.eprints.collecting import (
    ArxivHosts,
    Collected,
    CollectionQuery,
    Collector,
    polite_fetcher,
)
from annotator.exchange.eprints.folder import Collection
from annotator.exchange.eprints.rules import Rules
from annotator.exchange.pages.manners import OneTurn
from tests.exchange.pages.page_server import Given, PageServer, serving
from tests.material import eprint_folder as made

pytestmark = pytest.mark.anyio
FIRST, SECOND, LATER, GONE = "2506.00001v1", "2506.00002v1", "2506.00003v2", "2506.00004v1"
LISTED = [
    made.entry(FIRST), made.entry(SECOND), made.entry(LATER), made.entry(GONE, comment="withdrawn by its author"),
]  # fmt: skip
OAK = made.entry("2001.00001v3", title="Oaks in Towns", published="2020-01-02T00:00:00Z")


class Clock:
    """A clock that moves when somebody sleeps."""

    def __init__(self) -> None:
        self.at, self.slept = 100.0, list[float]()

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds


class Arxiv(dict[str, Any]):
    """What the server gives for any path; `odd` are replies that come first, by a word in the path."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock, self.times, self.paths = clock, list[float](), list[str]()
        self.odd: dict[str, list[Given]] = {}
        self.eprints = {FIRST: made.whole(), SECOND: made.single(made.paper())}

    def get(self, path: str, default: Any = None) -> Any:
        self.times.append(self.clock.at)
        self.paths.append(path)
        waiting = next((found for word, found in self.odd.items() if word in path and found), None)
        return waiting.pop(0) if waiting else self._usual(path)

    def _usual(self, path: str) -> Given:
        parts = urlsplit(path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path.startswith("/e-print/"):
            content = self.eprints.get(parts.path.rpartition("/")[2])
            return Given(content, content_type="application/x-eprint-tar") if content else Given(status=404)
        if "id_list" in asked:
            wanted = asked["id_list"].split(",")
            if "1901.00002" in wanted:
                return Given(
                    made.feed([made.entry("x").replace("org/abs/x", "org/api/errors#1")]), status=400
                )
            return Given(made.feed([OAK] if "2001.00001" in wanted else []))
        if asked["search_query"].startswith("ti:"):
            return Given(made.feed([]))
        start, most = int(asked["start"]), int(asked["max_results"])
        return Given(made.feed(LISTED[start : start + most], len(LISTED)))


@pytest.fixture
def server() -> Iterator[PageServer]:
    with serving() as running:
        running.pages = Arxiv(Clock())
        yield running


async def collected(server: PageServer, place: Path, *categories: str, titles: bool = False) -> Collected:
    clock = server.pages.clock  # type: ignore[attr-defined]
    hosts = ArxivHosts(server.url("/api/query"), server.url("/e-print"))
    query = CollectionQuery(categories or ("cs.CL",), date(2025, 6, 1), date(2025, 6, 30), titles)
    async with polite_fetcher(OneTurn(1, 3.0, clock.now, clock.sleep), allow_private=True) as fetcher:
        collector = Collector(Collection.at(place), fetcher, lambda *_: None, hosts, page=2)
        return await collector.collect(query, Rules())


async def test_pages_eprints_and_works_come_three_seconds_apart(server: PageServer, tmp_path: Path) -> None:
    found = await collected(server, tmp_path / "papers", "cs.CL", "cs.IR", titles=True)
    asked = server.pages
    assert (found.candidates, found.fitting, found.eprints, found.missing) == (4, 2, 2, [])
    assert min(b - a for a, b in pairwise(asked.times)) >= 3.0
    listing = [parse_qs(urlsplit(path).query) for path in asked.paths[:4]]
    assert [one["start"] for one in listing] == [["0"], ["2"]] * 2
    assert listing[0]["search_query"] == ["cat:cs.CL AND submittedDate:[202506010000 TO 202506302359]"]
    # A paper of two categories, a later version and what was withdrawn cost no further request.
    eprints = [path for path in asked.paths if path.startswith("/e-print/")]
    assert eprints == [f"/e-print/{FIRST}", f"/e-print/{SECOND}"]
    assert any('ti:"Elms"' in unquote(path) for path in asked.paths)
    assert len(asked.paths) == len(set(asked.paths)) == found.asked
    assert {path.name for path in (tmp_path / "papers" / "eprints").iterdir()} == {
        f"{FIRST}.tar.gz",
        f"{SECOND}.gz",
    }
    assert all("3 seconds" in one["User-Agent"] for one in server.headers)


async def test_what_was_collected_is_built_without_a_socket(
    server: PageServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await collected(server, tmp_path / "papers")

    def closed(*_: Any, **__: Any) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr("socket.socket.connect", closed)
    found = building.build(tmp_path / "papers", Rules(), lambda *_: None)
    assert [(one.id, one.stage.value) for one in found.refused] == [(LATER, "filter"), (GONE, "filter")]
    oak = found.kept[0].cited[0]
    assert (oak.link, oak.abstract) == ("http://arxiv.org/abs/2001.00001", made.ABSTRACT)


async def test_a_second_time_asks_for_nothing(server: PageServer, tmp_path: Path) -> None:
    await collected(server, tmp_path / "papers", titles=True)
    many = len(server.asked)
    manifest = (tmp_path / "papers" / "manifest.json").read_bytes()
    again = await collected(server, tmp_path / "papers", titles=True)
    assert (len(server.asked), again.asked, again.eprints) == (many, 0, 2)
    assert (tmp_path / "papers" / "manifest.json").read_bytes() == manifest


async def test_a_file_that_is_gone_is_asked_for_again(server: PageServer, tmp_path: Path) -> None:
    await collected(server, tmp_path / "papers")
    (tmp_path / "papers" / "eprints" / f"{FIRST}.tar.gz").unlink()
    again = await collected(server, tmp_path / "papers")
    assert (again.asked, server.asked[-1]) == (1, f"/e-print/{FIRST}")


@pytest.mark.parametrize(
    ("status", "told", "rest"), [(503, "40", 40.0), (429, "7", 7.0), (503, "", 5.0), (503, "9" * 9, 600.0)]
)
async def test_a_busy_server_gets_the_rest_it_asks_for(
    server: PageServer, tmp_path: Path, status: int, told: str, rest: float
) -> None:
    server.pages.odd["start=0"] = [Given(status=status, headers={"Retry-After": told})]
    found = await collected(server, tmp_path / "papers")
    assert (found.candidates, found.missing) == (4, [])
    first, second = server.pages.times[:2]
    assert second - first == pytest.approx(rest)


async def test_what_never_comes_is_told_and_asked_for_the_next_time(
    server: PageServer, tmp_path: Path
) -> None:
    server.pages.odd[f"e-print/{FIRST}"] = [Given(status=503)] * 5
    found = await collected(server, tmp_path / "papers")
    assert found.missing == [f"the e-print of {FIRST}: status 503"]
    assert (await collected(server, tmp_path / "papers")).missing == []


async def test_an_empty_page_before_the_end_comes_again(server: PageServer, tmp_path: Path) -> None:
    server.pages.odd["start=2"] = [Given(made.feed([], 4))]
    assert (await collected(server, tmp_path / "papers")).candidates == 4
    server.pages.odd["start=2"] = [Given(made.feed([], 4))] * 5
    found = await collected(server, tmp_path / "other")
    assert (found.candidates, found.missing) == (2, ["the list of cs.CL from 2 on"])


async def test_a_missing_eprint_is_known_as_such(server: PageServer, tmp_path: Path) -> None:
    del server.pages.eprints[SECOND]
    found = await collected(server, tmp_path / "papers")
    assert (found.eprints, found.missing) == (1, [])
    refused = building.build(tmp_path / "papers", Rules(), lambda *_: None).refused
    assert {one.id: one.reason for one in refused}[SECOND] == "arXiv gave no e-print (404)."
    many = len(server.asked)
    await collected(server, tmp_path / "papers")
    assert len(server.asked) == many


async def test_too_long_a_list_is_refused(server: PageServer, tmp_path: Path) -> None:
    server.pages.odd["start=0"] = [Given(made.feed(LISTED[:2], 30_001))]
    with pytest.raises(Refusal, match=r"30,001 papers of cs\.CL"):
        await collected(server, tmp_path / "papers")


async def test_the_list_of_requests_tells_time_hash_and_status(server: PageServer, tmp_path: Path) -> None:
    await collected(server, tmp_path / "papers")
    told = json.loads((tmp_path / "papers" / "manifest.json").read_text("utf-8"))["requests"]
    assert set(told) >= {server.url(f"/e-print/{FIRST}"), server.url(f"/e-print/{SECOND}")}
    assert all(one["status"] == 400 or (len(one["sha256"]) == 64 and one["at"]) for one in told.values())
    (tmp_path / "papers" / "manifest.json").write_text('{"requests": 3}', "utf-8")
    with pytest.raises(Refusal, match="not a list of requests"):
        await collected(server, tmp_path / "papers")
