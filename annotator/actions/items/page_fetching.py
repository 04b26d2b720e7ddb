"""Fetching the pages that claims cite, or importing them from a folder."""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO
from urllib.parse import urlsplit

from annotator.actions.items import pages
from annotator.actions.project.file import Project
from annotator.actions.project.stopping import stoppable
from annotator.domain.material.page import Page, PageState
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.judging.runs.side_by_side import side_by_side

if TYPE_CHECKING:
    from annotator.exchange.pages.fetching import FetchedPage, Fetcher

Line = dict[str, Any]
Tell = Callable[[Line], None]
# When so many hosts in a row cannot be reached and none can, it is this machine that has no network.
HOSTS_BEFORE_OFFLINE = 4
OFFLINE = "No server could be reached: this machine seems to have no network."
OFFLINE_TODO = "Try again when it has, or import the pages from a folder."


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """A request to fetch pages. Pages read before are fetched again only with `refresh`.

    With `every` all that reports give are fetched, as key points need them, and not only what claims cite. `reader` is
    the address of a reader service to be asked instead of the pages' own servers.
    """

    refresh: bool = False
    allow_private: bool = False
    reader: str = ""
    concurrency: int = 8
    every: bool = False


@dataclass(frozen=True, slots=True)
class PagesFolder:
    """A request to import cited pages from a folder."""

    folder: str


@dataclass(frozen=True, slots=True)
class FetchPlan:
    """The addresses to fetch, and how many are skipped as read."""

    to_fetch: tuple[str, ...]
    skipped: int

    def words(self) -> str:
        """The plan in a sentence."""
        if not self.to_fetch and not self.skipped:
            return "No claim of this project cites an address yet."
        if not self.to_fetch:
            return f"All {self.skipped:,} cited pages are there; with “refresh” they are fetched again."
        return (
            f"{len(self.to_fetch):,} of {len(self.to_fetch) + self.skipped:,} cited pages are to be fetched."
        )


def plan(project: Project, order: FetchRequest) -> FetchPlan:
    cited = (pages.given(project) if order.every else {}) | pages.cited(project)
    there = set() if order.refresh else pages.with_text(project)
    wanted = {url: min(spellings) for url, spellings in cited.items() if url not in there}
    return FetchPlan(tuple(_mixed(wanted)), len(cited) - len(wanted))


def _mixed(wanted: dict[str, str]) -> Iterator[str]:
    """The spellings in an order in which those of one host stand far apart."""
    by_host: defaultdict[str, list[str]] = defaultdict(list)
    for url in sorted(wanted):
        by_host[_host(wanted[url])].append(wanted[url])
    for round_ in zip_longest(*by_host.values()):
        yield from (cited for cited in round_ if cited is not None)


def _host(cited: str) -> str:
    try:
        return urlsplit(cited).hostname or cited[:7]
    except ValueError:
        return ""


def fetcher_of(order: FetchRequest) -> "Fetcher":
    """What fetches for an order; Refusal when its reader service cannot be one."""
    from annotator.exchange.pages.addresses import AddressRules
    from annotator.exchange.pages.fetching import Fetcher

    return Fetcher(AddressRules(order.allow_private), reader=order.reader)


async def fetch(
    project: Project,
    order: FetchRequest,
    *,
    tell: Tell = lambda _: None,
    listen: TextIO | None = None,
    make: Callable[[FetchRequest], "Fetcher"] = fetcher_of,
) -> Line:
    """Fetch the cited pages that are not there yet; the last line tells how it ended.

    Each page is committed before `tell` gets a line on it; a line “cancel” on `listen` stops within a second, and
    what came stays; “pause” lets no other page be asked for until “resume”. Refusal when another run is fetching
    for this project.
    """
    fetcher = make(order)
    with _alone(project):
        wanted = plan(project, order)
        run = _Run(project, fetcher, tell, len(wanted.to_fetch), wanted.skipped)
        async with fetcher:
            cancelled = await _unless_cancelled(
                lambda going: run.through(wanted.to_fetch, order.concurrency, going), listen
            )
        ended = run.ended(cancelled=cancelled)
    tell(ended)
    return ended


async def _unless_cancelled(
    work: Callable[[asyncio.Event], Coroutine[Any, Any, None]], listen: TextIO | None
) -> bool:
    """Do work that goes on while its event is set; whether it was cancelled."""
    cancel, going = asyncio.Event(), asyncio.Event()
    going.set()
    with stoppable(cancel, listen, going):
        crew, watch = asyncio.ensure_future(work(going)), asyncio.ensure_future(cancel.wait())
        await asyncio.wait({crew, watch}, return_when=asyncio.FIRST_COMPLETED)
        for task in (crew, watch):
            task.cancel()
        await asyncio.gather(crew, watch, return_exceptions=True)
    if not crew.cancelled():
        crew.result()
    return crew.cancelled()


@dataclass
class _Run:
    project: Project
    fetcher: "Fetcher"
    tell: Tell
    total: int
    skipped: int
    offline: bool = False
    by_state: Counter[str] = field(default_factory=Counter)
    kept: int = 0
    running: int = 0
    began: float = field(default_factory=time.monotonic)
    # While no server at all has answered, it is open whether theirs or ours is the fault.
    reached: bool = False
    unreached: "list[tuple[str, FetchedPage]]" = field(default_factory=list)

    async def through(self, to_fetch: tuple[str, ...], concurrency: int, going: asyncio.Event) -> None:
        """Fetch them all, so many side by side, while `going` is set."""
        waiting = iter(to_fetch)
        async with side_by_side() as group:
            for _ in range(max(1, concurrency)):
                group.create_task(self._work(waiting, going))
        if not self.offline:
            for _, found in self.unreached:
                self._take(found.page)

    async def _work(self, waiting: Iterator[str], going: asyncio.Event) -> None:
        for cited in waiting:
            await going.wait()
            if self.offline:
                return
            self.running += 1
            try:
                found = await self.fetcher.fetch(cited)
            finally:
                self.running -= 1
            self._came(cited, found)

    def _came(self, cited: str, found: "FetchedPage") -> None:
        if found.reached is False and found.page.state is PageState.DEAD and not self.reached:
            self.unreached.append((cited, found))
            hosts = {_host(one) for one, _ in self.unreached}
            self.offline = len(hosts) >= HOSTS_BEFORE_OFFLINE
            return
        self.reached = self.reached or bool(found.reached)
        self._take(found.page)

    def _take(self, page: Page) -> None:
        change = pages.take_in(self.project, page)
        self.by_state[page.state.value] += 1
        self.kept += change is None
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
            "kept": self.kept,
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
    """Take in the pages of a folder; the last line tells what came, and of each problem where and why.

    It is cancelled and paused as fetching is. Refusal when the folder or its index cannot be read at all.
    """
    from annotator.exchange.pages import folder as folders
    from annotator.exchange.pages.worker import ReadingProcess

    entries, problems = folders.entries(folder)
    cited = pages.given(project).keys() | pages.cited(project).keys()
    by_state: Counter[str] = Counter()
    kept = uncited = 0
    line: Line = {}

    async def through(going: asyncio.Event) -> None:
        nonlocal kept, uncited, line
        for number, entry in enumerate(entries, 1):
            await going.wait()
            found = await folders.page_of(entry, worker)
            if isinstance(found, Page):
                kept += pages.take_in(project, found, "import page") is None
                uncited += found.url not in cited
                by_state[found.state.value] += 1
            else:
                problems.append(found)
            line = {
                "event": "progress", "things": "pages", "done": number, "total": len(entries),
                "by_state": dict(by_state), "kept": kept, "uncited": uncited,
            }  # fmt: skip
            tell(line)

    async with ReadingProcess() as worker:
        cancelled = await _unless_cancelled(through, listen)
    empty = {"done": 0, "total": 0, "by_state": {}, "kept": 0, "uncited": 0}
    state = "cancelled" if cancelled else "done"
    return empty | line | {"event": "ended", "state": state, "problems": [str(one) for one in problems]}


def words(line: Line) -> list[str]:
    """The last line as a person reads it."""
    said = [f"{line['done']:,} of {line['total']:,} pages ({line['state']})."]
    if line["by_state"]:
        said.append(pages.summary(line["by_state"]))
    if line.get("skipped"):
        said.append(f"{counted(line['skipped'], 'was', 'were')} already stored and not fetched again.")
    if line["kept"]:
        said.append(f"Of {line['kept']:,} the earlier text was kept, because the new one is empty.")
    if line.get("uncited"):
        said.append(f"{counted(line['uncited'], 'is', 'are')} not cited by any claim.")
    return said + ([line["cause"]] if line.get("cause") else [])


@contextmanager
def _alone(project: Project) -> Iterator[None]:
    """Only one run at a time fetches for a project; one that died leaves the lock free."""
    from annotator.storage.holding import alone

    busy = Refusal("Pages are being fetched for this project already.", "Wait for that, or cancel it first.")
    with alone(project.path, "fetching", busy):
        yield
