"""Tables of any tool as rows: CSV, JSON, JSON Lines, Excel, Parquet, and folders of reports.

Nothing in a file is executed; of a formula its stored value counts. pandas is loaded with the first table.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from annotator.domain.texts.canonical import storable
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.reading import CORRECT, LARGEST_FILE, json_lines, read_bytes, read_json
from annotator.exchange.release.bundle import Problem, of_file

# Of the tables that Goldsmith itself writes as JSON.
VERSION = 1
REPORT_ENDINGS = (".md", ".markdown", ".txt")
# Where an object has a list of such a name, it is one entry, and no wrapping of entries.
LISTS = {
    "rubric",
    "rubrics",
    "criteria",
    "criterions",
    "criterion",
    "checklist",
    "checklists",
    "requirements",
    "points",
}
Row = Mapping[str, Any]
# What readers of workbooks raise where a damaged part makes them stumble.
UNREADABLE = (
    LookupError, ValueError, TypeError, AttributeError, OSError, EOFError, SyntaxError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a table by column, and how messages count them."""

    name: str
    rows: Sequence[Row]
    first: int = 1
    unit: str = "record"
    notes: tuple[str, ...] = ()

    def problem(self, index: int, reason: str) -> Problem:
        return Problem(self.name, None, f"{self.unit} {self.first + index}: {reason}")

    def paths(self) -> list[str]:
        """Every column, and the paths into those that are nested, in their order."""
        found: dict[str, None] = {}
        for row in self.rows:
            for key, value in row.items():
                found |= dict.fromkeys(_paths(key, value))
        return list(found)


def _paths(key: str, value: Any) -> Iterator[str]:
    if isinstance(value, list):
        inner = {name for one in value if isinstance(one, dict) for name in one}
        yield from (f"{key}[].{name}" for name in sorted(inner))
        if any(not isinstance(one, dict | list) for one in value):
            yield f"{key}[]"
    elif isinstance(value, dict):
        lists = [one for one in value.values() if isinstance(one, list)]
        yield from (path for one in lists for path in _paths(f"{key}.*", one))
        yield from (f"{key}.{name}" for name, one in value.items() if not isinstance(one, list | dict))
    else:
        yield key


def values(row: Row, path: str) -> list[Any]:
    """What stands at a path of a row, in order; a column that is called so comes first."""
    if path in row:
        return [row[path]]
    found: list[Any] = [row]
    for part in path.replace("[]", ".[]").split("."):
        if part == "[]":
            found = [one for many in found if isinstance(many, list) for one in many]
        elif part == "*":
            found = [one for many in found if isinstance(many, dict) for one in many.values()]
        else:
            found = [one.get(part) for one in found if isinstance(one, dict)]
    return found


def read_tables(paths: Sequence[Path]) -> tuple[list[Table], list[Problem]]:
    """The tables of files and folders, and why some could not be read."""
    found: list[Table] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            found += _of_folder(path, problems) if path.is_dir() else _of_file(path, problems)
        except Refusal as refusal:
            problems.append(of_file(path.name, refusal))
    return found, problems


def _of_folder(folder: Path, problems: list[Problem]) -> list[Table]:
    """The reports of a folder, SYSTEM/ITEM.md, and the tables that lie in it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    reports = [
        {
            "system": path.parent.name,
            "item": path.stem,
            "report": storable(_text(read_bytes(path, path.name), path.name)[0]),
        }
        for path in files
        if path.suffix.lower() in REPORT_ENDINGS
    ]
    tables = [Table(folder.name, reports, unit="report")] if reports else []
    for path in files:
        if path.suffix.lower() in READERS:
            tables += _of_file(path, problems)
    if not tables:
        raise Refusal(
            f"The folder “{folder.name}” holds no report and no table.",
            "Reports lie in it as SYSTEM/ITEM.md, or it holds tables.",
        )
    return tables


def _of_file(path: Path, problems: list[Problem]) -> list[Table]:
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        kinds = ", ".join(READERS)
        raise Refusal(f"“{path.name}” is not a table that can be read.", f"Tables end in {kinds}.")
    content = read_bytes(path, path.name)
    if len(content) > LARGEST_FILE:
        raise Refusal(f"“{path.name}” is larger than {LARGEST_FILE // 2**20} MB.", "Split it.")
    found = [table for table in reader(content, path, problems) if table.rows]
    if not found:
        raise Refusal(f"“{path.name}” holds no row.", CORRECT)
    return found


def _text(content: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """A file's text, and how it was encoded where that is not UTF-8."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace"), (f"“{name}” is in UTF-16",)
    try:
        return content.decode("utf-8-sig"), ()
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace"), (f"“{name}” is not in UTF-8: read as Windows-1252",)


def _csv(content: bytes, path: Path, _: list[Problem]) -> list[Table]:
    import pandas

    text, notes = _text(content, path.name)
    text = storable(text)
    head = text[: text.find("\n") + 1] or text
    told = re.fullmatch(r'"?sep=(.)"?\s*', head)
    text, parted = (text[len(head) :], told[1]) if told else (text, max(",;\t|", key=head.count))
    if not text.strip():
        return []
    try:
        frame = pandas.read_csv(
            io.StringIO(text),
            sep=parted,
            header=None,
            dtype=str,
            na_filter=False,
            engine="c",
            low_memory=False,
        )
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError, ValueError) as error:
        words = str(error).removeprefix("Error tokenizing data. C error: ").strip()
        raise Refusal(f"“{path.name}” is not a table: {words}.", CORRECT) from None
    return [_framed(path.name, frame, notes)]


def _excel(content: bytes, path: Path, _: list[Problem]) -> list[Table]:
    import pandas

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as parts:
            large = sum(one.file_size for one in parts.infolist()) > 4 * LARGEST_FILE
        if large:
            raise Refusal(f"“{path.name}” is too large when it is unpacked.", "Split it.")
        sheets = pandas.read_excel(
            io.BytesIO(content), sheet_name=None, header=None, dtype=object, na_filter=False
        )
    except UNREADABLE as error:
        raise Refusal(
            f"“{path.name}” is no workbook that can be read ({type(error).__name__}).", CORRECT
        ) from None
    many = len(sheets) > 1
    return [
        _framed(f"{path.name}, {sheet}" if many else path.name, frame, ())
        for sheet, frame in sheets.items()
        if len(frame)
    ]


def _parquet(content: bytes, path: Path, _: list[Problem]) -> list[Table]:
    import pandas

    try:
        frame = pandas.read_parquet(io.BytesIO(content))
    except ImportError:
        raise Refusal(
            f"“{path.name}” needs pyarrow, which is not installed.",
            "Install it with `pip install pyarrow`, or save the table as CSV.",
        ) from None
    except UNREADABLE as error:
        raise Refusal(f"“{path.name}” is no Parquet file ({type(error).__name__}).", CORRECT) from None
    rows = [{str(key): plain(value) for key, value in row.items()} for row in frame.to_dict("records")]
    return [Table(path.name, rows, unit="row")]


def _framed(name: str, frame: Any, notes: tuple[str, ...]) -> Table:
    """The table whose first row names its columns."""
    head, *body = frame.values.tolist()
    names = [str(plain(cell) or "").strip() or f"column {at}" for at, cell in enumerate(head, start=1)]
    again = next((one for one in names if names.count(one) > 1), None)
    if again is not None:
        raise Refusal(f"“{name}” has two columns “{again}”.", CORRECT)
    return Table(name, [dict(zip(names, map(plain, row), strict=False)) for row in body], 2, "row", notes)


def plain(value: Any) -> Any:
    """A cell as JSON would have it; dates as they are written, whole numbers without a point."""
    if isinstance(value, datetime | date):
        return value.isoformat().removesuffix("T00:00:00")
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return None if value != value else int(value) if value == int(value) else value
    return storable(value) if isinstance(value, str) else value


def _json(_content: bytes, path: Path, _: list[Problem]) -> list[Table]:
    tree = read_json(path)
    if isinstance(tree, dict):
        if str(tree.get("format")).startswith("goldsmith") and tree.get("version") != VERSION:
            raise Refusal(f"“{path.name}” has a newer form.", "Open it with a newer Goldsmith.")
        lists = [one for one in tree.values() if isinstance(one, list) and one and isinstance(one[0], dict)]
        if tree and all(isinstance(one, dict) for one in tree.values()):
            tree = [{"id": key} | one for key, one in tree.items()]
        else:
            tree = lists[0] if len(lists) == 1 and not _named(tree, LISTS) else [tree]
    if not isinstance(tree, list) or not all(isinstance(one, dict) for one in tree):
        raise Refusal(f"“{path.name}” is no list of entries with fields.", CORRECT)
    return [Table(path.name, tree)]


def _named(tree: Mapping[str, Any], words: set[str]) -> bool:
    return any(re.sub(r"[^a-z0-9]", "", key.casefold()) in words for key in tree)


def _jsonl(content: bytes, path: Path, problems: list[Problem]) -> list[Table]:
    rows = []
    for number, tree in json_lines(content, path.name):
        if isinstance(tree, dict):
            rows.append(tree)
        else:
            problems.append(
                Problem(
                    path.name, None, f"line {number}: {tree if isinstance(tree, Refusal) else 'no object'}"
                )
            )
    return [Table(path.name, rows, unit="line")]


READERS: Mapping[str, Callable[[bytes, Path, list[Problem]], list[Table]]] = {
    ".csv": _csv, ".tsv": _csv, ".tab": _csv, ".json": _json, ".jsonl": _jsonl, ".ndjson": _jsonl, ".xlsx": _excel,
    ".parquet": _parquet,
}  # fmt: skip
