"""DeepScholar-Bench's tables: the papers and the works they cite; and all of its files written.

Systems' reports are written in the simplest of its folder layouts.
"""

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from annotator.domain.common import counted
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Reference
from annotator.domain.material.extract import CitedEntry, CollectedPaper, ResponsePart
from annotator.domain.material.item import END_TO_END, EXEMPLAR
from annotator.domain.texts.identifier import parse, work_named
from annotator.exchange.folders import pretty, slugs
from annotator.exchange.formats.layout import MAPPING, Files, MappedSystem, SystemNames
from annotator.exchange.release.bundle import Bundle, settled
from annotator.exchange.release.records import ItemRecord
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
# A report and the works it cites, in the simplest folder of a system; and the file of a folder of nuggets.
BASE_TEXT, BASE_WORKS, NUGGETS = "intro.md", "paper.csv", "res.json"
RELATED_WORK = "Related work"
NUGGET_FOLDERS, SYSTEMS, RESULTS = "gt_nuggets_outputs", "systems", "results"
SYSTEM, FOLDER = "baseline_name", "folder_path"
# The columns of results and their metrics.
SCORED = {
    "organization": "organization",
    "nugget_coverage": "nugget_coverage",
    "reference_coverage": "reference_coverage",
    "document_importance": "document_importance",
    "cite_p": "citation_precision",
    "claim_coverage": "claim_coverage",
    "coverage_relevance_rate": "relevance_rate",
}
PAPER_COLUMNS = ("arxiv_id", "title", "abstract", "categories", "published_date", "clean_latex_related_works")
CITATION_COLUMNS = (
    "parent_paper_title",
    "parent_paper_arxiv_id",
    "citation_shorthand",
    "cited_paper_title",
    "cited_paper_arxiv_link",
    "cited_paper_abstract",
    "has_metadata",
    "is_arxiv_paper",
    "bib_paper_authors",
    "bib_paper_year",
    "bib_paper_url",
    "bib_paper_doi",
)


def day_of(paper: CollectedPaper) -> str:
    """The day of publication; empty if the files do not have it."""
    return paper.published[:10] if _DAY.fullmatch(paper.published[:10]) else ""


def task_of(paper: CollectedPaper) -> str:
    limit = f"{_LIMIT}{day}" if (day := day_of(paper)) else ""
    return (
        f"{paper.title}: write the related-work section of this paper, given its abstract. Cite works on arXiv"
        f"{limit}, each by its number in brackets, and end with a numbered list of references.\n\n"
        f"{ABSTRACT}{paper.abstract}"
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


def papers_of(table: Table) -> Iterator[tuple[int, CollectedPaper | None]]:
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
            CollectedPaper(key, title, row["abstract"], published, category, section) if whole else None,
        )


def citations_in(paper: CollectedPaper) -> list[Cited]:
    """The citations of a collected paper, as the table would hold them."""
    return [
        Cited(**asdict(cited), paper=paper.arxiv_id, index=place) for place, cited in enumerate(paper.cited)
    ]


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


def files(bundle: Bundle) -> Files:
    """The bundle in this layout, by path, and notes on what the layout cannot hold."""
    return _RelatedWorkWriter(bundle).files()


class _RelatedWorkWriter:
    """A writer of those items that are papers: keyed by an arXiv id, with a source that holds title and abstract."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.notes: list[str] = []
        self.sources = {(source.item_id, source.position): source for source in bundle.sources}
        ordered = sorted(bundle.items, key=lambda item: (item.position, item.key, item.id))
        self.items = [item for item in ordered if self._is_paper(item)]
        self.rows = {item.id: row for row, item in enumerate(self.items)}
        self.folders: dict[str, tuple[str, str]] = {}
        if left := len(ordered) - len(self.items):
            self.notes.append(
                f"Left out: {counted(left, 'item')}; a paper has an arXiv id as key and its abstract as source."
            )

    def files(self) -> Files:
        made = {PAPERS: _csv(PAPER_COLUMNS, map(self._paper, self.items))}
        made[CITATIONS] = _csv(CITATION_COLUMNS, self._citations())
        if any(unit.get("importance") for _, unit in self._units(Kind.EVIDENCE)):
            made[IMPORTANT] = _csv(CITATION_COLUMNS, self._citations(important=True))
        for item in self.items:
            if units := [unit for owner, unit in self._units(Kind.NUGGETS) if owner.id == item.id]:
                made[f"{NUGGET_FOLDERS}/{self.rows[item.id]}/{NUGGETS}"] = pretty(_nuggets(item, units))
        made |= self._reports() | self._names() | self._results()
        if left := sum(page.content_type == "abstract" and not page.text for page in self.bundle.pages):
            self.notes.append(
                f"Left out: {counted(left, 'abstract')}; they leave with the texts of cited pages."
            )
        return made, self.notes

    def _is_paper(self, item: ItemRecord) -> bool:
        named = parse(f"arXiv:{item.key}")
        return named is not None and named.scheme == "arxiv" and (item.id, 0) in self.sources

    def _paper(self, item: ItemRecord) -> Mapping[str, Any]:
        about, section = self.sources[item.id, 0], self.sources.get((item.id, 1))
        latex = section.text if section and section.title.startswith(RELATED_WORK) else ""
        return {
            "arxiv_id": item.key,
            "title": about.title,
            "abstract": about.text,
            "categories": item.subject,
            "published_date": about.published,
            "clean_latex_related_works": latex,
        }

    def _units(self, kind: Kind) -> Iterable[tuple[ItemRecord, dict[str, Any]]]:
        """The units of each paper's agreed document of a kind, or of the only one there is."""
        for item in self.items:
            own = settled(
                record
                for record in self.bundle.artifacts
                if record.item_id == item.id and record.kind is kind
            )
            yield from ((item, unit) for unit in (own.document["units"] if own else ()))

    def _citations(self, *, important: bool = False) -> Iterable[Mapping[str, Any]]:
        abstracts = {page.url: page.text for page in self.bundle.pages if page.content_type == "abstract"}
        for item, unit in self._units(Kind.EVIDENCE):
            if important and unit.get("importance") != "important":
                continue
            named = work_named(unit["identifier"])
            yield {
                "parent_paper_title": self.sources[item.id, 0].title,
                "parent_paper_arxiv_id": item.key,
                "citation_shorthand": unit["note"] or unit["id"],
                "cited_paper_title": unit["text"] if unit["text"] != unit["note"] else "",
                "cited_paper_abstract": abstracts.get(str(named), ""),
                "has_metadata": True,
                "is_arxiv_paper": named is not None and named.scheme == "arxiv",
                "bib_paper_authors": unit["authors"],
                "bib_paper_year": unit["year"] or "",
                **identified([unit["identifier"], *unit.get("other_identifiers", ())]),
            }

    def _reports(self) -> dict[str, bytes]:
        names = {system.id: system.name for system in self.bundle.systems}
        stems = slugs(names.values())
        works = {extract.response_id: extract.document["units"] for extract in self.bundle.extracts
                 if extract.kind == ResponsePart.REFERENCES}  # fmt: skip
        abstracts = {page.url: page.text for page in self.bundle.pages}
        made: dict[str, bytes] = {}
        further = 0
        for response in self.bundle.responses:
            if response.item_id not in self.rows or response.mode == EXEMPLAR:
                continue
            if response.mode != END_TO_END or response.trial != 1:
                further += 1
                continue
            stem = stems[names[response.system_id]]
            folder = f"{SYSTEMS}/{stem}/{self.rows[response.item_id]}"
            self.folders[response.id] = stem, folder
            made[f"{folder}/{BASE_TEXT}"] = response.text.encode()
            rows = (
                {
                    "id": str(unit["identifier"]).rpartition("/")[2],
                    "title": unit["text"],
                    "url": unit["identifier"],
                    "mark": unit["note"],
                    "snippet": unit.get("passage") or abstracts.get(str(parse(unit["identifier"])), ""),
                }
                for unit in works.get(response.id, ())
            )
            made[f"{folder}/{BASE_WORKS}"] = _csv(("id", "title", "url", "mark", "snippet"), rows)
        if further:
            self.notes.append(
                f"Left out: {counted(further, 'further run')} of a system; the layout has one of each."
            )
        return made

    def _results(self) -> dict[str, bytes]:
        """Each report's figures, metric by metric, and each system's means of these; undefined ones are empty."""
        made: dict[str, bytes] = {}
        means: dict[str, dict[str, Any]] = {stem: {SYSTEM: stem} for stem, _ in sorted(self.folders.values())}
        for column, metric in SCORED.items():
            for stem, mean in means.items():
                own: list[dict[str, Any]] = [
                    {FOLDER: folder, column: self.bundle.report_scores.get((metric, response_id))}
                    for response_id, (system, folder) in self.folders.items()
                    if system == stem
                ]
                made[f"{RESULTS}/{column}/{stem}.csv"] = _csv((FOLDER, column), own)
                known = [one[column] for one in own if one[column] is not None]
                mean[column] = fmean(known) if known else None
            made[f"{RESULTS}/{column}/aggregated_results.csv"] = _csv(
                (SYSTEM, column), [{name: mean[name] for name in (SYSTEM, column)} for mean in means.values()]
            )
        made[f"{RESULTS}/results.csv"] = _csv((SYSTEM, *SCORED), means.values())
        return made if self.bundle.report_scores else {}

    def _names(self) -> dict[str, bytes]:
        stems = slugs(system.name for system in self.bundle.systems)
        systems = [MappedSystem(file=stem, name=name) for name, stem in stems.items() if stem != name]
        return {MAPPING: pretty(SystemNames(systems=systems).model_dump(mode="json"))} if systems else {}


def _nuggets(item: ItemRecord, units: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The layout's entry of a paper's nuggets; those written by hand count as supported."""
    nuggets = [
        {
            "text": unit["text"],
            "importance": unit["importance"],
            "assignment": unit.get("support") or "support",
        }
        for unit in units
    ]
    full = [nugget for nugget in nuggets if nugget["assignment"] == "support"]
    some = [nugget for nugget in nuggets if nugget["assignment"] != "not_support"]
    return {
        "qid": item.key,
        "query": item.question,
        "nuggets": nuggets,
        "supported_nuggets": full,
        "partially_supported_nuggets": some,
    }


def _csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
