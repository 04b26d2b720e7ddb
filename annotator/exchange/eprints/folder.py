"""The folder of collected papers: requests, received feeds and files, and which of its works an entry refers to."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree

from pydantic import BaseModel, ValidationError

from annotator import files
from annotator.domain.common import Refusal, grouped, sha256
from annotator.domain.material.extract import CitedEntry, RefusalStage
from annotator.domain.material.item import CatalogueWork
from annotator.domain.texts.identifier import Identifier, normal_title, work_named
from annotator.exchange.eprints.assembling import ON_ARXIV, Unfit
from annotator.exchange.folders import LARGEST_FILE, pretty, read_bytes, read_json, xml_tree
from annotator.exchange.formats.bibliographies import works_of
from annotator.exchange.table_files import read_table

FEEDS, EPRINTS, WORKS, WORKS_TABLE, MANIFEST = "feeds", "eprints", "works", "works.csv", "manifest.json"
LARGEST_EPRINT = 128 * 2**20
ENDINGS = (".tar.gz", ".gz", ".tar", ".tex", ".pdf", "")
_ATOM, _ARXIV = "{http://www.w3.org/2005/Atom}", "{http://arxiv.org/schemas/atom}"
_SEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"
_ID = re.compile(r"arxiv\.org/abs/(.+?)(v(\d+))?/?$")


@dataclass(frozen=True, slots=True)
class ListedPaper:
    """A paper in a feed: `version` is its latest, `published` the moment of its first."""

    id: str
    version: int
    title: str
    abstract: str
    published: str
    authors: tuple[str, ...] = ()
    comment: str = ""
    journal: str = ""
    doi: str = ""
    category: str = ""

    @property
    def work(self) -> CatalogueWork:
        authors = ", ".join(self.authors)
        return CatalogueWork(f"arxiv:{self.id}", self.title, self.abstract, self.published[:10], authors)

    @property
    def key(self) -> str:
        return f"{self.id}v{self.version}"


@dataclass(frozen=True, slots=True)
class Feed:
    total: int
    papers: tuple[ListedPaper, ...]


def read_feed(content: bytes, name: str) -> Feed:
    """The papers of a feed; Refusal if it is none, or reports an error."""
    again = "Remove it from the folder and collect again."
    try:
        root = xml_tree(content)
    except ValueError as error:
        raise Refusal(f"“{name}” is not a feed of arXiv: {error}.", again) from None
    if root.tag != f"{_ATOM}feed":
        raise Refusal(f"“{name}” is not a feed of arXiv.", again)
    errors = [
        element for element in root.iter(f"{_ATOM}entry") if "/api/errors" in _text(element, f"{_ATOM}id")
    ]
    if errors:
        raise Refusal(
            f"arXiv refused the query of “{name}”: {_text(errors[0], f'{_ATOM}summary')}.",
            "Correct the categories or the days.",
        )
    total = _text(root, f"{_SEARCH}totalResults")
    return Feed(int(total) if total.isdecimal() else 0, tuple(_papers(root)))


def _papers(root: ElementTree.Element) -> Iterator[ListedPaper]:
    for element in root.iter(f"{_ATOM}entry"):
        named = _ID.search(_text(element, f"{_ATOM}id"))
        if named is None:
            continue
        primary = element.find(f"{_ARXIV}primary_category")
        yield ListedPaper(
            id=named[1],
            version=int(named[3] or 1),
            title=_text(element, f"{_ATOM}title"),
            abstract=_text(element, f"{_ATOM}summary"),
            published=_text(element, f"{_ATOM}published"),
            authors=tuple(_text(author, f"{_ATOM}name") for author in element.iter(f"{_ATOM}author")),
            comment=_text(element, f"{_ARXIV}comment"),
            journal=_text(element, f"{_ARXIV}journal_ref"),
            doi=_text(element, f"{_ARXIV}doi"),
            category=primary.get("term", "") if primary is not None else "",
        )


def _text(element: ElementTree.Element, tag: str) -> str:
    """The words of a child element on one line; empty if there is none."""
    return " ".join((element.findtext(tag) or "").split())


class ReceivedFile(BaseModel, strict=True, extra="forbid", frozen=True, defer_build=True):
    """The result of a request: the file that holds it, if one came, with its hash; and when."""

    status: int
    at: str
    file: str = ""
    sha256: str = ""


class RequestList(BaseModel, strict=True, extra="forbid", defer_build=True):
    format: str = "goldsmith-collection-1"
    requests: dict[str, ReceivedFile] = {}


@dataclass(slots=True)
class Collection:
    path: Path
    manifest: RequestList

    @classmethod
    def at(cls, path: Path) -> "Collection":
        """The collection in a folder, which may be empty; Refusal if its list cannot be read."""
        place = path / MANIFEST
        if not place.exists():
            return cls(path, RequestList())
        try:
            return cls(path, RequestList.model_validate(read_json(place)))
        except ValidationError:
            raise Refusal(
                f"“{MANIFEST}” in “{path.name}” is not a list of requests of this program.",
                "Choose the folder that was collected, or another one.",
            ) from None

    @classmethod
    def is_at(cls, path: Path) -> bool:
        return (path / FEEDS).is_dir()

    def has(self, address: str) -> bool:
        """Whether a request was answered, and its file is unchanged."""
        received = self.manifest.requests.get(address)
        if received is None or not received.file:
            return received is not None
        place = self.path / received.file
        return place.is_file() and sha256(place.read_bytes()) == received.sha256

    def keep(self, address: str, status: int, at: datetime, file: str = "", content: bytes = b"") -> None:
        if file:
            place = self.path / file
            place.parent.mkdir(parents=True, exist_ok=True)
            files.save(place, content)
        received_file = ReceivedFile(
            status=status, at=at.isoformat(), file=file, sha256=sha256(content) if file else ""
        )
        self.manifest.requests[address] = received_file
        files.save(self.path / MANIFEST, pretty(self.manifest.model_dump(mode="json")))

    def candidates(self) -> list[ListedPaper]:
        """The papers of all feeds, each once, in its latest version seen."""
        if not self.is_at(self.path):
            raise Refusal(
                f"“{self.path.name}” holds no papers collected from arXiv: it has no folder “{FEEDS}”.",
                "Choose the folder that was collected.",
            )
        result: dict[str, ListedPaper] = {}
        for paper in self._papers(FEEDS):
            if paper.id not in result or paper.version > result[paper.id].version:
                result[paper.id] = paper
        return sorted(result.values(), key=lambda one: (one.published, one.id))

    def eprint(self, paper: ListedPaper) -> bytes:
        """The e-print of a paper as received; Unfit if there is none."""
        stem = eprint_stem(paper)
        place = next((path for ending in ENDINGS if (path := self.path / (stem + ending)).is_file()), None)
        if place is None:
            statuses = (
                file.status
                for address, file in self.manifest.requests.items()
                if address.endswith(f"/{paper.key}")
            )
            status = next(statuses, 0)
            reason = f"arXiv gave no e-print ({status})." if status else "Its e-print was not collected."
            raise Unfit(RefusalStage.SOURCE, reason)
        content = read_bytes(place, place.name, LARGEST_EPRINT)
        if len(content) > LARGEST_EPRINT:
            raise Unfit(RefusalStage.SOURCE, f"Its e-print is larger than {LARGEST_EPRINT // 2**20} MB.")
        if not self._is_as_received(place, content):
            raise Unfit(
                RefusalStage.SOURCE, "Its e-print is not the file that was received; its hash is another."
            )
        return content

    def works(self) -> "KnownWorks":
        """The works of the folder's table, of services' replies, and of feeds requested for them."""
        return KnownWorks(self.all_works())

    def all_works(self) -> Iterator[CatalogueWork]:
        """The same one by one, some of them several times."""
        if (self.path / WORKS_TABLE).is_file():
            yield from of_rows(read_table(self.path / WORKS_TABLE, ("identifier", "title")).rows)
        for place in sorted((self.path / WORKS).glob("*.json")):
            for work in works_of(read_json(place)):
                reference = work.reference
                yield CatalogueWork(
                    reference.identifier, reference.text, work.abstract, work.published, reference.authors
                )
        for paper in (*self._papers(WORKS), *self._papers(FEEDS)):
            yield paper.work

    def _papers(self, folder: str) -> Iterator[ListedPaper]:
        for place in sorted((self.path / folder).glob("*.xml")):
            content = read_bytes(place, place.name, LARGEST_FILE)
            if not self._is_as_received(place, content):
                raise Refusal(
                    f"“{folder}/{place.name}” is not the file that was received; its hash is another.",
                    "Remove it and collect again.",
                )
            yield from read_feed(content, f"{folder}/{place.name}").papers

    def _is_as_received(self, place: Path, content: bytes) -> bool:
        name = place.relative_to(self.path).as_posix()
        received = {
            request.file: request.sha256 for request in self.manifest.requests.values() if request.file
        }
        return name not in received or received[name] == sha256(content)


def eprint_stem(paper: ListedPaper) -> str:
    """The path of a paper's e-print, without the ending; ids of the old form hold a slash."""
    return f"{EPRINTS}/{paper.key.replace('/', '_')}"


@dataclass(frozen=True, slots=True)
class Corpus:
    """The works at a path, each once; `name` identifies them, with the beginning of the hash of their content."""

    name: str
    works: tuple[CatalogueWork, ...]


def read_corpus(path: Path) -> Corpus:
    """The works of a table, or of a folder with `works.csv`, services' replies or arXiv's lists.

    Refusal if it cannot be read, or holds no work.
    """
    result: dict[str, CatalogueWork] = {}
    for work in _works_at(path):
        result.setdefault(work.key, work)
    if not result:
        raise Refusal(
            f"“{path.name}” holds no works.",
            "Choose a table with identifier, title, abstract and published, or a folder that was collected.",
        )
    listing = "\n".join(
        f"{work.key}\t{work.title}\t{work.abstract}\t{work.published}" for work in result.values()
    )
    # In a report's account of its origin, semicolons separate the parts.
    return Corpus(f"{path.name.replace(';', ',')} {sha256(listing)[:8]}", tuple(result.values()))


def _works_at(path: Path) -> Iterator[CatalogueWork]:
    if path.is_dir():
        yield from Collection.at(path).all_works()
    else:
        yield from of_rows(read_table(path, ("identifier", "title")).rows)


LEAST_SHARED, YEARS_APART = 0.6, 1


class KnownWorks:
    """Works by identifier, by whole title and by the last names of their authors."""

    def __init__(self, works: Iterable[CatalogueWork]) -> None:
        self._named: dict[str, CatalogueWork] = {}
        for work in works:
            if named := work_named(work.identifier):
                self._named.setdefault(str(named), work)
        known = self._named.values()
        self._titled = grouped((normal_title(work.title), work) for work in known)
        self._by = grouped((name, work) for work in known for name in _last_names(work.authors))

    def __contains__(self, named: Identifier) -> bool:
        return str(named) in self._named

    def resolved(self, entry: CitedEntry, published: str, own: str) -> tuple[CitedEntry, str]:
        """The entry with its work, found by identifier or else by title, and why a matching work was not used.

        Works that appeared after the day `published` are not used, nor the paper itself, whose arXiv id is `own`.
        """
        named = [
            str(result) for one in (entry.link, entry.doi, entry.url) if one and (result := work_named(one))
        ]
        works = [self._named[one] for one in named if one in self._named] or self._titled_so(entry)
        works = [work for work in works if work_named(work.identifier) != work_named(f"arXiv:{own}")]
        late = [work for work in works if published and work.published > published[: len(work.published)]]
        fit = next((work for work in works if work not in late), None)
        if fit is not None:
            return _with(entry, fit), ""
        note = f"{late[0].identifier} appeared on {late[0].published}, after the paper" if late else ""
        return entry, note

    def _titled_so(self, entry: CitedEntry) -> list[CatalogueWork]:
        """Works of the same whole title, those of an author first; else similar ones of an author and time."""
        title = normal_title(entry.title)
        if not title:
            return []
        names = set(normal_title(entry.authors).split())
        same = self._titled.get(title, [])
        if same:
            return sorted(same, key=lambda work: not names & _last_names(work.authors))
        near = {one.identifier: one for name in names for one in self._by.get(name, ())}
        words = set(title.split())
        alike = [(_shared(words, one.title), one) for one in near.values() if _is_near(one.year, entry.year)]
        return [
            one
            for share, one in sorted(alike, key=lambda pair: (-pair[0], pair[1].identifier))
            if share >= LEAST_SHARED
        ]


def _with(entry: CitedEntry, work: CatalogueWork) -> CitedEntry:
    result = work_named(work.identifier)
    link = ON_ARXIV.format(result.value) if result and result.scheme == "arxiv" else entry.link
    doi = result.value if result and result.scheme == "doi" else ""
    return replace(
        entry,
        title=entry.title or work.title,
        link=link,
        doi=entry.doi or doi,
        authors=entry.authors or work.authors,
        year=entry.year or work.year,
        abstract=work.abstract,
    )


def _last_names(authors: str) -> set[str]:
    """The last words of names separated by commas, normalised."""
    names = (normal_title(one).split() for one in re.split(r",|;| and ", authors))
    return {words[-1] for words in names if words and len(words[-1]) > 1}


def _shared(words: set[str], title: str) -> float:
    other = set(normal_title(title).split())
    return len(words & other) / len(words | other)


def _is_near(one: int | None, other: int | None) -> bool:
    return one is not None and other is not None and abs(one - other) <= YEARS_APART


def of_rows(rows: Iterable[Mapping[str, str]]) -> list[CatalogueWork]:
    """The works of a table with the columns identifier and title, and any of the others it has."""
    return [
        CatalogueWork(
            *(row.get(name, "") for name in ("identifier", "title", "abstract", "published", "authors"))
        )
        for row in rows
        if row.get("identifier")
    ]
