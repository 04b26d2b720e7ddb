"""DeepScholar-Bench's tables: the papers, the works they cite, and which citations are important."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from annotator.domain.kinds.evidence import Reference
from annotator.domain.material.extract import CitedEntry, CollectedPaper
from annotator.domain.texts.identifier import parse
from annotator.exchange.table_files import Table

DATASET = "deepscholar"
PAPERS = "papers_with_related_works.csv"
CITATIONS = "citations.csv"
RECOVERED = "recovered_citations.csv"
IMPORTANT = "important_citations.csv"
# Any of these holds papers; only the order of the first numbers the folders of reports and nuggets.
OF_PAPERS = (PAPERS, "papers.csv", "related_works_combined.csv", "paper_content.csv")
ABSTRACT = "Abstract: "
LONGEST_IDENTIFIER = 1000
# The columns with identifiers of a cited work.
LINK, DOI, ADDRESS = "cited_paper_arxiv_link", "bib_paper_doi", "bib_paper_url"
_DOI = re.compile(r"\b10\.\d{4,9}/")
_LIMIT = " that were published before "
_DAY = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")


@dataclass(frozen=True, slots=True)
class PublishedPaper:
    """A paper whose related-work section is the exemplar; `section` is its LaTeX."""

    arxiv_id: str
    title: str
    abstract: str
    published: str
    category: str
    section: str
    row: int

    @property
    def day(self) -> str:
        """The day of publication; empty if the files do not have it."""
        return self.published[:10] if _DAY.fullmatch(self.published[:10]) else ""

    @property
    def task(self) -> str:
        limit = f"{_LIMIT}{self.day}" if self.day else ""
        return (
            f"{self.title}: write the related-work section of this paper, given its abstract. Cite works on arXiv"
            f"{limit}, each by its number in brackets, and end with a numbered list of references.\n\n"
            f"{ABSTRACT}{self.abstract}"
        )


@dataclass(frozen=True, slots=True)
class Cited(CitedEntry):
    """A cited work, with the paper that cites it and its index in the table."""

    paper: str = ""
    index: int = 0

    @property
    def identifier(self) -> str:
        """The work's identifier: its page on arXiv, its DOI, or its address; empty if there is none."""
        return self.link or self.doi or self.url

    @property
    def others(self) -> tuple[str, ...]:
        result = dict.fromkeys((self.doi, self.url))
        return tuple(
            one for one in result if one not in ("", self.identifier) and len(one) <= LONGEST_IDENTIFIER
        )


def papers_of(table: Table) -> Iterator[tuple[int, PublishedPaper | None]]:
    """Each row's index and paper; None for a row without an id, a title or an abstract."""
    for index, row in enumerate(table.rows):
        key, title = row.get("arxiv_id", ""), _line(row.get("title") or row.get("paper_title", ""))
        whole = bool(parse(f"arXiv:{key}") and title and row.get("abstract"))
        section = (
            row.get("raw_latex_related_works")
            or row.get("clean_latex_related_works")
            or row.get("related_works_section", "")
        )
        published = row.get("published_date") or row.get("publication_date", "")
        category = row.get("categories", "").replace(";", ",").split(",")[0].strip()
        yield (
            index,
            PublishedPaper(key, title, row["abstract"], published, category, section, index)
            if whole
            else None,
        )


def published_so(one: CollectedPaper, row: int) -> tuple[PublishedPaper, list[Cited]]:
    """A collected paper and its citations, as the tables would hold them."""
    paper = PublishedPaper(
        one.arxiv_id, one.title, one.abstract, one.published, one.category, one.section, row
    )
    return paper, [Cited(**asdict(of), paper=one.arxiv_id, index=place) for place, of in enumerate(one.cited)]


def citations_of(table: Table) -> list[Cited]:
    return [
        Cited(
            paper=row.get("parent_paper_arxiv_id", ""),
            key=row.get("citation_shorthand", ""),
            title=_line(row.get("cited_paper_title", "")),
            link=row.get(LINK, ""),
            abstract=row.get("cited_paper_abstract", ""),
            authors=row.get("bib_paper_authors", "").replace("; ", ", "),
            year=_year(row.get("bib_paper_year", "")),
            doi=row.get(DOI, ""),
            url=row.get(ADDRESS, ""),
            index=index,
        )
        for index, row in enumerate(table.rows)
    ]


class Importance:
    """Which citations are important: those that a file lists; all others of the papers that it names are not."""

    def __init__(self, listed: Iterable[Cited], cited: Mapping[str, Iterable[Cited]]) -> None:
        every = {(paper, row.key) for paper, rows in cited.items() for row in rows}
        self._listed, self.unknown = set[tuple[str, str]](), list[Cited]()
        for one in listed:
            if (one.paper, one.key) in every:
                self._listed.add((one.paper, one.key))
            else:
                self.unknown.append(one)
        self._papers = {paper for paper, _ in self._listed}
        self.implied = sum(paper in self._papers for paper, _ in every - self._listed)

    def of(self, one: Cited) -> str:
        """Whether a citation is important; empty if its paper is not named."""
        if one.paper not in self._papers:
            return ""
        return "important" if (one.paper, one.key) in self._listed else "not_important"


def identified(identifiers: Sequence[str]) -> dict[str, str]:
    """The columns for a reference's identifiers, the first of which may be the work's page on arXiv."""
    result: dict[str, str] = {}
    for place, one in enumerate(filter(None, identifiers)):
        named, given = parse(one), one.lower()
        of_arxiv = place == 0 and named is not None and named.scheme == "arxiv" and not _DOI.search(given)
        doi = bool(_DOI.search(given)) and (not given.startswith("http") or "doi.org/" in given)
        column = LINK if of_arxiv else DOI if doi and DOI not in result else ADDRESS
        result.setdefault(column, one)
    return result


def reference(text: str, note: str, identifier: str, authors: str = "", year: int | None = None) -> Reference:
    """A reference with these fields, cut to their maximum lengths; too long an identifier is dropped."""
    return Reference(
        text=text[:20_000],
        note=note[:20_000],
        identifier=identifier if len(identifier) <= LONGEST_IDENTIFIER else "",
        authors=authors[:2000],
        year=year,
    )


def _line(text: str) -> str:
    """A title on one line; in the files many are broken into several."""
    return " ".join(text.split())


def _year(text: str) -> int | None:
    try:
        year = float(text)
    except ValueError:
        return None
    return int(year) if math.isfinite(year) and 1000 <= year <= 2200 else None
