"""Tables of any tool as rows: CSV, JSON, JSON Lines, Excel, Parquet, and folders of reports.

Nothing in a file is executed; for a formula its stored value counts. pandas, which takes half a second, is loaded
with the first workbook or Parquet file. CSV is read by the standard library: only its strict mode refuses a misplaced
quotation mark, which pandas reads past, swallowing rows.
"""

import csv
import gzip
import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from importlib import import_module
from pathlib import Path
from typing import Any

from annotator.domain.common import Refusal, required, storable
from annotator.exchange.folders import CORRECT, LARGEST_FILE, decoded, json_lines, parse, read_bytes, within
from annotator.exchange.release.bundle import Problem, of_file

# The library's own limit of 131 072 characters for a cell is less than an abstract or a report may have.
csv.field_size_limit(LARGEST_FILE)
# The format version of tables that Goldsmith itself writes as JSON.
VERSION = 1
REPORT_ENDINGS = (".md", ".markdown", ".txt")
# An object with a list or a text of such a name is one entry, and no wrapper around entries.
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
TEXTS = {"question", "prompt", "query", "task", "text", "report", "response", "answer"}
# The words of pandas and spreadsheets for an empty cell.
NOTHING = {"", "nan", "n/a", "none"}
NO_FILES = Refusal(
    "The folder holds no report and no table.",
    "Reports lie in it as SYSTEM/ITEM.md or ITEM__SYSTEM.md, or it holds tables.",
)
Row = Mapping[str, Any]
# Exceptions of workbook readers for damaged parts.
UNREADABLE = (
    LookupError, ValueError, TypeError, AttributeError, OSError, EOFError, SyntaxError, RuntimeError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip
CELL = re.compile(rb"<(?:\w+:)?c\s([^>]*[^>/])>(.*?)</(?:\w+:)?c>", re.DOTALL)
WEBANNO = b"#FORMAT=WebAnno TSV 3"
FORMULA, VALUE = re.compile(rb"<(?:\w+:)?f[\s/>]"), re.compile(rb"<(?:\w+:)?v[^>/]*>[^<]")


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a table by column, each with its number or place, and the word for one in messages."""

    name: str
    rows: Sequence[Row]
    numbers: Sequence[int | str]
    columns: Sequence[str]
    unit: str = "row"
    notes: tuple[str, ...] = ()

    def place(self, index: int) -> str:
        return f"{self.unit} {self.numbers[index]}"

    def problem(self, index: int, reason: str) -> Problem:
        return Problem(self.name, None, f"{self.place(index)}: {reason}")

    def paths(self) -> list[str]:
        if isinstance(self.rows, Sheet):
            return list(self.rows.names)
        result: dict[str, None] = {}
        for row in self.rows:
            for key, value in row.items():
                result |= dict.fromkeys(_paths(key, value))
        return list(result)


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
    """The values at a path of a row, in order; a column of that name takes precedence."""
    if path in row:
        return [row[path]]
    result: list[Any] = [row]
    for part in path.replace("[]", ".[]").split("."):
        if part == "[]":
            result = [one for many in result if isinstance(many, list) for one in many]
        elif part == "*":
            result = [one for many in result if isinstance(many, dict) for one in many.values()]
        else:
            result = [one.get(part) for one in result if isinstance(one, dict)]
    return result


def read_table(path: Path, required: Sequence[str]) -> Table:
    """A file's only table with the wanted columns, its cells as texts; Refusal unless all of it can be read."""
    problems: list[Problem] = []
    tables = _of_file(path, problems, ".csv")
    fit = [table for table in tables if not set(required).difference(table.columns)]
    if len(fit) != 1:
        lacking = [name for name in required if all(name not in table.columns for table in tables)]
        raise Refusal(
            f"“{path.name}” has no column “{lacking[0]}”."
            if lacking
            else f"“{path.name}” has {len(fit) or 'no'} sheets with the columns {', '.join(required)}.",
            f"One table must name the columns: {', '.join(required)}.",
        )
    if wrong := [*fit[0].notes, *map(str, problems)]:
        raise Refusal(f"{wrong[0]}.", CORRECT)
    return replace(
        fit[0], rows=[{name: cell_text(row.get(name)) for name in fit[0].columns} for row in fit[0].rows]
    )


def cell_text(value: Any) -> str:
    """A cell as text without surrounding whitespace; pandas' words for an empty cell give an empty text."""
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)
    return "" if text.strip().lower() in NOTHING else storable(text).strip()


def read_tables(paths: Sequence[Path], unknown_as: str = "") -> tuple[list[Table], list[Problem]]:
    """The tables of files and folders, and why some could not be read; the reports of a folder are one table.

    A file with another ending is read as if it ended in `unknown_as`.
    """
    tables: list[Table] = []
    problems: list[Problem] = []
    for path in paths:
        files = _inside(path.absolute()) if path.is_dir() else [path]
        reports: dict[int | str, Row] = {}
        notes: list[str] = []
        for file in files:
            try:
                if path.is_dir() and file.suffix.lower() in REPORT_ENDINGS:
                    text, doubts = _text(within(read_bytes(file, file.name), file.name), file.name)
                    notes += doubts
                    item, _, system = file.stem.rpartition("__")
                    reports[file.relative_to(path.absolute()).as_posix()] = {
                        "system": system if item else file.parent.name, "item": item or file.stem,
                        "report": storable(text),
                    }  # fmt: skip
                elif made := [table for table in _of_file(file, problems, unknown_as) if table.rows]:
                    tables += made
                else:
                    problems.append(of_file(file.name, Refusal(f"“{file.name}” holds no row.", CORRECT)))
            except Refusal as refusal:
                problems.append(of_file(file.name, refusal))
        if reports:
            tables.append(_rows(path.absolute().name, reports, "report", tuple(notes)))
        if not files:
            problems.append(of_file(path.name, NO_FILES))
    return [_numbered(table, tables[:place]) for place, table in enumerate(tables)], problems


def _numbered(table: Table, before: Sequence[Table]) -> Table:
    number = sum(other.name == table.name for other in before) + 1
    return replace(table, name=f"{table.name} ({number})") if number > 1 else table


def _inside(folder: Path) -> list[Path]:
    """The reports and tables of a folder, however deep; files hidden by systems and programs are skipped."""
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix.lower() in (*READERS, *REPORT_ENDINGS)
        and path.is_file()
        and not any(part.startswith((".", "~$")) for part in path.relative_to(folder).parts)
    ]


def _rows(name: str, rows: Mapping[Any, Row], unit: str, notes: tuple[str, ...] = ()) -> Table:
    columns = list(dict.fromkeys(key for row in rows.values() for key in row))
    return Table(name, list(rows.values()), list(rows), columns, unit, notes)


def _of_file(path: Path, problems: list[Problem], unknown_as: str) -> list[Table]:
    reader = required(
        READERS.get(path.suffix.lower()) or READERS.get(unknown_as),
        f"“{path.name}” is not a table that can be read.",
        f"Tables end in {', '.join(READERS)}.",
    )
    content = within(read_bytes(path, path.name), path.name)
    if content.startswith(WEBANNO):
        return _webanno(_text(content, path.name)[0], path)
    return reader(content, path.name, problems)


def _text(content: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """A file's text, and a note if its encoding had to be guessed."""
    try:
        if content.startswith((b"\xff\xfe", b"\xfe\xff")) and b"\x00\x00" not in content[:4]:
            return content.decode("utf-16"), ()
        return decoded(content, name), ()
    except UnicodeDecodeError:
        raise Refusal(f"“{name}” is damaged: it begins as UTF-16 and does not go on so.", CORRECT) from None
    except Refusal as refusal:
        if b"\x00" in content[:4]:
            raise
        note = f"{refusal.happened.removesuffix('.')}; as Windows-1252 it can be read"
        return content.decode("cp1252", "replace"), (note,)


def csv_rows(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a text in CSV, each with its line; Refusal with the line that cannot be read.

    The separator is given by Excel's first line `sep=…`, which is no row, or detected in the header outside of
    quotes.
    """
    lines = io.StringIO(text, newline="")
    first = re.fullmatch(r'"?sep=([^\s"]|\t)"?\s*', lines.readline())
    if first is None:
        lines.seek(0)
    head = re.sub(r'"[^"]*"', "", text[:100_000].lstrip("\r\n")).partition("\n")[0]
    rows = csv.reader(lines, delimiter=first[1] if first else max(",;\t|", key=head.count), strict=True)
    try:
        for cells in rows:
            yield rows.line_num + bool(first), cells
    except csv.Error as error:
        # The extent of what a misplaced quotation mark has swallowed is unknown.
        where = f"line {rows.line_num + bool(first)}"
        raise Refusal(f"“{name}” is not a table in CSV: {where}: {error}.", CORRECT) from None


def _csv(content: bytes, name: str, problems: list[Problem]) -> list[Table]:
    text, notes = _text(content, name)
    return _framed(name, (cells for _, cells in csv_rows(storable(text), name)), problems, notes)


def _webanno(text: str, path: Path) -> list[Table]:
    """The spans of WebAnno TSV 3, as INCEpTION exports them in DOCUMENT/ANNOTATOR.tsv; relations are not read."""
    columns: list[tuple[str, str]] = []
    sentences: list[str] = []
    spans: dict[tuple[str, str], tuple[dict[str, str], dict[str, str]]] = {}
    for line in text.splitlines():
        kind, _, rest = line.partition("=")
        if kind in ("#T_SP", "#T_RL", "#T_CH"):
            layer, *features = rest.split("|")
            # A relation has one column more than features, for the token that it leads to.
            shown = layer.rpartition(".")[2] if kind == "#T_SP" else ""
            columns += [(shown, name) for name in (*features, *[""] * (kind == "#T_RL" or not features))]
        elif kind == "#Text":
            sentences.append(rest)
        elif re.match(r"\d+-\d+\t", line):
            place, _, token, *cells = line.split("\t")
            filled = (
                (*of, cell)
                for of, cell in zip(columns, cells, strict=False)
                if of[0] and cell not in ("", "_")
            )
            for layer, feature, cell in filled:
                for at, one in enumerate(cell.split("|")):
                    value, *numbers = re.split(r"(\[\d+\])$", one)
                    tokens, made = spans.setdefault(
                        (layer, "".join(numbers) or f"{place} {at}"), ({}, {"layer": layer})
                    )
                    tokens[place] = token
                    if feature and value not in ("*", "_"):
                        made[feature] = re.sub(r"\\(.)", r"\1", value)
    about = {"document": path.parent.name, "annotator": path.stem, "report": "\n".join(sentences)}
    rows = [{**about, "text": " ".join(tokens.values()), **made} for tokens, made in spans.values()]
    return [_rows(path.name, dict(enumerate(rows, start=1)), "span")]


def _excel(content: bytes, name: str, problems: list[Problem]) -> list[Table]:
    import pandas

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as parts:
            if sum(info.file_size for info in parts.infolist()) > 4 * LARGEST_FILE:
                raise Refusal(f"“{name}” is too large when it is unpacked.", "Split it.")
            with pandas.ExcelFile(io.BytesIO(content), engine="openpyxl") as book:
                frames = pandas.read_excel(book, sheet_name=None, header=None, dtype=object, na_filter=False)
                notes = {one: _uncalculated(parts.read(book.book[one]._worksheet_path)) for one in frames}
    except UNREADABLE as error:
        raise Refusal(
            f"“{name}” is no workbook that can be read ({type(error).__name__}).", CORRECT
        ) from None
    return [
        table
        for sheet, frame in frames.items()
        for table in _framed(
            f"{name}, {sheet}" if len(frames) > 1 else name,
            (list(map(plain, row)) for row in frame.values.tolist()),
            problems,
            notes[sheet],
        )
    ]


def _uncalculated(sheet: bytes) -> tuple[str, ...]:
    """A note naming the cells whose formula was stored without its value, as by a script whose file was
    never opened.
    """
    cells = [
        (re.findall(rb'\br="(\w+)"', attributes) or [b"a cell"])[0].decode()
        for attributes, inside in (CELL.findall(sheet) if FORMULA.search(sheet) else ())
        if FORMULA.search(inside) and not VALUE.search(inside) and b't="str"' not in attributes
    ]
    shown = ", ".join(cells[:20]) + ", …" * (len(cells) > 20)
    return (f"no value is stored of the formula in {shown}: open it in a spreadsheet and save it",) * bool(
        cells
    )


def _parquet(content: bytes, name: str, _: list[Problem]) -> list[Table]:
    import pandas

    try:
        frame = pandas.read_parquet(io.BytesIO(content)).astype(object)
    except ImportError:
        raise Refusal(
            f"“{name}” needs pyarrow, which is not installed.",
            "Install it with `pip install pyarrow`, or save the table as CSV.",
        ) from None
    except UNREADABLE as error:
        raise Refusal(f"“{name}” is no Parquet file ({type(error).__name__}).", CORRECT) from None
    records = frame.where(frame.notna(), None).to_dict("records")
    rows = [{str(key): plain(value) for key, value in row.items()} for row in records]
    return [_rows(name, dict(enumerate(rows, start=1)), "row")]


class Sheet(Sequence[Row]):
    """Rows of cells under the same names, each a mapping only while in use: a million take little memory."""

    def __init__(self, names: Sequence[str], cells: Sequence[Sequence[Any]]) -> None:
        self.names, self._cells = names, cells

    def __len__(self) -> int:
        return len(self._cells)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Sheet(self.names, self._cells[index])
        return dict(zip(self.names, self._cells[index], strict=True))

    def __iter__(self) -> Iterator[Row]:
        return (dict(zip(self.names, row, strict=True)) for row in self._cells)


def _framed(
    name: str, rows: Iterable[Sequence[Any]], problems: list[Problem], notes: tuple[str, ...]
) -> list[Table]:
    """The table whose first row names its columns, if there is one; empty rows are counted but skipped."""
    filled = ((number, row) for number, row in enumerate(rows, start=1) if any(map(_holds, row)))
    _, head = next(filled, (0, []))
    columns = [str(cell).strip() for cell in head if _holds(cell)]
    if again := [column for column in columns if columns.count(column) > 1]:
        raise Refusal(f"“{name}” has two columns “{again[0]}”.", CORRECT)
    places: list[int] = []
    cells: list[tuple[Any, ...]] = []
    # A table has the same few words in every row: equal ones share one object.
    same: dict[Any, Any] = {}
    for number, row in filled:
        if any(map(_holds, row[len(head) :])):
            reason = f"row {number}: it has {len(row):,} cells, the head has {len(head):,}"
            problems.append(Problem(name, None, reason))
        else:
            places.append(number)
            whole = [*row[: len(head)], *[""] * (len(head) - len(row))]
            cells.append(tuple(map(same.setdefault, whole, whole)))
    nameless = [at for at, cell in enumerate(head) if not _holds(cell)]
    empty = {at for at in nameless if not any(_holds(row[at]) for row in cells)}
    names = [str(cell).strip() if _holds(cell) else f"column {at}" for at, cell in enumerate(head, start=1)]
    if empty:
        names = [one for at, one in enumerate(names) if at not in empty]
        cells = [tuple(cell for at, cell in enumerate(row) if at not in empty) for row in cells]
    gapless = bool(places) and len(places) == places[-1] - places[0] + 1
    numbers = range(places[0], places[-1] + 1) if gapless else places
    return [Table(name, Sheet(names, cells), numbers, columns, notes=notes)] if head else []


def _holds(cell: Any) -> bool:
    return bool(cell.strip()) if isinstance(cell, str) else cell is not None


def plain(value: Any) -> Any:
    """A cell as JSON would have it; dates as written, whole numbers without a decimal point."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, datetime | date | time):
        return value.isoformat().removesuffix("T00:00:00")
    if isinstance(value, dict | list):
        nested = isinstance(value, dict)
        return {key: plain(value[key]) for key in value} if nested else [plain(one) for one in value]
    if isinstance(value, float):
        return None if value != value else int(value) if abs(value) < 2**53 and value.is_integer() else value
    return storable(value) if isinstance(value, str) else value


def _json(content: bytes, name: str, problems: list[Problem]) -> list[Table]:
    tree = parse(content, name)
    notes: tuple[str, ...] = ()
    if isinstance(tree, dict):
        if str(tree.get("format")).startswith("goldsmith") and tree.get("version") != VERSION:
            raise Refusal(f"“{name}” has a newer form.", "Open it with a newer Goldsmith.")
        lists = [
            key for key, one in tree.items() if isinstance(one, list) and one and isinstance(one[0], dict)
        ]
        if tree and all(isinstance(one, dict) for one in tree.values()):
            tree = [{"id": key} | one for key, one in tree.items()]
        elif len(lists) == 1 and not {re.sub(r"[^a-z0-9]", "", key.casefold()) for key in tree} & (
            LISTS | TEXTS
        ):
            left = [
                key for key, one in tree.items() if key not in lists and isinstance(one, list | dict) and one
            ]
            notes = (f"read from “{lists[0]}”; left out beside it: {', '.join(left)}",) if left else ()
            tree = tree[lists[0]]
        else:
            tree = [tree]
    if not isinstance(tree, list):
        raise Refusal(f"“{name}” is no list of entries with fields.", CORRECT)
    return _objects(name, enumerate(tree, start=1), "record", problems, notes)


def _jsonl(content: bytes, name: str, problems: list[Problem]) -> list[Table]:
    return _objects(name, json_lines(content, name), "line", problems)


def _objects(
    name: str,
    trees: Iterable[tuple[int, Any]],
    unit: str,
    problems: list[Problem],
    notes: tuple[str, ...] = (),
) -> list[Table]:
    taken: dict[int, Row] = {}
    for number, tree in trees:
        if isinstance(tree, dict):
            taken[number] = tree
        else:
            reason = tree.happened.removesuffix(".") if isinstance(tree, Refusal) else "no object with fields"
            problems.append(Problem(name, None, f"{unit} {number}: {reason}"))
    return [_rows(name, taken, unit, notes)]


READERS: Mapping[str, Callable[[bytes, str, list[Problem]], list[Table]]] = {
    ".csv": _csv, ".tsv": _csv, ".tab": _csv, ".json": _json, ".jsonl": _jsonl, ".ndjson": _jsonl, ".xlsx": _excel,
    ".xlsm": _excel, ".parquet": _parquet,
}  # fmt: skip


# The number of characters of a file read at a time, and of the previous ones repeated with them.
STRETCH, OVERLAP = 2**20, 2**15
LINES = (".jsonl", ".ndjson")


def files_below(paths: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Every file of these files and folders, with its name in messages."""
    for path in paths:
        if not path.exists():
            raise Refusal(f"There is no “{path.name}” in {path.absolute().parent}.", "Check the name.")
        inside = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
        yield from ((one, one.relative_to(path.parent).as_posix()) for one in inside)


def texts_of(path: Path) -> Iterator[tuple[str, str]]:
    """Place and text of everything in a file: texts of JSON, JSON Lines and Parquet one by one, any other by
    overlapping stretches.

    A file that ends in .gz is unpacked. Refusal if it holds no text.
    """
    packed = path.suffix.lower() == ".gz"
    ending = (Path(path.stem) if packed else path).suffix.lower()
    if ending == ".parquet":
        yield from _texts_of_parquet(path)
        return
    try:
        with gzip.open(path) if packed else path.open("rb") as file:
            if b"\0" in file.peek(512)[:512]:
                raise Refusal(f"“{path.name}” holds no text in UTF-8.", "Unpack or convert it.")
            lines = io.TextIOWrapper(file, "utf-8", errors="replace")
            if ending == ".json":
                yield from _leaves(_tree_or_text(lines.read()))
            elif ending in LINES:
                for number, line in enumerate(lines, start=1):
                    yield from ((f" line {number}", text) for _, text in _leaves(_tree_or_text(line)))
            else:
                tail = ""
                while more := lines.read(STRETCH):
                    yield "", tail + more
                    tail = more[-OVERLAP:]
    except (OSError, EOFError, RecursionError, zlib.error) as error:
        raise Refusal(f"“{path.name}” cannot be read: {error}.", "Check the file.") from None


def _tree_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _leaves(tree: Any, place: str = " ") -> Iterator[tuple[str, str]]:
    """Every text of a tree, with its path."""
    if isinstance(tree, str):
        yield place.rstrip(), tree
    elif isinstance(tree, dict | list):
        named = tree.items() if isinstance(tree, dict) else ((f"[{n}]", one) for n, one in enumerate(tree))
        for name, one in named:
            yield from _leaves(one, f"{place}{'.' * (isinstance(tree, dict) and place != ' ')}{name}")


def _texts_of_parquet(path: Path) -> Iterator[tuple[str, str]]:
    try:
        # By name: the bundle does not include it, and pandas reads no file a batch at a time.
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise Refusal(f"“{path.name}” needs pyarrow.", "Install it with `pip install pyarrow`.") from None
    try:
        rows = (row for batch in parquet.ParquetFile(path).iter_batches() for row in batch.to_pylist())
        for number, row in enumerate(rows, start=1):
            yield from ((f" row {number}", text) for _, text in _leaves(row))
    except UNREADABLE as error:
        raise Refusal(f"“{path.name}” is no Parquet file ({type(error).__name__}).", CORRECT) from None
