"""DeepScholar-Bench's files read: papers, exemplars, references, nuggets and systems' reports."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from annotator.domain.kinds.artifact import Document
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.domain.material.collected import CollectedPaper
from annotator.domain.material.extract import IMPORT, ExtractState
from annotator.domain.material.page import PageState
from annotator.domain.material.part import ResponsePart
from annotator.domain.material.response import EXEMPLAR
from annotator.domain.material.source import LATEX, SourceFormat
from annotator.domain.texts.canonical import sha256
from annotator.domain.texts.change import derived_id, now
from annotator.domain.texts.counting import counted
from annotator.domain.texts.identifier import parse, work_named
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.formats.deepscholar import system_folders, tables
from annotator.exchange.formats.deepscholar.system_folders import SystemReport
from annotator.exchange.formats.deepscholar.tables import DATASET, Cited, PublishedPaper
from annotator.exchange.formats.layout import MAPPING, ExistingItems, SystemNames
from annotator.exchange.reading import CORRECT, read_json
from annotator.exchange.release.bundle import Bundle, Problem, in_words, of_file
from annotator.exchange.release.drawn_records import ExtractRecord, PageRecord
from annotator.exchange.release.records import (
    ArtifactRecord,
    ItemRecord,
    ResponseRecord,
    SourceRecord,
    SystemRecord,
)
from annotator.exchange.table_files import read_table
from annotator.exchange.texts import latex

_NOTHING = Refusal(
    f"There are neither papers, citations, nuggets nor systems' reports there; {tables.PAPERS} is the first of them.",
    "Choose the folder that holds them, or the files themselves.",
)

EXEMPLARS = "Human-written exemplar"
RELATED_WORK = "Related work"


def item_id(arxiv_id: str) -> str:
    """The id of a paper's item, the same in every project."""
    return derived_id(DATASET, arxiv_id)


def read(paths: Sequence[Path], known: ExistingItems | None = None) -> tuple[Bundle, list[Problem]]:
    """The content of folders or files of this layout, and everything wrong with them; Refusal where there is nothing.

    Papers and nuggets are joined by arXiv id, systems' folders by the row of the paper unless they name another one.
    """
    return _RelatedWorkReader(known or ExistingItems(), now()).read(PublishedFiles.among(paths))


def of_papers(papers: Sequence[CollectedPaper]) -> tuple[Bundle, list[Problem]]:
    """The content of collected papers, as that of the published files."""
    reader = _RelatedWorkReader(ExistingItems(), now())
    for row, one in enumerate(papers):
        reader.take_collected(one, row)
    return reader.bundle, reader.problems


@dataclass(slots=True)
class PublishedFiles:
    """The given files by their role."""

    papers: list[Path] = field(default_factory=list)
    citations: list[Path] = field(default_factory=list)
    important: list[Path] = field(default_factory=list)
    nuggets: list[Path] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    loose: list[Path] = field(default_factory=list)
    names: list[Path] = field(default_factory=list)

    @classmethod
    def among(cls, paths: Sequence[Path]) -> "PublishedFiles":
        found = cls()
        for path in paths:
            if path.is_dir():
                found._look_through(path)
            else:
                found._add(path)
        # Where both are there, the file with the most columns speaks for the papers and fixes their rows.
        named = {path.name: path for path in reversed(found.papers)}
        found.papers = [named[name] for name in tables.OF_PAPERS if name in named][:1]
        if not any(
            (found.papers, found.citations, found.important, found.nuggets, found.folders, found.loose)
        ):
            raise _NOTHING
        return found

    def _look_through(self, folder: Path) -> None:
        if system_folders.is_numbered(folder):
            self.folders.append(folder)
            return
        self.folders += system_folders.folders_in(folder)
        inside = set(self.folders)
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not inside.intersection(path.parents):
                self._add(path, sought=False)

    def _add(self, path: Path, *, sought: bool = True) -> None:
        """Sort a file by its name; one that was not chosen itself is passed over where it is none of these."""
        if path.name in tables.OF_PAPERS:
            self.papers.append(path)
        elif path.name in (tables.CITATIONS, tables.RECOVERED):
            self.citations.append(path)
        elif path.name == tables.IMPORTANT:
            self.important.append(path)
        elif path.name == MAPPING:
            self.names.append(path)
        elif path.suffix == ".json" and (
            sought or path.stem.isdigit() or path.name == system_folders.NUGGETS
        ):
            self.nuggets.append(path)
        elif system_folders.is_loose(path):
            self.loose.append(path)
        elif sought:
            raise Refusal(f"“{path.name}” is no file of this layout.", "Choose the file as it was published.")


class _RelatedWorkReader:
    """A reader that collects the bundle and the problems, file by file."""

    def __init__(self, known: ExistingItems, at: datetime) -> None:
        self.known, self.at = known, at
        self.bundle = Bundle()
        self.problems: list[Problem] = []
        self.papers: dict[str, PublishedPaper] = {}
        self.by_row: dict[int, str] = {}
        # Of every paper, here or in the files, what its abstract says.
        self.abstracts = {
            one.key: _plain(one.question.partition(tables.ABSTRACT)[2]) for one in known.items.values()
        }
        self.important: tables.Importance | None = None
        self.works: set[str] = set()
        self.names: dict[str, str] = {}

    def read(self, found: PublishedFiles) -> tuple[Bundle, list[Problem]]:
        cited: dict[str, list[Cited]] = defaultdict(list)
        self._each(found.papers, self._read_papers)
        self._each(found.citations[:1], lambda file: self._read_citations(file, cited))
        self._each(found.important[:1], lambda file: self._read_important(file, cited))
        for paper in self.papers.values():
            with self._told_of(paper.arxiv_id):
                self._take_references(paper, cited.pop(paper.arxiv_id, []))
        for arxiv_id, rows in cited.items():
            with self._told_of(arxiv_id):
                self._take_evidence(arxiv_id, rows)
        self._each(found.names, self._read_names)
        self._each(found.nuggets, self._take_nuggets)
        self._each(found.folders, lambda folder: self._take_report(system_folders.read_folder(folder)))
        self._each(found.loose, lambda file: self._take_report(system_folders.read_loose(file)))
        return self.bundle, self.problems

    def take_collected(self, one: CollectedPaper, row: int) -> None:
        paper, cited = tables.published_so(one, row)
        with self._told_of(one.arxiv_id):
            self._take_paper(one.arxiv_id, paper)
        with self._told_of(one.arxiv_id):
            self._take_references(paper, cited)
        self.problems += [Problem(one.arxiv_id, None, note, note=True) for note in one.notes]

    def _each(self, paths: Iterable[Path], read: Callable[[Path], None]) -> None:
        for path in paths:
            with self._told_of(path):
                read(path)

    @contextmanager
    def _told_of(self, where: Path | str) -> Iterator[None]:
        """What cannot be read is a problem of the file, or of the paper by its id, where it stands."""
        name = system_folders.shown(where) if isinstance(where, Path) else where
        try:
            yield
        except Refusal as refusal:
            self.problems.append(of_file(name, refusal))
        except ValidationError as error:
            self._problem(name, None, in_words(error))

    def _read_papers(self, file: Path) -> None:
        for index, paper in tables.papers_of(read_table(file, ("arxiv_id", "abstract"))):
            if paper is None:
                self._problem(file.name, index, "has no arXiv id, title or abstract")
            elif paper.arxiv_id in self.papers:
                self._problem(file.name, index, f"paper {paper.arxiv_id} stands in this file before")
            else:
                self.papers[paper.arxiv_id] = paper
                self._take_paper(file.name, paper)
        # Only this file's order numbers folders; others hold the same papers in another order.
        if file.name == tables.PAPERS:
            self.by_row = {paper.row: paper.arxiv_id for paper in self.papers.values()}

    def _take_paper(self, file: str, paper: PublishedPaper) -> None:
        own = item_id(paper.arxiv_id)
        self.abstracts[paper.arxiv_id] = _plain(paper.abstract)
        item = ItemRecord(
            id=own,
            key=paper.arxiv_id,
            dataset=DATASET,
            question=paper.task,
            question_type=RELATED_WORK,
            subject=paper.category,
            position=paper.row,
        )
        self.bundle.items.append(item)
        self.bundle.places["items", own] = (file, paper.row)
        self._take_source(paper, paper.title, paper.abstract, f"arXiv:{paper.arxiv_id}", 0)
        if paper.section:
            self._take_source(paper, f"{RELATED_WORK} {LATEX}", paper.section, "", 1)

    def _take_source(
        self, paper: PublishedPaper, title: str, text: str, identifier: str, position: int
    ) -> None:
        own = item_id(paper.arxiv_id)
        source = SourceRecord(
            id=derived_id(own, "source", position),
            item_id=own,
            title=title,
            format=SourceFormat.PLAIN,
            text=text,
            identifier=identifier,
            position=position,
            published=paper.day if identifier else "",
        )
        self.bundle.sources.append(source)

    def _read_citations(self, file: Path, cited: dict[str, list[Cited]]) -> None:
        table = read_table(file, ("parent_paper_arxiv_id", "citation_shorthand", "cited_paper_title"))
        for one in tables.citations_of(table):
            if one.paper not in self.abstracts:
                self._problem(
                    file.name, one.index, f"its paper {one.paper or '(none)'} is not among the papers"
                )
            else:
                cited[one.paper].append(one)

    def _read_important(self, file: Path, cited: Mapping[str, list[Cited]]) -> None:
        table = read_table(file, ("parent_paper_arxiv_id", "citation_shorthand"))
        self.important = tables.Importance(tables.citations_of(table), cited)
        for one in self.important.unknown:
            self._problem(
                file.name, one.index, f"“{one.key}” is no citation of paper {one.paper or '(none)'}"
            )
        if implied := self.important.implied:
            count = f"{counted(implied, 'citation')} of its papers {'is' if implied == 1 else 'are'}"
            self._note(file.name, f"{count} not listed and so taken as not important")

    def _read_names(self, file: Path) -> None:
        try:
            told = SystemNames.model_validate(read_json(file))
        except ValidationError as error:
            raise Refusal(f"“{file.name}” does not name systems: {in_words(error)}.", CORRECT) from None
        self.names |= {one.file: one.name for one in told.systems}

    def _take_references(self, paper: PublishedPaper, rows: Sequence[Cited]) -> None:
        """The references of a paper's section as gold evidence, and the section as the exemplar that cites them."""
        mentioned = latex.cited_keys(paper.section)
        order = {key: place for place, key in enumerate(mentioned)}
        ordered = sorted(rows, key=lambda one: (order.get(one.key, len(order)), one.index))
        numbers: dict[str, int] = {}
        for one in ordered:
            numbers.setdefault(one.key, len(numbers) + 1)
        for key in mentioned:
            if rows and key not in numbers:
                self._note(
                    tables.CITATIONS, f"paper {paper.arxiv_id} cites “{key}”, of which the file says nothing"
                )
            numbers.setdefault(key, len(numbers) + 1)
        self._take_evidence(paper.arxiv_id, ordered)
        if paper.section:
            self._take_exemplar(paper, ordered, numbers)

    def _take_evidence(self, arxiv_id: str, rows: Sequence[Cited]) -> None:
        own, seen = item_id(arxiv_id), defaultdict[str, int](int)
        units = []
        for one in rows:
            seen[one.key] += 1
            reference = tables.reference(one.title or one.key, one.key, one.identifier, one.authors, one.year)
            own_id = derived_id(own, "reference", one.key, seen[one.key])
            importance = self.important.of(one) if self.important else ""
            told = {"id": own_id, "importance": importance, "other_identifiers": one.others}
            units.append(reference.model_copy(update=told))
            self._take_work(one.identifier, one.title, one.abstract)
        if units:
            self._take_artifact(own, Evidence(units=tuple(units)), tables.CITATIONS)

    def _take_exemplar(self, paper: PublishedPaper, rows: Sequence[Cited], numbers: dict[str, int]) -> None:
        told: dict[str, Cited] = {}
        for one in rows:
            told.setdefault(one.key, one)
        body = latex.markdown(paper.section, lambda keys: "".join(f"[{numbers[key]}]" for key in keys))
        listed = [f"[{number}] {_entry(key, told.get(key))}" for key, number in numbers.items()]
        text = "\n\n".join([body, "## References", *listed]) if listed else body
        works = tuple(
            self._mark(item_id(paper.arxiv_id), EXEMPLARS, f"[{numbers[one.key]}]", one.title, one.identifier)
            for one in told.values()
        )
        report = SystemReport(EXEMPLARS, paper.row, tables.PAPERS, text)
        self._add_response(report, paper.arxiv_id, EXEMPLAR, works or None)

    def _take_nuggets(self, file: Path) -> None:
        tree = read_json(file)
        key = tree.get("qid") if isinstance(tree, dict) else None
        made = tree.get("nuggets") if isinstance(tree, dict) else None
        if not isinstance(key, str) or not isinstance(made, list):
            raise Refusal(f"“{file.name}” does not hold the nuggets of one paper.", "Choose the right file.")
        if key not in self.abstracts:
            self._problem(file.name, None, f"its paper {key} is not among the papers")
            return
        own = item_id(key)
        units = []
        for place, one in enumerate(made):
            fields = {name: one.get(name) for name in ("text", "importance")} if isinstance(one, dict) else {}
            fields["support"] = one.get("assignment", "") if isinstance(one, dict) else ""
            fields["id"] = derived_id(own, "nugget", place, str(fields.get("text")))
            try:
                units.append(Nugget.model_validate(fields))
            except ValueError:
                self._problem(file.name, place, "is not a nugget with text, importance and assignment")
        if units:
            self._take_artifact(own, Nuggets(units=tuple(units)), file.name)

    def _take_report(self, report: SystemReport) -> None:
        report.system = self.names.get(report.system, report.system)
        arxiv_id = self._paper_of(report)
        if not arxiv_id:
            return
        if not report.text:
            self._note(report.file, "holds an empty report")
        own = item_id(arxiv_id)
        named = system_folders.named_works(report)
        works = tuple(
            self._mark(own, report.system, one.mark, one.title, one.address).model_copy(
                update={} if one.address else {"passage": one.abstract[:20_000]}
            )
            for one in named
        )
        if count := report.passages_of_works:
            shown = f"was shown {counted(count, 'passage')} with the address of a work"
            self._note(report.file, f"{shown}, which counts only where the report names it")
        for one in named:
            self._take_work(one.address, one.title, one.abstract)
        self._add_response(report, arxiv_id, "end-to-end", works)

    def _paper_of(self, report: SystemReport) -> str:
        """The paper that a report is about: by its folder's number, unless what was asked names another."""
        by_row, asked = self.by_row.get(report.row, ""), _plain(report.asked)
        about = [key for key, words in self.abstracts.items() if words and words in asked]
        if len(about) == 1:
            if by_row and about[0] != by_row:
                self._note(
                    report.file, f"was asked about {about[0]}, not about row {report.row}; it goes there"
                )
            return about[0]
        if not by_row:
            self._problem(
                report.file, None, f"no paper is known for row {report.row}; give {tables.PAPERS} too"
            )
        return by_row

    def _add_response(
        self, report: SystemReport, arxiv_id: str, mode: str, works: tuple[Reference, ...] | None
    ) -> None:
        system_id = self.known.systems.get(report.system) or derived_id(DATASET, "system", report.system)
        if all(one.id != system_id for one in self.bundle.systems):
            self.bundle.systems.append(SystemRecord(id=system_id, name=report.system))
        own = item_id(arxiv_id)
        record = ResponseRecord(
            id=derived_id(own, "response", report.system),
            item_id=own,
            system_id=system_id,
            text=report.text,
            mode=mode,
            latency_s=report.latency_s,
            run_tokens=report.run_tokens,
            cost_usd=report.cost_usd,
            cost_part_usd=report.cost_part_usd,
        )
        before = next((one for one in self.bundle.responses if one.id == record.id), None)
        if before is not None:
            if before.text.strip() != record.text.strip():
                self._problem(report.file, None, "the system has another report on this paper in these files")
            return
        self.bundle.responses.append(record)
        self.bundle.places["responses", record.id] = (report.file, report.row)
        if works is not None:
            self._take_extract(record, Evidence(units=works))

    def _take_extract(self, response: ResponseRecord, found: Evidence) -> None:
        record = ExtractRecord(
            id=derived_id(response.id, ResponsePart.REFERENCES),
            item_id=response.item_id,
            response_id=response.id,
            kind=ResponsePart.REFERENCES,
            origin=IMPORT,
            state=ExtractState.CONFIRMED,
            at=self.at,
            sha256=found.sha256(),
            document=found.tree(),
        )
        self.bundle.extracts.append(record)

    def _mark(self, own: str, system: str, mark: str, title: str, address: str) -> Reference:
        """A work of a report's own list; its mark stands in the note."""
        words = (title or address or mark)[:20_000]
        own_id = derived_id(own, system, "work", mark, address, words)
        return tables.reference(words, mark, address).model_copy(update={"id": own_id})

    def _take_work(self, address: str, title: str, abstract: str) -> None:
        """The abstract of a work that arXiv or a DOI names, once; what other files say of it is passed over."""
        named = work_named(address) if address else None
        if (
            named is None
            or named.scheme not in ("arxiv", "doi")
            or not abstract.strip()
            or str(named) in self.works
        ):
            return
        self.works.add(str(named))
        page = PageRecord(
            url=str(named),
            state=PageState.OK,
            text=abstract.strip(),
            title=title,
            final_url=address,
            content_type="abstract",
            fetched_at=self.at,
            sha256=sha256(abstract.strip()),
        )
        self.bundle.pages.append(page)

    def _take_artifact(self, own: str, document: Document[Any], file: str) -> None:
        record = ArtifactRecord.settled(derived_id(own, document.KIND.value), own, document, self.at)
        self.bundle.artifacts.append(record)
        self.bundle.places["artifacts", record.id] = (file, 0)

    def _note(self, file: str, reason: str) -> None:
        self.problems.append(Problem(file, None, reason, note=True))

    def _problem(self, file: str, index: int | None, reason: str) -> None:
        self.problems.append(Problem(file, index, reason))


def _plain(text: str) -> str:
    return " ".join(text.split())


def _entry(key: str, one: Cited | None) -> str:
    """A line of the exemplar's list of references."""
    if one is None:
        return key
    link = parse(one.identifier)
    where = one.identifier if one.identifier.startswith("http") else str(link or one.identifier)
    parts = (one.authors, one.title or key, str(one.year or ""), where)
    return ". ".join(part.rstrip(".") for part in parts if part)
