"""DeepScholar-Bench's files read: papers, exemplars, references, nuggets and systems' reports."""

import csv
import io
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from annotator.domain.common import Refusal, counted, derived_id, grouped, now, required, sha256, storable
from annotator.domain.kinds.artifact import Document
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.domain.material.extract import CollectedPaper, ResponsePart
from annotator.domain.material.item import EXEMPLAR, IMPORT, LATEX, ExtractState, PageState, SourceFormat
from annotator.domain.texts.identifier import OLD_ARXIV, parse, work_named
from annotator.exchange.folders import CORRECT, decoded, read_bytes, read_json
from annotator.exchange.formats.deepscholar import tables
from annotator.exchange.formats.deepscholar.tables import (
    BASE_TEXT,
    BASE_WORKS,
    DATASET,
    NUGGETS,
    RELATED_WORK,
    Cited,
)
from annotator.exchange.formats.layout import MAPPING, ExistingItems, SystemNames
from annotator.exchange.release.bundle import Bundle, BundleReader, Problem, fitting
from annotator.exchange.release.records import (
    ArtifactRecord,
    ExtractRecord,
    ItemRecord,
    PageRecord,
    ResponseRecord,
    SourceRecord,
    SystemRecord,
)
from annotator.exchange.table_files import read_table
from annotator.exchange.texts import latex
from annotator.protocols.citations import marks_in

# Only these files of each layout are opened; settings, which may hold keys, never are.
BASE_QUERY, BASE_TIMES, BASE_USAGE = "helper_data.json", "execution_time.csv", "usage.json"
STORM_TEXT, STORM_WORKS = "storm_gen_article.md", "url_to_info.json"
_LINK = re.compile(
    r"(?:https?://)?(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/[a-z.-]*/?\d[\d.]*\d(?:v\d+)?"
    rf"|arxiv:\s*(?:\d{{4}}\.\d{{4,5}}|{OLD_ARXIV})(?:v\d+)?|(?<![\w./-]){OLD_ARXIV}(?:v\d+)?",
    re.IGNORECASE,
)
_LOOSE = re.compile(r"(?P<system>.+)__(?P<row>\d+)\.md")


class CitedWork(NamedTuple):
    """The work that a mark of a report leads to; the mark is empty if links name works.

    Without an address `abstract` is a passage that the system was shown.
    """

    mark: str
    address: str
    title: str
    abstract: str = ""


@dataclass(slots=True)
class SystemReport:
    """A system's report on the paper of a row, with all data of its files."""

    system: str
    row: int
    file: str
    text: str = ""
    works: list[CitedWork] = field(default_factory=list)
    question_sha256: str = ""
    latency_s: float | None = None
    run_tokens: int | None = None
    cost_usd: float | None = None
    cost_part_usd: float | None = None
    passages_of_works: int = 0
    """The number of passages shown to the system, and cited by position, that came with the address of a work."""

    def take_usage(self, entries: Sequence[Mapping[str, Any]], price: str) -> None:
        """Sum the usage of all calls; equal entries under two names count once, and a model without a price has no
        known cost.
        """
        different = [one for place, one in enumerate(entries) if one not in entries[:place]]
        tokens = [_whole(one.get("total_tokens")) for one in different]
        if tokens and None not in tokens:
            self.run_tokens = sum(token for token in tokens if token)
        # A zero with tokens means a model without a price.
        costs = [_number(one.get(price)) for one in different]
        known = sum(cost for cost in costs if cost) or None
        self.cost_usd, self.cost_part_usd = (known, None) if all(costs) else (None, known)


def folders_in(folder: Path) -> Iterator[Path]:
    """Every folder of one system's report on one paper: named by a number, with a report inside, within a system's
    folder.
    """
    return filter(
        _layout_of, sorted(path for path in folder.rglob("*") if path.is_dir() and is_numbered(path))
    )


def is_numbered(folder: Path) -> bool:
    return folder.name.isascii() and folder.name.isdecimal()


def shown(path: Path) -> str:
    """The words for a path: a folder by its system and row; bytes that are no text are replaced."""
    names = (path.parent.name, path.name) if is_numbered(path) else (path.name,)
    return "/".join(os.fsencode(name).decode("utf-8", "replace") for name in names)


def read_loose(path: Path) -> SystemReport:
    """The report of a file named `system__0.md`; there is no data about its works."""
    happened = f"“{shown(path)}” is not named by system and row."
    named = required(_LOOSE.fullmatch(shown(path)), happened, "Call it like system__0.md.")
    return SystemReport(named["system"], int(named["row"]), shown(path), _text(path))


def read_folder(folder: Path) -> SystemReport:
    """The report of a folder; Refusal names the file that cannot be read."""
    layout = required(
        _layout_of(folder),
        f"The folder {shown(folder)} holds no report that can be read.",
        "Choose the folder of a system as it was published.",
    )
    report = SystemReport(shown(folder).rpartition("/")[0], int(folder.name), shown(folder))
    layout(folder, report)
    return report


def named_works(report: SystemReport) -> list[CitedWork]:
    """The works that a report names: by a mark or a link; works it was shown but does not use are left out."""
    marks = set(marks_in(report.text))
    named = [one for one in report.works if one.mark.strip("[]") in marks or _names(report.text, one)]
    listed = {work_named(one.address) for one in named if one.address}
    linked = {work_named(link): CitedWork("", link, "") for link in _LINK.findall(report.text)}
    return [*named, *(one for work, one in linked.items() if work and work not in listed)]


def _names(text: str, work: CitedWork) -> bool:
    result = work_named(work.address) if work.address else None
    linked = result is not None and result.scheme == "arxiv" and result.value in text
    return linked or (bool(work.mark) and work.mark in text)


def _layout_of(folder: Path) -> Callable[[Path, SystemReport], None] | None:
    if (folder / BASE_TEXT).is_file():
        return _read_base
    if (folder / NUGGETS).is_file():
        return None
    if any(folder.glob(f"*/{STORM_TEXT}")) or (folder / STORM_TEXT).is_file():
        return _read_storm
    return _read_with_contexts if any(folder.glob("*.json")) or any(folder.glob("*.md")) else None


def _read_base(folder: Path, report: SystemReport) -> None:
    """Links as marks; works by their id with version in `paper.csv`."""
    report.text = _text(folder / BASE_TEXT)
    if (folder / BASE_WORKS).is_file():
        report.works += [
            CitedWork(
                row.get("mark", ""), row.get("url", "") or (f"arXiv:{row['id']}" if parse(row["id"]) else ""),
                " ".join(row["title"].split()), row.get("snippet", ""),
            )
            for row in read_table(folder / BASE_WORKS, ("id", "title")).rows
        ]  # fmt: skip
    report.question_sha256 = _string(_data(folder / BASE_QUERY).get("query"))
    if (folder / BASE_TIMES).is_file():
        lines = csv.reader(io.StringIO(_text(folder / BASE_TIMES)), skipinitialspace=True)
        whole = [line for line in lines if len(line) >= 3 and line[1].endswith("_pipeline")]
        report.latency_s = _number(whole[-1][2]) if whole else None
    usage = _data(folder / BASE_USAGE).values()
    report.take_usage([one for one in usage if isinstance(one, Mapping)], "total_cost")


def _read_storm(folder: Path, report: SystemReport) -> None:
    """Marks by number; `url_to_info.json` maps addresses to marks."""
    text = next(iter(sorted(folder.glob(f"**/{STORM_TEXT}"))))
    report.text = _text(text)
    content, spent = _data(text.with_name(STORM_WORKS)), _data(text.with_name(BASE_USAGE))
    known = _mapping(content.get("url_to_info"))
    for url, number in _mapping(content.get("url_to_unified_index")).items():
        info = _mapping(known.get(url))
        work = CitedWork(f"[{number}]", url, _string(info.get("title")), _string(info.get("description")))
        report.works.append(work)
    times = [_number(one) for one in _mapping(spent.get("time")).values()]
    modules = _mapping(spent.get("lm_cost")).items()
    calls = [{**_mapping(one), "module": name} for name, of in modules for one in _mapping(of).values()]
    report.take_usage(calls, "cost")
    report.latency_s = sum(time for time in times if time) if times and None not in times else None


def _read_with_contexts(folder: Path, report: SystemReport) -> None:
    """A report and a JSON file beside it, whose contexts list the works that were read."""
    texts, data = sorted(folder.glob("*.md")), sorted(folder.glob("*.json"))
    content = _mapping(read_json(data[0])) if data else {}
    report.text = _text(texts[0]) if texts else _string(content.get("output"))
    report.question_sha256 = _string(content.get("abstract")) or _string(
        content.get("query") or content.get("question")
    )
    report.latency_s = _number(content.get("latency"))
    usage = _mapping(content.get("usage"))
    spent = _mapping(content.get("cost"))
    report.run_tokens = _whole(
        usage.get("total_tokens", content.get("token_count", spent.get("physical tokens")))
    )
    report.cost_usd = _number(usage.get("total_cost_usd_dollar", spent.get("physical cost"))) or None
    contexts = [one for one in content.get("ctxs") or () if isinstance(one, Mapping)]
    numbered = "ranked_results" in content
    report.works = list(_contexts(contexts, numbered=numbered))
    report.passages_of_works = (
        sum(bool(_string(context.get("url"))) for context in contexts) if numbered else 0
    )


def _contexts(contexts: Sequence[Mapping[str, Any]], *, numbered: bool) -> Iterator[CitedWork]:
    """The works of a list of contexts; one cited by its position (from 0) is a passage, and names no work."""
    seen: set[str] = set()
    for place, one in enumerate(contexts):
        address, title, text = (_string(one.get(name)) for name in ("url", "title", "text"))
        if numbered:
            yield CitedWork(f"[{place}]", "", title or address, text)
            continue
        address = address or _string(one.get("id"))
        if parse(address) is not None and address not in seen:
            seen.add(address)
            yield CitedWork("", address, title, text)


def _text(path: Path) -> str:
    return storable(decoded(read_bytes(path, shown(path)), shown(path))).strip()


def _data(path: Path) -> Mapping[str, Any]:
    """The data of a file beside a report; empty if there is none."""
    return _mapping(read_json(path)) if path.is_file() else {}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _string(value: Any) -> str:
    return storable(value).strip() if isinstance(value, str) else ""


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if number >= 0 and number != float("inf") else None


def _whole(value: Any) -> int | None:
    number = _number(value)
    return None if number is None else int(number)


_NOTHING = Refusal(
    f"There are neither papers, citations, nuggets nor systems' reports there; {tables.PAPERS} is the first of them.",
    "Choose the folder that holds them, or the files themselves.",
)

EXEMPLARS = "Human-written exemplar"
# What else there is than tables, nuggets and names: folders of systems' reports, and reports alone.
REPORTS, LOOSE = "reports", "loose"
# File name → the name of the first file that holds such things.
HOLDS = {
    **dict.fromkeys(tables.OF_PAPERS, tables.PAPERS),
    **dict.fromkeys((tables.CITATIONS, tables.RECOVERED), tables.CITATIONS),
    tables.IMPORTANT: tables.IMPORTANT,
    MAPPING: MAPPING,
}


def item_id(arxiv_id: str) -> str:
    """The id of a paper's item, the same in every project."""
    return derived_id(DATASET, arxiv_id)


def read(paths: Sequence[Path], known: ExistingItems | None = None) -> tuple[Bundle, list[Problem]]:
    """The content of folders or files of this layout, and all problems with them; Refusal if there is nothing.

    Papers and nuggets are joined by arXiv id, systems' folders by the row of the paper unless they name another one.
    """
    return _RelatedWorkReader(known or ExistingItems(), now()).read(_published(paths))


def of_papers(papers: Sequence[CollectedPaper]) -> tuple[Bundle, list[Problem]]:
    reader = _RelatedWorkReader(ExistingItems(), now())
    for row, paper in enumerate(papers):
        reader.take_collected(paper, row)
    return reader.bundle, reader.problems


def _published(paths: Sequence[Path]) -> Mapping[str, list[Path]]:
    """The files and folders by what they hold, which the table's file of that name stands for; Refusal if none does."""
    result: dict[str, list[Path]] = defaultdict(list)
    for path in paths:
        if not path.is_dir():
            result[_holds(path, chosen=True)].append(path)
        elif is_numbered(path):
            result[REPORTS].append(path)
        else:
            result[REPORTS] += folders_in(path)
            inside = set(result[REPORTS])
            for file in sorted(path.rglob("*")):
                if file.is_file() and not inside.intersection(file.parents):
                    result[_holds(file, chosen=False)].append(file)
    # If both exist, the file with the most columns provides the papers and fixes their rows.
    named = {path.name: path for path in reversed(result[tables.PAPERS])}
    result[tables.PAPERS] = [named[name] for name in tables.OF_PAPERS if name in named][:1]
    if not any(files for what, files in result.items() if what not in ("", MAPPING)):
        raise _NOTHING
    return result


def _holds(path: Path, *, chosen: bool) -> str:
    """What a file holds, by its name; of one that is none of these Refusal if it was chosen itself, else nothing."""
    if path.name in HOLDS:
        return HOLDS[path.name]
    if path.suffix == ".json" and (chosen or path.stem.isdigit() or path.name == NUGGETS):
        return NUGGETS
    if _LOOSE.fullmatch(path.name):
        return LOOSE
    if chosen:
        raise Refusal(f"“{path.name}” is no file of this layout.", "Choose the file as it was published.")
    return ""


class _RelatedWorkReader(BundleReader):
    def __init__(self, known: ExistingItems, at: datetime) -> None:
        super().__init__()
        self.known, self.at = known, at
        self.papers: dict[str, CollectedPaper] = {}
        self.rows: dict[str, int] = {}
        self.by_row: dict[int, str] = {}
        # The abstract of every paper, from the project or the files.
        self.abstracts = {
            item.key: _plain(item.question.partition(tables.ABSTRACT)[2]) for item in known.items.values()
        }
        # The keys of the important citations of each paper that a file names; all others of it are not important.
        self.important: dict[str, list[str]] = {}
        self.works: set[str] = set()
        self.names: dict[str, str] = {}

    def read(self, files: Mapping[str, list[Path]]) -> tuple[Bundle, list[Problem]]:
        cited: dict[str, list[Cited]] = defaultdict(list)
        self._each(files[tables.PAPERS], self._read_papers)
        self._each(files[tables.CITATIONS][:1], lambda file: self._read_citations(file, cited))
        self._each(files[tables.IMPORTANT][:1], lambda file: self._read_important(file, cited))
        for paper in self.papers.values():
            with self.reporting(paper.arxiv_id):
                self._take_references(paper, cited.pop(paper.arxiv_id, []))
        for arxiv_id, rows in cited.items():
            with self.reporting(arxiv_id):
                self._take_evidence(arxiv_id, rows)
        self._each(files[MAPPING], self._read_names)
        self._each(files[NUGGETS], self._take_nuggets)
        self._each(files[REPORTS], lambda folder: self._take_report(read_folder(folder)))
        self._each(files[LOOSE], lambda file: self._take_report(read_loose(file)))
        return self.bundle, self.problems

    def take_collected(self, one: CollectedPaper, row: int) -> None:
        with self.reporting(one.arxiv_id):
            self._take_paper(one.arxiv_id, one, row)
        with self.reporting(one.arxiv_id):
            self._take_references(one, tables.citations_in(one))
        self.problems += [Problem(one.arxiv_id, None, note, note=True) for note in one.notes]

    def _each(self, paths: Iterable[Path], read: Callable[[Path], None]) -> None:
        for path in paths:
            with self.reporting(shown(path)):
                read(path)

    def _read_papers(self, file: Path) -> None:
        for index, paper in tables.papers_of(read_table(file, ("arxiv_id", "abstract"))):
            if paper is None:
                self.problem(file.name, index, "has no arXiv id, title or abstract")
            elif paper.arxiv_id in self.papers:
                self.problem(file.name, index, f"paper {paper.arxiv_id} stands in this file before")
            else:
                self.papers[paper.arxiv_id] = paper
                self._take_paper(file.name, paper, index)
        # Only this file's order numbers folders; others hold the same papers in another order.
        if file.name == tables.PAPERS:
            self.by_row = {row: arxiv_id for arxiv_id, row in self.rows.items()}

    def _take_paper(self, file: str, paper: CollectedPaper, row: int) -> None:
        own, self.rows[paper.arxiv_id] = item_id(paper.arxiv_id), row
        self.abstracts[paper.arxiv_id] = _plain(paper.abstract)
        item = ItemRecord(
            id=own,
            key=paper.arxiv_id,
            dataset=DATASET,
            question=tables.task_of(paper),
            question_type=RELATED_WORK,
            subject=paper.category,
            position=row,
        )
        self.add("items", item, file, row)
        self._take_source(paper, paper.title, paper.abstract, f"arXiv:{paper.arxiv_id}", 0)
        if paper.section:
            self._take_source(paper, f"{RELATED_WORK} {LATEX}", paper.section, "", 1)

    def _take_source(
        self, paper: CollectedPaper, title: str, text: str, identifier: str, position: int
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
            published=tables.day_of(paper) if identifier else "",
        )
        self.bundle.sources.append(source)

    def _read_citations(self, file: Path, cited: dict[str, list[Cited]]) -> None:
        table = read_table(file, ("parent_paper_arxiv_id", "citation_shorthand", "cited_paper_title"))
        for citation in tables.citations_of(table):
            if citation.paper not in self.abstracts:
                self.problem(
                    file.name,
                    citation.index,
                    f"its paper {citation.paper or '(none)'} is not among the papers",
                )
            else:
                cited[citation.paper].append(citation)

    def _read_important(self, file: Path, cited: Mapping[str, list[Cited]]) -> None:
        table = read_table(file, ("parent_paper_arxiv_id", "citation_shorthand"))
        every = {(paper, row.key) for paper, rows in cited.items() for row in rows}
        listed = tables.citations_of(table)
        self.important = grouped((one.paper, one.key) for one in listed if (one.paper, one.key) in every)
        for one in listed:
            if (one.paper, one.key) not in every:
                self.problem(
                    file.name, one.index, f"“{one.key}” is no citation of paper {one.paper or '(none)'}"
                )
        implied = sum(key not in self.important.get(paper, (key,)) for paper, key in every)
        if implied:
            count = f"{counted(implied, 'citation')} of its papers {'is' if implied == 1 else 'are'}"
            self.note(file.name, f"{count} not listed and so taken as not important")

    def _read_names(self, file: Path) -> None:
        names = fitting(SystemNames, read_json(file), f"“{file.name}” does not name systems", CORRECT)
        self.names |= {system.file: system.name for system in names.systems}

    def _take_references(self, paper: CollectedPaper, rows: Sequence[Cited]) -> None:
        """Add the references of a paper's section as gold evidence, and the section as the exemplar that cites them."""
        mentioned = latex.cited_keys(paper.section)
        order = {key: place for place, key in enumerate(mentioned)}
        ordered = sorted(rows, key=lambda one: (order.get(one.key, len(order)), one.index))
        keys = dict.fromkeys(one.key for one in ordered)
        for key in mentioned if rows else ():
            if key not in keys:
                self.note(
                    tables.CITATIONS, f"paper {paper.arxiv_id} cites “{key}”, of which the file says nothing"
                )
        numbers = {key: number for number, key in enumerate(keys | dict.fromkeys(mentioned), start=1)}
        self._take_evidence(paper.arxiv_id, ordered)
        if paper.section:
            self._take_exemplar(paper, ordered, numbers)

    def _take_evidence(self, arxiv_id: str, rows: Sequence[Cited]) -> None:
        own, seen = item_id(arxiv_id), defaultdict[str, int](int)
        units = []
        for row in rows:
            seen[row.key] += 1
            reference = tables.reference(row.title or row.key, row.key, row.identifier, row.authors, row.year)
            own_id = derived_id(own, "reference", row.key, seen[row.key])
            important = self.important.get(row.paper)
            listed = "important" if important and row.key in important else "not_important"
            values = {
                "id": own_id,
                "importance": listed if important else "",
                "other_identifiers": row.others,
            }
            units.append(reference.model_copy(update=values))
            self._take_work(row.identifier, row.title, row.abstract)
        if units:
            self._take_artifact(own, Evidence(units=tuple(units)), tables.CITATIONS)

    def _take_exemplar(self, paper: CollectedPaper, rows: Sequence[Cited], numbers: dict[str, int]) -> None:
        by_key: dict[str, Cited] = {}
        for row in rows:
            by_key.setdefault(row.key, row)
        body = latex.markdown(paper.section, lambda keys: "".join(f"[{numbers[key]}]" for key in keys))
        listed = [f"[{number}] {_entry(key, by_key.get(key))}" for key, number in numbers.items()]
        text = "\n\n".join([body, "## References", *listed]) if listed else body
        works = tuple(
            self._mark(item_id(paper.arxiv_id), EXEMPLARS, f"[{numbers[one.key]}]", one.title, one.identifier)
            for one in by_key.values()
        )
        report = SystemReport(EXEMPLARS, self.rows[paper.arxiv_id], tables.PAPERS, text)
        self._add_response(report, paper.arxiv_id, EXEMPLAR, works or None)

    def _take_nuggets(self, file: Path) -> None:
        tree = read_json(file)
        key = tree.get("qid") if isinstance(tree, dict) else None
        made = tree.get("nuggets") if isinstance(tree, dict) else None
        if not isinstance(key, str) or not isinstance(made, list):
            raise Refusal(f"“{file.name}” does not hold the nuggets of one paper.", "Choose the right file.")
        if key not in self.abstracts:
            self.problem(file.name, None, f"its paper {key} is not among the papers")
            return
        own = item_id(key)
        units = []
        for place, one in enumerate(made):
            given = _mapping(one)
            fields = {
                "id": derived_id(own, "nugget", place, str(given.get("text"))),
                "text": given.get("text"), "importance": given.get("importance"),
                "support": given.get("assignment", ""),
            }  # fmt: skip
            try:
                units.append(Nugget.model_validate(fields))
            except ValueError:
                self.problem(file.name, place, "is not a nugget with text, importance and assignment")
        if units:
            self._take_artifact(own, Nuggets(units=tuple(units)), file.name)

    def _take_report(self, report: SystemReport) -> None:
        report.system = self.names.get(report.system, report.system)
        arxiv_id = self._paper_of(report)
        if not arxiv_id:
            return
        if not report.text:
            self.note(report.file, "holds an empty report")
        own = item_id(arxiv_id)
        named = named_works(report)
        works = tuple(
            self._mark(own, report.system, one.mark, one.title, one.address).model_copy(
                update={} if one.address else {"passage": one.abstract[:20_000]}
            )
            for one in named
        )
        if count := report.passages_of_works:
            shown = f"was shown {counted(count, 'passage')} with the address of a work"
            self.note(report.file, f"{shown}, which counts only where the report names it")
        for one in named:
            self._take_work(one.address, one.title, one.abstract)
        self._add_response(report, arxiv_id, "end-to-end", works)

    def _paper_of(self, report: SystemReport) -> str:
        """The paper that a report is about: by its folder's number, unless its question names another."""
        by_row, abstract = self.by_row.get(report.row, ""), _plain(report.question_sha256)
        about = [key for key, words in self.abstracts.items() if words and words in abstract]
        if len(about) == 1:
            if by_row and about[0] != by_row:
                self.note(
                    report.file, f"was asked about {about[0]}, not about row {report.row}; it goes there"
                )
            return about[0]
        if not by_row:
            self.problem(
                report.file, None, f"no paper is known for row {report.row}; give {tables.PAPERS} too"
            )
        return by_row

    def _add_response(
        self, report: SystemReport, arxiv_id: str, mode: str, works: tuple[Reference, ...] | None
    ) -> None:
        system_id = self.known.systems.get(report.system) or derived_id(DATASET, "system", report.system)
        if all(system.id != system_id for system in self.bundle.systems):
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
        before = next((response for response in self.bundle.responses if response.id == record.id), None)
        if before is not None:
            if before.text.strip() != record.text.strip():
                self.problem(report.file, None, "the system has another report on this paper in these files")
            return
        self.add("responses", record, report.file, report.row)
        if works is not None:
            evidence = Evidence(units=works)
            self.bundle.extracts.append(
                ExtractRecord(
                    id=derived_id(record.id, ResponsePart.REFERENCES),
                    item_id=own,
                    response_id=record.id,
                    kind=ResponsePart.REFERENCES,
                    origin=IMPORT,
                    state=ExtractState.CONFIRMED,
                    at=self.at,
                    sha256=evidence.sha256(),
                    document=evidence.tree(),
                )
            )

    def _mark(self, own: str, system: str, mark: str, title: str, address: str) -> Reference:
        """A work of a report's own list, with its mark in the note."""
        words = (title or address or mark)[:20_000]
        own_id = derived_id(own, system, "work", mark, address, words)
        return tables.reference(words, mark, address).model_copy(update={"id": own_id})

    def _take_work(self, address: str, title: str, abstract: str) -> None:
        """Add the abstract of a work named by arXiv or a DOI, once; further abstracts of it are ignored."""
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
        self.add("artifacts", record, file, 0)


def _plain(text: str) -> str:
    return " ".join(text.split())


def _entry(key: str, one: Cited | None) -> str:
    if one is None:
        return key
    link = parse(one.identifier)
    where = one.identifier if one.identifier.startswith("http") else str(link or one.identifier)
    parts = (one.authors, one.title or key, str(one.year or ""), where)
    return ". ".join(part.rstrip(".") for part in parts if part)
