"""DeepScholar-Bench's files written: papers, citations, nuggets and systems' reports in the simplest folder layout."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from annotator.domain.kinds.artifact import Kind
from annotator.domain.material.extract import ResponsePart
from annotator.domain.material.item import END_TO_END, EXEMPLAR
from annotator.domain.texts.identifier import parse, work_named
from annotator.domain.texts.words import counted
from annotator.exchange.folders import pretty, slugs
from annotator.exchange.formats.deepscholar import tables
from annotator.exchange.formats.deepscholar.reader import BASE_TEXT, BASE_WORKS, NUGGETS, RELATED_WORK
from annotator.exchange.formats.layout import MAPPING, Files, MappedSystem, SystemNames
from annotator.exchange.release.bundle import Bundle, settled
from annotator.exchange.release.records import ItemRecord

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
        made = {tables.PAPERS: _csv(PAPER_COLUMNS, map(self._paper, self.items))}
        made[tables.CITATIONS] = _csv(CITATION_COLUMNS, self._citations())
        if any(unit.get("importance") for _, unit in self._units(Kind.EVIDENCE)):
            made[tables.IMPORTANT] = _csv(CITATION_COLUMNS, self._citations(important=True))
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
                **tables.identified([unit["identifier"], *unit.get("other_identifiers", ())]),
            }

    def _reports(self) -> dict[str, bytes]:
        names = {system.id: system.name for system in self.bundle.systems}
        stems = slugs(names.values())
        works = {extract.response_id: extract.document["units"] for extract in self.bundle.extracts
                 if extract.kind == ResponsePart.REFERENCES}  # fmt: skip
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
            abstracts = {page.url: page.text for page in self.bundle.pages}
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
