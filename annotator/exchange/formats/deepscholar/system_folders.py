"""Folders of systems: one per paper, each layout known by its files."""

import csv
import io
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from annotator.domain.texts.canonical import storable
from annotator.domain.texts.identifier import OLD_ARXIV, parse, work_named
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.reading import decoded, read_bytes, read_json
from annotator.exchange.table_files import read_table
from annotator.protocols.citations import marks_in

# Of each layout only these files are opened; settings, which may hold keys, never are.
BASE_TEXT, BASE_WORKS, BASE_QUERY, BASE_TIMES, BASE_USAGE = (
    "intro.md",
    "paper.csv",
    "helper_data.json",
    "execution_time.csv",
    "usage.json",
)
STORM_TEXT, STORM_WORKS = "storm_gen_article.md", "url_to_info.json"
# A folder with this file is one of nuggets.
NUGGETS = "res.json"
_LINK = re.compile(
    r"(?:https?://)?(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/[a-z.-]*/?\d[\d.]*\d(?:v\d+)?"
    rf"|arxiv:\s*(?:\d{{4}}\.\d{{4,5}}|{OLD_ARXIV})(?:v\d+)?|(?<![\w./-]){OLD_ARXIV}(?:v\d+)?",
    re.IGNORECASE,
)
_LOOSE = re.compile(r"(?P<system>.+)__(?P<row>\d+)\.md")


class CitedWork(NamedTuple):
    """The work that a mark of a report leads to; the mark is empty where links name works.

    Without an address `abstract` is a passage that the system was shown.
    """

    mark: str
    address: str
    title: str
    abstract: str = ""


@dataclass(slots=True)
class SystemReport:
    """A system's report on the paper of a row, and everything that the files tell of it."""

    system: str
    row: int
    file: str
    text: str = ""
    works: list[CitedWork] = field(default_factory=list)
    asked: str = ""
    latency_s: float | None = None
    run_tokens: int | None = None
    cost_usd: float | None = None
    cost_part_usd: float | None = None
    passages_of_works: int = 0
    """How many passages that it was shown, and cites by their place, came with the address of a work."""

    def take_usage(self, told: Sequence[Mapping[str, Any]], price: str) -> None:
        """What all calls took; equal entries under two names are one, and a model without a price has no known cost."""
        different = [one for place, one in enumerate(told) if one not in told[:place]]
        tokens = [_whole(one.get("total_tokens")) for one in different]
        if tokens and None not in tokens:
            self.run_tokens = sum(one for one in tokens if one)
        # Zero beside tokens means a model without a price.
        costs = [_number(one.get(price)) for one in different]
        known = sum(cost for cost in costs if cost) or None
        self.cost_usd, self.cost_part_usd = (known, None) if all(costs) else (None, known)


def folders_in(folder: Path) -> Iterator[Path]:
    """Every folder of one system's report on one paper: a number as name, a report inside, a system's folder above."""
    for found in sorted(path for path in folder.rglob("*") if path.is_dir() and is_numbered(path)):
        if _layout_of(found):
            yield found


def is_numbered(folder: Path) -> bool:
    """Whether a folder is named by a row."""
    return folder.name.isascii() and folder.name.isdecimal()


def shown(path: Path) -> str:
    """How a place is told of: a folder by its system and row; bytes that are no text are replaced."""
    names = (path.parent.name, path.name) if is_numbered(path) else (path.name,)
    return "/".join(os.fsencode(name).decode("utf-8", "replace") for name in names)


def read_loose(path: Path) -> SystemReport:
    """The report of a file named `system__0.md`; of its works nothing is told beside it."""
    named = _LOOSE.fullmatch(shown(path))
    if named is None:
        raise Refusal(f"“{shown(path)}” is not named by system and row.", "Call it like system__0.md.")
    return SystemReport(named["system"], int(named["row"]), shown(path), _text(path))


def is_loose(path: Path) -> bool:
    """Whether a file is a report that lies alone."""
    return bool(_LOOSE.fullmatch(path.name))


def read_folder(folder: Path) -> SystemReport:
    """The report of a folder; Refusal names the file that cannot be read."""
    layout = _layout_of(folder)
    if layout is None:
        raise Refusal(
            f"The folder {shown(folder)} holds no report that can be read.",
            "Choose the folder of a system as it was published.",
        )
    report = SystemReport(shown(folder).rpartition("/")[0], int(folder.name), shown(folder))
    layout(folder, report)
    return report


def named_works(report: SystemReport) -> list[CitedWork]:
    """The works that a report names: by a mark or a link; what it was shown and left out is not its own."""
    marks = set(marks_in(report.text))
    named = [one for one in report.works if one.mark.strip("[]") in marks or _names(report.text, one)]
    listed = {work_named(one.address) for one in named if one.address}
    linked = {work_named(link): CitedWork("", link, "") for link in _LINK.findall(report.text)}
    return [*named, *(one for work, one in linked.items() if work and work not in listed)]


def _names(text: str, work: CitedWork) -> bool:
    found = work_named(work.address) if work.address else None
    linked = found is not None and found.scheme == "arxiv" and found.value in text
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
        for row in read_table(folder / BASE_WORKS, ("id", "title")).rows:
            address = row.get("url", "") or (f"arXiv:{row['id']}" if parse(row["id"]) else "")
            report.works.append(
                CitedWork(
                    row.get("mark", ""), address, " ".join(row["title"].split()), row.get("snippet", "")
                )
            )
    if (folder / BASE_QUERY).is_file():
        report.asked = _string(_mapping(read_json(folder / BASE_QUERY)).get("query"))
    if (folder / BASE_TIMES).is_file():
        report.latency_s = _pipeline_time(folder / BASE_TIMES)
    if (folder / BASE_USAGE).is_file():
        usage = _mapping(read_json(folder / BASE_USAGE))
        report.take_usage([one for one in usage.values() if isinstance(one, Mapping)], "total_cost")


def _pipeline_time(path: Path) -> float | None:
    """The seconds of the whole: steps contain each other, so the last one that is called a pipeline counts."""
    lines = csv.reader(io.StringIO(_text(path)), skipinitialspace=True)
    whole = [line for line in lines if len(line) >= 3 and line[1].endswith("_pipeline")]
    return _number(whole[-1][2]) if whole else None


def _read_storm(folder: Path, report: SystemReport) -> None:
    """Marks by number; `url_to_info.json` tells which address has which."""
    text = next(iter(sorted(folder.glob(f"**/{STORM_TEXT}"))))
    report.text = _text(text)
    beside = text.with_name(STORM_WORKS)
    if beside.is_file():
        told = _mapping(read_json(beside))
        known = _mapping(told.get("url_to_info"))
        for url, number in _mapping(told.get("url_to_unified_index")).items():
            info = _mapping(known.get(url))
            work = CitedWork(f"[{number}]", url, _string(info.get("title")), _string(info.get("description")))
            report.works.append(work)
    usage = text.with_name(BASE_USAGE)
    if usage.is_file():
        spent = _mapping(read_json(usage))
        times = [_number(one) for one in _mapping(spent.get("time")).values()]
        modules = _mapping(spent.get("lm_cost")).items()
        calls = [{**_mapping(one), "module": name} for name, of in modules for one in _mapping(of).values()]
        report.take_usage(calls, "cost")
        report.latency_s = sum(one for one in times if one) if times and None not in times else None


def _read_with_contexts(folder: Path, report: SystemReport) -> None:
    """A report and a JSON file beside it; what was read is in its list of contexts."""
    texts, data = sorted(folder.glob("*.md")), sorted(folder.glob("*.json"))
    told = _mapping(read_json(data[0])) if data else {}
    report.text = _text(texts[0]) if texts else _string(told.get("output"))
    report.asked = _string(told.get("abstract")) or _string(told.get("query") or told.get("question"))
    report.latency_s = _number(told.get("latency"))
    usage = _mapping(told.get("usage"))
    spent = _mapping(told.get("cost"))
    report.run_tokens = _whole(
        usage.get("total_tokens", told.get("token_count", spent.get("physical tokens")))
    )
    report.cost_usd = _number(usage.get("total_cost_usd_dollar", spent.get("physical cost"))) or None
    contexts = [one for one in told.get("ctxs") or () if isinstance(one, Mapping)]
    numbered = "ranked_results" in told
    report.works = list(_contexts(contexts, numbered=numbered))
    report.passages_of_works = sum(bool(_string(one.get("url"))) for one in contexts) if numbered else 0


def _contexts(contexts: Sequence[Mapping[str, Any]], *, numbered: bool) -> Iterator[CitedWork]:
    """The works of a list of contexts; what is cited by its place (from 0) is a passage, and names no work."""
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
