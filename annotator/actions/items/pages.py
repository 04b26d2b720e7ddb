"""Pages of a project: which are cited, their snapshots, and the state of each."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from itertools import product, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO
from urllib.parse import urlsplit

from sqlalchemy import Connection, func, select

from annotator.actions.items import extracts, materials
from annotator.actions.project import people
from annotator.actions.project.file import Project, page_hash, record, stoppable
from annotator.domain.common import Change, Refusal, counted, derived_id, grouped, words_that_hold
from annotator.domain.material.extract import ResponsePart
from annotator.domain.material.item import Page, PageState
from annotator.exchange.pages.states import normal
from annotator.judging.runner import side_by_side, unless_cancelled
from annotator.protocols import EXTRACTIONS
from annotator.storage.tables import PAGE, put

if TYPE_CHECKING:
    from annotator.exchange.pages.fetching import FetchedPage, Fetcher

__all__ = ["cited", "given", "normal", "page", "summary", "take_in", "with_text"]


def cited(project: Project) -> dict[str, list[str]]:
    """The addresses that claims cite: normalised → the spellings in the claims, one for each claim."""
    return grouped((normal(url), url) for url, _ in _claims(project))


def given(project: Project) -> dict[str, list[str]]:
    """The addresses whose pages are extracted from, cited by a claim or not, as reports give them."""
    readers = [extraction.cites for extraction in EXTRACTIONS.values() if extraction.cites]
    result: dict[str, list[str]] = {}
    for at_hand in materials.each(project, materials.MaterialRequest(()), materials.item_ids(project)):
        for cites, report in product(readers, at_hand.responses):
            result |= {address: [address] for address in cites(report)}
    return result


def page(project: Project, url: str) -> Page | None:
    """The snapshot of the page that an address leads to; None if there is none."""
    with project.store.read() as db:
        return materials.pages_at(db, [normal(url)]).get(normal(url))


def with_text(project: Project) -> set[str]:
    readable = (PAGE.c.state == PageState.OK.value, PAGE.c.text != "")
    return set(project.query(select(PAGE.c.url).where(*readable)).scalars())


def take_in(project: Project, page: Page, verb: str = "fetch page") -> Change | None:
    """Store the snapshot of a page in place of an earlier one; None if the earlier one is kept.

    A page without text never replaces one that was read: what was judged by stays.
    """
    row = page.model_dump() | {"state": page.state.value, "sha256": page_hash(page.text)}
    with project.store.write() as db:
        before = _row(db, page.url)
        was_read = before is not None and before["state"] == PageState.OK.value
        if was_read and not (page.state is PageState.OK and page.text):
            return None
        put(db, PAGE, row)
        return record(
            project, db, Change("page", derived_id("page", page.url), verb, _image(before), _image(row))
        )


def add(project: Project, db: Connection, page: Page) -> None:
    """Store the snapshot of a work found by a search, unless one with a text exists."""
    before = _row(db, page.url)
    if before is None or not before["text"]:
        row = page.model_dump() | {"state": page.state.value, "sha256": page_hash(page.text)}
        put(db, PAGE, row)
        subject = derived_id("page", page.url)
        record(project, db, Change("page", subject, "found work", _image(before), _image(row)))


def summary(by_state: dict[str, int]) -> str:
    total = sum(by_state.values())
    if not total:
        return "No pages stored yet."
    named = ", ".join(
        f"{by_state[state.value]:,} {WORDS[state]}" for state in PageState if by_state.get(state.value)
    )
    return f"{counted(total, 'page')}: {named}."


WORDS = {
    PageState.OK: "read",
    PageState.PAYWALL: "behind a paywall",
    PageState.FORBIDDEN: "not shown to programs",
    PageState.DEAD: "not there",
    PageState.NOT_TEXT: "without text",
    PageState.TOO_LONG: "too long",
}


def _row(db: Connection, url: str) -> dict[str, Any] | None:
    row = db.execute(select(PAGE).where(PAGE.c.url == url)).mappings().first()
    return dict(row) if row is not None else None


def _image(row: dict[str, Any] | None) -> dict[str, Any] | None:
    """The audit's image of a page: all but the text, which its hash stands for."""
    if row is None:
        return None
    values = {name: value for name, value in row.items() if name not in ("text", "fetched_at")}
    return values | {"fetched_at": row["fetched_at"].isoformat()}


Line = dict[str, Any]
Tell = Callable[[Line], None]
# If this many hosts in a row cannot be reached and none could, this machine has no network.
HOSTS_BEFORE_OFFLINE = 4
OFFLINE = "No server could be reached: this machine seems to have no network."
OFFLINE_TODO = "Try again when it has, or import the pages from a folder."


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """A request to fetch pages. Pages read before are fetched again only with `refresh`.

    With `every`, all addresses that reports give are fetched, as key points need them, and not only what claims cite.
    `reader` is the address of a reader service to ask instead of the pages' own servers.
    """

    refresh: bool = False
    allow_private: bool = False
    reader: str = ""
    concurrency: int = 8
    every: bool = False


@dataclass(frozen=True, slots=True)
class PagesFolder:
    folder: str


@dataclass(frozen=True, slots=True)
class FetchPlan:
    to_fetch: tuple[str, ...]
    skipped: int

    def words(self) -> str:
        due, skipped = len(self.to_fetch), self.skipped
        return words_that_hold({
            f"{due:,} of {due + skipped:,} cited pages are to be fetched.": due,
            f"All {skipped:,} cited pages are there; with “refresh” they are fetched again.": skipped,
            "No claim of this project cites an address yet.": True,
        })[0]  # fmt: skip


def plan(project: Project, order: FetchRequest) -> FetchPlan:
    addresses = (given(project) if order.every else {}) | cited(project)
    present = set() if order.refresh else with_text(project)
    to_fetch = {url: min(spellings) for url, spellings in addresses.items() if url not in present}
    return FetchPlan(tuple(_mixed(to_fetch)), len(addresses) - len(to_fetch))


def _mixed(addresses: dict[str, str]) -> Iterator[str]:
    """The spellings in an order that keeps those of one host far apart."""
    by_host = grouped((_host(addresses[url]), addresses[url]) for url in sorted(addresses))
    for round_ in zip_longest(*by_host.values()):
        yield from (address for address in round_ if address is not None)


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or address[:7]
    except ValueError:
        return ""


def fetcher_of(order: FetchRequest) -> "Fetcher":
    """The fetcher for a request; raises Refusal if its reader service is invalid."""
    from annotator.exchange.pages.fetching import Fetcher

    return Fetcher(allow_private=order.allow_private, reader=order.reader)


async def fetch(
    project: Project,
    order: FetchRequest,
    *,
    tell: Tell = lambda _: None,
    listen: TextIO | None = None,
    make: Callable[[FetchRequest], "Fetcher"] = fetcher_of,
) -> Line:
    """Fetch the cited pages that are not there yet; the last event says how it ended.

    Each page is committed before `tell` gets an event on it; a line “cancel” on `listen` stops within a second and
    keeps what was fetched; “pause” holds further requests until “resume”. Raises Refusal if another run is fetching for
    this project.
    """
    fetcher = make(order)
    with _alone(project):
        fetch_plan = plan(project, order)
        run = _Run(project, fetcher, tell, len(fetch_plan.to_fetch), fetch_plan.skipped)
        async with fetcher:
            cancelled = await _unless_cancelled(
                lambda going: run.through(fetch_plan.to_fetch, order.concurrency, going), listen
            )
        ended = run.ended(cancelled=cancelled)
    tell(ended)
    return ended


async def _unless_cancelled(
    work: Callable[[asyncio.Event], Coroutine[Any, Any, None]], listen: TextIO | None
) -> bool:
    """Do work that runs while its event is set; return whether it was cancelled."""
    cancel, going = asyncio.Event(), asyncio.Event()
    going.set()
    with stoppable(cancel, listen, going):
        return await unless_cancelled(work(going), cancel)


@dataclass
class _Run:
    project: Project
    fetcher: "Fetcher"
    tell: Tell
    total: int
    skipped: int
    offline: bool = False
    by_state: Counter[str] = field(default_factory=Counter)
    stored: int = 0
    running: int = 0
    began: float = field(default_factory=time.monotonic)
    # Until any server has answered, the fault may be theirs or ours.
    reached: bool = False
    unreached: "list[tuple[str, FetchedPage]]" = field(default_factory=list)

    async def through(self, to_fetch: tuple[str, ...], concurrency: int, going: asyncio.Event) -> None:
        """Fetch all pages, `concurrency` at a time, while `going` is set."""
        waiting = iter(to_fetch)
        async with side_by_side() as group:
            for _ in range(max(1, concurrency)):
                group.create_task(self._work(waiting, going))
        if not self.offline:
            for _, result in self.unreached:
                self._take(result.page)

    async def _work(self, waiting: Iterator[str], going: asyncio.Event) -> None:
        for address in waiting:
            await going.wait()
            if self.offline:
                return
            self.running += 1
            try:
                result = await self.fetcher.fetch(address)
            finally:
                self.running -= 1
            self._received(address, result)

    def _received(self, address: str, page: "FetchedPage") -> None:
        if page.reached is False and page.page.state is PageState.DEAD and not self.reached:
            self.unreached.append((address, page))
            self.offline = len({_host(one) for one, _ in self.unreached}) >= HOSTS_BEFORE_OFFLINE
            return
        self.reached = self.reached or bool(page.reached)
        self._take(page.page)

    def _take(self, page: Page) -> None:
        change = take_in(self.project, page)
        self.by_state[page.state.value] += 1
        self.stored += change is None
        latest = {"url": page.url, "state": page.state.value, "cause": page.cause}
        self.tell(self._line("progress") | {"latest": latest})

    def _line(self, event: str) -> Line:
        done, seconds = self.by_state.total(), time.monotonic() - self.began
        return {
            "event": event,
            "things": "pages",
            "done": done,
            "total": self.total,
            "skipped": self.skipped,
            "by_state": dict(self.by_state),
            "kept": self.stored,
            "running": self.running,
            "seconds": round(seconds, 2),
            "left_s": round(seconds / done * (self.total - done), 1) if done else None,
        }

    def ended(self, *, cancelled: bool) -> Line:
        state = "interrupted" if self.offline else "cancelled" if cancelled else "done"
        cause = f"{OFFLINE} {OFFLINE_TODO}" if self.offline else ""
        return self._line("ended") | {"state": state, "cause": cause}


async def import_folder(
    project: Project, folder: Path, *, tell: Tell = lambda _: None, listen: TextIO | None = None
) -> Line:
    """Import the pages of a folder; the last event says what came, and lists each problem with its place.

    Cancelled and paused like fetching. Raises Refusal if the folder or its index cannot be read at all.
    """
    from annotator.exchange.pages import folder as folders
    from annotator.exchange.pages.worker import ReadingProcess

    entries, problems = folders.entries(folder)
    addresses = given(project).keys() | cited(project).keys()
    by_state: Counter[str] = Counter()
    taken = uncited = 0
    line: Line = {}

    async def through(going: asyncio.Event) -> None:
        nonlocal taken, uncited, line
        for number, entry in enumerate(entries, 1):
            await going.wait()
            result = await folders.page_of(entry, worker)
            if isinstance(result, Page):
                taken += take_in(project, result, "import page") is None
                uncited += result.url not in addresses
                by_state[result.state.value] += 1
            else:
                problems.append(result)
            line = {
                "event": "progress", "things": "pages", "done": number, "total": len(entries),
                "by_state": dict(by_state), "kept": taken, "uncited": uncited,
            }  # fmt: skip
            tell(line)

    async with ReadingProcess() as worker:
        cancelled = await _unless_cancelled(through, listen)
    empty = {"done": 0, "total": 0, "by_state": {}, "kept": 0, "uncited": 0}
    state = "cancelled" if cancelled else "done"
    return (
        empty | line | {"event": "ended", "state": state, "problems": [str(problem) for problem in problems]}
    )


def words(line: Line) -> list[str]:
    skipped, uncited, cause = line.get("skipped", 0), line.get("uncited", 0), line.get("cause", "")
    return words_that_hold({
        f"{line['done']:,} of {line['total']:,} pages ({line['state']}).": True,
        summary(line["by_state"]): line["by_state"],
        f"{counted(skipped, 'was', 'were')} already stored and not fetched again.": skipped,
        f"Of {line['kept']:,} the earlier text was kept, because the new one is empty.": line["kept"],
        f"{counted(uncited, 'is', 'are')} not cited by any claim.": uncited,
        cause: cause,
    })  # fmt: skip


@contextmanager
def _alone(project: Project) -> Iterator[None]:
    """Allow only one run at a time to fetch for a project; a run that died leaves the lock free."""
    from annotator.storage.store import alone

    busy = Refusal("Pages are being fetched for this project already.", "Wait for that, or cancel it first.")
    with alone(project.path, "fetching", busy):
        yield


@dataclass(frozen=True, slots=True)
class CitedPage:
    """A page that is cited or stored; `state` is None if it was never fetched."""

    url: str
    claims: int
    reports: int
    state: PageState | None = None
    title: str = ""
    cause: str = ""
    final_url: str = ""
    fetched_at: datetime | None = None
    by_reader: str = ""
    characters: int = 0
    sha256: str = ""

    @property
    def is_here(self) -> bool:
        """Whether it was read and its text is here; the text may have been left out of the release it came from."""
        return self.state is PageState.OK and self.characters > 0


@dataclass(frozen=True, slots=True)
class CitingClaim:
    item_id: str
    item: str
    response_id: str
    system: str
    unit_id: str
    text: str


@dataclass(frozen=True, slots=True)
class CitedPages:
    """All cited or stored pages, by address, and the claims that cite each."""

    pages: tuple[CitedPage, ...]
    citing: Mapping[str, Sequence[CitingClaim]]

    def plan(self, *, refresh: bool) -> FetchPlan:
        """The plan of fetching: cited pages not yet read, or with `refresh` all that are cited."""
        cited = [page for page in self.pages if page.claims]
        urls = [page.url for page in cited if refresh or not page.is_here]
        return FetchPlan(tuple(urls), len(cited) - len(urls))


@people.for_coordinators(materials.DOES)
def cited_states(project: Project) -> CitedPages:
    """The states of the cited pages, without their texts; only a coordinator may see which system cites what."""
    return _cited(project)


def lines(project: Project, *, every: bool = False) -> tuple[CitedPage, ...]:
    """The same pages for anyone, without who cites them; with `every`, also those that reports give without a claim."""
    return _cited(project, given(project) if every else ()).pages


def _cited(project: Project, given: Iterable[str] = ()) -> CitedPages:
    normalized = cache(normal)
    citing = grouped((normalized(url), claim) for url, claim in _claims(project))
    names = [name for name in CitedPage.__dataclass_fields__ if name in PAGE.c]
    question = select(*(PAGE.c[name] for name in names), func.length(PAGE.c.text).label("characters"))
    rows = project.query(question).mappings()
    stored = {row["url"]: {**row, "state": PageState(row["state"])} for row in rows}
    cited = (
        CitedPage(
            **stored.get(url, {"url": url}),
            claims=len(citing.get(url, ())),
            reports=len({claim.response_id for claim in citing.get(url, ())}),
        )
        for url in sorted({*citing, *stored, *given})
    )
    return CitedPages(tuple(cited), citing)


def _claims(project: Project) -> Iterator[tuple[str, CitingClaim]]:
    """(address as cited, claim) of each claim in force that cites something."""
    used = set(materials.item_ids(project))
    with project.store.read() as db:
        named = materials.named(db)
    for item_id, response_id, tree in extracts.contents(project, ResponsePart.CLAIMS):
        for unit in tree["units"] if item_id in used else ():
            if url := unit["url"].strip():
                key, system = named[response_id]
                yield url, CitingClaim(item_id, key, response_id, system, unit["id"], unit["text"])
