"""Papers collected from arXiv: one request at a time, three seconds apart, each answer stored before the next one."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from urllib.parse import urlencode

from annotator import __version__
from annotator.domain.common import Refusal, now, sha256
from annotator.domain.material.item import CatalogueWork
from annotator.domain.texts.identifier import work_named
from annotator.exchange.eprints.assembling import Unfit, ending
from annotator.exchange.eprints.building import Rules, read_section
from annotator.exchange.eprints.folder import (
    FEEDS,
    LARGEST_EPRINT,
    WORKS,
    Collection,
    Feed,
    ListedPaper,
    eprint_stem,
    read_feed,
)
from annotator.exchange.pages.fetching import Download, Fetcher, FetchLimits, HostTurns

API = "https://export.arxiv.org/api/query"
# The day of arXiv's first paper.
FIRST = date(1991, 8, 1)

GAP_S = 3.0
A_PAGE, MOST_WORKS, IDS_AT_ONCE, TITLES_PER_WORK = 1000, 30_000, 100, 5
TRIES, FIRST_REST_S, LONGEST_REST_S = 5, 5.0, 600.0
BUSY = (0, 429, 500, 502, 503, 504)
AGENT = f"Goldsmith/{__version__} (collects papers by arXiv's API, one request every {GAP_S:.0f} seconds)"
LIMITS = FetchLimits(size=LARGEST_EPRINT, seconds=600.0)
Tell = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class ArxivHosts:
    api: str = API
    eprints: str = "https://export.arxiv.org/e-print"


@dataclass(frozen=True, slots=True)
class CollectionQuery:
    """Papers of categories whose first version was submitted on these days, both included (GMT).

    `titles`: works whose entry has no arXiv id are searched by title, one request each.
    """

    categories: tuple[str, ...]
    first: date
    last: date
    titles: bool = False

    def of(self, category: str) -> str:
        return f"cat:{category} AND submittedDate:[{self.first:%Y%m%d}0000 TO {self.last:%Y%m%d}2359]"


@dataclass(slots=True)
class Collected:
    """The numbers of listed papers, of fitting ones and of requests, and the missing answers with their causes."""

    candidates: int = 0
    fitting: int = 0
    eprints: int = 0
    asked: int = 0
    missing: list[str] = field(default_factory=list)


def polite_fetcher(turns: HostTurns, *, allow_private: bool = False) -> Fetcher:
    return Fetcher(allow_private=allow_private, bounds=LIMITS, hosts=turns, agent=AGENT)


class Collector:
    """One collection into a folder; it continues where an earlier one ended."""

    def __init__(
        self,
        collection: Collection,
        fetcher: Fetcher,
        tell: Tell,
        hosts: ArxivHosts | None = None,
        page: int = A_PAGE,
    ) -> None:
        self.collection, self.fetcher, self.tell = collection, fetcher, tell
        self.hosts, self.page = hosts or ArxivHosts(), page
        self.collected = Collected()

    async def collect(self, query: CollectionQuery, rules: Rules) -> Collected:
        """List the papers, download the e-prints of those that meet the rules, and look up the works they cite."""
        for category in query.categories:
            await self._list(query, category)
        candidates = self.collection.candidates()
        fitting = [candidate for candidate in candidates if not rules.against(candidate)]
        self.collected.candidates, self.collected.fitting = len(candidates), len(fitting)
        for number, paper in enumerate(fitting, 1):
            self.tell("taking e-prints", number, len(fitting))
            await self._take_eprint(paper)
        await self._look_up(fitting, query, rules)
        return self.collected

    async def _list(self, query: CollectionQuery, category: str) -> None:
        start, total = 0, 1
        while start < total:
            parameters = {
                "search_query": query.of(category), "start": start, "max_results": self.page,
                "sortBy": "submittedDate", "sortOrder": "ascending",
            }  # fmt: skip
            name = f"{FEEDS}/{category}-{query.first:%Y%m%d}-{query.last:%Y%m%d}-{start:05}.xml"
            feed = await self._feed(f"{self.hosts.api}?{urlencode(parameters)}", name, begun=start > 0)
            if feed is None or (not feed.papers and start < feed.total):
                self.collected.missing.append(f"the list of {category} from {start:,} on")
                return
            total, start = feed.total, start + len(feed.papers)
            self.tell(f"listing {category}", start, total)
            if total > MOST_WORKS:
                raise Refusal(
                    f"arXiv lists {total:,} papers of {category} in these days, and gives no more than {MOST_WORKS:,}.",
                    "Ask for fewer days at a time; the folder stays the same.",
                )

    async def _feed(self, address: str, name: str, *, begun: bool = False) -> Feed | None:
        """A reply of the service, from the folder if stored there; None if it did not come.

        An empty page of an unfinished list is requested again later, as arXiv advises.
        """
        received = self.collection.manifest.requests.get(address)
        if received is not None and self.collection.has(address):
            return read_feed((self.collection.path / received.file).read_bytes(), received.file)
        for turn in range(TRIES):
            answer = await self._fetch(address)
            if answer.status != 200:
                return None
            feed = read_feed(answer.content, name)
            if feed.papers or not (feed.total or begun):
                self.collection.keep(address, 200, now(), name, answer.content)
                return feed
            self.fetcher.hosts.rest("", FIRST_REST_S * 2**turn)
        return Feed(feed.total or 1, ())

    async def _take_eprint(self, paper: ListedPaper) -> None:
        address = f"{self.hosts.eprints}/{paper.key}"
        if not self.collection.has(address):
            answer = await self._fetch(address)
            if answer.status in BUSY:
                self.collected.missing.append(
                    f"the e-print of {paper.key}: {answer.cause or f'status {answer.status}'}"
                )
                return
            file = eprint_stem(paper) + ending(answer.content) if answer.status == 200 else ""
            self.collection.keep(address, answer.status, now(), file, answer.content if file else b"")
        self.collected.eprints += bool(self.collection.manifest.requests[address].file)

    async def _look_up(self, papers: Sequence[ListedPaper], query: CollectionQuery, rules: Rules) -> None:
        """Look up the works that accepted sections cite by an arXiv id, and on request others by their title."""
        ids, titles = self._lacking(papers, rules)
        for batch in (ids[at : at + IDS_AT_ONCE] for at in range(0, len(ids), IDS_AT_ONCE)):
            self.tell("looking up works", 0, 0)
            await self._take_works(batch)
        searched = titles if query.titles else ()
        for number, title in enumerate(searched, 1):
            self.tell("looking up titles", number, len(searched))
            parameters = {"search_query": f'ti:"{title}"', "max_results": TITLES_PER_WORK}
            await self._work_feed(f"{self.hosts.api}?{urlencode(parameters)}")

    def _lacking(self, papers: Sequence[ListedPaper], rules: Rules) -> tuple[list[str], list[str]]:
        """The arXiv ids, and the titles without one, of works that the folder does not hold."""
        works = self.collection.works()
        ids: dict[str, None] = {}
        titles: dict[str, None] = {}
        for paper in papers:
            try:
                section = read_section(self.collection, paper, rules)
            except Unfit:
                continue
            for entry in section.cited:
                named = work_named(entry.link) if entry.link else None
                if named is not None and named not in works:
                    ids[named.value] = None
                elif named is None and entry.title and not works.resolved(entry, "", paper.id)[0].link:
                    titles[plain_words(entry.title)] = None
        return sorted(ids), sorted(titles)

    async def _take_works(self, ids: Sequence[str]) -> None:
        """Download works by their ids. If one id is invalid, arXiv refuses all of them, so they are requested in
        halves.
        """
        parameters = {"id_list": ",".join(ids), "max_results": len(ids)}
        if await self._work_feed(f"{self.hosts.api}?{urlencode(parameters)}") or len(ids) == 1:
            return
        half = len(ids) // 2
        await self._take_works(ids[:half])
        await self._take_works(ids[half:])

    async def _work_feed(self, address: str) -> bool:
        """Store arXiv's entries of works; whether it answered. A refused query is not repeated."""
        if self.collection.has(address):
            return self.collection.manifest.requests[address].status == 200
        answer = await self._fetch(address)
        if answer.status in BUSY:
            self.collected.missing.append(f"works: {answer.cause or f'status {answer.status}'}")
            return True
        try:
            read_feed(answer.content, WORKS)
        except Refusal:
            self.collection.keep(address, answer.status if answer.status != 200 else 400, now())
            return False
        self.collection.keep(address, 200, now(), f"{WORKS}/{sha256(address)[:16]}.xml", answer.content)
        return True

    async def _fetch(self, address: str) -> Download:
        answer, requests = await patiently(self.fetcher, address)
        self.collected.asked += requests
        return answer


async def patiently(fetcher: Fetcher, address: str) -> tuple[Download, int]:
    """The download of an address, and the number of requests it took.

    A busy server is asked again after the wait that it requests, or after ever longer ones.
    """
    for turn in range(TRIES):
        answer = await fetcher.download(address)
        if answer.status not in BUSY:
            break
        retry_s = float(answer.retry_after) if answer.retry_after.strip().isdecimal() else 0.0
        fetcher.hosts.rest("", min(max(retry_s, FIRST_REST_S * 2**turn), LONGEST_REST_S))
    return answer, turn + 1


def checked_categories(named: Iterable[str]) -> tuple[str, ...]:
    """arXiv's categories, each once; Refusal of a name that cannot be one."""
    result = tuple(dict.fromkeys(one.strip() for one in named))
    odd = [one for one in result if not all(part.replace("-", "").isalpha() for part in one.split(".", 1))]
    if odd or not result:
        raise Refusal(
            f"“{odd[0][:40] if odd else ''}” is no category of arXiv.", "Write it as cs.CL or hep-th."
        )
    return result


def plain_words(title: str) -> str:
    """A title as arXiv's search takes it: its words, without characters of the query syntax."""
    return " ".join("".join(c if c.isalnum() else " " for c in title).split())[:300]


def address(api: str, query: str, count: int, before: date | None) -> str:
    """The address of a search for works older than a day that share words with a query, the best first."""
    sought = " OR ".join(f"all:{word}" for word in plain_words(query).split())
    if before is not None:
        days = f"[{FIRST:%Y%m%d}0000 TO {before - timedelta(days=1):%Y%m%d}2359]"
        sought = f"({sought}) AND submittedDate:{days}"
    return f"{api}?{urlencode({'search_query': sought, 'max_results': count, 'sortBy': 'relevance'})}"


def works_of(content: bytes) -> list[CatalogueWork]:
    """The works of a reply, in its order; Refusal if it is no feed."""
    return [paper.work for paper in read_feed(content, "arXiv's reply").papers]
