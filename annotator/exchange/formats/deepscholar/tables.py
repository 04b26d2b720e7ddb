"""DeepScholar-Bench's tables: the papers, what they cite, and which citations matter."""

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotator.domain.texts.identifier import parse
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.reading import CORRECT, LARGEST_FILE, decoded, read_bytes

DATASET = "deepscholar"
PAPERS = "papers_with_related_works.csv"
CITATIONS = "citations.csv"
RECOVERED = "recovered_citations.csv"
IMPORTANT = "important_citations.csv"
# Any of these tells of papers; only the order of the first numbers the folders of reports and nuggets.
OF_PAPERS = (PAPERS, "papers.csv", "related_works_combined.csv", "paper_content.csv")
ABSTRACT = "Abstract: "
_LIMIT = " that were published before "
_EMPTY = {"", "nan", "n/a", "none"}


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """The rows of a file by the names of their columns."""

    name: str
    rows: tuple[Mapping[str, str], ...]


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
    def task(self) -> str:
        """What a system is asked, in this program's words."""
        day = self.published[:10]
        limit = f"{_LIMIT}{day}" if day else ""
        return (
            "Write the related-work section of an academic paper, given its title and abstract. Cite works on arXiv"
            f"{limit}, each by its number in brackets, and end with a numbered list of references.\n\n"
            f"Title: {self.title}\n\n{ABSTRACT}{self.abstract}"
        )


@dataclass(frozen=True, slots=True)
class Cited:
    """A work that a paper's section cites, as the files describe it."""

    paper: str
    key: str
    title: str
    link: str
    abstract: str
    authors: str
    year: int | None
    doi: str
    url: str
    index: int

    @property
    def identifier(self) -> str:
        """What names the work: its page on arXiv, its DOI, or its address; empty where nothing does."""
        return self.link or self.doi or self.url

    @property
    def on_arxiv(self) -> bool:
        """Whether the work is named by its page on arXiv."""
        return is_arxiv(self.link)


def day_asked(question: str) -> str:
    """Before which day works must be published, as a paper's question says it; empty where it says nothing."""
    day = question.partition(_LIMIT)[2][:10]
    return day if re.fullmatch(r"\d{4}-\d\d-\d\d", day) else ""


def is_arxiv(address: str) -> bool:
    """Whether an address or identifier names a work on arXiv."""
    found = parse(address)
    return found is not None and found.scheme == "arxiv"


def read_table(path: Path, wanted: Sequence[str]) -> PublishedTable:
    """A CSV file's rows; Refusal when it cannot be read or lacks one of the wanted columns."""
    content = read_bytes(path, path.name)
    if len(content) > LARGEST_FILE:
        raise Refusal(
            f"“{path.name}” is larger than {LARGEST_FILE // 2**20} MB.", "Split it, or choose the right file."
        )
    usual = csv.field_size_limit(LARGEST_FILE)
    try:
        rows = list(csv.reader(io.StringIO(decoded(content, path.name), newline=""), strict=True))
    except csv.Error as error:
        raise Refusal(f"“{path.name}” is not a table in CSV: {error}.", CORRECT) from None
    finally:
        csv.field_size_limit(usual)
    head = [name.strip() for name in rows[0]] if rows else []
    if lacking := [name for name in wanted if name not in head]:
        raise Refusal(f"“{path.name}” has no column “{lacking[0]}”.", "Choose the file as it was published.")
    return PublishedTable(
        path.name, tuple(dict(zip(head, map(_cell, row), strict=False)) for row in rows[1:] if row)
    )


def papers_of(table: PublishedTable) -> Iterator[tuple[int, PublishedPaper | None]]:
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


def citations_of(table: PublishedTable) -> list[Cited]:
    """Every row of a table of citations."""
    return [_cited(index, row) for index, row in enumerate(table.rows)]


def _cited(index: int, row: Mapping[str, str]) -> Cited:
    return Cited(
        paper=row.get("parent_paper_arxiv_id", ""),
        key=row.get("citation_shorthand", ""),
        title=_line(row.get("cited_paper_title", "")),
        link=row.get("cited_paper_arxiv_link", ""),
        abstract=row.get("cited_paper_abstract", ""),
        authors=row.get("bib_paper_authors", "").replace("; ", ", "),
        year=_year(row.get("bib_paper_year", "")),
        doi=row.get("bib_paper_doi", ""),
        url=row.get("bib_paper_url", ""),
        index=index,
    )


def _cell(text: str) -> str:
    """A cell without space around it; what pandas writes for nothing is nothing."""
    plain = text.strip()
    return "" if plain.lower() in _EMPTY else plain


def _line(text: str) -> str:
    """A title on one line; in the files many are broken into several."""
    return " ".join(text.split())


def _year(text: str) -> int | None:
    try:
        year = float(text)
    except ValueError:
        return None
    return int(year) if math.isfinite(year) and 1000 <= year <= 2200 else None
