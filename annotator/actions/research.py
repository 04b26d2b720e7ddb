"""Search for the works that a report may rest on: in a collection or arXiv, up to the day of the item's own paper."""

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from itertools import count
from math import fsum
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlencode

from sqlalchemy import select

from annotator.actions.items import materials, pages
from annotator.actions.judges import judges
from annotator.actions.material import lookups, responding
from annotator.actions.material.responding import ResearchSettings, ResponseRun, WrittenResponse
from annotator.actions.project.file import Progress, Project, page_hash, record
from annotator.actions.runs.journal import RunJournal
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.runs.run_kind import RunWork
from annotator.actions.runs.run_records import RunEvent
from annotator.domain.common import Change, Refusal, counted, grouped, new_id, now, sha256, storable
from annotator.domain.judges.judge import Call, Judge, JudgeKind, Status
from annotator.domain.judges.protocol import Answer, Ask, Case, Material, Protocol, Verdicts
from annotator.domain.kinds.artifact import Kind
from annotator.domain.material.extract import ResponsePart
from annotator.domain.material.item import CatalogueWork, Page, PageState
from annotator.domain.texts.estimate import TextRanking
from annotator.domain.texts.identifier import normal_title, work_named
from annotator.exchange.eprints import collecting, folder
from annotator.exchange.eprints.building import Rules
from annotator.exchange.eprints.collecting import (
    GAP_S,
    Collected,
    CollectionQuery,
    Collector,
    checked_categories,
    patiently,
    polite_fetcher,
)
from annotator.exchange.eprints.folder import MANIFEST, Collection, read_corpus
from annotator.exchange.folders import read_json
from annotator.exchange.formats.bibliographies import Work, works_of
from annotator.exchange.pages.fetching import HostTurns
from annotator.exchange.table_files import READERS, Table, read_table
from annotator.protocols.registry import reference_system
from annotator.storage.tables import PAGE, put


@dataclass(frozen=True, slots=True)
class OwnPaper:
    """The paper of an item, by all its keys, and the day before which other works must have appeared."""

    keys: frozenset[str] = frozenset()
    day: date | None = None

    @classmethod
    def of(cls, material: Material) -> "OwnPaper":
        """The item's sources with an identifier are its own paper; the earliest of their days counts."""
        known = [source for source in material.sources if source.identifier]
        addresses = [material.item.key, *(source.identifier for source in known)]
        keys = {str(named) for address in addresses if (named := work_named(address)) is not None}
        keys |= {f"title {normal_title(source.title)}" for source in known}
        # If only a month or a year is known, its first day.
        days = [date.fromisoformat(f"{one.published}-01-01"[:10]) for one in known if one.published]
        return cls(frozenset(keys), min(days, default=None))

    def lets_through(self, work: CatalogueWork) -> bool:
        """Whether a work is another one, and certainly older."""
        own = {work.key, f"title {normal_title(work.title)}"} & self.keys
        return not own and (self.day is None or work.is_older(self.day))


class CorpusSearch:
    def __init__(self, path: str) -> None:
        corpus = read_corpus(Path(path))
        self.name, self.works = corpus.name, corpus.works

    @cached_property
    def _ranking(self) -> TextRanking:
        """Built on first use: an estimate needs none."""
        return TextRanking(f"{work.title}\n{work.abstract}" for work in self.works)

    async def search(self, query: str, count: int, paper: OwnPaper) -> Sequence[CatalogueWork]:
        return self.nearest(query, count, paper)

    def nearest(self, query: str, count: int, paper: OwnPaper) -> Sequence[CatalogueWork]:
        ranked = (self.works[place] for place in self._ranking.ranked(query))
        return [work for work in ranked if paper.lets_through(work)][:count]

    def most(self, number: int, count: int, paper: OwnPaper) -> Sequence[CatalogueWork]:
        """As many works as the query of that number may find at most, different ones for each."""
        fitting = [work for work in self.works if paper.lets_through(work)]
        return fitting[number * count : (number + 1) * count]


# arXiv's requested pause between two requests.
SEARCH_GAP_S = 3.0


class SearchFailed(Exception):
    """A service did not answer a query; the message says why."""


class ArxivSearch:
    """arXiv, asked once for each query; replies are stored in the project, so that a run can be resumed offline."""

    name = "arXiv"

    def __init__(self, project: Project, api: str = collecting.API, *, allow_private: bool = False) -> None:
        self._project, self._api, self._allow_private = project, api, allow_private
        self._turns = HostTurns(at_once=1, pause_s=SEARCH_GAP_S, together=True)

    async def search(self, query: str, count: int, paper: OwnPaper) -> Sequence[CatalogueWork]:
        address = collecting.address(self._api, query, count, paper.day)
        page = pages.page(self._project, address)
        reply = page.text if page is not None and page.text else await self._fetch(address)
        return [work for work in collecting.works_of(reply.encode()) if paper.lets_through(work)]

    async def _fetch(self, address: str) -> str:
        async with polite_fetcher(self._turns, allow_private=self._allow_private) as fetcher:
            answer, _ = await patiently(fetcher, address)
        if answer.status != 200:
            raise SearchFailed(f"arXiv did not answer: {answer.cause or f'status {answer.status}'}.")
        reply = storable(answer.content.decode("utf-8", "replace"))
        try:
            collecting.works_of(reply.encode())
        except Refusal as refusal:
            raise SearchFailed(refusal.happened) from None
        page = Page(
            url=pages.normal(address), state=PageState.OK, text=reply, final_url=address, fetched_at=now(),
            content_type="application/atom+xml", sha256=sha256(reply),
        )  # fmt: skip
        pages.take_in(self._project, page, "search works")
        return reply

    def most(self, number: int, count: int, _paper: OwnPaper) -> Sequence[CatalogueWork]:
        """Works as long as most, different ones for each query; arXiv is not asked."""
        names = (f"made {number}.{place}" for place in range(count))
        return [CatalogueWork(name, name, MADE) for name in names]


MADE = "word " * 180
"""As long as an abstract."""


def query(categories: Sequence[str], first: str, last: str, *, titles: bool = False) -> CollectionQuery:
    """The query; raises Refusal for days that are invalid or in the wrong order."""
    try:
        begin, end = date.fromisoformat(first), date.fromisoformat(last)
    except ValueError:
        raise Refusal("These are no days.", "Write them as 2025-04-08.") from None
    if end < begin:
        raise Refusal("The last day lies before the first.", "Exchange them.")
    return CollectionQuery(checked_categories(categories), begin, end, titles)


async def collect(folder: Path, query: CollectionQuery, rules: Rules, tell: Progress) -> Collected:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(
            f"“{folder.name}” cannot be made: {error.strerror}.", "Choose another folder."
        ) from None
    async with polite_fetcher(HostTurns(at_once=1, pause_s=GAP_S, together=True)) as fetcher:
        return await Collector(Collection.at(folder), fetcher, tell).collect(query, rules)


def words(result: Collected) -> list[str]:
    return [
        f"{result.candidates:,} listed, {result.fitting:,} within the rules, {result.eprints:,} with an e-print; "
        f"{counted(result.asked, 'request')} sent.",
        *(f"Missing: {one}" for one in result.missing),
    ]


NO_CORPUS = Refusal(
    "The baseline asks no service, so that it has nothing to search in.", "Name a collection of works."
)


class ResearchRun(ResponseRun):
    """A run of the reference system. Its responses list the works that were given to the writer."""

    doing, reply_tokens, at_most, cut_by_item = "researching", 120, True, True
    service: ClassVar[type[ArxivSearch]] = ArxivSearch
    """The service searched if no collection is named."""

    def read(self, project: Project, order: RunRequest) -> tuple[Judge, Protocol]:
        """The judge whose endpoint writes, and the steps as a protocol; a collection is read at once."""
        judge, protocol = super().read(project, order)
        how = self._manner
        self._system_settings = (
            how.system if isinstance(how, ResearchSettings) else reference_system.SystemSettings()
        )
        self._searches = not self._system_settings.oracle
        self._corpus = CorpusSearch(order.corpus) if order.corpus and self._searches else None
        if judge.kind == JudgeKind.BASELINE and self._searches and self._corpus is None:
            raise NO_CORPUS
        self._where = self._corpus or self.service(project)
        self._foreseen = False
        return judge, replace(
            protocol, title="Reference system", citation=reference_system.CITATION, baseline=self._calculated
        )

    def outlook(self) -> RunWork:
        """The work it would amount to now; no service is asked."""
        self._foreseen = True
        return super().outlook()

    def writer(self) -> Judge:
        return judges.stored(self.project, self.judge) if self._by_rule() else super().writer()

    def asker(self) -> Judge:
        return self.judge if self._by_rule() else super().asker()

    def manner(self, parameters: str = "") -> str:
        """The prompts, the number of steps, and where works were searched."""
        how = self._system_settings
        prompts = ("none, baseline",) if self._by_rule() else self._manner.prompts
        rounds = f"rounds {how.rounds}, queries {how.queries}, works a query {how.per_query}"
        settings = (
            [f"kept {how.keep}", f"searched in {self._where.name}"]
            if self._searches
            else [f"given: {how.mode}"]
        )
        if self._searches and not self._by_rule():
            settings.insert(0, rounds)
        settings += [f"words {how.words}"] if how.words else []
        return responding.manner_words(prompts, parameters, ", ".join(settings))

    def ended(self, line: RunEvent, journal: RunJournal) -> RunEvent:
        return {
            **super().ended(line, journal),
            "written": responding.written_in(self.project, journal.run_id),
            "departures": list(reference_system.DIFFERENCES),
        }

    @staticmethod
    def words(line: RunEvent) -> list[str]:
        return [*ResponseRun.words(line), *map(_works_words, line["written"])]

    def _by_rule(self) -> bool:
        return self.judge.kind == JudgeKind.BASELINE

    async def made(self, case: Case, material: Material, ask: Ask) -> WrittenResponse | Answer:
        """A section from works searched or given, with its list, its works' pages and the cost of each step."""
        settings, question = self._system_settings, material.item.question
        paper, log, began = OwnPaper.of(material), StepLog(ask), time.monotonic()
        seed = f"{material.item.key}/{case.trial}"
        if self._searches:
            try:
                written = await reference_system.written(
                    question, settings, self._search(paper), ask, log, seed
                )
            except SearchFailed as why:
                return Answer(Status.API_ERROR, cause=str(why))
        else:
            works = reference_system.important_works(material, settings.oracle)
            if isinstance(works, str):
                return Answer(Status.SKIPPED, cause=works)
            written = await reference_system.section_on(question, works, settings, ask, log)
        if isinstance(written, Answer):
            return written
        return self._details(written, paper, log, time.monotonic() - began)

    def _calculated(self, case: Case) -> Verdicts:
        """The same without any model: the works that share most words with the task."""
        material = self._materials.pop(case.response.id)
        paper, began, settings = OwnPaper.of(material), time.monotonic(), self._system_settings
        works: Sequence[CatalogueWork] | str = (
            self._corpus.nearest(material.item.question, settings.keep, paper)
            if self._corpus
            else reference_system.important_works(material, settings.oracle)
        )
        cause = works if isinstance(works, str) else "" if works else reference_system.NONE_FOUND
        if isinstance(works, str) or cause:
            return self.took(case, Answer(Status.SKIPPED, cause=cause))
        written = reference_system.baseline(works)
        return self.took(case, self._details(written, paper, StepLog(None), time.monotonic() - began))

    def _search(self, paper: OwnPaper) -> reference_system.Search:
        """The search function; for an estimate, as many works as could be found, different ones for each query."""
        numbers = count()

        async def search(query: str, most: int) -> Sequence[CatalogueWork]:
            if self._foreseen:
                return self._where.most(next(numbers), most, paper)
            return await self._where.search(query, most, paper)

        return search

    def _details(
        self, written: reference_system.WrittenSection, paper: OwnPaper, log: "StepLog", seconds: float
    ) -> WrittenResponse:
        """The stored details of a section: wall time, if nothing came from the journal, and the cost of all calls."""
        fields: dict[str, Any] = {"latency_s": None if log.reused else seconds, "cost_usd": log.cost()}
        if self._searches:
            fields["cutoff"] = paper.day and paper.day - timedelta(days=1)
        section = written.section
        return WrittenResponse(
            section.text,
            {ResponsePart.REFERENCES: section.references()},
            fields,
            {"works": written.counts(), "before": str(paper.day or ""), "steps": log.steps},
            [_page(work) for work in section.works if work.abstract and not work.key.startswith("title ")],
        )


class StepLog:
    """The cost of each step: seconds, calls, tokens and US dollars, by the calls that an `Ask` has made."""

    def __init__(self, ask: Any) -> None:
        # An `Ask` that only weighs questions has made no calls.
        self._made: list[Call] = getattr(ask, "calls", [])
        self.reused: list[Call] = getattr(ask, "reused", [])
        self.steps: list[dict[str, Any]] = []

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """A context manager for one step."""
        began, made, reused = time.monotonic(), len(self._made), len(self.reused)
        yield
        calls = self._made[made:]
        step = {
            "step": name,
            "seconds": round(time.monotonic() - began, 3),
            "calls": len(calls),
            "reused": len(self.reused) - reused,
            "cost_usd": _cost(calls),
        }
        for kind in ("tokens_input", "tokens_output"):
            known = [getattr(call, kind) for call in calls]
            step[kind] = None if None in known else sum(known)
        self.steps.append(step)

    def cost(self) -> float | None:
        """The cost of all calls, including failed ones and those of an earlier session."""
        return _cost([*self._made, *self.reused])


def _cost(calls: Sequence[Call]) -> float | None:
    """The sum; None if one is unknown."""
    bills = [call.bill_usd for call in calls]
    return None if None in bills else fsum(bill or 0.0 for bill in bills)


def _page(work: CatalogueWork) -> Page:
    """Title and abstract of a work as the project stores them, so that it can be judged without a network."""
    return Page(
        url=work.key,
        state=PageState.OK,
        text=work.abstract,
        title=work.title,
        final_url="",
        content_type="abstract",
        fetched_at=now(),
        sha256=sha256(work.abstract),
    )


def _works_words(line: dict[str, Any]) -> str:
    works = line["works"]
    parts = [f"{works[name]:,} {name}" for name in ("found", "filtered", "given") if works[name] is not None]
    odd = {
        "kept_without_verdict": "kept without a verdict", "ranked_without_verdict": "ranked by the search",
        "numbers_removed": "false numbers removed",
    }  # fmt: skip
    parts += [f"{works[name]:,} {words}" for name, words in odd.items() if works[name]]
    if works["found"] is not None and not line["before"]:
        parts.append("of any date, since that of the item's paper is not known")
    return f"Item {line['item']}, trial {line['trial']}: works {', '.join(parts)}."


SCHEMES = ("arxiv", "doi")
# At most this many problems are listed one by one.
MOST_LISTED = 20


@dataclass(frozen=True, slots=True)
class KnownWork:
    """A work, and how often it had been cited by a day, if known."""

    work: CatalogueWork
    citations: int | None = None
    counted_on: date | None = None


@dataclass(frozen=True, slots=True)
class NamedWorks:
    """The works on arXiv, or with a DOI, that a project names, by address; and those missing something."""

    titles: Mapping[str, str]
    without_abstract: tuple[str, ...]
    without_citations: tuple[str, ...]

    def words(self) -> str:
        if not self.titles:
            return "No work on arXiv or with a DOI is named yet."
        lacks = f"{len(self.without_abstract):,} without an abstract, {len(self.without_citations):,} without citations"
        return f"{counted(len(self.titles), 'work')} named by reports and gold: {lacks}."


@dataclass(frozen=True, slots=True)
class CompletedWorks:
    """How many works got an abstract and citations, how many others were in the input, and what went wrong."""

    abstracts: int
    citations: int
    elsewhere: int
    problems: tuple[str, ...] = ()

    def words(self) -> list[str]:
        sentences = [
            f"New: abstracts of {counted(self.abstracts, 'work')}, citations of {counted(self.citations, 'work')}.",
            *(
                [f"{counted(self.elsewhere, 'work')} left out: not named in this project."]
                * bool(self.elsewhere)
            ),
        ]
        more = len(self.problems) - MOST_LISTED
        return [*sentences, *self.problems[:MOST_LISTED], *([f"and {more:,} more"] if more > 0 else [])]


def named(project: Project) -> NamedWorks:
    titles: dict[str, str] = {}
    material = materials.MaterialRequest((Kind.EVIDENCE,), texts=False)
    for at_hand in materials.each(project, material, materials.item_ids(project)):
        for address, title in _named_by(at_hand):
            result = work_named(address) if address else None
            if result is not None and result.scheme in SCHEMES:
                titles[str(result)] = titles.get(str(result)) or title
    question = select(PAGE.c.url, PAGE.c.text != "", PAGE.c.citations.is_not(None))
    here = {url: (text, cited) for url, text, cited in project.query(question)}
    return NamedWorks(
        titles,
        tuple(one for one in titles if not here.get(one, (False, False))[0]),
        tuple(one for one in titles if not here.get(one, (False, False))[1]),
    )


def _named_by(at_hand: materials.MaterialAtHand) -> Iterator[tuple[str, str]]:
    listed = [*at_hand.own.units(Kind.EVIDENCE)]
    for response in at_hand.responses:
        listed += [*response.units(Kind.EVIDENCE), *response.units(ResponsePart.REFERENCES)]
        for sentence in response.units(ResponsePart.SENTENCES):
            yield from ((cite.address, cite.title) for cite in sentence.cites)
    yield from ((one.identifier, one.text) for one in listed)


def complete(
    project: Project, known: Iterable[KnownWork], problems: Sequence[str] = (), where: str = ""
) -> CompletedWorks:
    """Store data on the works that the project names: missing abstracts, and the newest citations."""
    works = grouped((work.work.key, work) for work in known)
    titles = named(project).titles
    abstracts = citations = 0
    with project.store.write() as db:
        for address in works.keys() & titles.keys():
            result = db.execute(select(PAGE).where(PAGE.c.url == address)).mappings().first()
            before = dict(result) if result is not None else _blank(address, titles[address])
            row = _completed(before, works[address])
            if row != before:
                abstracts += row["text"] != before["text"]
                citations += row["citations_on"] != before["citations_on"]
                put(db, PAGE, row)
        if abstracts or citations:
            image = {"from": where, "abstracts": abstracts, "citations": citations}
            record(project, db, Change("page", new_id(), "complete works", after=image))
    return CompletedWorks(abstracts, citations, len(works.keys() - titles.keys()), tuple(problems))


def _blank(address: str, title: str) -> dict[str, Any]:
    return {
        "url": address, "state": PageState.OK.value, "text": "", "title": title, "final_url": "",
        "content_type": "abstract", "cause": "", "fetched_at": now(), "by_reader": "", "citations": None,
        "citations_on": None, "sha256": page_hash(""),
    }  # fmt: skip


def _completed(before: dict[str, Any], known: Sequence[KnownWork]) -> dict[str, Any]:
    """A work with its missing fields filled in: an existing text stays, since verdicts rest on it."""
    row = dict(before)
    if not row["text"] and (
        abstract := next((work.work.abstract for work in known if work.work.abstract), "")
    ):
        title = next((work.work.title for work in known if work.work.title), "")
        row |= {
            "text": abstract, "sha256": page_hash(abstract), "state": PageState.OK.value, "cause": "",
            "title": title or row["title"], "content_type": "abstract", "fetched_at": now(),
        }  # fmt: skip
    counts = [
        (work.counted_on, work.citations) for work in known if work.counted_on and work.citations is not None
    ]
    # Of several records of one day the larger counts: a published version may have the citations.
    newest = max(counts, default=None)
    if newest is not None and (row["citations_on"] is None or newest[0] >= row["citations_on"]):
        row |= {"citations_on": newest[0], "citations": newest[1]}
    return row


COUNTS = ("cited_by_count", "counted_on")
TABLES = READERS.keys() - {".json"}
AT_ONCE, WORKS_GAP_S = 100, 3.0


def from_place(project: Project, path: Path, progress: Progress = lambda *_: None) -> CompletedWorks:
    """Complete works from a table, a file with replies of OpenAlex, or a folder with either; no network."""
    progress("reading works", 0, 0)
    problems: list[str] = []
    known = list(_in_place(path, problems))
    if not known and not problems:
        raise Refusal(
            f"“{path.name}” holds no works.",
            "Choose a table with identifier and abstract or cited_by_count, replies of OpenAlex, or a folder of them.",
        )
    return complete(project, known, problems, path.name)


def _in_place(path: Path, problems: list[str]) -> Iterator[KnownWork]:
    places = [path]
    if path.is_dir():
        yield from map(KnownWork, Collection.at(path).all_works())
        replies = sorted(one for one in path.rglob("*.json") if one.name != MANIFEST)
        places = replies + sorted(one for one in path.glob("[!.~]*") if one.suffix.casefold() in TABLES)
    for place in places:
        if place.suffix.casefold() == ".json":
            day = datetime.fromtimestamp(place.stat().st_mtime, UTC).date()
            yield from (_known(work, day) for work in works_of(read_json(place)))
        else:
            yield from _rows(read_table(place, ("identifier",)), problems)


def _known(work: Work, day: date) -> KnownWork:
    reference = work.reference
    known = CatalogueWork(
        reference.identifier, reference.text, work.abstract, work.published, reference.authors
    )
    return KnownWork(known, work.citations, day)


def _rows(table: Table, problems: list[str]) -> Iterator[KnownWork]:
    for index, row in enumerate(table.rows):
        for work in folder.of_rows([row]):
            if not any(row.get(name) for name in COUNTS):
                yield KnownWork(work)
                continue
            try:
                count, day = int(float(row["cited_by_count"])), date.fromisoformat(row["counted_on"])
                if count < 0:
                    raise ValueError
            except (ValueError, KeyError, OverflowError):
                reason = "it has no number of citations with its day; it is left out."
                problems.append(str(table.problem(index, reason)))
                continue
            yield KnownWork(work, count, day)


def look_up(
    project: Project,
    progress: Progress = lambda *_: None,
    *,
    api: str = collecting.API,
    services: Sequence[str] = (),
    allow_private: bool = False,
) -> CompletedWorks:
    """Ask arXiv for missing abstracts, then OpenAlex for unknown citations; with pauses between requests."""
    lacking = named(project).without_abstract
    ids = [one.removeprefix("arxiv:") for one in lacking if one.startswith("arxiv:")]
    problems: list[str] = []
    first = complete(
        project,
        asyncio.run(_abstracts(ids, api, problems, progress, allow_private=allow_private)),
        (),
        "arXiv",
    )
    addresses = dict.fromkeys((*named(project).without_citations, *lacking))
    progress("looking up citations", 0, len(addresses))
    result = asyncio.run(lookups.look_up(project, addresses, services))
    problems += [f"{doi}: {cause}" for doi, cause in result.lacking.items()]
    works = [(address, result.of(address)) for address in addresses]
    known = [_under(address, *one) for address, one in works if one is not None]
    second = complete(project, known, problems, "OpenAlex")
    return CompletedWorks(first.abstracts + second.abstracts, second.citations, 0, tuple(problems))


def _under(address: str, work: Work, day: date) -> KnownWork:
    """A service's data under the requested address, whatever the service itself calls the work."""
    known = _known(work, day)
    return KnownWork(CatalogueWork(address, known.work.title, known.work.abstract), known.citations, day)


async def _abstracts(
    ids: Sequence[str], api: str, problems: list[str], progress: Progress, *, allow_private: bool
) -> list[KnownWork]:
    result: list[KnownWork] = []
    waiting = [list(ids[at : at + AT_ONCE]) for at in range(0, len(ids), AT_ONCE)]
    async with polite_fetcher(
        HostTurns(at_once=1, pause_s=WORKS_GAP_S, together=True), allow_private=allow_private
    ) as fetcher:
        while waiting:
            batch = waiting.pop(0)
            progress("looking up abstracts", len(result), len(ids))
            query = urlencode({"id_list": ",".join(batch), "max_results": len(batch)})
            answer, _ = await patiently(fetcher, f"{api}?{query}")
            try:
                result += map(KnownWork, collecting.works_of(answer.content))
            except Refusal as refusal:
                # If one id is invalid, arXiv refuses all of them.
                half = len(batch) // 2
                waiting[:0] = [batch[:half], batch[half:]] if half and answer.status == 400 else []
                if not half or answer.status != 400:
                    problems.append(f"arXiv: {answer.cause or refusal.happened}")
    return result
